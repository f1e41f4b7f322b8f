"""design(): the best groups for a number of users and edges, and what they are worth."""

from __future__ import annotations

import decimal
import math
import os
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, total_ordering

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.base.logarithms import Line
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import Argument
from anonymatch.counting import Count, log_of, product
from anonymatch.graph import Graph, thumbnail
from anonymatch.theory.designs import layout
from anonymatch.theory.designs.formulas import max_bound, one_of, users_and_edges
from anonymatch.theory.designs.partition import paper, parameters
from anonymatch.theory.designs.parts import Array, Composition, Part
from anonymatch.theory.designs.random_graphs import Rival, rivals
from anonymatch.theory.designs.search import best, proof
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["Design", "design"]

METHODS = ("best", "paper")
OBJECTIVES = ("matchings", "after_attack")
_LN2 = math.log(2.0)
_LARGEST_LOG = 709.78  # of a float


@total_ordering
class DesignCount(Count):
    """The count of a design: a :class:`~anonymatch.Count` that compares as its whole number does.

    Examples
    --------
    >>> count = design(users=10, edges=40).count
    >>> count == count.value == int(count), count.exact, round(count.log2, 3)
    (True, True, 10.943)
    >>> design(users=10**7, edges=10**8).count.exact
    True
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DesignCount) and not (self.exact and other.exact):
            return (self.exact, self.low, self.high) == (other.exact, other.low, other.high)
        log = other.log if isinstance(other, DesignCount) else -math.inf
        if isinstance(other, int | Fraction) and other > 0:
            log = log_of(other)
        near = math.isclose(self.log, log, rel_tol=1e-9, abs_tol=1e-9)  # digits only if need be
        return self.exact and near and self.value == getattr(other, "value", other)

    def __lt__(self, other: DesignCount | int | Fraction) -> bool:
        return Fraction(int(self)) < (int(other) if isinstance(other, DesignCount) else other)

    def __hash__(self) -> int:
        return hash(self.value if self.exact else self.log)

    def __str__(self) -> str:
        """Its digits where they are known and can be read; else as for any count."""
        short = self.exact and self.log <= TUNING.digits * math.log(10)
        return _digits(int(self)) if short else super().__str__()

    def __int__(self) -> int:
        """The whole number, if it is known."""
        if not self.exact:
            raise ValueError("this count is not known exactly; .low and .high enclose it")
        return int(self.value)

    def __float__(self) -> float:
        return math.exp(self.log) if self.log < _LARGEST_LOG else math.inf


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Design(Summarised):
    """Who shares behaviours with whom: parts in closed form, their count, and its quality.

    Attributes
    ----------
    users, edges : int
        What was asked for.
    method, objective : str
        How the parts were chosen, and what for.
    case : str or None
        The paper's case: A, B, C, D, or ext where the paper defines nothing; None for "best".
    k, r, a, b : int
        m = k n + r and n = a k + b.
    parts : tuple of Part
        Equal parts together: each has kind, size, edges (of one), number, count and log.
    spare : int
        Edges that are left over; they are in no matching.
    exact : bool
        Whether the count is known. Otherwise ``low`` and ``high`` are proven bounds.
    low, high, log, log2 : float
        Natural logs that enclose the count; ``log`` is ``low``, and ``log2`` the same in bits.
    bound, ratio : float
        Natural log of the most that any graph could have, and the count as a share of it.
    attack_log, ratio_after_attack : float
        What is left on average when an attacker learns the behaviour of the best user to ask:
        natural log of the matchings, and as a share of the count; lower bounds if not exact.
    proof, note : str
        Whether it is known to be optimal, and why; what else there is to know.

    Examples
    --------
    >>> import anonymatch as am
    >>> d = am.design(users=8, edges=24)
    >>> print(d)
    8 users, 24 edges: 96 matchings (2^6.585), 80.8 % of the bound; complete 4 + 2 x complete 2
    >>> d.count.value, d.attack, am.count(d.graph()).value
    (96, Fraction(24, 1), 96)
    """

    users: int
    edges: int
    method: str
    objective: str
    case: str | None
    composition: Composition = field(repr=False)
    proof: str
    note: str

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.composition.parts

    @property
    def spare(self) -> int:
        return self.composition.spare

    @property
    def k(self) -> int:
        return self.edges // self.users

    @property
    def r(self) -> int:
        return self.edges % self.users

    @property
    def a(self) -> int:
        return self.users // self.k

    @property
    def b(self) -> int:
        return self.users % self.k

    # ---- how many matchings

    @property
    def exact(self) -> bool:
        return all(part.exact for part in self.parts)

    @cached_property
    def low(self) -> float:
        return math.fsum(part.number * part.low for part in self.parts)

    @cached_property
    def high(self) -> float:
        high = math.fsum(part.number * part.high for part in self.parts)
        return high if self.exact else min(high, self.bound)

    @property
    def log(self) -> float:
        return self.low

    @property
    def log2(self) -> float:
        return self.log / _LN2

    @cached_property
    def count(self) -> DesignCount:
        """The count, at any size: ``.log``, ``.log2``, ``.exact``, and ``.value`` where it is."""
        factors = [(part.shape.count, part.number) for part in self.parts] if self.exact else []
        return DesignCount(
            exact=self.exact,
            log=self.log,
            low=self.low,
            high=self.high,
            method="closed_form",
            factors=tuple(factors),
        )

    @cached_property
    def value(self) -> int | None:
        """The count in digits; None where it is not known exactly or has more than 10,000."""
        if not self.exact or self.log > TUNING.digits * math.log(10):
            return None
        return product([part.shape.count() ** part.number for part in self.parts])

    @cached_property
    def bound(self) -> float:
        return max_bound(self.users, self.edges)

    @cached_property
    def ratio_log(self) -> float:
        """Natural log of ``ratio``, accurate also where the ratio itself is 0 as a float."""
        return -self.composition.loss(Line(self.k))

    @property
    def ratio(self) -> float:
        return math.exp(self.ratio_log)

    # ---- what an attack leaves

    @property
    def ratio_after_attack(self) -> float:
        return math.exp(self.composition.attack_log)

    @property
    def attack_log(self) -> float:
        return self.log + self.composition.attack_log

    @cached_property
    def attack(self) -> Fraction | None:
        """The matchings left on average, exactly; None where they are not, or too long."""
        shares = [part.attack for part in self.parts]
        known = [share for share in shares if share is not None]
        if self.value is None or len(known) < len(shares):
            return None
        return self.value * min(known)

    @property
    def smallest_group(self) -> int:
        """Users of the smallest group that is closed in itself; 1: somebody is exposed."""
        return self.composition.smallest

    # ---- as a graph

    def graph(self, *, spare: bool = True) -> Graph:
        """The graph with exactly ``edges`` edges; without the spare ones on request.

        Examples
        --------
        >>> import anonymatch as am
        >>> am.design(users=6, edges=20, method="paper").graph().to_rows()
        ['111110', '111000', '111000', '000111', '000111', '000111']
        """
        return layout.graph(self.composition, spare=spare)

    def assignment(self) -> Array:
        """The number of the part of each user.

        Examples
        --------
        >>> import anonymatch as am
        >>> am.design(users=5, edges=13).assignment().tolist()
        [0, 0, 0, 1, 1]
        """
        return layout.assignment(self.composition)

    def write(self, path: str | os.PathLike[str], *, spare: bool = True) -> None:
        """Write the edges to a file by its suffix; it appears only when it is complete.

        .csv, .tsv and .parquet are written piece by piece, so any number of edges fits; for other
        formats see :func:`anonymatch.write`.
        """
        layout.write(self.composition, path, spare=spare)

    def rivals(self) -> tuple[Rival, ...]:
        """What other graphs of as many users and edges have: a ring and random ones.

        Examples
        --------
        >>> import anonymatch as am
        >>> for rival in am.design(users=9, edges=27).rivals():
        ...     print(rival)
        ring: 2^6.285402219 matchings
        random, exactly 27 edges: 2^2.704673802 matchings expected
        random, equal degrees: 2^6.369145516 matchings expected
        """
        return rivals(self.users, self.edges)

    # ---- for people and programs

    def to_dict(self) -> dict[str, object]:
        """Everything as plain values; long integers and fractions as text."""
        names = "users edges method objective case k r a b parts spare exact count log log2 low"
        names += " high bound ratio attack attack_log ratio_after_attack smallest_group proof note"
        return {name: getattr(self, name) for name in names.split()} | {
            "parts": [
                {name: getattr(part, name) for name in ("kind", "size", "edges", "number", "log")}
                for part in self.parts
            ],
            "count": None if self.value is None else _digits(self.value),
            "attack": None if self.attack is None else _text(self.attack),
        }

    def _figures(self) -> Figures:
        yield ("matchings", self._amount(), "ways to explain what an attacker sees")
        yield (
            "of the bound",
            self._percent(),
            "of the most that any graph with as many edges could have",
        )
        left = f"{100 * self.ratio_after_attack:.3g} %"
        yield ("after an attack", left, "of the matchings are left once the best user is exposed")
        yield ("smallest group", str(self.smallest_group), "users who share all behaviours")
        yield ("proof", self.proof, self.note)

    def _picture(self) -> str:
        return thumbnail(self.graph()) if self.users <= TUNING.drawn_users else ""

    def __str__(self) -> str:
        shown = " + ".join(
            f"{f'{part.number} x ' if part.number > 1 else ''}{part.kind} {part.size}"
            for part in self.parts
        )
        spare = f" + {self.spare} spare" if self.spare else ""
        return (
            f"{self.users} users, {self.edges} edges: {self._amount()}, "
            f"{self._percent()} of the bound; {shown}{spare}"
        )

    def _amount(self) -> str:
        power = f"2^{self.log2:.10g}" if self.log2 >= 1000 else f"2^{self.log2:.4g}"
        if not self.exact:
            return f"between {power} and 2^{self.high / _LN2:.10g} matchings"
        return f"{self.value} matchings ({power})" if self.log < 60 else f"{power} matchings"

    def _percent(self) -> str:
        if self.ratio == 1.0:
            return "100 %"
        return f"{'at least ' if not self.exact else ''}{100 * self.ratio:.3g} %"


def design(
    users: int,
    edges: int,
    *,
    method: str = "best",
    min_part: int = 2,
    objective: str = "matchings",
) -> Design:
    """The best way found to give ``edges`` possible behaviours to ``users``.

    Parameters
    ----------
    users, edges : int
        From one edge a user to all users x users pairs.
    method : {"best", "paper"}
        "best" searches compositions of many kinds of parts; "paper" is the paper's construction
        H(n, m), continued to all n and m.
    min_part : int
        The least number of users of a closed group ("best" only): 2, so that nobody is exposed
        where there are two edges a user or more. 1 gives the most matchings, but may expose
        somebody.
    objective : {"matchings", "after_attack"}
        What "best" makes large: the count, or the matchings left on average once an attacker has
        learnt the behaviour of the user that tells most.

    Returns
    -------
    Design

    References
    ----------
    .. [1] Brualdi, Goldwasser, Michael. Maximum permanents of matrices of zeros and ones. J. Comb.
       Theory A 47, 1988.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.design(users=10**7, edges=10**8).parts
    (Part(shape=Near(size=10, forbidden=0), number=1000000),)
    >>> [am.design(users=10, edges=40, method=name).count.value for name in ("best", "paper")]
    [1968, 1936]
    """
    n, m = users_and_edges(users, edges)
    one_of(method, "method", METHODS)
    one_of(objective, "objective", OBJECTIVES)
    if method == "paper":
        composition, note = paper(n, m)
    else:
        least = _least(n, m, min_part)
        best_composition = best(n, m, least=least, objective=objective)
        if best_composition is None:
            raise InputError(
                f"no design was found with closed groups of {least} or more; lower ",
                Argument("min_part"),
            )
        composition, note = best_composition, ""
    if composition.smallest == 1:
        exposed = "some user is exposed: the same behaviour in every matching"
        note = f"{note}; {exposed}" if note else exposed
    return Design(
        users=n,
        edges=m,
        method=method,
        objective=objective,
        case=parameters(n, m).case if method == "paper" else None,
        composition=composition,
        proof=proof(n, m, composition, objective=objective),
        note=note,
    )


def _least(n: int, m: int, min_part: int) -> int:
    """The least size of a closed group that can be had: 2 is a wish, more are a demand."""
    least = whole(min_part, "min_part", least=1)
    if least == 2 and (m < 2 * n or n == 1):
        return 1
    if least > n:
        raise InputError(
            Argument("min_part"), f" is {least}, more than there are users ({n}); lower it"
        )
    if least > 2 and m < 2 * n:
        raise InputError(
            f"closed groups take two edges a user: give {2 * n} edges or more, or ",
            Argument("min_part", 1),
        )
    return least


def _digits(value: int) -> str:
    """All digits; Python's own conversion refuses more than 4300."""
    return str(decimal.Decimal(value))


def _text(value: Fraction) -> str:
    top = _digits(value.numerator)
    return top if value.denominator == 1 else f"{top}/{_digits(value.denominator)}"

"""Graphs that claims speak of, H against others, and exact comparisons with bounds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TypeVar

from anonymatch.base.errors import InputError
from anonymatch.counting import count
from anonymatch.graph import Graph, complete, partition
from anonymatch.theory.attacks import exposures
from anonymatch.theory.claims.claim import Evidence
from anonymatch.theory.claims.question import table
from anonymatch.theory.claims.small_graphs import SEARCH
from anonymatch.theory.designs import Design, Near, design, graph_of, parameters

_T = TypeVar("_T")


def matchings(graph: Graph) -> int:
    """The number of perfect matchings, exactly."""
    return int(count(graph, exact=True).value)


def attack_value(graph: Graph) -> Fraction:
    """Matchings left on average once an attacker has exposed the user who is best for that.

    Examples
    --------
    >>> import anonymatch as am
    >>> attack_value(am.partition([2, 2]))
    Fraction(2, 1)
    """
    return min(Fraction(left) for left in exposures(graph).expected_left)


def beside(*graphs: Graph) -> Graph:
    """The graphs as parts of one, without an edge between them.

    Examples
    --------
    >>> import anonymatch as am
    >>> beside(am.complete(1), am.complete(2)).to_rows()
    ['100', '011', '011']
    """
    width = sum(graph.n_behaviours for graph in graphs)
    rows, begin = [], 0
    for graph in graphs:
        rows += [("0" * begin + row).ljust(width, "0") for row in graph.to_rows()]
        begin += graph.n_behaviours
    return Graph.from_rows(rows)


def without_edge(graph: Graph, user: int, behaviour: int) -> Graph:
    """The graph less one edge."""
    mask = (graph.rows() != user) | (graph.indices != behaviour)
    return graph.keep_edges(mask)


def near_complete(size: int, forbidden: int) -> Graph:
    """Complete but for a matching of so many edges.

    Examples
    --------
    >>> near_complete(3, 1).to_rows()
    ['111', '111', '110']
    """
    return graph_of(size, Near(size, forbidden).cells())


def two_hexagons_less() -> Graph:
    """Six users who may have done everything but the edges of two cycles of six: 82 matchings."""
    return Graph.from_rows(["001111", "100111", "010111", "111001", "111100", "111010"])


def lacking(size: int, users: int) -> Graph:
    """Complete, but for one behaviour that so many users cannot have done.

    Examples
    --------
    >>> lacking(4, 2).to_rows()
    ['1111', '1111', '0111', '0111']
    """
    full, short = "1" * size, "0" + "1" * (size - 1)
    return Graph.from_rows([full] * (size - users) + [short] * users)


@dataclass(frozen=True)
class PartitionGraph:
    """The paper's H(n, m), with exact figures.

    Examples
    --------
    >>> finding = PartitionGraph(8, 24)
    >>> finding.matchings, finding.attack, finding.case, finding.graph.n_edges
    (81, Fraction(27, 1), 'B', 24)
    """

    n: int
    m: int

    @cached_property
    def design(self) -> Design:
        return design(users=self.n, edges=self.m, method="paper")

    @property
    def case(self) -> str:
        """The paper's case, or ext."""
        return parameters(self.n, self.m).case

    @property
    def defined(self) -> bool:
        """Whether the paper says what it is."""
        return self.case != "ext"

    @cached_property
    def matchings(self) -> int:
        return _known(self.design.value)

    @cached_property
    def attack(self) -> Fraction:
        """Its attack value."""
        return _known(self.design.attack)

    @cached_property
    def graph(self) -> Graph:
        """Its parts without spare edges, which are in no matching."""
        return self.design.graph(spare=False)

    @property
    def rows(self) -> tuple[str, ...]:
        """That graph, a string of bits a user."""
        return tuple(self.graph.to_rows())


def _known(value: _T | None) -> _T:
    if value is None:
        raise InputError("this partition graph is too large for exact figures")
    return value


Power = tuple[int, int]
"""(value, root): the number whose root-th power is value."""


def bound_power(degrees: Iterable[int]) -> Power:
    """Brègman's bound for these degrees as an integer and the root to take of it.

    Examples
    --------
    >>> bound_power([2, 2, 3, 3, 3])
    (2985984, 6)
    """
    sizes = list(degrees)
    if min(sizes, default=1) < 1:
        raise ZeroDivisionError("(0!)^(1/0) is no number")
    root = math.lcm(*sizes)
    return math.prod(math.factorial(size) ** (root // size) for size in sizes), root


def compare(left: Power, right: Power) -> int:
    """-1, 0 or 1: whether the first is the smaller, equal, or the larger one.

    Examples
    --------
    >>> compare((3, 1), (8, 2)), compare((4, 2), (2, 1))
    (1, 0)
    """
    root = math.lcm(left[1], right[1])
    one: int = left[0] ** (root // left[1])
    other: int = right[0] ** (root // right[1])
    return (one > other) - (one < other)


def balanced(n: int, m: int) -> list[int]:
    """Degrees of n users with m edges that differ by one at most.

    Examples
    --------
    >>> balanced(3, 7)
    [3, 2, 2]
    """
    k, r = divmod(m, n)
    return [k + 1] * r + [k] * (n - r)


def degree_sequences(n: int, m: int, largest: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    """Falling sequences of n degrees from ``least`` to ``largest`` that sum to m.

    Examples
    --------
    >>> list(degree_sequences(3, 6, 3))
    [(3, 2, 1), (2, 2, 2)]
    """
    if n == 0:
        if m == 0:
            yield ()
        return
    for first in range(min(largest, m - least * (n - 1)), max(least, -(-m // n)) - 1, -1):
        for rest in degree_sequences(n - 1, m - first, first, least):
            yield first, *rest


@lru_cache(maxsize=4096)
def log_factorial_digits(n: int) -> Decimal:
    """Natural log of n! to fifty digits."""
    with localcontext() as context:
        context.prec = SEARCH.digits + 10
        return Decimal(math.factorial(n)).ln()


def precise(formula: Callable[..., Decimal], *arguments: int) -> Decimal:
    """The value of a formula in Decimals, worked out with fifty digits and ten to spare."""
    with localcontext() as context:
        context.prec = SEARCH.digits + 10
        return formula(*(Decimal(argument) for argument in arguments))


def reciprocal_of_e(terms: int) -> tuple[Fraction, Fraction]:
    """Two fractions that enclose 1/e: neighbouring partial sums of its alternating series.

    Examples
    --------
    >>> low, high = reciprocal_of_e(20)
    >>> low < high, high - low == Fraction(1, math.factorial(20)), float(low) == 1 / math.e
    (True, True, True)
    """
    total, last = Fraction(0), Fraction(0)
    for i in range(terms + 1):
        last, total = total, total + Fraction((-1) ** i, math.factorial(i))
    return min(last, total), max(last, total)


CASES = (
    "Cases of H: A all components complete, B some of them G_k, C edges left over in these, D "
    "edges left unused, ext not defined by the paper"
)


@dataclass(frozen=True)
class Duel:
    """One graph against H.

    Examples
    --------
    >>> duel = Duel("K44 + 2 K22", partition([4, 2, 2]))
    >>> duel.matchings > duel.partition.matchings, duel.attack > duel.partition.attack
    (True, False)
    """

    name: str
    graph: Graph
    spare: int = 0  # edges that it may have beyond these, in no matching

    @cached_property
    def partition(self) -> PartitionGraph:
        return PartitionGraph(self.graph.n_users, self.graph.n_edges + self.spare)

    @cached_property
    def matchings(self) -> int:
        return matchings(self.graph)

    @cached_property
    def attack(self) -> Fraction:
        """What the best attack leaves."""
        return attack_value(self.graph)

    @property
    def typeset(self) -> str:
        """Its name with formulas as TeX.

        Examples
        --------
        >>> print(Duel("K44 + X6", complete(4)).typeset)
        $K_{4,4}$ + $X_6$
        """
        complete_ones = re.sub(r"K(\d)\1", r"$K_{\1,\1}$", self.name)
        return complete_ones.replace("X6", "$X_6$")

    @property
    def sizes(self) -> str:
        """Users and edges, in words."""
        return f"with {self.partition.n} users and {self.partition.m} edges"

    @property
    def at(self) -> str:
        """Users and edges, as a pair."""
        return f"({self.partition.n}, {self.partition.m})"


def regular_duels() -> list[Duel]:
    """Graphs with k n edges, against H where it is not best, before or after an attack."""
    hexagons = two_hexagons_less()
    return [
        Duel("K44 + 2 K22", partition([4, 2, 2])),
        Duel("K44 + X6", beside(complete(4), hexagons)),
        Duel("2 K44 + X6", beside(partition([4, 4]), hexagons)),
        Duel("2 K44 + K22 + (K55 - e)", beside(partition([4, 4, 2]), near_complete(5, 1))),
        Duel("K66 + 3 K55 + K33", partition([6, 5, 5, 5, 3])),
        Duel("4 K55 + K44, 4 edges unused", partition([5, 5, 5, 5, 4]), spare=4),
    ]


def duels_table(duels: Sequence[Duel]) -> Evidence:
    """All figures of both sides; the case is the paper's, ext where it defines no H."""
    return table(
        "Graphs against H: their matchings, and those that remain on average once an optimising "
        f"attacker has de-anonymised one user. X6 is K66 less two hexagons. {CASES}",
        [
            *("n", "m", "case", "matchings of H", "remain of H"),
            *("of the graph", "remain of it", "graph"),
        ],
        [
            [h.n, h.m, h.case, h.matchings, h.attack, duel.matchings, duel.attack, duel.name]
            for duel in duels
            for h in [duel.partition]
        ],
    )

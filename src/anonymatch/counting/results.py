"""Count and Plan: how many matchings, how far to trust it, and how it was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import cost_in_words, percent
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import several
from anonymatch.counting.integers import LN2
from anonymatch.graph import Graph

if TYPE_CHECKING:
    import scipy.sparse

    from anonymatch.graph import Witness


Factor = tuple[Callable[[], int | Fraction], int]
"""A factor of a count, computed when asked for, and its power."""


def log_of(value: int | Fraction) -> float:
    """Natural logarithm of a non-negative number of any size; -inf for 0."""
    if value == 0:
        return -math.inf
    if isinstance(value, Fraction):
        return log_of(value.numerator) - log_of(value.denominator)
    return math.log(value)  # exact integers of any size are taken


def power_product(factors: Sequence[tuple[int | Fraction, int]]) -> int | Fraction:
    """The product of value**power, by halves so that big integers meet big integers."""
    if not factors:
        return 1
    if len(factors) == 1:
        value, power = factors[0]
        return value**power
    middle = len(factors) // 2
    return power_product(factors[:middle]) * power_product(factors[middle:])


class ApproximateNote(UserWarning):
    """What was drawn is close to the law that was asked for, but not exactly of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One kind of block in a plan, and the way chosen for it.

    Examples
    --------
    >>> import anonymatch as am
    >>> step = am.count(am.crown(30)).plan.steps[0]
    >>> step.copies, step.users, step.edges, step.method
    (1, 30, 870, 'closed_form')
    """

    copies: int
    users: int
    behaviours: int
    edges: int
    method: str
    why: str
    seconds: float = 0.0  # predicted, of one core
    memory: float = 0.0  # predicted bytes

    def __str__(self) -> str:
        times = f"{self.copies} x " if self.copies > 1 else ""
        side = several(self.users, "user")
        if self.users != self.behaviours:
            side += f" and {several(self.behaviours, 'behaviour')}"
        edges = several(self.edges, "edge")
        cost = cost_in_words(self.seconds, self.memory)
        return f"{times}block of {side}, {edges}: {self.method} ({self.why}), {cost}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, block by block; blocks that are equal are one step.

    Examples
    --------
    >>> import anonymatch as am
    >>> plan = am.count(am.Graph.from_rows(["110000", "110000", "001111", "001111"])).plan
    >>> [(step.users, step.behaviours, step.method) for step in plan.steps]
    [(2, 4, 'subset'), (2, 2, 'subset')]
    """

    steps: tuple[Step, ...] = ()

    @property
    def seconds(self) -> float:
        return sum(step.seconds for step in self.steps)

    @property
    def memory(self) -> float:
        return max((step.memory for step in self.steps), default=0.0)

    @property
    def method(self) -> str:
        """The methods in use, the dearest first."""
        dearest = sorted(self.steps, key=lambda step: -step.seconds)
        return " + ".join(dict.fromkeys(step.method for step in dearest)) or "forced"

    def __str__(self) -> str:
        lines = [str(step) for step in self.steps[:20]]
        if len(self.steps) > 20:
            rest = several(len(self.steps) - 20, "more kind", "more kinds")
            lines.append(f"... and {rest} of block")
        return "\n".join(lines) or "nothing to count: every pair is forced"


@dataclass(frozen=True, kw_only=True, repr=False)
class Count(Summarised):
    """The number of perfect matchings of a graph (weighted: the sum of their products of weights).

    Attributes
    ----------
    exact : bool
        Whether `value` is the count itself: a Python int, or a Fraction for weighted graphs.
    log : float
        Natural logarithm, the best value; -inf when there is no perfect matching.
    low, high : float
        Natural-log interval that holds the count; both equal `log` when exact.
    confidence : float
        Probability that the interval holds; 1.0 means proven.
    proven : tuple of float
        Natural-log interval that needs no luck; the same as (low, high) unless it was estimated.
    effective : float or None
        For estimates: independent draws that would tell as much, in the block that has fewest.
    method, seed, plan
        What ran, its seed (None: nothing random), and the way block by block.
    witness : Witness or None
        When the count is 0: users who together fit too few behaviours.

    Examples
    --------
    >>> import anonymatch as am
    >>> c = am.count(am.Graph.from_rows(["110", "011", "111"]))
    >>> c.value, c.exact, round(c.log2, 4)
    (3, True, 1.585)
    >>> print(c)
    3 matchings (2^1.585), exact, by subset
    """

    exact: bool
    log: float
    low: float
    high: float
    method: str
    confidence: float = 1.0
    proven: tuple[float, float] = (-math.inf, math.inf)
    effective: float | None = None
    seed: int | None = None
    plan: Plan = field(default_factory=Plan, repr=False)
    witness: Witness | None = field(default=None, repr=False)
    weighted: bool = field(default=False, repr=False)
    factors: tuple[Factor, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.confidence == 1.0:
            object.__setattr__(self, "proven", (self.low, self.high))

    @cached_property
    def value(self) -> int | Fraction | float:
        """The count: int or Fraction when exact, else the float nearest to `log`."""
        if self.exact:
            if self.log == -math.inf:
                return Fraction(0) if self.weighted else 0
            product = power_product([(total(), copies) for total, copies in self.factors])
            return Fraction(product) if self.weighted else product
        try:
            return math.exp(self.log)
        except OverflowError:
            return math.inf

    def __getstate__(self) -> dict[str, object]:
        """Pickled as the finished value: factors are computations that cannot travel."""
        state = dict(self.__dict__)
        if self.exact:
            state["value"] = self.value
        state["factors"] = ()
        return state

    def __copy__(self) -> Count:
        return self

    def __deepcopy__(self, memo: object) -> Count:
        """Itself: it never changes, and a copy would have to compute the value."""
        return self

    @property
    def log2(self) -> float:
        return self.log / LN2

    def _figures(self) -> Figures:
        if self.log > -math.inf:
            yield ("bits", f"{self.log2:.6g}", "log2 of the ways to explain what was seen")
        if not self.exact:
            sure = "proven" if self.confidence == 1.0 else f"{self.confidence:.0%} sure"
            yield ("between", f"{self.low / LN2:.6g} and {self.high / LN2:.6g} bits", sure)
        if self.witness is not None:
            yield ("witness", str(self.witness), "who together fit too few behaviours")
        yield ("method", self.method, "exact" if self.exact else "an interval")

    def __str__(self) -> str:
        noun = "weight of all matchings" if self.weighted else "matchings"
        if self.exact and not self.weighted and self.log == 0:
            noun = "matching"
        if self.exact:
            if self.log < 40 * math.log(10):
                return f"{self.value} {noun} (2^{self.log2:.4g}), exact, by {self.method}"
            return f"2^{self.log2:.10g} {noun}, exact, by {self.method}"
        trust = "proven" if self.confidence == 1.0 else f"{self.confidence:.0%} sure"
        line = (
            f"2^{self.log2:.10g} {noun}, between 2^{self.low / LN2:.10g} and "
            f"2^{self.high / LN2:.10g} ({trust}), by {self.method}"
        )
        if self.confidence == 1.0:
            return line
        low, high = (f"2^{end / LN2:.6g}" for end in self.proven)
        return f"{line} (seed {self.seed}); proven: between {low} and {high}"


Objects = npt.NDArray[np.object_]


class EdgeCounts(Mapping[Hashable, dict[Hashable, Any]]):
    """For each user, the number of matchings through each of the user's edges, exactly.

    ``by_edge`` has them all as Python ints (Fractions for weighted graphs), in the order of the
    graph's edges.

    Examples
    --------
    >>> import anonymatch as am
    >>> counts = am.posterior(am.Graph.from_rows(["110", "011", "111"])).counts
    >>> counts[0], counts.by_edge.tolist()
    ({0: 2, 1: 1}, [2, 1, 1, 2, 1, 1, 1])
    >>> counts.to_dense().tolist()
    [[2, 1, 0], [0, 1, 2], [1, 1, 1]]
    """

    def __init__(self, graph: Graph, values: Objects) -> None:
        values.setflags(write=False)
        self.by_edge = values
        self._graph = graph

    def __repr__(self) -> str:
        return f"EdgeCounts({several(len(self.by_edge), 'edge')} of {several(len(self), 'user')})"

    def __reduce__(self) -> tuple[type[EdgeCounts], tuple[Graph, Objects]]:
        return EdgeCounts, (self._graph, self.by_edge)

    def __getitem__(self, user: Hashable) -> dict[Hashable, Any]:
        return _row(self._graph, self.by_edge, user)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._graph.users)

    def __len__(self) -> int:
        return self._graph.n_users

    def to_dense(self) -> Objects:
        """A matrix of exact numbers, users by behaviours, 0 where there is no edge."""
        graph = self._graph
        dense = np.zeros((graph.n_users, graph.n_behaviours), dtype=object)
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        dense[rows, graph.indices] = self.by_edge
        return dense


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Posterior(Summarised):
    """The probability of every edge: that this user did this behaviour.

    Attributes
    ----------
    graph : Graph
    probabilities : array
        One an edge, in the order of the graph's edges; edges in no matching have 0.
    exact : bool
        Whether `counts` gives the exact numbers that the probabilities are rounded from.
    error : float
        Bound on the error of each probability; of estimates, twice the largest standard error, or
        the epsilon that was asked for.
    errors : array or None
        Standard errors of estimates, one an edge, 0 where exact; None if nothing was estimated.
    entropy_errors : array or None
        The same of users' Shannon entropies in bits, to first order, where chains tell them: far
        smaller than errors of edges allow. 0 where exact, NaN where not known.
    by_moves : bool
        Whether all draws were chains of moves: then the errors also tell that of a mean.
    rounding : float
        Bound on the error of probabilities that were not estimated.
    confidence : float
        Probability that the bound holds for an edge (with an epsilon: for all); 1.0 means proven.
    method, seed, plan
        What ran, its seed (None: nothing random), and the way block by block.

    Examples
    --------
    >>> import anonymatch as am
    >>> p = am.posterior(am.Graph.from_rows(["110", "011", "111"]))
    >>> p[2], p.counts[2]
    ({0: 0.333, 1: 0.333, 2: 0.333}, {0: 1, 1: 1, 2: 1})
    """

    graph: Graph = field(repr=False)
    probabilities: Floats = field(repr=False)
    exact: bool
    error: float
    method: str
    errors: Floats | None = field(default=None, repr=False)
    entropy_errors: Floats | None = field(default=None, repr=False)
    by_moves: bool = field(default=False, repr=False)
    rounding: float = 0.0
    confidence: float = 1.0
    seed: int | None = None
    plan: Plan = field(default_factory=Plan, repr=False)
    exact_counts: Callable[[], Objects] | None = field(default=None, repr=False)

    @property
    def margins(self) -> Floats:
        """How far each probability may be off, one an edge: proven, or two standard errors."""
        if self.errors is None:
            return np.full(len(self.probabilities), self.error)
        return np.where(self.errors > 0.0, 2.0 * self.errors, self.rounding)

    @cached_property
    def matrix(self) -> scipy.sparse.csr_array:
        """The probabilities as a scipy CSR array with the graph's pattern."""
        import scipy.sparse

        graph = self.graph
        return scipy.sparse.csr_array(
            (self.probabilities, graph.indices, graph.indptr),
            shape=(graph.n_users, graph.n_behaviours),
        )

    def __getitem__(self, user: Hashable) -> dict[Hashable, float]:
        return _row(self.graph, self.probabilities, user)

    @cached_property
    def counts(self) -> EdgeCounts:
        """Matchings through each edge, as Python ints (computed when first asked for).

        Raises
        ------
        InputError
            If the probabilities are not exact: ask for ``posterior(graph, exact=True)``. Or if they
            were pickled before their counts were computed.
        """
        if self.exact_counts is None and self.exact:
            raise InputError("counts do not travel unless computed; ask for them before pickling")
        if self.exact_counts is None:
            raise InputError("these probabilities are not exact; use posterior(graph, exact=True)")
        return EdgeCounts(self.graph, self.exact_counts())

    def __getstate__(self) -> dict[str, object]:
        """Pickled without the way to exact counts, unless they are computed already."""
        state = dict(self.__dict__)
        state["exact_counts"] = None
        state.pop("matrix", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["probabilities"].setflags(write=False)
        for errors in (state["errors"], state["entropy_errors"]):
            if errors is not None:
                errors.setflags(write=False)
        self.__dict__.update(state)

    def __copy__(self) -> Posterior:
        return self

    def __deepcopy__(self, memo: object) -> Posterior:
        """Itself: it never changes, and a copy would lose the way to exact counts."""
        return self

    def _figures(self) -> Figures:
        graph = self.graph
        yield ("users", f"{graph.n_users:,}", "")
        users = np.flatnonzero(graph.degrees)
        if len(users):
            best = np.maximum.reduceat(self.probabilities, graph.indptr[users])
            yield ("best guess", percent(float(best.mean())), "right with this probability, mean")
            yield ("surest", percent(float(best.max())), "of the user who is worst off")
        sure = "proven" if self.confidence == 1.0 else f"{self.confidence:.0%} sure"
        yield ("error", f"{self.error:.2g}", f"of a probability at most, {sure}")
        yield ("method", self.method, "")

    def __str__(self) -> str:
        trust = "exact" if self.exact else f"errors below {self.error:.2g}"
        if self.confidence < 1.0:
            trust += f" ({self.confidence:.0%} sure, seed {self.seed})"
        return f"probabilities of {several(self.graph.n_edges, 'edge')}, {trust}, by {self.method}"


def _row(graph: Graph, values: npt.NDArray[Any], user: Hashable) -> dict[Hashable, Any]:
    i = graph.user_index(user)
    edges = slice(int(graph.indptr[i]), int(graph.indptr[i + 1]))
    names = graph.behaviours
    behaviours = graph.indices[edges].tolist()
    return {names[j]: v for j, v in zip(behaviours, values[edges].tolist(), strict=True)}

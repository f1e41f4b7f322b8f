"""improve(): which missing edges to add, what each would gain, and how sure that is."""

from __future__ import annotations

import math
import sys
from collections.abc import Hashable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError, NoMatchingError
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import Call, label, several
from anonymatch.counting import Count, count, gains, minors, plan_posterior, posterior
from anonymatch.graph import BlockView, Graph, block_table, structure, witness
from anonymatch.running import Budget, Progress, tells_misfits
from anonymatch.theory.attacks.additions import Addition, Pair, Search, graph_with
from anonymatch.theory.attacks.residual import Residuals, Whole
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = ["AddedEdge", "Improvement", "improve", "missing_pairs", "next_pair"]


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LN2 = math.log(2.0)
_LARGEST_LOG = math.log(sys.float_info.max)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedEdge:
    """An edge to add, and what it gains on top of those before it.

    Attributes
    ----------
    user, behaviour
    factor : Fraction or float
        What the count is multiplied with: a Fraction when exact; inf if there was no matching.
    bits : float
        The same as bits; inf if there was no matching.
    low, high : float
        Interval that holds `bits`; both equal to it when exact.
    confidence : float
        Probability that the interval holds; 1.0 means proven, less that counts were estimated.
    method, seed
        What counted the matchings before and after, and its seed (None: nothing random).
    alone : bool
        False for the first of two edges that gain only together: between two blocks one edge adds
        nothing, two add a way round. The gain of both is with the second.
    helped : user or None
        The user whose own entropy grows most by it; None if probabilities would have to be
        estimated.
    helped_bits : float
        By how many bits.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.improve(am.Graph.from_rows(["1100", "0110", "0011", "1001"])).edges[0]
    AddedEdge(user=0, behaviour=2, factor=Fraction(3, 2), bits=0.585, low=0.585, high=0.585,
              method='subset', confidence=1.0, seed=None, alone=True, helped=0, helped_bits=0.585)
    """

    user: Hashable
    behaviour: Hashable
    factor: Fraction | float
    bits: float
    low: float
    high: float
    method: str
    confidence: float = 1.0
    seed: int | None = None
    alone: bool = True
    helped: Hashable | None = None
    helped_bits: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether `factor` is what it says and not rounded or estimated."""
        return isinstance(self.factor, Fraction) or math.isinf(self.bits)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the factor as text when exact, infinite numbers as None."""
        factor = str(self.factor) if isinstance(self.factor, Fraction) else self.factor
        names = "user behaviour factor bits low high exact confidence method seed alone helped"
        return {name: getattr(self, name) for name in (*names.split(), "helped_bits")} | {
            "factor": None if factor == math.inf else factor,
            **{name: _finite(getattr(self, name)) for name in ("bits", "low", "high")},
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Improvement(Summarised):
    """Edges to add to a graph, best first, and the graph with them.

    Attributes
    ----------
    start : Count
        Matchings before.
    matched : Count
        Matchings once there are any: `start`, or with the edges that give the graph its first one.
    edges : tuple of AddedEdge
        Fewer than asked for if no edge, or pair of edges, would add a matching.
    graph : Graph
        With the edges.
    not_searched : tuple of BlockView
        Blocks of the graph at the start that the budget did not reach: edges inside them, and
        between them and others, were not looked at.
    all_between : bool
        Whether every single edge between blocks that could add a matching was looked at.

    Examples
    --------
    >>> import anonymatch as am
    >>> better = am.improve(am.partition([2, 2]), edges=2)
    >>> [(edge.user, edge.behaviour, str(edge.factor), edge.alone) for edge in better.edges]
    [(0, 2, '1', False), (2, 0, '5/4', True)]
    >>> print(better)
    2 edges: 2^2 to 2^2.322 matchings
    """

    start: Count
    matched: Count
    edges: tuple[AddedEdge, ...]
    graph: Graph = field(repr=False)
    not_searched: tuple[BlockView, ...] = field(default=(), repr=False)
    all_between: bool = True

    @property
    def log(self) -> float:
        """Natural log of the matchings with all edges."""
        return self.matched.log + _LN2 * sum(edge.bits for edge in self._gains)

    @property
    def low(self) -> float:
        """Lower end of the interval that holds `log`."""
        return self.matched.low + _LN2 * sum(edge.low for edge in self._gains)

    @property
    def high(self) -> float:
        """Upper end of the interval that holds `log`."""
        return self.matched.high + _LN2 * sum(edge.high for edge in self._gains)

    @property
    def confidence(self) -> float:
        """Probability that all intervals hold; 1.0 means proven."""
        probabilities = [self.matched.confidence, *(edge.confidence for edge in self.edges)]
        return max(0.0, 1.0 - sum(1.0 - probability for probability in probabilities))

    @property
    def seed(self) -> int | None:
        """Seed of what was estimated; None: nothing was."""
        seeds = [self.matched.seed, *(edge.seed for edge in self.edges)]
        return next((seed for seed in seeds if seed is not None), None)

    @property
    def exact(self) -> bool:
        """Whether the count before and the factor of every edge are exact."""
        return self.matched.exact and all(edge.exact for edge in self.edges)

    @property
    def _gains(self) -> tuple[AddedEdge, ...]:
        """The edges after those that give the graph its first matching."""
        first = next((k for k, edge in enumerate(self.edges) if math.isinf(edge.bits)), -1)
        return self.edges[first + 1 :]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON if the names of users and behaviours are."""
        return {
            "log_start": _finite(self.start.log),
            "log": self.log,
            "low": self.low,
            "high": self.high,
            "exact": self.exact,
            "confidence": self.confidence,
            "seed": self.seed,
            "edges": [edge.to_dict() for edge in self.edges],
            "blocks_not_searched": len(self.not_searched),
            "all_between": self.all_between,
        }

    def _heads(self) -> Sequence[str]:
        return ("edge", "user", "behaviour", "bits gained")

    def _figures(self) -> Figures:
        for number, edge in enumerate(self.edges[: attack_tuning().shown], 1):
            yield (str(number), label(edge.user), label(edge.behaviour), f"{edge.bits:.4g}")
        if len(self.edges) > attack_tuning().shown:
            yield ("...", "", "", "")

    def __str__(self) -> str:
        number = len(self.edges)
        if not number:
            text = "no edge would add a matching"
        else:
            before = f"2^{self.start.log2:.4g}" if math.isfinite(self.start.log) else "no"
            text = f"{several(number, 'edge')}: {before} to 2^{self.log / _LN2:.4g} matchings"
        if number and self.confidence < 1.0:
            low, high = (f"2^{end / _LN2:.6g}" for end in (self.low, self.high))
            sure = f"{self.confidence:.0%} sure, seed {self.seed}"
            text += f", estimated: between {low} and {high} ({sure})"
        if self.not_searched:
            text += f"; {several(len(self.not_searched), 'block')} beyond the budget"
        return text


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


# ---- the search


@tells_misfits
def improve(
    graph: Graph,
    edges: int = 1,
    *,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Improvement:
    """The missing edges whose addition (with weight 1) gains the most matchings, one by one.

    Each is the best on top of those before it; ties go to the first user and behaviour. Where two
    edges that join two blocks gain more than the two best single ones, they are taken together.
    That is the only pair that is looked for, so that several edges need not be the best set.

    Parameters
    ----------
    graph : Graph
        Without a perfect matching, edges that give it one come first.
    edges : int
        How many.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
        Blocks beyond it are left out and named.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the edges found, and how many are wanted.

    Returns
    -------
    Improvement

    Raises
    ------
    NoMatchingError
        If there is no perfect matching and so few edges cannot make one; carries Hall's witness.
    BudgetError
        If there are more behaviours than users and comparing all pairs is beyond the budget.

    Notes
    -----
    An edge that is added lies in as many matchings as the graph has without its user and its
    behaviour. This is 0 between blocks unless other edges lead back.

    Examples
    --------
    >>> import anonymatch as am
    >>> better = am.improve(am.ring(5, 2), edges=2)
    >>> [(edge.user, edge.behaviour, str(edge.factor)) for edge in better.edges]
    [(0, 2, '3/2'), (2, 0, '5/3')]
    >>> am.count(better.graph).value
    5
    """
    edges = whole(edges, "edges", least=1)
    round_ = _Round(Budget.of(budget), executor)
    start = count(graph, budget=budget, executor=executor)
    if graph.n_users == 0:
        return Improvement(start=start, matched=start, edges=(), graph=graph)
    additions: list[AddedEdge] = []
    now = graph
    left_out: tuple[tuple[BlockView, ...], bool] | None = None
    needed = missing_pairs(graph)
    why = witness(graph)
    if why is not None and (needed > edges or graph.n_users > graph.n_behaviours):
        raise NoMatchingError(why.users, why.behaviours)
    for _ in range(needed):
        pair = next_pair(now, round_.budget)
        now = graph_with(now, (pair,))
        additions.append(_repairing(graph, pair, last=missing_pairs(now) == 0))
    matched = count(now, budget=budget, executor=executor) if needed else start
    while len(additions) < edges:
        addition, searched = round_.best(now, edges - len(additions))
        left_out = left_out or searched
        if addition is None:
            break
        additions += round_.added(now, addition)
        now = graph_with(now, addition.pairs)
        if progress is not None:
            progress(len(additions), edges)
    not_searched, all_between = left_out or ((), True)
    return Improvement(
        start=start,
        matched=matched,
        edges=tuple(additions),
        graph=now,
        not_searched=not_searched,
        all_between=all_between,
    )


class _Round:
    """How additions are found and measured in one call."""

    def __init__(self, budget: Budget, executor: Executor | None) -> None:
        self.budget, self._executor = budget, executor
        self._search = Search(Residuals(budget=budget, executor=executor), budget)

    def best(
        self, graph: Graph, left: int
    ) -> tuple[Addition | None, tuple[tuple[BlockView, ...], bool]]:
        """What to add next, if ``left`` edges may still be added, and what was not searched."""
        if graph.n_users != graph.n_behaviours:
            return self._rectangular(graph), ((), True)
        blocks = self._whole(graph)
        single = self._search.best(blocks)
        left_out = tuple(BlockView(graph, block) for block in self._search.unsearched(blocks))
        notes = left_out, self._search.all_chains(blocks)
        pair = self._search.best_pair(blocks) if left > 1 else None
        if pair is None or (single is not None and pair.gain <= self._two_singles(graph, single)):
            return single, notes
        return pair, notes

    def _two_singles(self, graph: Graph, first: Addition) -> float:
        """What the best edge and the best one after it gain together."""
        second = self._search.best(self._whole(graph_with(graph, first.pairs)))
        return (1 + first.gain) * (1 + (0.0 if second is None else second.gain)) - 1

    def _whole(self, graph: Graph) -> Whole:
        return self._search.shapes.whole(graph)

    def _rectangular(self, graph: Graph) -> Addition | None:
        """With spare behaviours all pairs are compared: behaviours nobody did may help too."""
        if graph.n_users * graph.n_behaviours > attack_tuning().rectangular:
            part = Call("one block: improve(blocks(graph)[0].graph())", "a part of the users")
            raise BudgetError(
                f"comparing all {graph.n_users} x {graph.n_behaviours} pairs is too much where "
                "behaviours are spare; take ",
                part,
                seconds=math.inf,
                memory=math.inf,
                instead=(part,),
            )
        gained = gains(graph, budget=self.budget, executor=self._executor)
        most = gained.max()
        if not most:
            return None
        row, column = next(zip(*np.nonzero(gained == most), strict=True))
        total = count(graph, exact=True, budget=self.budget).value
        return Addition(((int(row), int(column)),), float(Fraction(most) / Fraction(total)))

    def added(self, graph: Graph, addition: Addition) -> list[AddedEdge]:
        """The edges one after another, each with its gain on top of those before."""
        edges = []
        for pair in addition.pairs:
            edges.append(self._measured(graph, pair))
            graph = graph_with(graph, (pair,))
        first = edges[0]
        if len(edges) > 1 and first.factor == 1:
            edges[0] = replace(first, alone=False, helped=None, helped_bits=0.0)
        return edges

    def _measured(self, graph: Graph, pair: Pair) -> AddedEdge:
        """An edge and its gain, counted again on the block that it makes."""
        before, now = _touched(graph, graph_with(graph, (pair,)), pair[0])
        old, new = (
            count(part, budget=self.budget, executor=self._executor) for part in (before, now)
        )
        edge = _gain(graph, pair, old, new)
        if edge.confidence < 1.0:  # probabilities cost more than counts
            return edge
        helped, bits = self._helped(before, now)
        return replace(edge, helped=helped, helped_bits=bits)

    def _helped(self, before: Graph, after: Graph) -> tuple[Hashable | None, float]:
        """The user whose entropy grows most, if probabilities need not be estimated."""
        try:
            old, new = (_entropies(part, self.budget, self._executor) for part in (before, after))
        except BudgetError:
            return None, 0.0
        if old is None or new is None:
            return None, 0.0
        growth = (new - old) / _LN2
        user = int(np.argmax(growth >= growth.max() - 1e-12))
        return before.users[user], float(growth[user])


def _gain(graph: Graph, pair: Pair, old: Count, new: Count) -> AddedEdge:
    """An edge by the counts of a block without and with it, which are never fewer."""
    log = max(new.log - old.log, 0.0)
    factor: Fraction | float = math.exp(log) if log < _LARGEST_LOG else math.inf
    low, high = max(new.low - old.high, 0.0), max(new.high - old.low, 0.0)
    if old.exact and new.exact:
        factor = Fraction(new.value) / Fraction(old.value)
        low = high = log
    return AddedEdge(
        user=graph.users[pair[0]],
        behaviour=graph.behaviours[pair[1]],
        factor=factor,
        bits=log / _LN2,
        low=low / _LN2,
        high=high / _LN2,
        method=old.method if old.method == new.method else f"{old.method}, then {new.method}",
        confidence=max(0.0, old.confidence + new.confidence - 1.0),
        seed=new.seed if old.seed is None else old.seed,
    )


def _repairing(graph: Graph, pair: Pair, *, last: bool) -> AddedEdge:
    """An edge on the way to a first matching, which the last of them gives."""
    bits = math.inf if last else 0.0
    return AddedEdge(
        user=graph.users[pair[0]],
        behaviour=graph.behaviours[pair[1]],
        factor=math.inf if last else Fraction(1),
        bits=bits,
        low=bits,
        high=bits,
        method="matching",
    )


def _touched(before: Graph, after: Graph, user: int) -> tuple[Graph, Graph]:
    """The part of two graphs that lies in the later one's block of a user."""
    table = block_table(after)
    position = int(np.flatnonzero(table.users == user)[0])
    block = int(np.searchsorted(table.user_offsets, position, side="right")) - 1
    users = np.sort(table.users[slice(*table.user_offsets[block : block + 2])])
    behaviours = np.sort(table.behaviours[slice(*table.behaviour_offsets[block : block + 2])])
    return before.take(users, behaviours), after.take(users, behaviours)


def _entropies(graph: Graph, budget: Budget, executor: Executor | None) -> Floats | None:
    """Shannon entropy of each user, in nats; None where probabilities are estimates."""
    of_edges = posterior(graph, budget=budget, executor=executor)
    if of_edges.confidence < 1.0:
        return None
    probabilities = of_edges.probabilities
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    sums = np.bincount(graph.rows(), probabilities * logs, minlength=graph.n_users)
    return -sums.astype(np.float64)


def missing_pairs(graph: Graph) -> int:
    """How many edges it takes at least: users that a largest matching leaves out."""
    return graph.n_users - structure(graph).n_matched


def next_pair(graph: Graph, budget: Budget) -> tuple[int, int]:
    """A user and a behaviour whose edge lets one more user be matched.

    Where one edge is enough and all pairs can be compared within the budget, it is the one that
    gives most matchings; else the first.
    """
    users, behaviours = _loose(graph)
    if missing_pairs(graph) == 1 and _price(graph, budget) <= budget.seconds:
        of_pairs = minors(graph, budget=budget)[np.ix_(users, behaviours)]
        best = of_pairs.max()
        row, column = next(zip(*np.nonzero(of_pairs == best), strict=True))
        return int(users[row]), int(behaviours[column])
    return int(users[0]), int(behaviours[0])


def _loose(graph: Graph) -> tuple[Ints, Ints]:
    """Users and behaviours that some largest matching leaves out."""
    parts = structure(graph)
    free_users = np.flatnonzero(parts.behaviour_of_user < 0).tolist()
    free_behaviours = np.flatnonzero(parts.user_of_behaviour < 0).tolist()
    rows = graph.to_scipy()
    columns = rows.tocsc()
    users = _reached(free_users, rows.indptr, rows.indices, parts.user_of_behaviour)
    behaviours = _reached(free_behaviours, columns.indptr, columns.indices, parts.behaviour_of_user)
    return users, behaviours


def _reached(
    start: list[int],
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    partner: npt.NDArray[np.integer],
) -> Ints:
    """Who could be left out instead of one of ``start``: along an edge and back by the matching."""
    reached = set(start)
    waiting = list(start)
    while waiting:
        here = waiting.pop()
        for there in indices[indptr[here] : indptr[here + 1]].tolist():
            other = int(partner[there])
            if other >= 0 and other not in reached:
                reached.add(other)
                waiting.append(other)
    return np.array(sorted(reached), dtype=np.int64)


def _price(graph: Graph, budget: Budget) -> float:
    """Predicted seconds for the minors of all pairs, judged by a part that can be matched."""
    if graph.n_users * graph.n_behaviours > attack_tuning().pairs:
        return np.inf
    matched = np.flatnonzero(structure(graph).behaviour_of_user >= 0)
    rest = graph.take(matched, np.arange(graph.n_behaviours))
    return (
        graph.n_users * attack_tuning().exact_counts * plan_posterior(rest, budget=budget).seconds
    )

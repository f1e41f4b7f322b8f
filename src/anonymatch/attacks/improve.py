"""improve(): which missing edges to add, and what each would gain."""

from __future__ import annotations

import math
from collections.abc import Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.arguments import whole
from anonymatch.attacks.additions import Addition, Pair, Search, graph_with
from anonymatch.attacks.repair import missing_pairs, next_pair
from anonymatch.attacks.shapes import Shapes, Whole
from anonymatch.counting.dispatch import count, posterior
from anonymatch.counting.minors import gains
from anonymatch.counting.result import Count
from anonymatch.effort import Budget, Progress
from anonymatch.errors import BudgetError, NoMatchingError
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import BlockView, block_table, witness
from anonymatch.wording import several

__all__ = ["AddedEdge", "Improvement", "improve"]

Floats = npt.NDArray[np.float64]

_LN2 = math.log(2.0)
_RECTANGULAR = 250_000  # users times behaviours up to which a rectangular graph is searched


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
    alone : bool
        False for the first of two edges that gain only together: between two blocks one edge adds
        nothing, two add a way round. The gain of both is with the second.
    helped : user or None
        The user whose own entropy grows most by it.
    helped_bits : float
        By how many bits.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.improve(am.Graph.from_rows(["1100", "0110", "0011", "1001"])).edges[0]
    AddedEdge(user=0, behaviour=2, factor=Fraction(3, 2), bits=0.585, alone=True, helped=0,
              helped_bits=0.585)
    """

    user: Hashable
    behaviour: Hashable
    factor: Fraction | float
    bits: float
    alone: bool = True
    helped: Hashable | None = None
    helped_bits: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values; the factor as text when exact, infinite numbers as None."""
        factor = str(self.factor) if isinstance(self.factor, Fraction) else self.factor
        return {
            "user": self.user,
            "behaviour": self.behaviour,
            "factor": None if math.isinf(self.bits) else factor,
            "bits": None if math.isinf(self.bits) else self.bits,
            "alone": self.alone,
            "helped": self.helped,
            "helped_bits": self.helped_bits,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Improvement:
    """Edges to add to a graph, best first, and the graph with them.

    Attributes
    ----------
    start : Count
        Matchings before.
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
    edges: tuple[AddedEdge, ...]
    graph: Graph = field(repr=False)
    not_searched: tuple[BlockView, ...] = field(default=(), repr=False)
    all_between: bool = True

    @property
    def log(self) -> float:
        """Natural log of the matchings with all edges."""
        if self.start.log == -math.inf:
            return count(self.graph).log if self.edges else -math.inf
        return self.start.log + _LN2 * sum(edge.bits for edge in self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON if the names of users and behaviours are."""
        log = self.log
        return {
            "log_start": self.start.log if math.isfinite(self.start.log) else None,
            "log": log if math.isfinite(log) else None,
            "edges": [edge.to_dict() for edge in self.edges],
            "blocks_not_searched": len(self.not_searched),
            "all_between": self.all_between,
        }

    def __str__(self) -> str:
        number = len(self.edges)
        if not number:
            text = "no edge would add a matching"
        else:
            before = f"2^{self.start.log2:.4g}" if math.isfinite(self.start.log) else "no"
            text = f"{several(number, 'edge')}: {before} to 2^{self.log / _LN2:.4g} matchings"
        if self.not_searched:
            text += f"; {several(len(self.not_searched), 'block')} beyond the budget"
        return text


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
    executor
        As for :func:`anonymatch.count`.
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
        return Improvement(start=start, edges=(), graph=graph)
    found: list[AddedEdge] = []
    now, notes = graph, None
    needed = missing_pairs(graph)
    why = witness(graph)
    if why is not None and (needed > edges or graph.n_users > graph.n_behaviours):
        raise NoMatchingError(why.users, why.behaviours)
    for _ in range(needed):
        pair = next_pair(now, round_.budget)
        now = graph_with(now, (pair,))
        bits = math.inf if missing_pairs(now) == 0 else 0.0
        found.append(_edge(graph, pair, math.inf if bits else Fraction(1), bits))
    while len(found) < edges:
        addition, seen = round_.best(now, edges - len(found))
        notes = notes or seen
        if addition is None:
            break
        found += round_.added(now, addition)
        now = graph_with(now, addition.pairs)
        if progress is not None:
            progress(len(found), edges)
    return Improvement(
        start=start,
        edges=tuple(found),
        graph=now,
        not_searched=notes.blocks if notes else (),
        all_between=notes.all_between if notes else True,
    )


@dataclass(frozen=True, slots=True)
class _Notes:
    """What a search left out."""

    blocks: tuple[BlockView, ...]
    all_between: bool


class _Round:
    """How additions are found and measured in one call."""

    def __init__(self, budget: Budget, executor: Executor | None) -> None:
        self.budget, self._executor = budget, executor
        self._search = Search(Shapes(budget=budget, executor=executor), budget)

    def best(self, graph: Graph, left: int) -> tuple[Addition | None, _Notes]:
        """What to add next, if ``left`` edges may still be added."""
        if graph.n_users != graph.n_behaviours:
            return self._rectangular(graph), _Notes((), True)
        blocks = self._whole(graph)
        single = self._search.best(blocks)
        left_out = tuple(BlockView(graph, block) for block in self._search.unsearched(blocks))
        notes = _Notes(left_out, self._search.all_chains(blocks))
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
        if graph.n_users * graph.n_behaviours > _RECTANGULAR:
            raise BudgetError(
                f"comparing all {graph.n_users} x {graph.n_behaviours} pairs is too much where "
                "behaviours are spare; take one block: improve(blocks(graph)[0].graph())",
                seconds=math.inf,
                memory=math.inf,
            )
        found = gains(graph, budget=self.budget, executor=self._executor)
        most = found.max()
        if not most:
            return None
        row, column = next(zip(*np.nonzero(found == most), strict=True))
        total = count(graph, exact=True, budget=self.budget).value
        return Addition(((int(row), int(column)),), float(Fraction(most) / Fraction(total)))

    def added(self, graph: Graph, addition: Addition) -> list[AddedEdge]:
        """The edges one after another, each with its gain on top of those before."""
        found = []
        for pair in addition.pairs:
            found.append(self._measured(graph, pair))
            graph = graph_with(graph, (pair,))
        first = found[0]
        if len(found) > 1 and first.factor == 1:
            found[0] = replace(first, alone=False, helped=None, helped_bits=0.0)
        return found

    def _measured(self, graph: Graph, pair: Pair) -> AddedEdge:
        """An edge and its gain, counted again on the block that it makes."""
        before, now = _touched(graph, graph_with(graph, (pair,)), pair[0])
        old, new = (
            count(part, budget=self.budget, executor=self._executor) for part in (before, now)
        )
        factor: Fraction | float = math.exp(new.log - old.log)
        if old.exact and new.exact:
            factor = Fraction(new.value) / Fraction(old.value)
        helped, bits = self._helped(before, now)
        edge = _edge(graph, pair, factor, (new.log - old.log) / _LN2)
        return replace(edge, helped=helped, helped_bits=bits)

    def _helped(self, before: Graph, after: Graph) -> tuple[Hashable | None, float]:
        """The user whose entropy grows most, if chances are within the budget."""
        try:
            old, new = (_entropies(part, self.budget, self._executor) for part in (before, after))
        except BudgetError:
            return None, 0.0
        growth = (new - old) / _LN2
        user = int(np.argmax(growth >= growth.max() - 1e-12))
        return before.users[user], float(growth[user])


def _edge(graph: Graph, pair: Pair, factor: Fraction | float, bits: float) -> AddedEdge:
    user, behaviour = graph.users[pair[0]], graph.behaviours[pair[1]]
    return AddedEdge(user=user, behaviour=behaviour, factor=factor, bits=bits)


def _touched(before: Graph, after: Graph, user: int) -> tuple[Graph, Graph]:
    """The part of two graphs that lies in the later one's block of a user."""
    table = block_table(after)
    place = int(np.flatnonzero(table.users == user)[0])
    block = int(np.searchsorted(table.user_offsets, place, side="right")) - 1
    users = np.sort(table.users[slice(*table.user_offsets[block : block + 2])])
    behaviours = np.sort(table.behaviours[slice(*table.behaviour_offsets[block : block + 2])])
    return before.take(users, behaviours), after.take(users, behaviours)


def _entropies(graph: Graph, budget: Budget, executor: Executor | None) -> Floats:
    """Shannon entropy of each user, in nats."""
    chances = posterior(graph, budget=budget, executor=executor).chances
    logs = np.log(chances, out=np.zeros_like(chances), where=chances > 0)
    sums = np.bincount(graph.rows(), chances * logs, minlength=graph.n_users)
    return -sums.astype(np.float64)

"""Which missing edge would add the most matchings: inside blocks, between them, and in pairs.

With M matchings, adding an edge between user x and behaviour y multiplies the count by 1 + Q[y, x],
where Q is the count without both over M. Inside a block Q is the block's own ratio P. Between
blocks, what leaves y unused in its block must go on along existing edges E to the block of x.
Blocks are ordered by such edges, so that no way comes back, and

    Q = P + P E P + P E P E P + ... = P (1 - E P)^-1

has finitely many terms, all positive. Where no edges lead back, one edge between two blocks adds
nothing; two of them, one each way, add the product of two entries of P.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.counting import concatenated_ranges, minors, minors_at_once_seconds, plan_posterior
from anonymatch.graph import Graph
from anonymatch.running import Budget
from anonymatch.theory.attacks.residual import Residual, Residuals, Whole
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = ["Addition", "Ratios", "Search"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Addition:
    """Edges to add together, and the share of matchings that they add, in doubles."""

    pairs: tuple[Pair, ...]
    gain: float


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """P of one shape: users by behaviours."""

    matrix: Floats
    missing: npt.NDArray[np.bool_]  # pairs that are no edges

    @property
    def best(self) -> tuple[float, int, int]:
        """The largest entry, edge or not, with its user and behaviour."""
        row, column = np.unravel_index(int(self.matrix.argmax()), self.matrix.shape)
        return float(self.matrix[row, column]), int(row), int(column)


class Search:
    """Ratios of all shapes met so far, within a budget."""

    def __init__(self, shapes: Residuals, budget: Budget) -> None:
        self.shapes = shapes
        self._budget, self._left = budget, budget.seconds
        self._ratios: dict[Residual, Ratios | None] = {}

    def ratios(self, shape: Residual) -> Ratios | None:
        """P of a shape, or None if the budget does not reach it."""
        if shape not in self._ratios:
            seconds = _price(shape, self._budget)
            affordable = seconds <= self._left
            self._left -= seconds if affordable else 0.0
            self._ratios[shape] = _ratios(shape, self._budget) if affordable else None
        return self._ratios[shape]

    def best(self, whole: Whole) -> Addition | None:
        """The single edge that adds most; the first by user if there are several."""
        additions = [*self._inside(whole), *self._between(whole)]
        return _best_of(additions)

    def best_pair(self, whole: Whole) -> Addition | None:
        """The two edges that join two blocks and add most."""
        tops: list[tuple[float, int, int, int]] = []
        for shape, blocks, _ in whole.members():
            known = self.ratios(shape)
            if known is not None:
                value, user, behaviour = known.best
                tops += [(value, int(block), user, behaviour) for block in np.sort(blocks)[:2]]
        if len(tops) < 2:
            return None
        (p, a, x, v), (q, b, u, y) = sorted(tops, key=lambda top: (-top[0], top[1]))[:2]
        one, other = whole.block(a), whole.block(b)
        there = int(one.users[x]), int(other.behaviours[y])
        back = int(other.users[u]), int(one.behaviours[v])
        return Addition((there, back), p * q)

    def unsearched(self, whole: Whole) -> list[int]:
        """Blocks whose pairs could not be looked at."""
        unknown = [blocks for shape, blocks, _ in whole.members() if self.ratios(shape) is None]
        return sorted(np.concatenate(unknown).tolist()) if unknown else []

    def all_chains(self, whole: Whole) -> bool:
        """Whether edges between blocks were looked at wherever they could add something."""
        return all(self._fits(whole, blocks) for blocks in _components(whole))

    def _inside(self, whole: Whole) -> Iterator[Addition]:
        for shape, blocks, _ in whole.members():
            known = self.ratios(shape)
            if known is not None and known.missing.any():
                block = whole.block(int(blocks.min()))
                gains = np.where(known.missing, known.matrix, 0.0)
                yield from _first_best(gains, block.users, block.behaviours)

    def _between(self, whole: Whole) -> Iterator[Addition]:
        for blocks in _components(whole):
            if self._fits(whole, blocks):
                yield from self._chains(whole, blocks)

    def _fits(self, whole: Whole, blocks: Ints) -> bool:
        sizes = np.diff(whole.table.user_offsets)[blocks]
        known = (self.ratios(whole.shape(int(block))) is not None for block in blocks)
        return int(sizes.sum()) <= attack_tuning().chained_users and all(known)

    def _chains(self, whole: Whole, blocks: Ints) -> Iterator[Addition]:
        """The best edge between some blocks that existing edges connect."""
        graph, table = whole.graph, whole.table
        sizes = np.diff(table.user_offsets)[blocks]
        rows = concatenated_ranges(table.user_offsets[blocks], sizes)
        users, behaviours = table.users[rows], table.behaviours[rows]  # square blocks
        size = len(users)
        ratios = np.zeros((size, size))  # behaviours by users
        for block, begin, n in zip(blocks.tolist(), np.cumsum(sizes) - sizes, sizes, strict=True):
            known = self.ratios(whole.shape(block))
            assert known is not None
            ratios[begin : begin + n, begin : begin + n] = known.matrix.T
        present = graph.take(users, behaviours).to_scipy().toarray().astype(np.float64)
        label = np.repeat(np.arange(len(blocks)), sizes)
        apart = label[:, None] != label[None, :]
        order = np.argsort(_depths(present * apart, label)[label], kind="stable")
        ratios, present = ratios[np.ix_(order, order)], present[np.ix_(order, order)]
        apart = apart[np.ix_(order, order)]
        from scipy.linalg import solve_triangular

        with np.errstate(over="ignore", invalid="ignore"):
            steps = (present * apart) @ ratios  # strictly above the diagonal, by the order
            system = np.eye(size) - steps
            # Q = P (1 - E P)^-1: as many positive sums as there are ways.
            gains = solve_triangular(system, ratios.T, trans="T", unit_diagonal=True)
        gains = np.where(apart & (present == 0), gains, 0.0)
        gains[np.isnan(gains)] = np.inf
        yield from _first_best(gains, users[order], behaviours[order])


def _best_of(additions: list[Addition]) -> Addition | None:
    """The largest gain; of equal ones, the first user and behaviour."""
    if not additions:
        return None
    least = max(addition.gain for addition in additions) * (1 - attack_tuning().equal_gains)
    close = (addition for addition in additions if addition.gain >= least)
    return min(close, key=lambda addition: addition.pairs)


def _first_best(
    gains: Floats, users: npt.NDArray[Any], behaviours: npt.NDArray[Any]
) -> Iterator[Addition]:
    """The largest gain, if it is any, with the first user and behaviour that have it."""
    most = float(gains.max(initial=0.0))
    if most > 0.0:
        rows, columns = np.nonzero(gains >= most * (1 - attack_tuning().equal_gains))
        pairs = zip(users[rows].tolist(), behaviours[columns].tolist(), strict=True)
        yield Addition((min(pairs),), most)


def _ratios(shape: Residual, budget: Budget) -> Ratios:
    graph = shape.graph
    n = graph.n_users
    missing = np.ones((n, n), dtype=bool)
    missing[shape.rows, graph.indices] = False
    if not missing.any() and not graph.weighted:
        return Ratios(np.full((n, n), 1.0 / n), missing)
    of_pairs = minors(graph, budget=budget)
    weights = graph.exact_weights
    row = [(j, 1 if weights is None else weights[k]) for k, j in enumerate(graph.indices)]
    total = sum(w * of_pairs[0, j] for j, w in row[: int(graph.indptr[1])])
    matrix = np.array([[_ratio(value, total) for value in line] for line in of_pairs.tolist()])
    return Ratios(matrix, missing)


def _ratio(value: Any, total: Any) -> float:
    """A quotient of exact numbers as a double; infinite if it is too large for one."""
    try:
        return float(value / total)
    except OverflowError:
        return math.inf


def _price(shape: Residual, budget: Budget) -> float:
    """Predicted seconds for the minors of all pairs of a block."""
    graph = shape.graph
    n = graph.n_users
    if n == 1 or (graph.n_edges == n * n and not graph.weighted):
        return 0.0
    at_once = minors_at_once_seconds(graph)
    if at_once is not None:
        return at_once
    if n > attack_tuning().searched_users:
        return math.inf
    rest = graph.take(np.arange(1, n), np.arange(graph.n_behaviours))
    plan = plan_posterior(rest, budget=budget)
    return (
        n * attack_tuning().exact_counts * plan.seconds
        if plan.memory <= budget.memory
        else math.inf
    )


def _components(whole: Whole) -> list[Ints]:
    """Groups of blocks that edges between blocks connect, without blocks that stand alone."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph, table = whole.graph, whole.table
    if len(table.edges) == graph.n_edges:
        return []
    behaviours = np.empty(graph.n_behaviours, dtype=np.int64)
    behaviours[table.behaviours] = np.repeat(
        np.arange(table.n_blocks), np.diff(table.behaviour_offsets)
    )
    here, there = whole.block_of_user[graph.rows()], behaviours[graph.indices]
    cross = here != there
    shape = (table.n_blocks, table.n_blocks)
    links = coo_array((np.ones(int(cross.sum())), (here[cross], there[cross])), shape=shape)
    number, labels = connected_components(links, directed=False)
    order = np.argsort(labels, kind="stable")
    borders = np.searchsorted(labels[order], np.arange(number + 1))
    groups: list[Any] = [order[borders[k] : borders[k + 1]] for k in range(number)]
    return [group.astype(np.int64) for group in groups if len(group) > 1]


def _depths(cross: Floats, label: Ints) -> Ints:
    """For each block, the length of the longest way to it along edges between blocks."""
    rows, columns = np.nonzero(cross)
    before, after = label[rows], label[columns]
    depths = np.zeros(int(label.max()) + 1, dtype=np.int64)
    while True:
        deeper = depths.copy()
        np.maximum.at(deeper, after, depths[before] + 1)
        if (deeper == depths).all():
            return depths
        depths = deeper


def graph_with(graph: Graph, pairs: tuple[Pair, ...]) -> Graph:
    """The graph with more edges, of weight 1."""
    from anonymatch.graph import canonical

    rows = np.concatenate([graph.rows(), np.array([user for user, _ in pairs], dtype=np.int32)])
    columns = np.concatenate([graph.indices, np.array([b for _, b in pairs], dtype=np.int32)])
    weights = graph.exact_weights
    if weights is not None:
        weights = np.concatenate([weights, np.array([1] * len(pairs), dtype=object)])
    shape = (graph.n_users, graph.n_behaviours)
    return Graph(graph._users, graph._behaviours, canonical(rows, columns, weights, shape, str))

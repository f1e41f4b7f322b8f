"""Graphs of a shape that makes counting polynomial: planar boards, trees, and low rank.

Answers are known by formulas that the package does not use, or checked by sums. No peer and no
older method reaches these sizes: the note tells what the next best exact plan would take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import anonymatch as am
from benchmarks.report import Line, Size, under
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]

_BOARDS: dict[Size, dict[tuple[int, int], float | None]] = {
    "tiny": {(6, 6): None},
    "quick": {(32, 32): 1.0, (44, 46): 1.0},
    "full": {(32, 32): 1.0, (44, 46): 1.0, (200, 200): 120.0},
}
_TREES: dict[Size, dict[int, float | None]] = {
    "tiny": {40: None},
    "quick": {363: 5.0},
    "full": {363: 5.0, 10_000: 60.0},
}
_RANKS: dict[Size, dict[tuple[int, int], float | None]] = {
    "tiny": {(14, 2): None},
    "quick": {(60, 2): 1.0, (60, 3): 5.0},
    "full": {(60, 2): 1.0, (60, 3): 5.0, (120, 3): 30.0},
}
_WITH_EDGES = 1100  # users
_RANK_WITH_EDGES = 60


def lines(size: Size) -> Iterator[Line]:
    for (height, width), goal in _BOARDS[size].items():
        yield from _board(height, width, goal)
    for users, limit in _TREES[size].items():
        yield from _branches(users, limit)
    for (users, rank), limit in _RANKS[size].items():
        yield from _low_rank(users, rank, limit)


def _board(height: int, width: int, goal: float | None) -> Iterator[Line]:
    graph = board(height, width)
    answer = _timed(partial(am.count, fresh(graph), executor=HERE))
    count = answer.answer
    assert count.exact
    assert abs(count.log - log_of_tilings(height, width)) < 1e-9 * count.log
    what = f"board of {height} x {width}, n = {graph.n_users}"
    yield under(f"count, {what}", answer.seconds, goal, _otherwise(graph))
    if graph.n_users <= _WITH_EDGES:
        answer = _timed(partial(am.posterior, fresh(graph), executor=HERE))
        matrix = answer.answer.matrix
        assert abs(matrix.sum(axis=0) - 1).max() < 1e-12
        assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
        yield under(f"all edges, {what}", answer.seconds, goal)


def _branches(users: int, goal: float | None) -> Iterator[Line]:
    graph = branching(users)
    answer = _timed(partial(am.count, fresh(graph), executor=HERE))
    total = answer.answer.value
    assert answer.answer.exact
    what = f"tree-like, n = {users}"
    yield under(f"count, {what}", answer.seconds, goal, _otherwise(graph))
    answer = _timed(partial(am.posterior, fresh(graph), executor=HERE))
    matrix = answer.answer.matrix
    assert abs(matrix.sum(axis=0) - 1).max() < 1e-12
    assert abs(matrix.sum(axis=1) - 1).max() < 1e-12
    for edge in range(3):  # of the first user, at the root
        exposed = am.count(graph.expose(0, int(graph.indices[edge])), executor=HERE)
        assert abs(matrix.data[edge] - exposed.value / total) < 1e-12
    yield under(f"all edges, {what}", answer.seconds, goal)


def _low_rank(users: int, rank: int, goal: float | None) -> Iterator[Line]:
    """Weights are sums of as many products; the first factors alone have n! times their product."""
    rng = np.random.default_rng(users)
    by_user, by_behaviour = (rng.random((users, rank)) + 0.1 for _ in range(2))
    graph = am.Graph.from_biadjacency(by_user @ by_behaviour.T)
    answer = _timed(partial(am.count, fresh(graph), method="low_rank", executor=HERE))
    least = max(
        math.lgamma(users + 1)
        + float(np.log(by_user[:, k]).sum() + np.log(by_behaviour[:, k]).sum())
        for k in range(rank)
    )
    assert least < answer.answer.low <= answer.answer.high < answer.answer.low + 1e-9
    what = f"weights of rank {rank}, n = {users}"
    yield under(f"count, {what}", answer.seconds, goal, _otherwise(graph))
    if users <= _RANK_WITH_EDGES:
        answer = _timed(partial(am.posterior, fresh(graph), method="low_rank", executor=HERE))
        matrix = answer.answer.matrix
        assert abs(matrix.sum(axis=0) - 1).max() < 1e-9
        yield under(f"all edges, {what}", answer.seconds, goal)


def _timed(call: Any) -> Any:
    """One round: answers are large, and need not be compared."""
    return race({"ours": call}, rounds=1)["ours"]


def _otherwise(graph: am.Graph) -> str:
    """What the method that was the best before would take."""
    try:
        am.count(graph, method="frontier", exact=True, budget=0.0, executor=HERE)
    except am.BudgetError as error:
        return f"by frontier: {error.seconds:.2g} s predicted"
    except am.InputError:
        return "by frontier: no plan"
    return ""


def branching(users: int) -> am.Graph:
    """Users at the nodes of a tree of threes, who fit the behaviours of three generations up and
    down.
    """
    rows = [{i} for i in range(users)]
    for i in range(users):
        ancestor = i
        for _ in range(3):
            if ancestor == 0:
                break
            ancestor = (ancestor - 1) // 3
            rows[i].add(ancestor)
            rows[ancestor].add(i)
    return am.Graph.from_rows([sorted(row) for row in rows])


def board(height: int, width: int) -> am.Graph:
    """Cells of one colour as users, of the other as behaviours; neighbours share a side."""
    cells = [(i, j) for i in range(height) for j in range(width)]
    behaviours = (cell for cell in cells if sum(cell) % 2 == 1)
    number = {cell: k for k, cell in enumerate(behaviours)}
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return am.Graph.from_rows(
        [
            sorted(number[i + a, j + b] for a, b in steps if (i + a, j + b) in number)
            for i, j in cells
            if (i + j) % 2 == 0
        ]
    )


def log_of_tilings(height: int, width: int) -> float:
    """Kasteleyn's product of cosines for domino tilings."""
    return 0.25 * math.fsum(
        math.log(
            4 * math.cos(math.pi * i / (height + 1)) ** 2
            + 4 * math.cos(math.pi * j / (width + 1)) ** 2
        )
        for i in range(1, height + 1)
        for j in range(1, width + 1)
    )

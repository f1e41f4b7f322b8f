"""Tables of few classes, beside counting them state by state, and tables that lack few edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

import anonymatch as am
from anonymatch.counting.exact.classes import ClassPlan, plan_classes
from anonymatch.counting.reference import block_of
from benchmarks.report import Line, Size, faster, under, within
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    compared: tuple[int, int]  # classes, users
    large: tuple[int, int]
    path: tuple[int, int]  # users, missing edges in a path
    rounds: int
    judged: bool


_SIZES = {
    "tiny": _Sizes(compared=(3, 9), large=(4, 12), path=(40, 12), rounds=1, judged=False),
    "quick": _Sizes(compared=(6, 42), large=(8, 64), path=(1000, 300), rounds=3, judged=True),
    "full": _Sizes(compared=(6, 54), large=(8, 100), path=(1000, 300), rounds=3, judged=True),
}


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    yield _beside_states(sizes)
    yield from _large(sizes)
    yield _lacking_a_path(sizes)


def _table(classes: int, users: int) -> Any:
    """Weights 1 to 8 between classes of about equal size: everybody fits everything."""
    kinds = np.random.default_rng(1).integers(1, 9, (classes, classes))
    members = np.sort(np.arange(users) % classes)
    return kinds[members][:, members]


def _plan(matrix: Any) -> ClassPlan:
    plan = plan_classes(block_of(matrix.astype(object)))
    assert plan is not None
    return plan


def _beside_states(sizes: _Sizes) -> Line:
    classes, users = sizes.compared
    matrix = _table(classes, users)
    graph = am.Graph.from_biadjacency(matrix.astype(np.float64))
    plan = _plan(matrix)
    timed = race(
        {"sums": partial(_count, graph), "states": partial(_by_states, plan)},
        rounds=sizes.rounds,
    )
    assert timed["sums"].answer == timed["states"].answer
    return faster(
        f"table of {classes} classes, n = {users}",
        timed["sums"].seconds,
        "state by state",
        timed["states"].seconds,
        10.0 if sizes.judged else None,
    )


def _large(sizes: _Sizes) -> Iterator[Line]:
    classes, users = sizes.large
    matrix = _table(classes, users)
    graph = am.Graph.from_biadjacency(matrix.astype(np.float64))
    plan = _plan(matrix)
    told = (
        f"state by state: {plan.operations / 4e6:.3g} s and "
        f"{plan.memory(edges=True) / 1e9:.3g} GB are predicted"
    )
    what = f"table of {classes} classes, n = {users}"
    timed = race({"count": partial(_count, graph)}, rounds=1)
    yield under(what, timed["count"].seconds, 60.0 if sizes.judged else None, told)
    total = timed["count"].answer
    timed = race({"edges": partial(_probabilities, graph)}, rounds=1)
    probabilities = timed["edges"].answer
    rows = probabilities.reshape(users, users)
    assert np.abs(rows.sum(axis=1) - 1).max() < 1e-9
    assert np.abs(rows.sum(axis=0) - 1).max() < 1e-9
    assert total > math.factorial(users)
    yield under(
        f"{what}: all {users * users} probabilities",
        timed["edges"].seconds,
        60.0 if sizes.judged else None,
    )


def _lacking_a_path(sizes: _Sizes) -> Line:
    users, missing = sizes.path
    matrix = np.ones((users, users), dtype=int)
    for k in range(missing):
        matrix[(k + 1) // 2, k // 2] = 0
    graph = am.Graph.from_biadjacency(matrix)
    timed = race(
        {"one count": partial(_plain_count, graph), "all edges": partial(_all_edges, graph)},
        rounds=sizes.rounds,
    )
    probabilities = np.frombuffer(timed["all edges"].answer)
    for user, start in ((0, 0), (missing // 4, int(graph.indptr[missing // 4]))):
        through = am.count(graph.expose(user, int(graph.indices[start])), executor=HERE).value
        assert abs(probabilities[start] - through / timed["one count"].answer) < 1e-12
    assert np.abs(np.add.reduceat(probabilities, graph.indptr[:-1]) - 1).max() < 1e-9
    return within(
        f"all edges of n = {users} less {missing} in a path",
        timed["all edges"].seconds,
        "one count",
        timed["one count"].seconds,
        3.0 if sizes.judged else None,
        "13.8 s by a sweep for every missing behaviour",
    )


def _plain_count(graph: am.Graph) -> int:
    value = am.count(fresh(graph), executor=HERE).value
    assert isinstance(value, int)
    return value


def _all_edges(graph: am.Graph) -> bytes:
    return am.posterior(fresh(graph), executor=HERE).probabilities.tobytes()


def _by_states(plan: ClassPlan) -> int:
    return int(plan.solve(edges=False).total)


def _count(graph: am.Graph) -> int:
    value = am.count(fresh(graph), method="classes", exact=True, executor=HERE).value
    assert isinstance(value, int | Fraction)
    return int(value)


def _probabilities(graph: am.Graph) -> Any:
    return am.posterior(fresh(graph), method="classes", exact=True, executor=HERE).probabilities

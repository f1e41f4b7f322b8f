"""The probabilities of all edges beside one count of the same graph; peers need a count an edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import anonymatch as am
from benchmarks.report import Line, Size, within
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]

_GOALS = {"glynn": 5.0, "frontier": 2.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sizes:
    dense: tuple[int, ...]
    regular: tuple[int, ...]
    ring: int
    rounds: int
    judged: bool


_SIZES = {
    "tiny": _Sizes(dense=(8,), regular=(14,), ring=30, rounds=1, judged=False),
    "quick": _Sizes(dense=(20, 24), regular=(60,), ring=1000, rounds=3, judged=True),
    "full": _Sizes(dense=(20, 22, 24, 26, 28), regular=(60, 80), ring=1000, rounds=5, judged=True),
}


def lines(size: Size) -> Iterator[Line]:
    sizes = _SIZES[size]
    graphs = {
        **{
            f"half full, n = {n}": ("glynn", am.random_density(n, 0.5, seed=1)) for n in sizes.dense
        },
        **{
            f"3-regular, n = {n}": ("frontier", am.random_regular(n, 3, seed=1))
            for n in sizes.regular
        },
        f"ring of 8, n = {sizes.ring}": ("frontier", am.ring(sizes.ring, 8)),
    }
    for what, (method, graph) in graphs.items():
        yield _all_edges(what, method, graph, sizes)


def _all_edges(what: str, method: str, graph: am.Graph, sizes: _Sizes) -> Line:
    timed = race(
        {
            "one count": partial(_count, graph, method),
            "all edges": partial(_probabilities, graph, method),
        },
        rounds=sizes.rounds,
    )
    _check(graph, method, timed["one count"].answer, timed["all edges"].answer)
    return within(
        f"all edges by {method}, {what}",
        timed["all edges"].seconds,
        "one count",
        timed["one count"].seconds,
        _GOALS[method] if sizes.judged else None,
        f"{graph.n_edges} edges: peers need a count for each",
    )


def _count(graph: am.Graph, method: str) -> int:
    value = am.count(fresh(graph), method=method, executor=HERE).value
    assert isinstance(value, int)
    return value


def _probabilities(graph: am.Graph, method: str) -> list[float]:
    probabilities: list[float] = am.posterior(
        fresh(graph), method=method, executor=HERE
    ).matrix.data.tolist()
    return probabilities


def _check(graph: am.Graph, method: str, total: int, probabilities: list[float]) -> None:
    """The probabilities of a user add up to one, and three edges agree with the count without
    them.
    """
    starts = graph.indptr.tolist()
    for user in (0, graph.n_users // 2, graph.n_users - 1):
        row = range(starts[user], starts[user + 1])
        assert abs(sum(probabilities[edge] for edge in row) - 1) < 1e-9
        behaviour = int(graph.indices[row[0]])
        through = am.count(graph.expose(user, behaviour), executor=HERE).value
        assert isinstance(through, int)
        assert abs(probabilities[row[0]] - through / total) < 1e-9, (method, user)

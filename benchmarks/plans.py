"""Predictions held against what happens: twenty plans of seconds to minutes, run to the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

import anonymatch as am
from anonymatch.counting.planning.execute import Computation, Settings
from anonymatch.graph import structure
from anonymatch.running import Budget
from benchmarks.report import Line, Size
from benchmarks.timing import HERE

__all__ = ["lines"]

_OFF = 2.0  # times that a prediction may be off
_SECONDS = {"tiny": (0.001, 0.1), "quick": (0.3, 3.0), "full": (3.0, 100.0)}
_MEMORY = 4.0 * 2**30


@dataclass(frozen=True, slots=True)
class _Case:
    """A family of graphs from small to large, and what is asked of them."""

    name: str
    graph: Callable[[int], am.Graph]
    sizes: Sequence[int]
    edges: bool = False


def _regular(degree: int) -> Callable[[int], am.Graph]:
    return lambda n: am.random_regular(n, degree, seed=n)


def _dense(share: float) -> Callable[[int], am.Graph]:
    return lambda n: am.families.random_density(n, share, seed=n)


def _band(n: int) -> Callable[[int], am.Graph]:
    return lambda reach: am.band(n, reach, reach)


def _weighted(make: Callable[[int], am.Graph]) -> Callable[[int], am.Graph]:
    def weighted(n: int) -> am.Graph:
        graph = make(n)
        rows = np.repeat(np.arange(graph.n_users), np.diff(graph.indptr)).tolist()
        weights = np.random.default_rng(n).uniform(0.5, 2.0, graph.n_edges).tolist()
        edges = zip(rows, graph.indices.tolist(), weights, strict=True)
        return am.Graph.from_edges(list(edges))

    return weighted


def _uneven(n: int) -> Callable[[int], am.Graph]:
    def intervals(reach: int) -> am.Graph:
        draws = np.random.default_rng(reach)
        ends = draws.integers(1, reach + 1, (n, 2))
        edges = [
            (i, j) for i in range(n) for j in range(max(0, i - ends[i, 0]), min(n, i + ends[i, 1]))
        ] + [(i, i) for i in range(n)]
        return am.Graph.from_edges(sorted(set(edges)))

    return intervals


_CASES = (
    _Case("dense, half full", _dense(0.5), range(18, 40)),
    _Case("dense, 0.8 full", _dense(0.8), range(18, 40)),
    _Case("sparse, 0.25 full", _dense(0.25), range(18, 46)),
    _Case("dense, weighted", _weighted(_dense(0.5)), range(16, 36)),
    _Case("3-regular", _regular(3), range(40, 110, 4)),
    _Case("4-regular", _regular(4), range(30, 70, 2)),
    _Case("5-regular", _regular(5), range(24, 60, 2)),
    _Case("8-regular", _regular(8), range(20, 44, 2)),
    _Case("3-regular, weighted", _weighted(_regular(3)), range(40, 110, 4)),
    _Case("band of 200", _band(200), range(3, 20)),
    _Case("band of 2000", _band(2000), range(2, 18)),
    _Case("band of 2000, weighted", _weighted(_band(2000)), range(2, 18)),
    _Case("uneven intervals of 300", _uneven(300), range(4, 40)),
    _Case("posterior, dense", _dense(0.5), range(14, 36), edges=True),
    _Case("posterior, 3-regular", _regular(3), range(36, 110, 4), edges=True),
    _Case("posterior, 4-regular", _regular(4), range(26, 70, 2), edges=True),
    _Case("posterior, 6-regular", _regular(6), range(20, 50, 2), edges=True),
    _Case("posterior, band of 1000", _band(1000), range(2, 18), edges=True),
    _Case("posterior, uneven of 300", _uneven(300), range(4, 40), edges=True),
    _Case("posterior, weighted", _weighted(_regular(4)), range(26, 70, 2), edges=True),
)


def lines(size: Size) -> Iterator[Line]:
    least, most = _SECONDS[size]
    for case in _CASES:
        for n in case.sizes:
            graph = case.graph(n)
            if not structure(graph).matched:
                continue
            predicted = _predicted(graph, edges=case.edges)
            if predicted > most:
                break
            if predicted >= least:
                yield _held(f"{case.name}, {n}", graph, predicted, case.edges, size)
                break


def _predicted(graph: am.Graph, *, edges: bool) -> float:
    settings = Settings(
        method="auto",
        exact=False,
        budget=Budget(seconds=1000.0, memory=_MEMORY),
        executor=HERE,
        progress=None,
    )
    return Computation(graph, settings, edges=edges).plan.seconds


def _held(what: str, graph: am.Graph, predicted: float, edges: bool, size: Size) -> Line:
    """Seconds of the whole call: planning, which is a tenth at most, is part of it."""
    budget = Budget(seconds=1000.0, memory=_MEMORY)
    ask = am.posterior if edges else am.count
    begin = time.process_time()
    answer = ask(graph, budget=budget, executor=HERE)
    seconds = time.process_time() - begin
    assert answer.exact or graph.weighted
    ratio = seconds / predicted
    return Line(
        what=what,
        ours=seconds,
        peer=f"predicted, {answer.method}",
        theirs=predicted,
        ratio=ratio,
        goal=f"within {_OFF:g}x",
        passed=1 / _OFF <= ratio <= _OFF if size == "full" else None,
    )

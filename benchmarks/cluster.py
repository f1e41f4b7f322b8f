"""What threads, processes on a Dask cluster, and recording gain and cost on one long count.

Wall time here, because that is what they are for: on a machine that others use it says little, so
each line also tells the CPU time of all processes together, which others hardly change.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anonymatch as am
from benchmarks.report import Line, Size, faster, within
from benchmarks.timing import HERE, race

__all__ = ["lines"]

_SECONDS = {"tiny": 0.02, "quick": 4.0, "full": 70.0}  # predicted of one core, at most
_RECORDED_SECONDS = {"tiny": 0.02, "quick": 3.0, "full": 12.0}
_WORKERS = 2


class Spent(NamedTuple):
    """The count, and what it took by the clock and on all processors."""

    value: object
    wall: float
    cpu: float


def lines(size: Size) -> Iterator[Line]:
    """Two threads and two processes beside one thread; recording beside not recording."""
    graph = _graph(_SECONDS[size])
    judged = size == "full"
    one = _timed(graph, HERE, time.process_time)
    with ThreadPoolExecutor(_WORKERS) as pool:
        threads = _timed(graph, pool, time.process_time)
    assert threads.value == one.value
    yield _beside("two threads", threads, one, 1.8 if judged else None, graph)
    try:
        from anonymatch.cluster import Cluster

        with Cluster(f"local:{_WORKERS}") as cluster:
            _timed(_graph(0.3), cluster, time.process_time)  # workers import the package once
            processes = _timed(graph, cluster, partial(_cpu, cluster))
    except am.InputError:
        return
    assert processes.value == one.value
    yield _beside("two Dask processes", processes, one, 1.7 if judged else None, graph)
    yield _recording(size)


def _graph(seconds: float) -> am.Graph:
    """The largest dense graph whose count is predicted to take no longer."""
    from anonymatch._native import SIGNS_RATE

    n = max(n for n in range(16, 41) if n == 16 or n * 2.0 ** (n - 1) / SIGNS_RATE <= seconds)
    return am.random_density(n, 0.3, seed=1)  # light rows: vector lanes hold them up to 40 users


def _timed(graph: am.Graph, executor: Executor, cpu: Callable[[], float]) -> Spent:
    begin, before = time.perf_counter(), cpu()
    value = am.count(graph, method="signs", budget=1e6, executor=executor).value
    return Spent(value, time.perf_counter() - begin, cpu() - before)


def _cpu(cluster: Any) -> float:
    """CPU seconds of this process and of all workers so far."""
    return float(time.process_time() + sum(cluster._client.run(time.process_time).values()))


def _beside(what: str, spent: Spent, one: Spent, times: float | None, graph: am.Graph) -> Line:
    return faster(
        f"{what}, n = {graph.n_users}, wall time",
        spent.wall,
        "one thread",
        one.wall,
        times,
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; "
        f"{spent.cpu / one.cpu:.3f} times the CPU time of one thread ({one.cpu:.3g} s)",
    )


def _recording(size: Size) -> Line:
    graph = _graph(_RECORDED_SECONDS[size])
    with tempfile.TemporaryDirectory() as folder:
        number = 0

        def recorded() -> object:
            nonlocal number
            number += 1  # a new file every time: nothing is found again
            with am.Run(Path(folder, f"{number}.sqlite"), graph, executor=HERE) as run:
                return am.count(graph, method="signs", budget=1e6, executor=run).value

        def alone() -> object:
            return am.count(graph, method="signs", budget=1e6, executor=HERE).value

        recorded()
        timed = race({"alone": alone, "recorded": recorded}, rounds=3)
    assert timed["alone"].answer == timed["recorded"].answer
    return within(
        f"recording every chunk, n = {graph.n_users}",
        timed["recorded"].seconds,
        "not recording",
        timed["alone"].seconds,
        1.02 if size == "full" else None,
        "CPU time of one thread",
    )

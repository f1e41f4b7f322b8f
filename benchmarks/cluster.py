"""What threads, processes on a Dask cluster, recording and parts gain and cost on one long count.

Wall time here, because that is what they are for: on a machine that others use it says little, so
each line also tells the CPU time of all processes together, which others hardly change.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import anonymatch as am
from anonymatch.running.cluster import Cluster
from benchmarks.report import Line, Size, faster, within
from benchmarks.timing import HERE, fresh, race

__all__ = ["lines"]

_SECONDS = {"tiny": 0.02, "quick": 4.0, "full": 70.0}  # predicted of one core, at most
_ROUNDS = {"tiny": 1, "quick": 1, "full": 2}
_RECORDED_SECONDS = {"tiny": 0.02, "quick": 4.0, "full": 20.0}  # its chunks are as long as of hours
_ROUNDS_RECORDED = {"tiny": 1, "quick": 3, "full": 10}
_SPARSE = {"tiny": 24, "quick": 36, "full": 44}  # users
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
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(_WORKERS))
        positions: dict[str, Executor] = {"two threads": threads}
        goals = {"two threads": 1.8, "two Dask processes": 1.7}
        try:
            cluster = stack.enter_context(Cluster(f"local:{_WORKERS}"))
            _timed(_graph(0.3), cluster)  # workers import the package once
            positions["two Dask processes"] = cluster
        except am.InputError:  # Dask is not installed
            pass
        spent = _in_turns(graph, {"one thread": HERE, **positions}, rounds=_ROUNDS[size])
    one = spent.pop("one thread")
    for what, best in spent.items():
        yield _beside(what, best, one, goals[what] if judged else None, graph)
    yield _recording(size)
    yield _parts(size)


def _in_turns(graph: am.Graph, positions: Mapping[str, Executor], rounds: int) -> dict[str, Spent]:
    """The quickest of several rounds in each place; all must give the same count."""
    spent = [
        {what: _timed(graph, position) for what, position in positions.items()}
        for _ in range(rounds)
    ]
    assert len({best.value for each in spent for best in each.values()}) == 1
    return {
        what: min((each[what] for each in spent), key=lambda one: one.wall) for what in positions
    }


def _graph(seconds: float) -> am.Graph:
    """The largest dense graph whose count is predicted to take no longer."""
    from anonymatch._native import GLYNN_RATE

    n = max(n for n in range(16, 41) if n == 16 or n * 2.0 ** (n - 1) / GLYNN_RATE <= seconds)
    return am.random_density(n, 0.3, seed=1)  # light rows: vector lanes hold them up to 40 users


def _timed(graph: am.Graph, executor: Executor) -> Spent:
    begin, before = time.perf_counter(), _cpu(executor)
    value = am.count(graph, method="glynn", budget=1e6, executor=executor).value
    return Spent(value, time.perf_counter() - begin, _cpu(executor) - before)


def _cpu(executor: Executor) -> float:
    """CPU seconds so far of this process, and of all workers of a cluster."""
    workers = executor._client.run(time.process_time) if isinstance(executor, Cluster) else {}
    return float(time.process_time() + sum(workers.values()))


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


class _TimedRun(am.Checkpoint):
    """A run that adds up the CPU seconds of its own work."""

    own = 0.0

    def find(self, key: bytes, kind: Any) -> Any:
        return self._timed(super().find, key, kind)

    def begin(self, *what: Any) -> int:
        return int(self._timed(super().begin, *what))

    def store(self, *what: Any) -> None:
        self._timed(super().store, *what)

    def _timed(self, call: Callable[..., Any], *arguments: Any) -> Any:
        before = time.thread_time()
        try:
            return call(*arguments)
        finally:
            self.own += time.thread_time() - before


def _recording(size: Size) -> Line:
    """What recording takes of a run. Whole runs differ by more than that from one to the next."""
    graph = _graph(_RECORDED_SECONDS[size])
    own: list[float] = []
    with tempfile.TemporaryDirectory() as folder:

        def recorded() -> object:
            before = time.process_time()
            path = Path(folder, f"{len(own)}.sqlite")  # a new one: nothing is found again
            with _TimedRun(path, graph, executor=HERE) as run:
                opened = time.process_time() - before
                value = am.count(graph, method="glynn", budget=1e6, executor=run).value
            own.append(opened + run.own)
            return value

        def alone() -> object:
            return am.count(graph, method="glynn", budget=1e6, executor=HERE).value

        calls = {"alone": alone, "recorded": recorded}
        timed = race(calls, rounds=_ROUNDS_RECORDED[size], patience=math.inf)
    assert timed["alone"].answer == timed["recorded"].answer
    whole = timed["recorded"].seconds
    return within(
        f"recording every chunk, n = {graph.n_users}",
        whole,
        "the same without the recorder's part",
        whole - sorted(own)[len(own) // 2],
        1.02 if size == "full" else None,
        f"CPU time of one thread; {whole / timed['alone'].seconds:.3f} times a run that is not "
        "recorded, where a run differs by some percent from the next",
    )


def _parts(size: Size) -> Line:
    """A run of the frontier in parts beside the same in one, in CPU time of one thread."""
    n = _SPARSE[size]
    graph = am.random_regular(n, 5, seed=1)
    count = partial(am.count, method="frontier", executor=HERE)
    whole = count(graph).plan
    little = am.Budget(memory=0.8 * whole.memory)
    calls = {
        "one": lambda: count(fresh(graph)).value,
        "parts": lambda: count(fresh(graph), budget=little).value,
    }
    timed = race(calls, rounds=3)
    assert timed["one"].answer == timed["parts"].answer
    return within(
        f"parts of a tenth of the memory, n = {n}, 5 candidates each",
        timed["parts"].seconds,
        "one run",
        timed["one"].seconds,
        1.25 if size == "full" else None,
        f"CPU time; {whole.memory / 2**20:.0f} MiB in one run",
    )

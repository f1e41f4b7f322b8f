"""A real cluster of two worker processes: the same bits, also when a worker or all is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.patience import PATIENCE, patient_program
from tests.running.test_executors import ASKED

import anonymatch as am
from anonymatch.running import budget
from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import Execution
from anonymatch.running.checkpoint import read_checkpoint
from anonymatch.running.cluster import Cluster

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default"),  # Dask's own are not ours to mend
]

GRAPH = am.random_density(28, 0.5, seed=3)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster("local:2") as made:
        yield made


@pytest.fixture(autouse=True)
def _everything_travels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "pays_from", 0.0)


@pytest.mark.parametrize("name", ["count", "posterior", "estimate", "promise"])
def test_a_cluster_gives_the_same_bits(name: str, cluster: Cluster) -> None:
    assert ASKED[name](cluster) == ASKED[name](None)


def size(value: Shared[bytes], number: int) -> int:
    return len(value.get()) + number


def test_a_lost_worker_costs_time_and_nothing_else(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL in the middle: its chunks, and what they share, are there again elsewhere."""
    monkeypatch.setattr(budget, "CHUNK_SECONDS", 1e-6)
    pids = _pids(cluster)
    killed: list[int] = []

    def kill(done: float, total: float) -> None:
        if not killed and done > 0.2 * total:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    result = am.count(GRAPH, method="glynn", executor=cluster, progress=kill)

    assert killed
    assert result.value == am.count(GRAPH, method="glynn").value
    _until(lambda: killed[0] not in _pids(cluster))


def test_workers_are_sent_a_shared_value_once_and_release_it(cluster: Cluster) -> None:
    value = Shared(bytes, 1000)
    calls = [partial(size, value, k) for k in range(60)]
    result = list(Execution(executor=cluster).chunks(calls, each=0.02, number=60))

    assert result == [1000 + k for k in range(60)]
    held = list(cluster._shared)
    assert value.digest in held
    del calls, value
    assert len(cluster._shared) < len(held)


def fail(number: int) -> int:
    raise ValueError(f"chunk {number}")


def test_errors_of_chunks_come_back(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="chunk 7"):
        list(Execution(executor=cluster).chunks([partial(fail, 7)], each=1.0, number=1))
    assert cluster.submit(pow, 2, 10).result(timeout=PATIENCE) == 1024


def test_workers_with_other_code_are_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymatch.running.cluster.code", lambda: "0.0.9+00000000")

    with pytest.raises(am.StoppedError, match="install the same version everywhere"):
        list(Execution(executor=cluster).chunks([partial(pow, 2, 3)], each=1.0, number=1))


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("nowhere", "a cluster is tcp://host:port or local:N"),
        ("local:0", "local:N: N must be a whole number from 1"),
        ("local:two", "local:N: N must be a whole number from 1"),
        (7, "a cluster is tcp://host:port or local:N, not 7"),
    ],
)
def test_what_is_no_address_is_refused(address: object, text: str) -> None:
    with pytest.raises(am.InputError, match=text):
        Cluster(address)  # type: ignore[arg-type]


def test_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.running.cluster._PATIENCE", 0.3)

    with pytest.raises(am.InputError, match="no scheduler answers; start one with"):
        Cluster("tcp://127.0.0.1:9")


def started(*arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", *map(str, arguments)], stderr=subprocess.DEVNULL)


def test_a_scheduler_that_is_gone_is_one_clear_line(tmp_path: Path) -> None:
    """The command line, exit code 1; and what was finished is found by the next call."""
    position, run, observed = (tmp_path / name for name in ("place.json", "run.sqlite", "seen.csv"))
    am.write(am.random_density(36, 0.5, seed=3), observed)  # minutes of work
    scheduler = started(
        "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", 0, "--no-dashboard",
        "--scheduler-file", position,
    )  # fmt: skip
    worker = started(
        "distributed.cli.dask_worker", "--scheduler-file", position, "--nthreads", 1, "--no-nanny",
        "--no-dashboard", "--local-directory", tmp_path,
    )  # fmt: skip
    try:
        _until(lambda: _written(position))
        address = json.loads(position.read_text())["address"]
        arguments = ["count", observed, "--method", "glynn", "--cluster", address, "--resume", run]
        requested = subprocess.Popen(
            [*patient_program("anonymatch.running.cluster"), *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while requested.poll() is None and not _recorded(run):
            time.sleep(0.05)
        scheduler.kill()
        out, err = requested.communicate(timeout=PATIENCE)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()

    assert requested.returncode == 1
    assert out == ""
    assert err.startswith(f"error: the scheduler at {address} is gone; what a run has recorded")
    assert err.count("\n") == 1
    assert _recorded(run) > 0


def _pids(cluster: Cluster) -> list[int]:
    """Return the process of each worker; none while a worker is being replaced."""
    try:
        return list(cluster._client.run(os.getpid).values())
    except OSError:
        return []


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def _written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("}")


def _recorded(path: Path) -> int:
    try:
        return sum(job.recorded for job in read_checkpoint(path).jobs)
    except am.InputError:
        return 0

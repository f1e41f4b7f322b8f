"""Work that shall end: what it leaves is never taken for an answer, here or in a file."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

import anonymatch as am
from anonymatch.running.budget import Cancelled, CancelToken, Execution
from anonymatch.running.cancel import CancellableThread, byte_of_work, current_token
from anonymatch.running.checkpoint import read_checkpoint


def band(n: int, first: int) -> list[tuple[int, int]]:
    """A log by time: every user may have done what lies within two or three places."""
    return [
        (first + i, first + j)
        for i in range(n)
        for j in range(max(0, i - 2), min(n, i + 3 + i % 3 // 2))
    ]


LOGS = am.Graph.from_edges(band(40, 0) + band(50, 40) + band(60, 90))


def half(number: int) -> int:
    """A kernel that returns what it has when it is asked to end; it asks itself at 3."""
    byte = byte_of_work()
    if byte is None:
        return number
    if number == 3:
        byte[0] = 1
    return -1 if byte[0] else number


def token_byte(number: int) -> tuple[int, bool]:
    byte = byte_of_work()
    return number, byte is not None and byte[0] == 0


def finished(number: int) -> int:
    return number


@pytest.fixture(params=["here", "threads"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor | None]:
    if request.param == "here":
        yield None
    else:
        with ThreadPoolExecutor(2) as threads:
            yield threads


def test_a_call_that_was_under_way_is_not_recorded(
    executor: Executor | None, tmp_path: Path
) -> None:
    path = tmp_path / "run"
    calls = [partial(half, k) for k in range(8)]
    with am.Checkpoint(path, executor=executor) as run:
        with pytest.raises(Cancelled):
            list(Execution(executor=run).chunks(calls, each=0.01, number=8))
        assert not read_checkpoint(path).jobs[0].finished
        known = [run.find(key, Any) for key in _keys(run)]
    assert -1 not in known
    assert set(known) <= {0, 1, 2}


def _keys(run: am.Checkpoint) -> list[bytes]:
    return [key for (key,) in run._base.execute("SELECT key FROM chunks")]


def test_a_wish_that_comes_from_outside_ends_work_elsewhere() -> None:
    effort = Execution(executor=Slow())
    threading.Timer(0.05, effort.stop.cancel).start()
    with pytest.raises(Cancelled):
        list(effort.chunks([partial(finished, 1)], each=1.0, number=1))


class Slow(ThreadPoolExecutor):
    """Takes calls and never answers."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return Future()


def test_other_processes_get_a_byte_of_their_own() -> None:
    stop = CancelToken()
    stop.cancel()
    assert not pickle.loads(pickle.dumps(stop)).cancelled
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        calls = [partial(token_byte, k) for k in range(4)]
        result = list(Execution(executor=pool).chunks(calls, each=1.0, number=4))
    assert result == [(k, True) for k in range(4)]


def test_work_with_costs_of_its_own_is_told_as_it_is_done() -> None:
    given: list[float] = []
    effort = Execution(progress=lambda done, total: given.append(done))
    effort.expect(6.0)
    calls = [partial(finished, k) for k in range(3)]
    assert list(effort.chunks(calls, each=[3.0, 2.0, 1.0], number=3)) == [0, 1, 2]
    assert given == [3.0, 5.0, 6.0]


def test_bands_travel_and_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymatch.running.budget._RECORDS_PAY_FROM", 0.0)
    alone, probabilities = am.count(LOGS), am.posterior(LOGS).probabilities.tolist()
    assert {step.method for step in alone.plan.steps} == {"band"}

    path = tmp_path / "run"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for executor in (pool, None):
            with am.Checkpoint(path, LOGS, executor=executor) as run:
                assert am.count(LOGS, executor=run).value == alone.value
                assert am.posterior(LOGS, executor=run).probabilities.tolist() == probabilities
    first, again = read_checkpoint(path).computed

    assert first == 6
    assert again == 0


def test_a_thread_that_looks_at_nothing_is_cancelled_in_its_python() -> None:
    begun, ended, token = threading.Event(), threading.Event(), CancelToken()
    errors: list[BaseException] = []

    def work() -> None:
        begun.set()
        while True:
            sum(range(100))

    def failed(error: BaseException) -> None:
        errors.append(error)
        ended.set()

    thread = CancellableThread(work, token=token, done=lambda _: None, failed=failed, name="test")
    thread.start()
    assert begun.wait(PATIENCE)
    assert thread.interrupt()
    assert ended.wait(PATIENCE)
    assert isinstance(errors[0], Cancelled)
    thread.join(PATIENCE)
    assert not thread.alive
    assert not thread.interrupt()


def test_a_thread_that_was_cancelled_before_does_not_begin() -> None:
    token, errors = CancelToken(), list[BaseException]()
    token.cancel()
    thread = CancellableThread(
        lambda: pytest.fail("it began"), token=token, done=print, failed=errors.append, name="test"
    )
    thread.start()
    thread.join(PATIENCE)
    assert isinstance(errors[0], Cancelled)


def test_work_in_a_thread_has_the_token_of_the_thread() -> None:
    token, tokens = CancelToken(), list[CancelToken]()
    thread = CancellableThread(
        current_token, token=token, done=tokens.append, failed=print, name="test"
    )
    thread.start()
    thread.join(PATIENCE)
    assert tokens == [token]

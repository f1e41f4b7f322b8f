"""Work beside the page: its answer, its errors, its progress, and stopping it."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
import textwrap
import threading
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from tests.patience import PATIENCE

from anonymatch.base.errors import InputError
from anonymatch.graph.io.files import FileNote
from anonymatch.running import Cancelled, Progress
from anonymatch.studio.background import BackgroundJob, Track, noting, problem


def test_the_loop_goes_on_while_work_runs() -> None:
    release = threading.Event()

    async def go() -> tuple[int, bool]:
        job = BackgroundJob(lambda _: (release.wait(PATIENCE), 7)[1])
        await asyncio.sleep(0)
        waiting = not job.done
        release.set()
        return await job.result(), waiting

    assert asyncio.run(go()) == (7, True)


def test_progress_is_a_share() -> None:
    def work(tell: Progress) -> None:
        tell(1.0, 4.0)

    async def go() -> float:
        job = BackgroundJob(work)
        await job.result()
        return job.track.share

    assert asyncio.run(go()) == 0.25


def test_stopping_is_at_once_and_ends_the_thread() -> None:
    ended, begun = threading.Event(), threading.Event()

    def work(tell: Progress) -> None:
        try:
            while True:
                begun.set()
                tell(0.0, 1.0)
        finally:
            ended.set()

    async def go() -> None:
        job = BackgroundJob(work)
        await asyncio.to_thread(begun.wait, PATIENCE)
        job.cancel()
        with pytest.raises(Cancelled):
            await job.result()

    asyncio.run(go())

    assert ended.wait(PATIENCE)


def test_work_that_tells_nothing_is_stopped_too() -> None:
    begun = threading.Event()

    def work(_: Progress) -> None:
        begun.set()
        while True:
            # What ends the work is no error that it may handle.
            with suppress(Exception):
                sum(range(1000))

    async def go() -> BackgroundJob[None]:
        job = BackgroundJob(work)
        await asyncio.to_thread(begun.wait, PATIENCE)
        job.cancel()
        with pytest.raises(Cancelled):
            await job.result()
        while job.alive:
            await asyncio.sleep(0.01)
        return job

    assert not asyncio.run(go()).alive


def test_an_import_under_way_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_import.py").write_text(
        "import threading\nimport time\nbegun = threading.Event()\nbegun.set()\n"
        "for _ in range(150):\n    time.sleep(0.01)\nwhole = True\n"
    )

    def work(_: Progress) -> None:
        importlib.import_module("slow_to_import")
        while True:
            sum(range(1000))

    async def go() -> BackgroundJob[None]:
        job = BackgroundJob(work)
        while not hasattr(sys.modules.get("slow_to_import"), "begun"):
            await asyncio.sleep(0.01)
        job.cancel()
        while job.alive:
            await asyncio.sleep(0.01)
        return job

    asyncio.run(go())

    assert sys.modules.pop("slow_to_import").whole


@pytest.mark.parametrize("repeat", range(30))
def test_work_that_ends_as_it_is_stopped_ends_quietly(repeat: int) -> None:
    def work(_: Progress) -> int:
        return sum(range(50 * repeat))

    async def go() -> BackgroundJob[int]:
        job = BackgroundJob(work)
        job.cancel()
        with pytest.raises(Cancelled):
            await job.result()
        return job

    job = asyncio.run(go())
    job.leave(PATIENCE)

    assert not job.alive  # an exception that escaped from the thread would fail this test


def test_time_left_follows_the_pace_so_far() -> None:
    now = iter([100.0, 110.0])
    track = Track(lambda: next(now))
    unknown = track.left
    track.tell(1.0, 4.0)

    assert unknown is None
    assert track.left == 30.0


def test_work_under_way_is_no_leak_when_the_program_ends() -> None:
    code = """
        import asyncio, threading, time
        import anonymatch as am
        from anonymatch.graph.decomposition import structure
        from anonymatch.studio import background
        from anonymatch.studio.background import BackgroundJob

        background._GRACE = 600.0  # seconds: a busy machine may take more than one
        begun = threading.Event()

        def work(tell):
            found = structure(am.ring(5, 3))
            begun.set()
            while found:
                time.sleep(0.01)
                tell(0.0, 1.0)

        async def go():
            job = BackgroundJob(work)
            await asyncio.to_thread(begun.wait)
            return job

        kept = asyncio.run(go())
    """

    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, check=True
    )

    assert ended.stderr == b""


def test_errors_arrive() -> None:
    def work(_: Progress) -> None:
        raise InputError("no such file")

    async def go() -> None:
        await BackgroundJob(work).result()

    with pytest.raises(InputError, match="no such file"):
        asyncio.run(go())


def test_a_fault_of_the_program_is_called_one() -> None:
    assert problem(KeyError("x")) == "this is a fault of the program: KeyError: 'x'"
    assert problem(FileNotFoundError(2, "No such file", str(Path("a")))) == "No such file"


def test_notes_go_to_the_job_that_caused_them() -> None:
    def work(_: Progress) -> None:
        warnings.warn("2 rows are empty", FileNote, stacklevel=1)

    async def go() -> tuple[list[str], list[str]]:
        with noting():
            one, other = BackgroundJob(work), BackgroundJob(lambda _: None)
            await one.result()
            await other.result()
        return one.notes, other.notes

    assert asyncio.run(go()) == (["2 rows are empty"], [])

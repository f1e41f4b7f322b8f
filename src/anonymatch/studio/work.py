"""Long work beside the page: in a thread, with its progress, and stopped when nobody wants it."""

from __future__ import annotations

import asyncio
import atexit
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from anonymatch.counting.chain_sample import ApproximateNote
from anonymatch.effort import Progress
from anonymatch.errors import AnonymatchError
from anonymatch.graph.files import FileNote

__all__ = ["Abandoned", "Job", "listening", "problem"]

T = TypeVar("T")
_here = threading.local()
_GRACE = 1.0  # seconds that threads have to end when the program does


class Abandoned(Exception):  # noqa: N818  (a wish was granted, nothing went wrong)
    """Nobody wants the work any more: it ends without a result."""


class Job(Generic[T]):
    """Work in a thread of its own. Waiting for it does not hold up the page.

    The work gets a progress function, as the library's long calls take it. Once the job is
    stopped, that function raises, and so ends the work at its next step.
    """

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self.share = 0.0
        self.notes: list[str] = []
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._result: asyncio.Future[T] = self._loop.create_future()
        self._result.add_done_callback(_looked_at)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go, daemon=True, name="anonymatch studio")
        self._thread.start()
        _jobs.add(self)

    async def result(self) -> T:
        """What the work returns or raises; Abandoned as soon as somebody asks for that."""
        return await asyncio.shield(self._result)

    def stop(self) -> None:
        """Let go at once; the thread follows at its next step."""
        self._stop.set()
        self._settle(Abandoned("stopped"))

    def leave(self, seconds: float) -> None:
        """Let the thread end, and wait so long for it."""
        self._stop.set()
        self._thread.join(seconds)

    @property
    def done(self) -> bool:
        return self._result.done()

    def _tell(self, done: float, total: float) -> None:
        if self._stop.is_set():
            raise Abandoned("stopped")
        if total > 0:
            self.share = min(max(done / total, 0.0), 1.0)

    def _go(self) -> None:
        _here.notes = self.notes
        try:
            found = self._work(self._tell)
        except BaseException as error:
            self._call(self._settle, error)
        else:
            self._call(self._succeed, found)

    def _call(self, function: Callable[..., None], value: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, value)
        except RuntimeError:  # the studio is closing, and nobody waits
            return

    def _succeed(self, found: T) -> None:
        if not self._result.done():
            self._result.set_result(found)

    def _settle(self, error: BaseException) -> None:
        if not self._result.done():
            self._result.set_exception(error)


_jobs: WeakSet[Job[Any]] = WeakSet()


@atexit.register
def _leave_all() -> None:
    """End threads before the interpreter does: what they hold would be called leaked."""
    last = time.monotonic() + _GRACE
    for job in list(_jobs):
        job.leave(max(last - time.monotonic(), 0.0))


def _looked_at(result: asyncio.Future[T]) -> None:
    """An error that nobody waits for any more is not worth a line in the log."""
    if not result.cancelled():
        result.exception()


def problem(error: BaseException) -> str:
    """What went wrong in one line, as the command line says it.

    Examples
    --------
    >>> from anonymatch.errors import InputError
    >>> problem(InputError("no such user")), problem(MemoryError())
    ('no such user', 'there is not enough memory; allow less, or split the graph')
    """
    if isinstance(error, AnonymatchError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; allow less, or split the graph"
    if isinstance(error, OSError):
        return f"{error.strerror or error}"
    return f"this is a fault of the program: {type(error).__name__}: {error}"


@contextmanager
def listening() -> Iterator[None]:
    """While it lasts, what the package remarks about a file goes to the job that reads it."""
    with warnings.catch_warnings():
        for kind in (FileNote, ApproximateNote):
            warnings.simplefilter("always", kind)
        usual = warnings.showwarning

        def hear(message: Warning | str, category: type[Warning], *more: object) -> None:
            notes = getattr(_here, "notes", None)
            if notes is not None and issubclass(category, FileNote | ApproximateNote):
                notes.append(str(message))
            else:
                usual(message, category, *more)  # type: ignore[arg-type]

        warnings.showwarning = hear  # type: ignore[assignment]
        yield

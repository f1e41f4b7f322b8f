"""Long work beside the page: in a thread, with its progress, cancelled when nobody wants it."""

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

from anonymatch.base.errors import AnonymatchError
from anonymatch.counting import ApproximateNote
from anonymatch.graph import FileNote
from anonymatch.running import CancellableThread, Cancelled, CancelToken, Progress
from anonymatch.studio.tuning import TUNING

T = TypeVar("T")
_GRACE = 1.0  # seconds that threads have to end when the program does
_here = threading.local()


class Track:
    """How far work is, and how long it will take, from what it tells.

    Work tells predicted seconds, stage after stage: each begins at 0 again, and none knows of those
    to come. So a share is that of all work told so far, and may fall when a stage begins.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()
        self._before = self._done = self._total = 0.0

    def tell(self, done: float, total: float) -> None:
        """Take what the work says."""
        if total <= 0:
            return
        if done < self._done:
            self._before += self._done
        self._done, self._total = min(max(done, 0.0), total), total

    @property
    def elapsed(self) -> float:
        return self._clock() - self._began

    @property
    def share(self) -> float:
        """From 0 to 1; 0 while nothing is known.

        Examples
        --------
        >>> track = Track()
        >>> for done, total in ((1, 4), (4, 4), (0, 4)):
        ...     track.tell(done, total)
        ...     print(track.share)
        0.25
        1.0
        0.5
        """
        whole = self._before + self._total
        return (self._before + self._done) / whole if whole > 0 else 0.0

    @property
    def left(self) -> float | None:
        """Seconds that the work known so far will take, at the pace so far; None if not known."""
        share = self.share
        return self.elapsed * (1 - share) / share if share > 0 else None


class BackgroundJob(Generic[T]):
    """Work in a thread of its own. Waiting for it does not hold up the page.

    The work gets a progress function, as the library's long calls take it. Once the job is
    cancelled, that function raises, kernels under way return, and the thread is interrupted.
    """

    def __init__(self, work: Callable[[Progress], T]) -> None:
        self.track = Track()
        self.notes: list[str] = []
        self._work = work
        self._loop = asyncio.get_running_loop()
        self._result: asyncio.Future[T] = self._loop.create_future()
        self._result.add_done_callback(_looked_at)
        self._token = CancelToken()
        self._thread = CancellableThread(
            self._go,
            token=self._token,
            done=lambda result: self._call(self._succeed, result),
            failed=lambda error: self._call(self._fail, error),
            name="anonymatch studio",
        )
        self._thread.start()
        _jobs.add(self)

    async def result(self) -> T:
        """What the work returns or raises; Cancelled as soon as somebody asks for that."""
        return await asyncio.shield(self._result)

    def cancel(self) -> None:
        """Let go at once; the thread follows soon, in whatever line of Python it is."""
        self._fail(Cancelled("stopped"))
        self._token.cancel()
        self._loop.call_later(TUNING.polite, self._end)

    def leave(self, seconds: float) -> None:
        """Let the thread end, and wait so long for it."""
        self._token.cancel()
        self._thread.interrupt()
        self._thread.join(seconds)

    @property
    def alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread.alive

    def _end(self) -> None:
        """Interrupt the thread, and again if that was lost where Python ignores exceptions."""
        if self._thread.importing:
            self._loop.call_later(TUNING.polite, self._end)
        elif self._thread.interrupt():
            self._loop.call_later(TUNING.again, self._end)

    @property
    def done(self) -> bool:
        return self._result.done()

    def _tell(self, done: float, total: float) -> None:
        self._token.check()
        self.track.tell(done, total)

    def _go(self) -> T:
        _here.notes = self.notes
        return self._work(self._tell)

    def _call(self, function: Callable[..., None], value: object) -> None:
        try:
            self._loop.call_soon_threadsafe(function, value)
        except RuntimeError:  # the studio is closing, and nobody waits
            return

    def _succeed(self, result: T) -> None:
        if not self._result.done():
            self._result.set_result(result)

    def _fail(self, error: BaseException) -> None:
        if not self._result.done():
            self._result.set_exception(error)


_jobs: WeakSet[BackgroundJob[Any]] = WeakSet()


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
    >>> from anonymatch.base.errors import InputError
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
def noting() -> Iterator[None]:
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

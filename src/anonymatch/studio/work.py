"""Long work beside the page: in a thread, with its progress, and stopped when nobody wants it."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from anonymatch.counting.chain_sample import ApproximateNote
from anonymatch.effort import Progress
from anonymatch.errors import AnonymatchError
from anonymatch.graph.files import FileNote

__all__ = ["Job", "Stopped", "listening", "problem"]

T = TypeVar("T")
_here = threading.local()


class Stopped(Exception):  # noqa: N818  (it is no error)
    """Somebody asked for the work to stop."""


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
        threading.Thread(target=self._go, daemon=True, name="anonymatch studio").start()

    async def result(self) -> T:
        """What the work returns or raises; Stopped as soon as somebody asks for that."""
        return await asyncio.shield(self._result)

    def stop(self) -> None:
        """Let go at once; the thread follows at its next step."""
        self._stop.set()
        self._settle(Stopped("stopped"))

    @property
    def done(self) -> bool:
        return self._result.done()

    def _tell(self, done: float, total: float) -> None:
        if self._stop.is_set():
            raise Stopped("stopped")
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

"""CancelToken: the wish that long work end soon with what it has, as one byte that kernels look at.

The byte belongs to this process. Work finds it where it runs and does not carry it: so it neither
travels to other processes nor becomes part of what names a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["CancelToken", "Cancelled", "byte_of_work", "check_work", "heard"]

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818  (a wish was granted, nothing went wrong)
    """Work ended because that was asked for, without a result of its own."""


class CancelToken:
    """A wish that long work end soon with what it has, and whether it has anything to end with.

    Efforts that are made within :meth:`listening` look at it, and hand its byte to kernels.
    """

    def __init__(self) -> None:
        self.byte = bytearray(1)
        self.useful = False  # set by work that would have an answer now

    def __reduce__(self) -> tuple[type[CancelToken], tuple[()]]:
        return CancelToken, ()  # nobody in another process hears this one

    def cancel(self) -> None:
        self.byte[0] = 1

    @property
    def cancelled(self) -> bool:
        return self.byte[0] != 0

    def check(self) -> None:
        """Raise Cancelled if that is asked for."""
        if self.cancelled:
            raise Cancelled

    @contextmanager
    def listening(self) -> Iterator[None]:
        token = _heard.set(self)
        try:
            yield
        finally:
            _heard.reset(token)

    def run(self, calls: Iterable[Callable[[], T]]) -> list[T]:
        """Results of calls whose kernels look at the byte, in the thread that runs them.

        Raises
        ------
        Cancelled
            If the work shall end: a kernel under way may have left its result unfinished.
        """
        found = []
        token = _running.set(self)
        try:
            for call in calls:
                found.append(call())
                self.check()
        finally:
            _running.reset(token)
        return found


_heard: ContextVar[CancelToken | None] = ContextVar("stop", default=None)
_running: ContextVar[CancelToken | None] = ContextVar("stop of the work under way", default=None)


def heard() -> CancelToken:
    """The wish that somebody listens to, or a new one."""
    return _heard.get() or CancelToken()


def byte_of_work() -> bytearray | None:
    """The byte for the kernels of the call under way; None outside of :meth:`CancelToken.run`.

    Examples
    --------
    >>> stop = CancelToken()
    >>> stop.run([byte_of_work])[0] is stop.byte, byte_of_work()
    (True, None)
    """
    stop = _running.get()
    return None if stop is None else stop.byte


def check_work() -> None:
    """Raise Cancelled if the call under way shall end: for calls that look in Python."""
    stop = _running.get()
    if stop is not None:
        stop.check()

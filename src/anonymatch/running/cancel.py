"""CancelToken: the wish that long work end soon with what it has, as one byte that kernels look at.

The byte belongs to this process. Work finds it where it runs and does not carry it: so it neither
travels to other processes nor becomes part of what names a chunk. Whatever ends by it raises
`Cancelled`.

Planning and bounds look at no byte and tell no progress. A `CancellableThread` ends there too: it
gets an exception in whatever line of Python it is, as the main thread does on Ctrl-C.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Thread
from typing import Generic, TypeVar

__all__ = [
    "CancelToken",
    "CancellableThread",
    "Cancelled",
    "byte_of_work",
    "check_work",
    "current_token",
]

T = TypeVar("T")
_IMPORTS = "<frozen importlib"  # where the code is that imports modules


class Cancelled(Exception):  # noqa: N818  (a wish was granted, nothing went wrong)
    """Work ended because that was asked for, without a result of its own."""


class CancelToken:
    """A wish that long work end soon with what it has, and whether it has anything to end with.

    Efforts that are made within :meth:`active` look at it, and hand its byte to kernels.
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
    def active(self) -> Iterator[None]:
        """While it lasts, this is the token of work that is begun here."""
        before = _current.set(self)
        try:
            yield
        finally:
            _current.reset(before)

    def run(self, calls: Iterable[Callable[[], T]]) -> list[T]:
        """Results of calls whose kernels look at the byte, in the thread that runs them.

        Raises
        ------
        Cancelled
            If the work shall end: a kernel under way may have left its result unfinished.
        """
        results = []
        before = _running.set(self)
        try:
            for call in calls:
                results.append(call())
                self.check()
        finally:
            _running.reset(before)
        return results


_current: ContextVar[CancelToken | None] = ContextVar("token of work begun here", default=None)
_running: ContextVar[CancelToken | None] = ContextVar("token of the work under way", default=None)


def current_token() -> CancelToken:
    """The token that is active here, or a new one."""
    return _current.get() or CancelToken()


def byte_of_work() -> bytearray | None:
    """The byte for the kernels of the call under way; None outside of :meth:`CancelToken.run`.

    Examples
    --------
    >>> token = CancelToken()
    >>> token.run([byte_of_work])[0] is token.byte, byte_of_work()
    (True, None)
    """
    token = _running.get()
    return None if token is None else token.byte


def check_work() -> None:
    """Raise Cancelled if the call under way shall end: for calls that look in Python."""
    token = _running.get()
    if token is not None:
        token.check()


class _Interrupt(BaseException):
    """What a thread gets that shall end: nothing on its way out may take it for an error."""


class CancellableThread(Generic[T]):
    """Work in a thread of its own that can be made to end, whatever it is doing.

    Parameters
    ----------
    work : function
        It runs with ``token`` active.
    token : CancelToken
    done, failed : functions
        One of them gets the result or the error, in that thread; Cancelled if it was interrupted.
    name : str
    """

    def __init__(
        self,
        work: Callable[[], T],
        *,
        token: CancelToken,
        done: Callable[[T], None],
        failed: Callable[[BaseException], None],
        name: str,
    ) -> None:
        self._work, self._token, self._done, self._failed = work, token, done, failed
        self._works, self._turn = False, Lock()
        self._thread = Thread(target=self._go, daemon=True, name=name)

    def start(self) -> None:
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait so long for its end."""
        self._thread.join(seconds)

    @property
    def importing(self) -> bool:
        """Whether it imports something now: to interrupt that would leave half a module."""
        frame = sys._current_frames().get(self._thread.ident or 0)
        while frame is not None:
            if frame.f_code.co_filename.startswith(_IMPORTS):
                return True
            frame = frame.f_back
        return False

    def interrupt(self) -> bool:
        """End it in the line of Python where it is or next will be; False if it works no more.

        Python ignores exceptions at places: who returns True may have to be interrupted again.
        """
        return self._raise(_Interrupt)

    def _raise(self, error: type[BaseException] | None) -> bool:
        """Raise an error in the thread while it works, or take one back; whether it works."""
        with self._turn:
            thread = self._thread.ident
            if self._works and thread is not None:
                pending = None if error is None else ctypes.py_object(error)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), pending)
                self._works = error is not None
            return self._works

    def _go(self) -> None:
        try:
            try:
                self._works = True
                self._token.check()  # it may have been cancelled before it began
                with self._token.active():
                    result = self._work()
            finally:
                self._raise(None)
        except _Interrupt:  # it may come as late as in the line above
            self._raise(None)
            self._failed(Cancelled("stopped"))
        except BaseException as error:
            self._failed(error)
        else:
            self._done(result)

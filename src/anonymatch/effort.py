"""How much work is allowed, and the one loop that does long work.

Long work is cut into chunks: calls without side effects whose results are combined in order, so
that answers do not depend on where they ran. The loop runs them here, on threads, or on any
``concurrent.futures.Executor``; tells how far it is; and lets go at once on Ctrl-C.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import repeat
from typing import TypeVar

from anonymatch.arguments import real
from anonymatch.errors import BudgetError, InputError

__all__ = [
    "CHUNK_SECONDS",
    "Budget",
    "Effort",
    "Progress",
    "Stop",
    "Stopped",
    "check_place",
    "in_words",
    "usable_cores",
]

T = TypeVar("T")

Progress = Callable[[float, float], None]
"""Called with the work done and the work in all, in the same unit (predicted seconds)."""

CHUNK_SECONDS = 0.05  # short enough for Ctrl-C and a smooth bar, long enough to hide the overhead
_THREADS_PAY_FROM = 0.05  # predicted seconds below which starting threads costs more than it gains


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _half_of_memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (ValueError, OSError, AttributeError):  # a system that does not say
        return 4.0 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Predicted effort that is allowed: seconds of one core, and bytes.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.count(am.complete(20), budget=am.Budget(seconds=1)).value
    2432902008176640000
    """

    seconds: float = 300.0
    memory: float = field(default_factory=_half_of_memory)

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            object.__setattr__(self, name, real(getattr(self, name), f"budget: {name}"))

    @classmethod
    def of(cls, value: Budget | float | None) -> Budget:
        """A Budget from what users pass: a Budget, seconds, or None for the default."""
        if value is None:
            return cls()
        if isinstance(value, Budget):
            return value
        return cls(seconds=real(value, "budget (seconds, or a Budget)"))

    @property
    def chosen(self) -> bool:
        """Whether its seconds were asked for, and are not the default."""
        return self.seconds != Budget.__dataclass_fields__["seconds"].default

    def allows(self, seconds: float, memory: float) -> bool:
        return seconds <= self.seconds and memory <= self.memory

    def refusal(self, what: str, seconds: float, memory: float) -> BudgetError:
        """The error that names the predicted cost and how to allow it."""
        cost = in_words(seconds, memory)
        if seconds <= self.seconds:
            allow = f"budget=Budget(memory={memory:.2g})"
        elif memory <= self.memory:
            allow = f"budget={seconds:.2g}"
        else:
            allow = f"budget=Budget(seconds={seconds:.2g}, memory={memory:.2g})"
        return BudgetError(
            f"{what} would take {cost}; allow it with {allow}", seconds=seconds, memory=memory
        )


def in_words(seconds: float, memory: float) -> str:
    """A predicted cost as people say it.

    Examples
    --------
    >>> in_words(3 * 3600, 40 * 2**30)
    'about 3 hours and 40 GiB'
    >>> in_words(0.2, 2**20)
    'under a second and 1 MiB'
    """
    for unit, length in (
        ("years", 365.25 * 86400),
        ("days", 86400),
        ("hours", 3600),
        ("minutes", 60),
        ("seconds", 1),
    ):
        if seconds >= 2 * length or (unit == "seconds" and seconds >= 1):
            number = f"{seconds / length:.3g}"
            time = f"about {number} {unit if number != '1' else unit[:-1]}"
            if seconds >= 1e6 * length:
                time = f"more than a million {unit}"
            break
    else:
        time = "under a second"
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if memory >= size:
            amount = memory / size
            return f"{time} and " + (
                f"{amount:.3g} {unit}" if amount < 1e6 else f"more than a million {unit}"
            )
    return f"{time} and under 1 MiB"


def check_place(executor: object, progress: object) -> None:
    """Refuse what can neither run chunks nor be told how far they are."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"executor must be a concurrent.futures.Executor, not {executor!r}; "
            "leave it out for threads"
        )
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of two numbers, not {progress!r}")


class Stopped(Exception):  # noqa: N818  (a wish was granted, nothing went wrong)
    """Work ended because that was asked for, without a result of its own."""


class Stop:
    """A wish that long work end soon with what it has, and whether it has anything to end with.

    Efforts that are made within :meth:`listening` look at it, and hand its byte to kernels.
    """

    def __init__(self) -> None:
        self.byte = bytearray(1)
        self.useful = False  # set by work that would have an answer now

    def ask(self) -> None:
        self.byte[0] = 1

    @property
    def asked(self) -> bool:
        return self.byte[0] != 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        token = _heard.set(self)
        try:
            yield
        finally:
            _heard.reset(token)


_heard: ContextVar[Stop | None] = ContextVar("stop", default=None)


class Effort:
    """Long work under way: where its chunks run, how far it is, and whether it shall end."""

    def __init__(
        self, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> None:
        check_place(executor, progress)
        self._executor = executor
        self._progress = progress
        self._total = 0.0
        self._done = 0.0
        self.stop = _heard.get() or Stop()

    def expect(self, seconds: float) -> None:
        """More work lies ahead, in predicted seconds."""
        self._total += seconds

    def advance(self, seconds: float) -> None:
        """Work of so many predicted seconds is done."""
        self._done += seconds
        if self._progress is not None:
            self._progress(min(self._done, self._total), self._total)

    def chunks(
        self, calls: Iterable[Callable[[], T]], *, each: float | Sequence[float], number: int
    ) -> Iterator[T]:
        """Results of the calls, in their order; ``each`` is the predicted seconds of every call.

        Raises
        ------
        Stopped
            When the work shall end: what a call under way would give is not to be used.
        """
        if isinstance(each, Sequence):
            costs, seconds = iter(each), sum(each)
        else:
            costs, seconds = repeat(each), each * number
        with self._place(seconds, number) as executor:
            if executor is None:
                for call in calls:
                    yield self._unless_stopped(call(), next(costs))
                return
            pending: deque[Future[T]] = deque()
            try:
                for call in calls:
                    pending.append(executor.submit(call))
                    if len(pending) > 4 * usable_cores():
                        yield self._unless_stopped(pending.popleft().result(), next(costs))
                while pending:
                    yield self._unless_stopped(pending.popleft().result(), next(costs))
            except (KeyboardInterrupt, Exception):
                self.stop.ask()  # threads in the middle of a kernel need not finish it
                raise
            finally:
                for future in pending:
                    future.cancel()

    def apart(self, call: Callable[[], T], *, seconds: float) -> T:
        """The result of one call, on a thread of its own if it is long, so that Ctrl-C is heard."""
        if seconds < _THREADS_PAY_FROM:
            return call()
        with ThreadPoolExecutor(1) as executor:
            future = executor.submit(call)
            try:
                return self._unless_stopped(future.result(), 0.0)
            except KeyboardInterrupt:
                self.stop.ask()
                raise

    @contextmanager
    def _place(self, seconds: float, number: int) -> Iterator[Executor | None]:
        if self._executor is not None:
            yield self._executor
        elif number < 2 or seconds < _THREADS_PAY_FROM or usable_cores() < 2:
            yield None
        else:
            with ThreadPoolExecutor(usable_cores()) as executor:
                yield executor

    def _unless_stopped(self, result: T, seconds: float) -> T:
        if self.stop.asked:
            raise Stopped
        self.advance(seconds)
        return result

"""How much work is allowed, and the one loop that does long work.

Long work is cut into chunks: calls without side effects whose results are combined in order, so
that answers do not depend on where they ran. The loop runs them here, on threads, or on any
``concurrent.futures.Executor``; tells how far it is; and lets go at once on Ctrl-C.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeVar

from anonymatch.base.arguments import real
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.numbers import cost_in_words, rounded_up
from anonymatch.base.text import Argument, Message
from anonymatch.running.broadcast import Remote
from anonymatch.running.cancel import Cancelled, CancelToken, current_token
from anonymatch.running.checkpoint import MISSING, Checkpoint
from anonymatch.running.codec import fingerprint
from anonymatch.running.execution import (
    MOST_CHUNKS,
    Changing,
    Recorder,
    Steps,
    Workers,
    results,
)

__all__ = [
    "CHUNK_SECONDS",
    "Budget",
    "CancelToken",
    "Cancelled",
    "Execution",
    "Progress",
    "borders",
    "check_executor",
    "usable_cores",
]

T = TypeVar("T")

Progress = Callable[[float, float], None]
"""Called with the work done and the work in all, in the same unit (predicted seconds)."""

CHUNK_SECONDS = 0.05  # short enough for Ctrl-C and a smooth bar, long enough to hide the overhead
# Longer work is cut more coarsely: every chunk that is recorded or travels has its price.
_CHUNKS_OF_LONG, _LONGER = 60, 10
_THREADS_PAY_FROM = 0.05  # predicted seconds below which starting threads costs more than it gains
_RECORDS_PAY_FROM = 0.01  # predicted seconds below which work is done again rather than recorded


def borders(units: int, seconds: float, finer: int = 1) -> list[int]:
    """Where units of work are cut, if all take so many predicted seconds: never by who does them.

    ``finer``: how many times shorter than usual, for units of different sizes.

    Examples
    --------
    >>> borders(8, 0.15)
    [0, 2, 5, 8]
    """
    each = min(max(CHUNK_SECONDS, seconds / _CHUNKS_OF_LONG), _LONGER * CHUNK_SECONDS)
    number = finer * math.ceil(min(seconds / each, MOST_CHUNKS))
    number = max(1, min(units, number))
    return [units * k // number for k in range(number + 1)]


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

    def refusal(self, what: str, seconds: float, memory: float, instead: str = "") -> BudgetError:
        """The error that names the predicted cost, how to allow it, and what to do instead.

        ``instead``: one more remedy, a text or a Message that names arguments.
        """
        needed = Allowance(
            seconds=seconds if seconds > self.seconds else None,
            memory=memory if memory > self.memory or seconds <= self.seconds else None,
        )
        budget = Argument("budget", needed)
        more = instead.pieces if isinstance(instead, Message) else ()
        remedies = (() if math.isinf(seconds) else (budget,)) + tuple(
            piece for piece in more if isinstance(piece, Argument)
        )
        return BudgetError(
            f"{what} would take {cost_in_words(seconds, memory)}; allow it with ",
            budget,
            *((", or ", instead) if instead else ()),
            seconds=seconds,
            memory=memory,
            instead=remedies,
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Allowance:
    """What a budget would have to allow: seconds, bytes or both; None where it allows enough.

    Examples
    --------
    >>> Allowance(seconds=98.2, memory=None), Allowance(seconds=98.2, memory=1234.0)
    (99, Budget(seconds=99, memory=1300))
    """

    seconds: float | None
    memory: float | None

    def __repr__(self) -> str:
        if self.memory is None and self.seconds is not None:
            return f"{rounded_up(self.seconds):g}"
        given = (("seconds", self.seconds), ("memory", self.memory))
        given_texts = [
            f"{name}={rounded_up(value):g}" for name, value in given if value is not None
        ]
        return f"Budget({', '.join(given_texts)})"


def check_executor(executor: object, progress: object) -> None:
    """Refuse what can neither run chunks nor be told how far they are."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(
            f"executor must be a concurrent.futures.Executor, not {executor!r}; "
            "leave it out for threads"
        )
    if progress is not None and not callable(progress):
        raise InputError(f"progress must be a function of two numbers, not {progress!r}")


class Execution:
    """Long work under way: where its chunks run, how far it is, and whether it shall end."""

    def __init__(
        self, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> None:
        check_executor(executor, progress)
        self._run = executor if isinstance(executor, Checkpoint) else None
        self._executor = executor.executor if isinstance(executor, Checkpoint) else executor
        self._progress = progress
        self._total = 0.0
        self._done = 0.0
        self._foreseen = 0.0
        self.stop = current_token()

    def expect(self, seconds: float) -> None:
        """More work lies ahead, in predicted seconds."""
        self._total += seconds

    def foresee(self, seconds: float) -> None:
        """Work of so many predicted seconds may come, though nobody expects it yet: what is told
        of the share done and the time left is right from the start.
        """
        self._foreseen = max(self._foreseen, seconds)
        self.advance(0.0)

    def settle(self) -> None:
        """All has come that will come: what was foreseen and not needed is done."""
        too_much = self._foreseen > self._total
        self._foreseen = 0.0
        if too_much and self._done > 0.0:
            self.advance(0.0)

    def advance(self, seconds: float) -> None:
        """Work of so many predicted seconds is done."""
        self._done += seconds
        if self._progress is not None:
            total = max(self._total, self._foreseen)
            self._progress(min(self._done, total), total)

    def chunks(
        self,
        calls: Iterable[Callable[[], T]],
        *,
        each: float | Sequence[float],
        number: int,
        abreast: int | None = None,
    ) -> Iterator[T]:
        """Results of the calls, in their order; ``each`` is the predicted seconds of every call.

        ``number`` of them are expected; there may be more if all cost the same. ``abreast``: how
        many at most run at the same time in this machine's memory. Calls are partials of functions
        at the top of modules over plain values and ``Shared`` ones, so that they can travel and be
        recorded.

        Raises
        ------
        Cancelled
            When the work shall end: what a call under way would give is not to be used.
        """
        seconds = sum(each) if isinstance(each, Sequence) else each * number
        with self._job(seconds, number, abreast) as through:
            yield from through(calls, each, number)

    def rounds(
        self, calls: Callable[[int], Iterable[Callable[[], T]]], *, each: Sequence[Sequence[float]]
    ) -> Iterator[list[T]]:
        """Results of rounds of chunks, by round: ``calls`` are made when those before have ended.

        ``each``: the predicted seconds of every call of every round.
        """
        with self._job(sum(map(sum, each)), sum(map(len, each)), None) as through:
            for number, costs in enumerate(each):
                yield list(through(calls(number), costs, len(costs)))

    @contextmanager
    def _job(
        self, seconds: float, number: int, abreast: int | None
    ) -> Iterator[Callable[..., Iterator[Any]]]:
        """How chunks that belong together run: they are recorded as one job."""
        run = self._run if number and seconds >= _RECORDS_PAY_FROM else None
        recorder = None if run is None else Recorder(run, seconds / number, number)
        with self._workers(seconds, number, abreast) as workers:

            def through(
                calls: Iterable[Callable[[], T]], each: float | Sequence[float], some: int
            ) -> Iterator[T]:
                costs = iter(each) if isinstance(each, Sequence) else repeat(each)
                answers = results(
                    calls, each, some, workers=workers, recorder=recorder, stop=self.stop
                )
                with closing(answers):
                    for result in answers:
                        self.stop.check()
                        self.advance(next(costs))
                        yield result

            try:
                yield through
            except GeneratorExit:  # whoever asked has seen enough
                _finish(recorder)
                raise
            except (KeyboardInterrupt, Exception):
                if workers.executor is not None:
                    self.stop.cancel()  # threads in the middle of a kernel need not finish it
                raise
            _finish(recorder)

    def once(
        self, what: tuple[object, ...], kind: Any, seconds: float, compute: Callable[[], T]
    ) -> T:
        """The result of work that tells its own progress and cannot be cut, recorded when it ends.

        ``what`` names it: everything that the result depends on; ``kind`` is its type.
        """
        run = self._run
        if run is None or seconds < _RECORDS_PAY_FROM:
            return compute()
        key = fingerprint(what)
        result = run.find(key, kind)
        if result is not MISSING:
            self.advance(seconds)
            known: T = result
            return known
        job = run.begin(key, str(what[0]), 1, seconds)
        computed = compute()
        run.store(job, [(key, computed)], seconds)
        run.finish(job)
        return computed

    def steps(
        self, what: tuple[object, ...], changing: Changing, *, seconds: float, number: int
    ) -> Steps:
        """Steps of work that change something one after another, recorded as one job.

        ``what`` is the name of the job and all that its results depend on; ``number`` of steps are
        expected, ``seconds`` of predicted work in all.
        """
        run = self._run if seconds >= _RECORDS_PAY_FROM else None
        each = seconds / number
        return Steps(run, what, changing, each=each, number=number, stop=self.stop)

    def apart(self, call: Callable[[], T], *, seconds: float) -> T:
        """The result of one call, on a thread of its own if it is long, so that Ctrl-C is heard."""
        if seconds < _THREADS_PAY_FROM:
            return call()
        with ThreadPoolExecutor(1) as executor:
            future = executor.submit(call)
            try:
                result = future.result()
            except KeyboardInterrupt:
                self.stop.cancel()
                raise
        self.stop.check()
        return result

    @contextmanager
    def _workers(self, seconds: float, number: int, abreast: int | None) -> Iterator[Workers]:
        executor = self._executor
        if isinstance(executor, Remote) and seconds < executor.pays_from:
            executor = None
        cores = usable_cores()
        if executor is not None:
            yield Workers(executor, cores, abreast)
        elif number < 2 or seconds < _THREADS_PAY_FROM or cores < 2:
            yield Workers(None, 1)
        else:
            with ThreadPoolExecutor(cores) as threads:
                yield Workers(threads, cores, abreast)


def _finish(recorder: Recorder | None) -> None:
    if recorder is not None:
        recorder.finish()

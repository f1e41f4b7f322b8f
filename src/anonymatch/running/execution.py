"""The one loop of long work: chunks go where they run, and come back in their order.

Results belong to chunks: neither where they ran nor when they were done changes an answer. Chunks
that a :class:`~anonymatch.running.checkpoint.Checkpoint` knows are not run again, and those that
end are recorded at once.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, repeat
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import StoppedError
from anonymatch.running.broadcast import Call, Processes, Remote, pack
from anonymatch.running.cancel import CancelToken
from anonymatch.running.checkpoint import LARGEST, MISSING, Checkpoint, damaged
from anonymatch.running.codec import fingerprint, name_of, returned_by

__all__ = ["MOST_CHUNKS", "Changing", "Recorder", "Steps", "Workers", "results"]

T = TypeVar("T")

MOST_CHUNKS = 1 << 17  # of one job: beyond, chunks get longer and not more
_IN_FLIGHT = 4  # groups for each worker: one runs, the others hide the way there and back
_GLANCE = 0.1  # seconds at most until the wish to end is heard
_PAUSE = 2.0  # predicted seconds between records of a state, at least
_STATE_SECONDS = 2e-7  # the same for each of its bytes: about twenty times as long as it takes
_WAITING = 64  # results for each worker that may wait for one that comes before them


@dataclass(frozen=True, slots=True)
class Workers:
    """Where chunks run: ``None`` is the calling thread; and how many at the same time."""

    executor: Executor | None
    width: int
    abreast: int | None = None  # at most so many on one machine, whatever the executor holds

    def adapted(self) -> Workers:
        """The same, with pools of processes made fit for shared values."""
        executor = self.executor
        pools = sys.modules.get("concurrent.futures.process")
        if pools is not None and isinstance(executor, pools.ProcessPoolExecutor):
            executor = Processes(executor)
        if not isinstance(executor, Remote):
            return self
        return Workers(executor, executor.width, None if executor.elsewhere else self.abreast)

    @property
    def in_flight(self) -> int:
        """How many groups may be under way."""
        most = _IN_FLIGHT * self.width
        return most if self.abreast is None else min(most, self.abreast)

    def together(self, each: float | Sequence[float], number: int) -> Iterator[int]:
        """How many of the next chunks go there in one message, by their predicted seconds."""
        if not isinstance(self.executor, Remote):
            yield from repeat(1)
            return
        worth = self.executor.task_seconds
        most = max(1, number // (_IN_FLIGHT * self.width))
        size, seconds = 0, 0.0
        for cost in each if isinstance(each, Sequence) else repeat(each):
            if size == most or (size and seconds + cost > worth):
                yield size
                size, seconds = 0, 0.0
            size += 1
            seconds += cost
        if size:
            yield size


@dataclass(slots=True, eq=False)
class _Group:
    """Chunks that travel together: their keys if they are recorded, and results so far."""

    calls: list[Call]
    keys: list[bytes]
    results: list[Any]
    open: list[int] = field(default_factory=list)  # places of what is to be run
    future: Future[list[Any]] | None = None


def results(
    calls: Iterable[Call],
    each: float | Sequence[float],
    number: int,
    *,
    workers: Workers,
    recorder: Recorder | None,
    stop: CancelToken,
) -> Generator[Any, None, None]:
    """Results of the calls, in their order; ``each`` is the predicted seconds of every one.

    Raises
    ------
    Cancelled
        When the work shall end. What may be unfinished then is not recorded.
    """
    workers = workers.adapted()
    loop = _Loop(workers, recorder, stop)
    try:
        yield from loop.run(_groups(iter(calls), workers.together(each, number), recorder))
    except BaseException:
        loop.leave()
        raise


def _groups(
    calls: Iterator[Call], sizes: Iterator[int], recorder: Recorder | None
) -> Iterator[_Group]:
    while chosen := list(islice(calls, next(sizes, 1))):
        group = _Group(chosen, [], [MISSING] * len(chosen))
        if recorder is not None:
            recorder.look_up(group)
        group.open = [k for k, result in enumerate(group.results) if result is MISSING]
        yield group


class _Loop:
    def __init__(self, workers: Workers, recorder: Recorder | None, stop: CancelToken) -> None:
        self._workers, self._recorder, self._stop = workers, recorder, stop
        self._line: deque[_Group] = deque()  # in order, from the next result on
        self._done: SimpleQueue[_Group] = SimpleQueue()
        self._unfinished = 0

    def run(self, source: Iterator[_Group]) -> Iterator[Any]:
        width = self._workers.width
        more = True
        while more or self._line:
            while (
                more
                and self._unfinished < self._workers.in_flight
                and len(self._line) < _WAITING * width
                and not self._ready()
            ):
                group = next(source, None)
                more = group is not None
                if group is not None:
                    self._start(group)
            if self._line and not self._ready():
                self._end(self._next_done())
            while self._ready():
                yield from self._line.popleft().results

    def leave(self) -> None:
        """Keep what is done, and let go of the rest."""
        try:
            while True:
                group = self._done.get_nowait()
                if group.future is not None and not group.future.exception():
                    self._end(group)
        except (Empty, StoppedError):
            pass
        for group in self._line:
            if group.future is not None:
                group.future.cancel()

    def _next_done(self) -> _Group:
        """Wait for a group; other processes do not hear that the work shall end."""
        while True:
            try:
                return self._done.get(timeout=_GLANCE)
            except Empty:
                self._stop.check()

    def _ready(self) -> bool:
        return bool(self._line) and not self._line[0].open

    def _start(self, group: _Group) -> None:
        self._line.append(group)
        if not group.open:
            return
        calls = [group.calls[k] for k in group.open]
        executor = self._workers.executor
        if executor is None:
            self._put(group, self._stop.run(calls))
            return
        try:
            if isinstance(executor, Remote):
                group.future = executor.send(*pack(calls))
            else:
                group.future = executor.submit(self._stop.run, calls)
        except BrokenExecutor as error:
            raise _broken(error) from None
        self._unfinished += 1
        group.future.add_done_callback(partial(_tell, self._done, group))

    def _end(self, group: _Group) -> None:
        """Take the results of a group whose future is done."""
        assert group.future is not None
        self._unfinished -= 1
        try:
            values = group.future.result()
        except BrokenExecutor as error:
            raise _broken(error) from None
        self._put(group, values)

    def _put(self, group: _Group, values: list[Any]) -> None:
        for k, result in zip(group.open, values, strict=True):
            group.results[k] = result
        if self._recorder is not None:
            self._recorder.store(group)
        group.open, group.calls = [], []


def _tell(done: SimpleQueue[_Group], group: _Group, _: Future[Any]) -> None:
    done.put(group)


def _broken(error: BrokenExecutor) -> StoppedError:
    text = str(error).strip().rstrip(".") or type(error).__name__
    return StoppedError(
        f"the executor is broken ({text[:1].lower()}{text[1:]}); what a Run has recorded is kept: "
        "make a new executor and call again"
    )


class Recorder:
    """Chunks of one job in a run."""

    def __init__(self, run: Checkpoint, each: float, number: int) -> None:
        self._run, self._each, self._number = run, each, number
        self._job: int | None = None

    def look_up(self, group: _Group) -> None:
        """Fill in the results that are known."""
        group.keys = [_key(call) for call in group.calls]
        if self._job is None:
            what = name_of(_parts(group.calls[0])[0])
            first = (group.keys[0], self._number)
            self._job = self._run.begin(fingerprint(first), what, self._number, self._each)
        group.results = [
            self._run.find(key, returned_by(_parts(call)[0]))
            for key, call in zip(group.keys, group.calls, strict=True)
        ]

    def store(self, group: _Group) -> None:
        """Record the results that are new."""
        if self._job is not None and group.open:
            rows = [(group.keys[k], group.results[k]) for k in group.open]
            self._run.store(self._job, rows, self._each)

    def finish(self) -> None:
        """No more chunks are needed."""
        if self._job is not None:
            self._run.finish(self._job)


def _parts(call: Call) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    if not isinstance(call, partial) or call.keywords:
        raise TypeError("chunks must be partials of functions, without keywords")
    return call.func, call.args


def _key(call: Call) -> bytes:
    function, arguments = _parts(call)
    return fingerprint((name_of(function), arguments))


class Changing(Protocol):
    """What steps change, such as a chain: its state as bytes, and back if they fit."""

    def state(self) -> npt.NDArray[np.uint8]: ...
    def restore(self, state: npt.NDArray[np.uint8]) -> bool: ...


class Steps:
    """Chunks of one job that change a state one after another, so that none can run alone.

    Results are recorded with the state behind the last of them. Who goes on gets the recorded
    results, and behind the last of them the recorded state. What is read off the state between two
    steps must be a step of its own.

    ``what`` is the name of the job, and all that its results depend on.
    """

    def __init__(
        self,
        run: Checkpoint | None,
        what: tuple[object, ...],
        changing: Changing,
        *,
        each: float,
        number: int,
        stop: CancelToken,
    ) -> None:
        self._run, self._changing, self._each, self._stop = run, changing, each, stop
        self._next = 0
        self._known: list[Any] = []
        self._state = np.zeros(0, dtype=np.uint8)
        self._new: list[tuple[bytes, Any]] = []
        self._since, self._pause = 0.0, _PAUSE
        if run is not None:
            self._key = fingerprint(what)
            run.refuse_others(self._key, str(what[0]))
            self._job = run.begin(self._key, str(what[0]), number, each)
            self._find(run)

    def _find(self, run: Checkpoint) -> None:
        found = run.find(self._key, tuple[int, npt.NDArray[np.uint8]])
        if found is MISSING:
            return
        known = []
        for at in range(found[0]):
            known.append(run.find(self._name(at), Any))
            if known[-1] is MISSING:
                return
        self._known, self._state = known, found[1]

    def _name(self, at: int) -> bytes:
        return fingerprint((self._key, at))

    def step(self, compute: Callable[[], T], seconds: float) -> T:
        """Return the result of the next step, which takes ``seconds`` of predicted work."""
        at = self._next
        self._next += 1
        if at < len(self._known):
            known: T = self._known[at]
            if at == len(self._known) - 1:
                self._go_on()
            return known
        result = compute()
        self._stop.check()  # a state that was left in the middle of a step is not recorded
        if self._run is not None:
            self._new.append((self._name(at), result))
            self._since += seconds
            if self._since >= self._pause:
                self._record(self._run)
        return result

    def finish(self) -> None:
        """No more steps are needed."""
        if self._run is not None:
            if self._new:
                self._record(self._run)
            self._run.finish(self._job)

    def _go_on(self) -> None:
        assert self._run is not None
        if not self._changing.restore(self._state):
            raise damaged(self._run.path)
        self._state = np.zeros(0, dtype=np.uint8)

    def _record(self, run: Checkpoint) -> None:
        state = self._changing.state()
        self._since, self._pause = 0.0, max(_PAUSE, _STATE_SECONDS * state.nbytes)
        if state.nbytes < LARGEST:
            run.store(self._job, self._new, self._each, (self._key, (self._next, state)))
            self._new = []

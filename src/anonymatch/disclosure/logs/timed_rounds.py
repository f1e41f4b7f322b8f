"""Message logs as rounds: batches of a mix that sends all on together, else stretches of time."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import RoundMessages
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.disclosure.logs.round_log import Codes, RoundLog
from anonymatch.mixes import (
    CUT,
    Candidates,
    Law,
    LogProblem,
    Messages,
    Pool,
    check_law,
    edges_of,
    on_clock_of,
)
from anonymatch.running import Budget

_LEAST = 1e-30  # of a weight
_FEWEST = 5  # stretches of a log of which some are left out


class Passing(NamedTuple):
    """A whole log in order of time: which messages out each message in may be.

    Message ``i`` may be messages out ``first[i]`` to ``last[i] - 1``, whose ``weights`` begin at
    ``entries[i]``; or it stays, with the weight ``staying[i]``. Ends of runs never fall, and ``i``
    itself is among them, or beyond the last message out.
    """

    first: Ints
    last: Ints
    entries: Ints
    weights: npt.NDArray[np.float32]
    staying: Floats
    sent: Ints  # messages in before each stretch
    received: Ints  # and messages out


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TimedRoundLog(RoundLog):
    """Messages through a mix that holds each back for itself: its rounds are stretches of time.

    A stretch has about as many messages as are inside. What leaves in the first of some stretches
    may have come in before them, from nobody; what is inside after the last counts as lost.
    """

    passing: Passing
    begin: int
    end: int

    def part(self, begin: int, end: int) -> TimedRoundLog:
        whole, at = self.passing, self.begin
        came = slice(*(int(whole.sent[at + k] - whole.sent[at]) for k in (begin, end)))
        left = slice(*(int(whole.received[at + k] - whole.received[at]) for k in (begin, end)))
        truth = None
        if self.truth is not None:
            truth = np.where(self.truth < 0, self.truth, self.truth - left.start)[came]
            truth = np.where(truth >= left.stop - left.start, -1, truth)
        return TimedRoundLog(
            rounds=self.rounds[begin:end],
            users=self.users,
            behaviours=self.behaviours,
            sent=self.sent[begin : end + 1] - came.start,
            sender=self.sender[came],
            received=self.received[begin : end + 1] - left.start,
            receiver=self.receiver[left],
            truth=truth,
            passing=whole,
            begin=at + begin,
            end=at + end,
        )

    @property
    def timed(self) -> bool:
        return True

    @property
    def reach(self) -> int:
        """How many messages are inside, on average."""
        inside = np.diff(self.passing.sent).mean()
        return max(1, round(float(inside)))

    def settled(self) -> Bools:
        """All but those of the last two stretches, in which many are inside at the end; all of a
        short log.
        """
        end = self.n_rounds - 2 if self.n_rounds >= _FEWEST else self.n_rounds
        return np.asarray(np.arange(self.n_messages) < self.sent[end])

    def start(self) -> Codes:
        return np.arange(
            self.passing.sent[self.end] - self.passing.received[self.begin], dtype=np.int32
        )

    def uneven(self) -> tuple[str, ...]:
        return ()

    def messages(self) -> RoundMessages:
        """Messages of the stretch, after those that came before and were inside when it began."""
        whole = self.passing
        from_out, to_out = (int(whole.received[at]) for at in (self.begin, self.end))
        from_in, to_in = (int(whole.sent[at]) for at in (self.begin, self.end))
        rows = np.arange(from_out, to_in)  # as if whoever came first left first
        first = np.clip(whole.first[rows], from_out, to_out)
        last = np.clip(whole.last[rows], first, to_out)
        stays = to_in - to_out  # places for those who are inside at the end
        beyond = whole.staying[rows] + self._later(rows, to_out)
        sizes = (last - first) + stays * (beyond > 0)
        starts = offsets(sizes)
        within = np.arange(int(starts[-1])) - np.repeat(starts[:-1], sizes)
        inner = within < np.repeat(last - first, sizes)
        at = np.repeat(whole.entries[rows] + first - whole.first[rows], sizes) + within
        weights = np.repeat(beyond.astype(np.float32), sizes)
        weights[inner] = whole.weights[at[inner]]
        return RoundMessages(
            len(self.users),
            len(self.behaviours),
            np.array([0, len(rows)], dtype=np.int32),
            np.concatenate((np.full(from_in - from_out, -1, dtype=np.int32), self.sender)),
            np.concatenate((self.receiver, np.full(stays, -1, dtype=np.int32))),
            (first - from_out).astype(np.int32),
            (first - from_out + sizes).astype(np.int32),
            np.maximum(weights, np.float32(_LEAST)),
        )

    def _later(self, rows: Ints, out: int) -> Floats:
        """The weight of messages out from ``out`` on."""
        whole = self.passing
        sums = np.concatenate(([0.0], np.cumsum(whole.weights, dtype=np.float64)))
        begin = whole.entries[rows] + np.clip(out, whole.first[rows], whole.last[rows])
        begin -= whole.first[rows]
        return np.asarray(sums[whole.entries[rows + 1]] - sums[begin])


def rounds_of_messages(
    messages: Messages, law: Law | str, *, budget: Budget | float | None = None
) -> RoundLog:
    """A message log as rounds under a law.

    Batches of mixes that send all on together are rounds. Else rounds are stretches of time with
    about as many messages as are inside, and who may be whose is what the law says.
    Messages that the log flags as cover or lost are left out.

    Raises
    ------
    InputError
        If the log has more messages out than in, or the law forbids what was seen.

    Examples
    --------
    >>> from anonymatch.mixes import synthesize
    >>> log = synthesize("threshold:5", messages=50, users=8, receivers=9)
    >>> rounds_of_messages(log, "threshold:5")
    RoundLog(10 rounds, 8 users, 9 behaviours, 50 messages)
    """
    rule = check_law(law)
    messages = on_clock_of(rule, messages)
    problem = LogProblem.of(messages, rule, visible=True)
    notes = list(messages.notes)
    left_out = messages.n_in + messages.n_out - problem.n_in - problem.n_out
    if left_out:
        notes.append(f"left out {several(left_out, 'row')} of cover traffic or lost messages")
    runs = _runs(problem)
    came, left = problem.n_in, problem.n_out
    if left > came:
        raise InputError(
            f"{several(left, 'message')} out of {came} in: flag cover traffic in a column cover"
        )
    rows = np.arange(came)
    late = runs.late & (left < came)
    first, last = np.minimum(runs.first, left), np.minimum(runs.end, left)
    wrong = np.flatnonzero((rows < first) | ((rows >= last) & ~((rows >= left) & late)))
    if len(wrong):
        at = int(wrong[0])
        raise InputError(
            f"the {rule} forbids this log: the message of {quoted(problem.senders[at])} at "
            f"{messages.moment(messages.arrivals[problem.ins[at]])} finds no message out of its own"
        )
    users, sender = _numbered(problem.senders)
    behaviours, receiver = _numbered(problem.receivers)
    truth = problem.truth()
    cuts = _cuts(first, np.where(late, came, last))
    about: dict[str, Any] = {"users": users, "behaviours": behaviours, "notes": tuple(notes)}
    if runs.weigh is None and left == came and _complete(first, last, cuts):
        return RoundLog.in_order(
            rounds=tuple(range(1, len(cuts))),
            sent=cuts,
            sender=sender,
            received=cuts,
            receiver=receiver,
            truth=truth,
            **about,
        )
    edges = edges_of(runs, left, budget=Budget.of(budget))
    weights = np.ones(int(edges.indptr[-1])) if edges.weights is None else edges.weights
    sent, received = _stretches(problem)
    return TimedRoundLog(
        rounds=tuple(range(1, len(sent))),
        sent=sent,
        sender=sender,
        received=received,
        receiver=receiver,
        truth=truth,
        passing=Passing(
            first,
            last,
            edges.indptr.astype(np.int64),
            np.asarray(weights, dtype=np.float32),
            _staying(runs, late, edges.indptr),
            sent,
            received,
        ),
        begin=0,
        end=len(sent) - 1,
        **about,
    )


def _runs(problem: LogProblem) -> Candidates:
    """Candidates by the law; of mixes that choose uniformly, all that leaves later."""
    law, log = problem.law, problem.log
    end = float(max(log.arrivals[-1], log.departures[-1]))
    if not isinstance(law, Pool):
        return problem.candidates(end)
    came, left = law.moments(
        log.arrivals[problem.ins],
        log.departures[problem.outs],
        filling=log.arrivals,
        users=problem.ins,
    )
    first = np.searchsorted(left, came, side="left")
    inside = np.searchsorted(came, left, side="right") - np.arange(len(left))
    # How likely it is to be inside still, by those that left: below CUT nobody is.
    leaving = np.log1p(-1.0 / np.maximum(inside, 2))
    staying = np.concatenate(([0.0], np.cumsum(np.where(inside > 1, leaving, -100.0))))
    until = np.searchsorted(-staying, np.log(1 / CUT) - staying[first], side="left")
    return Candidates(first=first, end=np.minimum(until, len(left)), late=until > len(left))


def _staying(runs: Candidates, late: Bools, indptr: npt.NDArray[np.int32]) -> Floats:
    """The weight of not leaving, where that can be, in the scale of the rows' weights."""
    if runs.staying is None or runs.weigh is None:
        return late.astype(np.float64)
    rows = np.repeat(np.arange(len(late)), np.diff(indptr))
    at = np.arange(int(indptr[-1])) - np.repeat(indptr[:-1] - runs.first, np.diff(indptr))
    top = np.full(len(late), -np.inf)
    np.maximum.at(top, rows, runs.weigh(rows, at))
    scale = np.where(np.isfinite(top), top, runs.staying)
    return np.where(late, np.exp(np.clip(runs.staying - scale, -60.0, 60.0)), 0.0)


def _cuts(first: Ints, last: Ints) -> Ints:
    """Where messages in and out fall apart, with both ends."""
    rows = np.arange(1, len(first))
    cut = (np.maximum.accumulate(last)[:-1] <= rows) & (first[1:] >= rows)
    return np.concatenate(([0], rows[cut], [len(first)]))


def _complete(first: Ints, last: Ints, cuts: Ints) -> bool:
    """Whether everybody in a part may be every message out of it."""
    sizes = np.diff(cuts)
    begins, ends = np.repeat(cuts[:-1], sizes), np.repeat(cuts[1:], sizes)
    return bool((first == begins).all() and (last == ends).all())


def _stretches(problem: LogProblem) -> tuple[Ints, Ints]:
    """Messages in and out before each stretch of time, and in all."""
    log = problem.log
    came, left = log.arrivals[problem.ins], log.departures[problem.outs]
    inside = np.arange(1, len(came) + 1) - np.searchsorted(left, came, side="left")
    size = max(2, round(float(np.maximum(inside, 1).mean())))
    sent = np.append(np.arange(0, max(1, len(came) - size // 2), size), len(came))
    received = np.searchsorted(left, came[sent[:-1]], side="left")
    received = np.append(np.minimum(received, sent[:-1]), len(left))
    received[0] = 0
    return sent, received


def _numbered(names: tuple[Hashable, ...]) -> tuple[tuple[Hashable, ...], Codes]:
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(name, len(numbers)) for name in names]
    return tuple(numbers), np.array(codes, dtype=np.int32)

"""LogProblem: a log that is to be matched under a law, and what its numbers allow."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import inf

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Piece, quoted, several
from anonymatch.mixes.laws import FlushLaw, Law, Linked, Pool
from anonymatch.mixes.laws.candidates import Candidates
from anonymatch.mixes.logs.labels import labels
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import Passage

__all__ = ["LogProblem", "near_an_end", "on_clock_of"]

_FEWEST = 0.5  # of the messages that must be left where those near an end are left out


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LogProblem:
    """A log as the attacker sees it, under names that are all different.

    Attributes
    ----------
    ins, outs : array of int
        Indices of the arrivals and departures that are to be matched.
    senders, receivers : tuple
        Who they are of.
    users, behaviours : tuple
        Their names; the same tuples if nobody has several messages.
    recorded : Messages
        The log with the times that its reader knows, which errors show.
    """

    log: Messages
    law: Law
    ins: Ints
    outs: Ints
    senders: tuple[Hashable, ...]
    receivers: tuple[Hashable, ...]
    users: tuple[Hashable, ...]
    behaviours: tuple[Hashable, ...]
    recorded: Messages

    @classmethod
    def of(
        cls, log: Messages, law: Law, *, visible: bool = False, recorded: Messages | None = None
    ) -> LogProblem:
        """``visible``: the attacker sees the flags, so that what they mark is left out."""
        lost, cover = (log.lost, log.cover) if visible else (None, None)
        ins, outs = _unflagged(lost, log.n_in), _unflagged(cover, log.n_out)
        senders, receivers = _chosen(log.senders, ins), _chosen(log.receivers, outs)
        return cls(
            log=log,
            law=law,
            ins=ins,
            outs=outs,
            senders=senders,
            receivers=receivers,
            users=labels(senders, "sender"),
            behaviours=labels(receivers, "receiver"),
            recorded=log if recorded is None else recorded,
        )

    @property
    def n_in(self) -> int:
        return len(self.ins)

    @property
    def n_out(self) -> int:
        return len(self.outs)

    @property
    def repeated(self) -> bool:
        """Whether somebody has several messages."""
        return self.users is not self.senders or self.behaviours is not self.receivers

    def truth(self) -> Ints | None:
        """The behaviour of each user by index, -1 where it is not known."""
        if self.log.truth is None:
            return None
        position = np.full(self.log.n_out + 1, -1, dtype=np.int64)  # the last one is for -1
        position[self.outs] = np.arange(self.n_out)
        truth: Ints = position[self.log.truth[self.ins]]
        return truth

    def delays(self) -> tuple[float | None, float | None]:
        """Mean and longest delay as the log shows them, else as the law says.

        If everything that came in came out, the mean is known whichever message is whose.
        """
        delays = self.log.true_delays()
        if len(delays):
            return float(delays.mean()), float(delays.max())
        longest = None if self.law.longest_delay == inf else self.law.longest_delay
        if 0 < self.n_in == self.n_out:
            came, left = self.log.arrivals[self.ins], self.log.departures[self.outs]
            if (left >= came).all():  # never more out than in
                return float(left.mean() - came.mean()), longest
        return self.law.mean_delay, longest

    def candidates(self, end: float) -> Candidates:
        arrivals, users = self._filling()
        return self.law.candidates(
            arrivals, self.log.departures, users=users, behaviours=self.outs, end=end
        )

    def _filling(self) -> tuple[Floats, Ints]:
        """Arrivals that fill batches, and which of them are to be matched.

        Whoever the attacker knows to be lost on entry fills none; a dummy that goes on does.
        """
        log = self.log
        if self.n_in == log.n_in or log.lost is None or log.truth is None:
            return log.arrivals, self.ins
        fills = ~(log.lost & (log.truth < 0))
        return log.arrivals[fills], (np.cumsum(fills) - 1)[self.ins]

    def passage(self, lost: int | None) -> Passage | None:
        """The passage through an exponential or a pool mix; None if some out may be nobody's."""
        self.check_lost(lost)
        if self.n_out > self.n_in or (lost is not None and lost > self.n_in - self.n_out):
            return None
        log = self.log
        arrivals, departures = log.arrivals[self.ins], log.departures[self.outs]
        if isinstance(self.law, Pool):
            filling, users = self._filling()
            arrivals, departures = self.law.moments(
                arrivals, departures, filling=filling, users=users
            )
        unsent = self.unsent(arrivals, departures)
        if len(unsent):
            raise self.no_sender(unsent, cover=len(unsent))
        return Passage(
            users=self.users, behaviours=self.behaviours, arrivals=arrivals, departures=departures
        )

    def check_lost(self, lost: int | None) -> None:
        least = self.n_in - self.n_out
        if lost is not None and lost < least:
            raise InputError(
                Argument("lost"),
                f" is {lost}, but {several(self.n_in, 'message')} came in and {self.n_out} left; "
                f"give {least} or more",
            )

    def numbers(self, cover: int | None, lost: int | None) -> int | None:
        """How many messages are lost, if ``cover`` or ``lost`` say so; None if neither does."""
        self.check_lost(lost)
        if cover is None:
            return lost
        least = max(0, self.n_out - self.n_in)
        if not least <= cover <= self.n_out:
            raise InputError(
                Argument("cover"),
                f" is {cover}, but {several(self.n_in, 'message')} came in and {self.n_out} left; "
                f"give a number from {least} to {self.n_out}",
            )
        needed = self.n_in - (self.n_out - cover)
        if lost is not None and lost != needed:
            raise InputError(
                f"with {several(self.n_in, 'message')} in, {self.n_out} out and {cover} of them "
                f"nobody's, {needed} are lost, not {lost}; leave ",
                Argument("lost"),
                " or ",
                Argument("cover"),
                " out",
            )
        return needed

    def unsent(self, arrivals: Floats, departures: Floats) -> Ints:
        """The fewest messages out that nobody inside can have sent, if all others are sent."""
        inside = np.searchsorted(arrivals, departures, side="right") - np.arange(len(departures))
        # Each of them leaves one more inside for those after it, so they are the new minima.
        fewest = np.minimum(np.minimum.accumulate(inside), 1)
        return np.flatnonzero(np.diff(fewest, prepend=1))

    def no_sender(self, outs: Ints, cover: int, *, start: bool = False) -> InputError:
        """That nobody can have sent these messages out, which so much cover would explain.

        ``start``: so would messages that were inside when the log began.
        """
        first = int(outs[0])
        name = quoted(self.behaviours[first])
        time = self.log.moment(self.recorded.departures[self.outs[first]])
        which = f"message out {name} at {time}: nobody can have sent it"
        if len(outs) > 1:
            which = f"nobody can have sent {len(outs)} messages out, first {name} at {time},"
        return InputError(
            f"{which} under the {self.law}; check times and law, or allow for cover traffic (",
            Argument("cover", cover),
            ")",
            *self._or_start(start),
        )

    @staticmethod
    def _or_start(start: bool) -> tuple[Piece, ...]:
        if not start:
            return ()
        return (
            " or for messages inside when the log begins (",
            Argument("inside_at_start", ...),
            ")",
        )

    def no_receiver(self, users: Ints, lost: int) -> InputError:
        """That no message out fits these messages in, which so many losses would explain."""
        first = int(users[0])
        name = quoted(self.users[first])
        time = self.log.moment(self.recorded.arrivals[self.ins[first]])
        which = f"message in {name} at {time}: no message out fits it"
        if len(users) > 1:
            which = f"no message out fits {len(users)} messages in, first {name} at {time},"
        return InputError(
            f"{which} under the {self.law}; check times and law, or allow for losses (",
            Argument("lost", lost),
            ")",
        )


def on_clock_of(law: Law, messages: Messages) -> Messages:
    """The log with times that the clock of a law understands, if the law has one."""
    mix = law.law if isinstance(law, Linked) else law
    interval = mix.flush.interval if isinstance(mix, FlushLaw) else None
    if not messages.origin or interval is None:
        return messages
    return messages.on_clock(interval)


def _unflagged(flags: Bools | None, size: int) -> Ints:
    return np.arange(size) if flags is None else np.flatnonzero(~flags)


def _chosen(names: tuple[Hashable, ...], indices: Ints) -> tuple[Hashable, ...]:
    if len(indices) == len(names):
        return names
    return tuple(map(names.__getitem__, indices.tolist()))


def near_an_end(arrivals: Floats, begin: float, end: float, reach: float | None) -> Bools | None:
    """Which messages came in near an end; None if nobody did, or hardly anybody would be left.

    The first messages of a log find an emptier mix than those later, the last ones have fewer
    departures to be: their figures say more about the log than about the system.

    Examples
    --------
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 2.0).tolist()
    [True, True, False, False, False, False, False, False, False, True]
    >>> near_an_end(np.arange(10.0), 0.0, 10.0, 5.0) is None
    True
    """
    if reach is None or not len(arrivals):
        return None
    near = (arrivals < begin + reach) | (arrivals > end - reach)
    left = np.count_nonzero(~near) / len(arrivals)
    return near if near.any() and left >= _FEWEST else None

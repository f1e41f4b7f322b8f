"""A log of a flush mix by its flushes: how many came in before each, and how many left with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes.solvers.flushes.flush_rule import FlushRule, flush_numbers
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running import Budget

__all__ = ["BY_COVER", "BY_MESSAGE", "FlushRounds", "flush_rounds"]


BY_MESSAGE, BY_COVER = 1, 2  # what set off a flush of a mix that waits for a number
_SECONDS_A_FLUSH, _BYTES_A_FLUSH = 1e-4, 1000.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlushRounds:
    """Flushes in order of time.

    Attributes
    ----------
    moments : array
        When each is, in seconds.
    entered : array
        Messages that came in since the one before; one more entry for those after the last.
    left : array
        Messages that left with it.
    spans : array
        Seconds of cover traffic since the one before; one more entry for the time after the last.
    trigger : array
        `BY_MESSAGE` if a message in of that very moment set it off, `BY_COVER` if none did so; 0
        where a flush comes by itself: by the clock, or because all that came in are counted.
    batches : array
        Of a mix that waits for a number: flushes at most that are one, as they are at one time; 0
        for a moment between its flushes, at which only cover traffic leaves.
    empty : int
        Flushes with nobody in and nobody out that were left out, as they change nothing.
    arrivals, departures : array
        The flush of each message; for messages in one past the last for those after it.
    """

    moments: Floats
    entered: Ints
    left: Ints
    spans: Floats
    trigger: Ints
    batches: Ints
    empty: int
    arrivals: Ints
    departures: Ints

    @property
    def number(self) -> int:
        return len(self.moments)

    def first_departures(self) -> Ints:
        """The first departure of each flush, where departures are in order of time."""
        return np.concatenate(([0], np.cumsum(self.left)[:-1])) if self.number else self.left


def flush_rounds(
    rule: FlushRule,
    arrivals: Floats,
    departures: Floats,
    *,
    channel: Channel,
    hidden: bool,
    cover_at_exit: bool,
    budget: Budget,
) -> FlushRounds:
    """Flushes of a log whose times are sorted.

    ``hidden``: whether messages that come in may not count, or others than messages count, so that
    a mix that waits for a number cannot be followed by counting. Its flushes are then the moments
    at which messages leave; with ``cover_at_exit`` those only at which a batch can.
    """
    if rule.interval is not None:
        return _by_clock(rule, arrivals, departures, channel, budget)
    return _by_number(rule, arrivals, departures, channel, hidden, cover_at_exit)


def _by_clock(
    rule: FlushRule, arrivals: Floats, departures: Floats, channel: Channel, budget: Budget
) -> FlushRounds:
    interval = rule.interval or 1.0
    came, left = flush_numbers(rule, arrivals, np.append(departures, (channel.begin, channel.end)))
    begin, end = (float(number) for number in left[-2:])
    left = left[:-2]
    # A flush at the very begin is of the log only if somebody came in for it, or left with it.
    first = min(begin + 1.0, came.min(initial=math.inf), left.min(initial=math.inf))
    number = max(0.0, end - first + 1.0)
    if rule.all_leave:
        shown = np.unique(np.concatenate((came[came <= end], left)))
    else:
        cost = number * _SECONDS_A_FLUSH, number * _BYTES_A_FLUSH
        if not budget.allows(*cost):
            raise budget.refusal(f"following {number:.3g} flushes", *cost)
        shown = first + np.arange(int(number))
    inwards = np.searchsorted(shown, came)
    outwards = np.searchsorted(shown, left)
    moments = rule.origin + shown * interval
    spans = np.full(len(shown) + 1, interval)
    spans[-1] = 0.0
    return FlushRounds(
        moments=moments,
        entered=np.bincount(inwards, minlength=len(shown) + 1),
        left=np.bincount(outwards, minlength=len(shown)),
        spans=spans,
        trigger=np.zeros(len(shown), dtype=np.int64),
        batches=np.ones(len(shown), dtype=np.int64),
        empty=int(number) - len(shown),
        arrivals=inwards,
        departures=outwards,
    )


def _by_number(
    rule: FlushRule,
    arrivals: Floats,
    departures: Floats,
    channel: Channel,
    hidden: bool,
    cover_at_exit: bool,
) -> FlushRounds:
    batch = rule.batch or 1
    if hidden:
        moments = np.unique(departures)
        inwards = np.searchsorted(moments, arrivals)
        outwards = np.searchsorted(moments, departures)
        at_once = np.bincount(inwards[np.isin(arrivals, moments)], minlength=len(moments))
        trigger = np.where(at_once > 0, BY_MESSAGE, BY_COVER)
        batches = 1 + np.maximum(at_once - 1, 0) // batch
        if cover_at_exit:
            some = np.bincount(outwards, minlength=len(moments)) < batch
            batches, trigger = np.where(some, 0, batches), np.where(some, 0, trigger)
    else:
        moments, which = np.unique(arrivals[batch + rule.kept - 1 :: batch], return_inverse=True)
        came, left = flush_numbers(rule, arrivals, departures)
        early = np.flatnonzero(left < 0)
        if len(early) and not cover_at_exit:
            raise InputError(
                f"a message leaves at {departures[early[0]]:g} s, before "
                f"{several(batch + rule.kept, 'message')} came in: this mix had no flush yet; "
                "check times and law, or tell that cover traffic leaves (",
                Argument("cover_rate"),
                "), or enters the pool (",
                Argument("cover_in_pool"),
                ")",
            )
        if len(early):  # they are cover: a moment of their own, before the first flush
            moments, which = np.insert(moments, 0, departures[early[-1]]), which + 1
        batches = np.bincount(which, minlength=len(moments))
        which = np.append(which, len(moments))  # messages that wait for a flush still to come
        inwards = which[np.minimum(came.astype(np.int64), len(which) - 1)]
        outwards = np.where(left < 0, 0, which[np.maximum(left, 0).astype(np.int64)])
        trigger = np.zeros(len(moments), dtype=np.int64)
    borders = np.concatenate(([channel.begin], moments, [channel.end]))
    return FlushRounds(
        moments=moments,
        entered=np.bincount(inwards, minlength=len(moments) + 1),
        left=np.bincount(outwards, minlength=len(moments)),
        spans=np.diff(borders),
        trigger=trigger,
        batches=batches,
        empty=0,
        arrivals=inwards,
        departures=outwards,
    )

"""Flush mixes: mixes that hold messages back and send on several of them together.

What such a mix does is one value, :class:`FlushRule`, for all who draw logs of it or compute what
logs of it say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRule:
    """When a mix sends on, and how many of those inside."""

    # Seconds from flush to flush; None for a mix that waits for a number of messages.
    interval: float | None = None
    origin: float = 0.0  # when one of the flushes is, in seconds
    # Instead: as soon as ``batch + kept`` are inside, ``batch`` of them leave.
    batch: int | None = None
    kept: int = 0  # so many stay. With coins, nobody leaves while no more are inside.
    # None: a number of all inside leaves, drawn from them. Else each leaves by a coin of its own,
    # with this probability, but with no more than that by which ``kept`` stay on average.
    share: float | None = None
    # Of a number: that share of those inside, rounded down, but all but ``kept`` at most. None: all
    # but ``kept``.
    portion: float | None = None
    # Of coins: with a ``spread`` each leaves with the probability of a normal law around ``centre``
    # to be below the number inside, whatever ``share`` is.
    centre: float = 0.0
    spread: float | None = None

    @property
    def all_leave(self) -> bool:
        """Whether every flush leaves the mix empty."""
        whole = self.portion is None and self.spread is None
        return whole and self.kept == 0 and (self.share is None or self.share == 1.0)

    @property
    def even_coins(self) -> bool:
        """Whether each leaves with the same probability, however many are inside."""
        numbers = self.portion is not None or self.spread is not None
        return self.batch is None and self.kept == 0 and not numbers

    def stays(self, inside: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """How many stay of so many inside at a tick, if their number is fixed.

        Examples
        --------
        >>> FlushRule(interval=1.0, kept=3, portion=0.5).stays([2, 4, 7, 10]).tolist()
        [2, 3, 4, 5]
        """
        number = np.asarray(inside, dtype=np.int64)
        free = np.maximum(number - self.kept, 0)
        if self.portion is not None:  # a product that rounds below a whole number is that number
            part = np.floor(self.portion * number * (1 + 1e-12)).astype(np.int64)
            free = np.minimum(free, part)
        return number - free

    def leave(self, inside: npt.ArrayLike) -> Floats:
        """Probability of each to leave, by its coin, if so many are inside.

        Examples
        --------
        >>> FlushRule(interval=1.0, kept=5, share=0.5).leave([4, 8, 20]).tolist()
        [0.0, 0.375, 0.5]
        """
        number = np.asarray(inside, dtype=np.float64)
        if self.spread is not None:
            from scipy.special import ndtr

            return np.asarray(ndtr((number - self.centre) / self.spread), dtype=np.float64)
        share = 1.0 if self.share is None else self.share
        return np.minimum(share, np.maximum(0.0, 1.0 - self.kept / np.maximum(number, 1.0)))


class FlushNumbers(NamedTuple):
    """The flush of each arrival, its first probability to leave, and the flush of each departure.

    Flushes are numbered from 0 in order of time (for a timed mix, from its origin). An arrival
    after the last flush has a number above those of all departures; a departure before the first
    flush has -1.
    """

    arrivals: Floats
    departures: Floats


def flush_numbers(rule: FlushRule, arrivals: Floats, departures: Floats) -> FlushNumbers:
    """Flushes by the clock, or by full batches in order of arrival.

    A departure belongs to the last flush before it, however long it then took; flushes at the same
    time are one.

    Examples
    --------
    >>> flush_numbers(FlushRule(batch=2), np.array([0.0, 1, 2]), np.array([0.5, 1, 1.1]))
    FlushNumbers(arrivals=array([0., 0., 1.]), departures=array([-1.,  0.,  0.]))
    """
    if rule.interval is not None:
        largest = max((float(np.abs(t).max()) for t in (arrivals, departures) if len(t)), default=0)
        # A flush at 3 * 0.1 s is written as 0.3, which is not the same float64.
        slack = max(1e-9, rounding(largest + abs(rule.origin)) / rule.interval)
        came = np.ceil((arrivals - rule.origin) / rule.interval - slack)
        left = np.floor((departures - rule.origin) / rule.interval + slack)
        return FlushNumbers(came, left)
    batch = rule.batch or 1
    flushes = arrivals[batch + rule.kept - 1 :: batch]
    number = np.maximum(0, (np.arange(len(arrivals)) - rule.kept) // batch)
    done = number < len(flushes)
    number[done] = np.searchsorted(flushes, flushes[number[done]], side="right") - 1
    left = np.searchsorted(flushes, departures, side="right") - 1
    return FlushNumbers(number.astype(np.float64), left.astype(np.float64))


def rounding(largest: float) -> float:
    """How far the difference of two times may be off because they are float64."""
    return 4 * float(np.spacing(largest))


# ---- a log of a flush mix by its flushes: how many came in before each, and how many left with it


BY_MESSAGE, BY_COVER = 1, 2  # what set off a flush of a mix that waits for a number


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FlushRounds:
    """Flushes in order of time."""

    moments: Floats  # when each is, in seconds
    # Messages that came in since the one before; one more entry for those after the last.
    entered: Ints
    left: Ints  # messages that left with it
    # Seconds of cover traffic since the one before; one more entry for the time after the last.
    spans: Floats
    # `BY_MESSAGE` if a message in of that very moment set it off, `BY_COVER` if none did so; 0
    # where a flush comes by itself: by the clock, or because all that came in are counted.
    trigger: Ints
    # Of a mix that waits for a number: flushes at most that are one, as they are at one time; 0 for
    # a moment between its flushes, at which only cover traffic leaves.
    batches: Ints
    empty: int  # flushes with nobody in and nobody out that were left out, as they change nothing
    # The flush of each message; for messages in one past the last for those after it.
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
        cost = number * FLUSHES.seconds_a_flush, number * FLUSHES.bytes_a_flush
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

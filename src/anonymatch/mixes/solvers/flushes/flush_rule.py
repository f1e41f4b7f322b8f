"""Flush mixes: mixes that hold messages back and send on several of them together.

What such a mix does is one value, :class:`FlushRule`, for all who draw logs of it or compute what
logs of it say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats

__all__ = ["FlushNumbers", "FlushRule", "flush_numbers", "rounding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushRule:
    """When a mix sends on, and how many of those inside.

    Attributes
    ----------
    interval : float or None
        Seconds from flush to flush; None for a mix that waits for a number of messages.
    origin : float
        When one of the flushes is, in seconds.
    batch : int or None
        Instead: as soon as ``batch + kept`` are inside, ``batch`` of them leave.
    kept : int
        So many stay. With coins, nobody leaves while no more are inside.
    share : float or None
        None: a number of all inside leaves, drawn from them. Else each leaves by a coin of its own,
        with this probability, but with no more than that by which ``kept`` stay on average.
    portion : float or None
        Of a number: that share of those inside, rounded down, but all but ``kept`` at most. None:
        all but ``kept``.
    centre, spread : float
        Of coins: with a ``spread`` each leaves with the probability of a normal law around
        ``centre`` to be below the number inside, whatever ``share`` is.
    """

    interval: float | None = None
    origin: float = 0.0
    batch: int | None = None
    kept: int = 0
    share: float | None = None
    portion: float | None = None
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

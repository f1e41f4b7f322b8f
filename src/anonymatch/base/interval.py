"""A number with the interval that holds it."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["ROUNDING", "Interval"]

ROUNDING = 2.0**-48  # relative; covers a few roundings, logarithms and divisions in doubles


@dataclass(frozen=True, slots=True)
class Interval:
    """A value, and a low and a high end between which the truth lies.

    Examples
    --------
    >>> Interval(0.5, 0.4, 0.7).clipped(0.45, 1.0)
    Interval(value=0.5, low=0.45, high=0.7)
    """

    value: float
    low: float
    high: float

    @classmethod
    def rounded(cls, value: float, low: float, high: float, *, size: float = 0.0) -> Interval:
        """Ends moved apart by the rounding of numbers as large as ``size`` or the ends."""
        slack = ROUNDING * max(size, *(abs(end) for end in (low, high) if math.isfinite(end)), 0.0)
        return cls(value, low - slack, high + slack)

    @classmethod
    def between(cls, low: float, high: float) -> Interval:
        """The middle of an interval of which nothing more is known."""
        return cls((low + high) / 2, low, high)

    def divided(self, by: float) -> Interval:
        """Divided by a number; a negative one swaps the ends."""
        ends = self.low / by, self.high / by
        return Interval.rounded(self.value / by, min(ends), max(ends))

    def plus(self, other: Interval) -> Interval:
        return Interval(self.value + other.value, self.low + other.low, self.high + other.high)

    def clipped(self, least: float, most: float) -> Interval:
        """The same where the truth is known to lie between ``least`` and ``most``."""
        value, low, high = (
            min(max(number, least), most) for number in (self.value, self.low, self.high)
        )
        return Interval(value, low, high)

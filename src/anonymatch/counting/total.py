"""The sum of logs over blocks, with its interval and with what is proven of it.

Errors of independent draws add in quadrature, all others linearly; copies of one block share its
error.
"""

from __future__ import annotations

import math

from anonymatch.counting.estimate import Estimate

__all__ = ["Total"]

_ROUNDING = 2.0**-50

Interval = tuple[float, float]


class Total:
    """A sum of logs that grows block by block."""

    def __init__(self, log: float, error: float) -> None:
        self.log = log
        self.size = abs(log)  # of all terms: large ones may cancel, their rounding stays
        self._low = self._high = error  # distances of the ends, as far as they add linearly
        self._low_squares = self._high_squares = 0.0
        self._proven_low, self._proven_high = log - error, log + error

    def add_interval(self, log: float, ends: Interval, shift: float, copies: int) -> None:
        """A block whose interval is certain, or not of independent draws."""
        self._add(log, ends, ends, shift, copies)
        self._low += copies * (log - ends[0])
        self._high += copies * (ends[1] - log)

    def add_estimate(self, found: Estimate, shift: float, copies: int) -> None:
        """A block that was estimated."""
        below, above = copies * (found.log - found.low), copies * (found.high - found.log)
        self._add(found.log, (found.low, found.high), found.proven, shift, copies)
        if found.statistical:
            self._low_squares += below**2
            self._high_squares += above**2
        else:
            self._low += below
            self._high += above

    def _add(self, log: float, ends: Interval, proven: Interval, shift: float, copies: int) -> None:
        self.log += copies * (log + shift)
        self._proven_low += copies * (proven[0] + shift)
        self._proven_high += copies * (proven[1] + shift)
        self.size += copies * sum(abs(x) for x in (*ends, shift) if math.isfinite(x))

    def interval(self, terms: int) -> tuple[Interval, Interval]:
        """The interval, and the proven one; sums of so many terms are rounded too."""
        slack = _ROUNDING * terms * (1.0 + self.size)
        proven = self._proven_low - slack, self._proven_high + slack
        low = self.log - self._low - math.sqrt(self._low_squares) - slack
        high = self.log + self._high + math.sqrt(self._high_squares) + slack
        return (max(low, proven[0]), min(high, proven[1])), proven

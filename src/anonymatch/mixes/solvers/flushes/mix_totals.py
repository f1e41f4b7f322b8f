"""Messages through one mix that chooses uniformly, summed up in stretches: any number, one pass.

What is open for a message inside runs backwards over departures, and each step takes the entropy
behind it to a multiple of it and a term. Steps compose, so that a stretch needs only what is open
at its end: two numbers. Stretches are added from the last to the first, and only sums are stored.
"""

from __future__ import annotations

import math

import numpy as np

from anonymatch import _native
from anonymatch.base.arrays import Bools, Floats
from anonymatch.mixes.closed_forms import ceiling_bits

__all__ = ["FlushTotals"]

_GRID = 1000  # parts of a bit in which quantiles are told
_SURE = 1e-12


class FlushTotals:
    """Sums over messages. To be inside at the end is one more outcome; nobody is lost.

    Examples
    --------
    >>> totals = FlushTotals()
    >>> totals.add_before(np.array([True, False, False]), inside=1)  # the second half of a log
    True
    >>> totals.add_before(np.array([True]), inside=0)
    True
    >>> totals.messages, totals.mean_bits, totals.joint_bits
    (2, 1.0, 1.0)
    """

    def __init__(self) -> None:
        self.messages, self.departures, self.identified = 0, 0, 0
        self.joint_bits, self.inside_sum = 0.0, 0.0  # log2 of the matchings
        self._bits, self._min_entropy = 0.0, 0.0
        self._numbers = np.zeros(1, dtype=np.int64)  # of messages by their bits, on the grid
        self._shannon, self._largest = 0.0, 0.0  # for who is inside at the end of a stretch

    def add_before(self, comes: Bools, inside: int) -> bool:
        """Add the stretch before all others: whether each of its events is a message coming in.

        ``inside``: messages when it begins. False, and nothing is added, if a message leaves an
        empty mix.
        """
        numbers = inside + np.cumsum(np.where(comes, 1, -1))
        before = (numbers[~comes] + 1).astype(np.int64)
        if len(before) and before.min() < 1:
            return False
        # Those that leave together are drawn as if one by one: each is as likely to be each.
        stay = _native.flush_stay(before, np.ones(len(before), dtype=np.int64))
        shannon = stay.shannon + stay.stays * self._shannon
        largest = np.maximum(stay.largest, stay.stays * self._largest)
        next_out = np.cumsum(~comes)[comes]
        if not self.departures:  # who comes after the last departure cannot be any
            next_out = next_out[next_out < len(before)]
        self._add(shannon[next_out], largest[next_out])
        self.departures += len(before)
        self.joint_bits += float(np.log2(before).sum())
        self.inside_sum += float(before.sum())
        self._shannon, self._largest = float(shannon[0]), float(largest[0])
        return True

    def _add(self, bits: Floats, largest: Floats) -> None:
        self.messages += len(bits)
        self._bits += float(bits.sum())
        self._min_entropy -= float(np.log2(largest).sum())
        self.identified += int((largest > 1 - _SURE).sum())
        numbers = np.bincount(np.floor(bits * _GRID + 1e-9).astype(np.int64))
        if len(numbers) > len(self._numbers):
            numbers[: len(self._numbers)] += self._numbers
            self._numbers = numbers
        else:
            self._numbers[: len(numbers)] += numbers

    @property
    def mean_bits(self) -> float:
        """Mean Shannon entropy of a message."""
        return self._bits / self.messages

    @property
    def mean_min_entropy(self) -> float:
        return self._min_entropy / self.messages

    @property
    def ceiling(self) -> float:
        """Mean bits that no log exceeds with as many inside before departures, on average."""
        return ceiling_bits(self.inside_sum / self.departures - 1)

    def quantile(self, share: float) -> float:
        """Bits that the worst share of messages does not exceed, down to a thousandth."""
        rank = max(1, math.ceil(share * self.messages - 1e-9))
        return int(np.searchsorted(np.cumsum(self._numbers), rank)) / _GRID

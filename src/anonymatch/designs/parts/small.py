"""Many small graphs at once: their counts, and what an attacker leaves of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anonymatch import _native

__all__ = ["LARGEST", "Bits", "Tally", "counts", "tally"]

LARGEST = _native.SMALL_BEHAVIOURS

Bits = tuple[int, ...]
"""A square 0/1 matrix as one integer a row; bit j is column j."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The count of a graph, and for each user the sum of squares of the counts through its edges.

    Exposing user x leaves ``squares[x] / count`` matchings on average.
    """

    count: int
    squares: tuple[int, ...]

    @property
    def attack(self) -> Fraction:
        """The share of the matchings that the best attack leaves; the count must not be 0."""
        return Fraction(min(self.squares), self.count**2)


def counts(matrices: Sequence[Bits]) -> list[int]:
    """Only the counts.

    Examples
    --------
    >>> counts([(0b11, 0b11), (0b01, 0b01)])
    [2, 0]
    """
    if not matrices:
        return []
    totals, _ = _native.small_counts(_Blocks.of(matrices), minors=False)
    return [int(total) for total in totals]


def tally(matrices: Sequence[Bits]) -> list[Tally]:
    """Counts and sums of squares of square matrices of up to :data:`LARGEST` users.

    Examples
    --------
    >>> tally([(0b11, 0b11), (0b111, 0b111, 0b011)])
    [Tally(count=2, squares=(2, 2)), Tally(count=4, squares=(6, 6, 8))]
    """
    if not matrices:
        return []
    blocks = _Blocks.of(matrices)
    totals, through = _native.small_counts(blocks, minors=True)
    squares = [value * value for value in through.tolist()]
    results = []
    begin = row = 0
    for rows, count in zip(matrices, totals.tolist(), strict=True):
        sums = []
        for _ in rows:
            end = int(blocks.row_offsets[row + 1])
            sums.append(sum(squares[begin:end]))
            begin, row = end, row + 1
        results.append(Tally(count, tuple(sums)))
    return results


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Square matrices one after another, as the kernel takes them."""

    user_offsets: npt.NDArray[np.int64]
    behaviour_counts: npt.NDArray[np.int64]
    row_offsets: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    weights: None = None

    @classmethod
    def of(cls, matrices: Sequence[Bits]) -> _Blocks:
        sizes = np.array([len(rows) for rows in matrices])
        words = np.array([row for rows in matrices for row in rows])
        cells = words[:, None] >> np.arange(LARGEST) & 1
        return cls(
            np.concatenate(([0], np.cumsum(sizes))),
            sizes,
            np.concatenate(([0], np.cumsum(cells.sum(axis=1)))),
            np.nonzero(cells)[1],
        )

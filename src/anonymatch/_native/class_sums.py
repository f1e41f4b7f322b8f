"""Sums over grids of roots of unity, modulo primes: blocks of few classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Words, ints
from anonymatch._native.extension import kernels
from anonymatch._native.glynn import Isa, best_isa

CLASS_SUMS_LARGEST_PRIME: int = kernels.class_sums_largest_prime
CLASS_SUMS_MOST_ROWS: int = kernels.class_sums_most_rows
# Products of residues a second of one core, measured; only predictions depend on them.
CLASS_SUMS_RATE: float = {"avx512": 6.5e9, "avx2": 0.3e9, "portable": 0.3e9}[best_isa.name]


class ClassSums:
    """Linear forms, their powers and the points of a grid, modulo one prime.

    ``weights`` has a row a form, in falling order of the powers ``sizes``, and a column a variable,
    the last of which is 1. Each other variable has its ``points``, and ``factors`` to go with them.
    """

    def __init__(
        self,
        weights: npt.NDArray[np.uint64],
        sizes: Sequence[int],
        points: Sequence[Sequence[int]],
        factors: Sequence[Sequence[int]],
        prime: int,
    ) -> None:
        rows = len(sizes)
        orders = [len(values) for values in points]
        if not 1 <= rows <= CLASS_SUMS_MOST_ROWS or weights.shape != (rows, len(orders) + 1):
            raise ValueError("the weights do not fit the sizes and the points")
        if min(sizes) < 1 or list(sizes) != sorted(sizes, reverse=True) or 0 in orders:
            raise ValueError("sizes fall, and every variable has a point")
        if [len(values) for values in factors] != orders:
            raise ValueError("every point has a factor")
        if prime % 2 == 0 or not 2 < prime < CLASS_SUMS_LARGEST_PRIME:
            raise ValueError("the prime is out of bounds")
        values, with_them = _joined(points), _joined(factors)
        if max(weights.max(), values.max(initial=0), with_them.max(initial=0)) >= prime:
            raise ValueError("residues are below the prime")
        flat = np.ascontiguousarray(weights, dtype=np.uint64).reshape(-1)
        self._shape = weights.shape
        self._sums = kernels.ClassSums(
            flat, ints(np.array(sizes)), ints(np.array(orders)), values, with_them, prime
        )

    @property
    def units(self) -> int:
        """Units of work of the whole sum."""
        return self._sums.units

    def count(self, first: int, last: int, isa: Isa = best_isa) -> int:
        """The units [first, last) of the sum over the grid, a residue."""
        self._check_units(first, last, isa)
        return self._sums.count(first, last, isa)

    def minors(self, first: int, last: int, isa: Isa = best_isa) -> Words:
        """The same over a form and times a variable, for all forms and variables."""
        self._check_units(first, last, isa)
        return self._sums.minors(first, last, isa).reshape(self._shape)

    def _check_units(self, first: int, last: int, isa: Isa) -> None:
        if not 0 <= first <= last <= self.units:
            raise ValueError("range of units out of bounds")
        if not kernels.supported(isa):
            raise ValueError(f"this processor has no {isa.name}")


def _joined(lists: Sequence[Sequence[int]]) -> Words:
    return np.array([value for values in lists for value in values], dtype=np.uint64)

"""Inclusion-exclusion over signs (Glynn's formula)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Floats, Integers, flat, joined_words, words32
from anonymatch._native.extension import kernels

Isa = kernels.Isa
best_isa: Isa = kernels.best_isa()
GLYNN_LARGEST: int = kernels.glynn_largest
# Row multiplications a second of one core, measured; only predictions depend on them.
GLYNN_RATE: float = {"avx512": 25e9, "avx2": 8e9, "portable": 1e9}[best_isa.name]


def glynn_units(n: int) -> int:
    """Units of work of the whole sum for a matrix of side ``n``."""
    return int(kernels.glynn_units(n))


class GlynnMatrix:
    """A square matrix of integers, packed once for all ranges of units.

    ``entries`` is what it was made of, so that another process can make it too.
    """

    def __init__(self, entries: npt.NDArray[np.uint32]) -> None:
        n = len(entries)
        if entries.shape != (n, n) or not 1 <= n <= GLYNN_LARGEST:
            raise ValueError(f"glynn takes square matrices of up to {GLYNN_LARGEST} users")
        if int(entries.sum(axis=1).max()) >= 2**31:
            raise ValueError("sums of rows out of bounds")
        self.entries = entries
        self._packed = kernels.GlynnMatrix(words32(entries), n)

    @property
    def factors(self) -> int:
        """Factors that products of rows are kept in: 2 to 4, or 0 if they do not fit lanes."""
        return self._packed.factors

    def count(self, words: int, first: int, last: int, isa: Isa = best_isa) -> Integers:
        """What the units [first, last) add to 2^(n-1) times the count, modulo 2^(64 words)."""
        self._check_units(words, first, last, isa)
        return joined_words(self._packed.count(first, last, isa, words), words)

    @property
    def kept_bits(self) -> int:
        """Bits that :meth:`count_kept` finds; 0 if it would be no faster than :meth:`count`."""
        return self._packed.kept_bits if best_isa.name == "avx512" else 0

    def count_kept(self, first: int, last: int, isa: Isa = best_isa) -> Integers:
        """What the units add to 2^(n-1) times the count, modulo 2^kept_bits alone."""
        self._check_units(3, first, last, isa)
        if not self._packed.kept_bits:
            raise ValueError("this matrix is counted with all bits")
        modulus = 1 << self._packed.kept_bits
        sums: Integers = joined_words(self._packed.count_kept(first, last, isa, 3), 3) % modulus
        return sums

    def minors(self, words: int, first: int, last: int, isa: Isa = best_isa) -> Integers:
        """The same for 2^(n-1) times every first minor: n * n entries, row by row."""
        self._check_units(words, first, last, isa)
        return joined_words(self._packed.minors(first, last, isa, words), words)

    def _check_units(self, words: int, first: int, last: int, isa: Isa) -> None:
        if not 1 <= words <= 3:
            raise ValueError(f"glynn takes 1 to 3 words, not {words}")
        if not 0 <= first <= last <= glynn_units(self._packed.n):
            raise ValueError("range of units out of bounds")
        if not kernels.supported(isa):
            raise ValueError(f"this processor has no {isa.name}")


def glynn_count_double(matrix: Floats, first: int, last: int, isa: Isa = best_isa) -> Floats:
    """What the units add over doubles: the sum, and the sum of the sizes of its terms."""
    n = len(matrix)
    return np.array(kernels.glynn_count_double(flat(matrix), n, first, last, isa))


def glynn_minors_double(matrix: Floats, first: int, last: int, isa: Isa = best_isa) -> Floats:
    """What the units add to 2^(n-1) times every first minor: n * n sums, row by row."""
    return kernels.glynn_minors_double(flat(matrix), len(matrix), first, last, isa)


def glynn_minors_errors(matrix: Floats, ranges: int) -> Floats:
    """A bound on the errors of each row's minors, if all units are done in that many ranges."""
    return kernels.glynn_minors_errors(flat(matrix), len(matrix), ranges)


def glynn_rounding(n: int) -> float:
    """Bound on the error of a sum over doubles, relative to the sum of the sizes of its terms."""
    return float(kernels.glynn_rounding(n))

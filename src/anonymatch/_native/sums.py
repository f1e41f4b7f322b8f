"""Sums over signs, sets and roots of unity: dense blocks, small blocks and few classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import (
    Floats,
    Integers,
    Ints,
    Words,
    flat,
    floats,
    ints,
    joined_words,
    words32,
)
from anonymatch._native.extension import kernels

Isa = kernels.Isa
best_isa: Isa = kernels.best_isa()
GLYNN_LARGEST: int = kernels.glynn_largest
# Row multiplications a second of one core, measured; only predictions depend on them.
GLYNN_RATE: float = {"avx512": 25e9, "avx2": 8e9, "portable": 1e9}[best_isa.name]


def _check_range(first: int, last: int, units: int, isa: Isa) -> None:
    if not 0 <= first <= last <= units:
        raise ValueError("range of units out of bounds")
    if not kernels.supported(isa):
        raise ValueError(f"this processor has no {isa.name}")


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
        _check_range(first, last, glynn_units(self._packed.n), isa)


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


RYSER_LARGEST: int = kernels.ryser_largest


def ryser_units(n: int) -> int:
    """Units of work of the whole sum for a matrix of side ``n``; their sizes differ."""
    return int(kernels.ryser_units(n))


def ryser_order(matrix: npt.NDArray[np.uint32], *, moves: int, seed: int) -> Ints:
    """An order of the columns in which few prefixes survive."""
    order: Ints = kernels.ryser_order(words32(matrix), len(matrix), moves, seed)
    return order


def ryser_prefixes(
    matrix: npt.NDArray[np.uint32], order: Ints, *, descents: int, seed: int
) -> float:
    """Unbiased estimate of the number of prefixes that survive."""
    n = len(matrix)
    return float(kernels.ryser_prefixes(words32(matrix), n, ints(order), descents, seed))


def ryser_count(
    matrix: npt.NDArray[np.uint32], order: Ints, words: int, first: int, last: int
) -> int:
    """What the units [first, last) add to the count, modulo 2^(64 words)."""
    n = len(matrix)
    sums = kernels.ryser_count(words32(matrix), n, ints(order), first, last, words)
    return int(joined_words(sums, words)[0])


SubsetProgramme = kernels.SubsetProgramme
SUBSET_LIMIT: int = kernels.subset_limit


def subset_fits(matrix: Floats) -> bool:
    """Whether the weights lie close enough together for plain doubles."""
    return bool(kernels.subset_fits(len(matrix), flat(matrix)))


def subset_bytes(n: int, *, posteriors: bool) -> float:
    """Bytes that the programme allocates."""
    return float(kernels.subset_bytes(n, posteriors))


def subset_programme(matrix: Floats, *, posteriors: bool) -> SubsetProgramme:
    """A job over doubles for a square matrix."""
    return SubsetProgramme(len(matrix), flat(matrix), posteriors)


SMALL_BEHAVIOURS: int = kernels.small_behaviours


def small_counts(blocks: SmallBlocks, *, minors: bool) -> tuple[Words, Words]:
    """Totals of small blocks stored one after another, and on request all edge minors."""
    totals, through = kernels.small_counts(*_small(blocks), minors)
    return totals, through


def small_counts_weighted(blocks: SmallBlocks, *, minors: bool) -> tuple[Floats, Floats]:
    """The same over positive weights."""
    assert blocks.weights is not None
    totals, through = kernels.small_counts_weighted(*_small(blocks), floats(blocks.weights), minors)
    return totals, through


class SmallBlocks(Protocol):
    """Small blocks one after another (cpp/kernels/small/small.hpp)."""

    @property
    def user_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def behaviour_counts(self) -> npt.NDArray[Any]: ...
    @property
    def row_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def indices(self) -> npt.NDArray[Any]: ...
    @property
    def weights(self) -> Floats | None: ...


def _small(blocks: SmallBlocks) -> tuple[Ints, Ints, Ints, Ints]:
    return (
        ints(blocks.user_offsets),
        ints(blocks.behaviour_counts),
        ints(blocks.row_offsets),
        ints(blocks.indices),
    )


CLASS_SUMS_LARGEST_PRIME: int = kernels.class_sums_largest_prime
CLASS_SUMS_MOST_ROWS: int = kernels.class_sums_most_rows
# Products of residues a second of one core, measured; only predictions depend on them.
CLASS_SUMS_RATE: float = {"avx512": 6.5e9, "avx2": 0.3e9, "portable": 0.3e9}[best_isa.name]


class ClassSums:
    """Linear forms, their powers and the points of a grid, modulo one prime.

    ``weights`` has one row per form, by falling powers ``sizes``, and one column per variable,
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
        _check_range(first, last, self.units, isa)
        return self._sums.count(first, last, isa)

    def minors(self, first: int, last: int, isa: Isa = best_isa) -> Words:
        """The same over a form and times a variable, for all forms and variables."""
        _check_range(first, last, self.units, isa)
        return self._sums.minors(first, last, isa).reshape(self._shape)


def _joined(lists: Sequence[Sequence[int]]) -> Words:
    return np.array([value for values in lists for value in values], dtype=np.uint64)

"""Ryser's sum with cut-offs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Ints, ints, joined_words, words32
from anonymatch._native.extension import kernels

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

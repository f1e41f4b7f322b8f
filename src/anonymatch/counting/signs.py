"""Inclusion-exclusion over signs on one block (Glynn's formula): for dense blocks of up to 40.

n * 2^(n-1) row multiplications whatever the edges are, so the time is known to the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.block import Block
from anonymatch.counting.solution import Chances, Floats, Objects, Solution
from anonymatch.effort import CHUNK_SECONDS, Effort

__all__ = ["applies", "seconds", "solve"]

_MINORS = 6.0  # all minors against one count
_REAL = 2.0  # doubles with their error bound against integers
_LARGEST_ROW = 2**31  # row sums that the kernel takes


def applies(block: Block, bits: float) -> bool:
    """Whether the block has a side of at most 40 and its count fits the kernel's three words."""
    if block.n_behaviours > _native.SIGNS_LARGEST:
        return False
    if not block.exact:
        return True
    if block.weights is not None:
        heaviest = max(np.add.reduceat(block.weights, block.indptr[:-1]))
        if heaviest >= _LARGEST_ROW:
            return False
    return bits + _padding_bits(block) + block.n_behaviours <= 192


def seconds(block: Block, *, edges: bool) -> float:
    """Predicted seconds of one core."""
    n = block.n_behaviours
    steps = n * 2.0 ** (n - 1)
    factor = (_MINORS if edges else 1.0) * (1.0 if block.exact else _REAL)
    return steps / _native.SIGNS_RATE * factor


def solve(block: Block, *, bits: float, effort: Effort) -> Solution:
    """Count and posteriors of ``block``; exact counts stay below 2^bits."""
    if not block.exact:
        return _solve_reals(block, effort)
    n = block.n_behaviours
    matrix = _padded(block).astype(np.uint32)
    words = math.ceil((bits + _padding_bits(block) + n) / 64)
    copies = math.factorial(n - block.n_users)  # orders of the users that padding adds

    def total() -> int:
        call = partial(_native.signs_count, matrix, words)
        value = _signed(_gather(call, n, seconds(block, edges=False), effort), words)
        return (value[0] >> (n - 1)) // copies

    def minors() -> Objects:
        call = partial(_native.signs_minors, matrix, words)
        values = _signed(_gather(call, n, seconds(block, edges=True), effort), words)
        rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
        edges = np.empty(block.n_edges, dtype=object)
        edges[:] = [(values[k] >> (n - 1)) // copies for k in rows * n + block.indices]
        return edges

    return Solution(block, total=total, minors=minors)


def all_minors(block: Block, *, bits: float, effort: Effort) -> Objects:
    """The minors of every pair of a square block, edges or not, as a matrix of Python ints."""
    n = block.n_behaviours
    words = math.ceil((bits + n) / 64)
    call = partial(_native.signs_minors, block.dense().astype(np.uint32), words)
    values = _signed(_gather(call, n, seconds(block, edges=True), effort), words)
    matrix = np.empty((n, n), dtype=object)
    matrix[:] = np.array([value >> (n - 1) for value in values], dtype=object).reshape(n, n)
    return matrix


def _solve_reals(block: Block, effort: Effort) -> Solution:
    """Doubles: terms have both signs, so the error bound comes from the sum of their sizes."""
    n = block.n_behaviours
    matrix = _padded(block).astype(np.float64)
    padding = math.lgamma(n - block.n_users + 1)
    halvings = (n - 1) * math.log(2.0)
    rounding = _native.signs_rounding(n) + 2.0**-40  # the latter for adding up the ranges

    def real() -> tuple[float, float]:
        call = partial(_native.signs_count_double, matrix)
        value, absolute = _gather(call, n, seconds(block, edges=False), effort).tolist()
        relative = rounding * absolute / value if value > 0 else math.inf
        error = -math.log1p(-relative) if relative < 1 else math.inf
        return (math.log(value) if value > 0 else -math.inf) - padding - halvings, error

    def posteriors() -> Chances:
        call = partial(_native.signs_minors_double, matrix)
        gathered = _gather(call, n, seconds(block, edges=True), effort)
        sums, absolute = gathered[: n * n].reshape(n, n), gathered[n * n :]
        through = (sums * matrix)[: block.n_users]
        totals = through.sum(axis=1)
        rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
        chances: Floats = through[rows, block.indices] / totals[rows]
        # Each product is off by rounding * absolute * weight, the sum in the row by n times that.
        wrong = (n + 1) * rounding * absolute[: block.n_users] * matrix[: block.n_users].max(axis=1)
        return chances, float((2 * wrong / totals).max())

    return Solution(block, real=real, posteriors=posteriors)


def _padded(block: Block) -> npt.NDArray[Any]:
    """The block's matrix, made square by users who may have done everything."""
    missing = block.n_behaviours - block.n_users
    matrix = block.dense()
    return np.vstack([matrix, np.ones((missing, block.n_behaviours), dtype=matrix.dtype)])


def _padding_bits(block: Block) -> float:
    return math.lgamma(block.n_behaviours - block.n_users + 1) / math.log(2.0) + 1e-6


def _gather(call: Callable[[int, int], Any], n: int, predicted: float, effort: Effort) -> Any:
    """The sum of ``call(first, last)`` over ranges of units that take about CHUNK_SECONDS."""
    units = _native.signs_units(n)
    number = max(1, min(units, math.ceil(predicted / CHUNK_SECONDS)))
    borders = [units * k // number for k in range(number + 1)]

    def calls() -> Iterator[Callable[[], Any]]:
        for first, last in pairwise(borders):
            yield partial(call, first, last)

    parts = effort.chunks(calls(), each=predicted / number, number=number)
    return _add_up(parts)


def _add_up(parts: Iterator[Any]) -> Any:
    """Entry by entry: float arrays as they are, lists of integers likewise."""
    total = next(parts)
    for part in parts:
        total = total + part
    return total


def _signed(values: Any, words: int) -> list[int]:
    """Two's complement of ``words`` words, from sums that may have run over."""
    modulus = 1 << (64 * words)
    half = modulus >> 1
    return [(int(value) + half) % modulus - half for value in values]

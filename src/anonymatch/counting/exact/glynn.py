"""Inclusion-exclusion over signs on one block (Glynn's formula): for dense blocks of up to 40.

n * 2^(n-1) row multiplications whatever the edges are, so the time is known to the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import (
    Context,
    Objects,
    Option,
    Probabilities,
    Solution,
    shares,
)
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, borders


def offer(block: Block, context: Context, best: float = math.inf) -> Option | None:
    """Sums over all signs; what they cost does not depend on the edges."""
    return offer_below(block_bits(block) if block.exact else 0.0, block, context)


def offer_below(bits: float, block: Block, context: Context) -> Option | None:
    """The same for a block whose exact count is known to stay below 2^bits."""
    if not _applies(block, bits):
        return None
    return Option(
        method="glynn",
        why=f"{block.n_behaviours} * 2^{block.n_behaviours - 1} row products",
        seconds=seconds(block, edges=context.edges, bits=bits),
        memory=2.0**20,
        solve=lambda: _solve(block, bits=bits, effort=context.effort),
        longest=CHUNK_SECONDS,
    )


def _applies(block: Block, bits: float) -> bool:
    """Whether the block has a side of at most 40 and its count fits the kernel's three words."""
    if block.n_behaviours > _native.GLYNN_LARGEST:
        return False
    if not block.exact:
        return True
    if block.weights is not None:
        heaviest = max(np.add.reduceat(block.weights, block.indptr[:-1]))
        if heaviest >= LIMITS.glynn_row:
            return False
    return bits + _padding_bits(block) + block.n_behaviours <= 192


def seconds(block: Block, *, edges: bool, bits: float = math.inf) -> float:
    """Predicted seconds of one core; exact counts are below 2^bits."""
    if edges:
        doubles, integers = _attempts(block)
        return doubles * doubles_seconds(block) + integers * _seconds(block, tuning().glynn_minors)
    if not block.exact:
        return _seconds(block, tuning().glynn_real)
    matrix = _suited(block)
    if _keeps(matrix, block, bits):
        return _seconds(block, tuning().glynn_kept)
    return _seconds(block, tuning().glynn_by_factors[matrix.factors])


def doubles_seconds(block: Block) -> float:
    """Predicted seconds of all minors in doubles."""
    return _seconds(block, tuning().glynn_posteriors)


@lru_cache(maxsize=8)
def _attempts(block: Block) -> tuple[bool, bool]:
    """Whether posteriors are tried in doubles, and whether integers are then expected to be needed.

    The bound on rounding is known before; how large the count is, for the most part, too: as many
    permutations as there are, times the share of them that fits if edges were spread evenly.
    """
    n = block.n_behaviours
    if not block.exact:
        return True, False
    matrix = _padded(block).astype(np.float64)
    chunks = len(_borders(n, doubles_seconds(block))) - 1
    wrong = float(np.max(_native.glynn_minors_errors(matrix, chunks)))
    sums = matrix.sum(axis=1)
    log = math.lgamma(n + 1) + float(np.log(sums / n).sum()) + (n - 1) * math.log(2.0)
    error = LIMITS.glynn_of_edges * wrong / math.exp(min(log, 700.0))
    return error <= LIMITS.glynn_hopeless * LIMITS.glynn_close, error > LIMITS.glynn_close


def _keeps(matrix: _native.GlynnMatrix, block: Block, bits: float) -> bool:
    """Whether the bits of the sum that are faster to find tell a count below 2^bits."""
    return bits + _padding_bits(block) + block.n_behaviours - 1 <= matrix.kept_bits


def _seconds(block: Block, counts: float) -> float:
    n = block.n_behaviours
    return counts * n * 2.0 ** (n - 1) / _native.GLYNN_RATE


def _solve(block: Block, *, bits: float, effort: Execution) -> Solution:
    """Count and posteriors of ``block``; exact counts stay below 2^bits."""
    if not block.exact:
        return _solve_reals(block, effort)
    n = block.n_behaviours
    matrix = _padded(block).astype(np.uint32)
    words = math.ceil((bits + _padding_bits(block) + n) / 64)
    copies = math.factorial(n - block.n_users)  # orders of the users that padding adds

    def total() -> int:
        suited = _suited(block)
        predicted = seconds(block, edges=False, bits=bits)
        if _keeps(suited, block, bits):
            sums = _gather(partial(_count_kept, _shared(suited)), n, predicted, effort)
            return (int(sums[0]) % (1 << suited.kept_bits) >> (n - 1)) // copies
        call = partial(_count, _shared(suited), words)
        value = _signed(_gather(call, n, predicted, effort), words)
        return (value[0] >> (n - 1)) // copies

    def minors() -> Objects:
        call = partial(_minors, _shared(_native.GlynnMatrix(matrix)), words)
        values = _signed(_gather(call, n, _seconds(block, tuning().glynn_minors), effort), words)
        rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
        edges = np.empty(block.n_edges, dtype=object)
        edges[:] = [(values[k] >> (n - 1)) // copies for k in rows * n + block.indices]
        return edges

    def posteriors() -> Probabilities:
        if _attempts(block)[0]:
            probabilities, error = _probabilities(block, matrix.astype(np.float64), effort)
            if error <= LIMITS.glynn_close:
                return probabilities, error
        return shares(block, minors()), 2.0**-50

    return Solution(block, total=total, minors=minors, posteriors=posteriors)


def all_minors(block: Block, *, bits: float, effort: Execution) -> Objects:
    """The minors of every pair of a square block, edges or not, as a matrix of Python ints."""
    n = block.n_behaviours
    words = math.ceil((bits + n) / 64)
    call = partial(_minors, _shared(_native.GlynnMatrix(block.dense().astype(np.uint32))), words)
    values = _signed(_gather(call, n, _seconds(block, tuning().glynn_minors), effort), words)
    matrix = np.empty((n, n), dtype=object)
    matrix[:] = np.array([value >> (n - 1) for value in values], dtype=object).reshape(n, n)
    return matrix


def _solve_reals(block: Block, effort: Execution) -> Solution:
    """Doubles: terms have both signs, so the error bound comes from the sum of their sizes."""
    n = block.n_behaviours
    matrix, shifts = _row_scaled(_padded(block).astype(np.float64))
    padding = math.lgamma(n - block.n_users + 1)
    halvings = (n - 1 - shifts) * math.log(2.0)
    rounding = _native.glynn_rounding(n) + 2.0**-40  # the latter for adding up the ranges

    def real() -> tuple[float, float]:
        call = partial(_count_double, Shared(np.array, matrix, value=matrix))
        value, absolute = _gather(call, n, seconds(block, edges=False), effort).tolist()
        relative = rounding * absolute / value if value > 0 else math.inf
        error = -math.log1p(-relative) if relative < 1 else math.inf
        return (math.log(value) if value > 0 else -math.inf) - padding - halvings, error

    return Solution(block, real=real, posteriors=lambda: _probabilities(block, matrix, effort))


def _probabilities(block: Block, matrix: Floats, effort: Execution) -> Probabilities:
    """The probability of every edge from minors in doubles, and a proven bound on their errors."""
    n = block.n_behaviours
    call = partial(_minors_double, Shared(np.array, matrix, value=matrix))
    predicted = doubles_seconds(block)
    sums = _gather(call, n, predicted, effort).reshape(n, n)[: block.n_users]
    weights = matrix[: block.n_users]
    wrong = _native.glynn_minors_errors(matrix, len(_borders(n, predicted)) - 1)[: block.n_users]
    through = sums * weights
    totals = through.sum(axis=1)
    # With t and T off by w e and W e, W the row's weight: |t/T - t'/T'| <= (w + W t'/T') e / T, T
    # the truth. Where that says nothing, any probability is off by at most 1.
    heavy = weights.sum(axis=1)
    least = totals - heavy * wrong
    known = least > 0
    probabilities = np.divide(through.T, totals, out=np.zeros_like(through.T), where=known).T
    relative = np.divide(wrong, least, out=np.zeros_like(least), where=known)
    errors = (weights + heavy[:, None] * np.abs(probabilities)) * relative[:, None]
    errors[~known] = 1.0
    rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
    at_edges: Floats = probabilities[rows, block.indices].clip(0.0, 1.0)
    rounding = 2.0**-46  # of the operations here
    return at_edges, min(1.0, float(errors[rows, block.indices].max()) * (1 + rounding) + rounding)


def _padded(block: Block) -> npt.NDArray[Any]:
    """The block's matrix, made square by users who may have done everything."""
    missing = block.n_behaviours - block.n_users
    matrix = block.dense()
    return np.vstack([matrix, np.ones((missing, block.n_behaviours), dtype=matrix.dtype)])


def _row_scaled(matrix: Floats) -> tuple[Floats, int]:
    """Rows times powers of two that bring their largest into [1/2, 1), and what that took out.

    Products of rows then stay in range whatever the weights are. What falls below the range of
    doubles on the way is far below the rounding of the sums.
    """
    shifts = np.frexp(matrix.max(axis=1))[1]
    return np.ldexp(matrix, -shifts[:, None]), int(shifts.sum())


@lru_cache(maxsize=8)  # plans ask before counts do
def _suited(block: Block) -> _native.GlynnMatrix:
    """The padded matrix or its transpose: what the kernel counts faster."""
    matrix = _padded(block).astype(np.uint32)
    return min(
        (_native.GlynnMatrix(matrix), _native.GlynnMatrix(np.ascontiguousarray(matrix.T))),
        key=lambda each: (tuning().glynn_by_factors[each.factors], -each.kept_bits),
    )


def _shared(matrix: _native.GlynnMatrix) -> Shared[_native.GlynnMatrix]:
    """Packed here already, and once in every other process that counts with it."""
    return Shared(_native.GlynnMatrix, matrix.entries, value=matrix)


def _padding_bits(block: Block) -> float:
    return math.lgamma(block.n_behaviours - block.n_users + 1) / math.log(2.0) + 1e-6


def _borders(n: int, predicted: float) -> list[int]:
    return borders(_native.glynn_units(n), predicted)


def _gather(call: Callable[[int, int], Any], n: int, predicted: float, effort: Execution) -> Any:
    """The sum of ``call(first, last)`` over ranges of units that take about CHUNK_SECONDS."""
    cuts = _borders(n, predicted)
    number = len(cuts) - 1
    calls = (partial(call, first, last) for first, last in pairwise(cuts))
    return _add_up(effort.chunks(calls, each=predicted / number, number=number))


# Chunks: the matrix is shared, the range is theirs.


def _count(
    matrix: Shared[_native.GlynnMatrix], words: int, first: int, last: int
) -> _native.Integers:
    return matrix.get().count(words, first, last)


def _count_kept(matrix: Shared[_native.GlynnMatrix], first: int, last: int) -> _native.Integers:
    return matrix.get().count_kept(first, last)


def _minors(
    matrix: Shared[_native.GlynnMatrix], words: int, first: int, last: int
) -> _native.Integers:
    return matrix.get().minors(words, first, last)


def _count_double(matrix: Shared[Any], first: int, last: int) -> _native.Floats:
    return _native.glynn_count_double(matrix.get(), first, last)


def _minors_double(matrix: Shared[Any], first: int, last: int) -> _native.Floats:
    return _native.glynn_minors_double(matrix.get(), first, last)


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

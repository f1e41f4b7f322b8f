"""Weights of rank two or three: the count is an inner product of two polynomials.

If w_ij = u_i . v_j with r terms, then the count is the sum over exponents a with |a| = n of
a! [x^a] prod_i (u_i . x) [x^a] prod_j (v_j . x): O(n^r) large integers, whatever their signs.

Whole weights are taken apart exactly. Weights in doubles have their rank only up to rounding: they
are w_ij = u_i . v_j (1 + d) for whole u and v, with |d| held against every weight. All weights are
positive, so the count is off by at most a factor (1 + d)^n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product as tuples

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Objects, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.integers import LN2
from anonymatch.counting.results import log_of
from anonymatch.running import Execution


def offer(block: Block, context: Context, best: float) -> Option | None:
    """By generating polynomials; None unless the block is square, full and of rank two or three."""
    n = block.n_users
    if block.weights is None or block.optional or block.n_edges < n * n or n < 2:
        return None
    if tuning().low_rank_cell * block.n_edges > best / 10:
        return None
    factors = _taken_apart(block)
    if factors is None:
        return None
    seconds = factors.seconds(edges=context.edges)
    counted = _LowRank(factors, context.effort)
    return Option(
        method="low_rank",
        why=f"weights of rank {factors.rank}",
        seconds=seconds,
        memory=factors.memory(edges=context.edges),
        solve=lambda: counted.solution(block),
    )


@dataclass(frozen=True, eq=False)
class _Factors:
    """Whole factors: count = 2^-shift / determinant^n * the sum over exponents * (1 + d)^n."""

    users: Objects  # n rows of r
    behaviours: Objects
    shift: int
    determinant: int
    deviation: float

    @property
    def n(self) -> int:
        return len(self.users)

    @property
    def rank(self) -> int:
        return int(self.users.shape[1])

    @cached_property
    def _bits(self) -> int:
        sides = (self.users, self.behaviours)
        return max(int(x).bit_length() for side in sides for x in side.reshape(-1).tolist()) + 2

    def seconds(self, *, edges: bool) -> float:
        """Of the products of all linear factors; with edges, also of those without each one."""
        n, r = self.n, self.rank
        step = tuning().low_rank_step * (1 + n * self._bits / tuning().low_rank_bits)
        products = 2.0 * r * float(n) ** r / (r - 1) * step
        if not edges:
            return products
        inner = tuning().low_rank_inner * float(n) ** (r + 1)
        return products * (2 + math.log2(n)) + inner

    def memory(self, *, edges: bool) -> float:
        n, r = self.n, self.rank
        cells = (n + 1.0) ** (r - 1) * (40 + n * self._bits / 8)
        return 4 * cells + (2 * n * cells if edges else 0.0)


def _taken_apart(block: Block) -> _Factors | None:
    """Factors of the weights, or None if their rank is none of those."""
    matrix = block.dense()
    rough = matrix.astype(np.float64) if _within_doubles(block) else None
    if rough is None:
        return None
    pivots = _pivots(rough)
    if pivots is None:
        return None
    return _exactly(matrix, *pivots) if block.exact else _nearly(rough, *pivots)


def _within_doubles(block: Block) -> bool:
    assert block.weights is not None
    if not block.exact:
        return True
    return max(int(weight).bit_length() for weight in block.weights) < 1000


def _pivots(matrix: Floats) -> tuple[list[int], list[int]] | None:
    """Rows and columns by complete pivoting; None if what they leave is not next to nothing.

    Every row and column is divided by its largest entry first, so that all of them count alike.
    """
    rest = matrix / matrix.max(axis=1, keepdims=True)
    rest = rest / rest.max(axis=0, keepdims=True)
    rows: list[int] = []
    columns: list[int] = []
    for rank in range(1, max(LIMITS.low_ranks) + 1):
        i, j = divmod(int(np.abs(rest).argmax()), len(rest))
        rows.append(i)
        columns.append(j)
        rest = rest - np.outer(rest[:, j], rest[i]) / rest[i, j]
        if float(np.abs(rest).max()) < tuning().low_rank_rest:
            return (rows, columns) if rank in LIMITS.low_ranks else None
    return None


def _exactly(matrix: Objects, rows: list[int], columns: list[int]) -> _Factors | None:
    """A = C B^-1 R with the chosen columns C, rows R and where they cross, B."""
    crossing = matrix[np.ix_(rows, columns)]
    determinant, adjugate = _adjugate(crossing)
    if determinant == 0:
        return None
    users, behaviours = matrix[:, columns], adjugate.dot(matrix[rows]).T
    if not (users.dot(behaviours.T) == determinant * matrix).all():
        return None
    return _Factors(users, behaviours, 0, determinant, 0.0)


def _adjugate(matrix: Objects) -> tuple[int, Objects]:
    """The determinant of a small matrix, and what is that times its inverse."""
    size = len(matrix)
    result: Objects = np.empty((size, size), dtype=object)
    for i, j in tuples(range(size), repeat=2):
        minor = np.delete(np.delete(matrix, i, axis=0), j, axis=1)
        result[j, i] = (-1) ** (i + j) * _determinant(minor)
    return int(matrix[0].dot(result[:, 0])), result


def _determinant(matrix: Objects) -> int:
    if len(matrix) == 1:
        return int(matrix[0, 0])
    return int(matrix[0, 0] * matrix[1, 1] - matrix[0, 1] * matrix[1, 0])


def _nearly(matrix: Floats, rows: list[int], columns: list[int]) -> _Factors | None:
    """Whole factors next to the weights, and how far at most a weight is from them."""
    users = matrix[:, columns]
    crossing = matrix[np.ix_(rows, columns)]
    behaviours = np.linalg.solve(crossing, matrix[rows]).T.astype(np.float64)
    whole_users, shift_users = _whole(users)
    whole_behaviours, shift_behaviours = _whole(behaviours)
    products = whole_users.dot(whole_behaviours.T)
    shifts = (shift_users[:, None] + shift_behaviours[None, :]).astype(np.int32)
    near = np.ldexp(products.astype(np.float64), -shifts)
    if not (near > 0).all():
        return None
    # The product was rounded once, and so was the quotient.
    deviation = float(np.abs(matrix / near - 1).max()) + 2.0**-51
    if not deviation <= tuning().low_rank_deviation:  # nor if weights leave doubles
        return None
    shift = int(shift_users.sum() + shift_behaviours.sum())
    return _Factors(whole_users, whole_behaviours, shift, 1, deviation)


def _whole(factors: Floats) -> tuple[Objects, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    """Every row times a power of two, rounded; and these powers."""
    _, exponents = np.frexp(np.abs(factors).max(axis=1))
    shifts = LIMITS.low_rank_digits - exponents.astype(np.int64)
    scaled = np.ldexp(factors, shifts[:, None].astype(np.int32))
    whole: Objects = np.array([[int(x) for x in row] for row in np.rint(scaled)], dtype=object)
    return whole, shifts


class _LowRank:
    """The count, minors and probabilities from factors."""

    def __init__(self, factors: _Factors, effort: Execution) -> None:
        self._factors, self._effort = factors, effort

    def solution(self, block: Block) -> Solution:
        deviation, n = self._factors.deviation, block.n_users

        def posteriors() -> Probabilities:
            probabilities, error = self._probabilities(block)
            return probabilities, error + 4 * n * deviation

        if block.exact:
            return Solution(
                block, total=lambda: self._total, minors=self._minors, posteriors=posteriors
            )

        def real() -> tuple[float, float]:
            log, moved = log_of(self._total), self._factors.shift * LN2
            rounding = 2.0**-51 * (abs(log) + abs(moved) + 1.0)
            return log - moved, rounding - n * math.log1p(-deviation)

        return Solution(block, real=real, posteriors=posteriors)

    @cached_property
    def _total(self) -> int:
        factors = self._factors
        by_user, by_behaviour = (_product(side) for side in (factors.users, factors.behaviours))
        weights = _factorials(factors.n, factors.rank)
        total = int((by_user * by_behaviour * weights).sum())
        self._effort.advance(factors.seconds(edges=False))
        divisor: int = factors.determinant**factors.n
        return total // divisor

    @cached_property
    def _all_but_one(self) -> tuple[list[Objects], list[Objects]]:
        """Products of all linear factors but each one, flat; those of behaviours times a!."""
        factors = self._factors
        weights = _factorials(factors.n - 1, factors.rank).reshape(-1)
        users = [one.reshape(-1) for one in _without_each(factors.users)]
        behaviours = [one.reshape(-1) * weights for one in _without_each(factors.behaviours)]
        return users, behaviours

    def _minors(self) -> Objects:
        """In whole numbers: those of C adj(B) R have one factor det B less than its count."""
        users, behaviours = self._all_but_one
        table = np.stack(users).dot(np.stack(behaviours).T)
        divisor = self._factors.determinant ** (self._factors.n - 1)
        return np.array([value // divisor for value in table.flat], dtype=object)

    def _probabilities(self, block: Block) -> Probabilities:
        """Minors in doubles if their sums do not cancel, held against the sums of their sizes."""
        users, behaviours = self._all_but_one
        left, right = _scaled(users, behaviours)
        minors, sizes = left @ right.T, np.abs(left) @ np.abs(right).T
        error = (left.shape[1] + 8) * 2.0**-52
        relative = math.inf
        if (minors != 0).all():
            relative = float((error * sizes / np.abs(minors)).max())
        n, factors = block.n_users, self._factors
        # Weights as the factors have them, rows and columns scaled as in the minors.
        products = factors.users.dot(factors.behaviours.T)
        huge = max(abs(value).bit_length() for value in products.flat) > LIMITS.double_bits
        if (
            relative > LIMITS.low_rank_close or huge
        ):  # too much cancels, or doubles end: exact products
            exact = np.stack(users).dot(np.stack(behaviours).T) * products
            tops = [max(abs(value).bit_length() for value in row) for row in exact]
            through = np.array(
                [
                    [abs(_double(value, top)) for value in row]
                    for row, top in zip(exact, tops, strict=True)
                ]
            )
            relative = 2.0**-50
        else:
            weights = np.array([_double(value, 0) for value in products.flat])
            # One sign for all: that of a power of det B.
            through = np.abs(minors.reshape(n, n) * weights.reshape(n, n))
        probabilities = through / through.sum(axis=1, keepdims=True)
        seconds = self._factors.seconds(edges=True)
        self._effort.advance(seconds)
        return probabilities.reshape(-1), 2.1 * relative + (n + 8) * 2.0**-52


def _double(value: int, shift: int) -> float:
    """The value times 2^-shift, rounded once or twice."""
    drop = max(0, abs(value).bit_length() - 64)
    return math.ldexp(float(value >> drop), drop - shift)


def _scaled(users: list[Objects], behaviours: list[Objects]) -> tuple[Floats, Floats]:
    """Both as doubles: exponents of each column that cancel in products, and one for all."""
    sizes = [
        np.array([max(abs(x).bit_length() for x in column) for column in zip(*side, strict=True)])
        for side in (users, behaviours)
    ]
    top = int((sizes[0] + sizes[1]).max())
    left = [[_double(x, s) for x, s in zip(row, sizes[0].tolist(), strict=True)] for row in users]
    shifts = (top - sizes[0]).tolist()
    right = [[_double(x, s) for x, s in zip(row, shifts, strict=True)] for row in behaviours]
    return np.array(left), np.array(right)


def _times(polynomial: Objects, factor: Objects) -> Objects:
    """Times a linear form; exponents of all variables but the first are the axes."""
    result: Objects = np.zeros([size + 1 for size in polynomial.shape], dtype=object)
    inside = tuple(slice(0, size) for size in polynomial.shape)
    result[inside] += polynomial * factor[0]
    for axis in range(polynomial.ndim):
        moved = tuple(
            slice(1, size + 1) if k == axis else slice(0, size)
            for k, size in enumerate(polynomial.shape)
        )
        result[moved] += polynomial * factor[axis + 1]
    return result


def _one(rank: int) -> Objects:
    return np.ones([1] * (rank - 1), dtype=np.int64).astype(object)


def _product(factors: Objects) -> Objects:
    result = _one(factors.shape[1])
    for factor in factors:
        result = _times(result, factor)
    return result


def _without_each(factors: Objects) -> list[Objects]:
    """The products of all factors but one, for each, by halves."""
    results: list[Objects] = []

    def visit(first: int, last: int, others: Objects) -> None:
        if last - first == 1:
            results.append(others)
            return
        middle = (first + last) // 2
        for begin, end, rest in (
            (first, middle, range(middle, last)),
            (middle, last, range(first, middle)),
        ):
            polynomial = others
            for k in rest:
                polynomial = _times(polynomial, factors[k])
            visit(begin, end, polynomial)

    visit(0, len(factors), _one(factors.shape[1]))
    return results


def _factorials(degree: int, rank: int) -> Objects:
    """Products a! of the exponents a of a form of this degree; 0 where there are none."""
    known = [math.factorial(k) for k in range(degree + 1)]
    result: Objects = np.zeros([degree + 1] * (rank - 1), dtype=object)
    for rest in tuples(range(degree + 1), repeat=rank - 1):
        if sum(rest) <= degree:
            result[rest] = known[degree - sum(rest)] * math.prod(known[k] for k in rest)
    return result

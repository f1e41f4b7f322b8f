"""Weights that are a user's factor times a behaviour's factor: every matching weighs the same.

If w_ij = r_i c_j on the edges of a square block, all its matchings have the weight
prod r * prod c, so the count is that times the number of matchings, and the posteriors are those
without weights. Where behaviours may stay unused the c_j would not cancel: then only
weights that depend on the user alone are taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Objects, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import LIMITS
from anonymatch.counting.integers import product

if TYPE_CHECKING:
    import numpy.typing as npt

    from anonymatch.counting.exact.closed_form import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankOne:
    """The block without weights, and what to multiply its count by.

    Every weight is r_i c_j (1 + d) with |d| <= ``deviation``, proven; 0 for exact weights. So with
    n users the natural log of the count is off by at most ``log_error`` after adding ``log``, and
    a posterior p by at most a factor exp(2 n deviation / (1 - deviation)).
    """

    block: Block
    log: float  # of the product of all factors
    scale: Fraction | None  # the product itself, for exact weights
    deviation: float
    log_error: float

    def option(self, weighted: Block, inner: Option) -> Option:
        """The option for the block with weights, from one for the block without."""
        if not weighted.exact and inner.rounded is not None:
            inner = inner.rounded
        take = inner.take
        return replace(
            inner,
            why=f"{inner.why}; weights of rank one",
            solve=lambda: self._solution(weighted, inner.solve()),
            take=None if take is None else lambda chunk: self._solution(weighted, take(chunk)),
            rounded=None,
        )

    def _solution(self, weighted: Block, inner: Solution) -> Solution:
        if weighted.exact:
            assert self.scale is not None
            assert weighted.weights is not None
            scale, weights = self.scale, weighted.weights

            def minors() -> Objects:
                values = [scale * m / w for m, w in zip(inner.minors, weights, strict=True)]
                return np.array([int(value) for value in values], dtype=object)

            return Solution(
                weighted,
                total=lambda: int(scale * inner.total),
                minors=minors,
                posteriors=lambda: inner.posteriors,
            )

        def real() -> tuple[float, float]:
            log, error = inner.log_and_error
            return log + self.log, error + self.log_error + 2.0**-52 * abs(log)

        def posteriors() -> Probabilities:
            probabilities, error = inner.posteriors
            return probabilities, error + 4 * weighted.n_users * self.deviation

        return Solution(weighted, real=real, posteriors=posteriors)


def rank_one(block: Block, *, ulps: float = LIMITS.rank_one_ulps) -> RankOne | None:
    """Scale away weights that are products of a factor a user and a factor a behaviour.

    Factors are carried along a tree of shortest paths and checked on every edge: exactly for
    integers and fractions, and for floats to within ``ulps`` units of 2^-53 a step of the
    longest path.
    """
    if block.weights is None:
        return None
    plain = Block(block.n_users, block.n_behaviours, block.indptr, block.indices)
    rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
    mantissas, exponents = _split(block.weights)
    steps = _rows_alone(block) if block.optional else _tree(block)
    factors = _Factors(steps, mantissas, exponents, rows, block)
    tolerance = ulps * LIMITS.rounding * factors.longest
    deviation = factors.deviation(rows, block.indices, mantissas, exponents)
    if deviation > (max(tolerance, 2.0**-30) if block.exact else tolerance):
        return None
    scale = None
    if block.exact:
        scale = _exact_scale(steps, rows, block, block.weights)
        if scale is None:
            return None
        deviation = 0.0
    log, rounding = factors.log(behaviours=not block.optional)
    return RankOne(
        block=plain,
        log=log,
        scale=scale,
        deviation=deviation,
        log_error=rounding - block.n_users * math.log1p(-deviation),
    )


Step = tuple[int, int, int]  # known vertex (-1: start from factor 1), new vertex, edge


def _rows_alone(block: Block) -> list[Step]:
    """One step a user, from behaviours whose factors are all 1; users are vertices 0..n-1."""
    starts = block.indptr[:-1].tolist()
    return [(-1, i, edge) for i, edge in enumerate(starts)]


def _tree(block: Block) -> list[Step]:
    """Steps of a tree of shortest paths from user 0; behaviours are vertices n, n+1, ..."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n, c = block.n_users, block.n_behaviours
    indptr = np.concatenate((block.indptr, np.full(c, block.n_edges, dtype=np.int32)))
    ones = np.ones(block.n_edges, dtype=np.float64)
    graph = csr_array((ones, block.indices + np.int32(n), indptr), shape=(n + c, n + c))
    order, parents = breadth_first_order(graph, 0, directed=False)
    new = order[1:].astype(np.int64)
    known = parents[new].astype(np.int64)
    # Edges are sorted by user, then behaviour, so an edge is found by bisection.
    position = np.repeat(np.arange(n, dtype=np.int64), np.diff(block.indptr)) * c + block.indices
    edges = np.searchsorted(position, np.minimum(new, known) * c + np.maximum(new, known) - n)
    return list(zip(known.tolist(), new.tolist(), edges.tolist(), strict=True))


class _Factors:
    """Factors as mantissas in [1/2, 1) and exponents, so that long products do not overflow."""

    def __init__(
        self,
        steps: list[Step],
        mantissas: Floats,
        exponents: Integers,
        rows: Integers,
        block: Block,
    ) -> None:
        self.n = block.n_users
        size = block.n_users + block.n_behaviours
        mantissa, exponent = [0.5] * size, [1] * size
        depth = [0] * size
        frexp = math.frexp
        of_edge, power = mantissas.tolist(), exponents.tolist()
        for known, new, edge in steps:
            if known < 0:
                mantissa[new], exponent[new] = of_edge[edge], power[edge]
                continue
            quotient, shift = frexp(of_edge[edge] / mantissa[known])
            mantissa[new] = quotient
            exponent[new] = power[edge] - exponent[known] + shift
            depth[new] = depth[known] + 1
        self.mantissa, self.exponent = np.array(mantissa), np.array(exponent)
        self.longest = max(depth) + 1

    def deviation(
        self,
        rows: Integers,
        columns: npt.NDArray[np.int32],
        mantissas: Floats,
        exponents: Integers,
    ) -> float:
        """Bound on |w / (r c) - 1| over the edges."""
        shift = exponents - self.exponent[rows] - self.exponent[self.n + columns]
        if np.abs(shift).max() > 4:
            return math.inf
        ratio = mantissas / (self.mantissa[rows] * self.mantissa[self.n + columns])
        off = np.ldexp(ratio, shift.astype(np.int32)) - 1
        # The quotient was rounded twice, and the mantissas of integers once.
        return float(np.abs(off).max()) + 4 * LIMITS.rounding

    def log(self, *, behaviours: bool) -> tuple[float, float]:
        """Log of the product of all factors, and a bound on its rounding error."""
        end = None if behaviours else self.n
        logs = np.log(self.mantissa[:end])
        powers = int(self.exponent[:end].sum())
        total = math.fsum([*logs.tolist(), powers * math.log(2)])
        # One ulp for every logarithm, each at most log 2, and for log 2 itself.
        return total, 2 * LIMITS.rounding * (len(logs) + abs(powers) + abs(total))


def _split(weights: npt.NDArray[Any]) -> tuple[Floats, Integers]:
    """Weights as mantissas and exponents; integers and fractions of any size."""
    if weights.dtype != object:
        mantissas, shifts = np.frexp(weights)
        return mantissas, shifts.astype(np.int64)
    pairs = [_frexp(weight) for weight in weights.tolist()]
    return np.array([m for m, _ in pairs]), np.array([e for _, e in pairs], dtype=np.int64)


def _frexp(weight: int | Fraction) -> tuple[float, int]:
    shift = weight.numerator.bit_length() - weight.denominator.bit_length()
    scaled = Fraction(weight.numerator, weight.denominator) / Fraction(2) ** shift
    mantissa, rest = math.frexp(scaled.numerator / scaled.denominator)
    return mantissa, shift + rest


def _exact_scale(
    steps: list[Step], rows: Integers, block: Block, weights: npt.NDArray[Any]
) -> Fraction | None:
    """Product of all factors if they explain every weight exactly."""
    size = block.n_users + block.n_behaviours
    factors = [Fraction(1)] * size
    for known, new, edge in steps:
        weight = weights[edge]
        factors[new] = Fraction(weight) if known < 0 else weight / factors[known]
    above = np.array([factor.numerator for factor in factors] + [None], dtype=object)[:-1]
    below = np.array([factor.denominator for factor in factors] + [None], dtype=object)[:-1]
    columns = block.n_users + block.indices
    if not np.all(weights * below[rows] * below[columns] == above[rows] * above[columns]):
        return None
    numerators, denominators = above.tolist(), below.tolist()
    return Fraction(product(numerators), product(denominators))

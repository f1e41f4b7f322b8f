"""Bounds from belief propagation: the Bethe permanent is below the count, and not far below.

Belief propagation only proposes a matrix of probabilities. What is proven from it holds for every
doubly stochastic matrix on the edges, so that it need not have converged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymatch import _native
from anonymatch.base.logarithms import log_factorials
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounds.pieces import Floats, Pieces, sums
from anonymatch.counting.bounds.sinkhorn import Square, lower_of_shares
from anonymatch.running import current_token

__all__ = ["BetheBounds", "bethe_bounds"]

_LN2 = math.log(2.0)
_PADDED_EDGES = 20_000_000  # edges up to which spare behaviours get users of their own
_EDGE_SWEEPS = 1e9  # work of belief propagation: edges times sweeps
_EDGE_PASSES = 2e8  # work of the search for prices: edges times passes
_BALANCING = 300  # sweeps
_MANY_EDGES = 100_000  # from which on the first shares that prove something are enough
_SETTLED = 1e-9  # change of prices, relative to the slopes, that further passes are not worth
# How much of an even matrix is mixed in, so that no share drowns in the rounding of the sums.
_EVEN_PARTS = (0.0, 1e-9, 1e-6, 1e-3)
_FEW_EVEN_PARTS = (1e-6, 1e-3)  # where time is short
_ROUNDING = 2.0**-50  # of a sum of shares, a vertex
_SHARES = {1.0: 0.6, 0.5: 0.4}  # of the seconds, by kappa


@dataclass(frozen=True, slots=True, eq=False)
class BetheBounds:
    """Bounds on the log of the count of each block; infinite where nothing is proven."""

    lower: Floats
    upper: Floats  # 2^(n/2) times the Bethe permanent
    fractional: Floats  # the permanent with half the second term: better when little is open


@dataclass(frozen=True, slots=True)
class _Steps:
    """How long each step goes on."""

    sweeps: int  # of belief propagation
    balancing: int  # sweeps
    passes: int  # of the search for prices
    even_parts: tuple[float, ...]
    thorough: bool  # whether it goes on after the first shares that prove something

    @classmethod
    def within(cls, seconds: float, square: Square, apart: float, kappa: float) -> _Steps | None:
        """As much as takes so many predicted seconds; None if they do not reach a first sweep.

        ``apart``: edges once equal users are told apart.
        """
        edges, weighted = square.n_edges, square.log_weights is not None
        sweeps = int(np.clip(_EDGE_SWEEPS / apart, 30, 1000))
        passes = int(np.clip(_EDGE_PASSES / edges, 5, 200))
        thorough = edges <= _MANY_EDGES
        start = apart * (tuning().bethe_start + weighted * tuning().bethe_weights)
        sweep = tuning().bethe_sweep if kappa == 1.0 else tuning().bethe_sweep_half
        going_on = apart * sweep * sweeps
        a_matrix = edges * (tuning().balance_sweep * _BALANCING + tuning().bethe_pass * passes)

        def part(matrices: int) -> float:
            left = seconds - start - matrices * edges * tuning().bethe_proof
            return left / (going_on + matrices * a_matrix)

        if part(len(_EVEN_PARTS) if thorough or weighted else 1) >= 1.0:
            return cls(sweeps, _BALANCING, passes, _EVEN_PARTS, thorough)
        share = min(part(len(_FEW_EVEN_PARTS) if weighted else 1), 1.0)
        if share * sweeps < 1.0:
            return None
        balancing, passes = math.ceil(share * _BALANCING), math.ceil(share * passes)
        return cls(math.ceil(share * sweeps), balancing, passes, _FEW_EVEN_PARTS, thorough=False)


def bethe_bounds(pieces: Pieces, seconds: float = math.inf) -> BetheBounds | None:
    """Bounds of each block, or None for nobody, or if spare behaviours would need too many edges.

    None, too, if so many predicted ``seconds`` are too few for any.

    Lower: as :func:`scaled_bounds`, for Bethe's probabilities. Upper, with
    F(P) = sum P ln(w/P) + k sum (1-P) ln(1-P) over doubly stochastic P on the edges [1]_:
    ln count <= (n/2) ln 2 + max F for k = 1, and ln count <= max F for k = 1/2. F is concave on
    these matrices, so that its tangent at any P bounds the maximum: the tangent's own maximum is
    at most k sum ln(1-P) + sum u + sum v for all prices u of users and v of behaviours with
    u_i + v_j >= ln w - ln P - k ln(1-P) on the edges.

    References
    ----------
    .. [1] Anari, Rezaei. A tight analysis of Bethe approximation for permanent. FOCS 2019.
    """
    square = Square.of(pieces)
    spare = pieces.spare
    apart = len(pieces.rows) + float(spare @ pieces.behaviours)
    if not 0 < apart <= _PADDED_EDGES:
        return None
    works = {k: _Steps.within(s * seconds, square, apart, k) for k, s in _SHARES.items()}
    if not any(works.values()):
        return None
    lower = np.full(pieces.n_blocks, -math.inf)
    tops = []
    for kappa, work in works.items():
        upper = np.full(pieces.n_blocks, math.inf)
        tops.append(upper)
        if work is None:
            continue
        for shares in _mixtures(square, work, kappa):
            if kappa == 1.0:
                lower = np.maximum(lower, lower_of_shares(pieces, square, shares))
            np.minimum(upper, _tangent(pieces, square, shares, kappa, work.passes), out=upper)
            if not work.thorough and np.isfinite(upper).all():
                break
    padding = log_factorials(spare)
    alone = pieces.behaviours == 1  # one user with one behaviour: nothing is open
    doubling = np.where(alone, 0.0, 0.5 * _LN2 * pieces.behaviours)
    return BetheBounds(lower - padding, tops[0] + doubling - padding, tops[1] - padding)


def _marginals(square: Square, kappa: float, sweeps: int) -> Floats:
    """Bethe's probabilities on the edges of ``square``; equal users there are told apart for
    them.
    """
    copies = square.copies.astype(np.int64)
    degrees = np.diff(square.indptr)
    of_row = np.repeat(np.arange(len(copies)), copies)  # the row of each user told apart
    lengths = degrees[of_row]
    ends = np.cumsum(lengths)
    edges = np.repeat(square.indptr[of_row] - (ends - lengths), lengths) + np.arange(ends[-1])
    weights = None
    if square.log_weights is not None:
        logs = square.log_weights
        weights = np.exp(logs - square.spread(np.maximum.reduceat(logs, square.indptr[:-1])))
        weights = np.maximum(weights, 1e-300)[edges]
    block = Block(
        len(of_row),
        square.n_columns,
        np.concatenate(([0], ends)).astype(np.int32),
        square.columns[edges].astype(np.int32),
        weights,
    )
    marginals = _native.propagate_beliefs(
        block, kappa=kappa, sweeps=sweeps, cancel=current_token().byte
    ).marginals
    return sums(edges, marginals, square.n_edges)


def _mixtures(square: Square, work: _Steps, kappa: float) -> Iterator[Floats]:
    """Doubly stochastic shares close to Bethe's probabilities; the closest first."""
    even, _ = square.balanced(np.ones(square.n_edges), work.balancing)
    shares = _marginals(square, kappa, work.sweeps)
    shares = np.where(np.isfinite(shares), shares, even)
    for part in work.even_parts:
        mixed = (1.0 - part) * shares + part * even
        if (mixed > 0.0).all():
            yield square.balanced(mixed, work.balancing)[0]


def _tangent(pieces: Pieces, square: Square, shares: Floats, kappa: float, passes: int) -> Floats:
    """What the tangent at ``shares`` proves about the maximum, for each block."""
    blocks = pieces.n_blocks
    edge_blocks = square.spread(square.row_blocks)
    copies = square.spread(square.copies)
    share = shares / copies
    rest = 1.0 - share
    alone = (pieces.behaviours == 1)[edge_blocks]
    # The nearest matrix whose sums are right is no farther than this in any entry.
    off = (_ROUNDING * (pieces.users + pieces.behaviours))[edge_blocks]
    good = (share > 4.0 * off) & (rest > 4.0 * off)
    proven = np.ones(blocks, dtype=bool)
    proven[edge_blocks[~good & ~alone]] = False
    if not proven.any():
        return np.full(blocks, math.inf)
    share, rest = np.where(good, share, 0.5), np.where(good, rest, 0.5)
    rest_logs = np.where(alone, 0.0, np.log(rest) + 2.0 * off / rest)
    slopes = -np.where(alone, 0.0, np.log(share) - 2.0 * off / share)
    slopes -= kappa * np.where(alone, 0.0, np.log(rest) - 2.0 * off / rest)
    size = np.abs(slopes)
    if square.log_weights is not None:
        slopes += square.log_weights
        size += np.abs(square.log_weights)
    by_row, by_column = _prices(square, slopes + 2.0**-50 * size, shares, passes)
    upper = kappa * sums(edge_blocks, copies * rest_logs, blocks)
    upper += sums(square.row_blocks, square.copies * by_row, blocks)
    upper += sums(pieces.behaviour_blocks, by_column, blocks)
    rounding = sums(square.row_blocks, square.copies * np.abs(by_row), blocks)
    rounding += sums(pieces.behaviour_blocks, np.abs(by_column), blocks)
    rounding += sums(edge_blocks, copies * np.abs(rest_logs), blocks)
    upper += 2.0**-52 * (pieces.users + pieces.behaviours + 64) * (1.0 + rounding)
    return np.where(proven, upper, math.inf)


def _prices(square: Square, slopes: Floats, shares: Floats, passes: int) -> tuple[Floats, Floats]:
    """Prices of rows and columns that together are at least the slope on every edge.

    At the maximum they can be equal to it, so that averages come close; one largest value each
    then makes them enough.
    """
    columns, begins = square.columns, square.indptr[:-1]
    by_column = np.zeros(square.n_columns)
    weights = np.maximum(shares, 1e-12)
    row_sums = np.add.reduceat(weights, begins)
    column_sums = sums(columns, weights, square.n_columns)
    settled = _SETTLED * float(np.abs(slopes).max(initial=0.0))
    for _ in range(passes):
        by_row = np.add.reduceat(weights * (slopes - by_column[columns]), begins) / row_sums
        left = weights * (slopes - square.spread(by_row))
        before, by_column = by_column, sums(columns, left, square.n_columns) / column_sums
        if np.abs(by_column - before).max(initial=0.0) <= settled:
            break
    by_row = np.maximum.reduceat(slopes - by_column[columns], begins)
    by_column = np.full(square.n_columns, -math.inf)
    np.maximum.at(by_column, columns, slopes - square.spread(by_row))
    # Rounded differences may fall short by an ulp of what they came from.
    by_column += 2.0**-51 * (np.abs(by_column) + np.abs(slopes).max(initial=0.0))
    return by_row, by_column

"""Proven bounds on the count, without counting: they always enclose the truth.

Upper: Brègman's theorem and the product of row sums. Lower: Schrijver's theorem for regular
graphs, Marshall Hall's for a smallest degree, and Gurvits' for any doubly stochastic matrix on the
graph's edges, which Sinkhorn's scaling and belief propagation provide; the latter also bounds from
above. Where weights lie so far apart that no such matrix is found, the weight of one matching.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.base.logarithms import log_factorials
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.bounding.degrees import bregman
from anonymatch.counting.bounding.sinkhorn import Ints, Pieces, Square, lower_of_shares, sums
from anonymatch.counting.integers import LN2
from anonymatch.graph import Graph, check_graph, structure
from anonymatch.running import current_token


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Bounds(Summarised):
    """Proven bounds on the natural log of the count; -inf and -inf when it is 0.

    Attributes
    ----------
    upper, lower : float
        The best of each.
    bregman : float
        Brègman's bound of the graph as it is: the better of users and behaviours.
    all : mapping
        Every bound by name; names begin with "upper" or "lower".

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.bounds(am.Graph.from_rows(["1100", "1100", "0011", "0011"]))
    >>> round(math.exp(found.upper), 6), round(math.exp(found.bregman), 6)
    (4.0, 4.0)
    """

    upper: float
    lower: float
    bregman: float
    all: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "all", MappingProxyType(dict(self.all)))

    def __str__(self) -> str:
        low, high = (f"2^{log / LN2:.6g}" for log in (self.lower, self.upper))
        return f"between {low} and {high} matchings"

    def _figures(self) -> Figures:
        return [(name, f"{log / LN2:.6g} bits", "") for name, log in self.all.items()]

    def __reduce__(self) -> tuple[Callable[..., Bounds], tuple[float, float, float, object]]:
        """Pickled with a dict of all bounds: a read-only view of one cannot travel."""
        return _restored, (self.upper, self.lower, self.bregman, dict(self.all))


def _restored(upper: float, lower: float, bregman: float, named: Mapping[str, float]) -> Bounds:
    return Bounds(upper=upper, lower=lower, bregman=bregman, all=named)


def bounds(graph: Graph) -> Bounds:
    """Every proven bound on the count of ``graph``, in natural logs.

    Parameters
    ----------
    graph : Graph

    Examples
    --------
    >>> import anonymatch as am
    >>> b = am.bounds(am.ring(6, 3))
    >>> b.lower < math.log(20) < b.upper, b.upper
    (True, 3.58)
    """
    check_graph(graph)
    by_bound: dict[str, float] = {}
    square = graph.n_users == graph.n_behaviours
    plain = -math.inf
    if not graph.weighted and square:
        by_bound["upper: Bregman, users"] = bregman(graph.degrees)
        by_bound["upper: Bregman, behaviours"] = bregman(graph.behaviour_degrees)
        plain = min(by_bound.values())
    shape = structure(graph)
    if not shape.matched:
        by_bound["upper: no matching"] = -math.inf
        return Bounds(upper=-math.inf, lower=-math.inf, bregman=plain, all=by_bound)
    by_block = _by_name(Pieces.of_graph(graph, shape))
    by_bound |= {name: float(values.sum()) for name, values in by_block.items()}
    low_blocks, high_blocks = _best(by_block)
    by_bound["upper: best of each block"] = float(high_blocks.sum())
    by_bound["lower: best of each block"] = float(low_blocks.sum())
    # Rounding of the sums above; a block with one matching has 0 for both.
    slack = 1e-12 * (float(np.abs(high_blocks).sum()) + 1e-3)
    high = min(value for name, value in by_bound.items() if name.startswith("upper")) + slack
    low = max(value for name, value in by_bound.items() if name.startswith("lower")) - slack
    return Bounds(
        upper=high,
        lower=low,
        bregman=plain if square and not graph.weighted else high,
        all=by_bound,
    )


def block_bounds(block: Block, seconds: float = math.inf) -> tuple[float, float]:
    """Proven lower and upper bound on the natural log of one block's count.

    With few predicted ``seconds`` they are less close, and hold no less.
    """
    low, high = _best(_by_name(Pieces.of_block(block), seconds))
    return float(low.sum()), float(high.sum())


def block_bits(block: Block) -> float:
    """A number b such that the block's count, and every edge's minor, is below 2^b."""
    if block.weights is None:
        log = float(_bregman_of_blocks(Pieces.of_block(block))[0])
        return log / LN2 * (1 + 1e-12) + 1e-6
    rows = np.add.reduceat(block.weights, block.indptr[:-1])
    best = sum(math.log2(value) for value in rows)
    if not block.optional:
        columns = block.transposed()
        assert columns.weights is not None
        others = np.add.reduceat(columns.weights, columns.indptr[:-1])
        best = min(best, sum(math.log2(value) for value in others))
    return best * (1 + 1e-12) + 1e-6


def _best(by_block: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """The best lower and the best upper bound of each block."""
    floors = [values for name, values in by_block.items() if name.startswith("lower")]
    tops = [values for name, values in by_block.items() if name.startswith("upper")]
    return np.maximum.reduce(floors), np.minimum.reduce(tops)


def _by_name(pieces: Pieces, seconds: float = math.inf) -> dict[str, Floats]:
    """Every bound that applies, for each block."""
    # Here, because the face of counting imports this module, and most of its users need no bounds.
    from anonymatch.counting.bounding.bregman import bethe_bounds
    from anonymatch.counting.bounding.sinkhorn import scaled_bounds

    lower, upper = scaled_bounds(pieces, LIMITS.bounds_scaling * seconds)
    values = {
        "lower: doubly stochastic scaling (Gurvits)": lower,
        "upper: doubly stochastic scaling": upper,
    }
    bethe = bethe_bounds(pieces, (1.0 - LIMITS.bounds_scaling) * seconds)
    if bethe is not None:
        values["lower: Bethe"] = bethe.lower
        values["upper: Bethe with 2^(n/2)"] = bethe.upper
        values["upper: fractional Bethe"] = bethe.fractional
    if pieces.log_weights is not None:
        values["upper: sums of weights"] = _sums_of_weights(pieces, pieces.log_weights)
        if not np.isfinite(_best(values)[0]).all():
            values["lower: one matching"] = _one_matching(pieces, pieces.log_weights)
        return values
    return values | {
        "upper: Bregman, blocks": _bregman_of_blocks(pieces),
        "lower: regular blocks (Schrijver)": _schrijver(pieces),
        "lower: smallest degrees (Hall)": _hall(pieces),
    }


def _bregman_of_blocks(pieces: Pieces) -> Floats:
    """Brègman's bound of every block, the best of its forms; also good for its edges' minors.

    With s spare behaviours, adding s users who may have done everything makes the block square and
    multiplies its count by s!; the bound of that square block is divided by s! again.
    """
    blocks, degrees, spare = pieces.n_blocks, pieces.degrees, pieces.spare
    by_user = sums(pieces.user_blocks, log_factorials(degrees) / degrees, blocks)
    behaviours = pieces.behaviours
    padding = spare / behaviours * log_factorials(behaviours) - log_factorials(spare)
    product = sums(pieces.user_blocks, np.log(degrees), blocks)
    grown = pieces.behaviour_degrees + spare[pieces.behaviour_blocks]
    by_behaviour = sums(pieces.behaviour_blocks, log_factorials(grown) / grown, blocks)
    best: Floats = np.minimum.reduce(
        [by_user + padding, by_behaviour - log_factorials(spare), product]
    )
    return best


def _schrijver(pieces: Pieces) -> Floats:
    """k-regular square blocks have at least ((k-1)^(k-1) / k^(k-2))^users matchings [1]_.

    .. [1] Schrijver. Counting 1-factors in regular bipartite graphs. J. Comb. Theory B, 1998.
    """
    low, high = _extremes(pieces.degrees, pieces.user_blocks, pieces.n_blocks)
    low2, high2 = _extremes(pieces.behaviour_degrees, pieces.behaviour_blocks, pieces.n_blocks)
    k: Floats = low.astype(np.float64)
    regular = (low == high) & (low2 == high2) & (low == low2) & (k >= 2)
    each = np.where(regular, (k - 1) * np.log(np.maximum(k - 1, 1)) - (k - 2) * np.log(k), 0.0)
    lower: Floats = pieces.users.astype(np.float64) * each
    return lower


def _hall(pieces: Pieces) -> Floats:
    """If every user has at least k behaviours, k!/max(k-users, 0)! matchings at least [1]_.

    .. [1] M. Hall. Distinct representatives of subsets. Bull. AMS 54, 1948.
    """
    low, _ = _extremes(pieces.degrees, pieces.user_blocks, pieces.n_blocks)
    best = log_factorials(low) - log_factorials(np.maximum(low - pieces.users, 0))
    low2, _ = _extremes(pieces.behaviour_degrees, pieces.behaviour_blocks, pieces.n_blocks)
    lower: Floats = np.where(pieces.spare == 0, np.maximum(best, log_factorials(low2)), best)
    return lower


def _sums_of_weights(pieces: Pieces, log_weights: Floats) -> Floats:
    """The product of the sums of each user's weights, or of each behaviour's."""
    from anonymatch.counting.bounding.sinkhorn import log_sums

    best = None
    for ends, labels in (
        (pieces.rows, pieces.user_blocks),
        (pieces.columns, pieces.behaviour_blocks),
    ):
        logs = log_sums(log_weights, ends, len(labels))
        total = sums(labels, logs, pieces.n_blocks)
        total += 2.0**-48 * sums(labels, 1.0 + np.abs(logs), pieces.n_blocks)
        best = total if best is None else np.where(pieces.spare == 0, np.minimum(best, total), best)
    assert best is not None
    return best


def _one_matching(pieces: Pieces, log_weights: Floats) -> Floats:
    """The weight of a heavy matching of each block: there is one, so the bound is never -inf."""
    shape = len(pieces.user_blocks), len(pieces.behaviour_blocks)
    dense = shape[0] * shape[1] <= LIMITS.heaviest_pairs
    taken = _heaviest(pieces, log_weights, shape) if dense else _any_matching(pieces, shape)
    logs = log_weights[taken[pieces.rows] == pieces.columns]  # one a user, in order
    slack = 2.0**-50 * sums(pieces.user_blocks, 1.0 + np.abs(logs), pieces.n_blocks)
    return sums(pieces.user_blocks, logs, pieces.n_blocks) - pieces.users * slack


def _heaviest(pieces: Pieces, log_weights: Floats, shape: tuple[int, int]) -> Ints:
    """The behaviour of each user in a heaviest matching."""
    from scipy.optimize import linear_sum_assignment

    # One pair that is no edge costs more than all edges together.
    apart = float(np.ptp(log_weights)) + 1.0
    gains = np.full(shape, log_weights.min() - apart * (shape[0] + 1))
    gains[pieces.rows, pieces.columns] = log_weights
    return linear_sum_assignment(gains, maximize=True)[1].astype(np.int64)


def _any_matching(pieces: Pieces, shape: tuple[int, int]) -> Ints:
    """The behaviour of each user in some matching."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    ones = np.ones(len(pieces.rows), dtype=np.int8)
    matrix = csr_array((ones, (pieces.rows, pieces.columns)), shape=shape)
    return maximum_bipartite_matching(matrix, perm_type="column").astype(np.int64)


def _extremes(values: Ints, labels: Ints, n: int) -> tuple[Ints, Ints]:
    """The smallest and the largest value of each label."""
    low = np.full(n, np.iinfo(np.int64).max)
    high = np.zeros(n, np.int64)
    np.minimum.at(low, labels, values)
    np.maximum.at(high, labels, values)
    return low, high


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

        ``apart``: edges if equal users are counted separately.
        """
        edges, weighted = square.n_edges, square.log_weights is not None
        sweeps = int(np.clip(LIMITS.edge_sweeps / apart, 30, 1000))
        passes = int(np.clip(LIMITS.edge_passes / edges, 5, 200))
        thorough = edges <= LIMITS.many_edges
        start = apart * (tuning().bethe_start + weighted * tuning().bethe_weights)
        sweep = tuning().bethe_sweep if kappa == 1.0 else tuning().bethe_sweep_half
        going_on = apart * sweep * sweeps
        a_matrix = edges * (
            tuning().balance_sweep * LIMITS.bethe_balancing + tuning().bethe_pass * passes
        )

        def part(matrices: int) -> float:
            left = seconds - start - matrices * edges * tuning().bethe_proof
            return left / (going_on + matrices * a_matrix)

        if part(len(LIMITS.bethe_even_parts) if thorough or weighted else 1) >= 1.0:
            return cls(sweeps, LIMITS.bethe_balancing, passes, LIMITS.bethe_even_parts, thorough)
        share = min(part(len(LIMITS.few_even_parts) if weighted else 1), 1.0)
        if share * sweeps < 1.0:
            return None
        balancing, passes = math.ceil(share * LIMITS.bethe_balancing), math.ceil(share * passes)
        return cls(
            math.ceil(share * sweeps), balancing, passes, LIMITS.few_even_parts, thorough=False
        )


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
    if not 0 < apart <= LIMITS.padded_edges:
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
    doubling = np.where(alone, 0.0, 0.5 * LN2 * pieces.behaviours)
    return BetheBounds(lower - padding, tops[0] + doubling - padding, tops[1] - padding)


def _marginals(square: Square, kappa: float, sweeps: int) -> Floats:
    """Bethe's probabilities on the edges of ``square``, with equal users told apart."""
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
    off = (LIMITS.share_rounding * (pieces.users + pieces.behaviours))[edge_blocks]
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
    settled = LIMITS.settled * float(np.abs(slopes).max(initial=0.0))
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

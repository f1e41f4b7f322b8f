"""Proven bounds on the count, without counting: they always enclose the truth.

Upper: Brègman's theorem and the product of row sums. Lower: Schrijver's theorem for regular
graphs, Marshall Hall's for a smallest degree, and Gurvits' for any doubly stochastic matrix on the
graph's edges, which Sinkhorn's scaling and belief propagation provide; the latter also bounds from
above. Where weights lie so far apart that no such matrix is found, the weight of one matching.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import wholes
from anonymatch.base.logarithms import log_factorials
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.bounds.pieces import Floats, Ints, Pieces, sums
from anonymatch.graph import Graph, check_graph, structure

__all__ = ["Bounds", "block_bits", "block_bounds", "bounds", "bregman"]

_LN2 = math.log(2.0)
_SCALING = 0.3  # of the seconds; the rest is for belief propagation
_HEAVIEST_PAIRS = 4_000_000  # up to which a heaviest matching is searched; beyond, any will do


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
        low, high = (f"2^{log / _LN2:.6g}" for log in (self.lower, self.upper))
        return f"between {low} and {high} matchings"

    def _figures(self) -> Figures:
        return [(name, f"{log / _LN2:.6g} bits", "") for name, log in self.all.items()]

    def __reduce__(self) -> tuple[Callable[..., Bounds], tuple[float, float, float, object]]:
        """Pickled with a dict of all bounds: a read-only view of one cannot travel."""
        return _restored, (self.upper, self.lower, self.bregman, dict(self.all))


def _restored(upper: float, lower: float, bregman: float, named: Mapping[str, float]) -> Bounds:
    return Bounds(upper=upper, lower=lower, bregman=bregman, all=named)


def bregman(degrees: npt.ArrayLike) -> float:
    """Brègman's bound for square 0/1 graphs with these degrees, as natural log.

    The count is at most the product of (d!)^(1/d); -inf when somebody has no edge.

    References
    ----------
    .. [1] Brègman. Some properties of nonnegative matrices and their permanents. 1973.

    Examples
    --------
    >>> round(math.exp(bregman([3, 3, 3, 3, 3, 3])), 9)
    36.0
    """
    values = wholes(degrees, "degrees").astype(np.float64)
    if (values == 0).any():
        return -math.inf
    return float(np.sum(log_factorials(values) / values))


def bounds(graph: Graph) -> Bounds:
    """Every proven bound on the count of ``graph``, in natural logs.

    Parameters
    ----------
    graph : Graph

    Returns
    -------
    Bounds

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
        return log / _LN2 * (1 + 1e-12) + 1e-6
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
    from anonymatch.counting.bounds.bethe import bethe_bounds
    from anonymatch.counting.bounds.sinkhorn import scaled_bounds

    lower, upper = scaled_bounds(pieces, _SCALING * seconds)
    values = {
        "lower: doubly stochastic scaling (Gurvits)": lower,
        "upper: doubly stochastic scaling": upper,
    }
    bethe = bethe_bounds(pieces, (1.0 - _SCALING) * seconds)
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
    from anonymatch.counting.bounds.sinkhorn import log_sums

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
    dense = shape[0] * shape[1] <= _HEAVIEST_PAIRS
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

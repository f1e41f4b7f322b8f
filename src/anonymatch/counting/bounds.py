"""Proven bounds on the count, without counting: they always enclose the truth.

Upper: Brègman's theorem and the product of row sums. Lower: Schrijver's theorem for regular
graphs, Marshall Hall's for a smallest degree, and Gurvits' for any doubly stochastic matrix on the
graph's edges, which Sinkhorn's scaling provides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from anonymatch import _native
from anonymatch.counting.block import Block
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import Structure, structure

__all__ = ["Bounds", "block_bits", "block_bounds", "bounds", "bregman"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_LN2 = math.log(2.0)
_SWEEPS = 300
_EDGE_SWEEPS = 1e9  # work that bounds may take: edges times sweeps


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
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
    all: Mapping[str, float] = field(default_factory=dict)


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
    values = np.asarray(degrees, dtype=np.float64)
    if (values <= 0).any():
        return -math.inf
    return float(np.sum(gammaln(values + 1) / values))


def bounds(graph: Graph) -> Bounds:
    """Every proven bound on the count of ``graph``, in natural logs.

    Examples
    --------
    >>> import anonymatch as am
    >>> b = am.bounds(am.ring(6, 3))
    >>> b.lower < math.log(20) < b.upper, b.upper
    (True, 3.58)
    """
    found: dict[str, float] = {}
    square = graph.n_users == graph.n_behaviours
    plain = -math.inf
    if not graph.weighted and square:
        found["upper: Bregman, users"] = bregman(graph.degrees)
        found["upper: Bregman, behaviours"] = bregman(graph.behaviour_degrees)
        plain = min(found.values())
    shape = structure(graph)
    if not shape.matched:
        found["upper: no matching"] = -math.inf
        return Bounds(upper=-math.inf, lower=-math.inf, bregman=plain, all=MappingProxyType(found))
    pieces = _Pieces.of(graph, shape)
    by_block = pieces.by_name(weighted=graph.weighted)
    found |= {name: float(values.sum()) for name, values in by_block.items()}
    low_blocks, high_blocks = _best(by_block)
    found["upper: best of each block"] = float(high_blocks.sum())
    found["lower: best of each block"] = float(low_blocks.sum())
    # Rounding of the sums above; a block with one matching has 0 for both.
    slack = 1e-12 * (abs(found["upper: best of each block"]) + 1e-3)
    high = min(value for name, value in found.items() if name.startswith("upper")) + slack
    low = max(value for name, value in found.items() if name.startswith("lower")) - slack
    return Bounds(
        upper=high,
        lower=low,
        bregman=plain if square and not graph.weighted else high,
        all=MappingProxyType(found),
    )


def block_bounds(block: Block) -> tuple[float, float]:
    """Proven lower and upper bound on the natural log of one block's count."""
    rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
    columns = block.indices.astype(np.int64)
    weights = np.ones(len(rows)) if block.weights is None else block.weights.astype(np.float64)
    pieces = _Pieces(
        rows,
        columns,
        weights,
        np.zeros(block.n_users, np.int64),
        np.zeros(block.n_behaviours, np.int64),
        np.diff(block.indptr).astype(np.int64),
        np.bincount(columns, minlength=block.n_behaviours),
        np.array([block.n_users]),
        np.array([block.n_behaviours]),
    )
    low, high = _best(pieces.by_name(weighted=block.weights is not None))
    return float(low.sum()), float(high.sum())


def block_bits(block: Block) -> float:
    """A number b such that the block's count, and every edge's minor, is below 2^b."""
    if block.weights is None:
        log = _rectangle_bregman(block)
        return log / _LN2 * (1 + 1e-12) + 1e-6
    rows = np.add.reduceat(block.weights, block.indptr[:-1])
    best = sum(math.log2(value) for value in rows)
    if not block.optional:
        columns = block.transposed()
        assert columns.weights is not None
        sums = np.add.reduceat(columns.weights, columns.indptr[:-1])
        best = min(best, sum(math.log2(value) for value in sums))
    return best * (1 + 1e-12) + 1e-6


def _best(by_block: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """The best lower and the best upper bound of each block."""
    floors = [values for name, values in by_block.items() if name.startswith("lower")]
    tops = [values for name, values in by_block.items() if name.startswith("upper")]
    return np.maximum.reduce(floors), np.minimum.reduce(tops)


def _rectangle_bregman(block: Block) -> float:
    """Brègman's bound of one block without weights; also good for its edges' minors."""
    degrees = np.diff(block.indptr)
    columns = np.bincount(block.indices, minlength=block.n_behaviours)
    return float(
        _bregman_of_blocks(
            np.zeros(block.n_users, np.int64),
            np.zeros(block.n_behaviours, np.int64),
            degrees,
            columns,
            np.array([block.n_users]),
            np.array([block.n_behaviours]),
        )[0]
    )


def _bregman_of_blocks(
    user_blocks: Ints,
    behaviour_blocks: Ints,
    degrees: npt.NDArray[Any],
    behaviour_degrees: npt.NDArray[Any],
    users: Ints,
    behaviours: Ints,
) -> Floats:
    """Brègman's bound of every block, the best of its forms.

    With s spare behaviours, adding s users who may have done everything makes the block square and
    multiplies its count by s!; the bound of that square block is divided by s! again.
    """
    blocks = len(users)
    by_user = _sum(user_blocks, gammaln(degrees + 1.0) / degrees, blocks)
    spare = behaviours - users
    padding = spare / behaviours * gammaln(behaviours + 1.0) - gammaln(spare + 1.0)
    product = _sum(user_blocks, np.log(degrees), blocks)
    grown = behaviour_degrees + spare[behaviour_blocks]
    by_behaviour = _sum(behaviour_blocks, gammaln(grown + 1.0) / grown, blocks)
    best: Floats = np.minimum.reduce(
        [by_user + padding, by_behaviour - gammaln(spare + 1.0), product]
    )
    return best


def _times(numbers: Ints, values: Floats) -> Floats:
    product: Floats = numbers.astype(np.float64) * values
    return product


def _sum(labels: Ints, values: Floats, n: int) -> Floats:
    return np.bincount(labels, weights=values, minlength=n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """The allowed edges of a graph, with the block of everything."""

    rows: Ints  # user of each allowed edge
    columns: Ints
    weights: Floats
    user_blocks: Ints
    behaviour_blocks: Ints  # of the behaviours that some matching uses
    degrees: Ints
    behaviour_degrees: Ints
    users: Ints  # a block
    behaviours: Ints

    @classmethod
    def of(cls, graph: Graph, shape: Structure) -> _Pieces:
        labels = shape.block_of_behaviour.astype(np.int64)
        used = labels >= 0
        renumbered = np.cumsum(used) - 1
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        allowed = shape.block_of_user[rows] == labels[graph.indices]
        rows = rows[allowed]
        columns = renumbered[graph.indices[allowed]]
        weights = np.ones(len(rows)) if graph.weights is None else graph.weights[allowed]
        user_blocks = shape.block_of_user.astype(np.int64)
        behaviour_blocks = labels[used]
        return cls(
            rows,
            columns,
            weights,
            user_blocks,
            behaviour_blocks,
            np.bincount(rows, minlength=graph.n_users),
            np.bincount(columns, minlength=len(behaviour_blocks)),
            np.bincount(user_blocks, minlength=shape.n_blocks),
            np.bincount(behaviour_blocks, minlength=shape.n_blocks),
        )

    @property
    def n_edges(self) -> int:
        return len(self.rows)

    @property
    def n_blocks(self) -> int:
        return len(self.users)

    @property
    def spare(self) -> Ints:
        return self.behaviours - self.users

    def by_name(self, *, weighted: bool) -> dict[str, Floats]:
        """Every bound that applies, for each block."""
        lower, upper = self.scaled()
        found = {
            "lower: doubly stochastic scaling (Gurvits)": lower,
            "upper: doubly stochastic scaling": upper,
        }
        if weighted:
            return found | {"upper: sums of weights": self.sums()}
        return found | {
            "upper: Bregman, blocks": self.bregman(),
            "lower: regular blocks (Schrijver)": self.schrijver(),
            "lower: smallest degrees (Hall)": self.hall(),
        }

    def bregman(self) -> Floats:
        return _bregman_of_blocks(
            self.user_blocks,
            self.behaviour_blocks,
            self.degrees,
            self.behaviour_degrees,
            self.users,
            self.behaviours,
        )

    def schrijver(self) -> Floats:
        """k-regular square blocks have at least ((k-1)^(k-1) / k^(k-2))^users matchings [1]_.

        .. [1] Schrijver. Counting 1-factors in regular bipartite graphs. J. Comb. Theory B, 1998.
        """
        low, high = self._extremes(self.degrees, self.user_blocks)
        low2, high2 = self._extremes(self.behaviour_degrees, self.behaviour_blocks)
        k: Floats = low.astype(np.float64)
        regular = (low == high) & (low2 == high2) & (low == low2) & (k >= 2)
        each = np.where(regular, (k - 1) * np.log(np.maximum(k - 1, 1)) - (k - 2) * np.log(k), 0.0)
        return _times(self.users, each)

    def hall(self) -> Floats:
        """If every user has at least k behaviours, k!/max(k-users, 0)! matchings at least [1]_.

        .. [1] M. Hall. Distinct representatives of subsets. Bull. AMS 54, 1948.
        """
        low, _ = self._extremes(self.degrees, self.user_blocks)
        best = gammaln(low + 1.0) - gammaln(np.maximum(low - self.users, 0) + 1.0)
        low2, _ = self._extremes(self.behaviour_degrees, self.behaviour_blocks)
        lower: Floats = np.where(self.spare == 0, np.maximum(best, gammaln(low2 + 1.0)), best)
        return lower

    def sums(self) -> Floats:
        by_user = np.log(_sum(self.rows, self.weights, len(self.user_blocks)))
        best = _sum(self.user_blocks, by_user, self.n_blocks)
        by_behaviour = np.log(_sum(self.columns, self.weights, len(self.behaviour_blocks)))
        other = _sum(self.behaviour_blocks, by_behaviour, self.n_blocks)
        return np.where(self.spare == 0, np.minimum(best, other), best)

    def _extremes(self, values: Ints, labels: Ints) -> tuple[Ints, Ints]:
        low = np.full(self.n_blocks, np.iinfo(np.int64).max)
        high = np.zeros(self.n_blocks, np.int64)
        np.minimum.at(low, labels, values)
        np.maximum.at(high, labels, values)
        return low, high

    # ---- bounds from a doubly stochastic matrix

    def scaled(self) -> tuple[Floats, Floats]:
        """Lower and upper bound of each block from its Sinkhorn scaling.

        Lower: for every doubly stochastic P on the edges, with weights w [1]_,
        ln count >= sum P ln(w/P) + sum (1-P) ln(1-P), and
        ln count >= sum P ln(w/P) + sum over columns of ln G(min(rank, degree)),
        G(k) = ((k-1)/k)^(k-1), columns ranked by falling degree. Upper: for every y > 0,
        count <= product of sum_j w_ij y_j over users / product of y. A block with s spare
        behaviours gets s users who may have done everything, one row here, and s! is divided out.

        .. [1] Gurvits. Unleashing the power of Schrijver's permanental inequality. 2011.
        """
        blocks, spare = self.n_blocks, self.spare.astype(np.float64)
        wide = np.flatnonzero(self.spare)  # blocks that get a row more
        extra_row = np.full(blocks, -1)
        extra_row[wide] = len(self.user_blocks) + np.arange(len(wide))
        padded = np.flatnonzero(self.spare[self.behaviour_blocks])  # columns of such blocks
        rows = np.concatenate([self.rows, extra_row[self.behaviour_blocks[padded]]])
        columns = np.concatenate([self.columns, padded])
        weights = np.concatenate([self.weights, np.ones(len(padded))])
        order = np.argsort(rows, kind="stable")
        rows, columns, weights = rows[order], columns[order], weights[order]
        n_rows = len(self.user_blocks) + len(wide)
        copies = np.concatenate([np.ones(len(self.user_blocks)), spare[wide]])
        row_blocks = np.concatenate([self.user_blocks, wide])
        indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows))))
        sweeps = int(np.clip(_EDGE_SWEEPS / max(len(rows), 1), 20, _SWEEPS))
        balanced, shares, logs = _native.doubly_stochastic(
            indptr, columns, weights, copies, len(self.behaviour_blocks),
            sweeps=sweeps, tolerance=1e-12,
        )  # fmt: skip

        padding = gammaln(spare + 1.0)
        factors = np.exp(
            logs - _largest(logs, self.behaviour_blocks, blocks)[self.behaviour_blocks]
        )
        row_sums = np.log(_sum(rows, weights * factors[columns], n_rows))
        upper = _sum(row_blocks, copies * row_sums, blocks) - padding
        upper -= _sum(self.behaviour_blocks, np.log(factors), blocks)
        upper += 1e-12 * (1.0 + np.abs(upper)) * (self.behaviours + 4.0)
        if not balanced:  # some share fell to zero: these lower bounds are not proven then
            return np.full(blocks, -math.inf), upper

        edge_blocks = row_blocks[rows]
        share = np.minimum(shares / copies[rows], 1.0)  # of one of the equal rows
        gain = np.log(weights / share)
        entropy = _sum(edge_blocks, shares * gain, blocks)
        rest = 1.0 - share
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.where(rest > 0, rest * np.log(rest), 0.0) * copies[rows]
        pairs = entropy + _sum(edge_blocks, spread, blocks)
        capacity = entropy + self._column_factors()
        # The sums of P are right up to this much an entry; what that can change is taken off.
        slack = (
            2.0**-50
            * (self.users + self.behaviours)
            * _sum(
                edge_blocks, np.abs(gain) + np.abs(np.log(np.maximum(rest, 2.0**-60))) + 2, blocks
            )
        )
        return np.maximum(pairs, capacity) - padding - slack - 1e-12 * np.abs(entropy), upper

    def _column_factors(self) -> Floats:
        degree = self.behaviour_degrees + self.spare[self.behaviour_blocks]
        order = np.lexsort((-degree, self.behaviour_blocks))
        starts = np.concatenate(([0], np.cumsum(self.behaviours)[:-1]))
        rank = np.arange(len(order)) - starts[self.behaviour_blocks[order]] + 1
        k = np.minimum(rank, degree[order]).astype(np.float64)
        logs = np.where(k > 1, (k - 1) * np.log1p(-1 / np.maximum(k, 2)), 0.0)
        return _sum(self.behaviour_blocks[order], logs, self.n_blocks)


def _largest(values: Floats, labels: Ints, n: int) -> Floats:
    best = np.full(n, -math.inf)
    np.maximum.at(best, labels, values)
    return best

"""Bounds from a doubly stochastic matrix on a graph's edges, which Sinkhorn's scaling provides.

They hold for every such matrix and for all factors of columns, so that the scaling may be rough:
it decides how close the bounds are, never whether they hold. All sums are taken in logs, so that
weights may lie as far apart as doubles do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.base.logarithms import log_factorials
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import log2_sums
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.integers import LN2
from anonymatch.graph import Graph, Structure

Ints = npt.NDArray[np.int64]


def sums(labels: Ints, values: Floats, n: int) -> Floats:
    """The sum of the values of each label."""
    return np.bincount(labels, weights=values, minlength=n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The allowed edges of a graph, by user, with the block of everything."""

    rows: Ints  # user of each allowed edge, rising
    columns: Ints
    log_weights: Floats | None  # natural logs; None: every weight is 1
    user_blocks: Ints
    behaviour_blocks: Ints  # of the behaviours that some matching uses
    degrees: Ints
    behaviour_degrees: Ints
    users: Ints  # a block
    behaviours: Ints

    @classmethod
    def of_graph(cls, graph: Graph, shape: Structure) -> Pieces:
        labels = shape.block_of_behaviour.astype(np.int64)
        used = labels >= 0
        renumbered = np.cumsum(used) - 1
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        allowed = shape.block_of_user[rows] == labels[graph.indices]
        rows = rows[allowed]
        columns = renumbered[graph.indices[allowed]]
        user_blocks = shape.block_of_user.astype(np.int64)
        behaviour_blocks = labels[used]
        return cls(
            rows,
            columns,
            None if graph.weights is None else np.log(graph.weights[allowed]),
            user_blocks,
            behaviour_blocks,
            np.bincount(rows, minlength=graph.n_users),
            np.bincount(columns, minlength=len(behaviour_blocks)),
            np.bincount(user_blocks, minlength=shape.n_blocks),
            np.bincount(behaviour_blocks, minlength=shape.n_blocks),
        )

    @classmethod
    def of_block(cls, block: Block) -> Pieces:
        columns = block.indices.astype(np.int64)
        return cls(
            np.repeat(np.arange(block.n_users), np.diff(block.indptr)),
            columns,
            None if block.weights is None else np.log(block.weights.astype(np.float64)),
            np.zeros(block.n_users, np.int64),
            np.zeros(block.n_behaviours, np.int64),
            np.diff(block.indptr).astype(np.int64),
            np.bincount(columns, minlength=block.n_behaviours),
            np.array([block.n_users]),
            np.array([block.n_behaviours]),
        )

    @property
    def n_blocks(self) -> int:
        return len(self.users)

    @property
    def spare(self) -> Ints:
        return self.behaviours - self.users


_Number = TypeVar("_Number", np.float64, np.int64)


def scaled_bounds(pieces: Pieces, seconds: float = math.inf) -> tuple[Floats, Floats]:
    """Lower and upper bound on the log of the count of each block, from its Sinkhorn scaling.

    Lower: for every doubly stochastic P on the edges, with weights w [1]_,
    ln count >= sum P ln(w/P) + sum (1-P) ln(1-P), and
    ln count >= sum P ln(w/P) + sum over columns of ln G(min(rank, degree)),
    G(k) = ((k-1)/k)^(k-1), columns ranked by falling degree. Upper: for every y > 0,
    count <= product of sum_j w_ij y_j over users / product of y. A block with s spare
    behaviours gets s users who may have done everything, one row here, and s! is divided out.
    Within so many predicted ``seconds``, as far as a few sweeps allow that.

    References
    ----------
    .. [1] Gurvits. Unleashing the power of Schrijver's permanental inequality. 2011.
    """
    square = Square.of(pieces)
    lower = np.full(pieces.n_blocks, -math.inf)
    upper = np.full(pieces.n_blocks, math.inf)
    for shares, column_logs in square.scalings(seconds):
        lower = np.maximum(lower, lower_of_shares(pieces, square, shares))
        upper = np.minimum(upper, _upper(pieces, square, column_logs))
        if (lower > -math.inf).all():
            break
    padding = log_factorials(pieces.spare)
    return lower - padding, upper - padding


def log_sums(logs: Floats, labels: Ints, n: int) -> Floats:
    """Log of the sum of exp(log) for each label, without overflow."""
    sums_of_labels: Floats = LN2 * log2_sums(logs / LN2, labels, n)
    return sums_of_labels


@dataclass(frozen=True, slots=True, eq=False)
class Square:
    """The edges with a row for the spare behaviours of each block, which stands for equal users."""

    indptr: Ints
    rows: Ints
    columns: Ints
    log_weights: Floats | None
    copies: Floats  # users that a row stands for
    row_blocks: Ints
    n_columns: int

    @classmethod
    def of(cls, pieces: Pieces) -> Square:
        rows, columns, log_weights = pieces.rows, pieces.columns, pieces.log_weights
        wide = np.flatnonzero(pieces.spare)  # blocks that get a row more
        n_rows = len(pieces.user_blocks) + len(wide)
        if len(wide):
            extra_row = np.full(pieces.n_blocks, -1)
            extra_row[wide] = len(pieces.user_blocks) + np.arange(len(wide))
            padded = np.flatnonzero(pieces.spare[pieces.behaviour_blocks])
            # Behaviours come in the order of the graph; rows, and so blocks, must rise.
            padded = padded[np.argsort(pieces.behaviour_blocks[padded], kind="stable")]
            rows = np.concatenate([rows, extra_row[pieces.behaviour_blocks[padded]]])
            columns = np.concatenate([columns, padded])
            if log_weights is not None:
                log_weights = np.concatenate([log_weights, np.zeros(len(padded))])
        return cls(
            np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n_rows)))),
            rows,
            columns,
            log_weights,
            np.concatenate([np.ones(len(pieces.user_blocks)), pieces.spare[wide]]),
            np.concatenate([pieces.user_blocks, wide]),
            len(pieces.behaviour_blocks),
        )

    @property
    def n_edges(self) -> int:
        return len(self.rows)

    def spread(self, row_values: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
        """Values of the rows, given to each of their edges."""
        return np.repeat(row_values, np.diff(self.indptr))

    def scalings(self, seconds: float) -> Iterator[tuple[Floats, Floats]]:
        """Ways to scale: a share for each edge, and the log of a factor for each column.

        Shares of a row add up to its copies and shares of a column to 1, unless some are not
        positive. The closest comes first, the one that is sure to be positive last.
        """
        start = np.ones(self.n_edges)
        wide = False
        if self.log_weights is not None:
            tops = np.maximum.reduceat(self.log_weights, self.indptr[:-1])
            logs = self.log_weights - self.spread(tops)
            wide = logs.min(initial=0.0) < -math.log(LIMITS.wide)
            start = start if wide else np.exp(logs)
        if not wide:
            for sweeps in self._sweeps(seconds):
                shares, factors = self.balanced(start, sweeps)
                yield shares, factors
                if tuning().balance_settling * self.n_edges <= seconds:
                    yield self._settled(factors), factors
            return
        assert self.log_weights is not None
        by_row, by_column = self._cooled(seconds / 2)
        close = np.exp(self.log_weights + self.spread(by_row) + by_column[self.columns])
        sweeps = self._sweeps(seconds / 2)[0]
        even, _ = self.balanced(start, sweeps)
        for part in LIMITS.even_parts:
            mixed = (1.0 - part) * close + part * np.maximum(even, 0.0)
            shares, factors = self.balanced(mixed, sweeps)
            yield shares, by_column + factors

    def _sweeps(self, seconds: float) -> list[int]:
        """Sweeps to begin with, and for graphs that they leave unbalanced, if there is room."""
        most = max(seconds / tuning().balance_sweep, LIMITS.least_edge_sweeps)
        first = int(
            np.clip(min(LIMITS.edge_sweeps, most) / max(self.n_edges, 1), 20, LIMITS.sweeps)
        )
        more = min(LIMITS.more_edge_sweeps, most) / max(self.n_edges, 1)
        more = int(np.clip(more, first, LIMITS.more_sweeps))
        return [first, more] if more > 2 * first else [first]

    def balanced(self, start: Floats, sweeps: int) -> tuple[Floats, Floats]:
        """What Sinkhorn's sweeps and a last correction make of these shares."""
        _, shares, factors = _native.sinkhorn_scaling(
            self.indptr.astype(np.int32),
            self.columns.astype(np.int32),
            start,
            self.copies,
            self.n_columns,
            sweeps=sweeps,
            tolerance=1e-12,
        )
        return shares, np.where(np.isfinite(factors), factors, 0.0)

    def _settled(self, factors: Floats) -> Floats:
        """The shares of these factors; what is missing in sums flows along the heaviest edges.

        Along a spanning forest of greatest shares more fits than along any other, so that slow
        sweeps may stop early.
        """
        logs = factors[self.columns]
        if self.log_weights is not None:
            logs += self.log_weights
        logs -= self.spread(np.maximum.reduceat(logs, self.indptr[:-1]))
        shares: Floats = np.exp(np.maximum(logs, LIMITS.not_quite_0))
        shares *= self.spread(self.copies / np.add.reduceat(shares, self.indptr[:-1]))
        shares /= sums(self.columns, shares, self.n_columns)[self.columns]
        missing = np.concatenate(
            (
                self.copies - np.add.reduceat(shares, self.indptr[:-1]),
                1.0 - sums(self.columns, shares, self.n_columns),
            )
        )
        edges, children, parents = self._heaviest_forest(shares)
        flows = missing.tolist()
        for child, parent in zip(
            reversed(children.tolist()), reversed(parents.tolist()), strict=True
        ):
            flows[parent] -= flows[child]
        shares[edges] += np.array(flows)[children]
        return shares

    def _heaviest_forest(self, shares: Floats) -> tuple[Ints, Ints, Ints]:
        """Edges of a spanning forest of greatest shares, with their ends, from the roots on."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import (
            breadth_first_order,
            connected_components,
            minimum_spanning_tree,
        )

        n_rows = len(self.copies)
        n = n_rows + self.n_columns
        costs = 2.0 - shares / self.spread(self.copies)
        graph = coo_array((costs, (self.rows, n_rows + self.columns)), shape=(n, n))
        forest = minimum_spanning_tree(graph.tocsr()).tocoo()
        _, labels = connected_components(forest, directed=False)
        roots = np.unique(labels, return_index=True)[1]
        joined = coo_array(  # one more vertex joins the roots, so that one search finds all
            (
                np.ones(forest.nnz + len(roots)),
                (
                    np.concatenate((forest.row, np.full(len(roots), n))),
                    np.concatenate((forest.col, roots)),
                ),
            ),
            shape=(n + 1, n + 1),
        )
        order, parents = breadth_first_order(joined.tocsr(), n, directed=False)
        children = order[1:][parents[order[1:]] < n]
        parent = parents[children]
        row, column = np.minimum(children, parent), np.maximum(children, parent) - n_rows
        keys = self.rows * self.n_columns + self.columns
        by_key = np.argsort(keys)
        edges = by_key[
            np.searchsorted(keys, row.astype(np.int64) * self.n_columns + column, sorter=by_key)
        ]
        return edges, children.astype(np.int64), parent.astype(np.int64)

    def _cooled(self, seconds: float) -> tuple[Floats, Floats]:
        """Logs of factors of rows and columns that nearly balance weights that lie far apart.

        Plain sweeps would need as many as the weights have orders of magnitude. So the logs are
        divided by a temperature that falls to 1, and each begins where the one before ended.
        """
        assert self.log_weights is not None
        n_rows = len(self.copies)
        by_row, by_column = np.zeros(n_rows), np.zeros(self.n_columns)
        hottest = float(np.ptp(self.log_weights)) / 8.0
        steps = 1 + max(0, math.ceil(math.log(max(hottest, 1.0), LIMITS.cooling)))
        work = min(LIMITS.log_edge_sweeps, seconds / tuning().balance_log_sweep)
        sweeps = int(np.clip(work / (steps * self.n_edges), 2, 40))
        for step in reversed(range(steps)):
            heat = LIMITS.cooling**step
            for _ in range(sweeps):
                logs = (self.log_weights + by_column[self.columns]) / heat
                by_row = heat * (np.log(self.copies) - log_sums(logs, self.rows, n_rows))
                logs = (self.log_weights + self.spread(by_row)) / heat
                by_column = -heat * log_sums(logs, self.columns, self.n_columns)
        return by_row, by_column


def _upper(pieces: Pieces, square: Square, column_logs: Floats) -> Floats:
    terms = column_logs[square.columns]
    if square.log_weights is not None:
        terms += square.log_weights
    tops = np.maximum.reduceat(terms, square.indptr[:-1])
    terms -= square.spread(tops)
    np.exp(terms, out=terms)
    row_logs = (tops + np.log(np.add.reduceat(terms, square.indptr[:-1]))) * square.copies
    blocks = pieces.n_blocks
    upper = sums(square.row_blocks, row_logs, blocks)
    upper -= sums(pieces.behaviour_blocks, column_logs, blocks)
    size = sums(square.row_blocks, np.abs(row_logs), blocks)
    size += sums(pieces.behaviour_blocks, np.abs(column_logs), blocks)
    return upper + 1e-12 * (1.0 + np.abs(upper)) * (pieces.behaviours + 4.0) + 2.0**-48 * size


def lower_of_shares(pieces: Pieces, square: Square, shares: Floats) -> Floats:
    """Lower bound of each square block from shares that :meth:`Square.balanced` gave."""
    blocks = pieces.n_blocks
    edge_blocks = square.spread(square.row_blocks)
    proven = np.ones(blocks, dtype=bool)
    bad = ~((shares > 0.0) & np.isfinite(shares))
    if bad.any():  # the sums of these blocks' shares are not right
        proven[edge_blocks[bad]] = False
        shares = np.where(proven[edge_blocks], shares, 1.0)
    copies = square.spread(square.copies)
    share = np.minimum(shares / copies, 1.0)  # of one of the equal rows
    gain = -np.log(share)
    if square.log_weights is not None:
        gain += square.log_weights
    entropy = sums(edge_blocks, shares * gain, blocks)
    rest = 1.0 - share
    rest_logs = np.log(np.maximum(rest, 2.0**-60))
    pairs = entropy + sums(edge_blocks, rest * rest_logs * copies, blocks)
    capacity = entropy + _column_factors(pieces)
    # The sums of P are right up to this much an entry; what that can change is taken off.
    slack = (
        2.0**-50
        * (pieces.users + pieces.behaviours)
        * sums(edge_blocks, np.abs(gain) + np.abs(rest_logs) + 2, blocks)
    )
    lower = np.maximum(pairs, capacity) - slack - 1e-12 * np.abs(entropy)
    return np.where(proven, lower, -math.inf)


def _column_factors(pieces: Pieces) -> Floats:
    degree = pieces.behaviour_degrees + pieces.spare[pieces.behaviour_blocks]
    order = np.lexsort((-degree, pieces.behaviour_blocks))
    starts = np.concatenate(([0], np.cumsum(pieces.behaviours)[:-1]))
    rank = np.arange(len(order)) - starts[pieces.behaviour_blocks[order]] + 1
    k = np.minimum(rank, degree[order]).astype(np.float64)
    logs = np.where(k > 1, (k - 1) * np.log1p(-1 / np.maximum(k, 2)), 0.0)
    return sums(pieces.behaviour_blocks[order], logs, pieces.n_blocks)

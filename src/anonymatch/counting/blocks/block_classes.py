"""From a graph to the blocks that have to be solved: equal ones once, small ones together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Ints, offsets
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import LIMITS
from anonymatch.graph import BlockTable, Graph, block_table


@dataclass(frozen=True, slots=True, eq=False)
class BlockClass:
    """Blocks that are equal: one to solve, and how many there are."""

    number: int
    copies: int
    block: Block
    scale: Fraction | float  # exact: the count is the block's times this; else its natural log


@dataclass(frozen=True, slots=True, eq=False)
class SmallClasses:
    """Kinds of block with few behaviours, stored one after another for one call of the kernel."""

    numbers: Ints
    copies: Ints
    user_offsets: Ints
    behaviour_counts: Ints
    row_offsets: Ints
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64] | None
    log_scales: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The blocks of a graph that has a perfect matching."""

    graph: Graph
    table: BlockTable
    weights: npt.NDArray[Any] | None  # of the table's edges: whole numbers, scaled doubles, or none
    scales: npt.NDArray[Any]  # a kind: exact factor, or natural log of the factor

    @property
    def n_kinds(self) -> int:
        return len(self.table.class_first)

    @property
    def copies(self) -> Ints:
        return np.bincount(self.table.class_of_block, minlength=self.n_kinds)

    def sizes(self) -> tuple[Ints, Ints, Ints]:
        """Users, behaviours and edges of each kind."""
        first = self.table.class_first
        return (
            np.diff(self.table.user_offsets)[first].astype(np.int64),
            np.diff(self.table.behaviour_offsets)[first].astype(np.int64),
            np.diff(self.table.edge_offsets)[first].astype(np.int64),
        )

    def block(self, number: int) -> Block:
        """The block of a kind, on its own."""
        table, first = self.table, int(self.table.class_first[number])
        begin, end = table.user_offsets[first : first + 2]
        edges = slice(int(table.edge_offsets[first]), int(table.edge_offsets[first + 1]))
        return Block(
            int(end - begin),
            int(table.behaviour_offsets[first + 1] - table.behaviour_offsets[first]),
            table.row_offsets[begin : end + 1] - table.row_offsets[begin],
            table.local_indices[edges],
            None if self.weights is None else self.weights[edges],
        )

    def even(self) -> npt.NDArray[np.bool_]:
        """Kinds whose products of up to twelve weights stay within doubles."""
        even = np.ones(self.n_kinds, dtype=bool)
        if self.weights is not None and self.weights.dtype == np.float64:
            sizes = np.diff(self.table.edge_offsets)
            kinds = np.repeat(self.table.class_of_block, sizes)
            even[kinds[np.abs(np.log2(self.weights)) > LIMITS.even]] = False
        return even

    def kind(self, number: int) -> BlockClass:
        return BlockClass(number, int(self.copies[number]), self.block(number), self.scales[number])

    def small(self, numbers: Ints) -> SmallClasses:
        """Several small kinds in the layout of the kernel."""
        table, first = self.table, self.table.class_first[numbers]
        users = np.diff(table.user_offsets)[first]
        rows = concatenated_ranges(table.user_offsets[first], users)
        degrees = np.diff(table.row_offsets)[rows]
        edges = concatenated_ranges(table.edge_offsets[first], np.diff(table.edge_offsets)[first])
        return SmallClasses(
            numbers,
            self.copies[numbers],
            offsets(users),
            np.diff(table.behaviour_offsets)[first].astype(np.int64),
            offsets(degrees),
            table.local_indices[edges],
            None if self.weights is None else self.weights[edges],
            np.zeros(len(numbers)) if self.weights is None else self.scales[numbers],
        )

    def edges_of(self, number: int) -> Ints:
        """Places in the graph of the edges of all copies: a row a copy, as the block has them."""
        members = np.flatnonzero(self.table.class_of_block == number)
        size = int(np.diff(self.table.edge_offsets)[members[0]])
        positions = self.table.edge_offsets[members][:, None] + np.arange(size)
        edges: Ints = self.table.edges[positions].astype(np.int64)
        return edges


def reduce(graph: Graph, *, exact: bool) -> Reduced:
    """The blocks of ``graph``; with ``exact`` weights become whole numbers, else scaled doubles."""
    table = block_table(graph)
    kinds = len(table.class_first)
    if graph.weights is None:
        return Reduced(graph, table, None, np.array([Fraction(1)] * kinds, dtype=object))
    if exact:
        return Reduced(graph, table, *_whole_weights(graph, table))
    return Reduced(graph, table, *_scaled_weights(graph, table))


def members_of_classes(table: BlockTable) -> list[Ints]:
    """The blocks of each class of equal ones."""
    order = np.argsort(table.class_of_block, kind="stable").astype(np.int64)
    classes = np.arange(len(table.class_first) + 1)
    borders = np.searchsorted(table.class_of_block[order], classes).tolist()
    return [order[begin:end] for begin, end in pairwise(borders)]


def concatenated_ranges(starts: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> Ints:
    """The ranges [start, start + length) one after another."""
    ends = np.cumsum(lengths, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def _whole_weights(graph: Graph, table: BlockTable) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Every row times its common denominator, and what the counts are to be multiplied with."""
    weights = graph.exact_weights
    assert weights is not None
    chosen = weights[table.edges]
    whole = np.empty(len(chosen), dtype=object)
    factors = [Fraction(1)] * len(table.class_first)
    for number, first in enumerate(table.class_first.tolist()):
        for row in range(table.user_offsets[first], table.user_offsets[first + 1]):
            edges = slice(int(table.row_offsets[row]), int(table.row_offsets[row + 1]))
            fractions = [Fraction(weight) for weight in chosen[edges]]
            common = math.lcm(*(f.denominator for f in fractions))
            numerators = [int(f * common) for f in fractions]
            shared = math.gcd(*numerators)
            whole[edges] = [numerator // shared for numerator in numerators]
            factors[number] *= Fraction(shared, common)
    return whole, np.array(factors, dtype=object)


def _scaled_weights(graph: Graph, table: BlockTable) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Weights of the table's edges times powers of two, and the log of what that divided out.

    Sinkhorn's scaling, rounded to powers of two, is exact in doubles and brings every block near
    a doubly stochastic matrix, so that sums of products neither overflow nor underflow. Blocks
    that this would take out of range are left as they are.
    """
    assert graph.weights is not None
    weights = graph.weights[table.edges]
    rows = np.repeat(np.arange(graph.n_users), np.diff(table.row_offsets))
    block_of_row = np.repeat(np.arange(table.n_blocks), np.diff(table.user_offsets))
    block_of_column = np.repeat(np.arange(table.n_blocks), np.diff(table.behaviour_offsets))
    block_of_edge = block_of_row[rows]
    columns = table.behaviour_offsets[block_of_edge] + table.local_indices
    n_columns = len(table.behaviours)
    square = np.diff(table.user_offsets) == np.diff(table.behaviour_offsets)
    used = square[block_of_column]  # a column that may stay unused must not be scaled
    logs = np.log2(weights)
    by_row = np.zeros(graph.n_users)
    by_column = np.zeros(n_columns)
    for _ in range(LIMITS.scaling_sweeps):
        by_row = -log2_sums(logs + by_column[columns], rows, graph.n_users)
        by_column = np.where(used, -log2_sums(logs + by_row[rows], columns, n_columns), 0.0)
    by_row, by_column = np.round(by_row), np.round(by_column)
    shifts = by_row[rows] + by_column[columns]
    fits = np.ones(table.n_blocks, dtype=bool)
    fits[block_of_edge[np.abs(logs + shifts) > LIMITS.scaled_log2]] = False
    scaled = np.where(
        fits[block_of_edge], np.ldexp(weights, np.clip(shifts, -1100, 1100).astype(int)), weights
    )
    taken = np.bincount(block_of_row, by_row, table.n_blocks)
    taken += np.bincount(block_of_column, by_column, table.n_blocks)
    divided = np.where(fits, -math.log(2.0) * taken, 0.0)
    return scaled, divided[table.class_first]


def log2_sums(logs: npt.NDArray[np.float64], labels: Ints, n: int) -> npt.NDArray[np.float64]:
    """log2 of the sum of 2^log for each label, without overflow."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, labels, logs)
    return top + np.log2(np.bincount(labels, np.exp2(logs - top[labels]), n))

"""Ryser's sum on one block, cut off where a user's factor vanishes: sparse, up to 64 users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.running import Execution, Shared, borders

__all__ = ["RyserPlan", "applies", "find_way", "total"]

_PREFIX = 21e-9  # measured seconds of one core, a surviving prefix
_DESCENTS = 300
_MOVES = 2000
_SEED = 1


@dataclass(frozen=True, slots=True, eq=False)
class RyserPlan:
    """An order of behaviours (or of users, transposed), and the prefixes expected to survive."""

    matrix: Any
    order: Any
    prefixes: float

    @property
    def seconds(self) -> float:
        return self.prefixes * _PREFIX


def applies(block: Block, bits: float) -> bool:
    """Whether the block is square, counts fit two words, and rows fit the kernel."""
    if not block.exact or block.optional or bits > 128:
        return False
    if block.n_users > _native.RYSER_LARGEST:
        return False
    return block.weights is None or max(np.add.reduceat(block.weights, block.indptr[:-1])) < 2**31


def find_way(block: Block) -> RyserPlan:
    """The cheaper of the orders found by behaviours and by users."""
    ways = []
    for side in (block, block.transposed()):
        matrix = side.dense().astype(np.uint32)
        order = _native.ryser_order(matrix, moves=_MOVES, seed=_SEED)
        prefixes = _native.ryser_prefixes(matrix, order, descents=_DESCENTS, seed=_SEED)
        ways.append(RyserPlan(matrix, order, prefixes))
    return min(ways, key=lambda way: way.prefixes)


def total(way: RyserPlan, *, bits: float, effort: Execution) -> int:
    """The count, below 2^bits."""
    words = max(1, math.ceil(bits / 64))
    units = _native.ryser_units(len(way.matrix))
    # Units differ in size: many short chunks keep all threads busy to the end.
    cuts = borders(units, way.seconds, finer=4)
    number = len(cuts) - 1
    shared = Shared(_input, way.matrix, way.order)
    calls = (partial(_count, shared, words, first, last) for first, last in pairwise(cuts))
    parts = effort.chunks(calls, each=way.seconds / number, number=number)
    return sum(parts) % (1 << (64 * words))


def _input(matrix: Any, order: Any) -> tuple[Any, Any]:
    return matrix, order


def _count(shared: Shared[tuple[Any, Any]], words: int, first: int, last: int) -> int:
    return _native.ryser_count(*shared.get(), words, first, last)

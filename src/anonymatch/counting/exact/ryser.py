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
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, borders


@dataclass(frozen=True, slots=True, eq=False)
class RyserPlan:
    """An order of behaviours (or of users, transposed), and the prefixes expected to survive."""

    matrix: Any
    order: Any
    prefixes: float

    @property
    def seconds(self) -> float:
        return self.prefixes * tuning().ryser_prefix


def offer(block: Block, context: Context, best: float) -> Option | None:
    """For counts only: posteriors by cut-off sums would cost one count an edge."""
    bits = block_bits(block) if block.exact else 0.0
    if context.edges or not applies(block, bits):
        return None
    plan = find_ordering(block)
    if plan.seconds > best:
        return None
    return Option(
        method="ryser",
        why=f"about {plan.prefixes:.2g} partial sums survive",
        seconds=plan.seconds,
        memory=2.0**20,
        solve=lambda: Solution(block, total=lambda: total(plan, bits=bits, effort=context.effort)),
        longest=CHUNK_SECONDS,
    )


def applies(block: Block, bits: float) -> bool:
    """Whether the block is square, counts fit two words, and rows fit the kernel."""
    if not block.exact or block.optional or bits > 128:
        return False
    if block.n_users > _native.RYSER_LARGEST:
        return False
    return block.weights is None or max(np.add.reduceat(block.weights, block.indptr[:-1])) < 2**31


def find_ordering(block: Block) -> RyserPlan:
    """The cheaper of the orders found by behaviours and by users."""
    plans = []
    for side in (block, block.transposed()):
        matrix = side.dense().astype(np.uint32)
        order = _native.ryser_order(matrix, moves=LIMITS.ryser_moves, seed=LIMITS.ryser_seed)
        prefixes = _native.ryser_prefixes(
            matrix, order, descents=LIMITS.ryser_descents, seed=LIMITS.ryser_seed
        )
        plans.append(RyserPlan(matrix, order, prefixes))
    return min(plans, key=lambda plan: plan.prefixes)


def total(plan: RyserPlan, *, bits: float, effort: Execution) -> int:
    """The count, below 2^bits."""
    words = max(1, math.ceil(bits / 64))
    units = _native.ryser_units(len(plan.matrix))
    # Units differ in size: many short chunks keep all threads busy to the end.
    cuts = borders(units, plan.seconds, finer=4)
    number = len(cuts) - 1
    shared = Shared(_input, plan.matrix, plan.order)
    calls = (partial(_count, shared, words, first, last) for first, last in pairwise(cuts))
    parts = effort.chunks(calls, each=plan.seconds / number, number=number)
    return sum(parts) % (1 << (64 * words))


def _input(matrix: Any, order: Any) -> tuple[Any, Any]:
    return matrix, order


def _count(shared: Shared[tuple[Any, Any]], words: int, first: int, last: int) -> int:
    return _native.ryser_count(*shared.get(), words, first, last)

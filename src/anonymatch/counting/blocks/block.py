"""Block: one irreducible piece of a graph, in indices of its own.

Everything that counts takes a Block; names and the rest of the graph stay outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.tuning import LIMITS, tuning

Indices = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Block:
    """Users and behaviours of one block, as sorted CSR rows.

    Every edge is in some matching that covers all users. A block with as many behaviours as users
    needs every behaviour; one with more behaviours (``optional``) leaves some unused.
    """

    n_users: int
    n_behaviours: int
    indptr: Indices
    indices: Indices
    weights: npt.NDArray[Any] | None = None  # float64, or object array of Python ints; None: all 1

    @property
    def n_edges(self) -> int:
        return len(self.indices)

    @property
    def optional(self) -> bool:
        """Whether some behaviours stay unused in every matching."""
        return self.n_behaviours > self.n_users

    @property
    def exact(self) -> bool:
        """Whether its count is an integer: no weights, or integer weights."""
        return self.weights is None or self.weights.dtype == object

    @property
    def even(self) -> bool:
        """Whether weights over doubles lie close enough together to be multiplied freely."""
        if self.weights is None or self.weights.dtype == object:
            return True
        return bool((np.abs(np.log2(self.weights)) <= LIMITS.even).all())

    def transposed(self) -> Block:
        """The same block with users and behaviours exchanged (square blocks only)."""
        rows = np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.indptr))
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=self.n_behaviours)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        weights = None if self.weights is None else self.weights[order]
        return Block(self.n_behaviours, self.n_users, indptr, rows[order], weights)

    def dense(self) -> npt.NDArray[Any]:
        """The matrix of weights: int64 for 0/1, else the dtype of the weights."""
        dtype = np.int64 if self.weights is None else self.weights.dtype
        matrix = np.zeros((self.n_users, self.n_behaviours), dtype=dtype)
        rows = np.repeat(np.arange(self.n_users), np.diff(self.indptr))
        matrix[rows, self.indices] = 1 if self.weights is None else self.weights
        return matrix


def padded_edges(block: Block) -> int:
    """Edges of the square block that :func:`squared` would make."""
    return block.n_edges + (block.n_behaviours - block.n_users) * block.n_behaviours


def squared(block: Block) -> tuple[Block, float] | None:
    """A square block, and the log of how many times its count is that of ``block``.

    With s spare behaviours, s users who take what the others leave can do so in s! ways. None if
    that would make too many edges. The users and edges of ``block`` come first.
    """
    spare = block.n_behaviours - block.n_users
    if padded_edges(block) > LIMITS.padded_edges:
        return None
    if spare == 0:
        return block, 0.0
    added = np.tile(np.arange(block.n_behaviours, dtype=np.int32), spare)
    ends = block.n_edges + block.n_behaviours * np.arange(1, spare + 1)
    weights = block.weights
    if weights is not None:
        weights = np.concatenate((weights, np.ones(len(added))))
    square = Block(
        block.n_behaviours,
        block.n_behaviours,
        np.concatenate((block.indptr, ends)).astype(np.int32),
        np.concatenate((block.indices, added)),
        weights,
    )
    return square, math.lgamma(spare + 1)


_PLANS: WeakKeyDictionary[Block, _native.FrontierPlan] = WeakKeyDictionary()


def first_look(block: Block) -> _native.FrontierPlan:
    """The best order without a search, and its price; remembered as long as the block lives."""
    plan = _PLANS.get(block)
    if plan is None:
        plan = _PLANS[block] = _native.plan_frontier(block, 0.0)
    return plan


def look_pays(block: Block, seconds: float) -> bool:
    """Whether a first look is a small part of so many seconds, or was taken already."""
    cost = tuning().frontier_look * block.n_edges
    return block in _PLANS or cost <= tuning().look_share * seconds

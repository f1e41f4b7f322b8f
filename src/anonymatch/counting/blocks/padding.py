"""A block with spare behaviours as a square one: users who may have done everything are added."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.counting.blocks.block import Block

__all__ = ["padded_edges", "squared"]

_LARGEST = 20_000_000  # edges


def padded_edges(block: Block) -> int:
    """Edges of the square block that :func:`squared` would make."""
    return block.n_edges + (block.n_behaviours - block.n_users) * block.n_behaviours


def squared(block: Block) -> tuple[Block, float] | None:
    """A square block, and the log of how many times its count is that of ``block``.

    With s spare behaviours, s users who take what the others leave can do so in s! ways. None if
    that would make too many edges. The users and edges of ``block`` come first.
    """
    spare = block.n_behaviours - block.n_users
    if padded_edges(block) > _LARGEST:
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

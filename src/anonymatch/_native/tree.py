"""Tree-like blocks, modulo primes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native.arrays import Floats, Rows, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels
from anonymatch._native.planar import PlanarResidues

TreePlan = kernels.TreePlan


def plan_tree(block: Rows, most: float, cancel: bytearray | None = None) -> TreePlan | None:
    """A tree decomposition of a connected block; None if it takes more than ``most`` products."""
    indptr, indices = ints(block.indptr), ints(block.indices)
    byte = cancel_byte(cancel)
    return kernels.plan_tree(block.n_users, block.n_behaviours, indptr, indices, most, byte)


def run_tree(
    plan: TreePlan,
    primes: Sequence[int],
    weights: Floats | None,
    *,
    edges: bool,
    cancel: bytearray | None,
) -> PlanarResidues:
    """Count, and the counts through all edges, modulo a prime a lane; weights as for planar
    blocks.
    """
    lanes = floats(np.array(primes))
    return plan.run(lanes, floats_or_empty(weights), edges, cancel_byte(cancel))

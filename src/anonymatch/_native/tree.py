"""Tree-like blocks, modulo primes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native.arrays import Floats, Rows, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels
from anonymatch._native.planar import PlanarResidues

TreePlan = kernels.TreePlan
TREE_WIDTH_LIMIT: int = kernels.tree_width_limit


def plan_tree(
    block: Rows, most: float, width: int = TREE_WIDTH_LIMIT, cancel: bytearray | None = None
) -> TreePlan | None:
    """A tree decomposition of a connected block.

    None if it takes more than ``most`` products, or parts that share more than ``width`` vertices.
    """
    sides, rows = (block.n_users, block.n_behaviours), (ints(block.indptr), ints(block.indices))
    return kernels.plan_tree(*sides, *rows, most, width, cancel_byte(cancel))


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

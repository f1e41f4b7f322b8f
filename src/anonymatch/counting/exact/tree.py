"""Tree-like blocks: a programme over a tree decomposition (cpp/kernels/tree/tree.hpp).

Where a block branches, no order of users is narrow, yet few vertices part it everywhere. Sets of
matched vertices of such a part are the state; branches are joined over disjoint sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact.residue_counts import LANES, ResidueCost, offer_residues, residues
from anonymatch.running import byte_of_work, check_work

__all__ = ["TreeProblem", "glance", "offer"]

LEAST_RUNS = 2  # of anything that is worth a plan


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Along a tree decomposition; None if its parts are large."""
    if best < tuning().tree_worth:
        return None
    return _offer_below(tuning().tree_most, _native.TREE_WIDTH_LIMIT, block, context, best)


def glance(block: Block, context: Context, best: float) -> Option | None:
    """The same where it is so cheap that no search for an order of users would pay."""
    vertices = block.n_users + block.n_behaviours
    most, width = tuning().tree_glance * vertices, tuning().tree_glance_width
    return _offer_below(most, width, block, context, best)


def _offer_below(
    most: float, width: int, block: Block, context: Context, best: float
) -> Option | None:
    if tuning().tree_planning * block.n_edges > context.worth(best):
        return None
    most = min(most, best / tuning().tree_step / LEAST_RUNS)
    sides = block.n_users, block.n_behaviours
    tree = TreeProblem(*sides, block.indptr, block.indices, None, most, width)
    if not tree.narrow:
        return None
    plan, edges = tree.plan, block.n_edges * LANES
    count = tuning().tree_step * plan.work
    count += tuning().tree_vertex * (block.n_users + block.n_behaviours)
    weights = tuning().residue_weight * edges if block.weights is not None else 0.0
    cost = ResidueCost(
        count_seconds=count + weights,
        edges_seconds=tuning().tree_edges * count + weights + tuning().residue_fraction * edges,
        memory=float(plan.run_bytes(context.edges)),
    )
    why = f"a tree of parts that share at most {several(plan.width, 'vertex', 'vertices')}"
    return offer_residues("tree", why, block, tree.with_weights, cost, context)


@dataclass(frozen=True, eq=False)
class TreeProblem:
    """A block with whole weights or none, and its tree decomposition."""

    n_users: int
    n_behaviours: int
    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[Any] | None
    most: float  # products beyond which it has none,
    width: int  # and vertices that parts share

    @property
    def recipe(self) -> tuple[Any, ...]:
        sides = self.n_users, self.n_behaviours
        rows = self.indptr, self.indices
        return TreeProblem, *sides, *rows, self.weights, self.most, self.width

    def with_weights(self, weights: npt.NDArray[Any] | None) -> TreeProblem:
        """The same decomposition."""
        sides = self.n_users, self.n_behaviours
        problem = TreeProblem(*sides, self.indptr, self.indices, weights, self.most, self.width)
        problem.__dict__["_plan"] = self._plan
        return problem

    @cached_property
    def _plan(self) -> _native.TreePlan | None:
        return _native.plan_tree(self, self.most, self.width, byte_of_work())

    @property
    def narrow(self) -> bool:
        return self._plan is not None

    @property
    def plan(self) -> _native.TreePlan:
        assert self._plan is not None
        return self._plan

    def run(self, primes: Sequence[int], *, edges: bool) -> _native.PlanarResidues:
        """One pass through the tree, for a prime a lane."""
        weights = residues(self.weights, primes)
        result = _native.run_residues(
            self.plan, primes, weights, edges=edges, cancel=byte_of_work()
        )
        check_work()
        return result

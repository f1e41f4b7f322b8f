"""Planar blocks: graphs that can be drawn in the plane without crossings, as boards can.

With Kasteleyn's signs the count is a determinant, taken modulo many primes by sparse elimination
(cpp/kernels/planar/planar.hpp): polynomial, and exact.
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

__all__ = ["PlanarProblem", "offer"]


def offer(block: Block, context: Context, best: float) -> Option | None:
    """By determinants; None unless the block is square and planar."""
    if block.optional or block.n_edges > max(4 * block.n_users - 4, 1):
        return None
    if tuning().planar_planning * block.n_edges > context.worth(best):
        return None
    drawn = PlanarProblem(block.n_users, block.indptr, block.indices, None)
    if not drawn.planar:
        return None
    plan, weighted = drawn.plan, block.weights is not None
    steps, edges = tuning().planar_step * plan.work, block.n_edges * LANES
    count = steps + tuning().planar_pivot * block.n_users
    count += tuning().residue_weight * edges if weighted else 0.0
    cost = ResidueCost(
        count_seconds=count,
        edges_seconds=count + tuning().planar_inverse * steps + tuning().residue_fraction * edges,
        memory=float(plan.run_bytes(context.edges)),
    )
    why = f"a plane drawing, at most {several(plan.width, 'neighbour')} in elimination"
    return offer_residues("planar", why, block, drawn.with_weights, cost, context)


@dataclass(frozen=True, eq=False)
class PlanarProblem:
    """A square block with whole weights or none, and how it is eliminated."""

    n_users: int
    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[Any] | None

    @property
    def n_behaviours(self) -> int:
        return self.n_users

    @property
    def recipe(self) -> tuple[Any, ...]:
        return PlanarProblem, self.n_users, self.indptr, self.indices, self.weights

    def with_weights(self, weights: npt.NDArray[Any] | None) -> PlanarProblem:
        """The same drawing."""
        problem = PlanarProblem(self.n_users, self.indptr, self.indices, weights)
        problem.__dict__["_plan"] = self._plan
        return problem

    @cached_property
    def _plan(self) -> _native.PlanarPlan | None:
        return _native.plan_planar(self, byte_of_work())

    @property
    def planar(self) -> bool:
        return self._plan is not None

    @property
    def plan(self) -> _native.PlanarPlan:
        assert self._plan is not None
        return self._plan

    def run(self, primes: Sequence[int], *, edges: bool) -> _native.PlanarResidues:
        """One elimination, for a prime a lane."""
        weights = residues(self.weights, primes)
        result = _native.run_residues(
            self.plan, primes, weights, edges=edges, cancel=byte_of_work()
        )
        check_work()
        return result

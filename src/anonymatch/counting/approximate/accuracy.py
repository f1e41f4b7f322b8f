"""A promise for the whole graph, kept by promises for its hard blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from anonymatch.counting.approximate.records import Basis, EdgeEstimate, Estimate
from anonymatch.counting.approximate.tuning import EDGES
from anonymatch.counting.blocks.block import Block, squared
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.running import Budget, Execution


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Within a factor 1 +- epsilon with probability 1 - delta."""

    epsilon: float
    delta: float

    @classmethod
    def of(cls, epsilon: float | None, delta: float | None) -> Accuracy | None:
        """What was asked for; None if nothing was."""
        if epsilon is None and delta is None:
            return None
        return cls(
            EDGES.epsilon if epsilon is None else float(epsilon),
            EDGES.delta if delta is None else float(delta),
        )

    def shared(self, copies: Iterable[int]) -> Accuracy:
        """What each kind of block must keep, so that the product of all copies keeps the whole.

        Factors multiply, so logs are shared out evenly over all copies; probabilities to fail add
        up over the kinds, for equal blocks are drawn once.
        """
        numbers = list(copies)
        blocks = max(sum(numbers), 1)
        above = math.expm1(math.log1p(self.epsilon) / blocks)
        below = -math.expm1(math.log1p(-self.epsilon) / blocks)
        return Accuracy(min(above, below), self.delta / max(len(numbers), 1))

    def approximate(
        self, block: Block, *, seed: int, budget: Budget, effort: Execution
    ) -> Estimate:
        """The block's count, as promised; BudgetError if that costs more than the budget."""
        from anonymatch.counting.approximate.nested_bound import guaranteed

        square = squared(block)
        if square is None:
            raise budget.refusal(
                "a guaranteed count of a block with so many spare behaviours", math.inf, 0.0
            )
        padded, divisor = square
        log, how = guaranteed(
            padded, epsilon=self.epsilon, delta=self.delta, seed=seed, budget=budget, effort=effort
        )
        proven = block_bounds(block)
        # The truth is within what is proven, so a value moved there comes closer to it.
        low, high = max(how.low - divisor, proven[0]), min(how.high - divisor, proven[1])
        if low > high:  # the promise failed, which may happen with probability delta
            low, high = proven
        return Estimate(
            log=min(max(log - divisor, low), high),
            low=low,
            high=high,
            proven=proven,
            method="guaranteed draws",
            basis=Basis.GUARANTEED,
            effective=float(how.draws),
        )

    def approximate_edges(
        self, block: Block, *, seed: int, budget: Budget, effort: Execution
    ) -> EdgeEstimate:
        """Probabilities of the block's edges, all of them within epsilon together (Hoeffding 1963).

        Raises BudgetError if that is predicted to cost more than the budget.
        """
        from anonymatch.counting.approximate.nested_bound import exact_matchings

        size = math.ceil(math.log(2 * block.n_edges / self.delta) / (2 * self.epsilon**2))
        drawn = exact_matchings(block, size, seed=seed, budget=budget, effort=effort)
        users = np.arange(block.n_users)
        positions = np.repeat(users, np.diff(block.indptr)) * block.n_behaviours + block.indices
        counts = np.zeros(block.n_edges)
        for first in range(0, size, EDGES.at_once):
            cells = users * block.n_behaviours + drawn[first : first + EDGES.at_once]
            counts += np.bincount(
                np.searchsorted(positions, cells.ravel()), minlength=block.n_edges
            )
        probabilities = counts / size
        # A rare edge may not have shown yet: it is not certain for that.
        errors = np.sqrt((probabilities * (1.0 - probabilities) + 1.0 / size) / size)
        return EdgeEstimate(probabilities, errors, "exact samples", Basis.GUARANTEED)

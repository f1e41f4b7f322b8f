"""Option: how a block may be solved and at what cost; what a method's ``offer`` returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import Budget, Execution

__all__ = ["Context", "Offer", "Option"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How to solve a block, and its cost."""

    method: str
    why: str
    seconds: float
    memory: float
    solve: Callable[[], Solution]
    longest: float | None = None  # seconds on any number of cores, if it is cut into chunks
    run: partial[Any] | None = None  # the long part, a chunk
    take: Callable[[Any], Solution] | None = None  # what becomes of its result
    rounded: Option | None = None  # for counts: the same over doubles with a proven error


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What all options of one call share."""

    edges: bool  # posteriors are wanted, not only the count
    budget: Budget
    effort: Execution

    def worth(self, best: float) -> float:
        """Seconds that planning may take where the best so far costs so much."""
        return tuning().planning_share * min(best, self.budget.seconds)


Offer = Callable[[Block, Context, float], Option | None]
"""An option for a block, or None; the last argument is what the best so far costs, in seconds."""

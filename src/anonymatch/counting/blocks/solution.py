"""Solution: what a method finds about one block, each part computed when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.results import log_of
from anonymatch.running import Budget, Execution

T = TypeVar("T")
Objects = npt.NDArray[np.object_]
Probabilities = tuple[Floats, float]


class Solution:
    """The count of a block and the probability of each of its edges.

    An exact solution is made of ``total`` and ``minors``: Python ints (``log`` on its own where the
    integer is huge); the minor of an edge is the count of the block without its user and behaviour.
    Others are made of ``real``: the natural log
    of the count and a proven bound on its error. ``posteriors`` are floats, one an edge, and a
    proven bound on their errors.
    """

    def __init__(
        self,
        block: Block,
        *,
        total: Callable[[], int] | None = None,
        log: Callable[[], float] | None = None,
        minors: Callable[[], Objects] | None = None,
        real: Callable[[], tuple[float, float]] | None = None,
        posteriors: Callable[[], Probabilities] | None = None,
        rough: Callable[[], tuple[float, float]] | None = None,
    ) -> None:
        self.block = block
        self.exact = total is not None
        self._total, self._log, self._minors = total, log, minors
        self._real, self._posteriors, self._rough = real, posteriors, rough

    def recorded(self, what: tuple[object, ...], seconds: float, effort: Execution) -> Solution:
        """The same, with every part recorded when it is there; ``what`` names how it is found."""

        def recorded_part(
            part: str, kind: Any, compute: Callable[[], T] | None
        ) -> Callable[[], T] | None:
            if compute is None:
                return None
            return partial(effort.once, (part, *what, self.block), kind, seconds, compute)

        return Solution(
            self.block,
            total=recorded_part("count of a block", int, self._total),
            log=self._log,
            minors=recorded_part("minors of a block", Objects, self._minors),
            real=recorded_part("count of a block over doubles", tuple[float, float], self._real),
            posteriors=recorded_part("probabilities of a block", Probabilities, self._posteriors),
            rough=self._rough,
        )

    @cached_property
    def total(self) -> int:
        """The count of an exact solution."""
        assert self._total is not None
        return self._total()

    @cached_property
    def minors(self) -> Objects:
        """For every edge of an exact solution, the count without its user and behaviour."""
        assert self._minors is not None
        return self._minors()

    @cached_property
    def log_and_error(self) -> tuple[float, float]:
        """Natural log of the count, and how far at most the truth is from it (0: exact)."""
        if self._real is not None:
            return self._real()
        if self._log is not None:  # without building the integer
            return self._log(), 0.0
        return log_of(self.total), 0.0

    @cached_property
    def rough_log(self) -> tuple[float, float]:
        """The same over doubles, where that is cheaper than the integer: many digits are dear."""
        return self.log_and_error if self._rough is None else self._rough()

    @cached_property
    def posteriors(self) -> Probabilities:
        """The probability of every edge, and a bound on the error of each."""
        if self._posteriors is not None:
            return self._posteriors()
        return shares(self.block, self.minors), 2.0**-50


def shares(block: Block, minors: Objects) -> Floats:
    """Probabilities of the edges from their minors: weight times minor, over the sum in its row.

    Integers of any size are scaled down together first, so that none overflows a double.
    """
    through = minors if block.weights is None else minors * block.weights
    largest = max(through, default=0)
    shift = max(0, int(largest).bit_length() - 1000)
    scaled = np.array([float(value >> shift) for value in through], dtype=np.float64)
    sums = np.add.reduceat(scaled, block.indptr[:-1])
    probabilities: Floats = scaled / np.repeat(sums, np.diff(block.indptr))
    return probabilities


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
    take: Callable[[Any], Solution] | None = None  # turns its result into a solution
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

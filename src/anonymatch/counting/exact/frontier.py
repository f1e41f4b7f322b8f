"""The frontier programme on one block: users in turn, remembering which open behaviours are used.

Its cost follows from the width of the order of users, known before it runs. It suits sparse and
banded blocks: mix logs by time, overlapping sets, few candidates a user.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Floats, Objects, Probabilities, Solution
from anonymatch.counting.exact.frontier_parts import (
    ABREAST,
    Parts,
    Real,
    per_transition,
    split,
    words_job,
)
from anonymatch.counting.integers import combine, words_for
from anonymatch.running import CHUNK_SECONDS, Budget, Execution

__all__ = [
    "FrontierPlan",
    "far_from_narrow",
    "find_way",
    "proven_bits",
    "sample",
    "solve",
    "words_for",
]

Values = TypeVar("Values", Floats, Objects)

_LITTLE = 0.01  # search effort where the first orders are too wide
_WORTH = 30.0  # predicted seconds that a search of full effort is fit for
_SPLIT_FROM = 4.0  # predicted seconds from which parts run side by side
_PART = 3e-4  # seconds that a part takes besides
_HOPELESS = 4 * _native.FRONTIER_WIDTH_LIMIT
_FAR_FROM_NARROW = 16 * _native.FRONTIER_WIDTH_LIMIT  # contraction narrows no order that much
_LARGEST_DOUBLE = 1023  # bits
_GROWTH = 1.5  # of the arrays that hold layers
_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False)
class FrontierPlan:
    """An order for a block, or for the block with its sides exchanged, and its price."""

    block: Block
    transposed: bool
    plan: _native.FrontierPlan
    parts: Parts | None = None  # instead of one run

    @property
    def feasible(self) -> bool:
        return bool(self.plan.feasible)

    def seconds(self, words: int, *, edges: bool) -> float:
        each = per_transition(words, edges=edges)
        if self.parts is None:
            return float(self.plan.transitions * each)
        return sum(self.parts.transitions) * each + len(self.parts.kept) * _PART

    def longest(self, words: int, *, edges: bool) -> float | None:
        """Seconds of the longest part."""
        if self.parts is None:
            return None
        return max(self.parts.transitions) * per_transition(words, edges=edges) + _PART

    def memory(self, words: int, *, edges: bool, limit: float = 0.0) -> float:
        """Bytes at least; for edges, as many layers are kept as a ``limit`` of bytes allows."""
        plan = self.plan
        whole = float(plan.count_bytes(words))
        if edges:
            whole = max(plan.least_edge_bytes(words), min(_GROWTH * plan.edge_bytes(words), limit))
        if self.parts is None:
            return whole
        abreast = min(len(self.parts.kept), ABREAST)
        return whole * abreast * self.parts.peak_states / plan.peak_states

    def within(self, budget: Budget, words: int, *, edges: bool) -> FrontierPlan:
        """The same in parts where one run would be long, or take more memory than there is."""
        seconds, needed = self.seconds(words, edges=edges), self.memory(words, edges=edges)
        if self.block.optional or (seconds <= _SPLIT_FROM and needed <= budget.memory):
            return self
        parts = split(
            self.block,
            self.plan,
            seconds=seconds,
            share=budget.memory / ABREAST / needed,
            reached=seconds <= budget.seconds,
        )
        return self if len(parts.kept) == 1 else replace(self, parts=parts)


def find_way(block: Block, rival: float = math.inf) -> FrontierPlan:
    """The cheaper of the orders found by users and by behaviours.

    The search takes some percent of the predicted run, or of ``rival``: the seconds that another
    method would take; and never more than a few seconds.
    """
    sides = [(block, False)]
    if not block.optional:
        sides.append((block.transposed(), True))
    ways = []
    for side, transposed in sides:
        way = FrontierPlan(side, transposed, _native.plan_frontier(side, 0.0))
        if way.plan.width > _HOPELESS:
            return way  # no search and no exchange of sides narrows an order that much
        predicted = way.seconds(1, edges=False)
        effort = min(1.0, min(rival, _WORTH) / predicted) if predicted < math.inf else _LITTLE
        ways.append(FrontierPlan(side, transposed, _native.plan_frontier(side, effort)))
    return min(ways, key=lambda way: (not way.feasible, way.plan.transitions))


def far_from_narrow(block: Block) -> bool:
    """Whether the block is so wide that it stays too wide, also after contraction."""
    width: int = _native.plan_frontier(block, 0.0).width
    return width > _FAR_FROM_NARROW


def solve(
    way: FrontierPlan, block: Block, *, bits: float, memory: float, effort: Execution
) -> Solution:
    """Count and posteriors of ``block`` along ``way``; counts stay below 2^bits when exact."""
    if block.exact:
        words = words_for(bits)

        def total() -> int:
            return _exact(way, words, edges=False, memory=memory, effort=effort)[0]

        def minors() -> Objects:
            values: Objects = np.empty(block.n_edges, dtype=object)
            values[:] = _exact(way, words, edges=True, memory=memory, effort=effort)
            return _back(way, values)

        if block.weights is not None:
            return Solution(block, total=total, minors=minors)
        return Solution(
            block,
            total=total,
            minors=minors,
            posteriors=lambda: _posteriors(way, memory, effort),
        )

    def real() -> tuple[float, float]:
        found = _real(way, way.block, edges=False, memory=memory, effort=effort)
        return math.log(found.mantissa) + found.exponent * _LN2, _rounding(way)

    return Solution(
        block,
        real=real,
        posteriors=lambda: _posteriors(way, memory, effort),
    )


def proven_bits(way: FrontierPlan, effort: Execution) -> float:
    """A sharp bound on log2 of the count, from one run over doubles with its proven error."""
    block = way.block
    if block.weights is not None and max(block.weights).bit_length() > _LARGEST_DOUBLE:
        effort.advance(way.seconds(1, edges=False))
        return math.inf
    weights = None if block.weights is None else block.weights.astype(np.float64)
    doubles = replace(block, weights=weights)
    found = _real(way, doubles, edges=False, memory=math.inf, effort=effort)
    return found.exponent + 1 + 2 * _rounding(way)


def sample(
    way: FrontierPlan, block: Block, *, size: int, seed: int, memory: float, effort: Execution
) -> npt.NDArray[np.int32]:
    """``size`` matchings, each a row: the behaviour of every user."""
    job = _native.frontier_sampler(way.block, way.plan.order, size=size, seed=seed, memory=memory)
    _run(job, way.seconds(1, edges=True), 1, effort)
    rows = job.samples().reshape(size, block.n_users)
    if not way.transposed:
        return rows
    matchings = np.empty_like(rows)  # rows hold the user of each behaviour: invert them
    np.put_along_axis(matchings, rows, np.arange(block.n_users, dtype=rows.dtype)[None, :], axis=1)
    return matchings


def _exact(
    way: FrontierPlan, words: int, *, edges: bool, memory: float, effort: Execution
) -> list[int]:
    order = way.plan.order
    if way.parts is not None:
        return way.parts.exact(
            way.block, order, words=words, edges=edges, memory=memory, effort=effort
        )
    job = words_job(way.block, order, words, edges=edges, memory=memory)
    _run(job, way.seconds(words, edges=edges), words, effort)
    return combine(job.edge_words() if edges else job.count_words(), words)


def _real(
    way: FrontierPlan, block: Block, *, edges: bool, memory: float, effort: Execution
) -> Real:
    order = way.plan.order
    if way.parts is not None:
        return way.parts.real(block, order, edges=edges, memory=memory, effort=effort)
    job = _native.frontier_reals(block, order, edges=edges, memory=memory)
    _run(job, way.seconds(1, edges=edges), 1, effort)
    return Real(*job.count_real(), job.posteriors() if edges else None)


def _posteriors(way: FrontierPlan, memory: float, effort: Execution) -> Probabilities:
    found = _real(way, way.block, edges=True, memory=memory, effort=effort)
    assert found.probabilities is not None
    return _back(way, found.probabilities), _rounding(way)


def _back(way: FrontierPlan, values: Values) -> Values:
    """Values of the way's edges in the order of the original block's edges."""
    if not way.transposed:
        return values
    back = np.empty_like(values)
    back[_transposition(way.block)] = values
    return back


def _transposition(block: Block) -> npt.NDArray[np.int64]:
    """For each edge of a transposed block, its place in the original."""
    place = np.empty(block.n_edges, dtype=np.int64)
    place[np.argsort(block.indices, kind="stable")] = np.arange(block.n_edges)
    return place


def _run(job: _native.Frontier, seconds: float, words: int, effort: Execution) -> None:
    """Run to the end in calls of about CHUNK_SECONDS.

    Predictions are upper bounds, so what is left at the end is told at once.
    """
    each = per_transition(words, edges=False)
    told = 0.0
    while not job.run(CHUNK_SECONDS / each):
        done = min(job.transitions_done * each, seconds)
        effort.advance(done - told)
        told = done
    effort.advance(seconds - told)


def _rounding(way: FrontierPlan) -> float:
    """Proven relative error of the programme over doubles (cpp/kernels/frontier/frontier.hpp).

    Of parts: their probabilities and their counts are rounded, and so are two sums of as many
    terms.
    """
    one = 2.1 * (way.block.n_edges + 1100) * 2.0**-53
    return one if way.parts is None else 2 * one + 2.1 * len(way.parts.kept) * 2.0**-53

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
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.first_look import first_look
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.solution import Floats, Objects, Probabilities, Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounds.bregman import block_bits
from anonymatch.counting.exact.frontier_parts import (
    Parts,
    Real,
    per_transition,
    split,
    words_job,
)
from anonymatch.counting.integers import combine, words_for
from anonymatch.running import CHUNK_SECONDS, Budget, Execution

__all__ = [
    "FrontierOrdering",
    "far_from_narrow",
    "find_ordering",
    "offer",
    "offer_along",
    "proven_bits",
    "sample",
    "solve",
    "words_for",
]

Values = TypeVar("Values", Floats, Objects)

_LARGEST_DOUBLE = 1023  # bits
_LN2 = math.log(2.0)


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Along the best ordering that a search finds, if it is narrow enough."""
    ordering = find_ordering(block, min(best, context.budget.seconds))
    if not ordering.feasible:
        return None
    bits = block_bits(block) if block.exact else 64.0
    return offer_along(ordering, block, bits, context, best)


def offer_along(
    ordering: FrontierOrdering, block: Block, bits: float, context: Context, best: float
) -> Option:
    """Along a known ordering; an exact count stays below 2^bits."""
    exact_words = words_for(bits)
    words = 1 if context.edges and block.weights is None else exact_words
    if ordering.seconds(words, edges=context.edges) <= best:
        ordering = ordering.within(context.budget, words, edges=context.edges)
    seconds = ordering.seconds(words, edges=context.edges)
    in_parts = f", in {len(ordering.parts.masks)} parts" if ordering.parts else ""
    sharpen = exact_words > tuning().frontier_sharpen_from
    if sharpen and words > 1:
        seconds += ordering.seconds(1, edges=False)

    def solved() -> Solution:
        proven = bits
        if sharpen and words > 1:
            proven = min(bits, proven_bits(ordering, context.effort))
        memory = context.budget.memory
        return solve(ordering, block, bits=proven, memory=memory, effort=context.effort)

    limit = context.budget.memory if ordering.parts is None else 0.0  # parts share their layers
    return Option(
        method="frontier",
        why=f"at most {several(ordering.plan.width, 'open behaviour')} at once{in_parts}",
        seconds=seconds,
        memory=ordering.memory(words, edges=context.edges, limit=limit),
        solve=solved,
        longest=ordering.longest(words, edges=context.edges),
    )


@dataclass(frozen=True, slots=True, eq=False)
class FrontierOrdering:
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
        return sum(self.parts.transitions) * each + len(self.parts.masks) * tuning().frontier_part

    def longest(self, words: int, *, edges: bool) -> float | None:
        """Seconds of the longest part."""
        if self.parts is None:
            return None
        return (
            max(self.parts.transitions) * per_transition(words, edges=edges)
            + tuning().frontier_part
        )

    def memory(self, words: int, *, edges: bool, limit: float = 0.0) -> float:
        """Bytes at least; for edges, as many layers are kept as a ``limit`` of bytes allows."""
        plan = self.plan
        whole = float(plan.count_bytes(words))
        if edges:
            whole = max(
                plan.least_edge_bytes(words),
                min(tuning().frontier_growth * plan.edge_bytes(words), limit),
            )
        if self.parts is None:
            return whole
        abreast = min(len(self.parts.masks), tuning().frontier_abreast)
        return whole * abreast * self.parts.peak_states / plan.peak_states

    def within(self, budget: Budget, words: int, *, edges: bool) -> FrontierOrdering:
        """The same in parts where one run would be long, or take more memory than there is."""
        seconds, needed = self.seconds(words, edges=edges), self.memory(words, edges=edges)
        if self.block.optional or (
            seconds <= tuning().frontier_split_from and needed <= budget.memory
        ):
            return self
        parts = split(
            self.block,
            self.plan,
            seconds=seconds,
            share=budget.memory / tuning().frontier_abreast / needed,
            reached=seconds <= budget.seconds,
            planning=max(
                tuning().planning_share * min(seconds, budget.seconds), tuning().planning_short
            ),
        )
        return self if parts is None or len(parts.masks) == 1 else replace(self, parts=parts)


def find_ordering(block: Block, rival: float = math.inf) -> FrontierOrdering:
    """The cheaper of the orders found by users and by behaviours.

    The search takes some percent of the predicted run, or of ``rival``: the seconds that another
    method would take; and never more than a few seconds.
    """
    sides = [(block, False)]
    if not block.optional:
        sides.append((block.transposed(), True))
    plans = []
    for side, transposed in sides:
        ordering = FrontierOrdering(side, transposed, first_look(side))
        if ordering.plan.width > tuning().frontier_hopeless:
            return ordering  # no search and no exchange of sides narrows an order that much
        predicted = ordering.seconds(1, edges=False)
        effort = (
            min(1.0, min(rival, tuning().frontier_search_worth) / predicted)
            if predicted < math.inf
            else tuning().frontier_little_search
        )
        plans.append(FrontierOrdering(side, transposed, _native.plan_frontier(side, effort)))
    return min(plans, key=lambda ordering: (not ordering.feasible, ordering.plan.transitions))


def far_from_narrow(block: Block) -> bool:
    """Whether the block is so wide that it stays too wide, also after contraction."""
    width: int = first_look(block).width
    return width > tuning().frontier_far_from_narrow


def solve(
    ordering: FrontierOrdering, block: Block, *, bits: float, memory: float, effort: Execution
) -> Solution:
    """Count and posteriors of ``block`` along ``way``; counts stay below 2^bits when exact."""
    if block.exact:
        words = words_for(bits)

        def total() -> int:
            return _exact(ordering, words, edges=False, memory=memory, effort=effort)[0]

        def minors() -> Objects:
            values: Objects = np.empty(block.n_edges, dtype=object)
            values[:] = _exact(ordering, words, edges=True, memory=memory, effort=effort)
            return _back(ordering, values)

        if block.weights is not None:
            return Solution(block, total=total, minors=minors)
        return Solution(
            block,
            total=total,
            minors=minors,
            posteriors=lambda: _posteriors(ordering, memory, effort),
        )

    def real() -> tuple[float, float]:
        value = _real(ordering, ordering.block, edges=False, memory=memory, effort=effort)
        return math.log(value.mantissa) + value.exponent * _LN2, _rounding(ordering)

    return Solution(
        block,
        real=real,
        posteriors=lambda: _posteriors(ordering, memory, effort),
    )


def proven_bits(ordering: FrontierOrdering, effort: Execution) -> float:
    """A sharp bound on log2 of the count, from one run over doubles with its proven error."""
    block = ordering.block
    if block.weights is not None and max(block.weights).bit_length() > _LARGEST_DOUBLE:
        effort.advance(ordering.seconds(1, edges=False))
        return math.inf
    weights = None if block.weights is None else block.weights.astype(np.float64)
    doubles = replace(block, weights=weights)
    real = _real(ordering, doubles, edges=False, memory=math.inf, effort=effort)
    return real.exponent + 1 + 2 * _rounding(ordering)


def sample(
    ordering: FrontierOrdering,
    block: Block,
    *,
    size: int,
    seed: int,
    memory: float,
    effort: Execution,
) -> npt.NDArray[np.int32]:
    """``size`` matchings, each a row: the behaviour of every user."""
    job = _native.frontier_sampler(
        ordering.block, ordering.plan.order, size=size, seed=seed, memory=memory
    )
    _run(job, ordering.seconds(1, edges=True), 1, effort)
    rows = job.samples().reshape(size, block.n_users)
    if not ordering.transposed:
        return rows
    matchings = np.empty_like(rows)  # rows hold the user of each behaviour: invert them
    np.put_along_axis(matchings, rows, np.arange(block.n_users, dtype=rows.dtype)[None, :], axis=1)
    return matchings


def _exact(
    ordering: FrontierOrdering, words: int, *, edges: bool, memory: float, effort: Execution
) -> list[int]:
    order = ordering.plan.order
    if ordering.parts is not None:
        return ordering.parts.exact(
            ordering.block, order, words=words, edges=edges, memory=memory, effort=effort
        )
    job = words_job(ordering.block, order, words, edges=edges, memory=memory)
    _run(job, ordering.seconds(words, edges=edges), words, effort)
    return combine(job.edge_words() if edges else job.count_words(), words)


def _real(
    ordering: FrontierOrdering, block: Block, *, edges: bool, memory: float, effort: Execution
) -> Real:
    order = ordering.plan.order
    if ordering.parts is not None:
        return ordering.parts.real(block, order, edges=edges, memory=memory, effort=effort)
    job = _native.frontier_reals(block, order, edges=edges, memory=memory)
    _run(job, ordering.seconds(1, edges=edges), 1, effort)
    return Real(*job.count_real(), job.posteriors() if edges else None)


def _posteriors(ordering: FrontierOrdering, memory: float, effort: Execution) -> Probabilities:
    real = _real(ordering, ordering.block, edges=True, memory=memory, effort=effort)
    assert real.probabilities is not None
    return _back(ordering, real.probabilities), _rounding(ordering)


def _back(ordering: FrontierOrdering, values: Values) -> Values:
    """Values of the way's edges in the order of the original block's edges."""
    if not ordering.transposed:
        return values
    back = np.empty_like(values)
    back[_transposition(ordering.block)] = values
    return back


def _transposition(block: Block) -> npt.NDArray[np.int64]:
    """For each edge of a transposed block, its place in the original."""
    position = np.empty(block.n_edges, dtype=np.int64)
    position[np.argsort(block.indices, kind="stable")] = np.arange(block.n_edges)
    return position


def _run(job: _native.Frontier, seconds: float, words: int, effort: Execution) -> None:
    """Run to the end in calls of about CHUNK_SECONDS.

    Predictions are upper bounds, so what is left at the end is told at once.
    """
    each = per_transition(words, edges=False)
    reported = 0.0
    while not job.run(CHUNK_SECONDS / each):
        done = min(job.transitions_done * each, seconds)
        effort.advance(done - reported)
        reported = done
    effort.advance(seconds - reported)


def _rounding(ordering: FrontierOrdering) -> float:
    """Proven relative error of the programme over doubles (cpp/kernels/frontier/frontier.hpp).

    Of parts: their probabilities and their counts are rounded, and so are two sums of as many
    terms.
    """
    one = 2.1 * (ordering.block.n_edges + 1100) * 2.0**-53
    return one if ordering.parts is None else 2 * one + 2.1 * len(ordering.parts.masks) * 2.0**-53

"""The frontier programme on one block: users in turn, remembering which open behaviours are used.

Its cost follows from the width of the order of users, known before it runs. It suits sparse and
banded blocks: mix logs by time, overlapping sets, few candidates a user.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block, first_look
from anonymatch.counting.blocks.solution import Context, Objects, Option, Probabilities, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.bounding.bregman import block_bits
from anonymatch.counting.integers import LN2, combine, primes, residues, words_for
from anonymatch.running import CHUNK_SECONDS, Budget, Execution, Shared, check_work, current_token

Values = TypeVar("Values", Floats, Objects)


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
        return math.log(value.mantissa) + value.exponent * LN2, _rounding(ordering)

    return Solution(
        block,
        real=real,
        posteriors=lambda: _posteriors(ordering, memory, effort),
    )


def proven_bits(ordering: FrontierOrdering, effort: Execution) -> float:
    """A sharp bound on log2 of the count, from one run over doubles with its proven error."""
    block = ordering.block
    if block.weights is not None and max(block.weights).bit_length() > LIMITS.largest_double:
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


Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]


def per_transition(words: int, *, edges: bool) -> float:
    """Predicted seconds of a transition, for a count or for all edge counts."""
    return (tuning().frontier_transition + tuning().frontier_word * (words - 1)) * (
        tuning().frontier_edges if edges else 1.0
    )


class Real(NamedTuple):
    """mantissa * 2^exponent, and the probabilities of all edges if they are wanted."""

    mantissa: float
    exponent: int
    probabilities: Floats | None


class Parts(NamedTuple):
    """Runs in one order over some of the edges each."""

    masks: tuple[Mask, ...]
    transitions: tuple[float, ...]
    peak_states: float  # of the widest

    def exact(
        self,
        block: Block,
        order: Ints,
        *,
        words: int,
        edges: bool,
        memory: float,
        effort: Execution,
    ) -> list[int]:
        """The count, or all minors, which stay below what so many words determine."""
        call = partial(_exact_part, Shared(*_recipe(block), value=block), order, words, edges)
        results = self._run(call, words, edges, memory, effort)
        if not edges:
            return [sum(combine(result, words)[0] for result in results)]
        minors: Objects = np.zeros(block.n_edges, dtype=object)
        for mask, result in zip(self.masks, results, strict=True):
            minors[mask != 0] += np.array(combine(result, words), dtype=object)
        return list(minors)

    def real(
        self, block: Block, order: Ints, *, edges: bool, memory: float, effort: Execution
    ) -> Real:
        """The count over doubles, and the probabilities of all edges."""
        call = partial(_real_part, Shared(*_recipe(block), value=block), order, edges)
        results = self._run(call, 1, edges, memory, effort)
        total, top = 0.0, 0
        probabilities = np.zeros(block.n_edges) if edges else None
        for mask, one in zip(self.masks, results, strict=True):
            mantissa, exponent, shares = one
            if not mantissa:
                continue
            if total == 0.0:
                top = exponent
            elif exponent > top:  # sums are in the unit of the largest so far
                smaller = math.ldexp(1.0, max(top - exponent, -2000))
                total, top = total * smaller, exponent
                probabilities = None if probabilities is None else probabilities * smaller
            count = math.ldexp(mantissa, max(exponent - top, -2000))
            total += count
            if probabilities is not None:
                probabilities[mask != 0] += count * shares
        mantissa, exponent = math.frexp(total)
        return Real(
            2 * mantissa,
            exponent - 1 + top,
            None if probabilities is None else probabilities / total,
        )

    def _run(
        self, call: partial[Any], words: int, edges: bool, memory: float, effort: Execution
    ) -> Iterator[Any]:
        each = per_transition(words, edges=edges)
        limit = memory / tuning().frontier_abreast if edges else 0.0
        return effort.chunks(
            (partial(call, limit, mask) for mask in self.masks),
            each=[each * transitions for transitions in self.transitions],
            number=len(self.masks),
            abreast=tuning().frontier_abreast,
        )


def split(
    block: Block,
    plan: _native.FrontierPlan,
    *,
    seconds: float,
    share: float,
    reached: bool,
    planning: float = math.inf,
) -> Parts | None:
    """Parts of a square block, none wider than ``share`` times the plan's widest layer if possible.

    ``seconds``: predicted of one run along the plan; ``reached``: whether it is likely to come;
    ``planning``: seconds that splitting may take. None if those are too few.
    """
    rate = plan.transitions / seconds
    most = tuning().frontier_parts_few
    if reached:
        most = min(tuning().frontier_parts_most, tuning().frontier_parts_edges // block.n_edges)
    most = int(min(most, planning / (tuning().frontier_splitting * block.n_edges)))
    if most < 2:
        return None
    parts = _native.split_frontier(
        block,
        plan.order,
        peak_states=share * plan.peak_states,
        longest=tuning().frontier_part_longest * rate,
        worth=tuning().frontier_part_worth * rate,
        stretch=tuning().frontier_part_stretch,
        parts=most,
        cancel=current_token().byte,
    )
    return Parts(
        masks=tuple(part.kept() for part in parts),
        transitions=tuple(part.transitions for part in parts),
        peak_states=max(part.peak_states for part in parts),
    )


def words_job(
    block: Block, order: Ints, words: int, *, edges: bool, memory: float
) -> _native.Frontier:
    """A job over integers that so many words determine."""
    weights = None if block.weights is None else residues(block.weights, words)
    return _native.frontier_words(
        block, order, primes(words - 1), weights, edges=edges, memory=memory
    )


# Chunks: the block and the order are shared, the edges are theirs.


def _exact_part(
    block: Shared[Block], order: Ints, words: int, edges: bool, memory: float, mask: Mask
) -> Words:
    part = _with_only(block.get(), mask)
    job = words_job(part, order, words, edges=edges, memory=memory)
    _run_to_the_end(job, words)
    return job.edge_words() if edges else job.count_words()


def _real_part(
    block: Shared[Block], order: Ints, edges: bool, memory: float, mask: Mask
) -> tuple[float, int, Floats | None]:
    part = _with_only(block.get(), mask)
    job = _native.frontier_reals(part, order, edges=edges, memory=memory)
    _run_to_the_end(job, 1)
    return (*job.count_real(), job.posteriors() if edges else None)


def _run_to_the_end(job: _native.Frontier, words: int) -> None:
    while not job.run(CHUNK_SECONDS / per_transition(words, edges=False)):
        check_work()


def _recipe(block: Block) -> tuple[Any, ...]:
    weights = block.weights
    return Block, block.n_users, block.n_behaviours, block.indptr, block.indices, weights


def _with_only(block: Block, mask: Mask) -> Block:
    chosen = mask != 0
    before = np.concatenate(([0], np.cumsum(mask, dtype=np.int32)))
    return replace(
        block,
        indptr=before[block.indptr].astype(np.int32),
        indices=block.indices[chosen],
        weights=None if block.weights is None else block.weights[chosen],
    )

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
from anonymatch.counting.block import Block
from anonymatch.counting.moduli import combine, primes, residues, words_for
from anonymatch.counting.solution import Chances, Floats, Objects, Solution
from anonymatch.effort import CHUNK_SECONDS, Effort

__all__ = [
    "FrontierWay",
    "far_from_narrow",
    "find_way",
    "proven_bits",
    "sample",
    "solve",
    "words_for",
]

Values = TypeVar("Values", Floats, Objects)

# Measured on one core: seconds a transition, and what each further word of a value adds.
_TRANSITION = 4e-9
_WORD = 0.4e-9
_EDGES = 2.2  # all edge counts against one count
_LITTLE = 0.01  # search effort where the first orders are too wide
_WORTH = 30.0  # predicted seconds that a search of full effort is fit for
_HOPELESS = 4 * _native.FRONTIER_WIDTH_LIMIT
_FAR_FROM_NARROW = 16 * _native.FRONTIER_WIDTH_LIMIT  # contraction narrows no order that much
_LARGEST_DOUBLE = 1023  # bits
_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False)
class FrontierWay:
    """An order for a block, or for the block with its sides exchanged, and its price."""

    block: Block
    transposed: bool
    plan: _native.FrontierPlan

    @property
    def feasible(self) -> bool:
        return bool(self.plan.feasible)

    def seconds(self, words: int, *, edges: bool) -> float:
        return self.plan.transitions * _per_transition(words) * (_EDGES if edges else 1.0)

    def memory(self, words: int, *, edges: bool) -> float:
        if edges:
            return float(self.plan.least_edge_bytes(words))
        return float(self.plan.count_bytes(words))


def find_way(block: Block, rival: float = math.inf) -> FrontierWay:
    """The cheaper of the orders found by users and by behaviours.

    The search takes some percent of the predicted run, or of ``rival``: the seconds that another
    method would take; and never more than a few seconds.
    """
    sides = [(block, False)]
    if not block.optional:
        sides.append((block.transposed(), True))
    ways = []
    for side, transposed in sides:
        way = FrontierWay(side, transposed, _native.plan_frontier(side, 0.0))
        if way.plan.width > _HOPELESS:
            return way  # no search and no exchange of sides narrows an order that much
        predicted = way.seconds(1, edges=False)
        effort = min(1.0, min(rival, _WORTH) / predicted) if predicted < math.inf else _LITTLE
        ways.append(FrontierWay(side, transposed, _native.plan_frontier(side, effort)))
    return min(ways, key=lambda way: (not way.feasible, way.plan.transitions))


def far_from_narrow(block: Block) -> bool:
    """Whether the block is so wide that it stays too wide, also after contraction."""
    width: int = _native.plan_frontier(block, 0.0).width
    return width > _FAR_FROM_NARROW


def solve(
    way: FrontierWay, block: Block, *, bits: float, memory: float, effort: Effort
) -> Solution:
    """Count and posteriors of ``block`` along ``way``; counts stay below 2^bits when exact."""
    if block.exact:
        words = words_for(bits)

        def total() -> int:
            job = _words_job(way, words, edges=False, memory=memory)
            _run(job, way.seconds(words, edges=False), words, effort)
            return combine(job.count_words(), words)[0]

        def minors() -> Objects:
            job = _words_job(way, words, edges=True, memory=memory)
            _run(job, way.seconds(words, edges=True), words, effort)
            values: Objects = np.empty(block.n_edges, dtype=object)
            values[:] = combine(job.edge_words(), words)
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
        job = _native.frontier_reals(way.block, way.plan, edges=False, memory=memory)
        _run(job, way.seconds(1, edges=False), 1, effort)
        mantissa, exponent = job.count_real()
        return math.log(mantissa) + exponent * _LN2, _rounding(block)

    return Solution(
        block,
        real=real,
        posteriors=lambda: _posteriors(way, memory, effort),
    )


def proven_bits(way: FrontierWay, block: Block, effort: Effort) -> float:
    """A sharp bound on log2 of the count, from one run over doubles with its proven error."""
    if way.block.weights is not None and max(way.block.weights).bit_length() > _LARGEST_DOUBLE:
        effort.advance(way.seconds(1, edges=False))
        return math.inf
    job = _native.frontier_reals(
        replace(way.block, weights=_as_floats(way.block)), way.plan, edges=False, memory=math.inf
    )
    _run(job, way.seconds(1, edges=False), 1, effort)
    _, exponent = job.count_real()
    return float(exponent + 1) + 2 * _rounding(block)


def sample(
    way: FrontierWay, block: Block, *, size: int, seed: int, memory: float, effort: Effort
) -> npt.NDArray[np.int32]:
    """``size`` matchings, each a row: the behaviour of every user."""
    job = _native.frontier_sampler(way.block, way.plan, size=size, seed=seed, memory=memory)
    _run(job, way.seconds(1, edges=True), 1, effort)
    rows = job.samples().reshape(size, block.n_users)
    if not way.transposed:
        return rows
    matchings = np.empty_like(rows)  # rows hold the user of each behaviour: invert them
    np.put_along_axis(matchings, rows, np.arange(block.n_users, dtype=rows.dtype)[None, :], axis=1)
    return matchings


def _per_transition(words: int) -> float:
    return _TRANSITION + _WORD * (words - 1)


def _words_job(way: FrontierWay, words: int, *, edges: bool, memory: float) -> _native.Frontier:
    weights = None if way.block.weights is None else residues(way.block.weights, words)
    return _native.frontier_words(
        way.block, way.plan, primes(words - 1), weights, edges=edges, memory=memory
    )


def _posteriors(way: FrontierWay, memory: float, effort: Effort) -> Chances:
    job = _native.frontier_reals(way.block, way.plan, edges=True, memory=memory)
    _run(job, way.seconds(1, edges=True), 1, effort)
    return _back(way, job.posteriors()), _rounding(way.block)


def _back(way: FrontierWay, values: Values) -> Values:
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


def _run(job: _native.Frontier, seconds: float, words: int, effort: Effort) -> None:
    """Run to the end in calls of about CHUNK_SECONDS.

    Predictions are upper bounds, so what is left at the end is told at once.
    """
    each = _per_transition(words)
    told = 0.0
    while not job.run(CHUNK_SECONDS / each):
        done = min(job.transitions_done * each, seconds)
        effort.advance(done - told)
        told = done
    effort.advance(seconds - told)


def _as_floats(block: Block) -> Floats | None:
    return None if block.weights is None else block.weights.astype(np.float64)


def _rounding(block: Block) -> float:
    """Proven relative error of the programme over doubles (cpp/include/anonymatch/frontier.hpp)."""
    return 2.1 * (block.n_edges + 1100) * 2.0**-53

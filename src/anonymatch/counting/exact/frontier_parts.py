"""The frontier programme in parts: a long or wide run as the sum of several smaller ones.

Every matching gives a chosen behaviour to a user done early or to one done late. Parts lack the
edges of the other kind, so no two share a matching; each is a chunk that runs and is recorded by
itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Floats, Objects
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.integers import combine, primes, residues
from anonymatch.running import CHUNK_SECONDS, Execution, Shared, check_work, current_token

__all__ = ["Parts", "Real", "per_transition", "split", "words_job"]

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
        call = partial(_exact, Shared(*_recipe(block), value=block), order, words, edges)
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
        call = partial(_real, Shared(*_recipe(block), value=block), order, edges)
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


def _exact(
    block: Shared[Block], order: Ints, words: int, edges: bool, memory: float, mask: Mask
) -> Words:
    part = _with_only(block.get(), mask)
    job = words_job(part, order, words, edges=edges, memory=memory)
    _run_to_the_end(job, words)
    return job.edge_words() if edges else job.count_words()


def _real(
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

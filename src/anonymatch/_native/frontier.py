"""The frontier programme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native.arrays import Ints, Rows, Words, byte_limit, cancel_byte, ints, weights_of
from anonymatch._native.extension import kernels

FrontierPlan = kernels.FrontierPlan
FRONTIER_WIDTH_LIMIT: int = kernels.frontier_width_limit
FrontierPart = kernels.FrontierPart
Frontier = kernels.Frontier


def plan_frontier(block: Rows, effort: float) -> FrontierPlan:
    """The best order of users found, and its price."""
    return kernels.plan_frontier(
        block.n_behaviours, ints(block.indptr), ints(block.indices), effort
    )


def split_frontier(
    block: Rows,
    order: Ints,
    *,
    peak_states: float,
    longest: float,
    worth: float,
    stretch: float,
    parts: int,
    cancel: bytearray | None = None,
) -> list[FrontierPart]:
    """Runs that together do the same as one (cpp/kernels/frontier/frontier_split.hpp).

    Fewer of them once it is cancelled.
    """
    runs: list[FrontierPart] = kernels.split_frontier(
        block.n_behaviours,
        ints(block.indptr),
        ints(block.indices),
        ints(order),
        peak_states,
        longest,
        worth,
        stretch,
        parts,
        cancel_byte(cancel),
    )
    return runs


def frontier_words(
    block: Rows,
    order: Ints,
    primes: Sequence[int],
    weights: Words | None,
    *,
    edges: bool,
    memory: float,
) -> Frontier:
    """A job over integers, as residues modulo 2^64 and the primes."""
    return Frontier.words(
        block.n_behaviours,
        ints(block.indptr),
        ints(block.indices),
        ints(order),
        np.asarray(primes, dtype=np.uint64),
        np.empty(0, np.uint64) if weights is None else weights,
        edges,
        byte_limit(memory),
    )


def frontier_reals(block: Rows, order: Ints, *, edges: bool, memory: float) -> Frontier:
    """A job over doubles."""
    return Frontier.reals(
        block.n_behaviours,
        ints(block.indptr),
        ints(block.indices),
        ints(order),
        weights_of(block),
        edges,
        byte_limit(memory),
    )


def frontier_sampler(block: Rows, order: Ints, *, size: int, seed: int, memory: float) -> Frontier:
    """A job that draws matchings."""
    return Frontier.sampler(
        block.n_behaviours,
        ints(block.indptr),
        ints(block.indices),
        ints(order),
        weights_of(block),
        size,
        seed,
        byte_limit(memory),
    )

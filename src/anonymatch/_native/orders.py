"""Programmes along an order of users: narrow blocks, and bands whose behaviours are intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native.arrays import (
    Floats,
    Ints,
    Rows,
    Words,
    byte_limit,
    cancel_byte,
    floats_or_empty,
    ints,
    sorted_rows,
    weights_of,
)
from anonymatch._native.extension import kernels

FrontierPlan = kernels.FrontierPlan
FRONTIER_WIDTH_LIMIT: int = kernels.frontier_width_limit
FrontierPart = kernels.FrontierPart
Frontier = kernels.Frontier


def plan_frontier(block: Rows, effort: float) -> FrontierPlan:
    """The best order of users found, and its price."""
    return kernels.plan_frontier(*sorted_rows(block), effort)


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
        *sorted_rows(block),
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
        *sorted_rows(block),
        ints(order),
        np.asarray(primes, dtype=np.uint64),
        np.empty(0, np.uint64) if weights is None else weights,
        edges,
        byte_limit(memory),
    )


def frontier_reals(block: Rows, order: Ints, *, edges: bool, memory: float) -> Frontier:
    """A job over doubles."""
    return Frontier.reals(
        *sorted_rows(block),
        ints(order),
        weights_of(block),
        edges,
        byte_limit(memory),
    )


def frontier_sampler(block: Rows, order: Ints, *, size: int, seed: int, memory: float) -> Frontier:
    """A job that draws matchings."""
    return Frontier.sampler(
        *sorted_rows(block),
        ints(order),
        weights_of(block),
        size,
        seed,
        byte_limit(memory),
    )


BandPlan = kernels.BandPlan
BandTask = kernels.BandTask
Band = kernels.Band


def plan_band(starts: Ints, stops: Ints) -> BandPlan:
    """The price of a band."""
    return kernels.plan_band(ints(starts), ints(stops))


def band_job(
    starts: Ints,
    stops: Ints,
    weights: Floats | None,
    task: BandTask,
    *,
    memory: float = 0.0,
    rows: tuple[int, int] | None = None,
    digits: Words | None = None,
    before: Floats | None = None,
    after: Floats | None = None,
) -> Band:
    """A job on a band; weights by row, of integers None.

    ``rows``: only those from one up to another, with the layers at their ends that it needs.
    """
    return Band.make(
        ints(starts),
        ints(stops),
        floats_or_empty(weights),
        task,
        byte_limit(memory),
        *(rows or (0, len(starts))),
        np.empty(0, np.uint64) if digits is None else digits,
        floats_or_empty(before),
        floats_or_empty(after),
    )


def meet_words(before: Words, after: Words, states: int, digit_bits: int) -> int:
    """The count, from the digits of ways before and ways after a layer."""
    words = kernels.meet_words(before, after, states, digit_bits).astype("<u8")
    return int.from_bytes(words.tobytes(), "little")


def meet_real(before: Floats, after: Floats) -> float:
    """The same over doubles, with at most 5200 roundings."""
    return kernels.meet_real(before, after)

"""Bands: rows that are intervals with rising ends."""

from __future__ import annotations

import numpy as np

from anonymatch._native.arrays import Floats, Ints, Words, byte_limit, floats_or_empty, ints
from anonymatch._native.extension import kernels

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

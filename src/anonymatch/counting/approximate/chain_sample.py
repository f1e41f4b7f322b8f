"""Matchings of one block that cannot be drawn exactly: along worm chains from guided draws."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch.counting.approximate.estimate import EstimateBudget, Sampling
from anonymatch.counting.approximate.importance import TooSlowError, WormChain
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.padding import squared
from anonymatch.running import Execution

__all__ = ["chain_sample"]

Matchings = npt.NDArray[np.int32]


def chain_sample(
    block: Block, size: int, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Matchings | None:
    """``size`` matchings, or None if so many are out of reach.

    Chains begin at independent guided draws, go 100 steps a user unseen (50 in giant blocks), and
    then 10 steps a user from one sample to the next.
    """
    square = squared(block)
    if square is None:
        return None
    sampling = Sampling(square[0], seed=seed, allowed=allowed, effort=effort)
    number = WormChain.number_of(square[0])
    each = math.ceil(size / number)
    seconds = sampling.chains_price(each)
    if seconds > allowed.seconds:
        return None
    effort.expect(seconds)
    try:
        drawn = sampling.chains.matchings(each, effort)
    except TooSlowError:
        return None
    order = np.random.default_rng([*seed, 7]).permutation(each * number)[:size]
    matchings: Matchings = drawn.reshape(len(drawn) * each, -1)[order, : block.n_users]
    return matchings

"""Matchings of one block that cannot be drawn exactly, along chains.

Worm chains from guided draws; where behaviours are left over, chains of moves and swaps.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch.counting.approximate.estimate import EstimateBudget, Sampling
from anonymatch.counting.approximate.importance import TooSlowError, WormChain
from anonymatch.counting.approximate.spare_chain import SPARE_CHAINS, SpareChains
from anonymatch.counting.blocks.block import Block, squared
from anonymatch.running import Execution

Matchings = npt.NDArray[np.int32]

_APART = 5  # times that about every user picks between two matchings


def chain_sample(
    block: Block, size: int, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Matchings | None:
    """``size`` matchings, or None if so many are out of reach.

    Chains begin at independent guided draws, go 100 steps a user unseen (50 in giant blocks), and
    then 10 steps a user from one sample to the next.
    """
    if block.optional:
        drawn = _by_moves(block, size, seed=seed, allowed=allowed, effort=effort)
        if drawn is not None:
            return drawn
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
    return _shuffled(drawn, size, seed)[:, : block.n_users]


def _by_moves(
    block: Block, size: int, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Matchings | None:
    each = math.ceil(size / SPARE_CHAINS)
    try:
        drawn = SpareChains(block, seed, effort).matchings(each, _APART, allowed.seconds)
    except TooSlowError:
        return None
    return None if drawn is None else _shuffled(drawn, size, seed)


def _shuffled(drawn: Matchings, size: int, seed: tuple[int, ...]) -> Matchings:
    """So many of the chains' samples in a random order: neighbours are of one chain."""
    matchings = drawn.reshape(drawn.shape[0] * drawn.shape[1], -1)
    chosen: Matchings = matchings[np.random.default_rng([*seed, 7]).permutation(len(matchings))]
    return chosen[:size]

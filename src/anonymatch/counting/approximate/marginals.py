"""Probabilities of the edges of one block beyond exact reach, each with a standard error.

Where behaviours are left over, chains of moves and swaps. Else, or where those are too slow, four
sources: trees of guided draws, whose lower parts are exact; worm chains, whose samples are far
cheaper; for large blocks belief propagation, whose error the chains tell; and where left-over
behaviours would need too many added users, matchings of particle filters. Where time is too short
for any draw, belief propagation or Sinkhorn's shares alone, of which nothing is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.counting.approximate.estimate import EstimateBudget, Sampling, any_matching
from anonymatch.counting.approximate.importance import (
    ImportanceSampler,
    TooSlowError,
    TreeDraws,
    WormChain,
    messages,
)
from anonymatch.counting.approximate.particles import promising_filter
from anonymatch.counting.approximate.spare_chain import SPARE_METHOD, SpareChains
from anonymatch.counting.blocks.block import Block, padded_edges, squared
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounds.sinkhorn import Pieces, Square
from anonymatch.running import Execution

UNKNOWN = "out of reach"
UNCHECKED = "unchecked beliefs"

Floats = npt.NDArray[np.float64]

_LARGE = 2000  # users from which on belief propagation is closer than samples are
_PILOT = 64  # trees
_PILOT_EACH = 16  # samples of a chain
_FEWEST_EACH = (8, 4, 1)  # the same at least: as a rule, of few chains, of as few as can be
_SHARE = 0.6  # of the seconds for the last stage
_MOVES_SHARE = 0.9  # the same, for chains of moves
_MOST_EACH = 100_000  # samples of a chain
_PADDED = 20  # times as many edges with added users: then matchings of filters are cheaper
_PADDED_FEW = 20_000  # edges of which chains are cheap in any case
_FILTER_SHARE = 0.15  # of the seconds, for a first look at particle filters
_FEWEST_RUNS = 100
_FEW_RUNS = 4  # where shares of Sinkhorn's are held against them
_SHARE_SWEEPS = 50
_BELIEF_SHARE = 0.5  # of the seconds, where beliefs are all there is
_RUNS_TOGETHER = 500
_START_PARTICLES = 32  # of runs whose matchings chains begin with


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEstimate:
    """Probabilities of a block's edges, their standard errors, and where they come from.

    ``entropy_errors``: of each user's Shannon entropy in bits, where chains tell them.
    """

    probabilities: Floats
    errors: Floats
    method: str
    entropy_errors: Floats | None = None

    @classmethod
    def unknown(cls, n_edges: int) -> EdgeEstimate:
        return cls(np.full(n_edges, np.nan), np.zeros(n_edges), UNKNOWN)


def estimate_edges(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> EdgeEstimate | None:
    """Probabilities within the allowance, whose half-width is of a probability here; None if out
    of reach.
    """
    if allowed.seconds <= 0:
        return None
    if block.optional:
        by_moves = _by_moves(block, seed=seed, allowed=allowed, effort=effort)
        if by_moves is not None:
            return by_moves
    if padded_edges(block) > max(_PADDED * block.n_edges, _PADDED_FEW):
        by_filter = _by_filter(block, seed=seed, allowed=allowed, effort=effort)
        if by_filter is not None:
            return by_filter
    square = squared(block)
    if square is None:
        return None
    padded, _ = square
    sampling = Sampling(padded, seed=seed, allowed=allowed, effort=effort)
    if allowed.strict and sampling.chains_price(_FEWEST_EACH[0]) > _SHARE * allowed.seconds:
        short = _short_of_time(padded, seed=seed, allowed=allowed, effort=effort)
        if short is None:
            return None
        sampling = short
    try:
        if padded.n_users > _LARGE:
            by_chains = _by_chains(sampling, allowed, effort)
            mixed = _with_messages(padded, sampling.believed, *by_chains)
        else:
            mixed = _closest(sampling, allowed, effort)
    except TooSlowError:
        return None
    if not np.isfinite(mixed.errors).all():
        return None
    rows = slice(0, block.n_edges)  # users that were added come last
    probabilities = _of_rows(block, mixed.probabilities[rows])
    return EdgeEstimate(probabilities, mixed.errors[rows], mixed.method)


def _short_of_time(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> Sampling | None:
    """Few chains from any matchings; None if they, too, are out of reach."""
    if block.n_users <= _LARGE:  # too few edges tell what the chains differ by
        return None
    promising = promising_filter(block, seed, _FILTER_SHARE * allowed.seconds, effort)
    starts = any_matching(block)
    number = WormChain.number_of(block, few=1)
    if promising is not None:
        runs = promising[0].with_particles(_START_PARTICLES)
        if number * runs.path_seconds <= _FILTER_SHARE * allowed.seconds:
            effort.expect(number * runs.path_seconds)
            starts = runs.paths(0, number, effort)[1]
    for few in (1, 2):
        sampling = Sampling(
            block, seed=seed, allowed=allowed, effort=effort, few_chains=few, starts=starts
        )
        if sampling.chains_price(_FEWEST_EACH[few]) <= _SHARE * allowed.seconds:
            return sampling
    return None


def _by_moves(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> EdgeEstimate | None:
    """By chains that need no added users; None where they are too slow."""
    close = min(allowed.half_width, tuning().spare_probability if allowed.strict else math.inf)
    try:
        means = SpareChains(block, seed, effort).edge_means(_MOVES_SHARE * allowed.seconds, close)
    except TooSlowError:
        return None
    if means is None:
        return None
    probabilities = _of_rows(block, means.probabilities)
    return EdgeEstimate(probabilities, means.errors, SPARE_METHOD, means.entropy_errors)


def _by_filter(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> EdgeEstimate | None:
    """Shares of the matchings of a particle filter's runs, by their weights."""
    promising = promising_filter(block, seed, _FILTER_SHARE * allowed.seconds, effort)
    if promising is None:
        return None
    runs = promising[0]
    needed = 2.0 * (2.0 * 0.5 / allowed.half_width) ** 2
    number = int(min(needed, _SHARE * allowed.seconds / runs.path_seconds))
    large = block.n_users > _LARGE
    if number < (_FEW_RUNS if large else _FEWEST_RUNS):
        return None
    effort.expect(number * runs.path_seconds)
    keys = np.repeat(np.arange(block.n_users), np.diff(block.indptr)) * block.n_behaviours
    keys += block.indices
    users = np.arange(block.n_users) * block.n_behaviours
    logs = np.empty(0)
    scale = -math.inf
    first, square = np.zeros(block.n_edges), np.zeros(block.n_edges)
    for begin in range(0, number, _RUNS_TOGETHER):
        drawn, matchings = runs.paths(begin, min(begin + _RUNS_TOGETHER, number), effort)
        alive = np.isfinite(drawn)
        top = max(scale, float(drawn.max(initial=-math.inf)))
        if math.isfinite(scale):
            first *= math.exp(scale - top)
            square *= math.exp(2.0 * (scale - top))
        scale = top
        logs = np.concatenate((logs, drawn))
        weights = np.repeat(np.exp(drawn[alive] - scale), block.n_users)
        edges = np.searchsorted(keys, (users + matchings[alive]).ravel())
        first += np.bincount(edges, weights, block.n_edges)
        square += np.bincount(edges, weights**2, block.n_edges)
    probabilities, errors = _weighted(TreeDraws(logs, scale, first, square, square))
    if not large or not np.isfinite(errors).all():
        return EdgeEstimate(probabilities, errors, "guided sampling")
    weights = np.exp(logs - scale)
    variance = float(np.sum(weights**2) / weights.sum() ** 2)
    mixed = _with_messages(block, _shares(block), probabilities, errors, variance)
    method = "Sinkhorn scaling + guided sampling"
    return EdgeEstimate(_of_rows(block, mixed.probabilities), mixed.errors, method)


def unchecked_edges(block: Block, *, seconds: float, effort: Execution) -> EdgeEstimate:
    """What beliefs alone say within so many predicted seconds: intervals are from 0 to 1."""
    if block.optional:
        sweeps = seconds / (tuning().balance_sweep * block.n_edges)
        believed = _shares(block, int(np.clip(sweeps, 2, _SHARE_SWEEPS)))
    else:
        believed = messages(block, effort, _BELIEF_SHARE * seconds)
    believed = _of_rows(block, believed)
    return EdgeEstimate(believed, np.maximum(believed, 1.0 - believed) / 2, UNCHECKED)


def _shares(block: Block, sweeps: int = _SHARE_SWEEPS) -> Floats:
    """Sinkhorn's shares of the edges; behaviours that are left over have one more row."""
    square = Square.of(Pieces.of_block(block))
    logs = square.log_weights
    start = np.ones(square.n_edges)
    if logs is not None:
        start = np.exp(logs - square.spread(np.maximum.reduceat(logs, square.indptr[:-1])))
    _, factors = square.balanced(np.maximum(start, 1e-300), sweeps)
    shares = start[: block.n_edges] * np.exp(factors - factors.max())[block.indices]
    tops = np.maximum.reduceat(shares, block.indptr[:-1])
    return _of_rows(block, shares / np.repeat(tops, np.diff(block.indptr)))


def _of_rows(block: Block, shares: Floats) -> Floats:
    """Shares from 0 to 1 that add up to 1 for every user."""
    shares = np.clip(np.nan_to_num(shares, nan=0.0), 0.0, 1.0)
    sums = np.add.reduceat(shares, block.indptr[:-1])
    return np.asarray(shares / np.repeat(np.maximum(sums, 1e-300), np.diff(block.indptr)))


def _closest(sampling: Sampling, allowed: EstimateBudget, effort: Execution) -> EdgeEstimate:
    """By trees or by chains, whichever gets closer for the same seconds."""
    tree_seconds = sampling.tree_seconds
    too_dear = allowed.strict and _PILOT * tree_seconds > _SHARE * allowed.seconds
    if too_dear or not sampling.trusted:
        probabilities, errors, _ = _by_chains(sampling, allowed, effort)
        return EdgeEstimate(probabilities, errors, "worm chain")
    guide = sampling.guide
    assert isinstance(guide, ImportanceSampler)
    effort.expect(tree_seconds * _PILOT)
    probabilities, errors = _weighted(guide.trees(0, _PILOT, effort, marginals=True))
    by_trees = float(np.mean(errors**2)) * _PILOT * tree_seconds
    number = _PILOT_EACH * sampling.chains.number
    effort.expect(sampling.chains.sample_seconds * number)
    _, worm_errors, _ = _pooled(sampling.chains.counts(_PILOT_EACH, effort), _PILOT_EACH)
    by_worms = float(np.mean(worm_errors**2)) * number * sampling.chains.sample_seconds
    if by_worms < by_trees:
        probabilities, errors, _ = _by_chains(sampling, allowed, effort)
        return EdgeEstimate(probabilities, errors, "worm chain")
    needed = _PILOT * (2.0 * float(errors.max()) / allowed.half_width) ** 2
    draws = int(min(needed, _SHARE * allowed.seconds / tree_seconds))
    if draws > _PILOT:
        effort.expect(tree_seconds * draws)
        probabilities, errors = _weighted(guide.trees(0, draws, effort, marginals=True))
    return EdgeEstimate(probabilities, errors, "guided sampling")


def _weighted(drawn: TreeDraws) -> tuple[Floats, Floats]:
    """Means of the draws' marginals by weight, and their standard errors."""
    weights = np.exp(drawn.log_weights - drawn.scale)
    if not weights.any():  # all draws came to a dead end: they say nothing
        return np.zeros(len(drawn.first)), np.full(len(drawn.first), math.inf)
    total, squares = float(weights.sum()), float(np.sum(weights**2))
    probabilities = drawn.first / total
    variance = drawn.second - 2.0 * probabilities * drawn.square + probabilities**2 * squares
    variance = np.maximum(variance, 0.0) / total**2
    return probabilities, np.sqrt(
        variance + (squares / total**2) ** 2
    )  # a rare edge may not show yet


def _by_chains(
    sampling: Sampling, allowed: EstimateBudget, effort: Execution
) -> tuple[Floats, Floats, float]:
    """Shares of the chains' samples, standard errors, and the variance where p(1-p) = 1."""
    chains = sampling.chains
    number = chains.number
    before = sampling.chains_price(0) if sampling.few_chains else 0.0
    most = (_SHARE * allowed.seconds - before) / chains.sample_seconds
    needed = (2.0 * 0.5 / allowed.half_width) ** 2
    fewest = _FEWEST_EACH[sampling.few_chains]
    each = int(np.clip(min(most, 2.0 * needed) / number, fewest, _MOST_EACH))
    effort.expect(chains.sample_seconds * each * number)
    return _pooled(chains.counts(each, effort), each)


def _pooled(counts: npt.NDArray[np.uint32], each: int) -> tuple[Floats, Floats, float]:
    """Shares over all chains, errors from their differences, and the variance of p(1-p) = 1.

    Sixteen chains tell the error of one edge roughly, and of all edges together well: the variance
    is the mean of both, and at least what independent samples have.
    """
    chains = len(counts)
    number = chains * each
    probabilities = counts.sum(axis=0) / number
    own = _variances(counts) / (chains * each**2)
    free = probabilities * (1.0 - probabilities) / number
    total = float(free.sum())
    inflation = float(own.sum()) / total if total > 0 else 1.0
    variances = (np.maximum(own, free) + max(1.0, inflation) * free) / 2 + 1.0 / number**2
    return probabilities, np.sqrt(variances), inflation / number


def _variances(counts: npt.NDArray[np.uint32]) -> Floats:
    """Of each column; row by row, for there may be many columns."""
    mean = counts.mean(axis=0)
    squares = np.zeros(counts.shape[1])
    for row in counts:
        squares += (row - mean) ** 2
    return squares / (len(counts) - 1)


def _with_messages(
    block: Block, believed: Floats, probabilities: Floats, errors: Floats, variance: float
) -> EdgeEstimate:
    """Belief propagation and chains, each edge by what is known of the errors of both.

    Squared differences of the two add the variance of both; what exceeds the chains'
    own, pooled over all edges in proportion to p(1-p), is that of the messages.
    """
    spread = believed * (1.0 - believed) + 1e-12
    excess = float(np.sum((believed - probabilities) ** 2) / np.sum(spread)) - variance
    floor = 2.0 * variance / math.sqrt(block.n_edges)  # what the pool itself cannot tell from 0
    own = max(excess, floor, 1e-12) * spread
    weight = own / (own + errors**2)
    mixed = believed + weight * (probabilities - believed)
    return EdgeEstimate(mixed, np.sqrt(own * (1.0 - weight)), "belief propagation + worm chain")

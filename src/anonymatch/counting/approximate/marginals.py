"""Probabilities of the edges of one block beyond exact reach, each with a standard error.

Where behaviours are left over, chains of moves and swaps. Else, or where those are too slow, four
sources: trees of guided draws, whose lower parts are exact; worm chains, whose samples are far
cheaper; for large blocks belief propagation, whose error the chains tell; and where left-over
behaviours would need too many added users, matchings of particle filters. Where time is too short
for any draw, belief propagation or Sinkhorn's shares alone, of which nothing is known.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.approximate.estimate import (
    DrawTask,
    Sampling,
    any_matching,
)
from anonymatch.counting.approximate.importance import (
    ImportanceSampler,
    TooSlowError,
    TreeDraws,
    WormChain,
    messages,
)
from anonymatch.counting.approximate.particles import promising_filter
from anonymatch.counting.approximate.records import Basis, EdgeEstimate, EstimateBudget
from anonymatch.counting.approximate.spare_chain import SPARE_METHOD, SpareChains
from anonymatch.counting.approximate.tuning import EDGES
from anonymatch.counting.blocks.block import Block, padded_edges, squared
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.sinkhorn import Pieces, Square
from anonymatch.running import Execution


def estimate_edges(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> EdgeEstimate | None:
    """Probabilities to the half-width of the allowance, in its seconds; None if out of reach."""
    if allowed.seconds <= 0:
        return None
    task = DrawTask(block, seed, allowed, effort)
    if block.optional:
        by_moves = _by_moves(task)
        if by_moves is not None:
            return by_moves
    if padded_edges(block) > max(EDGES.padded * block.n_edges, EDGES.padded_few):
        by_filter = _by_filter(task)
        if by_filter is not None:
            return by_filter
    square = squared(block)
    if square is None:
        return None
    task = replace(task, block=square[0])
    sampling = Sampling(task)
    if (
        allowed.strict
        and sampling.chains_price(EDGES.fewest_each[0]) > EDGES.share * allowed.seconds
    ):
        short = _short_of_time(task)
        if short is None:
            return None
        sampling = short
    try:
        if task.block.n_users > EDGES.large:
            mixed = _with_messages(task.block, sampling.believed, *_by_chains(sampling, task))
        else:
            mixed = _closest(sampling, task)
    except TooSlowError:
        return None
    if not np.isfinite(mixed.errors).all():
        return None
    rows = slice(0, block.n_edges)  # users that were added come last
    probabilities = _of_rows(block, mixed.probabilities[rows])
    return EdgeEstimate(probabilities, mixed.errors[rows], mixed.method)


def _short_of_time(task: DrawTask) -> Sampling | None:
    """Few chains from any matchings; None if they, too, are out of reach."""
    block, allowed, effort = task.block, task.allowed, task.effort
    if block.n_users <= EDGES.large:  # too few edges tell what the chains differ by
        return None
    promising = promising_filter(block, task.seed, EDGES.filter_share * allowed.seconds, effort)
    starts = any_matching(block)
    number = WormChain.number_of(block, few=1)
    if promising is not None:
        runs = promising[0].with_particles(EDGES.start_particles)
        if number * runs.path_seconds <= EDGES.filter_share * allowed.seconds:
            effort.expect(number * runs.path_seconds)
            starts = runs.paths(0, number, effort)[1]
    for few in (1, 2):
        sampling = Sampling(task, few_chains=few, starts=starts)
        if sampling.chains_price(EDGES.fewest_each[few]) <= EDGES.share * allowed.seconds:
            return sampling
    return None


def _by_moves(task: DrawTask) -> EdgeEstimate | None:
    """By chains that need no added users; None where they are too slow."""
    block, allowed = task.block, task.allowed
    close = min(allowed.half_width, tuning().spare_probability if allowed.strict else math.inf)
    try:
        chains = SpareChains(block, task.seed, task.effort)
        means = chains.edge_means(EDGES.moves_share * allowed.seconds, close)
    except TooSlowError:
        return None
    if means is None:
        return None
    probabilities = _of_rows(block, means.probabilities)
    return EdgeEstimate(
        probabilities, means.errors, SPARE_METHOD, Basis.MOVES, means.entropy_errors
    )


def _by_filter(task: DrawTask) -> EdgeEstimate | None:
    """Shares of the matchings of a particle filter's runs, by their weights."""
    block, allowed, effort = task.block, task.allowed, task.effort
    promising = promising_filter(block, task.seed, EDGES.filter_share * allowed.seconds, effort)
    if promising is None:
        return None
    runs = promising[0]
    needed = 2.0 * (2.0 * 0.5 / allowed.half_width) ** 2
    number = int(min(needed, EDGES.share * allowed.seconds / runs.path_seconds))
    large = block.n_users > EDGES.large
    if number < (EDGES.few_runs if large else EDGES.fewest_runs):
        return None
    effort.expect(number * runs.path_seconds)
    keys = np.repeat(np.arange(block.n_users), np.diff(block.indptr)) * block.n_behaviours
    keys += block.indices
    users = np.arange(block.n_users) * block.n_behaviours
    logs = np.empty(0)
    scale = -math.inf
    first, square = np.zeros(block.n_edges), np.zeros(block.n_edges)
    for begin in range(0, number, EDGES.runs_together):
        drawn, matchings = runs.paths(begin, min(begin + EDGES.runs_together, number), effort)
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
        believed = _shares(block, int(np.clip(sweeps, 2, EDGES.share_sweeps)))
    else:
        believed = messages(block, effort, EDGES.belief_share * seconds)
    believed = _of_rows(block, believed)
    return EdgeEstimate(
        believed, np.maximum(believed, 1.0 - believed) / 2, "unchecked beliefs", Basis.UNCHECKED
    )


def _shares(block: Block, sweeps: int = EDGES.share_sweeps) -> Floats:
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


def _closest(sampling: Sampling, task: DrawTask) -> EdgeEstimate:
    """By trees or by chains, whichever gets closer for the same seconds."""
    allowed, effort = task.allowed, task.effort
    tree_seconds = sampling.tree_seconds
    too_dear = allowed.strict and EDGES.pilot * tree_seconds > EDGES.share * allowed.seconds
    if too_dear or not sampling.trusted:
        probabilities, errors, _ = _by_chains(sampling, task)
        return EdgeEstimate(probabilities, errors, "worm chain")
    guide = sampling.guide
    assert isinstance(guide, ImportanceSampler)
    effort.expect(tree_seconds * EDGES.pilot)
    probabilities, errors = _weighted(guide.trees(0, EDGES.pilot, effort, marginals=True))
    by_trees = float(np.mean(errors**2)) * EDGES.pilot * tree_seconds
    number = EDGES.pilot_each * sampling.chains.number
    effort.expect(sampling.chains.sample_seconds * number)
    _, worm_errors, _ = _pooled(sampling.chains.counts(EDGES.pilot_each, effort), EDGES.pilot_each)
    by_worms = float(np.mean(worm_errors**2)) * number * sampling.chains.sample_seconds
    if by_worms < by_trees:
        probabilities, errors, _ = _by_chains(sampling, task)
        return EdgeEstimate(probabilities, errors, "worm chain")
    needed = EDGES.pilot * (2.0 * float(errors.max()) / allowed.half_width) ** 2
    draws = int(min(needed, EDGES.share * allowed.seconds / tree_seconds))
    if draws > EDGES.pilot:
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


def _by_chains(sampling: Sampling, task: DrawTask) -> tuple[Floats, Floats, float]:
    """Shares of the chains' samples, standard errors, and the variance where p(1-p) = 1."""
    chains, allowed, effort = sampling.chains, task.allowed, task.effort
    number = chains.number
    before = sampling.chains_price(0) if sampling.few_chains else 0.0
    most = (EDGES.share * allowed.seconds - before) / chains.sample_seconds
    needed = (2.0 * 0.5 / allowed.half_width) ** 2
    fewest = EDGES.fewest_each[sampling.few_chains]
    each = int(np.clip(min(most, 2.0 * needed) / number, fewest, EDGES.most_each))
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

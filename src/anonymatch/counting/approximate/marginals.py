"""Probabilities of the edges of one block beyond exact reach, each with a standard error.

Three sources: trees of guided draws, whose lower parts are exact; worm chains, whose samples are
far cheaper; and for large blocks belief propagation, whose error the chains tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.counting.approximate.estimate import EstimateBudget, Sampling
from anonymatch.counting.approximate.importance import TooSlowError, TreeDraws
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.padding import squared
from anonymatch.running import Execution

__all__ = ["UNKNOWN", "EdgeEstimate", "estimate_edges"]

UNKNOWN = "out of reach"

Floats = npt.NDArray[np.float64]

_LARGE = 2000  # users from which on belief propagation is closer than samples are
_PILOT = 64  # trees
_PILOT_EACH = 16  # samples of a chain
_FEWEST_EACH = 8
_SHARE = 0.6  # of the seconds for the last stage
_MOST_EACH = 100_000  # samples of a chain


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEstimate:
    """Probabilities of a block's edges, their standard errors, and where they come from."""

    probabilities: Floats
    errors: Floats
    method: str

    @classmethod
    def unknown(cls, n_edges: int) -> EdgeEstimate:
        return cls(np.full(n_edges, np.nan), np.zeros(n_edges), UNKNOWN)


def estimate_edges(
    block: Block, *, seed: tuple[int, ...], allowed: EstimateBudget, effort: Execution
) -> EdgeEstimate | None:
    """Probabilities within the allowance, whose half-width is of a probability here; None if out
    of reach.
    """
    square = squared(block) if allowed.seconds > 0 else None
    if square is None:
        return None
    padded, _ = square
    sampling = Sampling(padded, seed=seed, allowed=allowed, effort=effort)
    if allowed.strict and sampling.chains_price(_FEWEST_EACH) > allowed.seconds:
        return None
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
    probabilities = np.clip(mixed.probabilities[rows], 0.0, 1.0)
    sums = np.add.reduceat(probabilities, block.indptr[:-1])
    probabilities = probabilities / np.repeat(np.maximum(sums, 1e-300), np.diff(block.indptr))
    return EdgeEstimate(probabilities, mixed.errors[rows], mixed.method)


def _closest(sampling: Sampling, allowed: EstimateBudget, effort: Execution) -> EdgeEstimate:
    """By trees or by chains, whichever gets closer for the same seconds."""
    tree_seconds = sampling.tree_seconds
    too_dear = allowed.strict and _PILOT * tree_seconds > _SHARE * allowed.seconds
    if too_dear or not sampling.trusted:
        probabilities, errors, _ = _by_chains(sampling, allowed, effort)
        return EdgeEstimate(probabilities, errors, "worm chain")
    guide = sampling.guide
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
    most = _SHARE * allowed.seconds / chains.sample_seconds
    needed = (2.0 * 0.5 / allowed.half_width) ** 2
    each = int(np.clip(min(most, 2.0 * needed) / number, _FEWEST_EACH, _MOST_EACH))
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

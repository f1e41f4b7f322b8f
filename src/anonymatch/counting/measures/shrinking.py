"""Probabilities that a model tells nearly and a chain counts with noise, put together.

The model (a scaling of weights) is off by a little, alike for probabilities of one size; counts of
a chain have no bias but are noisy. Both errors are estimated from replicas, and each gets its
share [1]_.

References
----------
.. [1] Efron, Morris. Stein's estimation rule and its competitors. 1973.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.counting.measures.tuning import MEASURES
from anonymatch.counting.measures.users import Range


def shrunk(
    model: Floats,
    hits: npt.NDArray[Any],
    samples: Floats,
    possible: Bools,
    sure: Floats,
    *,
    largest: bool = False,
) -> Range:
    """Probabilities by a model and by the replicas of a chain, with intervals of 95 %.

    Batches of the answer are replicas: a mean over many is known better than each. ``hits`` has the
    hits by probability and replica, and ``samples`` how many samples a replica has (by probability
    and replica, where each is given something else). Only those that are ``possible`` are
    estimated; the others are ``sure``. ``largest``: whether each is the largest of several by the
    model. By the chain another one may be, which is larger by about as much as the model is off.

    Examples
    --------
    >>> draw = np.random.default_rng(1)
    >>> truth = draw.uniform(0.1, 0.3, 1000)
    >>> hits = draw.binomial(50, np.repeat(truth[:, None], 16, axis=1))
    >>> both = shrunk(1.05 * truth, hits, np.full(16, 50.0), truth > 0, truth)
    >>> float(np.abs(both.value - truth).mean()) < 0.003
    True
    """
    value, low, high = sure.copy(), sure.copy(), sure.copy()
    at = np.flatnonzero(possible)
    if not len(at):
        return Range(value, low, high)
    drawn = np.broadcast_to(samples, hits.shape)[at].astype(np.float64)
    total = drawn.sum(axis=1)
    told = np.count_nonzero(drawn, axis=1) > 1
    value[at], low[at], high[at] = model[at], 0.0, 1.0
    at, drawn, total = at[told], drawn[told], total[told]
    if not len(at):
        return Range(value, low, high)
    counts = _Counts.of(hits[at], drawn)
    for group in _groups(model[at]):
        which = at[group]
        mean, variance = counts.mean[group], counts.variance[group]
        value[which], half, off = _together(model[which], mean, variance)
        half += MEASURES.none / total[group]
        low[which], high[which] = value[which] - half, value[which] + half + off * largest
    # The model is made right on average by the counts, so that a mean varies as they do.
    batches = np.repeat(value[:, None], hits.shape[1], axis=1).astype(np.float32)
    batches[at] += (counts.by_replica - counts.mean[:, None]).astype(np.float32)
    return Range(value, np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0), batches=batches)


class _Counts(NamedTuple):
    """Probabilities as replicas count them, and variances of their means.

    ``noise``: the variance of counts over that of independent samples.
    """

    mean: Floats
    by_replica: Floats
    variance: Floats
    noise: float

    @classmethod
    def of(cls, hits: npt.NDArray[Any], drawn: Floats) -> _Counts:
        total = drawn.sum(axis=1)
        mean = hits.sum(axis=1) / total
        counted = np.where(drawn > 0, hits / np.maximum(drawn, 1.0), mean[:, None])
        number = np.count_nonzero(drawn, axis=1)
        own = ((counted - mean[:, None]) ** 2 * drawn).sum(axis=1) / (total * (number - 1))
        size = np.maximum(mean * (1.0 - mean), 0.5 / total)
        noise = float((own * total).sum() / size.sum())
        variance = ((number - 1) * own + MEASURES.pooled * noise * size / total) / (
            number - 1 + MEASURES.pooled
        )
        return cls(mean, counted, variance, noise)


def deviations(
    model: Floats, hits: npt.NDArray[Any], samples: Floats, possible: Bools
) -> tuple[float, float]:
    """Return how far a model is off, and the noise of counts.

    The first is the variance of probabilities about the model, relative to ``p (1 - p)`` squared,
    and the second the variance of counts over that of independent samples. Parameters are those of
    :func:`shrunk`. Few probabilities say nothing of the model, which then has a huge variance.
    """
    drawn = np.broadcast_to(samples, hits.shape).astype(np.float64)
    at = np.flatnonzero(possible & (np.count_nonzero(drawn, axis=1) > 1))
    if not len(at):
        return MEASURES.counts_alone, 1.0
    counts = _Counts.of(hits[at], drawn[at])
    if len(at) < MEASURES.fewest_of_all:
        return MEASURES.counts_alone, max(counts.noise, 1.0)
    lean = float(counts.mean.sum()) / max(float(model[at].sum()), MEASURES.least)
    middle = np.clip(model[at] * lean, 0.0, 1.0)
    return _spread(middle, counts.mean, counts.variance), max(counts.noise, 1.0)


def _spread(middle: Floats, counted: Floats, variance: Floats) -> float:
    """How far probabilities are from the model, relatively, squared and without bias."""
    size = np.maximum(middle * (1.0 - middle), MEASURES.least)
    squares = ((counted - middle) ** 2 - variance) / size**2
    error = float(squares.std(ddof=1)) / math.sqrt(len(squares))
    return max(float(squares.mean()) + error, error)


def _groups(model: Floats) -> list[Ints]:
    """Indices of probabilities by their size."""
    number = min(max(len(model) // MEASURES.group, 1), MEASURES.most_groups)
    return np.array_split(np.argsort(model, kind="stable"), number)


def _together(model: Floats, counted: Floats, variance: Floats) -> tuple[Floats, Floats, Floats]:
    """Values of one group, half of their intervals, and how far the model is off."""
    if len(model) < MEASURES.group_fewest:
        return counted, MEASURES.shrunk_errors * np.sqrt(variance), np.abs(counted - model)
    lean = float(counted.sum()) / max(float(model.sum()), MEASURES.least)
    middle = np.clip(model * lean, 0.0, 1.0)
    size = np.maximum(middle * (1.0 - middle), MEASURES.least)
    spread = _spread(middle, counted, variance) * size**2
    share = spread / np.maximum(spread + variance, 1e-300)
    stray = np.abs(counted - middle) > MEASURES.stray * np.sqrt(spread + variance)
    value = np.where(stray, counted, middle + share * (counted - middle))
    # Who was counted often has the larger variance, and so the smaller share: that leans down.
    value = np.clip(value + (counted.sum() - value.sum()) * size / size.sum(), 0.0, 1.0)
    return (
        value,
        MEASURES.shrunk_errors * np.sqrt(np.where(stray, 1.0, share) * variance),
        np.sqrt(spread),
    )

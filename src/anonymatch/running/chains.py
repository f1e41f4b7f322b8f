"""Statistics of draws, batches and chains: standard errors, t-intervals and R-hat.

Every estimate of the package takes its intervals and its rule of convergence from here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.interval import Interval

__all__ = [
    "GROUPS",
    "REPLICA_CONFIDENCE",
    "RHAT_LIMIT",
    "T_GROUPS",
    "T_LANES",
    "chain_error",
    "mean_interval",
    "replica_mean",
    "rhat",
    "standard_error",
    "student",
    "variance_ratio",
]

RHAT_LIMIT = 1.1
"""Chains whose R-hat exceeds this disagree: their figures are withheld or reported as not known."""


REPLICA_CONFIDENCE = 0.95
# Student's t with 15 degrees of freedom, and a sixth more: replicas that begin alike are a little
# closer to each other than to the exact value, as logs with exact answers show.
T_LANES = 2.131 * 7 / 6
T_GROUPS = 2.093  # and with 19
GROUPS = 20  # of messages that follow each other, for the error of the divergence


@cache
def student(freedom: float, confidence: float = 0.95) -> float:
    """Return the half-width of a two-sided t-interval in standard errors.

    Examples
    --------
    >>> round(student(15), 3), round(student(9, 0.99), 3)
    (2.131, 3.25)
    """
    from scipy.special import stdtrit  # takes as long to load as numpy

    return float(stdtrit(max(freedom, 1.0), (1.0 + confidence) / 2.0))


def standard_error(values: Floats, axis: int | None = None) -> Any:
    """Return the standard error of the mean of independent values.

    Examples
    --------
    >>> float(standard_error(np.array([1.0, 2.0, 3.0])))
    0.577
    """
    number = values.size if axis is None else values.shape[axis]
    return values.std(axis=axis, ddof=1) / math.sqrt(number)


def mean_interval(
    values: Floats, confidence: float = 0.95, *, around: float | None = None
) -> Interval:
    """Return the t-interval of the mean of independent values.

    Parameters
    ----------
    values : array
    confidence : float, default 0.95
    around : float, optional
        Another estimate of the mean, which the interval is centred at.

    Examples
    --------
    >>> mean_interval(np.array([1.0, 2.0, 3.0]))
    Interval(value=2.0, low=-0.484, high=4.484)
    """
    value = float(values.mean()) if around is None else around
    if len(values) < 2:
        return Interval(value, 0.0, math.inf)
    half = student(len(values) - 1, confidence) * float(standard_error(values))
    return Interval(value, value - half, value + half)


def replica_mean(values: Floats, slack: float) -> Interval:
    """Return the mean over replicas that begin alike; ``slack`` is their common error."""
    value = float(values.mean())
    half = T_LANES * float(standard_error(values)) + slack
    return Interval(value, value - half, value + half)


def chain_error(values: Floats) -> float:
    """Return the standard error of a mean over chains (rows): the larger of two estimates.

    One is from the means of the chains, the other one from all values as if independent.
    """
    return max(float(standard_error(values.mean(axis=1))), float(standard_error(values)))


def rhat(traces: Sequence[Floats]) -> float:
    """Return split R-hat (Gelman and Rubin): 1 if both halves of every chain agree.

    Examples
    --------
    >>> rhat([np.array([0.0, 1.0, 0.0, 1.0]), np.array([5.0, 6.0, 5.0, 6.0])]) > RHAT_LIMIT
    True
    """
    half = len(traces[0]) // 2
    parts = np.array([part for trace in traces for part in (trace[:half], trace[-half:])])
    within = float(parts.var(axis=1, ddof=1).mean())
    between = float(parts.mean(axis=1).var(ddof=1))
    if between <= 1e-18:
        return 1.0
    if within <= 0.0:
        return math.inf
    return math.sqrt((half - 1) / half + between / within)


def variance_ratio(batches: Floats) -> tuple[Floats, float]:
    """Return squared errors of means by batches, and how far chains exceed them.

    ``batches`` has the axes chain, batch and quantity. Two chains say little about one quantity,
    but over all quantities they show whether batches are too short: the ratio of the variance
    between chains to the variance that batches predict is near 1 then, and R-hat is its root.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> 0.8 < variance_ratio(rng.normal(size=(2, 10, 1000)))[1] < 1.2
    True
    """
    chains, number = batches.shape[:2]
    own = batches.var(axis=1, ddof=1).mean(axis=0) / (chains * number)
    between = batches.mean(axis=1).var(axis=0, ddof=1) / chains
    whole = float(own.sum())
    return own, float(between.sum()) / whole if whole > 0.0 else 1.0

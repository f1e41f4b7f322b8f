"""Figures of a setting from its stretches, each with an interval.

Targets of one stretch are not independent: they meet the same packets. So means have the interval
of independent stretches, and quantiles that of as many independent targets as theirs are worth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.planning.simulation import CAUSES, Sample

__all__ = ["CONFIDENCE", "Outcome", "outcome_of"]

CONFIDENCE = 0.95  # two-sided for means, one-sided for what a target needs
_CERTAIN = 1e-9  # bits
_BATCHES = 4  # of a stretch


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a setting gives; delays in the units of the simulation, and without links."""

    entropy: Interval  # mean own bits
    worst: Interval  # own bits of the worst share
    identified: Interval  # share known for certain
    guessing: Interval | None  # guesses until a message is named, if they were counted
    mean_delay: Interval
    delay_99: Interval
    causes: tuple[float, ...]  # of the worst share, by CAUSES
    targets: int
    effective: float  # independent targets that these are worth
    missing: float


def outcome_of(samples: Sequence[Sample], share: float, *, ranked: bool) -> Outcome:
    """Figures of stretches; ``share``: how many are the worst."""
    samples = [sample for sample in samples if len(sample.bits) and len(sample.delays)]
    if len(samples) < 2:
        raise InputError(
            "too few messages come and go to say anything about this traffic; give more of it, or "
            "shorter delays"
        )
    bits = np.concatenate([sample.bits for sample in samples])
    size = len(bits)
    at = float(np.quantile(bits, share, method="inverted_cdf"))
    effective = size / _design_effect(samples, at)
    known = float((bits < _CERTAIN).mean())
    delays = [sample.delays for sample in samples if len(sample.delays)]
    late = np.array([float(np.quantile(part, 0.99)) for part in delays])
    worst = np.argsort(bits, kind="stable")[: max(1, math.ceil(share * size))]
    causes = np.concatenate([sample.cause for sample in samples])[worst]
    return Outcome(
        entropy=_mean([sample.bits.mean() for sample in samples]),
        worst=Interval(at, *_quantile_ends(np.sort(bits), share, effective)),
        identified=Interval(known, *_share_ends(known, effective)),
        guessing=_mean([s.guesses.mean() for s in samples]) if ranked else None,
        mean_delay=_mean([sample.mean_delay for sample in samples]),
        delay_99=_around(float(np.quantile(np.concatenate(delays), 0.99)), late),
        causes=tuple(float((causes == k).mean()) for k in range(len(CAUSES))),
        targets=size,
        effective=effective,
        missing=max(sample.missing for sample in samples),
    )


def _mean(values: Sequence[float]) -> Interval:
    array = np.asarray(values, dtype=np.float64)
    return _around(float(array.mean()), array)


def _around(value: float, values: Floats) -> Interval:
    """The interval of a mean of independent values, around another estimate of it."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return Interval(value, 0.0, math.inf)
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    width = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2)) * error
    return Interval(value, value - width, value + width)


def _design_effect(samples: Sequence[Sample], at: float) -> float:
    """How many times the variance of a share is that of independent targets.

    By stretches, which differ where clocks or corrupt mixes do, and by parts of them.
    """
    below = [sample.bits <= at for sample in samples if len(sample.bits)]
    parts = [part for one in below for part in np.array_split(one, _BATCHES) if len(part)]
    return max(1.0, _variance_ratio(below), _variance_ratio(parts))


def _variance_ratio(groups: Sequence[Bools]) -> float:
    means = np.array([float(group.mean()) for group in groups])
    sizes = np.array([len(group) for group in groups])
    share = float(np.average(means, weights=sizes))
    if not 0 < share < 1 or len(means) < 8:
        return 1.0
    return float(np.var(means, ddof=1) * sizes.mean() / (share * (1 - share)))


def _quantile_ends(ordered: Floats, share: float, effective: float) -> tuple[float, float]:
    """Distribution-free, by order statistics of as many independent targets."""
    from scipy.special import bdtr

    number = max(1, int(effective))
    ranks = np.arange(number + 1)
    below = bdtr(ranks, number, share)  # at most so many of them are below the quantile
    low = int(np.searchsorted(below, 1 - CONFIDENCE, side="right"))  # ranks that are surely below
    high = int(np.searchsorted(below, CONFIDENCE)) + 1
    size = len(ordered)
    least = float(ordered[min(size - 1, int(low / number * size) - 1)]) if low >= 1 else 0.0
    most = float(ordered[min(size - 1, math.ceil(high / number * size))])
    return least, most


def _share_ends(share: float, effective: float) -> tuple[float, float]:
    """Clopper and Pearson's ends, each with the confidence."""
    from scipy.special import betaincinv

    number = max(1.0, effective)
    hits = share * number
    low = 0.0 if hits <= 0 else float(betaincinv(hits, number - hits + 1, 1 - CONFIDENCE))
    high = 1.0 if hits >= number else float(betaincinv(hits + 1, number - hits, CONFIDENCE))
    return low, high

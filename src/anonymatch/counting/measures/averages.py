"""Figures of many users as one: means and quantiles, with the interval that holds them.

A mean of figures that lie in intervals lies between the means of the ends. The same is true of
quantiles: if no figure falls, the k-th smallest does not. So both are exact interval arithmetic.

Where figures were drawn, each with a standard error, some of many are farther off than any fixed
number of these. As many as that may be are left out on the side where they would help: the k-th
smallest is at most the (k + m)-th smallest of upper ends if no more than m upper ends fail.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.counting.measures.tuning import MEASURES
from anonymatch.counting.measures.users import Range, UserFigures, drawn_mean

SAMPLED = 0.99
"""Confidence of means over a sample."""

_STUDENT = {10: 3.2498355}  # the same for a mean of so many batches, without loading scipy


def mean(users: UserFigures, figures: Range) -> Interval | None:
    """The mean over the counted users, each as much as it is likely to have departed.

    None if there is nobody.
    """
    weights, some = _counted(users, figures)
    total = float(weights.sum())
    if not total > 0.0:
        return None
    value, low, high = (float(weights @ part) / total for part in some.parts)
    if some.batches is not None:
        by_batch = weights @ some.batches / total
        value = float(by_batch.mean())
        slack = error_of_batches(by_batch)
        low, high = max(low, value - slack), min(high, value + slack)
    if users.weights is not None:
        drawn = drawn_mean(some.value, weights)
        low, high = low - (value - drawn.low), high + (drawn.high - value)
        return Interval(value, max(low, 0.0), high)
    return Interval.rounded(value, low, high).clipped(float(some.low.min()), float(some.high.max()))


def mean_entropy(users: UserFigures, joint: Interval) -> Interval | None:
    """The mean Shannon entropy, also from below by the joint bits per user; None if nobody is.

    The entropies of all users add up to that of the matching or more, which counts where some of
    them are not known.

    Examples
    --------
    >>> import anonymatch as am
    >>> audit = am.audit(am.random_density(40, 0.5, seed=1), budget=0)
    >>> audit.bits.low <= mean_entropy(audit.answers.users, audit.bits).low
    True
    """
    average = mean(users, users.shannon)
    if average is not None and users.mean_shannon is not None:
        return users.mean_shannon
    if average is None or users.known or users.departed is not None:
        return average
    counted = users.counted
    others = float(users.shannon.high[~counted].sum())
    least = (joint.low * len(counted) - others) / int(counted.sum())
    return average.clipped(min(least, average.high), average.high)


def mean_of_sampled(
    begins: npt.NDArray[np.int32], probabilities: Floats, errors: Floats
) -> Interval:
    """Mean entropy of rows of probabilities that are known with standard errors.

    The mean is never farther off than its parts are on average, however their errors go together;
    a row's own is that of -sum(p log p) to first order. Noise makes entropies smaller, by the sum
    of variance over 2 p, which is added, and as much again to either side.
    """
    starts, rows = begins[:-1], len(begins) - 1
    some = np.maximum(probabilities, 1e-300)
    logs = np.where(probabilities > 0.0, np.log2(some), 0.0)
    own = -np.add.reduceat(probabilities * logs, starts)
    slopes = logs + np.repeat(own, np.diff(begins))
    moved = np.where(probabilities > 0.0, slopes * errors, 0.0)
    first = np.sqrt(np.add.reduceat(moved**2, starts))
    lost = np.minimum(errors**2 / (2.0 * some), errors) / math.log(2.0)
    missing = float(lost.sum()) / rows
    half = 2.0 * float(first.sum()) / rows + missing
    value = float(own.sum()) / rows + missing
    return Interval(value, value - half, value + half)


def sampled_mean(users: UserFigures, figures: Range) -> tuple[Interval, float] | None:
    """The mean where figures are known of some users only (NaN elsewhere), and its confidence.

    1.0 if all are known. Those that are must be spread evenly; none to be known gives None.
    """
    known = ~np.isnan(figures.low)
    if bool(known[users.counted].all()):
        average = mean(users, figures)
        return None if average is None else (average, 1.0)
    counted = users.counted & known
    weights = counted * _weights(users)
    values = np.where(counted, np.where(np.isnan(figures.value), figures.low, figures.value), 0.0)
    total, number = float(weights.sum()), int((weights > 0.0).sum())
    if number < 2:
        return None
    middle = float(weights @ values) / total
    low, high = (
        float(weights @ np.where(counted, end, 0.0)) / total for end in (figures.low, figures.high)
    )
    apart = weights * (values - middle)
    error = float(np.sqrt(apart @ apart * number / (number - 1))) / total
    return Interval(middle, low - MEASURES.errors * error, high + MEASURES.errors * error), SAMPLED


def quantile(users: UserFigures, figures: Range, share: float) -> Interval | None:
    """What the worst share of the counted users does not exceed; 0 is the smallest figure of all.

    Users count as in :func:`mean`. None if there is nobody.
    """
    if not 0.0 <= share <= 1.0:
        raise InputError(f"a quantile is a share from 0 to 1, not {share!r}")
    weights, some = _counted(users, figures)
    if not float(weights.sum()) > 0.0:
        return None
    if users.weights is not None and 0.0 < share < 1.0:
        drawn = weights > weights.min()
        return Interval(
            *(
                _quantile(part, weights, at)
                for part, at in zip(some.parts, _around(share, int(drawn.sum())), strict=True)
            )
        )
    return _drawn_or_exact(some, weights, share)


def in_groups(
    users: UserFigures, figures: Range, group: Ints, number: int, share: float
) -> list[tuple[Interval, Interval, int] | None]:
    """Mean, quantile and number of the counted users of each group; None of a group of nobody.

    ``group`` has a number from 0 for each user. Intervals are those of :func:`mean` and
    :func:`quantile`, which are wider where figures were drawn.

    Examples
    --------
    >>> import anonymatch as am
    >>> users = am.metrics(am.partition([1, 2, 4])).user_figures
    >>> first, nobody, second = in_groups(users, users.shannon, np.r_[0, [2] * 6], 3, 0.5)
    >>> first[0].value, nobody, second[1].value, second[2]
    (0.0, None, 2.0, 6)
    """
    weights, some = _counted(users, figures)
    of = group[users.counted]
    order = np.argsort(of, kind="stable")
    ends = np.searchsorted(of[order], np.arange(number + 1))
    groups: list[tuple[Interval, Interval, int] | None] = []
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        rows = order[first:last]
        own, parts = weights[rows], [part[rows] for part in some.parts]
        total = float(own.sum())
        if not total > 0.0:
            groups.append(None)
            continue
        middle = Interval.rounded(*(float(own @ part) / total for part in parts))
        tail = _drawn_or_exact(some.at(rows), own, share)
        groups.append((middle, tail, len(rows)))
    return groups


def mean_error(users: UserFigures, values: Floats, order: Ints) -> float | None:
    """Return one standard error of the mean over the counted users, from the traffic.

    Another log of the same system has other arrivals. How much that changes the mean is estimated
    by batch means: the log is cut into stretches of time, whose means vary. Neighbouring stretches
    may be correlated. ``order`` sorts users by time; NaN values are left out. None if fewer than
    two users are counted.

    Examples
    --------
    >>> import anonymatch as am
    >>> users = am.metrics(am.partition([2, 2, 2, 2])).user_figures
    >>> mean_error(users, users.shannon.value, np.arange(8))
    0.0
    """
    some = order[(users.counted & ~np.isnan(values))[order]]
    return _mean_error(values[some], _weights(users)[some])[0]


def _mean_error(values: Floats, weights: Floats) -> tuple[float | None, float]:
    """The standard error, and by which factor the correlation of stretches makes it larger."""
    total = float(weights.sum())
    if len(values) < 2 or not total > 0.0:
        return None, 1.0
    apart = weights * (values - float(weights @ values) / total) / total
    number = min(MEASURES.stretches, len(apart) // MEASURES.each)
    if number < MEASURES.fewest:
        return math.sqrt(float(apart @ apart) * len(apart) / (len(apart) - 1)), 1.0
    parts = np.array([part.sum() for part in np.array_split(apart, number)])
    alone = float(parts @ parts)
    together = alone + 2.0 * max(float(parts[1:] @ parts[:-1]), 0.0)
    # Parts add up to 0, which makes each of these sums too small by a part of the whole.
    error = math.sqrt(together * number / (number - 3))
    return error, math.sqrt(together / alone) if alone > 0.0 else 1.0


def quantile_error(users: UserFigures, values: Floats, share: float, order: Ints) -> float | None:
    """Return one standard error of a quantile of the counted users, from the traffic.

    By a block bootstrap: the log is cut into stretches of time, as in :func:`mean_error`, and
    stretches are drawn with replacement. The seed is fixed.
    """
    some = order[(users.counted & ~np.isnan(values))[order]]
    own, weights = values[some], _weights(users)[some]
    error, factor = _mean_error(own, weights)
    if error is None:
        return None
    number = min(MEASURES.stretches, len(own) // MEASURES.each)
    if number < MEASURES.fewest:
        number = len(own)  # each of so few users is a stretch
    block = np.repeat(
        np.arange(number), [len(part) for part in np.array_split(np.arange(len(own)), number)]
    )
    rising = np.argsort(own, kind="stable")
    if share < 0.1:  # hardly a draw reaches further
        rising = rising[: max(math.ceil(4.0 * share * len(own)), 200)]
    ranked, block_of, weight_of = own[rising], block[rising], weights[rising]
    totals = np.bincount(block, weights, number)
    drawn = np.random.default_rng(0).multinomial(
        number, np.full(number, 1.0 / number), size=MEASURES.resamples
    )
    quantiles = []
    for times in drawn.astype(np.float64):
        reached = np.cumsum(times[block_of] * weight_of)
        at = np.searchsorted(reached, share * float(times @ totals) * (1 - MEASURES.close))
        quantiles.append(ranked[min(int(at), len(ranked) - 1)])
    return factor * float(np.std(quantiles, ddof=1))


def extreme_error(users: UserFigures, values: Floats, order: Ints) -> float | None:
    """Return a safe standard error of the largest value of the counted users, from the traffic.

    It is the range of the largest values of stretches of time: one user decides the largest value
    of a log, so that less is not known.
    """
    some = values[order[(users.counted & ~np.isnan(values))[order]]]
    number = min(MEASURES.stretches, len(some))
    if number < 2:
        return None
    return float(np.ptp([part.max() for part in np.array_split(some, number)]))


def smallest(users: UserFigures, figures: Range) -> Interval | None:
    """The smallest figure of the counted users; None if there is nobody."""
    return quantile(users, figures, 0.0)


def largest(users: UserFigures, figures: Range) -> Interval | None:
    """The largest figure of the counted users; None if there is nobody."""
    return quantile(users, figures, 1.0)


def _around(share: float, drawn: int) -> tuple[float, float, float]:
    """A share, and two that hold it with 99 % among so many who were drawn: order statistics."""
    slack = MEASURES.errors * math.sqrt(
        max(share * (1.0 - share), 1.0 / max(drawn, 1)) / max(drawn, 1)
    )
    return share, max(share - slack, 0.0), min(share + slack, 1.0)


def _counted(users: UserFigures, figures: Range) -> tuple[Floats, Range]:
    """How much each counted user counts, and its figure: in the middle where it is not known."""
    counted = users.counted
    some = figures.at(counted)
    middle = np.where(np.isnan(some.value), (some.low + some.high) / 2, some.value)
    return _weights(users)[counted], replace(some, value=middle)


def _weights(users: UserFigures) -> Floats:
    """How likely each is to have departed; where that is not known it counts in full."""
    stands = np.ones(len(users.degree)) if users.weights is None else users.weights
    if users.departed is None:
        return stands
    return stands * np.where(np.isnan(users.departed), 1.0, users.departed)


def error_of_batches(values: Floats) -> float:
    """Return half of the interval of the mean of independent batches.

    Examples
    --------
    >>> round(error_of_batches(np.arange(10.0)), 3)
    3.111
    """
    number = len(values)
    return drawn_quantile(number) * float(values.std(ddof=1)) / math.sqrt(number)


@cache
def drawn_quantile(batches: int, confidence: float = SAMPLED) -> float:
    """Return the half-width of a mean over batches, in standard errors, at this confidence.

    Examples
    --------
    >>> round(drawn_quantile(10), 3)
    3.25
    """
    if batches in _STUDENT and confidence == SAMPLED:
        return _STUDENT[batches]
    from scipy.special import stdtrit

    return float(stdtrit(batches - 1, (1.0 + confidence) / 2.0))


def _drawn_or_exact(figures: Range, weights: Floats, share: float) -> Interval:
    """A quantile between those of the ends; farther out where figures were drawn."""
    value, low, high = (_quantile(part, weights, share) for part in figures.parts)
    number = len(weights)
    drawn = 0 if figures.errors is None else int((figures.errors > 0.0).sum())
    if figures.errors is None or not drawn:
        return Interval(value, low, high)
    rank = share * number
    lows, highs = [], []
    for reach in MEASURES.reaches:
        beyond = _beyond(drawn, reach)
        more = (reach - 2.0) * figures.errors
        if rank - beyond >= 1.0 or not beyond:
            lows.append(_quantile(figures.low - more, weights, max(share - beyond / number, 0.0)))
        if rank + beyond <= number:
            highs.append(_quantile(figures.high + more, weights, min(share + beyond / number, 1.0)))
    return Interval(value, min(max(lows), value), max(min(highs), value))


def _beyond(drawn: int, reach: float) -> int:
    """How many of so many figures may be off by more than so many standard errors.

    Twice as many as the normal law says, and three standard deviations: errors of figures may go
    together.

    Examples
    --------
    >>> [_beyond(100_000, reach) for reach in (2.0, 3.0, 4.0, 5.5)]
    [4694, 305, 12, 0]
    """
    expected = drawn * math.erfc(reach / math.sqrt(2.0)) / 2.0
    return (
        0 if expected < MEASURES.nobody else math.ceil(2.0 * expected + 3.0 * math.sqrt(expected))
    )


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    if (weights == 1.0).all():
        at = max(math.ceil(share * len(values) * (1 - MEASURES.close)), 1) - 1
        return float(np.partition(values, at)[at])
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0.0]
    reached = np.cumsum(weights[order])
    wanted = share * reached[-1] * (1 - MEASURES.close)
    return float(values[order[min(np.searchsorted(reached, wanted), len(order) - 1)]])

"""What replicas of the chain and the scaling say of a wide log with losses and cover."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonymatch._native import LINK_CHAIN_LANES, LinkRecord, LinkRows
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range, shrunk
from anonymatch.mixes.solvers.wide.bands import LinkBand, corrected_entropy, shares_at
from anonymatch.mixes.solvers.wide.link_chain import LinkComputation, LinkIntegral, ToldNumber
from anonymatch.mixes.solvers.wide.tuning import WIDE
from anonymatch.running import GROUPS, REPLICA_CONFIDENCE, T_GROUPS, T_LANES, replica_mean

_LN2 = math.log(2.0)
LINKS_CONFIDENCE = REPLICA_CONFIDENCE


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinksEstimate:
    """What is estimated of a wide log; logs and entropies of the whole in nats."""

    log_weight: Interval  # natural log of the sum over explanations of their weights
    # Of the explanation that happened; what has no column is one outcome, unless the number of lost
    # ones is told: then lost and inside are two.
    entropy: Interval
    # Probability of each row to have no column, and of each column to be somebody's.
    alone: Range
    real: Range
    shannon: Range  # entropy in bits of which column a row has, given that it has one
    # Its mean over the counted rows, each as much as it is likely to have a column.
    mean_shannon: Interval
    collision: Floats  # sum of squared probabilities of its columns, given that it has one
    probability: Range  # of the likeliest column, not given anything
    surest: Range  # the same, given that the row has a column
    guess: Ints  # that column; -1 if there is none
    guessing: Range  # guesses until the right one, given that it has a column
    allowed: Ints  # columns with a probability above 1e-12
    # The same with columns of a group taken together; empty without groups.
    group_shannon: Floats
    group_largest: Floats
    group_guess: Ints
    variance: float  # of what is told, of the first if it is two numbers
    lost: Range | None = None  # probability of each row to be lost, where their number is told
    # Bits by which the mean of -log2 of the scaling's shares exceeds the mean entropy.
    divergence: float = 0.0
    # Probability of each row to have the column that was asked for: the scaling's share times 2 to
    # the divergence, so that the mean of -log2 has no bias.
    asked: Floats | None = None
    # Mean over the counted rows of -log2 of that, in bits; None if figures are exact.
    mean_min_entropy: Interval | None = None
    replicas: int = LINK_CHAIN_LANES  # independent runs of the chain; 0 if figures are exact


def links_estimate(
    job: LinkComputation,
    record: LinkRecord,
    integral: LinkIntegral,
    number: ToldNumber,
    counted: Bools,
    rows: LinkRows,
) -> LinksEstimate:
    """All figures, from samples, from the integral and from shares of rows."""
    band = job.band
    some = record.samples > 0
    off = job.plan.off * _LN2 * band.rows + number.slack + integral.slack
    logs = integral.logs + number.log_probability
    weights = record.weights[some] / record.samples[some]
    tilt = float(job.tilts @ band.goals)
    # Where hardly a replica had the told number of pairs, what they had is known less well.
    wider = math.sqrt(LINK_CHAIN_LANES / max(int(some.sum()), 2))
    entropy = replica_mean(logs, off) if wider == 1.0 else replica_mean(logs, 4 * off)
    mean = float(weights.mean())
    half = math.hypot(
        entropy.high - entropy.value,
        T_LANES * wider * float(weights.std(ddof=1)) / math.sqrt(len(weights)),
    )
    if wider == 1.0:  # one replica's error of both is less than two errors
        half = min(half, _half(replica_mean(logs - weights, off)))
    value = entropy.value - mean
    own, divergence, cross = _mean_entropy(job, record, rows, counted)
    alone = _alone(job, record.samples)
    figures = _row_figures(job, rows, alone, own, divergence, counted)
    return LinksEstimate(
        log_weight=_shifted(entropy, -tilt),
        entropy=Interval(value, value - half, value + half).clipped(0.0, math.inf),
        alone=alone,
        real=_real(job, record.samples),
        mean_shannon=own,
        collision=rows.collision,
        guess=job.guesses.astype(np.int64),
        allowed=rows.allowed.astype(np.int64),
        group_shannon=rows.group_shannon,
        group_largest=rows.group_largest * (1.0 - alone.value)
        if len(rows.group_largest)
        else rows.group_largest,
        group_guess=rows.group_guess.astype(np.int64),
        variance=number.variance,
        shannon=figures.shannon,
        probability=figures.probability,
        surest=figures.surest,
        lost=_lost(job, record.samples, alone),
        guessing=figures.guessing,
        divergence=cross - own.value,
        mean_min_entropy=figures.mean_min_entropy,
    )


def _half(interval: Interval) -> float:
    return (interval.high - interval.low) / 2


def _shifted(interval: Interval, by: float) -> Interval:
    return Interval(interval.value + by, interval.low + by, interval.high + by)


def _mean_entropy(
    job: LinkComputation, record: LinkRecord, rows: LinkRows, counted: Bools
) -> tuple[Interval, float, float]:
    """The mean entropy of rows given that they have a column; and the divergence of a row.

    The last is the mean of -log2 of the scaling's shares.
    """
    some = record.paired > 0
    departed = float(record.paired.sum() / max(record.samples.sum(), 1.0))
    if not some.any() or not departed > 0.0:
        return Interval(0.0, 0.0, 0.0), 0.0, 0.0
    cross = -record.shares[some] / record.paired[some] / _LN2
    wider = math.sqrt(LINK_CHAIN_LANES / len(cross))
    error = T_LANES * wider * float(cross.std(ddof=1)) / math.sqrt(len(cross))
    apart = rows.distance[counted] / (2.0 * _LN2)
    groups = [part.sum() for part in np.array_split(apart, min(GROUPS, len(apart)))]
    scale = math.sqrt(len(groups)) / departed
    spread = T_GROUPS * float(np.std(groups, ddof=1)) * scale if len(groups) > 1 else 0.0
    mean = max(float(apart.sum()) / departed, 0.0)
    drawn = WIDE.estimate_noise / math.sqrt(float(record.samples.sum()) * len(apart))
    half = math.hypot(error, spread) + 0.25 * mean + WIDE.estimate_divergence_off + drawn
    value = float(cross.mean()) - mean
    own = Interval(value, value - half, value + half).clipped(0.0, math.inf)
    return own, mean + spread, float(cross.mean())


def _alone(job: LinkComputation, samples: Floats) -> Range:
    """Probability to have no column, where both are possible."""
    some = job.band.last > job.band.first
    return shrunk(
        np.clip(job.chain.scaling.alone(), 0.0, 1.0),
        job.chain.alone(),
        samples,
        some & (job.band.unpaired > 0.0),
        np.where(some, 0.0, 1.0),
    )


def _lost(job: LinkComputation, samples: Floats, alone: Range) -> Range | None:
    """Probability to be lost, where their number is told: given that, no row's is its own."""
    band = job.band
    if band.lost is None or band.staying is None:
        return None
    both = (band.staying > 0.0) & (band.unpaired > band.staying)
    never = band.unpaired <= band.staying
    # Who came long before the end is hardly inside: that is known far better than who is lost.
    inside = shrunk(
        np.clip(job.chain.scaling.alone(), 0.0, 1.0) * (1.0 - job.losses),
        job.chain.alone() - job.chain.lost(),
        samples,
        both,
        np.where(never, alone.value, 0.0),
    )
    value = np.clip(alone.value - inside.value, 0.0, 1.0)
    low, high = alone.low - inside.value, alone.high - inside.value
    half = np.maximum(inside.high - inside.low, alone.high - alone.low) / 2
    return Range(
        value,
        np.where(never, 0.0, np.clip(np.where(both, value - half, low), 0.0, 1.0)),
        np.where(never, 0.0, np.clip(np.where(both, value + half, high), 0.0, 1.0)),
    )


def _real(job: LinkComputation, samples: Floats) -> Range:
    covered = job.chain.scaling.columns() * job.band.cover
    reached = _reached(job.band)
    return shrunk(
        np.clip(1.0 - covered, 0.0, 1.0),
        job.chain.real(),
        samples,
        reached & (job.band.cover > 0.0),
        np.where(reached, 1.0, 0.0),
    )


def _reached(band: LinkBand) -> Bools:
    """Columns that some row may have."""
    change = np.zeros(band.columns + 1, dtype=np.int64)
    np.add.at(change, band.first, 1)
    np.add.at(change, band.last, -1)
    return np.cumsum(change)[:-1] > 0


class _RowFigures(NamedTuple):
    """Of rows: what is in a `LinksEstimate` under the same names."""

    shannon: Range
    probability: Range
    surest: Range
    guessing: Range
    mean_min_entropy: Interval


def _row_figures(
    job: LinkComputation,
    rows: LinkRows,
    alone: Range,
    own: Interval,
    divergence: float,
    counted: Bools,
) -> _RowFigures:
    """Figures of rows by their shares, corrected by what the chain counted."""
    degrees = np.asarray(job.band.last - job.band.first, dtype=np.int64)
    departed = 1.0 - alone.value
    some = degrees > 0
    sure = degrees <= 1
    weights = np.where(counted, departed, 0.0)
    total = max(float(weights.sum()), 1e-300)
    shannon, slack, most = corrected_entropy(
        rows.shannon,
        rows.collision,
        degrees,
        lambda values: float(weights @ values) / total,
        own=own.value,
        half=_half(own),
        divergence=divergence,
    )
    top = job.top()
    share = _guess_shares(job)
    best = shrunk(
        share * (1.0 - np.clip(job.chain.scaling.alone(), 0.0, 1.0)),
        job.chain.guessed(),
        job.tried,
        some & ~(sure & (job.band.unpaired == 0.0)),
        np.where(some, departed, 0.0),
    )
    # Both from the same samples: a quotient of two estimates would have the noise of both.
    given = shrunk(
        np.where(some, share, 1.0),
        job.chain.guessed(),
        job.tried_paired,
        ~sure,
        np.ones(len(sure)),
    )
    least = 1.0 / np.maximum(degrees, 1)
    errors = (given.high - given.low) / 2
    # Another column than the guess may be the likeliest one.
    other = np.where(sure, given.high, np.maximum(top.high, given.high))
    given = Range(
        *(np.clip(part, least, 1.0) for part in (given.value, given.low, other)),
        batches=given.batches,
    )
    largest = np.where(sure, 1.0, np.clip(top.largest, least, 1.0))
    bits = _mean_min_entropy(given, largest, errors, weights)
    off = np.where(sure, 0.0, min(5.0 * math.sqrt(2.0 * _LN2 * divergence), 0.9))
    guesses = np.maximum(rows.guessing, 1.0)
    return _RowFigures(
        shannon=Range(shannon, np.maximum(shannon - slack, 0.0), np.minimum(shannon + slack, most)),
        probability=Range(
            np.minimum(best.value, departed),
            np.minimum(best.low, departed),
            np.minimum(np.maximum(best.high, top.high * (1.0 - alone.low)), 1.0 - alone.low),
            batches=best.batches,
        ),
        surest=given,
        guessing=Range(
            guesses,
            np.maximum(guesses * (1.0 - off), 1.0),
            np.maximum(np.minimum(guesses * (1.0 + off), (degrees + 1) / 2), guesses),
        ),
        mean_min_entropy=bits,
    )


def _guess_shares(job: LinkComputation) -> Floats:
    """The share of each row's guess by the scaling, given that the row has a column."""
    band, scaling = job.band, job.chain.scaling
    factors = scaling.rows(), scaling.columns()
    guesses = job.guesses.astype(np.int64)
    shares = shares_at(band.first, band.last, band.weights, factors, guesses)
    return np.clip(shares / np.maximum(1.0 - scaling.alone(), 1e-300), 0.0, 1.0)


def _mean_min_entropy(given: Range, largest: Floats, errors: Floats, weights: Floats) -> Interval:
    """The mean of -log2 of the likeliest column's probability.

    A guess is no likelier than the likeliest column, and the largest of noisy probabilities is on
    average no smaller. So the mean lies between those of both. ``errors``: three standard errors.
    """
    total = float(weights.sum())
    if not total > 0.0:
        return Interval(0.0, 0.0, 0.0)
    value = np.maximum(given.value, 1e-300)
    ends = (float(weights @ -np.log2(part)) / total for part in (np.maximum(largest, value), value))
    low, high = ends
    # The logarithm of noisy numbers leans by their variance.
    lean = np.minimum((errors / 3.0 / value) ** 2 / (2.0 * _LN2), 1.0)
    slack = float(weights @ lean) / total
    logs = given.minus_log2().batches
    if logs is not None:
        means = weights @ logs / total
        slack += T_LANES * float(means.std(ddof=1)) / math.sqrt(len(means))
    middle = (low + high) / 2
    return Interval(middle, low - slack, high + slack).clipped(0.0, math.inf)

"""From rows of the chain over counts by hop to figures of messages."""

from __future__ import annotations

import math

import numpy as np

from anonymatch._native import PhaseChain, PhaseRows
from anonymatch.base.arrays import Floats
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range
from anonymatch.mixes.solvers.links import (
    LinkFigures,
    ReceiverFigures,
    around,
    early_shares,
    entropy_slack,
    guesses_within,
    two_outcomes,
)
from anonymatch.mixes.solvers.phases.phase_log import PhaseLog
from anonymatch.mixes.solvers.phases.phase_passes import BATCHES, CONFIDENCE, QUANTILE, TOLERANCE

__all__ = ["chain_figures", "log_evidence"]

_LN2 = math.log(2.0)


def chain_figures(
    log: PhaseLog,
    chain: PhaseChain,
    rows: PhaseRows,
    near: float,
    missing: float,
    *,
    samples: int,
) -> LinkFigures:
    """Figures of messages. ``near`` of each may be missing, and ``missing`` of the evidence."""
    lost, departing = chain.kernel.lost(), chain.kernel.real()
    error = near + TOLERANCE + 1e-13
    factor = QUANTILE if samples else 0.0
    departed, inside = rows.departed, rows.inside
    joint, link = _entropies(log, chain, rows, lost, departing, error, missing)
    most = np.log2(np.maximum(rows.allowed, 1))
    estimated = factor * float(rows.largest_error.max(initial=0.0))
    notes = (
        f"The evidence is exact; figures of messages are estimated from {samples} drawn paths.",
    )
    return LinkFigures(
        log_evidence=log_evidence(log, chain),
        joint_bits=joint,
        link_bits=link,
        departed=departed,
        lost=lost,
        inside=inside,
        real=departing,
        shannon=around(
            rows.shannon,
            factor * rows.shannon_error + entropy_slack(error, departed, rows.allowed),
            most,
            rows.shannon_batches if samples else None,
        ),
        shannon_all=around(
            rows.shannon_all,
            factor * rows.shannon_all_error
            + entropy_slack(error, np.ones_like(departed), rows.allowed + 2),
            np.log2(rows.allowed + 2.0),
        ),
        collision=rows.collision,
        probability=around(
            rows.largest,
            factor * rows.largest_error + error,
            np.ones_like(departed),
            rows.largest_batches if samples else None,
        ),
        guess=rows.guess.astype(np.int64),
        allowed=rows.allowed.astype(np.int64),
        error=max(error, estimated),
        confidence=CONFIDENCE if samples else 1.0,
        method="counts by hop, drawn" if samples else "counts by hop",
        guessing=_guesses(rows, error)
        if samples
        else guesses_within(rows.guessing, error, rows.allowed),
        receivers=None if log.receivers is None else _receivers(rows),
        asked=None if log.asked is None else rows.asked,
        early=None if log.early is None else early_shares(1 - departing, log.early, log.nobodys),
        notes=notes if samples else (),
    )


def log_evidence(log: PhaseLog, chain: PhaseChain) -> float:
    """Natural log of the probability density of the log."""
    return float(chain.kernel.log_evidence) + log.constant() - log.log_prior()


def _guesses(rows: PhaseRows, error: float) -> Range:
    """Guesses from drawn paths: their own order is a little too good, that of others too bad."""
    spread = rows.guessing_batches.std(axis=1, ddof=1) / math.sqrt(BATCHES)
    slack = QUANTILE * spread + error * rows.allowed.astype(np.float64)
    low = np.maximum(rows.guessing - slack, 1.0)
    return Range(rows.guessing, low, rows.guessing_apart + slack)


def _receivers(rows: PhaseRows) -> ReceiverFigures:
    return ReceiverFigures(
        shannon=rows.group_shannon,
        probability=rows.group_largest,
        guess=rows.group_guess.astype(np.int64),
    )


def _entropies(
    log: PhaseLog,
    chain: PhaseChain,
    rows: PhaseRows,
    lost: Floats,
    departing: Floats,
    error: float,
    missing: float,
) -> tuple[Interval, Interval]:
    """Entropy of the explanation, and of it with lost and inside as one.

    It is the log of all weights less the mean log weight, which needs marginals only.
    """
    evidence = chain.kernel.log_evidence
    some = log.nobodys > 0.0
    common = float(((1.0 - departing[some]) * np.log(log.nobodys[some])).sum())
    departed = float(rows.departed.sum())
    pairs = rows.pair_logs + departed * math.log1p(-log.loss)
    gone = float(lost.sum()) * math.log(log.loss) if log.loss else 0.0
    joint = (evidence - common - gone - pairs - rows.inside_logs) / _LN2
    link = (evidence - common - pairs - rows.unseen_logs) / _LN2
    size = abs(evidence) + float(np.abs(pairs).max(initial=0.0)) + len(lost)
    # Pairs' probabilities may each be off; the evidence is too small by what is missing of it.
    slack = error * 64.0 * len(lost) + missing / _LN2
    whole_joint = _mean(joint, size, slack)
    most = whole_joint.high
    if log.channel.drained or log.total_end == 0:
        return whole_joint, whole_joint
    if log.channel.lost:
        unseen = lost + rows.inside
        apart = float((unseen * two_outcomes(lost / np.maximum(unseen, 1e-300))).sum())
        return whole_joint, Interval.between(max(whole_joint.low - apart, 0.0), most)
    return whole_joint, _mean(link, size, slack).clipped(0.0, most)


def _mean(values: Floats, size: float, slack: float) -> Interval:
    """The mean of batches with its interval; of one batch, what rounding leaves open."""
    value = float(values.mean())
    if len(values) > 1:
        slack += QUANTILE * float(values.std(ddof=1)) / math.sqrt(len(values))
    return Interval.rounded(value, value - slack, value + slack, size=size).clipped(0.0, math.inf)

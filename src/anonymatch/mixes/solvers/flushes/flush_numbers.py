"""A flush mix without losses and cover: how many are inside is known, so all follows from numbers.

Of n inside s leave, drawn uniformly: whatever made them s (a batch, a clock, coins that nobody
sees). So a message leaves now with probability s/n, and is then one of s.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymatch._native import FlushStay, flush_stay
from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.solvers.flushes.flush_states import FlushModel

__all__ = ["KnownNumbers", "known_numbers"]


@dataclass(frozen=True, slots=True, eq=False)
class KnownNumbers:
    """What follows from numbers; evidence and entropy in nats, an entry a flush and the end."""

    inside: Ints
    left: Ints
    stay: FlushStay
    log_evidence: Floats
    entropy: Floats

    def allowed(self, least: float) -> Ints:
        """Departures that a message of each flush is with more than this probability."""
        n, s = self.inside.astype(np.float64), self.left
        with np.errstate(divide="ignore"):
            stays = np.log(np.maximum(n - s, 0.0)) - np.log(np.maximum(n, 1.0))
            each = -np.log(np.maximum(n, 1.0))
        stays[s == 0] = 0.0
        # Sums start anew where a mix is left empty: nobody stays beyond that.
        empty = np.flatnonzero(np.isneginf(stays))
        before = np.concatenate(([0.0], np.cumsum(np.where(np.isneginf(stays), 0.0, stays))[:-1]))
        key = np.minimum.accumulate(before + each) if len(n) else before
        limit = before + np.log(least)
        reach = np.searchsorted(-key, -limit, side="left")  # flushes before it are likely enough
        last = np.concatenate((empty, [len(n) - 1])) + 1
        until = last[np.searchsorted(empty, np.arange(len(n)), side="left")]
        totals = np.concatenate(([0], np.cumsum(s)))
        numbers = totals[np.minimum(reach, until)] - totals[: len(n)]
        return np.append(np.maximum(numbers, 0), 0)

    @property
    def longest(self) -> int:
        """Flushes that a message may stay for; more only round."""
        empty = np.flatnonzero(self.inside == self.left)
        borders = np.concatenate(([-1], empty, [len(self.inside)]))
        return int(np.diff(borders).max())


def known_numbers(model: FlushModel) -> KnownNumbers | None:
    """The numbers of a log in which nothing is hidden; None if something is, or nothing fits."""
    rounds, rule = model.rounds, model.rule
    hidden = model.loss > 0 or model.totals or model.counted or bool(model.means.any())
    if hidden or not rounds.number:
        return None
    came = np.cumsum(rounds.entered[:-1])
    left = rounds.left.astype(np.int64)
    inside = came - np.concatenate(([0], np.cumsum(left)[:-1]))
    evidence = np.zeros(rounds.number + 1)
    if (left > inside).any() or (model.drained and inside[-1] - left[-1] + rounds.entered[-1]):
        return None
    if rule.batch is not None:
        full = inside - left == rule.kept
        waits = (left == 0) & (inside < rule.batch + rule.kept)
        if not (full | waits).all() or not _whole_batches(model, left).all():
            return None
        if inside[-1] - left[-1] + rounds.entered[-1] >= rule.batch + rule.kept:
            return None
    elif rule.share is None:
        if (rule.stays(inside) != inside - left).any():
            return None
    else:
        evidence[:-1] = _coins(rule.leave(inside), inside, left)
        if np.isneginf(evidence).any():
            return None
    from scipy.special import gammaln

    entropy = np.zeros(rounds.number + 1)
    entropy[:-1] = gammaln(inside + 1.0) - gammaln(inside - left + 1.0)
    return KnownNumbers(inside, left, flush_stay(inside, left), evidence, entropy)


def _whole_batches(model: FlushModel, left: Ints) -> Ints:
    batch = model.rule.batch or 1
    return np.asarray((left % batch == 0) & (left <= batch * model.rounds.batches))


def _coins(leave: Floats, inside: Ints, left: Ints) -> Floats:
    """Log probability that so many of those inside leave, each by its coin."""
    from scipy.special import gammaln, xlog1py, xlogy

    n, s = inside.astype(np.float64), left.astype(np.float64)
    ways = gammaln(n + 1) - gammaln(s + 1) - gammaln(n - s + 1)
    return np.asarray(ways + xlogy(s, leave) + xlog1py(n - s, -leave))

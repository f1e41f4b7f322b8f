"""What little seconds buy of a log whose delays are sums of exponential hops.

The entropy of the matching is the log of the evidence, which one pass of the filter gives, less the
mean log weight of the matching that happened. If delays follow the law, that mean over all logs is
known, and given a log it differs from it by no more than a sum of as many independent logs of
densities does: so its interval needs no second pass. Without the evidence, the log of the number of
matchings is a bound. Figures of messages are by the density of their own delays alone: values that
show who has many candidates, with intervals that claim nothing.
"""

from __future__ import annotations

import math

import numpy as np

from anonymatch._native import stage_log_density, stage_survival
from anonymatch.base.arrays import Floats, Ints
from anonymatch.measures.interval import Interval
from anonymatch.measures.passages.links import LinkFigures
from anonymatch.measures.users import Range

__all__ = ["outline", "outline_seconds"]

_LN2 = math.log(2.0)
_NORMAL = 1.96
_GRID = 4000  # delays by which means of the law are taken
_GONE = math.log(1e-13)  # log of what is left out there,
_TAIL = math.log(1e-4)  # and of candidates of a message
_PAIRS = 2e6  # of a message and a candidate that are looked at
_PAIR_SECONDS, _MESSAGE_SECONDS = 4e-8, 1e-6
_CONFIDENCE = 0.95


def outline_seconds(messages: int) -> float:
    """Predicted seconds of an outline, without the evidence."""
    return _PAIR_SECONDS * _PAIRS + _MESSAGE_SECONDS * messages


def outline(
    arrivals: Floats,
    departures: Floats,
    rates: Floats,
    evidence: tuple[float, float] | None,
    log_evidence: float | None,
) -> LinkFigures:
    """Figures of a log of which all that came in left, and nothing else did.

    Parameters
    ----------
    arrivals, departures, rates
        As for the chain: in means of the slowest hop.
    evidence : tuple of float or None
        Natural log of the density of the log in this unit, and what may be missing of it; None if
        it was too dear.
    log_evidence : float or None
        The same as users are told it.
    """
    size = len(arrivals)
    law = _Law(rates)
    joint = _joint(arrivals, departures, law, evidence)
    later = size - np.searchsorted(departures, arrivals, side="left")
    most = np.log2(np.maximum(later, 1))
    shannon, collision, largest = _by_density(arrivals, departures, law)
    entropy = Range(np.minimum(shannon, most), np.zeros(size), most)
    best = np.clip(largest, 1.0 / np.maximum(later, 1), 1.0)
    ones, zeros = np.ones(size), np.zeros(size)
    return LinkFigures(
        log_evidence=log_evidence,
        joint_bits=joint,
        link_bits=joint,
        departed=ones,
        lost=zeros,
        inside=zeros,
        real=np.ones(len(departures)),
        shannon=entropy,
        shannon_all=entropy,
        collision=np.clip(collision, 1.0 / np.maximum(later, 1), 1.0),
        probability=Range(best, 1.0 / np.maximum(later, 1), ones),
        guess=_likeliest(arrivals, departures, law),
        allowed=later.astype(np.int64),
        error=1.0,
        confidence=1.0 if evidence is None else _CONFIDENCE,
        method="bounds" if evidence is None else "evidence",
        notes=(_note(evidence),),
    )


def _note(evidence: tuple[float, float] | None) -> str:
    if evidence is None:
        return (
            "The budget is too small for the evidence: joint bits are between bounds, and figures "
            "of messages are by their own delays alone, without a claim"
        )
    return (
        "The budget is enough for the evidence alone: joint bits are estimated from it, if delays "
        "follow the law, and figures of messages are by their own delays alone, without a claim"
    )


class _Law:
    """The density of a delay, and the mean and spread of its log."""

    def __init__(self, rates: Floats) -> None:
        self._rates = rates
        end = self.reach(_GONE)
        # Quadratic steps: densities of few hops change most near 0.
        edges = end * np.linspace(0.0, 1.0, _GRID + 1) ** 2
        self.delays = (edges[1:] + edges[:-1]) / 2
        shares = -np.diff(np.exp(stage_survival(rates, edges)))
        self.logs = stage_log_density(rates, self.delays)
        self.mean = float(shares @ self.logs)
        self.variance = float(shares @ (self.logs - self.mean) ** 2)
        self.mode = float(self.delays[np.argmax(self.logs)])

    def reach(self, tail: float) -> float:
        """A delay that is exceeded with a probability whose log is ``tail``, or less."""
        end = 1.0
        while stage_survival(self._rates, np.array([end]))[0] > tail:
            end *= 1.1
        return end


def _joint(
    arrivals: Floats, departures: Floats, law: _Law, evidence: tuple[float, float] | None
) -> Interval:
    """Entropy of the matching in bits; never more than that of all matchings alike."""
    size = len(arrivals)
    inside = np.searchsorted(arrivals, departures, side="right") - np.arange(size)
    most = float(np.log2(np.maximum(inside, 1)).sum())
    if evidence is None:
        return Interval.between(0.0, most)
    log, missing = evidence
    value = (log - size * law.mean) / _LN2
    slack = (_NORMAL * math.sqrt(size * law.variance) + missing) / _LN2
    return Interval.rounded(
        value, value - slack, value + slack, size=abs(log) + size * abs(law.mean)
    ).clipped(0.0, most)


def _by_density(arrivals: Floats, departures: Floats, law: _Law) -> tuple[Floats, Floats, Floats]:
    """Entropy, sum of squares and largest of the shares by density; between some messages, as by
    those before and after them.
    """
    reach = law.reach(_TAIL)
    first = np.searchsorted(departures, arrivals, side="left")
    widths = np.searchsorted(departures, arrivals + reach, side="right") - first
    step = max(1, math.ceil(float(widths.sum()) / _PAIRS))
    chosen = np.arange(0, len(arrivals), step)
    chosen = chosen[widths[chosen] > 0]
    if not len(chosen):
        return np.zeros(len(arrivals)), np.ones(len(arrivals)), np.ones(len(arrivals))
    counts = widths[chosen]
    starts = np.concatenate(([0], np.cumsum(counts)))[:-1]
    candidates = np.arange(int(counts.sum())) - np.repeat(starts - first[chosen], counts)
    delays = departures[candidates] - np.repeat(arrivals[chosen], counts)
    logs = np.interp(delays, law.delays, law.logs)
    logs -= np.repeat(np.maximum.reduceat(logs, starts), counts)
    shares = np.exp(logs)
    sums = np.add.reduceat(shares, starts)
    entropy = np.log2(sums) - np.add.reduceat(shares * logs, starts) / sums / _LN2
    collision = np.add.reduceat(shares**2, starts) / sums**2
    everybody = np.arange(len(arrivals))
    figures = (np.interp(everybody, chosen, part) for part in (entropy, collision, 1.0 / sums))
    shannon, together, largest = figures
    return shannon, together, largest


def _likeliest(arrivals: Floats, departures: Floats, law: _Law) -> Ints:
    """The departure whose delay is nearest to the likeliest one, of those that came later."""
    first = np.searchsorted(departures, arrivals, side="left")
    after = np.searchsorted(departures, arrivals + law.mode)
    after = np.minimum(after, len(departures) - 1)
    before = np.maximum(after - 1, np.minimum(first, len(departures) - 1))
    wanted = arrivals + law.mode
    nearer = np.abs(departures[before] - wanted) < np.abs(departures[after] - wanted)
    return np.where(nearer, before, after).astype(np.int64)

"""guess_flushes(): the mix that sends messages on together, if the times of a log look like one.

How many are inside at each flush and how many leave is known without knowing who is who. A rule
that is followed to the message is taken; coins are told apart by their likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.mixes.laws.flushes import (
    Binomial,
    Cottrell,
    FlushLaw,
    Pool,
    Threshold,
    Timed,
    TimedPool,
)
from anonymatch.mixes.laws.guessing import LawGuess, law_text, rounded

__all__ = ["guess_flushes"]

_FEWEST = 3  # flushes
_TOGETHER = 0.5  # share of messages out that leave with others, where a clock tells them to
_OFF = 1e-3  # of an interval, by which a flush may miss its moment
_SKIPPED = 6  # intervals without a flush in a row, at most, everywhere in the log
_MOST_FLUSHES = 100_000
_MOST_KEPT = 200  # numbers of messages that stay which are tried


def guess_flushes(arrivals: Floats, departures: Floats) -> LawGuess | None:
    """The law of a mix with flushes that a log follows; None if it looks like none.

    Parameters
    ----------
    arrivals, departures : array of float
        Seconds, each sorted, without messages that were lost and without cover.

    Examples
    --------
    >>> guess_flushes(np.arange(9.0), np.repeat([2.0, 5.0, 8.0], 3)).text
    'threshold:3'
    """
    moments, leaving = np.unique(departures, return_counts=True)
    if len(moments) < _FEWEST:
        return None
    inside = _inside(arrivals, moments, leaving)
    if (inside < leaving).any():
        return None  # something came out that nobody can have sent
    if np.isin(moments, arrivals).all():
        law = _by_number(inside, leaving)
    elif leaving[leaving > 1].sum() >= _TOGETHER * len(departures):
        law = _by_clock(arrivals, moments, leaving)
    else:
        law = None
    if law is None:
        return None
    reason = f"{len(moments):,} moments at which messages leave look like the {law}"
    return LawGuess(law=law, text=law_text(law), reason=reason, fits=True)


def _inside(arrivals: Floats, moments: Floats, leaving: Ints) -> Ints:
    """Messages inside at each moment, before the flush."""
    before = np.cumsum(leaving) - leaving
    return np.searchsorted(arrivals, moments, side="right") - before


def _by_number(inside: Ints, leaving: Ints) -> FlushLaw | None:
    batch, kept = int(leaving[0]), int(inside[0] - leaving[0])
    if (leaving != batch).any() or (inside != batch + kept).any():
        return None
    return Pool(batch, kept) if kept else Threshold(batch)


# ---- by the clock


@dataclass(frozen=True, slots=True, eq=False)
class _Flushes:
    """Strikes of a clock at which somebody was inside: how many, and how many left."""

    interval: float
    origin: float
    inside: Ints
    leaving: Ints

    def follow(self, law: FlushLaw) -> bool:
        """Whether a rule without chance says of each how many leave."""
        stays = np.asarray(law.flush.stays(self.inside))
        return bool((self.inside - stays == self.leaving).all())

    def score(self, law: FlushLaw, size: int) -> float:
        """Log likelihood of coins, less half the log of the flushes for each number of the law."""
        chances = np.asarray(law.flush.leave(self.inside), dtype=np.float64)
        stay = self.inside - self.leaving
        if (self.leaving[chances <= 0.0] > 0).any() or (stay[chances >= 1.0] > 0).any():
            return -math.inf
        within = np.clip(chances, 1e-12, 1.0 - 1e-12)
        logs = self.leaving * np.log(within) + stay * np.log1p(-within)
        return float(logs.sum()) - size * math.log(len(self.inside)) / 2


def _by_clock(arrivals: Floats, moments: Floats, leaving: Ints) -> FlushLaw | None:
    flushes = _strikes(arrivals, moments, leaving)
    if flushes is None:
        return None
    for law in _rules(flushes):
        if flushes.follow(law):
            return law
    scored = [(flushes.score(law, size), law) for law, size in _coins(flushes)]
    return max(scored, key=lambda pair: pair[0])[1] if scored else None


def _strikes(arrivals: Floats, moments: Floats, leaving: Ints) -> _Flushes | None:
    gaps = np.diff(moments)
    shortest = float(gaps.min())
    for parts in range(1, _SKIPPED + 1):
        steps = np.round(gaps * parts / shortest)
        # The mean of all gaps is nearer to the interval than any of them.
        interval = float(gaps.sum() / steps.sum())
        numbers = np.concatenate(([0], np.cumsum(steps))).astype(np.int64)
        off = np.abs(moments - moments[0] - numbers * interval)
        if (off <= _OFF * interval).all():
            break
    else:
        return None
    if numbers[-1] > _MOST_FLUSHES:
        return None
    interval = rounded(interval, 6)
    origin = float(moments[0]) % interval
    origin = 0.0 if min(origin, interval - origin) <= _OFF * interval else rounded(origin, 6)
    every = np.zeros(int(numbers[-1]) + 1, dtype=np.int64)
    every[numbers] = leaving
    times = moments[0] + np.arange(len(every)) * interval
    times[numbers] = moments
    inside = _inside(arrivals, times, every)
    some = inside > 0
    return _Flushes(interval, origin, inside[some], every[some])


def _rules(flushes: _Flushes) -> Iterator[FlushLaw]:
    """Laws without chance, the simplest first."""
    interval, origin = flushes.interval, flushes.origin
    yield Timed(interval, origin)
    stay = flushes.inside - flushes.leaving
    kept = int(stay[flushes.leaving > 0].min())
    yield TimedPool(interval, kept, 1.0, origin)
    for least in range(min(kept, _MOST_KEPT), -1, -1):
        share = _share(flushes, least)
        if share is not None:
            yield TimedPool(interval, least, share, origin)


def _share(flushes: _Flushes, kept: int) -> float | None:
    """A share of those inside, rounded down, that leaves so many; the roundest one there is."""
    inside, leaving = flushes.inside, flushes.leaving
    most = np.maximum(inside - kept, 0)
    low = float((leaving / inside).max())
    open_ = leaving < most
    high = float(((leaving + 1) / inside)[open_].min()) if open_.any() else math.inf
    if not low < min(high, 1.0):
        return None
    for digits in range(1, 7):
        share = math.ceil(low * 10.0**digits - 1e-9) / 10.0**digits
        if 0.0 < share < min(high, 1.0):
            return share
    return None


def _coins(flushes: _Flushes) -> Iterator[tuple[FlushLaw, int]]:
    """Laws by chance with the numbers that fit best, and how many numbers they have."""
    interval, origin = flushes.interval, flushes.origin
    inside, leaving = flushes.inside, flushes.leaving
    overall = float(leaving.sum() / inside.sum())
    if 0.0 < overall <= 1.0:
        yield Binomial(interval, rounded(overall), None, origin), 1
    best = _best_cottrell(flushes)
    if best is not None:
        yield best, 2
    spread = _best_spread(flushes, overall)
    if spread is not None:
        yield spread, 2


def _best_cottrell(flushes: _Flushes) -> FlushLaw | None:
    most = min(int(flushes.inside.max()), _MOST_KEPT)
    laws = [
        Cottrell(flushes.interval, least, percent / 100, flushes.origin)
        for least in range(1, most + 1)
        for percent in range(5, 101, 5)
    ]
    scored = [(flushes.score(law, 0), number) for number, law in enumerate(laws)]
    score, number = max(scored, default=(-math.inf, 0))
    if not math.isfinite(score):
        return None
    first = laws[number]
    finer = [
        Cottrell(first.interval, first.least, percent / 100, first.origin)
        for percent in range(max(1, round(100 * first.fraction) - 5), 101)
        if percent <= 100 * first.fraction + 5
    ]
    return max(finer, key=lambda law: flushes.score(law, 0))


def _best_spread(flushes: _Flushes, overall: float) -> FlushLaw | None:
    from scipy.optimize import minimize

    def law_of(values: Floats) -> Binomial:
        centre, spread = (rounded(math.exp(value)) for value in values.tolist())
        return Binomial(flushes.interval, centre, spread, flushes.origin)

    def cost(values: Floats) -> float:
        try:
            return -flushes.score(law_of(values), 0)
        except (InputError, OverflowError):
            return math.inf

    middle = float(np.median(flushes.inside))
    start = np.log([middle / max(2 * overall, 0.1), max(middle / 2, 1.0)])
    best = minimize(cost, start, method="Nelder-Mead", options={"xatol": 0.005, "fatol": 0.05})
    return law_of(best.x) if math.isfinite(best.fun) else None

"""guess_law() and guess_flushes(): the law that a log looks like.

Every law of delays is fitted by maximum likelihood, and the one with the best likelihood is taken,
less half the log of the number of delays for each number of the law (Schwarz's criterion): laws
with more numbers fit any delays a little better, and would win by chance.

Of a mix with flushes, the number inside at each flush and the number that leaves are known without
knowing which message is which. A rule that the log follows to the message is taken; coins are told
apart by their likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.mixes.laws.delays import Linked, LogNormal, Window
from anonymatch.mixes.laws.exponential import Erlang, Exponential, Hops
from anonymatch.mixes.laws.flushes import (
    Binomial,
    Cottrell,
    FlushLaw,
    Pool,
    Threshold,
    Timed,
    TimedPool,
)
from anonymatch.mixes.laws.law import DensityLaw, Law
from anonymatch.mixes.laws.tuning import DELAYS

FEWEST = 20
"""Delays, or flushes, that say something of a law."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LawGuess:
    """A law that a log looks like.

    Attributes
    ----------
    law : Law
    text : str
        As it is given: ``exponential:2.1``.
    reason : str
        What it rests on, for people, a sentence without its end.
    fits : bool
        Whether it describes the delays; if not, it is the nearest of laws that do not.
    others : tuple of Law
        Other laws with the numbers that fit best, the likeliest first.
    """

    law: Law
    text: str
    reason: str
    fits: bool
    others: tuple[Law, ...] = ()

    def like(self, keyword: str) -> Law | None:
        """The law of that name with the numbers that fit best; None if it was not tried."""
        known = (self.law, *self.others)
        return next((law for law in known if law.keyword == keyword), None)


def law_text(law: Law) -> str:
    """A law as text that names it; what is as usual at the end is left out.

    Examples
    --------
    >>> law_text(Erlang(3, 0.5)), law_text(Linked(Exponential(2), 0.1)), law_text(LogNormal(5, 0.5))
    ('erlang:3,0.5', '0.1+exponential:2', 'lognormal:5,0.5')
    """
    if isinstance(law, Linked):
        return f"{law.seconds:.6g}+{law_text(law.law)}"
    usual = {each.name: each.default for each in fields(law)}  # type: ignore[arg-type]
    numbers = [(getattr(law, one.name), one) for one in law.parameters]
    while numbers and numbers[-1][1].optional and numbers[-1][0] == usual[numbers[-1][1].name]:
        numbers.pop()
    return f"{law.keyword}:{','.join(_number(value) for value, _ in numbers)}"


def _number(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def rounded(value: float, digits: int = DELAYS.guess_digits) -> float:
    """A number of a law that was guessed, as people write one.

    Examples
    --------
    >>> rounded(2.10345), rounded(0.0)
    (2.1, 0.0)
    """
    return float(f"{value:.{digits}g}")


def guess_law(delays: npt.ArrayLike) -> LawGuess | None:
    """The law that delays of single messages look like; None if they are too few, or all alike.

    Laws are those of the package whose delays do not depend on other messages. Mixes that send
    messages on together show in the times of the log: ``guess_log_law`` looks at these first.

    Parameters
    ----------
    delays : array of float
        Seconds, 0 or more, in any order.

    Examples
    --------
    >>> draw = np.random.default_rng(1)
    >>> guess = guess_law(draw.exponential(2.0, 1000))
    >>> guess.text, guess.reason
    ('exponential:2.02', '1,000 delays look like the exponential law, 2.02 s on average')
    """
    ordered = np.sort(np.asarray(delays, dtype=np.float64), axis=None)
    if len(ordered) and not (ordered[0] >= 0.0 and ordered[-1] < math.inf):
        raise InputError("delays must be seconds, 0 or more, and finite")
    if len(ordered) < FEWEST or ordered[-1] <= ordered[0]:
        return None
    number = len(ordered)
    if number > DELAYS.guess_most:
        ordered = ordered[np.linspace(0, number - 1, DELAYS.guess_most).round().astype(np.int64)]
    fitted = sorted(_fitted(ordered), key=lambda pair: -pair[1])
    if not fitted:
        return None
    law = fitted[0][0]
    fits = _distance(law, ordered) <= DELAYS.guess_far + DELAYS.guess_chance / math.sqrt(number)
    like = "look like" if fits else "are like no law that is known here; the nearest is"
    return LawGuess(
        law=law,
        text=law_text(law),
        reason=f"{number:,} delays {like} the {law}",
        fits=fits,
        others=tuple(other for other, _ in fitted[1:]),
    )


# ---- each law


def _fitted(delays: Floats) -> Iterator[tuple[Law, float]]:
    """Laws with the numbers that fit best, each with its score."""
    for make, size in (
        (_window, 2),
        (_exponential, 1),
        (_linked_exponential, 2),
        (_lognormal, 2),
        (_shifted_lognormal, 3),
        (partial(_erlang, linked=False), 1),
        (partial(_erlang, linked=True), 2),
    ):
        law = _attempt(make, delays)
        if law is not None:
            yield law, _score(law, delays, size)
    last = -math.inf
    for hops in (2, 3, 4):  # another hop is tried as long as one more fits better
        law = _attempt(partial(_hops, hops=hops), delays)
        score = -math.inf if law is None else _score(law, delays, hops)
        if law is None or score <= last:
            return
        last = score
        yield law, score


def _attempt(make: Callable[[Floats], Law | None], delays: Floats) -> Law | None:
    """A law; None where the best numbers are none that the law may have."""
    try:
        return make(delays)
    except InputError:
        return None


def _score(law: Law, delays: Floats, size: int) -> float:
    logs = delay_log_density(law, delays)
    total = float(logs.sum())
    return total - size * math.log(len(delays)) / 2 if math.isfinite(total) else -math.inf


def _parts(law: Law) -> tuple[DensityLaw, float]:
    """The law of the mixes, and the seconds on links."""
    inner, seconds = (law.law, law.seconds) if isinstance(law, Linked) else (law, 0.0)
    assert isinstance(inner, DensityLaw)
    return inner, seconds


def delay_log_density(law: Law, delays: Floats) -> Floats:
    """Natural log of the density of each delay, a second: of laws of single messages, and links.

    Examples
    --------
    >>> delay_log_density(Exponential(1.0), np.array([0.0, 1.0])).tolist()
    [0.0, -1.0]
    """
    inner, seconds = _parts(law)
    within = delays - seconds
    low = inner.low if isinstance(inner, Window) else 0.0
    high = inner.high if isinstance(inner, Window) else math.inf
    logs = np.full(len(delays), -math.inf)
    inside = (within >= low) & (within <= high)
    with np.errstate(divide="ignore"):
        logs[inside] = inner.log_density(within[inside])
    return logs


def _distance(law: Law, ordered: Floats) -> float:
    """The largest difference of the distribution of the law from that of the delays."""
    inner, seconds = _parts(law)
    below = -np.expm1(np.minimum(inner.log_survival(np.maximum(ordered - seconds, 0.0)), 0.0))
    steps = np.arange(len(ordered) + 1) / len(ordered)
    # Where several delays are equal, the step is that of all of them.
    first = np.searchsorted(ordered, ordered, side="left")
    last = np.searchsorted(ordered, ordered, side="right")
    return float(max(np.max(below - steps[first]), np.max(steps[last] - below)))


def _window(delays: Floats) -> Law:
    """Ends a little beyond those that were seen, which are never quite the ends that can be."""
    low, high = float(delays[0]), float(delays[-1])
    step = (high - low) / (len(delays) - 1)
    low = 0.0 if low <= 3 * step else low - step
    unit = 10.0 ** (math.floor(math.log10(high - low)) - DELAYS.guess_digits + 1)
    return Window(
        rounded(math.floor(low / unit) * unit, 12),
        rounded(math.ceil((high + step) / unit) * unit, 12),
    )


def _exponential(delays: Floats) -> Law:
    return Exponential(rounded(float(delays.mean())))


def _linked_exponential(delays: Floats) -> Law | None:
    step = float(delays.mean() - delays[0]) / len(delays)
    seconds = _down(float(delays[0]) - step, step)
    return Linked(Exponential(rounded(float(delays.mean()) - seconds)), seconds)


def _down(value: float, unit: float) -> float:
    """Seconds on links with as many digits as a unit is worth, never more than the value."""
    if value <= 0.0:
        return 0.0
    digits = 10.0 ** math.floor(math.log10(max(unit, value * 1e-6)))
    return rounded(math.floor(value / digits) * digits, 12)


def _lognormal(delays: Floats, seconds: float = 0.0) -> Law | None:
    if delays[0] <= seconds:
        return None
    logs = np.log(delays - seconds)
    sigma = float(logs.std())
    mean = math.exp(float(logs.mean()) + sigma**2 / 2)
    return LogNormal(rounded(mean), rounded(sigma), seconds)


def _shifted_lognormal(delays: Floats) -> Law | None:
    seconds = _best_link(lambda each: _lognormal(delays, each), delays)
    return None if seconds <= 0.0 else _lognormal(delays, seconds)


def _erlang(delays: Floats, *, linked: bool) -> Law | None:
    """The best number of hops, by the likelihood of each."""
    laws = []
    for hops in range(2, DELAYS.guess_hops + 1):
        make = partial(_erlang_of, delays, hops)
        law = make(_best_link(make, delays)) if linked else make(0.0)
        if law is not None:
            laws.append((float(delay_log_density(law, delays).sum()), hops, law))
    return max(laws)[2] if laws else None


def _erlang_of(delays: Floats, hops: int, seconds: float) -> Law | None:
    if delays[0] <= seconds:
        return None
    law = Erlang(hops, rounded((float(delays.mean()) - seconds) / hops))
    return Linked(law, seconds) if seconds > 0.0 else law


def _best_link(make: Callable[[float], Law | None], delays: Floats) -> float:
    """Seconds on links under which a law is likeliest; 0 where none are likelier."""
    from scipy.optimize import minimize_scalar

    def cost(seconds: float) -> float:
        law = make(float(seconds))
        return math.inf if law is None else -float(delay_log_density(law, delays).sum())

    longest = DELAYS.guess_near * float(delays[0])
    if not longest > 0.0:
        return 0.0
    best: Any = minimize_scalar(cost, bounds=(0.0, longest), method="bounded")
    return rounded(float(best.x)) if best.fun < cost(0.0) else 0.0


def _hops(delays: Floats, *, hops: int) -> Law | None:
    from scipy.optimize import minimize

    mean = float(delays.mean())

    def law_of(logs: Floats) -> Hops:
        shares = np.exp(logs - logs.max())
        return Hops(*sorted(rounded(mean * share) for share in (shares / shares.sum()).tolist()))

    def cost(logs: Floats) -> float:
        try:
            return -float(delay_log_density(law_of(np.append(logs, 0.0)), delays).sum())
        except InputError:  # hops that are too different
            return math.inf

    start = np.log(2.0) * np.arange(1 - hops, 0)
    best = minimize(cost, start, method="Nelder-Mead", options={"xatol": 0.01, "fatol": 0.1})
    return law_of(np.append(best.x, 0.0))


# ---- guess_flushes(): the mix that sends messages on together, if the times of a log look like one


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
    if len(moments) < DELAYS.fewest_flushes:
        return None
    inside = _inside(arrivals, moments, leaving)
    if (inside < leaving).any():
        return None  # something came out that nobody can have sent
    if np.isin(moments, arrivals).all():
        law = _by_number(inside, leaving)
    elif leaving[leaving > 1].sum() >= DELAYS.guess_together * len(departures):
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
    for parts in range(1, DELAYS.guess_skipped + 1):
        steps = np.round(gaps * parts / shortest)
        # The mean of all gaps is nearer to the interval than any of them.
        interval = float(gaps.sum() / steps.sum())
        numbers = np.concatenate(([0], np.cumsum(steps))).astype(np.int64)
        off = np.abs(moments - moments[0] - numbers * interval)
        if (off <= DELAYS.guess_off * interval).all():
            break
    else:
        return None
    if numbers[-1] > DELAYS.guess_most_flushes:
        return None
    interval = rounded(interval, 6)
    origin = float(moments[0]) % interval
    origin = (
        0.0 if min(origin, interval - origin) <= DELAYS.guess_off * interval else rounded(origin, 6)
    )
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
    for least in range(min(kept, DELAYS.most_kept), -1, -1):
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
    most = min(int(flushes.inside.max()), DELAYS.most_kept)
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

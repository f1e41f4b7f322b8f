"""Losses, cover traffic and the ends of link logs: given for all mixes or by mix, or fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymatch._native import OUTSIDE, NetworkEvents
from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted, several
from anonymatch.mixes.laws import (
    DelayLaw,
    Exponential,
    FlushLaw,
    Law,
    Pool,
    Threshold,
    Timed,
    check_law,
    law_name,
)
from anonymatch.mixes.laws.law import LAWS
from anonymatch.mixes.logs.log_conditions import moment_of
from anonymatch.mixes.solvers.flushes.flush_rule import FlushRule
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import (
    LinkLoops,
    MixEvents,
    MixRates,
    mix_events,
    network_evidence,
)

PerMix = float | Mapping[str, float]
"""One value for every mix, or a mapping by mix."""

LOOPS_NOTE = (
    "approximate (loops): a mix absorbs its own loops, so the probabilities of the mixes are not "
    "independent. Intervals are allowances for this, from 0.25 bits below to 0.15 bits above. In "
    "simulated networks at least 95 % of them hold the log score of all messages; single messages "
    "can be off by more"
)

_SURE = 3.0  # standard deviations beyond which losses or cover traffic are fitted
_LOOPS_SEEN = 20.0  # expected loops from which on links that go back would have been seen
_START = 10.0  # mean delays after which hardly a packet leaves that was inside at the start
_FEWEST_LOST = 2  # missing packets, from which on losses may be fitted
_FAR = 4.0  # standard deviations beyond which packets are missing from mixes of other laws
_RARE = 1e-4  # probability below which the number inside at the end is not by chance
_ODDS = 1e3  # likelihood ratio from which on a packet is missing
_RUNS = 3  # last flushes, one of which empties a mix that sends on all it has
_SOON = 1e-3  # of an interval: a flush so near to the end of the log may be incomplete
_DELAYS = 4000  # delays at which a law is integrated
_ROUNDS = 6  # of an estimate that depends on itself
_GRID, _REFINED = 16, 12  # mean delays that are tried where none is given
_FIT_EVENTS = 20_000  # of all mixes, that a mean delay is fitted to


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkConditions:
    """The given conditions of a link log; None if a condition is not given.

    Attributes
    ----------
    mean : float, mapping or None
        Mean delay per hop in seconds, NaN if the law has no number; None for mixes that are not
        exponential.
    loss, cover_rate, loop_rate, inside_at_start : float, mapping or None
        Probability of a packet to be lost in a mix; dummy packets per second that a mix makes;
        loops per second that a mix sends to itself; mean number of packets inside a mix at the
        start.
    since, until : float, str or None
        Start and end of the observation [default: first and last row].
    drained : bool
        Whether all mixes are empty at the end.
    running : bool
        Whether rows before the start show that the network was running then.
    most : int or None
        Packets that a mix can hold under its law, if the law has batches.
    flushes : FlushLaw, type or None
        The law of mixes that send several packets on together; the type if it has no numbers.
    """

    mean: PerMix | None = None
    loss: PerMix | None = None
    cover_rate: PerMix | None = None
    loop_rate: PerMix | None = None
    inside_at_start: PerMix | None = None
    since: float | str | None = None
    until: float | str | None = None
    drained: bool = False
    running: bool = False
    most: int | None = None
    flushes: FlushLaw | type[FlushLaw] | None = None

    @property
    def names(self) -> set[str]:
        """Names that a mapping says are mixes."""
        given = (self.mean, self.loss, self.cover_rate, self.loop_rate, self.inside_at_start)
        return {str(name) for one in given if isinstance(one, Mapping) for name in one}

    @property
    def some(self) -> bool:
        """Whether losses, cover traffic, loops or packets inside at the start are given."""
        given = (self.loss, self.cover_rate, self.loop_rate, self.inside_at_start)
        return any(
            any(one.values()) if isinstance(one, Mapping) else bool(one)
            for one in given
            if one is not None
        )

    def check(self, mixes: Sequence[str]) -> None:
        """Refuse values out of range, and mappings that do not fit the mixes of the log."""
        if self.mean is not None:
            _means(self.mean, mixes, None)
        loss = by_mix(self.loss, "loss", mixes, 1.0)
        if loss is not None and (loss >= 1.0).any():
            raise InputError(
                Argument("loss"), " is 1: then nothing comes out; give a probability below 1"
            )
        by_mix(self.cover_rate, "cover_rate", mixes, 1e30)
        by_mix(self.loop_rate, "loop_rate", mixes, 1e30)
        by_mix(self.inside_at_start, "inside_at_start", mixes, 1e15)

    def ends(self, first: float, last: float) -> tuple[float, float]:
        """Return the start and the end of an observation with these first and last rows."""
        begin = first if self.since is None else moment_of(self.since, "since")
        end = last if self.until is None else moment_of(self.until, "until")
        if end < begin:
            raise InputError(
                Argument("until"), f" is {end:.10g}, before the start of the log at {begin:.10g}"
            )
        return begin, end


def laws_by_mix(
    law: Law | str | Mapping[str, Law | str] | None,
) -> Law | str | Mapping[str, Law | str] | None:
    """Return a mapping for text that has a law per mix; every other law unchanged.

    Examples
    --------
    >>> laws_by_mix("A=exponential:2,B=exponential:1")
    {'A': 'exponential:2', 'B': 'exponential:1'}
    """
    if not isinstance(law, str) or "=" not in law:
        return law
    laws: dict[str, Law | str] = {}
    for part in law.split(","):
        mix, equals, one = (piece.strip() for piece in part.partition("="))
        if not mix or not one:
            raise InputError(
                f"law {quoted(law)}: {quoted(part)} is not MIX=LAW, such as m1=exponential:0.5"
            )
        del equals
        laws[mix] = one
    return laws


def mean_delays(law: Law | str | Mapping[str, Law | str] | None) -> PerMix | None:
    """Return the mean delay per hop of exponential mixes, NaN without a number; else None.

    Examples
    --------
    >>> mean_delays("exponential:0.5"), mean_delays("exponential"), mean_delays("pool:5,2")
    (0.5, nan, None)
    >>> mean_delays({"A": "exponential:2", "B": "exponential:1"})
    {'A': 2.0, 'B': 1.0}
    """
    law = laws_by_mix(law)
    if isinstance(law, Mapping):
        means = {}
        for name, one in law.items():
            mean = mean_delays(one)
            if not isinstance(mean, float):
                raise InputError(
                    f"law of mix {quoted(name)} is {quoted(str(one))}; laws by mix must be "
                    "exponential, such as exponential:0.5"
                )
            means[str(name)] = mean
        return means
    if law is None:
        return None
    if isinstance(law, str) and ":" not in law:
        named = LAWS.get(law_name(law))
        return math.nan if named is Exponential else None
    mix = check_law(law)
    return float(mix.mean) if isinstance(mix, Exponential) else None


def most_inside(law: Law | str | Mapping[str, Law | str] | None) -> int | None:
    """Return the number of packets that a mix with batches can hold; None under other laws.

    Examples
    --------
    >>> most_inside("pool:5,2"), most_inside("exponential:2")
    (7, None)
    """
    law = laws_by_mix(law)
    if isinstance(law, Mapping) or law is None or (isinstance(law, str) and ":" not in law):
        return None
    rule = check_law(law).flush
    return None if rule is None or rule.batch is None else rule.batch + rule.kept


def flush_law(
    law: Law | str | Mapping[str, Law | str] | None,
) -> FlushLaw | type[FlushLaw] | None:
    """Return a law that sends several packets on together, its type without numbers; else None.

    Examples
    --------
    >>> flush_law("timed:60"), flush_law("exponential:2")
    (Timed(interval=60.0, origin=0.0), None)
    >>> flush_law("timed")
    <class 'anonymatch.mixes.laws.flushes.Timed'>
    """
    law = laws_by_mix(law)
    if isinstance(law, Mapping) or law is None:
        return None
    if isinstance(law, str) and ":" not in law:
        named = LAWS.get(law_name(law))
        return named if named is not None and issubclass(named, FlushLaw) else None
    mix = check_law(law)
    return mix if isinstance(mix, FlushLaw) else None


def by_mix(given: PerMix | None, name: str, mixes: Sequence[str], high: float) -> Floats | None:
    """Return one value per mix; mixes that a mapping does not name have 0."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return np.full(len(mixes), real(given, name, high=high))
    values = {str(mix): real(value, name, high=high) for mix, value in given.items()}
    unknown = [mix for mix in values if mix not in mixes]
    if unknown and any(mix not in values for mix in mixes):
        raise InputError(
            Argument(name),
            f" names {quoted(unknown[0])}, and no packet passes such a mix; mixes are "
            f"{listed(sorted(mixes))}{did_you_mean(unknown[0], mixes)}",
        )
    return np.array([values.get(mix, 0.0) for mix in mixes])


def _means(given: PerMix, mixes: Sequence[str], seen: float | None) -> Floats:
    """Return mean delays, NaN where neither the law nor the message column shows one."""
    other = math.nan if seen is None else seen
    if isinstance(given, Mapping):
        missing = [mix for mix in mixes if mix not in given]
        if missing:
            raise InputError(
                Argument("law"), f" has no law for mix {quoted(missing[0])}; name every mix"
            )
        means = np.array([float(given[mix]) for mix in mixes])
    else:
        means = np.full(len(mixes), float(given))
    return np.where(np.isnan(means), other, means)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Packets in and out of every mix, and the times at which they come in."""

    arrived: Floats
    left: Floats
    arrivals: list[Floats]
    # Times at which a packet leaves a mix that is empty unless it had packets at the start.
    impossible: list[Floats]
    layers: int

    @classmethod
    def of(cls, links: LinkedNetwork, times: Floats) -> _Counts:
        arrivals, impossible = [], []
        for one in range(links.events.mixes):
            mix = mix_events(links, times, one)
            change = np.where(mix.arrival, 1, -1)
            inside = np.cumsum(change)
            fresh = np.minimum(np.minimum.accumulate(inside, dtype=np.int64), 0)
            wrong = np.diff(fresh, prepend=0) < 0
            arrivals.append(mix.times[mix.arrival])
            impossible.append(mix.times[wrong])
        left = np.bincount(
            links.events.from_[links.events.from_ >= 0], minlength=links.events.mixes
        )
        return cls(
            np.array([len(one) for one in arrivals], dtype=np.float64),
            left.astype(np.float64),
            arrivals,
            impossible,
            int(links.layer.max(initial=0)) + 1,
        )

    def late(self, rates: MixRates) -> tuple[Floats, Floats]:
        """Return the expected number inside at the end without losses, and its variance."""
        if rates.drained:
            return np.zeros(len(self.arrivals)), np.zeros(len(self.arrivals))
        stays = [
            np.exp(-(rates.end - came) / mean)
            for came, mean in zip(self.arrivals, rates.mean.tolist(), strict=True)
        ]
        return (
            np.array([one.sum() for one in stays]),
            np.array([(one * (1.0 - one)).sum() for one in stays]),
        )

    def unexplained(self, rates: MixRates) -> tuple[Floats, Floats]:
        """Return packets of each mix that are lost by the counts, and the variance.

        In - out = lost - cover + inside at the end - inside at the start. A negative number is
        cover traffic.
        """
        late, varies = self.late(rates)
        lasted = rates.end - rates.begin
        out = np.ones(len(late)) if rates.drained else -np.expm1(-lasted / rates.mean)
        looped = np.zeros(len(late))  # own loops that are lost on their way
        if rates.loop_rate is not None:
            looped = rates.loop_rate * lasted * (1.0 - (1.0 - rates.loss) ** self.layers)
        born, early = rates.cover_rate * lasted, rates.inside * out
        keep = 1.0 - rates.loss
        lost = self.arrived - self.left + born + looped - keep * late + early
        return lost, rates.loss * keep * self.arrived + keep * varies + born + early


def packets_missing(
    links: LinkedNetwork, times: Floats, mixes: Sequence[str], given: LinkConditions
) -> bool:
    """Whether more packets are missing than can be inside, by their number or by their times."""
    assert given.mean is not None
    missing = int(
        np.count_nonzero(links.events.to >= 0) - np.count_nonzero(links.events.from_ >= 0)
    )
    if missing <= 0 or given.drained:
        return missing > 0
    if missing < _FEWEST_LOST:
        return False
    rates, _ = fitted_rates(links, times, mixes, given, None)
    return bool(rates.loss.any())


def check_missing(
    links: LinkedNetwork,
    times: Floats,
    mixes: Sequence[str],
    law: Law | None,
    given: LinkConditions,
    told: Bools,
) -> tuple[str, ...]:
    """Refuse packets that are missing beyond those that the law lets be inside; note others.

    Only chains of exponential mixes include losses: under other laws a lost packet would stay
    inside for ever and hide all later ones. ``told`` says of which events the order is known.
    """
    flushes, far = given.flushes, _Deviation()
    for one, name in enumerate(mixes):
        mix = mix_events(links, times, one)
        missing = int(np.count_nonzero(mix.arrival)) - int(np.count_nonzero(~mix.arrival))
        stay = _Deviation()
        if given.drained:
            stay = _Deviation(missing=True)
        elif isinstance(flushes, FlushLaw):
            if flushes.flush.interval is not None:
                stay = _ticks(flushes.flush, mix, told[mix.events], float(times[-1]))
        elif flushes is not None:
            if missing > 0 and not issubclass(flushes, Pool | Threshold | Timed):
                raise InputError(
                    f"mix {quoted(name)}: {several(missing, 'packet')} entered it and did not "
                    "leave; the numbers of the law show whether they can be inside: give ",
                    Argument("law", f"{flushes.keyword}:{flushes.example}"),
                    " with the numbers of the mixes",
                )
            stay = _Deviation(missing=_never_empty(mix, kept=issubclass(flushes, Pool)))
        elif isinstance(law, DelayLaw) and law.has_density:
            stay = _late(law, mix, float(times[-1]))
        far = far.plus(stay)
        if missing > 0 and (stay.missing or stay.far):
            raise _missing(f"mix {quoted(name)}", missing, flushes or law, drained=given.drained)
    missing = int(np.count_nonzero(links.events.to >= 0))
    missing -= int(np.count_nonzero(links.events.from_ >= 0))
    if missing > 0 and far.far:
        raise _missing("all mixes", missing, flushes or law, drained=False)
    if missing <= 0:
        return ()
    note = (
        f"{several(missing, 'packet')} entered a mix and did not leave, assumed inside at the end "
        "as the law allows. If one was lost, figures are too large"
    )
    return (note,)


def _missing(
    where: str, missing: int, law: Law | type[FlushLaw] | None, *, drained: bool
) -> InputError:
    assert law is not None
    shown = f"{law.keyword} law" if isinstance(law, type) else str(law)
    beyond = "the mixes are empty at the end" if drained else f"the {shown} lets fewer be inside"
    return InputError(
        f"{where}: {several(missing, 'packet')} entered and did not leave, but {beyond}; losses "
        "in networks are included if mixes are exponential: check law and times, or audit one mix "
        "alone"
    )


class _Deviation(NamedTuple):
    """How much more stays inside than a law expects.

    ``missing`` says that a fixed number is exceeded. ``more`` are packets or seconds beyond the
    mean, with their variance; ``inside`` packets do not leave, ``expected`` of them by the law.
    """

    missing: bool = False
    more: float = 0.0
    variance: float = 0.0
    inside: float = 0.0
    expected: float = 0.0

    @property
    def far(self) -> bool:
        """Whether that is not by chance."""
        from scipy.special import gammainc

        if self.inside > 0.0 and gammainc(self.inside, self.expected) < _RARE:  # a Poisson number
            return True
        return self.more > _FAR * math.sqrt(self.variance) + 1e-6

    def plus(self, other: _Deviation) -> _Deviation:
        """Return the deviation of two sets of mixes."""
        pairs = zip(self[1:], other[1:], strict=True)
        return _Deviation(self.missing or other.missing, *(a + b for a, b in pairs))


def _ticks(rule: FlushRule, mix: MixEvents, told: Bools, end: float) -> _Deviation:
    """Return by how much fewer packets left a mix that flushes by the clock than should have.

    The clock is that of its first departure. Arrivals at the instant of a flush count as inside
    if the file shows that they came before it.
    """
    assert rule.interval is not None
    departures = np.flatnonzero(~mix.arrival)
    if not len(departures):
        return _Deviation()
    first = float(mix.times[departures[0]])
    number = math.floor((end - first) / rule.interval - _SOON) + 1
    tick = np.rint((mix.times[departures] - first) / rule.interval).astype(np.int64)
    left = np.bincount(tick[tick < number], minlength=number)
    inside = np.concatenate(([0], np.cumsum(np.where(mix.arrival, 1, -1))))
    clock = first + rule.interval * (np.arange(number) - _SOON)
    at = np.searchsorted(mix.times, clock, side="left")
    some, begins = np.unique(tick, return_index=True)
    at[some[some < number]] = departures[begins[some < number]]
    came = inside[at].astype(np.float64)
    for k in np.flatnonzero(left).tolist():
        here = slice(int(np.searchsorted(mix.times, mix.times[at[k]], side="left")), int(at[k]))
        came[k] -= np.count_nonzero(mix.arrival[here] & ~told[here])
    came = np.maximum(came, 0.0)
    if rule.share is None and rule.spread is None:
        return _Deviation(missing=bool((came - left > rule.stays(came)).any()))
    leave = rule.leave(came)
    return _Deviation(
        missing=_one_less(rule, np.maximum(came, left), left) > math.log(_ODDS),
        more=float((came * leave - left).sum()),
        variance=float((came * leave * (1.0 - leave)).sum()),
    )


def _one_less(rule: FlushRule, inside: Floats, left: Ints) -> float:
    """Return the log of how much likelier coins are with one packet less from some flush on.

    All flushes are equally likely to be the first. Without losses this likelihood ratio is 1 on
    average, so it hardly ever is large.
    """
    from scipy.special import gammaln, logsumexp, xlog1py, xlogy

    def log_probability(number: Floats) -> Floats:
        coin, stay = rule.leave(number), number - left
        ways = gammaln(number + 1.0) - gammaln(left + 1.0) - gammaln(np.maximum(stay, 0.0) + 1.0)
        logs = ways + xlogy(left, coin) + xlog1py(np.maximum(stay, 0.0), -coin)
        return np.where(stay < 0.0, -math.inf, logs)

    some = inside > 0.0
    inside, left = inside[some], left[some]
    if not len(inside):
        return -math.inf
    all_, fewer = log_probability(inside), log_probability(inside - 1.0)
    ratio = np.where(np.isneginf(fewer), -math.inf, fewer - np.where(np.isneginf(all_), -1e9, all_))
    return float(logsumexp(np.cumsum(ratio[::-1]))) - math.log(len(ratio))


def _never_empty(mix: MixEvents, *, kept: bool) -> bool:
    """Whether the last flushes leave more inside than those before, or any if none is kept."""
    inside = np.cumsum(np.where(mix.arrival, 1, -1))
    ends = ~mix.arrival & np.append(mix.arrival[1:], True)
    stay = inside[ends]
    if len(stay) <= _RUNS:  # too few to tell
        return False
    return bool(stay[-_RUNS:].min() > (stay[:-_RUNS].min() if kept else 0))


def _late(law: DelayLaw, mix: MixEvents, end: float) -> _Deviation:
    """Return how many packets more are inside at the end than expected, and for how long in all.

    How long packets are inside in all does not depend on which packet is which.
    """
    waits = end - mix.times[mix.arrival]
    longest = max(float(waits.max(initial=0.0)), 1e-9)
    delays = np.unique(
        np.concatenate(
            (np.linspace(0.0, longest, _DELAYS), np.geomspace(1e-6, 1.0, _DELAYS) * longest)
        )
    )
    stays = np.exp(law.log_survival(delays))
    steps = np.diff(delays)

    def integral(values: Floats) -> Floats:
        each = steps * (values[1:] + values[:-1]) / 2.0
        return np.interp(waits, delays, np.concatenate(([0.0], np.cumsum(each))))

    inside = np.interp(waits, delays, stays)
    mean, square = integral(stays), integral(2.0 * delays * stays)
    lasted = float(waits.sum() - (end - mix.times[~mix.arrival]).sum())
    missing = 2 * int(np.count_nonzero(mix.arrival)) - len(mix.arrival)
    return _Deviation(
        more=lasted - float(mean.sum()),
        variance=float(np.maximum(square - mean**2, 0.0).sum()),
        inside=max(missing, 0),
        expected=float(inside.sum()),
    )


class _Fit:
    """Losses, cover traffic and a full start that fit the counts, for one set of mean delays."""

    def __init__(
        self,
        counts: _Counts,
        given: LinkConditions,
        mixes: Sequence[str],
        ends: tuple[float, float],
    ) -> None:
        self._loop_rate = by_mix(given.loop_rate, "loop_rate", mixes, 1e30)
        self._counts, self._ends, self._drained = counts, ends, given.drained
        self.loss = by_mix(given.loss, "loss", mixes, 1.0)
        self.cover_rate = by_mix(given.cover_rate, "cover_rate", mixes, 1e30)
        self.inside = by_mix(given.inside_at_start, "inside_at_start", mixes, 1e15)
        self.cut, self.running = False, given.running
        self.error = 0.0

    def rates(self, mean: Floats) -> MixRates:
        """Return all rates; those that are given as they are."""
        counts, zeros = self._counts, np.zeros(len(mean))
        begin, end = self._ends
        rates = MixRates(
            mean=mean,
            loss=zeros if self.loss is None else self.loss,
            cover_rate=zeros if self.cover_rate is None else self.cover_rate,
            inside=zeros if self.inside is None else self.inside,
            begin=begin,
            end=end,
            drained=self._drained,
            loop_rate=self._loop_rate,
            absorbed=self._absorbed(),
        )
        early, late = self._impossible(mean)
        self.cut = self.inside is None and (self.running or bool(early.any()))
        lasted = max(end - begin, 1e-300)
        size = np.maximum(counts.arrived, 1.0)
        for _ in range(_ROUNDS):
            if self.cut:
                speed = counts.arrived / lasted
                if self._loop_rate is not None:  # its own loops do not enter the pool
                    speed = np.maximum(speed - self._loop_rate, 0.0)
                rates = replace(rates, inside=speed * (1.0 - rates.loss) * mean)
            if self.loss is not None and self.cover_rate is not None:
                continue
            base = replace(
                rates,
                cover_rate=zeros if self.cover_rate is None else self.cover_rate,
                loss=rates.loss if self.loss is None else self.loss,
            )
            lost, variance = counts.unexplained(base)
            if self.loss is not None:  # what the given losses do not explain is cover traffic
                lost = lost - self.loss * counts.arrived
            rates = self._fitted(rates, lost, variance, size, lasted)
        if self.cover_rate is None:
            least = np.where(late & (rates.cover_rate == 0.0), 0.5 / lasted, rates.cover_rate)
            rates = replace(rates, cover_rate=least)
        return rates

    def _absorbed(self) -> Floats | None:
        """Return the share of its own loops among packets that enter a mix, about."""
        if self._loop_rate is None:
            return None
        expected = self._loop_rate * (self._ends[1] - self._ends[0])
        return np.clip(expected / np.maximum(self._counts.arrived, 1.0), 0.0, 0.95)

    def _impossible(self, mean: Floats) -> tuple[Bools, Bools]:
        """Return which mixes have departures from nobody soon after the start, and later."""
        limits = (self._ends[0] + _START * mean).tolist()
        pairs = list(zip(self._counts.impossible, limits, strict=True))
        early = np.array([bool((one <= limit).any()) for one, limit in pairs])
        late = np.array([bool((one > limit).any()) for one, limit in pairs])
        if self.cover_rate is not None:  # which explains them
            early &= self.cover_rate == 0.0
        if self._loop_rate is not None:
            early, late = early & (self._loop_rate == 0.0), late & (self._loop_rate == 0.0)
        if self.inside is not None:
            late |= early & (self.inside == 0.0)
        return early, late

    def _fitted(
        self, rates: MixRates, lost: Floats, variance: Floats, size: Floats, lasted: float
    ) -> MixRates:
        """Fit losses and cover traffic; equal losses unless mixes differ.

        Counts show dummies less losses. A mix with more dummies than losses is assumed to lose
        the same share as the mixes that do not differ.
        """
        alike, pooled, variance = self._alike(lost, variance, size)
        self.error = math.sqrt(max(float(variance[alike].sum()), 1.0)) / float(size[alike].sum())
        share = np.where(alike, pooled, lost / size)
        if self.loss is None:
            rates = replace(rates, loss=np.clip(np.where(share < 0.0, pooled, share), 0.0, 0.99))
        if self.cover_rate is None:
            also = rates.loss * size if self.loss is None else 0.0
            dummies = np.where(share < 0.0, (also - lost) / lasted, 0.0)
            rates = replace(rates, cover_rate=np.maximum(dummies, 0.0))
        return rates

    def _alike(self, lost: Floats, variance: Floats, size: Floats) -> tuple[Bools, float, Floats]:
        """Return mixes that do not differ, the share of packets they lose, and the variances.

        The mix that differs most from the others is left out, until none differs: a few mixes
        that send dummies must not make all others look different.
        """
        alike, share = np.ones(len(size), dtype=bool), lost / size
        while True:
            pooled = float(lost[alike].sum()) / float(size[alike].sum())
            varies = variance
            if self.loss is None:  # losses vary also where a mix lost none by chance
                chance = min(max(pooled, 0.0), 0.99)
                varies = np.maximum(variance, chance * (1.0 - chance) * size)
            away = np.abs(share - pooled) * size / np.sqrt(np.maximum(varies, 1.0))
            worst = int(np.argmax(np.where(alike, away, 0.0)))
            if away[worst] <= _SURE or np.count_nonzero(alike) == 1:
                return alike, pooled, varies
            alike[worst] = False

    def without(self, rates: MixRates) -> MixRates:
        """Return the rates without those losses and dummies that were fitted."""
        zeros = np.zeros(len(rates.mean))
        _, late = self._impossible(rates.mean)
        if self.loss is None:
            rates = replace(rates, loss=zeros)
        if self.cover_rate is None and not late.any():
            rates = replace(rates, cover_rate=zeros)
        return rates


def _best_mean(
    links: LinkedNetwork, times: Floats, mixes: Sequence[str], given: LinkConditions
) -> tuple[float, float]:
    """Return the mean delay per hop with the largest evidence, and the log of the evidence."""
    number = links.events.mixes
    begin, end = given.ends(float(times[0]), float(times[-1]))
    drained = given.drained
    if len(times) > _FIT_EVENTS:
        from_, to, before, _ = links.events
        some = slice(0, _FIT_EVENTS)
        links = replace(links, events=NetworkEvents(from_[some], to[some], before[some], number))
        times, end, drained = times[some], float(times[_FIT_EVENTS]), False
    given = replace(given, drained=drained)
    fit = _Fit(_Counts.of(links, times), given, mixes, (begin, end))
    lasted = max(end - begin, 1e-9)

    def evidence(log_mean: float) -> float:
        return network_evidence(links, times, fit.rates(np.full(number, math.exp(log_mean))))

    each = lasted * number / max(len(times), 1)
    return _maximum(evidence, math.log(each / 10.0), math.log(lasted))


def _maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return exp(x) at the maximum of a function between two ends, and its value there."""
    places = np.linspace(low, high, _GRID)
    values = [function(float(x)) for x in places]
    best = int(np.argmax(values))
    a, b = float(places[max(best - 1, 0)]), float(places[min(best + 1, _GRID - 1)])
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(_REFINED):
        if at_c > at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = function(c)
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = function(d)
    return math.exp(c if at_c > at_d else d), max(at_c, at_d)


def fitted_rates(
    links: LinkedNetwork,
    times: Floats,
    mixes: Sequence[str],
    given: LinkConditions,
    seen: float | None,
) -> tuple[MixRates, tuple[str, ...]]:
    """Return all rates of the mixes, and notes on those that are not given.

    ``seen`` is the mean delay per hop that the message column shows, if there is one.
    """
    assert given.mean is not None
    counts = _Counts.of(links, times)
    ends = given.ends(float(times[0]), float(times[-1]))
    fit = _Fit(counts, given, mixes, ends)
    means = _means(given.mean, mixes, seen)
    notes: list[str] = []
    if np.isnan(means).any():
        mean, _ = _best_mean(links, times, mixes, given)
        means = np.where(np.isnan(means), mean, means)
        notes.append(f"Mean delay per hop fitted to the log: {mean:.4g} s")
    rates = fit.rates(means)
    if given.loop_rate is not None and fit.inside is None and not fit.cut:
        # A loop that its mix has just sent looks like a packet that was inside at the start.
        fit.running = True
        full = fit.rates(means)
        empty = network_evidence(links, times, rates)
        fit.running = _exits_from_nobody(links) or network_evidence(links, times, full) > empty
        rates = fit.rates(means)
    if fit.loss is None or fit.cover_rate is None:
        without = fit.without(rates)
        needed = 2.0 + 0.5 * math.log(max(len(times), 1))
        some, none = (network_evidence(links, times, one) for one in (rates, without))
        sure = given.drained and bool(rates.loss.any())
        if given.loop_rate is not None:  # the evidence does not tell losses from absorbed loops
            sure = sure or float(rates.loss.mean()) > _SURE * fit.error
        if not sure and not some - none > needed:
            rates = without
    return rates, (*notes, *_rate_notes(rates, fit, mixes))


def _exits_from_nobody(links: LinkedNetwork) -> bool:
    """Whether more packets leave the network from a mix than entered that mix: no loop does."""
    from_, to = links.events.from_, links.events.to
    for mix in range(links.events.mixes):
        left = (from_ == mix) & (to == OUTSIDE)
        if (np.cumsum(np.where(to == mix, 1, 0) - left) < 0).any():
            return True
    return False


class LinkClasses(NamedTuple):
    """What the links of a log show of loops.

    By mix: its layer. By event: whether a sender who is no mix sends the packet, whether the link
    goes back to an earlier layer or out of the network, the mix that it enters (-1 if none), and
    whether it leaves a mix.
    """

    layer: Ints
    outside: Bools
    back: Bools
    exits: Bools
    into: Ints
    from_mix: Bools


def loops_of(rates: MixRates, links: LinkClasses) -> MixRates:
    """Return the rates with what is expected of loops, if mixes send some.

    A loop passes one random mix of every layer, once, and returns to the mix that sent it. If no
    link goes back although some loops should have, they return through the outside.
    """
    rate = rates.loop_rate
    if rate is None or not rate.any():
        return replace(rates, loop_rate=None, absorbed=None)
    lasted = max(rates.end - rates.begin, 1e-300)
    layer, number = links.layer, len(rate)
    layers = int(layer.max(initial=0)) + 1
    width = np.bincount(layer, minlength=layers)
    keep = 1.0 - float(rates.loss.mean())
    hops = (layer[None, :] - layer[:, None]) % layers  # from a mix to the layer of another
    way = np.where(hops > 0, keep ** (hops - 1.0), 0.0)
    others = (rate[:, None] * way).sum(axis=0) / width[layer]
    own = rate * keep ** (layers - 1.0)
    came = np.bincount(links.into[links.into >= 0], minlength=number) / lasted
    if not links.back.any() and float(rate.sum()) * lasted > _LOOPS_SEEN:
        share = np.where(came > 0.0, own / np.where(came > 0.0, came, 1.0), 0.0)
        return replace(rates, absorbed=np.clip(share, 0.0, 0.95))
    inner = links.from_mix & (links.into >= 0)
    linked = np.bincount(links.into[inner], minlength=number) / lasted
    users = np.where(linked > 0.0, 1.0 - (own + others) / np.where(linked > 0.0, linked, 1.0), 0.5)
    mail = np.maximum(came - own - others, 0.0)
    inside = mail + others
    loops = LinkLoops(
        own=own / np.maximum(own + others, 1e-300),
        share=np.clip(users, 0.02, 0.98),
        start=np.where(inside > 0.0, others / np.where(inside > 0.0, inside, 1.0), 0.0),
        outside=links.outside,
        users_go=~links.back,
        loops_go=~links.exits,
    )
    return replace(rates, loops=loops, absorbed=None)


def _rate_notes(rates: MixRates, fit: _Fit, mixes: Sequence[str]) -> list[str]:
    notes = []
    if fit.loss is None and rates.loss.any():
        if (rates.loss == rates.loss[0]).all():
            shown = f"{rates.loss[0]:.3g} per hop, standard deviation {fit.error:.2g}"
            if fit.cover_rate is None and rates.cover_rate.any():
                shown += " (assumed equal in mixes that send dummies)"
        else:
            shown = f"{_by_name(rates.loss, mixes)} (mixes differ)"
        notes.append(
            f"Loss fitted to the packet counts: {shown}. More packets entered the mixes than left "
            "them or can still be inside"
        )
    if fit.cover_rate is None and rates.cover_rate.any():
        notes.append(
            "Cover traffic fitted to the packet counts, in dummy packets per second: "
            f"{_by_name(rates.cover_rate, mixes)}. More packets left these mixes than entered them"
        )
    if fit.cut:
        notes.append(
            f"The log starts in running traffic. {rates.inside.sum():.3g} packets are assumed "
            "inside at the start, a Poisson number in every mix with the mean of steady traffic"
        )
    return notes


def _by_name(values: Floats, mixes: Sequence[str]) -> str:
    some = [f"{mix} {value:.3g}" for mix, value in zip(mixes, values, strict=True) if value > 0]
    return ", ".join(some[:9]) + (", ..." if len(some) > 9 else "")

"""Losses, cover traffic and a full start of the mixes of a link log: given, or fitted to counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from anonymatch._native import OUTSIDE, NetworkEvents
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.mixes.networks.network_conditions import LinkConditions, by_mix, means_by_mix
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import (
    LinkLoops,
    MixRates,
    mix_events,
    network_evidence,
)
from anonymatch.mixes.solvers.networks.tuning import NETWORKS

LOOPS_NOTE = (
    "approximate (loops): a mix absorbs its own loops, so the probabilities of the mixes are not "
    "independent. Intervals are allowances for this, from 0.25 bits below to 0.15 bits above. In "
    "simulated networks at least 95 % of them hold the log score of all messages; single messages "
    "can be off by more"
)


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
        for _ in range(NETWORKS.fit_rounds):
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
        limits = (self._ends[0] + NETWORKS.fit_start * mean).tolist()
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
            if away[worst] <= NETWORKS.fit_sure or np.count_nonzero(alike) == 1:
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
    if len(times) > NETWORKS.fit_events:
        from_, to, before, _ = links.events
        some = slice(0, NETWORKS.fit_events)
        links = replace(links, events=NetworkEvents(from_[some], to[some], before[some], number))
        times, end, drained = times[some], float(times[NETWORKS.fit_events]), False
    given = replace(given, drained=drained)
    fit = _Fit(_Counts.of(links, times), given, mixes, (begin, end))
    lasted = max(end - begin, 1e-9)

    def evidence(log_mean: float) -> float:
        return network_evidence(links, times, fit.rates(np.full(number, math.exp(log_mean))))

    each = lasted * number / max(len(times), 1)
    return _maximum(evidence, math.log(each / 10.0), math.log(lasted))


def _maximum(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return exp(x) at the maximum of a function between two ends, and its value there."""
    places = np.linspace(low, high, NETWORKS.fit_grid)
    values = [function(float(x)) for x in places]
    best = int(np.argmax(values))
    a, b = float(places[max(best - 1, 0)]), float(places[min(best + 1, NETWORKS.fit_grid - 1)])
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(NETWORKS.fit_refined):
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
    means = means_by_mix(given.mean, mixes, seen)
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
            sure = sure or float(rates.loss.mean()) > NETWORKS.fit_sure * fit.error
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
    if not links.back.any() and float(rate.sum()) * lasted > NETWORKS.loops_seen:
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

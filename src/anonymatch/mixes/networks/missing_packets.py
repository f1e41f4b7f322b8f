"""Packets of link logs that entered a mix and did not leave: more than the law lets be inside?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.mixes.laws import (
    DensityLaw,
    FlushLaw,
    Law,
    Pool,
    Threshold,
    Timed,
    by_density,
)
from anonymatch.mixes.networks.network_conditions import LinkConditions
from anonymatch.mixes.networks.network_rates import fitted_rates
from anonymatch.mixes.solvers.flushes.flush_rule import FlushRule
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import (
    MixEvents,
    mix_events,
)
from anonymatch.mixes.solvers.networks.tuning import NETWORKS


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
    if missing < NETWORKS.fewest_lost:
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
        elif law is not None and by_density(law):
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

        if (
            self.inside > 0.0 and gammainc(self.inside, self.expected) < NETWORKS.missing_rare
        ):  # a Poisson number
            return True
        return self.more > NETWORKS.missing_far * math.sqrt(self.variance) + 1e-6

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
    number = math.floor((end - first) / rule.interval - NETWORKS.missing_soon) + 1
    tick = np.rint((mix.times[departures] - first) / rule.interval).astype(np.int64)
    left = np.bincount(tick[tick < number], minlength=number)
    inside = np.concatenate(([0], np.cumsum(np.where(mix.arrival, 1, -1))))
    clock = first + rule.interval * (np.arange(number) - NETWORKS.missing_soon)
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
        missing=_one_less(rule, np.maximum(came, left), left) > math.log(NETWORKS.missing_odds),
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
    if len(stay) <= NETWORKS.missing_runs:  # too few to tell
        return False
    return bool(
        stay[-NETWORKS.missing_runs :].min() > (stay[: -NETWORKS.missing_runs].min() if kept else 0)
    )


def _late(law: DensityLaw, mix: MixEvents, end: float) -> _Deviation:
    """Return how many packets more are inside at the end than expected, and for how long in all.

    How long packets are inside in all does not depend on which packet is which.
    """
    waits = end - mix.times[mix.arrival]
    longest = max(float(waits.max(initial=0.0)), 1e-9)
    delays = np.unique(
        np.concatenate(
            (
                np.linspace(0.0, longest, NETWORKS.missing_delays),
                np.geomspace(1e-6, 1.0, NETWORKS.missing_delays) * longest,
            )
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

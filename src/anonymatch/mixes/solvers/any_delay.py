"""A mix with delays of any density, of which only the ends are seen.

Which messages are inside matters here, and not only how many: there is no small state to follow.
Figures are exact if few messages out are candidates at the same time. Otherwise they are estimated
with intervals; see :mod:`anonymatch.mixes.solvers.wide.wide_links`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints, offsets
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument
from anonymatch.counting.measures import Range, entropy_terms
from anonymatch.mixes.laws.law import DensityLaw
from anonymatch.mixes.solvers.links import (
    Channel,
    LinkFigures,
    LinkProblem,
    ReceiverFigures,
    two_outcomes,
)
from anonymatch.mixes.solvers.tuning import SOLVING
from anonymatch.mixes.solvers.wide.bands import LinkBand
from anonymatch.mixes.solvers.wide.link_estimate import LINKS_CONFIDENCE, LinksEstimate
from anonymatch.mixes.solvers.wide.wide_links import estimate_links, exact_fits, links_cost
from anonymatch.running import Budget, Execution

_LN2 = math.log(2.0)


class _Log(NamedTuple):
    """A log, and which departures each message may be: ``first[i]`` to ``last[i] - 1``."""

    arrivals: Floats
    departures: Floats
    law: DensityLaw
    first: Ints
    last: Ints

    @classmethod
    def of(cls, problem: LinkProblem) -> _Log:
        law, came, left = problem.law, problem.arrivals, problem.departures
        assert isinstance(law, DensityLaw)
        every = np.arange(len(came)), np.arange(len(left))
        end = problem.channel.end
        runs = law.candidates(came, left, users=every[0], behaviours=every[1], end=end)
        return cls(came, left, law, np.minimum(runs.first, runs.end), runs.end)


def delay_cost(problem: LinkProblem, budget: Budget) -> tuple[float, bool]:
    """Predicted seconds of `delay_figures`, and whether they are exact."""
    log = _Log.of(problem)
    lengths = np.maximum(log.last - log.first, 0)
    band = LinkBand(
        first=log.first,
        last=log.first + lengths,
        weights=np.empty(0),
        columns=len(log.departures),
        unpaired=np.ones(len(lengths)),
        cover=1.0,
    )
    seconds, exact = links_cost(band, budget)
    return seconds + SOLVING.delay_seconds * int(lengths.sum()), exact


def delay_figures(problem: LinkProblem, budget: Budget, effort: Execution) -> LinkFigures:
    """What a log says of each message: exactly, or estimated with intervals of 95 %.

    Losses and cover are rates, or numbers that explanations must have.

    Raises
    ------
    InputError
        If nothing explains the log.
    BudgetError
        If the candidates alone are beyond the budget's memory.
    """
    try:
        return _delay_figures(problem, budget, effort)
    except InputError as error:
        if error.where.file is not None:  # about the file of a run, and not about the log
            raise
        raise error.more(
            f", under the {problem.law} and with what is told of losses and cover; give ",
            Argument("loss"),
            " or ",
            Argument("cover_rate"),
        ) from None


def _delay_figures(problem: LinkProblem, budget: Budget, effort: Execution) -> LinkFigures:
    log, channel, receivers = _Log.of(problem), problem.channel, problem.receivers
    law, mean = log.law, log.law.mean_delay
    assert mean is not None
    lengths = np.maximum(log.last - log.first, 0)
    entries = int(lengths.sum())
    if entries * SOLVING.delay_bytes > budget.memory:
        raise budget.refusal(
            f"a chain over {entries} candidates",
            entries * SOLVING.delay_seconds,
            entries * SOLVING.delay_bytes,
            "take a shorter part of the log",
        )
    loss, cover = _rates(channel, len(log.arrivals))
    early = np.zeros(len(log.departures))
    if channel.inside_at_start:
        # What is left of a delay has the density of the probability to exceed it, over the mean.
        since = np.exp(law.log_survival(log.departures - channel.begin))
        early = channel.inside_at_start * since / mean
    nobodys = cover + early
    stays = np.zeros(len(log.arrivals))
    if not channel.drained:
        stays = (1.0 - loss) * np.exp(law.log_survival(channel.end - log.arrivals))
    band = _with_numbers(
        _band(log, lengths, loss, loss + stays, nobodys, SOLVING.delay_rarest), channel, loss, stays
    )
    if exact_fits(band, budget):
        raw = _band(log, lengths, loss, loss + stays, nobodys, SOLVING.rarest_exact)
        band = _with_numbers(raw, channel, loss, stays)
    estimate = estimate_links(
        band,
        budget=budget,
        edge=problem.edge,
        groups=receivers,
        seed=problem.seed,
        effort=effort,
        asked=problem.asked,
    )
    figures = _link_figures(estimate, loss + stays, loss, receivers is not None, problem.seed)
    if early.any():
        shares = (1.0 - figures.real) * early / np.maximum(nobodys, 1e-300)
        figures = replace(figures, early=shares)
    return figures


def _rates(channel: Channel, came: int) -> tuple[float, float]:
    """Rates; about those at which the numbers that are told are expected."""
    loss, cover = channel.loss, channel.cover_rate
    if channel.lost is not None:
        loss = min(channel.lost / max(came, 1), 1.0 - 0.5 / max(came, 1))
    if channel.cover is not None:
        cover = channel.cover / max(channel.end - channel.begin, 1e-9) if channel.cover else 0.0
    return loss, cover


def _with_numbers(band: LinkBand, channel: Channel, loss: float, stays: Floats) -> LinkBand:
    """The band with the numbers that are told; where nothing is inside one tells the other."""
    pairs = None if channel.cover is None else band.columns - channel.cover
    if not channel.lost:  # none: no more than a rate of 0
        return replace(band, pairs=pairs)
    if not stays.any():
        return replace(band, pairs=band.rows - channel.lost)
    share = stays / (loss + stays)
    return replace(band, pairs=pairs, lost=channel.lost, staying=band.unpaired * share)


def _band(
    log: _Log, lengths: Ints, loss: float, unpaired: Floats, nobodys: Floats, rarest: float
) -> LinkBand:
    """Weights over those of departures to be nobody's, so that to be so weighs 1.

    Only ratios within a row matter: each is divided by its largest weight.
    """
    top = float(nobodys.max(initial=0.0))
    levels = np.zeros(len(nobodys))
    if top > 0.0:
        levels = np.log(np.maximum(nobodys, rarest * top))
    first, last = log.first, log.first + lengths
    starts = offsets(lengths)
    logs = np.empty(int(starts[-1]))
    step = max(1, SOLVING.delay_some // max(int(lengths.max(initial=1)), 1))
    for begin in range(0, len(lengths), step):
        end = min(begin + step, len(lengths))
        some = slice(int(starts[begin]), int(starts[end]))
        rows = np.repeat(np.arange(begin, end), lengths[begin:end])
        columns = np.arange(some.start, some.stop) - starts[rows] + first[rows]
        delays = log.departures[columns] - log.arrivals[rows]
        logs[some] = log.law.log_density(np.maximum(delays, 0.0)) - levels[columns]
    logs += math.log1p(-loss)
    with np.errstate(divide="ignore"):
        alone = np.log(unpaired)
    largest = np.full(len(lengths), -math.inf)
    filled = np.flatnonzero(lengths)
    if len(filled):
        largest[filled] = np.maximum.reduceat(logs, starts[filled])
    largest = np.maximum(largest, alone)
    largest[~np.isfinite(largest)] = 0.0
    logs -= np.repeat(largest, lengths)
    flat = not len(logs) or float(np.ptp(logs)) == 0.0
    # Where all pairs weigh the same, nothing has to be looked up: it is taken out of the rows.
    level = float(logs[0]) if flat and len(logs) else 0.0
    return LinkBand(
        first=first,
        last=last,
        weights=None
        if flat
        else np.exp(np.maximum(logs, SOLVING.delay_lightest, out=logs), out=logs),
        columns=len(nobodys),
        unpaired=np.exp(alone - largest - level),
        cover=1.0 if top > 0.0 else 0.0,
    )


def _link_figures(
    estimate: LinksEstimate, unpaired: Floats, loss: float, grouped: bool, seed: int
) -> LinkFigures:
    alone = estimate.alone
    departed = 1.0 - alone.value
    share = np.where(unpaired > 0.0, loss / np.maximum(unpaired, 1e-300), 0.0)
    entropy = _scaled(estimate.entropy, 1.0 / _LN2)
    if estimate.lost is None:
        lost, link = alone.value * share, entropy
        apart = float((alone.value * two_outcomes(share)).sum())
        error = float(((alone.high - alone.low) / 2 * two_outcomes(share)).sum())
        joint = Interval(link.value + apart, link.low + apart - error, link.high + apart + error)
    else:
        lost, joint = estimate.lost.value, entropy
        # To know more of those not seen says at most what is open of them.
        share = np.where(alone.value > 0.0, lost / np.maximum(alone.value, 1e-300), 0.0)
        apart = float((alone.value * two_outcomes(share)).sum())
        link = Interval.between(max(joint.low - apart, 0.0), joint.high)
    inside = np.maximum(alone.value - lost, 0.0)
    fate = entropy_terms(departed) + entropy_terms(lost) + entropy_terms(inside)
    shannon = estimate.shannon
    note = (
        "Figures are estimated from a chain over explanations in "
        f"{estimate.replicas} replicas, with intervals of {LINKS_CONFIDENCE:.0%}"
    )
    exact = not estimate.replicas
    return LinkFigures(
        log_evidence=None,
        joint_bits=joint.clipped(0.0, math.inf),
        link_bits=link,
        departed=departed,
        lost=lost,
        inside=inside,
        real=estimate.real.value,
        shannon=shannon,
        shannon_all=Range(*(departed * part + fate for part in shannon.parts)),
        collision=estimate.collision,
        probability=estimate.probability,
        guess=estimate.guess,
        allowed=estimate.allowed,
        error=float((estimate.probability.high - estimate.probability.low).max(initial=0.0)) / 2,
        confidence=1.0 if exact else LINKS_CONFIDENCE,
        method="subset" if exact else "chain over explanations",
        seed=None if exact else seed,
        guessing=estimate.guessing,
        receivers=ReceiverFigures(
            shannon=estimate.group_shannon,
            probability=estimate.group_largest,
            guess=estimate.group_guess,
        )
        if grouped
        else None,
        notes=() if exact else (note,),
        mean_shannon=estimate.mean_shannon,
        mean_min_entropy=estimate.mean_min_entropy,
        surest=estimate.surest,
        asked=estimate.asked,
    )


def _scaled(interval: Interval, by: float) -> Interval:
    return Interval(interval.value * by, interval.low * by, interval.high * by)

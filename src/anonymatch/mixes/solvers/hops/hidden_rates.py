"""Rates of losses, of cover and of a full beginning that nobody told, fitted to a log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy.typing as npt

from anonymatch._native import HiddenFigures
from anonymatch.mixes.solvers.hops.hidden_chain import (
    HiddenLog,
    early_probabilities,
    run_chain,
    unexplained,
)
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running import Execution

FreeRate = Literal["loss", "cover_rate", "inside_at_start"]
"""Rates that can be fitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The rates that fit a log best, those that were not fitted as they were known."""

    loss: float = 0.0
    cover_rate: float = 0.0
    inside_at_start: float = 0.0
    # Natural log of how much likelier those that were fitted make the log than if all of them were
    # 0; inf where nothing explains the log then.
    gain: float = 0.0
    log_evidence: float = 0.0  # natural log of the density of the log with them
    # Standard error of each one that was fitted.
    errors: Mapping[str, float] = field(default_factory=dict)


def fit_rates(
    arrivals: npt.ArrayLike,
    departures: npt.ArrayLike,
    *,
    mean: float,
    channel: Channel,
    free: Sequence[FreeRate],
    effort: Execution | None = None,
) -> Rates:
    """The rates named by ``free`` that fit a log best; the channel has the others.

    By expectation and maximisation. A loss and a cover rate together cannot be told apart by a log
    of ends; what was inside at the beginning can be told from both, as it leaves soon.

    Raises
    ------
    InputError
        If nothing explains the log, whatever they are.

    Examples
    --------
    >>> import numpy as np
    >>> arrivals = np.arange(40.0)
    >>> departures = np.delete(arrivals, [10, 20, 30]) + 0.5
    >>> fitted = fit_rates(
    ...     arrivals, departures, mean=0.5, channel=Channel(begin=0.0, end=60.0), free=["loss"]
    ... )
    >>> round(fitted.loss, 3), fitted.gain > 10
    (0.075, True)
    """
    run = effort or Execution()
    log = HiddenLog.of(arrivals, departures, mean, channel, None)
    rates = {name: _first_guess(log, name) for name in free}
    evidence = -math.inf
    for _ in range(HOPS.fit_most_rounds):
        tried = _at(log, rates)
        before, (figures, evidence) = evidence, run_chain(tried, tried.weights(), run)
        if figures is None:
            raise unexplained(tried, tried.weights())
        evidence += tried.constant()
        better = {name: _expected(tried, figures, name) for name in free}
        settled = all(abs(better[name] - rates[name]) <= 1e-4 * rates[name] for name in free)
        rates = better
        # A rate that falls towards 0 never settles; the evidence does.
        if settled or not any(rates.values()) or evidence - before < HOPS.fit_settled:
            break
    without = _at(log, dict.fromkeys(free, 0.0))
    _, before = run_chain(without, without.weights(), run, evidence_only=True)
    before += without.constant()
    fitted = _at(log, rates)
    return Rates(
        loss=fitted.channel.loss,
        cover_rate=fitted.channel.cover_rate,
        inside_at_start=fitted.channel.inside_at_start,
        gain=math.inf if before == -math.inf else evidence - before,
        log_evidence=evidence,
        errors={name: _rate_error(fitted, name) for name in free},
    )


def _at(log: HiddenLog, rates: Mapping[FreeRate, float]) -> HiddenLog:
    """The log with these rates."""
    changes: dict[str, Any] = {str(name): rate for name, rate in rates.items()}
    return replace(log, channel=replace(log.channel, **changes))


def _exposure(log: HiddenLog, name: FreeRate) -> float:
    """What an expected number is divided by to be the rate of that name."""
    if name == "loss":
        return max(len(log.arrivals), 1)
    if name == "cover_rate":
        return max(log.channel.end - log.channel.begin, 1e-300)
    return max(log.early_out, 1e-300)


def _first_guess(log: HiddenLog, name: FreeRate) -> float:
    """Where the search for a rate begins: above 0, where it would stay."""
    excess = len(log.departures) - len(log.arrivals)
    if name == "loss":
        return min(max(-excess, 0.5) / _exposure(log, name), 0.5)
    if name == "cover_rate":
        return max(excess, 1.0) / _exposure(log, name)
    lasted = max(log.channel.end - log.channel.begin, 1e-300)
    stationary = len(log.arrivals) / lasted * log.mean
    return min(max(stationary, 1.0), len(log.departures) + 1.0)


def _expected(log: HiddenLog, figures: HiddenFigures, name: FreeRate) -> float:
    """The rate at which the number expected now would be the mean."""
    if name == "loss":
        return min(float(figures.lost.sum()) / _exposure(log, name), 1.0 - 1e-9)
    early = early_probabilities(figures, log.weights())
    nobodys = early if name == "inside_at_start" else 1.0 - figures.real - early
    return max(float(nobodys.sum()), 0.0) / _exposure(log, name)


def _rate_error(log: HiddenLog, name: FreeRate) -> float:
    rate: float = getattr(log.channel, name)
    left = 1.0 - rate if name == "loss" else 1.0
    return math.sqrt(rate * left / _exposure(log, name))

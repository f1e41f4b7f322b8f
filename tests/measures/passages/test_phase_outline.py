"""Outlines of logs of several hops: what little seconds buy holds, and the budget is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from anonymatch import BudgetError
from anonymatch.base.arrays import Bools, Floats
from anonymatch.mixes.solvers.hops.phase_chain import phase_figures
from anonymatch.mixes.solvers.hops.phase_figures import outline
from anonymatch.mixes.solvers.links import Channel, LinkFigures
from anonymatch.running import Budget


def log_of(means: Sequence[float], messages: int, rate: float, seed: int) -> tuple[Floats, Floats]:
    draws = np.random.default_rng(seed)
    arrivals = np.cumsum(draws.exponential(1 / rate, messages))
    delays = sum(draws.exponential(mean, messages) for mean in means)
    return arrivals, np.sort(arrivals + delays)


def figures_of(
    times: tuple[Floats, Floats],
    means: Sequence[float],
    seconds: float,
    edge: Bools | None = None,
    seed: int = 0,
) -> tuple[LinkFigures, float]:
    """Figures, and the predicted seconds of all that was done."""
    told = [0.0]
    channel = Channel(begin=0.0, end=float(times[1][-1]), drained=True)
    figures = phase_figures(
        *times,
        means=means,
        channel=channel,
        budget=Budget(seconds=seconds),
        progress=lambda done, _: told.append(done),
        strict=True,
        edge=edge,
        seed=seed,
    )
    return figures, max(told)


MEANS = ([1.0, 1.0, 1.0], [2.0, 0.5])


@pytest.mark.grid
@pytest.mark.parametrize("means", MEANS, ids=str)
def test_joint_bits_by_the_evidence_alone_hold_as_often_as_they_say(means: list[float]) -> None:
    held, size, slowest = 0, 60, max(means)
    rates = slowest / np.sort(means)
    for seed in range(20):
        arrivals, departures = log_of(means, size, 5.0, seed)
        exact, _ = figures_of((arrivals, departures), means, 100.0)
        assert exact.confidence == 1.0
        assert exact.log_evidence is not None
        evidence = exact.log_evidence + size * math.log(slowest)
        joint = outline(
            arrivals / slowest, departures / slowest, rates, (evidence, 0.0), None
        ).joint_bits
        held += joint.low <= exact.joint_bits.value <= joint.high
        assert joint.high - joint.low < size
    assert held >= 17


@pytest.mark.grid
@pytest.mark.parametrize("seconds", [0.2, 0.5, 1.5])
def test_a_wide_log_of_hops_keeps_its_budget(seconds: float) -> None:
    times = log_of([1.0, 1.0, 1.0], 3000, 30.0, 1)
    figures, spent = figures_of(times, [1.0, 1.0, 1.0], seconds)

    assert spent <= 1.2 * seconds
    assert 0.0 <= figures.joint_bits.low <= figures.joint_bits.value <= figures.joint_bits.high
    assert (figures.shannon.low <= figures.shannon.value).all()
    assert (figures.shannon.value <= figures.shannon.high).all()


def test_without_the_evidence_joint_bits_are_bounded_by_the_number_of_matchings() -> None:
    arrivals, departures = log_of([1.0] * 4, 20_000, 200.0, 1)
    figures, _ = figures_of((arrivals, departures), [1.0] * 4, 0.2)
    inside = np.searchsorted(arrivals, departures, side="right") - np.arange(len(arrivals))

    assert figures.method == "bounds"
    assert figures.confidence == 1.0
    assert figures.joint_bits.low == 0.0
    assert figures.joint_bits.high == pytest.approx(float(np.log2(inside).sum()))


def test_an_outline_needs_a_log_without_losses_and_cover() -> None:
    times = log_of([1.0, 1.0, 1.0], 4000, 60.0, 1)
    channel = Channel(begin=0.0, end=math.ceil(times[1][-1]), loss=0.01)

    with pytest.raises(BudgetError):
        phase_figures(
            *times, means=[1.0] * 3, channel=channel, budget=Budget(seconds=0.2), strict=True
        )


HOPS = [1.0, 1.0, 1.0]


def near_an_end(times: tuple[Floats, Floats]) -> Bools:
    arrivals, departures = times
    return np.asarray((arrivals < arrivals[0] + 11.2) | (arrivals > departures[-1] - 11.2))


def smallest(figures: LinkFigures) -> Floats:
    return np.asarray(0.0 - np.log2(figures.probability.value))


def held_by_stretches(seed: int) -> tuple[bool, bool, bool] | None:
    """Whether stretches hold mean entropy, mean min-entropy and worst 1 % of the whole log.

    None if too few stretches fit the budget, so that the log has proven bounds instead.
    """
    times = log_of(HOPS, 4000, 12.0, seed)
    edge = near_an_end(times)
    drawn, spent = figures_of(times, HOPS, 0.3, edge, seed)
    assert spent <= 1.2 * 0.3
    if drawn.method == "bounds":
        return None
    whole, _ = figures_of(times, HOPS, 0.8, edge, seed)
    assert drawn.method == "counts by hop, in stretches"
    assert whole.method == "counts by hop, drawn"
    assert drawn.mean_shannon is not None
    assert drawn.mean_min_entropy is not None
    inner = ~edge
    entropy = float(whole.shannon.value[inner].mean())
    bits = float(smallest(whole)[inner].mean())
    low, value, high = (
        float(np.quantile(part[inner], 0.01))
        for part in (drawn.shannon.low, whole.shannon.value, drawn.shannon.high)
    )
    return (
        drawn.mean_shannon.low <= entropy <= drawn.mean_shannon.high,
        drawn.mean_min_entropy.low <= bits <= drawn.mean_min_entropy.high,
        low <= value <= high,
    )


def test_stretches_hold_the_figures_of_the_whole_log() -> None:
    assert held_by_stretches(1) == (True, True, True)


@pytest.mark.slow
def test_intervals_from_stretches_hold_as_often_as_they_say() -> None:
    held = [one for seed in range(100, 150) if (one := held_by_stretches(seed)) is not None]

    assert len(held) >= 38
    assert (np.mean(held, axis=0) >= 0.86).all()  # of 95 %: less has a probability of 1 %


def test_a_larger_budget_narrows_the_interval_from_stretches() -> None:
    times = log_of(HOPS, 6000, 12.0, 3)
    edge = near_an_end(times)
    widths = []
    for seconds in (0.25, 0.5):
        figures, _ = figures_of(times, HOPS, seconds, edge)
        assert figures.method == "counts by hop, in stretches"
        assert figures.confidence == 0.95
        assert figures.mean_shannon is not None
        widths.append(figures.mean_shannon.high - figures.mean_shannon.low)

    assert widths[1] < 0.7 * widths[0]
    assert widths[1] < 0.1


def test_messages_near_an_end_have_no_claim_from_stretches() -> None:
    times = log_of(HOPS, 3500, 12.0, 1)
    edge = near_an_end(times)
    figures, _ = figures_of(times, HOPS, 0.25, edge)

    assert figures.method == "counts by hop, in stretches"
    assert (figures.shannon.low[edge] == 0.0).all()
    assert (figures.shannon.low[~edge] > 1.0).all()
    without, _ = figures_of(times, HOPS, 0.25)
    assert without.mean_shannon is None

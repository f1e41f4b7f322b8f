"""Hops with different means, against enumeration with the exponential of their generator."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from tests.measures.passages.explanations import Truth, explained
from tests.measures.passages.test_hidden_chain import assert_agrees, random_log

from anonymatch.base.errors import InputError
from anonymatch.counting.measures.averages import drawn_quantile
from anonymatch.mixes.solvers.hops import phase_chain
from anonymatch.mixes.solvers.hops.phase_chain import phase_figures, phase_pairs
from anonymatch.mixes.solvers.hops.phase_log import FASTEST_HOP
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running.budget import Budget

BUDGET = Budget(seconds=300.0, memory=2.0**31)


def by_definition(
    arrivals: list[float], departures: list[float], means: list[float], options: dict[str, Any]
) -> Truth | None:
    generator = np.diag([-1 / mean for mean in means])
    for k, mean in enumerate(means[:-1]):
        generator[k, k + 1] = 1 / mean

    @cache
    def survival(delay: float) -> float:
        return float(expm(generator * delay)[0].sum())

    @cache
    def density(delay: float) -> float:
        return float(expm(generator * delay)[0, -1] / means[-1])

    # What is left of a delay in a mix that has run for long: in any hop for as long as it takes.
    shares = np.array(means) / sum(means)

    @cache
    def early_survival(delay: float) -> float:
        return float((shares @ expm(generator * delay)).sum())

    @cache
    def early_density(delay: float) -> float:
        return float((shares @ expm(generator * delay))[-1] / means[-1])

    return explained(
        arrivals,
        departures,
        density=density,
        survival=survival,
        early_density=early_density,
        early_survival=early_survival,
        **options,
    )


@pytest.mark.grid
@pytest.mark.parametrize("part", range(6))
@pytest.mark.parametrize("hops", [2, 3, 4])
def test_every_combination_of_options_agrees_with_enumeration(hops: int, part: int) -> None:
    explainable = 0
    for seed in range(8 * part, 8 * (part + 1)):
        arrivals, departures, options = random_log(1000 * hops + seed)
        draw = np.random.default_rng([seed, hops, 7])
        means = draw.uniform(0.2, 3.0, hops).tolist()
        if seed % 4 == 3 and not options.get("cover"):
            options["inside_at_start"] = float(draw.uniform(0.05, 3.0))
        truth = by_definition(arrivals, departures, means, options)
        how: dict[str, Any] = {"means": means, "channel": Channel(**options), "budget": BUDGET}
        if truth is None:
            with pytest.raises(InputError):
                phase_pairs(arrivals, departures, **how)
            continue
        explainable += 1
        assert_agrees(phase_pairs(arrivals, departures, **how), truth)
    assert explainable > 1


@pytest.mark.parametrize("fast", [1.0001, 3.0, 50.0, 0.9 * FASTEST_HOP])
def test_a_hop_that_takes_hardly_any_time_changes_hardly_anything(fast: float) -> None:
    """Steps of a gap are made from differences, which must not lose their digits."""
    draw = np.random.default_rng(1)
    arrivals = np.cumsum(draw.exponential(0.5, 40))
    departures = np.sort(arrivals + draw.gamma(2, 1.0, 40) + draw.exponential(1 / fast, 40))
    channel = Channel(begin=0.0, end=float(departures[-1]), drained=True)
    how: dict[str, Any] = {"channel": channel, "budget": BUDGET}

    figures = phase_pairs(arrivals, departures, means=[1 / fast, 1.0, 1.0], **how)
    other = phase_pairs(arrivals, departures, means=[1.0, 1.0, 1 / fast], **how)

    assert figures.pairs is not None
    np.testing.assert_allclose(figures.pairs.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(figures.pairs.sum(axis=0), 1.0, atol=1e-8)
    assert other.log_evidence == pytest.approx(figures.log_evidence, rel=1e-12)
    near = {1.0001: [1.0] * 3, 0.9 * FASTEST_HOP: [1.0, 1.0]}.get(fast)
    if near is not None:
        same = phase_pairs(arrivals, departures, means=near, **how)
        assert same.pairs is not None
        np.testing.assert_allclose(figures.pairs, same.pairs, atol=5e-2)


def test_long_silences_are_cut_into_gaps() -> None:
    channel = Channel(begin=0.0, end=400.0, drained=True)
    arrivals, departures = [0.0, 1.0, 2.0], [3.0, 250.0, 400.0]

    figures = phase_pairs(
        arrivals, departures, means=[0.5, 2.0, 1.0], channel=channel, budget=BUDGET
    )

    truth = by_definition(
        arrivals, departures, [0.5, 1.0, 2.0], {"begin": 0.0, "end": 400.0, "drained": True}
    )
    assert truth is not None
    assert_agrees(figures, truth)


@pytest.mark.slow
@pytest.mark.parametrize("lossy", [False, True])
def test_intervals_of_drawn_figures_hold_as_often_as_they_say(
    lossy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Means over messages, joint bits and probabilities, against exact figures."""
    means, held, widths = [0.5, 0.8, 1.0], {"mean": 0, "joint": 0, "each": 0.0}, []
    logs = 40
    for seed in range(logs):
        draw = np.random.default_rng([seed, 5])
        arrivals = np.cumsum(draw.exponential(0.2, 120))
        departures = arrivals + sum(draw.exponential(mean, 120) for mean in means)
        end = float(departures.max())
        channel = Channel(begin=0.0, end=end, drained=True)
        if lossy:
            noise = draw.uniform(0.0, end, draw.poisson(0.4 * end))
            departures = np.concatenate((departures[draw.random(120) > 0.05], noise))
            channel = Channel(begin=0.0, end=end, loss=0.05, cover_rate=0.4)
        how: dict[str, Any] = {"means": means, "channel": channel, "seed": seed}
        departures = np.sort(departures)
        exact = phase_figures(arrivals, departures, budget=BUDGET, **how)
        with monkeypatch.context() as patch:
            patch.setattr(phase_chain, "exact_predicted", lambda *_: False)
            drawn = phase_figures(arrivals, departures, budget=BUDGET, **how)
        assert exact.confidence == 1.0
        assert drawn.confidence < 1.0

        batches = drawn.shannon.batches
        assert batches is not None
        by_batch = batches.mean(axis=0, dtype=np.float64)
        half = drawn_quantile(len(by_batch)) * by_batch.std(ddof=1) / math.sqrt(len(by_batch))
        widths.append(half)
        held["mean"] += abs(by_batch.mean() - exact.shannon.value.mean()) <= half
        held["joint"] += drawn.joint_bits.low <= exact.joint_bits.value <= drawn.joint_bits.high
        inside = drawn.probability.low <= exact.probability.value
        inside &= exact.probability.value <= drawn.probability.high
        held["each"] += inside.mean()
    assert held["mean"] >= 0.93 * logs
    assert held["joint"] >= 0.93 * logs
    assert held["each"] >= 0.95 * logs
    assert np.median(widths) < 0.02  # bits

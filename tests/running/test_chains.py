"""Intervals of means hold as often as they claim, and R-hat finds chains that disagree."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch.running import (
    RHAT_LIMIT,
    T_LANES,
    chain_error,
    mean_interval,
    replica_mean,
    rhat,
    standard_error,
    student,
    variance_ratio,
)


@pytest.mark.grid
@pytest.mark.parametrize("number", [5, 16, 60])
@pytest.mark.parametrize("confidence", [0.95, 0.8, 0.99])
def test_t_intervals_of_means_hold_as_often_as_they_claim(number: int, confidence: float) -> None:
    rng = np.random.default_rng(number)
    trials = 4000
    found = [mean_interval(rng.normal(3.0, 2.0, number), confidence) for _ in range(trials)]
    held = np.mean([one.low <= 3.0 <= one.high for one in found])

    assert abs(held - confidence) < 4 * np.sqrt(confidence * (1 - confidence) / trials)


def test_the_quantile_is_two_sided() -> None:
    assert student(1e9, 0.95) == pytest.approx(1.959964, abs=1e-5)
    assert student(15) * 7 / 6 == pytest.approx(T_LANES, rel=1e-3)


def test_replicas_have_the_slack_that_all_of_them_share() -> None:
    values = np.arange(16.0)
    wide, narrow = replica_mean(values, 1.0), replica_mean(values, 0.0)

    assert wide.high - narrow.high == pytest.approx(1.0)
    assert narrow.high - narrow.value == pytest.approx(T_LANES * float(standard_error(values)))


def test_chains_that_disagree_have_a_large_rhat_and_error() -> None:
    rng = np.random.default_rng(2)
    alike = rng.normal(size=(4, 400))
    apart = alike + np.arange(4.0)[:, None]

    assert rhat(list(alike)) < RHAT_LIMIT < rhat(list(apart))
    assert chain_error(apart) > 5 * chain_error(alike)
    assert rhat([np.zeros(10), np.zeros(10)]) == 1.0
    assert rhat([np.zeros(10), np.ones(10)]) == np.inf


def test_the_ratio_of_variances_is_one_for_independent_batches() -> None:
    rng = np.random.default_rng(4)
    batches = rng.normal(size=(2, 10, 3000))
    own, ratio = variance_ratio(batches)

    assert np.mean(own) == pytest.approx(1 / 20, rel=0.05)
    assert ratio == pytest.approx(1.0, abs=0.1)
    assert variance_ratio(batches + np.array([0.0, 1.0])[:, None, None])[1] > 4

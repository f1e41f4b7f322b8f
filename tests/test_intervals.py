"""Coverage of each kind of interval, from its definition: it holds as often as it claims.

Intervals of whole methods have coverage tests beside these methods.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from anonymatch.counting.measures.averages import SAMPLED, drawn_quantile
from anonymatch.disclosure.methods.posterior import share_of
from anonymatch.planning.simulation import CONFIDENCE, _quantile_ends, _share_ends
from anonymatch.running import mean_interval, student


def binomial(hits: int, number: int, share: float) -> float:
    return math.comb(number, hits) * share**hits * (1 - share) ** (number - hits)


@pytest.mark.parametrize(
    ("level", "freedom", "expected"),
    [(0.95, 1, 12.706), (0.95, 10, 2.228), (0.9, 4, 2.132), (0.5, 3, 0.765), (0.99, 1e9, 2.576)],
)
def test_t_quantiles_are_those_of_the_tables_for_two_sides(
    level: float, freedom: float, expected: float
) -> None:
    assert student(freedom, level) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("number", [2, 5, 20])
def test_t_intervals_hold_the_mean_as_often_as_their_level(number: int) -> None:
    draws = np.random.default_rng(1).normal(3.0, 2.0, (20_000, number))
    errors = draws.std(axis=1, ddof=1) / math.sqrt(number)
    held = abs(draws.mean(axis=1) - 3.0) <= student(number - 1, 0.9) * errors

    assert held.mean() == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("batches", [2, 4, 8, 10, 32])
def test_batch_means_hold_the_mean_as_often_as_they_claim(batches: int) -> None:
    draws = np.random.default_rng(2).normal(0.0, 1.0, (40_000, batches))
    errors = draws.std(axis=1, ddof=1) / math.sqrt(batches)
    held = abs(draws.mean(axis=1)) <= drawn_quantile(batches) * errors

    assert held.mean() == pytest.approx(SAMPLED, abs=0.003)


def test_means_of_plans_hold_as_often_as_they_claim() -> None:
    draws = np.random.default_rng(3).normal(5.0, 1.0, (2000, 8))
    intervals = [mean_interval(row) for row in draws]
    held = np.mean([one.low <= 5.0 <= one.high for one in intervals])

    assert held == pytest.approx(CONFIDENCE, abs=0.02)


@pytest.mark.parametrize("number", [1, 5, 40])
def test_clopper_pearson_ends_leave_their_level_to_either_side(number: int) -> None:
    """At each end, as many hits or more (or fewer) have probability 1 - CONFIDENCE."""
    for hits in range(number + 1):
        low, high = _share_ends(hits / number, number)
        above = sum(binomial(k, number, low) for k in range(hits, number + 1))
        below = sum(binomial(k, number, high) for k in range(hits + 1))
        assert above == pytest.approx(1 - CONFIDENCE) if hits else low == 0.0
        assert below == pytest.approx(1 - CONFIDENCE) if hits < number else high == 1.0


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5])
def test_order_statistics_hold_a_quantile_as_often_as_they_claim(share: float) -> None:
    draws = np.sort(np.random.default_rng(4).random((1000, 600)), axis=1)
    ends = np.array([_quantile_ends(row, share, 600.0) for row in draws])

    assert np.mean(ends[:, 0] <= share) >= CONFIDENCE - 0.02
    assert np.mean(share <= ends[:, 1]) >= CONFIDENCE - 0.02
    assert np.mean((ends[:, 0] <= share) & (share <= ends[:, 1])) < 1.0


@pytest.mark.parametrize("number", [20, 100])
def test_wilson_intervals_hold_a_share_about_as_often_as_they_claim(number: int) -> None:
    intervals = [share_of(np.arange(number) < hits) for hits in range(number + 1)]
    shares = np.linspace(0.01, 0.99, 197)
    held = [
        sum(
            binomial(hits, number, share)
            for hits, one in enumerate(intervals)
            if one.low <= share <= one.high
        )
        for share in shares.tolist()
    ]

    assert np.mean(held) == pytest.approx(0.95, abs=0.01)
    assert min(held) > 0.83

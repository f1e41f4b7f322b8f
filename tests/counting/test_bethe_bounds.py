"""Bounds from belief propagation hold for every graph, however far apart its weights lie."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anonymatch as am
from anonymatch.graph import families

NAMES = {
    "lower": ["lower: Bethe"],
    "upper": ["upper: Bethe with 2^(n/2)", "upper: fractional Bethe"],
}


@pytest.mark.parametrize("spread", [0.0, 0.5, 3.0, 30.0, 100.0])
@pytest.mark.parametrize("spare", [0, 2])
def test_each_bound_encloses_the_count(spread: float, spare: int) -> None:
    for seed in range(40):
        draws = np.random.default_rng([seed, spare, int(spread)])
        n = int(draws.integers(2, 9))
        matrix = (draws.random((n, n + spare)) < draws.choice([0.3, 0.6, 0.9])) * 1.0
        matrix[np.arange(n), np.arange(n)] = 1.0
        if spread:
            matrix *= np.exp(draws.normal(0, spread, matrix.shape))
        graph = am.Graph.from_biadjacency(matrix)
        count, bounds = am.count(graph), am.bounds(graph).all

        assert all(bounds[name] <= count.high + 1e-9 for name in NAMES["lower"])
        assert all(bounds[name] >= count.low - 1e-9 for name in NAMES["upper"])


def test_bounds_are_as_close_as_theory_says() -> None:
    """Regular graphs: Bethe's permanent is Schrijver's bound, and half a bit a user is left."""
    n, k = 200, 5
    bounds = am.bounds(families.random_regular(n, k, seed=1)).all
    schrijver = n * ((k - 1) * math.log(k - 1) - (k - 2) * math.log(k))

    assert bounds["upper: Bethe with 2^(n/2)"] == pytest.approx(
        schrijver + n / 2 * math.log(2), rel=1e-6
    )
    assert bounds["lower: Bethe"] >= schrijver - 1e-6


def test_the_fractional_bound_is_sharp_near_a_permutation() -> None:
    matrix = np.eye(30) + 1e-4 * np.random.default_rng(0).random((30, 30))
    bounds = am.bounds(am.Graph.from_biadjacency(matrix)).all

    assert bounds["upper: fractional Bethe"] - bounds["lower: Bethe"] < 0.1

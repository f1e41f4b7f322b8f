"""Bounds from belief propagation hold for every graph, however far apart its weights lie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.bounding.bregman import bethe_bounds
from anonymatch.counting.bounding.sinkhorn import Pieces, scaled_bounds
from anonymatch.graph import families
from anonymatch.graph.decomposition import structure

NAMES = {
    "lower": ["lower: Bethe"],
    "upper": ["upper: Bethe with 2^(n/2)", "upper: fractional Bethe"],
}


@pytest.mark.grid
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


@pytest.mark.parametrize("spread", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("spare", [0, 2])
def test_bounds_of_few_seconds_enclose_the_count(spread: float, spare: int) -> None:
    """Whatever the work is cut down to, what remains is proven."""
    for seed in range(10):
        draws = np.random.default_rng([seed, spare, int(spread)])
        n = int(draws.integers(4, 9))
        matrix = (draws.random((n, n + spare)) < 0.6) * 1.0
        matrix[np.arange(n), np.arange(n)] = 1.0
        matrix *= np.exp(draws.normal(0, spread, matrix.shape))
        graph = am.Graph.from_biadjacency(matrix if spread else matrix > 0)
        pieces = Pieces.of_graph(graph, structure(graph))
        count = am.count(graph)
        fewest = 10.0 * graph.n_edges * 1e-6

        for seconds in (fewest, fewest / 2, fewest / 4, fewest / 8):
            bounds = bethe_bounds(pieces, seconds)
            if bounds is not None:
                assert bounds.lower.sum() <= count.high + 1e-9
                assert min(bounds.upper.sum(), bounds.fractional.sum()) >= count.low - 1e-9
            low, high = scaled_bounds(pieces, seconds / 1000)
            assert low.sum() <= count.high + 1e-9
            assert high.sum() >= count.low - 1e-9


def test_more_seconds_than_needed_change_nothing() -> None:
    graph = families.random_regular(60, 5, seed=1)
    pieces = Pieces.of_graph(graph, structure(graph))
    free, rich = bethe_bounds(pieces), bethe_bounds(pieces, 10.0)

    assert free is not None
    assert rich is not None
    assert (free.lower == rich.lower).all()
    assert (free.fractional == rich.fractional).all()


def test_too_few_seconds_leave_belief_propagation_out() -> None:
    graph = families.random_regular(60, 5, seed=1)
    assert bethe_bounds(Pieces.of_graph(graph, structure(graph)), 1e-9) is None


def test_a_small_budget_cuts_the_work_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two dense halves with a thin bridge: belief propagation would go on for 1000 sweeps."""
    half = np.random.default_rng(3).random((2, 100, 100)) < 0.5
    matrix = np.zeros((200, 200), dtype=bool)
    matrix[:100, :100], matrix[100:, 100:] = half
    matrix[0, 100] = matrix[100, 0] = True
    np.fill_diagonal(matrix, True)
    graph = am.Graph.from_biadjacency(matrix)
    requested: list[int] = []
    bethe = _native.propagate_beliefs

    def counted(*args: Any, sweeps: int, **kwargs: Any) -> _native.BeliefPropagation:
        requested.append(sweeps)
        return bethe(*args, sweeps=sweeps, **kwargs)

    monkeypatch.setattr(_native, "propagate_beliefs", counted)
    free = am.count(graph, budget=0)
    most = max(requested)
    requested.clear()
    short = am.count(graph, budget=0.1)

    assert max(requested, default=0) < most
    assert short.proven[0] <= short.proven[1]
    assert short.proven[0] == pytest.approx(free.proven[0], abs=0.1)

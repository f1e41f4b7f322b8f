"""Bounds enclose the truth, whatever the graph; and are attained where theory says so."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from math import lgamma, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import (
    WILD,
    Matrix,
    Weights,
    graph_of,
    holds,
    matrices,
    precise_log,
    truth,
    weighted_matrices,
)

import anonymatch as am
from anonymatch.counting.bounding import sinkhorn
from anonymatch.graph import families

EXTREME: Weights = st.integers(-300, 300).map(lambda k: 10.0**k)


def enclose(bounds: am.Bounds, value: Fraction | int) -> bool:
    """Whether the best bounds hold the value, and every named bound up to its own rounding."""
    wanted = precise_log(value)
    for name, bound in bounds.all.items():
        slack = Decimal(1e-11 * (1 + abs(bound))) if math.isfinite(bound) else Decimal(0)
        if name.startswith("upper"):
            assert wanted <= Decimal(bound) + slack, name
        else:
            assert name.startswith("lower")
            assert Decimal(bound) - slack <= wanted, name
    return Decimal(bounds.lower) <= wanted <= Decimal(bounds.upper)


@given(weighted_matrices(users=(1, 7), spare=3))
def test_bounds_enclose_the_count(matrix: Matrix) -> None:
    assert enclose(am.bounds(graph_of(matrix)), truth(matrix))


@given(weighted_matrices(users=(1, 7), spare=3, matched=True))
def test_bounds_of_graphs_with_a_matching_are_finite(matrix: Matrix) -> None:
    bounds = am.bounds(graph_of(matrix))

    assert enclose(bounds, truth(matrix))
    assert -math.inf < bounds.lower <= bounds.upper < math.inf


@given(matrices(users=(1, 6), spare=2, weights=WILD, matched=True))
def test_bounds_enclose_the_count_of_wild_weights(matrix: Matrix) -> None:
    assert enclose(am.bounds(graph_of(matrix)), truth(matrix))


@given(matrices(users=(1, 5), spare=2, weights=EXTREME, matched=True))
def test_bounds_of_weights_as_far_apart_as_doubles_are(matrix: Matrix) -> None:
    bounds = am.bounds(graph_of(matrix))

    assert enclose(bounds, truth(matrix))
    assert -math.inf < bounds.lower <= bounds.upper < bounds.lower + 10


@pytest.mark.parametrize(
    "matrix",
    [
        [[1e300, 1, 1e-150], [1e300, 1e200, 1], [1, 1e-150, 1]],
        [[1e308, 1e308], [1e308, 1e308]],
        [[5e-324, 5e-324, 1e308], [5e-324, 1e308, 5e-324], [1e308, 5e-324, 5e-324]],
        [[1e300, 1e300, 0], [0, 1e-300, 1e-300], [1e-300, 0, 1e300]],
        (10.0 ** np.random.default_rng(0).uniform(-300, 300, (5, 5))).tolist(),
        (10.0 ** np.random.default_rng(1).uniform(-300, 300, (4, 6))).tolist(),
    ],
)
def test_bounds_of_weights_far_apart_are_close_and_without_warnings(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    bounds = am.bounds(graph)

    assert enclose(bounds, truth(matrix))
    assert bounds.upper - bounds.lower < 5
    assert holds(am.count(graph, budget=0), truth(matrix))


@pytest.mark.parametrize("converged", [True, False])
@given(weighted_matrices(users=(1, 6), spare=2, matched=True))
def test_bounds_enclose_the_count_when_shares_are_settled_along_a_forest(
    converged: bool, matrix: Matrix
) -> None:
    """What happens to large graphs whose sweeps are too few, done to small ones."""
    balanced = sinkhorn.Square.balanced

    def unfinished(self: Any, start: Any, sweeps: int) -> Any:
        shares, factors = balanced(self, start, sweeps)
        return np.full_like(shares, -1.0), factors if converged else np.zeros_like(factors)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sinkhorn.Square, "balanced", unfinished)
        bounds = am.bounds(graph_of(matrix))

    assert enclose(bounds, truth(matrix))
    assert bounds.all["lower: doubly stochastic scaling (Gurvits)"] > -math.inf or not converged


@pytest.mark.slow
def test_the_lower_bound_of_a_sparse_random_graph_is_not_given_up() -> None:
    """Sweeps balance such graphs slowly: unless shares are settled, few matchings are proven."""
    n = 15_000
    draws = np.random.default_rng(0)
    rows = np.concatenate((np.arange(n), draws.integers(n, size=25_000)))
    columns = np.concatenate((draws.permutation(n), draws.integers(n, size=25_000)))
    pairs = set(zip(rows.tolist(), columns.tolist(), strict=True))
    bounds = am.bounds(am.Graph.from_edges(pairs, users=range(n), behaviours=range(n)))

    assert 500 < bounds.lower < bounds.upper


@pytest.mark.parametrize("graph", [families.aztec(40), families.hexagon(12, 12, 12)], ids=repr)
def test_sweeps_go_on_where_some_are_too_few(graph: am.Graph) -> None:
    """Tilings: probabilities near the corners are nearly 0 or 1, which takes many sweeps to
    find.
    """
    bounds = am.bounds(graph)

    assert bounds.lower > 0.2 * bounds.upper


def test_intervals_allow_for_large_terms_that_cancel() -> None:
    """Logs of 690 and -690 leave more rounding behind than their sum suggests."""
    matrix: Matrix = [[1e300, 1e300, 1], [0, 0, 1e-300]]

    assert holds(am.count(graph_of(matrix)), truth(matrix))


@given(matrices(users=(1, 8)))
def test_bregman_bounds_the_count_by_users_and_by_behaviours(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    bounds = am.bounds(graph)

    assert bounds.bregman == min(am.bregman(graph.degrees), am.bregman(graph.behaviour_degrees))
    assert precise_log(truth(matrix)) <= Decimal(bounds.bregman + 1e-12)


@pytest.mark.parametrize(
    "graph",
    [
        families.complete(50),
        families.crown(60),
        families.ring(200, 3),
        families.ring(60, 5),
        families.hypercube(5),
        families.grid(8, 8),
        families.grid(2, 40),
        families.aztec(6),
        families.hexagon(3, 4, 5),
        families.hessenberg(30),
        families.ferrers(range(1, 31)),
        families.band(80, 2, 1),
        families.partition([1, 2, 3, 4, 9, 20]),
        families.random_regular(30, 3, seed=1),
        families.random_regular(16, 7, seed=2),
        families.random_density(18, 0.4, seed=3),
        am.Graph.from_rows([range(i, i + 5) for i in range(20)]),
        am.Graph.from_rows([range(30)] * 4),
    ],
    ids=repr,
)
def test_bounds_enclose_the_count_of_families(graph: am.Graph) -> None:
    value = am.count(graph, exact=True).value
    assert isinstance(value, int)

    assert enclose(am.bounds(graph), value)


@pytest.mark.parametrize("sizes", [[1], [7], [2, 2, 2], [1, 2, 3, 4, 5], [40] * 25])
def test_complete_groups_attain_bregmans_bound(sizes: list[int]) -> None:
    bounds = am.bounds(families.partition(sizes))
    count = sum(lgamma(size + 1) for size in sizes)

    assert bounds.bregman == pytest.approx(count, rel=1e-13, abs=1e-13)
    assert bounds.upper == pytest.approx(count, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("k", [2, 3, 4, 8])
def test_regular_graphs_reach_schrijvers_bound(k: int) -> None:
    """At least ((k-1)^(k-1) / k^(k-2))^n; no bound of more can hold for all of them."""
    n = 200
    schrijver = n * ((k - 1) * log(k - 1) - (k - 2) * log(k)) if k > 1 else 0.0
    bounds = am.bounds(families.random_regular(n, k, seed=k))

    assert bounds.lower >= schrijver - 1e-9
    assert bounds.upper == pytest.approx(n / k * lgamma(k + 1))


def test_a_single_matching_is_known_exactly() -> None:
    """Only the diagonal of a triangle is in a matching; the rest is left out."""
    bounds = am.bounds(am.Graph.from_rows([range(i + 1) for i in range(30)]))

    assert bounds.lower == pytest.approx(0.0, abs=1e-9)
    assert bounds.upper == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rows", [["0"], ["10", "10"], ["110", "110", "000"], ["11", "11", "11"]])
def test_no_matching_is_minus_infinity(rows: list[str]) -> None:
    bounds = am.bounds(am.Graph.from_rows(rows))

    assert (bounds.lower, bounds.upper) == (-math.inf, -math.inf)
    assert am.bregman([3, 0, 2]) == -math.inf


@given(st.lists(st.integers(1, 60), min_size=1, max_size=40))
def test_bregman_is_the_sum_of_its_users(degrees: list[int]) -> None:
    assert am.bregman(degrees) == pytest.approx(sum(am.bregman([d]) for d in degrees), rel=1e-13)
    assert am.bregman(degrees) <= sum(map(log, degrees)) + 1e-12


def test_bounds_do_not_change_afterwards() -> None:
    bounds = am.bounds(families.complete(3))

    with pytest.raises(TypeError):
        bounds.all["upper: mine"] = 0.0  # type: ignore[index]
    with pytest.raises(AttributeError):
        bounds.upper = 0.0  # type: ignore[misc]


def test_bounds_of_a_large_sparse_graph_stay_close() -> None:
    """A hundred thousand users: the gap an edge is what it is for a hundred."""
    small, large = (am.bounds(families.ring(n, 3)) for n in (100, 100_000))
    gaps = [(b.upper - b.lower) / n for b, n in ((small, 100), (large, 100_000))]

    assert gaps[1] == pytest.approx(gaps[0], rel=0.05)
    truth_each_user = np.log((1 + 5**0.5) / 2)
    assert large.lower / 100_000 <= truth_each_user <= large.upper / 100_000


def test_nobody_has_one_matching() -> None:
    bounds = am.bounds(am.Graph.from_edges([]))
    assert bounds.lower <= 0.0 <= bounds.upper

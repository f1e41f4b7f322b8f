"""Figures of the whole system against the definition: sums over every matching."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import Matrix, graph_of, matrices, truth, weighted_matrices

import anonymatch as am
from anonymatch.counting.measures import system
from anonymatch.counting.measures.summary import Metrics, metrics
from anonymatch.counting.reference import matchings

FACTS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).parents[1].joinpath("golden", "measures.json").read_text()
)


def matching_weights(matrix: Matrix) -> list[float]:
    graph = graph_of(matrix)
    return [
        math.prod(float(matrix[i][j]) for i, j in enumerate(matching))
        for matching in matchings(graph)
    ]


def holds(measured: Metrics, name: str, value: float) -> bool:
    low, high = measured.intervals[name]
    figure = measured.figures[name].value
    return low <= figure <= high and low - 1e-15 <= value <= high + 1e-15


@pytest.mark.parametrize("fact", FACTS["system"], ids=lambda fact: fact["id"])
def test_known_figures(fact: dict[str, Any]) -> None:
    figures = metrics(am.Graph.from_rows(fact["rows"]))

    for name in fact.keys() & {"degree", "weighted_degree", "log_rescaled"}:
        assert getattr(figures, name) == pytest.approx(fact[name], abs=5.1e-5)


@given(weighted_matrices(users=(1, 5), spare=2, matched=True))
def test_degree_is_a_share_of_all_matchings_that_could_be(matrix: Matrix) -> None:
    figures = metrics(graph_of(matrix))
    number = len(matching_weights(matrix))
    most = math.perm(len(matrix[0]), len(matrix))

    expected = math.log(number) / math.log(most) if most > 1 else 0.0
    assert holds(figures, "degree", expected)
    assert figures.degree == pytest.approx(expected, abs=1e-12)


@given(weighted_matrices(users=(1, 5), spare=2, matched=True))
def test_matching_entropy_is_that_of_the_distribution_over_matchings(matrix: Matrix) -> None:
    figures = metrics(graph_of(matrix))
    weights = np.array(matching_weights(matrix))
    probabilities = weights / weights.sum()
    most = math.perm(len(matrix[0]), len(matrix))

    expected = (
        float(-(probabilities * np.log(probabilities)).sum() / math.log(most)) if most > 1 else 0.0
    )
    assert figures.matching_entropy == pytest.approx(expected, abs=1e-9)
    low, high = figures.intervals["matching_entropy"]
    assert low - 1e-13 <= expected <= high + 1e-13


@given(matrices(users=(1, 5), spare=2, matched=True))
def test_matching_entropy_is_the_degree_without_weights(matrix: Matrix) -> None:
    figures = metrics(graph_of(matrix))

    assert figures.matching_entropy == figures.degree


@given(weighted_matrices(users=(1, 5), spare=1, matched=True))
def test_log_rescaled_is_the_permanent_of_p_times_log_p(matrix: Matrix) -> None:
    shares = [[float(x) / math.fsum(map(float, row)) for x in row] for row in matrix]
    rescaled: Matrix = [[p * abs(math.log(p)) if p else 0 for p in row] for row in shares]
    figures = metrics(graph_of(matrix))

    assert figures.log_rescaled == pytest.approx(float(truth(rescaled)), rel=1e-9, abs=1e-15)
    assert figures.log_rescaled == pytest.approx(math.exp(figures.log_rescaled_log), rel=1e-12)


def test_one_exposed_user_makes_log_rescaled_nothing() -> None:
    figures = metrics(am.Graph.from_biadjacency([[0.5, 0.0], [0.1, 0.2]]))

    assert (figures.log_rescaled, figures.log_rescaled_log) == (0.0, -math.inf)


def test_log_rescaled_keeps_what_a_large_weight_leaves_for_the_others() -> None:
    tiny = 1e-20
    figures = metrics(am.Graph.from_biadjacency([[1.0, tiny], [tiny, 1.0]]))

    assert figures.log_rescaled == pytest.approx(tiny**2 + (tiny * math.log(1 / tiny)) ** 2)


def test_log_rescaled_of_many_users_is_found_in_its_log() -> None:
    figures = metrics(am.partition([2] * 2000))

    assert figures.log_rescaled == 0.0
    assert figures.log_rescaled_log == pytest.approx(2000 * math.log(2 * (math.log(2) / 2) ** 2))


@pytest.mark.parametrize("scale", [1.0, 0.25, 7.0])
def test_weighted_degree_takes_weights_whose_rows_and_columns_sum_alike(scale: float) -> None:
    third = [[1 / 2, 1 / 3, 1 / 6], [1 / 6, 1 / 2, 1 / 3], [1 / 3, 1 / 6, 1 / 2]]
    figures = metrics(am.Graph.from_biadjacency(scale * np.array(third)))

    expected = math.log(float(truth(third))) / math.log(6 / 27)  # type: ignore[arg-type]
    assert figures.weighted_degree == pytest.approx(expected, rel=1e-12)
    assert holds(figures, "weighted_degree", expected)


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], "rows and columns do not all have the same sum"),
        ([[1, 1], [0, 1]], "rows and columns do not all have the same sum"),
        ([[1, 1]], "there are more behaviours than users"),
    ],
)
def test_weighted_degree_says_why_there_is_none(matrix: Matrix, reason: str) -> None:
    figures = metrics(graph_of(matrix))

    assert figures.weighted_degree is None
    assert figures.reasons["weighted_degree"] == reason


def test_the_two_degrees_rank_graphs_in_opposite_order() -> None:
    pairs, cycle = metrics(am.partition([2, 2])), metrics(am.ring(4, 2))

    assert pairs.degree > cycle.degree
    assert pairs.weighted_degree is not None
    assert cycle.weighted_degree is not None
    assert pairs.weighted_degree < cycle.weighted_degree


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_everybody_like_everybody_has_one_and_everybody_known_has_zero(n: int) -> None:
    full, known = metrics(am.complete(n)), metrics(am.partition([1] * n))

    assert full.degree == pytest.approx(float(n > 1))
    assert known.degree == known.matching_entropy == 0.0
    if n > 1:
        assert full.weighted_degree == pytest.approx(1.0)
        assert known.weighted_degree == 0.0


def test_full_log_of_a_few_users_among_many_behaviours_loses_no_digits() -> None:
    assert system.full_log(2, 10**6) == pytest.approx(math.log(10**6 * (10**6 - 1)), rel=1e-15)

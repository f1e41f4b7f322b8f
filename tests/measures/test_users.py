"""Figures of each user against their definitions on exact posteriors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import Matrix, edge_truth, graph_of, truth, weighted_matrices

import anonymatch as am
from anonymatch.base.interval import Interval
from anonymatch.counting.measures.summary import metrics
from anonymatch.counting.measures.tuning import MeasureTuning
from anonymatch.counting.measures.user_posteriors import user_figures
from anonymatch.counting.measures.users import Range

ENTROPIES = ("shannon", "renyi2", "min_entropy")


def figures_by_definition(probabilities: list[Fraction]) -> dict[str, float]:
    likely = [float(p) for p in probabilities if p]
    shannon = -math.fsum(p * math.log2(p) for p in likely)
    return {
        "allowed": len(likely),
        "shannon": shannon,
        "renyi2": -math.log2(sum(p * p for p in probabilities)),
        "min_entropy": -math.log2(max(probabilities)),
        "effective": 2**shannon,
        "probability": float(max(probabilities)),
        "guesses": math.fsum(k * p for k, p in enumerate(sorted(likely, reverse=True), 1)),
    }


@given(weighted_matrices(users=(1, 5), spare=2, matched=True))
def test_every_figure_is_its_definition_and_lies_in_its_interval(matrix: Matrix) -> None:
    total = truth(matrix)
    table = metrics(graph_of(matrix)).users

    for row, through in zip(table.iter_rows(named=True), edge_truth(matrix), strict=True):
        for name, expected in figures_by_definition([x / total for x in through]).items():
            assert row[name] == pytest.approx(expected, abs=1e-10)
            if name != "allowed":
                assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
                assert row[f"{name}_low"] - 1e-14 <= expected <= row[f"{name}_high"] + 1e-14
        assert through[row["guess"]] >= max(through) * (1 - Fraction(1, 10**9))
        assert row["degree"] == sum(map(bool, matrix[row["user"]]))


@given(weighted_matrices(users=(1, 5), matched=True))
def test_entropies_tell_what_exposing_a_user_leaves(matrix: Matrix) -> None:
    """Matchings left: the log of their mean is Rényi's, the mean of their logs Shannon's.

    With weights both hold for the weight of the matchings through an edge.
    """
    graph = graph_of(matrix)
    table = metrics(graph).users
    total = truth(matrix)
    for row, through in zip(table.iter_rows(named=True), edge_truth(matrix), strict=True):
        left = [x for x in through if x]
        mean = math.log2(sum(x * x for x in left) / total)
        mean_log = math.fsum(float(x / total) * math.log2(x) for x in left)

        assert mean == pytest.approx(math.log2(total) - row["renyi2"], abs=1e-9)
        assert mean_log == pytest.approx(math.log2(total) - row["shannon"], abs=1e-9)


@pytest.mark.parametrize("error", [1e-6, 0.01, 0.2])
def test_intervals_hold_every_posterior_within_the_error(error: float) -> None:
    graph = am.Graph.from_rows(["1111", "1111", "0111", "0011"])
    stated = am.posterior(graph).probabilities
    figures = user_figures(graph, stated, error)
    rng = np.random.default_rng(5)
    rows = graph.rows()
    for _ in range(200):
        moved = np.clip(stated + rng.uniform(-error, error, len(stated)) / 2, 1e-9, 1)
        moved /= np.bincount(rows, moved)[rows]
        if (np.abs(moved - stated) > error).any():
            continue
        other = user_figures(graph, moved, 0.0)
        for name in (*ENTROPIES, "effective", "probability"):
            wide, value = getattr(figures, name), getattr(other, name).value

            assert (wide.low <= value).all()
            assert (value <= wide.high).all()


def test_unknown_probabilities_give_the_widest_intervals() -> None:
    graph = am.Graph.from_rows(["1100", "1100", "0010", "1011"])
    unknown = np.where(graph.rows() < 2, np.nan, [1.0] * graph.n_edges)
    unknown[graph.rows() == 3] = [0.0, 0.0, 1.0]
    figures = user_figures(graph, unknown, 0.0)

    assert np.isnan(figures.shannon.value).tolist() == [True, True, False, False]
    assert (figures.shannon.low.tolist(), figures.shannon.high.tolist()) == (
        [0.0] * 4,
        [1.0, 1.0, 0, 0],
    )
    assert (figures.probability.low.tolist(), figures.probability.high.tolist()) == (
        [0.5, 0.5, 1, 1],
        [1.0] * 4,
    )
    assert figures.guess.tolist() == [-1, -1, 2, 3]
    assert figures.frame()["guess"].to_list() == [None, None, 2, 3]
    assert figures.below(2) == Interval(0.75, 0.5, 1.0)


def test_a_forced_user_is_known_for_certain() -> None:
    table = metrics(am.Graph.from_rows(["110", "110", "111"])).users
    forced = table.row(2, named=True)

    assert forced["degree"] == 3
    assert forced["allowed"] == 1
    for name in ENTROPIES:
        assert forced[name] == forced[f"{name}_low"] == forced[f"{name}_high"] == 0.0
    assert forced["probability_low"] == 1.0


@pytest.mark.parametrize(
    ("threshold", "share"), [(2, 0.0), (2.001, 4 / 7), (3, 4 / 7), (3.1, 1.0), (0.5, 0.0)]
)
def test_share_of_users_below_a_threshold(threshold: float, share: float) -> None:
    """A group of three has an effective size of three, whatever rounding says."""
    figures = metrics(am.partition([2, 2, 3]), threshold=threshold)

    assert figures.below == pytest.approx(share)
    assert figures.intervals["below"] == (figures.below, figures.below)


@pytest.mark.parametrize("threshold", [0, -1, math.nan, "3"])
def test_a_threshold_is_a_size(threshold: float) -> None:
    with pytest.raises(am.InputError, match="threshold must be"):
        metrics(am.complete(2), threshold=threshold)


@pytest.mark.parametrize(
    ("names", "kind"), [(("ann", "bob"), "String"), ((7, 3), "Int64"), (("ann", 3), "String")]
)
def test_the_table_names_users_and_guesses(names: tuple[object, object], kind: str) -> None:
    graph = am.Graph.from_biadjacency([[1, 0], [1, 1]], users=names, behaviours=["x", "y"])
    table = metrics(graph).users

    assert str(table.schema["user"]) == kind
    assert table["user"].to_list() == [str(n) if kind == "String" else n for n in names]
    assert table["guess"].to_list() == ["x", "y"]


@given(weighted_matrices(users=(1, 6), spare=2, matched=True))
def test_users_taken_some_at_a_time_have_the_same_figures(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    probabilities = am.posterior(graph).probabilities
    whole = user_figures(graph, probabilities, 1e-12).frame()
    with pytest.MonkeyPatch.context() as patch:
        few = MeasureTuning(together=2)
        patch.setattr("anonymatch.counting.measures.user_posteriors.MEASURES", few)
        parts = user_figures(graph, probabilities, 1e-12).frame()

    assert parts.equals(whole)


@pytest.mark.filterwarnings("error")
def test_a_probability_that_may_be_0_has_no_largest_min_entropy_and_no_warning() -> None:
    interval = Range(np.array([0.5]), np.array([0.0]), np.array([1.0])).minus_log2()

    assert [part[0] for part in interval.parts] == [1.0, 0.0, np.inf]

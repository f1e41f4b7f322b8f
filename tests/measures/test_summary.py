"""metrics() as a whole: what it refuses, what is left when the budget is small."""

from __future__ import annotations

import math

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.measures.summary import meanings, metrics


def joined(*graphs: am.Graph) -> am.Graph:
    """Graphs side by side."""
    edges = [
        ((k, user), (k, behaviour), *weight)
        for k, graph in enumerate(graphs)
        for user, behaviour, *weight in graph.to_edges()
    ]
    return am.Graph.from_edges(edges)


def test_without_a_matching_the_error_carries_the_witness() -> None:
    with pytest.raises(am.NoMatchingError) as error:
        metrics(am.Graph.from_edges([("ann", "x"), ("bob", "x"), ("cem", "y")]))

    assert error.value.users == ("ann", "bob")


@pytest.mark.grid
@pytest.mark.parametrize("weighted", [False, True])
def test_beyond_the_budget_every_figure_is_an_interval(weighted: bool) -> None:
    hard = am.random_density(60, 0.4, seed=4)
    if weighted:
        draws = np.random.default_rng(1).uniform(0.5, 2.0, hard.n_edges)
        values = hard.to_scipy().astype(float)
        values.data = draws
        hard = am.Graph.from_biadjacency(values)
    figures = metrics(joined(hard, am.partition([2, 1])), budget=0.2)

    for name, (low, high) in figures.intervals.items():
        assert low <= figures.figures[name].value <= high
    low, high = figures.intervals["degree"]
    assert 0 < low < high < 1
    assert not figures.count.exact
    table = figures.users
    assert table["shannon"].to_list()[60:] == pytest.approx([1.0, 1.0, 0.0])
    unknown = table[:60]
    if unknown["shannon"].null_count():  # else estimated, with an error
        assert unknown["shannon_low"].to_list() == [0.0] * 60
        assert unknown["shannon_high"].to_list() == pytest.approx(
            [math.log2(size) for size in unknown["allowed"].to_list()]
        )


def test_every_user_has_an_interval_of_his_own() -> None:
    """Estimated probabilities of some say nothing against what is known of others."""
    graph = joined(am.random_regular(60, 6, seed=1), am.ring(5, 3))
    table = metrics(graph, budget=0.3).users
    widths = (table["shannon_high"] - table["shannon_low"]).to_list()
    edges = graph.n_edges - am.ring(5, 3).n_edges
    margins = am.posterior(graph, budget=0.3).margins

    assert min(widths[:60]) > 1e-3
    assert max(widths[60:]) < 1e-9
    assert len(set(widths[:60])) > 50
    assert max(margins[edges:]) < 1e-9 < min(margins[:edges])


def test_blocks_within_the_budget_are_known_whatever_their_size() -> None:
    """One block is out of reach; a larger one has a closed form, a small one is quick."""
    table = metrics(
        joined(am.random_density(40, 0.5, seed=1), am.complete(50), am.ring(5, 3)), budget=0.0
    ).users

    assert table["shannon"].to_list()[:40] == [None] * 40
    assert table["shannon"].to_list()[40:90] == pytest.approx([math.log2(50)] * 50)
    assert table["shannon"].to_list()[90:] == pytest.approx(
        metrics(am.ring(5, 3)).users["shannon"].to_list()
    )


def test_bounds_of_a_weighted_graph_hold_its_matching_entropy() -> None:
    rng = np.random.default_rng(2)
    graph = am.Graph.from_biadjacency(rng.uniform(0.1, 5.0, (22, 22)))
    known, unknown = metrics(graph), metrics(graph, budget=0.0)

    low, high = unknown.intervals["matching_entropy"]
    assert low <= known.matching_entropy <= high


def test_every_measure_has_a_meaning_and_a_reference() -> None:
    figures = metrics(am.complete(3), threshold=2, messages=(["a", "b", "b"], ["x"] * 3))

    for name in figures.figures:
        assert meanings()[name.removesuffix("_log")].reference.strip().endswith(".")
    columns = {
        name.removesuffix("_low").removesuffix("_high")
        for name in figures.users.columns
        if name != "user"
    }
    assert {f"users.{name}" for name in columns} <= meanings().keys()
    assert all(len(meaning.meaning) > 20 for meaning in meanings().values())


def test_a_hundred_thousand_users_in_small_batches_are_measured() -> None:
    figures = metrics(am.partition([5] * 20_000), threshold=5)

    assert figures.below == 0.0
    assert figures.degree == pytest.approx(
        20_000 * math.log(120) / (math.lgamma(100_001)), rel=1e-12
    )


def test_methods_that_do_not_exist_are_refused() -> None:
    with pytest.raises(am.InputError, match="method must be one of"):
        metrics(am.complete(3), method="rysr")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("small", "expected"), [(1.0, 0.0), (9e307, 1.0), (4.5e307, None)], ids=str
)
def test_weights_near_the_largest_double_do_not_overflow(
    small: float, expected: float | None
) -> None:
    def graph(scale: float) -> am.Graph:
        large, less = 9e307 / scale, small / scale
        edges = [("a", "x", large), ("a", "y", less), ("b", "x", less), ("b", "y", large)]
        return am.Graph.from_edges(edges)

    found, plain = am.metrics(graph(1.0)).weighted_degree, am.metrics(graph(1e300)).weighted_degree

    assert found is not None
    assert found == pytest.approx(plain, abs=1e-9)
    if expected is not None:
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.filterwarnings("error")
def test_a_weight_near_the_largest_double_invents_no_common_sum() -> None:
    edges = [("a", "x", 9e307), ("a", "y", 9e307), ("b", "x", 9e307), ("b", "y", 1.0)]
    found = am.metrics(am.Graph.from_edges(edges))

    assert found.weighted_degree is None
    assert "same sum" in found.reasons["weighted_degree"]

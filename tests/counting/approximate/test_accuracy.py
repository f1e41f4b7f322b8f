"""count(epsilon=, delta=): promises that are kept, exact where that is quick, refused where not."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.approximate.accuracy import Accuracy
from anonymatch.counting.blocks.tuning import tuned
from anonymatch.graph import families


@pytest.fixture(autouse=True)
def nothing_is_quick() -> Iterator[None]:
    """So that small blocks, whose counts are known, are drawn too."""
    with tuned(promise_from=0.0):
        yield


def dense(n: int, seed: int) -> am.Graph:
    cells = np.random.default_rng(seed).random((n, n)) < 0.5
    return am.Graph.from_biadjacency(cells | np.eye(n, dtype=bool))


@pytest.mark.parametrize("seed", range(8))
def test_within_epsilon(seed: int) -> None:
    graph = dense(20, seed)
    truth = am.count(graph, exact=True).log
    count = am.count(graph, epsilon=0.2, delta=0.01, seed=seed)

    assert not count.exact
    assert (count.method, count.confidence, count.seed) == ("guaranteed draws", 0.99, seed)
    assert count.low <= truth <= count.high
    assert math.log(0.8) <= count.log - truth <= math.log(1.2)
    assert count.proven[0] <= truth <= count.proven[1]


def test_values_lie_in_their_intervals() -> None:
    """Also when draws are few, and where proven bounds are closer than the promise."""
    for seed in range(10):
        for graph in (dense(15, seed), families.band(14, 2, 2)):
            count = am.count(graph, epsilon=0.5, delta=0.2, seed=seed)
            assert count.method == "guaranteed draws"
            assert count.proven[0] <= count.low <= count.log <= count.high <= count.proven[1]
            assert count.low - math.log(0.5) >= count.high - math.log(1.5) - 1e-9


@pytest.mark.parametrize(
    "graph",
    [
        dense(22, 1),
        am.Graph.from_biadjacency(
            np.random.default_rng(5).random((12, 14)) * (np.arange(168).reshape(12, 14) % 5 > 0)
        ),
    ],
    ids=["dense", "weights and spare behaviours"],
)
def test_all_probabilities_are_within_epsilon(graph: am.Graph) -> None:
    truth = am.posterior(graph).probabilities
    for seed in range(5):
        posterior = am.posterior(graph, epsilon=0.05, delta=0.01, seed=seed)
        assert (posterior.exact, posterior.method, posterior.confidence) == (
            False,
            "exact samples",
            0.99,
        )
        assert posterior.error == 0.05
        assert posterior.errors is not None
        assert np.abs(posterior.probabilities - truth).max() <= 0.05
        scores = (posterior.probabilities - truth) / np.maximum(posterior.errors, 1e-4)
        assert np.mean(np.abs(scores) < 2) > 0.9


def test_probabilities_beyond_the_budget_are_refused() -> None:
    with pytest.raises(am.BudgetError, match="drawing matchings exactly would take"):
        am.posterior(am.random_regular(150, 6, seed=1), epsilon=0.01, budget=1.0)


def test_blocks_share_a_promise() -> None:
    whole = Accuracy(0.1, 0.05)
    each = whole.shared([1, 3])

    assert (1 + each.epsilon) ** 4 <= 1.1 + 1e-12
    assert (1 - each.epsilon) ** 4 >= 0.9 - 1e-12
    assert each.delta == 0.025


def test_a_graph_of_several_blocks() -> None:
    one, other = dense(20, 1).to_scipy().toarray(), dense(21, 2).to_scipy().toarray()
    cells = np.zeros((61, 61), dtype=int)
    for begin, part in ((0, one), (20, other), (41, one)):
        cells[begin : begin + len(part), begin : begin + len(part)] = part
    graph = am.Graph.from_biadjacency(cells)
    count = am.count(graph, epsilon=0.3)

    assert abs(count.log - am.count(graph, exact=True).log) <= -math.log(0.7)
    assert count.confidence == 0.95


def test_spare_behaviours_and_weights() -> None:
    rng = np.random.default_rng(5)
    cells = rng.random((14, 17)) * (rng.random((14, 17)) < 0.7)
    graph = am.Graph.from_biadjacency(cells)
    count = am.count(graph, epsilon=0.2, seed=1)

    assert abs(count.log - am.count(graph).log) <= -math.log(0.8)


def test_the_same_whatever_the_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    graph = dense(18, 3)
    alone = am.count(graph, epsilon=0.1, seed=2)
    with ThreadPoolExecutor(3) as executor:
        assert am.count(graph, epsilon=0.1, seed=2, executor=executor).log == alone.log


def test_what_is_quickly_counted_is_exact() -> None:
    with tuned(promise_from=1.0):
        count = am.count(dense(12, 1), epsilon=0.1)

    assert count.exact
    assert count.confidence == 1.0


def test_beyond_the_budget_it_is_refused() -> None:
    graph = am.random_regular(150, 6, seed=1)
    with pytest.raises(am.BudgetError, match=r"within 0\.01"):
        am.count(graph, epsilon=0.01, budget=1.0)

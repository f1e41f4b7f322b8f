"""Drawn matchings: each is one, and their frequencies are those of the definition.

Frequencies are tested by chi-square over fixed seeds. A right sampler fails one of these tests
with a probability of 1e-6, once and for all: seeds do not change.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import prod

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc
from tests.strategies import Matrix, dense, graph_of, weighted_matrices

import anonymatch as am
from anonymatch.counting.blocks.tuning import tuned
from anonymatch.counting.reference import matchings
from anonymatch.graph import families

SIZE = 20_000
THIRD = Fraction(1, 3)

GRAPHS = {
    "complete": families.complete(4),
    "complete with spare behaviours": am.Graph.from_rows([range(4)] * 2),
    "nested": families.ferrers([2, 2, 4, 4, 5]),
    "nested with spare behaviours": am.Graph.from_rows(["1100", "1110", "1111"]),
    "ring": families.ring(6, 3),
    "dense": am.Graph.from_rows(["11101", "01111", "11011", "10111", "11110"]),
    "rectangular": am.Graph.from_rows(["11010", "01101", "10011"]),
    "equal groups": families.partition([3, 3]),
    "equal rings": graph_of(np.kron(np.eye(2), families.ring(4, 3).to_scipy().toarray()).tolist()),
    "edges in no matching": am.Graph.from_rows(["1111", "0111", "0011", "0011"]),
    "integers": graph_of([[1, 2, 0], [3, 1, 4], [0, 5, 1]]),
    "fractions": graph_of([[THIRD, 1, 2], [1, THIRD, 1], [1, 1, THIRD]]),
    "rank one": graph_of([[1, 2, 3], [2, 4, 6], [3, 6, 9]]),
    "nested with weights": graph_of([[1, 5, 0], [2, 1, 0], [1, 1, 7]]),
    "rectangular with weights": graph_of([[1, 5, 0.5, 0], [2, 1, 0, 9], [0, 1, 7, 2]]),
    "far apart": graph_of([[1e200, 1e-200, 1], [1, 1e-100, 1e-100], [1e100, 1, 1e-100]]),
}  # fmt: skip


def probabilities(graph: am.Graph) -> dict[tuple[int, ...], float]:
    """Of every matching, by definition."""
    weights = dict.fromkeys(
        zip(graph.rows().tolist(), graph.indices.tolist(), strict=True), Fraction(1)
    )
    if graph.exact_weights is not None:
        weights = dict(zip(weights, map(Fraction, graph.exact_weights), strict=True))
    products = {m: prod(weights[edge] for edge in enumerate(m)) for m in matchings(graph)}
    total = sum(products.values())
    return {m: float(value / total) for m, value in products.items()}


def likely(drawn: npt.NDArray[np.int32], wanted: dict[tuple[int, ...], float]) -> bool:
    """Whether a chi-square test on the frequencies passes; rare matchings are taken together."""
    drawn_counts = Counter(map(tuple, drawn.tolist()))
    assert set(drawn_counts) <= set(wanted)
    rare = {m for m, probability in wanted.items() if probability * len(drawn) < 5}
    cells = [(drawn_counts[m], wanted[m] * len(drawn)) for m in wanted if m not in rare]
    if rare:
        cells.append(
            (sum(drawn_counts[m] for m in rare), sum(wanted[m] for m in rare) * len(drawn))
        )
    statistic = sum((observed - mean) ** 2 / mean for observed, mean in cells if mean > 1e-6)
    assert all(observed == 0 for observed, mean in cells if mean <= 1e-6)
    return len(cells) == 1 or bool(chdtrc(len(cells) - 1, statistic) > 1e-6)


@pytest.mark.grid(quick=16)
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", GRAPHS)
def test_frequencies_are_those_of_the_definition(name: str, seed: int) -> None:
    drawn = am.sample(GRAPHS[name], SIZE, seed=seed)

    assert drawn.dtype == np.int32
    assert likely(drawn, probabilities(GRAPHS[name]))


@pytest.mark.parametrize("seed", [0, 1])
def test_rejection_draws_evenly(seed: int) -> None:
    """Without a budget for tables, permutations are drawn until one avoids the missing edges."""
    graph = families.crown(5)

    assert likely(am.sample(graph, 5000, seed=seed, budget=0), probabilities(graph))


@pytest.mark.parametrize("name", ["complete", "ring", "integers", "nested"])
def test_draws_do_not_depend_on_the_one_before(name: str) -> None:
    drawn = am.sample(GRAPHS[name], SIZE, seed=3)
    alone = probabilities(GRAPHS[name])
    pairs = {(*a, *b): alone[a] * alone[b] for a in alone for b in alone}

    assert likely(drawn.reshape(SIZE // 2, -1), pairs)


def test_another_seed_draws_others() -> None:
    """Two seeds together are as independent as two draws."""
    graph = families.ring(6, 3)
    alone = probabilities(graph)
    pairs = {(*a, *b): alone[a] * alone[b] for a in alone for b in alone}
    both = [am.sample(graph, SIZE // 2, seed=seed) for seed in (10, 11)]

    assert likely(np.hstack(both), pairs)


def test_the_same_seed_draws_the_same_anywhere() -> None:
    graph = families.random_regular(16, 3, seed=2)
    first = am.sample(graph, 50, seed=9)
    with ThreadPoolExecutor(3) as executor:
        again = am.sample(graph, 50, seed=9, executor=executor)

    assert (first == again).all()
    assert (first != am.sample(graph, 50, seed=8)).any()


@given(weighted_matrices(users=(1, 7), spare=3, matched=True), st.integers(0, 2**32))
def test_every_draw_is_a_matching(matrix: Matrix, seed: int) -> None:
    drawn = am.sample(graph_of(matrix), 5, seed=seed)

    assert drawn.shape == (5, len(matrix))
    for row in drawn.tolist():
        assert len(set(row)) == len(row)
        assert all(matrix[i][j] for i, j in enumerate(row))


@pytest.mark.parametrize(
    "graph",
    [
        families.ring(100, 3),
        families.random_regular(20, 4, seed=1),
        families.grid(8, 8),
        families.random_density(16, 0.5, seed=1),
        families.partition([20, 3, 1, 3]),
        families.hessenberg(40),
        am.Graph.from_rows([range(i, i + 4) for i in range(30)]),
    ],
    ids=repr,
)
def test_edges_are_drawn_as_often_as_their_probability(graph: am.Graph) -> None:
    """Within six standard deviations each; what is certain always."""
    size = 4000
    drawn = am.sample(graph, size, seed=1)
    reports = np.zeros((graph.n_users, graph.n_behaviours))
    np.add.at(reports, (np.arange(graph.n_users)[None, :], drawn), 1)
    probability = dense(am.posterior(graph))
    spread = np.sqrt(probability * (1 - probability) * size)

    assert (np.sort(drawn, axis=1)[:, 1:] != np.sort(drawn, axis=1)[:, :-1]).all()
    assert (
        np.abs(reports - size * probability) <= 6 * spread + 1e-6 + 3 * (probability * size < 1)
    ).all()


def test_no_draws_and_nobody() -> None:
    assert am.sample(families.ring(5, 3), 0, seed=1).shape == (0, 5)
    assert am.sample(am.Graph.from_rows([]), 3, seed=1).shape == (3, 0)


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(am.NoMatchingError):
        am.sample(am.Graph.from_rows(["10", "10"]), 1, seed=1)
    with pytest.raises(am.BudgetError, match="drawing matchings exactly would take"):
        am.sample(families.random_regular(30, 3, seed=1), 1, seed=1, budget=0)
    for size in (-1, True, 1.5, "many"):
        with pytest.raises(am.InputError, match="size must be a whole number"):
            am.sample(families.complete(3), size, seed=1)  # type: ignore[arg-type]
    for seed in (-1, True, 1.5, "lucky"):
        with pytest.raises(am.InputError, match="seed must be a whole number"):
            am.sample(families.complete(3), 1, seed=seed)  # type: ignore[arg-type]


@pytest.fixture
def by_nested_bounds() -> Iterator[None]:
    """Whatever is tried before is left out."""
    with tuned(draws=("nested_bound", "chain")):
        yield


@pytest.mark.usefixtures("by_nested_bounds")
@pytest.mark.parametrize("name", ["dense", "ring", "rectangular", "equal rings", "integers"])
def test_draws_by_nested_bounds_are_exact(name: str) -> None:
    graph = GRAPHS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no note: these are exact
        drawn = am.sample(graph, SIZE, seed=4)

    assert likely(drawn, probabilities(graph))


@pytest.mark.slow
@pytest.mark.usefixtures("by_nested_bounds")
def test_draws_that_nested_bounds_reject_too_often_come_from_chains() -> None:
    with pytest.warns(am.ApproximateNote, match="Markov chain"):
        drawn = am.sample(am.random_regular(120, 4, seed=1), 3)
    assert drawn.shape == (3, 120)

"""Posteriors, minors and gains through the public door: shapes, names, sizes beyond doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import Matrix, dense, graph_of, in_integers, weighted_matrices

import anonymatch as am
from anonymatch.counting.reference import first_minors
from anonymatch.graph import families


def test_names_lead_to_probabilities_and_counts() -> None:
    pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("bob", "z"), ("cem", "z")]
    graph = am.Graph.from_edges(pairs)
    posterior = am.posterior(graph)

    assert posterior["bob"] == {"x": 0.5, "y": 0.5, "z": 0.0}
    assert posterior.counts["cem"] == {"z": 2}
    assert dict(posterior.counts) == {user: posterior.counts[user] for user in graph.users}
    assert len(posterior.counts) == 3
    with pytest.raises(am.InputError, match="zoe"):
        _ = posterior["zoe"]


def test_the_matrix_has_the_pattern_of_the_graph() -> None:
    graph = am.Graph.from_rows(["1110", "0111", "0001"])
    matrix = am.posterior(graph).matrix

    assert matrix.shape == (3, 4)
    assert (matrix.indptr == graph.indptr).all()
    assert (matrix.indices == graph.indices).all()
    assert matrix.toarray()[2].tolist() == [0, 0, 0, 1]


def test_probabilities_cannot_be_changed() -> None:
    posterior = am.posterior(am.Graph.from_rows(["11", "11"]))

    with pytest.raises(ValueError, match="read-only"):
        posterior.probabilities[0] = 1.0
    with pytest.raises(AttributeError):
        posterior.exact = False  # type: ignore[misc]


def test_counts_of_floats_are_asked_for_with_exact() -> None:
    graph = graph_of([[0.5, 0.25], [1, 1]])

    with pytest.raises(ValueError, match="exact=True"):
        _ = am.posterior(graph).counts
    assert am.posterior(graph, exact=True).counts[0] == {0: Fraction(1, 2), 1: Fraction(1, 4)}


def test_no_matching_raises_with_its_witness() -> None:
    graph = am.Graph.from_edges([("ann", "x"), ("bob", "x"), ("cem", "y")])

    with pytest.raises(am.NoMatchingError, match=r"2 users \(ann, bob\) fit only 1 behaviour"):
        am.posterior(graph)


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_crowns_are_even_at_any_size(n: int) -> None:
    """Counts of thousands of digits, probabilities in doubles."""
    posterior = am.posterior(families.crown(n))

    assert np.abs(posterior.probabilities * (n - 1) - 1).max() <= 1e-12


@pytest.mark.parametrize("n", [30, 200])
def test_certain_steps_of_a_staircase(n: int) -> None:
    """Hessenberg: the last step up is even, every step further down half as likely."""
    posterior = am.posterior(families.hessenberg(n))
    last = [0.5 ** min(n - j, n - 1) for j in range(n)]

    assert [posterior[n - 1][j] for j in range(n)] == pytest.approx(last, rel=1e-12)


def test_equal_blocks_have_equal_probabilities_wherever_they_lie() -> None:
    """Blocks of every size mixed up: each keeps its own probabilities."""
    sizes = [1, 3, 15, 1, 3, 15, 2, 15]
    rng = np.random.default_rng(5)
    graph = families.partition(sizes)
    users, behaviours = rng.permutation(graph.n_users), rng.permutation(graph.n_behaviours)
    size_of_user = np.repeat(sizes, sizes)[users]
    probabilities = dense(am.posterior(graph.take(users, behaviours)))

    for row, size in zip(probabilities, size_of_user, strict=True):
        assert row[row > 0] == pytest.approx(np.full(size, 1 / size), rel=1e-14)


def test_equal_blocks_beyond_the_small_kernel() -> None:
    block = families.random_regular(14, 3, seed=4)
    pairs = [(i + 14 * k, j + 14 * k) for k in range(3) for i, j in block.to_edges()]
    whole = am.Graph.from_edges(pairs, users=range(42), behaviours=range(42))
    alone, together = am.posterior(block), am.posterior(whole)
    total = am.count(block).value

    assert dense(together) == pytest.approx(np.kron(np.eye(3), dense(alone)), rel=1e-13)
    counts, wanted = together.counts.to_dense(), alone.counts.to_dense() * total**2
    assert (counts[28:, 28:] == wanted).all()


@given(weighted_matrices(users=(1, 5), spare=2))
def test_minors_are_counts_without_a_user_and_a_behaviour(matrix: Matrix) -> None:
    rows, common = in_integers(matrix)
    by_definition = first_minors(rows) / Fraction(common ** (len(rows) - 1))

    assert am.minors(graph_of(matrix)).tolist() == by_definition.tolist()


@given(weighted_matrices(users=(1, 5), spare=2))
def test_gains_are_what_an_edge_more_adds(matrix: Matrix) -> None:
    gains = am.gains(graph_of(matrix))
    before = am.count(graph_of(matrix), exact=True).value
    for i, row in enumerate(matrix):
        for j, weight in enumerate(row):
            more = [list(other) for other in matrix]
            more[i][j] = weight or 1
            after = am.count(graph_of(more), exact=True).value

            assert gains[i, j] == Fraction(after) - Fraction(before)


@pytest.mark.parametrize(
    "graph",
    [
        families.random_regular(15, 3, seed=1),
        families.random_density(14, 0.5, seed=2),
        families.partition([5, 9, 1]),
        am.Graph.from_rows([[i, i + 1, (i + 5) % 16] for i in range(14)], n_behaviours=16),
    ],
    ids=repr,
)
def test_minors_expand_the_count_along_users_and_behaviours(graph: am.Graph) -> None:
    present = graph.to_scipy().toarray().astype(object)
    through = am.minors(graph) * present
    total = am.count(graph).value

    assert set(through.sum(axis=1)) == {total}
    assert (through == am.posterior(graph).counts.to_dense()).all()


def test_a_graph_short_of_one_edge_has_minors() -> None:
    """No matching yet, but one edge makes them: exactly where a user and a behaviour are left."""
    graph = am.Graph.from_rows(["1100", "1100", "0010", "0010"])

    assert am.count(graph).value == 0
    assert am.gains(graph).tolist() == [[0] * 4, [0] * 4, [0, 0, 0, 2], [0, 0, 0, 2]]


def test_text_names_the_trust() -> None:
    assert "exact" in str(am.posterior(families.ring(20, 3)))
    assert "errors below" in str(am.posterior(graph_of([[0.5, 1], [1, 1]])))
    assert math.isfinite(am.posterior(families.ring(20, 3)).error)

"""Weights of rank two and three: counts, edges, errors, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.strategies import Matrix, edge_truth, graph_of, holds, truth, worst_error

import anonymatch as am


def whole(n: int, rank: int, seed: int, *, signs: bool = False) -> Matrix:
    """A matrix of whole positive weights of this rank, from factors of both signs or of one."""
    rng = np.random.default_rng(seed)
    users, behaviours = (rng.integers(1, 30, (n, rank)) for _ in range(2))
    if signs:  # large first factors keep the sums positive
        users[:, 0] += 100
        behaviours[:, 0] += 100
        behaviours[:, 1:] *= -1
    matrix: Matrix = (users @ behaviours.T).tolist()
    return matrix


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("n", [4, 5, 8])
def test_whole_weights_agree_with_the_definition(n: int, rank: int, signs: bool) -> None:
    matrix = whole(n, rank, n, signs=signs)
    graph, total, through = graph_of(matrix), truth(matrix), edge_truth(matrix)

    assert am.count(graph, method="low_rank", exact=True).value == total
    assert holds(am.count(graph, method="low_rank"), total)
    exact = am.posterior(graph, method="low_rank", exact=True)
    assert exact.counts.to_dense().tolist() == through
    for posterior in (exact, am.posterior(graph, method="low_rank")):
        assert posterior.error <= 1e-10
        assert worst_error(posterior, through) <= Fraction(posterior.error)


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_doubles_of_almost_this_rank_have_an_honest_error(rank: int, spread: float) -> None:
    """Products in doubles have their rank only up to rounding; rows and columns far apart too."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        users, behaviours = (rng.random((7, rank)) + 0.05 for _ in range(2))
        rows, columns = (2.0 ** np.round(rng.uniform(-spread, spread, 7)) for _ in range(2))
        matrix = ((users @ behaviours.T) * np.outer(rows, columns)).tolist()
        graph, total = graph_of(matrix), truth(matrix)
        count = am.count(graph, method="low_rank")
        posterior = am.posterior(graph, method="low_rank")

        assert holds(count, total)
        assert count.high - count.low <= 1e-9
        assert worst_error(posterior, edge_truth(matrix)) <= Fraction(posterior.error)
        assert posterior.error <= 1e-9


def test_sixty_users_of_real_rank_are_counted_without_being_asked_for_it() -> None:
    rng = np.random.default_rng(1)
    for rank in (2, 3):
        users, behaviours = (rng.random((60, rank)) + 0.1 for _ in range(2))
        count = am.count(am.Graph.from_biadjacency(users @ behaviours.T))
        assert [step.method for step in count.plan.steps] == ["low_rank"]
        assert count.high - count.low <= 1e-9
    posterior = am.posterior(am.Graph.from_biadjacency(users[:40] @ behaviours[:40].T))
    assert posterior.matrix.sum(axis=0) == pytest.approx(1.0, abs=1e-9)


def test_a_count_of_two_classes_has_its_formula() -> None:
    """Half of the users weigh x on half of the behaviours and 1 on all others: rank two."""
    n, x = 40, 7
    rows: Matrix = [[x if i < n // 2 and j < n // 2 else 1 for j in range(n)] for i in range(n)]
    half = n // 2
    # k users of the first half take behaviours of the first half.
    expected = sum(
        x**k * math.comb(half, k) ** 4 * math.factorial(k) ** 2 * math.factorial(half - k) ** 2
        for k in range(half + 1)
    )

    assert am.count(graph_of(rows), method="low_rank", exact=True).value == expected


def test_the_sign_of_a_pivot_block_does_not_reach_the_answer() -> None:
    """With an even and an odd number of users, and determinants of both signs."""
    for n in (4, 5):
        for matrix in (whole(n, 2, 3), [row[::-1] for row in whole(n, 2, 3)]):
            graph = graph_of(matrix)
            assert am.count(graph, method="low_rank", exact=True).value == truth(matrix)
            counts = am.posterior(graph, method="low_rank", exact=True).counts.to_dense()
            assert counts.tolist() == edge_truth(matrix)


def test_other_ranks_and_missing_edges_are_refused_by_name() -> None:
    rng = np.random.default_rng(2)
    full: Matrix = rng.integers(1, 50, (9, 9)).tolist()
    holes = whole(9, 2, 1)
    holes[3][4] = 0
    spare = [row[:-1] for row in whole(9, 2, 1)][:7]
    one: Matrix = [[i * j for j in range(1, 9)] for i in range(1, 9)]
    for rows in (full, holes, spare, one):
        with pytest.raises(am.InputError, match="'low_rank' does not apply"):
            am.count(graph_of(rows), method="low_rank")


def test_weights_beyond_doubles_have_probabilities() -> None:
    """Rows and columns more than a hundred digits apart: integers of all of them overflowed."""
    small = whole(6, 2, 3)
    rows, columns = (
        (10**k for k in (0, 140, 30, 0, 140, 5)),
        (10**k for k in (9, 0, 150, 2, 0, 140)),
    )
    scales = list(columns)
    matrix = [
        [value * row * column for value, column in zip(line, scales, strict=True)]
        for line, row in zip(small, rows, strict=True)
    ]

    scaled = am.posterior(graph_of(matrix), method="low_rank", exact=True)
    plain = am.posterior(graph_of(small), method="low_rank", exact=True)

    np.testing.assert_allclose(
        scaled.probabilities, plain.probabilities, atol=scaled.error + plain.error
    )

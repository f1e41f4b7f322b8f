from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.counting.api import known_posterior
from anonymatch.counting.exact.closed_form import complete, nested, nested_by_degrees
from anonymatch.counting.integers import (
    divide,
    multiply,
    multiply_all,
    pack,
    power,
    product,
    unpack,
)
from anonymatch.counting.reference import block_of, first_minors, permanent

TRIANGLE = ["1" * min(k + 2, 200) + "0" * max(198 - k, 0) for k in range(200)]


@st.composite
def nested_matrices(draw: st.DrawFn) -> npt.NDArray[np.int64]:
    """Rows and columns of a Ferrers board, shuffled; every column has an edge."""
    n = draw(st.integers(1, 6))
    c = draw(st.integers(n, n + 3))
    degrees = [*draw(st.lists(st.integers(1, c), min_size=n - 1, max_size=n - 1)), c]
    board = (np.arange(c)[None] < np.array(degrees)[:, None]).astype(np.int64)
    rows, columns = draw(st.permutations(range(n))), draw(st.permutations(range(c)))
    return board[rows][:, columns]


@seed(2)
@settings(max_examples=150, deadline=None)
@given(nested_matrices())
def test_nested_agrees_with_the_definition(matrix: npt.NDArray[np.int64]) -> None:
    solved = nested(block_of(matrix))
    total = permanent(matrix)
    if total == 0:
        assert solved is None
        return
    assert solved is not None
    expected = first_minors(matrix)[np.nonzero(matrix)]

    assert solved.total == total
    assert solved.minors().tolist() == expected.tolist()
    assert solved.log == pytest.approx(math.log(total), abs=1e-13)
    assert solved.posteriors() == pytest.approx([m / total for m in expected], rel=1e-14)


@pytest.mark.parametrize(("n", "c"), [(1, 1), (3, 3), (2, 5), (21, 21), (5, 30)])
def test_complete_has_the_falling_factorial(n: int, c: int) -> None:
    solved = complete(block_of(np.ones((n, c), dtype=int)))
    assert solved is not None

    assert solved.total == math.perm(c, n)
    assert set(solved.minors()) == {math.perm(c - 1, n - 1)}
    assert set(solved.posteriors()) == {1 / c}
    assert solved.log == pytest.approx(math.log(math.perm(c, n)))


def test_others_are_not_recognised() -> None:
    ring = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]

    assert complete(block_of(ring)) is None
    assert nested(block_of(ring)) is None
    assert complete(block_of([[1, 2], [1, 1]])) is None
    assert nested(block_of([[1, 2], [0, 1]])) is None
    assert complete(block_of([[1], [1]])) is None


def test_same_degrees_but_not_nested_is_not_nested() -> None:
    """Row sums 2, 2 and column sums 2, 1, 1 are not conjugate: (2, 2) would be."""
    assert nested(block_of([[1, 1, 0], [1, 0, 1]])) is None


def test_staircase_counts_powers_of_two() -> None:
    n = 70
    board = np.tri(n, n, 1, dtype=int)
    solved = nested(block_of(board))
    assert solved is not None

    assert solved.total == 2 ** (n - 1)
    assert solved.minors()[0] == 2 ** (n - 2)


def test_long_runs_of_users_keep_their_accuracy() -> None:
    """Users 0 and n-1 are in different pieces of the running products."""
    n = 2000
    degrees = np.minimum(np.arange(n) + np.random.default_rng(5).integers(2, 40, n), n)
    degrees.sort()
    solved = nested_by_degrees(degrees, n - np.searchsorted(degrees, np.arange(n), side="right"))
    assert solved is not None
    users = np.array([0, 511, 512, 700, 1023, 1024, n - 1])
    behaviours = np.array([0, 300, 511, 650, 2, 1000, n - 1500])
    exact = []
    for user, behaviour in zip(users.tolist(), behaviours.tolist(), strict=True):
        probability = Fraction(1, int(solved.choices[user]))
        for k in range(int(solved.first[behaviour]), user):
            probability *= 1 - Fraction(1, int(solved.choices[k]))
        exact.append(float(probability))

    assert solved.probabilities(users, behaviours) == pytest.approx(exact, rel=1e-14)


def test_edges_in_no_matching_have_no_probability() -> None:
    matrix = [[1, 0, 0], [1, 1, 1], [1, 1, 1]]
    solved = nested(block_of(matrix))
    assert solved is not None

    assert solved.posteriors().tolist() == [1, 0, 0.5, 0.5, 0, 0.5, 0.5]
    assert solved.minors().tolist() == [2, 0, 1, 1, 0, 1, 1]


def test_degrees_alone_cannot_list_edges() -> None:
    solved = nested_by_degrees(np.array([2, 2]), np.array([2, 2]))
    assert solved is not None

    with pytest.raises(ValueError, match="probabilities"):
        solved.posteriors()


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=5).map(lambda tail: [1, *tail, 1]))
@settings(max_examples=50, deadline=None)
@seed(3)
def test_polynomials_multiply_divide_and_pack(polynomial: list[int]) -> None:
    square = [
        sum(polynomial[i] * polynomial[k - i] for i in range(k + 1) if i < len(polynomial) > k - i)
        for k in range(2 * len(polynomial) - 1)
    ]

    assert multiply(polynomial, polynomial) == power(polynomial, 2) == square
    assert divide(square, polynomial) == polynomial
    assert multiply_all([polynomial] * 3) == power(polynomial, 3)
    assert unpack(pack(polynomial, 5), 5) == polynomial


def test_product_of_many_numbers() -> None:
    assert product(range(1, 101)) == math.factorial(100)


@pytest.mark.parametrize("graph", [am.complete(300), am.Graph.from_rows(TRIANGLE)])
def test_closed_forms_need_no_memory_beside_their_probabilities(graph: am.Graph) -> None:
    """So that audits of graphs that fill the memory themselves keep their exact probabilities."""
    tight = am.Budget(memory=8 * graph.n_edges)
    known = known_posterior(graph, budget=tight)

    assert known.exact
    assert known.probabilities == pytest.approx(
        am.posterior(graph, method="closed_form").probabilities
    )
    assert np.add.reduceat(known.probabilities, graph.indptr[:-1]) == pytest.approx(1.0)

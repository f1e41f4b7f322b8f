"""Random graphs: expectations against definitions, samples against expectations."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import pytest
from tests.designs.facts import facts

import anonymatch as am
from anonymatch.theory.designs.random_graphs import (
    random_distribution,
    random_expectation,
    random_expectation_exact,
    regular_expectation,
    stirling_comparison,
)
from anonymatch.theory.designs.small import counts


@facts("random_expectation")
def test_expectation_of_a_density(given: dict[str, int], expected: str) -> None:
    exact = random_expectation_exact(given["n"], given["k"])

    assert exact == Fraction(expected)
    assert random_expectation(given["n"], given["k"]) == pytest.approx(
        math.log(exact), rel=1e-13, abs=1e-13
    )


@facts("random_expectation_exact_m")
def test_expectation_of_a_number_of_edges(given: dict[str, int], expected: str) -> None:
    exact = random_expectation_exact(given["n"], edges=given["m"])

    assert exact == Fraction(expected)
    assert random_expectation(given["n"], edges=given["m"]) == pytest.approx(
        math.log(exact), rel=1e-13
    )


@facts("random_expectation_ln_huge")
def test_huge_expectation(given: dict[str, str], expected: dict[str, str]) -> None:
    assert random_expectation(int(given["n"]), int(given["k"])) == pytest.approx(
        float(expected["ln"]), rel=1e-14
    )


@pytest.mark.parametrize(("n", "m"), [(300, 900), (300, 45_000), (300, 89_990), (1000, 5000)])
def test_logs_agree_with_exact_fractions(n: int, m: int) -> None:
    exact = random_expectation_exact(n, edges=m)
    log = math.log(exact.numerator) - math.log(exact.denominator)

    assert random_expectation(n, edges=m) == pytest.approx(log, rel=1e-12)


@pytest.mark.parametrize("m", range(10))
def test_expectation_is_the_mean_over_all_graphs(m: int) -> None:
    n = 3
    matrices = [
        tuple(sum(1 << c % n for c in chosen if c // n == row) for row in range(n))
        for chosen in combinations(range(n * n), m)
    ]

    assert random_expectation_exact(n, edges=m) == Fraction(sum(counts(matrices)), len(matrices))


def test_density_is_the_mean_over_numbers_of_edges() -> None:
    n, k = 3, 2
    probability = Fraction(k, n)
    mean = sum(
        math.comb(9, m)
        * probability**m
        * (1 - probability) ** (9 - m)
        * random_expectation_exact(n, edges=m)
        for m in range(10)
    )

    assert mean == random_expectation_exact(n, k)


def test_nothing_to_match_has_no_log() -> None:
    assert random_expectation(5, edges=4) == -math.inf
    assert random_expectation(5, 0) == -math.inf


def test_expectation_of_paired_stubs_by_trying_all() -> None:
    """Three users with degrees 2, 2, 1 on both sides: all 5! ways to pair the stubs."""
    stubs = [0, 0, 1, 1, 2]
    total = 0
    orders = [order for order in product(range(5), repeat=5) if len(set(order)) == 5]
    for order in orders:
        matrix = [[0] * 3 for _ in range(3)]
        for stub, other in enumerate(order):
            matrix[stubs[stub]][stubs[other]] += 1
        total += int(am.count(am.Graph.from_biadjacency(matrix)).value)

    assert math.exp(regular_expectation(3, 5)) == pytest.approx(total / len(orders))


def test_stirling_is_corrected() -> None:
    result = stirling_comparison(100, 5)

    assert result.exact == pytest.approx(-31.58, abs=0.005)
    assert result.corrected == pytest.approx(-31.25, abs=0.005)
    assert result.printed == pytest.approx(-62.50, abs=0.005)
    assert result.exact == pytest.approx(
        random_expectation(100, 5) - 100 / 5 * math.log(math.factorial(5))
    )


# ---- samples


@pytest.mark.parametrize(("k", "edges"), [(3, None), (None, 18)])
def test_samples_agree_with_the_expectation(k: int | None, edges: int | None) -> None:
    drawn = random_distribution(6, k, edges=edges, samples=4000, seed=1)
    mean = float(drawn.mean)
    deviation = math.sqrt(sum((count - mean) ** 2 for count in drawn.counts) / drawn.samples)

    expected = math.exp(drawn.expected_log)
    assert abs(mean - expected) < 4 * deviation / math.sqrt(drawn.samples)
    assert drawn.quantile(0) == drawn.counts[0]
    assert drawn.quantile(1) == drawn.counts[-1]
    assert drawn.quantile(drawn.zero_share) == 0


def test_sparse_random_graphs_mostly_have_no_matching() -> None:
    """The expectation hides it: somebody has no edge."""
    drawn = random_distribution(40, 3, samples=30, seed=2)

    assert drawn.zero_share > 0.8
    assert drawn.expected_log > 5


def test_the_same_seed_draws_the_same_graphs() -> None:
    one, same, other = (random_distribution(8, 4, samples=50, seed=s) for s in (1, 1, 2))

    assert one.counts == same.counts
    assert one.counts != other.counts


def test_exactly_so_many_edges_are_drawn() -> None:
    assert set(random_distribution(5, edges=25, samples=3).counts) == {120}
    assert set(random_distribution(5, 5, samples=3).counts) == {120}
    assert set(random_distribution(14, edges=14**2, samples=2).counts) == {math.factorial(14)}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: random_expectation(5), "give either k"),
        (lambda: random_expectation(5, 2, edges=9), "give either k"),
        (lambda: random_expectation(5, 6), "k, edges a user on average, must be 0 to 5, not 6"),
        (
            lambda: random_expectation(5, math.nan),
            "k, edges a user on average, must be 0 to 5, not nan",
        ),
        (lambda: random_expectation(5, True), "k must be a number, not True"),
        (lambda: random_expectation(5, edges=26), "26 edges are too many for 5 users"),
        (lambda: random_expectation(0, 0), "n must be a whole number from 1, not 0"),
        (
            lambda: random_distribution(5, 2, samples=0),
            "samples must be a whole number from 1, not 0",
        ),
        (lambda: random_distribution(5, 2).quantile(2), "share from 0 to 1, not 2"),
        (lambda: stirling_comparison(3, 4), "k must be at most n = 3, not 4"),
    ],
)
def test_refusals(call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(am.InputError, match=words):
        call()

"""One exposure: against sets of matchings, the identities with entropies, and known graphs."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from tests.attacks import oracle
from tests.strategies import FLOATS, FRACTIONS, Matrix, graph_of, matrices, weighted_matrices

import anonymatch as am
from anonymatch.theory.attacks import exposure, exposures

PLAIN = matrices(users=(1, 6), matched=True)
SPARE = matrices(users=(1, 4), spare=2, matched=True)


@given(PLAIN | SPARE | matrices(users=(1, 4), weights=FRACTIONS, matched=True))
def test_figures_of_all_users_are_those_of_the_definition(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    left = oracle.all_matchings(graph)
    whole = oracle.total(left)
    known = oracle.identified(left)

    figures = exposures(graph, exact=True)

    shares = [oracle.share(left, user) for user in range(graph.n_users)]
    assert figures.exact
    assert figures.expected_left == [whole * share for share in shares]
    assert figures.best_share == min(shares)
    assert list(figures.best) == [u for u, share in enumerate(shares) if share == min(shares)]
    entropies = [oracle.entropy(left, user) for user in range(graph.n_users)]
    assert figures.expected_logs == pytest.approx(
        [math.log(whole) - h for h in entropies], abs=1e-9
    )
    for user in range(graph.n_users):
        parts = oracle.outcomes(left, user)
        probabilities = {b: oracle.total(part) / whole for b, part in parts.items()}
        degrees = graph.behaviour_degrees
        removed = (
            sum(p * int(degrees[b]) for b, p in probabilities.items()) + graph.degrees[user] - 1
        )
        forced = sum(
            p * len(oracle.identified(parts[b]) - known - {user}) for b, p in probabilities.items()
        )
        assert figures.best_guesses[user] == pytest.approx(float(max(probabilities.values())))
        assert figures.edges_removed[user] == pytest.approx(float(removed))
        assert figures.expected_forced[user] == pytest.approx(float(forced), abs=1e-12)
        one = figures[user]
        assert one.expected_left == whole * shares[user]
        assert one.expected_forced == forced
        assert one.edges_removed == pytest.approx(float(removed))


@given(PLAIN | SPARE)
def test_each_case_is_the_exposed_graph(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    before = dict(am.forced(graph))

    for user in range(graph.n_users):
        for one in exposure(graph, user).outcomes:
            rest = graph.expose(user, one.behaviour)
            after = dict(am.forced(rest))
            assert one.left == am.count(rest).value
            assert one.log == pytest.approx(am.count(rest).log, abs=1e-9)
            assert dict(one.newly_forced) == {u: b for u, b in after.items() if u not in before}
            assert one.edges_left == am.allowed(rest).n_edges


@given(weighted_matrices(users=(1, 5), matched=True))
def test_entropies_of_the_posterior_give_the_expectations(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    probabilities = am.posterior(graph).matrix.toarray()
    log = am.count(graph).log

    figures = exposures(graph)

    renyi = -np.log((probabilities**2).sum(axis=1))
    assert figures.log_expected_left == pytest.approx(log - renyi, abs=1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        shannon = -np.nansum(probabilities * np.log(probabilities), axis=1)
    assert figures.expected_logs == pytest.approx(log - shannon, abs=1e-9)
    assert (figures.log_expected_left >= figures.expected_logs - 1e-9).all()  # Jensen


@given(PLAIN)
def test_at_least_the_matchings_over_the_degree_are_left(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    whole = Fraction(am.count(graph).value)
    allowed = am.allowed(graph).degrees

    left = exposures(graph).expected_left

    assert all(value >= whole / int(d) for value, d in zip(left, allowed, strict=True))


@given(matrices(users=(1, 3), matched=True), matrices(users=(1, 3), matched=True))
def test_blocks_multiply(first: Matrix, second: Matrix) -> None:
    one, two = graph_of(first), graph_of(second)
    both = am.Graph.from_biadjacency(
        np.block(
            [
                [np.array(first), np.zeros((len(first), len(second[0])), dtype=int)],
                [np.zeros((len(second), len(first[0])), dtype=int), np.array(second)],
            ]
        )
    )
    m, k = (Fraction(am.count(graph).value) for graph in (one, two))

    figures = exposures(both).expected_left

    assert figures == [x * k for x in exposures(one).expected_left] + [
        x * m for x in exposures(two).expected_left
    ]


@given(matrices(users=(1, 4), weights=FLOATS, matched=True))
def test_doubles_agree_with_exact_rationals(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    exactly = exposures(graph, exact=True)
    shares = sorted(set(exactly.shares.tolist()))
    assume(all(b - a > 1e-6 for a, b in pairwise(shares)))

    figures = exposures(graph)

    assert figures.exact == (not graph.weighted)
    assert figures.shares == pytest.approx(exactly.shares, rel=1e-9)
    assert figures.best == exactly.best


def test_many_edges_do_not_make_the_best_target() -> None:
    """Five edges, none of which tells anything, against three that do."""
    figures = exposures(am.Graph.from_rows(["11111", "01000", "00111", "00111", "00111"]))

    assert figures.expected_left == [6, 6, 2, 2, 2]
    assert figures.best == (2, 3, 4)


def test_names_and_one_line() -> None:
    pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    graph = am.Graph.from_edges(pairs)

    figures = exposures(graph)

    assert figures.best == ("ann", "bob")
    assert str(figures) == "exposing users 'ann', 'bob' leaves 0.5 of 2^1 matchings on average"
    assert figures["cem"].share == 1
    assert figures["cem"].outcomes[0].behaviour == "z"
    assert exposure(graph, "ann")["y"].newly_forced == {"bob": "x"}
    assert len(figures) == 3
    assert list(figures) == ["ann", "bob", "cem"]
    assert figures.to_dict()["best"] == ["ann", "bob"]


def test_a_large_graph_of_equal_blocks_needs_one_block() -> None:
    graph = am.partition([16] * 2000)

    figures = exposures(graph)

    assert figures.best_share == Fraction(1, 16)
    assert len(figures.best) == 32000
    assert figures.expected_forced.max() == 0.0
    assert figures[31999].log_expected_left == pytest.approx(figures.start.log - math.log(16))


def test_large_complete_blocks_stay_exact() -> None:
    figures = exposures(am.complete(300))

    assert figures.best_share == Fraction(1, 300)
    assert figures[0].expected_left == math.factorial(299)


def test_bad_questions_are_one_line() -> None:
    graph = am.Graph.from_rows(["110", "110", "111"])

    with pytest.raises(am.NoMatchingError, match="2 users"):
        exposures(am.Graph.from_rows(["100", "100", "111"]))
    with pytest.raises(am.NoMatchingError, match="2 users"):
        exposure(am.Graph.from_rows(["100", "100", "111"]), 0)
    with pytest.raises(am.InputError, match="no user 7"):
        exposure(graph, 7)
    with pytest.raises(am.InputError, match="user 2 cannot have done 0: that pair is in no match"):
        exposure(graph, 2)[0]
    with pytest.raises(am.BudgetError):
        exposures(am.random_regular(60, 6, seed=1), budget=1e-9)

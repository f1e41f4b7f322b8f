"""Laws that hold whatever the graph is: nothing here knows an answer beforehand."""

from __future__ import annotations

import pickle
from fractions import Fraction
from math import factorial
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import (
    FLOATS,
    FRACTIONS,
    INTEGERS,
    Matrix,
    dense,
    graph_of,
    matrices,
    weighted_matrices,
)

import anonymatch as am


def exact_count(matrix: Matrix) -> Fraction:
    return Fraction(am.count(graph_of(matrix), exact=True).value)


def without(matrix: Matrix, user: int, behaviour: int) -> Matrix:
    return [row[:behaviour] + row[behaviour + 1 :] for i, row in enumerate(matrix) if i != user]


@given(weighted_matrices(users=(1, 8)))
def test_exchanging_the_sides_changes_nothing(matrix: Matrix) -> None:
    turned = [list(column) for column in zip(*matrix, strict=True)]

    assert exact_count(turned) == exact_count(matrix)


@given(weighted_matrices(users=(1, 8), spare=3), st.randoms(use_true_random=False))
def test_the_order_of_users_and_behaviours_changes_nothing(matrix: Matrix, random: Random) -> None:
    behaviours = list(range(len(matrix[0])))
    random.shuffle(behaviours)
    mixed = [[row[j] for j in behaviours] for row in matrix]
    random.shuffle(mixed)

    assert exact_count(mixed) == exact_count(matrix)


@given(weighted_matrices(users=(1, 7), matched=True), st.randoms(use_true_random=False))
def test_probabilities_move_with_their_users_and_behaviours(matrix: Matrix, random: Random) -> None:
    n = len(matrix)
    users, behaviours = list(range(n)), list(range(n))
    random.shuffle(users)
    random.shuffle(behaviours)
    mixed = [[matrix[i][j] for j in behaviours] for i in users]
    before, after = dense(am.posterior(graph_of(matrix))), dense(am.posterior(graph_of(mixed)))

    assert after == pytest.approx(before[np.ix_(users, behaviours)], rel=1e-12, abs=0)


@given(weighted_matrices(users=(1, 5), spare=2), weighted_matrices(users=(1, 5), spare=2))
def test_separate_groups_multiply(left: Matrix, right: Matrix) -> None:
    wide, wider = len(left[0]), len(right[0])
    both = [row + [0] * wider for row in left] + [[0] * wide + row for row in right]

    assert exact_count(both) == exact_count(left) * exact_count(right)


@given(weighted_matrices(users=(1, 4)), st.integers(2, 6))
def test_equal_groups_are_a_power(part: Matrix, copies: int) -> None:
    n = len(part)
    whole: Matrix = [
        [0] * (n * k) + row + [0] * (n * (copies - 1 - k)) for k in range(copies) for row in part
    ]

    assert exact_count(whole) == exact_count(part) ** copies


@given(weighted_matrices(users=(2, 7), spare=2), st.data())
def test_laplace_expansion_along_a_user(matrix: Matrix, data: st.DataObject) -> None:
    user = data.draw(st.integers(0, len(matrix) - 1))
    expansion = sum(
        Fraction(weight) * exact_count(without(matrix, user, behaviour))
        for behaviour, weight in enumerate(matrix[user])
        if weight
    )

    assert exact_count(matrix) == expansion


@given(weighted_matrices(users=(2, 7), spare=2), st.data())
def test_adding_an_edge_gains_its_minor(matrix: Matrix, data: st.DataObject) -> None:
    user = data.draw(st.integers(0, len(matrix) - 1))
    behaviour = data.draw(st.integers(0, len(matrix[0]) - 1))
    before = [list(row) for row in matrix]
    before[user][behaviour] = 0
    after = [list(row) for row in before]
    after[user][behaviour] = 1

    gain = exact_count(without(matrix, user, behaviour))

    assert exact_count(after) == exact_count(before) + gain


@given(weighted_matrices(users=(1, 8), matched=True))
def test_probabilities_of_every_user_and_behaviour_sum_to_one(matrix: Matrix) -> None:
    probabilities = dense(am.posterior(graph_of(matrix)))

    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(matrix)), rel=1e-12)
    assert probabilities.sum(axis=0) == pytest.approx(np.ones(len(matrix)), rel=1e-12)


@given(weighted_matrices(users=(1, 6), spare=3, matched=True))
def test_spare_behaviours_share_the_users_out(matrix: Matrix) -> None:
    probabilities = dense(am.posterior(graph_of(matrix)))

    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(matrix)), rel=1e-12)
    assert (probabilities.sum(axis=0) <= 1 + 1e-12).all()


@given(weighted_matrices(users=(2, 7), spare=2, matched=True), st.data())
def test_exposing_a_pair_leaves_its_share_of_the_matchings(
    matrix: Matrix, data: st.DataObject
) -> None:
    graph = graph_of(matrix)
    user, behaviour, *weight = data.draw(st.sampled_from(graph.to_edges()))
    left = Fraction(am.count(graph.expose(user, behaviour), exact=True).value)
    left *= Fraction(weight[0]) if weight else 1
    posterior = am.posterior(graph, exact=True)

    assert posterior.counts[user][behaviour] == left
    assert posterior[user][behaviour] == pytest.approx(
        float(left / exact_count(matrix)), rel=1e-12, abs=0
    )


@given(matrices(users=(1, 7), spare=2), st.randoms(use_true_random=False))
def test_repeated_edges_and_their_order_change_nothing(matrix: Matrix, random: Random) -> None:
    graph = graph_of(matrix)
    edges = graph.to_edges() * 2
    random.shuffle(edges)
    again = am.Graph.from_edges(edges, users=graph.users, behaviours=graph.behaviours)

    assert am.count(again).value == am.count(graph).value


@given(weighted_matrices(users=(1, 6), spare=2))
def test_a_behaviour_that_nobody_did_changes_nothing(matrix: Matrix) -> None:
    assert exact_count([[*row, 0] for row in matrix]) == exact_count(matrix)


@given(weighted_matrices(users=(1, 6), spare=2))
def test_a_user_who_did_nothing_leaves_no_matching(matrix: Matrix) -> None:
    lonely = am.count(graph_of([*matrix, [0] * len(matrix[0])]))

    assert lonely.value == 0
    assert lonely.witness is not None


@given(weighted_matrices(users=(1, 7), spare=2, matched=True), FRACTIONS, st.data())
def test_scaling_a_user_scales_the_count_and_no_probability(
    matrix: Matrix, factor: Fraction, data: st.DataObject
) -> None:
    user = data.draw(st.integers(0, len(matrix) - 1))
    scaled: Matrix = [
        [Fraction(x) * factor for x in row] if i == user else row for i, row in enumerate(matrix)
    ]
    before, after = am.posterior(graph_of(matrix)), am.posterior(graph_of(scaled))

    assert exact_count(scaled) == factor * exact_count(matrix)
    assert dense(after) == pytest.approx(dense(before), rel=1e-12, abs=0)


@given(weighted_matrices(users=(1, 6), spare=3))
def test_spare_behaviours_are_users_who_may_have_done_everything(matrix: Matrix) -> None:
    width = len(matrix[0])
    spare = width - len(matrix)
    everything: Matrix = [[1] * width for _ in range(spare)]

    assert exact_count(matrix + everything) == exact_count(matrix) * factorial(spare)


@given(st.sampled_from([INTEGERS, FLOATS]).flatmap(lambda w: matrices(users=(1, 8), weights=w)))
def test_edges_in_no_matching_count_for_nothing(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    if am.count(graph).value == 0:
        return
    mask = am.allowed(graph)
    probabilities, left = dense(am.posterior(graph)), dense(am.posterior(mask))

    assert ((probabilities > 0) == (mask.to_scipy().toarray() > 0)).all()
    assert left == pytest.approx(probabilities, rel=1e-12, abs=0)
    assert am.count(mask, exact=True).value == am.count(graph, exact=True).value


@given(weighted_matrices(users=(1, 7), spare=2, matched=True))
def test_forced_pairs_are_certain_and_nothing_else_is(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    posterior = am.posterior(graph, exact=True)
    total = exact_count(matrix)
    certain = [
        (user, behaviour)
        for user in graph.users
        for behaviour, through in posterior.counts[user].items()
        if through == total
    ]

    assert sorted(am.forced(graph)) == certain
    assert all(posterior[user][behaviour] == 1.0 for user, behaviour in certain)


@given(matrices(users=(2, 8)))
def test_a_witness_shows_why_there_is_no_matching(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    result = am.count(graph)

    assert (result.witness is None) == (result.value > 0)
    if result.witness is not None:
        rows = [matrix[graph.user_index(user)] for user in result.witness.users]
        reached = {j for row in rows for j, cell in enumerate(row) if cell}
        assert reached <= set(result.witness.behaviours)
        assert len(result.witness.users) > len(result.witness.behaviours)
        with pytest.raises(am.NoMatchingError) as caught:
            am.posterior(graph)
        assert caught.value.users == result.witness.users


@given(weighted_matrices(users=(1, 7), spare=2), st.sampled_from([None, True]))
def test_results_survive_pickling_and_say_what_they_are(matrix: Matrix, exact: bool | None) -> None:
    result = am.count(graph_of(matrix), exact=exact)
    again = pickle.loads(pickle.dumps(result))

    assert again == result
    assert again.value == result.value
    assert str(again) == str(result)
    assert "\n" not in str(result)
    assert result.method in str(result)


@given(weighted_matrices(users=(1, 6), spare=2, matched=True))
def test_posteriors_survive_pickling_with_the_counts_they_have(matrix: Matrix) -> None:
    posterior = am.posterior(graph_of(matrix), exact=True)
    early = pickle.loads(pickle.dumps(posterior))
    counts = posterior.counts.to_dense().tolist()
    late = pickle.loads(pickle.dumps(posterior))

    for again in (early, late):
        assert (again.probabilities == posterior.probabilities).all()
        assert str(again) == str(posterior)
    assert late.counts.to_dense().tolist() == counts
    with pytest.raises(ValueError, match="before pickling"):
        _ = early.counts


def test_nobody_and_nothing_have_one_way() -> None:
    for graph in (am.Graph.from_rows([]), am.Graph.from_rows([], n_behaviours=3)):
        assert am.count(graph).value == 1
        assert am.posterior(graph).matrix.shape == (0, graph.n_behaviours)


def test_more_users_than_behaviours_have_no_matching() -> None:
    result = am.count(am.Graph.from_rows(["11", "11", "11"]))

    assert result.value == 0
    assert (result.log, result.low, result.high) == (-np.inf, -np.inf, -np.inf)
    assert result.witness is not None

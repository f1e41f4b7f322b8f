"""The best attackers against all adaptive strategies, followed one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from tests.attacks import oracle
from tests.strategies import FRACTIONS, Matrix, graph_of, matrices

import anonymatch as am
from anonymatch.theory.attacks import adaptive, reveals_needed

SMALL = matrices(users=(1, 5), matched=True)
SPARE = matrices(users=(1, 4), spare=2, matched=True)
WEIGHTED = matrices(users=(1, 4), weights=FRACTIONS, matched=True)


@given(SMALL | SPARE | WEIGHTED)
def test_best_and_greedy_play_are_those_of_all_strategies(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    left = oracle.all_matchings(graph)

    play = adaptive(graph, steps=min(3, graph.n_users))

    steps = range(len(play.optimal))
    assert list(play.optimal) == [oracle.best_play(left, t) for t in steps]
    assert list(play.greedy) == [oracle.greedy_play(left, t) for t in steps]


@given(SMALL | SPARE | WEIGHTED)
def test_reveals_needed_is_the_least_of_all_strategies(matrix: Matrix) -> None:
    graph = graph_of(matrix)

    assert reveals_needed(graph) == oracle.reveals(oracle.all_matchings(graph))


@given(matrices(users=(1, 6), matched=True))
def test_one_step_is_the_same_for_both_and_play_never_loses(matrix: Matrix) -> None:
    play = adaptive(graph_of(matrix))

    assert play.optimal[:2] == play.greedy[:2]
    assert all(best <= other for best, other in zip(play.optimal, play.greedy, strict=True))
    assert list(play.optimal) == sorted(play.optimal, reverse=True)
    assert play.optimal[-1] == 1


def test_greedy_is_not_best_play() -> None:
    play = adaptive(am.Graph.from_rows(["11011", "11011", "10111", "10111", "01111"]))

    assert play.optimal[2] == Fraction(61, 20)
    assert play.greedy[2] == Fraction(18, 5)


@pytest.mark.parametrize(
    ("rows", "rival"),
    [
        (["1011", "1011", "0111", "0111"], Fraction(5, 4)),
        (["10111", "10111", "10111", "01111", "01111"], Fraction(10, 3)),
        (["110111"] * 2 + ["101111"] * 2 + ["011111"] * 2, Fraction(58, 5)),
    ],
)
def test_crowns_do_not_hold_out_longest(rows: list[str], rival: Fraction) -> None:
    """Another graph with as many edges leaves more after two exposures."""
    graph, crown = am.Graph.from_rows(rows), am.crown(len(rows))

    assert graph.n_edges == crown.n_edges
    assert adaptive(graph, steps=2).optimal[2] == rival > adaptive(crown, steps=2).optimal[2]


@pytest.mark.parametrize("size", range(2, 10))
def test_complete_graphs_need_all_but_one_and_crowns_all_but_two(size: int) -> None:
    assert reveals_needed(am.complete(size)) == size - 1
    assert reveals_needed(am.crown(size)) == max(size - 2, 0)


def test_parts_add_up_and_a_cycle_needs_one() -> None:
    assert reveals_needed(am.partition([3, 4, 5])) == 2 + 3 + 4
    assert reveals_needed(am.ring(7, 2)) == 1


def test_no_matching_and_bad_steps() -> None:
    with pytest.raises(am.NoMatchingError, match="2 users"):
        adaptive(am.Graph.from_rows(["100", "100", "111"]))
    with pytest.raises(am.NoMatchingError, match="2 users"):
        reveals_needed(am.Graph.from_rows(["100", "100", "111"]))
    with pytest.raises(am.InputError, match="5 steps, but the graph has only 4 users"):
        adaptive(am.crown(4), steps=5)
    with pytest.raises(am.InputError, match="whole number from 0"):
        adaptive(am.crown(4), steps=-1)


def test_too_large_a_tree_is_refused_with_its_price() -> None:
    graph = am.random_density(14, 0.5, seed=3)

    with pytest.raises(am.BudgetError, match="best play over all outcomes would take"):
        adaptive(graph, budget=0.01)


def test_one_matching_has_nothing_to_play() -> None:
    graph = am.Graph.from_rows(["100", "110", "111"])

    assert set(adaptive(graph).optimal) == {Fraction(1)}
    assert reveals_needed(graph) == 0

"""Edges to add: against counting every graph with one or two more edges."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from tests.strategies import FRACTIONS, Matrix, graph_of, matrices, truth

import anonymatch as am
from anonymatch.theory.attacks import improve


def missing(matrix: Matrix) -> list[tuple[int, int]]:
    return [(i, j) for i, row in enumerate(matrix) for j, cell in enumerate(row) if not cell]


def with_edges(matrix: Matrix, *pairs: tuple[int, int]) -> Matrix:
    added = [list(row) for row in matrix]
    for i, j in pairs:
        added[i][j] = 1
    return added


@given(
    matrices(users=(1, 6), matched=True)
    | matrices(users=(1, 4), spare=2, matched=True)
    | matrices(users=(1, 4), weights=FRACTIONS, matched=True)
)
def test_the_edge_gains_as_much_as_any(matrix: Matrix) -> None:
    assume(missing(matrix))
    start = truth(matrix)
    best = max(truth(with_edges(matrix, pair)) for pair in missing(matrix))

    improvement = improve(graph_of(matrix))

    assert improvement.all_between
    assert improvement.not_searched == ()
    if best == start:
        assert improvement.edges == ()
        return
    (edge,) = improvement.edges
    assert edge.factor == pytest.approx(float(best / start))
    assert am.count(improvement.graph, exact=True).value == best
    assert edge.bits == pytest.approx(math.log2(best / start), abs=1e-9)
    if not improvement.graph.weighted:
        assert edge.factor == best / start


@given(matrices(users=(2, 5), matched=True))
def test_of_equal_edges_it_is_the_first(matrix: Matrix) -> None:
    assume(missing(matrix))
    gains = {pair: truth(with_edges(matrix, pair)) - truth(matrix) for pair in missing(matrix)}
    most = max(gains.values())
    assume(most > 0)

    (edge,) = improve(graph_of(matrix)).edges

    assert (edge.user, edge.behaviour) == min(pair for pair, gain in gains.items() if gain == most)


@given(matrices(users=(2, 5), matched=True))
def test_two_edges_gain_what_is_said_and_no_less_than_two_single_ones(matrix: Matrix) -> None:
    assume(len(missing(matrix)) >= 2)
    now = matrix
    for _ in range(2):
        now = max((with_edges(now, pair) for pair in missing(now)), key=truth)

    improvement = improve(graph_of(matrix), edges=2)

    total = math.prod((Fraction(edge.factor) for edge in improvement.edges), start=Fraction(1))
    assert am.count(improvement.graph).value == truth(matrix) * total
    assert total * truth(matrix) >= truth(now)
    assert improvement.log == pytest.approx(am.count(improvement.graph).log, abs=1e-9)


@pytest.mark.parametrize("sizes", [[2, 2], [1, 2], [3, 2, 1], [1, 1, 1], [3, 3]])
def test_between_complete_blocks_only_two_edges_help(sizes: list[int]) -> None:
    graph = am.partition(sizes)
    matrix: Matrix = [[int(cell) for cell in row] for row in graph.to_rows()]
    pairs = itertools.combinations(missing(matrix), 2)
    best = max(truth(with_edges(matrix, *pair)) for pair in pairs)

    assert improve(graph).edges == ()
    first, second = improve(graph, edges=2).edges

    assert (first.factor, first.alone, second.alone) == (1, False, True)
    assert second.factor == best / truth(matrix)


def test_edges_between_blocks_close_long_ways() -> None:
    """Everybody is identified; the edge back is met by every way from the first to the last."""
    n = 40
    graph = am.Graph.from_rows([range(i, n) for i in range(n)])

    (edge,) = improve(graph).edges

    assert (edge.user, edge.behaviour, edge.factor) == (n - 1, 0, 2 ** (n - 2) + 1)


@given(matrices(users=(2, 5), matched=True))
def test_the_user_who_is_helped_most(matrix: Matrix) -> None:
    assume(missing(matrix))
    improvement = improve(graph_of(matrix))
    assume(improvement.edges)
    before, after = (
        am.posterior(graph).matrix.toarray() for graph in (graph_of(matrix), improvement.graph)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        old, new = (-np.nansum(p * np.log2(p), axis=1) for p in (before, after))

    (edge,) = improvement.edges

    assert edge.helped_bits == pytest.approx((new - old).max(), abs=1e-9)
    assert (new - old)[edge.helped] == pytest.approx((new - old).max(), abs=1e-9)


@given(matrices(users=(2, 5)))
def test_a_graph_without_a_matching_gets_one_first(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    assume(am.witness(graph) is not None)
    n = graph.n_users
    # Fewest edges by definition: take users out until the rest can be matched.
    needed = next(
        k
        for k in range(1, n + 1)
        for gone in itertools.combinations(range(n), k)
        if am.count(graph.take(np.setdiff1d(np.arange(n), gone), np.arange(n))).value
    )

    improvement = improve(graph, edges=needed)

    assert am.witness(improvement.graph) is None
    assert [math.isinf(edge.bits) for edge in improvement.edges] == [False] * (needed - 1) + [True]
    assert improvement.start.value == 0
    if needed == 1:
        best = max(truth(with_edges(matrix, pair)) for pair in missing(matrix))
        assert am.count(improvement.graph).value == best
    else:
        with pytest.raises(am.NoMatchingError):
            improve(graph, edges=needed - 1)
    json.dumps(improvement.to_dict(), allow_nan=False)


def test_large_graphs_of_equal_blocks_are_searched_once() -> None:
    rows = [[8 * b + (i + k) % 8 for k in range(5)] for b in range(2000) for i in range(8)]
    graph = am.Graph.from_rows(rows)
    block = am.ring(8, 5)

    improvement = improve(graph, edges=3)

    alone = improve(block, edges=3)
    assert [edge.factor for edge in improvement.edges] == [edge.factor for edge in alone.edges]
    assert [edge.user for edge in improvement.edges] == [edge.user for edge in alone.edges]


def test_blocks_beyond_the_budget_are_named() -> None:
    graph = am.Graph.from_biadjacency(
        np.block(
            [
                [am.random_regular(60, 8, seed=1).to_scipy().toarray(), np.zeros((60, 5), int)],
                [np.zeros((5, 60), int), am.ring(5, 2).to_scipy().toarray()],
            ]
        )
    )

    improvement = improve(graph, budget=0.05)

    assert [block.n_users for block in improvement.not_searched] == [60]
    assert [(edge.user, edge.factor) for edge in improvement.edges] == [(60, Fraction(3, 2))]
    assert "1 block" in str(improvement)


@pytest.fixture(scope="module")
def stairs() -> am.Graph:
    """Two blocks within a small budget, and an edge back that makes one block beyond it."""
    above, below = (am.random_density(16, 0.6, seed=seed).to_scipy().toarray() for seed in (1, 2))
    ones, none = np.ones((16, 16), int), np.zeros((16, 16), int)
    return am.Graph.from_biadjacency(np.block([[above, ones], [none, below]]))


@pytest.mark.slow
def test_a_gain_by_estimates_says_so_and_has_its_interval(stairs: am.Graph) -> None:
    improvement = improve(stairs, budget=0.02)

    (edge,) = improvement.edges
    before, after = am.count(stairs), am.count(improvement.graph)
    assert before.exact
    assert after.exact
    assert not edge.exact
    assert not improvement.exact
    assert (edge.confidence, edge.seed) == (0.95, 0)
    assert edge.method.endswith("sampling")
    assert 0 < edge.low < edge.high
    assert edge.low <= edge.bits <= edge.high
    assert edge.low <= after.log2 - before.log2 <= edge.high
    assert improvement.low <= after.log <= improvement.high
    assert edge.helped is None
    assert "95% sure, seed 0" in str(improvement)
    plain = json.loads(json.dumps(improvement.to_dict(), allow_nan=False))
    assert (plain["exact"], plain["confidence"], plain["seed"]) == (False, 0.95, 0)


def test_an_exact_gain_has_no_interval() -> None:
    improvement = improve(am.ring(6, 2), edges=2)

    assert improvement.exact
    assert (improvement.confidence, improvement.seed) == (1.0, None)
    assert all(edge.low == edge.bits == edge.high and edge.exact for edge in improvement.edges)


def test_gains_of_weights_are_proven_and_not_exact() -> None:
    weights = [[2.5, 1.5, 0], [0, 0.3, 1.1], [0.7, 0, 0.9]]
    graph = am.Graph.from_biadjacency(weights)

    (edge,) = improve(graph).edges

    assert not edge.exact
    assert edge.confidence == 1.0
    assert edge.low <= edge.bits <= edge.high < edge.low + 1e-9


def test_what_is_missing_may_run_out() -> None:
    reports: list[tuple[float, float]] = []
    improvement = improve(
        am.crown(4), edges=9, progress=lambda done, total: reports.append((done, total))
    )

    assert len(improvement.edges) == 4
    assert reports == [(1, 9), (2, 9), (3, 9), (4, 9)]
    assert improve(am.Graph.from_rows(["111", "111"])).edges == ()
    assert improvement.graph == am.complete(4)
    assert improve(am.complete(4)).edges == ()


def test_names_and_plain_records() -> None:
    pairs = [("ann", "x"), ("ann", "y"), ("bob", "y"), ("cem", "z")]

    improvement = improve(am.Graph.from_edges(pairs))

    (edge,) = improvement.edges
    assert (edge.user, edge.behaviour, edge.factor, edge.helped) == ("bob", "x", 2, "ann")
    plain = json.loads(json.dumps(improvement.to_dict()))
    assert plain["edges"][0] == edge.to_dict()
    assert plain["edges"][0]["factor"] == "2"
    assert str(improvement) == "1 edge: 2^0 to 2^1 matchings"
    assert str(improve(am.partition([2, 2]))) == "no edge would add a matching"


def test_bad_questions_are_one_line() -> None:
    with pytest.raises(am.InputError, match="edges must be a whole number from 1, not 0"):
        improve(am.crown(4), edges=0)
    with pytest.raises(am.NoMatchingError):
        improve(am.Graph.from_rows(["1", "1"], n_behaviours=1))
    with pytest.raises(am.NoMatchingError, match="2 users"):
        improve(am.Graph.from_rows([[0], [0], [1]], n_behaviours=2))


def test_nobody_to_improve() -> None:
    improvement = am.improve(am.Graph.from_edges([]))

    assert improvement.edges == ()

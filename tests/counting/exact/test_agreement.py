"""Every method against the definition, and, where that ends, against each other."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import log, prod
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import (
    FLOATS,
    FRACTIONS,
    INTEGERS,
    ONES,
    WILD,
    Matrix,
    Number,
    Weights,
    dense,
    edge_truth,
    graph_of,
    holds,
    in_integers,
    matrices,
    truth,
    worst_error,
)

import anonymatch as am
from anonymatch.counting.exact import EXACT
from anonymatch.counting.reference import first_minors
from anonymatch.graph import families

METHODS = ("auto", *EXACT.names)
# A graph that each method must take; those in ANY must take every small graph, exactly too.
ANY = ("auto", "frontier")
TAKEN = {
    "auto": families.ring(15, 4),
    "band": am.Graph.from_rows(
        [
            "0" * i + "1" * (15 - i)
            if i > 9
            else "0" * max(i - 3, 0) + "1" * 6 + "0" * (9 - max(i - 3, 0))
            for i in range(12)
        ]
    ),
    "classes": families.partition([7, 8]),
    "closed_form": families.crown(15),
    "contract": families.ring(15, 2),
    "frontier": families.ring(15, 4),
    "low_rank": graph_of([[i * j + 7 for j in range(1, 10)] for i in range(1, 10)]),
    "planar": families.ring(15, 2),
    "ryser": families.ring(15, 4),
    "tree": families.ring(15, 4),
    "glynn": families.ring(15, 4),
    "subset": am.Graph.from_biadjacency(np.random.default_rng(1).random((9, 9))),
}
# Of the small random graphs below, those that are counted, and whose probabilities are found.
ANSWERED = {
    "auto": (352, 352),
    "band": (217, 217),
    "classes": (55, 55),
    "closed_form": (82, 82),
    "contract": (21, 21),
    "frontier": (352, 352),
    "glynn": (352, 352),
    "low_rank": (9, 9),
    "planar": (82, 82),
    "ryser": (34, 0),
    "subset": (111, 111),
    "tree": (352, 352),
}
Answer = TypeVar("Answer")
DENSITIES = (0.25, 0.5, 0.75, 1.0)
SHAPES = [(n, n + spare) for n in range(1, 9) for spare in (0, 1, 3) if n + spare <= 9]

Draw = Callable[[np.random.Generator], Number]
KINDS: dict[str, Draw] = {
    "ones": lambda _: 1,
    "integers": lambda rng: int(rng.integers(1, 1000)),
    "fractions": lambda rng: Fraction(int(rng.integers(1, 50)), int(rng.integers(1, 50))),
    "floats": lambda rng: float(rng.random() + 1e-3),
}


def random_matrix(n: int, width: int, density: float, kind: str) -> Matrix:
    rng = np.random.default_rng([n, width, int(100 * density), list(KINDS).index(kind)])
    cells = rng.random((n, width)) < density
    cells[np.arange(n), rng.permutation(width)[:n]] = True
    return [[KINDS[kind](rng) if cell else 0 for cell in row] for row in cells]


def ask(call: Callable[..., Answer], graph: am.Graph, method: str, **how: Any) -> Answer | None:
    """The answer, or None if a method that may refuse does not take the graph."""
    try:
        return call(graph, method=method, **how)
    except am.InputError:
        if method in ANY:
            raise
        return None


def test_every_method_takes_what_it_is_for() -> None:
    assert set(TAKEN) == set(METHODS)
    for method, graph in TAKEN.items():
        assert holds(am.count(graph, method=method), Fraction(am.count(graph, exact=True).value))


def test_matchings_through_edges_agree_with_minors() -> None:
    """The faster definition that the tests below are held to."""
    for n, width in SHAPES[:12]:
        matrix = random_matrix(n, width, 0.6, "integers")
        rows, _ = in_integers(matrix)

        assert edge_truth(matrix) == (np.array(rows, dtype=object) * first_minors(rows)).tolist()


@pytest.mark.grid(quick=24)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "width"), SHAPES)
def test_every_method_agrees_with_the_definition(n: int, width: int, kind: str) -> None:
    for density in DENSITIES:
        matrix = random_matrix(n, width, density, kind)
        graph, total, through = graph_of(matrix), truth(matrix), edge_truth(matrix)
        for method in METHODS:
            where = f"{method} at density {density}"
            tiny = 1e-7 if method == "glynn" else 1e-11  # terms of both signs cancel
            exact = ask(am.count, graph, method, exact=True)
            if exact is not None:
                assert exact.value == total, where
                assert type(exact.value) is (Fraction if graph.weighted else int)
                assert exact.low == exact.log == exact.high
                assert exact.log == pytest.approx(log(total), abs=1e-11)
            quick = ask(am.count, graph, method)
            if quick is not None:
                assert holds(quick, total), where
                assert quick.high - quick.low <= tiny, where
            counted = ask(am.posterior, graph, method, exact=True)
            if counted is not None:
                assert counted.counts.to_dense().tolist() == through, where
                assert worst_error(counted, through) <= Fraction(counted.error), where
            probabilities = ask(am.posterior, graph, method)
            if probabilities is not None:
                assert worst_error(probabilities, through) <= Fraction(probabilities.error), where
                assert probabilities.error <= 10 * tiny, where


@pytest.mark.slow
def test_no_method_starts_to_refuse_graphs() -> None:
    """How many of the graphs above each method counts, and of how many it gives probabilities."""
    graphs = [
        graph_of(random_matrix(n, width, density, kind))
        for (n, width), density, kind in product(SHAPES, DENSITIES, KINDS)
    ]
    answered = {
        method: tuple(
            sum(ask(call, graph, method) is not None for graph in graphs)
            for call in (am.count, am.posterior)
        )
        for method in METHODS
    }

    assert answered == ANSWERED


@pytest.mark.parametrize("kind", [ONES, INTEGERS, FRACTIONS, FLOATS, WILD])
@given(data=st.data())
def test_random_graphs_agree_with_the_definition(kind: Weights, data: st.DataObject) -> None:
    matrix = data.draw(matrices(users=(1, 6), spare=2, weights=kind, matched=True))
    method = data.draw(st.sampled_from(METHODS))
    graph, total = graph_of(matrix), truth(matrix)
    exact = ask(am.count, graph, method, exact=True)
    quick = ask(am.count, graph, method)
    probabilities = ask(am.posterior, graph, method)

    assert exact is None or exact.value == total
    assert quick is None or holds(quick, total)
    assert probabilities is None or worst_error(probabilities, edge_truth(matrix)) <= Fraction(
        probabilities.error
    )


# ---- beyond the small kernel, where methods check each other


def mixed(graph: am.Graph, seed: int) -> am.Graph:
    """The same graph with its users and behaviours in a random order."""
    rng = np.random.default_rng(seed)
    return graph.take(rng.permutation(graph.n_users), rng.permutation(graph.n_behaviours))


def agree(graph: am.Graph, *methods: str) -> None:
    """Counts equal as integers, posteriors to the last digits, edge counts by every user."""
    results = [am.count(graph, method=method) for method in methods]
    posteriors = [am.posterior(graph, method=method) for method in methods]
    assert {result.exact for result in results} == {True}
    assert len({result.value for result in results}) == 1
    total = results[0].value
    first = posteriors[0].counts.to_dense()
    assert set(first.sum(axis=1)) == {total}
    if graph.n_users == graph.n_behaviours:
        assert set(first.sum(axis=0)) == {total}
    for posterior in posteriors:
        assert dense(posterior) == pytest.approx(dense(posteriors[0]), rel=1e-12, abs=0)
        assert (posterior.counts.to_dense() == first).all()
        assert dense(posterior) == pytest.approx((first / total).astype(float), rel=1e-12, abs=0)


@pytest.mark.grid(quick=4)
@pytest.mark.parametrize("seed", range(12))
def test_all_methods_count_the_same(seed: int) -> None:
    """Twins, missing cells, long rows and short ones, in whole numbers and in doubles."""
    rng = np.random.default_rng(seed)
    n = 13 + seed % 4
    cells = rng.random((n, n)) < rng.choice([0.15, 0.3, 0.6, 0.9])
    cells[np.arange(n), rng.permutation(n)] = True
    if seed % 2:  # half of the users are alike
        cells |= np.eye(n, dtype=bool)
        cells[: n // 2] = cells[: n // 2].any(axis=0)
    for weights in (np.ones((n, n), int), rng.integers(1, 9, (n, n)), rng.random((n, n)) + 0.01):
        graph = graph_of((cells * weights).tolist())
        total = Fraction(am.count(graph, exact=True).value)
        shares = am.posterior(graph, exact=True)
        through = [[Fraction(x) for x in row] for row in shares.counts.to_dense()]
        assert {sum(row) for row in through} == {total}
        for method in METHODS:
            exact, quick = (ask(am.count, graph, method, exact=e) for e in (True, None))
            probabilities = ask(am.posterior, graph, method)

            assert exact is None or exact.value == total, method
            assert quick is None or holds(quick, total), method
            assert (
                probabilities is None or worst_error(probabilities, through) <= probabilities.error
            ), method


@pytest.mark.grid(quick=3)
@pytest.mark.parametrize("n", range(13, 21))
def test_sparse_graphs_by_all_programmes(n: int) -> None:
    """Three edges a user on average, with many of degree two to contract."""
    agree(mixed(families.random_regular(n, 3, seed=n), n), "auto", "frontier", "glynn")
    rng = np.random.default_rng(n)
    rows = [{i, (i + 1) % n, *rng.integers(0, n, i % 3 // 2).tolist()} for i in range(n)]
    agree(am.Graph.from_rows(rows), "auto", "frontier", "glynn", "contract")


@pytest.mark.parametrize(("n", "density"), [(13, 0.5), (15, 0.8), (17, 0.4), (18, 0.6), (20, 0.3)])
def test_dense_graphs_by_frontier_and_signs(n: int, density: float) -> None:
    agree(families.random_density(n, density, seed=n), "auto", "frontier", "glynn")


@pytest.mark.parametrize(("n", "width"), [(10, 14), (13, 15), (4, 18), (1, 30), (14, 18)])
def test_spare_behaviours_by_frontier_and_signs(n: int, width: int) -> None:
    agree(graph_of(random_matrix(n, width, 0.4, "ones")), "auto", "frontier", "glynn")


@pytest.mark.parametrize("n", [13, 16, 19])
def test_near_complete_graphs_by_rook_polynomials(n: int) -> None:
    rng = np.random.default_rng(n)
    cells = np.ones((n, n), dtype=int)
    cells[rng.integers(0, n, n), rng.integers(0, n, n)] = 0
    agree(graph_of(cells.tolist()), "auto", "closed_form", "glynn")
    agree(mixed(families.crown(n), n), "auto", "closed_form", "glynn")


@pytest.mark.parametrize("n", [14, 17, 22])
def test_nested_graphs_by_closed_forms(n: int) -> None:
    degrees = [min(n, i + 2 + i % 3) for i in range(n)]
    agree(mixed(families.ferrers(degrees), n), "auto", "closed_form", "frontier")


@pytest.mark.parametrize("kind", ["integers", "fractions", "floats"])
@pytest.mark.parametrize(("n", "width", "density"), [(13, 13, 0.3), (15, 15, 0.6), (12, 16, 0.4)])
def test_weighted_graphs_by_frontier_and_signs(
    n: int, width: int, density: float, kind: str
) -> None:
    graph = graph_of(random_matrix(n, width, density, kind))
    exact = am.count(graph, method="frontier", exact=True).value
    assert isinstance(exact, Fraction)
    counts = am.posterior(graph, exact=True).counts.to_dense()

    assert set(counts.sum(axis=1)) == {exact}
    for method in ("auto", "frontier", "glynn"):
        quick = am.count(graph, method=method)
        assert holds(quick, exact)
        assert quick.high - quick.low <= (1e-6 if method == "glynn" else 1e-9)
        posterior = am.posterior(graph, method=method)
        assert worst_error(posterior, counts.tolist()) <= Fraction(posterior.error)


@pytest.mark.parametrize("bits", [30, 200, 600, 900])
@pytest.mark.parametrize("n", [4, 13, 20])
def test_weights_far_apart_stay_exact(n: int, bits: int) -> None:
    """A cycle of two matchings; the one that is greater in the end is hopeless half way.

    Products leave the range of doubles many times over; logarithms and probabilities do not.
    """
    half, large = n // 2, 2**bits
    one = [1] * half + [7 * large] * (n - half)
    other = [5 * large] * half + [3] * (n - half)
    rows: Matrix = [[0] * n for _ in range(n)]
    through = [[Fraction(0)] * n for _ in range(n)]
    for i in range(n):
        after = (i + 1) % n
        rows[i][i], rows[i][after] = one[i], other[i]
        through[i][i], through[i][after] = Fraction(prod(one)), Fraction(prod(other))
    graph, total = graph_of(rows), prod(one) + prod(other)
    assert am.count(graph, method="contract", exact=True).value == total
    for method in ("auto", "frontier"):  # contraction in doubles refuses weights so far apart
        result = am.count(graph, method=method)
        posterior = am.posterior(graph, method=method)

        assert am.count(graph, method=method, exact=True).value == total
        assert holds(result, total)
        assert result.high - result.low <= 1e-9 * result.log
        assert worst_error(posterior, through) <= Fraction(posterior.error)
        assert posterior.error <= 1e-9


def test_cancellation_widens_the_interval_but_never_misleads() -> None:
    """Sums over signs lose every digit here, and say so."""
    rows: Matrix = [[0] * 13 for _ in range(13)]
    for i in range(13):
        rows[i][i], rows[i][(i + 1) % 13] = (1, 2**300) if i < 6 else (2**310, 1)
    result = am.count(graph_of(rows), method="glynn")

    assert holds(result, 2 ** (7 * 310) + 2 ** (6 * 300))
    assert result.low <= result.log <= result.high


@pytest.mark.parametrize("weight", [2**53 + 1, 2**63 + 1, 2**64 - 1, 7 * 10**60])
def test_whole_numbers_beyond_doubles_stay_exact(weight: int) -> None:
    for graph in (
        graph_of([[weight, 1], [1, 1]]),
        am.Graph.from_edges([(0, 0, weight), (0, 1, 1), (1, 0, 1), (1, 1, 1)]),
    ):
        assert am.count(graph, exact=True).value == weight + 1
        assert holds(am.count(graph), weight + 1)

"""Every method against the definition, and, where that ends, against each other."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

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
from anonymatch.counting.reference import first_minors
from anonymatch.graph import families

# Methods that take only the graphs they recognise; the others must take every small graph.
CHOOSY = ("closed", "contract")
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


def applies(graph: am.Graph, method: str) -> bool:
    if method in CHOOSY:
        try:
            am.count(graph, method=method)
        except am.InputError:
            return False
    return True


def test_matchings_through_edges_agree_with_minors() -> None:
    """The faster definition that the tests below are held to."""
    for n, width in SHAPES[:12]:
        matrix = random_matrix(n, width, 0.6, "integers")
        rows, _ = in_integers(matrix)

        assert edge_truth(matrix) == (np.array(rows, dtype=object) * first_minors(rows)).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "width"), SHAPES)
def test_every_method_agrees_with_the_definition(n: int, width: int, kind: str) -> None:
    for density in DENSITIES:
        matrix = random_matrix(n, width, density, kind)
        graph, total, through = graph_of(matrix), truth(matrix), edge_truth(matrix)
        for method in am.METHODS:
            if not applies(graph, method):
                continue
            where = f"{method} at density {density}"
            quick = am.count(graph, method=method)
            exact = am.count(graph, method=method, exact=True)
            assert exact.value == total, where
            assert type(exact.value) is (Fraction if graph.weighted else int)
            assert exact.low == exact.log == exact.high == pytest.approx(quick.log, abs=1e-11)
            assert holds(quick, total), where
            assert quick.high - quick.low <= 1e-11, where

            chances = am.posterior(graph, method=method)
            counted = am.posterior(graph, method=method, exact=True)
            assert counted.counts.to_dense().tolist() == through, where
            for posterior in (chances, counted):
                assert worst_error(posterior, through) <= Fraction(posterior.error), where
                assert posterior.error <= 1e-11, where


@pytest.mark.parametrize("weights", [ONES, INTEGERS, FRACTIONS, FLOATS, WILD])
@given(data=st.data())
def test_random_graphs_agree_with_the_definition(weights: Weights, data: st.DataObject) -> None:
    matrix = data.draw(matrices(users=(1, 6), spare=2, weights=weights, matched=True))
    graph = graph_of(matrix)
    method = data.draw(st.sampled_from([m for m in am.METHODS if applies(graph, m)]))

    assert am.count(graph, method=method, exact=True).value == truth(matrix)
    assert holds(am.count(graph, method=method), truth(matrix))
    posterior = am.posterior(graph, method=method)
    assert worst_error(posterior, edge_truth(matrix)) <= Fraction(posterior.error)


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


@pytest.mark.parametrize("n", range(13, 21))
def test_sparse_graphs_by_all_programmes(n: int) -> None:
    """Three edges a user on average, with many of degree two to contract."""
    agree(mixed(families.random_regular(n, 3, seed=n), n), "auto", "frontier", "signs")
    rng = np.random.default_rng(n)
    rows = [{i, (i + 1) % n, *rng.integers(0, n, i % 3 // 2).tolist()} for i in range(n)]
    agree(am.Graph.from_rows(rows), "auto", "frontier", "signs", "contract")


@pytest.mark.parametrize(("n", "density"), [(13, 0.5), (15, 0.8), (17, 0.4), (18, 0.6), (20, 0.3)])
def test_dense_graphs_by_frontier_and_signs(n: int, density: float) -> None:
    agree(families.random_density(n, density, seed=n), "auto", "frontier", "signs")


@pytest.mark.parametrize(("n", "width"), [(10, 14), (13, 15), (4, 18), (1, 30), (14, 18)])
def test_spare_behaviours_by_frontier_and_signs(n: int, width: int) -> None:
    agree(graph_of(random_matrix(n, width, 0.4, "ones")), "auto", "frontier", "signs")


@pytest.mark.parametrize("n", [13, 16, 19])
def test_near_complete_graphs_by_rook_polynomials(n: int) -> None:
    rng = np.random.default_rng(n)
    cells = np.ones((n, n), dtype=int)
    cells[rng.integers(0, n, n), rng.integers(0, n, n)] = 0
    agree(graph_of(cells.tolist()), "auto", "closed", "signs")
    agree(mixed(families.crown(n), n), "auto", "closed", "signs")


@pytest.mark.parametrize("n", [14, 17, 22])
def test_nested_graphs_by_closed_forms(n: int) -> None:
    degrees = [min(n, i + 2 + i % 3) for i in range(n)]
    agree(mixed(families.ferrers(degrees), n), "auto", "closed", "frontier")


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
    for method in ("auto", "frontier", "signs"):
        quick = am.count(graph, method=method)
        assert holds(quick, exact)
        assert quick.high - quick.low <= 1e-9
        posterior = am.posterior(graph, method=method)
        shares = (counts / exact).astype(float)
        assert dense(posterior) == pytest.approx(shares, rel=posterior.error + 2**-52, abs=0)


def test_weights_far_beyond_doubles_stay_exact() -> None:
    """Products overflow and underflow doubles a thousandfold; the logarithm does not."""
    n = 20
    small, large = Fraction(1, 10**200), 10**200
    rows: Matrix = [[0] * n for _ in range(n)]
    for i in range(n):
        rows[i][i], rows[i][(i + 1) % n] = (large, small) if i % 2 else (small, large)
    wanted = 2 * (large * small) ** (n // 2)
    result = am.count(graph_of(rows))

    assert am.count(graph_of(rows), exact=True).value == wanted
    assert holds(result, wanted)
    big: Matrix = [[x * large if x else 0 for x in row] for row in rows]
    assert am.count(graph_of(big), exact=True).value == wanted * large**n
    assert holds(am.count(graph_of(big)), wanted * large**n)
    assert Decimal(am.count(graph_of(big)).log).is_finite()

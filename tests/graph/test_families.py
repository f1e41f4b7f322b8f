"""Families: their sizes, degrees and known numbers of matchings, by the definition."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache

import numpy as np
import pytest

from anonymatch.base.errors import InputError
from anonymatch.graph import families
from anonymatch.graph.graph import Graph


def matchings(graph: Graph) -> int:
    """Count by trying every behaviour for every user in turn."""
    rows = [
        graph.indices[begin:end].tolist()
        for begin, end in zip(graph.indptr[:-1], graph.indptr[1:], strict=True)
    ]

    @cache
    def extend(user: int, used: int) -> int:
        if user == len(rows):
            return 1
        return sum(extend(user + 1, used | 1 << b) for b in rows[user] if not used >> b & 1)

    return extend(0, 0)


def lucas(n: int) -> int:
    a, b = 2, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def boxes(a: int, b: int, c: int) -> int:
    """Plane partitions in a box (MacMahon)."""
    cells = [(i, j, k) for i in range(a) for j in range(b) for k in range(c)]
    return math.prod(i + j + k + 2 for i, j, k in cells) // math.prod(
        i + j + k + 1 for i, j, k in cells
    )


@pytest.mark.parametrize("n", range(8))
def test_complete_graphs_have_n_factorial(n: int) -> None:
    assert matchings(families.complete(n)) == math.factorial(n)


def test_crowns_are_derangements() -> None:
    counted = [matchings(families.crown(n)) for n in range(8)]

    assert counted == [1, 0, 1, 2, 9, 44, 265, 1854]


@pytest.mark.parametrize("n", range(3, 12))
def test_rings_of_three_are_lucas_numbers_plus_two(n: int) -> None:
    assert matchings(families.ring(n, 3)) == lucas(n) + 2
    assert matchings(families.ring(n, 2)) == 2
    assert matchings(families.circulant(n, [5])) == 1


def test_partitions_multiply() -> None:
    assert matchings(families.partition([3, 1, 4])) == 6 * 24
    assert families.partition([]) == families.complete(0)


def test_bands_are_fibonacci_numbers() -> None:
    assert [matchings(families.band(n, 1, 1)) for n in range(8)] == [1, 1, 2, 3, 5, 8, 13, 21]


@pytest.mark.parametrize("n", range(1, 9))
def test_full_hessenberg_graphs_double(n: int) -> None:
    assert matchings(families.hessenberg(n)) == 2 ** (n - 1)


def test_ferrers_graphs_multiply_what_is_left() -> None:
    assert matchings(families.ferrers([2, 2, 4, 5, 5])) == 2 * 1 * 2 * 2 * 1
    assert families.ferrers([1, 5]).n_behaviours == 5
    assert families.ferrers([]) == families.complete(0)


def test_hypercubes() -> None:
    counted = [matchings(families.hypercube(d)) for d in range(1, 6)]

    assert counted == [1, 2, 9, 272, 589185]


def test_domino_tilings() -> None:
    assert [matchings(families.grid(2, n)) for n in range(1, 8)] == [1, 2, 3, 5, 8, 13, 21]
    assert matchings(families.grid(4, 4)) == 36
    assert matchings(families.grid(6, 6)) == 6728
    assert matchings(families.grid(8, 8)) == 12988816


@pytest.mark.parametrize("n", range(1, 5))
def test_aztec_diamonds(n: int) -> None:
    assert matchings(families.aztec(n)) == 2 ** (n * (n + 1) // 2)


@pytest.mark.parametrize(
    "sides", [(1, 1, 1), (1, 2, 3), (2, 1, 3), (3, 2, 1), (2, 2, 2), (3, 3, 2), (0, 2, 3)]
)
def test_hexagons_are_plane_partitions(sides: tuple[int, int, int]) -> None:
    graph = families.hexagon(*sides)

    a, b, c = sides
    assert graph.n_users == graph.n_behaviours == a * b + b * c + c * a
    assert matchings(graph) == boxes(*sides)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (4, 2), (5, 5), (7, 4), (50, 3), (50, 47), (3, 0)])
@pytest.mark.parametrize("seed", range(5))
def test_random_regular_graphs_are_regular_and_simple(n: int, k: int, seed: int) -> None:
    graph = families.random_regular(n, k, seed)

    assert set(graph.degrees.tolist()) == {k}
    assert set(graph.behaviour_degrees.tolist()) == {k}
    assert graph == families.random_regular(n, k, seed)


def test_random_regular_graphs_are_close_to_uniform() -> None:
    """There are 6 graphs with n = 3, k = 1, or 2; each comes about as often."""
    for k in (1, 2):
        counts: dict[Graph, int] = {}
        for seed in range(1200):
            graph = families.random_regular(3, k, seed)
            counts[graph] = counts.get(graph, 0) + 1
        assert len(counts) == 6
        assert all(140 < often < 260 for often in counts.values())


@pytest.mark.slow
def test_a_million_users_with_ten_edges_each() -> None:
    graph = families.random_regular(10**6, 10, seed=1)

    assert graph.n_edges == 10**7
    assert (graph.behaviour_degrees == 10).all()


def test_random_density_is_seeded() -> None:
    graph = families.random_density(200, 0.25, seed=3)

    assert graph == families.random_density(200, 0.25, seed=3)
    assert abs(graph.n_edges - 10_000) < 5 * np.sqrt(40_000 * 0.25 * 0.75)


def test_random_density_is_the_same_however_many_rows_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = families.random_density(60, 0.25, seed=3)
    monkeypatch.setattr(families, "_DRAWN", 130)

    assert whole == families.random_density(60, 0.25, seed=3)
    assert whole == Graph.from_biadjacency(np.random.default_rng(3).random((60, 60)) < 0.25)


def test_large_sparse_graphs_are_drawn_without_a_number_a_pair() -> None:
    """10^12 pairs: degrees are nearly Poisson, with mean and variance 0.3."""
    n = 1_000_000
    graph = families.random_density(n, 0.3 / n, seed=5)
    degrees = graph.degrees

    assert graph == families.random_density(n, 0.3 / n, seed=5)
    assert abs(graph.n_edges - 0.3 * n) < 5 * np.sqrt(0.3 * n)
    assert degrees.var() == pytest.approx(0.3, rel=0.02)
    assert graph.behaviour_degrees.var() == pytest.approx(0.3, rel=0.02)


def test_different_pairs_are_drawn_evenly() -> None:
    """All 10 sets of 2 of 5 pairs, within 5 standard deviations of 200 each."""
    draws = np.random.default_rng(1)
    sets = Counter(tuple(families._distinct(5, 2, draws).tolist()) for _ in range(2000))

    assert len(sets) == 10
    assert all(abs(number - 200) < 5 * np.sqrt(180) for number in sets.values())


def test_impossible_families_are_refused() -> None:
    with pytest.raises(InputError, match="k must be a whole number from 0 to 3, not 4"):
        families.random_regular(3, 4, seed=0)
    with pytest.raises(InputError, match="equal modulo 3"):
        families.circulant(3, [0, 3])

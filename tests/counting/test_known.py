"""Graphs whose counts the literature knows, far beyond what a definition can reach."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import comb, factorial, log, prod

import numpy as np
import pytest

import anonymatch as am
from anonymatch.graph import families


def value(graph: am.Graph, **how: str) -> int:
    result = am.count(graph, exact=True, **how)  # type: ignore[arg-type]
    assert result.exact
    assert isinstance(result.value, int)
    assert result.log == pytest.approx(log(result.value), rel=1e-13, abs=1e-13)
    return result.value


@pytest.mark.parametrize("n", [1, 2, 17, 21, 22, 35, 200])
def test_complete_graph_has_n_factorial(n: int) -> None:
    """17 and 21 users are where 64-bit Glynn and 64-bit Ryser break."""
    assert value(families.complete(n)) == factorial(n)


@pytest.mark.parametrize("method", ["glynn", "frontier"])
@pytest.mark.parametrize("n", [12, 17, 21])
def test_programmes_do_not_wrap_on_complete_graphs(n: int, method: str) -> None:
    assert value(families.complete(n), method=method) == factorial(n)


def test_complete_graph_of_22_by_signs() -> None:
    """22! is beyond 64 bits, and so is every partial sum of Glynn's."""
    assert value(families.complete(22), method="glynn") == factorial(22)


@pytest.mark.parametrize(("n", "width"), [(1, 50), (3, 40), (20, 25), (100, 140)])
def test_spare_behaviours_leave_falling_factorials(n: int, width: int) -> None:
    rows = [range(width)] * n

    assert value(am.Graph.from_rows(rows)) == factorial(width) // factorial(width - n)


@pytest.mark.parametrize("n", [2, 3, 8, 13, 17, 21, 60, 300])
def test_crowns_are_derangements(n: int) -> None:
    derangements = sum((-1) ** k * factorial(n) // factorial(k) for k in range(n + 1))

    assert value(families.crown(n)) == derangements


def menage(n: int) -> int:
    """Touchard's formula, n > 2."""
    return sum(
        (-1) ** k * 2 * n * comb(2 * n - k, k) * factorial(n - k) // (2 * n - k)
        for k in range(n + 1)
    )


def test_menage_numbers_follow_lucas_recurrence() -> None:
    """(n-1) a(n+1) = (n^2-1) a(n) + (n+1) a(n-1) + 4 (-1)^n, with a(4) = 2 and a(5) = 13."""
    assert [menage(n) for n in range(3, 10)] == [1, 2, 13, 80, 579, 4738, 43387]
    for n in range(4, 100):
        right = (n * n - 1) * menage(n) + (n + 1) * menage(n - 1) + 4 * (-1) ** n
        assert (n - 1) * menage(n + 1) == right


@pytest.mark.parametrize("n", [3, 4, 5, 9, 14, 18, 30, 100])
def test_couples_at_a_round_table(n: int) -> None:
    """Nobody sits beside the own partner."""
    everything = set(range(n))
    table = am.Graph.from_rows([everything - {i, (i + 1) % n} for i in range(n)])

    assert value(table) == menage(n)


def lucas(n: int) -> int:
    before, now = 2, 1
    for _ in range(n):
        before, now = now, before + now
    return before


def fibonacci(n: int) -> int:
    before, now = 0, 1
    for _ in range(n):
        before, now = now, before + now
    return before


@pytest.mark.parametrize("n", [4, 5, 12, 13, 40, 93, 94, 300, 1000])
def test_rings_of_three_are_lucas_numbers(n: int) -> None:
    """L(93) is the first beyond 64 bits."""
    assert value(families.ring(n, 3)) == lucas(n) + 2


@pytest.mark.parametrize("n", [3, 4, 13, 100, 5000])
def test_a_cycle_has_two_matchings(n: int) -> None:
    assert value(families.ring(n, 2)) == 2


def test_probabilities_on_a_long_ring_are_even() -> None:
    n = 300
    posterior = am.posterior(families.ring(n, 3))
    counts = posterior.counts.to_dense()

    assert len({counts[i, (i + 1) % n] for i in range(n)}) == 1
    assert len({counts[i, (i + k) % n] for i in range(n) for k in (0, 2)}) == 1
    assert set(counts.sum(axis=1)) == {lucas(n) + 2}


@pytest.mark.parametrize("n", [1, 2, 13, 50, 400])
def test_bands_of_three_are_fibonacci_numbers(n: int) -> None:
    assert value(families.band(n, 1, 1)) == fibonacci(n + 1)


# Kasteleyn; Temperley and Fisher.
BOARDS = {(2, 3): 3, (4, 4): 36, (6, 6): 6728, (8, 8): 12988816, (7, 8): 1292697, (5, 6): 1183}
BOARDS |= {(10, 10): 258584046368, (12, 12): 53060477521960000}


@pytest.mark.parametrize(("rows", "columns"), BOARDS)
def test_boards_of_dominoes(rows: int, columns: int) -> None:
    assert value(families.grid(rows, columns)) == BOARDS[rows, columns]
    assert value(families.grid(columns, rows)) == BOARDS[rows, columns]


@pytest.mark.parametrize("n", [1, 2, 30, 500])
def test_two_rows_of_dominoes_are_fibonacci_numbers(n: int) -> None:
    assert value(families.grid(2, n)) == fibonacci(n + 1)


@pytest.mark.parametrize("n", [2, 20, 200])
def test_three_rows_of_dominoes(n: int) -> None:
    """f(n) = 4 f(n-2) - f(n-4)."""
    before, now = 1, 3
    for _ in range(n // 2 - 1):
        before, now = now, 4 * now - before

    assert value(families.grid(3, n)) == now


@pytest.mark.parametrize("sides", [(1, 1, 1), (2, 2, 2), (1, 3, 4), (2, 4, 5), (5, 5, 5)])
def test_hexagons_are_plane_partitions(sides: tuple[int, int, int]) -> None:
    """MacMahon's box formula."""
    a, b, c = sides
    cells = product(range(1, a + 1), range(1, b + 1), range(1, c + 1))
    boxes = prod((Fraction(i + j + k - 1, i + j + k - 2) for i, j, k in cells), start=Fraction(1))

    assert value(families.hexagon(a, b, c)) == boxes


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6, 8])
def test_aztec_diamonds_are_powers_of_two(n: int) -> None:
    assert value(families.aztec(n)) == 2 ** (n * (n + 1) // 2)


@pytest.mark.parametrize(
    ("dimension", "count"), [(1, 1), (2, 2), (3, 9), (4, 272), (5, 589185), (6, 16332454526976)]
)
def test_hypercubes(dimension: int, count: int) -> None:
    assert value(families.hypercube(dimension)) == count


@pytest.mark.parametrize("seed", range(6))
def test_ferrers_boards_are_products(seed: int) -> None:
    n = (5, 13, 40, 100, 300, 1000)[seed]
    rng = np.random.default_rng(seed)
    degrees = np.maximum(np.sort(rng.integers(1, n + 1, n)), np.arange(1, n + 1))
    wanted = prod(int(d) - i for i, d in enumerate(degrees))
    shuffled = rng.permutation(degrees).tolist()

    assert value(families.ferrers(shuffled)) == wanted


@pytest.mark.parametrize("n", [1, 2, 13, 33, 64, 200])
def test_full_lower_hessenberg_graphs_are_powers_of_two(n: int) -> None:
    """Sent in a random order, so that nothing but the edges tells what it is."""
    rng = np.random.default_rng(n)
    graph = families.hessenberg(n).take(rng.permutation(n), rng.permutation(n))

    assert value(graph) == 2 ** (n - 1)


@pytest.mark.parametrize("size", [1, 5, 8, 13])
def test_equal_groups_of_everything(size: int) -> None:
    assert value(families.partition([size] * 40)) == factorial(size) ** 40


@pytest.mark.parametrize("n", [5, 8, 14, 17, 20])
def test_permutations_that_move_nobody_far_up(n: int) -> None:
    """At most k places up, any places down: (k+1)! (k+1)^(n-k-1)."""
    k = 3
    rows = [range(min(n, i + k + 1)) for i in range(n)]

    assert value(am.Graph.from_rows(rows)) == factorial(k + 1) * (k + 1) ** (n - k - 1)


def test_separate_cycles_have_two_ways_each() -> None:
    lengths = [2, 3, 13, 50]
    starts = [0, *np.cumsum(lengths).tolist()]
    rows = [
        [begin + i, begin + (i + 1) % (end - begin)]
        for begin, end in pairwise(starts)
        for i in range(end - begin)
    ]

    assert value(am.Graph.from_rows(rows)) == 2 ** len(lengths)


def test_heavy_rows_have_their_price() -> None:
    """Products in four factors cost half as much again; those that fit no lanes many times."""
    heavy = np.full((12, 12), 3)
    heavy[0, 0] = 2**16
    graphs = (
        am.random_density(34, 0.5, seed=1),
        am.random_density(40, 0.5, seed=1),
        am.Graph.from_biadjacency(heavy),
    )
    three, four, none = (
        am.count(graph, method="glynn", exact=graph.weighted or None, budget=0.1).plan.seconds
        / (graph.n_users * 2.0**graph.n_users)
        for graph in graphs
    )

    assert 1.2 < four / three < 3.0
    assert none > 20 * three

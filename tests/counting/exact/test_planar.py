"""Planar blocks by determinants: the drawing, the signs, the primes, and what comes out."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from tests.counting.exact.weights import assert_weights_are_kept, weighted
from tests.strategies import dense

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.integers import primes_below
from anonymatch.graph import families


def board(height: int, width: int, seed: int | None = None) -> am.Graph:
    """Cells of one colour as users, of the other as behaviours; neighbours share a side."""
    cells = [(i, j) for i in range(height) for j in range(width)]
    users = [cell for cell in cells if sum(cell) % 2 == 0]
    behaviours = [cell for cell in cells if sum(cell) % 2 == 1]
    if seed is not None:
        rng = np.random.default_rng(seed)
        users = [users[k] for k in rng.permutation(len(users))]
        behaviours = [behaviours[k] for k in rng.permutation(len(behaviours))]
    number = {cell: k for k, cell in enumerate(behaviours)}
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    return am.Graph.from_rows(
        [
            sorted(number[i + a, j + b] for a, b in steps if (i + a, j + b) in number)
            for i, j in users
        ]
    )


def log_of_tilings(height: int, width: int) -> float:
    """Kasteleyn's product of cosines."""
    return 0.25 * math.fsum(
        math.log(
            4 * math.cos(math.pi * i / (height + 1)) ** 2
            + 4 * math.cos(math.pi * j / (width + 1)) ** 2
        )
        for i in range(1, height + 1)
        for j in range(1, width + 1)
    )


@pytest.mark.parametrize(
    ("height", "width", "tilings"),
    [(2, 2, 2), (4, 4, 36), (6, 6, 6728), (8, 8, 12988816), (10, 10, 258584046368)],
)
def test_boards_have_as_many_matchings_as_domino_tilings(
    height: int, width: int, tilings: int
) -> None:
    assert am.count(board(height, width, seed=1), method="planar").value == tilings


def test_a_wide_board_is_counted_exactly_by_itself() -> None:
    """Nothing else reaches 512 users of a board of 32 by 32."""
    count = am.count(board(32, 32, seed=2))

    assert isinstance(count.value, int)
    assert [step.method for step in count.plan.steps] == ["planar"]
    assert count.log == pytest.approx(log_of_tilings(32, 32), abs=1e-10)
    # The number of tilings of a square of even side is a square or twice one (Jockusch).
    root = math.isqrt(count.value >> 16)
    assert root**2 << 16 == count.value


def test_all_probabilities_of_a_wide_board_add_up() -> None:
    graph = board(14, 16, seed=3)
    posterior = am.posterior(graph)

    assert posterior.matrix.sum(axis=1) == pytest.approx(1.0, abs=1e-13)
    assert posterior.matrix.sum(axis=0) == pytest.approx(1.0, abs=1e-13)
    total = am.count(graph).value
    behaviour = int(graph.indices[0])
    through = am.count(graph.expose(0, behaviour), method="frontier").value
    assert posterior.matrix.data[0] == pytest.approx(through / total, abs=1e-14)


def test_counts_and_edges_agree_with_the_frontier_programme() -> None:
    for height, width in ((4, 5), (3, 6), (6, 8)):
        graph = board(height, width, seed=height)
        one, other = (am.posterior(graph, method=method) for method in ("planar", "frontier"))
        assert (one.counts.to_dense() == other.counts.to_dense()).all()
        assert dense(one) == pytest.approx(dense(other), abs=1e-13)


@pytest.mark.parametrize("kind", ["integers", "fractions", "floats", "wild", "large"])
def test_weights_of_every_kind(kind: str) -> None:
    assert_weights_are_kept("planar", board(4, 6, seed=5), kind)


def test_a_prime_that_divides_a_pivot_is_replaced_by_another() -> None:
    """All edges of one behaviour weigh the largest primes: modulo each the count is 0."""
    factor = math.prod(primes_below(_native.PLANAR_PRIME_BITS, 8))
    plain = board(4, 4)
    weights = [factor if j == 0 else 1 for j in plain.indices.tolist()]
    graph = weighted(plain, weights)

    assert am.count(graph, method="planar", exact=True).value == 36 * factor
    counts = am.posterior(graph, method="planar", exact=True).counts.to_dense()
    assert set(counts.sum(axis=1)) == {36 * factor}


def drawable(graph: am.Graph) -> bool:
    ends, indices = graph.indptr.tolist(), graph.indices.tolist()
    edges = [
        (i, graph.n_users + indices[e])
        for i in range(graph.n_users)
        for e in range(ends[i], ends[i + 1])
    ]
    return bool(nx.check_planarity(nx.Graph(edges))[0])


def test_the_test_for_planarity_agrees_with_another_one() -> None:
    """On random sparse graphs of both kinds, with the count of those that are planar."""
    planar = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 14))
        rows = [{i, (i + 1) % n} for i in range(n)]
        for _ in range(int(rng.integers(0, n))):
            rows[int(rng.integers(n))].add(int(rng.integers(n)))
        graph = am.Graph.from_rows(rows)
        plan = _native.plan_planar(graph)
        assert (plan is not None) == drawable(graph), seed
        if plan is not None:
            planar += 1
            assert (
                am.count(graph, method="planar").value == am.count(graph, method="frontier").value
            )
    assert 200 < planar < 500


def test_boards_with_holes_are_counted_right() -> None:
    """Faces of many lengths: cells are taken away in pairs."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        graph = board(6, 7, seed=seed)
        for _ in range(int(rng.integers(1, 6))):
            user = int(rng.integers(graph.n_users))
            row = graph.indices[graph.indptr[user] : graph.indptr[user + 1]].tolist()
            if not row:
                continue
            behaviour = int(rng.choice(row))
            graph = graph.take(
                np.delete(np.arange(graph.n_users), user),
                np.delete(np.arange(graph.n_behaviours), behaviour),
            )
        expected = am.count(graph, method="frontier").value
        if expected:
            assert am.count(graph, method="planar").value == expected


def test_graphs_that_cross_are_refused_by_name() -> None:
    with pytest.raises(am.InputError, match="'planar' does not apply"):
        am.count(families.complete(4), method="planar")
    with pytest.raises(am.InputError, match="'planar' does not apply"):
        am.count(families.random_regular(40, 3, seed=1), method="planar")


def test_spare_behaviours_are_left_to_other_methods() -> None:
    with pytest.raises(am.InputError, match="does not apply"):
        am.count(am.Graph.from_rows(["110", "011"]), method="planar")


def test_predicted_runs_are_what_the_kernel_does() -> None:
    """The work of a board grows like n^1.5, so a plan is made for boards of any size."""
    plans = {side: _native.plan_planar(board(side, side)) for side in (16, 32, 64)}
    work = {side: plan.work for side, plan in plans.items() if plan is not None}
    assert 4 < work[32] / work[16] < 20
    assert 4 < work[64] / work[32] < 20

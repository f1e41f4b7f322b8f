from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, seed, settings
from tests.counting.exact.test_classes import Matrix, twin_matrices

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.blocks.solution import Context
from anonymatch.counting.blocks.tuning import LIMITS
from anonymatch.counting.exact import class_sums, classes
from anonymatch.counting.exact.class_sums import ClassGrid, SumCounts, Twins, find_twins, plan_sums
from anonymatch.counting.reference import block_of, first_minors, permanent
from anonymatch.running import Budget, Execution


def twins_of(matrix: Matrix | list[list[int]]) -> Twins:
    twins = find_twins(block_of(matrix))
    assert twins is not None
    return twins


def grid_of(matrix: Matrix) -> ClassGrid:
    grid = plan_sums(twins_of(matrix))
    assert grid is not None
    return grid


def table(kinds: npt.NDArray[Any], sizes: list[int]) -> Matrix:
    members = np.repeat(np.arange(len(sizes)), sizes)
    return kinds[members][:, members]


def counts_of(grid: ClassGrid) -> SumCounts:
    return SumCounts(grid, Execution())


@seed(17)
@settings(max_examples=100, deadline=None)
@given(twin_matrices())
def test_sums_agree_with_the_definition_from_both_sides(matrix: Matrix) -> None:
    twins = find_twins(block_of(matrix))
    assume(twins is not None)
    assert twins is not None
    total, edges = permanent(matrix), np.nonzero(matrix)
    minors = first_minors(matrix)[edges].tolist()
    for turned in (False, True):
        grid = class_sums._grid(twins, turned, math.inf)
        assert grid is not None
        assert counts_of(grid).solution().total == total
        solution = counts_of(grid).solution()
        assert solution.minors.tolist() == minors
        assert solution.total == total  # what the minors tell
        if total:
            expected = [w * m / total for w, m in zip(matrix[edges], minors, strict=True)]
            assert solution.posteriors[0] == pytest.approx(expected, rel=1e-15)


@seed(18)
@settings(max_examples=50, deadline=None)
@given(twin_matrices())
def test_the_count_of_floats_is_exact_too(matrix: Matrix) -> None:
    total, edges = permanent(matrix), np.nonzero(matrix)
    assume(total > 0)
    twins = find_twins(block_of(matrix.astype(np.float64) / 1024))
    assume(twins is not None)
    assert twins is not None
    grid = plan_sums(twins)
    assert grid is not None
    solution = counts_of(grid).solution()
    log, error = solution.log_and_error
    truth = math.log(total) - len(matrix) * math.log(1024)

    assert abs(log - truth) <= error + 1e-14
    expected = (matrix[edges] * first_minors(matrix)[edges] / total).astype(np.float64)
    assert solution.posteriors[0] == pytest.approx(expected, abs=1e-14)


def test_sums_agree_with_states_where_the_definition_ends() -> None:
    rng = np.random.default_rng(19)
    kinds = rng.integers(0, 4, (4, 4)).astype(object) + np.eye(4, dtype=int).astype(object)
    matrix = table(kinds, [3, 7, 6, 9])
    plan = classes.plan_classes(block_of(matrix))
    assert plan is not None
    states, sums = plan.solve(), counts_of(grid_of(matrix)).solution()

    assert sums.total == states.total
    assert sums.minors.tolist() == states.minors().tolist()


def test_orders_with_a_huge_common_multiple_are_rounded_up() -> None:
    """Classes of 12, 16, 18, ...: no prime below 2^50 has roots of all those orders."""
    sizes = [12, 16, 18, 22, 28, 30, 36, 40, 42]
    orders = class_sums._orders(sorted(sizes, reverse=True))

    assert all(order > size for order, size in zip(orders, sorted(sizes)[:0:-1], strict=True))
    assert math.lcm(*orders) <= LIMITS.sums_lcm
    assert class_sums._orders([30, 20, 10]) == [31, 21]
    primes = class_sums._primes_with_roots(math.lcm(*orders), 120)
    assert math.prod(primes) > 2**120
    assert all(p % order == 1 for p in primes for order in orders)


def test_rounded_orders_give_the_same_count() -> None:
    matrix = table(np.array([[1, 2], [1, 1]], dtype=object), [4, 3])
    grid = grid_of(matrix)
    wider = [6 for _ in grid.orders]
    assert grid.orders == [5]
    assert counts_of(replace(grid, orders=wider)).total == permanent(matrix)


@pytest.mark.parametrize("edges", [False, True])
def test_a_large_table_of_few_classes_is_within_reach(edges: bool) -> None:
    """Eight classes and a hundred users: 1.5 TB of layers, and seconds of sums without memory."""
    rng = np.random.default_rng(1)
    kinds = rng.integers(1, 9, (8, 8)).astype(object)
    block = block_of(table(kinds, [13] * 4 + [12] * 4))
    context = Context(edges=edges, budget=Budget.of(60.0), effort=Execution())
    option = classes.offer(block, context, math.inf)
    plan = classes.plan_classes(block)

    assert option is not None
    assert plan is not None
    assert plan.memory(edges=True) > 1e12
    assert option.memory < 1e9
    assert option.seconds < 60


def test_eight_classes_of_five_users_add_up() -> None:
    rng = np.random.default_rng(2)
    kinds = (rng.random((8, 8)) < 0.6).astype(int) | np.eye(8, dtype=int)
    graph = am.Graph.from_biadjacency(table(kinds, [5] * 8))
    posterior = am.posterior(graph, method="classes")
    count = am.count(graph)

    assert count.value == am.count(graph, method="classes").value
    sums = np.add.reduceat(posterior.probabilities, graph.indptr[:-1])
    assert sums == pytest.approx(1.0, abs=1e-12)
    through = am.count(graph.expose(0, int(graph.indices[0]))).value
    assert posterior.probabilities[0] == pytest.approx(through / count.value, rel=1e-12)


def test_the_kernel_refuses_what_it_cannot_hold() -> None:
    one = np.ones((1, 2), dtype=np.uint64)
    points = ((1, 4),)
    made = _native.ClassSums(one, (2,), points, points, 5)

    assert (made.count(0, made.units) - (1 * 4 + 4 * 25)) % 5 == 0
    with pytest.raises(ValueError, match="prime"):
        _native.ClassSums(one, (2,), points, points, 1 << 50)
    with pytest.raises(ValueError, match="below the prime"):
        _native.ClassSums(one * np.uint64(5), (2,), points, points, 5)
    with pytest.raises(ValueError, match="sizes fall"):
        _native.ClassSums(np.ones((2, 2), dtype=np.uint64), (1, 2), points, points, 5)
    with pytest.raises(ValueError, match="factor"):
        _native.ClassSums(one, (2,), points, ((1,),), 5)
    with pytest.raises(ValueError, match="fit"):
        _native.ClassSums(one, (2,), (), (), 5)
    with pytest.raises(ValueError, match="units"):
        made.count(0, made.units + 1)

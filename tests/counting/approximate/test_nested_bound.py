"""Counts with a guarantee: bounds that nest, intervals that hold, samples that are exact."""

from __future__ import annotations

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import Matrix, weighted_matrices

import anonymatch as am
from anonymatch import _native
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.counting.approximate.nested_bound import (
    ConfidenceSequence,
    NestedBound,
    draws_needed,
    exact_samples,
    guaranteed,
)
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.counting.reference import block_of, matchings, permanent
from anonymatch.running.budget import Budget, Execution

FIVE: Matrix = [
    [1, 1, 1, 0, 0],
    [1, 1, 1, 1, 0],
    [0, 1, 1, 1, 1],
    [1, 0, 1, 1, 1],
    [1, 1, 0, 1, 1],
]


def block_of_graph(graph: am.Graph) -> Block:
    reduced = reduce(graph, exact=False)
    return max((reduced.block(k) for k in range(reduced.n_kinds)), key=lambda block: block.n_users)


def count(block: Block, *, epsilon: float, delta: float, seed: int) -> tuple[float, NestedBound]:
    return guaranteed(
        block, epsilon=epsilon, delta=delta, seed=seed, budget=Budget(), effort=Execution()
    )


def nesting_of(matrix: Matrix) -> _native.NestedBound:
    block = block_of(matrix)
    logs = None if block.weights is None else np.log(block.weights.astype(float))
    return _native.nested_bound_job(block, logs)


@given(weighted_matrices(matched=True), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_bounds_hold_and_draws_stay_below(matrix: Matrix, seed: int) -> None:
    nesting = nesting_of(matrix)
    log = math.log(permanent(matrix))

    assert nesting.log_bound >= log
    nesting.improve(50, seed)
    assert nesting.log_bound >= log
    draws = nesting.draws(seed, 0, 20)
    assert draws.min() >= 0
    assert draws.max() <= 1


def test_a_draw_divided_by_its_probability_never_exceeds_the_bound_on_any_path() -> None:
    """All matchings of a small block are met; rejection keeps each in proportion to its weight."""
    nesting = nesting_of(FIVE)
    draws = nesting.draws(1, 0, 4000)
    value = permanent(FIVE)

    assert draws.max() <= 1
    mean = draws.mean() * math.exp(nesting.log_bound)
    error = draws.std() / math.sqrt(len(draws)) * math.exp(nesting.log_bound)
    assert abs(mean - value) < 5 * error


def height(entries: list[tuple[float, float]]) -> float:
    """The height of a row by its definition; scales and weights from the last column on."""
    now = 0.0
    for scale, weight in entries:
        step = scale * weight
        lifted = max(now, step)
        now = lifted * math.exp(step / lifted) if weight else now
    return now


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_the_bound_nests_for_every_set_of_rows(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 5))
    weight = st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0, 1.0])
    cells = data.draw(st.lists(st.lists(weight, min_size=n, max_size=n), min_size=n, max_size=n))
    scales = data.draw(st.lists(st.floats(0.05, 3.0), min_size=n, max_size=n))
    for step in range(n):
        later = [list(zip(scales, row, strict=True))[step + 1 :][::-1] for row in cells]
        for members in range(1, 2**n):
            rows = [i for i in range(n) if members >> i & 1]
            heights = [height(later[i]) for i in rows]
            before = math.prod(height([*later[i], (scales[step], cells[i][step])]) for i in rows)
            children = sum(
                cells[i][step] * math.prod(heights[:k] + heights[k + 1 :])
                for k, i in enumerate(rows)
            )
            assert math.e * scales[step] * children <= before * (1 + 1e-12)


@pytest.mark.grid
@pytest.mark.parametrize(
    ("graph", "log"),
    [
        (am.random_density(11, 0.4, 3), None),
        (am.random_regular(11, 4, 1), None),
        (am.band(11, 2, 2), None),
        (am.complete(30), math.lgamma(31)),
    ],
)
def test_the_promise_is_kept(graph: am.Graph, log: float | None) -> None:
    block = block_of_graph(graph)
    truth = math.log(permanent(block.dense().tolist())) if log is None else log
    delta, runs = 0.2, 200
    misses = 0
    for seed in range(runs):
        counted, how = count(block, epsilon=0.2, delta=delta, seed=seed)
        misses += not 0.8 <= math.exp(counted - truth) <= 1.2
        assert how.low <= how.high <= how.bound + 1e-9

    assert misses <= delta * runs


@pytest.mark.slow
@pytest.mark.parametrize(
    ("users", "degree", "epsilon"), [(20, 5, 0.3), (20, 10, 0.5), (14, 14, 0.3)]
)
def test_values_do_not_lean_to_one_side(users: int, degree: int, epsilon: float) -> None:
    """An interval that is just narrow lies to one side of the mean: its middle would lean."""
    graph = am.random_regular(users, degree, seed=2)
    block, truth = Block(users, users, graph.indptr, graph.indices), am.count(graph).log
    off = []
    for seed in range(80):
        log, _ = guaranteed(
            block, epsilon=epsilon, delta=0.05, seed=seed, budget=Budget(), effort=Execution()
        )
        off.append(math.expm1(log - truth) / epsilon)
    assert abs(np.mean(off)) < 0.1 + 2 * np.std(off) / math.sqrt(len(off))


def test_weights_count() -> None:
    matrix = np.random.default_rng(1).random((10, 10)).tolist()
    truth = math.log(permanent(matrix))
    counted, how = count(block_of(matrix), epsilon=0.05, delta=0.01, seed=1)

    assert abs(math.expm1(counted - truth)) <= 0.05
    assert how.low <= truth <= how.high


def test_large_integer_weights_do_not_overflow() -> None:
    huge = 10**400
    counted, _ = count(block_of([[huge, huge], [huge, huge]]), epsilon=0.1, delta=0.05, seed=0)

    assert abs(math.expm1(counted - (math.log(2) + 800 * math.log(10)))) <= 0.1


def test_threads_do_not_change_the_answer() -> None:
    block = block_of_graph(am.random_regular(40, 6, 1))
    alone = count(block, epsilon=0.1, delta=0.05, seed=5)
    with ThreadPoolExecutor(3) as executor:
        together = guaranteed(
            block,
            epsilon=0.1,
            delta=0.05,
            seed=5,
            budget=Budget(),
            effort=Execution(executor=executor),
        )

    assert together == alone


def test_samples_are_exactly_uniform() -> None:
    block = block_of(FIVE)
    every = list(matchings(block))
    size = 100 * len(every)
    drawn = exact_samples(block, size, seed=3, budget=Budget(), effort=Execution())
    drawn_counts = Counter(tuple(row) for row in drawn.tolist())

    assert set(drawn_counts) <= set(every)
    chi = sum((drawn_counts[matching] - 100) ** 2 / 100 for matching in every)
    freedom = len(every) - 1
    assert chi < freedom + 4 * math.sqrt(2 * freedom)


def test_samples_follow_weights_on_either_side() -> None:
    matrix = [[1, 2, 0, 4], [1, 1, 3, 0], [0, 1, 1, 1], [2, 1, 1, 1]]
    for turned in (matrix, [list(column) for column in zip(*matrix, strict=True)]):
        block = block_of(turned)
        weight = {m: math.prod(turned[i][j] for i, j in enumerate(m)) for m in matchings(block)}
        drawn = exact_samples(block, 4000, seed=1, budget=Budget(), effort=Execution())
        drawn_counts = Counter(tuple(row) for row in drawn.tolist())
        total = sum(weight.values())
        chi = sum(
            (drawn_counts[m] - 4000 * w / total) ** 2 / (4000 * w / total)
            for m, w in weight.items()
        )
        assert set(drawn_counts) <= set(weight)
        assert chi < len(weight) + 4 * math.sqrt(2 * len(weight))


def test_hopeless_blocks_are_refused_with_a_price() -> None:
    block = block_of_graph(am.random_regular(200, 3, 1))
    with pytest.raises(BudgetError, match=r"within 0\.1 with probability 0\.95 would take"):
        guaranteed(
            block, epsilon=0.1, delta=0.05, seed=1, budget=Budget(seconds=5), effort=Execution()
        )
    with pytest.raises(BudgetError, match="drawing matchings exactly"):
        exact_samples(block, 10, seed=1, budget=Budget(seconds=5), effort=Execution())


def test_what_cannot_be_promised_is_refused() -> None:
    square = block_of([[1, 1], [1, 1]])
    with pytest.raises(InputError, match="epsilon"):
        count(square, epsilon=0.0, delta=0.1, seed=1)
    with pytest.raises(InputError, match="delta"):
        count(square, epsilon=0.1, delta=1.0, seed=1)
    with pytest.raises(InputError, match="as many behaviours as users"):
        count(block_of([[1, 1, 1], [1, 1, 1]]), epsilon=0.1, delta=0.1, seed=1)


@pytest.mark.grid
@pytest.mark.parametrize(("mean", "guess"), [(0.02, 0.02), (0.02, 0.005), (0.4, 0.4)])
def test_intervals_hold_at_all_times_together(mean: float, guess: float) -> None:
    """Draws of 0 or 1, and a guess that may be wrong: misses are rare whenever one looks."""
    misses = 0
    for seed in range(100):
        bets = ConfidenceSequence(mean=guess, variance=guess * (1 - guess), epsilon=0.2, delta=0.2)
        draws = np.random.default_rng(seed).random((20, 100)) < mean
        for chunk in draws:
            gains = np.log1p(np.outer(bets.larger, chunk)).sum(axis=1)
            losses = np.log1p(-np.outer(bets.smaller, chunk)).sum(axis=1)
            interval = bets.see(len(chunk), gains, losses)
        misses += not interval.low <= mean <= interval.high

    assert misses <= 0.2 * 100


def test_fewer_draws_for_less() -> None:
    base = draws_needed(0.01, 0.0001, epsilon=0.1, delta=0.05)

    assert draws_needed(0.01, 0.0001, epsilon=0.2, delta=0.05) < base
    assert draws_needed(0.01, 0.0001, epsilon=0.1, delta=0.2) < base
    assert draws_needed(0.02, 0.0001, epsilon=0.1, delta=0.05) < base

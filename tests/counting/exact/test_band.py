"""Bands: the programme for logs by time against the general one and the definition."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.strategies import Matrix, graph_of, truth

import anonymatch as am
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Solution
from anonymatch.counting.exact import band as band_method
from anonymatch.counting.exact import frontier
from anonymatch.running.budget import Execution


@st.composite
def blocks(draw: st.DrawFn, *, weighted: bool, users: int = 12) -> Block:
    """Intervals with rising ends that overlap and can be matched in order."""
    n = draw(st.integers(1, users))
    spare = draw(st.sampled_from([0, 0, 0, 1, 2, 7]))
    starts = np.sort(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))
    starts = np.minimum(starts, np.arange(n))
    widths = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    stops = np.maximum.accumulate(np.maximum(starts + widths, np.arange(n) + 1))
    stops = np.minimum(stops, n + spare)
    stops[-1] = n + spare
    assume((starts[1:] <= stops[:-1]).all())
    indptr = np.concatenate(([0], np.cumsum(stops - starts))).astype(np.int32)
    indices = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    weights = None
    if weighted:
        logs = st.floats(-5, 5)
        weights = np.exp(draw(st.lists(logs, min_size=len(indices), max_size=len(indices))))
    return Block(n, n + spare, indptr, indices.astype(np.int32), weights)


def plan_of(block: Block) -> band_method.BandOrdering:
    plan = band_method.find_band(block)
    assert plan is not None
    return plan


def general(block: Block) -> Solution:
    plan = frontier.find_ordering(block)
    return frontier.solve(plan, block, bits=200.0, memory=math.inf, effort=Execution())


def log_band(n: int, live: float, seed: int) -> am.Graph:
    """Messages that leave within ``live`` of their coming, one a unit of time."""
    rng = np.random.default_rng(seed)
    came = np.sort(rng.uniform(0, n, n))
    left = np.sort(came + rng.uniform(0, live, n))
    starts = np.searchsorted(left, came, "left")
    stops = np.searchsorted(left, came + live, "right")
    edges = [(f"m{i}", f"o{j}") for i in range(n) for j in range(starts[i], stops[i])]
    return am.Graph.from_edges(edges)


@given(blocks(weighted=False))
def test_counts_are_those_of_the_definition(block: Block) -> None:
    result = plan_of(block).count()

    assert result is not None
    assert result.total == truth(block.dense().tolist())


@given(blocks(weighted=False, users=30), st.sampled_from([0.0, 1.0, 3000.0]))
def test_probabilities_agree_with_the_general_programme(block: Block, memory: float) -> None:
    result, other = plan_of(block).probabilities(memory), general(block)

    assert result is not None
    assert result.probabilities is not None
    assert result.probabilities == pytest.approx(other.posteriors[0], abs=1e-13)
    assert result.log == pytest.approx(math.log(other.total), abs=1e-12)


@given(blocks(weighted=True), st.sampled_from([0.0, 1.0, 3000.0]))
def test_weights_agree_with_the_general_programme(block: Block, memory: float) -> None:
    plan, other = plan_of(block), general(block)
    result, real = plan.probabilities(memory), plan.real()

    assert result is not None
    assert real is not None
    assert result.probabilities is not None
    assert result.probabilities == pytest.approx(other.posteriors[0], rel=1e-12, abs=1e-15)
    assert real.log == pytest.approx(other.log_and_error[0], abs=1e-12)
    assert result.log == pytest.approx(real.log, abs=1e-13)


@given(blocks(weighted=True, users=7))
def test_the_error_is_proven(block: Block) -> None:
    plan = plan_of(block)
    result = plan.real()
    assert result is not None
    exact = truth([[Fraction(float(cell)) for cell in row] for row in block.dense()])
    top = math.log(exact.numerator) - math.log(exact.denominator)

    assert abs(result.log - top) <= plan.log_error + 1e-14 * (1 + abs(top))


@given(blocks(weighted=False), st.randoms(use_true_random=False))
def test_users_may_come_in_any_order(block: Block, random: Random) -> None:
    rows = list(range(block.n_users))
    random.shuffle(rows)

    assert_same_probabilities(block, rows, list(range(block.n_behaviours)))


def test_behaviours_may_come_in_any_order() -> None:
    random = Random(1)
    n = 60
    starts = [max(0, i - 2 - i % 3) for i in range(n)]
    stops = [min(n, i + 4 + i % 2) for i in range(n)]
    starts, stops = sorted(starts), sorted(stops)
    indptr = np.cumsum([0, *(b - a for a, b in zip(starts, stops, strict=True))]).astype(np.int32)
    indices = np.concatenate([np.arange(a, b) for a, b in zip(starts, stops, strict=True)])
    block = Block(n, n, indptr, indices.astype(np.int32))
    for _ in range(5):
        rows, columns = list(range(n)), list(range(n))
        random.shuffle(rows)
        random.shuffle(columns)
        assert_same_probabilities(block, rows, columns)


def assert_same_probabilities(block: Block, rows: list[int], columns: list[int]) -> None:
    """The block with its users and behaviours so renamed is a band with the same probabilities."""
    matrix = block.dense()[rows][:, columns]
    indptr = np.concatenate(([0], np.cumsum(matrix.sum(axis=1)))).astype(np.int32)
    mixed = Block(block.n_users, block.n_behaviours, indptr, np.nonzero(matrix)[1].astype(np.int32))
    result, straight = plan_of(mixed).probabilities(0.0), plan_of(block).probabilities(0.0)

    assert result is not None
    assert straight is not None
    table = np.zeros(matrix.shape)
    table[np.nonzero(matrix)] = result.probabilities
    back = table[np.argsort(rows)][:, np.argsort(columns)]
    assert back[np.nonzero(block.dense())] == pytest.approx(straight.probabilities, abs=1e-13)


def test_what_is_no_band_is_left_to_others() -> None:
    for rows in (["1011", "1111", "0111", "1101"], ["1110", "0100", "1111", "0011"]):
        matrix = np.array([[int(cell) for cell in row] for row in rows])
        indptr = np.concatenate(([0], np.cumsum(matrix.sum(axis=1)))).astype(np.int32)
        assert (
            band_method.find_band(Block(4, 4, indptr, np.nonzero(matrix)[1].astype(np.int32)))
            is None
        )


def test_weights_that_spread_too_far_go_another_way() -> None:
    rows = [
        [10.0 ** (60 * (-1) ** (i + j)) if 0 <= j - i + 2 < 5 else 0 for j in range(30)]
        for i in range(30)
    ]
    graph = graph_of(rows)
    count, other = am.count(graph, method="band"), am.count(graph, method="frontier")

    assert count.log == pytest.approx(other.log, abs=1e-9)
    assert am.posterior(graph, method="band").probabilities == pytest.approx(
        am.posterior(graph, method="frontier").probabilities, abs=1e-12
    )


def test_logs_by_time_agree_with_the_general_programme() -> None:
    graph = log_band(300, 6.0, seed=1)
    ours, other = am.count(graph), am.count(graph, method="frontier")

    assert "band" in ours.method
    assert ours.exact
    assert ours.value == other.value
    assert am.posterior(graph).probabilities == pytest.approx(
        am.posterior(graph, method="frontier").probabilities, abs=1e-13
    )


def test_weights_of_rank_one_are_put_back() -> None:
    graph = log_band(200, 6.0, seed=5)
    doubled = am.Graph.from_biadjacency(graph.to_scipy().astype(float) * 2.0)
    exact = am.count(graph).log + 200 * math.log(2.0)

    assert am.count(doubled).log == pytest.approx(exact, rel=1e-14)
    assert am.count(doubled, exact=True).value == am.count(graph).value * 2**200
    assert am.posterior(doubled).probabilities == pytest.approx(
        am.posterior(graph).probabilities, abs=1e-13
    )


def test_answers_are_the_same_wherever_they_run() -> None:
    graph = log_band(300, 6.0, seed=2)
    here, probabilities = am.count(graph), am.posterior(graph).probabilities
    with ProcessPoolExecutor(1) as executor:
        assert am.count(graph, executor=executor).value == here.value
        assert (am.posterior(graph, executor=executor).probabilities == probabilities).all()


def test_ways_can_be_pickled() -> None:
    block = Block(2, 3, np.array([0, 2, 4], np.int32), np.array([0, 1, 1, 2], np.int32))
    result = pickle.loads(pickle.dumps(plan_of(block))).count()

    assert result.total == 3


def test_doubles_with_a_proven_interval_come_before_estimates() -> None:
    graph = log_band(400, 10.0, seed=3)
    exact = am.count(graph)
    price = exact.plan.seconds
    count = am.count(graph, budget=0.7 * price)

    assert not count.exact
    assert count.confidence == 1.0
    assert "band in doubles" in count.method
    assert count.low <= exact.log <= count.high
    assert count.high - count.low < 1e-9
    with pytest.raises(am.BudgetError):
        am.count(graph, budget=0.7 * price, exact=True)


def test_progress_ends_with_all_done_and_a_raised_flag_stops() -> None:
    graph = log_band(300, 6.0, seed=4)
    reports: list[tuple[float, float]] = []
    am.count(graph, progress=lambda done, of: reports.append((done, of)))

    assert [done for done, _ in reports] == sorted(done for done, _ in reports)
    assert reports[-1][0] == pytest.approx(reports[-1][1])


def test_bands_with_spare_behaviours_are_counted_exactly() -> None:
    edges = [(f"m{i}", f"o{j}") for i in range(300) for j in range(i, i + 8)]
    graph = am.Graph.from_edges(edges)
    count = am.count(graph)

    assert count.exact
    assert count.value == am.count(graph, method="frontier").value
    assert "band in doubles" in am.count(graph, budget=0.7 * count.plan.seconds).method


@pytest.mark.parametrize("users", [1, 3, 4, 6])
def test_bands_with_many_spare_behaviours_are_counted_exactly(users: int) -> None:
    """Rows add up so many digits that these must be narrow; it takes no time all the same."""
    matrix: Matrix = [[int(i <= j < 18 - users + 1 + i) for j in range(18)] for i in range(users)]
    count = am.count(graph_of(matrix), method="band", exact=True, budget=1)

    assert count.value == truth(matrix)


_GROWN = """
import numpy as np, anonymatch as am
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
draws = np.random.default_rng(3)
came = np.arange(3000) + np.sort(draws.random(3000))
left = np.sort(came + draws.uniform(0, 14, 3000))
starts, stops = np.searchsorted(left, came), np.searchsorted(left, came + 14)
edges = [(i, j) for i in range(3000) for j in range(starts[i], stops[i])]
graph = am.Graph.from_edges(edges)
am.count(graph, exact=False)
before = peak()
found = am.posterior(graph, method="band", budget=am.Budget(memory=1e10))
print(found.plan.memory, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by Linux alone")
def test_all_probabilities_take_no_more_memory_than_is_told() -> None:
    """Also without a limit, where layers are kept that could be made again."""
    done = subprocess.run(
        [sys.executable, "-c", _GROWN], capture_output=True, text=True, check=True
    )
    reports, grown = map(float, done.stdout.split())

    assert grown <= reports
    assert reports < 4 * grown

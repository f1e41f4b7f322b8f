"""The frontier programme in parts: the same answers as in one run, in less memory."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from tests.strategies import Matrix, matrices

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Solution
from anonymatch.counting.blocks.tuning import TUNING, tuned
from anonymatch.counting.exact import frontier
from anonymatch.counting.reference import block_of, permanent
from anonymatch.running.broadcast import Shared
from anonymatch.running.budget import Execution
from anonymatch.running.cancel import Cancelled, CancelToken

SPARSE = am.random_regular(20, 4, seed=3)
LITTLE = am.Budget(memory=2e4)


def in_parts(block: Block, share: float) -> frontier.FrontierOrdering:
    choose = _native.plan_frontier(block, 1.0)
    parts = frontier.split(block, choose, seconds=1.0, share=share, reached=False)
    return frontier.FrontierOrdering(block, False, choose, parts)


def solved(plan: frontier.FrontierOrdering) -> Solution:
    return frontier.solve(plan, plan.block, bits=64, memory=1e9, effort=Execution())


@given(matrix=matrices(users=(2, 6), matched=True))
def test_parts_add_up_to_the_whole(matrix: Matrix) -> None:
    block = block_of(matrix)
    split = in_parts(block, 0.0)  # as many as there can be
    whole = solved(replace(split, parts=None))

    assert whole.total == solved(split).total == permanent(matrix)
    assert list(whole.minors) == list(solved(split).minors)


@pytest.mark.parametrize("weight", [None, 0.5])
def test_their_errors_are_told(weight: float | None) -> None:
    block = block_of(SPARSE.to_scipy().toarray().tolist())
    truth = solved(frontier.find_ordering(block))
    if weight is not None:
        block = replace(block, weights=np.full(block.n_edges, weight))
    split = in_parts(block, 0.1)
    assert split.parts is not None
    assert len(split.parts.masks) > 10

    probabilities, error = solved(split).posteriors
    through = np.array([Fraction(minor, truth.total) for minor in truth.minors], float)
    assert np.abs(probabilities - through).max() <= error < 1e-11
    if weight is not None:
        log, off = solved(split).log_and_error
        wanted = math.log(truth.total) + block.n_users * math.log(weight)
        assert log == pytest.approx(wanted, abs=off + 1e-12)


# ---- by the public calls


def test_what_does_not_fit_the_memory_runs_in_parts() -> None:
    whole = am.count(SPARSE, method="frontier")
    parts = am.count(SPARSE, method="frontier", budget=LITTLE)

    assert whole.plan.memory > LITTLE.memory >= parts.plan.memory
    assert "parts" in parts.plan.steps[0].why
    assert "parts" not in whole.plan.steps[0].why
    assert whole.value == parts.value
    counts = [am.posterior(SPARSE, budget=budget).counts.by_edge for budget in (None, LITTLE)]
    assert counts[0].tolist() == counts[1].tolist()


def test_weights_and_many_words_run_in_parts_too() -> None:
    draws = np.random.default_rng(4)
    rows = SPARSE.to_scipy().toarray().astype(int).tolist()
    matrix = [[cell * int(draws.integers(1, 10**9)) for cell in row] for row in rows]
    graph = am.Graph.from_biadjacency(np.array(matrix, dtype=object))
    with tuned(frontier_sharpen_from=1):
        whole, parts = (
            am.count(graph, method="frontier", exact=True, budget=budget)
            for budget in (None, LITTLE)
        )

    assert "parts" in parts.plan.steps[0].why
    assert whole.value == parts.value > 2**400


def test_long_runs_are_split_where_that_costs_little() -> None:
    plan = frontier.find_ordering(block_of(SPARSE.to_scipy().toarray().tolist()))
    with tuned(frontier_split_from=1e-6, frontier_part_worth=1e-6):
        one = am.count(SPARSE, method="frontier", budget=299.0)
        split = plan.within(am.Budget(), 1, edges=False)

    assert "parts" in one.plan.steps[0].why
    assert split.parts is not None
    assert sum(split.parts.transitions) <= 1.15 * plan.plan.transitions


def test_edges_in_no_matching_of_a_part_hide_no_others() -> None:
    """Weights so far apart that a wrong unit for the others of a row would lose them."""
    draws = np.random.default_rng(1)
    matrix = SPARSE.to_scipy().toarray() * 10.0 ** draws.integers(-150, -10, (20, 20))
    graph = am.Graph.from_biadjacency(matrix)
    whole, parts = (
        am.posterior(graph, method="frontier", budget=budget) for budget in (None, LITTLE)
    )

    assert np.abs(whole.probabilities - parts.probabilities).max() < 1e-11


# ---- where they run


_PEAK = """
import sys, anonymatch as am
from concurrent.futures import ThreadPoolExecutor
def peak():
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024
graph = am.random_regular(48, 4, seed=1)
with ThreadPoolExecutor(8) as pool:
    am.count(graph.take(range(9), range(9)), executor=pool)
    before = peak()
    budget = am.Budget(memory=float(sys.argv[1]))
    am.posterior(graph, method="frontier", budget=budget, executor=pool)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is told by Linux alone")
def test_parts_stay_within_the_memory() -> None:
    """Freed layers go back to the system: eight threads would else keep a multiple of it."""
    allowed = 16 * 2**20
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(allowed)], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) < allowed + 24 * 2**20  # beside small arrays and the results


def test_no_more_parts_run_than_share_the_memory() -> None:
    running, most = 0, 0

    class Counting(ThreadPoolExecutor):
        def submit(self, call: Callable[..., Any], /, *args: Any, **keywords: Any) -> Future[Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            future: Future[Any] = super().submit(call, *args, **keywords)
            future.add_done_callback(done)
            return future

    def done(_: Future[Any]) -> None:
        nonlocal running
        running -= 1

    with Counting(12) as pool:
        am.count(SPARSE, method="frontier", budget=LITTLE, executor=pool)

    assert 1 < most <= TUNING.frontier_abreast


def test_a_part_ends_when_asked_to() -> None:
    block = block_of(am.random_regular(36, 5, seed=1).to_scipy().toarray().tolist())
    plan = frontier.find_ordering(block)
    stop = CancelToken()
    stop.cancel()
    call = frontier._real_part
    shared = Shared(*frontier._recipe(block), value=block)
    mask = np.ones(block.n_edges, np.uint8)
    with pytest.raises(Cancelled):
        stop.run([lambda: call(shared, plan.plan.order, False, 0.0, mask)])

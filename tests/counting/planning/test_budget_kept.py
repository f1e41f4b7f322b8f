"""Budgets beyond exact reach are kept, and an answer comes: work is counted, not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.approximate.estimate import any_matching
from anonymatch.counting.approximate.importance import WormChain
from anonymatch.counting.approximate.particles import ParticleFilter
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuned, tuning

BUDGETS = [0.2, 1.0, 3.0]


def scattered(users: int, behaviours: int, edges: int) -> am.Graph:
    """A matching, and so many random edges for each user."""
    draws = np.random.default_rng(1)
    rows = np.repeat(np.arange(users), edges + 1)
    columns = draws.integers(0, behaviours, (users, edges + 1))
    columns[:, 0] = draws.permutation(behaviours)[:users]
    pairs = np.unique(rows * behaviours + columns.ravel())
    ends = (pairs // behaviours, pairs % behaviours)
    return am.Graph.from_biadjacency(
        csr_array((np.ones(len(pairs)), ends), shape=(users, behaviours))
    )


def block_of(graph: am.Graph) -> Block:
    return Block(graph.n_users, graph.n_behaviours, graph.indptr, graph.indices)


WIDE = {
    "square": scattered(12_000, 12_000, 6),
    "spare": scattered(12_000, 36_000, 5),
}


@pytest.mark.grid(quick=2)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("graph", WIDE.values(), ids=WIDE)
def test_probabilities_of_wide_graphs_come_within_any_budget(
    graph: am.Graph, budget: float
) -> None:
    """Predicted seconds of all work together; what is spent on planning is told apart below."""
    told: list[float] = []
    posterior = am.posterior(graph, budget=budget, progress=lambda done, _: told.append(done))

    assert max(told, default=0.0) <= 1.2 * budget
    assert np.isfinite(posterior.probabilities).all()
    sums = np.add.reduceat(posterior.probabilities, graph.indptr[:-1])
    assert np.abs(sums - 1).max() < 1e-6
    assert posterior.errors is not None
    assert posterior.errors.max() > 0  # edges in no matching have none


@pytest.mark.slow
def test_more_seconds_make_probabilities_closer() -> None:
    errors = [am.posterior(WIDE["square"], budget=budget).error for budget in (0.2, 1.0, 3.0)]

    assert errors[0] > errors[1] > errors[2]


@pytest.mark.parametrize("ask", [am.count, am.posterior])
def test_a_budget_that_a_look_would_use_up_is_not_spent_on_looks(
    ask: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: object, **__: object) -> None:
        raise AssertionError("a look that costs more than it can save")

    for name in ("plan_frontier", "plan_tree", "plan_planar"):
        monkeypatch.setattr(_native, name, look)
    with tuned(frontier_look=1e-4, tree_planning=1e-4, planar_planning=1e-4):
        assert not ask(scattered(16_000, 16_000, 2), budget=0.2).exact


def test_the_width_of_a_block_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    plan = _native.plan_frontier

    def look(block: Any, effort: float) -> _native.FrontierPlan:
        looked.append(effort)
        return plan(block, effort)

    monkeypatch.setattr(_native, "plan_frontier", look)
    am.count(WIDE["square"], budget=1.0)
    assert looked == [0.0]


def test_a_filter_that_copies_wide_states_is_predicted_dear() -> None:
    """Where users have few edges particles are resampled often, and all that is open is copied."""
    graph = WIDE["square"]
    block = block_of(graph)
    order = np.arange(graph.n_users, dtype=np.int32)
    wide = ParticleFilter(block, order, (0,), 256)
    each = tuning().particle_edge * graph.n_edges + tuning().particle_pick * graph.n_users

    assert wide.path_seconds > 5 * 256 * each


def test_few_chains_are_measured_by_worms_that_are_long_enough() -> None:
    """A few worms may all be short, and a sample of as many steps then takes far too many."""
    block = block_of(scattered(3000, 3000, 6))
    start = any_matching(block)
    usual = WormChain(block, start, (0,)).worms

    for seed in range(5):
        assert WormChain(block, start, (seed,), few=2).worms < 4 * usual


@pytest.mark.slow
def test_filters_tell_a_count_where_chains_over_added_users_are_too_slow() -> None:
    count = am.count(scattered(500, 1500, 6), budget=3.0)

    assert count.method == "guided sampling"
    assert count.high - count.low < 0.1
    assert count.proven[0] <= count.low
    assert count.high <= count.proven[1]

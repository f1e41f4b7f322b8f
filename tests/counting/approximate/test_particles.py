"""Particle filters: unbiased forwards and backwards, honest intervals, spare behaviours."""

from __future__ import annotations

import itertools
import math
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import numpy.typing as npt
import pytest

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.approximate.particles import ParticleFilter, promising_filter
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.reference import block_of
from anonymatch.running.budget import Execution

Matrix = npt.NDArray[np.float64]


def matrix(users: int, behaviours: int, *, weighted: bool, seed: int = 1) -> Matrix:
    draws = np.random.default_rng(seed)
    entries = (draws.random((users, behaviours)) < 0.7).astype(float)
    entries[range(users), range(users)] = 1.0
    return entries * np.exp(draws.normal(size=entries.shape)) if weighted else entries


def matchings(entries: Matrix) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """All matchings of the users and their weights, by definition."""
    users, behaviours = entries.shape
    every = np.array(list(itertools.permutations(range(behaviours), users)), dtype=np.int32)
    weights = entries[range(users), every].prod(axis=1)
    return every[weights > 0], weights[weights > 0]


def filter_of(entries: Matrix, *, weighted: bool, order: list[int]) -> _native.Particles:
    block = block_of(entries if weighted else entries.astype(int))
    return _native.Particles(block, np.array(order), sweeps=20, tolerance=0.01)


SHAPES = [(5, 5, False), (5, 5, True), (4, 6, False), (4, 6, True)]


@pytest.mark.parametrize(("users", "behaviours", "weighted"), SHAPES)
def test_the_mean_weight_of_runs_is_the_count(users: int, behaviours: int, weighted: bool) -> None:
    entries = matrix(users, behaviours, weighted=weighted)
    truth = matchings(entries)[1].sum()
    runs = filter_of(entries, weighted=weighted, order=list(range(users))[::-1])
    ratios = np.exp(runs.run(3, 0, 4000, particles=16).log_weights) / truth
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / math.sqrt(len(ratios))


@pytest.mark.parametrize(("users", "behaviours", "weighted"), SHAPES)
def test_runs_along_matchings_as_they_should_be_tell_the_inverse_of_the_count(
    users: int, behaviours: int, weighted: bool
) -> None:
    entries = matrix(users, behaviours, weighted=weighted)
    every, weights = matchings(entries)
    chosen = np.random.default_rng(2).choice(len(every), 4000, p=weights / weights.sum())
    runs = filter_of(entries, weighted=weighted, order=list(range(users)))
    ratios = weights.sum() * np.exp(-runs.along(every[chosen], 4, 0, particles=16))
    assert abs(ratios.mean() - 1) < 4 * ratios.std() / math.sqrt(len(ratios))


def test_matchings_of_runs_have_their_probabilities() -> None:
    entries = matrix(4, 5, weighted=True)
    every, weights = matchings(entries)
    block = block_of(entries)
    runs = _native.Particles(block, np.arange(4), sweeps=20, tolerance=0.01).run(
        1, 0, 20_000, particles=16, matchings=True
    )
    shares = np.exp(runs.log_weights) / np.exp(runs.log_weights).sum()
    for matching, weight in zip(every, weights / weights.sum(), strict=True):
        share = shares[(runs.matchings == matching).all(axis=1)].sum()
        assert abs(share - weight) < 5 * math.sqrt(weight / 20_000)


def test_runs_are_a_function_of_seed_and_number_alone() -> None:
    runs = filter_of(matrix(6, 6, weighted=True), weighted=True, order=list(range(6)))
    whole = runs.run(7, 0, 20, particles=32).log_weights
    parts = [runs.run(7, k, k + 5, particles=32).log_weights for k in range(0, 20, 5)]
    assert (np.concatenate(parts) == whole).all()
    assert (runs.run(8, 0, 20, particles=32).log_weights != whole).any()


def test_a_complete_block_is_exact_in_every_run() -> None:
    runs = filter_of(np.ones((30, 30)), weighted=False, order=list(range(30)))
    logs = runs.run(1, 0, 3, particles=16).log_weights
    assert np.abs(logs - math.lgamma(31)).max() < 1e-4


def test_what_is_no_matching_is_refused_along_a_run() -> None:
    runs = filter_of(np.ones((3, 3)), weighted=False, order=[0, 1, 2])
    with pytest.raises(ValueError, match="not a matching"):
        runs.along(np.array([[0, 0, 1]]), 1, 0, particles=16)
    with pytest.raises(ValueError, match="multiple of 16"):
        runs.run(1, 0, 1, particles=20)
    with pytest.raises(ValueError, match="not an order"):
        filter_of(np.ones((3, 3)), weighted=False, order=[0, 0, 1])


def test_weights_beyond_doubles_are_not_run() -> None:
    entries = np.full((3, 3), 1e308)  # their sums are infinite
    runs = _native.Particles(block_of(entries), np.arange(3), sweeps=3, tolerance=0.0)
    assert not runs.balanced
    with pytest.raises(ValueError, match="so far apart"):
        runs.run(1, 0, 1, particles=16)
    assert promising_filter(block_of(entries), (1,), 1.0, Execution()) is None


def test_a_filter_travels_without_its_plan() -> None:
    entries = matrix(12, 12, weighted=False)
    runs = ParticleFilter(block_of(entries.astype(int)), np.arange(12, dtype=np.int32), (1,), 16)
    other = pickle.loads(pickle.dumps(runs))
    here, there = (f.trees(0, 8, Execution()).log_weights for f in (runs, other))
    assert (here == there).all()


def test_runs_elsewhere_give_the_same_answer() -> None:
    graph = am.random_regular(40, 12, seed=2)
    with ProcessPoolExecutor(1) as executor:
        there = am.count(graph, method="estimate", budget=0.5, executor=executor)
    here = am.count(graph, method="estimate", budget=0.5)
    assert (here.log, here.low, here.high) == (there.log, there.low, there.high)


def test_sparse_wide_blocks_are_left_to_trees() -> None:
    """There most particles die: an estimate comes from belief propagation all the same."""
    graph = am.random_regular(1000, 5, seed=1)
    block = Block(1000, 1000, graph.indptr, graph.indices)
    assert promising_filter(block, (1,), 1.0, Execution()) is None


def test_a_wide_band_is_estimated_closely() -> None:
    """|i - j| <= 20 of 2000: bounds alone leave more than 100, and trees take seconds each."""
    edges = [(i, j) for i in range(2000) for j in range(max(0, i - 20), min(2000, i + 21))]
    count = am.count(am.Graph.from_edges(edges), budget=1)
    assert count.high - count.low < 0.5
    assert count.low > count.proven[0]
    assert count.high < count.proven[1]


@pytest.mark.grid
@pytest.mark.parametrize("kind", ["dense", "sparse", "band", "spare", "log-normal"])
def test_intervals_hold_the_truth(kind: str) -> None:
    """At least 16 of 20 at a nominal 95 %: fewer have a probability below 3e-3."""
    held = 0
    for seed in range(20):
        draws = np.random.default_rng([seed, 17])
        n = int(draws.integers(14, 20))
        shape = (n, n + 6 * (kind == "spare"))
        dense = {"dense": 0.5, "sparse": 4 / n, "band": 0.0, "spare": 0.35, "log-normal": 0.6}
        support = draws.random(shape) < dense[kind]
        if kind == "band":
            support = np.abs(np.subtract.outer(range(n), range(n))) <= 3
        support[range(n), range(n)] = True
        entries = support.astype(int)
        if kind == "log-normal":
            entries = np.where(support, np.exp(2.0 * draws.normal(size=shape)), 0.0)
        graph = am.Graph.from_biadjacency(entries)
        truth = am.count(graph).log
        estimate = am.count(graph, method="estimate", seed=seed, budget=0.1)
        assert estimate.high - estimate.low < 0.2
        held += estimate.low <= truth <= estimate.high
    assert held >= 16

"""Estimates beyond exact reach: intervals hold what they promise, also where sampling misleads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.estimates import CLASSES

import anonymatch as am
from anonymatch.counting.approximate.bridge import (
    bracket_of,
    bridge_of,
    hidden_variance,
    rare_variance,
)
from anonymatch.counting.approximate.estimate import estimate
from anonymatch.counting.approximate.importance import ImportanceSampler, WormChain, messages
from anonymatch.counting.approximate.marginals import estimate_edges
from anonymatch.counting.approximate.records import Estimate, EstimateBudget
from anonymatch.counting.blocks.block import Block, squared
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.counting.blocks.tuning import tuned
from anonymatch.counting.bounding.bregman import block_bounds
from anonymatch.graph import families
from anonymatch.running.budget import CancelToken, Execution

Matrix = npt.NDArray[Any]
Draws = np.random.Generator

QUICK = EstimateBudget(seconds=0.04, half_width=1e-3)


def wide(n: int, draws: Draws) -> Matrix:
    """More behaviours than users."""
    matrix = draws.random((n - 4, n)) < 0.3
    matrix[:, : n - 4] |= np.eye(n - 4, dtype=bool)
    return matrix


dense, sparse, regular = (CLASSES[name] for name in ("dense", "sparse", "regular"))
weighted, heavy_tailed = (CLASSES[name] for name in ("weighted", "heavy-tailed weights"))
TRAPS = [
    "blocks with a thin bridge",
    "heavy-tailed weights",
    "near a permutation",
    "dominated by rare matchings",
]


def largest_block(matrix: Any) -> Block:
    """The largest block, which is what gets estimated."""
    reduced = reduce(am.Graph.from_biadjacency(np.asarray(matrix, dtype=float)), exact=False)
    return reduced.block(int(np.argmax(reduced.sizes()[2])))


def graph_of(block: Block) -> am.Graph:
    return am.Graph.from_biadjacency(block.dense().astype(float))


def truth(block: Block) -> float:
    return am.count(graph_of(block)).log


def run(block: Block, seed: int, allowed: EstimateBudget = QUICK) -> Estimate:
    return estimate(block, seed=(seed,), allowed=allowed, effort=Execution())


def holds(estimate: Estimate, log: float) -> bool:
    return estimate.low - 1e-9 <= log <= estimate.high + 1e-9


# ---- the count


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_promise() -> None:
    """8 graphs of each of nine classes, of 15 to 40 users, with one interval each."""
    held = narrow = 0
    for number, kind in enumerate(CLASSES.values()):
        for seed in range(8):
            draws = np.random.default_rng([seed, number, 1])
            block = largest_block(kind(int(draws.integers(15, 41)), draws))
            estimate, log = run(block, seed), truth(block)
            assert estimate.proven[0] - 1e-9 <= log <= estimate.proven[1] + 1e-9
            held += holds(estimate, log)
            narrow += estimate.high - estimate.low < 0.5

    assert held >= 0.93 * 72
    assert narrow >= 0.9 * 72


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAPS)
def test_where_sampling_misleads_intervals_are_right_or_wide(name: str) -> None:
    held = 0
    for seed in range(24):
        draws = np.random.default_rng([seed, 77])
        block = largest_block(CLASSES[name](int(draws.integers(15, 31)), draws))
        estimate, log = (
            run(block, seed, EstimateBudget(seconds=0.08, half_width=1e-3)),
            truth(block),
        )
        held += holds(estimate, log)
        assert estimate.proven[0] - 1e-9 <= log <= estimate.proven[1] + 1e-9
        assert abs(estimate.log - log) < max(1.0, estimate.high - estimate.low)

    assert held >= 21


@pytest.mark.grid
@pytest.mark.parametrize("seed", [21, 62, 66])
def test_draws_that_met_no_rare_heavy_matching_are_doubted(seed: int) -> None:
    """Log-normal weights: a thousand trees agree to three digits, and miss some percent."""
    draws = np.random.default_rng([seed, 6])
    n, density = int(draws.integers(13, 19)), draws.choice([0.3, 0.6, 1.0])
    support = (draws.random((n, n)) < density) | np.eye(n, dtype=bool)
    block = largest_block(np.where(support, np.exp(draws.normal(0, 6, (n, n))), 0.0))
    with tuned(particle_balance=math.inf):  # filters, which meet it here, are out of reach
        estimate = run(block, seed, EstimateBudget(seconds=3.0, half_width=0.01, strict=False))

    assert holds(estimate, truth(block))
    assert estimate.method == "bridge sampling"
    assert estimate.high - estimate.low < 0.2


def test_rare_variance_is_what_normal_logs_do_not_have() -> None:
    draws = np.random.default_rng(1)
    forward, backward = draws.normal(-0.18, 0.6, 1600), draws.normal(0.18, 0.6, (16, 100))
    assert rare_variance(forward, backward) == 0.0

    backward[3, ::2] = 4.5  # three percent of all matchings weigh ninety times as much
    assert rare_variance(forward, backward) > 1.0


def test_two_matchings_without_a_way_between_are_both_found() -> None:
    """A cycle with weights 1, and tiny ones elsewhere: a guide that froze would see half of it."""
    n = 40
    for tiny in (1e-3, 1e-6, 1e-9):
        matrix = np.where(np.eye(n) + np.roll(np.eye(n), 1, axis=1) > 0, 1.0, 0.0)
        for k in range(0, n, 3):
            matrix[k, (k + 7) % n] = tiny
        estimate = run(largest_block(matrix), 1)

        assert holds(estimate, truth(largest_block(matrix)))


def test_an_estimate_says_nothing_that_is_proven_wrong() -> None:
    for seed in range(10):
        block = largest_block(heavy_tailed(14, np.random.default_rng(seed)))
        estimate = run(block, seed, EstimateBudget(seconds=1e-3, half_width=1e-3))
        low, high = block_bounds(block)

        assert estimate.proven == (low, high)
        assert low <= estimate.low <= estimate.log <= estimate.high <= high


def test_spare_behaviours_are_divided_out() -> None:
    for seed in range(8):
        block = largest_block(wide(18, np.random.default_rng(seed)))
        padded = squared(block)
        assert padded is not None
        square, divisor = padded

        assert truth(square) - divisor == pytest.approx(truth(block), abs=1e-9)
        assert abs(run(block, seed).log - truth(block)) < 0.1


def test_without_seconds_only_what_is_proven_is_said() -> None:
    block = largest_block(dense(14, np.random.default_rng(1)))
    estimate = run(block, 1, EstimateBudget(seconds=0.0, half_width=0.01))

    assert estimate.method == "proven bounds"
    assert (estimate.low, estimate.high) == estimate.proven


# ---- draws and chains


def test_trees_are_unbiased_and_followed_matchings_have_their_weight() -> None:
    block = largest_block(dense(15, np.random.default_rng(5)))
    guide = ImportanceSampler.of(block, messages(block, Execution()), (3,))
    logs, matchings = guide.paths(0, 300, Execution())
    alive = np.isfinite(logs)

    assert np.allclose(guide.follow(matchings[alive], Execution()), logs[alive])
    assert math.log(np.exp(logs - truth(block)).mean()) == pytest.approx(0, abs=0.05)


def test_the_bracket_and_the_bridge_enclose_a_known_mean() -> None:
    """Log weights that are normal: under the right law they are as many variances higher."""
    draws = np.random.default_rng(0)
    forward = draws.normal(-1.0, math.sqrt(2.0), 1600)  # mean of weights: 1
    backward = draws.normal(1.0, math.sqrt(2.0), (16, 100))
    bracket, bridge = bracket_of(forward, backward), bridge_of(forward, backward)

    assert bracket.low < 0 < bracket.high
    assert bracket.width == pytest.approx(2, abs=0.3)
    assert bridge is not None
    assert abs(bridge.log) < 4 * bridge.error < 0.4


def test_dead_ends_and_samples_far_apart_are_noticed() -> None:
    apart = bridge_of(np.zeros(100), np.full((10, 10), 200.0))
    assert apart is not None
    assert apart.overlap < 1e-30
    assert bridge_of(np.full(10, -np.inf), np.zeros((2, 5))) is None
    assert bracket_of(np.full(10, -np.inf), np.zeros((2, 5))).low == -np.inf
    assert hidden_variance(np.zeros(100), np.full((10, 10), 3.0)) > 10
    assert hidden_variance(np.zeros(100), np.zeros((10, 10))) == pytest.approx(0, abs=1e-12)


def test_chains_forget_where_they_began() -> None:
    block = largest_block(regular(16, np.random.default_rng(4)))
    probabilities = am.posterior(graph_of(block)).probabilities
    start = ImportanceSampler.of(block, messages(block, Execution()), (1,)).paths(
        0, 1, Execution()
    )[1]
    chains = WormChain(block, start, (1,))
    chains.warm(Execution())
    shares = chains.counts(500, Execution()).sum(axis=0) / (500 * chains.number)

    assert np.abs(shares - probabilities).max() < 5 * math.sqrt(0.25 / 8000)


# ---- probabilities of edges


@pytest.mark.parametrize("kind", [dense, sparse, regular, weighted, heavy_tailed, wide])
def test_standard_errors_of_probabilities_are_calibrated(kind: Any) -> None:
    """Distances from the truth in standard errors: on average about one, none far off."""
    scores = []
    for seed in range(4):
        draws = np.random.default_rng([seed, 5])
        block = largest_block(kind(16, draws))
        estimate = estimate_edges(block, seed=(seed,), allowed=QUICK, effort=Execution())
        assert estimate is not None
        exact = am.posterior(graph_of(block)).probabilities
        scores.append((estimate.probabilities - exact) / estimate.errors)
        sums = np.add.reduceat(estimate.probabilities, block.indptr[:-1])
        assert np.allclose(sums, 1)
    z = np.concatenate(scores)

    assert np.sqrt(np.mean(z**2)) < 1.4
    assert np.mean(np.abs(z) < 2) > 0.9


def test_large_blocks_mix_messages_and_chains() -> None:
    """A wide ladder of 2100 users that the frontier solves, estimated all the same."""
    block = largest_block(families.band(2100, 2, 2).to_scipy().toarray())
    allowed = EstimateBudget(seconds=1.0, half_width=0.01)
    estimate = estimate_edges(block, seed=(0,), allowed=allowed, effort=Execution())
    assert estimate is not None
    exact = am.posterior(graph_of(block)).probabilities
    z = (estimate.probabilities - exact) / estimate.errors

    assert estimate.method == "belief propagation + worm chain"
    assert np.sqrt(np.mean(z**2)) < 1.6


# ---- the door


HARD = families.random_regular(60, 6, seed=1)


def test_an_estimate_is_told_with_what_it_rests_on() -> None:
    count = am.count(HARD, budget=0.5, seed=7)

    assert not count.exact
    assert count.confidence == 0.95
    assert count.seed == 7
    assert count.effective is not None
    assert count.effective > 20
    assert count.proven[0] <= count.low < count.log < count.high <= count.proven[1]
    assert count.high - count.low < 0.2 < count.proven[1] - count.proven[0]
    assert count.method == "guided sampling"
    for words in ("95% sure", "seed 7", "proven: between", "guided sampling"):
        assert words in str(count)


LOG100 = 138.1  # of random_regular(100, 10, seed=1), by an estimate of 20 seconds: +- 0.004


@pytest.mark.grid
@pytest.mark.parametrize("chunks", [1, 70, 100])
def test_a_count_that_shall_end_ends_with_what_it_has(chunks: int) -> None:
    """The wish comes with the bounds alone, in the check, or among the trees."""
    stop, reports = CancelToken(), []

    def tell(done: float, _: float) -> None:
        reports.append(done)
        if len(reports) >= chunks:
            stop.cancel()

    with stop.active():
        count = am.count(am.random_regular(100, 10, seed=1), progress=tell)

    assert stop.useful
    assert len(reports) <= chunks
    assert count.proven[0] <= count.low <= count.log <= count.high <= count.proven[1]
    assert count.method == "proven bounds" if chunks == 1 else count.confidence == 0.95
    assert count.low - 0.1 < LOG100 < count.high + 0.1


def test_answers_depend_on_the_seed_and_not_on_threads() -> None:
    with ThreadPoolExecutor(3) as several, ThreadPoolExecutor(1) as one:
        first = am.count(HARD, budget=0.1, seed=1, executor=several)
        second = am.count(HARD, budget=0.1, seed=1, executor=one)
        probabilities = [
            am.posterior(HARD, budget=0.1, executor=e).probabilities for e in (several, one)
        ]
        matchings = [_sample(HARD, 20, budget=0.1, executor=e) for e in (several, one)]

    assert first == second
    assert first.log != am.count(HARD, budget=0.1, seed=2).log
    assert np.array_equal(probabilities[0], probabilities[1])
    assert np.array_equal(matchings[0], matchings[1])


def test_easy_blocks_stay_exact_beside_estimated_ones() -> None:
    """Two copies of a hard block share its error; the easy block adds none."""
    n = HARD.n_users
    pairs = list(HARD.to_edges())
    both = [(i + n * k, j + n * k) for k in (0, 1) for i, j in pairs]
    easy = [(i + 2 * n, j + 2 * n) for i in range(9) for j in range(9)]
    alone = am.count(HARD, budget=0.5)
    count = am.count(am.Graph.from_edges(both + easy), budget=0.5)
    fact = math.lgamma(10)

    assert count.log == pytest.approx(2 * alone.log + fact, abs=0.1)
    assert count.high - count.low == pytest.approx(2 * (alone.high - alone.low), rel=0.5)
    assert count.method == "guided sampling + subset"
    probabilities = am.posterior(am.Graph.from_edges(both + easy), budget=0.1)
    assert probabilities.errors is not None
    assert np.all(probabilities.errors[-81:] == 0)
    assert np.allclose(probabilities.probabilities[-81:], 1 / 9)
    assert probabilities.confidence == 0.95
    assert probabilities.error == 2 * probabilities.errors.max()
    with pytest.raises(am.InputError, match="not exact"):
        _ = probabilities.counts


def test_an_exact_answer_is_still_refused_with_its_price() -> None:
    for call in (am.count, am.posterior):
        with pytest.raises(am.BudgetError, match="would take"):
            call(HARD, exact=True, budget=1)


def _sample(graph: am.Graph, size: int, **keywords: Any) -> npt.NDArray[np.int32]:
    with pytest.warns(am.ApproximateNote, match="Markov chain"):
        return am.sample(graph, size, **keywords)


@pytest.mark.slow
def test_drawn_matchings_are_matchings_with_the_right_probabilities() -> None:
    drawn = _sample(HARD, 2000, seed=3)
    present = HARD.to_scipy().toarray()
    shares = np.zeros_like(present, dtype=float)
    for row in drawn:
        shares[np.arange(60), row] += 1 / len(drawn)
    estimated = am.posterior(HARD, budget=0.5).matrix.toarray()

    assert drawn.shape == (2000, 60)
    assert all(len(set(row)) == 60 for row in drawn.tolist())
    assert present[np.arange(60)[None, :], drawn].all()
    assert np.abs(shares - estimated).max() < 0.06

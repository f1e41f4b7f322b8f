"""Chains of moves and swaps where behaviours are left over: calibrated against exact answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import anonymatch as am
from anonymatch import _native
from anonymatch.counting.approximate.marginals import estimate_edges
from anonymatch.counting.approximate.records import EstimateBudget
from anonymatch.counting.approximate.spare_chain import (
    SPARE_METHOD,
    SpareChains,
    log_count_at_rest,
)
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.measures import averages, user_figures
from anonymatch.running import Execution


def rings(n: int, outputs: int, size: int, seed: int, *, weighted: bool = False) -> am.Graph:
    rng = np.random.default_rng(seed)
    truth = rng.permutation(outputs)[:n]
    edges = []
    for ring, spent in enumerate(truth.tolist()):
        decoys = rng.permutation(outputs)[: size - 1].tolist()
        for member in sorted({spent, *decoys}):
            weight = float(rng.gamma(1.0)) + 0.02 if weighted else 1.0
            edges.append((f"i{ring}", f"o{member}", weight))
    if weighted:
        return am.Graph.from_edges(edges)
    return am.Graph.from_edges([edge[:2] for edge in edges])


def block_of(graph: am.Graph) -> Block:
    parts = am.blocks(graph)
    whole = max(parts, key=lambda part: part.n_users).graph()
    weights = None if whole.weights is None else np.asarray(whole.weights)
    return Block(whole.n_users, whole.n_behaviours, whole.indptr, whole.indices, weights)


def brute_force(block: Block) -> tuple[np.ndarray, float]:
    """Probabilities of the edges, and the sum over all matchings, by their definition."""
    weights = np.ones(block.n_edges) if block.weights is None else block.weights
    sums, total = np.zeros(block.n_edges), 0.0
    rows = [range(block.indptr[i], block.indptr[i + 1]) for i in range(block.n_users)]
    for chosen in itertools.product(*rows):
        if len({int(block.indices[edge]) for edge in chosen}) == block.n_users:
            weight = float(np.prod(weights[list(chosen)]))
            sums[list(chosen)] += weight
            total += weight
    return sums / total, total


@pytest.mark.grid
@pytest.mark.parametrize("weighted", [False, True])
def test_small_rings_agree_with_all_matchings(weighted: bool) -> None:
    block = block_of(rings(6, 9, 4, 3, weighted=weighted))
    wanted, total = brute_force(block)
    means = SpareChains(block, (1,), Execution()).edge_means(2.0, 0.004)

    assert means is not None
    assert means.probabilities == pytest.approx(wanted, abs=0.01)
    log = log_count_at_rest(block, seed=(1,), seconds=2.0, half_width=0.01, effort=Execution())
    assert log is not None
    assert log[0] == pytest.approx(math.log(total), abs=0.05)


def test_intervals_of_probabilities_hold_as_often_as_they_say() -> None:
    outside = number = 0
    for seed in range(12):
        graph = rings(14, 22, 4, seed, weighted=seed % 2 == 1)
        exact = am.posterior(graph).probabilities
        block = block_of(graph)
        if not block.optional or block.n_users < 8:
            continue
        local = am.posterior(max(am.blocks(graph), key=lambda part: part.n_users).graph())
        means = SpareChains(block, (seed,), Execution()).edge_means(0.05, 0.02)
        assert means is not None
        away = np.abs(means.probabilities - local.probabilities)
        outside += int((away > 2.0 * means.errors).sum())
        number += len(away)
        assert len(exact) == graph.n_edges
    assert number > 300
    assert outside / number < 0.08


def test_intervals_of_counts_hold_as_often_as_they_say() -> None:
    misses = 0
    for seed in range(10):
        graph = rings(14, 24, 4, 100 + seed, weighted=seed % 2 == 1)
        part = max(am.blocks(graph), key=lambda one: one.n_users).graph()
        block = block_of(graph)
        if not block.optional:
            continue
        log = log_count_at_rest(
            block, seed=(seed,), seconds=0.3, half_width=0.001, effort=Execution()
        )
        assert log is not None
        misses += not log[1] <= am.count(part).log <= log[2]
    assert misses <= 2


def test_a_complete_block_has_its_closed_form() -> None:
    block = Block(
        40,
        70,
        np.arange(0, 40 * 70 + 1, 70, dtype=np.int32),
        np.tile(np.arange(70, dtype=np.int32), 40),
    )
    log = log_count_at_rest(block, seed=(1,), seconds=2.0, half_width=0.01, effort=Execution())

    assert log is not None
    assert log[1] <= math.lgamma(71) - math.lgamma(31) <= log[2]
    assert log[2] - log[1] < 0.2


def test_where_one_output_is_left_over_chains_still_agree() -> None:
    """A single hole has a long way to go from ring to ring."""
    graph = am.Graph.from_edges([(i, o) for i in range(12) for o in range(i, min(i + 3, 13))])
    block = block_of(graph)
    assert block.n_behaviours == block.n_users + 1
    means = SpareChains(block, (1,), Execution()).edge_means(2.0, 0.003)

    assert means is not None
    assert means.probabilities == pytest.approx(am.posterior(graph).probabilities, abs=0.012)


def test_a_longer_budget_is_spent_on_closer_probabilities() -> None:
    block = block_of(rings(300, 900, 11, 1))
    errors = []
    for seconds in (0.03, 0.12, 0.48):
        allowed = EstimateBudget(seconds=seconds, half_width=0.01)
        estimate = estimate_edges(block, seed=(1,), allowed=allowed, effort=Execution())
        assert estimate is not None
        assert estimate.method == SPARE_METHOD
        errors.append(float(estimate.errors.max()))

    assert errors[0] > 1.5 * errors[1] > 2.25 * errors[2]


def test_the_same_seed_gives_the_same_answer_and_another_does_not() -> None:
    graph = rings(400, 1200, 11, 2)
    first, again, other = (
        am.posterior(graph, budget=0.3, seed=seed).probabilities for seed in (1, 1, 2)
    )

    assert (first == again).all()
    assert (first != other).any()


def test_large_rings_are_drawn_without_added_users() -> None:
    graph = rings(3000, 9000, 11, 5)
    with pytest.warns(am.ApproximateNote, match="3000 users come from a Markov chain"):
        drawn = am.sample(graph, 20, seed=1)

    assert drawn.shape == (20, 3000)
    for matching in drawn:
        assert len(set(matching.tolist())) == 3000
        for ring in (0, 17, 2999):
            members = graph.indices[graph.indptr[ring] : graph.indptr[ring + 1]]
            assert matching[ring] in members


def test_draws_have_the_right_probabilities() -> None:
    block = block_of(rings(6, 9, 4, 3, weighted=True))
    wanted, _ = brute_force(block)
    drawn = SpareChains(block, (1,), Execution()).matchings(2000, 5, 10.0)

    assert drawn is not None
    shares = np.zeros(block.n_edges)
    for matching in drawn.reshape(-1, block.n_users):
        for row, column in enumerate(matching.tolist()):
            members = block.indices[block.indptr[row] : block.indptr[row + 1]]
            shares[block.indptr[row] + int(np.searchsorted(members, column))] += 1
    assert shares / 16000 == pytest.approx(wanted, abs=0.02)


def test_the_kernel_scales_weights_of_any_size() -> None:
    block = block_of(rings(6, 9, 4, 3, weighted=True))
    wanted, _ = brute_force(block)
    assert block.weights is not None
    factors = np.repeat(10.0 ** np.arange(block.n_users) ** 2, np.diff(block.indptr))
    huge = Block(
        block.n_users, block.n_behaviours, block.indptr, block.indices, block.weights * factors
    )
    start = np.asarray(_native.find_structure(block).behaviour_of_user)
    drawn = _native.SpareChain(huge).run(start, 1, 0, samples=20000, moves=6, edges=True)

    assert drawn.sums / drawn.samples == pytest.approx(wanted, abs=0.02)


def test_errors_of_entropies_hold_as_often_as_they_say() -> None:
    """Held against exact answers: first order, and what noise takes from an entropy."""
    inside = number = held = 0
    for seed in range(16):
        graph = rings(16, 26, 4, 300 + seed, weighted=seed % 2 == 1)
        exact = am.posterior(graph)
        drawn = am.posterior(graph, method="estimate", budget=0.05, seed=seed)
        assert drawn.entropy_errors is not None
        sampled = drawn.entropy_errors > 0.0
        wanted = user_figures(graph, exact.probabilities, exact.margins)
        figures = user_figures(
            graph, drawn.probabilities, drawn.margins, entropy_errors=drawn.entropy_errors
        )
        truth, entropy = wanted.shannon.value, figures.shannon
        inside += int(((entropy.low <= truth) & (truth <= entropy.high))[sampled].sum())
        number += int(sampled.sum())
        for share in (0.0, 0.05, 0.5, 1.0):
            quantile = averages.quantile(figures, entropy, share)
            true = averages.quantile(wanted, wanted.shannon, share)
            assert quantile is not None
            assert true is not None
            held += quantile.low <= true.value + 1e-9 and true.value <= quantile.high + 1e-9

    assert number > 200
    assert inside / number > 0.92
    assert held >= 62  # of 64


@pytest.mark.slow
def test_quantiles_of_many_rings_are_closer_than_ends_of_their_members() -> None:
    """Held against a run that is ten times as long."""
    graph = rings(400, 900, 8, 5)
    long = am.posterior(graph, budget=6.0, seed=99)
    short = am.posterior(graph, budget=0.3, seed=1)
    truth, figures, plain = (
        user_figures(graph, one.probabilities, one.margins, entropy_errors=errors)
        for one, errors in (
            (long, long.entropy_errors),
            (short, short.entropy_errors),
            (short, None),
        )
    )
    for share in (0.01, 0.05, 0.5):
        true, quantile, wide = (
            averages.quantile(one, one.shannon, share) for one in (truth, figures, plain)
        )
        assert true is not None
        assert quantile is not None
        assert wide is not None
        assert quantile.low <= true.value <= quantile.high
        assert quantile.high - quantile.low < (wide.high - wide.low) / 3


def test_users_who_are_certain_have_no_error_of_their_entropy() -> None:
    sure = [("a", "s"), ("b", "s"), ("b", "t")]
    pairs = [*sure, *((edge[0], edge[1]) for edge in rings(40, 90, 8, 1).to_edges())]
    drawn = am.posterior(am.Graph.from_edges(pairs), method="estimate", budget=0.1)

    assert drawn.entropy_errors is not None
    assert drawn.entropy_errors[:2].tolist() == [0.0, 0.0]
    assert (drawn.entropy_errors[2:] > 0.0).sum() > 30

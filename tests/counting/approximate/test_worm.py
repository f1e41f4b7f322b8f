"""Worm chains: how long worms are, and when chains are given up."""

from __future__ import annotations

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.approximate.importance import TooSlowError, WormChain
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuned
from anonymatch.counting.reference import block_of
from anonymatch.running.budget import Execution


@pytest.fixture(scope="module")
def log() -> Block:
    """A log whose messages leave within a long window: the first ones have few places."""
    draws = np.random.default_rng(5)
    arrivals = draws.exponential(0.5, 120).cumsum()
    departures = np.sort(arrivals + draws.exponential(4.0, 120))
    waits = departures[None, :] - arrivals[:, None]
    return block_of(((waits >= 0) & (waits <= 20)).astype(int).tolist())


def chains_of(block: Block) -> WormChain:
    start = np.arange(block.n_users, dtype=np.int32)[None, :]  # who comes first leaves first
    return WormChain(block, start, (1,))


def test_worms_are_short_where_places_are_rare(log: Block) -> None:
    assert chains_of(log).worms >= 1  # paced within its limit


def test_chains_that_hardly_ever_close_are_given_up(
    log: Block,
) -> None:
    as_if_alike = tuned(worm_uneven=0.0)
    with as_if_alike, pytest.raises(TooSlowError):
        chains_of(log)


def assert_nothing_is_claimed(posterior: am.Posterior) -> None:
    """Two errors reach from any probability to 0 and to 1."""
    assert posterior.method == "unchecked beliefs"
    assert posterior.confidence == 1.0
    assert posterior.errors is not None
    far = np.maximum(posterior.probabilities, 1.0 - posterior.probabilities)
    assert (2.0 * posterior.errors >= far - 1e-12).all()


def test_what_cannot_be_checked_is_only_proven(log: Block) -> None:
    graph = am.Graph.from_biadjacency(log.dense())
    with tuned(worm_uneven=0.0):
        count = am.count(graph, budget=0.5)
        posterior = am.posterior(graph, budget=0.5)

    assert_nothing_is_claimed(posterior)
    assert count.method == "proven bounds"
    assert count.low == count.proven[0]


def test_chains_that_get_stuck_later_are_given_up() -> None:
    """Worms of weights this far apart seem quick until one has to come back over a light edge."""
    draws = np.random.default_rng(1)
    weights = np.exp(draws.standard_cauchy((200, 200)).clip(-300, 300))
    graph = am.Graph.from_biadjacency(weights)

    assert_nothing_is_claimed(am.posterior(graph, budget=0.5))


def test_a_stretch_ends_at_its_last_step(log: Block) -> None:
    chains = chains_of(log)

    with tuned(worm_latest=0), pytest.raises(TooSlowError):
        chains.matchings(1000, Execution())

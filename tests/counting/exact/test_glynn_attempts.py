"""Posteriors by sums over signs: what they cost is known before, also where doubles do not do."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact import glynn
from anonymatch.graph import families


def block_of(n: int, share: float) -> Block:
    graph = families.random_density(n, share, seed=n)
    return Block(n, n, graph.indptr, graph.indices)


@pytest.mark.parametrize("n", [16, 20, 24])
def test_doubles_alone_are_predicted_where_they_are_close_enough(n: int) -> None:
    block = block_of(n, 0.5)
    assert glynn.seconds(block, edges=True) == glynn.doubles_seconds(block)


@pytest.mark.parametrize("n", [30, 31])
def test_integers_are_predicted_where_doubles_lose_too_many_digits(n: int) -> None:
    block = block_of(n, 0.5)
    integers = tuning().glynn_minors / tuning().glynn_posteriors
    assert glynn.seconds(block, edges=True) >= integers * glynn.doubles_seconds(block)


def test_weights_in_doubles_are_never_made_integers() -> None:
    block = block_of(30, 0.5)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, block.n_edges)
    weighted = Block(30, 30, block.indptr, block.indices, weights)
    assert glynn.seconds(weighted, edges=True) == glynn.doubles_seconds(weighted)

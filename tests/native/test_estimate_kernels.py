"""The kernels of estimates as Python sees them; what they compute is tested in C++."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from anonymatch import _native as native
from anonymatch.counting.blocks.block import Block
from anonymatch.graph import families


def block_of(n: int, k: int, seed: int) -> Block:
    graph = families.random_regular(n, k, seed)
    return Block(n, n, graph.indptr, graph.indices)


def test_bethe_of_a_regular_graph_is_schrijvers_bound() -> None:
    result = native.propagate_beliefs(block_of(40, 5, 1))

    assert result.log == pytest.approx(40 * np.log(4**4 / 5**3))
    assert result.marginals == pytest.approx(0.2)
    assert result.residual < 1e-9


def test_draws_are_the_same_on_threads_and_in_pieces() -> None:
    guided = native.Importance(block_of(40, 5, 1), kappa=0.9)
    whole = guided.draws(3, 0, 8).log_weights
    with ThreadPoolExecutor(2) as pool:
        pieces = list(pool.map(lambda first: guided.draws(3, first, first + 2), range(0, 8, 2)))

    assert np.concatenate([piece.log_weights for piece in pieces]).tolist() == whole.tolist()


def test_draws_carry_marginals_and_matchings() -> None:
    block = block_of(30, 4, 2)
    drawn = native.Importance(block).draws(1, 0, 50, marginals=True, matchings=True)
    posterior = drawn.first / np.exp(drawn.log_weights - drawn.scale).sum()

    assert np.add.reduceat(posterior, block.indptr[:-1]) == pytest.approx(1)
    assert drawn.matchings.shape == (50, 30)
    assert np.sort(drawn.matchings[0]).tolist() == list(range(30))


def test_plain_weights_of_worm_samples_bracket_those_of_draws() -> None:
    """Jensen both ways: E_q log w <= log count <= E_pi log w, here with room to spare."""
    block = block_of(60, 4, 3)
    guided = native.Importance(block, children=1)
    drawn = guided.draws(1, 0, 300, matchings=True)
    start = drawn.matchings[np.argmax(drawn.log_weights)]
    sampled = native.Worm(block).run(start, 1, 0, samples=300, worms=20, matchings=True)
    backward = guided.log_weights_of(sampled.matchings)

    assert sampled.counts.sum() == 300 * 60
    assert sampled.matchings[-1].tolist() == sampled.last.tolist()
    forward = drawn.log_weights[np.isfinite(drawn.log_weights)]
    assert forward.mean() < backward.mean()


def test_refusals() -> None:
    block = block_of(20, 3, 1)
    with pytest.raises(ValueError, match="kappa"):
        native.propagate_beliefs(block, kappa=2)
    with pytest.raises(ValueError, match="children"):
        native.Importance(block, children=0)
    with pytest.raises(ValueError, match="not square"):
        native.Worm(Block(1, 2, np.array([0, 2], np.int32), np.array([0, 1], np.int32)))
    with pytest.raises(ValueError, match="not a perfect matching"):
        native.Worm(block).run(np.zeros(20), 1, 0, samples=1, worms=1)

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.exact.contract import contract
from anonymatch.counting.reference import block_of, first_minors, permanent

CELLS = st.sampled_from([0, 0, 0, 1, 1, 2, 5])
MATRICES = st.integers(2, 7).flatmap(lambda n: hnp.arrays(np.int64, (n, n), elements=CELLS))


def minors_of(block: Block) -> npt.NDArray[np.object_]:
    matrix = block.dense()
    minors: npt.NDArray[np.object_] = first_minors(matrix)[np.nonzero(matrix)]
    return minors


@seed(8)
@settings(max_examples=300, deadline=None)
@given(MATRICES, st.integers(0, 7))
def test_count_and_minors_survive_contraction(matrix: npt.NDArray[np.int64], limit: int) -> None:
    block = block_of(matrix)
    if permanent(matrix) == 0:
        return
    small = contract(block, degree_limit=limit)
    if small is None:
        return

    assert small.factor * permanent(small.block.dense()) == permanent(matrix)
    assert small.pull_back(minors_of(small.block)).tolist() == minors_of(block).tolist()


@pytest.mark.parametrize("n", [2, 3, 8, 50])
def test_a_cycle_shrinks_to_one_edge(n: int) -> None:
    rng = np.random.default_rng(n)
    weights = rng.random((n, 2))
    matrix = np.zeros((n, n))
    for i in range(n):
        matrix[i, i], matrix[i, (i + 1) % n] = weights[i]
    small = contract(block_of(matrix))
    assert small is not None
    total = weights[:, 0].prod() + weights[:, 1].prod()

    assert small.block.n_edges == 1
    assert small.factor * small.block.weights == pytest.approx(
        [total], rel=small.roundings * 2**-53
    )
    used = small.pull_back(np.ones(1)) * block_of(matrix).weights
    assert used.reshape(n, 2).sum(axis=1) == pytest.approx(np.full(n, total), rel=1e-13)


def opposed_cycle(n: int) -> Block:
    """A cycle whose two matchings weigh 3 q and q, with q = 10^-1.5n."""
    weights = np.full((n, 2), 1.0)
    weights[: n // 2, 0] = weights[n // 2 :, 1] = 1e-3
    weights[0, 0] *= 3.0
    indices = np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1)
    indices[-1], weights[-1] = indices[-1, ::-1].copy(), weights[-1, ::-1].copy()
    indptr = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    return Block(n, n, indptr, indices.ravel().astype(np.int32), weights.ravel())


def test_products_beyond_the_range_of_floats_are_scaled() -> None:
    small = contract(Block(1500, 1500, *cycle(1500), np.full(3000, 1e-3)))
    assert small is not None
    assert small.block.weights is not None
    log = small.log_factor + np.log(small.block.weights[0])

    assert log == pytest.approx(np.log(2) + 1500 * np.log(1e-3), rel=1e-14)
    assert small.pull_back_posteriors(np.ones(1)) == pytest.approx(np.full(3000, 0.5), rel=1e-13)


def cycle(n: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    indices = np.sort(np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1), axis=1)
    return np.arange(0, 2 * n + 1, 2, dtype=np.int32), indices.ravel().astype(np.int32)


def test_equal_matchings_are_both_kept_though_entries_differ_widely() -> None:
    small = contract(opposed_cycle(150))
    assert small is not None
    assert small.block.weights is not None

    log = small.log_factor + np.log(small.block.weights[0])
    assert log == pytest.approx(np.log(4) + 75 * np.log(1e-3), rel=1e-14)
    probabilities = small.pull_back_posteriors(np.ones(1))
    assert probabilities[:2] == pytest.approx([0.75, 0.25], rel=1e-13)


def test_contraction_stops_before_floats_underflow() -> None:
    small = contract(opposed_cycle(3000))
    assert small is not None
    assert small.block.weights is not None

    assert 1 < small.block.n_users < 100
    assert small.block.weights.min() > 0


def test_weights_of_extreme_spread_are_left_alone() -> None:
    matrix = [[1e-200, 1.0, 0.0], [0.0, 1e-200, 1.0], [1.0, 0.0, 1e-200]]

    assert contract(block_of(matrix)) is None


def test_float_posteriors_survive_contraction() -> None:
    rng = np.random.default_rng(18)
    for _ in range(40):
        n = int(rng.integers(3, 7))
        matrix = (np.eye(n) + np.roll(np.eye(n), 1, axis=1) + (rng.random((n, n)) < 0.2) > 0) * (
            rng.random((n, n)) + 0.01
        )
        block = block_of(matrix)
        small = contract(block)
        if small is None:
            continue
        inner = minors_of(small.block) * small.block.weights / permanent(small.block.dense())
        outer = minors_of(block) * block.weights / permanent(matrix)

        assert small.pull_back_posteriors(inner.astype(float)) == pytest.approx(
            outer.astype(float), rel=1e-13
        )
        assert small.pull_back(minors_of(small.block).astype(float)) == pytest.approx(
            minors_of(block).astype(float), rel=1e-13
        )


def test_degrees_stay_within_the_limit() -> None:
    """A user of degree two between two behaviours of degree five would make one of degree eight."""
    matrix = np.zeros((10, 10), dtype=np.int64)
    matrix[0, :2] = 1
    matrix[1:5, 0] = matrix[5:9, 1] = 1
    matrix[1:, 2:] = 1

    assert contract(block_of(matrix), degree_limit=7) is None
    small = contract(block_of(matrix), degree_limit=8)
    assert small is not None
    assert small.contractions == 1


def test_refused_contractions_are_tried_again_when_others_made_room() -> None:
    rng = np.random.default_rng(9)
    n = 12
    matrix = np.eye(n, dtype=np.int64) + np.roll(np.eye(n, dtype=np.int64), 1, axis=1)
    matrix[rng.integers(0, n, 3), rng.integers(0, n, 3)] = 1
    small = contract(block_of(matrix), degree_limit=3)
    assert small is not None

    assert small.factor * permanent(small.block.dense()) == permanent(matrix)
    assert small.block.n_users <= 3


def test_nothing_to_do() -> None:
    assert contract(block_of(np.ones((3, 3), dtype=int))) is None
    assert contract(block_of([[1]])) is None


def test_optional_behaviours_forbid_contraction() -> None:
    assert contract(block_of([[1, 1, 0], [0, 1, 1]])) is None


def test_forced_users_are_factored_out() -> None:
    block = block_of([[3, 0, 0], [1, 1, 1], [1, 1, 1]])
    small = contract(block)
    assert small is not None

    assert small.factor * permanent(small.block.dense()) == 6
    assert small.pull_back(minors_of(small.block)).tolist() == minors_of(block).tolist()

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anonymatch.counting.contract import contract
from anonymatch.counting.reference import block_of, first_minors, permanent

if TYPE_CHECKING:
    from anonymatch.counting.block import Block

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

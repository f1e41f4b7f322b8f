from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.exact.rank_one import rank_one
from anonymatch.counting.reference import block_of, permanent

Matrix = npt.NDArray[np.int64]

PATTERNS = [
    np.ones((1, 1), dtype=int),
    np.ones((3, 3), dtype=int),
    np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]),
    np.tri(6, 6, 1, dtype=int),
]


@seed(10)
@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PATTERNS), hnp.arrays(np.int64, 12, elements=st.integers(2, 10**6)))
def test_integer_factors_are_found_exactly(pattern: Matrix, factors: Matrix) -> None:
    n = len(pattern)
    matrix = pattern * np.outer(factors[:n].astype(object), factors[6 : 6 + n].astype(object))
    scaled = rank_one(block_of(matrix))
    assert scaled is not None

    assert scaled.scale == math.prod(factors[:n].tolist()) * math.prod(factors[6 : 6 + n].tolist())
    assert scaled.scale * permanent(scaled.block.dense()) == permanent(matrix)
    assert scaled.log == pytest.approx(math.log(scaled.scale), abs=scaled.log_error)
    assert scaled.deviation == 0


def test_one_unit_off_in_a_large_integer_is_seen() -> None:
    large = 10**40

    assert rank_one(block_of([[large, large], [large, large + 1]])) is None


def test_fractions() -> None:
    matrix = [[Fraction(1, 2), Fraction(3, 2)], [Fraction(1, 3), Fraction(1)]]
    scaled = rank_one(block_of(matrix))
    assert scaled is not None

    assert scaled.scale == Fraction(1, 2)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_exponential_delays_on_times_are_rank_one_to_rounding(n: int) -> None:
    """Weights exp(t_i - u_j) rounded edge by edge; the reported error holds the truth."""
    rng = np.random.default_rng([7, n])
    arrivals, departures = rng.random(n), 50 + rng.random(n)
    matrix = np.exp(arrivals[:, None] - departures[None])
    scaled = rank_one(block_of(matrix))
    assert scaled is not None
    exact = permanent([[Fraction(x) for x in row] for row in matrix.tolist()])
    log = math.log(exact.numerator) - math.log(exact.denominator)

    assert scaled.log + math.log(math.factorial(n)) == pytest.approx(
        log, abs=scaled.log_error + 1e-12
    )
    assert scaled.log_error < 1e-11


def test_factors_beyond_the_range_of_floats() -> None:
    """A staircase of weights whose factors run from 2^-2000 to 2^2000."""
    n = 80
    scaled = rank_one(block_of(np.eye(n) + 2.0**50 * np.eye(n, k=1)))
    assert scaled is not None

    assert scaled.log == pytest.approx(0, abs=scaled.log_error)


def test_generic_weights_are_not_rank_one() -> None:
    rng = np.random.default_rng(11)

    assert rank_one(block_of(rng.random((4, 4)))) is None
    assert rank_one(block_of(rng.integers(1, 50, (4, 4)))) is None
    assert rank_one(block_of(np.ones((3, 3), dtype=int))) is None


def test_unused_behaviours_allow_factors_of_users_only() -> None:
    by_user = rank_one(block_of([[2, 2, 2], [5, 5, 0]]))
    assert by_user is not None

    assert by_user.scale == 10
    assert rank_one(block_of([[2, 4, 2], [3, 6, 3]])) is None


def test_a_slightly_wrong_weight_is_accepted_only_within_the_tolerance() -> None:
    matrix = np.outer([1.0, 2.0, 3.0], [1.0, 0.5, 0.25])
    matrix[2, 2] *= 1 + 1e-13
    scaled = rank_one(block_of(matrix))
    assert scaled is not None

    assert 1e-13 <= scaled.deviation < 2e-13
    assert rank_one(block_of(matrix), ulps=8) is None


def test_long_cycle_of_large_integers_is_refused_quickly_and_right() -> None:
    n = 2000
    indices = np.sort(np.stack([np.arange(n), (np.arange(n) + 1) % n], axis=1), axis=1)
    weights = np.array(np.random.default_rng(1).integers(1, 9, 2 * n).tolist(), dtype=object)
    indptr = np.arange(0, 2 * n + 1, 2, dtype=np.int32)

    assert rank_one(Block(n, n, indptr, indices.ravel().astype(np.int32), weights)) is None

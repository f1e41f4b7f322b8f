from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import prod

import numpy as np
import pytest

from anonymatch.base.errors import InputError
from anonymatch.counting.reference import block_of, first_minors, matchings, permanent


@pytest.mark.parametrize(("n", "c"), [(0, 0), (0, 2), (1, 1), (2, 3), (3, 3), (3, 5), (3, 2)])
def test_permanent_is_the_sum_over_all_injections(n: int, c: int) -> None:
    matrix = np.random.default_rng([n, c]).integers(-3, 4, (n, c)).tolist()

    by_hand = sum(prod(matrix[i][j] for i, j in enumerate(p)) for p in permutations(range(c), n))

    assert permanent(matrix) == by_hand


def test_fractions_stay_exact() -> None:
    third = Fraction(1, 3)

    assert permanent([[third, 1], [1, third]]) == Fraction(10, 9)


def test_large_numpy_integers_do_not_wrap() -> None:
    assert permanent(np.full((2, 2), 2**62)) == 2**125


def test_minors_expand_the_permanent_along_every_row_and_column() -> None:
    matrix = np.random.default_rng(3).integers(-3, 4, (5, 5)).astype(object)
    terms = matrix * first_minors(matrix)

    assert set(terms.sum(axis=0)) | set(terms.sum(axis=1)) == {permanent(matrix)}


def test_matchings_are_listed_once_each() -> None:
    block = block_of([[1, 1, 0, 1], [1, 1, 1, 0], [0, 1, 1, 1]])
    listed = list(matchings(block))

    assert len(listed) == len(set(listed)) == permanent(block.dense())


def test_large_inputs_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="at most 22 users, not 23"):
        permanent(np.ones((23, 23), dtype=int))
    with pytest.raises(InputError, match="at most 22 users, not 23"):
        matchings(block_of(np.ones((23, 23), dtype=int)))

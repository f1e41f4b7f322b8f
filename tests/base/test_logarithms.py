"""Logs of factorials, beside those of the whole numbers themselves."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.logarithms import log_factorials


def test_logs_of_factorials_are_right_to_the_last_digits() -> None:
    numbers = [0, 1, 2, 20, 169, 170, 171, 172, 300, 1000, 5000]
    for n, log in zip(numbers, log_factorials(numbers), strict=True):
        assert math.isclose(log, math.log(math.factorial(n)), rel_tol=5e-16)
    assert math.isclose(log_factorials([10**9])[0], math.lgamma(1e9 + 1), rel_tol=5e-16)


def test_logs_of_factorials_are_made_of_any_shape_of_whole_numbers() -> None:
    values = np.array([[3.0, 200.0], [0.0, 3.0]])
    assert log_factorials(values).shape == (2, 2)
    assert log_factorials(np.empty(0, dtype=np.int64)).shape == (0,)
    assert log_factorials(7).round(3) == 8.525

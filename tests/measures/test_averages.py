"""Quantiles of users who all count alike need no order, and are those of users who do not."""

from __future__ import annotations

import numpy as np
import pytest

import anonymatch as am
from anonymatch.counting.measures import averages
from anonymatch.counting.measures.averages import _quantile
from anonymatch.counting.measures.users import Range


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_quantiles_are_the_same_however_much_all_users_count(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 9, n) / 4.0
    for share in (0.0, 0.01, 1 / 3, 0.5, 0.99, 1.0, *(k / n for k in range(n + 1))):
        alike = _quantile(values, np.ones(n), share)
        assert alike == _quantile(values, np.full(n, 2.0), share)
        assert (values <= alike).sum() >= share * n * (1 - 1e-9)
        assert (values < alike).sum() <= share * n


def test_quantiles_of_equal_figures_that_were_drawn_hold_the_one_value() -> None:
    """The smallest of many draws is far below the truth: two errors from it are not enough."""
    rng = np.random.default_rng(1)
    number, error = 20_000, 0.1
    graph = am.partition([1] * number)
    users = am.metrics(graph).user_figures
    for _ in range(3):
        value = 3.0 + error * rng.standard_normal(number)
        figures = Range(value, value - 2 * error, value + 2 * error, errors=np.full(number, error))
        for share in (0.0, 0.01, 0.05, 0.5, 0.99, 1.0):
            interval = averages.quantile(users, figures, share)
            assert interval is not None
            assert interval.low <= 3.0 <= interval.high
            assert interval.high - interval.low < 12 * error

"""Quantiles of users who all count alike need no order, and are those of users who do not."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch.measures.averages import _quantile


@pytest.mark.parametrize("n", [1, 2, 3, 7, 100])
def test_quantiles_are_the_same_however_much_all_users_count(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 9, n) / 4.0
    for share in (0.0, 0.01, 1 / 3, 0.5, 0.99, 1.0, *(k / n for k in range(n + 1))):
        alike = _quantile(values, np.ones(n), share)
        assert alike == _quantile(values, np.full(n, 2.0), share)
        assert (values <= alike).sum() >= share * n * (1 - 1e-9)
        assert (values < alike).sum() <= share * n

"""Sensitive values by class, against their definitions with every value written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymatch.tables import Release
from anonymatch.tables.diversity import diversity


def release_with(class_of: Any, codes: Any, values: tuple[str, ...]) -> Release:
    return Release(
        columns=(),
        kind_of=np.zeros(len(class_of), dtype=np.int64),
        class_of=np.asarray(class_of),
        indptr=np.array([0, 1]),
        indices=np.array([0]),
        sensitive={"x": np.asarray(codes)},
        sensitive_values={"x": values},
    )


@pytest.mark.parametrize("numeric", [False, True])
def test_figures_of_every_class_are_their_definitions(*, numeric: bool) -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        width, classes, rows = (int(n) for n in rng.integers((1, 1, 8), (7, 5, 40)))
        class_of = np.append(np.arange(classes), rng.integers(0, classes, rows))
        codes = rng.integers(0, width, len(class_of))
        numbers = rng.permutation(width)
        values = tuple(str(one) if numeric else f"v{one}" for one in numbers.tolist())
        found = diversity(release_with(class_of, codes, values), "x")
        table = np.zeros((classes, width))
        np.add.at(table, (class_of, codes), 1)
        shares = table / table.sum(axis=1, keepdims=True)
        away = shares - table.sum(axis=0) / table.sum()
        least = int((table > 0).sum(axis=1).min())
        if numeric:
            moved = np.abs(np.cumsum(away[:, np.argsort(numbers)], axis=1)).sum(axis=1)
            moved /= max(width - 1, 1)
        else:
            moved = np.abs(away).sum(axis=1) / 2

        assert (found.distinct == (table > 0).sum(axis=1)).all()
        logs = np.where(shares > 0, shares * np.log(np.maximum(shares, 1e-9)), 0.0)
        assert found.entropy == pytest.approx(np.exp(-logs.sum(axis=1)))
        assert found.closeness == pytest.approx(moved, abs=1e-12)
        assert (found.recursive is None) == (least < 2)
        if found.recursive is not None:
            falling = -np.sort(-table, axis=1)
            wanted = falling[:, 0] / falling[:, least - 1 :].sum(axis=1)
            assert found.recursive == pytest.approx(wanted)


def test_as_many_values_as_rows_need_no_table_of_classes_by_values() -> None:
    """10^5 classes by 10^5 values would be 80 GB."""
    number = 100_000
    values = tuple(str(one) for one in range(number))
    found = diversity(release_with(np.arange(number), np.arange(number), values), "x")

    assert found.distinct.max() == 1
    assert found.closeness[0] == pytest.approx(0.5, abs=1e-3)

"""Kinds of people and classes of rows, against every person and every row."""

from __future__ import annotations

import numpy as np
import pytest

from anonymatch.tables import ColumnCells, kinds_of_people
from anonymatch.tables.reading import release


@pytest.mark.parametrize("compared", [False, True])
def test_kinds_fit_what_their_people_fit(
    monkeypatch: pytest.MonkeyPatch, *, compared: bool
) -> None:
    if compared:  # one by one, however few levels there are
        monkeypatch.setattr(release, "_FEW_VECTORS", -1)
        monkeypatch.setattr(release, "_JOIN", 10**9)
    rng = np.random.default_rng(3)
    for _ in range(150):
        people, rows = rng.integers(2, 12, 2).tolist()
        columns = [column(rng, people, rows) for _ in range(2)]
        kind_of, class_of, indptr, indices = kinds_of_people(columns)
        fits = np.zeros((len(indptr) - 1, class_of.max() + 1), dtype=bool)
        fits[np.repeat(np.arange(len(indptr) - 1), np.diff(indptr)), indices] = True
        wanted = np.ones((people, rows), dtype=bool)
        for one in columns:
            assert one.fits is not None
            wanted &= one.fits[one.value_of][:, one.cell_of]

        assert (fits[kind_of][:, class_of] == wanted).all()
        assert len(np.unique(fits, axis=0)) == len(fits)


def column(rng: np.random.Generator, people: int, rows: int) -> ColumnCells:
    values, cells = rng.integers(2, 6, 2).tolist()
    return ColumnCells(
        name="x",
        values=tuple(str(one) for one in range(values)),
        cells=tuple(f"c{one}" for one in range(cells)),
        value_of=rng.integers(0, values, people),
        cell_of=rng.integers(0, cells, rows),
        fits=rng.random((values, cells)) < 0.4,
    )

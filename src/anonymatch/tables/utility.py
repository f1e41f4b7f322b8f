"""What generalising costs: how much less a released table says than the original one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.tables.reading.release import ColumnCells, Release

__all__ = ["Utility", "cell_losses", "utility"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """Measures of utility.

    Attributes
    ----------
    loss : float
        Mean over cells of the share of a column's values that the cell leaves open: 0 if nothing
        was generalised, 1 if all was suppressed.
    by_column : dict of str to float
    discernibility : int
        Sum over rows of how many rows each cannot be told from.
    mean_class : float
        Rows of a class on average.
    suppressed : int
        Rows that say nothing in any identifier.
    """

    loss: float
    by_column: dict[str, float] = field(repr=False)
    discernibility: int
    mean_class: float
    suppressed: int


def utility(release: Release) -> Utility:
    """All measures of a release."""
    losses = {
        column.name: float(cell_losses(column)[column.cell_of].mean()) for column in release.columns
    }
    empty = np.ones(release.n_rows, dtype=np.bool_)
    for column in release.columns:
        empty &= np.array([not cell for cell in column.cells])[column.cell_of]
    return Utility(
        loss=sum(losses.values()) / len(losses),
        by_column=losses,
        discernibility=int((release.class_sizes**2).sum()),
        mean_class=release.n_rows / len(release.class_sizes),
        suppressed=int(empty.sum()),
    )


def cell_losses(column: ColumnCells) -> Floats:
    """Of each cell: values of the original that it leaves open beside one, as a share of all."""
    number = len(set(column.values) - {""})
    if number < 2:
        return np.zeros(len(column.cells))
    if column.fits is None:
        return np.array([0.0 if cell else 1.0 for cell in column.cells])
    known = np.array([bool(value) for value in column.values])
    within = column.fits[known].sum(axis=0)
    return np.asarray(np.maximum(within - 1, 0) / (number - 1), dtype=np.float64)

"""Many small blocks at once."""

from __future__ import annotations

from typing import Any, Protocol

import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, Words, floats, ints
from anonymatch._native.extension import kernels

SMALL_BEHAVIOURS: int = kernels.small_behaviours


def small_counts(blocks: SmallBlocks, *, minors: bool) -> tuple[Words, Words]:
    """Totals of small blocks stored one after another, and on request all edge minors."""
    totals, through = kernels.small_counts(*_small(blocks), minors)
    return totals, through


def small_counts_weighted(blocks: SmallBlocks, *, minors: bool) -> tuple[Floats, Floats]:
    """The same over positive weights."""
    assert blocks.weights is not None
    totals, through = kernels.small_counts_weighted(*_small(blocks), floats(blocks.weights), minors)
    return totals, through


class SmallBlocks(Protocol):
    """Small blocks one after another (cpp/kernels/small/small.hpp)."""

    @property
    def user_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def behaviour_counts(self) -> npt.NDArray[Any]: ...
    @property
    def row_offsets(self) -> npt.NDArray[Any]: ...
    @property
    def indices(self) -> npt.NDArray[Any]: ...
    @property
    def weights(self) -> Floats | None: ...


def _small(blocks: SmallBlocks) -> tuple[Ints, Ints, Ints, Ints]:
    return (
        ints(blocks.user_offsets),
        ints(blocks.behaviour_counts),
        ints(blocks.row_offsets),
        ints(blocks.indices),
    )

"""Sinkhorn's scaling to doubly stochastic matrices."""

from __future__ import annotations

from anonymatch._native.arrays import Floats, Ints, floats, ints
from anonymatch._native.extension import kernels


def sinkhorn_scaling(
    indptr: Ints,
    indices: Ints,
    weights: Floats,
    row_targets: Floats,
    n_columns: int,
    *,
    sweeps: int,
    tolerance: float,
) -> tuple[bool, Floats, Floats]:
    """Whether it is balanced, one share an edge, and the log of each column's factor."""
    return kernels.sinkhorn_scaling(
        ints(indptr),
        ints(indices),
        floats(weights),
        floats(row_targets),
        n_columns,
        sweeps,
        tolerance,
    )

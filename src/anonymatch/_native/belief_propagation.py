"""Belief propagation."""

from __future__ import annotations

from typing import NamedTuple

from anonymatch._native.arrays import Floats, Rows, cancel_byte, square
from anonymatch._native.extension import kernels


class BeliefPropagation(NamedTuple):
    """What belief propagation found on a square block."""

    log: float  # of the Bethe permanent, or of its fractional kin
    marginals: Floats  # one an edge; rows sum to one
    residual: float  # the largest difference between the two messages of an edge
    sweeps: int


def propagate_beliefs(
    block: Rows,
    *,
    kappa: float = 1.0,
    tolerance: float = 1e-9,
    sweeps: int = 1000,
    damping: float = 0.0,
    cancel: bytearray | None = None,
) -> BeliefPropagation:
    """Belief propagation on an irreducible square block; fewer sweeps once it is cancelled."""
    check_messages(block, kappa)
    if not 0 <= damping < 1:
        raise ValueError(f"damping {damping} is not in [0, 1)")
    return BeliefPropagation(
        *kernels.propagate_beliefs(
            *square(block), kappa, tolerance, sweeps, damping, cancel_byte(cancel)
        )
    )


def check_messages(block: Rows, kappa: float) -> None:
    """Raise ValueError for what messages cannot be sent on."""
    if not 0 <= kappa <= 1:
        raise ValueError(f"kappa {kappa} is not in [0, 1]")
    if block.weights is not None and len(block.weights) != len(block.indices):
        raise ValueError(f"{len(block.weights)} weights for {len(block.indices)} edges")

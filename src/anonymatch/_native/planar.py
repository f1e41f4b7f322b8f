"""Determinants of planar blocks, modulo primes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native.arrays import (
    Floats,
    Rows,
    Words,
    cancel_byte,
    floats,
    floats_or_empty,
    ints,
)
from anonymatch._native.extension import kernels

PlanarPlan = kernels.PlanarPlan
PlanarResidues = kernels.PlanarResidues
PLANAR_LANES: int = kernels.planar_lanes
PLANAR_PRIME_BITS: int = int(kernels.planar_prime_limit).bit_length() - 1


def plan_planar(block: Rows, cancel: bytearray | None = None) -> PlanarPlan | None:
    """How a square, connected block with a matching is eliminated; None if it is not planar."""
    indptr, indices = ints(block.indptr), ints(block.indices)
    return kernels.plan_planar(block.n_users, indptr, indices, cancel_byte(cancel))


def run_planar(
    plan: PlanarPlan,
    primes: Sequence[int],
    weights: Floats | None,
    *,
    edges: bool,
    cancel: bytearray | None,
) -> PlanarResidues:
    """Count, and the counts through all edges, modulo a prime a lane.

    ``weights``: the residues of every edge's weight, lane by lane; None if all are 1.
    """
    lanes = floats(np.array(primes))
    return plan.run(lanes, floats_or_empty(weights), edges, cancel_byte(cancel))


def chinese_coefficients(primes: Sequence[int]) -> list[int]:
    """For each prime the inverse, modulo it, of the product of the others."""
    coefficients: Words = kernels.chinese_coefficients(np.array(primes, dtype=np.uint64))
    return [int(one) for one in coefficients]


def add_fractions(
    sums: Words, residues: Floats, lane: int, *, prime: int, coefficient: int
) -> None:
    """Add (residue * coefficient mod prime) / prime of a lane to ``sums``, modulo 1.

    ``sums``: two words an edge, in units of 2^-128, the lower one first.
    """
    kernels.add_fractions(floats(residues), lane, prime, coefficient, sums)

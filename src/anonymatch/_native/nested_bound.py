"""Nested bounds."""

from __future__ import annotations

from anonymatch._native.arrays import Floats, Rows, floats_or_empty, ints
from anonymatch._native.extension import kernels

NestedBound = kernels.NestedBound
NESTED_BOUND_GROUP: int = kernels.nested_bound_group


def nested_bound_job(block: Rows, log_weights: Floats | None) -> NestedBound:
    """A nested bound on the count of a square block, and the draws that it holds."""
    if block.n_users != block.n_behaviours:
        raise ValueError("nested bounds take square blocks")
    logs = floats_or_empty(log_weights)
    return NestedBound(block.n_users, ints(block.indptr), ints(block.indices), logs)

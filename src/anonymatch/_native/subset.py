"""The subset programme."""

from __future__ import annotations

from anonymatch._native.arrays import Floats, flat
from anonymatch._native.extension import kernels

SubsetProgramme = kernels.SubsetProgramme
SUBSET_LIMIT: int = kernels.subset_limit


def subset_fits(matrix: Floats) -> bool:
    """Whether the weights lie close enough together for plain doubles."""
    return bool(kernels.subset_fits(len(matrix), flat(matrix)))


def subset_bytes(n: int, *, posteriors: bool) -> float:
    """Bytes that the programme allocates."""
    return float(kernels.subset_bytes(n, posteriors))


def subset_programme(matrix: Floats, *, posteriors: bool) -> SubsetProgramme:
    """A job over doubles for a square matrix."""
    return SubsetProgramme(len(matrix), flat(matrix), posteriors)

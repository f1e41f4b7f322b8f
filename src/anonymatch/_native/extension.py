"""The compiled kernels, imported here and nowhere else."""

from __future__ import annotations

try:
    from anonymatch import _kernels as kernels  # noqa: TID251
except ImportError as error:  # pragma: no cover
    error.add_note("the compiled kernels are missing: run 'make kernels' or 'pip install .'")
    raise

__all__ = ["kernels", "version"]

version: str = kernels.version

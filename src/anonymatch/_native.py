"""The only importer of the compiled kernels: checks going in, Python values coming out."""

from __future__ import annotations

try:
    from anonymatch import _kernels  # noqa: TID251
except ImportError as error:  # pragma: no cover
    error.add_note("the compiled kernels are missing: run 'make install' or 'pip install .'")
    raise

__all__ = ["version"]

version: str = _kernels.version

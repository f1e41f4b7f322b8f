"""Arrays: names of their types, and where runs of different lengths begin."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Ints", "offsets"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def offsets(lengths: npt.ArrayLike) -> Ints:
    """Where runs of these lengths begin one after another, and where the last one ends.

    Examples
    --------
    >>> offsets([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))

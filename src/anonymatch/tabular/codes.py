"""Names as numbers: the code of every value of a column, without a Python loop over rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch._native import group_hashes

Indices = npt.NDArray[np.int32]

# Rows worked on at once: fresh memory for a whole column costs more than the work itself.
_CHUNK = 1 << 18


def factorise(values: pl.Series) -> tuple[Indices, pl.Series]:
    """Code of every value, and the different values in order of first appearance.

    Exact whatever the hash does: each value is compared with the first that has its hash, and those
    that differ are told apart by a dictionary.
    """
    return factorise_hashed(values, values.hash().to_numpy())


def factorise_hashed(
    values: pl.Series, hashes: npt.NDArray[np.uint64]
) -> tuple[Indices, pl.Series]:
    """As :func:`factorise`, with hashes given; any that agree on equal values will do."""
    codes, first = group_hashes(hashes)
    del hashes
    different = values.gather(first)
    wrong = _differing(codes, different, values)
    if not len(wrong):
        return codes, different
    numbers: dict[object, int] = {}
    fresh = [numbers.setdefault(value, len(numbers)) for value in values.gather(wrong).to_list()]
    codes[wrong] = np.array(fresh, dtype=np.int32) + np.int32(len(first))
    leaders = wrong[np.unique(np.array(fresh), return_index=True)[1]]
    first = np.concatenate((first, leaders)).astype(np.int32)
    return _rank(first)[codes], values.gather(np.sort(first))


def _differing(codes: Indices, different: pl.Series, values: pl.Series) -> npt.NDArray[np.intp]:
    """Positions whose value is not the one that its code stands for."""
    wrong = []
    for begin in range(0, len(values), _CHUNK):
        part = values.slice(begin, _CHUNK)
        meant = different.gather(codes[begin : begin + len(part)].view(np.uint32))
        if not meant.equals(part):
            wrong.append(np.flatnonzero((meant != part).to_numpy()) + begin)
    return np.concatenate(wrong) if wrong else np.empty(0, dtype=np.intp)


def _rank(first: Indices) -> Indices:
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank


def name_codes(side: pl.Series) -> tuple[Indices, pl.Series]:
    """Code of every name, -1 where there is none, and the names in order of first appearance."""
    if not (side.dtype == pl.String or side.dtype.is_integer()):
        side = side.cast(pl.String)  # categories
    if not side.null_count():
        return factorise(side)
    present = side.is_not_null()
    codes = np.full(len(side), -1, dtype=np.int32)
    codes[present.to_numpy()], names = factorise(side.filter(present))
    return codes, names

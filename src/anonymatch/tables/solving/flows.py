"""The largest flow between kinds of people and classes of rows: one way to give out rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymatch.base.arrays import Ints

__all__ = ["flow_entries", "largest_flow"]


def largest_flow(
    kinds: Ints, classes: Ints, kind_sizes: Ints, class_sizes: Ints
) -> tuple[int, Ints, Any]:
    """As many people with rows as can be: their number, by pairs, and as a network."""
    import scipy.sparse as sparse
    from scipy.sparse.csgraph import maximum_flow

    left, right = len(kind_sizes), len(class_sizes)
    source, sink = left + right, left + right + 1
    begin = np.concatenate((np.full(left, source), kinds, left + np.arange(right)))
    end = np.concatenate((np.arange(left), left + classes, np.full(right, sink)))
    most = np.minimum(kind_sizes[kinds], class_sizes[classes])
    capacity = np.concatenate((kind_sizes, most, class_sizes)).astype(np.int32)
    network = sparse.csr_array((capacity, (begin, end)), shape=(sink + 1, sink + 1))
    found = maximum_flow(network, source, sink)
    return int(found.flow_value), flow_entries(found.flow, kinds, left + classes), found.flow


def flow_entries(matrix: Any, rows: Ints, columns: Ints) -> Ints:
    """Those of a sparse matrix at these places; 0 where it has none."""
    entries = matrix.tocoo()
    keys = entries.row.astype(np.int64) * matrix.shape[1] + entries.col
    order = np.argsort(keys)
    wanted = rows * matrix.shape[1] + columns
    place = np.minimum(np.searchsorted(keys[order], wanted), max(len(keys) - 1, 0))
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    values = entries.data[order][place].astype(np.int64)
    return np.where(keys[order][place] == wanted, values, 0)

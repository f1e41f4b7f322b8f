"""From names to numbers, from loose edges to rows, and the reduction to blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, Ints, Rows, Words, floats_or_empty, ints
from anonymatch._native.extension import kernels


def group_hashes(hashes: Words) -> tuple[Ints, Ints]:
    """The group of each hash, and where each group appears first, in this order."""
    if len(hashes) > LARGEST:
        raise ValueError(f"{len(hashes)} hashes; at most {LARGEST} are grouped")
    codes, first = kernels.group_hashes(np.ascontiguousarray(hashes, dtype=np.uint64))
    return codes, first


def sort_edges(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, int], *, ordered: bool
) -> tuple[Ints, Ints, Ints | None, int]:
    """Where each row begins, the columns, on request the order, and the number of duplicates.

    Equal edges stay in, in the order in which they came. No order: the edges came sorted.
    """
    if max(*shape, len(rows)) > LARGEST or len(rows) != len(columns):
        raise ValueError(f"{len(rows)} rows and {len(columns)} columns in a graph of {shape}")
    for ends, size in zip((rows, columns), shape, strict=True):
        if len(ends) and (int(ends.min()) < 0 or int(ends.max()) >= size):
            raise ValueError("an edge lies outside its graph")
    indptr, indices, order, duplicates = kernels.sort_edges(
        ints(rows), ints(columns), shape[0], ordered
    )
    return indptr, indices, order if len(order) else None, int(duplicates)


Structure = kernels.Structure
BlockTable = kernels.BlockTable


def find_structure(graph: Rows) -> Structure:
    """A maximum matching, and the blocks or Hall's witness."""
    return kernels.find_structure(graph.n_behaviours, ints(graph.indptr), ints(graph.indices))


def block_table(graph: Rows, structure: Structure, weights: Floats | None) -> BlockTable:
    """The edges of all blocks in local numbers, and classes of blocks with equal weights."""
    if (
        structure.n_matched != graph.n_users
        or len(structure.user_of_behaviour) != graph.n_behaviours
    ):
        raise ValueError("the structure is of another graph, or leaves users unmatched")
    if weights is not None and len(weights) != len(graph.indices):
        raise ValueError(f"{len(weights)} weights for {len(graph.indices)} edges")
    return kernels.block_table(
        graph.n_behaviours,
        ints(graph.indptr),
        ints(graph.indices),
        structure,
        floats_or_empty(weights),
    )

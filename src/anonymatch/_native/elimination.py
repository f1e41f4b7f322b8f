"""Structure of a graph, and elimination modulo primes along planar separators or trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import (
    LARGEST,
    Floats,
    Ints,
    Rows,
    Words,
    cancel_byte,
    floats,
    floats_or_empty,
    ints,
    sorted_rows,
)
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
    return kernels.find_structure(*sorted_rows(graph))


def block_table(graph: Rows, structure: Structure, weights: Floats | None) -> BlockTable:
    """The edges of all blocks in local numbers, and classes of blocks with equal weights."""
    if (
        structure.n_matched != graph.n_users
        or len(structure.user_of_behaviour) != graph.n_behaviours
    ):
        raise ValueError("the structure is of another graph, or leaves users unmatched")
    if weights is not None and len(weights) != len(graph.indices):
        raise ValueError(f"{len(weights)} weights for {len(graph.indices)} edges")
    return kernels.block_table(*sorted_rows(graph), structure, floats_or_empty(weights))


PlanarPlan = kernels.PlanarPlan
PlanarResidues = kernels.PlanarResidues
TreePlan = kernels.TreePlan
TREE_WIDTH_LIMIT: int = kernels.tree_width_limit
PLANAR_LANES: int = kernels.planar_lanes
PLANAR_PRIME_BITS: int = int(kernels.planar_prime_limit).bit_length() - 1


def plan_planar(block: Rows, cancel: bytearray | None = None) -> PlanarPlan | None:
    """How a square, connected block with a matching is eliminated; None if it is not planar."""
    indptr, indices = ints(block.indptr), ints(block.indices)
    return kernels.plan_planar(block.n_users, indptr, indices, cancel_byte(cancel))


def run_residues(
    plan: PlanarPlan | TreePlan,
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


def plan_tree(
    block: Rows, most: float, width: int = TREE_WIDTH_LIMIT, cancel: bytearray | None = None
) -> TreePlan | None:
    """A tree decomposition of a connected block.

    None if it takes more than ``most`` products, or parts that share more than ``width`` vertices.
    """
    return kernels.plan_tree(block.n_users, *sorted_rows(block), most, width, cancel_byte(cancel))

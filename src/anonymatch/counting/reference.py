"""Counting by definition: slow, obvious, trusted; for tests and documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.errors import InputError
from anonymatch.counting.blocks.block import Block

LARGEST = 22  # users; 2^22 memoised subsets are the most that stay bearable

Matrix = npt.NDArray[Any] | Sequence[Sequence[Any]]


def permanent(matrix: Matrix) -> Any:
    """Sum, over all ways to give every row a column of its own, of the products of their entries.

    Any exact numbers will do (int, Fraction, negative too), and so will floats. There may be more
    columns than rows; with fewer the sum is empty, so 0.

    Examples
    --------
    >>> permanent([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    2
    >>> permanent([[1, 2, 3]])
    6
    """
    rows = [[(j, x) for j, x in enumerate(row) if x != 0] for row in _entries(matrix)]
    if len(rows) > LARGEST:
        raise InputError(f"counting by definition takes at most {LARGEST} users, not {len(rows)}")

    @cache
    def expand(i: int, used: int) -> Any:
        if i == len(rows):
            return 1
        return sum(x * expand(i + 1, used | 1 << j) for j, x in rows[i] if not used >> j & 1)

    return expand(0, 0)


def first_minors(matrix: Matrix) -> npt.NDArray[np.object_]:
    """The permanent without row i and column j, for every i and j.

    Examples
    --------
    >>> first_minors([[1, 2], [3, 4]]).tolist()
    [[4, 3], [2, 1]]
    """
    rows = _entries(matrix)
    minors = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, j in np.ndindex(*minors.shape):
        minors[i, j] = permanent([row[:j] + row[j + 1 :] for k, row in enumerate(rows) if k != i])
    return minors


def matchings(block: _native.Rows) -> Iterator[tuple[int, ...]]:
    """Every matching that covers all users, as the behaviours of users 0, 1, ... in turn.

    Examples
    --------
    >>> list(matchings(block_of([[1, 1], [1, 1]])))
    [(0, 1), (1, 0)]
    """
    if block.n_users > LARGEST:
        raise InputError(f"listing matchings takes at most {LARGEST} users, not {block.n_users}")
    ends = block.indptr.tolist()
    rows = [block.indices[a:b].tolist() for a, b in pairwise(ends)]

    def extend(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(chosen) == len(rows):
            yield chosen
            return
        for j in rows[len(chosen)]:
            if j not in chosen:
                yield from extend((*chosen, j))

    return extend(())


def block_of(matrix: Matrix) -> Block:
    """The block of a small matrix; its weights are kept unless they are all 1.

    Examples
    --------
    >>> block_of([[1, 0, 2]]).weights
    array([1, 2], dtype=object)
    """
    entries = np.array(_entries(matrix), dtype=object)
    rows, columns = np.nonzero(entries)
    weights = entries[rows, columns]
    if any(isinstance(weight, float) for weight in weights):
        weights = weights.astype(np.float64)
    degrees = np.bincount(rows, minlength=len(entries))
    return Block(
        entries.shape[0],
        entries.shape[1],
        np.concatenate(([0], np.cumsum(degrees))).astype(np.int32),
        columns.astype(np.int32),
        None if all(weight == 1 for weight in weights) else weights,
    )


def _entries(matrix: Matrix) -> list[list[Any]]:
    """The matrix in lists, with numpy integers turned into Python ints so that none overflows."""
    return matrix.tolist() if isinstance(matrix, np.ndarray) else [list(row) for row in matrix]

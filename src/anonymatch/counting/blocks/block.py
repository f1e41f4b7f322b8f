"""Block: one irreducible piece of a graph, in indices of its own.

Everything that counts takes a Block; names and the rest of the graph stay outside.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int32]

EVEN = 70.0  # |log2| of a weight up to which products of twelve stay within doubles


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Block:
    """Users and behaviours of one block, as sorted CSR rows.

    Every edge is in some matching that covers all users. A block with as many behaviours as users
    needs every behaviour; one with more behaviours (``optional``) leaves some unused.
    """

    n_users: int
    n_behaviours: int
    indptr: Indices
    indices: Indices
    weights: npt.NDArray[Any] | None = None  # float64, or object array of Python ints; None: all 1

    @property
    def n_edges(self) -> int:
        return len(self.indices)

    @property
    def optional(self) -> bool:
        """Whether some behaviours stay unused in every matching."""
        return self.n_behaviours > self.n_users

    @property
    def exact(self) -> bool:
        """Whether its count is an integer: no weights, or integer weights."""
        return self.weights is None or self.weights.dtype == object

    @property
    def even(self) -> bool:
        """Whether weights over doubles lie close enough together to be multiplied freely."""
        if self.weights is None or self.weights.dtype == object:
            return True
        return bool((np.abs(np.log2(self.weights)) <= EVEN).all())

    def transposed(self) -> Block:
        """The same block with users and behaviours exchanged (square blocks only)."""
        rows = np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.indptr))
        order = np.argsort(self.indices, kind="stable")
        counts = np.bincount(self.indices, minlength=self.n_behaviours)
        indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
        weights = None if self.weights is None else self.weights[order]
        return Block(self.n_behaviours, self.n_users, indptr, rows[order], weights)

    def dense(self) -> npt.NDArray[Any]:
        """The matrix of weights: int64 for 0/1, else the dtype of the weights."""
        dtype = np.int64 if self.weights is None else self.weights.dtype
        matrix = np.zeros((self.n_users, self.n_behaviours), dtype=dtype)
        rows = np.repeat(np.arange(self.n_users), np.diff(self.indptr))
        matrix[rows, self.indices] = 1 if self.weights is None else self.weights
        return matrix

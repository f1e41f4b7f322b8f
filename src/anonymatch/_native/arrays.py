"""What goes to the kernels and comes back: arrays of one type each, and rows of a graph."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.object_]

LARGEST = 2**31 - 1  # numbers of users, behaviours and edges are int32


class Rows(Protocol):
    """Sorted rows (CSR) of a bipartite graph, as graphs and blocks carry them."""

    @property
    def n_users(self) -> int: ...
    @property
    def n_behaviours(self) -> int: ...
    @property
    def indptr(self) -> Ints: ...
    @property
    def indices(self) -> Ints: ...
    @property
    def weights(self) -> npt.NDArray[Any] | None: ...


def ints(array: npt.NDArray[Any]) -> Ints:
    """Contiguous int32."""
    return np.ascontiguousarray(array, dtype=np.int32)


def floats(array: npt.NDArray[Any]) -> Floats:
    """Contiguous float64."""
    return np.ascontiguousarray(array, dtype=np.float64)


def weights_of(block: Rows) -> Floats:
    """The weights of a block's edges, empty where all are 1."""
    return floats_or_empty(block.weights)


def floats_or_empty(array: npt.NDArray[Any] | None) -> Floats:
    """None as an empty array, which kernels take for "none"."""
    return np.empty(0) if array is None else floats(array)


def byte_limit(memory: float) -> int:
    """Bytes as a kernel takes them: no limit is a very large one."""
    return int(min(memory, 2.0**62))


def flat(matrix: npt.NDArray[Any]) -> Floats:
    """A matrix of doubles, row by row."""
    return np.ascontiguousarray(matrix, dtype=np.float64).reshape(-1)


def words32(matrix: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """A matrix of integers, row by row."""
    return np.ascontiguousarray(matrix, dtype=np.uint32).reshape(-1)


def joined_words(words: Words, number: int) -> Integers:
    """Integers from ``number`` words each, least significant first."""
    columns = words.reshape(-1, number).astype(object)
    values: Integers = columns[:, 0]
    for k in range(1, number):
        values = values + columns[:, k] * 2 ** (64 * k)
    return values


def cancel_byte(byte: bytearray | None) -> npt.NDArray[np.uint8]:
    """A view of the caller's byte, which may change at any time; None: nothing is cancelled."""
    return np.frombuffer(bytearray() if byte is None else byte, dtype=np.uint8)


def sorted_rows(block: Rows) -> tuple[int, Ints, Ints]:
    """The number of behaviours, and the rows, as kernels take them."""
    return block.n_behaviours, ints(block.indptr), ints(block.indices)


def square(block: Rows) -> tuple[Ints, Ints, Floats]:
    """The rows of a square block; ValueError for any other."""
    if block.n_users != block.n_behaviours or block.n_users < 1:
        raise ValueError(f"{block.n_users} users and {block.n_behaviours} behaviours: not square")
    return ints(block.indptr), ints(block.indices), weights_of(block)

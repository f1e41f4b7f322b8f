"""Pieces: the allowed edges of a graph with the block of everything, as bounds need them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.counting.blocks.block import Block
from anonymatch.graph import Graph, Structure

__all__ = ["Floats", "Ints", "Pieces", "sums"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def sums(labels: Ints, values: Floats, n: int) -> Floats:
    """The sum of the values of each label."""
    return np.bincount(labels, weights=values, minlength=n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The allowed edges of a graph, by user, with the block of everything."""

    rows: Ints  # user of each allowed edge, rising
    columns: Ints
    log_weights: Floats | None  # natural logs; None: every weight is 1
    user_blocks: Ints
    behaviour_blocks: Ints  # of the behaviours that some matching uses
    degrees: Ints
    behaviour_degrees: Ints
    users: Ints  # a block
    behaviours: Ints

    @classmethod
    def of_graph(cls, graph: Graph, shape: Structure) -> Pieces:
        labels = shape.block_of_behaviour.astype(np.int64)
        used = labels >= 0
        renumbered = np.cumsum(used) - 1
        rows = np.repeat(np.arange(graph.n_users), graph.degrees)
        allowed = shape.block_of_user[rows] == labels[graph.indices]
        rows = rows[allowed]
        columns = renumbered[graph.indices[allowed]]
        user_blocks = shape.block_of_user.astype(np.int64)
        behaviour_blocks = labels[used]
        return cls(
            rows,
            columns,
            None if graph.weights is None else np.log(graph.weights[allowed]),
            user_blocks,
            behaviour_blocks,
            np.bincount(rows, minlength=graph.n_users),
            np.bincount(columns, minlength=len(behaviour_blocks)),
            np.bincount(user_blocks, minlength=shape.n_blocks),
            np.bincount(behaviour_blocks, minlength=shape.n_blocks),
        )

    @classmethod
    def of_block(cls, block: Block) -> Pieces:
        columns = block.indices.astype(np.int64)
        return cls(
            np.repeat(np.arange(block.n_users), np.diff(block.indptr)),
            columns,
            None if block.weights is None else np.log(block.weights.astype(np.float64)),
            np.zeros(block.n_users, np.int64),
            np.zeros(block.n_behaviours, np.int64),
            np.diff(block.indptr).astype(np.int64),
            np.bincount(columns, minlength=block.n_behaviours),
            np.array([block.n_users]),
            np.array([block.n_behaviours]),
        )

    @property
    def n_blocks(self) -> int:
        return len(self.users)

    @property
    def spare(self) -> Ints:
        return self.behaviours - self.users

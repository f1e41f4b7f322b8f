"""What follows from single candidates alone, one after another: the chain reaction of rings.

Whoever has one candidate left has it; then nobody else has, and others may have one left. This is
what studies of ring signatures call zero-mixin elimination. It misses closed sets: two users with
the same two candidates take both, and whoever has a third has that one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.graph.decomposition import require_matching
from anonymatch.graph.graph import Graph

__all__ = ["chain_reaction"]

Ints = npt.NDArray[np.int64]


def chain_reaction(graph: Graph) -> tuple[Ints, Ints]:
    """Of each user the behaviour that the chain reaction tells, -1 where it does not; and how many
    steps that took, 1 for whoever had one candidate from the start.

    Raises
    ------
    NoMatchingError
        If no matching covers all users.

    Examples
    --------
    >>> rings = Graph.from_rows(["10000", "11000", "00110", "00110", "01111"])
    >>> told, steps = chain_reaction(rings)
    >>> told.tolist(), steps.tolist()
    ([0, 1, -1, -1, -1], [1, 2, 0, 0, 0])
    """
    require_matching(graph)
    left = np.diff(graph.indptr).astype(np.int64)
    # The sum of a row's remaining behaviours is the behaviour itself once there is one.
    sums = np.add.reduceat(graph.indices.astype(np.int64), graph.indptr[:-1]) if len(left) else left
    order = np.argsort(graph.indices, kind="stable")
    rows = np.repeat(np.arange(graph.n_users), left)[order]
    begins = np.concatenate(([0], np.cumsum(graph.behaviour_degrees)))
    told, steps = np.full(graph.n_users, -1), np.zeros(graph.n_users, dtype=np.int64)
    waiting = np.flatnonzero(left == 1)
    step = 1
    while len(waiting):
        behaviours = sums[waiting]
        told[waiting], steps[waiting] = behaviours, step
        candidates: set[int] = set()
        for behaviour in behaviours.tolist():
            others = rows[begins[behaviour] : begins[behaviour + 1]]
            others = others[told[others] < 0]
            left[others] -= 1
            sums[others] -= behaviour
            candidates.update(others[left[others] == 1].tolist())
        waiting = np.array(sorted(candidates), dtype=np.int64)
        step += 1
    return told, steps

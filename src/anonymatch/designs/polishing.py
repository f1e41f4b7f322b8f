"""Annealing: a small graph gets better by moving one edge at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.designs.parts.part_edges import Array
from anonymatch.designs.parts.small import LARGEST, Bits, counts, tally
from anonymatch.designs.requests import one_of
from anonymatch.graph import Graph

__all__ = ["polish"]

_HOT, _COLD = 0.25, 0.0005  # temperatures at the beginning and the end, in natural logs
_BATCH = 48  # moves that are tried in one call


def polish(
    graph: Graph, *, objective: str = "matchings", steps: int = 10_000, seed: int = 0
) -> Graph:
    """The best graph met while moving edges of ``graph`` one at a time, never a worse one.

    Parameters
    ----------
    graph : Graph
        As many users as behaviours, at most 12; weights are not allowed.
    objective : {"matchings", "after_attack"}
        As for :func:`anonymatch.design`.
    steps : int
        Moves tried; 10,000 take about a second.
    seed : int
        The same seed gives the same graph.

    Examples
    --------
    >>> import anonymatch as am
    >>> from anonymatch.designs.designer import design
    >>> start = design(7, 34, method="paper").graph()
    >>> am.count(start).value, am.count(polish(start, seed=1)).value
    (464, 470)
    """
    one_of(objective, "objective", ("matchings", "after_attack"))
    steps, rng = whole(steps, "steps"), np.random.default_rng(whole(seed, "seed"))
    n = graph.n_users
    if graph.weighted or not n == graph.n_behaviours <= LARGEST:
        raise InputError(
            f"polish takes graphs without weights of up to {LARGEST} users and as many behaviours"
        )
    if graph.n_edges in (0, n * n):
        return graph
    rows = _rows(graph)
    value = best = _values([tuple(rows.tolist())], objective)[0]
    chosen, done = rows, 0
    while done < steps:
        tried = _moved(rows, rng)
        values = _values([tuple(matrix) for matrix in tried.tolist()], objective)
        luck = np.log(rng.random(_BATCH)).tolist()
        for after, probability, matrix in zip(values, luck, tried, strict=True):
            done += 1
            temperature = _HOT * (_COLD / _HOT) ** (done / steps)
            if after - value >= temperature * probability:
                rows, value = matrix, after
                break  # the moves behind it started from elsewhere
        if value > best:
            best, chosen = value, rows
    cells = chosen[:, None] >> np.arange(n) & 1
    return Graph.from_biadjacency(cells, graph.users, graph.behaviours)


def _rows(graph: Graph) -> Array:
    """Rows as integers."""
    bits = np.left_shift(1, graph.indices.astype(np.int64))
    return np.bincount(graph.rows(), bits, graph.n_users).astype(np.int64)


def _moved(rows: Array, rng: np.random.Generator) -> Array:
    """Matrices in which one edge has moved, at random."""
    n = len(rows)
    cells = (rows[:, None] >> np.arange(n) & 1).ravel()
    tried = np.tile(rows, (_BATCH, 1))
    for positions in (np.flatnonzero(cells), np.flatnonzero(cells == 0)):
        row, column = np.divmod(rng.choice(positions, _BATCH), n)
        tried[np.arange(_BATCH), row] ^= 1 << column
    return tried


def _values(matrices: Sequence[Bits], objective: str) -> list[float]:
    """Natural logs of what is to be made large."""
    if objective == "matchings":
        return [math.log(count) if count else -math.inf for count in counts(matrices)]
    return [
        math.log(result.count * result.attack) if result.count else -math.inf
        for result in tally(matrices)
    ]

"""Small graphs: many counts at once, and annealing that moves one edge at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.theory.designs.formulas import one_of
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["LARGEST", "Bits", "Tally", "counts", "polish", "tally"]


Array = npt.NDArray[np.int64]
LARGEST = _native.SMALL_BEHAVIOURS

Bits = tuple[int, ...]
"""A square 0/1 matrix as one integer a row; bit j is column j."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The count of a graph, and for each user the sum of squares of the counts through its edges.

    Exposing user x leaves ``squares[x] / count`` matchings on average.
    """

    count: int
    squares: tuple[int, ...]

    @property
    def attack(self) -> Fraction:
        """The share of the matchings that the best attack leaves; the count must not be 0."""
        return Fraction(min(self.squares), self.count**2)


def counts(matrices: Sequence[Bits]) -> list[int]:
    """Only the counts.

    Examples
    --------
    >>> counts([(0b11, 0b11), (0b01, 0b01)])
    [2, 0]
    """
    if not matrices:
        return []
    totals, _ = _native.small_counts(_Blocks.of(matrices), minors=False)
    return [int(total) for total in totals]


def tally(matrices: Sequence[Bits]) -> list[Tally]:
    """Counts and sums of squares of square matrices of up to :data:`LARGEST` users.

    Examples
    --------
    >>> tally([(0b11, 0b11), (0b111, 0b111, 0b011)])
    [Tally(count=2, squares=(2, 2)), Tally(count=4, squares=(6, 6, 8))]
    """
    if not matrices:
        return []
    blocks = _Blocks.of(matrices)
    totals, through = _native.small_counts(blocks, minors=True)
    squares = [value * value for value in through.tolist()]
    results = []
    begin = row = 0
    for rows, count in zip(matrices, totals.tolist(), strict=True):
        sums = []
        for _ in rows:
            end = int(blocks.row_offsets[row + 1])
            sums.append(sum(squares[begin:end]))
            begin, row = end, row + 1
        results.append(Tally(count, tuple(sums)))
    return results


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Square matrices one after another, as the kernel takes them."""

    user_offsets: npt.NDArray[np.int64]
    behaviour_counts: npt.NDArray[np.int64]
    row_offsets: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int64]
    weights: None = None

    @classmethod
    def of(cls, matrices: Sequence[Bits]) -> _Blocks:
        sizes = np.array([len(rows) for rows in matrices])
        words = np.array([row for rows in matrices for row in rows])
        cells = words[:, None] >> np.arange(LARGEST) & 1
        return cls(
            np.concatenate(([0], np.cumsum(sizes))),
            sizes,
            np.concatenate(([0], np.cumsum(cells.sum(axis=1)))),
            np.nonzero(cells)[1],
        )


# ---- annealing


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
    >>> start = am.design(7, 34, method="paper").graph()
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
        luck = np.log(rng.random(TUNING.moves)).tolist()
        for after, probability, matrix in zip(values, luck, tried, strict=True):
            done += 1
            temperature = TUNING.hot * (TUNING.cold / TUNING.hot) ** (done / steps)
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
    tried = np.tile(rows, (TUNING.moves, 1))
    for positions in (np.flatnonzero(cells), np.flatnonzero(cells == 0)):
        row, column = np.divmod(rng.choice(positions, TUNING.moves), n)
        tried[np.arange(TUNING.moves), row] ^= 1 << column
    return tried


def _values(matrices: Sequence[Bits], objective: str) -> list[float]:
    """Natural logs of what is to be made large."""
    if objective == "matchings":
        return [math.log(count) if count else -math.inf for count in counts(matrices)]
    return [
        math.log(result.count * result.attack) if result.count else -math.inf
        for result in tally(matrices)
    ]

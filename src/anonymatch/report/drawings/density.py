"""A graph of any size as shades: how many of the pairs in each part of it are edges."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.base.numbers import shown
from anonymatch.graph import Graph, check_graph
from anonymatch.report.drawings.matrices import cells_in_words, framed, shaded, shares_in_cells
from anonymatch.report.drawings.svg import Picture, element

__all__ = ["density"]

_SIDE = 480.0
_CELLS = (200, 100, 50)  # along a side, the finest first
_STRETCHES = 12_000  # of equal cells in a row; a picture with more is too large a file
_SHADES = 8

Ints = npt.NDArray[np.int64]


def density(
    graph: Graph, *, title: str, names: tuple[str, str] = ("users", "behaviours")
) -> Picture:
    """Users in rows and behaviours in columns as they were given: the darker, the more edges.

    There are up to 200 by 200 cells, one a pair in small graphs; fewer where neighbours differ so
    much that the picture would be large. The darkest cell is the fullest, however sparse the graph.

    Examples
    --------
    >>> from anonymatch.graph.families import ring
    >>> density(ring(1000, 10), title="Ring").words
    '1,000 users in rows and 1,000 behaviours in columns, both in the order given, summed up in 200
    by 200 cells, the darker the more pairs fit: 1 % of all pairs are edges, 100 % in the darkest
    cell.'
    """
    check_graph(graph)
    shades, fullest = _finest(graph)
    tall, wide = shades.shape
    longest = max(tall, wide, 1)
    cell = _SIDE / longest
    width, height = cell * wide, cell * tall
    users = f"{shown(graph.n_users)} {names[0]}"
    behaviours = f"{shown(graph.n_behaviours)} {names[1]}"
    words = (
        f"{users} in rows and {behaviours} in columns, both in the order given, "
        f"{cells_in_words(graph, (tall, wide), fullest)}"
    )
    inside = element(
        "g",
        *shaded(shades, _SHADES),
        class_="g0",
        transform=f"translate(24 20) scale({cell:.6g})",
    )
    return framed(inside, (width, height), (behaviours, users), title=title, words=words)


def _finest(graph: Graph) -> tuple[Ints, float]:
    """The shade of each cell, 0 where there is no edge, and the share in the fullest."""
    for most in _CELLS:
        cells = min(most, max(graph.n_users, 1)), min(most, max(graph.n_behaviours, 1))
        shares = shares_in_cells(graph, cells, graph.rows(), graph.indices)
        fullest = float(shares.max(initial=0.0))
        shades = np.ceil(shares / (fullest or 1.0) * _SHADES).astype(np.int64)
        if int(np.count_nonzero(np.diff(shades, axis=1))) <= _STRETCHES:
            break
    return shades, fullest

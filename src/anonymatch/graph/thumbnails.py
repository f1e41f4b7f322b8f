"""A graph as a small drawing for notebooks: dots and lines if it is small, else where edges are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from anonymatch.graph.graph import Graph

_DOTS = 16  # users or behaviours that are still told apart as dots
_SIDE = 128  # px
_CELLS = 32  # of a side of the matrix of a larger graph
_GAP = 12


def thumbnail(graph: Graph) -> str:
    """SVG of a graph; it follows the colour of the text around it.

    Examples
    --------
    >>> import anonymatch as am
    >>> thumbnail(am.Graph.from_rows(["10", "11"])).count("<line")
    3
    """
    users, behaviours = graph.n_users, graph.n_behaviours
    rows, columns = (np.asarray(ends, dtype=np.int64) for ends in (graph.rows(), graph.indices))
    if not users or not behaviours:
        return ""
    if max(users, behaviours) <= _DOTS:
        return _lines(users, behaviours, rows, columns)
    return _matrix(users, behaviours, rows, columns)


def _svg(height: float, words: str, parts: list[str]) -> str:
    return (
        f'<svg width="{_SIDE}" height="{height:g}" viewBox="0 0 {_SIDE} {height:g}" role="img" '
        f'aria-label="{words}" style="color:inherit">{"".join(parts)}</svg>'
    )


def _lines(
    users: int, behaviours: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> str:
    left, right, most = 8, _SIDE - 8, max(users, behaviours)
    lines = [
        f'<line x1="{left}" y1="{_GAP * (i + 1)}" x2="{right}" y2="{_GAP * (j + 1)}" '
        'stroke="currentColor" stroke-opacity="0.5"/>'
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    dots = [
        f'<circle cx="{x}" cy="{_GAP * (i + 1)}" r="3" fill="currentColor"/>'
        for x, number in ((left, users), (right, behaviours))
        for i in range(number)
    ]
    return _svg(_GAP * (most + 1), "users left, behaviours right", lines + dots)


def _matrix(
    users: int, behaviours: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]
) -> str:
    """Cells as dark as the share of their pairs that are edges."""
    down, across = min(users, _CELLS), min(behaviours, _CELLS)
    places = rows * down // users * across + columns * across // behaviours
    edges = np.bincount(places, minlength=down * across).reshape(down, across)
    heights = np.bincount(np.arange(users) * down // users, minlength=down)
    widths = np.bincount(np.arange(behaviours) * across // behaviours, minlength=across)
    shares = edges / np.outer(heights, widths)
    darkest = shares.max() or 1.0
    high, wide = _SIDE / down, _SIDE / across
    cells = [
        f'<rect x="{j * wide:g}" y="{i * high:g}" width="{wide:g}" height="{high:g}" '
        f'fill="currentColor" fill-opacity="{max(0.08, shares[i, j] / darkest):.2f}"/>'
        for i, j in np.argwhere(shares > 0).tolist()
    ]
    frame = (
        f'<rect width="{_SIDE}" height="{_SIDE}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.4"/>'
    )
    return _svg(_SIDE, "users down, behaviours across", [*cells, frame])

"""Edges of parts as two arrays: users and behaviours, by user and then by behaviour, from 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from anonymatch.graph import Graph, Names, join

__all__ = ["Array", "Cells", "complete_groups", "graph_of", "in_order", "spans", "with_links"]

Array = npt.NDArray[np.int64]
Cells = tuple[Array, Array]


def complete_groups(sizes: Sequence[int], first: int = 0, last: int | None = None) -> Cells:
    """All pairs within separate groups of these sizes, of the users from first to last - 1.

    Examples
    --------
    >>> [ends.tolist() for ends in complete_groups([2, 1])]
    [[0, 0, 1, 1, 2], [0, 1, 0, 1, 2]]
    """
    group = np.array(sizes, dtype=np.int64)
    begin = np.repeat(np.cumsum(group) - group, group)[first:last]
    return spans(begin, np.repeat(group, group)[first:last], first)


def spans(begins: Array, lengths: Array, first: int) -> Cells:
    """Of users from ``first`` on, so many behaviours each, from where they begin."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first + row, begins[row] + inside


def with_links(sizes: Sequence[int], links: Cells, first: int, last: int | None) -> Cells:
    """Complete groups and single edges between them, of the users from first to last - 1."""
    row, column = complete_groups(sizes, first, last)
    user, behaviour = links
    here = (user >= first) & (user < (sum(sizes) if last is None else last))
    return in_order(np.concatenate((row, user[here])), np.concatenate((column, behaviour[here])))


def in_order(row: Array, column: Array) -> Cells:
    """The same edges by user and then by behaviour."""
    order = np.lexsort((column, row))
    return row[order], column[order]


def graph_of(size: int, cells: Cells) -> Graph:
    """A graph of as many behaviours as users, both named by their numbers."""
    names = Names(range(size), "user"), Names(range(size), "behaviour")
    return Graph(*join(*names, *cells, None))

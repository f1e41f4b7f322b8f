"""A graph as a table: one row an edge, and rows that keep names without an edge or their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy.typing as npt

    from anonymatch.graph.graph import Graph


def frame_of(graph: Graph, *, text: bool) -> pl.DataFrame:
    """Columns user, behaviour and, if weighted, weight; ``text`` writes whole numbers as text.

    Reading takes names in order of first appearance. Where the edges alone would not give the
    order of this graph, all behaviours come first, each in a row without a user; a user without an
    edge has a row without a behaviour.
    """
    if not graph.n_users and not graph.n_behaviours:
        raise InputError("a table cannot hold an empty graph; write .json, .npz or .mtx")
    users = names_of(graph.users, "user", text=text)
    behaviours = names_of(graph.behaviours, "behaviour", text=text)
    row, column = graph.rows().astype(np.int64), graph.indices.astype(np.int64)
    at = np.arange(graph.n_edges)
    alone = np.flatnonzero(graph.degrees == 0)
    if len(alone):
        before = graph.indptr[alone]
        row, column, at = (
            np.insert(array, before, values)
            for array, values in ((row, alone), (column, -1), (at, -1))
        )
    if not _in_order(column, graph.n_behaviours):
        none = np.full(graph.n_behaviours, -1)
        row, at = np.concatenate((none, row)), np.concatenate((none, at))
        column = np.concatenate((np.arange(graph.n_behaviours), column))
    columns = [_gather("user", users, row), _gather("behaviour", behaviours, column)]
    if graph.weighted:
        columns.append(_gather("weight", _weights(graph), at))
    return pl.DataFrame(columns)


def names_of(names: Sequence[Hashable], noun: str, *, text: bool) -> pl.Series:
    """Names as a column: all text or all whole numbers; other names have no place in a file."""
    if isinstance(names, range):
        numbers = pl.Series(noun, np.arange(len(names)))
        return numbers.cast(pl.String) if text else numbers
    kinds = {type(name) for name in names}
    if not kinds <= {str, int}:
        odd = next(name for name in names if type(name) not in (str, int))
        raise InputError(
            f"{noun} {quoted(odd)} is a {type(odd).__name__}; files hold names that are text or "
            "whole numbers"
        )
    if text:
        written = [str(name) for name in names]
        if len(kinds) == 2 and len(set(written)) < len(written):
            raise InputError(f"two {noun}s would have the same name as text; rename one")
        return _text(noun, written)
    if len(kinds) == 2:
        raise InputError(f"{noun}s are named by text and by whole numbers; name them all alike")
    if kinds == {str}:
        return _text(noun, [str(name) for name in names])
    try:
        return pl.Series(noun, list(names), dtype=pl.Int64)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        raise InputError(f"a {noun} is a number of more than 64 bits; use text") from None


def _text(noun: str, names: list[str]) -> pl.Series:
    try:
        return pl.Series(noun, names, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(f"{noun} {quoted(error.object)} cannot be written as UTF-8") from None


def _weights(graph: Graph) -> pl.Series:
    """Whole numbers or floats; text such as 1/3 where float64 cannot hold some weight."""
    weights, exact = graph.weights, graph.exact_weights if graph.rounded else None
    if exact is not None:
        return pl.Series("weight", [str(value) for value in exact.tolist()], dtype=pl.String)
    if weights is None:
        return pl.Series("weight", [], dtype=pl.Float64)
    whole = bool((weights == np.floor(weights)).all() and weights.max() <= 2**53)
    return pl.Series("weight", weights.astype(np.int64) if whole else weights)


def _gather(name: str, values: pl.Series, at: npt.NDArray[np.int64]) -> pl.Series:
    """The values at these positions, null where the position is -1."""
    missing = at < 0
    if not missing.any():
        return values.gather(at).alias(name)
    padded = values.extend_constant(None, 1)
    return padded.gather(np.where(missing, len(values), at)).alias(name)


def _in_order(column: npt.NDArray[np.int64], size: int) -> bool:
    """Whether 0, 1, ..., size - 1 all appear, each for the first time in that order."""
    present = column[column >= 0]
    different, first = np.unique(present, return_index=True)
    return len(different) == size and bool((np.diff(first) > 0).all())

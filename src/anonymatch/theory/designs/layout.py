"""Where the parts of a design lie: its edges piece by piece, as a graph, and into files.

Parts follow each other along the diagonal. Spare edges lie above it, from users of earlier parts
to behaviours of later ones, row by row: there they are in no matching.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch._native import LARGEST
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.base.text import Call
from anonymatch.graph import Graph, files
from anonymatch.tabular import free_memory
from anonymatch.theory.designs.parts import Array, Cells, Composition, Part, graph_of, spans
from anonymatch.theory.designs.tuning import TUNING

if TYPE_CHECKING:
    import os

    import polars as pl

__all__ = ["STREAMED", "assignment", "edges", "graph", "write"]

STREAMED = (".csv", ".tsv", ".parquet")


def edges(design: Composition, *, spare: bool = True) -> Iterator[Cells]:
    """All edges in pieces of about a million; the spare ones come last."""
    begin = 0
    for part in design.parts:
        for piece in _of_part(part):
            yield begin + piece[0], begin + piece[1]
        begin += part.size * part.number
    if spare:
        yield from _above(design)


def graph(design: Composition, *, spare: bool) -> Graph:
    """The whole graph; refuses one that is too large."""
    total = sum(part.edges * part.number for part in design.parts) + spare * design.spare
    if total > LARGEST:
        raise InputError(
            f"a graph holds at most {LARGEST} edges, this design has {total}; ",
            Call("write() it to", "save it as"),
            " a .csv or .parquet file instead",
        )
    _check_memory(total * TUNING.edge_bytes, f"a graph of {total} edges")
    pieces = list(edges(design, spare=spare))
    row, column = (np.concatenate([piece[i] for piece in pieces]) for i in (0, 1))
    return graph_of(design.users, (row, column))


def assignment(design: Composition) -> Array:
    """The number of the part of each user: 0, 0, 0, 1, 1, ..."""
    _check_memory(16 * design.users, f"the parts of {design.users} users")
    sizes = np.repeat([part.size for part in design.parts], [part.number for part in design.parts])
    return np.repeat(np.arange(len(sizes)), sizes)


def write(design: Composition, path: str | os.PathLike[str], *, spare: bool) -> None:
    """Write the edges; .csv, .tsv and .parquet piece by piece, other formats as a whole graph."""
    file = as_path(path)
    suffix = file.suffix.lower()
    if suffix not in STREAMED:
        files.write(graph(design, spare=spare), file)
        return
    save = (
        _save_parquet
        if suffix == ".parquet"
        else partial(_save_text, separator="," if suffix == ".csv" else "\t")
    )
    with unfinished(file) as beside:
        save(design, beside, spare=spare)


def _of_part(part: Part) -> Iterator[Cells]:
    """The edges of equal parts: several parts at a time, or a large part in several pieces."""
    shape, size = part.shape, part.size
    if shape.edges > TUNING.piece:
        users = max(1, TUNING.piece * size // shape.edges)
        for copy in range(part.number):
            for first in range(0, size, users):
                row, column = shape.cells(first, min(first + users, size))
                yield copy * size + row, copy * size + column
        return
    row, column = shape.cells()
    copies = max(1, TUNING.piece // shape.edges)
    for first in range(0, part.number, copies):
        offset = size * np.arange(first, min(first + copies, part.number))[:, None]
        yield (offset + row).ravel(), (offset + column).ravel()


def _above(design: Composition) -> Iterator[Cells]:
    """The spare edges: each user in turn gets the behaviours of all later parts."""
    left, begin, n = design.spare, 0, design.users
    for part in design.parts:
        for _ in range(part.number):
            end = begin + part.size
            room = n - end
            for user in range(begin, end):
                if not left:
                    return
                taken = min(left, room)
                for first in range(0, taken, TUNING.piece):
                    more = min(TUNING.piece, taken - first)
                    yield spans(np.array([end + first]), np.array([more]), user)
                left -= taken
            begin = end


def _frames(design: Composition, spare: bool) -> Iterator[pl.DataFrame]:
    """Tables of users and behaviours.

    Readers number names by first appearance, so all behaviours come first, without a user, where
    the edges would give them another order.
    """
    import polars as pl

    if design.spare * spare or any(part.kind != "complete" for part in design.parts):
        for first in range(0, design.users, TUNING.piece):
            behaviours = np.arange(first, min(first + TUNING.piece, design.users))
            nobody = pl.Series("user", [None], dtype=pl.Int64).new_from_index(0, len(behaviours))
            yield pl.DataFrame([nobody, pl.Series("behaviour", behaviours)])
    for row, column in edges(design, spare=spare):
        yield pl.DataFrame({"user": row, "behaviour": column})


def _save_text(design: Composition, path: Path, *, spare: bool, separator: str) -> None:
    with path.open("xb") as file:
        for number, frame in enumerate(_frames(design, spare)):
            frame.write_csv(file, separator=separator, include_header=number == 0)


def _save_parquet(design: Composition, path: Path, *, spare: bool) -> None:
    import polars as pl
    from polars.io.plugins import register_io_source

    def source(
        with_columns: Any, predicate: Any, n_rows: Any, batch_size: Any
    ) -> Iterator[pl.DataFrame]:
        return _frames(design, spare)

    path.open("xb").close()  # so that a missing folder is an OSError
    schema = pl.Schema({"user": pl.Int64, "behaviour": pl.Int64})
    register_io_source(source, schema=schema).sink_parquet(path)


def _check_memory(needed: int, what: str) -> None:
    free = free_memory()
    if needed > free:
        raise InputError(
            f"{what} would take about {needed / 2**30:.1f} GiB of memory and "
            f"{free / 2**30:.1f} GiB are free; ",
            Call("write() the design to", "save the design as"),
            " a .csv or .parquet file",
        )

"""Parquet through polars: columns user, behaviour and, if weighted, weight, as in CSV.

Names are text or whole numbers and stay what they are. A null behaviour keeps a user without an
edge, a null user keeps a behaviour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from anonymatch.errors import InputError
from anonymatch.graph import limits, tables
from anonymatch.graph.edges import EdgeError
from anonymatch.graph.file_formats.rows import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from anonymatch.graph.bipartite import Graph
    from anonymatch.graph.file_formats.source import Source
    from anonymatch.graph.inputs import Parts

_BYTES_A_ROW = 100


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    frame = load(source, _wanted)
    if frame.is_empty():
        raise InputError("it has columns and no rows; add one row an edge")
    try:
        return tables.convert(frame)
    except EdgeError as error:
        rows = tuple(row + 1 for row in error.positions)
        raise InputError(f"{tables.places('row', rows)}: {error}") from None


def load(source: Source, wanted: Callable[[dict[str, pl.DataType]], list[str]]) -> pl.DataFrame:
    """The table; ``wanted`` sees the types and names the columns to read, others are all null."""
    with source.path.open("rb") as file:
        head = file.read(4)
        size = file.seek(0, 2)
        file.seek(max(size - 4, 0))
        tail = file.read()
    if head != b"PAR1":
        raise InputError("it is no Parquet file; give it the right suffix")
    if tail != b"PAR1" or size < 12:
        raise InputError("the Parquet data is cut off; copy the file again")
    try:
        return _load(source, size, wanted)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"the Parquet data is damaged ({_first_line(error)})") from None


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write the edges by user, with rows that keep names and their order where edges do not."""
    frame_of(graph, text=False).write_parquet(stream)


def _wanted(schema: dict[str, pl.DataType]) -> list[str]:
    tables.check_types(schema)
    return list(tables.meant(list(schema)))


def _load(
    source: Source, size: int, wanted: Callable[[dict[str, pl.DataType]], list[str]]
) -> pl.DataFrame:
    """The table, after its types and its unfolded size were looked at piece by piece."""
    lazy = pl.scan_parquet(source.path, glob=False, hive_partitioning=False)
    schema = dict(lazy.collect_schema())
    chosen = wanted(schema)
    rows = int(lazy.select(pl.len()).collect(engine="streaming").item())
    limits.check_memory(rows * _BYTES_A_ROW, f"a table of {rows} rows")
    texts = [name for name in chosen if schema[name] == pl.String]
    if texts:
        lengths = lazy.select(pl.col(texts).str.len_bytes().cast(pl.UInt64).sum())
        limits.check_unfolded(sum(lengths.collect(engine="streaming").row(0)), size)
    frame = lazy.select(chosen).collect()
    ignored = [pl.Series(name, [None] * rows) for name in schema if name not in chosen]
    return frame.with_columns(ignored) if ignored else frame


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

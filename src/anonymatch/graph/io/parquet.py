"""Parquet through polars: columns user, behaviour and, if weighted, weight, as in CSV.

Names are text or whole numbers and stay what they are. A null behaviour keeps a user without an
edge, a null user keeps a behaviour.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from anonymatch.base.errors import InputError
from anonymatch.graph.edges import EdgeError
from anonymatch.graph.io import limits, tables
from anonymatch.graph.io.other_process import why_unreadable
from anonymatch.graph.io.panics import without_panics
from anonymatch.graph.io.rows import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts
    from anonymatch.graph.io.source import Source

_BYTES_A_ROW = 100  # of names as whole numbers or short text, their codes and the sorts
_BYTES_A_FIELD = 17
_MOST_COLUMNS = 100_000


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    frame = load(source, _wanted)
    if frame.is_empty():
        raise InputError("it has columns and no rows; add one row an edge")
    try:
        return tables.convert(frame)
    except EdgeError as error:
        rows = tuple(row + 1 for row in error.positions)
        raise error.at(*rows, noun="row") from None


def load(
    source: Source,
    wanted: Callable[[dict[str, pl.DataType]], list[str]],
    bytes_a_row: int = _BYTES_A_ROW,
) -> pl.DataFrame:
    """The table; ``wanted`` sees the types and names the columns to read, others are all null.

    ``bytes_a_row`` is what the caller will need at its peak, for a table of two columns.
    """
    size = _check_ends(source)
    _check_readable(source)
    try:
        with without_panics():
            return _load(source, size, wanted, bytes_a_row)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"the Parquet data is damaged ({_first_line(error)})") from None


def columns(source: Source) -> list[str]:
    """The names of the columns; none where the file is damaged, which :func:`load` tells."""
    try:
        _check_ends(source)
        _check_readable(source)
        with without_panics():
            return list(pl.read_parquet_schema(source.path))
    except InputError:
        return []
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return []


def _check_ends(source: Source) -> int:
    """Refuse what does not begin and end as Parquet does; its size."""
    with source.path.open("rb") as file:
        head = file.read(4)
        size = file.seek(0, 2)
        file.seek(max(size - 4, 0))
        tail = file.read()
    if head != b"PAR1":
        raise InputError("it is no Parquet file; give it the right suffix")
    if tail != b"PAR1" or size < 12:
        raise InputError("the Parquet data is cut off; copy the file again")
    return size


def _check_readable(source: Source, columns: list[str] | None = None) -> None:
    check_readable(source.path, columns)


def check_readable(path: Path, columns: list[str] | None = None) -> None:
    """Refuse a file, or columns of it, that another process cannot read."""
    reason = why_unreadable(path, columns)
    if reason:
        raise InputError(f"the Parquet data is damaged ({reason})")


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write the edges by user, with rows that keep names and their order where edges do not."""
    frame_of(graph, text=False).write_parquet(stream)


def _wanted(schema: dict[str, pl.DataType]) -> list[str]:
    tables.check_types(schema)
    return list(tables.meant(list(schema)))


def _load(
    source: Source,
    size: int,
    wanted: Callable[[dict[str, pl.DataType]], list[str]],
    bytes_a_row: int,
) -> pl.DataFrame:
    """The table, after its types and its unfolded size were looked at piece by piece."""
    lazy = pl.scan_parquet(source.path, glob=False, hive_partitioning=False)
    schema = dict(lazy.collect_schema())
    if len(schema) > _MOST_COLUMNS:
        raise InputError(f"it has {len(schema)} columns; at most {_MOST_COLUMNS} are read")
    chosen = wanted(schema)
    rows = int(lazy.select(pl.len()).collect(engine="streaming").item())
    needed = rows * (bytes_a_row + _BYTES_A_FIELD * max(len(chosen) - 2, 0))
    limits.check_memory(needed, f"a table of {rows} rows", packed=size)
    _check_readable(source, chosen)
    texts = [name for name in chosen if schema[name] == pl.String]
    if texts:
        lengths = lazy.select(pl.col(texts).str.len_bytes().cast(pl.UInt64).sum())
        limits.check_unfolded(sum(lengths.collect(engine="streaming").row(0)), size)
    frame = lazy.select(chosen).collect()
    ignored = [pl.lit(None).alias(name) for name in schema if name not in chosen]
    return frame.with_columns(ignored) if ignored else frame


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

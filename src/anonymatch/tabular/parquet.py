"""Parquet through polars: columns that are wanted, with their types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from anonymatch.base.errors import InputError
from anonymatch.tabular import limits
from anonymatch.tabular.files import Source
from anonymatch.tabular.guards import why_unreadable, without_panics

_BYTES_A_ROW = 100  # of names as whole numbers or short text, their codes and the sorts
_BYTES_A_FIELD = 17
_MOST_COLUMNS = 100_000


def load_parquet(
    source: Source,
    wanted: Callable[[dict[str, pl.DataType]], list[str]],
    bytes_a_row: int = _BYTES_A_ROW,
) -> pl.DataFrame:
    """The table; ``wanted`` sees the types and names the columns to read, others are all null.

    ``bytes_a_row`` is what the caller will need at its peak, for a table of two columns.
    """
    size = _check_ends(source)
    check_readable(source.path)
    try:
        with without_panics():
            return _load(source, size, wanted, bytes_a_row)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise InputError(f"the Parquet data is damaged ({_first_line(error)})") from None


def columns(source: Source) -> list[str]:
    """The names of the columns; none where the file is damaged: reading it says so."""
    try:
        _check_ends(source)
        check_readable(source.path)
        with without_panics():
            return list(pl.read_parquet_schema(source.path))
    except (InputError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
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


def check_readable(path: Path, columns: list[str] | None = None) -> None:
    """Refuse a file, or columns of it, that another process cannot read."""
    reason = why_unreadable(path, columns)
    if reason:
        raise InputError(f"the Parquet data is damaged ({reason})")


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
    check_readable(source.path, chosen)
    texts = [name for name in chosen if schema[name] == pl.String]
    if texts:
        lengths = lazy.select(pl.col(texts).str.len_bytes().cast(pl.UInt64).sum())
        limits.check_unfolded(sum(lengths.collect(engine="streaming").row(0)), size)
    frame = lazy.select(chosen).collect()
    ignored = [pl.lit(None).alias(name) for name in schema if name not in chosen]
    return frame.with_columns(ignored) if ignored else frame


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]

"""Save tables of results: complete, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.errors import InputError
from anonymatch.whole_file import check_place, unfinished

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "save"]

_WRITERS = {
    ".csv": lambda frame, file: frame.write_csv(file),
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".json": lambda frame, file: frame.write_json(file),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
}


def check_target(path: Path | None) -> None:
    """Refuse a place that cannot be written before any work is done."""
    if path is None:
        return
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path}: its suffix tells no known format; known are {' '.join(_WRITERS)}"
        )
    check_place(path)


def save(columns: dict[str, Any], path: Path) -> None:
    """Write columns of equal length as a table; the suffix tells the format."""
    import polars as pl

    with unfinished(path) as beside:
        frame = pl.DataFrame(
            {
                title: values if not isinstance(values, list) else _column(values)
                for title, values in columns.items()
            }
        )
        with beside.open("xb") as file:
            _WRITERS[path.suffix.lower()](frame, file)


def _column(values: list[Any]) -> pl.Series:
    """Names as a column: whole numbers if all are, else text."""
    import polars as pl

    if all(type(value) is int for value in values):
        try:
            return pl.Series(values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            pass
    return pl.Series([str(value) for value in values], dtype=pl.String)

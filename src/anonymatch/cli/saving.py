"""Save tables of results: complete, or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "save"]

_WRITERS = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".json": lambda frame, path: frame.write_json(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}


def check_target(path: Path | None) -> None:
    """Refuse a place that cannot be written before any work is done."""
    if path is None:
        return
    if path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path}: its suffix tells no known format; known are {' '.join(_WRITERS)}"
        )
    if path.is_dir():
        raise InputError(f"{path}: it is a folder; give the name of a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist; make it first")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: no permission to write there; choose another folder")


def save(columns: dict[str, Any], path: Path) -> None:
    """Write columns of equal length as a table; the suffix tells the format."""
    import polars as pl

    frame = pl.DataFrame(
        {
            title: values if not isinstance(values, list) else _column(values)
            for title, values in columns.items()
        }
    )
    with _unfinished(path) as place:
        try:
            _WRITERS[path.suffix.lower()](frame, place)
        except OSError as error:
            raise InputError(f"{path}: cannot write it ({error.strerror or error})") from None


def _column(values: list[Any]) -> pl.Series:
    """Names as a column: whole numbers if all are, else text."""
    import polars as pl

    if all(type(value) is int for value in values):
        try:
            return pl.Series(values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            pass
    return pl.Series([str(value) for value in values], dtype=pl.String)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A name beside ``path`` that becomes ``path`` when all went well."""
    place = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield place
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)

"""Save tables of results: complete, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymatch.base.atomic_files import check_path, unfinished
from anonymatch.base.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["check_target", "check_targets", "save", "save_pieces"]


def _write_text(frame: pl.DataFrame, file: Any, separator: str = ",") -> None:
    from anonymatch.tabular import plain_table

    plain_table(frame).write_csv(file, separator=separator)


_WRITERS: dict[str, Callable[[pl.DataFrame, Any], object]] = {
    ".csv": _write_text,
    ".tsv": partial(_write_text, separator="\t"),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".json": lambda frame, file: frame.write_json(file),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
}


def check_targets(read: Iterable[Path], written: Iterable[Path]) -> None:
    """Refuse, before any work is done, to write over what is read, and to one place twice."""
    sources, taken = list(read), list[Path]()
    for path in written:
        if any(_same(path, source) or _part(path, source) for source in sources):
            raise InputError(f"{path}: it is the file to read; give another name to write to")
        if any(path == other or _same(path, other) for other in taken):
            raise InputError(f"{path}: it would be written twice; give each its own name")
        check_path(path)
        taken.append(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two names are of one file that is there."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):
        return False


def _part(path: Path, source: Path) -> bool:
    """Whether a file that is there is one that is read along with a simulator's log or folder."""
    from anonymatch.mixes import PARTS

    if path.name not in PARTS or not os.path.isfile(path):
        return False
    if not os.path.isdir(source) and source.name not in PARTS:
        return False
    folder = source if os.path.isdir(source) else source.parent
    return any(_same(folder, above) for above in (path.parent, path.parent.parent))


_PIECEWISE = (".csv", ".tsv", ".parquet")


def check_target(path: Path | None) -> None:
    """Refuse a table whose suffix tells no format before any work is done."""
    if path is not None and path.suffix.lower() not in _WRITERS:
        raise InputError(
            f"{path}: its suffix tells no known format; known are {' '.join(_WRITERS)}"
        )


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


def save_pieces(pieces: Iterator[pl.DataFrame], path: Path) -> int:
    """Write a table piece by piece and return its rows; only one piece is in memory at a time."""
    import polars as pl

    suffix, rows = path.suffix.lower(), 0
    if suffix not in _PIECEWISE:
        raise InputError(f"{path}: a log is written as {' or '.join(_PIECEWISE)}")
    with unfinished(path) as beside:
        text = beside.with_name(f"{beside.name}.csv") if suffix == ".parquet" else beside
        try:
            with text.open("xb") as file:
                for piece in pieces:
                    piece.write_csv(
                        file, include_header=not rows, separator="\t" if suffix == ".tsv" else ","
                    )
                    rows += piece.height
            if suffix == ".parquet":
                kinds = {"message": pl.String, "departure": pl.String, "probability": pl.Float64}
                pl.scan_csv(text, schema=kinds).sink_parquet(beside)
        finally:
            if text != beside:
                text.unlink(missing_ok=True)
    return rows


def _column(values: list[Any]) -> pl.Series:
    """Names as a column: whole numbers if all are, else text."""
    import polars as pl

    if all(type(value) is int for value in values):
        try:
            return pl.Series(values, dtype=pl.Int64)
        except (OverflowError, TypeError):
            pass
    return pl.Series([str(value) for value in values], dtype=pl.String)

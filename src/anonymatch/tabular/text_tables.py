"""Tables from strangers as text: CSV, TSV and Parquet, and their columns by name."""

from __future__ import annotations

import os
from collections import Counter
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, meant_instead, quoted
from anonymatch.graph import FORMATS, Source, reading

if TYPE_CHECKING:
    import polars as pl

__all__ = ["find_column", "numbers", "read_text_table", "shown_separator"]

_SEPARATORS = {suffix: kind.separator for suffix, kind in FORMATS.items() if kind.separator}
_HEADER = 1_000_000  # bytes of a first line
_END = 4096  # bytes in which blank lines at the end are looked for
_BYTES_A_ROW = 400  # columns, names as Python has them, and sorts, at their peak
_A_DAY = {None: 1, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_FIRST_DAY, _LAST_DAY = (
    day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max)
)


def read_text_table(path: str | os.PathLike[str], *, separator: str | None = None) -> pl.DataFrame:
    """A table whose columns are all text; an empty field is null.

    Parameters
    ----------
    path : path
        A .csv or .tsv file, maybe with .gz after it, or a .parquet file.
    separator : str, optional
        Between fields of a text file; default by suffix.
    """
    file = as_path(path)
    packed = file.suffix.lower() == ".gz"
    suffix = (file.suffixes[-2] if packed and len(file.suffixes) > 1 else file.suffix).lower()
    with reading(file):
        if suffix == ".parquet":
            frame = _parquet(Source(file, packed=False))
        elif separator is None and suffix not in _SEPARATORS:
            raise InputError("its suffix tells no table; known are .csv .tsv .parquet")
        else:
            from anonymatch.graph import delimited  # imports polars

            source = Source(file, packed)
            mark = separator or _SEPARATORS[suffix]
            frame, _ = delimited.load(source, mark, _check_columns, _BYTES_A_ROW)
            if not packed and frame.width > 1:
                frame = _without_blank_end(frame, file)
        if frame.is_empty():
            raise InputError("it has columns and no rows")
    return frame


def _without_blank_end(frame: pl.DataFrame, file: Path) -> pl.DataFrame:
    """A table without the blank lines at the end of its file, which are no rows."""
    with file.open("rb") as source:
        source.seek(max(file.stat().st_size - _END, 0))
        end = source.read()
    kept = end.rstrip(b"\r\n")
    blank = end[len(kept) :].count(b"\n") - 1
    rows = frame.tail(max(blank, 0))
    empty = all(column.null_count() == rows.height for column in rows.iter_columns())
    return frame.head(frame.height - rows.height) if empty else frame


def shown_separator(path: str | os.PathLike[str]) -> str | None:
    r"""What is between the names of columns of a .csv file, if it is no comma; None otherwise.

    Spreadsheets write semicolons where the comma is in numbers, and so does ARX.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "released.csv")
    ...     _ = file.write_text("age;zip\n20-29;10**\n")
    ...     shown_separator(file)
    ';'
    """
    file = as_path(path)
    if file.suffix.lower() != ".csv":
        return None
    with reading(file), file.open("rb") as source:
        header = source.readline(_HEADER)
    if b"," in header:
        return None
    return next((mark for mark in (";", "\t") if mark.encode() in header), None)


def find_column(frame: pl.DataFrame, *names: str) -> str:
    """The first of these columns that the table has, whatever the case of its letters."""
    there = {name.strip().lower(): name for name in reversed(frame.columns)}
    for name in names:
        if name.lower() in there:
            return there[name.lower()]
    present = listed(frame.columns)
    near = meant_instead(names, frame.columns)
    raise InputError(f"there is no column {quoted(names[0])}; the columns are {present}{near}")


def numbers(column: pl.Series) -> npt.NDArray[np.float64]:
    """A column of text as finite numbers; an InputError names the first row that is none."""
    import polars as pl

    values = column.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = values.is_null() | ~values.is_finite().fill_null(value=False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise InputError(f"{column.name} is {_shown(column[row])}; give a finite number").at(
            row + 1, noun="row"
        )
    return values.to_numpy().astype(np.float64)


def _parquet(source: Source) -> pl.DataFrame:
    import polars as pl
    from polars import selectors as cs

    from anonymatch.graph import parquet

    def wanted(schema: dict[str, pl.DataType]) -> list[str]:
        for name, kind in schema.items():
            if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
                raise InputError(f"column {quoted(name)} holds {kind}; give text, numbers or dates")
        return list(schema)

    frame = parquet.load(source, wanted, _BYTES_A_ROW)
    for column in frame.select(cs.date() | cs.datetime()):
        days = column.to_physical() // _A_DAY[getattr(column.dtype, "time_unit", None)]
        far = (~days.is_between(_FIRST_DAY, _LAST_DAY)).fill_null(value=False).arg_true()
        if len(far):  # it is not shown: polars cannot write every date that it can hold
            raise InputError(
                f"{column.name} is no date of the years 1 to 9999; write it as text"
            ).at(int(far[0]) + 1, noun="row")
    return frame.with_columns(pl.all().cast(pl.String))


def _check_columns(columns: list[str]) -> None:
    if len(set(columns)) < len(columns):
        twice = next(name for name, times in Counter(columns).items() if times > 1)
        raise InputError(f"column {quoted(twice)} is there twice; keep one").at(1)


def _shown(value: str | None) -> str:
    if value is None:
        return "empty"
    return repr(value if len(value) <= 40 else value[:37] + "...")

"""Tables from strangers: their known columns under one name, and where each row stands."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from json import JSONDecoder
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
from polars import selectors as cs

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError, Where
from anonymatch.base.text import listed, quoted, several
from anonymatch.tabular import delimited, limits, parquet
from anonymatch.tabular.columns import Columns, Needed
from anonymatch.tabular.files import SEPARATORS, TABLES, Source, reading, suffix_of
from anonymatch.tabular.json_files import json_lines

_BYTES_A_ROW = 400  # columns, names as Python has them, and sorts, at their peak
_UNFOLDS = 10  # values and the text, as a multiple of the bytes of JSON lines
_BYTES_A_LINE = 100  # of columns, even if a line is empty
_END = 4096  # bytes in which blank lines at the end are looked for
_A_DAY = {None: 1, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
_FIRST_DAY, _LAST_DAY = (
    day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max)
)
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no", "")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The known columns of a file under the names of what they mean; empty rows are left out.

    ``row_of`` has the row of the file, from 0, of each row of the table; ``where`` turns it into
    where that is: ``line 7``. ``titles`` has what the file calls each column, and ``ignored`` the
    columns that are not known.
    """

    path: Path
    frame: pl.DataFrame
    row_of: pl.Series
    where: Callable[[int], Where]
    notes: tuple[str, ...]
    titles: Mapping[str, str]
    ignored: tuple[str, ...]

    def at(self, rows: pl.Series) -> Table:
        """Some rows of the table."""
        return replace(self, frame=self.frame[rows], row_of=self.row_of.gather(rows))

    def where_of(self, row: int) -> Where:
        """Where a row of the table is in its file."""
        return self.where(int(self.row_of[row]))

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raise the error about a row of the table."""
        raise InputError(what, where=self.where_of(row)).about(self.path)

    def position(self, row: int) -> str:
        """File and line of a row of the table."""
        return f"{self.path}: {self.where_of(row)}"

    @property
    def columns(self) -> list[str]:
        """All columns as the file calls them."""
        return [*self.titles.values(), *self.ignored]

    def titled(self, name: str) -> str:
        """Where a column is, for errors: nothing if the file calls it by its usual name."""
        title = self.titles.get(name, name)
        return "" if title.strip().lower() == name else f" in column {quoted(title)}"

    def column(self, name: str) -> pl.Series | None:
        """A column as the file has it; None if there is none."""
        return self.frame.get_column(name) if name in self.frame.columns else None

    def text(self, name: str) -> pl.Series:
        """A column as text; its values are null where there is no such column."""
        column = self.column(name)
        return (
            pl.Series(name, [None] * self.frame.height, dtype=pl.String)
            if column is None
            else column.cast(pl.String)
        )

    def numbers(self, name: str, *, gaps: bool = False) -> Floats:
        """A column as finite numbers; with ``gaps`` an empty field is NaN, else it is refused."""
        given = self.text(name)
        values = given.str.strip_chars().cast(pl.Float64, strict=False)
        wrong = values.is_null() | ~values.is_finite().fill_null(value=False)
        if gaps:
            wrong &= given.is_not_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            shown = "empty" if given[row] is None else quoted(given[row], 40)
            self.refuse(row, f"{self.titles[name].strip()} is {shown}; give a finite number")
        return values.fill_null(math.nan).to_numpy().astype(np.float64)

    def flags(self, rows: Ints | None = None, *names: str) -> Bools | None:
        """Which of these rows are flagged in one of the columns; None if no row says anything."""
        flagged: Bools | None = None
        for name in names:
            column = self.column(name)
            if column is None:
                continue
            given = column if rows is None else column.gather(rows)
            if given.null_count() == len(given):
                continue
            if given.dtype == pl.Boolean:
                true = given.fill_null(value=False)
            else:
                text = given.cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
                true = text.is_in(_TRUE)
                wrong = (~(true | text.is_in(_FALSE))).arg_true()
                if len(wrong):
                    at = int(wrong[0])
                    what = f"{name} is {quoted(given[at])}; write true or false"
                    self.refuse(at if rows is None else int(rows[at]), what)
            flagged = true.to_numpy() if flagged is None else flagged | true.to_numpy()
        return flagged


def read_table(
    path: Path,
    columns: Columns,
    needed: Needed | None = None,
    *,
    names: Mapping[str, str] | None = None,
) -> Table:
    """The table of a .csv, .tsv, .parquet or .jsonl file; text may end in .gz.

    Parameters
    ----------
    path : Path
    columns : Columns
        Those that are read.
    needed : sequence of tuples of str, optional
        Groups of columns, of each of which there must be one; default: those that are required.
    names : mapping, optional
        What some columns are called, by their meaning; None where a caller cannot say.

    Raises
    ------
    InputError
        The file, its line and what is wrong there.
    """
    suffix, packed = suffix_of(path)
    with reading(path):
        known = columns.named(names or {})
        groups = columns.needed if needed is None else needed

        def check(titles: Sequence[str]) -> None:
            known.check(titles, groups, may_name=names is not None)

        frame, where = _FORMATS[suffix](Source(path, packed), suffix, known, check)
        meanings = ((title, known.meaning(title)) for title in frame.columns)
        meant = {title: meaning for title, meaning in meanings if meaning is not None}
        ignored = tuple(title for title in frame.columns if title not in meant)
        chosen = frame.select(*meant).rename(meant)
        rows = chosen.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
        if not len(rows):
            raise InputError("it has columns and no rows; add one row a message")
        notes = [f"ignored columns: {listed(ignored)}"] if ignored else []
        if len(rows) < chosen.height:
            notes.append(f"ignored {several(chosen.height - len(rows), 'empty row')}")
            chosen = chosen[rows]
    return Table(
        path,
        chosen,
        rows,
        where,
        tuple(f"{path}: {note}" for note in notes),
        {meaning: title for title, meaning in meant.items()},
        ignored,
    )


_Check = Callable[[Sequence[str]], None]
_Read = tuple[pl.DataFrame, Callable[[int], Where]]


def _text(source: Source, suffix: str, columns: Columns, check: _Check) -> _Read:
    separator = SEPARATORS[suffix]
    frame, data = delimited.load_text(source, separator, check, _BYTES_A_ROW)
    return frame, lambda row: Where(lines=(delimited.line_of_row(data, separator, row),))


def _parquet(source: Source, suffix: str, columns: Columns, check: _Check) -> _Read:
    def wanted(schema: dict[str, pl.DataType]) -> list[str]:
        check(list(schema))
        _check_kinds(schema, columns)
        return [name for name in schema if columns.meaning(name)]

    frame = parquet.load_parquet(source, wanted, _BYTES_A_ROW)
    return frame, lambda row: Where(lines=(row + 1,), noun="row")


def _check_kinds(schema: Mapping[str, pl.DataType], columns: Columns) -> None:
    """Refuse known columns of a type that is no text, no number and, but for times, no date."""
    for name, kind in schema.items():
        if columns.meaning(name) is None:
            continue
        dates = kind.is_temporal() and not columns.is_time(name)
        if dates or kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise InputError(f"column {quoted(name)} holds {kind}; give text or numbers")


# ---- JSON lines


class _Written(str):
    """A number with a point or an exponent as it is written: float64 may not hold all digits."""

    __slots__ = ()


_DECODER = JSONDecoder(parse_float=_Written)
_NAMES_OF_KINDS = {dict: "an object", list: "a list", bool: "true or false", str: "text"}


def _json_lines(source: Source, suffix: str, columns: Columns, check: _Check) -> _Read:
    content = source.content()
    if not content.strip():
        raise InputError("it is empty; write one message a line")
    needed = _UNFOLDS * len(content) + _BYTES_A_LINE * content.count(b"\n")
    limits.check_memory(needed, "messages as JSON lines", packed=source.size)
    keys: dict[str, None] = {}
    found: dict[str, list[Any]] = {}
    numbers = array("q")
    for number, record in json_lines(content, _DECODER, '{"time": ..., "user": ...}'):
        for key in record:
            if key not in keys:
                keys[key] = None
                if columns.meaning(key):
                    found[key] = [None] * len(numbers)
        for key, values in found.items():
            values.append(record.get(key))
        numbers.append(number)
    check(list(keys))
    frame = pl.DataFrame(
        [
            _series(key, _numbers_of(values, of_time=columns.is_time(key)), numbers)
            for key, values in found.items()
        ]
    )
    _check_kinds(frame.schema, columns)
    # polars cannot hold halves of characters.
    ignored = dict.fromkeys(
        key.encode("utf-8", "replace").decode("utf-8") for key in keys if key not in found
    )
    frame = frame.with_columns(pl.lit(None).alias(key) for key in ignored)
    return frame, lambda row: Where(lines=(numbers[row],))


def _numbers_of(values: list[Any], *, of_time: bool) -> list[Any]:
    """Values of a column with its written numbers: as text in a column of times, else as floats."""
    kinds = {type(value) for value in values} - {type(None)}
    if _Written not in kinds:
        return values
    if of_time and kinds <= {_Written, int}:
        return [None if value is None else str(value) for value in values]
    return [float(value) if isinstance(value, _Written) else value for value in values]


def _series(key: str, values: list[Any], numbers: Sequence[int]) -> pl.Series:
    """One column: all true or false, all numbers, or text with whole numbers as text."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int, str}:
        values = [None if value is None else str(value) for value in values]
    elif kinds == {int, float}:
        values = [None if value is None else _float(value) for value in values]
    if len(kinds) <= 1 - bool(kinds & {dict, list}) or kinds in ({int, str}, {int, float}):
        try:
            return pl.Series(key, values)
        except (OverflowError, TypeError, UnicodeEncodeError, pl.exceptions.PolarsError):
            raise InputError(
                f"column {quoted(key)} holds a number of more than 64 bits, or half a character"
            ) from None
    first = next(value for value in values if value is not None)
    odd = next(
        at
        for at, value in enumerate(values)
        if isinstance(value, (dict, list)) or type(value) not in (type(None), type(first))
    )
    kind = _NAMES_OF_KINDS.get(type(values[odd]), "a number")
    raise InputError(f"{quoted(key)} is {kind}; give text or numbers, alike in all lines").at(
        numbers[odd]
    )


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


_FORMATS = {".csv": _text, ".tsv": _text, ".parquet": _parquet, ".jsonl": _json_lines}


# ---- tables of any columns


def read_text_table(path: str | os.PathLike[str]) -> pl.DataFrame:
    """All columns of a .csv, .tsv or .parquet file as text; an empty field is null.

    Rows that are empty are rows, but for blank lines at the end.
    """
    file = as_path(path)
    known = {suffix: packed for suffix, packed in TABLES.items() if suffix != ".jsonl"}
    suffix, packed = suffix_of(file, known, of="tables")
    with reading(file):
        if suffix == ".parquet":
            frame = _parquet_text(Source(file, packed))
        else:
            source, separator = Source(file, packed), SEPARATORS[suffix]
            frame, data = delimited.load_text(
                source, separator, delimited.refuse_repeats, _BYTES_A_ROW
            )
            if frame.width > 1:
                frame = _without_blank_end(frame, data)
        if frame.is_empty():
            raise InputError("it has columns and no rows")
    return frame


def _without_blank_end(frame: pl.DataFrame, data: memoryview) -> pl.DataFrame:
    """A table without the blank lines at the end of its file, which are no rows."""
    end = bytes(data[-_END:])
    blank = end[len(end.rstrip(b"\r\n")) :].count(b"\n") - 1
    rows = frame.tail(max(blank, 0))
    empty = all(column.null_count() == rows.height for column in rows.iter_columns())
    return frame.head(frame.height - rows.height) if empty else frame


def _parquet_text(source: Source) -> pl.DataFrame:
    def wanted(schema: dict[str, pl.DataType]) -> list[str]:
        for name, kind in schema.items():
            if kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration):
                raise InputError(f"column {quoted(name)} holds {kind}; give text, numbers or dates")
        return list(schema)

    frame = parquet.load_parquet(source, wanted, _BYTES_A_ROW)
    for column in frame.select(cs.date() | cs.datetime()):
        days = column.to_physical() // _A_DAY[getattr(column.dtype, "time_unit", None)]
        far = (~days.is_between(_FIRST_DAY, _LAST_DAY)).fill_null(value=False).arg_true()
        if len(far):  # it is not shown: polars cannot write every date that it can hold
            raise InputError(
                f"{column.name} is no date of the years 1 to 9999; write it as text"
            ).at(int(far[0]) + 1, noun="row")
    return frame.with_columns(pl.all().cast(pl.String))

"""Tables of messages: files as columns with the names that readers of logs know."""

from __future__ import annotations

import io
import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from anonymatch.base.errors import InputError, Where
from anonymatch.base.text import listed, meant_instead, quoted, several
from anonymatch.graph import (
    DIRECTIONS,
    FORMATS,
    TIMES,
    Source,
    decode,
    delimited,
    format_of,
    limits,
    parquet,
    reading,
)

__all__ = ["SUFFIXES", "Spellings", "Table", "load", "suffix_of"]

SUFFIXES = tuple(suffix for suffix, kind in FORMATS.items() if kind.table)

Spellings = Mapping[str, Sequence[str]]
"""What columns are called: their names by what they mean."""

_SPELLINGS: Spellings = {
    "time": TIMES,
    "direction": DIRECTIONS,
    "user": ("user", "sender"),
    "behaviour": ("behaviour", "behavior", "receiver"),
    "name": ("name", "id", "who"),
    "message": ("message", "message_id", "msg"),
    "round": ("round",),
    "cover": ("cover",),
    "dummy": ("dummy",),
    "lost": ("lost",),
}
_OF_TIME = ("time", "sent", "received")
_BYTES_A_ROW = 400  # columns, names and sorts, at their peak
_UNFOLDS = 10  # values and the text, as a multiple of the bytes of JSON lines
_BYTES_A_LINE = 100  # of columns, even if a line is empty


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The known columns of a file, under their first spelling; rows that are empty are left out.

    ``row_of`` has the row of the file, from 0, of each row of the table; ``where`` turns it into
    where that is: ``line 7``.
    """

    path: Path
    frame: pl.DataFrame
    row_of: pl.Series
    where: Callable[[int], Where]
    notes: tuple[str, ...] = ()

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raise the error about a row of the table."""
        raise InputError(what, where=self.where(int(self.row_of[row]))).about(self.path)

    def position(self, row: int) -> str:
        """File and line of a row of the table."""
        return f"{self.path}: {self.where(int(self.row_of[row]))}"

    def column(self, name: str) -> pl.Series | None:
        return self.frame.get_column(name) if name in self.frame.columns else None


def load(
    path: Path, needed: tuple[tuple[str, ...], ...], spellings: Spellings = _SPELLINGS
) -> Table:
    """The table of a file; of each of the ``needed`` groups it has at least one column."""
    suffix, packed = suffix_of(path)
    with reading(path):
        frame, where = _frame(Source(path, packed), suffix, needed, spellings)
        if frame.is_empty():
            raise InputError("it has columns and no rows; add one row a message")
        meanings = ((column, _meaning(column, spellings)) for column in frame.columns)
        meant = {column: meaning for column, meaning in meanings if meaning is not None}
        extra = [column for column in frame.columns if column not in meant]
        chosen = frame.select(*meant).rename(meant)
        full = chosen.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        notes = [f"ignored columns: {listed(extra)}"] if extra else []
        rows = full.arg_true()
        if len(rows) < chosen.height:
            notes.append(f"ignored {several(chosen.height - len(rows), 'empty row')}")
            chosen = chosen[rows]
        if chosen.is_empty():
            raise InputError("it has columns and no rows; add one row a message")
    return Table(path, chosen, rows, where, tuple(f"{path}: {note}" for note in notes))


def suffix_of(path: Path) -> tuple[str, bool]:
    """The suffix that tells the format, and whether the file is compressed."""
    suffix, _, packed = format_of(path, SUFFIXES, of="message logs")
    return suffix, packed


def _frame(
    source: Source, suffix: str, needed: tuple[tuple[str, ...], ...], spellings: Spellings
) -> tuple[pl.DataFrame, Callable[[int], Where]]:
    check = partial(_check_columns, needed=needed, spellings=spellings)
    if suffix == ".parquet":
        wanted = partial(_wanted, check=check, spellings=spellings)
        return parquet.load(source, wanted, _BYTES_A_ROW), _row
    if suffix == ".jsonl":
        return _json_lines(source, check, spellings)
    separator = FORMATS[suffix].separator
    frame, data = delimited.load(source, separator, check, _BYTES_A_ROW)
    return frame, lambda row: Where(lines=(delimited.line_of_row(data, separator, row),))


def _wanted(
    schema: dict[str, pl.DataType], check: Callable[[list[str]], None], spellings: Spellings
) -> list[str]:
    check(list(schema))
    _check_kinds(schema, spellings)
    return [name for name in schema if _meaning(name, spellings)]


def _check_kinds(schema: Mapping[str, pl.DataType], spellings: Spellings) -> None:
    """Refuse known columns of a type that is no text, no number and, but for times, no date."""
    for name, kind in schema.items():
        meaning = _meaning(name, spellings)
        if meaning is None:
            continue
        dates = kind.is_temporal() and meaning not in _OF_TIME
        if dates or kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise InputError(f"column {quoted(name)} holds {kind}; give text or numbers")


def _row(row: int) -> Where:
    return Where(lines=(row + 1,), noun="row")


def _meaning(column: str, spellings: Spellings) -> str | None:
    word = column.strip().lower()
    return next((name for name, known in spellings.items() if word in known), None)


def _check_columns(
    columns: list[str], *, needed: tuple[tuple[str, ...], ...], spellings: Spellings
) -> None:
    meant = [_meaning(column, spellings) for column in columns]
    for group in needed:
        if not set(group) & set(meant):
            present = listed(columns) or "none"
            others = [column for column, meaning in zip(columns, meant, strict=True) if not meaning]
            near = meant_instead((word for name in group for word in spellings[name]), others)
            raise InputError(
                f"no column {' or '.join(map(repr, group))}; the columns are {present}{near}"
            )
    for name in spellings:
        same = [
            quoted(column)
            for column, meaning in zip(columns, meant, strict=True)
            if meaning == name
        ]
        if len(same) > 1:
            raise InputError(f"columns {' and '.join(same)} mean the same; keep one")


def _json_lines(
    source: Source, check: Callable[[list[str]], None], spellings: Spellings
) -> tuple[pl.DataFrame, Callable[[int], Where]]:
    content = source.content()
    if not content.strip():
        raise InputError("it is empty; write one message a line")
    needed = _UNFOLDS * len(content) + _BYTES_A_LINE * content.count(b"\n")
    limits.check_memory(needed, "messages as JSON lines", packed=source.size)
    keys: dict[str, None] = {}
    columns: dict[str, list[Any]] = {}
    numbers = array("q")
    for number, record in _records(content):
        for key in record:
            if key not in keys:
                keys[key] = None
                if _meaning(key, spellings):
                    columns[key] = [None] * len(numbers)
        for key, values in columns.items():
            values.append(record.get(key))
        numbers.append(number)
    check(list(keys))
    frame = pl.DataFrame([_series(key, values, numbers) for key, values in columns.items()])
    _check_kinds(frame.schema, spellings)
    ignored = dict.fromkeys(_writable(key) for key in keys if key not in columns)
    frame = frame.with_columns(pl.lit(None).alias(key) for key in ignored)
    return frame, lambda row: Where(lines=(numbers[row],))


def _records(content: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, each with the number of its line.

    Not by polars: it takes minutes for values that are nested deep, and for lines that all have
    other keys.
    """
    for number, line in _lines(content):
        if not line.strip():
            continue
        try:
            record = json.loads(decode(line))
        except json.JSONDecodeError as error:
            wrong = InputError(f"no JSON at column {error.colno}: {error.msg}")
            raise wrong.at(number, column=error.colno) from None
        except InputError as error:  # about the first line of its own
            raise error.at(number) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"no usable JSON ({error})").at(number) from None
        if not isinstance(record, dict):
            raise InputError('need an object: {"time": ..., "user": ...}').at(number)
        yield number, record


_NAMES_OF_KINDS = {dict: "an object", list: "a list", bool: "true or false", str: "text"}


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


def _writable(key: str) -> str:
    """A key without halves of characters, which polars cannot hold."""
    return key.encode("utf-8", "replace").decode("utf-8")


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(io.BytesIO(content), start=1)

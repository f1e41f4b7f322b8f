"""Tables of messages: files as columns with the names that readers of logs know."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

import polars as pl

from anonymatch.errors import InputError
from anonymatch.graph import limits
from anonymatch.graph.file_formats import delimited, parquet
from anonymatch.graph.file_formats.source import Source, decode
from anonymatch.graph.files import reading
from anonymatch.graph.logs import DIRECTIONS, TIMES
from anonymatch.wording import listed, meant_instead, quoted, several

__all__ = ["PACKED", "SUFFIXES", "Table", "load", "suffix_of"]

SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl")
PACKED = (".csv", ".tsv", ".jsonl")

_SPELLINGS = {
    "time": TIMES,
    "direction": DIRECTIONS,
    "user": ("user", "sender"),
    "behaviour": ("behaviour", "behavior", "receiver"),
    "name": ("name", "id", "who"),
    "message": ("message", "message_id", "msg"),
    "cover": ("cover",),
    "dummy": ("dummy",),
    "lost": ("lost",),
}
_MEANING = {spelling: name for name, known in _SPELLINGS.items() for spelling in known}
_UNFOLDS = 12  # polars' columns and the text, as a multiple of the bytes of JSON lines


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The known columns of a file, under their first spelling; rows that are empty are left out.

    ``row_of`` has the row of the file, from 0, of each row of the table; ``where`` turns it into
    words such as ``line 7``.
    """

    path: Path
    frame: pl.DataFrame
    row_of: pl.Series
    where: Callable[[int], str]
    notes: tuple[str, ...] = ()

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raise the error about a row of the table."""
        raise InputError(f"{self.place(row)}: {what}")

    def place(self, row: int) -> str:
        """File and line of a row of the table."""
        return f"{self.path}: {self.where(int(self.row_of[row]))}"

    def column(self, name: str) -> pl.Series | None:
        return self.frame.get_column(name) if name in self.frame.columns else None


def load(path: Path, needed: tuple[tuple[str, ...], ...]) -> Table:
    """The table of a file; of each of the ``needed`` groups it has at least one column."""
    suffix, packed = suffix_of(path)
    with reading(path):
        frame, where = _frame(Source(path, packed), suffix, needed)
        if frame.is_empty():
            raise InputError("it has columns and no rows; add one row a message")
        meant = {column: meaning for column in frame.columns if (meaning := _meaning(column))}
        extra = [column for column in frame.columns if column not in meant]
        kept = frame.select(*meant).rename(meant)
        full = kept.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        notes = [f"ignored columns: {listed(extra)}"] if extra else []
        rows = full.arg_true()
        if len(rows) < kept.height:
            notes.append(f"ignored {several(kept.height - len(rows), 'empty row')}")
            kept = kept[rows]
        if kept.is_empty():
            raise InputError("it has columns and no rows; add one row a message")
    return Table(path, kept, rows, where, tuple(f"{path}: {note}" for note in notes))


def suffix_of(path: Path) -> tuple[str, bool]:
    """The suffix that tells the format, and whether the file is compressed."""
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if suffixes and suffixes[-1] == ".gz":
        if len(suffixes) == 2 and suffixes[0] in PACKED:
            return suffixes[0], True
    elif suffixes and suffixes[-1] in SUFFIXES:
        return suffixes[-1], False
    raise InputError(
        f"{path}: its suffix tells no known format of message logs; known are "
        f"{' '.join(SUFFIXES)}, and .gz after {' '.join(PACKED)}"
    )


def _frame(
    source: Source, suffix: str, needed: tuple[tuple[str, ...], ...]
) -> tuple[pl.DataFrame, Callable[[int], str]]:
    check = partial(_check_columns, needed=needed)
    if suffix == ".parquet":
        return parquet.load(source, lambda schema: _wanted(schema, check)), _row
    if suffix == ".jsonl":
        return _json_lines(source, check)
    separator = "," if suffix == ".csv" else "\t"
    frame, data = delimited.load(source, separator, check)
    return frame, lambda row: f"line {delimited.line_of_row(data, separator, row)}"


def _wanted(schema: dict[str, pl.DataType], check: Callable[[list[str]], None]) -> list[str]:
    check(list(schema))
    _check_kinds(schema)
    return [name for name in schema if _meaning(name)]


def _check_kinds(schema: Mapping[str, pl.DataType]) -> None:
    """Refuse known columns of a type that is no text, no number and, but for times, no date."""
    for name, kind in schema.items():
        meaning = _meaning(name)
        if meaning is None:
            continue
        dates = kind.is_temporal() and meaning != "time"
        if dates or kind.is_nested() or kind in (pl.Binary, pl.Object):
            raise InputError(f"column {quoted(name)} holds {kind}; give text or numbers")


def _row(row: int) -> str:
    return f"row {row + 1}"


def _meaning(column: str) -> str | None:
    return _MEANING.get(column.strip().lower())


def _check_columns(columns: list[str], *, needed: tuple[tuple[str, ...], ...]) -> None:
    meant = [_meaning(column) for column in columns]
    for group in needed:
        if not set(group) & set(meant):
            found = listed(columns) or "none"
            others = [column for column, meaning in zip(columns, meant, strict=True) if not meaning]
            near = meant_instead((word for name in group for word in _SPELLINGS[name]), others)
            raise InputError(
                f"no column {' or '.join(map(repr, group))}; the columns are {found}{near}"
            )
    for name in _SPELLINGS:
        same = [
            quoted(column)
            for column, meaning in zip(columns, meant, strict=True)
            if meaning == name
        ]
        if len(same) > 1:
            raise InputError(f"columns {' and '.join(same)} mean the same; keep one")


def _json_lines(
    source: Source, check: Callable[[list[str]], None]
) -> tuple[pl.DataFrame, Callable[[int], str]]:
    content = source.content()
    if not content.strip():
        raise InputError("it is empty; write one message a line")
    limits.check_memory(_UNFOLDS * len(content), "reading it as JSON lines")
    try:
        frame = pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        _check_lines(content)
        reason = str(error).splitlines()[0]
        raise InputError(
            f"its values are of different kinds in different lines: {reason}"
        ) from None
    check(frame.columns)
    _check_kinds(frame.schema)

    def where(row: int) -> str:
        full = (number for number, line in _lines(content) if line.strip())
        return f"line {next(number for at, number in enumerate(full) if at == row)}"

    return frame, where


def _check_lines(content: bytes) -> None:
    """Refuse the first line that is no JSON object."""
    for number, line in _lines(content):
        if not line.strip():
            continue
        try:
            record = json.loads(decode(line))
        except json.JSONDecodeError as error:
            raise InputError(
                f"line {number}: no JSON at column {error.colno}: {error.msg}"
            ) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"line {number}: no usable JSON ({error})") from None
        if not isinstance(record, dict):
            raise InputError(f'line {number}: need an object: {{"time": ..., "user": ...}}')


def _lines(content: bytes) -> Iterator[tuple[int, bytes]]:
    return enumerate(io.BytesIO(content), start=1)

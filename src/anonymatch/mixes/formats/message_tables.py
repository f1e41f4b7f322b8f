"""Tables of messages: files as columns with the names that readers of logs know."""

from __future__ import annotations

import io
import json
import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from anonymatch.base.errors import InputError, Where
from anonymatch.base.text import Argument, alike, did_you_mean, listed, quoted, several
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

__all__ = [
    "MESSAGE_COLUMNS",
    "SUFFIXES",
    "Spellings",
    "Table",
    "column_names",
    "load",
    "named_columns",
    "suffix_of",
    "suggested_columns",
]

SUFFIXES = tuple(suffix for suffix, kind in FORMATS.items() if kind.table)

Spellings = Mapping[str, Sequence[str]]
"""What columns are called: their names by what they mean."""

MESSAGE_COLUMNS: Spellings = {
    "time": TIMES,
    "direction": DIRECTIONS,
    "entered": ("entered", "entered_at", "arrival", "arrived_at", "sent", "sent_at"),
    "left": ("left", "left_at", "departure", "departed_at", "received", "received_at"),
    "user": ("user", "sender"),
    "behaviour": ("behaviour", "behavior", "receiver"),
    "name": ("name", "id", "who"),
    "message": ("message", "message_id", "msg"),
    "round": ("round",),
    "cover": ("cover",),
    "dummy": ("dummy",),
    "lost": ("lost",),
}
_OF_TIME = ("time", "entered", "left", "sent", "received")
_BYTES_A_ROW = 400  # columns, names and sorts, at their peak
_UNFOLDS = 10  # values and the text, as a multiple of the bytes of JSON lines
_BYTES_A_LINE = 100  # of columns, even if a line is empty


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The known columns of a file, under their first spelling; rows that are empty are left out.

    ``row_of`` has the row of the file, from 0, of each row of the table; ``where`` turns it into
    where that is: ``line 7``. ``titles`` has what the file calls each column, and ``ignored`` the
    columns that are not known.
    """

    path: Path
    frame: pl.DataFrame
    row_of: pl.Series
    where: Callable[[int], Where]
    notes: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raise the error about a row of the table."""
        raise InputError(what, where=self.where(int(self.row_of[row]))).about(self.path)

    def position(self, row: int) -> str:
        """File and line of a row of the table."""
        return f"{self.path}: {self.where(int(self.row_of[row]))}"

    @property
    def columns(self) -> list[str]:
        """All columns as the file calls them."""
        return [*self.titles.values(), *self.ignored]

    def titled(self, name: str) -> str:
        """Where a column is, for errors: nothing if the file calls it by its usual name."""
        title = self.titles.get(name, name)
        return "" if title.strip().lower() == name else f" in column {quoted(title)}"

    def packet_ends(self) -> list[Table]:
        """Messages in and messages out of a table with one row per packet.

        A packet without a time of departure was not seen to leave, one without a time of arrival
        was not seen to come in. The two ends of a row are one message.
        """
        ends = []
        for name, verb in (("entered", "enter"), ("left", "leave")):
            times = self.frame.get_column(name)
            if times.dtype.is_float():
                times = times.fill_nan(None)
            rows = times.is_not_null().arg_true()
            if not len(rows):
                raise InputError(
                    f"no packet is seen to {verb}: column {quoted(self.titles[name])} is empty"
                ).about(self.path)
            numbers = pl.int_range(self.frame.height, eager=True).alias("message")
            frame = self.frame.drop("entered", "left", "time", "message", strict=False)
            frame = frame.with_columns(times.alias("time"), numbers)[rows]
            titles = {**self.titles, "time": self.titles[name]}
            ends.append(replace(self, frame=frame, row_of=self.row_of.gather(rows), titles=titles))
        return [ends[0], replace(ends[1], notes=())]

    def column(self, name: str) -> pl.Series | None:
        return self.frame.get_column(name) if name in self.frame.columns else None


def column_names(given: Mapping[str, str] | Sequence[str] | None) -> dict[str, str]:
    """Names of columns by their meaning, from a mapping or from text.

    Examples
    --------
    >>> column_names("time=timestamp_ms,user=src"), column_names({"time": "t"}), column_names(None)
    ({'time': 'timestamp_ms', 'user': 'src'}, {'time': 't'}, {})
    """
    if given is None or isinstance(given, Mapping):
        return {str(meaning): str(name) for meaning, name in (given or {}).items()}
    texts = [given] if isinstance(given, str) else list(given)
    names: dict[str, str] = {}
    for pair in (pair for text in texts for pair in text.split(",")):
        meaning, equals, name = (part.strip() for part in pair.partition("="))
        if not equals or not meaning or not name:
            raise InputError(
                Argument("columns"),
                f": {quoted(pair)} must be MEANING=NAME, such as time=timestamp_ms",
            )
        if names.setdefault(meaning, name) != name:
            raise InputError(Argument("columns"), f" names {meaning!r} twice; keep one")
    return names


def named_columns(spellings: Spellings, names: Mapping[str, str]) -> Spellings:
    """Spellings in which some columns have the names that the caller gives, and no others."""
    for meaning in names:
        if meaning not in spellings:
            raise InputError(
                Argument("columns"),
                f": no column is called {quoted(meaning)} here; known are {', '.join(spellings)}"
                f"{did_you_mean(meaning, spellings)}",
            )
    given = {meaning: (name.strip().lower(),) for meaning, name in names.items()}
    if "user" in given and given["user"] == given.get("behaviour"):
        given["name"] = given.pop("user")
        del given["behaviour"]
    taken = {word for words in given.values() for word in words}
    if len(taken) < len(given):
        raise InputError(Argument("columns"), " gives one column two meanings; keep one")
    return {
        meaning: given.get(meaning, tuple(word for word in words if word not in taken))
        for meaning, words in spellings.items()
    }


_HINTS = {
    "time": ("time", "stamp", "ts", "date", "when", "clock"),
    "direction": ("dir", "in_out", "side", "event", "kind", "type"),
    "user": ("src", "source", "sender", "client", "user", "from", "initiator"),
    "behaviour": ("dst", "dest", "receiver", "recipient", "server", "target", "to", "responder"),
    "from": ("src", "source", "from", "prev", "sender"),
    "to": ("dst", "dest", "to", "next", "receiver"),
}
"""Parts of names by which columns are known that are called otherwise."""


def suggested_columns(columns: Sequence[str], meanings: Sequence[str]) -> dict[str, str]:
    """Columns that may have these meanings, by their names.

    Examples
    --------
    >>> suggested_columns(["timestamp_ms", "dir", "src", "dst"], ["time", "user", "behaviour"])
    {'time': 'timestamp_ms', 'user': 'src', 'behaviour': 'dst'}
    """
    found: dict[str, str] = {}
    for meaning in meanings:
        for hint in _HINTS.get(meaning, ()):
            free = [column for column in columns if column not in found.values()]
            near = [column for column in free if _has_word(column, hint)]
            if near:
                found[meaning] = near[0]
                break
    return found


def _has_word(column: str, hint: str) -> bool:
    word = column.strip().lower()
    parts = [part for part in re.split(r"[^a-z]+", word) if part]
    return hint in (word, *parts) if len(hint) <= 3 else hint in word


def load(
    path: Path,
    needed: tuple[tuple[str, ...], ...],
    spellings: Spellings = MESSAGE_COLUMNS,
    names: Mapping[str, str] | None = None,
) -> Table:
    """The table of a file; of each of the ``needed`` groups it has at least one column.

    ``names`` has what some columns are called, by their meaning.
    """
    suffix, packed = suffix_of(path)
    with reading(path):
        spellings = named_columns(spellings, names or {})
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
    return Table(
        path,
        chosen,
        rows,
        where,
        tuple(f"{path}: {note}" for note in notes),
        titles={meaning: column for column, meaning in meant.items()},
        ignored=tuple(extra),
    )


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
            words = " or ".join(repr(spellings[name][0]) for name in group if spellings[name])
            others = [column for column, meaning in zip(columns, meant, strict=True) if not meaning]
            raise InputError(
                f"no column {words}; the columns are {listed(columns) or 'none'}; name them with ",
                *_naming(needed, meant, others, spellings),
            )
    for name in spellings:
        same = [
            quoted(column)
            for column, meaning in zip(columns, meant, strict=True)
            if meaning == name
        ]
        if len(same) > 1:
            raise InputError(f"columns {' and '.join(same)} mean the same; keep one")


def _naming(
    needed: Sequence[tuple[str, ...]],
    meant: Sequence[str | None],
    others: Sequence[str],
    spellings: Spellings,
) -> list[str | Argument]:
    """Options that name the missing columns, ready to be used; COLUMN where none looks right."""
    at = int("entered" in meant or "left" in meant)  # one row per packet
    missing = [group[at % len(group)] for group in needed if not set(group) & set(meant)]
    close = {name: column for name in missing for column in others if alike(name, column)}
    left = [column for column in others if column not in close.values()]
    names = () if "name" in meant else ("user", "behaviour")
    more = [name for name in names if name in spellings and name not in meant]
    guessed = close | suggested_columns(left, [*missing, *more])
    pairs = [f"{name}={guessed.get(name, 'COLUMN')}" for name in missing]
    pairs += [f"{name}={guessed[name]}" for name in more if name in guessed]
    of_time = guessed.get("time", "").lower()
    unit = next((one for one in ("ms", "us", "ns") if of_time.endswith(f"_{one}")), None)
    beside: list[str | Argument] = [] if unit is None else [" and ", Argument("unit", unit)]
    return [Argument("columns", ",".join(pairs)), *beside]


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
    frame = pl.DataFrame(
        [
            _series(key, _numbers_of(values, of_time=_meaning(key, spellings) in _OF_TIME), numbers)
            for key, values in columns.items()
        ]
    )
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
            record = json.loads(decode(line), parse_float=_Written)
        except json.JSONDecodeError as error:
            wrong = InputError(f"no JSON at column {error.colno}: {error.msg}")
            raise wrong.at(number, column=error.colno) from None
        except InputError as error:  # about the first line of its own
            raise error.at(number) from None
        except RecursionError:
            raise InputError("it is nested too deep; write one message per line").at(
                number
            ) from None
        except ValueError as error:
            raise InputError(f"no usable JSON ({error})").at(number) from None
        if not isinstance(record, dict):
            raise InputError('need an object: {"time": ..., "user": ...}').at(number)
        yield number, record


class _Written(str):
    """A number with a point or an exponent as it is written: float64 may not hold all digits."""

    __slots__ = ()


def _numbers_of(values: list[Any], *, of_time: bool) -> list[Any]:
    """Values of a column with its written numbers: as text in a column of times, else as floats."""
    kinds = {type(value) for value in values} - {type(None)}
    if _Written not in kinds:
        return values
    if of_time and kinds <= {_Written, int}:
        return [None if value is None else str(value) for value in values]
    return [float(value) if isinstance(value, _Written) else value for value in values]


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

"""CSV and TSV through polars, all columns as text; an empty field is null, ``""`` is empty text.

A .csv file may have semicolons or tabs between its fields: its header tells. Quotes allow
separators and newlines. Lines with too few or too many fields are refused, and so are quotes that
do not enclose a field.
"""

from __future__ import annotations

import csv
import io
import mmap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, quoted, several
from anonymatch.tabular import limits
from anonymatch.tabular.files import Source, decode, separator_in
from anonymatch.tabular.guards import without_panics

_BYTES_A_ROW = 100  # polars' strings of two columns, their codes and the sorts, at their peak
_BYTES_A_FIELD = 17  # a string of polars, and a bit for null
_MOST_COLUMNS = 100_000  # polars takes minutes for millions of them
_PIECE = 1 << 20
_HEAD, _LONGEST_HEAD = 1 << 16, 1 << 24  # bytes in which the header ends, mostly and at all
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_INNER_QUOTE = "a quote stands inside a field; quote the field, and write the quote twice in it"
_OPEN_QUOTE = "a quote opens here and is not closed; close it, or write it twice inside quotes"
_OTHER_KINDS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"PK\x03\x04": "zip"}


def load_text(
    source: Source,
    separator: str,
    check: Callable[[list[str]], None],
    bytes_a_row: int = _BYTES_A_ROW,
) -> tuple[pl.DataFrame, memoryview]:
    """The table as text, and the bytes of the file; ``check`` sees the columns beforehand.

    ``bytes_a_row`` is what the caller will need at its peak, for a table of two columns.
    """
    if source.packed:
        content: bytes | mmap.mmap = source.content()
    else:
        if not source.path.stat().st_size:
            raise InputError("it is empty; the first line must name the columns")
        with source.path.open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    data = memoryview(content)
    separator = _separator(data, separator)
    columns = _header(data, separator)
    check(columns)
    _check_memory(data, bytes_a_row + _BYTES_A_FIELD * max(len(columns) - 2, 0), source.size)
    try:
        with without_panics():
            frame = pl.read_csv(
                content if isinstance(content, bytes) else source.path,
                separator=separator,
                infer_schema=False,
                glob=False,
            )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        decode(bytes(data))
        check_quotes(bytes(data), separator)
        _check_fields(data, separator, len(columns))
        raise InputError(f"it is no table: {str(error).splitlines()[0]}") from None
    if frame.get_columns()[-1].null_count():
        try:
            _check_fields(data, separator, len(columns))
        except InputError:
            check_quotes(bytes(data), separator)
            raise
    return _named(frame, columns), data


def _named(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:
    """The table under the names that were checked; one that is there again has another of polars.

    polars reads some headers otherwise: a byte order mark after blank lines stays in a name.
    """
    given = frame.columns
    first = {name: at for at, name in reversed(list(enumerate(columns)))}
    names = [
        name if first[name] == at else given[at] for at, name in enumerate(columns[: len(given)])
    ]
    if len(columns) != len(given) or len(set(names)) < len(names):
        raise InputError(f"its columns {listed(columns)} cannot be told apart; rename them").at(1)
    frame.columns = names
    return frame


def _check_memory(data: memoryview, bytes_a_row: int, packed: int | None) -> None:
    """Refuse a table too large for the memory; the shortest row, a blank line, takes one byte."""
    text = 3 * len(data)  # itself, and twice where a line is looked for to blame
    if packed is None and text + len(data) * bytes_a_row <= limits.free_memory():
        return
    flat = np.frombuffer(data, dtype=np.uint8)
    parts = (flat[begin : begin + _PIECE] for begin in range(0, len(flat), _PIECE))
    rows = sum(int(np.count_nonzero(part == ord("\n"))) for part in parts)
    limits.check_memory(text + rows * bytes_a_row, f"a table of {rows} rows", packed=packed)


def _separator(data: memoryview, usual: str) -> str:
    """The usual separator, or the one that the header has instead."""
    first = bytes(data[:_HEAD]).lstrip(b"\r\n").partition(b"\n")[0]
    return separator_in(first.decode("utf-8", errors="replace"), usual)


def _header(data: memoryview, separator: str) -> list[str]:
    """The names of the columns; refuses what is no text at all."""
    head = bytes(data[:_HEAD])
    for magic, kind in _OTHER_KINDS.items():
        if head.startswith(magic):
            raise InputError(f"it is a {kind} file, not text; give it the right suffix")
    if not head.strip():
        raise InputError("it is empty; the first line must name the columns")
    if b"\n" not in head.lstrip(b"\r\n"):
        head = bytes(data[:_LONGEST_HEAD])
    first, ended, _ = head.lstrip(b"\r\n").partition(b"\n")
    if not ended and len(data) > _LONGEST_HEAD:
        raise InputError(f"line 1 is longer than {_LONGEST_HEAD >> 20} MiB; the columns come first")
    first = first.rstrip(b"\r")
    if first.count(separator.encode()) >= _MOST_COLUMNS:
        number = first.count(separator.encode()) + 1
        raise InputError(
            f"{number} columns; at most {_MOST_COLUMNS} are read, so leave out those that "
            "are not needed"
        ).at(1)
    check_quotes(first.removeprefix(_BYTE_ORDER_MARK), separator)  # polars cuts names at others
    try:
        columns = next(csv.reader([decode(first)], delimiter=separator), [])
    except csv.Error as error:
        if b"\r" in first:
            raise InputError("it ends with CR alone; end lines with LF or CRLF").at(1) from None
        raise InputError(str(error)).at(1) from None
    return columns


def refuse_repeats(columns: Iterable[str]) -> None:
    """Refuse columns of the same name."""
    for name, times in Counter(columns).items():
        if times > 1:
            raise InputError(f"column {quoted(name)} is there twice; keep one").at(1)


def check_quotes(data: bytes, separator: str) -> None:
    """Refuse quotes that do not enclose a field, with the line where they begin."""
    borders = separator.encode() + b"\r\n"
    at = data.find(b'"')
    while at >= 0:
        if at and data[at - 1] not in borders:
            raise InputError(_INNER_QUOTE).at(_line_of(data, at))
        end = data.find(b'"', at + 1)
        while end >= 0 and data[end + 1 : end + 2] == b'"':
            end = data.find(b'"', end + 2)
        if end < 0 or data[end + 1 : end + 2].strip(borders):
            raise InputError(_OPEN_QUOTE).at(_line_of(data, at))
        at = data.find(b'"', end + 1)


def _line_of(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _check_fields(data: memoryview, separator: str, expected: int) -> None:
    """Refuse lines with fewer or more fields than the header, which polars fills up or cuts."""
    if not _holds_quotes(data):
        first = 1
        for part in _whole_lines(data):
            first += _check_plain_fields(part, separator, expected, first)
        return
    for line, fields_there in _records(data, separator):
        if fields_there and len(fields_there) != expected:
            _refuse(line, len(fields_there), expected)


def _holds_quotes(data: memoryview) -> bool:
    flat = np.frombuffer(data, dtype=np.uint8)
    starts = range(0, len(flat), _PIECE)
    return any(bool((flat[begin : begin + _PIECE] == ord('"')).any()) for begin in starts)


def _whole_lines(data: memoryview) -> Iterator[npt.NDArray[np.uint8]]:
    """The text in pieces that end with a line, each with its last line end left out."""
    flat = np.frombuffer(data, dtype=np.uint8)
    begin, end = 0, 0
    while begin < len(flat):
        end = min(max(end, begin) + _PIECE, len(flat))
        if end == len(flat):
            yield flat[begin:]
            return
        ends = np.flatnonzero(flat[end - _PIECE : end] == ord("\n"))
        if len(ends):
            last = end - _PIECE + int(ends[-1])
            yield flat[begin:last]
            begin = end = last + 1


def _check_plain_fields(
    flat: npt.NDArray[np.uint8], separator: str, expected: int, first: int
) -> int:
    """Refuse a line of a text without quotes; how many lines it has."""
    ends = np.append(np.flatnonzero(flat == ord("\n")), len(flat))
    before = np.searchsorted(np.flatnonzero(flat == ord(separator)), ends)
    fields = np.diff(before, prepend=0) + 1
    lengths = np.diff(ends, prepend=-1) - 1
    returns = (lengths > 0) & (flat[np.maximum(ends - 1, 0)] == ord("\r"))
    wrong = np.flatnonzero((fields != expected) & (lengths - returns > 0))
    if len(wrong):
        _refuse(first + int(wrong[0]), int(fields[wrong[0]]), expected)
    return len(ends)


def _refuse(line: int, fields: int, expected: int) -> None:
    raise InputError(
        f"{several(fields, 'field')}, but the header has {expected}; "
        "write an empty field for a missing name"
    ).at(line)


def line_of_row(data: memoryview, separator: str, row: int) -> int:
    """The line of the file where a row (0 is the first after the header) begins."""
    begin = 1
    current = -2
    separator = _separator(data, separator)
    for line, _ in _records(data, separator, keep_blank_after_header=True):
        current += 1
        begin = line
        if current == row:
            break
    return begin


def _records(
    data: memoryview, separator: str, *, keep_blank_after_header: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Records with the line where each begins; polars skips blank lines before the header."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    reader: Any = csv.reader(text, delimiter=separator)
    begin = 1
    header = False
    try:
        for fields in reader:
            if fields or (header and keep_blank_after_header):
                header = True
                yield begin, fields
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(str(error)).at(begin) from None

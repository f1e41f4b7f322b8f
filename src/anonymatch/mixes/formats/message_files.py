"""Read message logs from files and write them, by suffix.

A log is one table with one row per message seen, .csv, .tsv, .parquet or .jsonl; text may end in
.gz.

=================  ===============================================================================
``time``           seconds (``unit`` says if not), or ISO 8601 date-times
``direction``      in (also enter, send, sent, tx) or out (also leave, recv, received, rx)
``user``           who sent it, on rows of messages in
``behaviour``      what was seen, or who received it, on rows of messages out
``name``           (or ``id``, ``who``) either of them, in one column instead of two
``message``        optional: the same on the row in and the row out of one message, if known
``cover``          optional: true on rows out that are nobody's, and on rows in that never come out
                   (also ``dummy`` and ``lost``)
=================  ===============================================================================

Two files instead of one, messages in and messages out, need no directions. A table with one row per
packet has its two times instead: ``entered`` (also entered_at, arrival, sent) and ``left`` (also
left_at, departure, received); one of them may be empty. Messages of a log without names get
numbers. Headers may be in capitals; ``columns`` maps columns that are called otherwise.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.messages import LATEST, Messages, check_messages
from anonymatch.mixes.reading.hints import unit_gap, unit_hint
from anonymatch.tabular import write_table

if TYPE_CHECKING:
    from anonymatch.mixes.options import ReadOptions

_MOST_BYTES = 1 << 20  # beyond, polars is faster, its import included
_COARSE = 2.0**20  # seconds below which float64 holds less than a nanosecond
_NEEDED = {"time", "direction", "user", "behaviour"}
_ODD = re.compile('["\r\0\ufeff]')
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", re.ASCII)


def read_messages(
    path: str | os.PathLike[str],
    departures: str | os.PathLike[str] | None = None,
    *,
    unit: str | None = None,
    columns: Mapping[str, str] | Sequence[str] | None = None,
) -> Messages:
    r"""Read a message log from one file, or from one of messages in and one of messages out.

    Rows may be in any order. What is noteworthy (rows that go back in time, repeated rows, times
    that look like different units) is in the ``notes`` of the log.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet or .jsonl file, described above; text may end in .gz.
    departures : path, optional
        The messages out; ``path`` then has the messages in.
    unit : {"s", "ms", "us", "ns"}, optional
        Unit of numeric times. Default: seconds.
    columns : mapping or str, optional
        Names of columns by what they mean: ``{"time": "timestamp_ms", "user": "src"}``.

    Returns
    -------
    Messages
        Times in seconds; those of date-times since 1970. Times that float64 cannot hold so far
        from 0 are counted from the first second of the log, its ``origin``.

    Raises
    ------
    InputError
        The log is not usable; one line says what is wrong, where, and what to do.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "log.csv")
    >>> _ = path.write_text("time,direction,name\n0,in,ann\n1,in,bob\n2,out,x\n3,out,y\n")
    >>> log = read_messages(path)
    >>> log, log.senders
    (Messages(2 in, 2 out, 0 to 3 s), ('ann', 'bob'))
    >>> folder.cleanup()
    """
    usual = departures is None and unit is None and not columns
    plain = plain_log(as_path(path)) if usual else None
    if plain is not None:
        return plain
    from anonymatch.mixes.formats import message_tables  # imports polars

    return message_tables.read(path, departures, unit, columns)


def write_messages(messages: Messages, path: str | os.PathLike[str]) -> None:
    """Write a message log to one file, in order of time; its suffix tells the format.

    What :func:`read_messages` reads back is the same, but for notes, and for names that are whole
    numbers, which .csv and .tsv turn into text. Times that were date-times are written so, to the
    microsecond. Times of a log with an ``origin`` are written to the nanosecond.

    Parameters
    ----------
    messages : Messages
    path : path
        As for :func:`read_messages`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> log = Messages(arrivals=[0], departures=[1], senders=("ann",), receivers=("x",), truth=[0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "log.csv")
    ...     write_messages(log, path)
    ...     print(path.read_text())
    time,direction,user,behaviour,message
    0.0,in,ann,,1
    1.0,out,,x,1
    """
    from anonymatch.mixes.formats import message_tables  # imports polars

    check_messages(messages)
    write_table(path, lambda suffix: message_tables.frame_of(messages, suffix))


# ---- small logs with nothing odd in them, read without polars: to import that takes longer


class _Side(NamedTuple):
    """Messages in, or messages out, in order of time."""

    times: Floats
    names: tuple[str, ...]
    ids: tuple[str, ...] | None


def plain_log(path: Path) -> Messages | None:
    """The messages of a plain log, None if it is no such file."""
    columns = _columns(path)
    if columns is None or not all(map(_NUMBER.fullmatch, columns["time"])):
        return None
    times = np.array(columns["time"], dtype=np.float64)
    if not (np.abs(times) <= LATEST).all() or unit_gap(times) or unit_hint(times):
        return None
    if np.abs(times).max() >= _COARSE:  # they may be finer than float64 can hold
        return None
    came = _side(columns, times, "in", "user")
    left = _side(columns, times, "out", "behaviour")
    if came is None or left is None or len(came.times) + len(left.times) < len(times):
        return None
    truth = None if came.ids is None or left.ids is None else _truth(came.ids, left.ids)
    if truth is not None and (left.times[truth] < came.times)[truth >= 0].any():
        return None
    return Messages(
        arrivals=came.times,
        departures=left.times,
        senders=came.names,
        receivers=left.names,
        truth=truth,
    )


def _columns(path: Path) -> dict[str, tuple[str, ...]] | None:
    """The cells of a table that has the columns of a log and no others."""
    separator = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    if separator is None:
        return None
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        text = path.read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None
    header, *rows = [line.split(separator) for line in text.removesuffix("\n").split("\n")]
    plain = len(header) == len(set(header)) and set(header) - {"message"} == _NEEDED
    if not plain or not rows or _ODD.search(text) or {*map(len, rows)} != {len(header)}:
        return None
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def _side(
    columns: dict[str, tuple[str, ...]], times: Floats, direction: str, who: str
) -> _Side | None:
    """The rows of one direction, None if one of them is to be noted or refused."""
    rows = [row for row, word in enumerate(columns["direction"]) if word == direction]
    names = tuple(columns[who][row] for row in rows)
    ids = tuple(columns["message"][row] for row in rows) if "message" in columns else None
    own = times[rows]
    if not rows or not all(names) or (np.diff(own) < 0).any():
        return None
    if len(set(zip(own.tolist(), names, ids or names, strict=True))) < len(rows):
        return None
    known = [one for one in ids or () if one]
    return None if len(set(known)) < len(known) else _Side(own, names, ids)


def _truth(came: tuple[str, ...], left: tuple[str, ...]) -> Ints:
    """The message out of each message in, -1 where it is not known."""
    departure = {one: at for at, one in enumerate(left) if one}
    return np.array([departure.get(one, -1) for one in came], dtype=np.int64)


def _messages(path: Path, options: ReadOptions) -> Messages:
    return read_messages(path, options.departures, unit=options.unit, columns=options.columns)


FORMAT: SourceFormat = SourceFormat(
    text="a message log: times, directions and names; needs a law", messages=_messages
)

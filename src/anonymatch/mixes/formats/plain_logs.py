"""Small message logs with nothing odd in them, read without polars: to import that takes longer.

A log is read as ``message_files`` reads it, or left to it: whatever is to be refused or noted, and
whatever may be spelled in another way, is no plain log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.logs.messages import LATEST, Messages
from anonymatch.mixes.reading.hints import unit_gap, unit_hint

__all__ = ["plain_log"]

_MOST_BYTES = 1 << 20  # beyond, polars is faster, its import included
_COARSE = 2.0**20  # seconds below which float64 holds less than a nanosecond
_SEPARATORS = {".csv": ",", ".tsv": "\t"}
_NEEDED = {"time", "direction", "user", "behaviour"}
_ODD = re.compile('["\r\0\ufeff]')
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", re.ASCII)

_Columns = Mapping[str, Sequence[str]]


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


def _columns(path: Path) -> _Columns | None:
    """The cells of a table that has the columns of a log and no others."""
    separator = _SEPARATORS.get(path.suffix.lower())
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


def _side(columns: _Columns, times: Floats, direction: str, who: str) -> _Side | None:
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

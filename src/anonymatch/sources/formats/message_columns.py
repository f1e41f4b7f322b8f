"""Columns of message logs: times, directions and flags, checked without a Python loop over rows."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, quoted, several
from anonymatch.sources.formats.message_tables import Table
from anonymatch.sources.hints import unit_gap
from anonymatch.sources.messages import LATEST

__all__ = ["UNITS", "Clock", "clock", "directions", "flags", "mixed_units", "names", "seconds"]


UNITS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""How many of each make a second."""
_SPELLED = {
    spelling: f"; did you mean {unit!r}?"
    for unit, spellings in {
        "s": ("sec", "secs", "second", "seconds"),
        "ms": ("msec", "milli", "millis", "millisecond", "milliseconds"),
        "us": ("µs", "usec", "micro", "micros", "microsecond", "microseconds"),
        "ns": ("nsec", "nano", "nanos", "nanosecond", "nanoseconds"),
    }.items()
    for spelling in spellings
}

# Words of the users, whose messages go in when they send: a device between them might say tx of
# what leaves it, so these are noted.
_OF_DEVICES = {"tx": "in", "rx": "out"}
_IN = (
    *("in", "input", "ingress", "enter", "entered", "entry", "arrive", "arrived", "arrival"),
    *("send", "sent", "submit", "submitted", "transmit", "transmitted", "tx"),
)
_OUT = (
    *("out", "output", "egress", "leave", "left", "exit", "depart", "departed", "departure"),
    *("receive", "received", "recv", "recvd", "rcv", "rcvd", "deliver", "delivered", "rx"),
)
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no", "")

_DATED, _ZONED = "date-times", "date-times with a time zone"
_DATE = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"
_ZONE = r"(?:[zZ]|[+-]\d{2}:?\d{2})$"
_FORMAT = "%Y-%m-%dT%H:%M:%S%.f"

# Years whose nanoseconds since 1970 fit 64 bits; their first second, and the first one after them.
_YEARS = 1678, 2261
_FIRST, _END = (
    float(np.datetime64(f"{year}-01-01", "s").astype(np.int64)) for year in (1678, 2262)
)
_DAY = 86400.0
_NEAR = f"give date-times of the years {_YEARS[0]} to {_YEARS[1]}"


class Clock(NamedTuple):
    """Seconds of each row, how the file writes times, and what is to be noted about that."""

    times: Floats
    kind: str
    notes: tuple[str, ...] = ()

    @property
    def dates(self) -> str | None:
        """What date-times are in, as :class:`Messages` knows it; None for numbers."""
        return {_ZONED: "UTC", _DATED: "local"}.get(self.kind)


def clock(table: Table, unit: str | None) -> Clock:
    """The column ``time`` in seconds: numbers, or date-times as seconds since 1970."""
    given = table.frame.get_column("time")
    if given.null_count():
        table.refuse(int(given.is_null().arg_true()[0]), "there is no time; give every row one")
    if given.dtype == pl.String:
        times = _from_text(table, given.str.strip_chars(), unit)
    elif given.dtype.is_numeric():
        times = Clock(given.cast(pl.Float64).to_numpy() / UNITS[unit or "s"], "numbers")
    elif given.dtype.is_temporal() and given.dtype != pl.Time:
        times = _from_dates(table, given, unit)
    else:
        raise InputError(f"column 'time' holds {given.dtype}; give {_WANTED}").about(table.path)
    wrong = np.flatnonzero(~np.isfinite(times.times))
    if len(wrong):
        _refuse(table, given, int(wrong[0]))
    wrong = np.flatnonzero(np.abs(times.times) > LATEST)
    if len(wrong):
        far = times.times[wrong[0]]
        table.refuse(int(wrong[0]), f"the time is {far:g} s; give times up to {LATEST:g} s")
    return times


_WANTED = "seconds or ISO 8601 date-times"
_WITH_COMMA = re.compile(r"-?\d+,\d+", re.ASCII)  # as spreadsheets of many countries write numbers


def _refuse(table: Table, given: pl.Series, row: int) -> None:
    text = str(given[row])
    point = ", with a point and no comma" if _WITH_COMMA.fullmatch(text.strip()) else ""
    table.refuse(row, f"the time is {quoted(text)}; give {_WANTED}{point}")


def _from_text(table: Table, given: pl.Series, unit: str | None) -> Clock:
    numbers = given.cast(pl.Float64, strict=False)
    others = numbers.is_null().arg_true()
    if not len(others):
        return Clock(numbers.to_numpy() / UNITS[unit or "s"], "numbers")
    dated = given.str.contains(_DATE)
    odd = (numbers.is_null() & ~dated).arg_true()
    if len(odd):
        _refuse(table, given, int(odd[0]))
    if len(others) < len(given):
        first = int(dated[0])  # the kind that comes second is the odd one
        row = int((dated != bool(first)).arg_true()[0])
        kinds = ("numbers", _DATED)
        table.refuse(
            row,
            f"the time is {quoted(given[row])}, but the rows before have {kinds[first]}; write all "
            "times alike",
        )
    return _from_iso(table, given, unit)


def _from_iso(table: Table, given: pl.Series, unit: str | None) -> Clock:
    _check_no_unit(table, unit)
    zoned = given.str.contains(_ZONE)
    if zoned.any() and not zoned.all():
        row = int((zoned != zoned[0]).arg_true()[0])
        table.refuse(
            row,
            f"the time {quoted(given[row])} has {'no ' * bool(zoned[0])}time zone, unlike "
            "the rows before; write all times alike",
        )
    years = given.str.head(4).cast(pl.Int32)
    far = (~years.is_between(*_YEARS)).arg_true()
    if len(far):
        table.refuse(int(far[0]), f"the time is {quoted(given[int(far[0])])}; {_NEAR}")
    text = given.str.replace(" ", "T", literal=True)
    text = text.str.replace(r"(T\d{2}:\d{2})((?:[zZ]|[+-]\d{2}:?\d{2})?)$", "${1}:00${2}")
    kind = _FORMAT + ("%#z" if zoned.any() else "")
    text = text.str.replace(r"[zZ]$", "+00:00")
    moments = text.str.to_datetime(kind, time_unit="ns", strict=False)
    wrong = moments.is_null().arg_true()
    if len(wrong):
        _refuse(table, given, int(wrong[0]))
    if not zoned.any():
        return Clock(_epoch(moments), _DATED)
    zones = text.str.extract(r"([+-]\d{2}:?\d{2})$").str.replace(":", "", literal=True)
    several_zones = f"{table.path}: its times are of several time zones; they were converted to UTC"
    return Clock(_epoch(moments), _ZONED, (several_zones,) if zones.n_unique() > 1 else ())


def _from_dates(table: Table, given: pl.Series, unit: str | None) -> Clock:
    _check_no_unit(table, unit)
    if given.dtype == pl.Duration:
        return Clock(_physical(given), "durations")
    far = np.flatnonzero((_physical(given) < _FIRST) | (_physical(given) >= _END))
    if len(far):  # it is not shown: polars cannot write every date that it can hold
        table.refuse(int(far[0]), f"the time is too far away; {_NEAR}")
    zone = getattr(given.dtype, "time_zone", None)
    return Clock(_epoch(given.cast(pl.Datetime("ns", zone))), _ZONED if zone else _DATED)


def _physical(given: pl.Series) -> Floats:
    """Seconds of durations, dates or date-times, however far away."""
    each = UNITS[given.dtype.time_unit] if hasattr(given.dtype, "time_unit") else 1 / _DAY
    return given.to_physical().to_numpy() / each


def _epoch(moments: pl.Series) -> Floats:
    return moments.dt.epoch("ns").to_numpy() / 1e9


def _check_no_unit(table: Table, unit: str | None) -> None:
    if unit is not None:
        raise InputError("its times are date-times; leave ", Argument("unit", unit), " out").about(
            table.path
        )


def mixed_units(tables: list[tuple[Table, Floats]]) -> list[str]:
    """A note if some numbers look like milliseconds and others like seconds."""
    gap = unit_gap(np.concatenate([times for _, times in tables]))
    if gap is None:
        return []
    low, high, few_above = gap
    for table, of_table in tables:
        odd = np.flatnonzero((np.abs(of_table) >= high) == few_above)
        if len(odd):
            cell = table.position(int(odd[0]))
            return [f"{cell}: no time is between {low:g} and {high:g} s; check the unit of all"]
    return []


def directions(table: Table) -> tuple[Bools, list[str]]:
    """Which rows are messages in, and a note on words that may be meant the other way round."""
    given = table.frame.get_column("direction").cast(pl.String)
    text = given.str.strip_chars().str.to_lowercase().fill_null("")
    inward = text.is_in(_IN)
    wrong = (~(inward | text.is_in(_OUT))).arg_true()
    if len(wrong):
        row = int(wrong[0])
        what = (
            "there is no direction" if not text[row] else f"the direction is {quoted(given[row])}"
        )
        near = did_you_mean(text[row], (*_IN, *_OUT))
        table.refuse(row, f"{what}; write in or out{_more(len(wrong))}{near}")
    taken = [f"{word} as {side}" for word, side in _OF_DEVICES.items() if (text == word).any()]
    as_users = f"{table.path}: direction {', '.join(taken)}: what users do, not the mix"
    return inward.to_numpy(), [as_users] if taken else []


def _more(rows: int) -> str:
    """How many more rows the same is wrong with."""
    return "" if rows == 1 else f" ({several(rows, 'row')} have none of these)"


def names(table: Table, columns: tuple[str, ...], rows: npt.NDArray[np.intp]) -> pl.Series:
    """Who is seen in these rows, by the first of the columns that is there."""
    column = next(present for name in columns if (present := table.column(name)) is not None)
    kind = column.dtype
    if kind in (pl.Categorical, pl.Enum):
        column, kind = column.cast(pl.String), pl.String()
    if not (kind in (pl.String, pl.Null) or kind.is_integer()):
        raise InputError(
            f"column {quoted(column.name)} holds {kind}; give text or whole numbers"
        ).about(table.path)
    chosen = column.gather(rows)
    if chosen.null_count():
        row = int(rows[int(chosen.is_null().arg_true()[0])])
        table.refuse(row, f"there is no {column.name}; say who is seen with every message")
    return chosen


def flags(table: Table, rows: npt.NDArray[np.intp]) -> Bools | None:
    """Which of these rows are cover, dummies or lost; None if no row says anything."""
    flagged = None
    for name in ("cover", "dummy", "lost"):
        column = table.column(name)
        if column is None:
            continue
        given = column.gather(rows)
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
                table.refuse(int(rows[at]), f"{name} is {quoted(given[at])}; write true or false")
        flagged = true.to_numpy() if flagged is None else flagged | true.to_numpy()
    return flagged


def seconds(unit: object) -> str | None:
    """The unit that a caller named, checked."""
    if unit is None or (isinstance(unit, str) and unit in UNITS):
        return unit
    near = did_you_mean(unit, UNITS) or _SPELLED.get(str(unit).lower(), "")
    raise InputError(
        Argument("unit"), f" must be one of {', '.join(UNITS)}, not {quoted(unit)}{near}"
    )

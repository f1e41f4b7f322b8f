"""Columns of message logs: times, directions and flags, checked without a Python loop over rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, quoted, several
from anonymatch.mixes.logs.messages import LATEST
from anonymatch.mixes.reading.hints import unit_gap
from anonymatch.tabular import Table, name_codes

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
# Seconds from 0 below which float64 holds less than a nanosecond, and beyond which no whole second.
_COARSE, _MOST = 2.0**20, 2.0**62
_NEAR_SPAN = 0.25  # of the largest time, that a log lasts at most
_ROOM = 16.0  # steps of float64 to a digit: times are compared to within some of them
_DECIMAL = r"^[+-]?\d+(\.\d*)?$"
_NEAR = f"give date-times of the years {_YEARS[0]} to {_YEARS[1]}"


class Clock(NamedTuple):
    """Seconds of each row, how the file writes times, and what is to be noted about that.

    Where float64 cannot hold the times as finely as they are written, ``fine`` has whole seconds
    and the parts of a second beyond them.
    """

    times: Floats
    kind: str
    notes: tuple[str, ...] = ()
    fine: tuple[Ints, Floats] | None = None

    @property
    def dates(self) -> str | None:
        """What date-times are in, as :class:`Messages` knows it; None for numbers."""
        return {_ZONED: "UTC", _DATED: "local"}.get(self.kind)


def from_one_origin(clocks: Sequence[Clock]) -> tuple[float, list[Clock]]:
    """Clocks that count from one origin: the first second, if times are too fine to count from 0.

    Subtracting it before times become float64 keeps nanoseconds since 1970 apart.
    """
    if all(each.fine is None for each in clocks):
        return 0.0, list(clocks)
    parts = [_whole(each.times) if each.fine is None else each.fine for each in clocks]
    origin = min(int(whole.min()) for whole, _ in parts)
    near = [(whole - origin).astype(np.float64) + part for whole, part in parts]
    return float(origin), [
        each._replace(times=times, fine=None) for each, times in zip(clocks, near, strict=True)
    ]


def _whole(times: Floats) -> tuple[Ints, Floats]:
    whole = np.floor(times)
    return whole.astype(np.int64), times - whole


def _fine(
    units: Ints, parts: Floats | None, a_second: int, finest: float
) -> tuple[Ints, Floats] | None:
    """Whole seconds and parts of times in units and parts of a unit; ``finest``: their last digit.

    None where float64 seconds from 0 are fine enough, or too many to count from another second.
    """
    first, last = int(units.min()), int(units.max())
    largest = max(-first, last) / a_second
    if largest < _COARSE or largest >= _MOST or _ROOM * np.spacing(largest) <= finest / a_second:
        return None
    if last - first > _NEAR_SPAN * largest * a_second:
        return None  # another second is no nearer to all of them
    beyond = units % a_second if parts is None else units % a_second + parts
    return units // a_second, beyond / a_second


def clock(table: Table, unit: str | None) -> Clock:
    """The column ``time`` in seconds: numbers, or date-times as seconds since 1970."""
    given = table.frame.get_column("time")
    if given.null_count():
        table.refuse(
            int(given.is_null().arg_true()[0]),
            f"there is no time{table.titled('time')}; give every row one",
        )
    if given.dtype == pl.String:
        times = _from_text(table, given.str.strip_chars(), unit)
    elif given.dtype.is_numeric():
        seconds = given.cast(pl.Float64).to_numpy() / UNITS[unit or "s"]
        fine = _fine_wholes(given, unit) if given.dtype.is_integer() else None
        times = Clock(seconds, "numbers", fine=fine)
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


def _fine_wholes(given: pl.Series, unit: str | None) -> tuple[Ints, Floats] | None:
    wholes = given.cast(pl.Int64, strict=False)
    if wholes.null_count():
        return None
    return _fine(wholes.to_numpy(), None, round(UNITS[unit or "s"]), 1.0)


def _fine_text(given: pl.Series, unit: str | None) -> tuple[Ints, Floats] | None:
    """Decimal numbers as they are written; None where float64 is fine enough."""
    if not given.str.contains(_DECIMAL).all():
        given = pl.Series([format(Decimal(text), "f") for text in given])
    digits = given.str.split_exact(".", 1).struct
    whole = digits.field("field_0").cast(pl.Int64, strict=False)
    if whole.null_count():  # beyond 64 bits
        return None
    ends = digits.field("field_1").fill_null("")
    places = int(ends.str.len_chars().to_numpy().max(initial=0))
    parts = ("0." + ends).str.replace(r"\.$", ".0").cast(pl.Float64).to_numpy()
    below = given.str.starts_with("-").to_numpy() & (parts > 0.0)
    units = whole.to_numpy() - below
    return _fine(units, np.where(below, 1.0 - parts, parts), round(UNITS[unit or "s"]), 0.1**places)


_WANTED = "seconds or ISO 8601 date-times"
_WITH_COMMA = re.compile(r"-?\d+,\d+", re.ASCII)  # as spreadsheets of many countries write numbers


def _refuse(table: Table, given: pl.Series, row: int) -> None:
    text = str(given[row])
    point = ", with a point and no comma" if _WITH_COMMA.fullmatch(text.strip()) else ""
    table.refuse(row, f"the time{table.titled('time')} is {quoted(text)}; give {_WANTED}{point}")


def _from_text(table: Table, given: pl.Series, unit: str | None) -> Clock:
    numbers = given.cast(pl.Float64, strict=False)
    others = numbers.is_null().arg_true()
    if not len(others):
        times = numbers.to_numpy() / UNITS[unit or "s"]
        far = np.isfinite(times).all() and np.abs(times).max(initial=0.0) >= _COARSE
        fine = _fine_text(given, unit) if far else None
        return Clock(times, "numbers", fine=fine)
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
        return _epoch_clock(moments, _DATED)
    zones = text.str.extract(r"([+-]\d{2}:?\d{2})$").str.replace(":", "", literal=True)
    several_zones = f"{table.path}: its times are of several time zones; they were converted to UTC"
    notes = (several_zones,) if zones.n_unique() > 1 else ()
    return _epoch_clock(moments, _ZONED)._replace(notes=notes)


def _from_dates(table: Table, given: pl.Series, unit: str | None) -> Clock:
    _check_no_unit(table, unit)
    if given.dtype == pl.Duration:
        return Clock(_physical(given), "durations")
    far = np.flatnonzero((_physical(given) < _FIRST) | (_physical(given) >= _END))
    if len(far):  # it is not shown: polars cannot write every date that it can hold
        table.refuse(int(far[0]), f"the time is too far away; {_NEAR}")
    zone = getattr(given.dtype, "time_zone", None)
    return _epoch_clock(given.cast(pl.Datetime("ns", zone)), _ZONED if zone else _DATED)


def _physical(given: pl.Series) -> Floats:
    """Seconds of durations, dates or date-times, however far away."""
    each = UNITS[given.dtype.time_unit] if hasattr(given.dtype, "time_unit") else 1 / _DAY
    return given.to_physical().to_numpy() / each


def _epoch_clock(moments: pl.Series, kind: str) -> Clock:
    """Date-times as seconds since 1970."""
    units = moments.dt.epoch("ns").to_numpy()
    finest = next((step for step in (10**6, 10**3) if not (units % step).any()), 1)
    return Clock(units / 1e9, kind, fine=_fine(units, None, 10**9, float(finest)))


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
    if _by_the_mix(table, text):
        return (text == "rx").to_numpy(), [
            f"{table.path}: direction rx as in, tx as out: what the mix does, as rx names users"
        ]
    taken = [f"{word} as {side}" for word, side in _OF_DEVICES.items() if (text == word).any()]
    as_users = f"{table.path}: direction {', '.join(taken)}: what users do, not the mix"
    return inward.to_numpy(), [as_users] if taken else []


def _by_the_mix(table: Table, text: pl.Series) -> bool:
    """Whether rx and tx are the words of the mix: rows with rx have users, and no row with tx."""
    users = table.column("user")
    if users is None or not text.is_in(tuple(_OF_DEVICES)).all() or text.n_unique() < 2:
        return False
    return bool((users.is_not_null() == (text == "rx")).all())


def _more(rows: int) -> str:
    """How many more rows the same is wrong with."""
    return "" if rows == 1 else f" ({several(rows, 'row')} have none of these)"


def names_in(table: Table, columns: tuple[str, ...], rows: npt.NDArray[np.intp]) -> pl.Series:
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


def matched(came: tuple[Table, Ints], left: tuple[Table, Ints]) -> Ints | None:
    """The place among the rows out of each row in that has the same ``message``.

    -1 where no row out has it, -2 where the row in has none; None if a table has no such column.
    """
    ids = []
    for table, rows in (came, left):
        column = table.column("message")
        if column is None:
            return None
        ids.append(column.gather(rows).cast(pl.String))
    both = np.split(name_codes(pl.concat(ids))[0], [len(ids[0])])
    place = np.full(len(ids[0]) + len(ids[1]), -1, dtype=np.int64)
    for (table, rows), codes in zip((came, left), both, strict=True):
        place[:] = -1
        known = np.flatnonzero(codes >= 0)
        place[codes[known][::-1]] = known[::-1]
        again = known[place[codes[known]] != known]
        if len(again):
            at = int(again[0])
            first, row = sorted((int(rows[place[codes[at]]]), int(rows[at])))
            table.refuse(
                row,
                f"message {quoted(table.text('message')[row])} is there twice on one side, first "
                f"in {table.where_of(first)}; keep one",
            )
    return np.where(both[0] < 0, -2, place[both[0]])


def seconds(unit: object) -> str | None:
    """The unit that a caller named, checked."""
    if unit is None or (isinstance(unit, str) and unit in UNITS):
        return unit
    near = did_you_mean(unit, UNITS) or _SPELLED.get(str(unit).lower(), "")
    raise InputError(
        Argument("unit"), f" must be one of {', '.join(UNITS)}, not {quoted(unit)}{near}"
    )

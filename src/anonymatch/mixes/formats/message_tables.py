"""Message logs in tables through polars: rows of both directions, of one, or one per packet."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, FileName, Message, alike, listed, quoted, several
from anonymatch.graph import names_of
from anonymatch.mixes.formats.message_columns import (
    Clock,
    clock,
    directions,
    from_one_origin,
    matched,
    mixed_units,
    names_in,
    seconds,
)
from anonymatch.mixes.logs.messages import Messages, decimal_text, in_words, nanoseconds_of
from anonymatch.mixes.reading.hints import unit_hint
from anonymatch.tabular import (
    BEHAVIOUR,
    DIRECTION,
    EITHER,
    FLAGS,
    MESSAGE,
    TIME,
    USER,
    Column,
    Columns,
    Table,
    column_names,
    read_table,
    suggested_columns,
)

Rows = npt.NDArray[np.intp]

COLUMNS = Columns(
    TIME,
    DIRECTION,
    Column("entered", ("entered_at", "arrival", "arrived_at", "sent", "sent_at"), kind="time"),
    Column("left", ("left_at", "departure", "departed_at", "received", "received_at"), kind="time"),
    USER,
    BEHAVIOUR,
    EITHER,
    MESSAGE,
    Column("round"),
    *FLAGS,
)
_IN, _OUT = ("user", "name"), ("behaviour", "name")


class _LogSide(NamedTuple):
    """Messages in, or messages out, in order of time."""

    table: Table
    rows: Rows  # of the table
    times: Floats
    names: pl.Series
    flags: Bools | None
    dates: str | None
    origin: float

    def moment(self, at: int) -> str:
        return in_words(float(self.times[at]), self.dates, self.origin)


def read(
    path: str | os.PathLike[str],
    departures: str | os.PathLike[str] | None,
    unit: str | None,
    columns: Mapping[str, str] | Sequence[str] | None,
) -> Messages:
    """The messages of one table, or of one of messages in and one of messages out."""
    unit = seconds(unit)
    tables = _tables(path, departures, column_names(columns))
    clocks = [clock(table, unit) for table in tables]
    if clocks[0].kind != clocks[-1].kind:
        raise InputError(
            f"its times are {clocks[1].kind}, but those of ",
            FileName(tables[0].path),
            f" are {clocks[0].kind}; write all alike",
        ).about(tables[1].path)
    absolute = [each.times for each in clocks]
    origin, clocks = from_one_origin(clocks)
    times = [each.times for each in clocks]
    remarks: list[str] = []
    if len(tables) == 1:
        inward, remarks = directions(tables[0])
        rows = np.flatnonzero(inward), np.flatnonzero(~inward)
    else:
        rows = np.arange(len(times[0])), np.arange(len(times[1]))
    came, before = _side(tables[0], rows[0], clocks[0], origin, _IN, "in")
    left, after = _side(tables[-1], rows[1], clocks[-1], origin, _OUT, "out")
    notes = [note for table in tables for note in table.notes]
    notes += [note for clock in clocks for note in clock.notes]
    notes += [*remarks, *before, *after]
    if clocks[0].kind == "numbers":
        mixed = mixed_units(list(zip(tables, absolute, strict=True)))
        hint = unit_hint(absolute[0]) if unit is None and not mixed else None
        notes += mixed if hint is None else [Message(f"{tables[0].path}: ", hint)]
    return Messages(
        arrivals=came.times,
        departures=left.times,
        senders=tuple(came.names.to_list()),
        receivers=tuple(left.names.to_list()),
        truth=_truth(came, left),
        cover=left.flags,
        lost=came.flags,
        dates=clocks[0].dates,
        origin=origin,
        notes=tuple(notes),
    )


def _tables(
    path: str | os.PathLike[str],
    departures: str | os.PathLike[str] | None,
    names: Mapping[str, str],
) -> list[Table]:
    """The table of both directions, or of messages in and of messages out."""
    first = as_path(path)
    if departures is None:
        needed = (("time", "entered"), ("direction", "left"))
        table = read_table(first, COLUMNS, needed, names=names)
        there = set(table.frame.columns)
        if {"entered", "left"} <= there and not {"time", "direction"} <= there:
            _check_names(table, (_IN, _OUT))
            return _packet_ends(table)
        _check_pairs(table, there)
        _check_names(table, (_IN, _OUT))
        return [table]
    files = (first, _IN), (as_path(departures), _OUT)
    tables = [read_table(each, COLUMNS, (("time",),), names=names) for each, _ in files]
    for table, (_, side) in zip(tables, files, strict=True):
        _check_names(table, (side,))
    return tables


def _packet_ends(table: Table) -> list[Table]:
    """Messages in and messages out of a table with one row per packet.

    A packet without a time of departure was not seen to leave, one without a time of arrival
    was not seen to come in. The two ends of a row are one message.
    """
    ends = []
    for name, verb in (("entered", "enter"), ("left", "leave")):
        times = table.frame.get_column(name)
        if times.dtype.is_float():
            times = times.fill_nan(None)
        rows = times.is_not_null().arg_true()
        if not len(rows):
            raise InputError(
                f"no packet is seen to {verb}: column {quoted(table.titles[name])} is empty"
            ).about(table.path)
        numbers = pl.int_range(table.frame.height, eager=True).alias("message")
        frame = table.frame.drop("entered", "left", "time", "message", strict=False)
        frame = frame.with_columns(times.alias("time"), numbers)
        titles = {**table.titles, "time": table.titles[name]}
        ends.append(replace(table, frame=frame, titles=titles).at(rows))
    return [ends[0], replace(ends[1], notes=())]


def _check_pairs(table: Table, there: set[str]) -> None:
    """Refuse a table with one end of a packet alone, or with a time and no direction."""
    pairs = ("entered", "left"), ("time", "direction")
    for name, other in (*pairs, *(pair[::-1] for pair in pairs)):
        if name in there and other not in there:
            raise InputError(
                f"it has a column of {name!r} and none of {other!r}; the columns are "
                f"{listed(table.columns)}; name it with ",
                Argument("columns", f"{other}=COLUMN"),
            ).about(table.path)


def _check_names(table: Table, sides: Sequence[tuple[str, ...]]) -> None:
    """Refuse names that one direction lacks, or that may be in columns called otherwise.

    A log without any names is complete: its messages have numbers.
    """
    there = set(table.frame.columns)
    missing = [side[0] for side in sides if not there & set(side)]
    found = {name: one for name in missing for one in table.ignored if alike(name, one)}
    found = suggested_columns(table.ignored, missing) | found
    packets = {"entered", "left"} <= there
    if not missing or (not found and (packets or len(missing) == len(sides))):
        return
    pairs = ",".join(f"{name}={found.get(name, 'COLUMN')}" for name in missing)
    raise InputError(
        f"no column {' or '.join(map(repr, missing))}; the columns are {listed(table.columns)}; "
        "name them with ",
        Argument("columns", pairs),
    ).about(table.path)


def _side(
    table: Table, rows: Rows, clock: Clock, origin: float, columns: tuple[str, ...], noun: str
) -> tuple[_LogSide, list[str]]:
    """The messages in these rows, and notes."""
    if not len(rows):
        raise InputError(f"no row has the direction {noun}; add the messages {noun}").about(
            table.path
        )
    notes, times = [], clock.times[rows]
    unnamed = not any(table.column(name) is not None for name in columns)
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        line = table.position(int(rows[back[0] + 1]))
        came, then = (in_words(time, clock.dates, origin) for time in times[back[0] : back[0] + 2])
        notes.append(
            f"{line}: the time goes back, from {came.removesuffix(' s')} to {then}; "
            f"messages {noun} were sorted by time"
        )
        order = np.argsort(times, kind="stable")
        rows, times = rows[order], times[order]
    if unnamed:  # in 1, in 2, and so on, in order of time
        names = f"{noun} " + pl.Series(np.arange(1, len(rows) + 1)).cast(pl.String)
    else:
        names = names_in(table, columns, rows)
    flags = table.flags(rows, "cover", "dummy", "lost")
    side = _LogSide(table, rows, times, names, flags, clock.dates, origin)
    return side, notes if unnamed else notes + _repeats(side, noun)


def _repeats(side: _LogSide, noun: str) -> list[str]:
    """A note on messages of one time and one name."""
    same = np.diff(side.times) == 0.0
    tied = np.flatnonzero(np.append(same, False) | np.insert(same, 0, False))
    messages = pl.DataFrame(
        [pl.Series("time", side.times[tied]), side.names.gather(tied).alias("name")]
    )
    message = side.table.column("message")
    if message is not None:
        messages = messages.with_columns(message.gather(side.rows[tied]).alias("message"))
    again = (~messages.select(pl.struct(pl.all()).is_first_distinct()).to_series()).arg_true()
    if not len(again):
        return []
    line = side.table.position(int(side.rows[tied[int(again[0])]]))
    repeats = "repeats" if len(again) == 1 else "repeat"
    who = several(len(again), "message")
    return [f"{line}: {who} {noun} {repeats} the time and name of another; all are kept"]


def _truth(came: _LogSide, left: _LogSide) -> Ints | None:
    """The message out of each message in, by the column ``message`` of both."""
    truth = matched((came.table, came.rows), (left.table, left.rows))
    if truth is None:
        return None
    truth = np.maximum(truth, -1)
    _check_order(came, left, truth)
    return truth


def _check_order(came: _LogSide, left: _LogSide, truth: Ints) -> None:
    known = np.flatnonzero(truth >= 0)
    early = known[left.times[truth[known]] < came.times[known]]
    if len(early):
        at = int(early[0])
        end = int(truth[at])
        also = f", and so do {len(early) - 1} more" if len(early) > 1 else ""
        left.table.refuse(
            int(left.rows[end]),
            f"the message of {quoted(came.names[at])} leaves at {left.moment(end)}, before it "
            f"comes in at {came.moment(at)}{also}; check the clocks",
        )
    _check_flags(came, left, truth)


def _check_flags(came: _LogSide, left: _LogSide, truth: Ints) -> None:
    """A dummy that goes all the way is flagged at both ends; one flag alone contradicts them."""
    known = np.flatnonzero(truth >= 0)
    ends = truth[known]
    none = np.zeros(len(known), dtype=np.bool_)
    gone = none if came.flags is None else came.flags[known]
    hidden = none if left.flags is None else left.flags[ends]
    for side, wrong, word in (
        (came, known[gone & ~hidden], "never comes out"),
        (left, ends[hidden & ~gone], "is nobody's"),
    ):
        if len(wrong):
            side.table.refuse(
                int(side.rows[int(wrong[0])]),
                f"the message {word} by its flag, but its number is on the other side too, "
                "unflagged; flag both rows of a dummy that goes all the way, or neither",
            )


def _moments(messages: Messages, times: Floats, *, text: bool) -> Any:
    """The column of times: seconds, or date-times if the log had these."""
    places = 6
    if messages.origin:
        exact = [nanoseconds_of(time, messages.origin) for time in times.tolist()]
        if messages.dates is None:
            return [decimal_text(one) for one in exact]
        moments = pl.Series(exact, dtype=pl.Int64).cast(pl.Datetime("ns"))
        places = 9 if any(one % 1000 for one in exact) else 6
    elif messages.dates is None:
        return times
    else:
        moments = pl.Series(np.rint(times * 1e6).astype(np.int64)).cast(pl.Datetime("us"))
    if text:
        zone = "Z" * (messages.dates == "UTC")
        return moments.dt.strftime(f"%Y-%m-%dT%H:%M:%S%.{places}f{zone}")
    return moments.dt.replace_time_zone("UTC") if messages.dates == "UTC" else moments


def frame_of(messages: Messages, suffix: str) -> pl.DataFrame:
    """One row a message seen, in order of time, messages in first where times agree."""
    came, left = messages.n_in, messages.n_out
    text = suffix in (".csv", ".tsv")
    times = np.concatenate((messages.arrivals, messages.departures))
    columns: dict[str, Any] = {
        "time": _moments(messages, times, text=suffix != ".parquet"),
        "direction": pl.concat(
            [pl.repeat("in", came, eager=True), pl.repeat("out", left, eager=True)]
        ),
    }
    for noun, names, before, after in (
        ("user", messages.senders, 0, left),
        ("behaviour", messages.receivers, came, 0),
    ):
        named = names_of(names, noun, text=text)
        columns[noun] = pl.concat([named.clear(before), named, named.clear(after)])
    if messages.truth is not None:
        known = np.flatnonzero(messages.truth >= 0)
        numbers = np.zeros(came + left, dtype=np.int64)
        numbers[known] = numbers[came + messages.truth[known]] = known + 1
        columns["message"] = pl.Series(numbers).replace(0, None)
    for name, flags, before, after in (
        ("cover", messages.cover, came, 0),
        ("lost", messages.lost, 0, left),
    ):
        if flags is not None:
            marked = pl.Series(flags)
            columns[name] = pl.concat([marked.clear(before), marked, marked.clear(after)])
    order = np.argsort(times, kind="stable")
    return pl.DataFrame(columns)[order]

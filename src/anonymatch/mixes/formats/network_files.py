"""Logs of networks of mixes: a row a packet on a link.

=============  ===================================================================================
``time``       seconds (``unit`` says if not), or ISO 8601 date-times
``from, to``   who the packet went from and to; who is in both columns is a mix, all others are
               senders and receivers
``sent``       instead of ``time``, with ``received``: when it left and when it arrived, where links
               take time that is seen
``message``    optional: the same in all rows of one message, if that is known. It is the truth,
               which the attacker does not see; but corrupt mixes tell it
``cover``      optional: true in rows of dummy packets (also ``dummy``)
``lost``       optional: true in the last row of a lost packet. The attacker does not see it
=============  ===================================================================================

Cover is held back and sent on as messages are, and the attacker cannot tell it from them. If
``message`` shows that a mix made it or drops it, the attacker is told that.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.laws import Law
from anonymatch.mixes.logs.observation import NetworkObservation
from anonymatch.mixes.networks.link_logs import in_words, observe_links
from anonymatch.mixes.networks.link_rows import LinkRows
from anonymatch.mixes.networks.network_conditions import (
    LinkConditions,
    PerMix,
    network_law,
)
from anonymatch.tabular import FLAGS, MESSAGE, TIME, Column, Columns, about, column_names

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes.formats.message_columns import Clock
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.running import Budget
    from anonymatch.tabular import Table

LINKS = ("from", "to")
"""Columns that make a table with times one of links."""

_COLUMNS = Columns(
    TIME,
    Column("sent", kind="time"),
    Column("received", kind="time"),
    *map(Column, LINKS),
    MESSAGE,
    *FLAGS,
)


_CONDITIONS = ("loss", "cover_rate", "loop_rate", "inside_at_start", "since", "until", "drained")
_OPTIONS = (*_CONDITIONS, "corrupt", "unit", "columns", "cover_visible", "whole_log")


def read_network(
    path: str | os.PathLike[str],
    law: Law | str | Mapping[str, Law | str] = "exponential",
    *,
    loss: PerMix | None = None,
    cover_rate: PerMix | None = None,
    loop_rate: PerMix | None = None,
    inside_at_start: PerMix | None = None,
    since: float | str | None = None,
    until: float | str | None = None,
    drained: bool = False,
    corrupt: str | Iterable[str] | None = None,
    unit: str | None = None,
    columns: Mapping[str, str] | Sequence[str] | None = None,
    cover_visible: bool = False,
    whole_log: bool = False,
) -> NetworkObservation:
    r"""What an attacker saw who watches every link of a network of mixes.

    Parameters
    ----------
    path : path
        A .csv, .tsv, .parquet or .jsonl file, described above; text may end in .gz.
    law : Law, str or mapping
        Law of all mixes, or one law per mix. Mixes that choose uniformly need no numbers if no
        packet is lost, made or inside at the start.
    loss, cover_rate, loop_rate, inside_at_start : float or mapping, optional
        Probability that a packet that enters a mix is lost; dummy packets per second that a mix
        makes; loops per second that a mix sends to itself; mean number of packets inside a mix at
        the start. One value for all mixes, or a mapping by mix. For exponential mixes [default:
        fitted to the packet counts and links].
    since, until : float or str, optional
        Start and end of the observation [default: first and last row].
    drained : bool
        Whether all mixes are empty at the end.
    corrupt : iterable of str, optional
        Mixes that tell the attacker which packet is which; needs the column ``message``.
    unit : {"s", "ms", "us", "ns"}, optional
        Of times in numbers.
    columns : mapping or str, optional
        Names of columns by what they mean: ``{"time": "ts", "from": "src", "to": "dst"}``.
    cover_visible : bool
        Whether the attacker can tell cover from messages on every link.
    whole_log : bool
        Whether messages near the ends of the log count as all others.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "network.csv")
    ...     _ = log.write_text("time,from,to\n0,ann,A\n1,bob,A\n2,A,B\n3,B,x\n4,A,B\n5,B,y\n")
    ...     observation = read_network(log)
    >>> observation.network.mixes, observation.source
    (('A', 'B'), 'a network of 2 mixes in 2 layers, each choosing uniformly')
    """
    from anonymatch.mixes.formats import message_columns
    from anonymatch.tabular import read_table

    file, mix = as_path(path), network_law(law)
    unit = message_columns.seconds(unit)
    needed = (("time", "sent"), ("from",), ("to",))
    table = read_table(file, _COLUMNS, needed, names=column_names(columns))
    (sent, *others), origin, notes = _times(table, unit)
    rows = _rows(table, sent.times, others[0].times if others else None)
    rows = replace(rows, origin=origin, dates=sent.dates)
    with about(file):
        observation = observe_links(
            rows,
            mix.law,
            source="",
            given=LinkConditions(
                mean=mix.mean,
                most=mix.most,
                flushes=mix.flushes,
                loss=loss,
                cover_rate=cover_rate,
                loop_rate=loop_rate,
                inside_at_start=inside_at_start,
                since=since,
                until=until,
                drained=drained,
            ),
            corrupt=corrupt_names(corrupt),
            cover_visible=cover_visible,
            whole_log=whole_log,
            notes=(*table.notes, *notes),
        )
    network = observation.network
    assert network is not None
    return replace(observation, source=in_words(network))


def corrupt_names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    """Names of mixes from a text parted by commas, or from several.

    Examples
    --------
    >>> corrupt_names("m3, m7"), corrupt_names(["m1", "m2,m3"]), corrupt_names(None)
    (('m3', 'm7'), ('m1', 'm2', 'm3'), ())
    """
    texts = [given] if isinstance(given, str) else list(given or ())
    names = (name.strip() for text in texts for name in str(text).split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _times(table: Table, unit: str | None) -> tuple[list[Clock], float, tuple[str, ...]]:
    """The clock of ``time``, or those of ``sent`` and ``received``, their origin, and notes."""
    from anonymatch.mixes.formats import message_columns

    there = set(table.frame.columns)
    if "time" in there and there & {"sent", "received"}:
        raise InputError(
            "it has a column 'time' beside 'sent' or 'received'; keep time, or the two others"
        ).about(table.path)
    if "time" in there:
        clock = message_columns.clock(table, unit)
        origin, clocks = message_columns.from_one_origin([clock])
        return clocks, origin, clock.notes
    if "received" not in there:
        raise InputError("it has a column 'sent' and none 'received'; give both, or 'time'").about(
            table.path
        )
    clocks = [
        message_columns.clock(
            replace(table, frame=table.frame.select(table.frame[name].alias("time"))), unit
        )
        for name in ("sent", "received")
    ]
    if clocks[0].kind != clocks[1].kind:
        raise InputError(
            f"'sent' has {clocks[0].kind} and 'received' {clocks[1].kind}; write all alike"
        ).about(table.path)
    origin, near = message_columns.from_one_origin(clocks)
    return near, origin, clocks[0].notes


def _rows(table: Table, sent: Floats, received: Floats | None) -> LinkRows:
    from anonymatch.mixes.formats import message_columns
    from anonymatch.tabular import name_codes

    every = np.arange(table.frame.height)
    ends = [_text(message_columns.names_in(table, (name,), every), table) for name in LINKS]
    numbers, names = name_codes(ends[0].append(ends[1]))
    from_, to = np.split(numbers.astype(np.int64), 2)
    same = np.flatnonzero(from_ == to)
    if len(same):
        row = int(same[0])
        table.refuse(row, f"a packet goes from {quoted(names[int(from_[row])])} to itself")
    message: Ints | None = None
    message_names: list[str] = []
    column = table.column("message")
    if column is not None and column.null_count() < len(column):
        codes, known = name_codes(column)
        message, message_names = codes.astype(np.int64), known.to_list()
    return LinkRows(
        names=names.to_list(),
        from_=from_,
        to=to,
        sent=sent,
        received=received,
        message=message,
        message_names=message_names,
        flagged=table.flags(None, "cover", "dummy"),
        lost=table.flags(None, "lost"),
        refuse=table.refuse,
    )


def _text(column: pl.Series, table: Table) -> pl.Series:
    import polars as pl

    text = column.cast(pl.String).str.strip_chars()
    empty = (text == "").arg_true()
    if len(empty):
        table.refuse(int(empty[0]), f"there is no {column.name}; say who a packet went from and to")
    return text


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> NetworkObservation:
    del law, budget
    try:
        network_law(options.law)
    except InputError as error:
        raise (error.about(path) if options.law is None else error) from None
    assert options.law is not None
    given: dict[str, Any] = {name: getattr(options, name) for name in _OPTIONS}
    return read_network(path, options.law, **given)


FORMAT: SourceFormat = SourceFormat(
    text="packets on the links of a network of mixes: time, from, to; needs a law",
    open=_open,
    uses_law=True,
    reads_law=True,
)

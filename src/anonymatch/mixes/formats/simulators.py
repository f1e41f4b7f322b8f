"""Logs of mix network simulators: MiXiM as messages or as a network, the Nym team's as messages.

MiXiM [1]_ writes ``SentMessages.csv`` and ``ReceivedMessages.csv`` into one folder, with columns
MessageID, MessageType (Real, ClientDummy, Dummy), MessageTimeLeft, MessageTimeReceived and
MessageRoute (``[Client id: 3, ( id: 1, corrupt: False ), ..., Client id: 7]``).

Every link event follows from delays and routes: ``MessageDelay`` has the seconds in each mix (with
those at the client before and a 0 behind them), ``MessageRoute`` names the mixes and says which are
corrupt. Links take the same time for all, and what is left over is the first link's: MiXiM holds
its own targets back there. Its mixes are Poisson mixes, so that no law is needed. Dummies of
clients that are never received were dropped by their first mix without entering its pool, as MiXiM
does it; those of mixes come from nobody. All others are cover that is held back and sent on.

The Nym team's simulator [2]_ writes ``packet_log.csv``, fields separated by semicolons, a row a
packet that was received: PacketID, PacketType (REAL, DUMMY, ACK), ClientID (who received it),
PacketTimeSent, PacketTimeDelivered, RealSenderLabel (1 and 2 for the two senders under watch, 0
for everybody else). Who the others are is not in the log.

In messages, whatever is not real is a dummy: its arrival is flagged as lost and its departure as
cover. Times are taken as seconds.

References
----------
.. [1] Ben Guirat, Gosain, Diaz. MiXiM: mixnet design decisions and empirical evaluation. WPES 2021.
.. [2] Piotrowska. Studying the anonymity trilemma with a discrete-event mix network simulator.
   WPES 2021.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.mixes.formats.network_files import corrupt_names
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.networks.link_logs import in_words, observe_links
from anonymatch.mixes.networks.link_rows import LinkRows
from anonymatch.mixes.networks.network_conditions import network_law
from anonymatch.tabular import Column, Columns, Source, about, reading

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes.logs.observation import Observation
    from anonymatch.mixes.options import ReadOptions
    from anonymatch.tabular import Table

SENT, RECEIVED = "SentMessages.csv", "ReceivedMessages.csv"
_DUMMIES = "DummyMessages.csv"
_MIXIM_FILES = (SENT, RECEIVED, f"{SENT}.gz", f"{RECEIVED}.gz")
_MIXIM = Columns(
    Column("MessageID", required=True),
    Column("MessageType", required=True),
    Column("MessageTimeLeft"),
    Column("MessageTimeReceived"),
    Column("MessageRoute"),
    Column("MessageDelay"),
)
_NYM_LOG = "packet_log.csv"
_NYM = Columns(
    Column("Type", required=True),
    Column("PacketID", required=True),
    Column("PacketType"),
    Column("RealSenderLabel", required=True),
    Column("ClientID", required=True),
    Column("PacketTimeSent", required=True),
    Column("PacketTimeDelivered", required=True),
)
_NYM_HEADER = ("Type", "PacketID", "PacketTimeSent", "PacketTimeDelivered")
"""What makes a table one of the Nym team's simulator."""

_CLIENT = r"Client id: ([^,\]]+)"
_FIRST_CLIENT = rf"^\[\s*{_CLIENT}"
_LAST_CLIENT = r"Client id: ([^,\]]+?)\s*\]$"
_BEFORE_NUMBER = r"^(.+)_[^_]*$"
_HOP = r"\( *id: ([^,)]+)"
_CORRUPT = r"\( *id: ([^,)]+), corrupt: True *\)"
_NOBODY = "dummies"
_LONGEST = 1e12  # seconds in a mix
_FEW = 1e-6  # seconds by which times of one message may fail to add up
_OF_LINKS = ("cover_visible", "whole_log")


def read_mixim(folder: str | os.PathLike[str]) -> Messages:
    r"""The messages of a folder that MiXiM wrote.

    Messages that were sent and not received when the simulation ended have no departure; which ones
    they are is not given away. Dummies that mixes made have a departure and no arrival.

    Parameters
    ----------
    folder : path
        With ``SentMessages.csv`` and ``ReceivedMessages.csv``, maybe with .gz behind them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name)
    >>> head = ",MessageID,MessageType,MessageTimeLeft,"
    >>> row = "0,1_1,Real,0.5,"
    >>> _ = (path / "SentMessages.csv").write_text(
    ...     f'{head}MessageRoute\n{row}"[Client id: 1, ( id: 4 ), Client id: 2]"\n')
    >>> _ = (path / "ReceivedMessages.csv").write_text(
    ...     f'{head}MessageTimeReceived,MessageRoute\n'
    ...     f'{row}2.25,"[Client id: 1, ( id: 4 ), Client id: 2]"\n')
    >>> messages = read_mixim(path)
    >>> messages.senders, messages.receivers, messages.departures - messages.arrivals
    (('client 1',), ('client 2',), array([1.75]))
    >>> folder.cleanup()
    """
    folder_path = as_path(folder)
    sent, received = _mixim_tables(folder_path, "MessageTimeLeft", "MessageTimeReceived")
    ids_in, ids_out = _ids(sent, "MessageID"), _ids(received, "MessageID")
    real_in, real_out = _is_real(sent, "MessageType"), _is_real(received, "MessageType")
    where = {name: index for index, name in enumerate(ids_out)}
    truth = np.array([where.get(name, -1) for name in ids_in], dtype=np.int64)
    notes = []
    unknown = int(real_out.sum()) - int(real_out[truth[(truth >= 0) & real_in]].sum())
    if unknown:
        notes.append(
            f"{several(unknown, 'message')} came out that nobody sent within the log, "
            "counted as cover."
        )
    return _messages(
        (sent.numbers("MessageTimeLeft"), received.numbers("MessageTimeReceived")),
        (_clients(sent, ids_in, _FIRST_CLIENT), _clients(received, ids_out, _LAST_CLIENT)),
        truth,
        ~real_in,
        folder_path,
        notes,
    )


def read_nym(path: str | os.PathLike[str]) -> Messages:
    r"""The packets of a ``packet_log.csv`` that the Nym team's simulator wrote.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "packet_log.csv")
    >>> _ = path.write_text(
    ...     "Type;ClientID;PacketID;PacketType;PacketTimeSent;PacketTimeDelivered;RealSenderLabel\n"
    ...     "RCV_PKT_REAL;c9;p1;REAL;1.0;2.5;1\nRCV_PKT_DUMMY;c9;p2;DUMMY;1.5;2.0;0\n")
    >>> messages = read_nym(path)
    >>> messages.senders, messages.truth, messages.cover
    (('A', 'sender of p2'), array([1, 0]), array([ True, False]))
    >>> folder.cleanup()
    """
    from anonymatch.tabular import read_table

    file = as_path(path)
    table = read_table(file, _NYM)
    notes = []
    events = table.text("Type").str.starts_with("RCV").fill_null(value=False)
    if not events.any():
        raise InputError("no row says that a packet was received (Type RCV_...)").about(file)
    if not events.all():
        notes.append(f"{several(int((~events).sum()), 'row')} of other events were ignored.")
        table = table.at(events.arg_true())
    first = table.text("PacketID").is_first_distinct()
    if not first.all():
        again = several(int((~first).sum()), "packet", "packets")
        notes.append(f"{again} came again; the first time counts.")
        table = table.at(first.arg_true())
    ids = _ids(table, "PacketID")
    labels = table.text("RealSenderLabel").fill_null("").to_list()
    senders = [
        {"1": "A", "2": "B"}.get(label.strip(), f"sender of {name}")
        for label, name in zip(labels, ids, strict=True)
    ]
    if any(label.strip() not in ("1", "2") for label in labels):
        notes.append("The log names two senders, A and B; each other packet has its own sender.")
    return _messages(
        (table.numbers("PacketTimeSent"), table.numbers("PacketTimeDelivered")),
        (senders, table.text("ClientID").fill_null("unknown").to_list()),
        np.arange(len(ids)),
        ~_is_real(table, "PacketType" if "PacketType" in table.titles else "Type"),
        file,
        notes,
    )


def in_folder(folder: Path, name: str) -> Path:
    """A file of a folder, or its compressed version if only that is there."""
    packed = folder / f"{name}.gz"
    return packed if packed.is_file() and not (folder / name).exists() else folder / name


def _mixim_tables(folder: Path, *needed: str) -> tuple[Table, Table]:
    """What was sent and what was received; ``needed`` has one more column of each."""
    from anonymatch.tabular import read_table

    sent, received = (
        read_table(in_folder(folder, name), _MIXIM, (*_MIXIM.needed, (column,)))
        for name, column in zip((SENT, RECEIVED), needed, strict=True)
    )
    return sent, received


def _messages(
    times: tuple[Floats, Floats],
    people: tuple[Sequence[Hashable], Sequence[Hashable]],
    truth: Ints,
    dummies: Bools,
    path: Path,
    notes: list[str],
) -> Messages:
    real = truth[(truth >= 0) & ~dummies]
    if not len(real):
        raise InputError("no real message went through; nothing can be audited").about(path)
    cover = np.ones(len(times[1]), dtype=np.bool_)
    cover[real] = False
    with about(path):
        return Messages.in_order(
            arrivals=times[0],
            departures=times[1],
            senders=people[0],
            receivers=people[1],
            truth=truth,
            cover=cover if cover.any() else None,
            lost=dummies if dummies.any() else None,
            notes=tuple(notes),
        )


def _ids(table: Table, name: str) -> list[str]:
    ids = table.text(name)
    again = ids.is_duplicated() | ids.is_null()
    if again.any():
        row = int((~ids.is_first_distinct() | ids.is_null()).arg_max() or 0)
        what = "is empty" if ids[row] is None else f"{quoted(ids[row])} is there twice"
        table.refuse(row, f"{name} {what}; each message needs its own")
    return ids.to_list()


def _is_real(table: Table, name: str) -> Bools:
    """Whether each type says real: ``Real``, ``REAL``, ``RCV_PKT_REAL``."""
    real = table.text(name).str.strip_chars().str.to_lowercase().str.ends_with("real")
    return real.fill_null(value=False).to_numpy().astype(np.bool_)


def _clients(table: Table, ids: list[str], pattern: str) -> list[str]:
    """The client at one end of each route; without routes, what stands before the last ``_``."""
    clients = table.text("MessageRoute").str.strip_chars().str.extract(pattern).str.strip_chars()
    if pattern == _FIRST_CLIENT:
        clients = clients.fill_null(table.text("MessageID").str.extract(_BEFORE_NUMBER))
    return [
        f"end of {name}" if client is None else f"client {client}"
        for client, name in zip(clients.to_list(), ids, strict=True)
    ]


# ---- MiXiM's links


def _links_of(folder: Path, options: ReadOptions) -> Observation:
    """What an attacker sees on all links of a simulated network."""
    for name, value in options.of_log().items():
        if value and name not in _OF_LINKS:
            raise InputError(
                Argument(name),
                " is for an attacker who sees the ends; give ",
                Argument("view", "ends"),
                " and a law",
            )
    law = network_law("exponential" if options.law is None else options.law).law
    notes = _dummies(in_folder(folder, _DUMMIES))
    sent, received = _mixim_tables(folder, "MessageTimeLeft", "MessageTimeReceived")
    until = received.numbers("MessageTimeReceived")
    rows, corrupt = _rows(_Log.of(_packets(sent), _packets(received), until))
    observation = observe_links(
        rows,
        law,
        source="",
        corrupt=dict.fromkeys((*corrupt, *corrupt_names(options.corrupt))),
        cover_visible=options.cover_visible,
        whole_log=options.whole_log,
        notes=notes,
    )
    network = observation.network
    assert network is not None
    return replace(observation, source=f"MiXiM, {in_words(network)}")


def _dummies(path: Path) -> tuple[str, ...]:
    """A note if mixes made dummies among themselves, whose ways are not followed."""
    if not path.is_file():
        return ()
    with reading(path):
        rows = Source.of(path).content().strip().count(b"\n")
    if not rows:
        return ()
    dummies = several(rows, "dummy", "dummies")
    # It gives a mix's dummies no time, and of those between other layers nothing at all.
    note = (
        f"{path.name} has {dummies} of mixes, which are not followed, for MiXiM does not write "
        "when they left: pools are without them, so messages may hide among more"
    )
    return (note,)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Packets:
    """Packets with their hops one after another.

    ``hops`` is how many mixes each passes; ``mixes`` and ``delays`` have one entry a hop.
    """

    ids: list[str]
    left: Floats
    real: Bools
    hops: Ints
    mixes: list[str]
    corrupt: set[str]
    sender: list[str]
    receiver: list[str]
    delays: Floats


def _packets(table: Table) -> _Packets:
    for name in ("MessageDelay", "MessageRoute", "MessageTimeLeft"):
        if name not in table.titles:
            raise InputError(
                f"it has no column {name}, so that links do not show; give ",
                Argument("view", "ends"),
                " and a law",
            ).about(table.path)
    routes = table.text("MessageRoute")
    found = routes.str.extract_all(_HOP)
    hops = found.list.len().fill_null(0).to_numpy().astype(np.int64)
    ends = routes.str.extract_all(_CLIENT)
    born = routes.str.strip_chars().str.starts_with("[None").fill_null(value=False)
    first, last = (
        end.str.extract(_CLIENT).str.strip_chars() for end in (ends.list.first(), ends.list.last())
    )
    return _Packets(
        ids=_ids(table, "MessageID"),
        left=table.numbers("MessageTimeLeft"),
        real=_is_real(table, "MessageType"),
        hops=hops,
        mixes=_each(found, _HOP).str.strip_chars().to_list(),
        corrupt=set(_each(routes.str.extract_all(_CORRUPT), _CORRUPT).to_list()),
        sender=[
            _NOBODY if made or name is None else f"client {name}"
            for name, made in zip(first.to_list(), born.to_list(), strict=True)
        ],
        receiver=[f"client {name}" for name in last.fill_null("unknown").to_list()],
        delays=_delays(table, hops),
    )


def _each(found: pl.Series, pattern: str) -> pl.Series:
    return found.explode().drop_nulls().str.extract(pattern)


def _delays(table: Table, hops: Ints) -> Floats:
    """Delays of the mixes alone: MiXiM also writes the client's wait, and a 0 at the end."""
    import polars as pl

    values = (
        table.text("MessageDelay")
        .str.extract_all(r"[-+0-9.eE]+")
        .list.eval(pl.element().cast(pl.Float64, strict=False))
    )
    sizes = values.list.len().fill_null(0).to_numpy().astype(np.int64)
    wrong = np.flatnonzero((sizes != hops) & (sizes != hops + 2) | (hops < 1))
    if len(wrong):
        row = int(wrong[0])
        table.refuse(
            row,
            f"MessageDelay has {sizes[row]} numbers for {hops[row]} mixes of MessageRoute; it "
            "takes one each, or two more",
        )
    flat = values.explode().fill_null(np.nan).to_numpy().astype(np.float64)
    of = np.repeat(np.arange(len(sizes)), sizes)
    wrong = np.flatnonzero(~((flat >= 0) & (flat <= _LONGEST)))
    if len(wrong):
        what = f"MessageDelay must be seconds from 0 to {_LONGEST:g} each"
        table.refuse(int(of[wrong[0]]), what)
    place = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    alone = (sizes == hops)[of]
    delays: Floats = flat[alone | ((place > 0) & (place < sizes[of] - 1))]
    return delays


class _Log(NamedTuple):
    """Packets that were sent and received, the time on links, and what the first link held more."""

    came: _Packets
    left: _Packets
    until: Floats
    link: float
    held: Floats

    @classmethod
    def of(cls, came: _Packets, left: _Packets, until: Floats) -> _Log:
        waited = np.bincount(
            np.repeat(np.arange(len(left.hops)), left.hops), left.delays, len(left.hops)
        )
        over = until - left.left - waited
        link = max(float((over / (left.hops + 1)).min(initial=np.inf)), 0.0)
        if not np.isfinite(link) or link < _FEW:
            link = 0.0
        more = over - link * (left.hops + 1)
        return cls(came, left, until, link, np.where(more > _FEW, more, 0.0))


def _rows(log: _Log) -> tuple[LinkRows, list[str]]:
    """A row a packet and link, until the log ends."""
    came, left = log.came, log.left
    known = {name: k for k, name in enumerate(left.ids)}
    at = np.array([known.get(name, -1) for name in came.ids], dtype=np.int64)
    sent_ids = set(came.ids)
    made = np.array([k for k, name in enumerate(left.ids) if name not in sent_ids], dtype=np.int64)
    held = np.where(at >= 0, log.held[np.maximum(at, 0)], 0.0)
    dropped = (at < 0) & ~came.real
    parts = [
        _links(came, np.arange(len(came.ids)), held, dropped, log.link),
        _links(left, made, log.held[made], np.zeros(len(made), dtype=np.bool_), log.link),
    ]
    names: dict[str, int] = {}

    def numbered(texts: list[str]) -> Ints:
        return np.array([names.setdefault(text, len(names)) for text in texts], dtype=np.int64)

    from_ = numbered([text for part in parts for text in part.from_])
    to = numbered([text for part in parts for text in part.to])
    sent = np.concatenate([part.sent for part in parts])
    received = np.concatenate([part.received for part in parts])
    message = np.concatenate(
        [parts[0].packet, len(came.ids) + np.searchsorted(made, parts[1].packet)]
    )
    real = np.concatenate((came.real, np.zeros(len(made), dtype=np.bool_)))
    ids = [*came.ids, *(left.ids[k] for k in made.tolist())]
    end = float(log.until.max(initial=-np.inf))
    rows = LinkRows(
        names=list(names),
        from_=from_,
        to=to,
        sent=sent,
        received=received,
        message=message,
        message_names=ids,
        flagged=None if real.all() else ~real[message],
        refuse=_refuse(ids, message),
    )
    corrupt = [f"mix {name.strip()}" for name in sorted(came.corrupt | left.corrupt)]
    there = set(names)
    return rows.at(np.flatnonzero(sent <= end)), [name for name in corrupt if name in there]


class _Links(NamedTuple):
    from_: list[str]
    to: list[str]
    sent: Floats
    received: Floats
    packet: Ints


def _links(packets: _Packets, which: Ints, held: Floats, dropped: Bools, link: float) -> _Links:
    from_: list[str] = []
    to: list[str] = []
    sent: list[float] = []
    received: list[float] = []
    owner: list[int] = []
    begins = np.cumsum(packets.hops) - packets.hops
    for packet, extra, drop in zip(which.tolist(), held.tolist(), dropped.tolist(), strict=True):
        begin, number = int(begins[packet]), int(packets.hops[packet])
        way = [f"mix {name}" for name in packets.mixes[begin : begin + number]]
        stops = [packets.sender[packet], *way, packets.receiver[packet]]
        now = float(packets.left[packet])
        for hop in range(1 if drop else number + 1):
            from_.append(stops[hop])
            to.append(stops[hop + 1])
            sent.append(now)
            now += link + (extra if hop == 0 else 0.0)
            received.append(now)
            owner.append(packet)
            if hop < number:
                now += float(packets.delays[begin + hop])
    return _Links(from_, to, np.array(sent), np.array(received), np.array(owner, dtype=np.int64))


def _refuse(ids: list[str], message: Ints) -> Callable[[int, str], NoReturn]:
    def refuse(row: int, what: str) -> NoReturn:
        raise InputError(f"message {ids[int(message[row])]!r}: {what}")

    return refuse


# ---- what a folder is


def _mixim(path: Path, options: ReadOptions) -> Messages:
    return read_mixim(_mixim_folder(path))


def _mixim_links(path: Path, options: ReadOptions) -> Observation:
    return _links_of(_mixim_folder(path), options)


def _mixim_folder(path: Path) -> Path:
    return path.parent if path.name in _MIXIM_FILES else path


def _nym(path: Path, options: ReadOptions) -> Messages:
    return read_nym(in_folder(path, _NYM_LOG) if os.path.isdir(path) else path)


MIXIM: SourceFormat = SourceFormat(
    text=(
        f"a folder of the MiXiM simulator, with {SENT} and {RECEIVED}; a network, or with a law "
        "only its ends"
    ),
    messages=_mixim,
    links=_mixim_links,
    files=_MIXIM_FILES,
    folder=lambda folder: os.path.isfile(in_folder(folder, SENT)),
    holds=SENT,
)
NYM: SourceFormat = SourceFormat(
    text=f"{_NYM_LOG} of the Nym team's simulator; needs a law",
    messages=_nym,
    parts=(_NYM_LOG,),
    folder=lambda folder: os.path.isfile(in_folder(folder, _NYM_LOG)),
    holds=_NYM_LOG,
    header=(";", _NYM_HEADER),
)

"""Logs of mix network simulators as messages: MiXiM and the Nym team's simulator.

MiXiM [1]_ writes ``SentMessages.csv`` and ``ReceivedMessages.csv`` into one folder, with columns
MessageID, MessageType (Real, ClientDummy, Dummy), MessageTimeLeft, MessageTimeReceived and
MessageRoute (``[Client id: 3, ( id: 1, corrupt: False ), ..., Client id: 7]``).

The Nym team's simulator [2]_ writes ``packet_log.csv``, fields separated by semicolons, a row a
packet that was received: PacketID, PacketType (REAL, DUMMY, ACK), ClientID (who received it),
PacketTimeSent, PacketTimeDelivered, RealSenderLabel (1 and 2 for the two senders under watch, 0
for everybody else). Who the others are is not in the log.

Whatever is not real is a dummy: its arrival is flagged as lost and its departure as cover. Times
are taken as seconds.

References
----------
.. [1] Ben Guirat, Gosain, Diaz. MiXiM: mixnet design decisions and empirical evaluation. WPES 2021.
.. [2] Piotrowska. Studying the anonymity trilemma with a discrete-event mix network simulator.
   WPES 2021.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.mixes.formats.mixim_links import in_folder, mixim_links
from anonymatch.mixes.formats.source_format import SourceFormat
from anonymatch.mixes.logs.messages import Messages
from anonymatch.tabular import find_column, numbers, read_text_table

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes.logs.observation import Observation
    from anonymatch.mixes.options import ReadOptions

__all__ = ["MIXIM", "NYM", "read_mixim", "read_nym"]

SENT, RECEIVED = "SentMessages.csv", "ReceivedMessages.csv"
_MIXIM_FILES = (SENT, RECEIVED, f"{SENT}.gz", f"{RECEIVED}.gz")
_NYM_LOG = "packet_log.csv"
_NYM_COLUMNS = ("Type", "PacketID", "PacketTimeSent", "PacketTimeDelivered")
"""What makes a table one of the Nym team's simulator."""

_FIRST_CLIENT = r"^\[\s*Client id: ([^,\]]+)"
_LAST_CLIENT = r"Client id: ([^,\]]+?)\s*\]$"
_BEFORE_NUMBER = r"^(.+)_[^_]*$"


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
    sent_path, received_path = (in_folder(folder_path, name) for name in (SENT, RECEIVED))
    sent, received = read_text_table(sent_path), read_text_table(received_path)
    with_names = ((sent, sent_path), (received, received_path))
    ids_in, ids_out = (_ids(frame, path, "MessageID") for frame, path in with_names)
    real_in, real_out = (
        _is_real(_column(frame, path, "MessageType")) for frame, path in with_names
    )
    arrivals = _times(sent, sent_path, "MessageTimeLeft")
    departures = _times(received, received_path, "MessageTimeReceived")
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
        (arrivals, departures),
        (_clients(sent, ids_in, _FIRST_CLIENT), _clients(received, ids_out, _LAST_CLIENT)),
        truth,
        ~real_in,
        folder_path,
        tuple(notes),
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
    file = as_path(path)
    frame = read_text_table(file, separator=";")
    notes = []
    events = _column(frame, file, "Type").str.starts_with("RCV").fill_null(value=False)
    if not events.any():
        raise InputError("no row says that a packet was received (Type RCV_...)").about(file)
    if not events.all():
        notes.append(f"{several(int((~events).sum()), 'row')} of other events were ignored.")
    frame = frame.filter(events)
    first = frame.get_column(_name(frame, file, "PacketID")).is_first_distinct()
    if not first.all():
        again = several(int((~first).sum()), "packet", "packets")
        notes.append(f"{again} came again; the first time counts.")
        frame = frame.filter(first)
    ids = _ids(frame, file, "PacketID")
    real = _is_real(_column(frame, file, "PacketType", "Type"))
    labels = _column(frame, file, "RealSenderLabel").fill_null("").to_list()
    senders = [
        {"1": "A", "2": "B"}.get(label.strip(), f"sender of {name}")
        for label, name in zip(labels, ids, strict=True)
    ]
    if any(label.strip() not in ("1", "2") for label in labels):
        notes.append("The log names two senders, A and B; each other packet has its own sender.")
    receivers = _column(frame, file, "ClientID").fill_null("unknown").to_list()
    return _messages(
        (_times(frame, file, "PacketTimeSent"), _times(frame, file, "PacketTimeDelivered")),
        (senders, receivers),
        np.arange(len(ids)),
        ~real,
        file,
        tuple(notes),
    )


def _messages(
    times: tuple[Floats, Floats],
    people: tuple[Sequence[Hashable], Sequence[Hashable]],
    truth: Ints,
    dummies: Bools,
    path: Path,
    notes: tuple[str, ...],
) -> Messages:
    real = truth[(truth >= 0) & ~dummies]
    if not len(real):
        raise InputError("no real message went through; nothing can be audited").about(path)
    cover = np.ones(len(times[1]), dtype=np.bool_)
    cover[real] = False
    try:
        return Messages.in_order(
            arrivals=times[0],
            departures=times[1],
            senders=people[0],
            receivers=people[1],
            truth=truth,
            cover=cover if cover.any() else None,
            lost=dummies if dummies.any() else None,
            notes=notes,
        )
    except InputError as error:
        raise error.about(path) from None


def _name(frame: pl.DataFrame, path: Path, *names: str) -> str:
    try:
        return find_column(frame, *names)
    except InputError as error:
        raise error.about(path) from None


def _column(frame: pl.DataFrame, path: Path, *names: str) -> pl.Series:
    return frame.get_column(_name(frame, path, *names))


def _times(frame: pl.DataFrame, path: Path, name: str) -> Floats:
    try:
        return numbers(_column(frame, path, name))
    except InputError as error:
        raise error.about(path) from None


def _ids(frame: pl.DataFrame, path: Path, name: str) -> list[str]:
    ids = _column(frame, path, name)
    again = ids.is_duplicated() | ids.is_null()
    if again.any():
        row = int(again.arg_max() or 0)
        what = "is empty" if ids[row] is None else f"{quoted(ids[row])} is there twice"
        raise (
            InputError(f"{ids.name} {what}; each message needs its own")
            .at(row + 1, noun="row")
            .about(path)
        )
    return ids.to_list()


def _is_real(kinds: pl.Series) -> Bools:
    """Whether each type says real: ``Real``, ``REAL``, ``RCV_PKT_REAL``."""
    real = kinds.str.strip_chars().str.to_lowercase().str.ends_with("real")
    return real.fill_null(value=False).to_numpy().astype(np.bool_)


def _clients(frame: pl.DataFrame, ids: list[str], pattern: str) -> list[str]:
    """The client at one end of each route; without routes, what stands before the last ``_``."""
    import polars as pl

    named = {name.strip().lower(): name for name in frame.columns}
    routes = frame.get_column(named["messageroute"]) if "messageroute" in named else None
    clients = (
        pl.Series([None] * len(ids), dtype=pl.String)
        if routes is None
        else routes.str.strip_chars().str.extract(pattern).str.strip_chars()
    )
    if pattern == _FIRST_CLIENT:
        clients = clients.fill_null(pl.Series(ids, dtype=pl.String).str.extract(_BEFORE_NUMBER))
    return [
        f"end of {name}" if client is None else f"client {client}"
        for client, name in zip(clients.to_list(), ids, strict=True)
    ]


def _mixim(path: Path, options: ReadOptions) -> Messages:
    return read_mixim(_mixim_folder(path))


def _mixim_links(path: Path, options: ReadOptions) -> Observation:
    folder = _mixim_folder(path)
    return mixim_links(in_folder(folder, SENT), in_folder(folder, RECEIVED), options)


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
    header=(";", _NYM_COLUMNS),
)

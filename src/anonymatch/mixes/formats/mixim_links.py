"""MiXiM's logs as networks: every link event follows from delays and routes.

``MessageDelay`` has the seconds in each mix (with those at the client before and a 0 behind them),
``MessageRoute`` names the mixes and says which are corrupt. Links take the same time for all, and
what is left over is the first link's: MiXiM holds its own targets back there. Its mixes are Poisson
mixes, so that no law is needed.

Dummies of clients that are never received were dropped by their first mix without entering its
pool, as MiXiM does it; those of mixes come from nobody. All others are cover that is held back and
sent on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.graph import Source, reading
from anonymatch.mixes.formats.network_files import corrupt_names
from anonymatch.mixes.logs.observation import NetworkObservation
from anonymatch.mixes.networks.link_logs import LinkRows, in_words, network_law, observe_links
from anonymatch.tabular import find_column, numbers, read_text_table

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes.reading.reading import ReadOptions

__all__ = ["in_folder", "mixim_links"]

_CLIENT = r"Client id: ([^,\]]+)"
_HOP = r"\( *id: ([^,)]+)"
_CORRUPT = r"\( *id: ([^,)]+), corrupt: True *\)"
_NOBODY = "dummies"
_DUMMIES = "DummyMessages.csv"
_LONGEST = 1e12  # seconds in a mix
_FEW = 1e-6  # seconds by which times of one message may fail to add up
_OF_LINKS = ("cover_visible", "whole_log")


def in_folder(folder: Path, name: str) -> Path:
    """A file of a folder, or its compressed version if only that is there."""
    packed = folder / f"{name}.gz"
    return packed if packed.is_file() and not (folder / name).exists() else folder / name


def mixim_links(sent_path: Path, received_path: Path, options: ReadOptions) -> NetworkObservation:
    """What an attacker sees on all links of a simulated network."""
    for name, value in options.of_log().items():
        if value and name not in _OF_LINKS:
            raise InputError(
                Argument(name),
                " is for an attacker who sees the ends; give ",
                Argument("view", "ends"),
                " and a law",
            )
    law = network_law("exponential" if options.law is None else options.law)
    notes = _dummies(in_folder(sent_path.parent, _DUMMIES))
    sent, received = _table(sent_path), _table(received_path)
    log = _Packets.of(sent, received, sent_path, received_path)
    rows, corrupt = _rows(log)
    wanted = dict.fromkeys((*corrupt, *corrupt_names(options.corrupt)))
    observation = observe_links(
        rows,
        law,
        source="",
        corrupt=wanted,
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
        rows = Source(path, packed=path.suffix == ".gz").content().strip().count(b"\n")
    if not rows:
        return ()
    dummies = several(rows, "dummy", "dummies")
    # It gives a mix's dummies no time, and of those between other layers nothing at all.
    note = (
        f"{path.name} has {dummies} of mixes, which are not followed, for MiXiM does not write "
        "when they left: pools are without them, so messages may hide among more"
    )
    return (note,)


def _table(path: Path) -> pl.DataFrame:
    frame = read_text_table(path)
    try:
        find_column(frame, "MessageDelay")
    except InputError:
        raise InputError(
            "it has no column MessageDelay, so that links do not show; give ",
            Argument("view", "ends"),
            " and a law",
        ).about(path) from None
    return frame


class _Packets:
    """Packets, those sent first and then those that mixes made, with their hops one after another.

    ``hops`` is how many mixes each passes; ``mixes``, ``delays`` and ``corrupt`` have one entry a
    hop.
    """

    def __init__(self, frame: pl.DataFrame, path: Path) -> None:
        import polars as pl

        def column(name: str) -> pl.Series:
            return frame.get_column(find_column(frame, name))

        try:
            self.ids = column("MessageID").to_list()
            self.left = numbers(column("MessageTimeLeft"))
            kinds = column("MessageType").str.strip_chars().str.to_lowercase()
            routes, delays = column("MessageRoute"), column("MessageDelay")
        except InputError as error:
            raise error.about(path) from None
        twice = column("MessageID").is_first_distinct().not_().arg_true()
        if len(twice):  # it would hide others as if it were one more packet
            row = int(twice[0])
            raise InputError(
                f"row {row + 1}: message {quoted(self.ids[row])} is there twice; leave one of them"
            ).about(path)
        self.real: Bools = kinds.str.ends_with("real").fill_null(value=False).to_numpy()
        found = routes.str.extract_all(_HOP)
        self.hops: Ints = found.list.len().fill_null(0).to_numpy().astype(np.int64)
        self.mixes = found.explode().drop_nulls().str.extract(_HOP).str.strip_chars().to_list()
        self.corrupt = set(
            routes.str.extract_all(_CORRUPT).explode().drop_nulls().str.extract(_CORRUPT).to_list()
        )
        ends = routes.str.extract_all(_CLIENT)
        born = routes.str.strip_chars().str.starts_with("[None").fill_null(value=False)
        first = ends.list.first().str.extract(_CLIENT).str.strip_chars()
        last = ends.list.last().str.extract(_CLIENT).str.strip_chars()
        self.sender = [
            _NOBODY if made or name is None else f"client {name}"
            for name, made in zip(first.to_list(), born.to_list(), strict=True)
        ]
        self.receiver = [f"client {name}" for name in last.fill_null("unknown").to_list()]
        values = delays.str.extract_all(r"[-+0-9.eE]+").list.eval(
            pl.element().cast(pl.Float64, strict=False)
        )
        self.delays = self._cut(values, path)

    def _cut(self, values: pl.Series, path: Path) -> Floats:
        """Delays of the mixes alone: MiXiM also writes the client's wait, and a 0 at the end."""
        sizes = values.list.len().fill_null(0).to_numpy().astype(np.int64)
        wrong = np.flatnonzero((sizes != self.hops) & (sizes != self.hops + 2) | (self.hops < 1))
        if len(wrong):
            row = int(wrong[0])
            raise (
                InputError(
                    f"MessageDelay has {sizes[row]} numbers for {self.hops[row]} mixes of "
                    "MessageRoute; it takes one each, or two more"
                )
                .at(row + 1, noun="row")
                .about(path)
            )
        self._check(values, sizes, path)
        flat = values.explode().drop_nulls().to_numpy().astype(np.float64)
        of = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        alone = (sizes == self.hops)[of]
        delays: Floats = flat[alone | ((place > 0) & (place < sizes[of] - 1))]
        return delays

    @staticmethod
    def _check(values: pl.Series, sizes: Ints, path: Path) -> None:
        """Delays are numbers of seconds that times can tell apart."""
        flat = values.explode().fill_null(np.nan).to_numpy().astype(np.float64)
        wrong = np.flatnonzero(~((flat >= 0) & (flat <= _LONGEST)))
        if len(wrong):
            row = int(np.searchsorted(np.cumsum(sizes), wrong[0], side="right"))
            what = f"MessageDelay must be seconds from 0 to {_LONGEST:g} each"
            raise InputError(what).at(row + 1, noun="row").about(path)

    @classmethod
    def of(
        cls, sent: pl.DataFrame, received: pl.DataFrame, sent_path: Path, received_path: Path
    ) -> _Log:
        came, left = cls(sent, sent_path), cls(received, received_path)
        try:
            until = numbers(received.get_column(find_column(received, "MessageTimeReceived")))
        except InputError as error:
            raise error.about(received_path) from None
        return _Log(came, left, until)


class _Log:
    """Packets that were sent and received, with the time on links."""

    def __init__(self, came: _Packets, left: _Packets, until: Floats) -> None:
        self.came, self.left, self.until = came, left, until
        waited = np.bincount(
            np.repeat(np.arange(len(left.hops)), left.hops), left.delays, len(left.hops)
        )
        over = until - left.left - waited
        self.link = max(float((over / (left.hops + 1)).min(initial=np.inf)), 0.0)
        if not np.isfinite(self.link) or self.link < _FEW:
            self.link = 0.0
        more = over - self.link * (left.hops + 1)
        self.held = np.where(more > _FEW, more, 0.0)


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


class _Links:
    def __init__(
        self, from_: list[str], to: list[str], sent: Floats, received: Floats, packet: Ints
    ) -> None:
        self.from_, self.to = from_, to
        self.sent, self.received, self.packet = sent, received, packet


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

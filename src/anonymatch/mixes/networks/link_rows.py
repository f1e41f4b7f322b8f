"""Rows of a link log: which names are mixes, in which layers, and the way of each message."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NoReturn

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted
from anonymatch.mixes.solvers.networks.tuning import NETWORKS


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkRows:
    """Rows of a log of links, in the order of the file."""

    names: Sequence[str]  # of mixes, senders and receivers
    # Who a packet went from and to, as numbers of names.
    from_: Ints
    to: Ints
    # Seconds at which it left and arrived; None for the second if that is the same.
    sent: Floats
    received: Floats | None = None
    # A number that is the same for all rows of one message; -1 where it is not known.
    message: Ints | None = None
    message_names: Sequence[Hashable] = ()  # what messages are called, by that number
    flagged: Bools | None = None  # rows of dummy packets
    lost: Bools | None = None  # last rows of packets that were lost
    refuse: Callable[[int, str], NoReturn]  # raises the error about a row
    origin: float = 0.0  # seconds that were subtracted from all times, as in :class:`Messages`
    dates: str | None = None  # what date-times are in, as in :class:`Messages`

    def at(self, rows: Ints) -> LinkRows:
        """Some of the rows."""

        def some(column: Ints | None) -> Ints | None:
            return None if column is None else column[rows]

        return replace(
            self,
            from_=self.from_[rows],
            to=self.to[rows],
            sent=self.sent[rows],
            received=None if self.received is None else self.received[rows],
            message=some(self.message),
            flagged=None if self.flagged is None else self.flagged[rows],
            lost=None if self.lost is None else self.lost[rows],
            refuse=lambda row, what: self.refuse(int(rows[row]), what),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Mixes:
    """Which names are mixes (by name), their numbers in order, and the layer of each.

    ``circle`` has the mixes of a circle, if packets go in one, with the first one again at the end.
    """

    is_mix: Bools
    number: Ints
    which: Ints
    layer: Ints
    circle: tuple[int, ...] = ()

    def back(self, rows: LinkRows) -> Bools:
        """Return which rows lead from a mix to one of the same layer or of one before."""
        from_, to = self.number[rows.from_], self.number[rows.to]
        between = (from_ >= 0) & (to >= 0)
        return between & (self.layer[np.maximum(to, 0)] <= self.layer[np.maximum(from_, 0)])


def _passed(rows: LinkRows, chains: Chains) -> Bools:
    """Return which names packets pass."""
    passed = np.zeros(len(rows.names), dtype=np.bool_)
    if chains.complete:  # then somebody may both send and receive
        on = rows.to[chains.before] == rows.from_[chains.after]
        passed[rows.to[chains.before[on]]] = True
    else:
        passed[np.intersect1d(rows.from_, rows.to)] = True
    return passed


def mixes_left(whole: LinkRows, rows: LinkRows) -> set[str]:
    """Return the names that are mixes by the whole log and occur in the rows that are left."""
    passed = np.flatnonzero(_passed(whole, Chains.of(whole)))
    seen = np.intersect1d(passed, np.concatenate((rows.from_, rows.to)))
    return {whole.names[one] for one in seen.tolist()}


def mixes_of(rows: LinkRows, chains: Chains, named: set[str]) -> Mixes:
    """Which names are mixes, and their layers; ``named`` are mixes in any case."""
    size = len(rows.names)
    is_mix = _passed(rows, chains)
    is_mix |= np.array([name in named for name in rows.names], dtype=np.bool_)
    if not is_mix.any():
        raise InputError(
            "nobody is a mix: no name is both in 'from' and in 'to'; write a row a packet and link"
        )
    which = np.flatnonzero(is_mix)
    number = np.full(size, -1, dtype=np.int64)
    number[which] = np.arange(len(which))
    between = is_mix[rows.from_] & is_mix[rows.to]
    pairs = np.unique(number[rows.from_[between]] * np.int64(len(which)) + number[rows.to[between]])
    layer = _layers(len(which), pairs // len(which), pairs % len(which))
    if layer is not None:
        return Mixes(is_mix, number, which, layer)
    ring = _ring(len(which), pairs // len(which), pairs % len(which))
    entries = np.unique(number[rows.to[~is_mix[rows.from_] & is_mix[rows.to]]])
    layer = _distances(len(which), pairs // len(which), pairs % len(which), entries)
    return Mixes(is_mix, number, which, layer, tuple(ring))


def refuse_circle(rows: LinkRows, mixes: Mixes) -> NoReturn:
    """Refuse free routes, on which users' packets go in a circle."""
    shown = [quoted(rows.names[mixes.which[one]]) for one in mixes.circle]
    path = " to ".join(shown if len(shown) <= 8 else [*shown[:6], "...", shown[-1]])
    raise InputError(
        f"packets go in a circle, from {path}: on free routes path lengths tie packets to each "
        "other; give a log of a cascade or of layers, ",
        Argument("loop_rate"),
        " for mixes that send loops, or only the ends as a message log",
    )


def _distances(size: int, from_: Ints, to: Ints, entries: Ints) -> Ints:
    """Return the shortest way from an entry to each mix; entries are 0."""
    after = _neighbours(from_, to)
    layer = np.full(size, -1, dtype=np.int64)
    layer[entries] = 0
    near = entries.tolist()
    while near:
        further = []
        for one in near:
            for other in after.get(one, ()):
                if layer[other] < 0:
                    layer[other] = layer[one] + 1
                    further.append(other)
        near = further
    return np.maximum(layer, 0)


def _layers(size: int, from_: Ints, to: Ints) -> Ints | None:
    """The longest way from an entry to each mix; None if there is a circle."""
    after = _neighbours(from_, to)
    waiting = np.bincount(
        np.fromiter(chain.from_iterable(after.values()), np.int64), minlength=size
    )
    layer = np.zeros(size, dtype=np.int64)
    ready = np.flatnonzero(waiting == 0).tolist()
    done = 0
    while ready:  # in an order in which those before a mix come before it (Kahn)
        one = ready.pop()
        done += 1
        for other in after.get(one, ()):
            layer[other] = max(layer[other], layer[one] + 1)
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    return layer if done == size else None


def _neighbours(from_: Ints, to: Ints) -> dict[int, list[int]]:
    """Mixes that each mix sends to, once."""
    after: dict[int, list[int]] = {}
    for one, other in dict.fromkeys(zip(from_.tolist(), to.tolist(), strict=True)):
        after.setdefault(one, []).append(other)
    return after


def _ring(size: int, from_: Ints, to: Ints) -> list[int]:
    """Mixes in a circle, the first one again at the end."""
    before = _neighbours(to, from_)
    leads = np.bincount(np.fromiter(chain.from_iterable(before.values()), np.int64), minlength=size)
    gone = np.flatnonzero(leads == 0).tolist()
    while gone:  # who leads nowhere is in no circle
        for one in before.get(gone.pop(), ()):
            leads[one] -= 1
            if leads[one] == 0:
                gone.append(one)
    after = _neighbours(from_, to)
    one = int(np.flatnonzero(leads > 0)[0])
    way: dict[int, int] = {}
    while one not in way:
        way[one] = len(way)
        one = min(other for other in after[one] if leads[other] > 0)
    return [*list(way)[way[one] :], one]


def _chained(rows: LinkRows, order: Ints) -> Ints:
    """Rows of one message at one time, each behind the one that leads to it, if they chain."""
    assert rows.message is not None
    message, sent = rows.message[order], rows.sent[order]
    alike = (message[1:] == message[:-1]) & (sent[1:] == sent[:-1])
    broken = rows.to[order[:-1]] != rows.from_[order[1:]]
    starts = np.flatnonzero(alike & ~np.concatenate(([False], alike[:-1])))
    result = order.copy()
    for begin in starts.tolist():
        end = begin + 1
        while end <= len(alike) - 1 and alike[end]:
            end += 1
        near = broken[max(begin - 1, 0) : end + 1]
        if near.any():
            _follow(rows, result, begin, end + 1)
    return result


def _follow(rows: LinkRows, order: Ints, begin: int, end: int) -> None:
    """Put rows ``begin`` to ``end - 1`` into the order of their chain, if there is one."""
    some = order[begin:end].tolist()
    by_start = {int(rows.from_[row]): row for row in some}
    ends = {int(rows.to[row]) for row in some}
    firsts = [row for row in some if int(rows.from_[row]) not in ends]
    if len(by_start) < len(some) or len(firsts) != 1:
        return
    way = [firsts[0]]
    while (following := by_start.get(int(rows.to[way[-1]]))) is not None:
        way.append(following)
    if len(way) == len(some):
        order[begin:end] = way


@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Rows of messages in order of time: each pair of ``before`` and ``after`` is of one message.

    ``firsts`` and ``lasts`` are the first and the last row of each message.
    """

    complete: bool
    before: Ints
    after: Ints
    firsts: Ints
    lasts: Ints

    @classmethod
    def of(cls, rows: LinkRows) -> Chains:
        none = np.empty(0, dtype=np.int64)
        if rows.message is None:
            return cls(False, none, none, none, none)
        known = np.flatnonzero(rows.message >= 0)
        order = known[np.lexsort((known, rows.sent[known], rows.message[known]))]
        order = _chained(rows, order)
        message = rows.message[order]
        same = message[1:] == message[:-1]
        first = np.concatenate(([True], ~same)) if len(order) else np.empty(0, dtype=np.bool_)
        last = np.concatenate((~same, [True])) if len(order) else first
        return cls(
            len(known) == len(rows.sent),
            order[:-1][same],
            order[1:][same],
            order[first],
            order[last],
        )

    def check(self, rows: LinkRows) -> None:
        """Refuse messages whose rows do not chain."""
        odd = rows.to[self.before] != rows.from_[self.after]
        if odd.any():
            after = int(self.after[odd].min())
            before = int(self.before[self.after == after][0])
            rows.refuse(
                after,
                f"message {self._name(rows, after)} comes from "
                f"{quoted(rows.names[rows.from_[after]])}, but its last row before leads to "
                f"{quoted(rows.names[rows.to[before]])}; rows of one message must chain in time",
            )
        if rows.received is not None:
            early = rows.sent[self.after] < rows.received[self.before]
            if early.any():
                after = int(self.after[early].min())
                rows.refuse(
                    after,
                    f"message {self._name(rows, after)} leaves "
                    f"{quoted(rows.names[rows.from_[after]])} before it is received there; check "
                    "times",
                )

    def begun_inside(self, rows: LinkRows, is_mix: Bools) -> tuple[int, str] | None:
        """Return the first row of a message that leaves a mix it did not enter, and an error."""
        born = self.firsts[is_mix[rows.from_[self.firsts]]]
        if rows.flagged is not None:
            born = born[~rows.flagged[born]]
        if not len(born):
            return None
        row = int(born.min())
        return row, (
            f"message {self._name(rows, row)} leaves mix {quoted(rows.names[rows.from_[row]])}, "
            "and no row says how it came there; add its rows before, or mark it as cover"
        )

    def hop(self, rows: LinkRows) -> float | None:
        """Return the mean delay per hop of messages whose rows chain, if there are some."""
        if len(self.after) < NETWORKS.row_hops:
            return None
        came = rows.sent if rows.received is None else rows.received
        mean = float((rows.sent[self.after] - came[self.before]).mean())
        return mean if mean > 0.0 else None

    def _name(self, rows: LinkRows, row: int) -> str:
        assert rows.message is not None
        return quoted(rows.message_names[int(rows.message[row])])

    def born(self, rows: LinkRows, is_mix: Bools) -> Bools:
        """Rows of cover that a mix made, of which the attacker is told."""
        made = np.zeros(len(rows.sent), dtype=np.bool_)
        made[self.firsts[is_mix[rows.from_[self.firsts]]]] = True
        return made

    def dropped(self, rows: LinkRows, is_mix: Bools) -> Bools:
        """Rows after which a flagged packet is dropped by a mix: it never enters the pool."""
        gone = np.zeros(len(rows.sent), dtype=np.bool_)
        if rows.flagged is not None:
            ends = self.lasts[is_mix[rows.to[self.lasts]]]
            gone[ends[rows.flagged[ends]]] = True
        return gone


def corrupt_mixes(rows: LinkRows, mixes: Mixes, given: Iterable[str]) -> Bools:
    """Which names are mixes that tell."""
    tells = np.zeros(len(rows.names), dtype=np.bool_)
    there = {rows.names[one]: one for one in mixes.which.tolist()}
    for name in given:
        if name not in there:
            raise InputError(
                f"there is no mix {quoted(name)} to be corrupt; mixes are {listed(sorted(there))}"
                f"{did_you_mean(name, there)}"
            )
        tells[there[name]] = True
    if not tells.any():
        return tells
    if rows.message is None:
        raise InputError(
            "what a corrupt mix knows is not in the log; add a column 'message' that is the same "
            "in all rows of a message, or leave ",
            Argument("corrupt"),
            " out",
        )
    unknown = np.flatnonzero((tells[rows.from_] | tells[rows.to]) & (rows.message < 0))
    if len(unknown):
        rows.refuse(
            int(unknown[0]), "there is no message; a corrupt mix knows which packet is which"
        )
    return tells

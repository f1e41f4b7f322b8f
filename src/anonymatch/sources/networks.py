"""Networks of mixes of which every link is seen: from rows of a log to what an attacker knows.

A row is a packet on a link. Names from and to which packets go are mixes, all others are senders
and receivers. Rows become events in an order that explains them: at equal times that of the file,
if it is in order of time and no packet leaves before it came; else packets arrive at a mix before
others leave it. A mix that tells (a corrupt one) passes on who is who.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch._native import NetworkEvents
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted, several
from anonymatch.measures import LinkedNetwork
from anonymatch.sources.ends import with_ends
from anonymatch.sources.labels import labels
from anonymatch.sources.laws import Exponential, FlushLaw, Law, check_law, law_name, parse_law
from anonymatch.sources.laws.law import LATE, LAWS, law_examples
from anonymatch.sources.observation import Network, Observation, Passage

__all__ = ["LinkRows", "network_law", "observe_links"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkRows:
    """Rows of a log of links, in the order of the file.

    Attributes
    ----------
    names : sequence of str
        Of mixes, senders and receivers.
    from_, to : array of int
        Who a packet went from and to, as numbers of names.
    sent, received : array of float
        Seconds at which it left and arrived; None for the second if that is the same.
    message : array of int or None
        A number that is the same for all rows of one message; -1 where it is not known.
    message_names : sequence
        What messages are called, by that number.
    flagged : array of bool or None
        Rows of packets that are nobody's: cover, or known to be lost.
    refuse : function
        Raises the error about a row.
    """

    names: Sequence[str]
    from_: Ints
    to: Ints
    sent: Floats
    received: Floats | None = None
    message: Ints | None = None
    message_names: Sequence[Hashable] = ()
    flagged: Bools | None = None
    refuse: Callable[[int, str], NoReturn]

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
            refuse=lambda row, what: self.refuse(int(rows[row]), what),
        )


def network_law(law: Law | str | None) -> Law | None:
    """The law of the mixes of a network; None if they choose uniformly, whoever is inside.

    All mixes that flush do so, and exponential ones: their numbers do not matter, and may be left
    out.

    Examples
    --------
    >>> network_law("exponential"), network_law("pool:5,2"), network_law("window:1,5")
    (None, None, Window(low=1.0, high=5.0))
    """
    if law is None:
        raise InputError(
            "a log of a network needs a law that says how its mixes delay messages; give ",
            Argument("law"),
            f", such as exponential, or one of {law_examples()}",
        )
    if isinstance(law, str) and ":" not in law:
        named = LAWS.get(law_name(law))
        if named is not None and issubclass(named, Exponential | FlushLaw):
            return None
    mix = parse_law(law) if isinstance(law, str) else check_law(law)
    return None if isinstance(mix, Exponential | FlushLaw) else mix


def observe_links(
    rows: LinkRows,
    law: Law | None,
    *,
    source: str,
    corrupt: Iterable[str] = (),
    cover_visible: bool = False,
    whole_log: bool = False,
    notes: Sequence[str] = (),
) -> Observation:
    """What an attacker knows who sees every link, and what corrupt mixes do.

    Parameters
    ----------
    rows : LinkRows
    law : Law or None
        Of all mixes; None if they choose uniformly among those inside.
    source : str
        Where it comes from, for people.
    corrupt : iterable of str
        Mixes that tell the attacker which packet is which.
    cover_visible : bool
        Whether the attacker can tell what is flagged from messages: then it is left out.
    whole_log : bool
        Whether messages near the ends of the log count as all others.
    notes : sequence of str
    """
    if cover_visible and rows.flagged is not None:
        rows = rows.at(np.flatnonzero(~rows.flagged))
    if not len(rows.sent):
        raise InputError("no row is left; a network needs packets on links")
    chains = _Chains.of(rows)
    mixes = _mixes(rows, chains)
    tells = _corrupt(rows, mixes, corrupt)
    chains.check(rows, mixes.is_mix)
    events = _events(rows, mixes, chains, tells)
    inside = _native.network_inside(events.kernel)
    wrong = np.flatnonzero(inside < 0)
    if len(wrong):
        row = int(events.row[wrong[0]])
        rows.refuse(
            row,
            f"a packet leaves mix {quoted(rows.names[rows.from_[row]])}, which is empty: as many "
            "left it as came in; check names and times, or leave out the start of a log that "
            "begins in mid traffic",
        )
    return _observation(rows, law, mixes, chains, tells, events, inside, source, whole_log, notes)


# ---- mixes, and the order in which packets meet them


@dataclass(frozen=True, slots=True, eq=False)
class _Mixes:
    """Which names are mixes (by name), their numbers in order, and the layer of each."""

    is_mix: Bools
    number: Ints
    which: Ints
    layer: Ints


def _mixes(rows: LinkRows, chains: _Chains) -> _Mixes:
    size = len(rows.names)
    is_mix = np.zeros(size, dtype=np.bool_)
    if chains.complete:  # then somebody may both send and receive
        passed = rows.to[chains.before] == rows.from_[chains.after]
        is_mix[rows.to[chains.before[passed]]] = True
    else:
        is_mix[np.intersect1d(rows.from_, rows.to)] = True
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
    if layer is None:
        ring = _ring(len(which), pairs // len(which), pairs % len(which))
        shown = [quoted(rows.names[which[one]]) for one in ring]
        path = " to ".join(shown if len(shown) <= 8 else [*shown[:6], "...", shown[-1]])
        raise InputError(
            f"packets go in a circle, from {path}: on free routes what the mixes show does not "
            "multiply, as path lengths tie packets to each other; give a log of a cascade or of "
            "layers, or only its ends as a message log"
        )
    return _Mixes(is_mix, number, which, layer)


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


# ---- messages


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
class _Chains:
    """Rows of messages in order of time: each pair of ``before`` and ``after`` is of one message.

    ``firsts`` and ``lasts`` are the first and the last row of each message.
    """

    complete: bool
    before: Ints
    after: Ints
    firsts: Ints
    lasts: Ints

    @classmethod
    def of(cls, rows: LinkRows) -> _Chains:
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

    def check(self, rows: LinkRows, is_mix: Bools) -> None:
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
        born = self.firsts[is_mix[rows.from_[self.firsts]]]
        if rows.flagged is not None:
            born = born[~rows.flagged[born]]
        if len(born):
            row = int(born.min())
            rows.refuse(
                row,
                f"message {self._name(rows, row)} leaves mix "
                f"{quoted(rows.names[rows.from_[row]])}, and no row says how it came there; add "
                "its rows before, or mark it as cover",
            )

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


def _corrupt(rows: LinkRows, mixes: _Mixes, given: Iterable[str]) -> Bools:
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


# ---- events


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """Events of the kernel, the row and the time of each, and the events of each row."""

    kernel: NetworkEvents
    row: Ints
    time: Floats
    departs: Ints


def _events(rows: LinkRows, mixes: _Mixes, chains: _Chains, tells: Bools) -> _Events:
    """At equal times as the file has them, or else by layers: arrivals before departures."""
    number = len(rows.sent)
    to_mix = mixes.is_mix[rows.to]
    rank = np.zeros(len(rows.names), dtype=np.int64)
    rank[mixes.which] = 1 + mixes.layer
    on_link = np.zeros(number, dtype=np.bool_)
    if rows.received is not None:
        late = np.flatnonzero(rows.received < rows.sent)
        if len(late):
            rows.refuse(int(late[0]), "a packet is received before it is sent; check times")
        on_link = to_mix
    arrivals = np.flatnonzero(on_link)
    time = rows.sent
    key = 2 * rank[rows.from_]
    row = np.arange(number)
    if rows.received is not None:
        time = np.concatenate((time, rows.received[arrivals]))
        key = np.concatenate((key, 2 * rank[rows.to[arrivals]] - 1))
        row = np.concatenate((row, arrivals))
    born = chains.born(rows, mixes.is_mix)
    enters = np.where(to_mix, mixes.number[rows.to], _native.OUTSIDE)
    enters[to_mix & (tells[rows.to] | chains.dropped(rows, mixes.is_mix))] = _native.CARRIED
    leaves = np.where(mixes.is_mix[rows.from_] & ~born, mixes.number[rows.from_], _native.OUTSIDE)
    told = tells[rows.from_] & ~born
    leaves[told] = _native.CARRIED
    if rows.received is None:
        key[_one_by_one(rows, chains, leaves, enters)] = 0
    order = np.lexsort((np.arange(len(time)), key, time))
    event = np.empty(len(order), dtype=np.int64)
    event[order] = np.arange(len(order))
    departs, arrives = event[:number], event[:number].copy()
    arrives[arrivals] = event[number:]
    from_, to = np.empty(len(order), dtype=np.int32), np.empty(len(order), dtype=np.int32)
    before = np.full(len(order), -1, dtype=np.int64)
    from_[departs], to[departs] = leaves, np.where(on_link, _native.CARRIED, enters)
    from_[arrives[arrivals]], to[arrives[arrivals]] = _native.CARRIED, enters[arrivals]
    before[arrives[arrivals]] = departs[arrivals]
    after = told[chains.after]
    before[departs[chains.after[after]]] = arrives[chains.before[after]]
    return _Events(
        NetworkEvents(from_, to, before, len(mixes.which)), row[order], time[order], departs
    )


def _one_by_one(rows: LinkRows, chains: _Chains, leaves: Ints, enters: Ints) -> Bools:
    """Rows whose order among those of the same time is that of the file.

    It is, where the file is in order of time, unless that would let a packet leave an empty mix or
    leave before it came: then the file tells no order of that time.
    """
    number = len(rows.sent)
    if (rows.sent[1:] < rows.sent[:-1]).any():
        return np.zeros(number, dtype=np.bool_)
    group = np.concatenate(([0], np.cumsum(rows.sent[1:] != rows.sent[:-1])))
    told = np.ones(number, dtype=np.bool_)  # by group
    told[group[chains.after[chains.after < chains.before]]] = False
    # Packets in each mix after each row, where a row is first a packet out and then one in.
    mix = np.stack((leaves, enters), axis=1).reshape(-1)
    steps = np.flatnonzero(mix >= 0)
    steps = steps[np.argsort(mix[steps], kind="stable")]
    change = np.where(steps % 2 == 0, -1, 1)
    inside = np.cumsum(change)
    first = np.flatnonzero(np.diff(mix[steps], prepend=-1))
    inside -= np.repeat(inside[first] - change[first], np.diff(first, append=len(steps)))
    told[group[steps[inside < 0] // 2]] = False
    return told[group]


# ---- what an attacker saw


def _observation(
    rows: LinkRows,
    law: Law | None,
    mixes: _Mixes,
    chains: _Chains,
    tells: Bools,
    events: _Events,
    inside: npt.NDArray[np.int32],
    source: str,
    whole_log: bool,
    notes: Sequence[str],
) -> Observation:
    kernel = events.kernel
    enters = ~mixes.is_mix[rows.from_[events.row]] & (kernel.from_ == _native.OUTSIDE)
    everybody = np.flatnonzero(enters)
    own = everybody
    if rows.flagged is not None:
        own = everybody[~rows.flagged[events.row[everybody]]]
    if not len(own):
        raise InputError("nobody who is no mix sends a message; nothing can be audited")
    out = np.flatnonzero(kernel.to == _native.OUTSIDE)
    senders = tuple(map(rows.names.__getitem__, rows.from_[events.row[own]].tolist()))
    receivers = tuple(map(rows.names.__getitem__, rows.to[events.row[out]].tolist()))
    users = _users(rows, senders, events.row[own])
    behaviours = labels(receivers, "receiver")
    truth = _truth(rows, mixes, chains, events, own, out)
    network = Network(
        links=LinkedNetwork(events=kernel, inside=inside, sent=own, out=out, layer=mixes.layer),
        times=events.time,
        mixes=tuple(rows.names[one] for one in mixes.which.tolist()),
        corrupt=tuple(rows.names[one] for one in np.flatnonzero(tells).tolist()),
        law=law,
        n_sent=len(everybody),
    )
    arrivals, departures = events.time[own], events.time[out]
    mean, longest, reach = _delays(network, arrivals, departures, truth, len(everybody))
    lasted = float(arrivals[-1] - arrivals[0])
    several_messages = users is not senders or behaviours is not receivers
    observation = Observation(
        passage=Passage(
            users=users, behaviours=behaviours, arrivals=arrivals, departures=departures
        ),
        network=network,
        source=source,
        senders=senders if several_messages else None,
        receivers=receivers if several_messages else None,
        truth=truth,
        gone=truth < 0 if truth is not None and chains.complete else None,
        mean_delay=mean,
        longest_delay=longest,
        rate=(len(everybody) - 1) / lasted if lasted > 0 else None,
        cover=_cover(rows, events, out),
        notes=tuple(notes),
        arrivals=arrivals,
        departures=departures,
    )
    if whole_log:
        return observation
    return with_ends(observation, arrivals, float(events.time[0]), float(events.time[-1]), reach)


def _users(rows: LinkRows, senders: tuple[str, ...], at: Ints) -> tuple[Hashable, ...]:
    """Messages by their senders; those of who has several by the message too, if it is known."""
    if rows.message is None or len(set(senders)) == len(senders):
        return labels(senders, "sender")
    number = rows.message[at]
    if (number < 0).any():
        return labels(senders, "sender")
    names = rows.message_names
    pairs = zip(senders, number.tolist(), strict=True)
    return labels(tuple(f"{sender} ({names[one]})" for sender, one in pairs), "sender")


def _truth(
    rows: LinkRows, mixes: _Mixes, chains: _Chains, events: _Events, own: Ints, out: Ints
) -> Ints | None:
    """The exit of each message, -1 if it has none in the log; None if no message is known."""
    if rows.message is None or not len(chains.firsts):
        return None
    exit_of = np.full(len(rows.message_names), -1, dtype=np.int64)
    left = chains.lasts[~mixes.is_mix[rows.to[chains.lasts]]]
    exit_of[rows.message[left]] = np.searchsorted(out, events.departs[left])
    message = rows.message[events.row[own]]
    return np.where(message >= 0, exit_of[np.maximum(message, 0)], -1)


def _cover(rows: LinkRows, events: _Events, out: Ints) -> float | None:
    if rows.flagged is None or not len(out):
        return None
    return float(rows.flagged[events.row[out]].mean())


def _delays(
    network: Network, arrivals: Floats, departures: Floats, truth: Ints | None, n_sent: int
) -> tuple[float | None, float | None, float | None]:
    """Mean and longest delay, and one that hardly a message exceeds, as far as the log shows."""
    known = None if truth is None else np.flatnonzero(truth >= 0)
    if truth is not None and known is not None and len(known):
        delays = departures[truth[known]] - arrivals[known]
        late = float(np.quantile(delays, 1.0 - LATE))
        return float(delays.mean()), float(delays.max()), late
    law, layers = network.law, int(network.links.layer.max()) + 1
    longest = None if law is None else law.longest_delay
    if longest is not None and math.isfinite(longest):
        longest *= layers
    if n_sent != len(arrivals) or len(arrivals) != len(departures):
        return None, longest, None
    mean = max(float(departures.mean() - arrivals.mean()), 0.0)
    if longest is not None and math.isfinite(longest):
        return mean, longest, longest
    from scipy.special import gammaincinv

    return mean, longest, mean / layers * float(gammaincinv(layers, 1.0 - LATE))


def in_words(mixes: int, layers: int, corrupt: int, law: Law | None) -> str:
    """A network for people.

    Examples
    --------
    >>> in_words(9, 3, 1, None)
    'a network of 9 mixes in 3 layers, 1 of them corrupt, each choosing uniformly'
    """
    bad = f", {corrupt} of them corrupt" if corrupt else ""
    how = "each choosing uniformly" if law is None else str(law)
    size = f"{several(mixes, 'mix', 'mixes')} in {several(layers, 'layer')}"
    return f"a network of {size}{bad}, {how}"

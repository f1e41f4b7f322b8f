"""Networks of mixes of which every link is seen: from rows of a log to what an attacker knows.

A row is a packet on a link. Names from and to which packets go are mixes, all others are senders
and receivers. Rows become events in an order that explains them: at equal times that of the file,
if it is in order of time and no packet leaves before it came; else packets arrive at a mix before
others leave it. A mix that tells (a corrupt one) passes on who is who.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NoReturn

import numpy as np

from anonymatch import _native
from anonymatch._native import NetworkEvents
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted, several
from anonymatch.mixes.laws import Exponential, FlushLaw, Law, check_law, law_name, parse_law
from anonymatch.mixes.laws.law import LATE, LAWS, law_examples
from anonymatch.mixes.logs.ends import with_ends
from anonymatch.mixes.logs.labels import labels
from anonymatch.mixes.logs.log_conditions import moment_of
from anonymatch.mixes.logs.observation import Network, NetworkObservation, Passage
from anonymatch.mixes.networks.network_conditions import (
    LOOPS_NOTE,
    LinkClasses,
    LinkConditions,
    check_missing,
    fitted_rates,
    laws_by_mix,
    loops_of,
    mean_delays,
    packets_missing,
)
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import MixRates

_HOPS = 20  # chained rows from which on they show the mean delay per hop


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
        Rows of dummy packets.
    lost : array of bool or None
        Last rows of packets that were lost.
    refuse : function
        Raises the error about a row.
    origin : float
        Seconds that were subtracted from all times, as in :class:`Messages`.
    dates : {"UTC", "local"}, optional
        What date-times are in, as in :class:`Messages`.
    """

    names: Sequence[str]
    from_: Ints
    to: Ints
    sent: Floats
    received: Floats | None = None
    message: Ints | None = None
    message_names: Sequence[Hashable] = ()
    flagged: Bools | None = None
    lost: Bools | None = None
    refuse: Callable[[int, str], NoReturn]
    origin: float = 0.0
    dates: str | None = None

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


def network_law(law: Law | str | Mapping[str, Law | str] | None) -> Law | None:
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
    law = laws_by_mix(law)
    if isinstance(law, Mapping):
        mean_delays(law)
        return None
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
    given: LinkConditions | None = None,
    corrupt: Iterable[str] = (),
    cover_visible: bool = False,
    whole_log: bool = False,
    notes: Sequence[str] = (),
) -> NetworkObservation:
    """What an attacker knows who sees every link, and what corrupt mixes do.

    Parameters
    ----------
    rows : LinkRows
    law : Law or None
        Of all mixes; None if they choose uniformly among those inside.
    source : str
        Where it comes from, for people.
    given : LinkConditions, optional
        Delays, losses, cover traffic and ends that the user gives.
    corrupt : iterable of str
        Mixes that tell the attacker which packet is which.
    cover_visible : bool
        Whether the attacker can tell what is flagged from messages: then it is left out.
    whole_log : bool
        Whether messages near the ends of the log count as all others.
    notes : sequence of str
    """
    if cover_visible:
        none = np.zeros(len(rows.sent), dtype=np.bool_)
        seen = (none if one is None else one for one in (rows.flagged, rows.lost))
        rows = rows.at(np.flatnonzero(~np.logical_or(*seen)))
    if not len(rows.sent):
        raise InputError("no row is left; a network needs packets on links")
    given = given or LinkConditions()
    whole = rows
    rows, given = _observed(rows, given)
    chains = _Chains.of(rows)
    named = given.names if rows is whole else given.names | _left_of(whole, rows)
    mixes = _mixes(rows, chains, named)
    tells = _corrupt(rows, mixes, corrupt)
    chains.check(rows)
    followed = given.mean is not None  # exponential mixes, whose hidden numbers are followed
    begun = chains.begun_inside(rows, mixes.is_mix)
    if begun is not None and not followed:
        rows.refuse(*begun)
    names = [rows.names[one] for one in mixes.which.tolist()]
    given.check(names)
    given, looped = _with_loops(rows, mixes, chains, given)
    notes = (*notes, *looped)
    hidden = given.some or given.running or begun is not None or _flags_losses(rows)
    events = _events(rows, mixes, chains, tells, told=not hidden)
    inside = _native.network_inside(events.kernel)
    wrong = np.flatnonzero(inside < 0)
    if len(wrong) and not followed:
        row = int(events.row[wrong[0]])
        rows.refuse(
            row,
            f"a packet leaves mix {quoted(rows.names[rows.from_[row]])}, which is empty: as many "
            "left it as came in; check names and times, or leave out the start of a log that "
            "begins in mid traffic",
        )
    if given.most is not None and int(inside.max(initial=0)) > given.most:
        row = int(events.row[np.argmax(inside > given.most)])
        rows.refuse(
            row,
            f"mix {quoted(rows.names[rows.from_[row]])} holds {given.most + 1} packets or more, "
            f"but the law lets it hold {given.most}: packets were lost, or the law is another",
        )
    links = LinkedNetwork(
        events=events.kernel,
        inside=inside,
        sent=np.empty(0, dtype=np.int64),
        out=np.empty(0, dtype=np.int64),
        layer=mixes.layer,
    )
    if not followed and not hidden:
        kept = check_missing(links, events.time, names, law, given, events.told)
        notes = (*notes, *kept)
    if followed and not hidden:
        hidden = bool(len(wrong)) or packets_missing(links, events.time, names, given)
        if hidden:
            events = _events(rows, mixes, chains, tells, told=False)
    rates: MixRates | None = None
    if hidden:
        _followed(given)
        given, flagged = _with_flags(rows, mixes, chains, given)
        notes = (*notes, *flagged)
        links = replace(links, events=events.kernel, inside=np.zeros_like(events.kernel.from_))
        hop, classes = chains.hop(rows), _link_classes(rows, mixes, events)
        rates, fitted = fitted_rates(links, events.time, names, given, hop)
        if rates.loop_rate is not None and given.inside_at_start is None and not rates.inside.any():
            # Loops of a mix do not explain packets that leave the network.
            early = _more_exits(classes, rows.from_[events.row], mixes)
            if (early & (rates.cover_rate == 0.0)).any():
                given = replace(given, running=True)
                rates, fitted = fitted_rates(links, events.time, names, given, hop)
        notes = (*notes, *fitted)
        rates = loops_of(rates, classes)
        if rates.loop_rate is not None and rates.loop_rate.any():
            notes = (*notes, LOOPS_NOTE)
    return _observation(
        rows, law, mixes, chains, tells, events, links, rates, source, whole_log, notes
    )


def _with_loops(
    rows: LinkRows, mixes: _Mixes, chains: _Chains, given: LinkConditions
) -> tuple[LinkConditions, tuple[str, ...]]:
    """Return the conditions with the rate of mix loops, if the log shows loops, and a note.

    A column ``message`` shows them: a packet leaves a mix and ends there. Else a circle of links
    does if messages leave from the last layer alone. Every link that goes back must lead from the
    last layer to the first; each loop takes one once.
    """
    back, last = mixes.back(rows), int(mixes.layer.max())
    ends = mixes.layer[mixes.number[rows.from_[back]]], mixes.layer[mixes.number[rows.to[back]]]
    layered = last > 0 and bool((ends[0] == last).all()) and not ends[1].any()
    if mixes.circle and (given.mean is None or not layered):
        _refuse_circle(rows, mixes)
    begin, end = given.ends(float(rows.sent.min()), float(rows.sent.max()))
    if given.loop_rate is not None or given.mean is None or not end > begin:
        return given, ()
    number = len(mixes.which)
    own = rows.from_[chains.firsts] == rows.to[chains.lasts]
    made = mixes.number[rows.from_[chains.firsts[own]]]
    made = made[made >= 0]
    if chains.complete and len(made):
        rate = np.bincount(made, minlength=number) / (end - begin)
        by_name = {rows.names[one]: float(r) for one, r in zip(mixes.which, rate, strict=True)}
        note = f"Loops by the column 'message': {rate.mean():.3g} per second and mix"
        return replace(given, loop_rate=by_name), (note,)
    if not mixes.circle:
        return given, ()
    exits = mixes.is_mix[rows.from_] & ~mixes.is_mix[rows.to]
    if (mixes.layer[mixes.number[rows.from_[exits]]] != last).any():
        _refuse_circle(rows, mixes)
    each = float(np.count_nonzero(back)) / (end - begin) / number
    note = (
        "Packets from the last layer straight to the first are mix loops: "
        f"{each:.3g} loops per second and mix"
    )
    return replace(given, loop_rate=each), (note,)


def _with_flags(
    rows: LinkRows, mixes: _Mixes, chains: _Chains, given: LinkConditions
) -> tuple[LinkConditions, tuple[str, ...]]:
    """Return the conditions with rates that the flags of the log show and the user does not give.

    Flags are the truth: the attacker knows the rates, and not which packets are flagged.
    """
    begin, end = given.ends(float(rows.sent.min()), float(rows.sent.max()))
    number, notes = len(mixes.which), []
    names = [rows.names[one] for one in mixes.which.tolist()]
    if rows.flagged is not None and given.cover_rate is None and end > begin:
        loops = rows.from_[chains.firsts] == rows.to[chains.lasts]
        first = chains.firsts[~loops]
        first = first[rows.flagged[first] & mixes.is_mix[rows.from_[first]]]
        if len(first):
            rate = np.bincount(mixes.number[rows.from_[first]], minlength=number) / (end - begin)
            given = replace(given, cover_rate=dict(zip(names, rate.tolist(), strict=True)))
            notes.append(f"cover traffic of {rate.mean():.3g} dummies per second and mix")
    if rows.lost is not None and given.loss is None and rows.lost.any():
        into = mixes.is_mix[rows.to]
        came = np.bincount(mixes.number[rows.to[into]], minlength=number)
        lost = np.bincount(mixes.number[rows.to[into & rows.lost]], minlength=number)
        share = np.minimum(lost / np.maximum(came, 1), 0.99)
        given = replace(given, loss=dict(zip(names, share.tolist(), strict=True)))
        notes.append(f"a loss of {lost.sum() / max(came.sum(), 1):.3g} per hop")
    if not notes:
        return given, ()
    text = " and ".join(notes)
    return given, (f"{text[0].upper()}{text[1:]} by the flags of the log",)


def _link_classes(rows: LinkRows, mixes: _Mixes, events: _Events) -> LinkClasses:
    """Return for every event whether users' packets and loops may take its link."""
    row = events.row
    from_mix = mixes.is_mix[rows.from_[row]]
    return LinkClasses(
        layer=mixes.layer,
        outside=(events.kernel.from_ == _native.OUTSIDE) & ~from_mix,
        back=mixes.back(rows)[row],
        exits=from_mix & ~mixes.is_mix[rows.to[row]],
        into=np.where(mixes.is_mix[rows.to[row]], mixes.number[rows.to[row]], -1),
        from_mix=from_mix,
    )


def _more_exits(links: LinkClasses, sender: Ints, mixes: _Mixes) -> Bools:
    """Return which mixes have sent more packets out of the network than had entered them."""
    mix = np.where(links.exits, mixes.number[sender], -1)
    return np.array(
        [
            bool((np.cumsum(mix == one) > np.cumsum(links.into == one)).any())
            for one in range(len(links.layer))
        ]
    )


def _flags_losses(rows: LinkRows) -> bool:
    return rows.lost is not None and bool(rows.lost.any())


def _observed(rows: LinkRows, given: LinkConditions) -> tuple[LinkRows, LinkConditions]:
    """Return rows from ``since`` to ``until``; earlier rows show that the network was running."""
    since, until = given.since, given.until
    given = replace(
        given,
        since=None if since is None else moment_of(since, "since", rows.origin),
        until=None if until is None else moment_of(until, "until", rows.origin),
    )
    begin, end = given.ends(float(rows.sent.min()), float(rows.sent.max()))
    early, late = rows.sent < begin, rows.sent > end
    if early.any() and given.inside_at_start is None:
        given = replace(given, running=True)
    if early.any() or late.any():
        rows = rows.at(np.flatnonzero(~early & ~late))
    if not len(rows.sent):
        raise InputError("no row lies between ", Argument("since"), " and ", Argument("until"))
    return rows, given


def _followed(given: LinkConditions) -> None:
    """Refuse conditions for mixes that are not exponential."""
    if given.mean is not None:
        return
    names = ("loss", "cover_rate", "loop_rate", "inside_at_start", "since")
    name = next((one for one in names if getattr(given, one) is not None), None)
    if name is None:
        raise InputError(
            "the column 'lost' has lost packets, and losses in networks are included if mixes are "
            "exponential; give ",
            Argument("law", "exponential:MEAN"),
        )
    raise InputError(
        Argument(name),
        " is for networks of exponential mixes; give ",
        Argument("law", "exponential:MEAN"),
        " or leave it out",
    )


# ---- mixes, and the order in which packets meet them


@dataclass(frozen=True, slots=True, eq=False)
class _Mixes:
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


def _passed(rows: LinkRows, chains: _Chains) -> Bools:
    """Return which names packets pass."""
    passed = np.zeros(len(rows.names), dtype=np.bool_)
    if chains.complete:  # then somebody may both send and receive
        on = rows.to[chains.before] == rows.from_[chains.after]
        passed[rows.to[chains.before[on]]] = True
    else:
        passed[np.intersect1d(rows.from_, rows.to)] = True
    return passed


def _left_of(whole: LinkRows, rows: LinkRows) -> set[str]:
    """Return the names that are mixes by the whole log and occur in the rows that are left."""
    passed = np.flatnonzero(_passed(whole, _Chains.of(whole)))
    seen = np.intersect1d(passed, np.concatenate((rows.from_, rows.to)))
    return {whole.names[one] for one in seen.tolist()}


def _mixes(rows: LinkRows, chains: _Chains, named: set[str]) -> _Mixes:
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
        return _Mixes(is_mix, number, which, layer)
    ring = _ring(len(which), pairs // len(which), pairs % len(which))
    entries = np.unique(number[rows.to[~is_mix[rows.from_] & is_mix[rows.to]]])
    layer = _distances(len(which), pairs // len(which), pairs % len(which), entries)
    return _Mixes(is_mix, number, which, layer, tuple(ring))


def _refuse_circle(rows: LinkRows, mixes: _Mixes) -> NoReturn:
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
        if len(self.after) < _HOPS:
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
    """Events of the kernel, the row and the time of each, and the events of each row.

    ``told`` says at which events the order among those of one time is known.
    """

    kernel: NetworkEvents
    row: Ints
    time: Floats
    departs: Ints
    told: Bools


def _events(rows: LinkRows, mixes: _Mixes, chains: _Chains, tells: Bools, *, told: bool) -> _Events:
    """At equal times as the file has them, or else by layers: arrivals before departures.

    With ``told`` the attacker knows which packets mixes make and drop; else only corrupt mixes
    reveal that.
    """
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
    born, dropped = chains.born(rows, mixes.is_mix), chains.dropped(rows, mixes.is_mix)
    if not told:
        born, dropped = born & tells[rows.from_], np.zeros(number, dtype=np.bool_)
    enters = np.where(to_mix, mixes.number[rows.to], _native.OUTSIDE)
    enters[to_mix & (tells[rows.to] | dropped)] = _native.CARRIED
    leaves = np.where(mixes.is_mix[rows.from_] & ~born, mixes.number[rows.from_], _native.OUTSIDE)
    carried = tells[rows.from_] & ~born
    leaves[carried] = _native.CARRIED
    ordered = np.zeros(len(time), dtype=np.bool_)
    if rows.received is None:
        ordered = _one_by_one(rows, chains, leaves, enters)
        key[ordered] = 0
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
    after = carried[chains.after]
    before[departs[chains.after[after]]] = arrives[chains.before[after]]
    return _Events(
        NetworkEvents(from_, to, before, len(mixes.which)),
        row[order],
        time[order],
        departs,
        ordered[order],
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
    links: LinkedNetwork,
    rates: MixRates | None,
    source: str,
    whole_log: bool,
    notes: Sequence[str],
) -> NetworkObservation:
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
        links=replace(links, sent=own, out=out),
        times=events.time,
        mixes=tuple(rows.names[one] for one in mixes.which.tolist()),
        corrupt=tuple(rows.names[one] for one in np.flatnonzero(tells).tolist()),
        law=law,
        n_sent=len(everybody),
        rates=rates,
        lost_at=None if rates is None else _lost_at(rows, mixes, tells, events, rates),
    )
    arrivals, departures = events.time[own], events.time[out]
    mean, longest, reach = _delays(network, arrivals, departures, truth, len(everybody))
    lasted = float(arrivals[-1] - arrivals[0])
    several_messages = users is not senders or behaviours is not receivers
    observation = NetworkObservation(
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
    begin, end = float(events.time[0]), float(events.time[-1])
    if rates is not None:
        begin, end = rates.begin, rates.end
    return with_ends(observation, arrivals, begin, end, reach)


def _lost_at(
    rows: LinkRows, mixes: _Mixes, tells: Bools, events: _Events, rates: MixRates
) -> Floats:
    """Return the probability that a packet which a corrupt mix never sends on is lost there.

    A column ``lost`` shows which packets are. By event; 0 for all other packets.
    """
    arrives = events.kernel.to == _native.CARRIED
    into = rows.to[events.row]
    at = np.flatnonzero(arrives & mixes.is_mix[into] & tells[into])
    mix = mixes.number[into[at]]
    loss = rates.loss[mix]
    stays = (1.0 - loss) * np.exp(-(rates.end - events.time[at]) / rates.mean[mix])
    if rates.drained:
        stays = np.zeros(len(at))
    chance = np.zeros(len(events.row))
    chance[at] = np.where(loss + stays > 0.0, loss / np.maximum(loss + stays, 1e-300), 0.0)
    if rows.lost is not None:
        chance[at] = rows.lost[events.row[at]]
    return chance


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
    if network.rates is not None:
        from scipy.special import gammaincinv

        hop = float(network.rates.mean.mean())
        return hop * layers, None, hop * float(gammaincinv(layers, 1.0 - LATE))
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


def in_words(network: Network) -> str:
    """Return a network in a few words."""
    corrupt = len(network.corrupt)
    bad = f", {corrupt} of them corrupt" if corrupt else ""
    how = "each choosing uniformly" if network.law is None else str(network.law)
    if network.rates is not None:
        means = np.unique(network.rates.mean)
        shown = f"{means[0]:.4g}" if len(means) == 1 else f"{means[0]:.4g} to {means[-1]:.4g}"
        how = f"exponential delays of {shown} s on average"
    size = f"{several(len(network.mixes), 'mix', 'mixes')} in {several(network.n_layers, 'layer')}"
    return f"a network of {size}{bad}, {how}"

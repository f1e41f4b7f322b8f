"""Networks of mixes of which every link is seen: from rows of a log to what an attacker knows.

A row is a packet on a link. Names from and to which packets go are mixes, all others are senders
and receivers. Rows become events in an order that explains them: at equal times that of the file,
if it is in order of time and no packet leaves before it came; else packets arrive at a mix before
others leave it. A mix that tells (a corrupt one) passes on who is who.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anonymatch import _native
from anonymatch._native import NetworkEvents
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.mixes.laws import Law
from anonymatch.mixes.laws.law import LATE
from anonymatch.mixes.logs.ends import with_ends
from anonymatch.mixes.logs.labels import labels
from anonymatch.mixes.logs.log_conditions import moment_of
from anonymatch.mixes.logs.observation import Network, NetworkObservation, Passage
from anonymatch.mixes.networks.link_rows import (
    Chains,
    LinkRows,
    Mixes,
    corrupt_mixes,
    mixes_left,
    mixes_of,
    refuse_circle,
)
from anonymatch.mixes.networks.missing_packets import check_missing, packets_missing
from anonymatch.mixes.networks.network_conditions import LinkConditions
from anonymatch.mixes.networks.network_rates import LOOPS_NOTE, LinkClasses, fitted_rates, loops_of
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import MixRates


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

    The law is that of all mixes; None if they choose uniformly among those inside. ``corrupt``
    mixes tell the attacker which packet is which. If ``cover_visible``, the attacker can tell
    flagged packets from messages: they are left out. With ``whole_log`` messages near the ends of
    the log count as all others.
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
    chains = Chains.of(rows)
    named = given.names if rows is whole else given.names | mixes_left(whole, rows)
    mixes = mixes_of(rows, chains, named)
    tells = corrupt_mixes(rows, mixes, corrupt)
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
    rows: LinkRows, mixes: Mixes, chains: Chains, given: LinkConditions
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
        refuse_circle(rows, mixes)
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
        refuse_circle(rows, mixes)
    each = float(np.count_nonzero(back)) / (end - begin) / number
    note = (
        "Packets from the last layer straight to the first are mix loops: "
        f"{each:.3g} loops per second and mix"
    )
    return replace(given, loop_rate=each), (note,)


def _with_flags(
    rows: LinkRows, mixes: Mixes, chains: Chains, given: LinkConditions
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


def _link_classes(rows: LinkRows, mixes: Mixes, events: _Events) -> LinkClasses:
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


def _more_exits(links: LinkClasses, sender: Ints, mixes: Mixes) -> Bools:
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


def _events(rows: LinkRows, mixes: Mixes, chains: Chains, tells: Bools, *, told: bool) -> _Events:
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


def _one_by_one(rows: LinkRows, chains: Chains, leaves: Ints, enters: Ints) -> Bools:
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


def _observation(
    rows: LinkRows,
    law: Law | None,
    mixes: Mixes,
    chains: Chains,
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
    rows: LinkRows, mixes: Mixes, tells: Bools, events: _Events, rates: MixRates
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
    rows: LinkRows, mixes: Mixes, chains: Chains, events: _Events, own: Ints, out: Ints
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

"""What is known of all messages of a network at once: histories, and who sent what.

A history says of every mix which packet in is which packet out. Several histories may give the same
answer to who sent what, s: so the entropy of s is between that of one layer, given all the others,
and that of the histories, and it is no more than all own bits, or than if the network were one box.
Whenever nothing is inside the log falls into parts that do not touch each other; small ones are
enumerated.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native, counting
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import BudgetError
from anonymatch.base.interval import Interval
from anonymatch.graph import Graph
from anonymatch.mixes.closed_forms import log_ceiling_bits
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.tuning import NETWORKS
from anonymatch.running import check_work

Weigh = Callable[[int, int], float]


class _State(NamedTuple):
    """Who is inside each mix (and since which event), on links, and has come out."""

    pools: tuple[frozenset[tuple[int, int]], ...]
    carried: tuple[tuple[int, int], ...] = ()
    out: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkJoint:
    """Joint figures of a network, in bits."""

    histories: float  # entropy of the history; log2 of their number if all are equally likely
    who: Interval  # entropy of who sent what
    # The most that it could be if only the ends were seen: each exit is one of those in flight.
    box: float
    # No mixes that hold as many packets give a message more own bits on average.
    ceiling: float | None
    parts: int  # parts of the log that do not touch each other


def network_joint(
    network: LinkedNetwork,
    *,
    entropies: Floats | None = None,
    own: Floats | None = None,
    weigh: Weigh | None = None,
) -> NetworkJoint:
    """Joint figures of all packets, cover included.

    If histories are not equally likely, ``entropies`` are those of the matching of each mix in
    bits, and ``weigh`` is for a packet that arrives at a mix at one event and leaves it at another;
    the log is then one part, unless it is small. ``own`` are own bits of every packet, with those
    to be still inside, in the order of their entry; None if some are not known.
    """
    events, inside = network.events, network.inside
    enters, exits = events.from_ == _native.OUTSIDE, events.to == _native.OUTSIDE
    flight = np.cumsum(enters.astype(np.int64) - exits)
    before = flight + exits  # at exits, itself included
    left = int(flight[-1]) if len(flight) else 0
    ends = np.flatnonzero(flight == 0) if entropies is None else np.empty(0, dtype=np.int64)
    part = np.searchsorted(ends, np.arange(len(flight)), side="left")
    number = int(part[-1]) + 1 if len(part) else 0
    if entropies is None:
        leaves = np.flatnonzero(events.from_ >= 0)
        bits = np.log2(inside[leaves])
        layers = int(network.layer.max(initial=0)) + 1
        cells = part[leaves] * layers + network.layer[events.from_[leaves]]
        by_layer = np.bincount(cells, bits, number * layers).reshape(number, layers)
    else:
        by_layer = np.bincount(network.layer, entropies)[None, :]
    histories = by_layer.sum(axis=1)
    low, high = by_layer.max(axis=1), histories.copy()
    if number:  # packets that stay inside may change places unseen
        low[-1] = max(low[-1] - math.lgamma(left + 1) / math.log(2.0), 0.0)
    box = np.bincount(part[exits], np.log2(before[exits]), number)
    high = np.minimum(high, box)
    if own is not None:
        high = np.minimum(high, np.bincount(part[enters], own, number))
    high = np.maximum(high, low)
    _enumerate(network, part, histories, low, high, weigh)
    low_sum, high_sum = float(low.sum()), float(high.sum())
    close = high_sum - low_sum <= NETWORKS.history_same * max(high_sum, 1.0)
    who = Interval.between(low_sum, high_sum)
    # Those inside at the end leave it one by one: that is no less entropy.
    ceiling = log_ceiling_bits(np.concatenate((before[exits], np.arange(left, 0, -1))))
    return NetworkJoint(
        histories=float(histories.sum()),
        who=Interval(high_sum, high_sum, high_sum) if close else who,
        box=float(box.sum()),
        ceiling=ceiling,
        parts=number,
    )


def _enumerate(
    network: LinkedNetwork,
    part: Ints,
    histories: Floats,
    low: Floats,
    high: Floats,
    weigh: Weigh | None,
) -> None:
    """Close the intervals of small parts, as long as that is quick."""
    # With weights the log is one part, and its entropy does not say how many histories there are.
    sizes = histories if weigh is None else _histories(network)
    open_ = np.flatnonzero(
        (high - low > NETWORKS.history_same) & (sizes <= math.log2(NETWORKS.most_histories))
    )
    budget = NETWORKS.most_states
    begins = np.searchsorted(part, np.arange(len(histories)), side="left")
    stops = np.searchsorted(part, np.arange(len(histories)), side="right")
    for one in open_[np.argsort(sizes[open_], kind="stable")].tolist():
        begin, stop = int(begins[one]), int(stops[one])
        budget -= int(2.0 ** sizes[one] * math.sqrt(stop - begin))
        if budget < 0:
            return
        low[one] = high[one] = _enumerated(network, begin, stop, weigh)


def _histories(network: LinkedNetwork) -> Floats:
    """log2 of the number of histories of the whole log, as the only part."""
    some = network.inside[network.inside > 0]
    return np.array([float(np.log2(some).sum())])


def _enumerated(network: LinkedNetwork, begin: int, stop: int, weigh: Weigh | None) -> float:
    """Entropy in bits of who sent what among the events of a part, by all its histories.

    Histories that differ only in what has come out already and is the same are one state.
    """
    from_, to, before, mixes = network.events
    states = {_State((frozenset(),) * mixes): 1.0}
    for e in range(begin, stop):
        after: dict[_State, float] = defaultdict(float)
        for state, weight in states.items():
            for packet, rest, factor in _taken(state, e, from_, before, weigh):
                after[_put(rest, e, int(to[e]), packet, weigh is not None)] += weight * factor
        states = after
    sums: dict[tuple[int, ...], float] = defaultdict(float)
    for state, weight in states.items():
        sums[state.out] += weight
    total = math.fsum(sums.values())
    return 0.0 - math.fsum(s / total * math.log2(s / total) for s in sums.values() if s > 0.0)


def _taken(
    state: _State, e: int, from_: npt.NDArray[np.int32], before: Ints, weigh: Weigh | None
) -> Iterator[tuple[int, _State, float]]:
    """Each packet that may go at an event, the state without it, and its weight."""
    if from_[e] == _native.OUTSIDE:
        yield e, state, 1.0
    elif from_[e] == _native.CARRIED:
        packet = next(packet for event, packet in state.carried if event == before[e])
        rest = tuple(one for one in state.carried if one[0] != before[e])
        yield packet, state._replace(carried=rest), 1.0
    else:
        mix = int(from_[e])
        pool = state.pools[mix]
        for one in sorted(pool):
            factor = 1.0 if weigh is None else weigh(one[1], e)
            if factor > 0.0:
                yield one[0], _with_pool(state, mix, pool - {one}), factor


def _put(state: _State, e: int, to: int, packet: int, timed: bool) -> _State:
    """The state after a packet went where an event leads."""
    if to == _native.OUTSIDE:
        return state._replace(out=(*state.out, packet))
    if to == _native.CARRIED:
        return state._replace(carried=(*state.carried, (e, packet)))
    return _with_pool(state, to, state.pools[to] | {(packet, e if timed else 0)})


def _with_pool(state: _State, mix: int, pool: frozenset[tuple[int, int]]) -> _State:
    return state._replace(pools=(*state.pools[:mix], pool, *state.pools[mix + 1 :]))


# ---- who sent what through two layers of mixes: its entropy by permanents of drawn histories


def two_layer_bits(network: LinkedNetwork, *, draws: int = 64, seed: int = 0) -> Interval | None:
    """Entropy in bits of who sent what, with an interval of 99 %.

    None unless every packet passes two layers and leaves, packets are few, and counts are quick.
    """
    from_, to, _, _ = network.events
    layer = network.layer
    enter, out = np.flatnonzero(from_ == _native.OUTSIDE), np.flatnonzero(to == _native.OUTSIDE)
    between = np.flatnonzero((from_ >= 0) & (to >= 0))
    size = len(enter)
    if not (
        0 < size <= NETWORKS.history_most
        and len(out) == len(between) == size
        and 3 * size == len(from_)
    ):
        return None
    if (to[enter] < 0).any() or layer[to[enter]].any() or (layer[to[between]] != 1).any():
        return None
    first = (to[enter][:, None] == from_[between]) & (enter[:, None] < between)
    second = (to[between][:, None] == from_[out]) & (between[:, None] < out)
    histories = float(np.log2(network.inside[network.inside > 0]).sum())
    rng = np.random.default_rng(seed)
    bits = np.empty(draws)
    for k in range(draws):
        check_work()
        exits = _drawn(network, enter, rng)
        ways = first & second[:, np.searchsorted(out, exits)].T
        try:
            found = counting.count(Graph.from_biadjacency(ways), budget=NETWORKS.history_seconds)
        except BudgetError:
            return None
        if found.confidence < 1.0 or found.high - found.low > 1e-6:
            return None
        bits[k] = histories - found.log2
    mean = float(bits.mean())
    slack = NETWORKS.history_errors * float(bits.std(ddof=1)) / math.sqrt(draws)
    return Interval(mean, mean - slack, mean + slack)


def _drawn(network: LinkedNetwork, enter: Ints, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The exit of every packet in one history: at each departure anybody inside is as likely."""
    from_, to, _, mixes = network.events
    pools: list[list[int]] = [[] for _ in range(mixes)]
    exits = np.empty(len(from_), dtype=np.int64)
    for e, (source, target) in enumerate(zip(from_.tolist(), to.tolist(), strict=True)):
        packet = e
        if source >= 0:
            pool = pools[source]
            packet = pool.pop(int(rng.integers(len(pool))))
        if target >= 0:
            pools[target].append(packet)
        else:
            exits[packet] = e
    return exits[enter]

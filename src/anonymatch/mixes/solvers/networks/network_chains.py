"""Mix networks with losses, cover traffic and cut logs: one chain per mix, multiplied along links.

The attacker sees every link, and every mix is exponential. A mix loses each packet that enters it
with the same probability, whatever the packet is, and cover traffic is Poisson. The matchings of
different mixes are then independent given the log. So the probability that a message is the packet
of an exit is the product of the matrices of the mixes, exactly. The matrix of a mix comes from the
chain over the hidden number of packets inside (`hidden_chain`).

A mix absorbs its own loops and no other packet. So the mixes depend on each other, and the product
is an approximation. Loops that return over links between mixes are a class of packets of their own:
the chain of a mix follows the numbers of both classes inside, and mixes exchange the probability
that the packet of a link is a loop (belief propagation). Loops that return through the outside look
like messages, and are absorbed like losses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymatch import _native
from anonymatch._native import ClassFigures
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.mixes.solvers.links import early_weights
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.tuning import NETWORKS
from anonymatch.running import Cancelled, Execution, byte_of_work

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class LinkLoops(NamedTuple):
    """Mix loops that return over links between mixes.

    By mix: ``own`` is the share of its own loops among the loops that enter it, ``share`` the
    expected share of users' packets among packets from other mixes, and ``start`` the share of
    loops among packets inside at the start. By event: ``outside`` says that a sender who is no mix
    sends the packet, ``users_go`` and ``loops_go`` which classes may take the link.
    """

    own: Floats
    share: Floats
    start: Floats
    outside: Bools
    users_go: Bools
    loops_go: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixRates:
    """Delays, losses, cover traffic and the start of mixes, as arrays with one entry per mix."""

    mean: Floats  # mean delay in seconds
    loss: Floats  # probability that a packet that enters the mix is lost
    cover_rate: Floats  # dummy packets per second that the mix makes
    inside: Floats  # mean number of packets inside when the log begins
    # First and last second of the observation.
    begin: float
    end: float
    drained: bool = False  # whether all mixes are empty at the end
    loop_rate: Floats | None = None  # loops per second that the mix sends; None if mixes send none
    # Share of its own loops among all packets that enter a mix, if loops return through the
    # outside.
    absorbed: Floats | None = None
    loops: LinkLoops | None = None  # loops that return over links between mixes


class NetworkSteps(NamedTuple):
    """Where the packet of each event goes next.

    ``steps`` has the probabilities from event to event; ``lost`` and ``inside`` those that the
    packet of an event is lost in the mix that it enters, or still inside at the end. ``bits`` is
    the entropy of all matchings of the mixes; ``error`` bounds the error of a row.
    """

    steps: csr_array
    lost: Floats
    inside: Floats
    bits: float
    log_evidence: float
    error: float


class MixEvents(NamedTuple):
    """Events of one mix in order, whether each is an arrival, and their times."""

    events: Ints
    arrival: Bools
    times: Floats


def mix_events(links: LinkedNetwork, times: Floats, mix: int) -> MixEvents:
    """Return the events at which packets enter or leave a mix."""
    arrival = links.events.to == mix
    events = np.flatnonzero(arrival | (links.events.from_ == mix))
    return MixEvents(events, arrival[events], times[events])


def steps_cost(links: LinkedNetwork, rates: MixRates) -> tuple[float, float]:
    """Return predicted seconds and bytes of `network_steps`."""
    number = links.events.mixes
    came = np.bincount(links.events.to[links.events.to >= 0], minlength=number).astype(float)
    left = np.bincount(links.events.from_[links.events.from_ >= 0], minlength=number).astype(float)
    inside = came * rates.mean / max(rates.end - rates.begin, 1e-300) + 1.0
    entries = came * np.minimum(left, NETWORKS.chain_reach * inside)
    seconds = NETWORKS.chain_seconds * (came + left) + NETWORKS.entry_seconds * entries
    memory = NETWORKS.entry_bytes * entries
    if rates.loops is not None:
        loops = inside * np.maximum(rates.loops.start, 1.0 - rates.loops.share)
        states = (6.0 * np.sqrt(inside) + 6.0) * (6.0 * np.sqrt(loops) + 6.0)
        passes = (2 * NETWORKS.chain_sweeps + 1) * (came + left) * states
        seconds = NETWORKS.state_seconds * passes + NETWORKS.row_seconds * 2.0 * entries * states
        memory = memory + NETWORKS.state_bytes * (came + left) * states
    return float(seconds.sum()), float(memory.sum())


class _Entries:
    """Entries of the matrix of steps; a packet that is carried has one step."""

    def __init__(self, links: LinkedNetwork) -> None:
        carried = np.flatnonzero(links.events.before >= 0)
        self._parts = [(links.events.before[carried], carried, np.ones(len(carried)))]

    def add(self, rows: Ints, columns: Ints, values: Floats) -> None:
        self._parts.append((rows, columns, values))

    def matrix(self, size: int) -> csr_array:
        from scipy.sparse import csr_array

        rows, columns, values = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        return csr_array((values, (rows, columns)), shape=(size, size))


class _Weights(NamedTuple):
    """Weights of the events of one mix, in units of its mean delay."""

    move: Floats
    stay: Floats
    gap: Floats
    constant: float


def _weights(mix: MixEvents, rates: MixRates, one: int) -> _Weights:
    mean, loss, cover = (
        float(values[one]) for values in (rates.mean, rates.loss, rates.cover_rate)
    )
    start = float(rates.inside[one])
    lasted = (rates.end - rates.begin) / mean
    if rates.loop_rate is not None:
        cover += float(rates.loop_rate[one])
    if rates.absorbed is not None:
        loss += (1.0 - loss) * float(rates.absorbed[one])
    gap, early = _gaps(mix, rates, mean), _early(mix, rates, start, mean)
    move = np.where(mix.arrival, 1.0 - loss, 1.0)
    stay = np.where(mix.arrival, loss, cover * mean + early)
    out = 1.0 if rates.drained else -math.expm1(-lasted)
    constant = -float(np.count_nonzero(~mix.arrival)) * math.log(mean)
    return _Weights(move, stay, gap, constant - cover * lasted * mean - start * out)


def _gaps(mix: MixEvents, rates: MixRates, mean: float) -> Floats:
    ends = np.concatenate(([rates.begin], mix.times, [rates.end]))
    return np.minimum(np.maximum(np.diff(ends), 0.0) / mean, 1e300)


def _early(mix: MixEvents, rates: MixRates, start: float, mean: float) -> Floats:
    """Return weights of departures to be packets that were inside at the start."""
    return early_weights(start, np.exp(-(mix.times - rates.begin) / mean))


def network_evidence(links: LinkedNetwork, times: Floats, rates: MixRates) -> float:
    """Return the natural log of the density of all departures, given the arrivals from outside."""
    total = 0.0
    for one in range(links.events.mixes):
        mix = mix_events(links, times, one)
        if not len(mix.events):
            continue
        weights = _weights(mix, rates, one)
        chain = _native.hidden_chain_job(
            mix.arrival,
            weights.move,
            weights.stay,
            weights.gap,
            end_inside=0 if rates.drained else -1,
            rows=False,
        )
        if chain.stuck() < 0:
            chain.advance(len(mix.events))
        total += chain.log_evidence() + weights.constant
    return total


def network_steps(
    links: LinkedNetwork, times: Floats, rates: MixRates, *, effort: Execution | None = None
) -> NetworkSteps | int:
    """Return the steps of all packets, or the number of a mix whose packets nothing explains."""
    run = effort or Execution()
    if rates.loops is not None:
        return _steps_with_loops(links, times, rates, rates.loops, run)
    number = len(times)
    entries = _Entries(links)
    lost, inside = np.zeros(number), np.zeros(number)
    bits, evidence, error = 0.0, 0.0, 0.0
    run.expect(2 * number * NETWORKS.chain_seconds)
    for one in range(links.events.mixes):
        mix = mix_events(links, times, one)
        if not len(mix.events):
            continue
        weights = _weights(mix, rates, one)
        chain = _native.hidden_chain_job(
            mix.arrival,
            weights.move,
            weights.stay,
            weights.gap,
            end_inside=0 if rates.drained else -1,
            sparse=True,
        )
        while chain.advance(NETWORKS.chain_step):
            run.stop.check()
        run.advance(len(mix.events) * NETWORKS.chain_seconds)
        if chain.stuck() >= 0 or chain.log_evidence() == -math.inf:
            return one
        figures = chain.figures()
        arrivals, departures = mix.events[mix.arrival], mix.events[~mix.arrival]
        values = np.array(figures.entry_value)
        lost[arrivals], inside[arrivals] = figures.lost, figures.inside
        if rates.absorbed is not None:  # a message is never absorbed
            drop = float(rates.loss[one])
            real = drop / max(drop + (1.0 - drop) * float(rates.absorbed[one]), 1e-300)
            kept = 1.0 - (1.0 - real) * lost[arrivals]
            values /= np.repeat(kept[::-1], figures.entries[::-1])
            lost[arrivals], inside[arrivals] = real * lost[arrivals] / kept, figures.inside / kept
        senders = np.repeat(arrivals[::-1], figures.entries[::-1])
        entries.add(senders, departures[figures.entry_column], values)
        bits += figures.joint_bits
        evidence += chain.log_evidence() + weights.constant
        error = max(error, figures.miss)
    return NetworkSteps(entries.matrix(number), lost, inside, bits, evidence, error)


class _ClassMix:
    """One mix with users' packets and loops: its weights, which the other mixes change."""

    def __init__(
        self, links: LinkedNetwork, times: Floats, rates: MixRates, loops: LinkLoops, one: int
    ) -> None:
        self.mix = mix = mix_events(links, times, one)
        mean, start = float(rates.mean[one]), float(rates.inside[one])
        self.loss, self.own = float(rates.loss[one]), float(loops.own[one])
        self._gap, early = _gaps(mix, rates, mean), _early(mix, rates, start, mean)
        self._users_go = loops.users_go[mix.events].astype(np.float64)
        self._loops_go = loops.loops_go[mix.events].astype(np.float64)
        rate = 0.0 if rates.loop_rate is None else float(rates.loop_rate[one])
        part = float(loops.start[one])
        cover = float(rates.cover_rate[one])
        self._made = self._users_go * (cover * mean + (1.0 - part) * early)
        self._looped = self._loops_go * (rate * mean + part * early)
        self._drained = rates.drained

    def solve(
        self, user: Floats, as_user: Floats, as_loop: Floats, *, rows: bool = False
    ) -> ClassFigures:
        """Return the figures of the mix.

        ``user`` is the probability of each arrival to be a user's packet; ``as_user`` and
        ``as_loop`` are likelihoods of each departure from the mixes behind this one.
        """
        into, keep = self.mix.arrival, 1.0 - self.loss
        most = np.maximum(np.maximum(as_user, as_loop), 1e-300)
        as_user, as_loop = as_user / most, as_loop / most
        users = np.where(into, user * keep, self._users_go * as_user)
        loops = np.where(into, (1.0 - user) * keep * (1.0 - self.own), self._loops_go * as_loop)
        stay = np.where(into, 1.0 - users - loops, self._made * as_user + self._looped * as_loop)
        figures = _native.class_chain(
            into,
            users,
            loops,
            np.maximum(stay, 0.0),
            np.full(len(into), keep),
            self._gap,
            drained=self._drained,
            rows=rows,
            cancel=byte_of_work(),
        )
        if not figures.finished:
            raise Cancelled
        return figures

    def user_chance(self, figures: ClassFigures) -> Floats:
        """Return the probability of each departure to be a user's packet, by this mix alone."""
        users = self._users_go * figures.users + self._made * figures.stayed
        loops = self._loops_go * figures.loops + self._looped * figures.stayed
        both = users + loops
        return np.where(both > 0.0, users / np.where(both > 0.0, both, 1.0), 0.5)

    def likelihoods(self, figures: ClassFigures) -> tuple[Floats, Floats]:
        """Return the likelihood of each arrival to be a user's packet, and to be a loop."""
        keep, stayed = 1.0 - self.loss, np.asarray(figures.stayed)
        user = keep * figures.users + self.loss * stayed
        absorbed = self.own * stayed + (1.0 - self.own) * figures.loops
        return user, keep * absorbed + self.loss * stayed


def _steps_with_loops(
    links: LinkedNetwork, times: Floats, rates: MixRates, loops: LinkLoops, run: Execution
) -> NetworkSteps | int:
    """Return the steps of users' packets by belief propagation between the mixes."""
    events, number = links.events, len(times)
    packet = np.arange(number)  # the event at which the packet of an event left its last mix
    while len(way := np.flatnonzero(events.from_[packet] == _native.CARRIED)):
        packet[way] = events.before[packet[way]]
    mixes = {
        one: _ClassMix(links, times, rates, loops, one)
        for one in np.argsort(links.layer, kind="stable").tolist()
    }
    mixes = {one: mix for one, mix in mixes.items() if len(mix.mix.events)}
    user = np.where(loops.outside, 1.0, 0.5)
    for one, mix in mixes.items():
        came = packet[mix.mix.events[mix.mix.arrival]]
        sent = events.from_[came] >= 0
        user[came[sent]] = loops.share[one]
    as_user, as_loop = np.ones(number), np.ones(number)
    work = len(mixes) * (2 * NETWORKS.chain_sweeps + 1)
    run.expect(work * number * NETWORKS.chain_seconds / max(len(mixes), 1))

    def solved(one: int, *, rows: bool = False) -> ClassFigures:
        run.stop.check()
        mix = mixes[one]
        at = packet[mix.mix.events]
        figures = mix.solve(user[at], as_user[at], as_loop[at], rows=rows)
        run.advance(number * NETWORKS.chain_seconds / max(len(mixes), 1))
        return figures

    order: list[int] = [*mixes, *reversed(mixes)]
    for _ in range(NETWORKS.chain_sweeps):
        for one in order:
            figures, mix = solved(one), mixes[one]
            if not figures.explained:
                return one
            into = mix.mix.arrival
            user[mix.mix.events[~into]] = mix.user_chance(figures)[~into]
            inner = into & (events.from_[packet[mix.mix.events]] >= 0)
            at = packet[mix.mix.events[inner]]
            likely = mix.likelihoods(figures)
            as_user[at], as_loop[at] = likely[0][inner], likely[1][inner]
    entries = _Entries(links)
    lost, inside = np.zeros(number), np.zeros(number)
    bits, evidence = 0.0, 0.0
    for one, mix in mixes.items():
        figures = solved(one, rows=True)
        arrivals = mix.mix.events[mix.mix.arrival]
        values = np.array(figures.entry_value)
        entries.add(
            np.repeat(arrivals, figures.entries), mix.mix.events[figures.entry_event], values
        )
        lost[arrivals], inside[arrivals] = figures.lost, figures.inside
        # The matching of a mix has at most the entropy of its rows together.
        for part in (values, figures.lost, figures.inside):
            some = part[part > 0.0]
            bits -= float(some @ np.log2(some))
        evidence += figures.log_evidence
    return NetworkSteps(entries.matrix(number), lost, inside, bits, evidence, 0.0)

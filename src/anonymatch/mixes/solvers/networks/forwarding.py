"""Messages through a network of mixes of which every link is seen: where each may have come out.

Mixes that choose uniformly among those inside pass on in equal shares the probability that a
message is inside. So one pass forwards in time gives exact posteriors of 64 messages at once: the
kernel does it, and this module says which messages, in which order, and on how many threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch._native import NetworkEvents, NetworkTargets
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.mixes.solvers.links import two_outcomes
from anonymatch.mixes.solvers.networks.tuning import NETWORKS
from anonymatch.running import CHUNK_SECONDS, Cancelled, Execution, Shared, byte_of_work

Inside = npt.NDArray[np.int32]

LANES = _native.NETWORK_LANES
FORWARD_SECONDS = 0.4e-9
"""Of a lane and event, measured; an exit costs some times as much."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkedNetwork:
    """Link events in an order that explains them, as the kernel takes them."""

    events: NetworkEvents  # from, to, and for packets that are carried the event before
    inside: Inside  # packets inside the mix that each event leaves, just before
    # Events at which packets leave their senders, and at which they come out.
    sent: Ints
    out: Ints
    # Of each mix, from 0: no packet goes from a mix to one of the same layer, or of one before.
    layer: Ints

    def first_met(self) -> tuple[Ints, Ints]:
        """The first mix that does not tell on the way of each of `sent`, and packets in it then.

        With itself; -1 and 1 if there is none. Where few are met, a message is likely to hide among
        few.
        """
        from_, to, before, _ = self.events
        arrive, leave = np.flatnonzero(to >= 0), np.flatnonzero(from_ >= 0)
        mix = np.concatenate((from_[leave], to[arrive]))
        event = np.concatenate((leave, arrive))
        change = np.concatenate((np.full(len(leave), -1), np.ones(len(arrive), dtype=np.int64)))
        order = np.lexsort((change, event, mix))
        running = np.cumsum(change[order])
        first = np.flatnonzero(np.diff(mix[order], prepend=-1))
        base = np.repeat(
            np.concatenate(([0], running))[first], np.diff(np.append(first, len(order)))
        )
        sizes = np.ones(len(from_), dtype=np.int64)
        comes = change[order] > 0
        sizes[event[order][comes]] = (running - base)[comes]
        carried = np.flatnonzero(before >= 0)
        after = np.full(len(from_), -1, dtype=np.int64)
        after[before[carried]] = carried
        at = self.sent.copy()
        while len(way := np.flatnonzero((at >= 0) & (to[at] == _native.CARRIED))):
            at[way] = after[at[way]]
        met = (at >= 0) & (to[at] >= 0)
        return np.where(met, to[at], -1), np.where(met, sizes[at], 1)


class NetworkSample(NamedTuple):
    """Messages that are looked at: their numbers, and for how many each of them stands."""

    chosen: Ints
    weights: Floats


def network_sample(met: Ints, *, size: int, worst: int, seed: int) -> NetworkSample:
    """The messages that meet the fewest others on entry, and a random sample of the others.

    Examples
    --------
    >>> sample = network_sample(np.array([9, 1, 9, 9, 9]), size=2, worst=1, seed=1)
    >>> 1 in sample.chosen, sample.weights.sum()
    (True, np.float64(5.0))
    """
    number = len(met)
    if number <= size + worst:
        return NetworkSample(np.arange(number), np.ones(number))
    order = np.argsort(met, kind="stable")
    others = np.random.default_rng(seed).choice(order[worst:], size, replace=False)
    weights = np.zeros(number)
    weights[order[:worst]] = 1.0
    weights[others] = (number - worst) / size
    chosen = np.flatnonzero(weights)
    return NetworkSample(chosen, weights[chosen])


@dataclass(frozen=True, kw_only=True, eq=False)
class NetworkMarginals:
    """What is known of each message that was looked at."""

    shannon: Floats  # entropy in bits of where it came out, given that it did
    shannon_all: Floats  # the same, where to be still inside is one more outcome
    # Sum of squares, given that it came out, and probability of the best guess, which is not
    # divided by that of having come out.
    collision: Floats
    largest: Floats
    # The likeliest of `out`, the first of equals; -1 if nothing that came out can be it.
    guess: Ints
    left: Floats  # probability that it came out
    asked: Floats  # probability of the exit that was asked for
    # Guesses until the right one is named, likeliest first; NaN where they were not counted.
    guesses: Floats
    candidates: Ints  # exits with a probability above 1e-12
    error: float  # the most by which probabilities of a message fail to add up to one
    lost: Floats | None = None  # probability that it was lost; None if no message is


class _Forward(NamedTuple):
    """What all passes have in common."""

    events: NetworkEvents
    inside: Inside


class ForwardPlan:
    """Passes over a network for some messages: what they cost is known after a look at a few."""

    def __init__(self, network: LinkedNetwork) -> None:
        events, inside = network.events, network.inside
        self.network = network
        self._shared = Shared(_log, *events, inside, value=_Forward(events, inside))
        exits = np.cumsum(events.to == _native.OUTSIDE)
        self._weight = 1.0 + (NETWORKS.forward_exit - 1) * float(
            exits[-1] if len(exits) else 0
        ) / max(len(exits), 1)
        self._reach: float | None = None

    def seconds(self, chosen: Ints) -> float:
        """Predicted, of one core."""
        return float(sum(self._costs(self.network.sent[chosen])))

    def run(
        self,
        chosen: Ints,
        *,
        asked: Ints | None = None,
        ranked: Bools | None = None,
        effort: Execution | None = None,
    ) -> NetworkTargets:
        """Posteriors of the chosen messages, which are in order; ``asked`` are events, or -1.

        ``ranked`` says of which of them guesses are counted.
        """
        effort = Execution() if effort is None else effort
        targets = self.network.sent[chosen]
        wanted = np.full(len(targets), -1, dtype=np.int64) if asked is None else asked
        rank = np.zeros(len(targets), dtype=np.bool_) if ranked is None else ranked
        parts: list[tuple[Ints, NetworkTargets]] = []
        for some, with_ranks in ((~rank, False), (rank, True)):
            at = np.flatnonzero(some)
            if len(at):
                parts += self._passes(at, targets[at], wanted[at], with_ranks, effort)
        if not parts:
            return _native.network_forward(self.network.events, self.network.inside, targets)
        order = np.argsort(np.concatenate([at for at, _ in parts]), kind="stable")
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for _, part in parts])[order]
            for name in NetworkTargets._fields
            if name != "finished"
        }
        return parts[0][1]._replace(**joined)

    def _passes(
        self, at: Ints, targets: Ints, asked: Ints, ranked: bool, effort: Execution
    ) -> Iterator[tuple[Ints, NetworkTargets]]:
        """The groups of targets, several in a call that takes as long as a chunk should."""
        each = np.array(self._costs(targets)) * (4.0 if ranked else 1.0)
        steps = np.floor(np.cumsum(each) / CHUNK_SECONDS)
        cuts = [0, *(np.flatnonzero(np.diff(steps) > 0) + 1).tolist(), len(each)]
        cuts = [min(LANES * cut, len(targets)) for cut in cuts]
        pieces = [slice(*cut) for cut in pairwise(cuts)]
        costs = [float(each[p.start // LANES : -(-p.stop // LANES)].sum()) for p in pieces]
        calls: Iterator[Callable[[], NetworkTargets]] = (
            partial(_forward, self._shared, targets[piece], asked[piece], ranked)
            for piece in pieces
        )
        results = effort.chunks(calls, each=costs, number=len(costs))
        for piece, result in zip(pieces, results, strict=True):
            yield at[piece], NetworkTargets(*result)  # a recorded one has no names

    def _costs(self, targets: Ints) -> list[float]:
        """Predicted seconds of each group of targets."""
        firsts = targets[::LANES]
        lasts = targets[np.minimum(np.arange(len(firsts)) * LANES + LANES, len(targets)) - 1]
        if not len(firsts):
            return []
        if self._reach is None:
            self._reach = self._look()
        end = len(self.network.events.to)
        lengths = np.minimum(lasts + self._reach, end) - firsts
        costs: list[float] = (FORWARD_SECONDS * LANES * self._weight * lengths).tolist()
        return costs

    def _look(self) -> float:
        """Events that a message takes from its entry until all of it has come out, about."""
        sent, forward = self.network.sent, self._shared.get()
        places = np.linspace(0.1, 0.8, NETWORKS.looked_at) * (len(sent) - 1)
        lengths = []
        for place in np.unique(places.astype(np.int64)).tolist():
            target = sent[place : place + 1]
            done = _native.network_forward(forward.events, forward.inside, target, lanes=8)
            lengths.append(int(done.ended[0] - target[0]))
        return float(np.mean(lengths))


def _log(
    from_: Inside, to: Inside, before: Ints, mixes: int, inside: Inside
) -> _Forward:  # at the top of the module, so that it can be made elsewhere
    return _Forward(NetworkEvents(from_, to, before, mixes), inside)


def _forward(shared: Shared[_Forward], targets: Ints, asked: Ints, ranked: bool) -> NetworkTargets:
    log = shared.get()
    result = _native.network_forward(
        log.events, log.inside, targets, asked=asked, ranked=ranked, cancel=byte_of_work()
    )
    if not result.finished:
        raise Cancelled
    return result


def forward_marginals(
    plan: ForwardPlan,
    chosen: Ints,
    *,
    asked: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
) -> NetworkMarginals:
    """Where the chosen messages may have come out; guesses are counted for some of them.

    ``asked``: for each the number of an exit, in `out` of the network, or -1.
    """
    network = plan.network
    number = len(chosen)
    ranked = np.zeros(number, dtype=np.bool_)
    some = np.random.default_rng(seed).choice(
        number, min(number, NETWORKS.forward_ranked), replace=False
    )
    ranked[some] = True
    events = None
    if asked is not None:
        events = np.full(len(asked), -1, dtype=np.int64)
        events[asked >= 0] = network.out[asked[asked >= 0]]
    found = plan.run(chosen, asked=events, ranked=ranked, effort=effort)
    early = found.ended < len(network.events.to)
    error = float(np.abs(found.left[early] - 1.0).max(initial=0.0))
    error = max(error, float((found.left - 1.0).max(initial=0.0)))
    return marginals_of(
        entropy=found.shannon,
        collision=found.collision,
        largest=found.largest,
        guess=np.where(found.guess >= 0, np.searchsorted(network.out, found.guess), -1),
        left=found.left,
        asked=found.asked,
        guesses=np.where(ranked, found.guesses, np.nan),
        candidates=found.candidates,
        error=error,
    )


def marginals_of(
    *,
    entropy: Floats,
    collision: Floats,
    largest: Floats,
    guess: Ints,
    left: Floats,
    asked: Floats,
    guesses: Floats,
    candidates: Ints,
    error: float,
) -> NetworkMarginals:
    """Figures given that a message came out, from sums over its exits."""
    left = np.where(left > 1.0 - NETWORKS.forward_sure, 1.0, left)
    some = left > 0.0
    share = np.where(some, left, 1.0)
    return NetworkMarginals(
        shannon=np.maximum(np.where(some, entropy / share + np.log2(share), 0.0), 0.0),
        shannon_all=np.maximum(entropy, 0.0) + two_outcomes(left) - _terms(left),
        collision=np.where(some, collision / share**2, 1.0),
        largest=np.minimum(largest, left),
        guess=guess,
        left=left,
        asked=asked,
        guesses=guesses,
        candidates=candidates,
        error=error,
    )


def _terms(share: Floats) -> Floats:
    """-p log2 p, which is 0 at 0."""
    return np.where(share > 0.0, -share * np.log2(np.where(share > 0.0, share, 1.0)), 0.0)

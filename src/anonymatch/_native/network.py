"""Messages through a network of mixes of which every link is seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, Ints, cancel_byte, floats, ints
from anonymatch._native.extension import kernels

Numbers = npt.NDArray[np.int64]

OUTSIDE: int = kernels.network_outside  # a sender, or a receiver
CARRIED: int = kernels.network_carried  # under way, or through a mix that tells
NETWORK_LANES = 64

MIX_KINDS = ("exponential", "batch", "timed", "timed_share", "coins", "normal_coins")


class NetworkEvents(NamedTuple):
    """Link events in order of time; see ``cpp/kernels/network/network.hpp``."""

    from_: Ints
    to: Ints
    before: Numbers
    mixes: int


class NetworkTargets(NamedTuple):
    """Marginal posterior of each target: where it may have come out."""

    shannon: Floats
    collision: Floats
    largest: Floats
    guess: Numbers
    left: Floats
    asked: Floats
    guesses: Floats
    ended: Numbers
    candidates: Numbers
    finished: bool


class NetworkMix(NamedTuple):
    """When each mix of a network sends on, and how many of those inside."""

    kind: str
    seconds: float = 1.0
    batch: int = 1
    kept: int = 0
    share: float = 1.0
    centre: float = 0.0
    spread: float = 1.0


class DrawnNetwork(NamedTuple):
    """A drawn log: link events, with the time and the packet of each."""

    time: Floats
    from_: Ints
    to: Ints
    before: Numbers
    packet: Numbers
    finished: bool

    def events(self, mixes: int) -> NetworkEvents:
        """As the forward pass takes them."""
        return NetworkEvents(self.from_, self.to, self.before, mixes)


def network_inside(events: NetworkEvents) -> Ints:
    """Packets inside before each event that leaves a mix; -1 where it is empty, which ends it."""
    if len(events.from_) > LARGEST:
        raise ValueError(f"{len(events.from_)} events")
    return kernels.network_inside(*_arrays(events))


def network_forward(
    events: NetworkEvents,
    inside: Ints,
    targets: Numbers,
    *,
    asked: Numbers | None = None,
    lanes: int = NETWORK_LANES,
    least: float = 1e-12,
    ranked: bool = False,
    cancel: bytearray | None = None,
) -> NetworkTargets:
    """Where targets may have come out; ``asked`` has an event for each, or -1."""
    wanted = np.full(len(targets), -1) if asked is None else asked
    return NetworkTargets(
        *kernels.network_forward(
            *_arrays(events),
            ints(inside),
            _numbers(targets),
            _numbers(wanted),
            lanes,
            least,
            ranked,
            cancel_byte(cancel),
        )
    )


def network_rows(events: NetworkEvents, inside: Ints, targets: Numbers) -> Floats:
    """The probability of every event for every target, a row a target."""
    rows = kernels.network_rows(*_arrays(events), ints(inside), _numbers(targets))
    return rows.reshape(len(targets), len(events.from_))


def network_draw(
    arrivals: Floats,
    routes: Ints,
    mixes: int,
    mix: NetworkMix,
    *,
    link: float = 0.0,
    seed: int = 0,
    cancel: bytearray | None = None,
) -> DrawnNetwork:
    """Packets sent at ``arrivals`` through the mixes of their rows of ``routes``."""
    return DrawnNetwork(
        *kernels.network_draw(
            floats(arrivals),
            ints(routes).reshape(-1),
            routes.shape[1],
            mixes,
            MIX_KINDS.index(mix.kind),
            mix.seconds,
            mix.batch,
            mix.kept,
            mix.share,
            mix.centre,
            mix.spread,
            link,
            seed,
            cancel_byte(cancel),
        )
    )


def _arrays(events: NetworkEvents) -> tuple[Ints, Ints, Numbers, int]:
    return ints(events.from_), ints(events.to), _numbers(events.before), events.mixes


def _numbers(array: Numbers) -> Numbers:
    return np.ascontiguousarray(array, dtype=np.int64)

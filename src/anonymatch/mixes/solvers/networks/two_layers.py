"""Who sent what through two layers of mixes: its entropy by permanents of drawn histories.

Of s, who sent what, as many histories are possible as there are ways to give every packet one link
between the layers that it may have taken and that may lead to its exit: a permanent of zeros and
ones. All histories are equally likely, so that the mean of -log2 of s's share of them, over drawn
histories, is the entropy of s.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Ints
from anonymatch.base.errors import BudgetError
from anonymatch.base.interval import Interval
from anonymatch.counting import count
from anonymatch.graph import Graph
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.running import check_work

__all__ = ["two_layer_bits"]

_MOST = 400  # packets of which a permanent is worth a try
_ERRORS = 2.66  # standard errors that hold with 99 % for a mean of 64
_SECONDS = 0.05  # of one permanent


def two_layer_bits(network: LinkedNetwork, *, draws: int = 64, seed: int = 0) -> Interval | None:
    """Entropy in bits of who sent what, with an interval of 99 %.

    None unless every packet passes two layers and leaves, packets are few, and counts are quick.
    """
    from_, to, _, _ = network.events
    layer = network.layer
    enter, out = np.flatnonzero(from_ == _native.OUTSIDE), np.flatnonzero(to == _native.OUTSIDE)
    between = np.flatnonzero((from_ >= 0) & (to >= 0))
    size = len(enter)
    if not (0 < size <= _MOST and len(out) == len(between) == size and 3 * size == len(from_)):
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
            found = count(Graph.from_biadjacency(ways), budget=_SECONDS)
        except BudgetError:
            return None
        if found.confidence < 1.0 or found.high - found.low > 1e-6:
            return None
        bits[k] = histories - found.log2
    mean = float(bits.mean())
    slack = _ERRORS * float(bits.std(ddof=1)) / math.sqrt(draws)
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

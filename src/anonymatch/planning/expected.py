"""What a network gives by a short simulation: for whoever knows how many are inside its mixes."""

from __future__ import annotations

import numpy as np

from anonymatch.planning.request import Network
from anonymatch.planning.simulation import Effort, Scenario, replicate, seconds_of
from anonymatch.planning.strategies import FAMILIES

__all__ = ["simulated_bits"]

_RUNS = 8
_EFFORT = Effort(targets=200, packets=10_000, ranked=False)
_LONGEST = 2.0  # predicted seconds


def simulated_bits(network: Network, inside: float) -> float | None:
    """Mean own bits of a message through exponential mixes with so many inside each, on average.

    For Poisson traffic, which only this number matters of. By a simulation with a fixed seed, good
    to about 0.03 bits; None where it would take more than some seconds.

    Examples
    --------
    >>> round(simulated_bits(Network.named("3x3"), 2.67))
    5
    """
    family = FAMILIES["exponential"]
    scenario = Scenario(
        mix=family.mix((inside,)),
        stay=inside,
        shape=network.shape,
        layers=network.layers,
        width=network.width,
        corrupt_mixes=(0,),
        corrupt_users=0.0,
        real=1.0,
        hours=(),
        burst=(1.0, 0.0),
        arrivals=np.empty(0),
    )
    if _RUNS * seconds_of(scenario, _EFFORT) > _LONGEST:
        return None
    samples = [replicate(scenario, _EFFORT, seed) for seed in range(_RUNS)]
    return float(np.mean([sample.bits.mean() for sample in samples]))

"""What is told of a window: figures of mixes and of their network, all of them coarse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning import Network, simulated_bits

__all__ = ["ASSUMPTION", "LIMITS", "MixFigures", "NetworkFigures", "Window", "coarse"]

ASSUMPTION = "assumes Poisson between samples"
ATTACKER = "sees every link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What is told of running mixes, and how much is read about them."""

    digits: int = 2  # significant: more would tell single packets
    least_seconds: float = 300.0  # of a window
    least_packets: int = 100  # that pass a mix in a window
    least_samples: int = 5  # from which on they say how numbers are spread
    silent: float = 3600.0  # seconds without figures that are worth an alarm
    gaps: int = 3  # times the usual time between samples after which a mix is taken to be down
    longest: float = 86400.0  # seconds; what is older is forgotten
    most_mixes: int = 10_000
    most_inside: float = 1e9 - 1
    longest_line: int = 10_000  # bytes of a gauge in JSON
    longest_name: int = 200
    largest_answer: int = 50_000_000  # bytes of an answer of Prometheus
    before: int = 300  # seconds before a window in which a sample shows that a mix was there
    question: int = 86400  # seconds of one question to Prometheus


LIMITS = Limits()


def coarse(value: float) -> float:
    """Two significant digits.

    Examples
    --------
    >>> coarse(4.763), coarse(0.000123), coarse(1234.0)
    (4.8, 0.00012, 1200.0)
    """
    return float(f"{value:.{LIMITS.digits}g}")


@dataclass(frozen=True, slots=True)
class MixFigures:
    """Figures of one mix over a window.

    A packet that leaves is one of n: itself and those inside, who are as many as at any moment.

    Attributes
    ----------
    mix : str
    seconds : float
        How long the window is.
    inside : float
        Packets inside, on average.
    joint_bits : float
        The mean of log2 n.
    bits : float
        Own bits: the mean of n h(1/n), h the entropy of a coin.
    alone : float
        Probability that a packet meets nobody.
    """

    mix: str
    seconds: float
    inside: float
    joint_bits: float
    bits: float
    alone: float

    @classmethod
    def of(cls, mix: str, seconds: float, numbers: Mapping[float, int]) -> MixFigures:
        """From how often each number of packets was inside when somebody looked.

        Examples
        --------
        >>> MixFigures.of("m1", 300.0, {3.0: 10})
        MixFigures(mix='m1', seconds=300.0, inside=3.0, joint_bits=2.0, bits=3.2, alone=0.012)
        """
        looks = sum(numbers.values())
        mean = sum(number * times for number, times in numbers.items()) / looks
        joint = sum(math.log2(1 + number) * times for number, times in numbers.items()) / looks
        # n h(1/n) is what a constant pool of n - 1 gives.
        own = sum(mixes.ceiling_bits(number) * times for number, times in numbers.items()) / looks
        # The mix is empty as often as it was when somebody looked, and at least as often as with
        # Poisson traffic: few looks seldom meet it empty. Nobody comes during the stay.
        empty = numbers.get(0.0, 0) / looks / (1 + mean)
        alone = max(empty, mixes.alone_probability(mean))
        return cls(mix, seconds, *map(coarse, (mean, joint, own, alone)))


@dataclass(frozen=True, slots=True)
class NetworkFigures:
    """Own bits of a message through layers of exponential mixes, from what is inside.

    Attributes
    ----------
    network : str
    mixes : int
        How many mixes it is made from; others of the network are taken to be like these.
    bits : float
        About so many: by simulation, as if all mixes had as many inside; at most the three below.
    deep_bits : float
        If pools are deep.
    thin_bits : float
        What the hops alone hide, added up.
    ceiling_bits : float
        What nothing exceeds with so many packets in flight.
    """

    network: str
    mixes: int
    bits: float
    deep_bits: float
    thin_bits: float
    ceiling_bits: float

    @classmethod
    def of(cls, network: Network, means: Sequence[float]) -> NetworkFigures:
        """From the mean number of packets inside each mix, 0 for those that are not told.

        Only their product with the rate matters of a delay, and that is the number inside.

        Examples
        --------
        >>> figures = NetworkFigures.of(Network.named("3x3"), [10.7] * 9)
        >>> figures.bits, figures.deep_bits, figures.thin_bits, figures.ceiling_bits
        (7.6, 7.7, 15.0, 8.0)
        """
        layers, total = network.layers, sum(means)
        each = total / len(means)  # of a mix
        flight = each * network.mixes
        thin = deep = 0.0
        if total > 0:
            # A message meets a mix as often as packets are there.
            own = sum(mean * mixes.exponential_bits(float(mean)) for mean in means) / total
            thin = layers * own
            deep = max(0.0, mixes.network_bits(flight / layers, layers, 1.0))
        ceiling = mixes.ceiling_bits(flight)
        # One hop is mixed in one mix only, and what that hides is known.
        bits = min(thin, ceiling) if layers == 1 else min(deep, thin, ceiling)
        # These are too much where pools are thin, and an alarm must not rest on that.
        if layers > 1 and bits > 0 and network.shape != "free":
            simulated = simulated_bits(network, each)
            bits = bits if simulated is None else min(bits, simulated)
        return cls(str(network), len(means), *map(coarse, (bits, deep, thin, ceiling)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What is told at the end of a window.

    Attributes
    ----------
    time : float
        When the window ended.
    mixes : tuple of MixFigures
    withheld : dict
        Mixes of which nothing is told yet, and why.
    network : NetworkFigures or None
    alarms : tuple of str
        Targets that are missed, and mixes of the network that give no samples, a line each.
    lag : float
        Age in seconds of the oldest of the latest samples, over the mixes that have figures.
    """

    time: float
    mixes: tuple[MixFigures, ...]
    withheld: dict[str, str]
    network: NetworkFigures | None
    alarms: tuple[str, ...]
    lag: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys."""
        from dataclasses import asdict

        return {
            "time": self.time,
            "mixes": [asdict(figures) for figures in self.mixes],
            "withheld": self.withheld,
            "network": None if self.network is None else asdict(self.network),
            "alarms": list(self.alarms),
            "lag": self.lag,
            "assumes": ASSUMPTION,
            "attacker": ATTACKER,
        }

"""Mixes that a plan tries: what each does, in units in which one packet a second comes to a mix.

Anonymity depends on numbers of packets alone: twice the traffic and half the seconds are the same
mix. So a setting is tried once, in these units, and serves every level of cover.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from anonymatch._native import NetworkMix
from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.mixes import Price
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning.tuning import TUNING

__all__ = ["FAMILIES", "Strategy", "strategy_named"]

Parameters = tuple[float, ...]


class Family(ABC):
    """A kind of mix, by the name of its delay law."""

    keyword: ClassVar[str]
    names: ClassVar[tuple[str, ...]]
    """Parameters in the order of the law; those in ``timed`` are seconds."""
    timed: ClassVar[tuple[str, ...]] = ()
    smooth: ClassVar[bool] = False
    """Whether settings between two others are settings, too."""

    def sweep(self, stays: Sequence[float]) -> list[Parameters]:
        """Parameters with about these mean stays in a mix, in its arrivals."""
        return list(dict.fromkeys(self.near(stay) for stay in stays))

    @abstractmethod
    def near(self, stay: float) -> Parameters: ...

    @abstractmethod
    def stay(self, parameters: Parameters) -> float:
        """Mean stay of a packet, in arrivals; about, where it is not known."""

    @abstractmethod
    def mix(self, parameters: Parameters) -> NetworkMix: ...

    @abstractmethod
    def price(self, parameters: Parameters) -> Price:
        """Of an n-1 attack on one mix."""

    def check(self, parameters: Parameters) -> None:
        for name, value in zip(self.names, parameters, strict=True):
            if name in self.timed and not real(value, f"{self.keyword}: {name}", high=1e12) > 0:
                raise InputError(f"{self.keyword}: {name} must be above 0 seconds")

    def scaled(self, parameters: Parameters, factor: float) -> Parameters:
        """With all seconds times a factor."""
        return tuple(
            value * factor if name in self.timed else value
            for name, value in zip(self.names, parameters, strict=True)
        )


class _Exponential(Family):
    keyword = "exponential"
    names = ("mean",)
    timed = ("mean",)
    smooth = True

    def near(self, stay: float) -> Parameters:
        return (stay,)

    def stay(self, parameters: Parameters) -> float:
        return parameters[0]

    def mix(self, parameters: Parameters) -> NetworkMix:
        return NetworkMix("exponential", parameters[0])

    def price(self, parameters: Parameters) -> Price:
        return mixes.n_minus_1_price("exponential", inside=parameters[0], hop=parameters[0])


class _Threshold(Family):
    keyword = "threshold"
    names = ("batch",)

    def near(self, stay: float) -> Parameters:
        return (max(2, round(2 * stay + 1)),)

    def stay(self, parameters: Parameters) -> float:
        return (parameters[0] - 1) / 2

    def check(self, parameters: Parameters) -> None:
        whole(parameters[0], "threshold: batch", least=1, most=10**6)

    def mix(self, parameters: Parameters) -> NetworkMix:
        return NetworkMix("batch", 1.0, int(parameters[0]), 0)

    def price(self, parameters: Parameters) -> Price:
        return mixes.n_minus_1_price("batch", batch=int(parameters[0]))


class _Pool(Family):
    keyword = "pool"
    names = ("batch", "kept")

    def sweep(self, stays: Sequence[float]) -> list[Parameters]:
        swaps = [(1, max(1, round(stay))) for stay in stays]
        small = [(2, max(1, round(stay - 0.5))) for stay in stays]
        large = [self._large(stay) for stay in stays]
        return list(dict.fromkeys((*swaps, *small, *large)))

    def near(self, stay: float) -> Parameters:
        return (1, max(1, round(stay)))

    @staticmethod
    def _large(stay: float) -> Parameters:
        """Half of those inside are kept: a round as large as the pool."""
        batch = max(1, round((stay + 0.5) / 1.5))
        return (batch, max(1, round(stay - (batch - 1) / 2)))

    def stay(self, parameters: Parameters) -> float:
        return (parameters[0] - 1) / 2 + parameters[1]

    def check(self, parameters: Parameters) -> None:
        whole(parameters[0], "pool: batch", least=1, most=10**6)
        whole(parameters[1], "pool: kept", most=10**6)

    def mix(self, parameters: Parameters) -> NetworkMix:
        return NetworkMix("batch", 1.0, int(parameters[0]), int(parameters[1]))

    def price(self, parameters: Parameters) -> Price:
        return mixes.n_minus_1_price("batch", batch=int(parameters[0]), kept=int(parameters[1]))


class _Timed(Family):
    keyword = "timed"
    names = ("interval",)
    timed = ("interval",)
    smooth = True

    def near(self, stay: float) -> Parameters:
        return (2 * stay,)

    def stay(self, parameters: Parameters) -> float:
        return parameters[0] / 2

    def mix(self, parameters: Parameters) -> NetworkMix:
        return NetworkMix("timed", parameters[0])

    def price(self, parameters: Parameters) -> Price:
        return mixes.n_minus_1_price("timed", hop=parameters[0])


class _TimedPool(Family):
    """Every so often a share of those inside leaves, but some are kept: Mixmaster's rule."""

    keyword = "timed-pool"
    names = ("interval", "kept", "share")
    timed = ("interval",)

    def near(self, stay: float) -> Parameters:
        # Two arrivals an interval, three kept and half sent stay 4.2 arrivals.
        return (stay / 2.1, max(1, round(stay / 1.4)), 0.5)

    def stay(self, parameters: Parameters) -> float:
        interval, kept, share = parameters
        return interval / 2 + max(kept, interval * (1 / share - 1))

    def check(self, parameters: Parameters) -> None:
        super().check(parameters)
        whole(parameters[1], "timed-pool: kept", most=10**6)
        if not real(parameters[2], "timed-pool: share", high=1.0) > 0:
            raise InputError("timed-pool: share must be above 0: nothing would ever leave")

    def mix(self, parameters: Parameters) -> NetworkMix:
        interval, kept, share = parameters
        return NetworkMix("timed_share", interval, 1, int(kept), share)

    def price(self, parameters: Parameters) -> Price:
        interval, kept, share = parameters
        if share == 1 and not kept:
            return Price(0.0, interval)
        # So many of his own each interval that the share leaves, and not only what is not kept;
        # and at least one, for a share of a single packet is none.
        each = max(1, math.ceil(kept * min(share / max(1 - share, 1e-9), 2.0)))
        inside, honest, flushes = self.stay(parameters), max(self.stay(parameters), 1.0), 0
        while honest > 0.01 and flushes < TUNING.flushes:
            inside += each
            leave = min(inside - kept, math.floor(share * inside * (1 + 1e-12)))
            honest *= 1 - max(leave, 0.0) / inside
            inside -= max(leave, 0.0)
            flushes += 1
        return Price(float(flushes * each), flushes * interval)


class _Binomial(Family):
    """Every so often each leaves by a coin that knows how many are inside (Díaz, Serjantov)."""

    keyword = "binomial"
    names = ("interval", "centre", "spread")
    timed = ("interval",)
    smooth = True

    def near(self, stay: float) -> Parameters:
        interval = stay / 1.5
        return (interval, 2 * interval, interval)

    def stay(self, parameters: Parameters) -> float:
        interval, centre, spread = parameters
        inside = interval
        for _ in range(60):  # so many that as many leave as come in
            leave = 0.5 * math.erfc((centre - inside) / spread / math.sqrt(2))
            inside = 0.5 * inside + 0.5 * min(1e9, interval / max(leave, 1e-9))
        return max(interval / 2, inside - interval / 2)

    def check(self, parameters: Parameters) -> None:
        super().check(parameters)
        real(parameters[1], "binomial: centre", high=1e9)
        if not real(parameters[2], "binomial: spread", high=1e9) > 0:
            raise InputError("binomial: spread must be above 0")

    def mix(self, parameters: Parameters) -> NetworkMix:
        interval, centre, spread = parameters
        return NetworkMix("normal_coins", interval, centre=centre, spread=spread)

    def price(self, parameters: Parameters) -> Price:
        interval, centre, spread = parameters
        # With so many inside the coins of all honest ones fall for leaving in one interval.
        sure = NormalDist().inv_cdf(1 - 0.01 / max(self.stay(parameters), 1.0))
        return Price(math.ceil(centre + sure * spread), interval)


FAMILIES: dict[str, Family] = {
    family.keyword: family
    for family in (
        _Exponential(),
        _Pool(),
        _Threshold(),
        _Timed(),
        _TimedPool(),
        _Binomial(),
    )
}
"""The kinds of mixes that are tried unless told, by their name."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A kind of mix, with parameters in seconds or, if it is to be swept, without."""

    keyword: str
    parameters: Parameters | None = None

    @property
    def family(self) -> Family:
        return FAMILIES[self.keyword]

    def __str__(self) -> str:
        if self.parameters is None:
            return self.keyword
        return f"{self.keyword}:{','.join(f'{value:.4g}' for value in self.parameters)}"


def strategy_named(text: str) -> Strategy:
    """A strategy from words: a kind of mix, or a delay law with its parameters.

    Examples
    --------
    >>> str(strategy_named("pool")), str(strategy_named("pool:2,4"))
    ('pool', 'pool:2,4')
    """
    keyword, colon, rest = str(text).strip().lower().partition(":")
    if keyword not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise InputError(
            f"law {text!r}: plans know {known}{did_you_mean(keyword, tuple(FAMILIES))}"
        )
    if not colon:
        return Strategy(keyword)
    family = FAMILIES[keyword]
    try:
        values = [float(value) for value in rest.split(",")]
    except ValueError:
        values = []
    if len(values) != len(family.names) or not np.isfinite(values).all():
        wanted = ",".join(name.upper() for name in family.names)
        raise InputError(f"law {text!r}: give {keyword}:{wanted} in numbers, or {keyword} alone")
    wholes = tuple(
        int(value) if value == int(value) and name not in family.timed else value
        for name, value in zip(family.names, values, strict=True)
    )
    family.check(wholes)
    return Strategy(keyword, wholes)

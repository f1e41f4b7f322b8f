"""Delays between two ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.mixes.laws.candidates import Candidates, between
from anonymatch.mixes.laws.law import LATE, DelayLaw, Parameter, finite, set_values

__all__ = ["Window"]


@dataclass(frozen=True, slots=True)
class Window(DelayLaw):
    """Every message leaves between ``low`` and ``high`` seconds after it came in.

    If delays are uniform between the two and messages come in at random, all matchings within the
    window are equally likely.

    Examples
    --------
    >>> print(Window(1, 5))
    window law, 1 to 5 s
    """

    keyword: ClassVar[str] = "window"
    aliases: ClassVar[tuple[str, ...]] = ("uniform",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("low", "MIN", "least"),
        Parameter("high", "MAX", "longest delay in s"),
    )
    example: ClassVar[str] = "1,5"

    low: float
    high: float

    def __post_init__(self) -> None:
        set_values(
            self, low=finite(self.low, "window: low"), high=finite(self.high, "window: high")
        )
        if self.low > self.high:
            raise InputError(f"window: low is {self.low:g}, above high, {self.high:g}; swap them")

    @property
    def mean_delay(self) -> float:
        """Seconds on average, if all delays of the window are equally likely."""
        return (self.low + self.high) / 2

    @property
    def longest_delay(self) -> float:
        return self.high

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return self.high - LATE * (self.high - self.low)

    def packet_delay(self) -> float | None:
        return None if self.low > 0 else self.high

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        came = arrivals[users]
        runs = between(came, departures[behaviours], self.low, self.high, end)
        return replace(runs, staying=np.where(runs.late, self.log_survival(end - came), -math.inf))

    @property
    def has_density(self) -> bool:
        return self.high > self.low

    def log_density(self, delays: Floats) -> Floats:
        """The same for all: candidates are those within the window."""
        return np.full(len(delays), -math.log(self.high - self.low))

    def log_survival(self, delays: Floats) -> Floats:
        if not self.has_density:
            return np.where(delays < self.high, 0.0, -math.inf)
        with np.errstate(divide="ignore"):
            shares = (self.high - delays) / (self.high - self.low)
            return np.log(np.clip(shares, 0.0, 1.0))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.uniform(self.low, self.high, size)

    def __str__(self) -> str:
        return f"window law, {self.low:g} to {self.high:g} s"

"""Links that take the same time for every message, before or after a mix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.mixes.laws.candidates import Candidates
from anonymatch.mixes.laws.law import DelayLaw, Law, Traffic, positive, set_values

__all__ = ["Linked"]


@dataclass(frozen=True, slots=True)
class Linked(Law):
    """The law of a mix, and a fixed time on the links to it and from it, all together.

    In text the time stands before the law: ``0.1+erlang:3,0.5``.

    Examples
    --------
    >>> from anonymatch.sources import Erlang
    >>> law = Linked(Erlang(3, 0.5), 0.1)
    >>> print(law, law.mean_delay)
    Erlang law, 3 hops of 0.5 s on average, and 0.1 s on links 1.6
    """

    law: Law
    seconds: float

    def __post_init__(self) -> None:
        if not isinstance(self.law, DelayLaw):
            raise InputError(
                f"time on links is for laws of delays, not for {quoted(str(self.law))}: "
                "take it off the times of messages out instead"
            )
        set_values(self, seconds=positive(self.seconds, "links: seconds"))

    @property
    def mean_delay(self) -> float | None:
        return self._later(self.law.mean_delay)

    @property
    def longest_delay(self) -> float | None:
        return self._later(self.law.longest_delay)

    def end_delay(self, rate: float | None) -> float | None:
        return self._later(self.law.end_delay(rate))

    def packet_delay(self) -> float | None:
        return self._later(self.law.packet_delay())

    def _later(self, delay: float | None) -> float | None:
        return None if delay is None else delay + self.seconds

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        return self.law.candidates(
            arrivals + self.seconds, departures, users=users, behaviours=behaviours, end=end
        )

    def drawn(
        self, arrivals: Floats, traffic: Traffic, draw: np.random.Generator
    ) -> tuple[Floats, Bools, Floats]:
        departures, lost, cover = self.law.drawn(arrivals, traffic, draw)
        return departures + self.seconds, lost, cover

    def __str__(self) -> str:
        return f"{self.law}, and {self.seconds:g} s on links"

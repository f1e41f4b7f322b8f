"""What estimates give: light, so that exact counts need not import how estimates are made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from anonymatch.base.arrays import Floats

CONFIDENCE = 0.95


class Basis(Enum):
    """What an interval rests on; decisions are taken on this and never on a method's name."""

    UNKNOWN = "nothing"
    UNCHECKED = "beliefs that were compared with nothing"
    PROVEN = "proven bounds"
    BRACKET = "errors of two samples that hardly meet"
    GUARANTEED = "draws with a promise for any block"
    SAMPLED = "errors of draws, independent of other blocks"
    MOVES = "errors of chains of moves, independent of other blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateBudget:
    """What an estimate may cost, in predicted seconds of one core, and how close is enough."""

    seconds: float
    half_width: float  # in natural logs
    strict: bool = True  # whether the seconds were asked for: else a few draws are made anyway


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The log of one block's count: the value, its interval, and the proven one.

    ``effective``: independent draws that would tell as much; 0 without any.
    """

    log: float
    low: float
    high: float
    proven: tuple[float, float]
    method: str
    basis: Basis
    effective: float = 0.0

    @property
    def statistical(self) -> bool:
        """Whether the interval comes from errors that are independent of other blocks'."""
        return self.basis in (Basis.SAMPLED, Basis.MOVES)

    def divided(self, divisor: float) -> Estimate:
        log, low, high = self.log - divisor, self.low - divisor, self.high - divisor
        return replace(self, log=log, low=low, high=high)

    def within(self, proven: tuple[float, float]) -> Estimate:
        """No farther than what is proven; if all of it lies outside, only that is believed."""
        low, high = max(self.low, proven[0]), min(self.high, proven[1])
        if low > high:
            return proven_only(proven)
        return replace(self, log=min(max(self.log, low), high), low=low, high=high, proven=proven)


def proven_only(proven: tuple[float, float]) -> Estimate:
    """An estimate that is no more than proven bounds."""
    low, high = proven
    return Estimate(
        log=(low + high) / 2,
        low=low,
        high=high,
        proven=proven,
        method="proven bounds",
        basis=Basis.PROVEN,
    )


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEstimate:
    """Probabilities of a block's edges, their standard errors, and where they come from.

    ``entropy_errors``: of each user's Shannon entropy in bits, where chains tell them.
    """

    probabilities: Floats
    errors: Floats
    method: str
    basis: Basis = Basis.SAMPLED
    entropy_errors: Floats | None = None

    @classmethod
    def unknown(cls, n_edges: int) -> EdgeEstimate:
        return cls(np.full(n_edges, np.nan), np.zeros(n_edges), "out of reach", Basis.UNKNOWN)

"""Delays whose logarithm is normal: what networks and queues often show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.mixes.laws.candidates import Candidates
from anonymatch.mixes.laws.law import LATE, DelayLaw, Parameter, finite, positive, set_values

__all__ = ["LogNormal"]

_CUT = 1e-7  # probability, a message, of the delays that are left out because they are too long
_SHORT = -8.0  # standard deviations of the log below which none is: 6e-16 a message
_RARE = 1e-9  # of packets, that take longer than what hardly one exceeds
_WIDEST = 5.0  # sigma: beyond, a band would reach over any log


@dataclass(frozen=True, slots=True)
class LogNormal(DelayLaw):
    """The log of a delay is normal: ``mean`` seconds on average, ``sigma`` that of the log.

    ``shift`` seconds that every message takes in any case, such as links do, come on top.

    Examples
    --------
    >>> print(LogNormal(5, 0.5))
    log-normal law, 5 s on average, sigma 0.5
    """

    keyword: ClassVar[str] = "lognormal"
    aliases: ClassVar[tuple[str, ...]] = ("log-normal",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("mean", "MEAN", "mean delay in s"),
        Parameter("sigma", "SIGMA", "standard deviation of its logarithm"),
        Parameter("shift", "SHIFT", "s that come on top, for all alike", optional=True),
    )
    example: ClassVar[str] = "5,0.5"

    mean: float
    sigma: float
    shift: float = 0.0

    def __post_init__(self) -> None:
        sigma = real(self.sigma, "lognormal: sigma")
        if not 0.0 < sigma <= _WIDEST:
            raise InputError(f"lognormal: sigma must be above 0 and at most {_WIDEST:g}")
        set_values(
            self,
            mean=positive(self.mean, "lognormal: mean"),
            sigma=sigma,
            shift=finite(self.shift, "lognormal: shift"),
        )

    @property
    def _middle(self) -> float:
        """Mean of the log."""
        return math.log(self.mean) - self.sigma**2 / 2

    def _exceeded(self, share: float) -> float:
        """The delay that this share of messages exceeds."""
        from scipy.special import ndtri

        return self.shift + math.exp(self._middle - self.sigma * float(ndtri(share)))

    @property
    def mean_delay(self) -> float:
        return self.shift + self.mean

    @property
    def longest_delay(self) -> float:
        return math.inf

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return self._exceeded(LATE)

    def packet_delay(self) -> float | None:
        return self._exceeded(_RARE)

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        from scipy.special import log_ndtr

        came, left = arrivals[users], departures[behaviours]
        longest = self._exceeded(_CUT)
        shortest = self.shift + math.exp(self._middle + self.sigma * _SHORT)
        middle, sigma = self._middle, self.sigma

        def weigh(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Floats:
            logs: Floats = np.log(left[columns] - came[rows] - self.shift)
            logs -= middle
            return -logs - 0.5 * (logs / sigma) ** 2

        with np.errstate(divide="ignore"):
            since = np.log(np.maximum(end - came - self.shift, 0.0)) - middle
        # The density times the median, without its constant, is what edges weigh.
        constant = 0.5 * math.log(2 * math.pi) + math.log(sigma)
        return Candidates(
            first=np.searchsorted(left, came + shortest, side="right"),
            end=np.searchsorted(left, came + longest, side="right"),
            late=came + longest > end,
            weigh=weigh,
            staying=log_ndtr(-since / sigma) + constant,
            note=f"delays above {longest:.4g} s, of probability {_CUT:g} a message, are left out",
        )

    @property
    def has_density(self) -> bool:
        return True

    def log_density(self, delays: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(delays - self.shift, 0.0))
        apart = (logs - self._middle) / self.sigma
        constant = 0.5 * math.log(2 * math.pi) + math.log(self.sigma)
        return np.where(np.isneginf(logs), -math.inf, -logs - 0.5 * apart**2 - constant)

    def log_survival(self, delays: Floats) -> Floats:
        from scipy.special import log_ndtr

        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(delays - self.shift, 0.0))
        return np.asarray(log_ndtr((self._middle - logs) / self.sigma))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return self.shift + draw.lognormal(self._middle, self.sigma, size)

    def __str__(self) -> str:
        more = f", {self.shift:g} s on top" if self.shift else ""
        return f"log-normal law, {self.mean:g} s on average, sigma {self.sigma:g}{more}"

"""Mixes with delays that have no memory: one of them, or several in a row.

A delay is the sum of independent exponential hops (a hypoexponential law). Equal hops have the
closed forms of the gamma law; hops of different means have those of the kernels.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeGuard

import numpy as np
import numpy.typing as npt

from anonymatch import mixes
from anonymatch._native import stage_log_density, stage_survival
from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats
from anonymatch.mixes.laws.candidates import CUT, Candidates
from anonymatch.mixes.laws.law import LATE, RARE, DensityLaw, Law, Parameter, positive, set_values

MOST_HOPS = 4
"""Hops up to which logs are followed by the number of messages in each hop."""


class HopLaw(DensityLaw):
    """Delays that are sums of exponential hops."""

    __slots__ = ()

    @property
    @abstractmethod
    def means(self) -> list[float]:
        """Seconds in each hop, on average."""

    @property
    def few_hops(self) -> bool:
        """Whether there are few enough hops to follow the number of messages in each."""
        return len(self.means) <= MOST_HOPS

    @property
    def longest_delay(self) -> float:
        return math.inf

    @abstractmethod
    def exceeded(self, share: float) -> float:
        """The delay that this small share of messages exceeds."""

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return self.exceeded(LATE)

    def packet_delay(self) -> float | None:
        return self.exceeded(RARE)

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        longest = self.exceeded(CUT)
        return Candidates(
            # Several hops take some time; one may take none that the clock can show.
            first=np.searchsorted(left, came, side="right" if len(self.means) > 1 else "left"),
            end=np.searchsorted(left, came + longest, side="right"),
            late=came + longest > end,
            weigh=lambda users, behaviours: self._log_weights(left[behaviours], came[users]),
            staying=self._log_staying(np.maximum(0.0, end - came)),
            note=f"delays above {longest:.4g} s, of probability {CUT:g} a message, are left out",
        )

    @abstractmethod
    def _log_weights(self, left: npt.NDArray[Any], came: npt.NDArray[Any]) -> Floats:
        """Natural logs of densities, but for a constant."""

    @abstractmethod
    def _log_staying(self, since: Floats) -> Floats:
        """Natural log of not leaving so soon, over the mean delay, but for the same constant."""


class EqualHops(HopLaw):
    """Hops with the same mean: the gamma law."""

    __slots__ = ()

    mean: float

    @property
    def _number(self) -> int:
        return 1

    @property
    def means(self) -> list[float]:
        return [self.mean] * self._number

    @property
    def mean_delay(self) -> float:
        return self._number * self.mean

    def exceeded(self, share: float) -> float:
        if self._number == 1:
            return -self.mean * math.log(share)
        from scipy.special import gammainccinv

        return self.mean * float(gammainccinv(self._number, share))

    def _log_weights(self, left: npt.NDArray[Any], came: npt.NDArray[Any]) -> Floats:
        delays: Floats = left
        delays -= came
        delays /= self.mean
        if self._number == 1:
            return -delays
        logs: Floats = np.log(delays)
        logs *= self._number - 1
        logs -= delays
        return logs

    def _log_staying(self, since: Floats) -> Floats:
        from scipy.special import gammaln

        return self.log_survival(since) + float(gammaln(self._number)) - math.log(self._number)

    def log_density(self, delays: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        times = delays / self.mean
        constant = float(gammaln(self._number)) + math.log(self.mean)
        return np.asarray(xlogy(self._number - 1, times) - times - constant)

    def log_survival(self, delays: Floats) -> Floats:
        from scipy.special import gammaincc

        stays = gammaincc(self._number, np.maximum(delays, 0.0) / self.mean)
        return np.log(np.maximum(stays, 1e-300))


@dataclass(frozen=True, slots=True)
class Exponential(EqualHops):
    """One mix that holds every message for an exponential time, ``mean`` seconds on average.

    Such delays have no memory: whoever is inside may be the one that leaves, all equally likely.

    References
    ----------
    .. [1] Kesdogan, Egner, Büschkes. Stop-and-go-mixes providing probabilistic anonymity in an
       open system. Information Hiding 1998.

    Examples
    --------
    >>> print(Exponential(2))
    exponential law, 2 s on average
    """

    keyword: ClassVar[str] = "exponential"
    aliases: ClassVar[tuple[str, ...]] = ("exp", "poisson", "sg", "stop-and-go")
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("mean", "MEAN", "mean delay in s"),)
    example: ClassVar[str] = "2"
    remark: ClassVar[str] = "poisson, sg"

    mean: float

    def __post_init__(self) -> None:
        set_values(self, mean=positive(self.mean, "exponential: mean"))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.exponential(self.mean, size)

    def __str__(self) -> str:
        return f"exponential law, {self.mean:g} s on average"


def by_density(law: Law) -> TypeGuard[DensityLaw]:
    """Whether logs of a law are solved by its density, where no number inside is followed."""
    return isinstance(law, DensityLaw) and law.spread_out and not isinstance(law, Exponential)


@dataclass(frozen=True, slots=True)
class Erlang(EqualHops):
    """So many exponential mixes in a row, ``mean`` seconds on average in each.

    References
    ----------
    .. [1] Piotrowska, Hayes, Elahi, Meiser, Danezis. The Loopix anonymity system. USENIX Security
       2017.

    Examples
    --------
    >>> print(Erlang(3, 0.5))
    Erlang law, 3 hops of 0.5 s on average
    """

    keyword: ClassVar[str] = "erlang"
    aliases: ClassVar[tuple[str, ...]] = ("loopix", "gamma")
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("hops", "HOPS", "hops", whole=True),
        Parameter("mean", "MEAN", "mean delay of one in s"),
    )
    example: ClassVar[str] = "3,0.5"
    remark: ClassVar[str] = "loopix; the mean of one hop"

    hops: int
    mean: float

    def __post_init__(self) -> None:
        hops = whole(self.hops, "erlang: hops", least=1, most=10_000)
        set_values(self, hops=hops, mean=positive(self.mean, "erlang: mean"))

    @property
    def _number(self) -> int:
        return self.hops

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.gamma(self.hops, self.mean, size)

    def __str__(self) -> str:
        hops = "1 hop" if self.hops == 1 else f"{self.hops} hops"
        return f"Erlang law, {hops} of {self.mean:g} s on average"


@dataclass(frozen=True)
class Hops(HopLaw):
    """Exponential mixes in a row, two to four, with different means: a path of unlike hops.

    The order of the hops does not matter.

    Examples
    --------
    >>> law = Hops(0.5, 1, 2)
    >>> print(law, "in all", law.mean_delay)
    hops law, 0.5, 1, 2 s on average in all 3.5
    """

    keyword: ClassVar[str] = "hops"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("first", "MEAN", "mean delay of the first hop in s"),
        Parameter("second", "MEAN", "of the second"),
        Parameter("third", "MEAN", "of the third", optional=True),
        Parameter("fourth", "MEAN", "of the fourth", optional=True),
    )
    example: ClassVar[str] = "0.5,1,2"
    remark: ClassVar[str] = "hypoexponential; means of two to four hops"

    first: float
    second: float
    third: float | None = None
    fourth: float | None = None

    def __post_init__(self) -> None:
        for hop in self.parameters:
            mean = getattr(self, hop.name)
            if mean is not None or not hop.optional:
                set_values(self, **{hop.name: positive(mean, f"hops: {hop.name}")})
        mixes.check_hops(self.means)

    @property
    def means(self) -> list[float]:
        every = (self.first, self.second, self.third, self.fourth)
        return [mean for mean in every if mean is not None]

    @cached_property
    def _rates(self) -> Floats:
        """Of the hops, in that of the slowest, which is the last."""
        return max(self.means) / np.sort(np.array(self.means))

    @property
    def mean_delay(self) -> float:
        return math.fsum(self.means)

    def exceeded(self, share: float) -> float:
        def stays(time: float) -> bool:
            return float(stage_survival(self._rates, np.array([time]))[0]) > math.log(share)

        low, high = 0.0, 1.0
        while stays(high):
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if stays(middle) else (low, middle)
        return high * max(self.means)

    def _log_weights(self, left: npt.NDArray[Any], came: npt.NDArray[Any]) -> Floats:
        return stage_log_density(self._rates, (left - came) / max(self.means))

    def _log_staying(self, since: Floats) -> Floats:
        return self.log_survival(since) + math.log(max(self.means) / self.mean_delay)

    def log_density(self, delays: Floats) -> Floats:
        slowest = max(self.means)
        return stage_log_density(self._rates, delays / slowest) - math.log(slowest)

    def log_survival(self, delays: Floats) -> Floats:
        return stage_survival(self._rates, np.maximum(delays, 0.0) / max(self.means))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        delays: Floats = np.sum([draw.exponential(mean, size) for mean in self.means], axis=0)
        return delays

    def __str__(self) -> str:
        return f"hops law, {', '.join(f'{mean:g}' for mean in self.means)} s on average"

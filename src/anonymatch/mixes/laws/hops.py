"""Several mixes in a row whose delays have no memory, each with a mean of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anonymatch import mixes
from anonymatch._native import stage_log_density, stage_survival
from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.laws.candidates import CUT, Candidates
from anonymatch.mixes.laws.exponential import RARE, phase_links
from anonymatch.mixes.laws.law import LATE, DelayLaw, Parameter, PassageWork, positive, set_values

__all__ = ["Hops"]


@dataclass(frozen=True)
class Hops(DelayLaw):
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
    flags_as_rates: ClassVar[bool] = True

    first: float
    second: float
    third: float | None = None
    fourth: float | None = None

    def __post_init__(self) -> None:
        given = {"first": self.first, "second": self.second}
        given |= {} if self.third is None else {"third": self.third}
        given |= {} if self.fourth is None else {"fourth": self.fourth}
        set_values(self, **{name: positive(mean, f"hops: {name}") for name, mean in given.items()})
        mixes.check_hops(self.means)

    @property
    def means(self) -> list[float]:
        """Seconds in each hop, on average."""
        every = (self.first, self.second, self.third, self.fourth)
        return [mean for mean in every if mean is not None]

    @cached_property
    def _rates(self) -> Floats:
        """Of the hops, in that of the slowest, which is the last."""
        return max(self.means) / np.sort(np.array(self.means))

    @property
    def mean_delay(self) -> float:
        return math.fsum(self.means)

    @property
    def longest_delay(self) -> float:
        return math.inf

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return self._exceeded(LATE)

    def packet_delay(self) -> float | None:
        return self._exceeded(RARE)

    def _exceeded(self, share: float) -> float:
        """The delay that so small a share of messages exceeds."""
        low, high = 0.0, 1.0
        while self._log_survival(high) > math.log(share):
            low, high = high, 2 * high
        for _ in range(60):
            middle = (low + high) / 2
            if self._log_survival(middle) > math.log(share):
                low = middle
            else:
                high = middle
        return high * max(self.means)

    def _log_survival(self, time: float) -> float:
        return float(stage_survival(self._rates, np.array([time]))[0])

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        came, left = arrivals[users], departures[behaviours]
        slowest, longest = max(self.means), self._exceeded(CUT)

        def weigh(users: npt.NDArray[Any], behaviours: npt.NDArray[Any]) -> Floats:
            return stage_log_density(self._rates, (left[behaviours] - came[users]) / slowest)

        return Candidates(
            first=np.searchsorted(left, came, side="right"),
            end=np.searchsorted(left, came + longest, side="right"),
            late=came + longest > end,
            weigh=weigh,
            staying=stage_survival(self._rates, np.maximum(0.0, end - came) / slowest)
            + math.log(slowest / self.mean_delay),
            note=f"delays above {longest:.4g} s, of probability {CUT:g} a message, are left out",
        )

    @property
    def has_density(self) -> bool:
        return True

    def log_density(self, delays: Floats) -> Floats:
        slowest = max(self.means)
        return stage_log_density(self._rates, delays / slowest) - math.log(slowest)

    def log_survival(self, delays: Floats) -> Floats:
        return stage_survival(self._rates, np.maximum(delays, 0.0) / max(self.means))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        delays: Floats = np.sum([draw.exponential(mean, size) for mean in self.means], axis=0)
        return delays

    @property
    def followed(self) -> bool:
        return True

    @property
    def may_start_full(self) -> bool:
        return True

    @property
    def at_once(self) -> bool:
        return False

    @property
    def has_graph(self) -> bool:
        return True

    def links(self, arrivals: Floats, departures: Floats, work: PassageWork) -> mixes.LinkFigures:
        return phase_links(arrivals, departures, self.means, work)

    def __str__(self) -> str:
        return f"hops law, {', '.join(f'{mean:g}' for mean in self.means)} s on average"

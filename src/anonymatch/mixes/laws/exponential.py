"""Mixes with delays that have no memory: one of them, or several in a row."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anonymatch import mixes
from anonymatch._native import stage_log_density, stage_survival
from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import BudgetError
from anonymatch.mixes.laws.candidates import CUT, Candidates
from anonymatch.mixes.laws.law import LATE, DelayLaw, Parameter, PassageWork, positive, set_values
from anonymatch.running import Budget

MOST_HOPS = 4
"""Hops of an Erlang law up to which logs are followed by what is inside."""

_FEW = 200  # messages whose guessing entropies are all computed
_UNASKED = 20.0  # seconds of an Erlang law if nobody told a budget and estimates fit them
_AT_LEAST = 0.5  # that any budget allows, as for making a graph
RARE = 1e-9  # of packets, that take longer than what hardly one exceeds
_SHARE = 0.5  # of the budget, that counting numbers along the log may take


@dataclass(frozen=True, slots=True)
class Exponential(DelayLaw):
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
    flags_as_rates: ClassVar[bool] = True
    closed_form: ClassVar[bool] = True

    mean: float

    def __post_init__(self) -> None:
        set_values(self, mean=positive(self.mean, "exponential: mean"))

    @property
    def mean_delay(self) -> float:
        return self.mean

    @property
    def longest_delay(self) -> float:
        return math.inf

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return -self.mean * math.log(LATE)

    def packet_delay(self) -> float | None:
        return _hardly_exceeded(1, self.mean)

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        return _candidates(1, self.mean, arrivals[users], departures[behaviours], end)

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.exponential(self.mean, size)

    @property
    def followed(self) -> bool:
        return True

    @property
    def may_start_full(self) -> bool:
        return True

    def links(self, arrivals: Floats, departures: Floats, work: PassageWork) -> mixes.LinkFigures:
        return _one_hop(arrivals, departures, self.mean, work)

    def __str__(self) -> str:
        return f"exponential law, {self.mean:g} s on average"


@dataclass(frozen=True, slots=True)
class Erlang(DelayLaw):
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
    flags_as_rates: ClassVar[bool] = True

    hops: int
    mean: float

    def __post_init__(self) -> None:
        hops = whole(self.hops, "erlang: hops", least=1, most=10_000)
        set_values(self, hops=hops, mean=positive(self.mean, "erlang: mean"))

    @property
    def mean_delay(self) -> float:
        return self.hops * self.mean

    @property
    def longest_delay(self) -> float:
        return math.inf

    def end_delay(self, rate: float | None) -> float | None:
        from scipy.special import gammainccinv

        del rate
        return self.mean * float(gammainccinv(self.hops, LATE))

    def packet_delay(self) -> float | None:
        return _hardly_exceeded(self.hops, self.mean)

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        return _candidates(self.hops, self.mean, arrivals[users], departures[behaviours], end)

    @property
    def has_density(self) -> bool:
        return True

    def log_density(self, delays: Floats) -> Floats:
        from scipy.special import gammaln, xlogy

        times = delays / self.mean
        constant = float(gammaln(self.hops)) + math.log(self.mean)
        return np.asarray(xlogy(self.hops - 1, times) - times - constant)

    def log_survival(self, delays: Floats) -> Floats:
        from scipy.special import gammaincc

        stays = gammaincc(self.hops, np.maximum(delays, 0.0) / self.mean)
        return np.log(np.maximum(stays, 1e-300))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.gamma(self.hops, self.mean, size)

    @property
    def followed(self) -> bool:
        return self.hops <= MOST_HOPS

    @property
    def may_start_full(self) -> bool:
        return self.followed

    @property
    def at_once(self) -> bool:
        return self.hops == 1

    @property
    def has_graph(self) -> bool:
        return True

    def links(self, arrivals: Floats, departures: Floats, work: PassageWork) -> mixes.LinkFigures:
        if self.hops == 1:
            return _one_hop(arrivals, departures, self.mean, work)
        return phase_links(arrivals, departures, [self.mean] * self.hops, work)

    def __str__(self) -> str:
        hops = "1 hop" if self.hops == 1 else f"{self.hops} hops"
        return f"Erlang law, {hops} of {self.mean:g} s on average"


def phase_links(
    arrivals: Floats, departures: Floats, means: list[float], work: PassageWork
) -> mixes.LinkFigures:
    """Figures of several hops: soon, unless a budget is told or that is too little."""

    def within(allowed: Budget, *, strict: bool) -> mixes.LinkFigures:
        return mixes.phase_figures(
            arrivals,
            departures,
            means=means,
            channel=work.channel,
            receivers=work.receivers,
            budget=allowed,
            seed=work.seed,
            effort=work.effort,
            strict=strict,
            asked=work.asked,
            edge=work.edge,
        )

    budget = work.budget
    if not budget.chosen:
        try:
            return within(replace(budget, seconds=_UNASKED), strict=False)
        except BudgetError:
            pass
    allowed = replace(budget, seconds=max(budget.seconds, _AT_LEAST))
    return within(allowed, strict=budget.chosen)


def _one_hop(
    arrivals: Floats, departures: Floats, mean: float, work: PassageWork
) -> mixes.LinkFigures:
    size = len(arrivals)
    return mixes.hidden_figures(
        arrivals,
        departures,
        mean=mean,
        channel=work.channel,
        receivers=work.receivers,
        guessing_every=1 if size <= _FEW else size // _FEW,
        effort=work.effort,
        seconds=_SHARE * work.budget.seconds,
        asked=work.asked,
    )


def _hardly_exceeded(hops: int, mean: float) -> float:
    """The seconds that so many exponential mixes exceed together once in 10^9 packets.

    Examples
    --------
    >>> round(_hardly_exceeded(1, 1.0), 3), round(_hardly_exceeded(3, 0.05), 3)
    (20.723, 1.334)
    """
    from scipy.special import gammainccinv

    return mean * float(gammainccinv(hops, RARE))


def _candidates(hops: int, mean: float, came: Floats, left: Floats, last: float) -> Candidates:
    from scipy.special import gammaincc, gammainccinv, gammaln

    longest = mean * float(gammainccinv(hops, CUT))
    more = hops - 1

    def weigh(users: npt.NDArray[Any], behaviours: npt.NDArray[Any]) -> Floats:
        delays: Floats = left[behaviours]
        delays -= came[users]
        delays /= mean
        if not more:
            return -delays
        logs: Floats = np.log(delays)
        logs *= more
        logs -= delays
        return logs

    stays = gammaincc(hops, np.maximum(0.0, last - came) / mean)
    logs = np.log(np.maximum(stays, 1e-300)) + float(gammaln(hops)) - math.log(hops)
    return Candidates(
        # Several hops take some time; one may take none that the clock can show.
        first=np.searchsorted(left, came, side="right" if more else "left"),
        end=np.searchsorted(left, came + longest, side="right"),
        late=came + longest > last,
        weigh=weigh,
        staying=logs,
        note=f"delays above {longest:.4g} s, of probability {CUT:g} a message, are left out",
    )


# ---- several mixes in a row whose delays have no memory, each with a mean of its own


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

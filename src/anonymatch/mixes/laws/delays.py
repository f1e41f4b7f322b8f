"""Laws whose delays do not depend on other messages, other than sums of exponential hops."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.mixes.laws.candidates import Candidates, between
from anonymatch.mixes.laws.law import (
    LATE,
    LONGEST,
    RARE,
    DelayLaw,
    DensityLaw,
    Law,
    Parameter,
    Traffic,
    finite,
    positive,
    set_values,
)
from anonymatch.mixes.laws.tuning import DELAYS
from anonymatch.tabular import separator_in


@dataclass(frozen=True, slots=True)
class Window(DensityLaw):
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

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        runs = between(came, left, self.low, self.high, end)
        return replace(runs, staying=np.where(runs.late, self.log_survival(end - came), -math.inf))

    @property
    def spread_out(self) -> bool:
        return self.high > self.low

    def log_density(self, delays: Floats) -> Floats:
        """The same for all: candidates are those within the window."""
        return np.full(len(delays), -math.log(self.high - self.low))

    def log_survival(self, delays: Floats) -> Floats:
        if not self.spread_out:
            return np.where(delays < self.high, 0.0, -math.inf)
        with np.errstate(divide="ignore"):
            shares = (self.high - delays) / (self.high - self.low)
            return np.log(np.clip(shares, 0.0, 1.0))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return draw.uniform(self.low, self.high, size)

    def __str__(self) -> str:
        return f"window law, {self.low:g} to {self.high:g} s"


@dataclass(frozen=True, slots=True)
class LogNormal(DensityLaw):
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
        if not 0.0 < sigma <= DELAYS.delay_widest:
            raise InputError(
                f"lognormal: sigma must be above 0 and at most {DELAYS.delay_widest:g}"
            )
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
        return self._exceeded(RARE)

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        from scipy.special import log_ndtr

        longest = self._exceeded(DELAYS.delay_cut)
        shortest = self.shift + math.exp(self._middle + self.sigma * DELAYS.delay_short)
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
            note=f"delays above {longest:.4g} s, of probability {DELAYS.delay_cut:g} a message, "
            "are left out",
        )

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


_COLUMN = "delay"


@dataclass(frozen=True, slots=True)
class Measured(DensityLaw):
    """Delays with the density of those in a file, in seconds: one a line, or a column ``delay``.

    The density is that of steps with equally many delays, twice the cube root of their number of
    them; the first and the last are halved again and again while eight delays are left, so that
    tails are tails. At both ends it goes on for half a step: the shortest and the longest that were
    measured are not the shortest and the longest that can be.

    Parameters
    ----------
    path : path
        A file of text, or a CSV file with a column ``delay``.
    """

    keyword: ClassVar[str] = "measured"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("path", "FILE", "file of delays in s", path=True),
    )
    example: ClassVar[str] = "delays.csv"
    remark: ClassVar[str] = "delays in s, one a line or a column delay"

    path: str | os.PathLike[str]
    ends: Floats = field(init=False, repr=False, compare=False)
    shares: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        path = as_path(self.path)
        ends, shares = _steps(_read(path))
        set_values(self, path=str(path), ends=ends, shares=shares)

    @property
    def _below(self) -> Floats:
        """Probability of a delay below each end of a step."""
        return np.concatenate(([0.0], np.cumsum(self.shares)))

    @property
    def mean_delay(self) -> float:
        return float(self.shares @ (self.ends[1:] + self.ends[:-1])) / 2

    @property
    def longest_delay(self) -> float:
        return float(self.ends[-1])

    def end_delay(self, rate: float | None) -> float | None:
        del rate
        return float(np.interp(1.0 - LATE, self._below, self.ends))

    def packet_delay(self) -> float | None:
        return self.longest_delay

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        runs = between(came, left, float(self.ends[0]), float(self.ends[-1]), end)
        logs = np.log(self.mean_delay * self.shares / np.diff(self.ends))

        def weigh(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Floats:
            step = np.searchsorted(self.ends, left[columns] - came[rows], side="right") - 1
            return np.asarray(logs[np.clip(step, 0, len(logs) - 1)])

        stays = 1.0 - np.interp(end - came, self.ends, self._below)
        return Candidates(
            first=runs.first,
            end=runs.end,
            late=runs.late,
            weigh=weigh,
            staying=np.log(np.maximum(stays, 1e-300)),
        )

    def log_density(self, delays: Floats) -> Floats:
        step = np.searchsorted(self.ends, delays, side="right") - 1
        logs = np.log(self.shares / np.diff(self.ends))
        return np.asarray(logs[np.clip(step, 0, len(logs) - 1)])

    def log_survival(self, delays: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(1.0 - np.interp(delays, self.ends, self._below), 0.0))

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        return np.asarray(np.interp(draw.random(size), self._below, self.ends))

    def __str__(self) -> str:
        low, high = self.ends[0], self.ends[-1]
        return f"measured delays of {Path(self.path).name}, {low:.4g} to {high:.4g} s"


def _read(path: Path) -> Floats:
    """The delays of a file, in their order."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            separator = separator_in(file.readline(), ",")
            file.seek(0)
            return _numbers(path, csv.reader(file, delimiter=separator))
    except OSError as error:
        raise InputError(f"measured: {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"measured: {path}: not a file of text (UTF-8)") from None
    except csv.Error as error:
        raise InputError(f"measured: {path}: {error}") from None


def _numbers(path: Path, rows: Any) -> Floats:
    delays: list[float] = []
    column: int | None = None
    for number, row in enumerate(rows, start=1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        if column is None:
            column = _column(path, cells)
            if _COLUMN in (cell.lower() for cell in cells):
                continue
        where = f"measured: {path}, line {number}"
        if len(cells) <= column:
            raise InputError(f"{where}: no column {column + 1}; give each row a delay")
        try:
            delay = float(cells[column])
        except ValueError:
            raise InputError(
                f"{where}: the delay is {quoted(cells[column])}; give seconds"
            ) from None
        if not 0.0 <= delay <= LONGEST:
            raise InputError(f"{where}: the delay is {delay:g} s; give 0 or more, and finite")
        delays.append(delay)
        if len(delays) > DELAYS.delay_most:
            raise InputError(
                f"measured: {path}: more than {DELAYS.delay_most:,} delays; give fewer of them"
            )
    if len(delays) < DELAYS.delay_fewest:
        raise InputError(
            f"measured: {path}: {several(len(delays), 'delay')}; at least {DELAYS.delay_fewest} "
            "are needed"
        )
    return np.array(delays)


def _column(path: Path, cells: list[str]) -> int:
    """Where delays are: under ``delay``, or in the only column."""
    named = [cell.lower() for cell in cells]
    if _COLUMN in named:
        return named.index(_COLUMN)
    if len(cells) == 1:
        return 0
    raise InputError(
        f"measured: {path}: {len(cells)} columns, none of them {_COLUMN!r}; name that of the delays"
    )


def _steps(delays: Floats) -> tuple[Floats, Floats]:
    """Ends of the steps of a density, and the share of the delays in each.

    Examples
    --------
    >>> ends, shares = _steps(np.arange(1.0, 28.0))
    >>> ends.round(2).tolist(), shares.round(2).tolist()[:2]
    ([0.0, 5.33, 9.67, 14.0, 18.33, 22.67, 29.17], [0.17, 0.17])
    """
    ordered = np.sort(delays)
    span = float(ordered[-1] - ordered[0])
    if not span > 0.0:
        raise InputError(
            f"measured: all delays are {ordered[0]:g} s; a law of one delay is window:LOW,HIGH"
        )
    number = math.ceil(2 * np.cbrt(len(ordered)))
    halvings = max(0, math.floor(math.log2(max(len(ordered) / number / DELAYS.delay_tail, 1.0))))
    tail = 0.5 ** np.arange(1, halvings + 1) / number
    levels = np.unique(np.concatenate((np.linspace(0.0, 1.0, number + 1), tail, 1.0 - tail)))
    ends = np.quantile(ordered, levels)
    # Delays that are equal, or nearly so, stay a step of some width.
    widths = np.maximum(np.diff(ends), DELAYS.delay_narrowest * span)
    ends = ends[0] + np.concatenate(([0.0], np.cumsum(widths) * span / widths.sum()))
    ends[0] = max(ends[0] - widths[0] / 2, 0.0)
    ends[-1] += widths[-1] / 2
    return ends, np.diff(levels)


@dataclass(frozen=True, slots=True)
class Free(DelayLaw):
    """Any law: a function from delays to weights, 0 where a delay is impossible.

    Parameters
    ----------
    function : callable
        From an array of delays in seconds, none negative, to an array of weights of the same
        length. Only their ratios matter.
    longest : float
        No delay is longer. Without it every later departure must be looked at.
    mean : float, optional
        Seconds on average, if known.
    name : str
        For people.

    Examples
    --------
    >>> print(Free(lambda delays: 1 / (1 + delays), longest=60, name="heavy tail"))
    heavy tail, up to 60 s
    """

    function: Callable[[Floats], npt.ArrayLike]
    longest: float = math.inf
    mean: float | None = None
    name: str = field(default="free law", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"free law: function must take an array of delays, not {quoted(self.function)}"
            )
        set_values(self, longest=real(self.longest, "free law: longest"))
        if self.mean is not None:
            set_values(self, mean=finite(self.mean, "free law: mean"))

    @property
    def mean_delay(self) -> float | None:
        return self.mean

    @property
    def longest_delay(self) -> float:
        return self.longest

    def weights(self, delays: Floats) -> Floats:
        """The function's weights of these delays, checked."""
        try:
            weights = np.asarray(self.function(delays), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: the function fails on an array of delays ({error})"
            ) from None
        if weights.shape != delays.shape:
            raise InputError(
                f"{self.name}: the function must give one weight a delay, {len(delays)} of them; "
                f"it gives the shape {weights.shape}"
            )
        wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
        if len(wrong):
            at = int(wrong[0])
            raise InputError(
                f"{self.name}: the weight of a delay of {delays[at]:g} s is {weights[at]:g}; "
                "weights must be finite and not negative"
            )
        return weights

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        runs = between(came, left, 0.0, self.longest, end)

        def weigh(rows: npt.NDArray[Any], columns: npt.NDArray[Any]) -> Floats:
            delays = np.maximum(0.0, left[columns] - came[rows])
            with np.errstate(divide="ignore"):
                return np.log(self.weights(delays))

        return replace(runs, weigh=weigh)

    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        if self.longest == math.inf:
            raise InputError(f"{self}: no delays can be drawn without an end; give it longest=")
        width = self.longest / DELAYS.delay_cells
        middles: Floats = (np.arange(DELAYS.delay_cells, dtype=np.float64) + 0.5) * width
        probabilities = self.weights(middles)
        if not probabilities.sum() > 0:
            raise InputError(f"{self}: every delay has the weight 0; check the function")
        cells = draw.choice(DELAYS.delay_cells, size, p=probabilities / probabilities.sum())
        return np.minimum((cells + draw.random(size)) * width, self.longest)

    def __str__(self) -> str:
        end = "" if self.longest == math.inf else f", up to {self.longest:g} s"
        return f"{self.name}{end}"


@dataclass(frozen=True, slots=True)
class Linked(Law):
    """The law of a mix, and a fixed time on the links to it and from it, all together.

    In text the time stands before the law: ``0.1+erlang:3,0.5``.

    Examples
    --------
    >>> from anonymatch.mixes import Erlang
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

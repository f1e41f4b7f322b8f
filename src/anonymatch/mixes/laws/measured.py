"""Delays as somebody measured them."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.mixes.laws.candidates import Candidates, between
from anonymatch.mixes.laws.law import LATE, LONGEST, DelayLaw, Parameter, set_values
from anonymatch.tabular import separator_in

__all__ = ["Measured"]

_FEWEST = 10  # delays that say something of a density
_MOST = 10_000_000  # that are read
_COLUMN = "delay"
_TAIL = 8  # delays that a step in a tail has at least
_NARROWEST = 1e-5  # of all that was measured: a step is no narrower


@dataclass(frozen=True, slots=True)
class Measured(DelayLaw):
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

    @property
    def has_density(self) -> bool:
        return True

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
        if len(delays) > _MOST:
            raise InputError(f"measured: {path}: more than {_MOST:,} delays; give fewer of them")
    if len(delays) < _FEWEST:
        raise InputError(
            f"measured: {path}: {several(len(delays), 'delay')}; at least {_FEWEST} are needed"
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
    halvings = max(0, math.floor(math.log2(max(len(ordered) / number / _TAIL, 1.0))))
    tail = 0.5 ** np.arange(1, halvings + 1) / number
    levels = np.unique(np.concatenate((np.linspace(0.0, 1.0, number + 1), tail, 1.0 - tail)))
    ends = np.quantile(ordered, levels)
    # Delays that are equal, or nearly so, stay a step of some width.
    widths = np.maximum(np.diff(ends), _NARROWEST * span)
    ends = ends[0] + np.concatenate(([0.0], np.cumsum(widths) * span / widths.sum()))
    ends[0] = max(ends[0] - widths[0] / 2, 0.0)
    ends[-1] += widths[-1] / 2
    return ends, np.diff(levels)

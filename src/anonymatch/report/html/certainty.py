"""Figures in words: the number, the interval that holds it, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anonymatch.audits import FIGURES, Audit, confidence_of
from anonymatch.base.text import in_bits
from anonymatch.measures import Interval
from anonymatch.report.text import superscript

__all__ = [
    "FigureText",
    "amount",
    "figure_text",
    "percent",
    "seconds",
    "sureness",
    "users_sure",
]

_NARROW = 1e-6  # relative; closer ends are one number to a reader
_WIDE = 0.2  # relative; the middle of ends further apart says little


@dataclass(frozen=True, slots=True)
class FigureText:
    """A figure as a page shows it: the number, its interval if it has one, and how sure it is."""

    value: str
    sure: str
    ends: tuple[str, str] | None = None

    @property
    def interval(self) -> str:
        return f"between {self.ends[0]} and {self.ends[1]}" if self.ends else ""

    @property
    def short(self) -> str:
        """The number and its ends, for a table."""
        return f"{self.value} ({self.ends[0]} to {self.ends[1]})" if self.ends else self.value

    @property
    def line(self) -> str:
        """All of it in one line."""
        between = f", {self.interval}" if self.interval else ""
        return f"{self.value}{between} ({self.sure})"


def figure_text(
    figure: Interval, unit: str, *, confidence: float, seed: int, whole: bool = False
) -> FigureText:
    """How a figure is shown; one whose interval is wide is shown as that interval.

    Parameters
    ----------
    figure : Figure
    unit : {"", "bits", "share", "seconds", ...}
        Of the table of figures; others than these are written as numbers.
    confidence : float
        Probability that the interval holds; 1.0 means proven.
    seed : int
        Of the estimate, if it is one.
    whole : bool
        Whether it is a count, which no rounding has touched.

    Examples
    --------
    >>> figure_text(Interval(0.25, 0.25, 0.25), "share", confidence=1.0, seed=0).line
    '25 % (exact up to rounding)'
    >>> figure_text(Interval(2.0, 1.9, 2.1), "", confidence=0.95, seed=7).line
    '2, between 1.9 and 2.1 (estimated, 95 % sure, seed 7)'
    >>> figure_text(Interval(2.0, 1.0, 3.0), "", confidence=1.0, seed=0).line
    '1 to 3 (proven interval)'
    """
    write = {"share": percent, "seconds": seconds}.get(unit, amount)
    after = in_bits if unit == "bits" else str
    size = max(abs(figure.low), abs(figure.high), 1e-9)
    width = figure.high - figure.low
    narrow = width <= _NARROW * size
    sure = "exact" if whole else sureness(confidence, seed, known=narrow)
    low, high = write(figure.low), write(figure.high)
    if narrow or low == high:
        return FigureText(after(write(figure.value)), sure)
    if width > _WIDE * size or math.isnan(figure.value):
        return FigureText(after(f"{low} to {high}"), sure)
    return FigureText(after(write(figure.value)), sure, (low, high))


def sureness(confidence: float, seed: int, *, known: bool = True) -> str:
    """How sure a figure is; ``known`` says whether it is more than an interval.

    Examples
    --------
    >>> sureness(1.0, 0), sureness(1.0, 0, known=False), sureness(0.95, 3)
    ('exact up to rounding', 'proven interval', 'estimated, 95 % sure, seed 3')
    """
    if confidence < 1.0:
        return f"estimated, {percent(confidence)} sure, seed {seed}"
    return "exact up to rounding" if known else "proven interval"


def users_sure(audit: Audit) -> str:
    """How sure the figures of single users are.

    Examples
    --------
    >>> import anonymatch as am
    >>> users_sure(am.audit(am.complete(3)))
    'exact up to rounding'
    """
    known = audit.answers.users.known
    return sureness(confidence_of(audit, FIGURES["entropy"]), audit.seed, known=known)


def amount(value: float) -> str:
    """A number of any size in few digits.

    Examples
    --------
    >>> [amount(value) for value in (0.0, 1.23456, 97521.3, 0.00001234, 3e12)]
    ['0', '1.235', '97,521', '1.23·10⁻⁵', '3·10¹²']
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "–"
    size = abs(value)
    if size == 0 or 1e-3 <= size < 1e9:
        return f"{value:,.0f}" if size >= 1000 else f"{value + 0.0:.4g}"
    power = math.floor(math.log10(size) + 1e-12)
    return f"{value / 10.0**power:.3g}·10{superscript(power)}"


def percent(share: float) -> str:
    """A share; what is not all or nothing is never shown as such.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 0.00005, 1 / 3, 0.99999, 1.0)]
    ['0 %', '0.005 %', '33.3 %', '>99.9 %', '100 %']
    """
    if not math.isfinite(share):
        return "–"
    if 0.9995 <= share < 1 - 1e-9:
        return ">99.9 %"
    return f"{amount(float(f'{100 * share:.3g}'))} %"


def seconds(value: float) -> str:
    """A time; long ones in minutes, hours or days as well.

    Examples
    --------
    >>> seconds(0.25), seconds(90), seconds(7200)
    ('0.25 s', '90 s', '7,200 s (2 h)')
    """
    for size, unit in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if value >= 2 * size:
            return f"{amount(value)} s ({value / size:.3g} {unit})"
    return f"{amount(value)} s"

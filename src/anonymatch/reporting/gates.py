"""Gates: thresholds that the figures of any report must keep to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean
from anonymatch.reporting.report import Better, Figure, Report

__all__ = ["Gate", "Judged", "judge", "parse_thresholds"]

_ROUNDING = 1e-9  # relative; a figure that meets its threshold exactly must not fail by rounding


class Judged(Protocol):
    """A threshold with its verdict, as renderers show it."""

    @property
    def title(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def limit(self) -> str: ...
    @property
    def passed(self) -> bool | None: ...
    @property
    def missed(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One threshold and its verdict, decided by the figure and its estimation interval.

    Attributes
    ----------
    figure : Figure
    threshold : float
    strict : bool
        Whether a threshold within two standard errors of the traffic fails.
    reached : bool or None
        None if estimates disagree too much to judge: such a threshold does not fail.
    """

    figure: Figure
    threshold: float
    strict: bool = False

    @property
    def name(self) -> str:
        return self.figure.key

    @property
    def title(self) -> str:
        return self.figure.title

    @property
    def _at_most(self) -> bool:
        return self.figure.better is Better.LOWER

    @property
    def _within(self) -> bool:
        """Whether the whole interval keeps to the threshold."""
        value = self.figure.value
        if value is None:
            return False
        if self._at_most:
            return value.high <= self.threshold + _ROUNDING
        return value.low >= self.threshold * (1 - _ROUNDING)

    @property
    def missed(self) -> bool:
        """Whether the whole interval is on the wrong side."""
        value = self.figure.value
        if value is None:
            return False
        if self._at_most:
            return value.low > self.threshold + _ROUNDING
        return value.high < self.threshold * (1 - _ROUNDING)

    @property
    def _doubted(self) -> bool:
        """Guesses of chains that disagree are right less often than they could be."""
        return bool(self.figure.doubt) and not self.missed and (self._at_most or not self._within)

    @property
    def _short(self) -> bool:
        value = self.figure.value
        return (
            not self._doubted
            and not self._within
            and value is not None
            and math.isinf(value.high)
            and bool(self.figure.short)
        )

    @property
    def reached(self) -> bool | None:
        return None if self._doubted else self._within

    @property
    def within_error(self) -> bool:
        """Whether another log of the same system may decide otherwise."""
        value, error = self.figure.value, self.figure.basis.error
        if value is None or error is None or math.isinf(value.value):
            return False
        return abs(value.value - self.threshold) <= 2.0 * error

    @property
    def passed(self) -> bool | None:
        return self.reached and not (self.strict and self.within_error)

    @property
    def limit(self) -> str:
        return f"{'at most' if self._at_most else 'at least'} {self.threshold:g}"

    @property
    def state(self) -> str:
        """The threshold by its name, and its verdict."""
        done, not_done = ("kept", "exceeded") if self._at_most else ("reached", "missed")
        state = f"is not sure to be {done}"
        if self.figure.value is None or self._doubted or self._short:
            state = "cannot be judged"
        elif self.reached or self.missed:
            state = f"is {done if self.reached else not_done}"
        if self.within_error:
            state += ", within sampling error"
            if self.strict and self.reached:
                state += " (fails with --strict)"
        return f"{self.name}={self.threshold:g} {state}"

    @property
    def reason(self) -> str:
        figure = self.figure
        if self._short:
            return figure.short.format(threshold=math.ceil(self.threshold))
        return f"{figure.text}; {figure.doubt}" if self._doubted else figure.text

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.state}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values with stable keys."""
        return {
            "name": self.name,
            "threshold": self.threshold,
            "reached": self.reached,
            "reason": self.reason,
        }


def judge(
    report: Report, thresholds: Mapping[str, float], *, strict: bool = False
) -> tuple[Gate, ...]:
    """Compare thresholds with the worse ends of the figures of a report.

    Examples
    --------
    >>> from anonymatch.base.interval import Interval
    >>> from anonymatch.reporting.report import BITS
    >>> entropy = Figure(
    ...     key="entropy", title="Entropy", value=Interval(3, 2.9, 3.1), unit=BITS,
    ...     better=Better.HIGHER)
    >>> for gate in judge(Report(title="Audit", figures=[entropy]), {"entropy": 3}):
    ...     print(gate.text, gate.passed)
    entropy=3 is not sure to be reached: 2.9 to 3.1 bits False
    """
    figures = {each.key: each for each in report.figures if each.better is not Better.NEITHER}
    for name in thresholds:
        if name not in figures:
            known = ", ".join(figures)
            near = did_you_mean(name, figures)
            raise InputError(f"there is no threshold {name!r}; known are {known}{near}")
    return tuple(
        Gate(figure=figures[name], threshold=value, strict=strict)
        for name, value in thresholds.items()
    )


def parse_thresholds(
    texts: Sequence[str], directions: Mapping[str, Better], *, at_most: bool
) -> dict[str, float]:
    """Return thresholds from ``name=number``; several in one text are separated by commas.

    Examples
    --------
    >>> known = {"half_life": Better.HIGHER, "right": Better.LOWER}
    >>> parse_thresholds(["half-life=50"], known, at_most=False)
    {'half_life': 50.0}
    """
    thresholds: dict[str, float] = {}
    wanted = Better.LOWER if at_most else Better.HIGHER
    known = [name for name, better in directions.items() if better is wanted]
    for text in (part.strip() for given in texts for part in given.split(",")):
        given, equals, number = (part.strip() for part in text.rpartition("="))
        name = given.replace("-", "_").lower()
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if name not in directions or not equals or not 0 <= value < math.inf:
            listed = ", ".join(f"{each}=NUMBER" for each in known)
            near = "" if name in directions else did_you_mean(name, directions)
            raise InputError(f"threshold {text!r} is not understood; known are {listed}{near}")
        if name not in known:
            option, limit = ("--fail-under", "at least") if at_most else ("--fail-over", "at most")
            raise InputError(
                f"threshold {text!r} belongs to {option}: {name} is to be {limit} that number"
            )
        if at_most and value > 1.0:
            raise InputError(f"threshold {text!r} is a share; give a number from 0 to 1")
        thresholds[name] = value
    return thresholds

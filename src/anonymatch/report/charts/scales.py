"""Axes: from values to pixels, and the round numbers to write at them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import superscript

__all__ = ["Scale", "finite", "round_step", "scale"]


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` to ``high`` on the pixels from ``begin`` to ``end``.

    Examples
    --------
    >>> axis = Scale(0.0, 10.0, 100.0, 300.0)
    >>> axis.at(2.5), axis.ticks()
    (150.0, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    >>> logs = Scale(1.0, 10**6, 0.0, 60.0, log=True)
    >>> logs.at(1000.0), [logs.written(tick) for tick in logs.ticks()]
    (30.0, ['1', '10', '100', '1000', '10⁴', '10⁵', '10⁶'])
    """

    low: float
    high: float
    begin: float
    end: float
    log: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value; beyond the ends at the ends."""
        low, high, value = (math.log(v) if self.log else v for v in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)

    def ticks(self, wanted: int = 6) -> list[float]:
        """Round values from low to high, about as many as wanted."""
        if self.high <= self.low:
            return [self.low]
        if self.log:
            return self._powers(wanted)
        step = round_step((self.high - self.low) / (wanted - 1), self.whole)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(step * number, 12) + 0.0 for number in range(first, last + 1)]

    def _powers(self, wanted: int) -> list[float]:
        """Powers of ten; over less than three of them, twice and five times as well."""
        first, last = (math.floor(math.log10(end) + 1e-9) for end in (self.low, self.high))
        step = max(1, math.ceil((last - first) / wanted))
        parts = (1.0, 2.0, 5.0) if self.high / self.low < 1000 else (1.0,)
        powers = [part * 10.0**power for power in range(first, last + 1, step) for part in parts]
        least, most = self.low * (1 - 1e-9), self.high * (1 + 1e-9)
        return [value for value in powers if least <= value <= most] or [self.low, self.high]

    def written(self, value: float) -> str:
        """A value as it is written at the axis.

        Examples
        --------
        >>> [Scale(0, 1, 0, 1).written(value) for value in (0.25, 2000.0, 3e7, 1e-9, -4.0)]
        ['0.25', '2000', '3·10⁷', '10⁻⁹', '−4']
        """
        sign, size = ("−" if value < 0 else ""), abs(value)
        if size == 0 or 1e-3 <= size < 1e4:
            return f"{sign}{size:.6g}"
        power = math.floor(math.log10(size) + 1e-12)
        mantissa = f"{size / 10.0**power:.3g}"
        times = "" if mantissa == "1" else f"{mantissa}·"
        return f"{sign}{times}10{superscript(power)}"


def scale(
    values: Iterable[float],
    begin: float,
    end: float,
    *,
    log: bool = False,
    zero: bool = False,
    whole: bool = False,
) -> Scale:
    """The scale that holds all values and, if it is linear, 0 where ``zero`` asks for it.

    Examples
    --------
    >>> scale([3.0, 9.0], 0, 100, zero=True)
    Scale(low=0.0, high=9.0, begin=0, end=100, log=False, whole=False)
    """
    known = list(values)
    if log and any(value <= 0 for value in known):
        raise InputError("a logarithmic axis needs values above 0; leave others out")
    low, high = min(known, default=0.0 + log), max(known, default=1.0 + log)
    if zero and not log:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    return Scale(low, high, begin, end, log, whole)


def finite(values: Sequence[Any], what: str) -> list[float | None]:
    """Numbers of any kind as floats; None where there is none to draw.

    Examples
    --------
    >>> from fractions import Fraction
    >>> finite([1, Fraction(1, 2), None, math.nan], "y")
    [1.0, 0.5, None, None]
    """
    values_left: list[float | None] = []
    for value in values:
        try:
            number = None if value is None else float(value)
        except OverflowError:
            raise InputError(f"{what} has a number too large to draw; give its logarithm") from None
        except (TypeError, ValueError):
            raise InputError(f"{what} has {value!r} where a number should be") from None
        values_left.append(number if number is not None and math.isfinite(number) else None)
    return values_left


def round_step(least: float, whole: bool = False) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below; maybe a whole number.

    Examples
    --------
    >>> round_step(0.3), round_step(0.3, whole=True), round_step(11)
    (0.5, 1.0, 20.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    steps = [power * step for step in (1, 2, 2.5, 5, 10) if power * step >= least * (1 - 1e-9)]
    return next((step for step in steps if not whole or step.is_integer()), 1.0)

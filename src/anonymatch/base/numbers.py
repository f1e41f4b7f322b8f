"""Numbers in words: counts, amounts, shares, bits, times, each with its noun or unit.

Every interface writes numbers with these, so that one number reads the same wherever it is shown.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Iterable
from fractions import Fraction

__all__ = [
    "all_digits",
    "amount",
    "bits",
    "bits_between",
    "cost_in_words",
    "count",
    "in_bits",
    "percent",
    "plural",
    "power",
    "powers",
    "rounded_up",
    "seconds",
    "shown",
    "span",
    "subscript",
    "superscript",
    "time_in_words",
    "took",
]

_UP = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOWN = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_SHORT = 21  # digits that are still read as a number
_ROUNDING = 1e-9  # of shares that are computed from logs
_SMALLEST = 1e-5  # share that is written in digits
_NARROW = 1e-6  # relative; closer ends are one number to a reader
_LN2, _LN10 = math.log(2.0), math.log(10.0)
_PIECE_BITS = 4096  # below it Python's own conversion is fast, and within its limit on digits


def plural(number: int, noun: str, several: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> plural(1, "user"), plural(12000, "user"), plural(2, "guess", "guesses")
    ('1 user', '12,000 users', '2 guesses')
    """
    return f"{shown(number)} {noun if number == 1 else several or noun + 's'}"


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


def percent(share: float | None) -> str:
    """A share or probability in three digits; 100 % and 0 % only where it is nothing else.

    Examples
    --------
    >>> [percent(share) for share in (0.0, 1e-9, 0.00005, 1 / 3, 0.99999, 1.0)]
    ['0 %', '<0.001 %', '0.005 %', '33.3 %', '>99.9 %', '100 %']
    """
    if share is None or not math.isfinite(share):
        return "–"
    if 0.999 < share < 1.0 - _ROUNDING:
        return ">99.9 %"
    if 0.0 < share < _SMALLEST:
        return "<0.001 %"
    return f"{amount(float(f'{100 * share:.3g}'))} %"


def span(value: float, low: float, high: float, write: Callable[[float], str] = amount) -> str:
    """A number between two ends: itself where they read the same, else both.

    Examples
    --------
    >>> span(0.25, 0.25, 0.25, percent), span(0.97, 0.965, 0.98, percent), span(2, 1.5, 2.5)
    ('25 %', '96.5 % to 98 %', '1.5 to 2.5')
    """
    if high - low <= _NARROW * max(abs(low), abs(high), 1e-9):
        return write(value)
    ends = write(low), write(high)
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


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


def took(value: float) -> str:
    """A time that was measured, in three digits.

    Examples
    --------
    >>> took(0.0025349), took(9.8765), took(294.3)
    ('0.00253 s', '9.88 s', '294 s (4.9 min)')
    """
    return seconds(float(f"{value:.3g}"))


def count(value: int | Fraction | float, log: float) -> str:
    """A count: digits when it is short, a power of two otherwise.

    Examples
    --------
    >>> count(1854, math.log(1854)), count(2**200, 200 * math.log(2))
    ('1,854', '2^200')
    """
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) and value < 1e15 else power(log)
    if log >= _SHORT * _LN10:
        return power(log)
    if isinstance(value, int):
        return f"{value:,}"
    if value.denominator == 1:
        return f"{value.numerator:,}"
    exact = f"{value.numerator}/{value.denominator}"
    return exact if len(exact) <= 2 * _SHORT else power(log)


def power(log: float) -> str:
    """A power of two from a natural log."""
    return f"2^{log / _LN2:.10g}"


def powers(log: float, low: float, high: float) -> str:
    """An interval of natural logs as powers of two, in as many digits as tell its ends apart.

    Examples
    --------
    >>> two = math.log(2)
    >>> powers(366.45 * two, 366.4446 * two, 366.4552 * two), powers(9 * two, 9 * two, 9 * two)
    ('2^366.44 to 2^366.46', '2^9')
    """
    width = (high - low) / _LN2
    if not 1e-9 * max(log, 1.0) < width < math.inf:
        return power(log) if width < 1.0 else f"{power(low)} to {power(high)}"
    digits = max(math.ceil(-math.log10(width)), 0)
    unit = 10.0**digits
    ends = math.floor(low / _LN2 * unit) / unit, math.ceil(high / _LN2 * unit) / unit
    return " to ".join(f"2^{end:.{digits}f}" for end in ends)


def bits(log: float) -> str:
    """A natural log as bits.

    Examples
    --------
    >>> bits(math.log(1024)), bits(-math.inf), bits(math.log(1.05)), bits(1e6 * math.log(2))
    ('10 bits', 'none', '0.07 bits', '1,000,000 bits')
    >>> bits(math.log(2))
    '1 bit'
    """
    if log == -math.inf:
        return "none"
    return in_bits(_bits(log))


def bits_between(low: float, high: float) -> str:
    """An interval of natural logs as bits.

    Examples
    --------
    >>> bits_between(math.log(2), math.log(1024))
    '1 to 10 bits'
    """
    return f"{_bits(low)} to {bits(high)}"


def _bits(log: float) -> str:
    value = log / _LN2
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1 else f"{round(value, 2) + 0.0:g}"


def in_bits(amount: str) -> str:
    """A number that is written already, or two with "to" between them, as bits.

    Examples
    --------
    >>> in_bits("1"), in_bits("0"), in_bits("0.5 to 1")
    ('1 bit', '0 bits', '0.5 to 1 bits')
    """
    return f"{amount} bit" if amount == "1" else f"{amount} bits"


def all_digits(value: int | Fraction) -> str:
    """Every digit of a number, however long, in time that is far from quadratic.

    Python's own conversion is quadratic and refuses more than 4300 digits.

    Examples
    --------
    >>> all_digits(2**64), all_digits(Fraction(1, 3))
    ('18446744073709551616', '1/3')
    """
    if isinstance(value, Fraction):
        top = all_digits(value.numerator)
        return top if value.denominator == 1 else f"{top}/{all_digits(value.denominator)}"
    if value < 0:
        return "-" + all_digits(-value)
    with decimal.localcontext() as context:
        context.prec, context.Emax = decimal.MAX_PREC, decimal.MAX_EMAX
        context.traps[decimal.Inexact] = True  # a rounded digit would be a wrong one
        return str(_decimal(value, value.bit_length()))


def _decimal(value: int, width: int) -> decimal.Decimal:
    """``value`` below 2^width, by halves: decimal multiplies long numbers fast."""
    if width <= _PIECE_BITS:
        return decimal.Decimal(value)
    half = width // 2
    high, low = value >> half, value & ((1 << half) - 1)
    return _decimal(high, width - half) * decimal.Decimal(2) ** half + _decimal(low, half)


def shown(value: object) -> str:
    """A value of a table or a caption.

    Examples
    --------
    >>> [shown(value) for value in (1968, 2**200, Fraction(17, 5), 0.1 + 0.2, None, True, "a")]
    ['1,968', '2^200', '17/5', '0.3', '–', 'yes', 'a']
    >>> shown([1, 2]), shown(math.inf), shown(-math.inf)
    ('1, 2', '∞', '−∞')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**_SHORT else _rough_power(value)
    if isinstance(value, Fraction):
        return _ratio(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return ", ".join(shown(each) for each in value)
    return str(value)


def _rough_power(value: int) -> str:
    return f"{'−' if value < 0 else ''}2^{math.log2(abs(value)):.6g}"


def _ratio(value: Fraction) -> str:
    if value.denominator == 1:
        return shown(value.numerator)
    if max(abs(value.numerator), value.denominator) < 10**_SHORT:
        return f"{value.numerator}/{value.denominator}"
    log = math.log2(abs(value.numerator)) - math.log2(value.denominator)
    return f"{'−' if value < 0 else ''}2^{log:.6g}"


def _float(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.6g}"


def superscript(number: int) -> str:
    """The number as an exponent.

    Examples
    --------
    >>> "10" + superscript(-12)
    '10⁻¹²'
    """
    return str(number).translate(_UP)


def subscript(number: int) -> str:
    """The number as an index.

    Examples
    --------
    >>> "x" + subscript(10)
    'x₁₀'
    """
    return str(number).translate(_DOWN)


def rounded_up(value: float) -> float:
    """The next number of two digits that is not smaller.

    Examples
    --------
    >>> rounded_up(98.2), rounded_up(1234.0), rounded_up(0.0471)
    (99.0, 1300.0, 0.048)
    """
    if not 0.0 < value < math.inf:
        return value
    unit = math.floor(math.log10(value)) - 1
    return float(f"{math.ceil(value / 10.0**unit - 1e-9)}e{unit}")


def cost_in_words(seconds: float, memory: float) -> str:
    """A predicted cost as people say it.

    Examples
    --------
    >>> cost_in_words(3 * 3600, 40 * 2**30)
    'about 3 hours and 40 GiB'
    >>> cost_in_words(0.2, 2**20)
    'under a second and 1 MiB'
    """
    time = time_in_words(seconds)
    for unit, size in (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20)):
        if memory >= size:
            amount = memory / size
            return f"{time} and " + (
                f"{amount:.3g} {unit}" if amount < 1e6 else f"more than a million {unit}"
            )
    return f"{time} and under 1 MiB"


def time_in_words(seconds: float) -> str:
    """A predicted time as people say it.

    Examples
    --------
    >>> time_in_words(90)
    'about 90 seconds'
    """
    for unit, length in (
        ("years", 365.25 * 86400),
        ("days", 86400),
        ("hours", 3600),
        ("minutes", 60),
        ("seconds", 1),
    ):
        if seconds >= 2 * length or (unit == "seconds" and seconds >= 1):
            if seconds >= 1e6 * length:
                return f"more than a million {unit}"
            number = f"{seconds / length:.3g}"
            return f"about {number} {unit if number != '1' else unit[:-1]}"
    return "under a second"

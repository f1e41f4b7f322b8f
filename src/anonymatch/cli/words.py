"""Numbers and names as people read them."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

from anonymatch.base.text import Argument, as_option, in_bits, name, names
from anonymatch.measures import Interval
from anonymatch.running import Allowance, rounded_up

__all__ = [
    "all_digits",
    "bits",
    "bits_between",
    "name",
    "names",
    "number",
    "option",
    "plural",
    "power",
    "share",
    "share_between",
]

_SHORT = 21  # digits that are still read as a number
_ROUNDING = 1e-12  # of shares that are computed from logs
_LN2, _LN10 = math.log(2.0), math.log(10.0)
_PIECE_BITS = 4096  # below it Python's own conversion is fast, and within its limit on digits


def option(argument: Argument) -> str:
    """An argument that a message names, as the option that gives it.

    Examples
    --------
    >>> option(Argument("cover", 1))
    '--cover 1'
    >>> option(Argument("budget", Allowance(seconds=12.3, memory=2**31)))
    '--budget 13 --memory 2'
    """
    if isinstance(argument.value, Allowance):
        return _allowance(argument.value)
    return as_option(argument)


def _allowance(needed: Allowance) -> str:
    """A budget as options: whole seconds, and GiB."""
    seconds = [] if needed.seconds is None else [f"--budget {math.ceil(needed.seconds)}"]
    gib = [] if needed.memory is None else [f"--memory {rounded_up(needed.memory / 2**30):g}"]
    return " ".join(seconds + gib)


def plural(amount: int, noun: str, several: str | None = None) -> str:
    """An amount with its noun.

    Examples
    --------
    >>> plural(1, "user"), plural(12000, "user"), plural(2, "guess", "guesses")
    ('1 user', '12,000 users', '2 guesses')
    """
    return f"{amount:,} {noun if amount == 1 else several or noun + 's'}"


def number(value: int | Fraction | float, log: float) -> str:
    """A count: digits when it is short, a power of two otherwise.

    Examples
    --------
    >>> number(1854, math.log(1854)), number(2**200, 200 * math.log(2))
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
    return in_bits(_amount(log))


def bits_between(low: float, high: float) -> str:
    """An interval of natural logs as bits.

    Examples
    --------
    >>> bits_between(math.log(2), math.log(1024))
    '1 to 10 bits'
    """
    return f"{_amount(low)} to {bits(high)}"


def _amount(log: float) -> str:
    value = log / _LN2
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 1 else f"{round(value, 2) + 0.0:g}"


def share(value: float) -> str:
    """A probability or share in percent; 100 % and 0 % only when it is nothing else.

    Examples
    --------
    >>> share(1.0), share(0.99999), share(0.123), share(1e-9), share(0.0)
    ('100 %', '>99.9 %', '12.3 %', '<0.1 %', '0 %')
    """
    if value == 0.0 or abs(value - 1.0) < _ROUNDING:
        return f"{value:.0%}".replace("%", " %")
    if value > 0.999:
        return ">99.9 %"
    return f"{100 * value:.3g} %" if value >= 0.001 else "<0.1 %"


def share_between(figure: Interval) -> str:
    """A share with the interval that holds it: one number where both ends read the same.

    Examples
    --------
    >>> share_between(Interval(0.25, 0.25, 0.25)), share_between(Interval(0.97, 0.965, 0.98))
    ('25 %', '96.5 % to 98 %')
    """
    if figure.high - figure.low <= 1e-4:
        return share(figure.value)
    return f"{share(figure.low)} to {share(figure.high)}"


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

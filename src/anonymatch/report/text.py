"""Names and values as pictures and pages show them."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from fractions import Fraction

__all__ = ["label", "plain", "plural", "shown", "subscript", "superscript", "text_width"]

_UP = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOWN = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DIGITS = 21  # of a number that is still read as one
_NARROW, _WIDE = 0.56, 1.0  # of the height of the letters: an average, and Chinese or Japanese


def plain(text: str) -> str:
    r"""The text without characters that a page cannot hold or that change the reading order.

    Line breaks and tabs stay. Everything else that controls is spelt out.

    Examples
    --------
    >>> plain("two\nlines"), plain("\x00 and \u202e")
    ('two\nlines', '\\x00 and \\u202e')
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or not _controls(c) else repr(c)[1:-1] for c in text)


def label(value: object, most: int = 28) -> str:
    r"""A name on one line of at most ``most`` characters.

    Examples
    --------
    >>> label("ann"), label("two\nlines"), label("a name that goes on", 8)
    ('ann', 'two\\nlines', 'a name …')
    """
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
    return text if len(text) <= most else text[: most - 1] + "…"


def plural(amount: int, noun: str, several: str | None = None) -> str:
    """An amount with its noun.

    Examples
    --------
    >>> plural(1, "user"), plural(12000, "user"), plural(0, "copy", "copies")
    ('1 user', '12,000 users', '0 copies')
    """
    return f"{shown(amount)} {noun if amount == 1 else several or noun + 's'}"


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
        return f"{value:,}" if abs(value) < 10**_DIGITS else _power(value)
    if isinstance(value, Fraction):
        return _ratio(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return ", ".join(shown(each) for each in value)
    return str(value)


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


def text_width(text: str, size: float) -> float:
    """How wide the text is when its letters are ``size`` high: an estimate, to leave room for it.

    Examples
    --------
    >>> text_width("ann", 10.0), text_width("漢字", 10.0)
    (16.8, 20.0)
    """
    return size * sum(
        _WIDE if unicodedata.east_asian_width(c) in "WF" else _NARROW
        for c in text
        if not unicodedata.combining(c)
    )


def _controls(c: str) -> bool:
    return unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn")


def _power(value: int) -> str:
    return f"{'−' if value < 0 else ''}2^{math.log2(abs(value)):.6g}"


def _ratio(value: Fraction) -> str:
    if value.denominator == 1:
        return shown(value.numerator)
    if max(abs(value.numerator), value.denominator) < 10**_DIGITS:
        return f"{value.numerator}/{value.denominator}"
    log = math.log2(abs(value.numerator)) - math.log2(value.denominator)
    return f"{'−' if value < 0 else ''}2^{log:.6g}"


def _float(value: float) -> str:
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.6g}"

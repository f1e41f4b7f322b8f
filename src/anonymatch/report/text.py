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
_SIZES = (("tiny", 10.0), ("small", 11.0))  # classes of colours.STYLE that set a size
_SIZE = 13.0
_BOLD = 1.1  # how much wider bold letters are
_WIDE, _OTHER = 1.0, 0.6  # Chinese or Japanese, and letters that are not listed, in sizes
# In sizes, halfway between Arial and DejaVu Sans: neither is pulled by more than 8 %.
_WIDTHS = {
    letter: width
    for width, letters in (
        (0.24, "'ijl"),
        (0.28, " ,.I|·"),
        (0.32, "!/:;[\\]ft"),
        (0.36, "()-r¹²³"),
        (0.4, '"J`⁰⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉'),
        (0.44, "*"),
        (0.48, "{}"),
        (0.52, "_cksz–⁻"),
        (0.56, "?Lvxy"),
        (0.6, "$0123456789FTabdeghnopqu"),
        (0.64, "EPSYZ^"),
        (0.68, "#ABKVX↓"),
        (0.72, "&+<=>CHNRU~×−"),
        (0.76, "DGw∞"),
        (0.8, "OQ"),
        (0.84, "M"),
        (0.92, "%m→"),
        (0.96, "W"),
        (1.0, "@—…"),
    )
    for letter in letters
}


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


def text_width(text: str, classes: str = "") -> float:
    """How wide a text with these classes is in a picture, in pixels.

    It is no guess: :func:`~anonymatch.report.drawings.svg.text` draws it so wide with
    whatever font there is.

    Examples
    --------
    >>> [round(text_width(*given), 2) for given in (("ann",), ("ann", "end small"), ("漢字",))]
    [23.4, 19.8, 26.0]
    """
    size = next((size for name, size in _SIZES if name in classes.split()), _SIZE)
    bold = _BOLD if "bold" in classes.split() else 1.0
    return size * bold * sum(map(_letter_width, plain(text)))


def _letter_width(letter: str) -> float:
    known = _WIDTHS.get(letter)
    if known is not None:
        return known
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return _WIDE
    return _WIDTHS.get(unicodedata.normalize("NFD", letter)[0], _OTHER)  # é is as wide as e


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

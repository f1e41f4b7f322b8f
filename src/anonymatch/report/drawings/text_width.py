"""How wide a text is in a picture, whatever font there is."""

from __future__ import annotations

import unicodedata

from anonymatch.base.text import plain

__all__ = ["text_width"]

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

"""A tiny writer of SVG: elements are values, text is escaped, equal pictures are equal bytes.

The rules of pictures, in light and in dark, and how wide a text is whatever font there is.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from anonymatch.base.text import plain
from anonymatch.reporting.charts import DARK, GROUPS, LIGHT


def group_class(number: int) -> str:
    """The class that gives group ``number`` its colour; after the last they begin again.

    Examples
    --------
    >>> group_class(1), group_class(7)
    ('g1', 'g1')
    """
    return f"g{number % GROUPS}"


def _variables(colours: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


STYLE = (
    f":root{{color-scheme:light dark;{_variables(LIGHT)}}}\n"
    f"@media (prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}\n"
    f"@media print{{:root{{{_variables(LIGHT)}}}}}\n"
    + "".join(f".g{number}{{--c:var(--c{number})}}" for number in range(GROUPS))
    + "\n"
    + files(__package__).joinpath("pictures.css").read_text("utf-8")
)
"""Rules for every picture. Paper is white whatever the screen is."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """What is how large in drawings, in pixels, and how much of it is drawn."""

    largest: int = 40  # users, behaviours, relays, sets or members that are told apart
    wide: float = 420.0  # beyond it a picture is scrolled on a narrow screen, not shrunk further
    letter: float = 13.0
    bold: float = 1.1  # how much wider bold letters are
    full_width: float = 1.0  # of a Chinese or Japanese letter, in sizes
    unlisted: float = 0.6  # of letters that are not listed
    shades: int = 8
    # graphs
    top: float = 26.0  # room for the headings
    labelled_edges: int = 12  # with weights written on them; beyond it lines would cross them
    # matrices
    pairs: int = 200  # users or behaviours up to which there is a cell a pair
    tiles: int = 48  # cells along a side of a summed-up picture
    heat_side: float = 432.0
    ordered_edges: int = 4_000_000  # beyond them users stay in the order given
    picks: int = 4  # permutations in a row
    density_side: float = 480.0
    density_cells: tuple[int, ...] = (200, 100, 50)  # along a side, the finest first
    stretches: int = 12_000  # of equal cells in a row; a picture with more is too large a file
    # profiles
    profile_side: float = 416.0
    faint: float = 0.7  # power that lets small probabilities be seen
    least_probability: float = 0.005  # of a cell that is coloured
    in_words: int = 5  # users whose likeliest behaviour is told in words
    # sets
    room: float = 30.0  # between a member and the first curve round it
    step: float = 5.0  # between curves that would cover each other
    # parts of designs
    alone: int = 10  # parts that are drawn one by one; more are drawn once a kind
    kinds: int = 16
    part_cells: int = 12  # users of a part whose edges are drawn
    part_side: float = 108.0
    least_side: float = 22.0
    row: float = 640.0
    # networks
    unit: float = 78.0
    radius: float = 13.0
    clear: float = 2.2 * 13.0  # from the middle of a relay to a link that passes it
    looked_at: int = 8  # relays that a link keeps clear of; where there are more it cannot anyway


LAYOUT = _Layout()
LARGEST = LAYOUT.largest

_SIZES = (("tiny", 10.0), ("small", 11.0))  # classes of STYLE that set a size
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

    It is no guess: :func:`~anonymatch.reporting.drawings.svg.text` draws it so wide with
    whatever font there is.

    Examples
    --------
    >>> [round(text_width(*given), 2) for given in (("ann",), ("ann", "end small"), ("漢字",))]
    [23.4, 19.8, 26.0]
    """
    size = next((size for name, size in _SIZES if name in classes.split()), LAYOUT.letter)
    bold = LAYOUT.bold if "bold" in classes.split() else 1.0
    return size * bold * sum(map(_letter_width, plain(text)))


def _letter_width(letter: str) -> float:
    known = _WIDTHS.get(letter)
    if known is not None:
        return known
    if unicodedata.category(letter) in ("Mn", "Me"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return LAYOUT.full_width
    return _WIDTHS.get(
        unicodedata.normalize("NFD", letter)[0], LAYOUT.unlisted
    )  # é is as wide as e


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with attributes and children; text among the children is escaped when written.

    Examples
    --------
    >>> print(Element("text", (("x", "1"),), ("a < b",)))
    <text x="1">a &lt; b</text>
    """

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Element | str, ...] = ()

    def __str__(self) -> str:
        begin = "".join(f' {name}="{escape(plain(value))}"' for name, value in self.attributes)
        if not self.children:
            return f"<{self.tag}{begin}/>"
        inside = "".join(
            escape(plain(child), quote=False) if isinstance(child, str) else str(child)
            for child in self.children
        )
        return f"<{self.tag}{begin}>{inside}</{self.tag}>"


def element(
    tag: str, *children: Element | str, tip: str = "", **attributes: str | float | None
) -> Element:
    """An element; ``tip`` shows when a pointer rests on it.

    Attributes that are None are left out. ``class_`` is ``class``, and any other underscore is a
    hyphen. Numbers keep two decimals.

    Examples
    --------
    >>> print(element("circle", cx=0.5, cy=1 / 3, r=4, class_="dot", tip="ann", fill=None))
    <circle cx="0.5" cy="0.33" r="4" class="dot"><title>ann</title></circle>
    """
    given = tuple(
        (name.rstrip("_").replace("_", "-"), value if isinstance(value, str) else _number(value))
        for name, value in attributes.items()
        if value is not None
    )
    titled = (Element("title", (), (tip,)), *children) if tip else children
    return Element(tag, given, titled)


def text(
    x: float, y: float, content: str, class_: str = "", *, tip: str = "", turned: float = 0.0
) -> Element:
    """Text at a point, turned round it by degrees; ``end`` and ``middle`` say what of it is there.

    Its width is set rather than left to the font, so that a picture is laid out alike everywhere.

    Examples
    --------
    >>> print(text(1, 2, "ann", "end"))
    <text x="1" y="2" textLength="23.4" lengthAdjust="spacingAndGlyphs" class="end">ann</text>
    >>> print(text(1, 2, "", turned=90))
    <text transform="translate(1 2) rotate(90)"/>
    """
    width = text_width(content, class_)
    turn = f"translate({_number(x)} {_number(y)}) rotate({_number(turned)})" if turned else None
    return element(
        "text",
        *([content] if content else []),
        tip=tip,
        x=None if turned else x,
        y=None if turned else y,
        transform=turn,
        textLength=width or None,  # 0 is an error in some browsers
        lengthAdjust="spacingAndGlyphs" if width else None,
        class_=class_ or None,
    )


def box(
    x: float,
    y: float,
    width: float,
    height: float,
    class_: str,
    rx: float | None = None,
    **more: Any,
) -> Element:
    """A rectangle with its corner at (x, y)."""
    return element("rect", x=x, y=y, width=width, height=height, rx=rx, class_=class_, **more)


def circle(x: float, y: float, r: float, class_: str, **more: Any) -> Element:
    """A circle round (x, y)."""
    return element("circle", cx=x, cy=y, r=r, class_=class_, **more)


def line(x1: float, y1: float, x2: float, y2: float, class_: str, **more: Any) -> Element:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_, **more)


def group(*children: Element, class_: str = "", x: float = 0.0, y: float = 0.0) -> Element:
    """Elements that share a class, moved by (x, y).

    Examples
    --------
    >>> print(group(element("circle", r=2), class_="g1", x=5))
    <g class="g1" transform="translate(5 0)"><circle r="2"/></g>
    """
    move = f"translate({_number(x)} {_number(y)})" if x or y else None
    return element("g", *children, class_=class_ or None, transform=move)


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished picture, and what it shows in words.

    Attributes
    ----------
    width, height : float
        In pixels at its natural size.
    title, words : str
        What it is, and what can be seen in it, for those who do not see it.
    content : tuple of Element

    Examples
    --------
    >>> picture = Picture(20, 10, "A dot", "One dot.", (element("circle", r=2),))
    >>> print(picture.inline())
    <svg class="picture" viewBox="0 0 20 10" width="20" height="10" role="img"><title>A
    dot</title><desc>One dot.</desc><circle r="2"/></svg>
    """

    width: float
    height: float
    title: str
    words: str
    content: tuple[Element, ...]

    def inline(self) -> str:
        """As part of a page that holds ``svg.STYLE`` once."""
        return str(self._element())

    def __html__(self) -> str:
        return self.inline()

    def standalone(self) -> str:
        """As a file of its own, with its colours.

        Examples
        --------
        >>> Picture(1, 1, "Nothing", "Empty.", ()).standalone()[:45]
        '<svg xmlns="http://www.w3.org/2000/svg" class'
        """
        return str(self._element(alone=True)) + "\n"

    def at(self, x: float, y: float) -> Element:
        """As part of a larger picture, at (x, y)."""
        return group(*self.content, x=x, y=y)

    def _element(self, *, alone: bool = False) -> Element:
        content = (element("style", STYLE), *self.content) if alone else self.content
        return element(
            "svg",
            element("title", self.title),
            element("desc", self.words),
            *content,
            **({"xmlns": "http://www.w3.org/2000/svg"} if alone else {}),
            class_="picture wide" if self.width > LAYOUT.wide else "picture",
            viewBox=f"0 0 {_number(self.width)} {_number(self.height)}",
            width=self.width,
            height=self.height,
            role="img",
        )


def _number(value: float) -> str:
    """Two decimals at most, and never minus zero.

    Examples
    --------
    >>> [_number(value) for value in (1.0, 0.125, -0.001, 1234.5)]
    ['1', '0.12', '0', '1234.5']
    """
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if short == "-0" else short

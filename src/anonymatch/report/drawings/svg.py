"""A tiny writer of SVG: elements are values, text is escaped, equal pictures are equal bytes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from anonymatch.base.text import plain
from anonymatch.report.drawings.colours import STYLE
from anonymatch.report.drawings.text_width import text_width

__all__ = ["Element", "Picture", "element", "group", "text"]

_WIDE = 420.0  # beyond it a picture is scrolled on a narrow screen rather than shrunk further


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
    x: float,
    y: float,
    content: str,
    class_: str = "",
    *,
    tip: str = "",
    turned: float = 0.0,
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
        """As part of a page that holds ``colours.STYLE`` once."""
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
            class_="picture wide" if self.width > _WIDE else "picture",
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

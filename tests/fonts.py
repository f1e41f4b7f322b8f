"""Fonts with the widths of well-known families, made by the tests, so that no machine needs them.

Letters are boxes as wide as the family's own. ``golden/font_widths.json`` has these widths in
thousandths of the size, and what the letters rise and descend.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["FAMILIES", "only_font", "width_in"]

_GOLDEN = Path(__file__).parent / "golden" / "font_widths.json"
FAMILIES: dict[str, dict[str, Any]] = json.loads(_GOLDEN.read_text(encoding="utf-8"))
_MISSING = 600  # as wide as letters that the family does not have

_CONFIGURATION = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{fonts}</dir><cachedir>{cache}</cachedir></fontconfig>
"""


def only_font(family: str, folder: Path) -> Path:
    """A configuration of fontconfig under which ``family`` is the only font, in two weights."""
    fonts = folder / "fonts"
    fonts.mkdir()
    for style, weight in (("regular", 400), ("bold", 700)):
        _write(family, style, weight, fonts / f"{style}.ttf")
    configuration = folder / "fonts.conf"
    configuration.write_text(_CONFIGURATION.format(fonts=fonts, cache=folder / "cache"))
    return configuration


def width_in(family: str, text: str, size: float) -> float:
    """How wide the family is meant to make a text, in pixels."""
    widths = _widths(family, "regular")
    return size / 1000 * sum(widths[letter] for letter in text)


def _widths(family: str, style: str) -> dict[str, int]:
    groups: dict[str, str] = FAMILIES[family][style]
    return {letter: int(width) for width, letters in groups.items() for letter in letters}


def _write(family: str, style: str, weight: int, path: Path) -> None:
    from fontTools.fontBuilder import FontBuilder  # most runs of tests make no font

    known = FAMILIES[family]
    widths = {f"u{ord(c):04X}": width for c, width in _widths(family, style).items()}
    advances = {".notdef": _MISSING, **widths}
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(advances))
    builder.setupCharacterMap({int(name[1:], 16): name for name in widths})
    builder.setupGlyf({name: _box(name, width) for name, width in advances.items()})
    builder.setupHorizontalMetrics({name: (width, 0) for name, width in advances.items()})
    up, down = known["ascent"], known["descent"]
    builder.setupHorizontalHeader(ascent=up, descent=-down)
    builder.setupNameTable({"familyName": f"Boxes of {family}", "styleName": style.title()})
    builder.setupOS2(
        sTypoAscender=up, sTypoDescender=-down, usWinAscent=up, usWinDescent=down,
        usWeightClass=weight, fsSelection=0x20 if weight == 700 else 0x40,
    )  # fmt: skip
    builder.setupHead(unitsPerEm=1000, macStyle=1 if weight == 700 else 0)
    builder.setupPost()
    builder.save(path)


def _box(name: str, width: int) -> Any:
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    if name != "u0020":
        corners = [(60, 0), (60, 500), (width - 60, 500), (width - 60, 0)]
        pen.moveTo(corners[0])
        for corner in corners[1:]:
            pen.lineTo(corner)
        pen.closePath()
    return pen.glyph()

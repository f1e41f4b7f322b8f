"""Axes of charts: lines, numbers and what is measured."""

from __future__ import annotations

from anonymatch.report.charts.scales import Scale
from anonymatch.report.drawings.svg import Element, element, text

__all__ = ["axes", "ground"]


def axes(along: Scale, down: Scale, x_label: str, y_label: str) -> list[Element]:
    """Lines and numbers of both axes; the vertical one is named above its end.

    Examples
    --------
    >>> drawn = axes(Scale(0, 1, 0, 100), Scale(0, 1, 50, 10), "steps", "bits")
    >>> print(drawn[-1])
    <text x="50" y="87" textLength="28.16" lengthAdjust="spacingAndGlyphs" class="middle small
    soft">steps</text>
    """
    drawn = [
        part
        for tick in down.ticks()
        for y in [down.at(tick)]
        for part in (
            element("line", x1=along.begin, y1=y, x2=along.end, y2=y, class_="frame"),
            text(along.begin - 8, y + 4, down.written(tick), "end small soft"),
        )
    ]
    if y_label:
        drawn.append(text(4, down.end - 12, y_label, "small soft"))
    return drawn + ground(along, down.begin, down.begin, x_label)


def ground(along: Scale, top: float, bottom: float, x_label: str) -> list[Element]:
    """The horizontal axis at ``bottom``, with lines up to ``top`` at its numbers."""
    drawn = [element("line", x1=along.begin, y1=bottom, x2=along.end, y2=bottom, class_="axis")]
    for tick in along.ticks():
        x = along.at(tick)
        drawn.append(element("line", x1=x, y1=top, x2=x, y2=bottom + 4, class_="frame"))
        drawn.append(text(x, bottom + 18, along.written(tick), "middle small soft"))
    if x_label:
        middle = (along.begin + along.end) / 2
        drawn.append(text(middle, bottom + 37, x_label, "middle small soft"))
    return drawn

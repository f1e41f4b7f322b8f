"""Bars side by side with the interval that holds each value."""

from __future__ import annotations

from collections.abc import Sequence

from anonymatch.base.errors import InputError
from anonymatch.base.text import label
from anonymatch.measures import Interval
from anonymatch.report.charts.scales import scale
from anonymatch.report.drawings.colours import group_class
from anonymatch.report.drawings.svg import Element, Picture, element, group, text
from anonymatch.report.drawings.text_width import text_width

__all__ = ["interval_bars"]

_WIDTH = 450.0
_ROW = 26.0
_LEAST = 60.0  # of the longest bar, however much is written beside it


def interval_bars(
    names: Sequence[str],
    figures: Sequence[Interval | None],
    texts: Sequence[str],
    *,
    title: str,
) -> Picture:
    """A bar a name, as long as its value, and a line across its end from low to high.

    Parameters
    ----------
    names, texts : sequence of str
        Left and right of each bar.
    figures : sequence of Figure or None
        None where there is nothing to draw.
    title : str

    Examples
    --------
    >>> bars = [Interval(1.0, 0.8, 1.2), None]
    >>> interval_bars(["a", "b"], bars, ["1", "not known"], title="Bits").words
    'a: 1. b: not known.'
    """
    if not len(names) == len(figures) == len(texts):
        raise InputError("bars need as many names and texts as figures")
    shown_names = [label(name, 18) for name in names]
    left = max([20.0, *map(text_width, shown_names)]) + 14
    right = max([20.0, *(text_width(each, "bold") for each in texts)]) + 18
    known = [figure for figure in figures if figure is not None]
    ends = [end for figure in known for end in (figure.low, figure.high)]
    width = max(_WIDTH, left + _LEAST + right)
    along = scale(ends or [1.0], left, width - right, zero=True)
    drawn: list[Element] = []
    for number, (name, figure, value_text) in enumerate(
        zip(shown_names, figures, texts, strict=True)
    ):
        y = 6.0 + _ROW * number
        drawn.append(text(left - 8, y + 13.5, name, "end"))
        x = along.begin
        if figure is not None:
            begin, end = sorted((along.at(0.0), along.at(figure.value)))
            low, high = along.at(figure.low), along.at(figure.high)
            parts = [
                element(
                    "rect", x=begin, y=y, width=max(end - begin, 1.0), height=18, rx=2,
                    class_="bar", tip=f"{name}: {value_text}",
                )
            ]  # fmt: skip
            if high - low > 1:
                reach = f"M{low:.1f} {y + 9:g}H{high:.1f}M{low:.1f} {y + 4:g}v10M{high:.1f} "
                parts.append(element("path", d=f"{reach}{y + 4:g}v10", class_="whisker"))
            drawn.append(group(*parts, class_=group_class(number)))
            x = max(end, high)
        classes = "bold" if figure is not None else "soft"
        drawn.append(text(x + 7, y + 13.5, value_text, classes))
    words = " ".join(
        f"{name}: {value_text}." for name, value_text in zip(shown_names, texts, strict=True)
    )
    return Picture(width, 10.0 + _ROW * len(names), title, words, tuple(drawn))

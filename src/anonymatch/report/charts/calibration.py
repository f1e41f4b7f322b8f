"""Promised probabilities against what came true."""

from __future__ import annotations

import math
from collections.abc import Sequence

from anonymatch.audits import Bin
from anonymatch.base.numbers import percent, plural
from anonymatch.report.charts.axes import axes
from anonymatch.report.charts.scales import Scale
from anonymatch.report.drawings.svg import Element, Picture, element, group

__all__ = ["calibration_chart"]

_SIDE = 300.0
_LEFT, _TOP = 46.0, 30.0
_ERRORS = 2.0  # standard errors up and down, where 19 of 20 kept promises lie


def calibration_chart(bins: Sequence[Bin], *, title: str) -> Picture:
    """A dot for the guesses of each promised probability; kept promises lie on the diagonal.

    A bar around the diagonal says how far chance alone may carry a dot.

    Examples
    --------
    >>> bins = [Bin(low=0.2, high=0.3, guesses=100, promised=0.25, right=0.24)]
    >>> calibration_chart(bins, title="Calibration").words
    '100 guesses were promised 25 % and 24 % of them were right.'
    """
    along = Scale(0.0, 100.0, _LEFT, _LEFT + _SIDE)
    down = Scale(0.0, 100.0, _TOP + _SIDE, _TOP)
    most = max((each.guesses for each in bins), default=1)
    words = [
        f"{plural(each.guesses, 'guess', 'guesses')} were promised {percent(each.promised)} and "
        f"{percent(each.right)} of them were right."
        for each in bins
    ]
    drawn = [
        *axes(along, down, "promised probability, %", "came true, %"),
        element(
            "line",
            x1=along.begin,
            y1=down.begin,
            x2=along.end,
            y2=down.end,
            class_="edge",
            stroke_dasharray="6 4",
        ),
        *(_dot(each, along, down, most, tip) for each, tip in zip(bins, words, strict=True)),
    ]
    return Picture(_LEFT + _SIDE + 20, _TOP + _SIDE + 44, title, " ".join(words), tuple(drawn))


def _dot(each: Bin, along: Scale, down: Scale, most: int, tip: str) -> Element:
    """As large as there are guesses, and the bar that probability allows."""
    error = _ERRORS * math.sqrt(each.promised * (1 - each.promised) / each.guesses)
    x = along.at(100 * each.promised)
    low, high = (down.at(100 * (each.promised + side * error)) for side in (-1, 1))
    radius = 3.0 + 6.0 * math.sqrt(each.guesses / most)
    return group(
        element("rect", x=x - 4, y=high, width=8, height=max(low - high, 1.0), class_="span"),
        element("circle", cx=x, cy=down.at(100 * each.right), r=radius, class_="dot", tip=tip),
        class_="g0",
    )

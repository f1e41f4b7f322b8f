"""Promised probabilities against what came true."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from anonymatch.base.numbers import percent, plural
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import AnyChart, inline, themed

__all__ = ["Kept", "calibration_chart"]

_SIDE = 320
_ERRORS = 2.0  # standard errors up and down, where 19 of 20 kept promises lie


class Kept(NamedTuple):
    """Guesses that were promised about the same: how many, the mean promise, the share right."""

    guesses: int
    promised: float
    right: float


def calibration_chart(groups: Sequence[Kept], *, title: str) -> AnyChart:
    """A dot a group, as large as it has guesses; kept promises lie on the diagonal.

    A bar around the diagonal says how far chance alone may carry a dot.

    Examples
    --------
    >>> chart = calibration_chart([Kept(100, 0.25, 0.24)], title="Calibration")
    >>> chart.to_dict()["description"]
    'Calibration. 100 guesses were promised 25 % and 24 % of them were right.'
    """
    import altair as alt

    rows = [_row(group) for group in groups]
    scale = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format="%", tickCount=5)
    x = alt.X("promised:Q", title="promised probability", scale=scale, axis=axis)
    ends = [{"promised": 0, "right": 0}, {"promised": 1, "right": 1}]
    y = alt.Y("right:Q", title="came true", scale=scale, axis=axis)
    diagonal = alt.Chart(inline(ends)).mark_line(
        strokeDash=[6, 4], color=LIGHT["soft"], strokeWidth=1.5
    )
    base = alt.Chart(inline(rows)).encode(x=x)
    chance = base.mark_bar(width=9, color=LIGHT["c0"], opacity=0.22)
    tooltip = [
        alt.Tooltip("number:N", title="guesses"),
        alt.Tooltip("promised:Q", title="promised", format=".3~%"),
        alt.Tooltip("right:Q", title="came true", format=".3~%"),
        alt.Tooltip("chance:N", title="by chance"),
    ]
    size = alt.Size("guesses:Q", legend=None, scale=alt.Scale(type="sqrt", range=[40, 260]))
    dots = base.mark_point(filled=True, opacity=1, color=LIGHT["c0"])
    chart = alt.layer(
        diagonal.encode(x=x, y=y),
        chance.encode(y=alt.Y("low:Q"), y2="high:Q"),
        dots.encode(y=y, size=size, tooltip=tooltip),
    )
    words = " ".join(
        f"{plural(group.guesses, 'guess', 'guesses')} were promised {percent(group.promised)} and "
        f"{percent(group.right)} of them were right."
        for group in groups
    )
    return themed(chart.properties(width=_SIDE, height=_SIDE), title=title, words=words)


def _row(group: Kept) -> dict[str, Any]:
    error = _ERRORS * math.sqrt(group.promised * (1 - group.promised) / group.guesses)
    low, high = max(group.promised - error, 0.0), min(group.promised + error, 1.0)
    return {
        **group._asdict(),
        "number": f"{group.guesses:,}",
        "low": low,
        "high": high,
        "chance": f"{percent(low)} to {percent(high)}",
    }

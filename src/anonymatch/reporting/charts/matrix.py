"""The matrix of a long log: who fits what, by the time of arrival and the delay."""

from __future__ import annotations

from typing import Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import amount
from anonymatch.reporting.charts.lines import zoom
from anonymatch.reporting.charts.over_time import time_unit
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import HEIGHT, WIDTH, AnyChart, themed

__all__ = ["CELLS", "matrix_over_time"]

CELLS = (120, 24)
"""Along time and along delays, at most."""

_SHADES = 8


def matrix_over_time(
    density: Floats,
    *,
    lasted: float,
    delays: tuple[float, float],
    title: str,
    noun: str,
    behaviours: str,
) -> AnyChart:
    """Cells by time and delay, the darker the more candidates of that delay a user has.

    Parameters
    ----------
    density : array
        Candidates a user in each cell: a row a stretch of time, a column a stretch of delays.
    lasted : float
        Seconds from the first arrival to the last.
    delays : tuple of float
        The shortest and the longest, in seconds.
    title : str
    noun, behaviours : str
        Whose times these are, and what candidates are.

    Examples
    --------
    >>> chart = matrix_over_time(
    ...     np.array([[0.5, 0.0], [1.0, 1.0]]), lasted=10, delays=(1, 5), title="Matrix",
    ...     noun="message", behaviours="messages out",
    ... )
    >>> chart.to_dict()["description"]
    'Matrix. Over 10 seconds a message fits 1.25 messages out, after 1 to 5 seconds.'
    """
    import altair as alt

    across, up = density.shape
    size, unit = time_unit(lasted)
    fullest = float(density.max(initial=0.0)) or 1.0
    steps = np.ceil(density / fullest * _SHADES).astype(np.int64)
    width, (low, high) = lasted / size / across, delays
    height = (high - low) / up
    data = alt.Data(values=steps.ravel().tolist())  # type: ignore[no-untyped-call]
    # The place of a cell follows from its number: so a cell takes two characters of a page.
    base = (
        alt.Chart(data)
        .transform_window(number="row_number()")
        .transform_filter("datum.data > 0")
        .transform_calculate(
            x=f"floor((datum.number - 1) / {up}) * {width!r}",
            y=f"{low!r} + ((datum.number - 1) % {up}) * {height!r}",
            candidates=f"datum.data * {fullest / _SHADES!r}",
        )
        .transform_calculate(end=f"datum.x + {width!r}", top=f"datum.y + {height!r}")
    )
    shade = alt.Opacity(
        "candidates:Q",
        title=f"{behaviours} of that delay that fit a {noun}",
        scale=alt.Scale(domain=[0, fullest], range=[0.04, 1.0]),
        legend=alt.Legend(
            format=",.2~r",
            tickCount=4,
            symbolType="square",
            symbolFillColor=LIGHT["c0"],
            symbolStrokeWidth=0,
            titleLimit=WIDTH,
            titleFontWeight="normal",
            columns=8,
        ),
    )
    tooltip = [
        alt.Tooltip("x:Q", title=f"came in, {unit}", format=",.4~r"),
        alt.Tooltip("y:Q", title="delay from, seconds", format=",.4~r"),
        alt.Tooltip("candidates:Q", title=f"{behaviours} that fit, at most", format=",.2~r"),
    ]
    cells = base.mark_rect(color=LIGHT["c0"], aria=False, clip=True).encode(
        x=_x(lasted / size, f"{unit} since the first {noun}"),
        x2="end:Q",
        y=_y(delays),
        y2="top:Q",
        opacity=shade,
        order=alt.Order("candidates:Q"),  # cells of one shade follow each other
        tooltip=tooltip,
    )
    chart = cells.properties(width=WIDTH, height=HEIGHT).add_params(zoom())
    mean = float(density.sum()) / across
    words = (
        f"Over {amount(lasted / size)} {unit} a {noun} fits {amount(mean)} {behaviours}, after "
        f"{amount(low)} to {amount(high)} seconds."
    )
    return themed(chart, title=title, words=words)


def _x(last: float, label: str) -> Any:
    import altair as alt

    axis = alt.Axis(format=",~r", grid=False)
    return alt.X("x:Q", title=label, axis=axis, scale=alt.Scale(domain=[0, last], nice=False))


def _y(delays: tuple[float, float]) -> Any:
    import altair as alt

    axis = alt.Axis(format=",~r", grid=False, tickCount=6)
    scale = alt.Scale(domain=list(delays), nice=False)
    return alt.Y("y:Q", title="delay, seconds", axis=axis, scale=scale)

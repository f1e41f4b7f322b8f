"""What is paid against what is got: systems as points with their intervals, others as lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anonymatch.base.numbers import amount, span
from anonymatch.base.text import label
from anonymatch.reporting.charts.lines import Line, Rule, line_chart
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import AnyChart, inline

__all__ = ["Point", "scatter_chart"]


@dataclass(frozen=True, slots=True)
class Point:
    """A system: what it costs, what it gives, and between what that is known to lie.

    Its name is written on one ``side``, left or right.
    """

    name: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    side: str = "right"


def scatter_chart(
    points: Sequence[Point],
    lines: Sequence[Line] = (),
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    rules: Sequence[Rule] = (),
) -> AnyChart:
    """Points with names among lines; the first is the one that it is about, and stands out.

    Examples
    --------
    >>> chart = scatter_chart(
    ...     [Point("this system", 4, 1.1, 1.0, 1.2)], [Line("best", [1, 8], [0, 3])],
    ...     title="Cost", x_label="candidates", y_label="bits",
    ... )
    >>> chart.to_dict()["description"]
    'Cost. best: from 0 at 1 to 3 at 8. this system: 1 to 1.2 at 4.'
    """
    unseen = Line("", [point.x for point in points], [point.y for point in points])
    chart: Any = line_chart(
        lines or [unseen],
        title=title,
        x_label=x_label,
        y_label=y_label,
        log_x=log_x,
        rules=rules,
    )
    for place, point in enumerate(points):
        chart = chart + _point(point, x_label, y_label, first=not place)
    told = " ".join(_told(point) for point in points)
    said = f"{title}." if not lines else chart.description
    chart.description = f"{said} {told}"
    drawn: AnyChart = chart
    return drawn


def _point(point: Point, x_label: str, y_label: str, *, first: bool) -> Any:
    """A dot with its name, and a line from the least to the most that it may be."""
    import altair as alt

    low, high = (point.y if end is None else end for end in (point.low, point.high))
    row = {"x": point.x, "y": point.y, "low": low, "high": high, "name": label(point.name)}
    row["ends"] = span(point.y, low, high)
    base = alt.Chart(inline([row])).encode(x="x:Q")
    colour = LIGHT["ink"] if first else LIGHT["soft"]
    tooltip = [
        alt.Tooltip("name:N", title="system"),
        alt.Tooltip("x:Q", title=x_label, format=",.4~r"),
        alt.Tooltip("ends:N", title=y_label),
    ]
    whisker = base.mark_rule(strokeWidth=2.4, color=colour).encode(y="low:Q", y2="high:Q")
    dot = base.mark_point(
        filled=True,
        size=150 if first else 80,
        shape="circle" if first else "diamond",
        color=colour,
        opacity=1,
        stroke=LIGHT["paper"],
    ).encode(y="y:Q", tooltip=tooltip)
    left = point.side == "left"
    place: dict[str, Any] = {
        "align": "right" if left else "left",
        "dx": -10 if left else 10,
        "dy": 12 if first else -6,
        "fontWeight": 600 if first else 400,
    }
    halo = base.mark_text(stroke=LIGHT["paper"], strokeWidth=4, aria=False, **place)
    text = base.mark_text(color=colour, **place)
    named = [each.encode(y="y:Q", text="name:N") for each in (halo, text)]
    return alt.layer(*([whisker] if low < high else []), dot, *named)


def _told(point: Point) -> str:
    low, high = (point.y if end is None else end for end in (point.low, point.high))
    return f"{label(point.name)}: {span(point.y, low, high)} at {amount(point.x)}."

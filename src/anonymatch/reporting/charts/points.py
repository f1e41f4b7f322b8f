"""Systems as points with intervals: price against worth, and differences from one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from anonymatch.base.numbers import amount
from anonymatch.base.text import label
from anonymatch.reporting.charts.lines import series_look, without_shape
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import HEIGHT, WIDTH, AnyChart, inline, themed

__all__ = ["Difference", "SystemPoint", "difference_chart", "point_chart"]

_ROW = 34


class SystemPoint(NamedTuple):
    """A system: what it costs, what it is worth with the ends of that, and a second price."""

    name: str
    x: float
    y: float
    low: float
    high: float
    size: float | None = None


class Difference(NamedTuple):
    """By how much a figure differs, and between what that lies."""

    title: str
    name: str
    value: float
    low: float
    high: float


def point_chart(
    points: Sequence[SystemPoint],
    *,
    title: str,
    x_label: str,
    y_label: str,
    size_label: str = "",
) -> AnyChart:
    """A point a system, as large as its second price, with its interval.

    Examples
    --------
    >>> chart = point_chart(
    ...     [SystemPoint("a", 1, 3, 2.9, 3.1)], title="Price", x_label="s", y_label="bits"
    ... )
    >>> chart.to_dict()["description"]
    'Price. a: 3 (2.9 to 3.1) at 1.'
    """
    import altair as alt

    names = [label(point.name) for point in points]
    rows = [{**point._asdict(), "series": name} for point, name in zip(points, names, strict=True)]
    across = alt.X("x:Q", title=x_label, scale=alt.Scale(zero=True))
    up = alt.Y("y:Q", title=y_label, scale=alt.Scale(zero=True))
    base = alt.Chart(inline(rows)).encode(x=across)
    look = series_look(names)
    tooltip = [
        alt.Tooltip("name:N", title="system"),
        alt.Tooltip("x:Q", title=x_label, format=",.4~g"),
        alt.Tooltip("y:Q", title=y_label, format=",.4~g"),
        alt.Tooltip("low:Q", title="at least", format=",.4~g"),
        alt.Tooltip("high:Q", title="at most", format=",.4~g"),
    ]
    dots = base.mark_point(filled=True, size=140).encode(y=up, **look)
    sizes = {point.size for point in points}
    if size_label and None not in sizes:
        tooltip.append(alt.Tooltip("size:Q", title=size_label, format=",.4~g"))
        scale = alt.Scale(type="sqrt", domainMin=0, range=[20, 420])
        if len(sizes) > 1:
            dots = dots.encode(size=alt.Size("size:Q", title=size_label, scale=scale))
    whiskers = base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q")
    texts = base.mark_text(align="right", dx=-14, dy=-6, fontWeight=600).encode(y=up)
    chart = alt.layer(
        whiskers.encode(**without_shape(look)),
        dots.encode(tooltip=tooltip),
        texts.encode(text="series:N"),
    ).properties(width=WIDTH, height=HEIGHT)
    shown = alt.selection_point(name="shown", fields=["series"], bind="legend")
    words = " ".join(
        f"{name}: {amount(point.y)} ({amount(point.low)} to {amount(point.high)}) at "
        f"{amount(point.x)}."
        for name, point in zip(names, points, strict=True)
    )
    return themed(chart.add_params(shown), title=title, words=words)


def difference_chart(differences: Sequence[Difference], *, title: str, x_label: str) -> AnyChart:
    """A row a figure: its difference and the interval that holds it, beside the line of none.

    Examples
    --------
    >>> rows = [Difference("entropy", "b", 0.5, 0.4, 0.6)]
    >>> difference_chart(rows, title="More", x_label="bits").to_dict()["description"]
    'More. entropy of b: 0.5 (0.4 to 0.6).'
    """
    import altair as alt

    names = list(dict.fromkeys(label(each.name) for each in differences))
    rows = [{**each._asdict(), "series": label(each.name)} for each in differences]
    titles = list(dict.fromkeys(each.title for each in differences))
    look: dict[str, Any] = series_look(names)
    offset = alt.YOffset("series:N", sort=names)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("title:N", title=None, sort=titles, axis=alt.Axis(labelLimit=200)),
        yOffset=offset,
    )
    across = alt.X("value:Q", title=x_label, scale=alt.Scale(zero=True, padding=12))
    tooltip = [
        alt.Tooltip("title:N", title="figure"),
        alt.Tooltip("name:N", title="system"),
        alt.Tooltip("value:Q", title="difference", format="+,.4~g"),
        alt.Tooltip("low:Q", title="at least", format="+,.4~g"),
        alt.Tooltip("high:Q", title="at most", format="+,.4~g"),
    ]
    none = alt.Chart(inline([{"at": 0.0}])).mark_rule(strokeDash=[5, 4], color=LIGHT["soft"])
    spans = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q"), x2="high:Q")
    dots = base.mark_point(filled=True, size=110).encode(x=across, tooltip=tooltip, **look)
    chart = alt.layer(none.encode(x="at:Q"), spans.encode(**without_shape(look)), dots)
    height = _ROW * max(len(titles), 1) * max(1.0, 0.6 * len(names))
    words = " ".join(
        f"{each.title} of {label(each.name)}: {amount(each.value)} ({amount(each.low)} to "
        f"{amount(each.high)})."
        for each in differences
    )
    shown = alt.selection_point(name="shown", fields=["series"], bind="legend")
    sized = chart.properties(width=WIDTH, height=round(height)).add_params(shown)
    return themed(sized, title=title, words=words)

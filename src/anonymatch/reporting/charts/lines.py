"""Curves: a line a series with its interval, hover, a legend that switches, zoom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import shown
from anonymatch.base.text import label
from anonymatch.reporting.charts.palette import GROUPS, LIGHT
from anonymatch.reporting.charts.theme import (
    CATEGORIES,
    HEIGHT,
    WIDTH,
    AnyChart,
    inline,
    selected,
    themed,
)

__all__ = [
    "Line",
    "Rule",
    "drawn_rule",
    "finite",
    "line_chart",
    "series_look",
    "without_shape",
    "zoom",
]

_ROOM = 6  # units between the outermost marks and the ends of a scale
_MARKED = 60  # points of a line that get a mark each
_POINTS = 800  # of a line; more are thinned to the lowest and highest of each stretch
_LINES = 24  # colours times dashes
_DASHES = ([1, 0], [7, 4], [2, 4], [10, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: a name and the points on it; None where there is none.

    ``low`` and ``high`` are the ends of an interval around every point.

    Examples
    --------
    >>> Line("bound", [1, 2, 3], [1, 2, 6]).points()
    [(1.0, 1.0, None, None), (2.0, 2.0, None, None), (3.0, 6.0, None, None)]
    """

    name: str
    x: Sequence[Any]
    y: Sequence[Any]
    low: Sequence[Any] | None = None
    high: Sequence[Any] | None = None

    def points(self) -> list[tuple[float, float | None, float | None, float | None]]:
        """Points with a known x, by x; a y of None interrupts the line."""
        if len(self.x) != len(self.y):
            raise InputError(
                f"the line {self.name!r} has {len(self.x)} x but {len(self.y)} y; give as many"
            )
        nothing = [None] * len(self.x)
        rows = zip(self.x, self.y, self.low or nothing, self.high or nothing, strict=True)
        known = [
            (at, finite(y), finite(low), finite(high))
            for x, y, low, high in rows
            if (at := finite(x)) is not None
        ]
        return sorted(known, key=itemgetter(0))


@dataclass(frozen=True, slots=True)
class Rule:
    """A dashed line across a chart with its name: at an ``x`` or at a ``y``; ``plain`` is full."""

    name: str
    x: float | None = None
    y: float | None = None
    plain: bool = False


def line_chart(
    lines: Iterable[Line],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    zero: bool = False,
    share: bool = False,
    rules: Sequence[Rule] = (),
) -> AnyChart:
    """One line a series; a click on the legend shows one alone, the pointer tells values.

    Lines differ by colour, by mark and, from the seventh on, by dashes. ``zero`` begins the upright
    axis there, and ``share`` writes it in percent.

    Examples
    --------
    >>> chart = line_chart([Line("H", [1, 10], [0.5, 1])], title="Ratio", log_x=True)
    >>> chart.to_dict()["description"]
    'Ratio. H: from 0.5 at 1 to 1 at 10.'
    """
    import altair as alt

    given = [(label(line.name), _thinned(line.points())) for line in lines]
    if len(given) > _LINES:
        raise InputError(f"at most {_LINES} lines can be told apart, not {len(given)}")
    rows = [
        {"x": x, "y": y, "low": low, "high": high, "series": name}
        for name, points in given
        for x, y, low, high in points
    ]
    names = [name for name, _ in given]
    across = [row["x"] for row in rows]
    x = alt.X("x:Q", title=x_label or None, scale=_scale(log_x, across), axis=_axis(across))
    y_scale = _scale(log_y, [row["y"] for row in rows], zero)
    y = alt.Y(
        "y:Q", title=y_label or None, scale=y_scale, axis=_axis([row["y"] for row in rows], share)
    )
    look = series_look(names)
    dashes = [_DASHES[number // GROUPS % len(_DASHES)] for number in range(len(names))]
    dashed = alt.StrokeDash("series:N", sort=names, scale=_range(names, dashes))
    base = alt.Chart(inline(rows)).encode(x=x)
    digits = ".3~%" if share else ",.6~g"
    tooltip = [
        *([alt.Tooltip("series:N", title="line")] if len(names) > 1 else []),
        alt.Tooltip("x:Q", title=x_label or "x", format=",.6~g"),
        alt.Tooltip("y:Q", title=y_label or "y", format=digits),
    ]
    if any(row["low"] is not None for row in rows):
        tooltip += [alt.Tooltip("low:Q", title="at least", format=digits)]
        tooltip += [alt.Tooltip("high:Q", title="at most", format=digits)]
    marked = max((len(points) for _, points in given), default=0) <= _MARKED
    layers: list[Any] = []
    if any(row["low"] is not None for row in rows):
        band = base.mark_area(opacity=0.18).encode(y=alt.Y("low:Q"), y2="high:Q")
        layers.append(band.encode(color=look["color"]))
    curves = base.mark_line(strokeWidth=2.2).encode(y=y, **without_shape(look))
    layers.append(curves.encode(strokeDash=dashed) if len(names) > GROUPS else curves)
    points_ = base.mark_point(filled=True, size=55 if marked else 160).encode(
        y=y, tooltip=tooltip, **look
    )
    chosen = alt.selection_point(name="shown", fields=["series"], bind="legend")
    if not marked:
        # Not by which is nearest: Vega's tips of those have no names of series.
        near = alt.selection_point(name="near", on="pointerover", empty=False)
        points_ = points_.encode(opacity=alt.condition(near, alt.value(1.0), alt.value(0.0)))
        points_ = points_.add_params(near)
    layers.append(points_)
    layers += [layer for row, rule in enumerate(rules) for layer in drawn_rule(rule, row)]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT).add_params(chosen, zoom())
    return themed(chart, title=title, words=" ".join(_told(*line) for line in given))


def series_look(names: list[str]) -> dict[str, Any]:
    """What tells series apart; one alone needs no legend."""
    import altair as alt

    opacity = selected("shown", 1.0, 0.12)
    if len(names) == 1:
        return {"color": alt.value(LIGHT["c0"]), "opacity": opacity}
    return {
        "color": alt.Color("series:N", sort=names, scale=_range(names, CATEGORIES)),
        "shape": alt.Shape("series:N", sort=names, scale=_range(names, _SHAPES)),
        "opacity": opacity,
    }


def without_shape(look: dict[str, Any]) -> dict[str, Any]:
    """For marks that are no points."""
    return {channel: value for channel, value in look.items() if channel != "shape"}


def zoom() -> Any:
    """Drag to move, turn the wheel with Shift held to zoom; a double click takes all back."""
    import altair as alt

    return alt.selection_interval(name="zoom", bind="scales", zoom="wheel![event.shiftKey]")


def drawn_rule(rule: Rule, row: int = 0) -> list[Any]:
    """The layers of a rule: its line and its name, in a row of its own where rules are near."""
    import altair as alt

    at = rule.x if rule.y is None else rule.y
    base = alt.Chart(inline([{"at": at, "name": rule.name}]))
    colour = LIGHT["ink"] if rule.plain else LIGHT["c1"]
    dash = [1, 0] if rule.plain else [5, 4]
    if rule.y is None:
        drawn = base.mark_rule(strokeDash=dash, strokeWidth=2, color=colour).encode(x="at:Q")
        name = base.mark_text(
            align="left", dx=5, dy=9 + 15 * row, baseline="top", fontWeight=600, color=colour
        )
        return [drawn, name.encode(x="at:Q", y=alt.value(0), text="name:N")]
    drawn = base.mark_rule(strokeDash=dash, strokeWidth=2, color=colour).encode(y="at:Q")
    name = base.mark_text(align="right", dy=-7, fontWeight=600, color=colour)
    return [drawn, name.encode(y="at:Q", x=alt.value("width"), text="name:N")]


def _scale(log: bool, values: list[Any], zero: bool | None = None) -> Any:
    """``zero``: whether the axis begins there; None keeps room on both sides instead."""
    import altair as alt

    known = [value for value in values if value is not None]
    if log and known and min(known) > 0:
        return alt.Scale(type="log", nice=False, padding=_ROOM)
    if zero is None:
        return alt.Scale(zero=False, padding=_ROOM, nice=False)
    near = bool(known) and 0 < 2 * min(known) <= max(known)
    return alt.Scale(zero=zero or near)


def _axis(values: list[Any], share: bool = False) -> Any:
    """Ticks at whole numbers where all values are."""
    import altair as alt

    whole = all(value is None or value == int(value) for value in values)
    return alt.Axis(format="%" if share else ",~r", tickMinStep=1 if whole else alt.Undefined)


def _range(names: list[str], values: Sequence[Any]) -> Any:
    import altair as alt

    return alt.Scale(
        domain=names, range=[values[number % len(values)] for number in range(len(names))]
    )


def finite(value: Any) -> float | None:
    """A number as a float; None for none, and for those that no axis holds."""
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


def _thinned(points: list[Any]) -> list[Any]:
    if len(points) <= _POINTS:
        return points
    size = math.ceil(2 * len(points) / _POINTS)
    left: list[Any] = []
    for begin in range(0, len(points), size):
        stretch = points[begin : begin + size]
        heights = [(row[1], index) for index, row in enumerate(stretch) if row[1] is not None]
        gap = [index for index, row in enumerate(stretch) if row[1] is None][:1]
        ends = [min(heights)[1], max(heights)[1]] if heights else []
        left += [stretch[index] for index in sorted({*ends, *gap})]
    return left


def _told(name: str, points: list[Any]) -> str:
    known = [(row[0], row[1]) for row in points if row[1] is not None]
    if not known:
        return f"{name}: no points."
    (x0, y0), (x1, y1) = known[0], known[-1]
    if len(known) == 1:
        return f"{name}: {shown(y0)} at {shown(x0)}."
    return f"{name}: from {shown(y0)} at {shown(x0)} to {shown(y1)} at {shown(x1)}."

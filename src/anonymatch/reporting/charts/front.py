"""What a price buys: a line a kind, what nothing can reach in grey, and the chosen setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount
from anonymatch.base.text import label
from anonymatch.reporting.charts.lines import Line, Rule, drawn_rule, series_look, without_shape
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import WIDTH, AnyChart, inline, themed

__all__ = ["Chosen", "FrontLine", "front_chart"]

_HEIGHT = 340
_STEPS = 60  # of the edge of what nothing can reach


@dataclass(frozen=True, slots=True)
class FrontLine:
    """A line of settings; with ``keys``, each of its points is a setting that can be picked.

    ``low`` and ``high`` are the ends of intervals around ``y``.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    keys: Sequence[str] = ()
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


class Chosen(NamedTuple):
    """The setting that is looked at: where it is, and between what its height may be."""

    name: str
    x: float
    y: float
    low: float
    high: float


def front_chart(
    lines: Sequence[FrontLine],
    *,
    title: str,
    x_label: str,
    y_label: str,
    ceiling: Callable[[float], float] | None = None,
    chosen: Chosen | None = None,
    target: float | None = None,
) -> AnyChart:
    """Lines on two logarithmic axes that begin and end at powers of ten.

    So a chart that is drawn anew with other numbers moves within its axes. ``ceiling`` says for a
    value of x what nothing exceeds; what is above is grey. A click on a point with a key is told as
    ``pick``.

    Examples
    --------
    >>> line = FrontLine("pool", [1, 2], [10, 20], ["a", "b"])
    >>> chart = front_chart(
    ...     [line], ceiling=lambda x: 15 * x, title="Front", x_label="s", y_label="n", target=12
    ... )
    >>> chart.to_dict()["description"].partition(". ")[2]
    'pool: from 10 at 1 to 20 at 2. Nothing can be above 15 at 1, 150 at 10. The target is 12.'
    """
    import altair as alt

    xs = [*(x for line in lines for x in line.x), *([chosen.x] if chosen else [])]
    ys = [*(y for line in lines for y in line.y), *([chosen.high, chosen.low] if chosen else [])]
    ys += [] if target is None else [target]
    if not xs or not ys or min(xs) <= 0 or min(ys) <= 0:
        raise InputError("a front needs settings with delays and numbers above 0")
    across, up = _decades(xs), _decades([*ys, 1.0])
    x = alt.X("x:Q", title=x_label, scale=_log(across), axis=_axis())
    y = alt.Y("y:Q", title=y_label, scale=_log(up), axis=_axis())
    names = [label(line.name) for line in lines]
    layers: list[Any] = [] if ceiling is None else [_region(across, up, ceiling)]
    layers += _curves(lines, names, x, y)
    if target is not None:
        layers += drawn_rule(Rule("target", y=target))
    if chosen is not None:
        layers += _whisker(chosen, x, y)
    shown = alt.selection_point(name="shown", fields=["series"], bind="legend")
    chart = alt.layer(*layers).properties(width=WIDTH, height=_HEIGHT).add_params(shown)
    words = [*_told(lines), *_limits(across, ceiling, target, chosen)]
    return themed(chart, title=title, words=" ".join(words))


def _curves(lines: Sequence[FrontLine], names: list[str], x: Any, y: Any) -> list[Any]:
    import altair as alt

    rows = [
        {
            "x": x_,
            "y": y_,
            "low": low,
            "high": high,
            "key": key,
            "series": name,
            "free": not line.keys,
        }
        for name, line in zip(names, lines, strict=True)
        for (x_, y_, low, high), key in zip(
            Line(name, line.x, line.y, line.low, line.high).points(),
            _sorted_keys(line),
            strict=True,
        )
    ]
    look = series_look(names)
    base = alt.Chart(inline(rows)).encode(x=x)
    dash = alt.condition("datum.free", alt.value([7, 4]), alt.value([1, 0]))
    layers: list[Any] = []
    if any(line.low is not None for line in lines):
        bars = base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("low:Q"), y2="high:Q")
        layers.append(bars.encode(**without_shape(look)))
    curve = base.mark_line(strokeWidth=2.2).encode(y=y, strokeDash=dash, detail="free:N")
    curve = curve.encode(**without_shape(look))
    tooltip = [
        alt.Tooltip("key:N", title="setting"),
        alt.Tooltip("x:Q", title=_title(x), format=",.4~g"),
        alt.Tooltip("y:Q", title=_title(y), format=",.4~g"),
    ]
    pick = alt.selection_point(name="pick", fields=["key"], on="click", empty=False)
    points = (
        base.transform_filter("!datum.free")
        .mark_point(filled=True, size=60, cursor="pointer")
        .encode(y=y, tooltip=tooltip, **look)
        .add_params(pick)
    )
    return [*layers, curve, points]


def _sorted_keys(line: FrontLine) -> list[str]:
    keys = line.keys or [""] * len(line.x)
    order = sorted(range(len(line.x)), key=lambda k: line.x[k])
    return [keys[k] for k in order]


def _region(
    across: tuple[float, float], up: tuple[float, float], ceiling: Callable[[float], float]
) -> Any:
    """Everything above the ceiling."""
    import altair as alt

    ratio = (across[1] / across[0]) ** (1 / (_STEPS - 1))
    xs = [across[0] * ratio**k for k in range(_STEPS)]
    rows = [{"x": x, "y": min(max(ceiling(x), up[0]), up[1]), "top": up[1]} for x in xs]
    area = alt.Chart(inline(rows)).mark_area(color=LIGHT["line"], opacity=0.34, clip=True)
    named = alt.Chart(inline([{"text": "nothing can"}])).mark_text(align="left", dx=8, dy=14)
    words = named.encode(x=alt.value(0), y=alt.value(0), text="text:N")
    return alt.layer(area.encode(x="x:Q", y="y:Q", y2="top:Q"), words)


def _whisker(chosen: Chosen, x: Any, y: Any) -> list[Any]:
    """A dot, with a line from the least to the most that its height may be."""
    import altair as alt

    row = {**chosen._asdict(), "series": label(chosen.name)}
    base = alt.Chart(inline([row])).encode(x=x)
    line = base.mark_rule(strokeWidth=2.4, color=LIGHT["ink"]).encode(y=alt.Y("low:Q"), y2="high:Q")
    tooltip = [
        alt.Tooltip("name:N", title="chosen"),
        alt.Tooltip("x:Q", title=_title(x), format=",.4~g"),
        alt.Tooltip("y:Q", title=_title(y), format=",.4~g"),
        alt.Tooltip("low:Q", title="at least", format=",.4~g"),
        alt.Tooltip("high:Q", title="at most", format=",.4~g"),
    ]
    dot = base.mark_point(size=150, filled=True, color=LIGHT["ink"], stroke=LIGHT["paper"])
    return [line, dot.encode(y=y, tooltip=tooltip)]


def _title(channel: Any) -> str:
    """What an axis is called."""
    return str(channel.to_dict()["title"])


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten below and above all values, one apart at least."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return 10.0**low, 10.0 ** max(high, low + 1)


def _log(ends: tuple[float, float]) -> Any:
    import altair as alt

    return alt.Scale(type="log", domain=list(ends), nice=False)


def _axis() -> Any:
    import altair as alt

    return alt.Axis(format=",.6~g", tickCount=6)


def _told(lines: Sequence[FrontLine]) -> list[str]:
    told = []
    for line in lines:
        points = Line(line.name, line.x, line.y).points()
        if points:
            first, last = points[0], points[-1]
            told.append(
                f"{label(line.name)}: from {amount(first[1] or 0)} at {amount(first[0])} to "
                f"{amount(last[1] or 0)} at {amount(last[0])}."
            )
    return told


def _limits(
    across: tuple[float, float],
    ceiling: Callable[[float], float] | None,
    target: float | None,
    chosen: Chosen | None,
) -> list[str]:
    words = []
    if ceiling is not None:
        ends = ", ".join(f"{amount(ceiling(x))} at {amount(x)}" for x in across)
        words.append(f"Nothing can be above {ends}.")
    if target is not None:
        words.append(f"The target is {amount(target)}.")
    if chosen is not None:
        words.append(
            f"Chosen: {label(chosen.name)}, {amount(chosen.y)} at {amount(chosen.x)} (from "
            f"{amount(chosen.low)} to {amount(chosen.high)})."
        )
    return words

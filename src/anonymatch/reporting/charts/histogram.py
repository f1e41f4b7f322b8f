"""How a figure is spread: bars of ready-made bins, lines at quantiles, and a brush.

Values are binned here, so that a chart of a million of them is as small as one of a hundred.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import amount, percent, plural
from anonymatch.base.text import label
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import HEIGHT, WIDTH, AnyChart, inline, themed

__all__ = ["Mark", "bin_edges", "histogram_chart"]

_BARS = 40
_NAMES = 5  # of those in a bar that the pointer tells
_FAR = 30.0  # the largest over the smallest, from which a logarithmic axis reads better
_LINE = 15  # units between the names of two marks, which stand above each other
_COLOURS = ("c1", "c5", "c3")  # that read as text, too


@dataclass(frozen=True, slots=True)
class Mark:
    """A dashed line at a value, with its name and, where it is estimated, the ends that hold it."""

    name: str
    at: float
    low: float | None = None
    high: float | None = None


def histogram_chart(
    values: npt.ArrayLike,
    *,
    title: str,
    x_label: str,
    noun: str,
    nouns: str | None = None,
    names: Sequence[Hashable] | None = None,
    weights: npt.ArrayLike | None = None,
    marks: Sequence[Mark] = (),
    log: bool | None = False,
    share: bool = False,
    brush: bool = False,
) -> AnyChart:
    """Bars of how many have about the same value; the pointer tells who some of them are.

    Parameters
    ----------
    values : array
        What is not finite is left out.
    title, x_label : str
    noun, nouns : str
        What is counted, one and several.
    names : sequence, optional
        Of the values, in their order.
    weights : array, optional
        For how many each stands.
    marks : sequence of Mark
    log : bool or None
        A logarithmic axis; None where the values are far apart.
    share : bool
        Values are shares: from 0 to 100 %.
    brush : bool
        A stretch can be chosen; the page is told of it as ``brush``, ``{"value": [low, high]}``.

    Examples
    --------
    >>> chart = histogram_chart([1, 1.5, 3], title="Entropy", x_label="bits", noun="user")
    >>> chart.to_dict()["description"]
    'Entropy. 3 users from 1 to 3; half of them have 1.5 or less.'
    """
    import altair as alt

    given = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(given)
    known = given[finite]
    each = None if weights is None else np.asarray(weights, dtype=np.float64)[finite]
    several = nouns or f"{noun}s"
    ends = [end for mark in marks for end in (mark.low, mark.at, mark.high) if end is not None]
    edges, logarithmic = bin_edges(known, ends, log=log, share=share)
    write = percent if share else amount
    rows = _rows(known, edges, each, write, noun, several)
    if names is not None:
        _name(rows, known, edges, [names[k] for k in np.flatnonzero(finite).tolist()])
    scale = alt.Scale(
        type="log" if logarithmic else "linear",
        domain=[float(edges[0]), float(edges[-1])],
        nice=False,
    )
    axis = alt.Axis(format="%" if share else ",~r", tickCount=8)
    x = alt.X("value:Q", title=x_label, scale=scale, axis=axis)
    tooltip = [
        alt.Tooltip("range:N", title=x_label.partition(",")[0]),
        alt.Tooltip("told:N", title=several),
        *([alt.Tooltip("names:N", title="such as")] if names is not None else []),
    ]
    bars = (
        alt.Chart(inline(rows))
        .mark_bar(
            binSpacing=1,
            color=LIGHT["c0"],
            minBandSize=1,
            stroke=LIGHT["paper"],
            strokeWidth=0.6,
        )
        .encode(
            x=x,
            x2="end:Q",
            y=alt.Y(
                "number:Q",
                title=several,
                axis=alt.Axis(format=",~r", tickMinStep=1),
                scale=alt.Scale(zero=True),
            ),
            y2=alt.datum(0),
            tooltip=tooltip,
        )
    )
    if brush:
        chosen = alt.selection_interval(name="brush", encodings=["x"])
        inside = (
            "!isValid(brush.value) || (datum.end > brush.value[0] && datum.value < brush.value[1])"
        )
        shade = alt.condition(inside, alt.value(1.0), alt.value(0.28))
        bars = bars.encode(opacity=shade).add_params(chosen)
    inside_axis = [mark for mark in marks if edges[0] <= mark.at <= edges[-1]]
    # The highest first, so that its line does not cross the names below it.
    drawn = [_mark(mark, k, edges) for k, mark in enumerate(inside_axis)]
    layers = [layer for marked in reversed(drawn) for layer in marked]
    chart = alt.layer(bars, *layers).properties(width=WIDTH, height=HEIGHT)
    return themed(chart, title=title, words=_told(known, each, write, noun, several, marks))


def bin_edges(
    values: Floats, marks: Sequence[float] = (), *, log: bool | None = False, share: bool = False
) -> tuple[Floats, bool]:
    """Edges at round numbers that hold all values and all marks near them; whether they grow.

    Examples
    --------
    >>> bin_edges(np.array([1.0, 2.0, 2.5]))[0].tolist()[:4]
    [1.0, 1.05, 1.1, 1.15]
    >>> bin_edges(np.array([0.3]), share=True)[0].tolist()[-1]
    1.0
    """
    if share:
        return np.linspace(0.0, 1.0, _BARS + 1), False
    low, high = float(values.min(initial=math.inf)), float(values.max(initial=-math.inf))
    if not low <= high:
        low, high = 0.0, 1.0
    near = [mark for mark in marks if low / _FAR <= mark <= max(high, 1.0) * _FAR]
    low, high = min([low, *near]), max([high, *near])
    if log is None:
        log = high >= _FAR * low > 0
    if log and low > 0:
        high = max(high, low * 1.1)
        return np.geomspace(low * (1 - 1e-12), high * (1 + 1e-12), _BARS + 1), True
    step = _round_step(max(high - low, 0.02 * max(abs(high), 1.0)) / _BARS)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    if last * step <= high + 1e-9 * step and high > low:
        last += 1  # the last bar is half open as all others are
    return np.array([_rounded(k * step) for k in range(first, last + 1)]), False


def _round_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, not below ``least``."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)


def _rounded(value: float) -> float:
    return float(f"{value:.12g}")


def _rows(
    values: Floats,
    edges: Floats,
    weights: Floats | None,
    write: Callable[[float], str],
    noun: str,
    nouns: str,
) -> list[dict[str, Any]]:
    """A row a bar that stands for anybody."""
    inside = np.clip(values, edges[0], edges[-1])  # rounding takes nobody out
    numbers = np.histogram(inside, edges, weights=weights)[0]
    total = float(numbers.sum()) or 1.0
    return [
        {
            "value": _rounded(begin),
            "end": _rounded(end),
            "number": _count(number),
            "range": f"{write(begin)} to {write(end)}",
            "told": f"{amount(number) if weights is not None else f'{int(number):,}'} "
            f"({percent(number / total)})",
        }
        for begin, end, number in zip(
            edges[:-1].tolist(), edges[1:].tolist(), numbers.tolist(), strict=True
        )
        if number
    ]


def _count(number: float) -> float:
    return int(number) if number == int(number) else _rounded(number)


def _name(
    rows: list[dict[str, Any]], values: Floats, edges: Floats, names: Sequence[Hashable]
) -> None:
    """Tell who is in each bar: the first of them by value."""
    order = np.argsort(values, kind="stable")
    sorted_values = np.clip(values[order], edges[0], edges[-1])
    for row in rows:
        ends = (row["value"], row["end"])
        first, last = np.searchsorted(sorted_values, ends, side="left").tolist()
        if row["end"] >= _rounded(float(edges[-1])):
            last = len(order)
        some = order[first : min(first + _NAMES, last)].tolist()
        more = last - first - len(some)
        row["names"] = ", ".join(label(names[k]) for k in some)
        row["names"] += f" and {more:,} more" if more > 0 else ""


def _mark(mark: Mark, number: int, edges: Floats) -> list[Any]:
    """A line with its name above the bars, none beside another, and its interval as a band."""
    import altair as alt

    colour = LIGHT[_COLOURS[number % len(_COLOURS)]]
    middle = (edges[0] + edges[-1]) / 2 if edges[0] <= 0 else math.sqrt(edges[0] * edges[-1])
    grows = edges[0] > 0 and edges[-1] >= _FAR * edges[0]
    right = mark.at > (middle if grows else (edges[0] + edges[-1]) / 2)
    row = {"at": mark.at, "low": mark.low, "high": mark.high, "name": mark.name}
    base = alt.Chart(inline([row]))
    line = base.mark_rule(strokeDash=[5, 4], strokeWidth=2, color=colour).encode(x="at:Q")
    place: dict[str, Any] = {
        "align": "right" if right else "left",
        "dx": -4 if right else 4,
        "baseline": "bottom",
        "fontWeight": 600,
    }
    above = alt.value(-4 - _LINE * number)
    behind = base.mark_text(stroke=LIGHT["paper"], strokeWidth=5, aria=False, **place)
    text = base.mark_text(color=colour, **place)
    named = [each.encode(x="at:Q", y=above, text="name:N") for each in (behind, text)]
    rise = base.mark_rule(strokeWidth=1, color=colour, opacity=0.6).encode(
        x="at:Q", y=alt.value(0), y2=alt.value(-6 - _LINE * number)
    )
    halo = base.mark_rule(strokeWidth=4, color=LIGHT["paper"], opacity=0.55).encode(x="at:Q")
    layers = [halo, line, rise, *named]
    if mark.low is not None and mark.high is not None and mark.low < mark.high:
        band = base.mark_rect(opacity=0.16, color=colour, clip=True)
        layers.insert(0, band.encode(x="low:Q", x2="high:Q"))
    return layers


def _told(
    values: Floats,
    weights: Floats | None,
    write: Callable[[float], str],
    noun: str,
    nouns: str,
    marks: Sequence[Mark],
) -> str:
    if not len(values):
        return f"There are no {nouns}."
    number = len(values) if weights is None else round(float(weights.sum()))
    ends = f"from {write(float(values.min()))} to {write(float(values.max()))}"
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
    half = float(values[order[int(np.searchsorted(reached, reached[-1] / 2))]])
    said = "".join(f" {mark.name}." for mark in marks)
    return f"{plural(number, noun, nouns)} {ends}; half of them have {write(half)} or less.{said}"

"""Bars from left to right, with their values and the intervals that hold these."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import shown
from anonymatch.base.text import label
from anonymatch.reporting.charts.lines import finite
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import CATEGORIES, WIDTH, AnyChart, inline, themed

__all__ = ["bar_chart", "interval_bars"]

_ROW = 28
_BARS = 40


def bar_chart(bars: Iterable[tuple[object, Any]], *, title: str, x_label: str = "") -> AnyChart:
    """Bars with their names and values, the first forty of them.

    Examples
    --------
    >>> bar_chart([("H", 81), ("best", 96)], title="Matchings").to_dict()["description"]
    'Matchings. H: 81. best: 96.'
    """
    given = list(bars)
    chosen = given[:_BARS]
    left = len(given) - len(chosen)
    names = [label(name) for name, _ in chosen]
    values = [value for _, value in chosen]
    more = f"and {shown(left)} more" if left else ""
    below = "; ".join(filter(None, (x_label, more)))
    return _bars(names, values, [shown(value) for value in values], title=title, x_label=below)


def interval_bars(
    names: Sequence[str],
    values: Sequence[tuple[float, float, float] | None],
    texts: Sequence[str],
    *,
    title: str,
    x_label: str = "",
) -> AnyChart:
    """A bar a name, as long as its value, and a line across its end from low to high.

    Parameters
    ----------
    names, texts : sequence of str
        Left and right of each bar.
    values : sequence of (value, low, high) or None
        None where there is nothing to draw.
    title, x_label : str

    Examples
    --------
    >>> chart = interval_bars(["a", "b"], [(1, 0.8, 1.2), None], ["1", "not known"], title="Bits")
    >>> chart.to_dict()["description"]
    'Bits. a: 1. b: not known.'
    """
    if not len(names) == len(values) == len(texts):
        raise InputError("bars need as many names and texts as figures")
    middle = [None if each is None else each[0] for each in values]
    ends = [None if each is None else (each[1], each[2]) for each in values]
    called = [label(name, 24) for name in names]
    return _bars(called, middle, texts, title=title, x_label=x_label, ends=ends)


def _bars(
    names: Sequence[str],
    values: Sequence[Any],
    texts: Sequence[str],
    *,
    title: str,
    x_label: str,
    ends: Sequence[tuple[float, float] | None] = (),
) -> AnyChart:
    import altair as alt

    rows = [
        {
            "number": number,
            "name": name,
            "value": finite(value),
            "text": text,
            "low": end[0] if end else None,
            "high": end[1] if end else None,
            "end": max(filter(None, (finite(value), end[1] if end else None)), default=0.0),
        }
        for number, (name, value, text, end) in enumerate(
            zip(names, values, texts, ends or [None] * len(names), strict=True)
        )
    ]
    written = " : ".join(
        f"datum.value == {number} ? {json.dumps(name)}" for number, name in enumerate(names)
    )
    y = alt.Y(
        "number:O",
        title=None,
        axis=alt.Axis(
            labelExpr=f"{written} : ''" if written else "''", labelLimit=170, ticks=False
        ),
    )
    x = alt.X("value:Q", title=x_label or None, scale=alt.Scale(zero=True), axis=_axis())
    tooltip = [alt.Tooltip("name:N", title="name"), alt.Tooltip("text:N", title=title or "value")]
    base = alt.Chart(inline(rows)).encode(y=y)
    colour = alt.Color("number:O", legend=None, scale=alt.Scale(range=_colours(len(rows))))
    bars = base.mark_bar(cornerRadius=2, height={"band": 0.62}).encode(
        x=x, tooltip=tooltip, color=colour if ends else alt.value(LIGHT["c0"])
    )
    layers: list[Any] = [bars]
    if any(ends):
        layers.append(base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q"))
    said = base.mark_text(align="left", dx=6, fontWeight=600).encode(x="end:Q", text="text:N")
    height = _ROW * max(len(rows), 1)
    chart = alt.layer(*layers, said).properties(width=WIDTH, height=height)
    words = " ".join(f"{name}: {text}." for name, text in zip(names, texts, strict=True))
    return themed(chart, title=title, words=words)


def _axis() -> Any:
    import altair as alt

    return alt.Axis(format=",~r")


def _colours(number: int) -> list[str]:
    return [CATEGORIES[each % len(CATEGORIES)] for each in range(max(number, 1))]

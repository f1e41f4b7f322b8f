"""Figures along time: what users have in each stretch, and under it what is inside of the mix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import amount
from anonymatch.reporting.charts.palette import LIGHT
from anonymatch.reporting.charts.theme import CATEGORIES, WIDTH, AnyChart, inline, selected, themed

__all__ = [
    "Inside",
    "TimedLine",
    "inside_in_words",
    "inside_over_time",
    "stretch_ends",
    "time_chart",
    "time_unit",
]

_HEIGHTS = (190, 130)
_POINTED = 0.16  # opacity of the stretch under the pointer
_STRETCHES = 200  # of three numbers each
_UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (0.0, 1.0, "seconds"))


@dataclass(frozen=True, slots=True)
class TimedLine:
    """A figure of each stretch of time, None where there is none, and the ends that hold it."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Inside:
    """The number inside in stretches of time.

    Attributes
    ----------
    begins : array
        When each begins, in seconds since the first message; one more for the end.
    least, most, mean : array
        Of each stretch: the fewest, the most, and the mean over its arrivals and departures.
    """

    begins: Floats
    least: Floats
    most: Floats
    mean: Floats


def time_chart(
    ends: npt.ArrayLike,
    lines: Sequence[TimedLine],
    *,
    title: str,
    y_label: str,
    noun: str,
    nouns: str,
    numbers: Sequence[int],
    inside: Inside | None = None,
) -> AnyChart:
    """Lines over stretches of time, and under them the load on the same axis; both zoom as one.

    Parameters
    ----------
    ends : array
        Where stretches begin, and where the last one ends, in seconds.
    lines : sequence of TimedLine
        A value a stretch.
    title, y_label : str
    noun, nouns : str
        What there are ``numbers`` of in each stretch, one and several.
    numbers : sequence of int
    inside : Inside, optional
        The load, from the same second on.

    Examples
    --------
    >>> line = TimedLine("mean", [1.0, None, 2.0])
    >>> chart = time_chart(
    ...     [0, 1, 2, 3], [line], title="Entropy", y_label="bits", noun="message",
    ...     nouns="messages", numbers=[4, 0, 5],
    ... )
    >>> chart.to_dict()["description"]
    'Entropy. mean: from 1 to 2 over 3 seconds.'
    """
    import altair as alt

    times = np.asarray(ends, dtype=np.float64)
    last = max(float(times[-1]), 0.0 if inside is None else float(inside.begins[-1]))
    size, unit = time_unit(last)
    label = f"{unit} since the first {noun}"
    domain = [0.0, last / size or 1.0]
    words = " ".join(_told(line, last / size, unit) for line in lines)
    alone = inside is None or not len(inside.mean)
    across = _across(domain, label if alone else None)
    upper = _lines(times / size, lines, numbers, across, y_label, nouns)
    upper = upper.properties(width=WIDTH, height=_HEIGHTS[0])
    if inside is None or alone:
        return themed(_with_params(upper, "lines"), title=title, words=words)
    lower = _load(inside, size, _across(domain, label), nouns)
    lower = lower.properties(width=WIDTH, height=_HEIGHTS[1])
    chart = alt.vconcat(upper, lower, spacing=12).resolve_scale(x="shared")
    said = f"{words} {inside_in_words(inside, nouns)}"
    return themed(_with_params(chart, "lines", "load"), title=title, words=said)


def _with_params(chart: Any, *views: str) -> Any:
    """The chart with its selections: the legend, what is under the pointer, and one zoom for all.

    Altair repeats selections where parts are put together, so that Vega sees them twice: they are
    written out here, by the names that Altair has given to layers.
    """
    import altair as alt

    parts = [chart] if len(views) == 1 else chart.vconcat
    given = {
        layer.name.rstrip("_0123456789"): layer.name
        for part in parts
        for layer in part.layer
        if isinstance(layer.name, str)
    }
    pointed = {"type": "point", "on": "pointerover", "clear": "pointerout", "encodings": ["x"]}
    moved = {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.shiftKey]"}
    legend = {"type": "point", "fields": ["series"]}
    own = [given[view] for view in views]
    param: Any = alt.TopLevelSelectionParameter
    chart.params = [
        param(name="shown", select=legend, bind="legend", views=own[:1]),
        param(name="zoom", select=moved, bind="scales", views=own),
        *(
            param(name=f"near_{view}", select=pointed, views=[given[f"{view}_near"]])
            for view in views
        ),
    ]
    return chart


def time_unit(span: float) -> tuple[float, str]:
    """Seconds of the unit that such a span reads best in, and its name.

    Examples
    --------
    >>> time_unit(90), time_unit(86400)
    ((1.0, 'seconds'), (3600.0, 'hours'))
    """
    return next((size, unit) for least, size, unit in _UNITS if span >= least)


def stretch_ends(times: Floats, each: int = 8, most: int = _STRETCHES) -> Floats:
    """Ends of equal stretches of time that hold about ``each`` of the times, and not too many.

    Examples
    --------
    >>> stretch_ends(np.arange(33.0)).tolist()
    [0.0, 8.0, 16.0, 24.0, 32.0]
    """
    number = min(max(len(times) // each, 1), most)
    first, last = float(times.min(initial=np.inf)), float(times.max(initial=-np.inf))
    if not first < last:
        first = first if np.isfinite(first) else 0.0
        return np.array([first, first + 1.0])
    return np.linspace(first, last, number + 1)


def inside_over_time(
    arrivals: Floats,
    departures: Floats,
    staying: Floats | None = None,
    real: Floats | None = None,
) -> Inside:
    """The number inside after each arrival and departure; of many, in 200 stretches.

    ``staying`` and ``real``: the probability of each arrival not to be lost, and of each departure
    not to be cover, where that is open; the number is then the expected one.

    Examples
    --------
    >>> inside = inside_over_time(np.array([5.0, 6.0]), np.array([7.0]))
    >>> inside.begins.tolist(), inside.most.tolist()
    ([0.0, 1.0, 2.0, 2.0], [1.0, 2.0, 1.0])
    """
    times = np.concatenate((arrivals, departures))
    come = np.ones(len(arrivals)) if staying is None else staying
    leave = np.ones(len(departures)) if real is None else real
    step = np.concatenate((come, -leave))
    # Stable, so that of equal times those who come are before those who leave.
    order = np.argsort(times, kind="stable")
    times, inside = times[order], np.maximum(np.cumsum(step[order]), 0.0)
    if not len(times):
        return Inside(np.zeros(1), inside, inside, inside)
    number = min(len(times), _STRETCHES)
    positions = np.linspace(0, len(times), number, endpoint=False).astype(np.int64)
    sizes = np.diff(positions, append=len(times))
    return Inside(
        np.append(times[positions], times[-1]) - times[0],
        np.minimum.reduceat(inside, positions),
        np.maximum.reduceat(inside, positions),
        np.add.reduceat(inside, positions) / sizes,
    )


def inside_in_words(inside: Inside, nouns: str) -> str:
    """How many are inside, and for how long."""
    last = float(inside.begins[-1])
    size, unit = time_unit(last)
    least, most = (round(float(end)) for end in (inside.least.min(), inside.most.max()))
    return f"From {least:,} to {most:,} {nouns} are inside over {amount(last / size)} {unit}."


def _across(domain: list[float], label: str | None) -> Any:
    import altair as alt

    axis = alt.Axis(format=",~r", labels=label is not None, ticks=label is not None)
    return alt.X("x:Q", title=label, axis=axis, scale=alt.Scale(domain=domain, nice=False))


def _lines(
    times: Floats,
    lines: Sequence[TimedLine],
    numbers: Sequence[int],
    across: Any,
    y_label: str,
    nouns: str,
) -> Any:
    """Points in the middle of stretches; the pointer tells all lines of the nearest stretch."""
    import altair as alt

    middles = ((times[:-1] + times[1:]) / 2).tolist()
    rows = [
        {"x": round(x, 6), "series": line.name, **_figures(line, k)}
        for line in lines
        for k, x in enumerate(middles)
    ]
    names = [line.name for line in lines]
    colours = alt.Scale(domain=names, range=CATEGORIES[: len(names)])
    colour = alt.Color("series:N", sort=names, scale=colours)
    shade = selected("shown", 1.0, 0.12)
    y = alt.Y(
        "y:Q",
        title=y_label,
        axis=alt.Axis(format=",~r", tickCount=5),
        scale=alt.Scale(zero=_near_zero(rows)),
    )
    base = alt.Chart(inline(rows)).encode(x=across, color=colour)
    layers = []
    if any("low" in row for row in rows):
        band = base.mark_area(opacity=0.18, clip=True).encode(y=alt.Y("low:Q"), y2="high:Q")
        layers.append(band)
    curves = base.mark_line(strokeWidth=2, clip=True).encode(y=y, opacity=shade)
    layers.append(curves.properties(name="lines"))
    if _few(lines):
        dots = base.mark_point(filled=True, size=28, clip=True).encode(y=y, opacity=shade)
        layers.append(dots)
    layers.append(_pointer(times.tolist(), lines, numbers, nouns, across))
    return alt.layer(*layers)


def _figures(line: TimedLine, k: int) -> dict[str, float | None]:
    row = {"y": _short(line.values[k])}
    if line.low is not None and line.high is not None:
        row |= {"low": _short(line.low[k]), "high": _short(line.high[k])}
    return row


def _short(value: float | None) -> float | None:
    """As many digits as a reader of a chart can see: rows of long logs stay small."""
    return None if value is None or not np.isfinite(value) else float(f"{value:.5g}")


def _few(lines: Sequence[TimedLine]) -> bool:
    return max((len(line.values) for line in lines), default=0) <= 60


def _near_zero(rows: Sequence[dict[str, Any]]) -> bool:
    known = [row[key] for row in rows for key in ("y", "low") if row.get(key) is not None]
    return not known or 2 * min(known) <= max(known)


def _pointer(
    ends: Sequence[float],
    lines: Sequence[TimedLine],
    numbers: Sequence[int],
    nouns: str,
    across: Any,
) -> Any:
    """The stretch under the pointer, and what is known of it."""
    import altair as alt

    rows = [
        {
            "x": round(ends[k], 6),
            "end": round(ends[k + 1], 6),
            "number": f"{number:,}",
            **{f"v{i}": _in_words(line, k) for i, line in enumerate(lines)},
        }
        for k, number in enumerate(numbers)
        if number
    ]
    tooltip = [
        alt.Tooltip("x:Q", title="from", format=",.5~r"),
        alt.Tooltip("end:Q", title="to", format=",.5~r"),
        *(alt.Tooltip(f"v{i}:N", title=line.name) for i, line in enumerate(lines)),
        alt.Tooltip("number:N", title=nouns),
    ]
    shade = selected("near_lines", _POINTED, 0.0, empty=False)
    stretch = alt.Chart(inline(rows)).mark_rect(color=LIGHT["soft"], aria=False, clip=True)
    encoded = stretch.encode(x=across, x2="end:Q", opacity=shade, tooltip=tooltip)
    return encoded.properties(name="lines_near")


def _in_words(line: TimedLine, k: int) -> str:
    value = line.values[k]
    if value is None:
        return "–"
    if line.low is None or line.high is None:
        return amount(value)
    low, high = line.low[k], line.high[k]
    assert low is not None
    assert high is not None
    return f"{amount(value)} ({amount(low)} to {amount(high)})"


def _load(inside: Inside, size: float, across: Any, nouns: str) -> Any:
    """The mean as steps over a band from the fewest to the most."""
    import altair as alt

    begins = (inside.begins / size).tolist()
    numbers = (inside.mean, inside.least, inside.most)
    figures = zip(begins[:-1], begins[1:], *numbers, strict=True)
    rows = [
        {
            "x": round(x, 6),
            "end": round(end, 6),
            "mean": _short(mean),
            "low": _short(low),
            "high": _short(high),
        }
        for x, end, mean, low, high in figures
    ]
    rows.append({**rows[-1], "x": round(begins[-1], 6)})  # steps go to the end
    base = alt.Chart(inline(rows)).encode(x=across)
    y = alt.Y(
        "mean:Q",
        title=f"{nouns} inside",
        axis=alt.Axis(format=",~r", tickCount=4),
        scale=alt.Scale(zero=True),
    )
    tooltip = [
        alt.Tooltip("x:Q", title="from", format=",.5~r"),
        alt.Tooltip("end:Q", title="to", format=",.5~r"),
        alt.Tooltip("mean:Q", title=f"{nouns} inside", format=",.4~r"),
        alt.Tooltip("low:Q", title="fewest", format=",.4~r"),
        alt.Tooltip("high:Q", title="most", format=",.4~r"),
    ]
    band = base.mark_area(opacity=0.2, interpolate="step-after", clip=True, color=LIGHT["c2"])
    line = base.mark_line(strokeWidth=1.6, interpolate="step-after", clip=True, color=LIGHT["c2"])
    shade = selected("near_load", _POINTED, 0.0, empty=False)
    stretch = base.mark_rect(color=LIGHT["soft"], aria=False, clip=True)
    return alt.layer(
        band.encode(y=alt.Y("low:Q"), y2="high:Q"),
        line.encode(y=y).properties(name="load"),
        stretch.encode(x2="end:Q", opacity=shade, tooltip=tooltip).properties(name="load_near"),
    )


def _told(line: TimedLine, last: float, unit: str) -> str:
    known = [value for value in line.values if value is not None]
    if not known:
        return f"{line.name}: nothing is known."
    ends = f"from {amount(min(known))} to {amount(max(known))}"
    return f"{line.name}: {ends} over {amount(last)} {unit}."

"""Charts of the studio's own: a log before it is audited, bars that are picked, and what systems
give for what they cost.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import amount, percent, plural
from anonymatch.base.text import label
from anonymatch.mixes import DensityLaw, Law, Linked, Messages, delay_log_density
from anonymatch.reporting.charts import CATEGORIES, LIGHT, WIDTH, AnyChart, inline, themed, zoom
from anonymatch.studio.log_preview import load

__all__ = [
    "PricedSystem",
    "bar_chart",
    "candidates_chart",
    "compare_chart",
    "delays_chart",
    "load_chart",
]

_SMALL = 180  # units high
_BINS = 40
_CURVE = 200  # points of a density
_TAIL = 0.995  # share of the delays that are drawn
_ROW = 20  # units of a bar
_PLAIN: Any = {"format": ",.6~g"}  # an axis whose numbers are written as people write them


def load_chart(messages: Messages) -> AnyChart:
    """Messages inside over time, or arrivals and departures where the log does not tell."""
    import altair as alt

    lines, x_label, y_label = load(messages)
    rows = [
        {"series": line.name, "x": x, "y": y}
        for line in lines
        for x, y in zip(line.x, line.y, strict=True)
    ]
    names = [line.name for line in lines]
    last = max(lines[0].x[-1], 1e-9)
    base = alt.Chart(inline(rows), width=WIDTH, height=_SMALL).encode(
        x=alt.X("x:Q", title=x_label, axis=_PLAIN, scale=alt.Scale(domain=[0, last], nice=False)),
        y=alt.Y("y:Q", title=y_label, axis=_PLAIN, stack=None),
        color=_colours(names) if len(names) > 1 else alt.value(LIGHT["c0"]),
        tooltip=[
            *([alt.Tooltip("series:N", title="line")] if len(names) > 1 else []),
            alt.Tooltip("x:Q", title=x_label, format=",.4~g"),
            alt.Tooltip("y:Q", title=y_label, format=",.4~g"),
        ],
    )
    step: Any = "step-after" if len(names) == 1 else "step"
    chart = alt.layer(
        base.mark_area(opacity=0.15, interpolate=step), base.mark_line(interpolate=step)
    ).add_params(zoom())
    most = amount(max(row["y"] for row in rows))
    return themed(chart, title="Load over time", words=f"At most {most} {y_label}.")


def _colours(names: list[str]) -> Any:
    import altair as alt

    scale = alt.Scale(domain=names, range=CATEGORIES[: len(names)])
    return alt.Color("series:N", sort=names, scale=scale)


def delays_chart(delays: Floats, law: Law | None = None) -> AnyChart | None:
    """Delays that a log tells, and the density of a law over them; None if there is neither."""
    import altair as alt

    longest = _longest(delays, law)
    if longest is None:
        return None
    layers: list[Any] = []
    words = ""
    if len(delays):
        counts, ends = np.histogram(delays, bins=_BINS, range=(0.0, longest))
        heights = counts / (len(delays) * longest / _BINS)
        rows = [
            {"low": low, "high": high, "y": y, "number": number}
            for low, high, y, number in zip(
                ends[:-1].tolist(), ends[1:].tolist(), heights.tolist(), counts.tolist(),
                strict=True,
            )
        ]  # fmt: skip
        bars = alt.Chart(inline(rows)).mark_bar(color=LIGHT["c0"], opacity=0.45)
        layers.append(
            bars.encode(
                x=_delay_axis("low", longest, binned=True),
                x2="high:Q",
                y=alt.Y("y:Q", title="density, a second"),
                tooltip=[
                    alt.Tooltip("low:Q", title="from", format=".4~g"),
                    alt.Tooltip("high:Q", title="to", format=".4~g"),
                    alt.Tooltip("number:Q", title="messages", format=","),
                ],
            )
        )
        words = f"{plural(len(delays), 'delay')}, {amount(float(delays.mean()))} s on average."
    if law is not None and _has_density(law):
        layers.append(_density(law, longest))
        words += f" The line is the {law}."
    if not layers:
        return None
    chart = alt.layer(*layers).properties(width=WIDTH, height=_SMALL).add_params(zoom())
    return themed(chart, title="Delays", words=words.strip())


def _has_density(law: Law) -> bool:
    inner = law.law if isinstance(law, Linked) else law
    return isinstance(inner, DensityLaw) and inner.spread_out


def _longest(delays: Floats, law: Law | None) -> float | None:
    ends = [float(np.quantile(delays, _TAIL))] if len(delays) else []
    if law is not None and _has_density(law):
        reach = law.end_delay(None)
        ends += [] if reach is None or not math.isfinite(reach) else [1.02 * reach]
    if not ends:
        return None
    # A law that is far off must not squeeze the delays into a corner, nor the other way round.
    longest = max(ends) if max(ends) <= 4 * min(ends) else 4 * min(ends)
    return longest if longest > 0 else None


def _density(law: Law, longest: float) -> Any:
    import altair as alt

    times = np.linspace(longest / _CURVE / 100, longest, _CURVE)
    with np.errstate(over="ignore"):
        heights = np.exp(delay_log_density(law, times))
    rows = [
        {"x": x, "y": y if math.isfinite(y) else None}
        for x, y in zip(times.tolist(), heights.tolist(), strict=True)
    ]
    line = alt.Chart(inline(rows)).mark_line(
        color=LIGHT["c1"], strokeWidth=2.4, interpolate="linear"
    )
    return line.encode(
        x=_delay_axis("x", longest),
        y=alt.Y("y:Q", title="density, a second"),
        tooltip=[
            alt.Tooltip("x:Q", title="delay, s", format=".4~g"),
            alt.Tooltip("y:Q", title="density of the law", format=".4~g"),
        ],
    )


def _delay_axis(field: str, longest: float, *, binned: bool = False) -> Any:
    import altair as alt

    return alt.X(
        f"{field}:Q",
        title="delay, s",
        scale=alt.Scale(domain=[0, longest], nice=False),
        axis=alt.Axis(format=",.6~g"),
        bin="binned" if binned else alt.Undefined,
    )


def candidates_chart(candidates: Floats) -> AnyChart | None:
    """How many messages out fit a message, over messages; None if that is not known."""
    import altair as alt

    if not len(candidates):
        return None
    low, high = float(candidates.min()), float(candidates.max())
    if high - low < _BINS and (candidates == candidates.round()).all():
        counts, ends = np.histogram(candidates, bins=np.arange(low - 0.5, high + 1.0))
    else:
        counts, ends = np.histogram(candidates, bins=_BINS, range=(low, high + 1e-9))
    rows = [
        {"low": begin, "high": end, "number": number}
        for begin, end, number in zip(
            ends[:-1].tolist(), ends[1:].tolist(), counts.tolist(), strict=True
        )
    ]
    bars = alt.Chart(inline(rows), width=WIDTH, height=_SMALL).mark_bar(color=LIGHT["c2"])
    chart = bars.encode(
        x=alt.X("low:Q", title="messages out that fit", axis=_PLAIN, bin="binned"),
        x2="high:Q",
        y=alt.Y("number:Q", title="messages", axis=alt.Axis(tickMinStep=1, format=",.6~g")),
        tooltip=[
            alt.Tooltip("low:Q", title="from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("number:Q", title="messages", format=","),
        ],
    )
    words = (
        f"From {amount(low)} to {amount(high)}, typically {amount(float(np.median(candidates)))}."
    )
    return themed(chart, title="Candidates of a message", words=words)


def bar_chart(
    rows: Sequence[tuple[Hashable, float]], *, title: str, x_label: str, share: bool = False
) -> AnyChart:
    """A bar a name, in the order given; a bar that is clicked on is told as ``pick``."""
    import altair as alt

    known = [(label(name), float(value)) for name, value in rows]
    named = [{"name": name, "value": value} for name, value in known]
    order = [name for name, _ in known]
    pick = alt.selection_point(name="pick", fields=["name"], empty=False)
    base = alt.Chart(inline(named), width=WIDTH, height=_ROW * max(len(named), 2))
    form = ".3~%" if share else ",.4~g"
    y = alt.Y("name:N", sort=order, title=None, axis=alt.Axis(labelLimit=140))
    bars = base.mark_bar(height={"band": 0.7}, cursor="pointer").encode(
        x=alt.X("value:Q", title=x_label, axis=alt.Axis(format="%" if share else ",.6~g")),
        y=y,
        color=alt.condition(pick, alt.value(LIGHT["c1"]), alt.value(LIGHT["c0"])),
        tooltip=[
            alt.Tooltip("name:N", title="who"),
            alt.Tooltip("value:Q", title=x_label, format=form),
        ],
    )
    texts = base.mark_text(align="left", dx=4).encode(
        x="value:Q", y=y, text=alt.Text("value:Q", format=form)
    )
    chart = alt.layer(bars.add_params(pick), texts)
    few = "; ".join(
        f"{name}: {percent(value) if share else amount(value)}" for name, value in known[:5]
    )
    return themed(chart, title=title, words=f"{few}{' …' if len(named) > 5 else ''}.")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricedSystem:
    """A system in one picture with others: bits with their interval, delay and bandwidth.

    ``bandwidth`` is messages out for each real one; ``delay`` seconds; None where not known.
    ``every`` has the bits of each user.
    """

    name: str
    bits: float
    low: float
    high: float
    delay: float | None
    bandwidth: float | None
    every: Floats

    def words(self) -> str:
        """The same as a sentence."""
        costs = []
        if self.delay is not None:
            costs.append(f"{amount(self.delay)} s")
        if self.bandwidth is not None:
            costs.append(f"{amount(self.bandwidth)} messages for each real one")
        price = " and ".join(costs) or "nothing that is known"
        return f"{label(self.name)}: {amount(self.bits)} bits for {price}."


_COSTS = (("delay", "mean delay, s"), ("bandwidth", "messages sent for each real one"))
_LEVELS = np.concatenate(([0.0, 0.01], np.linspace(0.02, 1.0, 50)))


def compare_chart(systems: Sequence[PricedSystem]) -> AnyChart:
    """Bits against delay and bandwidth, and how they are spread: parts of one chart.

    A click on a point or on the legend marks a system in all of them.
    """
    import altair as alt

    names = [label(each.name) for each in systems]
    rows: list[dict[str, Any]] = [
        {
            "series": label(each.name),
            "bits": each.bits,
            "low": each.low,
            "high": each.high,
            "delay": each.delay,
            "bandwidth": each.bandwidth,
        }
        for each in systems
    ]
    pick = alt.selection_point(name="pick", fields=["series"], bind="legend", toggle="true")
    faded = alt.condition(pick, alt.value(1.0), alt.value(0.15))
    parts: list[Any] = []
    for field, title in _COSTS:
        known = [row for row in rows if row[field] is not None]
        if len({row[field] for row in known}) > 1:  # what all pay alike tells nothing apart
            parts.append(_price(known, field, title, names, faded))
    parts.append(_spread(systems, names, faded))
    parts[0] = parts[0].add_params(pick)  # its name is that of all parts
    chart = alt.vconcat(*parts, spacing=26)
    words = " ".join(each.words() for each in systems)
    return themed(chart, title="Bits against delay and bandwidth", words=words)


def _price(rows: list[dict[str, Any]], field: str, title: str, names: list[str], faded: Any) -> Any:
    """Bits against one cost."""
    import altair as alt

    base = alt.Chart(inline(rows), width=WIDTH, height=_SMALL)
    least, most = (end(row[field] for row in rows) for end in (min, max))
    begin = 0.0 if field == "delay" else min(1.0, least) - 0.05 * max(most - 1.0, 0.2)
    scale = alt.Scale(domain=[begin, most + 0.08 * max(most - begin, 1e-9)], nice=False)
    x = alt.X(f"{field}:Q", title=title, scale=scale, axis=_PLAIN)
    shared = {"color": _colours(names), "opacity": faded}
    whisker = base.mark_rule(strokeWidth=2.5).encode(
        x=x, y=alt.Y("low:Q", title="entropy, bits", axis=_PLAIN), y2="high:Q", **shared
    )
    point = base.mark_point(filled=True, size=150, cursor="pointer").encode(
        x=x,
        y=alt.Y("bits:Q", scale=alt.Scale(zero=True)),
        shape=alt.Shape("series:N", sort=names, legend=None),
        tooltip=[
            alt.Tooltip("series:N", title="system"),
            alt.Tooltip("bits:Q", title="bits", format=".4~g"),
            alt.Tooltip("low:Q", title="at least", format=".4~g"),
            alt.Tooltip("high:Q", title="at most", format=".4~g"),
            alt.Tooltip(f"{field}:Q", title=title, format=".4~g"),
        ],
        **shared,
    )
    return alt.layer(whisker, point)


def _spread(systems: Sequence[PricedSystem], names: list[str], faded: Any) -> Any:
    """The share of users who have no more than so many bits."""
    import altair as alt

    rows = [
        {"series": label(each.name), "bits": bits, "share": level}
        for each in systems
        if len(each.every)
        for bits, level in zip(
            np.quantile(each.every, _LEVELS).tolist(), _LEVELS.tolist(), strict=True
        )
    ]
    line = alt.Chart(inline(rows), width=WIDTH, height=_SMALL).mark_line(
        strokeWidth=2.4, interpolate="step-before"
    )
    return line.encode(
        x=alt.X("bits:Q", title="entropy of one, bits", axis=_PLAIN),
        y=alt.Y("share:Q", title="share that has no more", axis=alt.Axis(format="%")),
        order="share:Q",
        color=_colours(names),
        opacity=faded,
        tooltip=[
            alt.Tooltip("series:N", title="system"),
            alt.Tooltip("bits:Q", title="bits", format=".4~g"),
            alt.Tooltip("share:Q", title="have no more", format=".3~%"),
        ],
    )

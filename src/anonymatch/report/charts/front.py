"""What delay buys: a line a kind of mix, what nothing can reach in grey, and the chosen setting."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import amount
from anonymatch.base.text import label
from anonymatch.report.charts.axes import axes
from anonymatch.report.charts.charts import end_labels, mark
from anonymatch.report.charts.scales import Scale
from anonymatch.report.drawings.colours import group_class
from anonymatch.report.drawings.svg import Element, Picture, element, group, text
from anonymatch.report.drawings.text_width import text_width

__all__ = ["Chosen", "FrontLine", "front_chart"]

_WIDTH, _HEIGHT, _TOP = 640.0, 340.0, 30.0
_STEPS = 60  # of the edge of what nothing can reach


@dataclass(frozen=True, slots=True)
class FrontLine:
    """A line of settings; with ``keys``, each of its points is a setting that can be picked."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    keys: Sequence[str] = ()


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
    ceiling: Callable[[float], float],
    title: str,
    x_label: str,
    y_label: str,
    chosen: Chosen | None = None,
    target: float | None = None,
) -> Picture:
    """Lines on two logarithmic axes that begin and end at powers of ten.

    So a picture that is drawn anew with other numbers moves within its axes. ``ceiling`` says for a
    value of x what nothing exceeds; what is above is grey.

    Examples
    --------
    >>> line = FrontLine("pool", [1, 2], [10, 20], ["a", "b"])
    >>> chart = front_chart(
    ...     [line], ceiling=lambda x: 15 * x, title="Front", x_label="s", y_label="n", target=12
    ... )
    >>> chart.words
    'pool: from 10 at 1 to 20 at 2. Nothing can be above 15 at 1, 150 at 10. The target is 12.'
    """
    xs = [*(x for line in lines for x in line.x), *([chosen.x] if chosen else [])]
    ys = [*(y for line in lines for y in line.y), *([chosen.high, chosen.low] if chosen else [])]
    ys += [] if target is None else [target]
    if not xs or not ys or min(xs) <= 0 or min(ys) <= 0:
        raise InputError("a front needs settings with delays and numbers above 0")
    low, high = _decades(xs)
    names = [label(line.name) for line in lines]
    right = max([20.0, *(text_width(name, "bold") + 14 for name in names)])
    down = Scale(*_decades([*ys, 1.0]), _TOP + _HEIGHT, _TOP, log=True)
    left = max(text_width(down.written(tick), "small") for tick in down.ticks()) + 18
    along = Scale(low, high, left, _WIDTH - right, log=True)
    points = [sorted(zip(map(float, line.x), map(float, line.y), strict=True)) for line in lines]
    drawn = [
        *_region(along, down, ceiling),
        *axes(along, down, x_label, y_label),
        *_target(along, down, target),
        *(_line(number, line, along, down) for number, line in enumerate(lines)),
        *end_labels(names, [list(each) for each in points], along, down),
        *_chosen(along, down, chosen),
    ]
    words = [
        f"{label(line.name)}: from {amount(each[0][1])} at {amount(each[0][0])} to "
        f"{amount(each[-1][1])} at {amount(each[-1][0])}."
        for line, each in zip(lines, points, strict=True)
        if each
    ]
    words.append(
        f"Nothing can be above {amount(ceiling(low))} at {amount(low)}, {amount(ceiling(high))} "
        f"at {amount(high)}."
    )
    if target is not None:
        words.append(f"The target is {amount(target)}.")
    if chosen is not None:
        words.append(f"Chosen: {_in_words(chosen)}.")
    return Picture(_WIDTH, _TOP + _HEIGHT + 44, title, " ".join(words), tuple(drawn))


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Powers of ten below and above all values, one apart at least."""
    low = math.floor(math.log10(min(values)) + 1e-9)
    high = math.ceil(math.log10(max(values)) - 1e-9)
    return 10.0**low, 10.0 ** max(high, low + 1)


def _region(along: Scale, down: Scale, ceiling: Callable[[float], float]) -> list[Element]:
    """Everything above the ceiling."""
    xs = np.geomspace(along.low, along.high, _STEPS).tolist()
    edge = [(along.at(x), down.at(max(ceiling(x), down.low))) for x in xs]
    path = "".join(f"L{x:.1f} {y:.1f}" for x, y in edge)
    area = f"M{along.begin:.1f} {down.end:.1f}{path}L{along.end:.1f} {down.end:.1f}Z"
    return [
        element("path", d=area, class_="cell", tip="nothing can be here: above the ceiling"),
        text(along.begin + 8, down.end + 18, "nothing can", "small soft"),
    ]


def _target(along: Scale, down: Scale, target: float | None) -> list[Element]:
    if target is None:
        return []
    y = down.at(target)
    return [
        element(
            "line", x1=along.begin, y1=y, x2=along.end, y2=y, class_="axis", stroke_dasharray="2 4",
            tip=f"target: {amount(target)}",
        ),
        text(along.begin + 8, y - 5, "target", "small soft"),
    ]  # fmt: skip


def _line(number: int, line: FrontLine, along: Scale, down: Scale) -> Element:
    places = sorted(
        (along.at(float(x)), down.at(float(y)), float(x), float(y), key)
        for x, y, key in zip(line.x, line.y, line.keys or [""] * len(line.x), strict=True)
    )
    path = "".join(f"{'L' if k else 'M'}{x:.1f} {y:.1f}" for k, (x, y, *_) in enumerate(places))
    dash = None if line.keys else "7 4"
    curve = element("path", d=path or "M0 0", class_="curve", stroke_dasharray=dash)
    marks = [
        mark(number, x, y, f"{label(key)}: {amount(value)} at {amount(at)}", key)
        for x, y, at, value, key in places
        if line.keys
    ]
    return group(curve, *marks, class_=group_class(number))


def _chosen(along: Scale, down: Scale, chosen: Chosen | None) -> list[Element]:
    """A dot in a ring, with a line from the least to the most that its height may be."""
    if chosen is None:
        return []
    x, y = along.at(chosen.x), down.at(chosen.y)
    low, high = down.at(max(chosen.low, down.low)), down.at(min(chosen.high, down.high))
    ends = "".join(f"M{x - 7:.1f} {end:.1f}h14" for end in (low, high))
    return [
        element("path", d=f"M{x:.1f} {low:.1f}V{high:.1f}{ends}", class_="whisker"),
        element("circle", cx=x, cy=y, r=4.6, class_="node", tip=_in_words(chosen)),
        element("circle", cx=x, cy=y, r=2.0, class_="solid"),
    ]


def _in_words(chosen: Chosen) -> str:
    return (
        f"{label(chosen.name)}, {amount(chosen.y)} at {amount(chosen.x)} (from "
        f"{amount(chosen.low)} to {amount(chosen.high)})"
    )

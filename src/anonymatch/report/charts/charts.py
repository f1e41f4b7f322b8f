"""Charts: lines, bars, and how values are spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown
from anonymatch.base.text import label
from anonymatch.report.charts.axes import axes, ground
from anonymatch.report.charts.scales import Scale, finite, scale
from anonymatch.report.drawings.colours import GROUPS, group_class
from anonymatch.report.drawings.svg import Element, Picture, element, group, text
from anonymatch.report.drawings.text_width import text_width

__all__ = ["Series", "bar_chart", "end_labels", "line_chart", "mark", "strip_chart"]

_WIDTH, _HEIGHT = 600.0, 300.0
_LEAST = 60.0  # of the longest bar, however much is written beside it
_DIRECT = 6  # lines that are named at their end; more get a legend
_MARKED = 60  # points of a line that get a mark each
_POINTS = 800  # of a line; more are thinned to the lowest and highest of each stretch
_LINES = 24  # colours times dashes
_BARS = 40  # or strips
_DOTS = 60  # values of a strip that are drawn one by one
_DASHES = ("", "7 4", "2 4", "10 3 2 3")
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a circle
    ((-4, -4), (4, -4), (4, 4), (-4, 4)),
    ((0, -5.2), (4.8, 4), (-4.8, 4)),
    ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)),
    ((0, 5.2), (4.8, -4), (-4.8, -4)),
    ((-1.8, -5), (1.8, -5), (1.8, 5), (-1.8, 5)),
)


@dataclass(frozen=True, slots=True)
class Series:
    """A line of a chart: a name and the points on it; None where there is none.

    Examples
    --------
    >>> Series("bound", [1, 2, 3], [1, 2, 6]).points()
    [(1.0, 1.0), (2.0, 2.0), (3.0, 6.0)]
    """

    name: str
    x: Sequence[Any]
    y: Sequence[Any]

    def points(self) -> list[tuple[float, float | None]]:
        """Points with a known x, by x; a y of None interrupts the line."""
        if len(self.x) != len(self.y):
            raise InputError(
                f"the series {self.name!r} has {len(self.x)} x but {len(self.y)} y; give as many"
            )
        pairs = zip(
            finite(self.x, f"x of {self.name!r}"),
            finite(self.y, f"y of {self.name!r}"),
            strict=True,
        )
        known = [(x, y) for x, y in pairs if x is not None]
        return sorted(known, key=lambda point: point[0])


def line_chart(
    series: Iterable[Series],
    *,
    title: str,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Picture:
    """One line a series, named at its end; with more than six series, in a legend.

    Lines differ by colour, by mark and, from the seventh on, by dashes.

    Examples
    --------
    >>> chart = line_chart([Series("H", [1, 10], [0.5, 1])], title="Ratio", log_x=True)
    >>> chart.words
    'H: from 0.5 at 1 to 1 at 10.'
    """
    lines = [(line.name, _thinned(line.points())) for line in series]
    if len(lines) > _LINES:
        raise InputError(f"at most {_LINES} lines can be told apart, not {len(lines)}")
    known = [(x, y) for _, points in lines for x, y in points if y is not None]
    direct = len(lines) <= _DIRECT
    names = [label(name) for name, _ in lines]
    right = max([20.0, *(text_width(name, "bold") + 14 for name in names)]) if direct else 20.0
    legend, rows = ([], 0) if direct else _legend(names)
    top = 30.0 + 20.0 * rows
    whole = all(x.is_integer() for x, _ in known)
    heights = [y for _, y in known]
    near = bool(heights) and 0 < 2 * min(heights) <= max(heights)
    down = scale(heights, top + _HEIGHT, top, log=log_y, zero=near)
    left = max(text_width(down.written(tick), "small") for tick in [*down.ticks(), down.high]) + 18
    along = scale((x for x, _ in known), left, _WIDTH - right, log=log_x, whole=whole)
    drawn = [
        *axes(along, down, x_label, y_label),
        *legend,
        *(_line(number, name, points, along, down) for number, (name, points) in enumerate(lines)),
        *(end_labels(names, [points for _, points in lines], along, down) if direct else []),
    ]
    height = top + _HEIGHT + (44 if x_label else 26)
    return Picture(_WIDTH, height, title, " ".join(_told(*line) for line in lines), tuple(drawn))


def bar_chart(bars: Iterable[tuple[object, Any]], *, title: str, x_label: str = "") -> Picture:
    """Bars from left to right with their names and values, the first forty of them.

    Examples
    --------
    >>> bar_chart([("H", 81), ("best", 96)], title="Matchings").words
    'H: 81. best: 96.'
    """
    given = list(bars)
    chosen = given[:_BARS]
    sizes = [value or 0.0 for value in finite([value for _, value in chosen], title)]
    names = [label(name) for name, _ in chosen]
    left = max([20.0, *map(text_width, names)]) + 14
    values = [shown(value) for _, value in chosen]
    right = max([20.0, *(text_width(value, "bold") for value in values)]) + 16
    width = max(_WIDTH, left + _LEAST + right)
    along = scale(sizes, left, width - right, zero=True)
    drawn: list[Element] = []
    for number, (name, size, value) in enumerate(zip(names, sizes, values, strict=True)):
        y = 8.0 + 26 * number
        begin, end = sorted((along.at(0.0), along.at(size)))
        bar = element(
            "rect", x=begin, y=y, width=max(end - begin, 1.0), height=18, rx=2, class_="bar",
            tip=f"{name}: {value}",
        )  # fmt: skip
        drawn += [
            text(left - 8, y + 13.5, name, "end"),
            bar,
            text(end + 6, y + 13.5, value, "bold"),
        ]
    height = 14.0 + 26 * len(chosen)
    for note in filter(None, (x_label, _more(len(given) - len(chosen)))):
        height += 18
        drawn.append(text(left, height - 4, note, "small soft"))
    words = " ".join(f"{name}: {value}." for name, value in zip(names, values, strict=True))
    return Picture(width, height + 4, title, words, tuple(drawn))


def strip_chart(
    rows: Iterable[tuple[object, Sequence[Any]]],
    *,
    title: str,
    x_label: str = "",
    log_x: bool = False,
) -> Picture:
    """How values are spread: a dot each, or their quantiles where there are more than sixty.

    The line goes from the least to the greatest, the box holds the middle half, and the bar in it
    is the median.

    Examples
    --------
    >>> strip_chart([("bits a user", [0, 1, 2, 2, 3])], title="Doubt").words
    'bits a user: 5 values from 0 to 3, middle half 1 to 2, median 2.'
    """
    spread = []
    given = list(rows)
    for name, values in given[:_BARS]:
        known = sorted(value for value in finite(values, label(name)) if value is not None)
        spread.append((label(name), known))
    left = max([20.0, *(text_width(name) for name, _ in spread)]) + 18
    every = [value for _, known in spread for value in known]
    along = scale(every, left, _WIDTH - 24, log=log_x)
    bottom = 12.0 + 46 * len(spread)
    drawn = ground(along, 8.0, bottom, x_label)
    sentences = []
    for number, (name, known) in enumerate(spread):
        y = 34.0 + 46 * number
        drawn.append(text(left - 12, y + 4.5, name, "end"))
        if known:
            drawn.append(_strip(known, along, y, group_class(number)))
        sentences.append(f"{name}: {_summary(known)}.")
    height = bottom + (44 if x_label else 26)
    if more := _more(len(given) - len(spread)):
        height += 18
        drawn.append(text(left, height - 6, more, "small soft"))
    return Picture(_WIDTH, height, title, " ".join(sentences), tuple(drawn))


def _line(
    number: int,
    name: str,
    points: list[tuple[float, float | None]],
    along: Scale,
    down: Scale,
) -> Element:
    begun, path, marks = False, "", []
    for x, y in points:
        if y is None:
            begun = False
            continue
        at = along.at(x), down.at(y)
        path += f"{'L' if begun else 'M'}{at[0]:.1f} {at[1]:.1f}"
        begun = True
        if len(points) <= _MARKED:
            tip = f"{label(name)}: {shown(y)} at {shown(x)}"
            marks.append(mark(number, *at, tip))
    dash = _DASHES[number // GROUPS % len(_DASHES)] or None
    curve = [element("path", d=path, class_="curve", stroke_dasharray=dash, tip=label(name))]
    return group(*(curve if path else []), *marks, class_=group_class(number))


def mark(number: int, x: float, y: float, tip: str = "", key: str | None = None) -> Element:
    """One shape a series, so that colour is not needed to tell them apart.

    ``key`` is what a page that lets readers pick it is told.
    """
    shape = _SHAPES[number % GROUPS]
    if not shape:
        return element("circle", cx=x, cy=y, r=4.2, class_="dot", tip=tip, data_pick=key)
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in shape)
    return element("polygon", points=points, class_="dot", tip=tip, data_pick=key)


def _legend(names: list[str]) -> tuple[list[Element], int]:
    """Samples of the lines with their names, and how many rows they take."""
    drawn, x, row = [], 8.0, 0
    for number, name in enumerate(names):
        width = 44 + text_width(name, "small")
        if x + width > _WIDTH and x > 8:
            x, row = 8.0, row + 1
        y = 12.0 + 20 * row
        dash = _DASHES[number // GROUPS % len(_DASHES)] or None
        sample = element("path", d=f"M{x:.1f} {y:g}h24", class_="curve", stroke_dasharray=dash)
        drawn.append(group(sample, mark(number, x + 12, y), class_=group_class(number)))
        drawn.append(text(x + 30, y + 4.5, name, "small"))
        x += width
    return drawn, row + 1


def end_labels(
    names: list[str],
    lines: list[list[tuple[float, float | None]]],
    along: Scale,
    down: Scale,
) -> list[Element]:
    """Names right of the last points, moved apart where they would meet."""
    ends = []
    for number, points in enumerate(lines):
        known = [(x, y) for x, y in points if y is not None]
        if known:
            ends.append((down.at(known[-1][1]), number, along.at(known[-1][0])))
    ends.sort()
    heights = [y for y, _, _ in ends]
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + 15)
    over = max(heights[-1] - down.begin, 0.0) if heights else 0.0
    for i in reversed(range(len(heights))):
        ceiling = heights[i + 1] - 15 if i + 1 < len(heights) else heights[i] - over
        heights[i] = min(heights[i], ceiling)
    return [
        group(text(x + 10, y + 4.5, names[number], "own bold halo"), class_=group_class(number))
        for y, (_, number, x) in zip(heights, ends, strict=True)
    ]


def _strip(known: list[float], along: Scale, y: float, shade: str) -> Element:
    low, quarter, half, most, high = (along.at(_quantile(known, q / 4)) for q in range(5))
    parts = [
        element("line", x1=low, y1=y, x2=high, y2=y, class_="edge"),
        element(
            "rect", x=quarter, y=y - 9, width=max(most - quarter, 1.0), height=18, class_="span"
        ),
        element("line", x1=half, y1=y - 12, x2=half, y2=y + 12, class_="edge mark"),
    ]
    if len(known) <= _DOTS:
        parts += [
            element("circle", cx=along.at(value), cy=y, r=3.5, class_="dot", tip=shown(value))
            for value in known
        ]
    tip = element("title", _summary(known))
    return group(tip, *parts, class_=shade)


def _summary(known: list[float]) -> str:
    if not known:
        return "no values"
    low, quarter, half, most, high = (shown(_quantile(known, q / 4)) for q in range(5))
    return (
        f"{plural(len(known), 'value')} from {low} to {high}, middle half {quarter} to {most}, "
        f"median {half}"
    )


def _quantile(known: list[float], share: float) -> float:
    """Between the two values next to it, in proportion."""
    position = share * (len(known) - 1)
    low = math.floor(position)
    high = min(low + 1, len(known) - 1)
    return known[low] + (position - low) * (known[high] - known[low])


def _thinned(points: list[tuple[float, float | None]]) -> list[tuple[float, float | None]]:
    if len(points) <= _POINTS:
        return points
    size = math.ceil(2 * len(points) / _POINTS)
    points_left: list[tuple[float, float | None]] = []
    for begin in range(0, len(points), size):
        stretch = points[begin : begin + size]
        heights = [(y, index) for index, (_, y) in enumerate(stretch) if y is not None]
        gap = [index for index, (_, y) in enumerate(stretch) if y is None][:1]
        ends = [min(heights)[1], max(heights)[1]] if heights else []
        points_left += [stretch[index] for index in sorted({*ends, *gap})]
    return points_left


def _told(name: str, points: list[tuple[float, float | None]]) -> str:
    known = [(x, y) for x, y in points if y is not None]
    if not known:
        return f"{label(name)}: no points."
    (x0, y0), (x1, y1) = known[0], known[-1]
    if len(known) == 1:
        return f"{label(name)}: {shown(y0)} at {shown(x0)}."
    return f"{label(name)}: from {shown(y0)} at {shown(x0)} to {shown(y1)} at {shown(x1)}."


def _more(number: int) -> str:
    return f"and {shown(number)} more" if number > 0 else ""

"""How anonymity falls with the rounds that are seen: lines with their intervals, and when half
of it is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymatch.base.numbers import amount
from anonymatch.base.text import label
from anonymatch.measures import Interval
from anonymatch.report.charts.axes import axes
from anonymatch.report.charts.charts import end_labels, mark
from anonymatch.report.charts.scales import Scale
from anonymatch.report.drawings.colours import group_class
from anonymatch.report.drawings.svg import Element, Picture, element, group, text
from anonymatch.report.drawings.text_width import text_width

__all__ = ["DecayLine", "decay_chart", "rounds_text"]

_WIDTH, _TOP = 420.0, 30.0  # as wide as a narrow screen still shows whole


@dataclass(frozen=True, slots=True)
class DecayLine:
    """A figure by how many rounds were seen, with the ends between which it lies."""

    name: str
    rounds: Sequence[int]
    values: Sequence[Interval]


def decay_chart(
    lines: Sequence[DecayLine],
    *,
    title: str,
    y_label: str,
    most: float | None = None,
    half_life: float | None = None,
    chosen: int | None = None,
    width: float = _WIDTH,
) -> Picture:
    """Lines from 0 up, by rounds on a logarithmic axis (a linear one where no round is a point).

    ``width`` is in pixels, and the height follows. ``most`` is the end of the vertical axis,
    ``half_life`` gets a dashed line down, and ``chosen`` rounds that are looked at a full one.

    Examples
    --------
    >>> ends = [Interval(2, 2, 2), Interval(0.5, 0.4, 0.6)]
    >>> decay_chart(
    ...     [DecayLine("bits", [1, 10], ends)], title="Decay", y_label="bits", half_life=4.6
    ... ).words
    'bits: from 2 after 1 to 0.5 after 10 rounds. The half-life is 4.6 rounds.'
    """
    tall = 0.3 * width + 90
    xs = [float(x) for line in lines for x in line.rounds]
    highest = max([value.high for line in lines for value in line.values], default=1.0)
    down = Scale(0.0, most or highest * 1.05 or 1.0, _TOP + tall, _TOP)
    names = [label(line.name) for line in lines]
    right = max([20.0, *(text_width(name, "bold") + 14 for name in names)])
    left = max(text_width(down.written(tick), "small") for tick in down.ticks()) + 18
    low, high = min(xs, default=1.0), max(xs, default=1.0)
    along = Scale(low, high, left, width - right, log=low > 0, whole=True)
    points = [
        [(float(x), float(value.value)) for x, value in zip(line.rounds, line.values, strict=True)]
        for line in lines
    ]
    rising = any(each and each[-1][1] > each[0][1] for each in points)
    drawn = [
        *axes(along, down, "rounds seen", y_label),
        *_upright(along, down, chosen, "looked at", None),
        *_upright(along, down, half_life, "half-life", "5 4"),
        *_half_life_name(along, down, half_life, rising),
        *(_line(number, line, along, down) for number, line in enumerate(lines)),
        *end_labels(names, [list(each) for each in points], along, down),
    ]
    words = [
        f"{name}: from {amount(each[0][1])} after {amount(each[0][0])} to {amount(each[-1][1])} "
        f"after {amount(each[-1][0])} rounds."
        for name, each in zip(names, points, strict=True)
        if each
    ]
    if half_life is not None:
        words.append(f"The half-life is {rounds_text(half_life)} rounds.")
    if chosen is not None:
        words.append(f"The line up marks {amount(chosen)} rounds.")
    return Picture(width, _TOP + tall + 44, title, " ".join(words), tuple(drawn))


def _upright(
    along: Scale, down: Scale, rounds: float | None, name: str, dash: str | None
) -> list[Element]:
    """A line at a number of rounds."""
    if rounds is None or not along.low <= rounds <= along.high:
        return []
    x = along.at(rounds)
    return [
        element(
            "line", x1=x, y1=down.begin, x2=x, y2=down.end, class_="axis", stroke_dasharray=dash,
            tip=f"{name}: {rounds_text(rounds)} rounds",
        )
    ]  # fmt: skip


def _half_life_name(
    along: Scale, down: Scale, half_life: float | None, rising: bool
) -> list[Element]:
    """What the dashed line is, where curves leave room for it."""
    if half_life is None or not along.low <= half_life <= along.high:
        return []
    words, x = f"half-life {rounds_text(half_life)}", along.at(half_life)
    y = down.begin - 8 if rising else down.end + 12
    if x + 6 + text_width(words, "small") < along.end:
        return [text(x + 6, y, words, "small halo")]
    return [text(x - 6, y, words, "small halo end")]


def rounds_text(rounds: float) -> str:
    """A number of rounds in as many digits as one between two that were looked at is worth.

    Examples
    --------
    >>> [rounds_text(value) for value in (3.582, 20.39, 1234.5)]
    ['3.6', '20', '1,234']
    """
    return f"{rounds:,.0f}" if rounds >= 10 else f"{rounds:.2g}"


def _line(number: int, line: DecayLine, along: Scale, down: Scale) -> Element:
    """The line with its marks, over what lies between the ends."""
    places = [
        (along.at(float(x)), value, x) for x, value in zip(line.rounds, line.values, strict=True)
    ]
    if not places:
        return group(class_=group_class(number))
    upper = "".join(
        f"{'L' if k else 'M'}{x:.1f} {down.at(value.high):.1f}"
        for k, (x, value, _) in enumerate(places)
    )
    lower = "".join(f"L{x:.1f} {down.at(value.low):.1f}" for x, value, _ in reversed(places))
    curve = "".join(
        f"{'L' if k else 'M'}{x:.1f} {down.at(value.value):.1f}"
        for k, (x, value, _) in enumerate(places)
    )
    marks = [
        mark(
            number,
            x,
            down.at(value.value),
            f"{label(line.name)}: {amount(value.value)} after {rounds} rounds (from "
            f"{amount(value.low)} to {amount(value.high)})",
        )
        for x, value, rounds in places
    ]
    return group(
        element("path", d=f"{upper}{lower}Z", class_="span"),
        element("path", d=curve, class_="curve"),
        *marks,
        class_=group_class(number),
    )

"""How many messages are inside a mix, over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.base.numbers import amount, plural
from anonymatch.report.charts.axes import axes
from anonymatch.report.charts.scales import Scale, scale
from anonymatch.report.drawings.svg import Element, Picture, element, group
from anonymatch.report.drawings.text_width import text_width

__all__ = ["Inside", "inside_chart", "inside_over_time"]

_WIDTH, _HEIGHT = 640.0, 240.0
_STRETCHES = 200  # of three points each
_UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (0.0, 1.0, "seconds"))

Floats = npt.NDArray[np.float64]


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


def inside_chart(
    arrivals: Floats,
    departures: Floats,
    *,
    title: str,
    staying: Floats | None = None,
    real: Floats | None = None,
) -> Picture:
    """The number inside from the first message on: a line, and how far it goes up and down.

    ``kept`` and ``real``: the probability of each arrival not to be lost, and of each departure not
    to be cover, where that is open; the number is then the expected one.

    Examples
    --------
    >>> inside_chart(np.array([0.0, 1.0]), np.array([2.0, 3.0]), title="Inside").words
    'From 0 to 2 messages are inside over 3 seconds.'
    """
    inside = inside_over_time(arrivals, departures, staying, real)
    span = float(inside.begins[-1])
    size, unit = next((size, unit) for least, size, unit in _UNITS if span >= least)
    top = 30.0
    least, most = (
        round(float(end)) for end in (inside.least.min(initial=0), inside.most.max(initial=0))
    )
    down = scale([0.0, max(most, 1)], top + _HEIGHT, top, zero=True, whole=True)
    left = max(text_width(down.written(tick), "small") for tick in down.ticks()) + 18
    along = scale([0.0, span / size], left, _WIDTH - 20)
    drawn = [
        *axes(along, down, f"{unit} since the first message", "messages inside"),
        *_curves(inside, along, down, size),
    ]
    expected = "" if staying is None else "expected "
    words = (
        f"From {least} to {plural(most, 'message')} are {expected}inside "
        f"over {amount(span / size)} {unit}."
    )
    if len(inside.mean) == _STRETCHES:
        words += " The line is the mean, the band goes from the fewest to the most."
    return Picture(_WIDTH, top + _HEIGHT + 44, title, words, tuple(drawn))


def inside_over_time(
    arrivals: Floats,
    departures: Floats,
    staying: Floats | None = None,
    real: Floats | None = None,
) -> Inside:
    """The number inside after each arrival and departure; of many, in 200 stretches.

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


def _curves(inside: Inside, along: Scale, down: Scale, size: float) -> list[Element]:
    """The band as one shape with steps, and the line over it."""
    if not len(inside.mean):
        return []
    x = [along.at(value / size) for value in inside.begins.tolist()]
    least, most, mean = (
        [down.at(value) for value in part.tolist()]
        for part in (inside.least, inside.most, inside.mean)
    )
    back = "".join(
        f"L{end:.1f} {y:.1f}H{begin:.1f}"
        for begin, end, y in zip(x[-2::-1], x[:0:-1], least[::-1], strict=True)
    )
    return [
        group(
            element("path", d=f"{_steps(x, most)}{back}Z", class_="span"),
            element("path", d=_steps(x, mean), class_="curve"),
            class_="g0",
        )
    ]


def _steps(x: list[float], heights: list[float]) -> str:
    """From each begin to the next at one height."""
    path = "".join(
        f"L{begin:.1f} {y:.1f}H{end:.1f}"
        for begin, end, y in zip(x[:-1], x[1:], heights, strict=True)
    )
    return "M" + path[1:]

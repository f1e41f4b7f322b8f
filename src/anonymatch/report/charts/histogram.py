"""How a figure is spread over users: bars with their numbers above them."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch.base.numbers import amount, percent, plural
from anonymatch.report.charts.axes import axes
from anonymatch.report.charts.scales import Scale, round_step, scale
from anonymatch.report.drawings.svg import Element, Picture, element, group, text
from anonymatch.report.drawings.text_width import text_width

__all__ = ["probability_histogram", "size_histogram"]

_WIDTH, _HEIGHT = 450.0, 220.0
_BARS = 20
_FAR = 30.0  # the largest over the smallest, from which a logarithmic axis reads better
_ROOM = 1.06  # over the highest bar, for its number
_LEAST = 2.0  # height of a bar that stands for anybody at all

Floats = npt.NDArray[np.float64]


def size_histogram(sizes: Floats, *, title: str, noun: str, threshold: float) -> Picture:
    """Effective set sizes, with a line at the threshold; logarithmic where they are far apart.

    Examples
    --------
    >>> chart = size_histogram(np.array([1.0, 2.0, 2.5, 9.0]), title="", noun="user", threshold=5)
    >>> chart.words
    '1 user from 1 to 1.5. 1 user from 2 to 2.5. 1 user from 2.5 to 3. 1 user from 9 to 9.5.'
    """
    known = sizes[np.isfinite(sizes)]
    low, high = min(1.0, known.min(initial=1.0)), known.max(initial=1.0)
    if threshold <= _FAR * high:
        high = max(high, threshold)
    far = high >= _FAR * low > 0
    edges = np.geomspace(low, high * (1 + 1e-9), _BARS + 1) if far else _even(low, high)
    return _histogram(
        known,
        edges,
        title=title,
        noun=noun,
        x_label="effective set size" + (" (logarithmic)" if far else ""),
        mark=(threshold, f"threshold {amount(threshold)}"),
        log=far,
    )


def probability_histogram(probabilities: Floats, *, title: str, noun: str) -> Picture:
    """Probabilities of best guesses from 0 to 100 %.

    Examples
    --------
    >>> probability_histogram(np.array([0.25, 0.26, 1.0]), title="", noun="message").words
    '2 messages from 25 % to 30 %. 1 message from 95 % to 100 %.'
    """
    edges = np.linspace(0.0, 1.0, _BARS + 1)
    known = probabilities[np.isfinite(probabilities)]
    label = "probability that the best guess is right, %"
    return _histogram(known, edges, title=title, noun=noun, x_label=label, share=True)


def _even(low: float, high: float) -> Floats:
    """Edges at round numbers; equal values get one bar."""
    step = max(round_step(max(high - low, 1e-9) / _BARS), 0.1) if high > low else 1.0
    first = math.floor(low / step + 1e-9)
    last = max(math.floor(high / step + 1e-9) + 1, first + 1)
    return np.arange(first, last + 1, dtype=np.float64) * step


def _histogram(
    values: Floats,
    edges: Floats,
    *,
    title: str,
    noun: str,
    x_label: str,
    mark: tuple[float, str] | None = None,
    log: bool = False,
    share: bool = False,
) -> Picture:
    # Rounding must not take a value out of the first or the last bar.
    numbers = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist()
    top, bottom = 52.0, 52.0 + _HEIGHT
    down = scale([0.0, _ROOM * (max(numbers, default=0) or 1)], bottom, top, zero=True, whole=True)
    left = max(text_width(down.written(tick), "small") for tick in down.ticks()) + 18
    along = _along(edges, left, log, share)
    factor = 100.0 if share else 1.0
    write = percent if share else amount
    drawn = axes(along, down, x_label, f"{noun}s")
    if mark is not None and along.low <= mark[0] <= along.high:
        drawn += _marked(along.at(mark[0]), top, bottom, mark[1])
    words = []
    for number, begin, end in zip(numbers, edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if number:
            tip = f"{plural(number, noun)} from {write(begin)} to {write(end)}"
            words.append(f"{tip}.")
            drawn.append(_bar(along.at(factor * begin), along.at(factor * end), down, number, tip))
    return Picture(
        _WIDTH, bottom + 44, title, " ".join(words) or f"There are no {noun}s.", tuple(drawn)
    )


def _along(edges: Floats, left: float, log: bool, share: bool) -> Scale:
    low, high = float(edges[0]), float(edges[-1])
    if share:
        low, high = 100 * low, 100 * high
    return Scale(low, high, left, _WIDTH - 20, log)


def _bar(begin: float, end: float, down: Scale, number: int, tip: str) -> Element:
    """One bar; its number is written above it where there is room."""
    y = min(down.at(number), down.begin - _LEAST)
    wide = max(end - begin - 1, 1.0)
    bar = element(
        "rect", x=begin + 0.5, y=y, width=wide, height=down.begin - y, class_="bar", tip=tip
    )
    written = _short(number)
    if text_width(written, "tiny") > wide:
        return bar
    return group(bar, text((begin + end) / 2, y - 4, written, "middle tiny halo"))


def _marked(x: float, top: float, bottom: float, name: str) -> list[Element]:
    room = text_width(name, "small bold")
    where, side = (x - 4, "end ") if x + 4 + room > _WIDTH else (x + 4, "")
    line = element("line", x1=x, y1=top - 36, x2=x, y2=bottom, class_="edge gone")
    return [group(line, text(where, top - 30, name, f"{side}small own bold"), class_="g1")]


def _short(number: int) -> str:
    """A count in at most five characters.

    Examples
    --------
    >>> [_short(number) for number in (7, 999, 1234, 99_999, 12_345_678)]
    ['7', '999', '1.2k', '100k', '12M']
    """
    for size, letter in ((1_000_000, "M"), (1000, "k")):
        if number >= size:
            return (
                f"{number / size:.1f}{letter}"
                if number < 10 * size
                else (f"{number / size:.0f}{letter}")
            )
    return str(number)

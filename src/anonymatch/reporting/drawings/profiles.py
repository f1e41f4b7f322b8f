"""Who writes to whom: a row a user, a column a behaviour, the darker the likelier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.numbers import percent, plural
from anonymatch.base.text import label
from anonymatch.reporting.drawings.matrices import framed, shaded
from anonymatch.reporting.drawings.svg import (
    LAYOUT,
    Element,
    Picture,
    box,
    circle,
    element,
    group,
    line,
    text,
    text_width,
)

MOST_DRAWN = 200
"""Users or behaviours that get a row or a column."""


def profile_matrix(
    probability: Floats,
    users: Sequence[object],
    behaviours: Sequence[object],
    *,
    title: str,
    truth: Bools | None = None,
) -> Picture:
    """Probabilities as shades, from white for 0 to full for 1, the same in every picture.

    Rows of users of whom nothing is known are NaN, and dashed. Cells of ``truth`` are marked.
    Names are written for up to 40 users and behaviours; 200 can be drawn.

    Examples
    --------
    >>> values = np.array([[0.9, 0.1], [np.nan, np.nan]])
    >>> profile_matrix(values, ["ann", "bob"], ["x", "y"], title="Profiles").words
    '2 users in rows and 2 behaviours in columns. ann writes to x with 90 %. 1 user has not sent
    yet.'
    """
    words = _words(probability, users, behaviours, truth)
    if max(probability.shape, default=0) > LAYOUT.largest:
        return _small_cells(probability, truth, title, words)
    rows, columns = [label(name) for name in users], [label(name) for name in behaviours]
    side = 20.0 if max(len(rows), len(columns)) <= 24 else 13.0
    left = max([12.0, *(text_width(name, "small") for name in rows)]) + 10
    top = max([12.0, *(text_width(name, "small") for name in columns)]) + 12
    width, height = side * len(columns), side * len(rows)
    drawn = [
        *(
            text(left - 8, top + side * (i + 0.5) + 4, name, "end small")
            for i, name in enumerate(rows)
        ),
        *(
            text(left + side * (j + 0.5) + 4, top - 6, name, "small", turned=-90)
            for j, name in enumerate(columns)
        ),
        *_cells(probability, rows, columns, side, left, top),
        box(left, top, width, height, "axis"),
        *_rings(truth, side, left, top),
    ]
    return Picture(left + width + 10, top + height + 8, title, words, tuple(drawn))


def _cells(
    probability: Floats, rows: list[str], columns: list[str], side: float, left: float, top: float
) -> list[Element]:
    drawn = []
    for i, user in enumerate(rows):
        if np.isnan(probability[i]).any():
            drawn.append(_silent(user, left, top + side * i, side * len(columns), side))
            continue
        for j in np.flatnonzero(probability[i] >= LAYOUT.least_probability).tolist():
            value = float(probability[i, j])
            tip, opacity = f"{user} – {columns[j]}: {percent(value)}", round(value**LAYOUT.faint, 2)
            corner = left + side * j, top + side * i
            drawn.append(box(*corner, side, side, "solid", fill_opacity=opacity, tip=tip))
    return [group(*drawn, class_="g0")]


def _silent(user: str, x: float, y: float, width: float, side: float) -> Element:
    """A row of which nothing is known: a dashed line through it."""
    middle = y + side / 2
    ends = x + 4, middle, x + width - 4, middle
    return line(*ends, "frame", stroke_dasharray="2 4", tip=f"{user} has not sent yet")


def _rings(truth: Bools | None, side: float, left: float, top: float) -> list[Element]:
    if truth is None:
        return []
    rings = [
        circle(left + side * (j + 0.5), top + side * (i + 0.5), side * 0.3, "ring")
        for i, j in np.argwhere(truth).tolist()
    ]
    return [group(*rings, class_="g1")]


def _small_cells(probability: Floats, truth: Bools | None, title: str, words: str) -> Picture:
    """Cells without names."""
    tall, wide = probability.shape
    tile = LAYOUT.profile_side / max(tall, wide)
    seen = np.nan_to_num(probability - LAYOUT.least_probability).clip(0.0) ** LAYOUT.faint
    shades = np.ceil(seen * LAYOUT.shades).astype(np.int64)
    parts = [group(*shaded(shades, LAYOUT.shades), class_="g0")]
    if truth is not None:
        dots = [circle(j + 0.5, i + 0.5, 0.2, "solid") for i, j in np.argwhere(truth).tolist()]
        parts.append(group(*dots, class_="g1"))
    inside = element("g", *parts, transform=f"translate(24 20) scale({tile:.6g})")
    names = plural(wide, "behaviour"), plural(tall, "user")
    return framed(inside, (tile * wide, tile * tall), names, title=title, words=words)


def _words(
    probability: Floats, users: Sequence[object], behaviours: Sequence[object], truth: Bools | None
) -> str:
    silent = np.isnan(probability).any(axis=1)
    parts = [
        (
            f"{plural(len(users), 'user')} in rows and {plural(len(behaviours), 'behaviour')} in "
            "columns."
        )
    ]
    best = np.where(silent, -1.0, np.nan_to_num(probability).max(axis=1, initial=0.0))
    for i in np.argsort(-best, kind="stable")[: LAYOUT.in_words].tolist():
        if best[i] > 0:
            most = label(behaviours[int(probability[i].argmax())])
            parts.append(f"{label(users[i])} writes to {most} with {percent(float(best[i]))}.")
    if silent.any():
        number = int(silent.sum())
        parts.append(f"{plural(number, 'user')} {'has' if number == 1 else 'have'} not sent yet.")
    if truth is not None:
        parts.append("What is true is marked.")
    return " ".join(parts)

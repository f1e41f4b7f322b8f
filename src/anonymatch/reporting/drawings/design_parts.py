"""The parts of a design as a row of blocks, however many users there are."""

from __future__ import annotations

from collections.abc import Sequence

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown
from anonymatch.reporting.drawings.svg import (
    LAYOUT,
    Element,
    Picture,
    box,
    group,
    group_class,
    text,
    text_width,
)
from anonymatch.theory.designs import Part


def parts(chosen: Sequence[Part], *, spare: int = 0, title: str = "") -> Picture:
    """Blocks side by side, as large as their users, filled where there are edges.

    Up to ten parts are drawn one by one, more as one block a kind with the number of times.

    Parameters
    ----------
    chosen : sequence of Part
        As ``design(...).parts`` gives them.
    spare : int
        Edges that are in no part.
    title : str
        Default: how many users and edges there are.

    Examples
    --------
    >>> from anonymatch.theory.designs import Near
    >>> parts([Part(Near(7), 1428571), Part(Near(3), 1)], spare=2).words
    '1,428,571 parts of 7 users and 49 edges (complete). 1 part of 3 users and 9 edges (complete). 2
    spare edges are in no part.'
    """
    if not chosen:
        raise InputError("there are no parts to draw; give at least one")
    largest = max(part.size for part in chosen)
    scale = min(LAYOUT.part_side / largest, 18.0)
    alone = sum(part.number for part in chosen) <= LAYOUT.alone
    blocks: list[tuple[float, float, Element]] = []
    for kind, part in enumerate(chosen[: LAYOUT.kinds]):
        side = max(scale * part.size, LAYOUT.least_side)
        times = 1 if alone else part.number
        block = _block(part, side, times, group_class(kind))
        blocks += [block] * (part.number if alone else 1)
    drawn, width, height = _rows(blocks)
    if notes := _notes(chosen, spare):
        drawn.append(text(8, height + 14, notes, "small soft"))
        width, height = max(width, text_width(notes, "small") + 16), height + 24
    users = sum(part.size * part.number for part in chosen)
    edges = sum(part.edges * part.number for part in chosen) + spare
    return Picture(
        width,
        height,
        title or f"{plural(users, 'user')} and {plural(edges, 'edge')} in parts",
        _words(chosen, spare),
        tuple(drawn),
    )


def _block(part: Part, side: float, times: int, shade: str) -> tuple[float, float, Element]:
    """Width, height and drawing of one block with what is written below it."""
    lines = [f"{shown(part.size)} × {shown(part.size)}", plural(part.edges, "edge"), part.kind]
    if times > 1:
        lines.insert(0, f"× {shown(times)}")
    behind = 8.0 if times > 1 else 0.0
    styles = ["middle bold" if times > 1 else "middle small", *["middle small"] * (len(lines) - 1)]
    widths = map(text_width, lines, styles)
    wide = max([side + behind, *widths]) + 14
    x, y = (wide - side - behind) / 2, 8.0
    drawn = [
        box(x + step, y + 8 - step, side, side, "node", 2)
        for step in ((8.0, 4.0) if behind else ())
    ]
    y += behind
    tip = f"{plural(times, 'part')} of {plural(part.size, 'user')}, {plural(part.edges, 'edge')}"
    drawn.append(box(x, y, side, side, "node", 2, tip=tip))
    drawn += _cells(part, x, y, side)
    for number, (line, classes) in enumerate(zip(lines, styles, strict=True)):
        drawn.append(text(wide / 2, y + side + 18 + 15 * number, line, classes))
    return wide, y + side + 18 + 15 * len(lines), group(*drawn, class_=shade)


def _cells(part: Part, x: float, y: float, side: float) -> list[Element]:
    """The edges of a small part, or one shade for how many pairs of a large one are edges."""
    if part.size > LAYOUT.part_cells:
        return [box(x, y, side, side, "cell", fill_opacity=part.edges / part.size**2)]
    step = side / part.size
    return [
        box(x + step * j + 0.5, y + step * i + 0.5, step - 1, step - 1, "solid")
        for i, j in zip(*(ends.tolist() for ends in part.shape.cells()), strict=True)
    ]


def _rows(blocks: list[tuple[float, float, Element]]) -> tuple[list[Element], float, float]:
    """Blocks from left to right, in as many rows as they need, on a common ground line."""
    drawn: list[Element] = []
    x = y = widest = 0.0
    rows: list[list[tuple[float, float, Element]]] = [[]]
    for block in blocks:
        if rows[-1] and x + block[0] > LAYOUT.row:
            rows.append([])
            x = 0.0
        rows[-1].append(block)
        x += block[0]
    for row in rows:
        tallest = max(height for _, height, _ in row)
        x = 0.0
        for width, height, drawing in row:
            drawn.append(group(drawing, x=x, y=y + tallest - height))
            x += width
        widest, y = max(widest, x), y + tallest + 6
    return drawn, widest, y


def _notes(chosen: Sequence[Part], spare: int) -> str:
    notes = []
    if len(chosen) > LAYOUT.kinds:
        notes.append(f"and {plural(len(chosen) - LAYOUT.kinds, 'more kind')} of part")
    if spare:
        notes.append(f"{plural(spare, 'spare edge')} in no part")
    return "; ".join(notes)


def _words(chosen: Sequence[Part], spare: int) -> str:
    sentences = [
        f"{plural(part.number, 'part')} of {plural(part.size, 'user')} and "
        f"{plural(part.edges, 'edge')} ({part.kind})."
        for part in chosen[: LAYOUT.kinds]
    ]
    if len(chosen) > LAYOUT.kinds:
        sentences.append(f"{plural(len(chosen) - LAYOUT.kinds, 'more kind')} of part.")
    if spare:
        verb = "is" if spare == 1 else "are"
        sentences.append(f"{plural(spare, 'spare edge')} {verb} in no part.")
    return " ".join(sentences)

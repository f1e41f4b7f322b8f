"""Graphs as two columns of dots with a line for each edge, and designs as rows of blocks."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown
from anonymatch.base.text import label
from anonymatch.graph import Graph, check_graph, structure, witness
from anonymatch.reporting.drawings.matrices import heat
from anonymatch.reporting.drawings.svg import (
    LAYOUT,
    Element,
    Picture,
    box,
    circle,
    element,
    group,
    group_class,
    line,
    text,
    text_width,
)

if TYPE_CHECKING:
    from anonymatch.theory.designs import Part

Groups = Sequence[Collection[Hashable]] | Literal["blocks"] | None
"""Names of users that get one colour each, or the blocks of the graph."""


def bipartite(
    graph: Graph,
    *,
    title: str = "",
    groups: Groups = None,
    edges: Iterable[tuple[Hashable, Hashable]] = (),
    users: Iterable[Hashable] = (),
    headings: tuple[str, str] = ("users", "behaviours"),
) -> Picture:
    """A graph: users on the left, behaviours on the right, and a line for each edge.

    Lines of a weighted graph are as thick as their weight. With more than 40 users or behaviours
    it is a :func:`anonymatch.reporting.drawings.matrices.heat` picture instead.

    Parameters
    ----------
    graph : Graph
    title : str
        Default: its sizes.
    groups : sequence of collections of users, or "blocks"
        Each gets a colour, its edges and behaviours with it.
    edges, users : iterable
        What stands out: pairs (user, behaviour), and users; by name.
    headings : pair of str
        What is written over the columns.

    Examples
    --------
    >>> graph = Graph.from_edges([("ann", "x"), ("ann", "y"), ("bob", "x")])
    >>> picture = bipartite(graph, edges=[("bob", "x")])
    >>> picture.title
    '2 users, 2 behaviours, 3 edges'
    >>> picture.words
    'ann: x, y. bob: x. Marked: bob with x.'
    """
    check_graph(graph)
    if max(graph.n_users, graph.n_behaviours) > LAYOUT.largest:
        return heat(graph, title=title)
    marked = _pairs(graph, edges)
    outstanding = {graph.user_index(user) for user in users}
    colours = _colours(graph, groups)
    columns = _Columns(graph, headings)
    kinds = dict.fromkeys(marked, "mark")
    drawn = [
        *columns.headings(),
        *_lines(columns, colours, kinds),
        *_dots(columns, colours, outstanding),
    ]
    return Picture(
        columns.width, columns.height, title or _sizes(graph), _words(graph, marked), tuple(drawn)
    )


def exposure(graph: Graph, user: Hashable, behaviour: Hashable, *, title: str = "") -> Picture:
    """A graph before and after an attacker learns that ``user`` did ``behaviour``.

    On the left, what leaves the graph is dashed and the pair itself thick; on the right is what
    stays, where it was.

    Examples
    --------
    >>> graph = Graph.from_rows(["110", "111", "011"])
    >>> exposure(graph, 1, 1).words
    'Exposing 1 as 1 removes 5 of 7 edges. Left: 0: 0. 2: 2.'
    """
    check_graph(graph)
    left = graph.expose(user, behaviour)
    if max(graph.n_users, graph.n_behaviours) > LAYOUT.largest:
        raise InputError(
            f"an exposure can be drawn for at most {LAYOUT.largest} users and behaviours, "
            f"not {max(graph.n_users, graph.n_behaviours)}; select some of them first"
        )
    row, column = graph.user_index(user), graph.behaviour_index(behaviour)
    columns = _Columns(graph, ("before", ""))
    pairs = _all_pairs(graph)
    kinds = {(i, j): "gone" for i, j in pairs if (i == row) != (j == column)}
    kinds[row, column] = "mark"
    before = group(
        *columns.headings(), *_lines(columns, {}, kinds), *_dots(columns, {}, {row}, lost=column)
    )
    gone = _Columns(graph, ("after", ""))
    after = group(
        *gone.headings(),
        *_lines(gone, {}, {}, without=(row, column)),
        *_dots(gone, {}, set(), without=(row, column)),
        x=columns.width + 56,
    )
    arrow = _arrow(columns.width + 8, columns.width + 48, columns.height / 2)
    words = (
        f"Exposing {label(user)} as {label(behaviour)} removes {graph.n_edges - left.n_edges} of "
        f"{plural(graph.n_edges, 'edge')}. Left: {_words(left, [])}"
    )
    return Picture(
        2 * columns.width + 56,
        columns.height,
        title or f"Before and after {label(user)} is exposed as {label(behaviour)}",
        words,
        (before, arrow, after),
    )


@dataclass(frozen=True)
class _Columns:
    """Where the dots of a graph are."""

    graph: Graph
    names: tuple[str, str]

    @cached_property
    def labels(self) -> tuple[list[str], list[str]]:
        return [label(name) for name in self.graph.users], [
            label(name) for name in self.graph.behaviours
        ]

    @property
    def longest(self) -> int:
        return max(self.graph.n_users, self.graph.n_behaviours, 1)

    @property
    def pitch(self) -> float:
        return 34.0 if self.longest <= 12 else 24.0 if self.longest <= 24 else 19.0

    @property
    def radius(self) -> float:
        return 5.5 if self.longest <= 12 else 4.5

    @cached_property
    def x(self) -> tuple[float, float]:
        """The columns: room for names on the left, more distance where lines are steep."""
        left, right = self._half_headings
        margin = max([30.0, left - 12, *(text_width(name, "bold") for name in self.labels[0])]) + 16
        return margin, margin + max(120 + 4.5 * self.longest, left + right + 8)

    @cached_property
    def width(self) -> float:
        half = self._half_headings[1]
        right = max([50.0, half - 12, *(text_width(name, "bold") for name in self.labels[1])]) + 16
        return self.x[1] + right

    @property
    def _half_headings(self) -> tuple[float, float]:
        left, right = (text_width(name, "small") / 2 for name in self.names)
        return left, right

    @property
    def height(self) -> float:
        return LAYOUT.top + self.pitch * self.longest + 4

    def y(self, side: int, index: int) -> float:
        number = (self.graph.n_users, self.graph.n_behaviours)[side]
        return LAYOUT.top + self.pitch * (index + 0.5 + (self.longest - number) / 2)

    def headings(self) -> list[Element]:
        return [
            text(x, 14, name, f"{anchor} small soft")
            for x, name, anchor in zip(self.x, self.names, ("middle", "middle"), strict=True)
            if name
        ]


Colours = dict[tuple[int, int], str]
"""From side (0 users, 1 behaviours) and index to the class of its group."""


def _lines(
    columns: _Columns,
    colours: Colours,
    kinds: dict[tuple[int, int], str],
    *,
    without: tuple[int, int] = (-1, -1),
) -> list[Element]:
    """Edges, those that stand out last so that they are on top."""
    graph = columns.graph
    thickness = _thickness(graph)
    lines: list[tuple[bool, Element]] = []
    for edge, (i, j) in enumerate(_all_pairs(graph)):
        if i == without[0] or j == without[1]:
            continue
        kind = kinds.get((i, j), "")
        shade = "g1" if kind else colours.get((0, i), "") if _same(colours, i, j) else ""
        tip = f"{columns.labels[0][i]} – {columns.labels[1][j]}"
        if graph.weighted:
            tip += f": {_weight(graph, edge)}"
        ends = columns.x[0], columns.y(0, i), columns.x[1], columns.y(1, j)
        classes = " ".join(filter(None, ("edge", kind, shade)))
        drawn = line(*ends, classes, style=None if kind else thickness[edge], tip=tip)
        lines.append((bool(kind), drawn))
    ordered = [drawn for top in (False, True) for on_top, drawn in lines if on_top is top]
    return ordered + (_edge_labels(columns) if graph.weighted else [])


def _dots(
    columns: _Columns,
    colours: Colours,
    outstanding: set[int],
    *,
    lost: int = -1,
    without: tuple[int, int] = (-1, -1),
) -> list[Element]:
    drawn: list[Element] = []
    for side, names in enumerate(columns.labels):
        for index, name in enumerate(names):
            if index == without[side]:
                continue
            stands_out = index in outstanding if side == 0 else index == lost
            shade = "g1" if stands_out else colours.get((side, index), "")
            drawn.append(_dot(columns, side, index, name, shade, stands_out))
    return drawn


def _dot(
    columns: _Columns, side: int, index: int, name: str, shade: str, stands_out: bool
) -> Element:
    x, y, r = columns.x[side], columns.y(side, index), columns.radius
    full = str((columns.graph.users, columns.graph.behaviours)[side][index])
    square = box(x - r, y - r, 2 * r, 2 * r, "dot", 1.5)
    shape = circle(x, y, r, "dot") if side == 0 else square
    ring = [circle(x, y, r + 4, "ring")] if stands_out else []
    away, anchor = ((-r - 8, "end"), (r + 8, ""))[side]
    classes = " ".join(filter(None, (anchor, "own" if shade else "", "bold" if stands_out else "")))
    tip = full if full != name else ""
    return group(shape, *ring, text(x + away, y + 4.5, name, classes, tip=tip), class_=shade)


def _edge_labels(columns: _Columns) -> list[Element]:
    """Weights on the lines, each at the first place along it where no other stands."""
    graph = columns.graph
    if graph.n_edges > LAYOUT.labelled_edges:
        return []
    (x0, x1), labels = columns.x, []
    taken: list[tuple[float, float, float]] = []
    for edge, (i, j) in enumerate(_all_pairs(graph)):
        name = _weight(graph, edge)
        half = text_width(name, "small") / 2 + 2
        y0, y1 = columns.y(0, i), columns.y(1, j)
        for along in (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.15, 0.85):
            x, y = x0 + along * (x1 - x0), y0 + along * (y1 - y0)
            if all(abs(x - a) >= half + b or abs(y - c) >= 13 for a, b, c in taken):
                taken.append((x, half, y))
                labels.append(text(x, y + 4, name, "middle small halo"))
                break
    return labels


def _arrow(x0: float, x1: float, y: float) -> Element:
    head = f"M{x1 - 10:g} {y - 6:g}L{x1:g} {y:g}L{x1 - 10:g} {y + 6:g}Z"
    return group(line(x0, y, x1 - 8, y, "axis"), element("path", d=head, class_="solid"))


def _all_pairs(graph: Graph) -> list[tuple[int, int]]:
    return list(zip(graph.rows().tolist(), graph.indices.tolist(), strict=True))


def _pairs(graph: Graph, edges: Iterable[tuple[Hashable, Hashable]]) -> list[tuple[int, int]]:
    """Marked edges as indices, each an edge of the graph."""
    pairs = []
    there = set(_all_pairs(graph))
    for user, behaviour in edges:
        pair = graph.user_index(user), graph.behaviour_index(behaviour)
        if pair not in there:
            raise InputError(f"cannot mark {user!r} with {behaviour!r}: that is not an edge")
        pairs.append(pair)
    return pairs


def _colours(graph: Graph, groups: Groups) -> Colours:
    """Both sides by block; or users by group, and a behaviour as its users if they share one."""
    if groups is None:
        return {}
    if groups == "blocks":
        if witness(graph) is not None:
            return {}
        blocks = structure(graph)
        sides = blocks.block_of_user.tolist(), blocks.block_of_behaviour.tolist()
        return {
            (side, index): group_class(block)
            for side, numbers in enumerate(sides)
            for index, block in enumerate(numbers)
            if block >= 0
        }
    colours: Colours = {
        (0, graph.user_index(user)): group_class(number)
        for number, members in enumerate(groups)
        for user in members
    }
    for i, j in _all_pairs(graph):
        mine, shade = colours.get((0, i), ""), colours.get((1, j))
        colours[1, j] = mine if shade in (None, mine) else ""
    return colours


def _same(colours: Colours, i: int, j: int) -> bool:
    return colours.get((0, i)) == colours.get((1, j))


def _thickness(graph: Graph) -> list[str | None]:
    if graph.weights is None or not len(graph.weights):
        return [None] * graph.n_edges
    widths = 0.7 + 4.3 * graph.weights / np.max(graph.weights)
    return [f"stroke-width:{width:.1f}" for width in widths.tolist()]


def _weight(graph: Graph, edge: int) -> str:
    exact = graph.exact_weights
    if exact is None:
        return "1"
    value = exact[edge]
    short = shown(value)
    return short if len(short) <= 9 else f"{float(value):.3g}"


def _sizes(graph: Graph) -> str:
    return ", ".join(
        plural(number, noun)
        for number, noun in (
            (graph.n_users, "user"),
            (graph.n_behaviours, "behaviour"),
            (graph.n_edges, "edge"),
        )
    )


def _words(graph: Graph, marked: list[tuple[int, int]]) -> str:
    """Each user with the behaviours of that user, then what is marked."""
    names = [label(name) for name in graph.behaviours]
    rows = [
        f"{label(user)}: {', '.join(names[j] for j in graph.indices[begin:end]) or 'nothing'}."
        for user, (begin, end) in zip(graph.users, pairwise(graph.indptr.tolist()), strict=True)
    ]
    if marked:
        pairs = ", ".join(f"{label(graph.users[i])} with {names[j]}" for i, j in marked)
        rows.append(f"Marked: {pairs}.")
    return " ".join(rows)


# ---- the parts of a design as a row of blocks, however many users there are


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
    >>> from anonymatch.theory.designs import Near, Part
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
        _part_words(chosen, spare),
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
    for number, (words, classes) in enumerate(zip(lines, styles, strict=True)):
        drawn.append(text(wide / 2, y + side + 18 + 15 * number, words, classes))
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


def _part_words(chosen: Sequence[Part], spare: int) -> str:
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

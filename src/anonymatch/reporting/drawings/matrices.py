"""A graph as a table of cells: one a pair, or summed up where there are too many to tell apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import percent, plural, shown
from anonymatch.base.text import label
from anonymatch.graph import Graph, block_table, check_graph, structure
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

Ints = npt.NDArray[np.int64]


def matrix(
    graph: Graph, *, title: str = "", edges: Iterable[tuple[Hashable, Hashable]] = ()
) -> Picture:
    """The 0/1 matrix of a graph: a row a user, a column a behaviour, coloured where they share one.

    With more than 40 users or behaviours it is a :func:`heat` picture instead.

    Parameters
    ----------
    graph : Graph
    title : str
        Default: its sizes.
    edges : iterable of pairs
        Cells that stand out, by name; edges or not.

    Examples
    --------
    >>> matrix(Graph.from_rows(["10", "11"])).words
    'Row 0: 10. Row 1: 11.'
    """
    check_graph(graph)
    marked = {(graph.user_index(u), graph.behaviour_index(b)) for u, b in edges}
    longest = max(graph.n_users, graph.n_behaviours, 1)
    if longest > LAYOUT.largest:
        return heat(graph, title=title)
    side = 26.0 if longest <= 12 else 18.0 if longest <= 24 else 12.0
    there = _dense(graph)
    rows = [label(name) for name in graph.users]
    columns = [label(name) for name in graph.behaviours]
    left = max([12.0, *(text_width(name, "small") for name in rows)]) + 12
    slanted = max([0.0, *(text_width(name, "small") for name in columns)]) > side
    top = _above(columns, slanted)
    over = max(
        0.75 * text_width(name, "small") - side * (len(columns) - j - 0.5) + 6 if slanted else 0.0
        for j, name in enumerate(columns or [""])
    )
    cells = [
        _cell(left + side * j, top + side * i, side, bool(there[i, j]), (i, j) in marked, tip)
        for i, user in enumerate(rows)
        for j, behaviour in enumerate(columns)
        for tip in [f"{user} – {behaviour}: {'edge' if there[i, j] else 'no edge'}"]
    ]
    width, height = side * graph.n_behaviours, side * graph.n_users
    drawn = (
        *(
            text(left - 10, top + side * (i + 0.5) + 4, name, "end small")
            for i, name in enumerate(rows)
        ),
        *(
            _column_label(left + side * (j + 0.5), top - 7, c, slanted)
            for j, c in enumerate(columns)
        ),
        *cells,
        *_brackets(left, top, width, height),
    )
    words = " ".join(
        f"Row {user}: {''.join('01'[int(x)] for x in there[i])}." for i, user in enumerate(rows)
    )
    return Picture(
        left + width + max(over, 10.0), top + height + 8, title or _sizes(graph), words, drawn
    )


def heat(graph: Graph, *, title: str = "") -> Picture:
    """A large graph: a cell a pair up to 200 users and behaviours, beyond them 48 by 48 cells.

    The darker a cell, the more of its pairs are edges; the darkest is the fullest, however sparse
    the graph.

    Users and behaviours are ordered by block, so that separate groups lie along the diagonal;
    graphs without a perfect matching, and very large ones, stay in the order given.

    Examples
    --------
    >>> from anonymatch.graph.families import partition
    >>> heat(partition([500, 500])).words
    '1,000 users in rows and 1,000 behaviours in columns, summed up in 48 by 48 cells, the darker
    the more pairs fit: 50 % of all pairs are edges, 100 % in the darkest cell. 2 blocks of 500
    users lie along the diagonal.'
    """
    check_graph(graph)
    rows, columns, note = _order(graph)
    each = max(graph.n_users, graph.n_behaviours) <= LAYOUT.pairs
    most = LAYOUT.pairs if each else LAYOUT.tiles
    tall = min(most, max(graph.n_users, 1))
    wide = min(most, max(graph.n_behaviours, 1))
    shares = _shares_in_cells(graph, (tall, wide), rows[graph.rows()], columns[graph.indices])
    fullest = float(shares.max(initial=0.0)) or 1.0
    shades = np.ceil(shares / fullest * LAYOUT.shades).astype(np.int64)
    tile = LAYOUT.heat_side / max(tall, wide, LAYOUT.tiles)
    user, behaviour = graph.nouns
    words = (
        f"{plural(graph.n_users, user)} in rows and {plural(graph.n_behaviours, behaviour)} in "
        f"columns, {_cells_in_words(graph, (tall, wide), fullest)} {note}"
    )
    names = plural(graph.n_behaviours, behaviour), plural(graph.n_users, user)
    return _framed_shades(shades, tile, names, title or _sizes(graph), words)


def _framed_shades(
    shades: Ints, cell: float, names: tuple[str, str], title: str, words: str
) -> Picture:
    move = f"translate(24 20) scale({cell:.6g})"
    inside = element("g", *_shaded(shades, LAYOUT.shades), class_="g0", transform=move)
    size = cell * shades.shape[1], cell * shades.shape[0]
    return _framed(inside, size, names, title=title, words=words)


def _framed(
    inside: Element, size: tuple[float, float], names: tuple[str, str], *, title: str, words: str
) -> Picture:
    """Cells in a frame, with what is in columns written above and what is in rows at the left.

    ``inside`` has its corner at (24, 20). The picture is never smaller than what is written.
    """
    across, down = f"{names[0]} →", f"{names[1]} ↓"
    drawn = (
        text(24, 14, across, "small soft"),
        text(6, 24, down, "small soft", turned=90),
        inside,
        box(24, 20, *size, "axis"),
    )
    width = max(size[0] + 36, 28 + text_width(across, "small"))
    height = max(size[1] + 30, 28 + text_width(down, "small"))
    return Picture(width, height, title, words, drawn)


def permutations(orders: Iterable[Iterable[int]], *, title: str = "") -> Picture:
    """Ways to pick one cell in each row and column, each with the matching that it is.

    Parameters
    ----------
    orders : iterable of permutations
        Of 1 to n, at most 9: in row i the cell in column ``order[i]`` is picked.
    title : str
        Default: how many there are.

    Examples
    --------
    >>> permutations([(1, 2, 3), (3, 1, 2)]).words
    'Picks 123, 312.'
    """
    picks = [tuple(order) for order in orders]
    for pick in picks:
        if sorted(pick) != list(range(1, len(pick) + 1)) or not 1 <= len(pick) <= 9:
            raise InputError(f"{pick} is no permutation of 1 to n, n at most 9")
    longest = max((len(pick) for pick in picks), default=1)
    width, height = 18.0 * longest + 34, 18.0 * longest + 88
    drawn = tuple(
        group(*_pick(pick), x=width * (number % LAYOUT.picks), y=height * (number // LAYOUT.picks))
        for number, pick in enumerate(picks)
    )
    names = [_joined(pick) for pick in picks]
    return Picture(
        width * min(len(picks), LAYOUT.picks),
        height * -(-len(picks) // LAYOUT.picks),
        title or plural(len(picks), "permutation"),
        f"Picks {', '.join(names)}.",
        drawn,
    )


def _pick(order: tuple[int, ...]) -> list[Element]:
    """The cells, and below them users over behaviours with a line for each picked cell."""
    n, side, left, top = len(order), 18.0, 16.0, 8.0
    low = top + side * n + 14
    drawn: list[Element] = [
        _cell(left + side * j, top + side * i, side, chosen, chosen, "", "g3")
        for i in range(n)
        for j in range(n)
        for chosen in [order[i] == j + 1]
    ]
    drawn += _brackets(left, top, side * n, side * n)
    for i, position in enumerate(order):
        ends = left + side * (i + 0.5), left + side * (position - 0.5)
        tip = f"row {i + 1} takes column {position}"
        joined = line(ends[0], low, ends[1], low + 30, "edge", tip=tip)
        drawn.append(group(joined, class_="g3"))
    for i in range(n):
        x = left + side * (i + 0.5)
        drawn += [circle(x, low, 3.5, "dot"), box(x - 3, low + 27, 6, 6, "dot")]
    drawn.append(text(left + side * n / 2, low + 52, _joined(order), "middle bold"))
    return drawn


def _joined(order: tuple[int, ...]) -> str:
    return "".join(map(str, order))


def _cell(
    x: float, y: float, side: float, there: bool, marked: bool, tip: str, shade: str = "g0"
) -> Element:
    parts = [box(x, y, side, side, "frame")]
    if there or marked:
        parts.insert(0, box(x, y, side, side, "cell strong" if marked else "cell"))
    if side >= 26:
        classes = "middle on bold" if marked else "middle" if there else "middle soft"
        parts.append(text(x + side / 2, y + side / 2 + 4.5, "01"[there], classes))
    if tip:
        parts.insert(0, element("title", tip))
    return group(*parts, class_="g1" if marked and shade == "g0" else shade)


def _brackets(x: float, y: float, width: float, height: float) -> list[Element]:
    left = f"M{x + 5:g} {y:g}H{x:g}V{y + height:g}H{x + 5:g}"
    right = f"M{x + width - 5:g} {y:g}H{x + width:g}V{y + height:g}H{x + width - 5:g}"
    return [element("path", d=left + right, class_="axis", stroke_width=2)]


def _above(names: list[str], slanted: bool) -> float:
    if not slanted:
        return 24.0
    return 0.75 * max([0.0, *(text_width(name, "small") for name in names)]) + 20


def _column_label(x: float, y: float, name: str, slanted: bool) -> Element:
    if not slanted:
        return text(x, y, name, "middle small")
    return text(x + 3, y, name, "small", turned=-45)


def _dense(graph: Graph) -> npt.NDArray[np.bool_]:
    there = np.zeros((graph.n_users, graph.n_behaviours), dtype=np.bool_)
    there[graph.rows(), graph.indices] = True
    return there


def _order(graph: Graph) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], str]:
    """The new place of each user and behaviour, and a sentence about it."""
    given = np.arange(graph.n_users), np.arange(graph.n_behaviours), "They are as given."
    if graph.n_edges > LAYOUT.ordered_edges or not structure(graph).matched:
        return given
    table = block_table(graph)
    users, behaviours = (
        np.concatenate([block, np.setdiff1d(np.arange(size), block)])
        for block, size in ((table.users, graph.n_users), (table.behaviours, graph.n_behaviours))
    )
    sizes = np.diff(table.user_offsets)
    return np.argsort(users), np.argsort(behaviours), _sentence(sizes, graph.nouns[0])


def _sentence(sizes: npt.NDArray[np.integer], user: str) -> str:
    """How large the blocks are, the largest first."""
    values, numbers = np.unique(sizes, return_counts=True)
    if len(values) > 4:
        return f"{plural(len(sizes), 'block')} of {values[0]} to {values[-1]} {user}s are on it."
    parts = [
        f"{plural(int(number), 'block')} of {plural(int(value), user)}"
        for value, number in zip(values[::-1], numbers[::-1], strict=True)
    ]
    verb = "lies" if len(sizes) == 1 else "lie"
    return f"{' and '.join(parts)} {verb} along the diagonal."


def _cells_in_words(graph: Graph, cells: tuple[int, int], fullest: float) -> str:
    """What the cells of a picture stand for, how many pairs are edges, and in the fullest cell."""
    pairs = graph.n_users * graph.n_behaviours
    share = graph.n_edges / pairs if pairs else 0.0
    edges = f"{percent(share)} of all pairs are edges"
    if cells == (graph.n_users, graph.n_behaviours):
        return f"a cell a pair, coloured where the two fit: {edges}."
    return (
        f"summed up in {cells[0]} by {cells[1]} cells, the darker the more pairs fit: {edges}, "
        f"{percent(fullest)} in the darkest cell."
    )


def _shares_in_cells(
    graph: Graph,
    cells: tuple[int, int],
    rows: npt.NDArray[np.integer],
    columns: npt.NDArray[np.integer],
) -> npt.NDArray[np.float64]:
    """The share of pairs that are edges in each cell of a summed-up picture.

    ``rows`` and ``columns`` are the places of each edge's ends, in the order of the picture.
    """
    tall, wide = cells
    if not graph.n_users or not graph.n_behaviours:
        return np.zeros(cells)
    row_of = np.arange(graph.n_users) * tall // graph.n_users
    column_of = np.arange(graph.n_behaviours) * wide // graph.n_behaviours
    edges = np.bincount(row_of[rows] * wide + column_of[columns], minlength=tall * wide)
    pairs = np.outer(np.bincount(row_of), np.bincount(column_of))
    shares: npt.NDArray[np.float64] = edges.reshape(cells) / pairs
    return shares


def _shaded(shades: npt.NDArray[np.int64], levels: int) -> list[Element]:
    """Cells of side 1 by their shade, 0 for none to ``levels``: a path for all of one shade."""
    return [
        path for shade in range(1, levels + 1) for path in _path(shades == shade, shade / levels)
    ]


def _path(inside: npt.NDArray[np.bool_], opacity: float) -> list[Element]:
    """All cells of one shade as one path: a line a stretch, one cell thick."""
    edge = np.diff(np.pad(inside, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, begins = np.nonzero(edge == 1)
    ends = np.nonzero(edge == -1)[1]
    if not len(rows):
        return []
    lines = "".join(
        f"M{begin} {row}.5h{end - begin}"
        for row, begin, end in zip(rows.tolist(), begins.tolist(), ends.tolist(), strict=True)
    )
    return [element("path", d=lines, class_="shade", stroke_opacity=round(opacity, 2))]


def _sizes(graph: Graph) -> str:
    return f"{shown(graph.n_users)} × {shown(graph.n_behaviours)} matrix"


def density(
    graph: Graph, *, title: str, names: tuple[str, str] = ("users", "behaviours")
) -> Picture:
    """Users in rows and behaviours in columns as they were given: the darker, the more edges.

    There are up to 200 by 200 cells, one a pair in small graphs; fewer where neighbours differ so
    much that the picture would be large. The darkest cell is the fullest, however sparse the graph.

    Examples
    --------
    >>> from anonymatch.graph.families import ring
    >>> density(ring(1000, 10), title="Ring").words
    '1,000 users in rows and 1,000 behaviours in columns, both in the order given, summed up in 200
    by 200 cells, the darker the more pairs fit: 1 % of all pairs are edges, 100 % in the darkest
    cell.'
    """
    check_graph(graph)
    shades, fullest = _finest(graph)
    tall, wide = shades.shape
    cell = LAYOUT.density_side / max(tall, wide, 1)
    users = f"{shown(graph.n_users)} {names[0]}"
    behaviours = f"{shown(graph.n_behaviours)} {names[1]}"
    words = (
        f"{users} in rows and {behaviours} in columns, both in the order given, "
        f"{_cells_in_words(graph, (tall, wide), fullest)}"
    )
    return _framed_shades(shades, cell, (behaviours, users), title, words)


def _finest(graph: Graph) -> tuple[Ints, float]:
    """The shade of each cell, 0 where there is no edge, and the share in the fullest."""
    for most in LAYOUT.density_cells:
        cells = min(most, max(graph.n_users, 1)), min(most, max(graph.n_behaviours, 1))
        shares = _shares_in_cells(graph, cells, graph.rows(), graph.indices)
        fullest = float(shares.max(initial=0.0))
        shades = np.ceil(shares / (fullest or 1.0) * LAYOUT.shades).astype(np.int64)
        if int(np.count_nonzero(np.diff(shades, axis=1))) <= LAYOUT.stretches:
            break
    return shades, fullest


# ---- who writes to whom


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
    words = _profile_words(probability, users, behaviours, truth)
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
        *_profile_cells(probability, rows, columns, side, left, top),
        box(left, top, width, height, "axis"),
        *_rings(truth, side, left, top),
    ]
    return Picture(left + width + 10, top + height + 8, title, words, tuple(drawn))


def _profile_cells(
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
    parts = [group(*_shaded(shades, LAYOUT.shades), class_="g0")]
    if truth is not None:
        dots = [circle(j + 0.5, i + 0.5, 0.2, "solid") for i, j in np.argwhere(truth).tolist()]
        parts.append(group(*dots, class_="g1"))
    inside = element("g", *parts, transform=f"translate(24 20) scale({tile:.6g})")
    names = plural(wide, "behaviour"), plural(tall, "user")
    return _framed(inside, (tile * wide, tile * tall), names, title=title, words=words)


def _profile_words(
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

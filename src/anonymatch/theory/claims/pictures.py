"""The paper's pictures, from the coordinates in its source: points, lines, ellipses and cells.

In pictures of a graph users stand on the left and behaviours on the right, the first at the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anonymatch.graph import Graph

Point = tuple[float, float]
Line = tuple[int, int]
"""Heights of the user on the left and of the behaviour on the right."""


@dataclass(frozen=True, slots=True)
class Ellipse:
    """A user's anonymity set as it is drawn: centre and half-axes."""

    x: float
    y: float
    width: float
    height: float


def inside(ellipse: Ellipse, points: Mapping[str, Point]) -> set[str]:
    """Names of the points within an ellipse.

    Examples
    --------
    >>> sorted(inside(Ellipse(1, 0, 1.4, 0.6), POINTS))
    ['A', 'B']
    """
    return {
        name
        for name, (x, y) in points.items()
        if ((x - ellipse.x) / ellipse.width) ** 2 + ((y - ellipse.y) / ellipse.height) ** 2 <= 1
    }


def picture(lines: Sequence[Line]) -> Graph:
    """The graph with these lines; the highest user and the highest behaviour are the first.

    Examples
    --------
    >>> picture([(1, 1), (1, 0), (0, 0)]).to_rows()
    ['11', '01']
    """
    users, behaviours = (
        {height: index for index, height in enumerate(sorted(set(ends), reverse=True))}
        for ends in zip(*lines, strict=True)
    )
    edges = [(users[left], behaviours[right]) for left, right in lines]
    return Graph.from_edges(edges, users=range(len(users)), behaviours=range(len(behaviours)))


def permutation(cells: Iterable[tuple[int, int]]) -> str:
    """Filled cells of a 4 x 4 matrix (column, height of the lower side) as a permutation.

    Examples
    --------
    >>> permutation([(0, 3), (1, 2), (2, 1), (3, 0)])
    '1234'
    """
    columns = {height: column for column, height in cells}
    return "".join(str(columns[height] + 1) for height in (3, 2, 1, 0))


# Figure 1: where the points with these labels are, and the sets.
POINTS: dict[str, Point] = {"A": (0, 0), "B": (2, 0), "C": (0, -2), "D": (2, -2)}
SEPARATE = {
    "Alice": Ellipse(1, 0, 1.4, 0.65),
    "Bob": Ellipse(1, 0, 1.4, 0.65),
    "Charlie": Ellipse(1, -2, 1.4, 0.65),
    "David": Ellipse(1, -2, 1.4, 0.65),
}
OVERLAPPING = {
    "Alice": Ellipse(1, 0, 1.4, 0.6),
    "Bob": Ellipse(2, -1, 0.6, 1.4),
    "Charlie": Ellipse(1, -2, 1.4, 0.6),
    "David": Ellipse(0, -1, 0.6, 1.4),
}

# Figure 2; Alice is at height 5.
NEIGHBOURHOOD_RING: list[Line] = [
    *((x, x) for x in range(5)),
    *((x, x - 1) for x in range(1, 5)),
    *((x, x - 2) for x in range(2, 5)),
    *((0, 5), (0, 4), (1, 5)),
    *((5, 5), (5, 4), (5, 3)),
]
NEIGHBOURHOOD_GROUPS: list[Line] = [
    *((x, y) for x in (3, 4) for y in (3, 4, 5)),
    *((x, y) for x in (0, 1, 2) for y in (0, 1, 2)),
    *((5, 5), (5, 4), (5, 3)),
]

# Figure 3: arrows between relays, where users enter, behaviours at exits.
RELAYS = [
    ("bottom", "top"),
    ("top", "bottom"),
    ("top", "middle"),
    ("top", "exit 2"),
    ("bottom", "exit 1"),
    ("bottom", "middle"),
    ("middle", "exit 1"),
    ("middle", "exit 2"),
]
RELAY_ENTRIES = {"Alice": "top", "second": "top", "third": "bottom", "fourth": "bottom"}
RELAY_EXITS = {"exit 1": 2, "exit 2": 2}

# Figure 4.
GROUPS_EQUAL: list[Line] = [
    (x, y) for group in ((0, 1), (2, 3), (4, 5, 6)) for x in group for y in group
]
GROUPS_UNEQUAL: list[Line] = [
    *((x, y) for x in (3, 4, 5, 6) for y in (3, 4, 5, 6)),
    *((x, x) for x in (0, 1, 2)),
]

# Figure 5: all lines of the first picture, and the red ones of both.
RED_MATCHINGS: list[list[Line]] = [[(2, 2), (1, 1), (0, 0)], [(2, 1), (1, 2), (0, 0)]]
TWO_REGULAR: list[Line] = [(2, 1), (1, 2), (1, 0), (0, 1), *RED_MATCHINGS[0]]

# Figure 6: filled cells, and the permutations of the caption.
PERMUTATIONS = [
    [(0, 3), (1, 2), (2, 1), (3, 0)],
    [(3, 3), (0, 2), (1, 1), (2, 0)],
    [(3, 3), (1, 2), (2, 1), (0, 0)],
    [(1, 3), (3, 2), (2, 1), (0, 0)],
    [(1, 3), (3, 2), (0, 1), (2, 0)],
    [(1, 3), (0, 2), (2, 1), (3, 0)],
    [(2, 3), (0, 2), (1, 1), (3, 0)],
    [(1, 3), (2, 2), (0, 1), (3, 0)],
]
PERMUTATION_LABELS = ["1234", "4123", "4231", "2431", "2413", "2134", "3124", "2314"]

# Figure 7: edges by the numbers of user and behaviour, and the matrix.
_MATRIX_NEIGHBOURS = {1: (1, 2, 3), 2: (2, 3, 4), 3: (1, 3, 4), 4: (1, 2, 4)}
MATRIX_EDGES = [(x, y) for x, behaviours in _MATRIX_NEIGHBOURS.items() for y in behaviours]
MATRIX_ROWS = ["1110", "0111", "1011", "1101"]

# Figure 8: for each behaviour the users that lines lead to; the points after the dots are at -2.
_LINES_OF_BEHAVIOUR = {
    0: (1, 2, 3, 4, -2),
    1: (0, 2, 3, 4, -2),
    2: (1, 0, 3, 4, -2),
    3: (1, 2, 0, 4, -2),
    4: (1, 2, 3, 0, -2),
    -2: (1, 2, 3, 0, 4),
}
G_K: list[Line] = [(x, y) for y, users in _LINES_OF_BEHAVIOUR.items() for x in users]

# Figure 9: black and red lines before, the thick one, and black lines after.
_BLACK: list[Line] = [(3, 2), (3, 1), (2, 2), (2, 1), (2, 0), (0, 2), (0, 0)]
EXPOSED_EDGE: Line = (1, 3)
EXPOSED_BEFORE: list[Line] = [*_BLACK, (3, 3), (2, 3), (0, 3), (1, 2), (1, 0), EXPOSED_EDGE]
EXPOSED_AFTER = _BLACK

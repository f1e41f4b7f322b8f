"""The paper's pictures, from the coordinates in its source: points, lines, ellipses and cells.

In pictures of a graph users stand on the left and behaviours on the right, the first at the top.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

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
    >>> sorted(inside(Ellipse(1, 0, 1.4, 0.6), PRINTED.points))
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What the paper prints, as ``pictures.toml`` has it."""

    points: dict[str, Point]
    separate: dict[str, Ellipse]
    overlapping: dict[str, Ellipse]
    neighbourhood_ring: list[Line]
    neighbourhood_groups: list[Line]
    relays: list[tuple[str, str]]
    relay_entries: dict[str, str]
    relay_exits: dict[str, int]
    groups_equal: list[Line]
    groups_unequal: list[Line]
    red_matchings: list[list[Line]]
    two_regular: list[Line]
    permutations: list[list[tuple[int, int]]]
    permutation_labels: tuple[str, ...]
    matrix_edges: list[tuple[int, int]]
    matrix_rows: tuple[str, ...]
    g_k: list[Line]
    exposed_before: list[Line]
    exposed_edge: Line
    exposed_after: list[Line]

    @classmethod
    def read(cls) -> Printed:
        text = files(__package__).joinpath("pictures.toml").read_text("utf-8")
        values = _innermost_as_tuples(tomllib.loads(text))
        for name in ("separate", "overlapping"):
            values[name] = {user: Ellipse(*numbers) for user, numbers in values[name].items()}
        return cls(**values)


def _innermost_as_tuples(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _innermost_as_tuples(each) for name, each in value.items()}
    if not isinstance(value, list):
        return value
    inner = [_innermost_as_tuples(each) for each in value]
    return inner if inner and isinstance(value[0], list) else tuple(inner)


PRINTED = Printed.read()

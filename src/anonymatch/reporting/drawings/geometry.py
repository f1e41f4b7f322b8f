"""Curves: closed ones round points, and bent arrows between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

Point = tuple[float, float]


def hull(points: Sequence[Point]) -> list[Point]:
    """Corners of the smallest convex polygon that holds the points, in one direction round it.

    Examples
    --------
    >>> hull([(0, 0), (2, 0), (1, 0), (1, 1), (2, 2), (0, 2)])
    [(0, 0), (2, 0), (2, 2), (0, 2)]
    """
    ordered = sorted(set(points))
    if len(ordered) <= 2:
        return ordered

    def chain(points: Sequence[Point]) -> list[Point]:
        corners: list[Point] = []
        for point in points:
            while len(corners) >= 2 and _turn(corners[-2], corners[-1], point) <= 0:
                corners.pop()
            corners.append(point)
        return corners[:-1]

    return chain(ordered) + chain(ordered[::-1])


def round_curve(points: Sequence[Point], radius: float) -> str:
    """Path data of the curve that keeps ``radius`` away from the convex hull of the points.

    A circle round one point, a capsule round two.

    Examples
    --------
    >>> round_curve([(0, 0)], 5)
    'M0 -5A5 5 0 0 1 0 5A5 5 0 0 1 0 -5Z'
    """
    corners = hull(points)
    if len(corners) == 1:
        (x, y) = corners[0]
        top, bottom = _at((x, y - radius)), _at((x, y + radius))
        turn = f"A{radius:g} {radius:g} 0 0 1 "
        return f"M{top}{turn}{bottom}{turn}{top}Z"
    path: list[str] = []
    for here, there in pairwise([*corners, corners[0]]):
        across = toward(here, there)
        shift = across[1] * radius, -across[0] * radius
        begin = here[0] + shift[0], here[1] + shift[1]
        end = there[0] + shift[0], there[1] + shift[1]
        path.append(f"A{radius:g} {radius:g} 0 0 1 {_at(begin)}" if path else f"M{_at(begin)}")
        path.append(f"L{_at(end)}")
    first = path[0][1:]
    return "".join(path) + f"A{radius:g} {radius:g} 0 0 1 {first}Z"


def bent(begin: Point, end: Point, bend: float) -> tuple[Point, str]:
    """The control point and the path data of a curve that leaves the straight line to one side.

    ``bend`` is its height as a share of the distance; positive bends to the right on the way.

    Examples
    --------
    >>> bent((0, 0), (10, 0), 0.2)
    ((5.0, 4.0), 'M0 0Q5 4 10 0')
    """
    (x0, y0), (x1, y1) = begin, end
    control = (x0 + x1) / 2 - 2 * bend * (y1 - y0), (y0 + y1) / 2 + 2 * bend * (x1 - x0)
    return control, f"M{_at(begin)}Q{_at(control)} {_at(end)}"


def points_on(begin: Point, end: Point, bend: float, number: int = 15) -> list[Point]:
    """Points along the curve of :func:`bent`, its ends left out.

    Examples
    --------
    >>> points_on((0, 0), (10, 0), 0.2, 1)
    [(5.0, 2.0)]
    """
    control, _ = bent(begin, end, bend)
    shares = [(step + 1) / (number + 1) for step in range(number)]
    return [
        (
            (1 - t) ** 2 * begin[0] + 2 * t * (1 - t) * control[0] + t * t * end[0],
            (1 - t) ** 2 * begin[1] + 2 * t * (1 - t) * control[1] + t * t * end[1],
        )
        for t in shares
    ]


def toward(begin: Point, end: Point) -> Point:
    """The direction from one point to another, of length 1; (0, 0) if they are the same.

    Examples
    --------
    >>> toward((0, 0), (3, 4)), toward((1, 1), (1, 1))
    ((0.6, 0.8), (0.0, 0.0))
    """
    x, y = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(x, y)
    return (x / length, y / length) if length else (0.0, 0.0)


def arrow_head(tail: Point, tip: Point, size: float = 8.0) -> str:
    """Path data of a triangle at ``tip`` that points away from ``tail``.

    Examples
    --------
    >>> arrow_head((0, 0), (20, 0), 10)
    'M20 0L10 4.5L10 -4.5Z'
    """
    x, y = toward(tail, tip)
    back = tip[0] - size * x, tip[1] - size * y
    half = size * 0.45
    one = back[0] - half * y, back[1] + half * x
    other = back[0] + half * y, back[1] - half * x
    return f"M{_at(tip)}L{_at(one)}L{_at(other)}Z"


def _at(point: Point) -> str:
    x, y = (round(value, 2) + 0.0 for value in point)
    return f"{x:g} {y:g}"


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

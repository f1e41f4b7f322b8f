"""Anonymity sets as closed curves round their members."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.text import label
from anonymatch.reporting.drawings.geometry import Point, round_curve, toward
from anonymatch.reporting.drawings.svg import (
    LAYOUT,
    Element,
    Picture,
    circle,
    element,
    group,
    group_class,
    text,
    text_width,
)

_DASHES = ("", "7 4", "2 4", "10 3 2 3")


def sets(
    members: Mapping[Any, Collection[Hashable]],
    *,
    positions: Mapping[Any, Point] | None = None,
    title: str = "",
) -> Picture:
    """Sets as closed curves: those with the same members share one.

    Parameters
    ----------
    members : mapping
        From the name of a set to what is in it; at most 40 sets and 40 members in all.
    places : mapping, optional
        From member to (x, y) in units of about one curve, y downwards. Default: on a circle.
    title : str

    Examples
    --------
    >>> sets({"ann": "AB", "bob": "AB", "cem": "C"}).words
    "ann's set = bob's set: A, B. cem's set: C."
    """
    inside = list(dict.fromkeys(member for chosen in members.values() for member in chosen))
    if max(len(inside), len(members)) > LAYOUT.largest:
        raise InputError(
            f"at most {LAYOUT.largest} sets and members can be drawn; choose some of them"
        )
    at = _places(inside, positions)
    owners: dict[frozenset[Hashable], list[str]] = {}
    for name, chosen in members.items():
        if chosen:
            owners.setdefault(frozenset(chosen), []).append(f"{label(name)}'s set")
    titles = {chosen: " = ".join(names) for chosen, names in owners.items()}
    sentences = " ".join(
        f"{names}: {', '.join(label(each) for each in inside if each in chosen)}."
        for chosen, names in titles.items()
    )
    curves = [
        _curve(number, [at[each] for each in inside if each in chosen], names, len(titles))
        for number, (chosen, names) in enumerate(titles.items())
    ]
    centre = _mean(list(at.values())) if at else (0.0, 0.0)
    dots = [_dot(label(member), point, centre) for member, point in at.items()]
    names, box = _names([[at[each] for each in chosen] for chosen in titles], list(titles.values()))
    low, high = _box([*at.values()], box)
    drawn = group(*curves, *dots, *names, x=-low[0], y=-low[1])
    return Picture(
        high[0] - low[0],
        high[1] - low[1],
        title or f"{len(titles)} different sets of {len(inside)} members",
        sentences,
        (drawn,),
    )


def _places(inside: list[Hashable], positions: Mapping[Any, Point] | None) -> dict[Hashable, Point]:
    if positions is None:
        radius = max(60.0, 34.0 * len(inside) / math.pi)
        turn = 2 * math.pi / max(len(inside), 1)
        return {
            member: (radius * math.sin(turn * number), -radius * math.cos(turn * number))
            for number, member in enumerate(inside)
        }
    lost = [member for member in inside if member not in positions]
    if lost:
        raise InputError(f"member {lost[0]!r} has no place; give one for each member")
    return {member: (60 * positions[member][0], 60 * positions[member][1]) for member in inside}


def _curve(number: int, points: list[Point], names: str, total: int) -> Element:
    """Sets of one size could lie on each other; each keeps its own distance where many meet."""
    radius = _radius(number, total)
    dash = _DASHES[number % len(_DASHES)] or None
    path = element(
        "path", d=round_curve(points, radius), class_="set", stroke_dasharray=dash, tip=names
    )
    return group(path, class_=group_class(number))


def _radius(number: int, total: int) -> float:
    return LAYOUT.room + (LAYOUT.step * (number % 4) if total > 4 else 0.0)


def _dot(name: str, point: Point, centre: Point) -> Element:
    inward = toward(point, centre)
    return group(
        circle(*point, 5, "dot"),
        text(point[0] + 16 * inward[0], point[1] + 16 * inward[1] + 4.5, name, "middle"),
    )


def _names(curves: list[list[Point]], titles: list[str]) -> tuple[list[Element], list[Point]]:
    """What each curve is called, outside of it, away from the middle of them all."""
    centre = _mean([point for points in curves for point in points]) if curves else (0.0, 0.0)
    names: list[Element] = []
    corners: list[Point] = []
    taken: list[tuple[float, float, float]] = []  # from, to and height of each name
    for number, (points, name) in enumerate(zip(curves, titles, strict=True)):
        out = toward(centre, _mean(points))
        out = out if abs(out[0]) + abs(out[1]) > 0.2 else (0.0, -1.0)
        reach = max((x * out[0] + y * out[1] for x, y in points), default=0.0)
        middle = _mean(points)
        along = (
            reach - (middle[0] * out[0] + middle[1] * out[1]) + _radius(number, len(titles)) + 10
        )
        x, y = middle[0] + along * out[0], middle[1] + along * out[1] + 4 + 6 * out[1]
        anchor = "middle" if abs(out[0]) < 0.5 else "" if out[0] > 0 else "end"
        width = text_width(name, "bold")
        begin = x - {"middle": width / 2, "": 0.0, "end": width}[anchor]
        step = 16.0 if out[1] >= 0 else -16.0  # away from the middle
        while any(begin < b and a < begin + width and abs(y - c) < 15 for a, b, c in taken):
            y += step
        taken.append((begin, begin + width, y))
        corners += [(begin, y - 14), (begin + width, y + 5)]
        names.append(
            group(text(x, y, name, f"{anchor} own bold halo".strip()), class_=group_class(number))
        )
    return names, corners


def _mean(points: list[Point]) -> Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _box(points: list[Point], more: list[Point]) -> tuple[Point, Point]:
    """The corners of what is drawn, curves and names included."""
    room = LAYOUT.room + 3 * LAYOUT.step + 4
    edges = [(x + s * room, y + s * room) for x, y in points for s in (-1, 1)] + more
    if not edges:
        return (0.0, 0.0), (40.0, 40.0)
    xs, ys = [x for x, _ in edges], [y for _, y in edges]
    return (min(xs) - 4, min(ys) - 4), (max(xs) + 4, max(ys) + 4)

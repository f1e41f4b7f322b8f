"""Points and curves: networks of relays, and anonymity sets as curves round their members."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown
from anonymatch.base.text import label
from anonymatch.reporting.drawings.svg import (
    LAYOUT,
    Element,
    Picture,
    box,
    circle,
    element,
    group,
    group_class,
    text,
    text_width,
)

Point = tuple[float, float]
_DASHES = ("", "7 4", "2 4", "10 3 2 3")


# ---- networks


def network(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, Sequence[object]],
    paths: Iterable[Sequence[Hashable]] = (),
    positions: Mapping[Any, Point] | None = None,
    title: str = "",
) -> Picture:
    """Relays with links, users at their entries, behaviours at their exits.

    Parameters
    ----------
    links : iterable of pairs
        A relay and one that it sends to.
    users : mapping
        From user to entry relay.
    exits : mapping
        From exit to what is written at each behaviour seen there, such as its probability.
    paths : iterable of sequences of relays
        Paths that stand out; those to the same exit have the same colour.
    places : mapping, optional
        From relay to (x, y), y downwards, entries at the left. Default: by distance from entries.
    title : str

    Examples
    --------
    >>> network([("a", "m"), ("m", "x")], users={"ann": "a"}, exits={"x": ["1/1"]},
    ...         paths=[("a", "m", "x")]).words
    'ann enters at a. Links: a to m, m to x. Exit x shows 1 behaviour: 1/1. Marked paths: a-m-x.'
    """
    joined = list(dict.fromkeys((sender, receiver) for sender, receiver in links))
    relays = list(dict.fromkeys([end for link in joined for end in link]))
    observed = [(exit_relay, note) for exit_relay, notes in exits.items() for note in notes]
    _check(relays, users, exits, len(observed))
    trails = [tuple(path) for path in paths]
    _check_paths(trails, set(joined))
    at = _at(relays, joined, users, exits, positions)
    left = min(x for x, _ in at.values()) - 1.9 * LAYOUT.unit
    right = max(x for x, _ in at.values()) + 1.2 * LAYOUT.unit
    entering = _column(left, list(users.values()), at)
    leaving = _column(right, [exit_relay for exit_relay, _ in observed], at)
    bends = {link: _bend(link, link[::-1] in joined, at) for link in joined}
    drawn = [
        *_trails(trails, at, bends, list(exits)),
        *(_link(at[a], at[b], bends[a, b]) for a, b in joined),
        *(
            _link(exit_relay, at[entry], 0.0)
            for exit_relay, entry in zip(entering, users.values(), strict=True)
        ),
        *(
            _link(at[exit_relay], end, 0.0, gap=8)
            for end, (exit_relay, _) in zip(leaving, observed, strict=True)
        ),
        *(_relay(relay, at[relay], relay in exits) for relay in relays),
        *(_user(name, exit_relay) for name, exit_relay in zip(users, entering, strict=True)),
        *(
            _behaviour(note, exit_relay)
            for (_, note), exit_relay in zip(observed, leaving, strict=True)
        ),
    ]
    ends = [*at.values(), *entering, *leaving]
    top = min(y for _, y in ends) - 44
    bottom = max(y for _, y in ends) + 40
    names = max(text_width(label(name)) for name in users) + 20
    notes = max([0.0, *(text_width(shown(note)) for _, note in observed)]) + 40
    headings = (
        text(left, top + 14, "users", "middle small soft"),
        text(right, top + 14, "behaviours", "middle small soft"),
    )
    return Picture(
        right - left + names + notes,
        bottom - top,
        title or f"{plural(len(relays), 'relay')} and {plural(len(users), 'user')}",
        _network_words(joined, users, exits, trails),
        (group(*drawn, *headings, x=names - left, y=-top),),
    )


def _check(
    relays: list[Hashable],
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, Sequence[object]],
    n_observed: int,
) -> None:
    for name in (*users.values(), *exits):
        if name not in relays:
            raise InputError(f"relay {name!r} has no link; give links to all entries and exits")
    if not users:
        raise InputError("a network needs a user; name one and where that user enters")
    if max(len(relays), len(users), n_observed) > LAYOUT.largest:
        raise InputError(f"at most {LAYOUT.largest} relays, users or behaviours can be drawn")


def _check_paths(trails: list[tuple[Hashable, ...]], links: set[tuple[Hashable, Hashable]]) -> None:
    for trail in trails:
        for link in pairwise(trail):
            if link not in links:
                raise InputError(f"the path {trail} goes from {link[0]!r} to {link[1]!r}: no link")


def _at(
    relays: list[Hashable],
    links: list[tuple[Hashable, Hashable]],
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, Sequence[object]],
    positions: Mapping[Any, Point] | None,
) -> dict[Hashable, Point]:
    """Places in pixels; by default a column for each distance from the entries, exits last."""
    if positions is not None:
        lost = [relay for relay in relays if relay not in positions]
        if lost:
            raise InputError(f"relay {lost[0]!r} has no place; give one for each relay")
        return {
            relay: (LAYOUT.unit * positions[relay][0], LAYOUT.unit * positions[relay][1])
            for relay in relays
        }
    depth = _depths(relays, links, users)
    last = 1 + max((depth[relay] for relay in relays if relay not in exits), default=-1)
    columns: dict[int, list[Hashable]] = {}
    for relay in relays:
        columns.setdefault(last if relay in exits else depth[relay], []).append(relay)
    return {
        relay: (1.5 * LAYOUT.unit * column, LAYOUT.unit * (row - (len(members) - 1) / 2))
        for column, members in columns.items()
        for row, relay in enumerate(members)
    }


def _depths(
    relays: list[Hashable], links: list[tuple[Hashable, Hashable]], users: Mapping[Any, Hashable]
) -> dict[Hashable, int]:
    depth = dict.fromkeys(users.values(), 0)
    for distance in range(len(relays)):
        for sender, receiver in links:
            if depth.get(sender) == distance:
                depth.setdefault(receiver, distance + 1)
    return {relay: depth.get(relay, len(relays)) for relay in relays}


def _column(x: float, beside: list[Hashable], at: Mapping[Hashable, Point]) -> list[Point]:
    """Places in a column, each near its relay and none nearer than 34 pixels to another."""
    numbers: dict[Hashable, int] = {}
    wanted = []
    for relay in beside:
        nth, total = numbers.get(relay, 0), beside.count(relay)
        numbers[relay] = nth + 1
        wanted.append(at[relay][1] + 44 * (nth - (total - 1) / 2))
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    for before, after in pairwise(order):
        wanted[after] = max(wanted[after], wanted[before] + 34)
    return [(x, y) for y in wanted]


def _bend(link: tuple[Hashable, Hashable], both_ways: bool, at: Mapping[Hashable, Point]) -> float:
    """The least bend that leads a link clear of other relays, or the one that comes nearest to it.

    Links both ways keep to the right, so that they never lie on each other.
    """
    begin, end = (at[relay] for relay in link)
    others = [centre for relay, centre in at.items() if relay not in link][: LAYOUT.looked_at]
    choices = (
        (0.16, 0.24, 0.32) if both_ways else (0.1, -0.1, 0.18, -0.18, 0.26, -0.26, 0.34, -0.34)
    )

    def clearance(bend: float) -> float:
        curve = _points_on(begin, end, bend)
        return min(
            (math.dist(point, centre) for point in curve for centre in others), default=LAYOUT.clear
        )

    return max(choices, key=lambda bend: min(clearance(bend), LAYOUT.clear))


def _trails(
    trails: list[tuple[Hashable, ...]],
    at: Mapping[Hashable, Point],
    bends: Mapping[tuple[Hashable, Hashable], float],
    exits: list[Hashable],
) -> list[Element]:
    drawn = []
    for trail in trails:
        pieces = [_bent(at[a], at[b], bends[a, b])[1] for a, b in pairwise(trail)]
        shade = group_class(exits.index(trail[-1]) + 1 if trail[-1] in exits else 0)
        name = "path " + " – ".join(label(relay) for relay in trail)
        path = element("path", d="".join(pieces), class_="trail", tip=name)
        drawn.append(group(path, class_=shade))
    return drawn


def _link(begin: Point, end: Point, bend: float, gap: float = LAYOUT.radius + 2) -> Element:
    """A bent line with an arrow head that stops short of the relay."""
    control, _ = _bent(begin, end, bend)
    out, back = _toward(begin, control), _toward(end, control)
    tail = begin[0] + LAYOUT.radius * out[0], begin[1] + LAYOUT.radius * out[1]
    tip = end[0] + gap * back[0], end[1] + gap * back[1]
    control, path = _bent(tail, tip, bend)
    return group(
        element("path", d=path, class_="edge"),
        element("path", d=_arrow_head(control, tip), class_="solid"),
    )


def _relay(name: Hashable, point: Point, leaves: bool) -> Element:
    tip, width = f"{'exit' if leaves else 'relay'} {label(name)}", 3 if leaves else None
    return group(
        circle(*point, LAYOUT.radius, "node", stroke_width=width, tip=tip),
        text(point[0], point[1] + 4.5, label(name, 3), "middle small"),
    )


def _user(name: Hashable, point: Point) -> Element:
    return group(
        circle(*point, 5.5, "dot"), text(point[0] - 14, point[1] + 4.5, label(name), "end")
    )


def _behaviour(note: object, point: Point) -> Element:
    x, y = point
    return group(box(x - 5.5, y - 5.5, 11, 11, "dot", 1.5), text(x + 14, y + 4.5, shown(note)))


def _network_words(
    links: list[tuple[Hashable, Hashable]],
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, Sequence[object]],
    trails: list[tuple[Hashable, ...]],
) -> str:
    sentences = [f"{label(user)} enters at {label(entry)}." for user, entry in users.items()]
    sentences.append(f"Links: {', '.join(f'{label(a)} to {label(b)}' for a, b in links)}.")
    sentences += [
        f"Exit {label(exit_relay)} shows {plural(len(notes), 'behaviour')}: {shown(list(notes))}."
        for exit_relay, notes in exits.items()
    ]
    if trails:
        marked = ", ".join("-".join(label(relay) for relay in trail) for trail in trails)
        sentences.append(f"Marked paths: {marked}.")
    return " ".join(sentences)


# ---- sets


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
    at = _set_places(inside, positions)
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
    dots = [_member(label(member), point, centre) for member, point in at.items()]
    names, corners = _set_names(
        [[at[each] for each in chosen] for chosen in titles], list(titles.values())
    )
    low, high = _box([*at.values()], corners)
    drawn = group(*curves, *dots, *names, x=-low[0], y=-low[1])
    return Picture(
        high[0] - low[0],
        high[1] - low[1],
        title or f"{len(titles)} different sets of {len(inside)} members",
        sentences,
        (drawn,),
    )


def _set_places(
    inside: list[Hashable], positions: Mapping[Any, Point] | None
) -> dict[Hashable, Point]:
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


def _member(name: str, point: Point, centre: Point) -> Element:
    inward = _toward(point, centre)
    return group(
        circle(*point, 5, "dot"),
        text(point[0] + 16 * inward[0], point[1] + 16 * inward[1] + 4.5, name, "middle"),
    )


def _set_names(curves: list[list[Point]], titles: list[str]) -> tuple[list[Element], list[Point]]:
    """What each curve is called, outside of it, away from the middle of them all."""
    centre = _mean([point for points in curves for point in points]) if curves else (0.0, 0.0)
    names: list[Element] = []
    corners: list[Point] = []
    taken: list[tuple[float, float, float]] = []  # from, to and height of each name
    for number, (points, name) in enumerate(zip(curves, titles, strict=True)):
        out = _toward(centre, _mean(points))
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


# ---- curves


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
        top, bottom = _pair((x, y - radius)), _pair((x, y + radius))
        turn = f"A{radius:g} {radius:g} 0 0 1 "
        return f"M{top}{turn}{bottom}{turn}{top}Z"
    path: list[str] = []
    for here, there in pairwise([*corners, corners[0]]):
        across = _toward(here, there)
        shift = across[1] * radius, -across[0] * radius
        begin = here[0] + shift[0], here[1] + shift[1]
        end = there[0] + shift[0], there[1] + shift[1]
        path.append(f"A{radius:g} {radius:g} 0 0 1 {_pair(begin)}" if path else f"M{_pair(begin)}")
        path.append(f"L{_pair(end)}")
    first = path[0][1:]
    return "".join(path) + f"A{radius:g} {radius:g} 0 0 1 {first}Z"


def _bent(begin: Point, end: Point, bend: float) -> tuple[Point, str]:
    """The control point and the path data of a curve that leaves the straight line to one side.

    ``bend`` is its height as a share of the distance; positive bends to the right on the way.
    """
    (x0, y0), (x1, y1) = begin, end
    control = (x0 + x1) / 2 - 2 * bend * (y1 - y0), (y0 + y1) / 2 + 2 * bend * (x1 - x0)
    return control, f"M{_pair(begin)}Q{_pair(control)} {_pair(end)}"


def _points_on(begin: Point, end: Point, bend: float, number: int = 15) -> list[Point]:
    """Points along the curve of ``_bent``, its ends left out."""
    control, _ = _bent(begin, end, bend)
    shares = [(step + 1) / (number + 1) for step in range(number)]
    return [
        (
            (1 - t) ** 2 * begin[0] + 2 * t * (1 - t) * control[0] + t * t * end[0],
            (1 - t) ** 2 * begin[1] + 2 * t * (1 - t) * control[1] + t * t * end[1],
        )
        for t in shares
    ]


def _toward(begin: Point, end: Point) -> Point:
    """The direction from one point to another, of length 1; (0, 0) if they are the same."""
    x, y = end[0] - begin[0], end[1] - begin[1]
    length = math.hypot(x, y)
    return (x / length, y / length) if length else (0.0, 0.0)


def _arrow_head(tail: Point, tip: Point, size: float = 8.0) -> str:
    """Path data of a triangle at ``tip`` that points away from ``tail``."""
    x, y = _toward(tail, tip)
    back = tip[0] - size * x, tip[1] - size * y
    half = size * 0.45
    one = back[0] - half * y, back[1] + half * x
    other = back[0] + half * y, back[1] - half * x
    return f"M{_pair(tip)}L{_pair(one)}L{_pair(other)}Z"


def _pair(point: Point) -> str:
    x, y = (round(value, 2) + 0.0 for value in point)
    return f"{x:g} {y:g}"


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

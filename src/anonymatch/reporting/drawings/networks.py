"""A network of relays: who enters where, what was seen at which exit, and the paths between."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown
from anonymatch.base.text import label
from anonymatch.reporting.drawings.geometry import Point, arrow_head, bent, points_on, toward
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
        _words(joined, users, exits, trails),
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
        curve = points_on(begin, end, bend)
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
        pieces = [bent(at[a], at[b], bends[a, b])[1] for a, b in pairwise(trail)]
        shade = group_class(exits.index(trail[-1]) + 1 if trail[-1] in exits else 0)
        name = "path " + " – ".join(label(relay) for relay in trail)
        path = element("path", d="".join(pieces), class_="trail", tip=name)
        drawn.append(group(path, class_=shade))
    return drawn


def _link(begin: Point, end: Point, bend: float, gap: float = LAYOUT.radius + 2) -> Element:
    """A bent line with an arrow head that stops short of the relay."""
    control, _ = bent(begin, end, bend)
    out, back = toward(begin, control), toward(end, control)
    tail = begin[0] + LAYOUT.radius * out[0], begin[1] + LAYOUT.radius * out[1]
    tip = end[0] + gap * back[0], end[1] + gap * back[1]
    control, path = bent(tail, tip, bend)
    return group(
        element("path", d=path, class_="edge"),
        element("path", d=arrow_head(control, tip), class_="solid"),
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


def _words(
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

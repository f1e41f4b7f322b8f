"""Relay topologies: how likely each behaviour is a user's, by the paths that lead to its exit.

A user enters at one relay and every path of the wanted length from there to an exit is equally
likely; a behaviour seen at an exit then weighs as many paths as lead there. These weights are
what is known before the behaviours are matched to users; :func:`anonymatch.posterior` of
:func:`relay_graph` is what is known after.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from typing import Any

from anonymatch.effort import Budget
from anonymatch.errors import InputError
from anonymatch.graph.bipartite import Graph

__all__ = ["path_counts", "relay_graph", "relay_weights"]

Links = Mapping[Hashable, Sequence[Hashable]]
"""From each relay to those that it sends to, each once."""

_STEP_SECONDS = 1e-6  # one more relay on one set of relays passed
_STATE_BYTES = 400.0


def path_counts(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    entry: Hashable,
    relays: int,
    budget: Budget | float | None = None,
) -> dict[Hashable, int]:
    """How many paths of so many different relays lead from the entry to each relay.

    Parameters
    ----------
    links : iterable of pairs
        A relay and one that it sends to.
    entry : relay
        Where the path begins; it is the first of its relays.
    relays : int
        How many relays are on a path, entry and exit included.
    budget : float or Budget, optional
        Paths of four relays and more through cycles are followed set by set, which may take long;
        beyond the budget the call is refused.

    Examples
    --------
    >>> path_counts([("a", "b"), ("b", "a"), ("a", "c"), ("b", "c")], entry="a", relays=3)
    {'c': 1}
    """
    onward = _onward(links)
    return _paths(onward, _known(entry, onward, "entry"), _length(relays), Budget.of(budget))


def relay_weights(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    entry: Hashable,
    exits: Mapping[Any, int],
    relays: int = 3,
    budget: Budget | float | None = None,
) -> list[Fraction]:
    """The chance of each behaviour to be that of a user who entered at ``entry``, by paths alone.

    All paths are equally likely, and so are all behaviours at one exit.

    Parameters
    ----------
    links : iterable of pairs
        A relay and one that it sends to.
    entry : relay
    exits : mapping
        From exit to the number of behaviours seen there.
    relays : int
        How many relays are on a path, entry and exit included.
    budget : float or Budget, optional
        As for :func:`path_counts`.

    Returns
    -------
    list of Fraction
        One a behaviour, those of the first exit first. They sum to 1.

    Examples
    --------
    >>> links = [("t", "b"), ("b", "t"), ("t", "m"), ("t", "x2"), ("b", "x1"), ("b", "m"),
    ...          ("m", "x1"), ("m", "x2")]
    >>> print(*relay_weights(links, entry="t", exits={"x1": 2, "x2": 2}))
    1/3 1/3 1/6 1/6
    """
    onward = _onward(links)
    _check_exits(exits, onward)
    start = _known(entry, onward, "entry")
    return _weights(onward, start, exits, _length(relays), Budget.of(budget))


def relay_graph(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, int],
    relays: int = 3,
    budget: Budget | float | None = None,
) -> Graph:
    """The weighted graph of several users, each with the relay where that user entered.

    Behaviours are named by exit and number, ``("exit", 0)``, ``("exit", 1)``, ...

    Parameters
    ----------
    users : mapping
        From user to entry relay.
    links, exits, relays, budget
        As for :func:`relay_weights`.

    Examples
    --------
    >>> import anonymatch as am
    >>> links = [("t", "b"), ("b", "t"), ("t", "m"), ("t", "x2"), ("b", "x1"), ("b", "m"),
    ...          ("m", "x1"), ("m", "x2")]
    >>> users = {"alice": "t", "bob": "t", "cem": "b", "dan": "b"}
    >>> graph = relay_graph(links, users=users, exits={"x1": 2, "x2": 2})
    >>> total = am.count(graph, exact=True).value
    >>> through = am.posterior(graph, exact=True).counts["alice"]
    >>> print(total, *(value / total for value in through.values()))
    11/108 4/11 4/11 3/22 3/22
    """
    onward = _onward(links)
    _check_exits(exits, onward)
    length, allowance = _length(relays), Budget.of(budget)
    entries = {
        entry: _weights(onward, _known(entry, onward, "entry"), exits, length, allowance)
        for entry in dict.fromkeys(users.values())
    }
    behaviours = [(place, number) for place, seen in exits.items() for number in range(seen)]
    edges = [
        (user, behaviour, weight)
        for user, entry in users.items()
        for behaviour, weight in zip(behaviours, entries[entry], strict=True)
    ]
    return Graph.from_edges(edges, users=list(users), behaviours=behaviours)


def _weights(
    onward: Links, entry: Hashable, exits: Mapping[Any, int], relays: int, budget: Budget
) -> list[Fraction]:
    paths = _paths(onward, entry, relays, budget)
    total = sum(paths.get(place, 0) for place, seen in exits.items() if seen)
    if total == 0:
        raise InputError(
            f"no path of {relays} relays leads from {entry!r} to an exit with a behaviour; check "
            "links and exits, or allow another number of relays"
        )
    return [
        Fraction(paths.get(place, 0), total * seen)
        for place, seen in exits.items()
        for _ in range(seen)
    ]


def _paths(onward: Links, entry: Hashable, relays: int, budget: Budget) -> dict[Hashable, int]:
    """Paths that never return to the entry are walks without it, as long as none can repeat."""
    rest = {
        relay: [following for following in after if following != entry]
        for relay, after in onward.items()
    }
    if relays > 3 and _cyclic({relay: after for relay, after in rest.items() if relay != entry}):
        return _by_sets(rest, entry, relays, budget)
    return _walks(rest, entry, relays)


def _walks(onward: Links, entry: Hashable, relays: int) -> dict[Hashable, int]:
    ways: dict[Hashable, int] = {entry: 1}
    for _ in range(relays - 1):
        following: dict[Hashable, int] = {}
        for relay, number in ways.items():
            for after in onward[relay]:
                following[after] = following.get(after, 0) + number
        ways = following
    return ways


def _by_sets(onward: Links, entry: Hashable, relays: int, budget: Budget) -> dict[Hashable, int]:
    """Paths with the same last relay and the same set of relays passed are followed together."""
    bound = float(sum(_walks(onward, entry, relays).values()))
    bound = min(bound, len(onward) * math.comb(len(onward), relays))
    seconds, memory = relays * bound * _STEP_SECONDS, bound * _STATE_BYTES
    if not budget.allows(seconds, memory):
        raise budget.refusal(f"paths of {relays} different relays", seconds, memory)
    ways: dict[tuple[Hashable, frozenset[Hashable]], int] = {(entry, frozenset([entry])): 1}
    for _ in range(relays - 1):
        following: dict[tuple[Hashable, frozenset[Hashable]], int] = {}
        for (relay, passed), number in ways.items():
            for after in onward[relay]:
                if after not in passed:
                    now = after, passed | {after}
                    following[now] = following.get(now, 0) + number
        ways = following
    paths: dict[Hashable, int] = {}
    for (relay, _), number in ways.items():
        paths[relay] = paths.get(relay, 0) + number
    return paths


def _cyclic(onward: Links) -> bool:
    try:
        TopologicalSorter(onward).prepare()
    except CycleError:
        return True
    return False


def _onward(links: Iterable[tuple[Hashable, Hashable]]) -> Links:
    """Links by relay; one that is given twice counts once, one to the same relay never."""
    onward: dict[Hashable, dict[Hashable, None]] = {}
    for number, link in enumerate(links):
        try:
            sender, receiver = link
            onward.setdefault(sender, {})
            onward.setdefault(receiver, {})
        except (TypeError, ValueError):
            raise InputError(f"link {number} is {link!r}; give pairs of relays") from None
        if sender != receiver:
            onward[sender][receiver] = None
    return {relay: list(after) for relay, after in onward.items()}


def _known(relay: Hashable, onward: Links, what: str) -> Hashable:
    if relay not in onward:
        raise InputError(f"{what} {relay!r} is on no link; check its name")
    return relay


def _length(relays: int) -> int:
    if isinstance(relays, bool) or not isinstance(relays, int) or relays < 1:
        raise InputError(f"relays must be a whole number from 1, not {relays!r}")
    return relays


def _check_exits(exits: Mapping[Any, int], onward: Links) -> None:
    for place, seen in exits.items():
        _known(place, onward, "exit")
        if isinstance(seen, bool) or not isinstance(seen, int) or seen < 0:
            raise InputError(f"exit {place!r} has {seen!r} behaviours; give a whole number from 0")

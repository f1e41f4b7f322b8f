"""Relay topologies: how likely each behaviour is a user's, by the paths that lead to its exit.

A user enters at one relay and every path of the wanted length from there to an exit is equally
likely; a behaviour seen at an exit then weighs as many paths as lead there. These weights are
what is known before the behaviours are matched to users; :func:`anonymatch.posterior` of
:func:`relay_graph` is what is known after.

A path passes no relay twice, unless ``repeat`` allows it: then walks are counted. In layers, and
wherever links never lead back, both are the same. With bandwidths a path is as likely as the
product of the bandwidths of its relays; the entry is given, and so its own does not matter.

A user may have entered at any of several relays, and a behaviour may have left at any of several:
then paths from all of these to all of these count together, and the bandwidth of the entry, too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from numbers import Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch._native import LARGEST
from anonymatch.base.arguments import whole
from anonymatch.base.arrays import offsets
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.graph import SMALLEST, Edges, Graph, Names, exact_text, settle
from anonymatch.running import Budget
from anonymatch.tabular import check_memory

EXACT_EDGES = 2_000_000
"""Above, weights are rounded to float64."""

Links = Mapping[Hashable, Mapping[Hashable, int]]
"""From each relay to those that it sends to, with their bandwidth, which is not 0."""

_STEP_SECONDS = 1e-6  # one more relay on one set of relays passed
_STATE_BYTES = 400.0
_LINK_SECONDS = 3e-7  # one link of a walk with large integers
_EXACT_FLOATS = 2.0**62


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
    onward = _onward_links(links)
    return _paths_from(onward, _known(entry, onward, "entry"), _length(relays), Budget.of(budget))


def relay_weights(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    entry: Hashable,
    exits: Mapping[Any, int],
    relays: int = 3,
    budget: Budget | float | None = None,
) -> list[Fraction]:
    """The probability of each behaviour to be that of a user who entered at ``entry``, by paths
    alone.

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
    onward = _onward_links(links)
    _check_exits(exits, onward)
    start = _known(entry, onward, "entry")
    return _weights(onward, start, exits, _length(relays), Budget.of(budget))


def relay_graph(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    users: Mapping[Any, Hashable],
    exits: Mapping[Any, int],
    relays: int = 3,
    repeat: bool = False,
    bandwidth: Mapping[Any, Any] | None = None,
    budget: Budget | float | None = None,
) -> Graph:
    """The weighted graph of several users, each with the relay where that user entered.

    Behaviours are named by exit and number, ``("exit", 0)``, ``("exit", 1)``, ...

    Parameters
    ----------
    users : mapping
        From user to entry relay.
    repeat, bandwidth
        As for :func:`path_graph`.
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
    links = list(links)
    _check_exits(exits, _onward_links(links))
    behaviours = {
        (relay, number): relay
        for relay, departures in exits.items()
        for number in range(departures)
    }
    return path_graph(
        links,
        users=users,
        behaviours=behaviours,
        relays=relays,
        repeat=repeat,
        bandwidth=bandwidth,
        budget=budget,
    )


def path_graph(
    links: Iterable[tuple[Hashable, Hashable]],
    *,
    users: Mapping[Any, Any],
    behaviours: Mapping[Any, Any],
    relays: int = 3,
    repeat: bool = False,
    bandwidth: Mapping[Any, Any] | None = None,
    budget: Budget | float | None = None,
) -> Graph:
    """The weighted graph of users with their entries and behaviours with their exits.

    The weights of each user sum to 1. They are exact up to two million edges and rounded to
    float64 above.

    Parameters
    ----------
    links : iterable of pairs
        A relay and one that it sends to.
    users, behaviours : mapping
        From user to entry relay, from behaviour to exit relay; or to a list of relays, if it may
        be any of them.
    relays : int
        How many relays are on a path, entry and exit included.
    repeat : bool
        Whether a path may pass a relay again.
    bandwidth : mapping, optional
        From every relay to a number of 0 or more; default: all alike.
    budget : float or Budget, optional
        As for :func:`path_counts`.

    Examples
    --------
    >>> links = [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d")]
    >>> print(*path_graph(
    ...     links, users={"ann": "a", "bob": "b"}, behaviours={"x": "c", "y": "d"}, relays=2,
    ...     bandwidth={"a": 1, "b": 1, "c": 3, "d": 1},
    ... ).exact_weights)
    3/4 1/4 3/4 1/4
    """
    links = list(links)
    onward = _onward_links(links, bandwidth)
    length, allowance = _length(relays), Budget.of(budget)
    entered = {user: _group(relay, f"user {quoted(user)}") for user, relay in users.items()}
    left = {one: _group(relay, f"behaviour {quoted(one)}") for one, relay in behaviours.items()}
    for side, what in ((entered, "entry"), (left, "exit")):
        for relay in dict.fromkeys(relay for group in side.values() for relay in group):
            _known(relay, onward, what)
    entries, exits = (
        list(dict.fromkeys(relay for group in side.values() for relay in group))
        for side in (entered, left)
    )
    counts = _all_path_counts(onward, entries, exits, length, repeat=repeat, budget=allowance)
    from_groups, to_groups = (list(dict.fromkeys(side.values())) for side in (entered, left))
    if any(len(group) > 1 for group in (*from_groups, *to_groups)):
        wide = None if bandwidth is None else _whole_bandwidths(bandwidth, onward)
        counts = _together(counts, entries, exits, from_groups, to_groups, wide)
    for group, row in zip(from_groups, counts, strict=True):
        if not row.any():
            raise _no_path(length, " or ".join(map(str, group)) if len(group) > 1 else group[0])
    return _weighted(entered, left, from_groups, to_groups, counts)


def _group(relays: object, who: str) -> tuple[Any, ...]:
    """The relays that it may be: one, or those of a list, each once."""
    if not isinstance(relays, list | set):
        return (relays,)
    if not relays:
        raise InputError(f"{who} has an empty list of relays; name at least one")
    return tuple(sorted(set(relays), key=str))


def _together(
    counts: npt.NDArray[Any],
    entries: list[Hashable],
    exits: list[Hashable],
    from_groups: list[tuple[Any, ...]],
    to_groups: list[tuple[Any, ...]],
    wide: dict[Any, int] | None,
) -> npt.NDArray[Any]:
    """Ways from any relay of a group, by its bandwidth, to any of another; one alone is given."""
    row, column = ({relay: at for at, relay in enumerate(side)} for side in (entries, exits))
    whole = counts.astype(object)
    sums = np.zeros((len(from_groups), len(to_groups)), dtype=object)
    for i, entered in enumerate(from_groups):
        widths = [1 if wide is None or len(entered) == 1 else wide[relay] for relay in entered]
        ways = sum(width * whole[row[relay]] for width, relay in zip(widths, entered, strict=True))
        for j, left in enumerate(to_groups):
            sums[i, j] = sum(ways[column[relay]] for relay in left)
    return sums


def _weighted(
    users: Mapping[Any, Hashable],
    behaviours: Mapping[Any, Hashable],
    entries: Sequence[Hashable],
    exits: Sequence[Hashable],
    counts: npt.NDArray[Any],
) -> Graph:
    """The graph from the ways between entries and exits; users of one entry share their row."""
    start, end = ({relay: at for at, relay in enumerate(side)} for side in (entries, exits))
    entry_of = np.array([start[relay] for relay in users.values()], dtype=np.int64)
    exit_of = np.array([end[relay] for relay in behaviours.values()], dtype=np.int64)
    departures = np.bincount(exit_of, minlength=len(exits))
    degrees = (
        ((counts != 0) @ departures)[entry_of] if len(exits) else np.zeros(len(entry_of), np.int64)
    )
    edges = int(degrees.sum())
    if edges > LARGEST:
        raise InputError(f"{edges} edges; a graph holds at most {LARGEST}")
    check_memory(28 * edges, f"a graph of {edges} edges", "take fewer users")
    exact = edges <= EXACT_EDGES
    rows = [_shares(row, departures, exact=exact) for row in counts]
    columns = [np.flatnonzero(row[exit_of]).astype(np.int32) for row in counts]
    indices = _joined([columns[at] for at in entry_of], np.int32)
    values = [row[exit_of[there]] for row, there in zip(rows, columns, strict=True)]
    weights = _joined([values[at] for at in entry_of], np.object_ if exact else np.float64)
    floats = weights.astype(np.float64)
    if len(floats) and floats.min() < SMALLEST:
        raise InputError("an exit is reached too seldom for a weight in float64; leave it out")
    settled, rounded = settle(floats, weights if exact else None)
    indptr = offsets(degrees).astype(np.int32)
    return Graph(
        Names.given(users, None, "user"),
        Names.given(behaviours, None, "behaviour"),
        Edges(indptr=indptr, indices=indices, weights=settled, exact=rounded),
    )


def _joined(parts: list[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts])


def _shares(
    counts: npt.NDArray[Any], departures: npt.NDArray[np.int64], *, exact: bool
) -> npt.NDArray[Any]:
    """The probability of one behaviour at each exit."""
    if not exact:
        floats = counts.astype(np.float64)
        quotients: npt.NDArray[Any] = floats / floats.sum() / departures
        return quotients
    total = sum(counts.tolist())
    shares = np.empty(len(counts), dtype=object)
    shares[:] = [
        Fraction(number, total * times)
        for number, times in zip(counts.tolist(), departures.tolist(), strict=True)
    ]
    return shares


def _no_path(relays: int, entry: Hashable) -> InputError:
    return InputError(
        f"no path of {relays} relays leads from {quoted(entry)} to an exit with a behaviour; check "
        "links and exits, or allow another number of relays"
    )


def _weights(
    onward: Links, entry: Hashable, exits: Mapping[Any, int], relays: int, budget: Budget
) -> list[Fraction]:
    paths = _paths_from(onward, entry, relays, budget)
    total = sum(paths.get(relay, 0) for relay, departures in exits.items() if departures)
    if total == 0:
        raise _no_path(relays, entry)
    return [
        Fraction(paths.get(relay, 0), total * departures)
        for relay, departures in exits.items()
        for _ in range(departures)
    ]


def _known(relay: Hashable, onward: Links, what: str) -> Hashable:
    if relay not in onward:
        raise InputError(f"{what} {quoted(relay)} is on no link; check its name")
    return relay


def _length(relays: int) -> int:
    return whole(relays, "relays", least=1, most=10_000)


def _check_exits(exits: Mapping[Any, int], onward: Links) -> None:
    for relay, departures in exits.items():
        _known(relay, onward, "exit")
        if isinstance(departures, bool) or not isinstance(departures, int) or departures < 0:
            raise InputError(
                f"exit {quoted(relay)} has {quoted(departures)} behaviours; give a whole number "
                "from 0"
            )


# ---- ways through a network: paths, which pass no relay twice, and walks, which may


def _onward_links(
    links: Iterable[tuple[Hashable, Hashable]], bandwidth: Mapping[Any, Any] | None = None
) -> Links:
    """Links by relay; one that is given twice counts once, one to the same relay never."""
    onward: dict[Hashable, dict[Hashable, int]] = {}
    for number, link in enumerate(links):
        try:
            sender, receiver = link
            onward.setdefault(sender, {})
            onward.setdefault(receiver, {})
        except (TypeError, ValueError):
            raise InputError(f"link {number} is {quoted(link)}; give pairs of relays") from None
        if sender != receiver:
            onward[sender][receiver] = 1
    if bandwidth is None:
        return onward
    wide = _whole_bandwidths(bandwidth, onward)
    return {
        relay: {following: wide[following] for following in after if wide[following]}
        for relay, after in onward.items()
    }


def _whole_bandwidths(bandwidth: Mapping[Any, Any], relays: Iterable[Hashable]) -> dict[Any, int]:
    """Bandwidths in one unit that makes them whole numbers: only their ratios matter."""
    exact: dict[Any, Fraction] = {}
    for relay in relays:
        if relay not in bandwidth:
            raise InputError(
                f"relay {quoted(relay)} has no bandwidth; give one for every relay, or none"
            )
        value = bandwidth[relay]
        fraction = _exact(value)
        if fraction is None or fraction < 0:
            raise InputError(
                f"relay {quoted(relay)} has the bandwidth {quoted(value)}; give a number of "
                "0 or more"
            )
        exact[relay] = fraction
    unit = math.lcm(*(value.denominator for value in exact.values()))
    whole = {relay: int(value * unit) for relay, value in exact.items()}
    shared = math.gcd(*whole.values()) or 1
    return {relay: value // shared for relay, value in whole.items()}


def _exact(value: object) -> Fraction | None:
    """A number as it was written: 0.1 is a tenth, not the float64 nearest to it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Real):
        return Fraction(repr(float(value))) if math.isfinite(value) else None
    text = exact_text(value) if isinstance(value, str) else None
    return None if text is None else Fraction(text)


# ---- from all entries to all exits


def _all_path_counts(
    onward: Links,
    entries: list[Hashable],
    exits: list[Hashable],
    relays: int,
    *,
    repeat: bool,
    budget: Budget,
) -> npt.NDArray[Any]:
    """Ways from each entry to each exit: whole numbers, by powers of one sparse matrix if it may.

    Without a link from a relay to itself, a walk of three relays repeats one only if it ends where
    it began.
    """
    if repeat or relays <= 3 or not _cyclic(onward):
        powers = _powers(onward, entries, exits, relays)
        if powers is not None:
            if not repeat and relays == 3:
                column = {relay: at for at, relay in enumerate(exits)}
                for at, entry in enumerate(entries):
                    if entry in column:
                        powers[at, column[entry]] = 0
            return powers
        links = sum(map(len, onward.values()))
        seconds = _LINK_SECONDS * links * len(entries) * relays
        if not budget.allows(seconds, 0.0):
            raise budget.refusal("walks weighed by large numbers", seconds, 0.0)
    counts = np.zeros((len(entries), len(exits)), dtype=object)
    for at, entry in enumerate(entries):
        of_entry = (
            _walks(onward, entry, relays) if repeat else _paths_from(onward, entry, relays, budget)
        )
        counts[at] = [of_entry.get(relay, 0) for relay in exits]
    return counts


def _powers(
    onward: Links, entries: list[Hashable], exits: list[Hashable], relays: int
) -> npt.NDArray[np.int64] | None:
    """Walks by powers of the matrix of links; None where 64 bits do not hold them."""
    import scipy.sparse  # only here: the command line must start fast

    index = {relay: at for at, relay in enumerate(onward)}
    size = len(index)
    check_memory(
        24 * len(entries) * size, f"walks from {len(entries)} entries through {size} relays"
    )
    if max((wide for after in onward.values() for wide in after.values()), default=0) >= 2**62:
        return None
    ends = [index[following] for after in onward.values() for following in after]
    wide = [number for after in onward.values() for number in after.values()]
    begins = np.concatenate(([0], np.cumsum([len(after) for after in onward.values()])))
    matrix = scipy.sparse.csr_array(
        (np.array(wide, dtype=np.int64), np.array(ends, dtype=np.int64), begins),
        shape=(size, size),
    )
    rough = matrix.astype(np.float64)
    rows = np.array([index[entry] for entry in entries], dtype=np.int64)
    counts = scipy.sparse.csr_array(
        (np.ones(len(rows), dtype=np.int64), (np.arange(len(rows)), rows)),
        shape=(len(rows), size),
    )
    for _ in range(relays - 1):
        bound = counts.astype(np.float64) @ rough
        if bound.nnz and bound.max() >= _EXACT_FLOATS:
            return None
        counts = counts @ matrix
    columns = np.array([index[exit_relay] for exit_relay in exits], dtype=np.int64)
    table: npt.NDArray[np.int64] = counts.toarray()[:, columns]
    sums = table.astype(np.float64).sum(axis=1)
    return None if len(sums) and sums.max() >= _EXACT_FLOATS else table


# ---- from one entry


def _paths_from(onward: Links, entry: Hashable, relays: int, budget: Budget) -> dict[Hashable, int]:
    """Paths that never return to the entry are walks without it, as long as none can repeat."""
    rest = {
        relay: {following: wide for following, wide in after.items() if following != entry}
        for relay, after in onward.items()
    }
    if relays > 3 and _cyclic({relay: after for relay, after in rest.items() if relay != entry}):
        return _by_sets(rest, entry, relays, budget)
    return _walks(rest, entry, relays)


def _walks(onward: Links, entry: Hashable, relays: int) -> dict[Hashable, int]:
    counts: dict[Hashable, int] = {entry: 1}
    for _ in range(relays - 1):
        following: dict[Hashable, int] = {}
        for relay, number in counts.items():
            for after, wide in onward[relay].items():
                following[after] = following.get(after, 0) + number * wide
        counts = following
    return counts


def _by_sets(onward: Links, entry: Hashable, relays: int, budget: Budget) -> dict[Hashable, int]:
    """Paths with the same last relay and the same set of relays passed are followed together."""
    alike = {relay: dict.fromkeys(after, 1) for relay, after in onward.items()}
    bound = float(sum(_walks(alike, entry, relays).values()))
    bound = min(bound, len(onward) * math.comb(len(onward), relays))
    seconds, memory = relays * bound * _STEP_SECONDS, bound * _STATE_BYTES
    if not budget.allows(seconds, memory):
        raise budget.refusal(f"paths of {relays} different relays", seconds, memory)
    counts: dict[tuple[Hashable, frozenset[Hashable]], int] = {(entry, frozenset([entry])): 1}
    for _ in range(relays - 1):
        following: dict[tuple[Hashable, frozenset[Hashable]], int] = {}
        for (relay, passed), number in counts.items():
            for after, wide in onward[relay].items():
                if after not in passed:
                    now = after, passed | {after}
                    following[now] = following.get(now, 0) + number * wide
        counts = following
    paths: dict[Hashable, int] = {}
    for (relay, _), number in counts.items():
        paths[relay] = paths.get(relay, 0) + number
    return paths


def _cyclic(onward: Links) -> bool:
    try:
        TopologicalSorter(onward).prepare()
    except CycleError:
        return True
    return False

"""Ways through a network of relays: paths, which pass no relay twice, and walks, which may."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from numbers import Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.graph import exact_text, limits
from anonymatch.running import Budget

__all__ = ["Links", "all_path_counts", "onward_links", "paths_from", "whole_bandwidths"]

Links = Mapping[Hashable, Mapping[Hashable, int]]
"""From each relay to those that it sends to, with their bandwidth, which is not 0."""

_STEP_SECONDS = 1e-6  # one more relay on one set of relays passed
_STATE_BYTES = 400.0
_LINK_SECONDS = 3e-7  # one link of a walk with large integers
_EXACT_FLOATS = 2.0**62


def onward_links(
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
    wide = whole_bandwidths(bandwidth, onward)
    return {
        relay: {following: wide[following] for following in after if wide[following]}
        for relay, after in onward.items()
    }


def whole_bandwidths(bandwidth: Mapping[Any, Any], relays: Iterable[Hashable]) -> dict[Any, int]:
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


def all_path_counts(
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
            _walks(onward, entry, relays) if repeat else paths_from(onward, entry, relays, budget)
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
    limits.check_memory(
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


def paths_from(onward: Links, entry: Hashable, relays: int, budget: Budget) -> dict[Hashable, int]:
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

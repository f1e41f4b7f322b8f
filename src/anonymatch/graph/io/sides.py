"""The two sides of a graph in a file: their names and sizes, and notes on what makes no edge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from anonymatch.graph.edges import AnyArray
    from anonymatch.graph.inputs import Parts

# A file may name this many users or behaviours without an edge, and this many more an edge.
_ALONE = 10_000_000
_ALONE_AN_EDGE = 64


def check_sides(shape: tuple[int, int], entries: int) -> None:
    """Refuse sizes that are only claimed: 10^12 users with three edges are a mistake."""
    for size, noun in zip(shape, ("user", "behaviour"), strict=True):
        if size > _ALONE + _ALONE_AN_EDGE * entries:
            raise InputError(
                f"{size} {noun}s are declared for {several(entries, 'entry', 'entries')}; "
                "correct the sizes"
            )


def json_names(names: Sequence[Hashable], noun: str) -> str:
    """Names as a JSON list in one line."""
    return json.dumps([check_name(name, noun) for name in names])


def named(text: str | None, size: int, noun: str) -> Names:
    """The names in a JSON list, as many as ``size``; 0, 1, 2, ... when there is none."""
    if text is None:
        return Names(range(size), noun)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"the names of {noun}s are no JSON list") from None
    if not isinstance(value, list):
        raise InputError(f"the names of {noun}s are no JSON list")
    return Names.given(check_names(value, noun), size, noun)


def check_names(names: Iterable[Any], noun: str) -> list[str | int]:
    """Names from JSON, each text or a whole number."""
    return [check_name(name, noun) for name in names]


def check_name(name: Any, noun: str) -> str | int:
    """One name, text or a whole number."""
    if type(name) is str or type(name) is int:
        return name
    kind = "null" if name is None else f"a {type(name).__name__}"
    raise InputError(f"{noun} {quoted(name)} is {kind}; a name must be text or a whole number")


# ---- notes


def edge_notes(parts: Parts, *unit: str) -> list[str]:
    """Notes on edges that were left out: given before, or of weight 0; ``unit`` holds an edge."""
    edges = parts[2]
    notes = []
    if edges.duplicates:
        repeats = "repeats an edge" if edges.duplicates == 1 else "repeat an edge"
        notes.append(f"{several(edges.duplicates, *unit)} {repeats}; kept once")
    if edges.weightless:
        are = "is no edge" if edges.weightless == 1 else "are no edges"
        notes.append(f"{several(edges.weightless, 'edge')} of weight 0 {are}; left out")
    return notes


def lonely_notes(parts: Parts, users: AnyArray, behaviours: AnyArray) -> list[str]:
    """Notes on names (by index) that stand alone in some row and are in no edge."""
    named_users, named_behaviours, edges = parts
    degrees = np.diff(edges.indptr)
    notes = _lonely(named_users, users[degrees[users] == 0], "behaviour")
    if len(behaviours):
        degrees = np.bincount(edges.indices, minlength=len(named_behaviours))
        notes += _lonely(named_behaviours, behaviours[degrees[behaviours] == 0], "user")
    return notes


def _lonely(names: Names, alone: AnyArray, missing: str) -> list[str]:
    numbers = np.unique(alone).tolist()
    if not numbers:
        return []
    some = ", ".join(repr(names[at]) for at in numbers[:3]) + (", ..." if numbers[3:] else "")
    have = "it has" if len(numbers) == 1 else "they have"
    who = several(len(numbers), names.noun)
    return [f"no {missing} is named for {who} ({some}): {have} no edge"]

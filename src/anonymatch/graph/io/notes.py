"""Notes on a file: what it says that makes no edge, so that a slip does not pass unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonymatch.base.text import several

if TYPE_CHECKING:
    from anonymatch.graph.edges import AnyArray
    from anonymatch.graph.inputs import Parts
    from anonymatch.graph.names import Names


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

"""Message logs that are given as tables of edges: known by their columns, and refused."""

from __future__ import annotations

from collections.abc import Iterable

from anonymatch.base.errors import InputError
from anonymatch.base.text import Call, meant_instead, quoted

__all__ = ["DIRECTIONS", "TIMES", "refuse_log"]

TIMES = ("time", "timestamp")
"""What a column of times is called in a message log."""

DIRECTIONS = ("direction", "dir")
"""What a column is called that says whether messages go in or out."""


def refuse_log(columns: Iterable[str]) -> None:
    """Refuse the columns of a message log: its rows are messages, not edges.

    Examples
    --------
    >>> refuse_log(["user", "behaviour", "weight"])
    >>> refuse_log(["When", "Direction", "user", "behaviour"])
    Traceback (most recent call last):
        ...
    anonymatch.InputError: this looks like a message log, by its column 'Direction', and a \
message log needs a column 'time'; rename the column of times, or that one if each row is an edge
    """
    there = {str(column).strip().lower(): str(column) for column in columns}
    if not there.keys().isdisjoint(DIRECTIONS) and not there.keys().isdisjoint(TIMES):
        raise InputError(
            "this is a message log; audit it, or make a graph of it with: ",
            Call(
                "anonymatch.mixes.open_observation(path, law=...)",
                "anonymatch convert FILE OUT --law LAW",
            ),
        )
    if "direction" in there:
        raise InputError(
            f"this looks like a message log, by its column {quoted(there['direction'])}, and a "
            "message log needs a column 'time'; rename the column of times, or that one if each "
            f"row is an edge{meant_instead(TIMES, list(there.values()))}"
        )

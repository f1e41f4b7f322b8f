"""Names and sizes of the two sides in formats that declare them apart from the edges."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

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

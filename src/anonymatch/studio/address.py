"""The state of a page in its address: read with care, written in one way.

The numbers of a page are fields of a dataclass, each declared by :func:`control`. Their place in
the address and their sliders follow from that declaration.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from urllib.parse import unquote, urlencode

__all__ = [
    "Control",
    "Query",
    "address",
    "as_text",
    "choice",
    "control",
    "control_of",
    "controlled",
    "number",
    "read_controls",
    "texts",
    "whole",
]

Query = Mapping[str, str]
"""The part of an address after the question mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """A number of a form: its label, its range, and the range of its slider."""

    name: str
    least: float
    most: float
    slider: tuple[float, float]
    step: float = 1
    unit: str = ""
    hint: str = ""


def control(default: float, name: str, least: float, most: float, **more: Any) -> Any:
    """Declare a number of a page as a field of a dataclass; ``more`` are those of Control."""
    given = {"slider": (least, most)} | more
    return field(
        default=default,
        metadata={"control": Control(name=name, least=least, most=most, **given)},
    )


def control_of(owner: object, name: str) -> Control:
    """Return the declaration of a number of a page."""
    found: Control = next(
        each.metadata["control"]
        for each in fields(owner)  # type: ignore[arg-type]
        if each.name == name
    )
    return found


def read_controls(owner: type, query: Query, **most: float) -> dict[str, Any]:
    """Return the numbers of a page from its address; ``most`` replaces upper ends."""
    values: dict[str, Any] = {}
    for each in fields(owner):
        known: Control | None = each.metadata.get("control")
        if known is not None:
            top = most.get(each.name, known.most)
            usual: Any = each.default
            read: Any = whole if isinstance(usual, int) else number
            usual = min(usual, top)
            values[each.name] = read(query, each.name, usual, least=known.least, most=top)
    return values


def controlled(owner: Any) -> dict[str, Any]:
    """Return the numbers of a page for its address."""
    return {each.name: getattr(owner, each.name) for each in fields(owner) if each.metadata}


def whole(query: Query, name: str, default: int, *, least: int, most: int) -> int:
    """A whole number, moved into its range; the default if there is none that can be read.

    Examples
    --------
    >>> whole({"n": "40"}, "n", 8, least=1, most=20), whole({"n": "x"}, "n", 8, least=1, most=20)
    (20, 8)
    """
    try:
        value = int(query.get(name, ""))
    except ValueError:
        return default
    return min(max(value, least), most)


def number(query: Query, name: str, default: float, *, least: float, most: float) -> float:
    """The same for any number.

    Examples
    --------
    >>> [number({"x": text}, "x", 1.0, least=0, most=9) for text in ("2.5", "nan", "1e9")]
    [2.5, 1.0, 9.0]
    """
    try:
        value = float(query.get(name, ""))
    except ValueError:
        return default
    return default if math.isnan(value) else float(min(max(value, least), most))


def choice(query: Query, name: str, options: Sequence[str]) -> str:
    """One of the options; the first if it is none of them.

    Examples
    --------
    >>> choice({"show": "b"}, "show", ["a", "b"]), choice({}, "show", ["a", "b"])
    ('b', 'a')
    """
    value = query.get(name, "")
    return value if value in options else options[0]


def texts(query: Query, name: str, most: int = 200) -> list[str]:
    """Names in a row, parted by commas; their own commas are written as %2C.

    Examples
    --------
    >>> texts({"who": "0,3,,a%2Cb"}, "who")
    ['0', '3', 'a,b']
    """
    return [unquote(part) for part in query.get(name, "").split(",")[:most] if part]


def address(path: str, **values: object) -> str:
    """The address of a view; what is empty is left out.

    Examples
    --------
    >>> address("/design", users=8, edges=24, system="")
    '/design?users=8&edges=24'
    >>> address("/attack", targets=["ann", "b,c"])
    '/attack?targets=ann,b%252Cc'
    """
    given = {name: as_text(value) for name, value in values.items() if value not in (None, "", [])}
    return f"{path}?{urlencode(given, safe=',:')}" if given else path


def as_text(value: object) -> str:
    """A value as an address has it; of several, their own commas are written as %2C."""
    if isinstance(value, list | tuple):
        return ",".join(str(each).replace("%", "%25").replace(",", "%2C") for each in value)
    return f"{value:g}" if isinstance(value, float) else str(value)

"""The state of a page in its address: read with care, written in one way.

The numbers of a page are fields of a dataclass, each declared by :func:`control`; options of the
library are declared by :func:`~anonymatch.base.options.option`. Their place in the address and in
forms follows from these declarations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar
from urllib.parse import unquote, urlencode

from anonymatch.base.errors import InputError
from anonymatch.base.options import Option, option_of, option_texts
from anonymatch.disclosure import METHODS
from anonymatch.mixes import SOURCES
from anonymatch.planning import PRESETS
from anonymatch.rings import AGE_LAWS

T = TypeVar("T")
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
    return f"{value:.12g}" if isinstance(value, float) else str(value)


# ---- options of the library


CHOICES: Mapping[str, Mapping[str, str]] = {
    "role": {"departures": "the messages out", "original": "the table before release"},
    "source": {"": "as it shows"} | {name: name for name in SOURCES},
    "unit": {"": "as the file says, or s"} | {unit: unit for unit in ("s", "ms", "us", "ns")},
    "view": {"": "all links, or the ends if a law is given", "links": "links", "ends": "ends"},
    "align": {"": "as recorded", "start": "start"},
    "method": {"": "gibbs"} | {name: name for name in METHODS},
    "preset": {"": "none"} | {name: name for name in PRESETS},
    "active": {"": "none", "n-1": "n-1 attack"},
}
"""Options that have few values, with the names of these values."""


def of_text(group: Any, name: str, text: str) -> Any:
    """Return the value of an option of a dataclass; InputError if the text is none.

    Examples
    --------
    >>> from anonymatch.mixes import ReadOptions
    >>> [of_text(ReadOptions, "loss", text) for text in ("0.1", "m1=0.1,m2=0.2")]
    [0.1, {'m1': 0.1, 'm2': 0.2}]
    >>> [of_text(ReadOptions, *each) for each in (("drained", "1"), ("sensitive", "age,zip"))]
    [True, ('age', 'zip')]
    """
    option, text = option_of(group, name), text.strip()
    if not option.metavar:
        return text.lower() in ("1", "true")
    if name in ("decoys", "spends") and text.partition(":")[0] not in AGE_LAWS:
        raise InputError(f"{text!r} is no age law; give one of {', '.join(AGE_LAWS)}")
    if name in CHOICES and text not in CHOICES[name]:
        raise InputError(f"{text!r} is none of {', '.join(filter(None, CHOICES[name]))}")
    if option.many:
        items = texts({"": text}, "")
        return tuple(items) if option.join is None else option.join(items)
    return text if option.read is None else option.read(text)


def option_groups(group: Any, names: Iterable[str]) -> dict[str, list[str]]:
    """Return names of options by the headings that they are listed under."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(option_of(group, name).group, []).append(name)
    return groups


def with_text(options: T, name: str, text: str) -> T:
    """Return options with one of them as a form has it; an empty text is the default."""
    default = next(each.default for each in fields(options) if each.name == name)  # type: ignore[arg-type]
    value = of_text(options, name, text) if text.strip() else default
    return replace(options, **{name: value})  # type: ignore[type-var]


def read_options(group: type[T], query: Query, names: Iterable[str], prefix: str = "") -> T:
    """Return options as an address has them; invalid values are ignored."""
    values = {}
    for name in names:
        if prefix + name in query:
            with suppress(InputError):
                values[name] = of_text(group, name, query[prefix + name])
    return group(**values)


def given_options(options: Any) -> dict[str, Any]:
    """Return the options that are given, by name."""
    values = {name: getattr(options, name) for name in option_texts(options)}
    return {name: value for name, value in values.items() if value not in (None, False, "")}


def option_values(options: Any, prefix: str = "") -> dict[str, object]:
    """Return the options that are given as :func:`address` takes them."""
    return {
        prefix + name: _as_address(option_of(options, name), value)
        for name, value in given_options(options).items()
    }


def _as_address(option: Option, value: Any) -> object:
    if value is True:
        return "1"
    if isinstance(value, Mapping):
        return [f"{key}={as_text(each)}" for key, each in value.items()]
    if isinstance(value, tuple | list):
        mark = "=" if "=" in option.metavar else ","  # as in 1%=20 and 5,0.2
        return (list(value) or [""]) if option.many else mark.join(map(as_text, value))
    return value


def form_text(options: Any, name: str) -> str:
    """Return an option as a form shows it.

    Examples
    --------
    >>> from anonymatch.mixes import ReadOptions
    >>> options = ReadOptions(loss={"m1": 0.1}, missing=("?", "NA"))
    >>> [form_text(options, name) for name in ("loss", "missing", "cover")]
    ['m1=0.1', '?,NA', '']
    """
    value = getattr(options, name)
    return (
        ""
        if value is None or value is False
        else as_text(_as_address(option_of(options, name), value))
    )

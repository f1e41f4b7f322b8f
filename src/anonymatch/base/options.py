"""Options as data: what every field of a problem's options means, once for all interfaces.

A problem declares its options as a frozen dataclass whose fields are made by :func:`option`. The
command line derives its options and help from the declaration, and so can forms and reference
pages. Readers such as :func:`whole` turn text into a value; they raise an InputError that says what
to give instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from anonymatch.base.errors import InputError

__all__ = [
    "Option",
    "above_zero",
    "amount",
    "argument",
    "from_zero",
    "numbers",
    "option",
    "option_of",
    "option_texts",
    "pairs",
    "per_mix",
    "repeated",
    "share",
    "whole",
]

T = TypeVar("T")
_KEY = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What a field of options means.

    Attributes
    ----------
    text : str or callable
        One sentence, or a function that returns it when it is shown.
    metavar : str
        Stands for the value in help; empty for a flag. In brackets the value may be left out.
    unit : str
        Unit of the value, such as "s".
    group : str
        Heading under which the option is listed.
    shown : str
        The default in words; empty if the option has none.
    read : callable, optional
        Returns the value that a text means; the text itself is the value if None.
    join : callable, optional
        Returns the value of an option that may be repeated, from all its texts.
    many : bool
        Whether the option may be repeated.
    positional : bool
        Whether the command line takes it by position.
    sources : frozenset of str
        Kinds of files that the option is for; empty if for all.
    listed : bool
        Whether help lists it; False if the help of another option mentions it.
    names : tuple of str
        Name on the command line, if it is not the field's, and names of earlier versions.
    """

    text: str | Callable[[], str]
    metavar: str = ""
    unit: str = ""
    group: str = "Options"
    shown: str = ""
    read: Callable[[str], Any] | None = None
    join: Callable[[Sequence[str]], Any] | None = None
    many: bool = False
    positional: bool = False
    sources: frozenset[str] = frozenset()
    listed: bool = True
    names: tuple[str, ...] = ()

    @property
    def help(self) -> str:
        """The sentence, with the default at its end."""
        text = self.text if isinstance(self.text, str) else self.text()
        return f"{text.removesuffix('.')} [default: {self.shown}]." if self.shown else text

    def flags(self, name: str) -> tuple[str, ...]:
        """Return the spellings on the command line of the option of a field, the first by name.

        Examples
        --------
        >>> Option(text="").flags("cover_rate")
        ('--cover-rate',)
        """
        return tuple(f"--{each}" for each in self.names or (name.strip("_").replace("_", "-"),))


def option(
    default: Any,
    text: str | Callable[[], str],
    *,
    metavar: str = "",
    shown: str | None = None,
    **more: Any,
) -> Any:
    """Return a dataclass field that is an option; ``...`` as the default makes it required.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Mix:
    ...     rate: float = option(1.0, "Messages per second.", metavar="R", unit="1/s")
    >>> option_of(Mix, "rate").help
    'Messages per second [default: 1].'
    """
    if shown is None:
        plain = default in (None, False, ..., ())
        shown = "" if plain else f"{default:g}" if isinstance(default, float) else str(default)
    about = Option(text=text, metavar=metavar, shown=shown, **more)
    return field(default=MISSING if default is ... else default, metadata={_KEY: about})


def argument(metavar: str, text: str, *, default: Any = ..., **more: Any) -> Any:
    """Return a dataclass field that the command line takes by position: a file, mostly."""
    more.setdefault("read", Path)
    return option(default, text, metavar=metavar, shown="", positional=True, **more)


def repeated(group: type, name: str) -> Any:
    """Return the same option as another dataclass has, as one that may be repeated."""
    return field(default=None, metadata={_KEY: replace(option_of(group, name), many=True)})


def option_texts(group: Any) -> dict[str, Option]:
    """Return the options of a dataclass by the names of their fields."""
    return {each.name: _option(each) for each in fields(group)}


def option_of(group: Any, name: str) -> Option:
    """Return the option of one field."""
    return option_texts(group)[name]


def _option(each: Field[Any]) -> Option:
    about: Option = each.metadata[_KEY]
    return about


# ---- readers of values


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers in a range."""
    span = f"from {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise InputError(f"{text!r} is not a whole number") from None
        if value < least or (most is not None and value > most):
            raise InputError(f"{value} is out of range; give a whole number {span}")
        return value

    return read


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{text!r} is not a number") from None


def amount(text: str) -> float:
    """Read a number from 0 on; "inf" is no limit."""
    value = _number(text)
    if not value >= 0:  # also refuses NaN
        raise InputError(f"{text} is out of range; give 0 or more")
    return value


def above_zero(what: str, most: float = math.inf) -> Callable[[str], float]:
    """Return a reader of finite numbers above 0."""

    def read(text: str) -> float:
        value = _number(text)
        if not (0 < value <= most and value < math.inf):
            raise InputError(f"{text} is out of range; give {what} above 0")
        return value

    return read


def from_zero(what: str, below: float = math.inf) -> Callable[[str], float]:
    """Return a reader of finite numbers from 0 on, and below a limit."""
    span = "0 or more" if below == math.inf else f"from 0 to below {below:g}"

    def read(text: str) -> float:
        value = _number(text)
        if not 0 <= value < below:  # also refuses NaN
            raise InputError(f"{text} is out of range; give {what}, {span}")
        return value

    return read


def share(text: str) -> float:
    """Read a share or a probability: 0.01 or 1%."""
    bare = text.strip()
    try:
        value = float(bare.removesuffix("%")) / (100 if bare.endswith("%") else 1)
    except ValueError:
        raise InputError(f"{text!r} is no share; give 0.01 or 1%") from None
    if not 0 <= value <= 1:
        raise InputError(f"{text} is out of range; give a share such as 0.01 or 1%")
    return value


def numbers(text: str) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(value) for value in text.split(","))
    except ValueError:
        raise InputError(f"{text!r}: give numbers with commas between them") from None


def per_mix(read: Callable[[str], float]) -> Callable[[str], float | dict[str, float]]:
    """Return a reader of one number, or of one number per mix as in m1=0.01,m2=0.02."""

    def read_all(text: str) -> float | dict[str, float]:
        if "=" not in text:
            return read(text)
        values: dict[str, float] = {}
        for part in text.split(","):
            mix, equals, value = (piece.strip() for piece in part.rpartition("="))
            if not mix or not equals:
                raise InputError(f"{part!r} is not MIX=NUMBER")
            if mix in values:
                raise InputError(f"mix {mix!r} is given twice; keep one")
            values[mix] = read(value)
        return values

    return read_all


def pairs(read: Callable[[str], T]) -> Callable[[Sequence[str]], Mapping[str, T]]:
    """Return a reader of COLUMN=VALUE, repeated, as a mapping by column."""

    def read_all(texts: Sequence[str]) -> Mapping[str, T]:
        values: dict[str, T] = {}
        for text in texts:
            column, equals, value = text.partition("=")
            if not equals or not column or not value:
                raise InputError(f"{text!r} must be COLUMN=VALUE")
            if column in values:
                raise InputError(f"{column!r} is given twice; keep one")
            values[column] = read(value)
        return values

    return read_all

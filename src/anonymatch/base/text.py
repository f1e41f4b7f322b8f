"""Words of messages: those that depend on a number or on the interface, and names safe to show.

A message that asks for an argument holds it as an :class:`Argument`, so that whoever shows the
message words it: ``cover=1`` in Python, ``--cover 1`` on the command line, a field in the studio.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from shlex import quote
from types import EllipsisType
from typing import TypeAlias
from unicodedata import category

__all__ = [
    "Argument",
    "Call",
    "FileName",
    "Message",
    "Piece",
    "alike",
    "as_option",
    "did_you_mean",
    "label",
    "listed",
    "meant_instead",
    "name",
    "names",
    "plain",
    "quoted",
    "renamed",
    "several",
]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument that a message names; as text, in the words of Python.

    Attributes
    ----------
    name : str
        The keyword.
    value : object
        What to give; ``...`` if that is the caller's to know, None if the argument is only named.

    Examples
    --------
    >>> str(Argument("cover", 1)), str(Argument("original", ...)), str(Argument("cover"))
    ('cover=1', 'original=', 'cover')
    """

    name: str
    value: object = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        return f"{self.name}={'' if isinstance(self.value, EllipsisType) else repr(self.value)}"


def as_option(argument: Argument) -> str:
    """An argument as the option of the command line that gives it.

    Examples
    --------
    >>> as_option(Argument("cover", 1)), as_option(Argument("cover_rate", ...))
    ('--cover 1', '--cover-rate')
    """
    option = f"--{argument.name.replace('_', '-')}"
    if argument.value is None or isinstance(argument.value, EllipsisType):
        return option
    return f"{option} {quote(str(argument.value))}"


@dataclass(frozen=True, slots=True)
class Call:
    """What a message advises who writes Python to call, and what it advises everybody else.

    Examples
    --------
    >>> message = Message("too many edges; ", Call("write() it", "save it"), " as .csv")
    >>> message, message.worded(str)
    ('too many edges; write() it as .csv', 'too many edges; save it as .csv')
    """

    python: str
    otherwise: str

    def __str__(self) -> str:
        return self.python


class FileName(str):
    """The name of a file in a message; who calls files otherwise has them renamed."""

    __slots__ = ()


Piece: TypeAlias = str | Argument | Call
"""What messages are made of."""


class Message(str):
    """A text that knows where it names arguments; as it stands, in the words of Python.

    Examples
    --------
    >>> message = Message("allow for losses (", Argument("lost", 2), ")")
    >>> message
    'allow for losses (lost=2)'
    >>> message.worded(lambda argument: f"--{argument.name} {argument.value}")
    'allow for losses (--lost 2)'
    """

    __slots__ = ("pieces",)
    pieces: tuple[Piece, ...]

    def __new__(cls, *pieces: Piece) -> Message:
        flat: list[Piece] = []
        for piece in pieces:
            flat += piece.pieces if isinstance(piece, Message) else (piece,)
        self = super().__new__(cls, "".join(map(str, flat)))
        self.pieces = tuple(flat)
        return self

    def worded(self, say: Callable[[Argument], str]) -> str:
        """The text outside Python, with every argument as ``say`` words it."""
        return "".join(_worded(piece, say) for piece in self.pieces)

    def renamed(self, names: Mapping[str, str]) -> Message:
        """The same with files called by other names.

        Examples
        --------
        >>> Message(FileName("/tmp/x.csv"), ": it is empty").renamed({"/tmp/x.csv": "my.csv"})
        'my.csv: it is empty'
        """
        pieces = (
            FileName(names.get(piece, piece)) if isinstance(piece, FileName) else piece
            for piece in self.pieces
        )
        return Message(*pieces)

    def __reduce__(self) -> tuple[type[Message], tuple[Piece, ...]]:
        return type(self), self.pieces


def _worded(piece: Piece, say: Callable[[Argument], str]) -> str:
    if isinstance(piece, Argument):
        return say(piece)
    return piece.otherwise if isinstance(piece, Call) else piece


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """The known words that look like the given one, as the end of an error; else nothing.

    Examples
    --------
    >>> did_you_mean("exponentail", ["exponential", "window"])
    "; did you mean 'exponential'?"
    >>> did_you_mean("x", ["exponential", "window"])
    ''
    """
    by_fold = {word.casefold(): word for word in known}
    near = get_close_matches(str(given).strip().casefold(), by_fold, n=2, cutoff=_ALIKE)
    if not near:
        return ""
    return f"; did you mean {' or '.join(repr(by_fold[word]) for word in near)}?"


def meant_instead(wanted: Iterable[str], there: Sequence[str]) -> str:
    """A column or key that may be meant by a wanted one that is not there, as the end of an error.

    Examples
    --------
    >>> meant_instead(["time"], ["tmie", "user"]), meant_instead(["time"], ["user"])
    ("; is it 'tmie'? then rename that", '')
    """
    by_fold = {str(name).strip().casefold(): name for name in reversed(there)}
    for name in wanted:
        near = get_close_matches(name.casefold(), by_fold, n=1, cutoff=_ALIKE)
        if near:
            return f"; is it {quoted(by_fold[near[0]])}? then rename that"
    return ""


def alike(name: str, other: str) -> bool:
    """Whether two names differ by a slip of the pen.

    Examples
    --------
    >>> alike("time", "tmie"), alike("time", "user")
    (True, False)
    """
    return bool(get_close_matches(name.casefold(), [other.strip().casefold()], cutoff=_ALIKE))


_ALIKE = 0.7  # of difflib: two letters of six may be wrong or swapped, hardly more


def several(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> several(1, "user"), several(3, "user"), several(2, "entry", "entries")
    ('1 user', '3 users', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def name(value: object) -> str:
    r"""A user's or behaviour's name on one line, safe to show on any terminal.

    Examples
    --------
    >>> name("ann"), name("two\nlines\x1b[2J")
    ('ann', 'two\\nlines\\x1b[2J')
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def label(value: object, most: int = 28) -> str:
    r"""A name on one line of at most ``most`` characters.

    Examples
    --------
    >>> label("ann"), label("two\nlines"), label("a name that goes on", 8)
    ('ann', 'two\\nlines', 'a name …')
    """
    text = name(value)
    return text if len(text) <= most else text[: most - 1] + "…"


def plain(text: str) -> str:
    r"""The text without characters that a page cannot hold or that change the reading order.

    Line breaks and tabs stay. Everything else that controls is spelt out.

    Examples
    --------
    >>> plain("two\nlines"), plain("\x00 and \u202e")
    ('two\nlines', '\\x00 and \\u202e')
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or not _controls(c) else repr(c)[1:-1] for c in text)


def _controls(c: str) -> bool:
    return category(c) in ("Cc", "Cf", "Cs", "Cn")


def names(values: Sequence[object], most: int = 4, *, total: int | None = None) -> str:
    """Some names and how many more there are; ``total`` when ``values`` are only the first ones.

    Examples
    --------
    >>> names(["ann", "bob", "cem"]), names("abcdef"), names("abcd", total=5000)
    ('ann, bob, cem', 'a, b, c, d and 2 more', 'a, b, c, d and 4,996 more')
    """
    number = len(values) if total is None else total
    shown = ", ".join(name(value) for value in values[:most])
    return shown if number <= most else f"{shown} and {number - most:,} more"


def quoted(value: object, most: int = 60) -> str:
    """A value as Python writes it, cut where it is long: for errors about what a file holds.

    Examples
    --------
    >>> quoted("ann"), quoted(3), quoted("x" * 100, 12)
    ("'ann'", '3', "'xxxxxxx...'")
    """
    if isinstance(value, str):
        text = repr(value[:most])
        if len(value) <= most and len(text) <= most:
            return text
        return f"{text[: most - 4].rstrip(chr(92))}...{text[0]}"
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[: most - 3]}..."


def listed(values: Sequence[object], most: int = 8) -> str:
    """The first of some values, each :func:`quoted`.

    Examples
    --------
    >>> listed(["a", "b"]), listed("abc", 2)
    ("'a', 'b'", "'a', 'b', ...")
    """
    return ", ".join(map(quoted, values[:most])) + (", ..." if len(values) > most else "")


def renamed(text: str, user: str, behaviour: str) -> str:
    """A sentence about users and behaviours, in other words for both.

    Examples
    --------
    >>> renamed("What a user did: users have one of the behaviours.", "input", "output")
    'What an input did: inputs have one of the outputs.'
    """
    if (user, behaviour) == ("user", "behaviour"):
        return text
    for old, new in (("user", user), ("behaviour", behaviour)):
        article = "an" if new[0] in "aeio" else "a"  # a user
        text = re.sub(rf"\ba {old}\b", f"{article} {new}", text)
        text = re.sub(rf"\b{old}(s?)\b", rf"{new}\1", text)
        text = re.sub(rf"\b{old.capitalize()}(s?)\b", rf"{new.capitalize()}\1", text)
    return text

"""Words of messages that depend on a number, and names that are safe to show."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed", "name", "names", "quoted", "several"]


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

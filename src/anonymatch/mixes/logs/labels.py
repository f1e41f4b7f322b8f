"""Labels: names for messages, all different, made from the names of people who have several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted

__all__ = ["labels", "lost_slot_names"]

_MARKS = (" #", " ##", " ###")


def labels(names: tuple[Hashable, ...], noun: str) -> tuple[Hashable, ...]:
    """The names, the same tuple if all differ; else ``ann #1``, ``ann #2`` for who has several.

    Examples
    --------
    >>> labels(("ann", "bob", "ann"), "sender")
    ('ann #1', 'bob', 'ann #2')
    """
    try:
        different = set(names)
    except TypeError:
        odd = next(name for name in names if not isinstance(name, Hashable))
        kind = type(odd).__name__
        raise InputError(
            f"{noun} {quoted(odd)} is a {kind}; name people by text or numbers"
        ) from None
    if None in different:
        raise InputError(f"a {noun} has no name; name who is seen with every message")
    if len(different) == len(names):
        return names
    number = Counter(names)
    # Files hold names of one kind, and the messages of who has several are named by text.
    as_text = all(type(name) is int for name in number)
    for mark in _MARKS:
        made = _numbered(names, number, mark, as_text=as_text)
        if len(set(made)) == len(made):
            return made
    raise InputError(
        f"{noun}s have names such as {quoted(made[0])}, which could be a message of another; "
        "rename them"
    )


def lost_slot_names(number: int, taken: Iterable[Hashable]) -> list[str]:
    """Names for places of lost messages.

    Examples
    --------
    >>> lost_slot_names(2, ["x", "lost #1"])
    ['lost ##1', 'lost ##2']
    """
    used, mark = set(taken) if number else set(), " #"
    while used and not used.isdisjoint(_numbered_slots(number, mark)):
        mark += "#"
    return _numbered_slots(number, mark)


def _numbered_slots(number: int, mark: str) -> list[str]:
    return [f"lost{mark}{k}" for k in range(1, number + 1)]


def _numbered(
    names: tuple[Hashable, ...], number: Counter[Hashable], mark: str, *, as_text: bool
) -> tuple[Hashable, ...]:
    counts = dict.fromkeys(number, 0)
    made: list[Hashable] = []
    for name in names:
        if number[name] == 1:
            made.append(str(name) if as_text else name)
        else:
            counts[name] += 1
            made.append(f"{name}{mark}{counts[name]}")
    return tuple(made)

"""Checks of what callers ask for: whole numbers, within their limits, in words they understand."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean


def whole(value: object, name: str, least: int = 0) -> int:
    """The value as an int of at least ``least``; refuses bools, floats and text.

    Examples
    --------
    >>> whole(3, "users")
    3
    >>> whole(2.0, "users")
    Traceback (most recent call last):
        ...
    anonymatch.InputError: users must be a whole number, not 2.0
    """
    if isinstance(value, bool) or type(value).__name__ == "bool":
        raise InputError(Argument(name), f" must be a whole number, not {value!r}")
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(Argument(name), f" must be a whole number, not {value!r}") from None
    if number < least:
        raise InputError(Argument(name), f" must be {least} or more, not {number}")
    return number


def users_and_edges(users: object, edges: object) -> tuple[int, int]:
    """Both, checked: a matching takes an edge a user, and there are users x users pairs.

    Examples
    --------
    >>> users_and_edges(4, 3)
    Traceback (most recent call last):
        ...
    anonymatch.InputError: 3 edges are too few for 4 users; give 4 to 16
    """
    n, m = whole(users, "users", 1), whole(edges, "edges")
    if not n <= m <= n * n:
        what = "few" if m < n else "many"
        noun = "user" if n == 1 else "users"
        raise InputError(f"{m} edges are too {what} for {n} {noun}; give {n} to {n * n}")
    return n, m


def one_of(value: object, name: str, choices: Sequence[str]) -> str:
    """The value if it is one of the choices.

    Examples
    --------
    >>> one_of("bset", "method", ["paper", "best"])
    Traceback (most recent call last):
        ...
    anonymatch.InputError: method must be 'paper' or 'best', not 'bset'; did you mean 'best'?
    """
    if not isinstance(value, str) or value not in choices:
        known = " or ".join(repr(choice) for choice in choices)
        near = did_you_mean(value, choices)
        raise InputError(Argument(name), f" must be {known}, not {value!r}{near}")
    return value

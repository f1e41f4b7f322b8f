"""Checks of what callers ask for: users and edges that fit, and names of choices."""

from __future__ import annotations

from collections.abc import Sequence

from anonymatch.base.arguments import whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean


def users_and_edges(users: object, edges: object) -> tuple[int, int]:
    """Both, checked: a matching takes an edge a user, and there are users x users pairs.

    Examples
    --------
    >>> users_and_edges(4, 3)
    Traceback (most recent call last):
        ...
    anonymatch.InputError: 3 edges are too few for 4 users; give 4 to 16
    """
    n, m = whole(users, "users", least=1), whole(edges, "edges")
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

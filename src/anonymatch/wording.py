"""Words of messages that depend on a number."""

from __future__ import annotations

__all__ = ["several"]


def several(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> several(1, "user"), several(3, "user"), several(2, "entry", "entries")
    ('1 user', '3 users', '2 entries')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"

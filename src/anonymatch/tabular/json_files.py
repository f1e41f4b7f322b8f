"""JSON from strangers: one value a file, its names, and one clear line where it is another."""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Any

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.graph import Source

__all__ = ["as_name", "as_object", "load_json", "true_indices"]


def load_json(path: str | os.PathLike[str]) -> Any:
    """The value of a .json file, which may end in .gz; call it inside ``files.reading``."""
    from anonymatch.graph import json_text  # imports polars

    file = as_path(path)
    return json_text.load(Source(file, packed=file.suffix.lower() == ".gz"))


def as_object(value: object, what: str) -> dict[str, Any]:
    """A JSON object, or an InputError that says what it should be."""
    if not isinstance(value, dict):
        raise InputError(f"{what} must be an object {{...}}, not {_kind(value)}")
    return value


def as_name(value: object, what: str) -> str:
    """A name as text: 7 and "7" are the same, because keys of JSON are always text."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise InputError(f"{what} is {_kind(value)}; a name must be text or a whole number")


def true_indices(
    truth: dict[str, str], users: dict[str, Any], behaviours: dict[str, int]
) -> list[int]:
    """The behaviour of each user by index, -1 where the truth is silent."""
    owners: dict[Hashable, str] = {}
    for user, behaviour in truth.items():
        if user not in users:
            raise InputError(
                f'"truth" names the user {quoted(user)}, who is not there; check the name'
            )
        if behaviour not in behaviours:
            raise InputError(
                f'"truth" gives {quoted(user)} the unknown {quoted(behaviour)}; check the name'
            )
        if behaviour in owners:
            raise InputError(
                f'"truth" gives {quoted(behaviour)} to {quoted(owners[behaviour])} and '
                f"{quoted(user)}; keep one"
            )
        owners[behaviour] = user
    return [behaviours[truth[user]] if user in truth else -1 for user in users]


def _kind(value: object) -> str:
    if value is None:
        return "null"
    words = {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}
    return words.get(type(value).__name__, "a number")

"""JSON from strangers: one value a file or one object a line; errors name the line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.tabular import limits
from anonymatch.tabular.files import Source, decode

_UNFOLDS = 40  # Python's lists and numbers, and edges of them, as a multiple of the bytes of JSON

# Text of a number that is not 0, such as 1e-400, though it may become 0 as a float64.
VANISHED = r"^[^eE]*[1-9]"
TOO_SMALL = ", closer to 0 than a float64 can be (5e-324); scale the weights"


class _VanishedError(ValueError):
    """The text of a number that is not 0 but becomes 0 as a float64."""


def _float(text: str) -> float:
    value = float(text)
    if value == 0.0 and re.match(VANISHED, text):
        raise _VanishedError(text)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {quoted(twice)} is there twice")
    return made


STRICT = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float)
"""Refuses keys that are there twice, and numbers that become 0."""


def load_json(source: Source) -> Any:
    """The one JSON value that a file holds; call it inside ``reading``."""
    text = source.text()
    if not text.strip():
        raise InputError("it is empty")
    limits.check_memory(_UNFOLDS * len(text), "JSON", packed=source.size)
    return _parse(text, STRICT)


def json_lines(
    content: bytes, decoder: json.JSONDecoder, example: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, each with the number of its line; blank lines are left out.

    Not by polars: it takes minutes for values that are nested deep, and for lines that all have
    other keys.
    """
    for number, line in enumerate(io.BytesIO(content), start=1):
        if not line.strip():
            continue
        try:
            record = _parse(decode(line.rstrip()), decoder)
            if not isinstance(record, dict):
                raise InputError(f"need an object: {example}")
        except InputError as error:
            raise error.at(number) from None
        yield number, record


def _parse(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        wrong = InputError(f"no JSON at column {error.colno}: {error.msg}")
        raise wrong.at(error.lineno, column=error.colno) from None
    except RecursionError:
        raise InputError("the JSON is nested too deep") from None
    except _VanishedError as error:
        line = text.count("\n", 0, text.find(str(error))) + 1
        raise InputError(f"the weight is {error}{TOO_SMALL}").at(line) from None
    except ValueError as error:  # a number of more than 4300 digits, a key twice
        raise InputError(str(error).partition(";")[0]) from None


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


def _kind(value: object) -> str:
    if value is None:
        return "null"
    words = {"dict": "an object", "list": "a list", "str": "text", "bool": "true or false"}
    return words.get(type(value).__name__, "a number")

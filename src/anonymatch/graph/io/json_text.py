"""JSON and JSON lines through the standard library.

JSON: ``{"users": [...], "behaviours": [...], "edges": [[user, behaviour], ...]}``, where the first
two are optional and an edge may have a third entry, its weight; or ``{user: [behaviours], ...}``.
JSON lines: ``{"user": ..., "behaviour": ..., "weight": ...}`` a line, where a missing or null
behaviour keeps a user without an edge, and a missing or null user keeps a behaviour.

Names are text or whole numbers and stay what they are. A weight is a number, or text such as
``"1/3"``.
"""

from __future__ import annotations

import json
import re
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, quoted
from anonymatch.graph.edges import TOO_SMALL, VANISHED, EdgeError, exact_text
from anonymatch.graph.inputs import edge_list, join
from anonymatch.graph.io import limits
from anonymatch.graph.io.logs import refuse_log
from anonymatch.graph.io.notes import edge_notes, lonely_notes
from anonymatch.graph.io.rows import frame_of
from anonymatch.graph.io.sides import check_name, check_names
from anonymatch.graph.io.source import decode
from anonymatch.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction
    from typing import BinaryIO

    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts
    from anonymatch.graph.io.source import Source

_KEYS = {"users", "behaviours", "edges"}
_LINE_KEYS = {"user", "behaviour", "weight"}
_UNFOLDS = 40  # Python's lists and numbers, and edges of them, as a multiple of the bytes of JSON
_BYTES_A_LINE = 120  # of JSON lines: ends, weight and sorts, at their peak


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    document = load(source)
    if not isinstance(document, dict):
        raise InputError('need an object: {"edges": [[user, behaviour], ...]} or {user: [...]}')
    if "edges" in document and set(document) <= _KEYS:
        return _document(document)
    if "users" in document and set(document) <= _KEYS:
        raise InputError('there is no "edges"; add "edges": [[user, behaviour], ...]')
    return _mapping(document)


def load(source: Source) -> Any:
    """The one JSON value that a file holds."""
    text = source.text()
    if not text.strip():
        raise InputError("it is empty")
    limits.check_memory(_UNFOLDS * len(text), "JSON", packed=source.size)
    return _parse(text)


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write one object with users, behaviours and edges."""
    document = {
        "users": check_names(graph.users, "user"),
        "behaviours": check_names(graph.behaviours, "behaviour"),
        "edges": [[*edge[:2], *map(_number, edge[2:])] for edge in graph.to_edges()],
    }
    stream.write(_encode(document) + b"\n")


def read_lines(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph from JSON lines, and notes."""
    content = source.content()
    needed = 12 * len(content) + _BYTES_A_LINE * content.count(b"\n")
    limits.check_memory(needed, "edges as JSON lines", packed=source.size)
    text = decode(content)
    del content
    sides: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    ends = (array("q"), array("q"))
    alone = (array("q"), array("q"))
    lines = array("q")
    weights: list[Any] = []
    weighted = False
    extra: set[str] = set()
    for number, line in _lines(text):
        try:
            record = _parse(line)
            if not isinstance(record, dict):
                raise InputError('need an object: {"user": ..., "behaviour": ...}')
        except InputError as error:
            raise error.at(number) from None
        others = record.keys() - _LINE_KEYS
        if others:
            refuse_log(record)
            extra.update(others)
        try:
            if "user" not in record and "behaviour" not in record:
                raise InputError('there is neither "user" nor "behaviour"; name one')
            edge = [
                _index(record.get(noun), noun, sides[side])
                for side, noun in enumerate(("user", "behaviour"))
            ]
            weight = _weight(record.get("weight", 1)) if -1 not in edge else 1
        except InputError as error:
            raise error.at(number) from None
        if -1 in edge:
            for end, index in zip(alone, edge, strict=True):
                end.extend([index] * (index >= 0))
            continue
        lines.append(number)
        for end, index in zip(ends, edge, strict=True):
            end.append(index)
        weighted = weighted or "weight" in record
        weights.append(weight)
    if not sides[0] and not sides[1]:
        raise InputError("it is empty; write one edge a line")
    users, behaviours = Names(tuple(sides[0]), "user"), Names(tuple(sides[1]), "behaviour")
    row, column = (np.array(end, dtype=np.int64) for end in ends)
    try:
        parts = join(users, behaviours, row, column, weights if weighted else None)
    except EdgeError as error:
        raise error.at(*(lines[at] for at in error.positions)) from None
    ignored = f"ignored keys: {listed(sorted(extra))}"
    users_alone, behaviours_alone = (np.array(end, dtype=np.int64) for end in alone)
    lonely = lonely_notes(parts, users_alone, behaviours_alone)
    return parts, [*([ignored] if extra else []), *edge_notes(parts, "line"), *lonely]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers, one at a time."""
    number, begin = 0, 0
    while begin <= len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        number += 1
        line = text[begin:end].strip()
        if line:
            yield number, line
        begin = end + 1


def write_lines(graph: Graph, stream: BinaryIO) -> None:
    """Write one edge a line, with lines that keep names and their order where edges do not."""
    for record in frame_of(graph, text=False).iter_rows(named=True):
        stream.write(_encode({key: v for key, v in record.items() if v is not None}) + b"\n")


def _document(document: dict[str, Any]) -> tuple[Parts, list[str]]:
    for key, value in document.items():
        if not isinstance(value, list):
            raise InputError(f'"{key}" must be a list, not {_kind(value)}')
    edges = []
    for number, edge in enumerate(document["edges"]):
        try:
            if not isinstance(edge, list) or len(edge) not in (2, 3):
                raise InputError("need [user, behaviour] or [user, behaviour, weight]")
            for name, noun in zip(edge, ("user", "behaviour"), strict=False):
                check_name(name, noun)
            edges.append((*edge[:2], *(_weight(weight) for weight in edge[2:])))
        except InputError as error:
            raise error.at(number, noun="edge") from None
    sides = [
        None if noun not in document else check_names(document[noun], noun[:-1])
        for noun in ("users", "behaviours")
    ]
    try:
        parts = edge_list(edges, *sides)
    except EdgeError as error:
        raise error.at(*error.positions, noun="edge") from None
    return parts, edge_notes(parts, "entry", "entries")


def _mapping(document: dict[str, Any]) -> tuple[Parts, list[str]]:
    edges = []
    for user, behaviours in document.items():
        if not isinstance(behaviours, list):
            raise InputError(
                f"user {quoted(user)} must have a list of behaviours, not {_kind(behaviours)}"
            )
        edges += [(user, check_name(name, "behaviour")) for name in behaviours]
    parts = edge_list(edges, list(document), None)
    return parts, edge_notes(parts, "entry", "entries")


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object, parse_float=_float)
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


def _index(name: Any, noun: str, index: dict[Any, int]) -> int:
    if name is None:
        return -1
    return index.setdefault(check_name(name, noun), len(index))


def _weight(value: Any) -> int | float | Fraction:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    exact = exact_text(value) if isinstance(value, str) else None
    if exact is None:
        raise InputError(f"the weight is {quoted(value)}; give a number")
    return exact


def _number(weight: int | Fraction) -> int | float | str:
    """An exact weight in JSON: whole, a float that is the same number, or text such as 1/3."""
    if isinstance(weight, int):
        return weight
    return float(weight) if float(weight) == weight else str(weight)


def _encode(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InputError("a name holds half a character (a surrogate); rename it") from None


def _kind(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__}"

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
from array import array
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, quoted
from anonymatch.graph.edges import EdgeError, exact_text
from anonymatch.graph.inputs import edge_list, join
from anonymatch.graph.io.sides import check_name, check_names, edge_notes, lonely_notes
from anonymatch.graph.io.tables import frame_of, refuse_log
from anonymatch.graph.names import Names
from anonymatch.tabular import STRICT, Source, check_memory, json_lines, load_json

if TYPE_CHECKING:
    from fractions import Fraction
    from typing import BinaryIO

    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts

_KEYS = {"users", "behaviours", "edges"}
_LINE_KEYS = {"user", "behaviour", "weight"}
_BYTES_A_LINE = 120  # of JSON lines: ends, weight and sorts, at their peak


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    document = load_json(source)
    if not isinstance(document, dict):
        raise InputError('need an object: {"edges": [[user, behaviour], ...]} or {user: [...]}')
    if "edges" in document and set(document) <= _KEYS:
        return _document(document)
    if "users" in document and set(document) <= _KEYS:
        raise InputError('there is no "edges"; add "edges": [[user, behaviour], ...]')
    return _mapping(document)


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
    check_memory(needed, "edges as JSON lines", packed=source.size)
    sides: tuple[dict[Any, int], dict[Any, int]] = ({}, {})
    ends = (array("q"), array("q"))
    alone = (array("q"), array("q"))
    lines = array("q")
    weights: list[Any] = []
    weighted = False
    extra: set[str] = set()
    for number, record in json_lines(content, STRICT, '{"user": ..., "behaviour": ...}'):
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
    if value is None:
        return "null"
    return "an int" if type(value) is int else f"a {type(value).__name__}"

"""Matrix Market, written by scipy.io and read by numpy: a row a user.

Matrices must be general, and pattern, integer or real. Names other than 0, 1, 2, ... stand in two
comment lines, ``%users [...]`` and ``%behaviours [...]``, each a JSON list; other programs skip
them.
"""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import several
from anonymatch.graph.edges import EdgeError
from anonymatch.graph.inputs import join
from anonymatch.graph.io.sides import check_sides, edge_notes, json_names, named
from anonymatch.tabular import TOO_SMALL, VANISHED, Source, check_memory

if TYPE_CHECKING:
    from typing import BinaryIO

    from anonymatch.graph.edges import AnyArray
    from anonymatch.graph.graph import Graph
    from anonymatch.graph.inputs import Parts

_BANNER = b"%%matrixmarket"
_LAYOUTS = ("coordinate", "array")
_FIELDS = ("pattern", "integer", "real", "double")
_TINY = re.compile(rb"\S+[eE]-[0-9]{3,}|[0.]{300,}[0-9]\S*")  # what may be too small for a float64


def read(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph, and notes."""
    content = source.content()
    header = _header(content)
    shape = header.shape
    needed = 6 * len(content) + 100 * header.entries
    entries = several(header.entries, "entry", "entries")
    check_memory(needed, f"a matrix of {entries}", packed=source.size)
    row, column, values = _entries(content, header)
    users, behaviours = (
        named(header.names.get(noun), size, noun)
        for noun, size in zip(("user", "behaviour"), shape, strict=True)
    )
    try:
        parts = join(users, behaviours, row, column, values)
    except EdgeError as error:
        entries = " and ".join(str(position + 1) for position in error.positions)
        raise InputError(f"entry {entries}: {error}") from None
    return parts, edge_notes(parts, "entry", "entries")


def write(graph: Graph, stream: BinaryIO) -> None:
    """Write a coordinate matrix: pattern for 0/1, integer for whole weights, else real."""
    from scipy.io import mmwrite
    from scipy.sparse import coo_array

    if graph.rounded:
        raise InputError("Matrix Market cannot hold weights such as 1/3; write .csv or .json")
    comment = "\n".join(
        f"{noun} {json_names(names, noun)}"
        for noun, names in (("users", graph.users), ("behaviours", graph.behaviours))
        if not isinstance(names, range)
    )
    weights = graph.weights
    field: Literal["pattern", "integer", "real"] = "real"
    if weights is None:
        weights, field = np.ones(graph.n_edges), "pattern"
    elif (weights == np.floor(weights)).all() and weights.max() <= 2**53:
        field = "integer"
    data = weights.astype(np.int64) if field == "integer" else weights
    matrix = coo_array(
        (data, (graph.rows(), graph.indices)), shape=(graph.n_users, graph.n_behaviours)
    )
    mmwrite(stream, matrix, comment=comment, field=field, symmetry="general")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    dense: bool
    field: str
    shape: tuple[int, int]
    entries: int
    begin: int  # the first byte after the line of sizes
    names: dict[str, str]  # JSON lists in comments


def _entries(content: bytes, header: _Header) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    """Users, behaviours and values of the entries, by numpy: scipy.io.mmread crashes on some files.

    (scipy 1.17 reads beyond a file that ends in the middle of an exponent, such as ``5E``.)
    """
    value = [("value", np.int64 if header.field == "integer" else np.float64)]
    pair: list[tuple[str, Any]] = [] if header.dense else [("row", np.int64), ("column", np.int64)]
    kind = np.dtype(pair + ([] if header.field == "pattern" else value))
    body = io.BytesIO(content[header.begin :])
    try:
        with warnings.catch_warnings():
            for message in (
                "loadtxt: input contained no data",
                r"Input line \d+ contained no data",
            ):
                warnings.filterwarnings("ignore", message, UserWarning)
            # One more than declared shows that there are more, without the memory for all.
            table = np.loadtxt(
                body, dtype=kind, comments=None, ndmin=1, max_rows=header.entries + 1
            )
    except (ValueError, OverflowError) as error:
        raise InputError(_entry_error(str(error))) from None
    if len(table) != header.entries:
        number = several(len(table), "entry", "entries")
        more = " or more" if len(table) > header.entries else ""
        raise InputError(
            f"it holds {number}{more} but declares {header.entries}; copy the file again"
        )
    if header.field in ("real", "double") and not table["value"].all():
        _check_vanished(content, header.begin)
    if header.dense:
        matrix = table["value"].reshape(header.shape, order="F")
        row, column = np.nonzero(matrix)
        return row, column, matrix[row, column]
    for noun, end, size in zip(("user", "behaviour"), ("row", "column"), header.shape, strict=True):
        outside = np.flatnonzero((table[end] < 1) | (table[end] > size))
        if len(outside):
            at = int(outside[0])
            raise InputError(
                f"entry {at + 1}: {noun} {table[end][at]} is outside 1 to {size}; correct it"
            )
    weights = None if header.field == "pattern" else np.ascontiguousarray(table["value"])
    return table["row"] - 1, table["column"] - 1, weights


def _check_vanished(content: bytes, begin: int) -> None:
    """Refuse numbers such as 1e-400, which are not 0 but become 0 as a float64."""
    for match in _TINY.finditer(content, begin):
        text = match[0].decode("ascii", "replace")
        if float(text) == 0.0 and re.match(VANISHED, text):
            line = content.count(b"\n", 0, match.start()) + 1
            raise InputError(f"the weight is {text}{TOO_SMALL}").at(line)


def _entry_error(message: str) -> str:
    """What numpy says about a line, with entries counted from 1 (numpy counts both ways)."""
    text = re.search(r"could not convert string (.*) to .* at row (\d+)", message)
    if text:
        return f"entry {int(text[2]) + 1}: {text[1]} is not a number that fits here"
    count = re.search(r"requires (\d+) columns? but (\d+) (?:was|were) found at row (\d+)", message)
    if count:
        return f"entry {count[3]}: {several(int(count[2]), 'number')}, but an entry has {count[1]}"
    return message.splitlines()[0]


def _header(content: bytes) -> _Header:
    """The sizes, after they were compared with what the file can hold, and the names."""
    if not content.strip():
        raise InputError("it is empty")
    words = content.partition(b"\n")[0].lower().split()
    if not words or words[0] != _BANNER:
        raise InputError("it is no Matrix Market file: line 1 must begin with %%MatrixMarket")
    kind = [word.decode("ascii", "replace") for word in words[1:]]
    if len(kind) != 4 or kind[0] != "matrix" or kind[1] not in _LAYOUTS or kind[2] not in _FIELDS:
        raise InputError(
            f"{' '.join(kind) or 'nothing'}; need matrix coordinate (or array), "
            "then pattern, integer or real, then general"
        ).at(1)
    if kind[3] != "general":
        raise InputError(f"the matrix is {kind[3]}; need general, with every edge written").at(1)
    names: dict[str, str] = {}
    begin, line = content.find(b"\n") + 1, 1
    while begin and begin < len(content):
        line += 1
        end = content.find(b"\n", begin)
        text = content[begin : end if end >= 0 else len(content)].strip()
        if text and not text.startswith(b"%"):
            shape, entries = _sizes(text, line, kind[1], len(content))
            return _Header(
                dense=kind[1] == "array",
                field=kind[2],
                shape=shape,
                entries=entries,
                begin=end + 1 if end >= 0 else len(content),
                names=names,
            )
        for noun in ("user", "behaviour"):
            mark = f"%{noun}s [".encode()
            if text.startswith(mark):
                names[noun] = text[len(mark) - 1 :].decode("utf-8", "replace")
        begin = end + 1
    raise InputError("it ends before the line of sizes; copy the file again")


def _sizes(text: bytes, line: int, layout: str, size: int) -> tuple[tuple[int, int], int]:
    wanted = 3 if layout == "coordinate" else 2
    words = text.split()
    if len(words) != wanted or not all(word.isdigit() and len(word) < 20 for word in words):
        raise InputError(f"{text[:60]!r}; need {wanted} whole numbers: the sizes").at(line)
    numbers = [int(word) for word in words]
    entries = numbers[2] if layout == "coordinate" else numbers[0] * numbers[1]
    # Every entry takes a digit and a line end at least: a larger claim cannot be true.
    if 2 * entries > size:
        raise InputError(
            f"{several(entries, 'entry', 'entries')} in a file of {size} bytes; copy it again"
        ).at(line)
    check_sides((numbers[0], numbers[1]), entries)
    return (numbers[0], numbers[1]), entries

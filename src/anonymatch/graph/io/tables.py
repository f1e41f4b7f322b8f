"""Tables of edges through polars: columns user, behaviour and, if weighted, weight, in any order.

Headers may be in any case, and behaviour may be behavior. In text, names are text, kept as written;
in Parquet they are text or whole numbers. A row with an empty behaviour keeps a user without an
edge; a row with an empty user keeps a behaviour without an edge; names that are in no edge of the
file are noted. An empty name must be quoted in text (``""``). Message logs are refused.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch._native import LARGEST
from anonymatch.base.errors import InputError
from anonymatch.base.text import Call, listed, meant_instead, quoted, several
from anonymatch.graph.edges import EXACT_TEXT, EdgeError, Indices, exact_text
from anonymatch.graph.inputs import Parts, join
from anonymatch.graph.io.sides import edge_notes, lonely_notes
from anonymatch.graph.names import Names
from anonymatch.tabular import (
    DIRECTIONS,
    TIMES,
    TOO_SMALL,
    VANISHED,
    Source,
    line_of_row,
    load_parquet,
    load_text,
    name_codes,
    refuse_repeats,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from typing import BinaryIO

    from anonymatch.graph.edges import AnyArray
    from anonymatch.graph.graph import Graph

_T = TypeVar("_T")

COLUMNS = ("user", "behaviour", "weight")
_AMERICAN = {"behavior": "behaviour"}


def read_text(source: Source, separator: str) -> tuple[Parts, list[str]]:
    """The parts of a graph from CSV or TSV, and notes."""
    frame, data = load_text(source, separator, _check_header)
    if frame.is_empty():
        raise InputError("it has a header and no rows; add one row an edge")
    try:
        return convert(frame)
    except EdgeError as error:
        lines = (line_of_row(data, separator, row) for row in error.positions)
        raise error.at(*lines) from None


def read_parquet(source: Source) -> tuple[Parts, list[str]]:
    """The parts of a graph from Parquet, and notes."""
    frame = load_parquet(source, _wanted)
    if frame.is_empty():
        raise InputError("it has columns and no rows; add one row an edge")
    try:
        return convert(frame)
    except EdgeError as error:
        raise error.at(*(row + 1 for row in error.positions), noun="row") from None


def write_text(graph: Graph, stream: BinaryIO, separator: str) -> None:
    """Write the edges by user, with rows that keep names and their order where edges do not."""
    try:
        frame_of(graph, text=True).write_csv(stream, separator=separator)
    except pl.exceptions.PolarsError as error:
        raise InputError(f"cannot be written: {str(error).splitlines()[0]}") from None


def write_parquet(graph: Graph, stream: BinaryIO) -> None:
    """The same as Parquet."""
    frame_of(graph, text=False).write_parquet(stream)


def from_frame(frame: Any) -> Parts:
    """Parts of a graph from a polars, pandas or Arrow table, or anything with an Arrow stream."""
    try:
        return convert(_as_polars(frame))[0]
    except EdgeError as error:
        raise error.at(*error.positions, noun="row") from None


def convert(frame: pl.DataFrame) -> tuple[Parts, list[str]]:
    """Parts of a graph, and notes on what was left out; an EdgeError has the rows it is about."""
    notes = []
    check_columns(frame.columns)
    frame = frame.rename(meant(frame.columns))
    if frame.height > LARGEST:
        raise InputError(f"it has {frame.height} rows; a graph holds at most {LARGEST} edges")
    extra = [name for name in frame.columns if name not in COLUMNS]
    if extra:
        notes.append(f"ignored columns: {listed(extra)}")
    sides = (frame.get_column("user"), frame.get_column("behaviour"))
    for side in sides:
        _check_names(side)
    with ThreadPoolExecutor(2) as pool:  # polars and the kernel release the interpreter lock
        (row, users), (column, behaviours) = pool.map(name_codes, sides)
    whole = not any(side.null_count() for side in sides)
    edges = None if whole else np.flatnonzero((row >= 0) & (column >= 0))
    weights = None
    if "weight" in frame.columns:
        given = frame.get_column("weight")
        if edges is not None:
            _check_loose(given, row, column)
            given = given.gather(edges)
        weights = _with_rows(edges, lambda: _weights(given))
    alone = []
    if edges is not None:
        empty = int(np.count_nonzero((row < 0) & (column < 0)))
        if empty:
            notes.append(f"ignored {several(empty, 'empty row')}")
        alone = [row[(row >= 0) & (column < 0)], column[(row < 0) & (column >= 0)]]
        row, column = row[edges], column[edges]
    named = Names(users, "user"), Names(behaviours, "behaviour")
    parts = _with_rows(edges, lambda: join(*named, row, column, weights))
    return parts, notes + edge_notes(parts, "row") + (lonely_notes(parts, *alone) if alone else [])


def _with_rows(edges: npt.NDArray[np.intp] | None, work: Callable[[], _T]) -> _T:
    """Do the work; an error about the k-th edge becomes one about the row that holds it."""
    try:
        return work()
    except EdgeError as error:
        if edges is None:
            raise
        raise EdgeError(str(error), *(int(edges[at]) for at in error.positions)) from None


def meant(columns: list[str]) -> dict[str, str]:
    """What the columns of a table of edges are called, in any case, by the names they have there.

    Examples
    --------
    >>> meant(["User", "behavior", "note"])
    {'User': 'user', 'behavior': 'behaviour'}
    >>> meant(["user", "USER", "behaviour"])  # the name itself comes first
    {'user': 'user', 'behaviour': 'behaviour'}
    """
    chosen = {}
    for name in COLUMNS:
        like = [name] if name in columns else [one for one in columns if _plain(one) == name]
        if len(like) > 1:
            raise InputError(
                f"columns {listed(like)} could each be {quoted(name)}; name one of them {name}"
            )
        chosen.update(dict.fromkeys(like, name))
    return chosen


def _plain(column: str) -> str:
    lower = column.lower()
    return _AMERICAN.get(lower, lower)


def check_columns(columns: list[str]) -> None:
    """Refuse a table without the columns that every table of edges has, and message logs."""
    refuse_log(columns)
    known = meant(columns)
    for name in COLUMNS[:2]:
        if name not in known.values():
            present = listed(columns)
            others = [column for column in columns if column not in known]
            raise InputError(
                f"no column {quoted(name)}; the columns are {present or 'none'}; "
                f"name them user, behaviour and, if weighted, weight{meant_instead([name], others)}"
            )


def _check_header(columns: list[str]) -> None:
    refuse_repeats(column for column in columns if column in COLUMNS)
    check_columns(columns)


def _wanted(schema: dict[str, pl.DataType]) -> list[str]:
    """Columns of names and weights; refuses types that can be neither, before they are read."""
    check_columns(list(schema))
    columns = meant(list(schema))
    for column, name in columns.items():
        if name != "weight":
            _check_names(pl.Series(column, [], dtype=schema[column]))
    return list(columns)


def _check_names(side: pl.Series) -> None:
    kind = side.dtype
    if not (kind in (pl.String, pl.Categorical, pl.Enum, pl.Null) or kind.is_integer()):
        raise InputError(
            f"column {quoted(side.name)} holds {kind}; names must be text or whole numbers"
        )


def _check_loose(given: pl.Series, row: Indices, column: Indices) -> None:
    """Refuse a weight that belongs to no edge."""
    loose = np.flatnonzero(given.is_not_null().to_numpy() & ((row < 0) | (column < 0)))
    if len(loose):
        missing = "user" if row[loose[0]] < 0 else "behaviour"
        raise EdgeError(f"there is a weight but no {missing}; name it", int(loose[0]))


def _weights(given: pl.Series) -> AnyArray:
    """Weights of edges: float64, integers, or exact objects."""
    kind = given.dtype
    numbers = given
    if kind == pl.String:
        numbers = given.cast(pl.Float64, strict=False)
        _check_vanished(given, numbers)
        longest = given.str.len_bytes().max()
        if numbers.null_count() or (isinstance(longest, int) and longest > 15):
            return _exact(given, numbers)
    elif not (kind.is_numeric() or kind == pl.Null):
        raise InputError(f"column 'weight' holds {kind}; weights must be numbers")
    if numbers.null_count():
        _refuse(given, int(numbers.is_null().arg_true()[0]))
    if kind.is_decimal() or kind in (pl.Int128, pl.UInt128):
        objects = np.empty(len(given), dtype=object)
        objects[:] = given.to_list()
        return objects
    return numbers.to_numpy()


def _check_vanished(given: pl.Series, numbers: pl.Series) -> None:
    """Refuse text such as 1e-400, which is not 0 but becomes 0 as a float64."""
    zeros = (numbers == 0.0).arg_true()
    wrong = given.gather(zeros).str.contains(VANISHED).arg_true()
    if len(wrong):
        at = int(zeros[int(wrong[0])])
        raise EdgeError(f"the weight is {quoted(given[at])}{TOO_SMALL}", at)


def _exact(given: pl.Series, numbers: pl.Series) -> AnyArray:
    """Floats with the exact numbers put in where the text is one (``1/3``, long integers)."""
    special = np.flatnonzero(given.str.contains(EXACT_TEXT).fill_null(value=False).to_numpy())
    missing = numbers.is_null().to_numpy().copy()
    if not len(special) and not missing.any():
        return numbers.to_numpy()
    objects = np.empty(len(given), dtype=object)
    objects[:] = numbers.to_list()
    for at in special.tolist():
        objects[at] = exact_text(given[at])
        missing[at] = objects[at] is None
    if missing.any():
        _refuse(given, int(np.flatnonzero(missing)[0]))
    return objects


def _refuse(given: pl.Series, at: int) -> NoReturn:
    text = given[at]
    what = "there is no weight" if text is None else f"the weight is {quoted(text)}"
    raise EdgeError(f"{what}; give a number", at)


def _as_polars(frame: Any) -> pl.DataFrame:
    """A polars frame, sharing memory where it can; pandas needs no Arrow for this."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] == "pandas":
        columns = {str(name): name for name in frame.columns}
        check_columns(list(columns))
        wanted = meant(list(columns))
        return pl.DataFrame([_from_pandas(frame[columns[one]], wanted[one]) for one in wanted])
    if hasattr(frame, "__arrow_c_stream__"):
        return pl.DataFrame(frame)
    raise InputError(
        f"a {type(frame).__name__} is no table; give a polars or pandas DataFrame or an Arrow table"
    )


def _from_pandas(column: Any, name: str) -> pl.Series:
    """One pandas column; its missing values (None, NaN, NA) are nulls."""
    values = [None if gone else v for v, gone in zip(column.tolist(), column.isna(), strict=True)]
    numbers = [value for value in values if value is not None]
    if name != "weight" and all(isinstance(v, float) and v.is_integer() for v in numbers):
        # pandas turns whole numbers beside a missing value into floats
        values = [None if value is None else int(value) for value in values]
    return pl.Series(name, values, strict=True)


def refuse_log(columns: Iterable[str]) -> None:
    """Refuse the columns of a message log: its rows are messages, not edges.

    Examples
    --------
    >>> refuse_log(["user", "behaviour", "weight"])
    >>> refuse_log(["When", "Direction", "user", "behaviour"])
    Traceback (most recent call last):
        ...
    anonymatch.InputError: this looks like a message log, by its column 'Direction', and a \
message log needs a column 'time'; rename the column of times, or that one if each row is an edge
    """
    there = {str(column).strip().lower(): str(column) for column in columns}
    if not there.keys().isdisjoint(DIRECTIONS) and not there.keys().isdisjoint(TIMES):
        raise InputError(
            "this is a message log; audit it, or make a graph of it with: ",
            Call(
                "anonymatch.mixes.open_observation(path, law=...)",
                "anonymatch convert FILE OUT --law LAW",
            ),
        )
    if "direction" in there:
        raise InputError(
            f"this looks like a message log, by its column {quoted(there['direction'])}, and a "
            "message log needs a column 'time'; rename the column of times, or that one if each "
            f"row is an edge{meant_instead(TIMES, list(there.values()))}"
        )


# ---- a graph as a table


def frame_of(graph: Graph, *, text: bool) -> pl.DataFrame:
    """Columns user, behaviour and, if weighted, weight; ``text`` writes whole numbers as text.

    Reading takes names in order of first appearance. Where the edges alone would not give the
    order of this graph, all behaviours come first, each in a row without a user; a user without an
    edge has a row without a behaviour.
    """
    if not graph.n_users and not graph.n_behaviours:
        raise InputError("a table cannot hold an empty graph; write .json, .npz or .mtx")
    users = names_of(graph.users, "user", text=text)
    behaviours = names_of(graph.behaviours, "behaviour", text=text)
    row, column = graph.rows().astype(np.int64), graph.indices.astype(np.int64)
    at = np.arange(graph.n_edges)
    alone = np.flatnonzero(graph.degrees == 0)
    if len(alone):
        before = graph.indptr[alone]
        row, column, at = (
            np.insert(array, before, values)
            for array, values in ((row, alone), (column, -1), (at, -1))
        )
    if not _in_order(column, graph.n_behaviours):
        none = np.full(graph.n_behaviours, -1)
        row, at = np.concatenate((none, row)), np.concatenate((none, at))
        column = np.concatenate((np.arange(graph.n_behaviours), column))
    columns = [_gather("user", users, row), _gather("behaviour", behaviours, column)]
    if graph.weighted:
        columns.append(_gather("weight", _weight_column(graph), at))
    return pl.DataFrame(columns)


def names_of(names: Sequence[Hashable], noun: str, *, text: bool) -> pl.Series:
    """Names as a column: all text or all whole numbers; other names have no place in a file."""
    if isinstance(names, range):
        numbers = pl.Series(noun, np.arange(len(names)))
        return numbers.cast(pl.String) if text else numbers
    kinds = {type(name) for name in names}
    if not kinds <= {str, int}:
        odd = next(name for name in names if type(name) not in (str, int))
        raise InputError(
            f"{noun} {quoted(odd)} is a {type(odd).__name__}; files hold names that are text or "
            "whole numbers"
        )
    if text:
        written = [str(name) for name in names]
        if len(kinds) == 2 and len(set(written)) < len(written):
            raise InputError(f"two {noun}s would have the same name as text; rename one")
        return _text(noun, written)
    if len(kinds) == 2:
        raise InputError(f"{noun}s are named by text and by whole numbers; name them all alike")
    if kinds == {str}:
        return _text(noun, [str(name) for name in names])
    try:
        return pl.Series(noun, list(names), dtype=pl.Int64)
    except (OverflowError, TypeError, pl.exceptions.PolarsError):
        raise InputError(f"a {noun} is a number of more than 64 bits; use text") from None


def _text(noun: str, names: list[str]) -> pl.Series:
    try:
        return pl.Series(noun, names, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise InputError(f"{noun} {quoted(error.object)} cannot be written as UTF-8") from None


def _weight_column(graph: Graph) -> pl.Series:
    """Whole numbers or floats; text such as 1/3 where float64 cannot hold some weight."""
    weights, exact = graph.weights, graph.exact_weights if graph.rounded else None
    if exact is not None:
        return pl.Series("weight", [str(value) for value in exact.tolist()], dtype=pl.String)
    if weights is None:
        return pl.Series("weight", [], dtype=pl.Float64)
    whole = bool((weights == np.floor(weights)).all() and weights.max() <= 2**53)
    return pl.Series("weight", weights.astype(np.int64) if whole else weights)


def _gather(name: str, values: pl.Series, at: npt.NDArray[np.int64]) -> pl.Series:
    """The values at these positions, null where the position is -1."""
    missing = at < 0
    if not missing.any():
        return values.gather(at).alias(name)
    padded = values.extend_constant(None, 1)
    return padded.gather(np.where(missing, len(values), at)).alias(name)


def _in_order(column: npt.NDArray[np.int64], size: int) -> bool:
    """Whether 0, 1, ..., size - 1 all appear, each for the first time in that order."""
    present = column[column >= 0]
    different, first = np.unique(present, return_index=True)
    return len(different) == size and bool((np.diff(first) > 0).all())

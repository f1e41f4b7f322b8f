"""From a table of edges (polars) to names and canonical edges, without a Python loop over rows."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from anonymatch._native import LARGEST, group_hashes
from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, meant_instead, quoted, several
from anonymatch.graph.edges import (
    EXACT_TEXT,
    TOO_SMALL,
    VANISHED,
    EdgeError,
    Indices,
    exact_text,
)
from anonymatch.graph.inputs import Parts, join
from anonymatch.graph.io.logs import refuse_log
from anonymatch.graph.io.notes import edge_notes, lonely_notes
from anonymatch.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonymatch.graph.edges import AnyArray

_T = TypeVar("_T")

# Rows worked on at once: fresh memory for a whole column costs more than the work itself.
_CHUNK = 1 << 18

COLUMNS = ("user", "behaviour", "weight")
_AMERICAN = {"behavior": "behaviour"}


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
        (row, users), (column, behaviours) = pool.map(_codes, sides)
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


def check_types(schema: dict[str, pl.DataType]) -> None:
    """Refuse columns whose type can be neither names nor weights, before they are read."""
    check_columns(list(schema))
    for column, name in meant(list(schema)).items():
        if name != "weight":
            _check_names(pl.Series(column, [], dtype=schema[column]))


def factorise(values: pl.Series) -> tuple[Indices, pl.Series]:
    """Code of every value, and the different values in order of first appearance.

    Exact whatever the hash does: each value is compared with the first that has its hash, and those
    that differ are told apart by a dictionary.
    """
    return factorise_hashed(values, values.hash().to_numpy())


def factorise_hashed(
    values: pl.Series, hashes: npt.NDArray[np.uint64]
) -> tuple[Indices, pl.Series]:
    """As :func:`factorise`, with hashes given; any that agree on equal values will do."""
    codes, first = group_hashes(hashes)
    del hashes
    different = values.gather(first)
    wrong = _differing(codes, different, values)
    if not len(wrong):
        return codes, different
    numbers: dict[object, int] = {}
    fresh = [numbers.setdefault(value, len(numbers)) for value in values.gather(wrong).to_list()]
    codes[wrong] = np.array(fresh, dtype=np.int32) + np.int32(len(first))
    leaders = wrong[np.unique(np.array(fresh), return_index=True)[1]]
    first = np.concatenate((first, leaders)).astype(np.int32)
    return _rank(first)[codes], values.gather(np.sort(first))


def _differing(codes: Indices, different: pl.Series, values: pl.Series) -> npt.NDArray[np.intp]:
    """Positions whose value is not the one that its code stands for."""
    wrong = []
    for begin in range(0, len(values), _CHUNK):
        part = values.slice(begin, _CHUNK)
        meant = different.gather(codes[begin : begin + len(part)].view(np.uint32))
        if not meant.equals(part):
            wrong.append(np.flatnonzero((meant != part).to_numpy()) + begin)
    return np.concatenate(wrong) if wrong else np.empty(0, dtype=np.intp)


def _rank(first: Indices) -> Indices:
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank


def _codes(side: pl.Series) -> tuple[Indices, pl.Series]:
    """Code of every name, -1 where there is none, and the names."""
    if not (side.dtype == pl.String or side.dtype.is_integer()):
        side = side.cast(pl.String)  # categories
    if not side.null_count():
        return factorise(side)
    present = side.is_not_null()
    codes = np.full(len(side), -1, dtype=np.int32)
    codes[present.to_numpy()], names = factorise(side.filter(present))
    return codes, names


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

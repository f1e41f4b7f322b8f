"""A released table and the original one before anything is compared: columns, and first rows."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymatch.base.atomic_files import as_path
from anonymatch.tables.reading.released_cells import is_plain, spelling
from anonymatch.tables.reading.released_columns import Columns, choose_columns, read_tables

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TableLook", "TablesLook", "look_at_tables", "released_first"]

PathLike = str | os.PathLike[str]

_ROWS = 5  # that are shown
_CELLS = 1000  # different ones of a column that are looked at


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLook:
    """One table: its columns, how many rows it has, and the first of them."""

    columns: tuple[str, ...]
    n_rows: int
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TablesLook:
    """What two tables show before they are compared.

    Attributes
    ----------
    released, original : TableLook
    guess : Columns
        Which column is what, if nobody says it.
    """

    released: TableLook
    original: TableLook
    guess: Columns

    @property
    def shared(self) -> tuple[str, ...]:
        """Columns that both have: those that may identify."""
        return tuple(each for each in self.original.columns if each in self.released.columns)


def look_at_tables(original: PathLike, released: PathLike) -> TablesLook:
    r"""Columns of both tables, and what each is likely to be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     known, given = pathlib.Path(folder, "known.csv"), pathlib.Path(folder, "given.csv")
    ...     _ = known.write_text("name,age,zip\nmia,23,1010\nnoa,27,1020\n")
    ...     _ = given.write_text("age,zip,illness\n20-29,10**,flu\n20-29,1010,cold\n")
    ...     look = look_at_tables(known, given)
    >>> look.shared, look.guess.sensitive, look.guess.name
    (('age', 'zip'), ('illness',), 'name')
    """
    people, rows = read_tables(original, released)
    guess = choose_columns(
        people, rows, identifiers=None, sensitive=None, name=None, original=f"{as_path(original)}"
    )
    return TablesLook(released=_look(rows), original=_look(people), guess=guess)


def _look(frame: pl.DataFrame) -> TableLook:
    first = frame.head(_ROWS).rows()
    return TableLook(
        columns=tuple(frame.columns),
        n_rows=frame.height,
        rows=tuple(tuple("" if cell is None else str(cell) for cell in row) for row in first),
    )


def released_first(first: PathLike, second: PathLike) -> bool:
    r"""Whether the first of two tables is rather the released one: its cells are the coarser ones.

    Where cells say nothing, the table with a column of its own whose values all differ is the
    original: it names people.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     known, given = pathlib.Path(folder, "known.csv"), pathlib.Path(folder, "given.csv")
    ...     _ = known.write_text("name,age\nmia,23\nnoa,27\n")
    ...     _ = given.write_text("age,illness\n20-29,flu\n20-29,cold\n")
    ...     released_first(given, known), released_first(known, given)
    (True, False)
    """
    one, other = read_tables(first, second)
    shared = [column for column in one.columns if column in other.columns]
    coarse = [sum(_coarse(frame, column) for column in shared) for frame in (one, other)]
    if coarse[0] != coarse[1]:
        return coarse[0] > coarse[1]
    return not _names_people(one, other) or _names_people(other, one)


def _coarse(frame: pl.DataFrame, column: str) -> float:
    """Which share of the different cells of a column stand for several values."""
    cells = frame.get_column(column).unique(maintain_order=True).head(_CELLS).to_list()
    spelled = [spelling(cell) for cell in cells]
    return sum(not is_plain(cell, dates=False) for cell in spelled) / max(len(spelled), 1)


def _names_people(frame: pl.DataFrame, other: pl.DataFrame) -> bool:
    own = (frame.get_column(each) for each in frame.columns if each not in other.columns)
    return any(not each.null_count() and bool(each.is_unique().all()) for each in own)

"""Columns of two tables: which of them identify, which are sensitive, and which name people.

Nobody can tell from a table alone what an attacker knows. What is not told is guessed, and the
guess is said.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from anonymatch.base.arguments import elements
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted
from anonymatch.tables.reading.released_cells import is_plain, spelling

if TYPE_CHECKING:
    import polars as pl

PathLike = str | os.PathLike[str]

_SENSITIVE = (
    "illness", "disease", "diagnos", "condition", "symptom", "treatment", "medica", "drug",
    "hiv", "cancer", "therapy", "salary", "income", "wage", "earning", "wealth", "debt", "credit",
    "religion", "faith", "politic", "party", "vote", "sexual", "orientation", "crime", "offence",
    "offense", "convict", "grade", "score", "result", "outcome", "sensitive",
)  # fmt: skip
_NUMBERS = re.compile(r"(^|[^a-z])(id|ids|uuid|key|ssn|no|nr|number|record|case|index)([^a-z]|$)")
_ROWS = 5  # that are shown
_CELLS = 1000  # different ones of a column that are looked at
_FEW = 3  # rows of which nothing can be said by whether they differ
_MANY = 20  # rows, from which on a column whose values all differ is none that people share


def read_tables(original: PathLike, released: PathLike) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both tables with names of columns stripped, those of the release spelled as in the original.

    Case is ignored where that leaves no choice.
    """
    from anonymatch.tabular import read_text_table  # imports polars

    people, rows = (
        _stripped(read_text_table(each), f"{as_path(each)}") for each in (original, released)
    )
    free = [column for column in people.columns if column not in rows.columns]
    new = {column: spelled(column, free) for column in rows.columns if column not in people.columns}
    taken = Counter(new.values())
    return people, rows.rename({old: name for old, name in new.items() if taken[name] == 1})


def _stripped(frame: pl.DataFrame, file: str) -> pl.DataFrame:
    names = [column.strip() for column in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name, times in Counter(names).items() if times > 1)
        raise (
            InputError(f"two columns are called {quoted(twice)}, but for spaces; keep one")
            .at(1)
            .about(file)
        )
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def spelled(column: str, columns: Sequence[str]) -> str:
    """The one of the columns with this name, whatever the case of its letters; else the name.

    Examples
    --------
    >>> spelled(" Age", ["age", "zip"]), spelled("Age", ["age", "AGE"]), spelled("sex", ["age"])
    ('age', 'Age', 'sex')
    """
    if column in columns:
        return column
    folded = column.strip().casefold()
    same = [one for one in columns if one.casefold() == folded]
    return same[0] if len(same) == 1 else column


def near_matches(people: pl.DataFrame, rows: pl.DataFrame) -> tuple[str, ...]:
    """Columns of the release that look like one of the original that it lacks."""
    missing = {one.casefold(): one for one in people.columns if one not in rows.columns}
    notes = []
    for column in rows.columns:
        near = [] if column in people.columns else get_close_matches(column.casefold(), missing, 1)
        if near:
            notes.append(
                f"Column {quoted(column)} of the release is not compared with column "
                f"{quoted(missing[near[0]])} of the original, whose name is nearly the same. If "
                "both are the same, rename one of them."
            )
    return tuple(notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The part that each column has, and which of these were guessed."""

    identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    name: str | None
    left_out: tuple[str, ...]
    guessed: tuple[str, ...]

    def in_words(self) -> str:
        """What was taken, for the top of an answer."""
        by = ", ".join(self.identifiers)
        parts = [f"Identifiers{self._mark('identifiers')}: {by}"]
        if self.sensitive:
            parts.append(f"sensitive{self._mark('sensitive')}: {', '.join(self.sensitive)}")
        if self.name is not None:
            parts.append(f"name{self._mark('name')}: {self.name}")
        if self.left_out:
            parts.append(f"left out, since it tells all rows apart: {', '.join(self.left_out)}")
        return "; ".join(parts) + "."

    def _mark(self, part: str) -> str:
        return " (guessed)" if part in self.guessed else ""


def choose_columns(
    people: pl.DataFrame,
    rows: pl.DataFrame,
    *,
    identifiers: Sequence[str] | str | None,
    sensitive: Sequence[str] | str | None,
    name: str | None,
    original: str,
) -> Columns:
    """Those that were told, and guesses for the others."""
    named = _name(people, rows, name, original)
    told_sensitive = None  # may be none of them
    if sensitive is not None:
        told_sensitive = [spelled(one, rows.columns) for one in _list(sensitive, "sensitive")]
    for column in told_sensitive or ():
        _require(rows, column, "released")
    guessed = [
        part
        for part, told in (("identifiers", identifiers), ("sensitive", sensitive), ("name", name))
        if told is None
    ]
    shared = [column for column in people.columns if column in rows.columns and column != named]
    left_out: list[str] = []
    if identifiers is not None:
        chosen = [spelled(one, people.columns) for one in _list(identifiers, "quasi_identifiers")]
        if not chosen:
            raise InputError(Argument("quasi_identifiers"), " is empty; name at least one column")
        for column in chosen:
            _require(people, column, "original")
            _require(rows, column, "released")
    else:
        hidden = told_sensitive if told_sensitive is not None else _sensitive(shared)
        left_out = [column for column in shared if _tells_apart(people, rows, column)]
        chosen = [column for column in shared if column not in (*hidden, *left_out)]
        if not chosen:
            chosen, left_out = left_out, []
        if not chosen:
            raise InputError(
                "the tables share no column that could identify; give both the same names of "
                "columns, or say which with ",
                Argument("quasi_identifiers", ...),
            )
    if told_sensitive is None:
        only_released = [column for column in rows.columns if column not in people.columns]
        others = [column for column in shared if column not in (*chosen, *left_out)]
        told_sensitive = [
            column
            for column in (*others, *only_released)
            if not _tells_apart(rows, rows, column) or rows.height <= _FEW
        ]
    both = [column for column in chosen if column in told_sensitive]
    if both:
        raise InputError(f"{quoted(both[0])} cannot identify and be sensitive; choose one")
    return Columns(
        identifiers=tuple(chosen),
        sensitive=tuple(told_sensitive),
        name=named,
        left_out=tuple(left_out),
        guessed=tuple(guessed),
    )


def _list(wanted: Sequence[str] | str, argument: str) -> list[str]:
    """Columns, each once; one text may hold several, with commas between."""
    given = [wanted] if isinstance(wanted, str) else wanted
    texts = elements(given, f"{argument} must be a list of columns")
    chosen = [column.strip() for text in texts for column in str(text).split(",")]
    return list(dict.fromkeys(filter(None, chosen)))


def _require(frame: pl.DataFrame, column: str, table: str) -> None:
    if column not in frame.columns:
        near = did_you_mean(column, frame.columns)
        present = listed(frame.columns)
        raise InputError(
            f"the {table} table has no column {quoted(column)}; it has {present}{near}"
        )


def _sensitive(columns: Sequence[str]) -> list[str]:
    """Those whose names say so."""
    return [column for column in columns if any(part in column.lower() for part in _SENSITIVE)]


def _tells_apart(people: pl.DataFrame, rows: pl.DataFrame, column: str) -> bool:
    """Whether a column has another value in every row of both: a number of rows, not a fact."""
    both = [frame.get_column(column) for frame in (people, rows)]
    least = _FEW if _NUMBERS.search(column.lower()) else _MANY
    return rows.height > least and all(
        not values.null_count() and bool(values.is_unique().all()) for values in both
    )


def _name(
    people: pl.DataFrame, rows: pl.DataFrame, wanted: str | None, original: str
) -> str | None:
    if wanted is not None:
        wanted = spelled(wanted, people.columns)
        if wanted not in people.columns:
            present, near = listed(people.columns), did_you_mean(wanted, people.columns)
            raise InputError(f"there is no column {quoted(wanted)}; it has {present}{near}").about(
                original
            )
        return wanted
    for column in people.columns:
        if column not in rows.columns:
            values = people.get_column(column)
            return column if not values.null_count() and values.is_unique().all() else None
    return None


# ---- both tables before anything is compared


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

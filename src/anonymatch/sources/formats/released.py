"""Released tables: which person may be behind which row.

The attacker knows the quasi-identifiers of everybody in the original table (age, sex, postcode) and
sees the released one, where they are generalised. A person may be behind a row if every
quasi-identifier of the person lies in the row's cell;
:mod:`~anonymatch.sources.formats.released_cells` says when.

People who are alike are compared once, and so are rows that are alike. Columns whose released cells
are all plain values are joined, not compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.base.arguments import elements
from anonymatch.base.arrays import Bools, Ints, offsets
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, listed, quoted, several
from anonymatch.graph import Edges, Graph, Names, limits
from anonymatch.sources.formats.released_cells import fits, is_plain, spelling
from anonymatch.sources.formats.source_format import SourceFormat
from anonymatch.sources.formats.text_tables import read_text_table
from anonymatch.sources.labels import lost_slot_names
from anonymatch.sources.observation import PEOPLE, Observation

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.running import Budget
    from anonymatch.sources.laws import Law
    from anonymatch.sources.reading import ReadOptions

__all__ = ["MOST_EDGES", "read_released"]

MOST_EDGES = 100_000_000
"""More edges than these are refused."""

_MOST_COMPARISONS = 10_000_000_000
_MOST_CELLS = 2_000_000_000  # of the table of values by cells of one column


def read_released(
    original: str | os.PathLike[str],
    released: str | os.PathLike[str],
    *,
    identifiers: Sequence[str] | None = None,
    name: str | None = None,
) -> Observation:
    r"""The graph of the people of one table and the rows of another.

    Every person is behind one row; where there are more people than rows, those left out of the
    release have places of their own, as messages that were lost.

    Parameters
    ----------
    original, released : path
        .csv, .tsv or .parquet files. Columns are compared under the same name.
    identifiers : sequence of str, optional
        What the attacker knows; default: every column that both tables have, but the name.
    name : str, optional
        The column with the name of each person; default: the first that the released table lacks,
        if its values are all different, else people are numbered.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     known, given = pathlib.Path(folder, "known.csv"), pathlib.Path(folder, "given.csv")
    ...     _ = known.write_text("name,age,zip\nmia,23,1010\nnoa,27,1020\noli,31,1010\n")
    ...     _ = given.write_text("age,zip,illness\n20-29,10**,flu\n20-29,1010,flu\n30-39,*,cold\n")
    ...     seen = read_released(known, given)
    >>> seen.graph.to_edges()
    [('mia', 'row 1'), ('mia', 'row 2'), ('noa', 'row 1'), ('oli', 'row 3')]
    >>> seen.notes
    ('People and rows are compared by age, zip.',)
    """
    people, rows = read_text_table(original), read_text_table(released)
    named = _name_column(people, rows, name, f"{as_path(original)}")
    chosen = _identifiers(people, rows, identifiers, named)
    columns = [_column(people, rows, column) for column in chosen]
    columns.sort(key=lambda column: (not column.joined, column.share))
    joined = sum(column.joined for column in columns)
    sides = [
        _classes(np.column_stack([column.codes(side) for column in columns])) for side in (0, 1)
    ]
    lost = max(people.height - rows.height, 0)
    pairs = _pairs(sides[0], sides[1], [column.fits for column in columns[joined:]], joined)
    edges = _edges(sides[0], sides[1], pairs, lost)
    behaviours = [f"row {number}" for number in range(1, rows.height + 1)]
    graph = Graph(
        Names.given(_person_names(people, named, f"{as_path(original)}"), people.height, "user"),
        Names.given([*behaviours, *lost_slot_names(lost, behaviours)], None, "behaviour"),
        edges,
    )
    return Observation(
        graph=graph,
        source=f"released table of {several(rows.height, 'row')}",
        nouns=PEOPLE,
        lost=lost,
        notes=_notes(graph, chosen, lost),
    )


# ---- columns


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """One quasi-identifier as codes; ``fits`` has a row a value and a column a cell."""

    values: Ints
    cells: Ints
    fits: Bools
    joined: bool

    @property
    def share(self) -> float:
        """How much of the table a value leaves, on average over values and cells."""
        return 0.0 if self.joined else float(self.fits.mean())

    def codes(self, side: int) -> Ints:
        return self.cells if side else self.values


def _column(people: pl.DataFrame, rows: pl.DataFrame, name: str) -> _Column:
    value_codes, values = _coded(people.get_column(name))
    cell_codes, cells = _coded(rows.get_column(name))
    if all(map(is_plain, cells)) and "" not in values:
        position = {cell: at for at, cell in enumerate(cells)}
        # A value that no cell has gets a code of its own, which no row has.
        shared = np.array([position.get(value, len(cells) + at) for at, value in enumerate(values)])
        return _Column(shared[value_codes], cell_codes, np.empty((0, 0), np.bool_), joined=True)
    if len(values) * len(cells) > _MOST_CELLS:
        raise InputError(
            f"column {quoted(name)} has {len(values)} different values and {len(cells)} different "
            "cells, too many to compare; leave it out, or generalise it more"
        )
    return _Column(value_codes, cell_codes, fits(values, cells), joined=False)


def _coded(column: pl.Series) -> tuple[Ints, list[str]]:
    """The code of each entry, and the different spellings."""
    distinct = column.unique(maintain_order=True)
    spellings = [spelling(text) for text in distinct.to_list()]
    codes = {text: at for at, text in enumerate(dict.fromkeys(spellings))}
    old = distinct.to_frame("text").with_row_index("code")
    rank = column.to_frame("text").join(
        old, on="text", how="left", nulls_equal=True, maintain_order="left"
    )
    code = np.array([codes[text] for text in spellings], dtype=np.int64)
    return code[rank.get_column("code").to_numpy()], list(codes)


# ---- classes of people and of rows


@dataclass(frozen=True, slots=True, eq=False)
class _Classes:
    """Entries with the same codes: the codes in sorted order, and who has them."""

    codes: Ints
    members: Ints  # by class
    begins: Ints  # of each class in ``members``, and the end
    class_of: Ints

    def of(self, number: int) -> Ints:
        return self.members[self.begins[number] : self.begins[number + 1]]


def _classes(codes: Ints) -> _Classes:
    different, class_of, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    begins = offsets(sizes)
    order = np.argsort(class_of.ravel(), kind="stable")
    return _Classes(different, order, begins, class_of.ravel())


def _pairs(
    people: _Classes, rows: _Classes, tables: list[Bools], joined: int
) -> Iterator[tuple[int, Ints]]:
    """Class of people, and the classes of rows that it fits.

    Classes are sorted by the joined columns and then by the first that is compared, so that those
    which agree stand together; only rows that fit there are compared in the other columns.
    """
    work = 0
    for begin, end, low, high in _groups(people.codes[:, :joined], rows.codes[:, :joined]):
        if not tables:
            yield from ((number, np.arange(low, high)) for number in range(begin, end))
            continue
        cells = rows.codes[low:high, joined]
        for first, last in _runs(people.codes[begin:end, joined : joined + 1]):
            within = np.flatnonzero(tables[0][people.codes[begin + first, joined]])
            candidates = low + _ranges(
                np.searchsorted(cells, within), np.searchsorted(cells, within, side="right")
            )
            work += (last - first) * len(candidates)
            if work > _MOST_COMPARISONS:
                raise InputError(
                    f"{len(people.codes)} kinds of people and {len(rows.codes)} kinds of rows are "
                    "too many to compare; take fewer ",
                    Argument("identifiers"),
                    ", or a part of the tables",
                )
            for number in range(begin + first, begin + last):
                fit = np.ones(len(candidates), dtype=np.bool_)
                for at, table in enumerate(tables[1:], start=joined + 1):
                    fit &= table[people.codes[number, at]][rows.codes[candidates, at]]
                yield number, candidates[fit]


def _groups(people: Ints, rows: Ints) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of classes of both sides with the same joined codes."""
    where = {tuple(rows[begin].tolist()): (begin, end) for begin, end in _runs(rows)}
    for begin, end in _runs(people):
        other = where.get(tuple(people[begin].tolist()))
        if other is not None:
            yield begin, end, *other


def _runs(sorted_rows: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of equal rows; all are equal if they have no columns."""
    new = (np.diff(sorted_rows, axis=0) != 0).any(axis=1)
    borders = [0, *(np.flatnonzero(new) + 1).tolist(), len(sorted_rows)]
    return pairwise(borders)


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """The numbers from each begin to before its end, in one array."""
    lengths = ends - begins
    return np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(int(lengths.sum()))


def _edges(people: _Classes, rows: _Classes, pairs: Iterator[tuple[int, Ints]], lost: int) -> Edges:
    """Rows of the graph; counted to the end even where they are too many to keep."""
    lost_slots = np.arange(len(rows.members), len(rows.members) + lost)
    candidates: list[Ints] = [lost_slots] * len(people.codes)
    owners, sizes = (np.diff(side.begins) for side in (people, rows))
    total = len(people.members) * lost
    for number, chosen in pairs:
        total += int(sizes[chosen].sum()) * int(owners[number])
        if total <= MOST_EDGES:
            columns = np.concatenate([lost_slots[:0], *(rows.of(one) for one in chosen.tolist())])
            candidates[number] = np.concatenate((np.sort(columns), lost_slots))
    if total > MOST_EDGES:
        raise InputError(
            f"{len(people.members)} people and {len(rows.members)} rows make {total:.3g} edges, "
            f"over {MOST_EDGES:.0e}; audit a part of the tables, or add ",
            Argument("identifiers"),
        )
    limits.check_memory(16 * total, f"a graph of {total} edges", "audit a part of the tables")
    degrees = np.array([len(columns) for columns in candidates], dtype=np.int64)[people.class_of]
    indices = [candidates[number].astype(np.int32) for number in people.class_of.tolist()]
    return Edges(
        indptr=offsets(degrees).astype(np.int32),
        indices=np.concatenate(indices),
        weights=None,
        exact=None,
    )


# ---- names and words


def _identifiers(
    people: pl.DataFrame, rows: pl.DataFrame, wanted: Sequence[str] | None, named: str | None
) -> list[str]:
    if wanted is None:
        chosen = [name for name in people.columns if name in rows.columns and name != named]
        if not chosen:
            raise InputError(
                "the tables share no column to compare; give both the same names of columns"
            )
        return chosen
    if isinstance(wanted, str):
        wanted = [wanted]
    chosen = list(dict.fromkeys(elements(wanted, "identifiers must be a list of columns")))
    if not chosen:
        raise InputError(Argument("identifiers"), " is empty; name at least one column")
    for name in chosen:
        for frame, what in ((people, "original"), (rows, "released")):
            if name not in frame.columns:
                present = listed(frame.columns)
                raise InputError(f"the {what} table has no column {quoted(name)}; it has {present}")
    return chosen


def _name_column(
    people: pl.DataFrame, rows: pl.DataFrame, wanted: str | None, file: str
) -> str | None:
    if wanted is not None:
        if wanted not in people.columns:
            present = listed(people.columns)
            raise InputError(f"there is no column {quoted(wanted)}; it has {present}").about(file)
        return wanted
    for name in people.columns:
        if name not in rows.columns:
            column = people.get_column(name)
            return name if not column.null_count() and column.is_unique().all() else None
    return None


def _person_names(people: pl.DataFrame, named: str | None, file: str) -> list[str]:
    if named is None:
        return [f"person {number}" for number in range(1, people.height + 1)]
    column = people.get_column(named)
    wrong = column.is_null() | column.is_duplicated()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        what = "empty" if column[row] is None else f"{quoted(column[row])}, which is there twice"
        raise (
            InputError(f"{named} is {what}; each person needs a name")
            .at(row + 1, noun="row")
            .about(file)
        )
    return column.to_list()


def _notes(graph: Graph, chosen: list[str], lost: int) -> tuple[str, ...]:
    notes = [f"People and rows are compared by {', '.join(chosen)}."]
    alone = int(np.count_nonzero(graph.degrees == lost))
    if alone > lost:  # else an audit tells how many are not in the release
        notes.append(f"{several(alone, 'person', 'people')} {_verb(alone)} no row.")
    orphans = int(np.count_nonzero(graph.behaviour_degrees == 0))
    if orphans:
        notes.append(f"{several(orphans, 'row')} {_verb(orphans)} nobody.")
    return tuple(notes)


def _verb(number: int) -> str:
    return "fits" if number == 1 else "fit"


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    if options.original is None:
        raise InputError(
            "a released table needs the original one; give ", Argument("original", ...)
        ).about(path)
    return read_released(options.original, path, identifiers=options.identifiers, name=options.name)


FORMAT = SourceFormat(text="a released table beside the original one", open=_open)

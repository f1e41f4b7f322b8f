"""Released tables: which person may be behind which row.

The attacker knows the identifiers of everybody in the original table (age, sex, postcode) and sees
the released one, where they are generalised. A person may be behind a row if every identifier of
the person lies in the row's cell; :mod:`~anonymatch.sources.formats.released_cells` says when.

People who are alike are compared once, and so are rows that are alike
(:mod:`~anonymatch.sources.release`). Tables of which people and rows have few enough edges are a
graph, too, for everything that works on graphs.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.graph import Edges, Graph, Names
from anonymatch.sources.formats.hierarchies import read_hierarchy
from anonymatch.sources.formats.released_cells import fits, is_plain, spelling
from anonymatch.sources.formats.released_columns import Columns, choose_columns
from anonymatch.sources.formats.source_format import SourceFormat
from anonymatch.sources.formats.text_tables import read_text_table, shown_separator
from anonymatch.sources.labels import lost_slot_names
from anonymatch.sources.observation import PEOPLE, Observation
from anonymatch.sources.release import ColumnCells, Release, kinds_of_people

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.running import Budget
    from anonymatch.sources.laws import Law
    from anonymatch.sources.reading import ReadOptions

__all__ = ["MOST_EDGES", "read_released", "require_original"]

MOST_EDGES = 1_000_000
"""A release of more pairs of a person and a row is no graph: its classes tell all."""

_MOST_CELLS = 500_000_000  # of the table of values by cells of one column

PathLike = str | os.PathLike[str]


def read_released(
    original: PathLike,
    released: PathLike,
    *,
    identifiers: Sequence[str] | str | None = None,
    sensitive: Sequence[str] | str | None = None,
    name: str | None = None,
    hierarchies: Mapping[str, PathLike] | None = None,
    tolerance: Mapping[str, float] | None = None,
) -> Observation:
    r"""People of one table and rows of another.

    Every person is behind one row; where there are more people than rows, those left out of the
    release have places of their own, as messages that were lost.

    Parameters
    ----------
    original, released : path
        .csv, .tsv or .parquet files. Columns are compared under the same name.
    identifiers : sequence of str, optional
        What the attacker knows; default: columns that both tables have, but the name, sensitive
        ones by their names, and those that tell all rows apart.
    sensitive : sequence of str, optional
        What the attacker wants to know, none if it is empty; default: the other columns of the
        release.
    name : str, optional
        The column with the name of each person; default: the first that the released table lacks,
        if its values are all different, else people are numbered.
    hierarchies : dict of str to path, optional
        By column: a file with what each value may have become, as ARX writes them.
    tolerance : dict of str to float, optional
        By column: how far a released number may be from the true one.

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
    >>> print(seen.notes[0])
    Identifiers (guessed): age, zip; sensitive (guessed): illness; name (guessed): name.
    """
    people, rows = (
        read_text_table(each, separator=shown_separator(each)) for each in (original, released)
    )
    file = f"{as_path(original)}"
    columns = choose_columns(
        people, rows, identifiers=identifiers, sensitive=sensitive, name=name, original=file
    )
    above = _by_column(hierarchies, columns, "hierarchies")
    near = _by_column(tolerance, columns, "tolerance")
    compared = tuple(
        _column(
            people,
            rows,
            column,
            above=None if column not in above else _hierarchy(people, column, above[column]),
            near=0.0 if column not in near else real(near[column], f"tolerance of {column}"),
        )
        for column in columns.identifiers
    )
    kind_of, class_of, indptr, indices = kinds_of_people(compared, people.height, rows.height)
    coded = {column: _coded(rows.get_column(column)) for column in columns.sensitive}
    release = Release(
        columns=compared,
        sensitive={column: codes for column, (codes, _) in coded.items()},
        sensitive_values={
            column: tuple(value or "unknown" for value in values)
            for column, (_, values) in coded.items()
        },
        kind_of=kind_of,
        class_of=class_of,
        indptr=indptr,
        indices=indices,
        names=_person_names(people, columns.name, file),
    )
    return Observation(
        graph=_graph(release) if release.n_edges + release.lost * release.n_people <= MOST_EDGES
        else None,
        release=release,
        source=f"released table of {several(rows.height, 'row')}",
        nouns=PEOPLE,
        lost=release.lost,
        notes=(columns.in_words(), *_rows_of_nobody(release), *_people_of_no_row(release)),
    )  # fmt: skip


# ---- columns


def _column(
    people: pl.DataFrame,
    rows: pl.DataFrame,
    name: str,
    *,
    above: Mapping[str, frozenset[str]] | None,
    near: float,
) -> ColumnCells:
    value_codes, values = _coded(people.get_column(name))
    cell_codes, cells = _coded(rows.get_column(name))
    dates = any(len(value) >= 10 and value[4] == "-" for value in values)
    simple = above is None and not near and "" not in values
    if simple and all(not cell or is_plain(cell, dates=dates) for cell in cells):
        return ColumnCells(
            name=name,
            values=tuple(values),
            cells=tuple(cells),
            value_of=value_codes,
            cell_of=cell_codes,
            fits=None,
        )
    if len(values) * len(cells) > _MOST_CELLS:
        raise InputError(
            f"column {quoted(name)} has {len(values)} different values and {len(cells)} different "
            "cells, too many to compare; leave it out, or generalise it more"
        )
    table = fits(values, cells)
    if above is not None:
        table |= _below(values, cells, above)
    if near:
        _check_numbers(name, values)
        table |= _close(values, cells, near)
    return ColumnCells(
        name=name,
        values=tuple(values),
        cells=tuple(cells),
        value_of=value_codes,
        cell_of=cell_codes,
        fits=table,
    )


def _hierarchy(people: pl.DataFrame, column: str, path: PathLike) -> Mapping[str, frozenset[str]]:
    """What each value of a column may have become."""
    levels = read_hierarchy(path)
    for value in people.get_column(column).unique(maintain_order=True).to_list():
        if value is not None and spelling(value) and spelling(value) not in levels:
            raise InputError(
                f"it lacks {quoted(value)}, a value of column {quoted(column)}; add a line for it"
            ).about(as_path(path))
    return levels


def _check_numbers(name: str, values: Sequence[str]) -> None:
    if np.isnan(_numbers(values)).all():
        raise InputError(
            Argument("tolerance"),
            f" is for {quoted(name)}, of which no value is a number; leave it out",
        )


def _below(
    values: Sequence[str], cells: Sequence[str], above: Mapping[str, frozenset[str]]
) -> Bools:
    """Value by cell, whether a hierarchy has the cell above the value."""
    position = {cell: at for at, cell in enumerate(cells)}
    table = np.zeros((len(values), len(cells)), dtype=np.bool_)
    for row, value in enumerate(values):
        for cell in above.get(value, ()):
            if cell in position:
                table[row, position[cell]] = True
    return table


def _close(values: Sequence[str], cells: Sequence[str], near: float) -> Bools:
    """Value by cell, whether both are numbers that are no further apart."""
    first, second = _numbers(values), _numbers(cells)
    with np.errstate(invalid="ignore"):
        return np.abs(first[:, None] - second[None, :]) <= near * (1 + 1e-12)


def _numbers(texts: Sequence[str]) -> Floats:
    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return math.nan

    return np.array([number(text) for text in texts])


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


def _by_column(
    given: Mapping[str, PathLike] | Mapping[str, float] | None, columns: Columns, argument: str
) -> Mapping[str, Any]:
    for column in given or ():
        if column not in columns.identifiers:
            known = ", ".join(columns.identifiers)
            raise InputError(
                Argument(argument),
                f" is for {quoted(column)}, which is no identifier; those are {known}",
            )
    return dict(given or {})


# ---- the graph, of small tables


def _graph(release: Release) -> Graph:
    order = np.argsort(release.class_of, kind="stable")
    members = np.split(order, offsets(release.class_sizes)[1:-1])
    slots = np.arange(release.n_rows, release.n_rows + release.lost)
    fitting = [
        np.concatenate(
            [
                np.sort(np.concatenate([np.empty(0, np.int64), *(members[one] for one in own)])),
                slots,
            ]
        )
        for own in np.split(release.indices, release.indptr[1:-1])
    ]
    degrees = np.array([len(own) for own in fitting], dtype=np.int64)[release.kind_of]
    indices = [fitting[kind] for kind in release.kind_of.tolist()]
    behaviours = [f"row {number}" for number in range(1, release.n_rows + 1)]
    names = [release.person_name(one) for one in range(release.n_people)]
    return Graph(
        Names.given(names, release.n_people, "user"),
        Names.given([*behaviours, *lost_slot_names(release.lost, behaviours)], None, "behaviour"),
        Edges(
            indptr=offsets(degrees).astype(np.int32),
            indices=np.concatenate(indices).astype(np.int32),
            weights=None,
            exact=None,
        ),
    )


# ---- names and words


def _person_names(people: pl.DataFrame, named: str | None, file: str) -> tuple[str, ...] | None:
    if named is None:
        return None
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
    return tuple(column.to_list())


def _rows_of_nobody(release: Release) -> tuple[str, ...]:
    """Rows that fit nobody, and the cell of the first one that is to blame."""
    alone = release.rows_of_nobody
    if not len(alone):
        return ()
    verb = "fits" if len(alone) == 1 else "fit"
    row = int(alone[0])
    return (
        f"{several(len(alone), 'row')} {verb} nobody: in row {row + 1}, {release.misfit(row)}.",
    )


def _people_of_no_row(release: Release) -> tuple[str, ...]:
    alone = int(release.kind_sizes[release.rows_that_fit == 0].sum())
    if alone <= release.lost:  # an audit tells how many are not in the release
        return ()
    verb = "fits" if alone == 1 else "fit"
    return (f"{several(alone, 'person', 'people')} {verb} no row.",)


def require_original(path: Path, options: ReadOptions) -> PathLike:
    """The table before release; InputError where it is not told."""
    if options.original is None:
        raise InputError(
            "a released table needs the original one; give ", Argument("original", ...)
        ).about(path)
    return options.original


def _open(
    path: Path, options: ReadOptions, law: Law | None, budget: Budget | float | None
) -> Observation:
    return read_released(
        require_original(path, options),
        path,
        identifiers=options.identifiers,
        sensitive=options.sensitive,
        name=options.name,
        hierarchies=options.hierarchies,
        tolerance=options.tolerance,
    )


FORMAT = SourceFormat(text="a released table beside the original one", open=_open)

"""Released tables: which person may be behind which row.

The attacker knows the identifiers of everybody in the original table (age, sex, postcode) and sees
the released one, where they are generalised. A person may be behind a row if every identifier of
the person lies in the row's cell; :mod:`~anonymatch.tables.reading.released_cells` says when.

People who are alike are compared once, and so are rows that are alike
(the module ``release``). Tables whose people and rows have few edges are also a graph, for
everything that works on graphs.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message, quoted, several
from anonymatch.graph import Edges, Graph, Names
from anonymatch.mixes import SourceFormat, lost_slot_names
from anonymatch.running import Budget
from anonymatch.tables.observation import TableObservation
from anonymatch.tables.reading.release import ColumnCells, Release, classes_of_rows, kinds_of_people
from anonymatch.tables.reading.released_cells import (
    ANY,
    fits,
    is_plain,
    read_hierarchy,
    spelling,
)
from anonymatch.tables.reading.released_columns import (
    Columns,
    choose_columns,
    near_matches,
    read_tables,
    spelled,
)

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.mixes import Law, ReadOptions

MOST_EDGES = 1_000_000
"""A release of more pairs of a person and a row is no graph: its classes tell all."""

_EARLY = 0.5  # predicted seconds of a comparison, from which on classes are shown before it
_CELL, _VALUE = 3e-5, 4e-9  # seconds to read a cell, and to compare it with a value
_LEAST, _ABOUT = 1.0, 1.3  # seconds that every budget allows, and how far a prediction may be off
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
    missing: Sequence[str] | str | None = None,
    budget: Budget | float | None = None,
    early: Callable[[Release], None] | None = None,
) -> TableObservation:
    r"""People of one table and rows of another.

    Every person is behind one row; where there are more people than rows, those left out of the
    release have places of their own, as messages that were lost.

    Parameters
    ----------
    original, released : path
        .csv, .tsv or .parquet files. Columns with the same name are compared; spaces around it and
        the case of its letters do not count.
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
    missing : sequence of str, optional
        Texts that mean an unknown value in both tables, beside empty cells and ``*``. Default:
        ``?``, ``NA``, ``NULL`` and the like, in columns where the original does not have them.
    budget : float or Budget, optional
        Predicted seconds and bytes that comparing people and rows may take.
    early : callable, optional
        Called with the classes of equal rows, before a comparison of people and rows that takes
        long by prediction. That release has no pairs of people and rows.

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
    file = f"{as_path(original)}"
    people, rows = read_tables(original, released)
    columns = choose_columns(
        people, rows, identifiers=identifiers, sensitive=sensitive, name=name, original=file
    )
    unknown = {
        column: _unknown(people.get_column(column), missing) for column in columns.identifiers
    }
    coded = {
        column: _coded(
            rows.get_column(column),
            _unknown(people.get_column(column) if column in people.columns else None, missing),
        )
        for column in columns.sensitive
    }

    def of_classes(compared: tuple[ColumnCells, ...], *pairs: Ints) -> Release:
        kind_of, class_of, indptr, indices = pairs
        return Release(
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

    work = _Work(None if budget is None else Budget.of(budget))
    above = _by_column(hierarchies, columns, "hierarchies")
    near = _by_column(tolerance, columns, "tolerance")
    compared = tuple(
        _column(
            people,
            rows,
            column,
            unknown=unknown[column],
            above=None
            if column not in above
            else _hierarchy(people, column, above[column], unknown[column]),
            near=0.0 if column not in near else real(near[column], f"tolerance of {column}"),
            work=work,
        )
        for column in columns.identifiers
    )

    def check(seconds: float, memory: float) -> None:
        if early is not None and work.seconds + seconds > _EARLY:
            nobody = np.zeros(people.height, dtype=np.int64), classes_of_rows(compared)
            early(of_classes(compared, *nobody, np.zeros(2, np.int64), np.empty(0, np.int64)))
        work.expect(seconds, memory)

    release = of_classes(compared, *kinds_of_people(compared, check))
    return TableObservation(
        graph=_graph(release) if release.n_edges + release.lost * release.n_people <= MOST_EDGES
        else None,
        release=release,
        source=f"released table of {several(rows.height, 'row')}",
        lost=release.lost,
        notes=(
            columns.in_words(),
            *near_matches(people, rows),
            *(note for column in compared if (note := column.zeros_note())),
            *_unknown_cells(people, rows, unknown),
            *_rows_of_nobody(release),
            *_people_of_no_row(release),
        ),
    )  # fmt: skip


class _Work:
    """Predicted work of a comparison, held against a budget."""

    def __init__(self, budget: Budget | None) -> None:
        self._budget, self.seconds, self.memory = budget, 0.0, 0.0

    def expect(self, seconds: float, memory: float) -> None:
        """Refuse work that is beyond the budget."""
        self.seconds += seconds
        self.memory += memory
        if self._budget is None:
            return
        allowed = _ABOUT * max(self._budget.seconds, _LEAST)
        if self.seconds > allowed or self.memory > self._budget.memory:
            raise self._budget.refusal(
                "comparing people with rows", self.seconds, self.memory, "generalise ranges more"
            )


# ---- columns


_VALUES = ANY - {"", "*"}  # texts that mean an unknown value, but where the original has them


def _unknown(column: pl.Series | None, missing: Sequence[str] | str | None) -> frozenset[str]:
    """Texts that mean an unknown value in a column of the original and of the release."""
    if missing is not None:
        texts = [missing] if isinstance(missing, str) else missing
        return frozenset({"", "*", *(one.strip() for text in texts for one in text.split(","))})
    if column is None:
        return ANY
    there = column.str.strip_chars()
    return ANY - set(there.filter(there.is_in(list(_VALUES))).unique().to_list())


def _unknown_cells(
    people: pl.DataFrame, rows: pl.DataFrame, unknown: Mapping[str, frozenset[str]]
) -> tuple[str, ...]:
    """How many cells and values were read as unknown; stars are no question."""
    notes = []
    for frame, what in (
        (rows, "release {} read as suppressed: any value may be behind them"),
        (people, "original {} read as unknown to the attacker, and compatible with every cell"),
    ):
        found: Counter[str] = Counter()
        for column, texts in unknown.items():
            values = frame.get_column(column).str.strip_chars().fill_null("")
            some = values.filter(values.is_in(list(texts - {"*"})))
            found.update(Counter(some.to_list()))
        if found:
            by_text = ", ".join(
                f"{quoted(text) if text else 'empty'} {number:,}"
                for text, number in sorted(found.items())
            )
            cells = several(found.total(), "cell")
            read = what.format("is" if found.total() == 1 else "are")
            notes.append(
                Message(
                    f"{cells} of the {read} ({by_text}). Set which texts mean that with ",
                    Argument("missing", ...),
                    ".",
                )
            )
    return tuple(notes)


def _column(
    people: pl.DataFrame,
    rows: pl.DataFrame,
    name: str,
    *,
    unknown: frozenset[str],
    above: Mapping[str, frozenset[str]] | None,
    near: float,
    work: _Work,
) -> ColumnCells:
    value_codes, values = _coded(people.get_column(name), unknown)
    cell_codes, cells = _coded(rows.get_column(name), unknown)
    dates = any(len(value) >= 10 and value[4] == "-" for value in values)
    simple = above is None and not near and "" not in values
    table = None
    if not (simple and all(not cell or is_plain(cell, dates=dates) for cell in cells)):
        number = len(values) * len(cells)
        if number > _MOST_CELLS:
            raise InputError(
                f"column {quoted(name)} has {len(values)} different values and {len(cells)} "
                "different cells, too many to compare; leave it out, or generalise it more"
            )
        work.expect(_CELL * len(cells) + _VALUE * number, float(number))
        table = fits(values, cells)
        if above is not None:
            table |= _below(values, cells, above)
        if near:
            table |= _close(name, values, cells, near)
    return ColumnCells(
        name=name,
        values=tuple(values),
        cells=tuple(cells),
        value_of=value_codes,
        cell_of=cell_codes,
        fits=table,
    )


def _hierarchy(
    people: pl.DataFrame, column: str, path: PathLike, unknown: frozenset[str]
) -> Mapping[str, frozenset[str]]:
    """What each value of a column may have become."""
    levels = read_hierarchy(path, unknown)
    for value in people.get_column(column).unique(maintain_order=True).to_list():
        known = spelling(value, unknown)
        if known and known not in levels:
            raise InputError(
                f"it lacks {quoted(value)}, a value of column {quoted(column)}; add a line for it"
            ).about(as_path(path))
    return levels


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


def _close(name: str, values: Sequence[str], cells: Sequence[str], near: float) -> Bools:
    """Value by cell, whether both are numbers that are no further apart."""
    first, second = (_numbers(texts) for texts in (values, cells))
    if np.isnan(first).all():
        raise InputError(
            Argument("tolerance"),
            f" is for {quoted(name)}, of which no value is a number; leave it out",
        )
    with np.errstate(invalid="ignore"):
        return np.abs(first[:, None] - second[None, :]) <= near * (1 + 1e-12)


def _numbers(texts: Sequence[str]) -> Floats:
    numbers = np.full(len(texts), math.nan)
    for at, text in enumerate(texts):
        with suppress(ValueError):
            numbers[at] = float(text)
    return numbers


def _coded(column: pl.Series, unknown: frozenset[str]) -> tuple[Ints, list[str]]:
    """The code of each entry, and the different spellings."""
    distinct = column.unique(maintain_order=True)
    spellings = [spelling(text, unknown) for text in distinct.to_list()]
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
    by_column = {spelled(one, columns.identifiers): value for one, value in (given or {}).items()}
    for column in by_column:
        if column not in columns.identifiers:
            known = ", ".join(columns.identifiers)
            raise InputError(
                Argument(argument),
                f" is for {quoted(column)}, which is no identifier; those are {known}",
            )
    return by_column


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


_OPTIONS = ("sensitive", "name", "hierarchies", "tolerance", "missing")


def require_original(path: Path, options: ReadOptions) -> PathLike:
    """The table before release; InputError where it is not told."""
    if options.original is None:
        raise InputError(
            "a released table needs the original one; give ", Argument("original", ...)
        ).about(path)
    return options.original


def open_released(
    path: Path,
    options: ReadOptions,
    law: Law | None,
    budget: Budget | float | None,
    early: Callable[[Release], None] | None = None,
) -> TableObservation:
    """Read a released table as options say."""
    given: dict[str, Any] = {name: getattr(options, name) for name in _OPTIONS}
    return read_released(
        require_original(path, options),
        path,
        identifiers=options.quasi_identifiers,
        budget=budget,
        early=early,
        **given,
    )


FORMAT: SourceFormat = SourceFormat(
    text="a released table beside the original one", open=open_released
)

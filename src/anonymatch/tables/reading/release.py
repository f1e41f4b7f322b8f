"""Release: a released table beside the original one, as classes of people and of rows.

Rows with the same cells are alike, and so are people who fit the same rows. Between classes there
are few pairs, where between people and rows there would be up to 10^12: what is computed from
classes needs no more memory than the tables.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Bools, Ints, offsets
from anonymatch.base.text import quoted


@dataclass(frozen=True, kw_only=True, eq=False)
class ColumnCells:
    """One identifier: the different values of people, the different cells of rows, and which fit.

    Attributes
    ----------
    name : str
    values, cells : tuple of str
        As they are spelled.
    value_of, cell_of : array
        The value of each person, and the cell of each row.
    fits : array of bool or None
        Value by cell; None of a column of plain values, where a value lies in a cell that equals it
        or in one that says nothing.
    """

    name: str
    values: tuple[str, ...] = field(repr=False)
    cells: tuple[str, ...] = field(repr=False)
    value_of: Ints = field(repr=False)
    cell_of: Ints = field(repr=False)
    fits: Bools | None = field(repr=False)

    @cached_property
    def equal_cell(self) -> Ints:
        """The cell that equals each value; a number beyond all cells for none."""
        position = {cell: at for at, cell in enumerate(self.cells)}
        beyond = len(self.cells)
        return np.array([position.get(value, beyond) for value in self.values], dtype=np.int64)

    @cached_property
    def levels(self) -> Ints:
        """A level for each cell; no two cells of a level share a value."""
        if self.fits is None:
            return self.says_nothing.astype(np.int64)
        return _levels(self.fits)

    @cached_property
    def most_cells(self) -> int:
        """Cells in which one value lies, at most."""
        return 2 if self.fits is None else int(self.fits.sum(axis=1).max())

    @cached_property
    def says_nothing(self) -> Bools:
        """Which cells hold any value."""
        return np.array([not cell for cell in self.cells], dtype=np.bool_)

    def on_level(self, level: int) -> Ints:
        """The cell of a level in which each value lies; -1 for none."""
        if self.fits is None:
            if level:
                return np.full(len(self.values), self.cells.index(""))
            return np.where(self.equal_cell < len(self.cells), self.equal_cell, -1)
        return _cell_on_level(self.fits, self.levels, level)

    @cached_property
    def zeros(self) -> tuple[str, str] | None:
        """A value and a cell that differ only by zeros in front of their digits; None of none."""
        values = set(self.values)
        bare: dict[int, dict[str, str]] = {}  # by the number of stars that a cell ends with
        for cell in self.cells:
            digits = cell.rstrip("*")
            if cell in values or not digits.isdigit():
                continue
            stars = len(cell) - len(digits)
            if stars not in bare:
                bare[stars] = {
                    value[: len(value) - stars].lstrip("0"): value
                    for value in self.values
                    if value.isdigit()
                }
            value = bare[stars].get(digits.lstrip("0"))
            if value is not None and len(value) != len(cell):
                return value, cell
        return None

    def zeros_note(self) -> str:
        """A warning about them; "" if there are none."""
        if self.zeros is None:
            return ""
        value, cell = map(quoted, self.zeros)
        return (
            f"Column {quoted(self.name)}: {value} of the original and {cell} of the release differ "
            "only by leading zeros and are different values. If both are the same, write both with "
            "their zeros."
        )

    def between(self, values: Ints, cells: Ints) -> Bools:
        """Value by cell, whether they fit."""
        if self.fits is not None:
            return np.asarray(self.fits[values][:, cells], dtype=np.bool_)
        equal = self.equal_cell[values][:, None] == cells[None, :]
        return np.asarray(equal | self.says_nothing[cells][None, :], dtype=np.bool_)


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """Who may be behind which row of a released table.

    Attributes
    ----------
    columns : tuple of ColumnCells
        The identifiers.
    sensitive : dict of str to array
        Codes of the values of sensitive columns, by row; `sensitive_values` has their spellings.
    kind_of, class_of : array
        The kind of each person, and the class of each row.
    kind_sizes, class_sizes : array
        How many there are of each.
    indptr, indices : array
        Classes of rows that each kind of people fits.
    names : tuple of str or None
        Of people; they are numbered if there are none.
    lost : int
        People who are not in the release: more people than rows.
    spare : int
        Rows that are of nobody in the original table: more rows than people.
    """

    columns: tuple[ColumnCells, ...]
    sensitive: dict[str, Ints] = field(default_factory=dict, repr=False)
    sensitive_values: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    kind_of: Ints = field(repr=False)
    class_of: Ints = field(repr=False)
    indptr: Ints = field(repr=False)
    indices: Ints = field(repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)

    def person_name(self, number: int) -> str:
        return f"person {number + 1}" if self.names is None else self.names[number]

    @cached_property
    def kind_sizes(self) -> Ints:
        return np.bincount(self.kind_of, minlength=len(self.indptr) - 1)

    @cached_property
    def class_sizes(self) -> Ints:
        return np.bincount(self.class_of)

    @cached_property
    def first_rows(self) -> Ints:
        """The first row of each class."""
        first = np.zeros(len(self.class_sizes), dtype=np.int64)
        first[self.class_of[::-1]] = np.arange(self.n_rows - 1, -1, -1)
        return first

    @property
    def n_people(self) -> int:
        return len(self.kind_of)

    @property
    def n_rows(self) -> int:
        return len(self.class_of)

    @property
    def lost(self) -> int:
        return max(self.n_people - self.n_rows, 0)

    @property
    def spare(self) -> int:
        return max(self.n_rows - self.n_people, 0)

    @cached_property
    def pair_kinds(self) -> Ints:
        """The kind of people of each pair of classes, beside `indices`."""
        return np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))

    @property
    def n_edges(self) -> int:
        """Pairs of a person and a row that fit each other."""
        return int(self.kind_sizes[self.pair_kinds] @ self.class_sizes[self.indices])

    @cached_property
    def rows_that_fit(self) -> Ints:
        """How many rows fit a person of each kind."""
        return _sums(self.class_sizes[self.indices], self.pair_kinds, len(self.kind_sizes))

    @cached_property
    def people_that_fit(self) -> Ints:
        """How many people fit a row of each class."""
        return _sums(self.kind_sizes[self.pair_kinds], self.indices, len(self.class_sizes))

    @cached_property
    def rows_of_nobody(self) -> Ints:
        """Rows that fit no person."""
        return np.flatnonzero(self.people_that_fit[self.class_of] == 0)

    def misfit(self, row: int) -> str:
        """Why a row fits nobody: the first cell in which no value lies, or all of them together."""
        for column in self.columns:
            cell = int(column.cell_of[row])
            if not column.between(np.unique(column.value_of), np.array([cell])).any():
                zeros = ""
                if column.zeros is not None:
                    one, other = map(quoted, column.zeros)
                    zeros = f" ({one} of the original and {other} differ only by leading zeros)"
                return f"no person has {column.name} {quoted(column.cells[cell])}{zeros}"
        cells = (
            f"{column.name} {column.cells[column.cell_of[row]] or '*'}" for column in self.columns
        )
        return f"no person has {', '.join(cells)} together"

    def class_cells(self, number: int) -> tuple[str, ...]:
        """The cells of a class of rows, one a column."""
        row = int(self.first_rows[number])
        return tuple(column.cells[column.cell_of[row]] for column in self.columns)


def _sums(values: Ints, groups: Ints, number: int) -> Ints:
    return np.bincount(groups, weights=values, minlength=number).astype(np.int64)


def kinds_of_people(
    columns: Sequence[ColumnCells], check: Callable[[float, float], None] = lambda *_: None
) -> tuple[Ints, Ints, Ints, Ints]:
    """The kind of each person, the class of each row, and what kinds fit what classes.

    Cells of a column are put on levels, so that a value lies in at most one cell of a level: plain
    values on one, decades on the next, stars on a third. Rows whose cells are on the same levels
    are then joined with people by equal codes, whatever the cells say. Where there are about as
    many combinations of levels as classes, these are compared one by one.

    ``check`` is called with the predicted seconds and bytes before long work, and may refuse it.

    Returns
    -------
    kind_of, class_of, indptr, indices : array
    """
    class_of, first = _alike([column.cell_of for column in columns])  # as classes_of_rows
    classes = np.column_stack([column.cell_of[first] for column in columns])
    person_of, first = _alike([column.value_of for column in columns])
    people = np.column_stack([column.value_of[first] for column in columns])
    most = max(_FEW_VECTORS, min(len(classes) // _JOIN, _MOST_PAIRS // len(people)))
    pairs = _predicted_pairs(columns, classes, people)
    # A value has its own level in each of the cells that it lies in.
    vectors = None
    if max(column.most_cells for column in columns) <= most:
        levels = [column.levels[classes[:, at]] for at, column in enumerate(columns)]
        vectors, vector_of = np.unique(np.column_stack(levels), axis=0, return_inverse=True)
    if vectors is None or len(vectors) > most:
        each = _PERSON + _CLASS * len(classes) * len(columns)
        check(each * len(people) + link_seconds(pairs), link_bytes(pairs))
        kind_of, indptr, indices = _compared(columns, classes, people)
    else:
        joined = _JOINED * (len(vectors) * len(people) + pairs)
        check(joined, _JOINED_BYTES * pairs)
        who, what = _joined(columns, classes, vectors, vector_of.ravel(), people)
        kind_of, indptr, indices = _kinds(who, what, len(people))
    return kind_of[person_of], class_of, indptr, indices


def classes_of_rows(columns: Sequence[ColumnCells]) -> Ints:
    """The class of each row: rows with the same cells have the same."""
    return _alike([column.cell_of for column in columns])[0]


def _predicted_pairs(columns: Sequence[ColumnCells], classes: Ints, people: Ints) -> float:
    """Pairs of people and classes that fit, by what some of the people fit."""
    some = people[:: max(len(people) // _SOME, 1)]
    fit = np.ones((len(some), len(classes)), dtype=np.bool_)
    for at, column in enumerate(columns):
        cells, cell_of = np.unique(classes[:, at], return_inverse=True)
        fit &= column.between(some[:, at], cells)[:, cell_of.ravel()]
    return float(fit.sum()) / len(some) * len(people)


def link_seconds(pairs: float) -> float:
    """Predicted seconds to find out what is possible between kinds and classes."""
    return _LINK * pairs


def link_bytes(pairs: float) -> float:
    """Bytes that this needs at its peak."""
    return _LINK_BYTES * pairs


_SOME = 64  # people by whom pairs are predicted
_PERSON, _CLASS = 3e-5, 1e-10  # seconds to compare a person, and each class by each column
_JOINED, _JOINED_BYTES = 3e-7, 150.0  # of a pair that is joined
_LINK, _LINK_BYTES = 2.2e-6, 260.0
_FEW_VECTORS = 64
_JOIN = 20  # classes that are compared while people are joined once with those of some levels
_MOST_PAIRS = 100_000_000  # of people and classes, before people are taken as kinds
_MOST_BITS = 2_000_000_000  # values by classes of a column that are kept: 250 MB

Bits = npt.NDArray[np.uint8]


def _levels(fits: Bools) -> Ints:
    """A level for each cell; no two cells of a level share a value, and small ones come first."""
    level_of = np.zeros(fits.shape[1], dtype=np.int64)
    packed = np.packbits(fits, axis=0)
    taken: list[int] = []  # values that lie in some cell of a level, a bit each
    for cell in np.argsort(fits.sum(axis=0), kind="stable").tolist():
        within = int.from_bytes(packed[:, cell].tobytes(), "big")
        level = next((at for at, used in enumerate(taken) if not used & within), len(taken))
        if level == len(taken):
            taken.append(0)
        taken[level] |= within
        level_of[cell] = level
    return level_of


def _joined(
    columns: Sequence[ColumnCells], classes: Ints, vectors: Ints, vector_of: Ints, people: Ints
) -> tuple[Ints, Ints]:
    """Pairs of people and classes that fit, by the one class on each combination of levels."""
    who: list[Ints] = []
    what: list[Ints] = []
    on_level = cache(lambda at, level: columns[at].on_level(level))
    for number, vector in enumerate(vectors.tolist()):
        members = np.flatnonzero(vector_of == number)
        outside = np.zeros(len(people), dtype=np.bool_)
        codes = []
        for at, level in enumerate(vector):
            cell = on_level(at, level)[people[:, at]]
            outside |= cell < 0
            codes.append(np.concatenate((classes[members, at], np.maximum(cell, 0))))
        keys, _ = _alike(codes)
        row_keys, keys = keys[: len(members)], keys[len(members) :]
        order = np.argsort(row_keys)
        place = np.searchsorted(row_keys[order], keys)
        place[place == len(order)] = 0
        hit = np.flatnonzero((row_keys[order][place] == keys) & ~outside)
        who.append(hit)
        what.append(members[order[place[hit]]])
    return np.concatenate(who), np.concatenate(what)


def _compared(
    columns: Sequence[ColumnCells], classes: Ints, people: Ints
) -> tuple[Ints, Ints, Ints]:
    """Kinds of people who fit the same classes, a bit a class.

    People are sorted, so that what their first columns leave is found once for all who share these.
    """
    tests = [_ClassBits(column, classes[:, at]) for at, column in enumerate(columns)]
    left: list[Bits] = [np.full((len(classes) + 7) // 8, 255, dtype=np.uint8)] * (len(columns) + 1)
    kinds: dict[bytes, int] = {}
    rows: list[npt.NDArray[np.int32]] = []  # half the memory of all pairs
    kind_of = np.empty(len(people), dtype=np.int64)
    before = [-1] * len(columns)
    for number, person in enumerate(people.tolist()):
        changed = next(at for at, value in enumerate(person) if value != before[at])
        for at in range(changed, len(person)):
            left[at + 1] = left[at] & tests[at].of(person[at])
        before = person
        fit = _ones(left[-1], len(classes))
        key = hashlib.blake2b(fit.tobytes(), digest_size=16).digest()
        if key not in kinds:
            kinds[key] = len(kinds)
            rows.append(fit)
        kind_of[number] = kinds[key]
    indptr = offsets(np.array([len(row) for row in rows], dtype=np.int64))
    return kind_of, indptr, np.concatenate(rows).astype(np.int64)


class _ClassBits:
    """Which classes values fit by one column, a bit a class."""

    def __init__(self, column: ColumnCells, cells: Ints) -> None:
        self._column = column
        self._cells, self._cell_of = np.unique(cells, return_inverse=True)
        # All are kept where they are small; else they are made anew.
        small = len(column.values) * len(cells) <= _MOST_BITS
        self._kept: dict[int, Bits] | None = {} if small else None

    def of(self, value: int) -> Bits:
        if self._kept is None:
            return self._made(value)
        if value not in self._kept:
            self._kept[value] = self._made(value)
        return self._kept[value]

    def _made(self, value: int) -> Bits:
        fit = self._column.between(np.array([value]), self._cells)[0]
        return np.packbits(fit[self._cell_of])


def _ones(bits: Bits, number: int) -> npt.NDArray[np.int32]:
    """Where bits are set, looking into those bytes only that have some."""
    some = np.flatnonzero(bits)
    byte, bit = np.nonzero(np.unpackbits(bits[some, None], axis=1))
    found = some[byte] * 8 + bit
    return found[found < number].astype(np.int32)


def _kinds(who: Ints, what: Ints, number: int) -> tuple[Ints, Ints, Ints]:
    """People who fit the same classes are of one kind, numbered by the first of them."""
    order = np.lexsort((what, who))
    who, what = who[order], what[order]
    rng = np.random.default_rng(12345)  # two hashes of 64 bits: equal by chance once in 10^38
    hashes = [np.zeros(number, dtype=np.uint64) for _ in range(2)]
    for one in hashes:
        of_class = rng.integers(0, 2**64, int(what.max(initial=0)) + 1, dtype=np.uint64)
        np.add.at(one, who, of_class[what])
    _, first, kind_of = np.unique(
        np.column_stack(hashes), axis=0, return_index=True, return_inverse=True
    )
    by_first = np.argsort(np.argsort(first))
    begins = offsets(np.bincount(who, minlength=number))
    first = np.sort(first)
    lengths = np.diff(begins)[first]
    take = np.repeat(begins[first] - offsets(lengths)[:-1], lengths) + np.arange(lengths.sum())
    return by_first[kind_of.ravel()], offsets(lengths), what[take]


def _alike(columns: Sequence[Ints]) -> tuple[Ints, Ints]:
    """A number for each different combination of codes, and where each is first.

    Numbers are made dense after every column, so that none grows beyond 64 bits.
    """
    numbers = np.zeros(len(columns[0]), dtype=np.int64)
    first = np.zeros(min(len(numbers), 1), dtype=np.int64)
    for column in columns:
        keys = numbers * (int(column.max(initial=0)) + 1) + column
        _, first, numbers = np.unique(keys, return_index=True, return_inverse=True)
    return numbers, first


def _cell_on_level(fits: Bools, level_of: Ints, level: int) -> Ints:
    """The cell of a level in which each value lies; -1 for none."""
    cells = np.flatnonzero(level_of == level)
    within = fits[:, cells]
    chosen = cells[within.argmax(axis=1)]
    return np.where(within.any(axis=1), chosen, -1)

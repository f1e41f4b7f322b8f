"""Classes of rows that are made equal one after another, and what that costs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.tables.reading.release import ColumnCells, Release, kinds_of_people
from anonymatch.tables.reading.released_cells import CellValues, wider
from anonymatch.tables.utility import cell_losses

__all__ = ["JoinedClasses"]

_ALL = 2000  # classes up to which each is compared with all others
_NEAR = 25  # else: with so many before and after it, in the order of each column
_HELD = 200_000_000  # bytes of what cells hold that are kept


class JoinedClasses:
    """Classes of a release, some of them joined and some left out.

    A class has the number that it has in the release; joined ones go by the number of one of them.
    """

    def __init__(self, release: Release) -> None:
        self.release = release
        self.sizes = release.class_sizes.copy()
        self.class_now = np.arange(len(self.sizes))  # the class that each has become; -1: left out
        self._columns = [_Cells(column) for column in release.columns]
        self._cells = np.column_stack(
            [column.cell_of[release.first_rows] for column in release.columns]
        )
        self._class_with = {tuple(cells): at for at, cells in enumerate(self._cells.tolist())}
        self._orders: list[Ints] = []

    # ---- what there is

    @property
    def n_rows(self) -> int:
        return int(self.sizes.sum())

    @property
    def n_cells(self) -> int:
        """Of the identifiers of the release, those of rows that are left out among them."""
        return self.release.n_rows * len(self._columns)

    @property
    def loss(self) -> float:
        """The share of values that cells leave open; rows that are left out say nothing."""
        there = self.sizes > 0
        kept = sum(
            float(column.losses[self._cells[there, at]] @ self.sizes[there])
            for at, column in enumerate(self._columns)
        )
        whole = self.release.n_rows
        return (kept / len(self._columns) + whole - self.n_rows) / whole

    @property
    def cell_pairs(self) -> int:
        """Pairs of cells that have been joined so far."""
        return sum(column.pairs for column in self._columns)

    def cells(self, class_: int) -> tuple[str, ...]:
        return tuple(
            column.texts[cell]
            for column, cell in zip(self._columns, self._cells[class_].tolist(), strict=True)
        )

    def rows(self) -> Ints:
        """Those of the release that are not left out."""
        return np.flatnonzero(self.class_now[self.release.class_of] >= 0)

    def joined_release(self) -> tuple[Release, Ints]:
        """The release as it is now, and for each of its classes the number it has here."""
        release, rows = self.release, self.rows()
        now = self.class_now[release.class_of[rows]]
        columns = [cells.column(self._cells[now, at]) for at, cells in enumerate(self._columns)]
        kinds, classes, indptr, indices = kinds_of_people(columns)
        # Values that only rows left out had are gone: distances between values forget them.
        used = {
            name: np.unique(codes[rows], return_inverse=True)
            for name, codes in release.sensitive.items()
        }
        made = replace(
            release,
            columns=tuple(columns),
            sensitive={name: codes.ravel().astype(np.int64) for name, (_, codes) in used.items()},
            sensitive_values={
                name: tuple(release.sensitive_values[name][one] for one in values.tolist())
                for name, (values, _) in used.items()
            },
            kind_of=kinds,
            class_of=classes,
            indptr=indptr,
            indices=indices,
        )
        return made, now[made.first_rows]

    # ---- changes

    def sort(self) -> None:
        """Put classes in order, so that near ones are found; when many have changed."""
        there = np.flatnonzero(self.sizes > 0)
        if len(there) <= _ALL:
            self._orders = [there]
            return
        ranks = [column.ranks()[self._cells[there, at]] for at, column in enumerate(self._columns)]
        self._orders = [
            there[np.lexsort([*ranks[at + 1 :], *ranks[:at], ranks[at]])]
            for at in range(len(ranks))
        ]

    def cheapest(self, class_: int) -> tuple[int, float] | None:
        """The class to join with this one at the least cost, in cells; None if there is none."""
        others = self._near(class_)
        if not len(others):
            return None
        sizes, own = self.sizes[others], int(self.sizes[class_])
        costs = np.zeros(len(others))
        for at, column in enumerate(self._columns):
            cell, cells = int(self._cells[class_, at]), self._cells[others, at]
            costs += column.joined_losses(cell, cells) * (sizes + own)
            costs -= column.losses[cells] * sizes + column.losses[cell] * own
        best = int(costs.argmin())
        return int(others[best]), float(costs[best])

    def _near(self, class_: int) -> Ints:
        if len(self._orders) == 1:
            others = self._orders[0]
        else:
            windows = []
            for order in self._orders:
                place = int(np.flatnonzero(order == class_)[0])
                windows.append(order[max(place - _NEAR, 0) : place + _NEAR + 1])
            others = np.unique(np.concatenate(windows))
        return np.asarray(others[(self.sizes[others] > 0) & (others != class_)], dtype=np.int64)

    def loss_of(self, class_: int) -> float:
        """Of the cells of a row."""
        cells = self._cells[class_].tolist()
        return sum(
            float(column.losses[cell]) for column, cell in zip(self._columns, cells, strict=True)
        )

    def join(self, one: int, other: int) -> int:
        """Make two classes equal; the class that they are then."""
        for each in (one, other):
            self._class_with.pop(tuple(self._cells[each].tolist()), None)
        for at, column in enumerate(self._columns):
            self._cells[one, at] = column.joined(
                int(self._cells[one, at]), int(self._cells[other, at])
            )
        self._move(other, one)
        equal = self._class_with.get(tuple(self._cells[one].tolist()))
        if equal is not None:  # a class that has these cells already
            self._move(one, equal)
            return equal
        self._class_with[tuple(self._cells[one].tolist())] = one
        return one

    def _move(self, one: int, to: int) -> None:
        self.class_now[self.class_now == one] = to
        self.sizes[to] += self.sizes[one]
        self.sizes[one] = 0

    def leave_out(self, class_: int) -> None:
        self._class_with.pop(tuple(self._cells[class_].tolist()), None)
        self.class_now[self.class_now == class_] = -1
        self.sizes[class_] = 0


class _Cells:
    """The cells of a column, those that joining makes among them, and what each leaves open."""

    def __init__(self, column: ColumnCells) -> None:
        self._column = column
        self.texts = list(column.cells)
        self._position = {text: at for at, text in enumerate(self.texts)}
        self.losses: Floats = cell_losses(column)
        self._values = CellValues(column.values)
        self._known = np.array([bool(value) for value in column.values])
        self._whole = max(int(self._known.sum()) - 1, 1)
        self._holds = lru_cache(max(_HELD // max(len(column.values), 1), 16))(self._held)
        self._joined: dict[tuple[int, int], int] = {}

    @property
    def pairs(self) -> int:
        return len(self._joined)

    def column(self, cell_of: Ints) -> ColumnCells:
        """The column with these cells by row."""
        used, codes = np.unique(cell_of, return_inverse=True)
        texts = [self.texts[one] for one in used.tolist()]
        plain = self._column.fits is None and int(used.max(initial=0)) < len(self._column.cells)
        fits = None if plain else np.column_stack([self._holds(one) for one in used.tolist()])
        return replace(
            self._column, cells=tuple(texts), cell_of=codes.ravel().astype(np.int64), fits=fits
        )

    def joined_losses(self, cell: int, cells: Ints) -> Floats:
        """Of a cell joined with others."""
        different, inverse = np.unique(cells, return_inverse=True)
        made = [self.joined(cell, other) for other in different.tolist()]
        return np.asarray(self.losses[made][inverse.ravel()], dtype=np.float64)

    def joined(self, one: int, other: int) -> int:
        """A cell that holds all values that lie in either; anything where no simple one does."""
        if one == other:
            return one
        key = (one, other) if one < other else (other, one)
        if key not in self._joined:
            self._joined[key] = self._join(*key)
        return self._joined[key]

    def _join(self, one: int, other: int) -> int:
        text = wider(self.texts[one], self.texts[other]) or ""
        made = self._number(text)
        if text and not (self._holds(made) | ~(self._holds(one) | self._holds(other))).all():
            return self._number("")
        return made

    def _number(self, text: str) -> int:
        if text not in self._position:
            self._position[text] = len(self.texts)
            self.texts.append(text)
            within = int(self._holds(len(self.texts) - 1)[self._known].sum())
            self.losses = np.append(self.losses, max(within - 1, 0) / self._whole)
        return self._position[text]

    def _held(self, cell: int) -> Bools:
        """Which values lie in a cell."""
        column = self._column
        if cell < len(column.cells):
            values = np.arange(len(column.values))
            return column.between(values, np.array([cell]))[:, 0]
        return self._values.within(self.texts[cell])

    def ranks(self) -> Ints:
        """The place of each cell in their order."""
        keys = [_order_key(text) for text in self.texts]
        ranks = np.empty(len(keys), dtype=np.int64)
        ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return ranks


@cache
def _order_key(text: str) -> tuple[float, str]:
    """By the first number in a cell, then by its text; those that say nothing come last."""
    number = re.search(r"\d+(?:\.\d+)?", text)
    return (float(number[0]) if number else np.inf, text)

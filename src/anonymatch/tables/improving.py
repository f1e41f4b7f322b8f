"""What to change in a release so that a notion reaches a target, at the least loss.

A step makes two classes of rows equal, by cells that hold what both hold, or leaves a class of rows
out. Greedy: the class that decides the notion is joined with the class with which that costs the
least. On small tables all ways to join classes are tried, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.running import Budget, check_work
from anonymatch.sources import (
    ColumnCells,
    Release,
    cells_fit,
    kinds_of_people,
    read_text_table,
    wider,
)
from anonymatch.tables.diversity import diversity
from anonymatch.tables.linking import link
from anonymatch.tables.notions import Notion, notions
from anonymatch.tables.utility import cell_losses, utility

__all__ = [
    "GeneraliseStep",
    "Generalised",
    "generalise",
    "parse_target",
    "write_generalised",
]

_ALL = 7  # classes of a table for which all ways to join them are tried: 877 of them


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneraliseStep:
    """Rows that become equal, or are left out, and what that does."""

    rows: int
    before: tuple[str, ...]
    after: tuple[str, ...] | None  # None: left out
    loss: float
    value: float | None

    def in_words(self, columns: Sequence[str]) -> str:
        """The change in a sentence."""
        if self.after is None:
            return f"leave out {plural(self.rows, 'row')} with {_named(columns, self.before)}"
        return (
            f"generalise {plural(self.rows, 'row')} from {_named(columns, self.before)} to "
            f"{_named(columns, self.after)}"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Generalised:
    """A release that reaches a target, and how.

    Attributes
    ----------
    key, target : str, float
    reached : bool
    value : float or None
        Of the notion at the end.
    steps : tuple of GeneraliseStep
    loss, loss_before : float
        The share of values that cells leave open, after and before.
    optimum : float or None
        The least loss of all ways to join classes; None where they are too many to try.
    left_out : tuple of int
        Rows that are left out, from 0.
    release : Release
    """

    key: str
    target: float
    reached: bool
    value: float | None
    steps: tuple[GeneraliseStep, ...] = field(repr=False)
    loss: float
    loss_before: float
    optimum: float | None
    left_out: tuple[int, ...] = field(repr=False)
    release: Release = field(repr=False)

    def cells(self) -> dict[str, list[str]]:
        """The identifiers of the changed release, by column, without the rows left out."""
        return {
            column.name: [column.cells[cell] or "*" for cell in column.cell_of.tolist()]
            for column in self.release.columns
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        names = [column.name for column in self.release.columns]
        return {
            "notion": self.key,
            "target": self.target,
            "reached": self.reached,
            "value": self.value,
            "loss": self.loss,
            "loss_before": self.loss_before,
            "optimum": self.optimum,
            "left_out": [row + 1 for row in self.left_out],
            "steps": [
                {"rows": step.rows, "loss": step.loss, "value": step.value}
                | {"before": list(step.before), "after": step.after and list(step.after)}
                | {"words": step.in_words(names)}
                for step in self.steps
            ],
        }


def generalise(
    release: Release, key: str, target: float, *, suppress: int = 0, budget: Budget
) -> Generalised:
    """Join classes of rows, or leave rows out, until a notion reaches a target.

    Parameters
    ----------
    release : Release
    key : str
        A notion: "k-anonymity", "global (1,k)", "l-diversity", "t-closeness" ...
    target : float
        At least so much, or of risks and closeness at most.
    suppress : int
        Rows that may be left out at most.
    budget : Budget
        Steps end with its seconds, whether or not the target is reached.
    """
    found = _greedy(release, key, target, suppress=suppress, budget=budget)
    if suppress and not found.reached:  # a row too few may be one too many
        without = _greedy(release, key, target, suppress=0, budget=budget)
        found = without if without.reached else found
    return replace(found, optimum=_optimum(release, key, target, budget))


def _greedy(
    release: Release, key: str, target: float, *, suppress: int, budget: Budget
) -> Generalised:
    state = _State(release, np.arange(release.n_rows), budget)
    state.notion(key)
    before = utility(release).loss
    steps: list[GeneraliseStep] = []
    deadline = time.process_time() + budget.seconds
    while not _reaches(state.notion(key), target) and time.process_time() < deadline:
        check_work()
        step = state.next(key, suppress - (release.n_rows - len(state.rows)))
        if step is None:
            break
        state, made = step
        value = state.notion(key).value
        steps.append(replace(made, value=value))
    last = state.notion(key)
    removed = set(range(release.n_rows)) - set(state.rows.tolist())
    return Generalised(
        key=key,
        target=target,
        reached=_reaches(last, target),
        value=last.value,
        steps=tuple(steps),
        loss=state.loss(release.n_rows),
        loss_before=before,
        optimum=None,
        left_out=tuple(sorted(removed)),
        release=state.release,
    )


def _reaches(notion: Notion, target: float) -> bool:
    if notion.value is None:
        return False
    return notion.value >= target if notion.better == "higher" else notion.value <= target + 1e-12


class _State:
    """A release on its way, and the numbers of its rows in the one that was given."""

    def __init__(self, release: Release, rows: Ints, budget: Budget) -> None:
        self.release, self.rows, self._budget = release, rows, budget
        self._notions: dict[str, Notion] | None = None

    def notion(self, key: str) -> Notion:
        if self._notions is None:
            release = self.release
            links = link(release, budget=self._budget)
            spread = [diversity(release, column) for column in release.sensitive]
            self._notions = notions(release, links, spread)
        if key not in self._notions:
            known = ", ".join(self._notions)
            raise InputError(f"there is no notion {key!r}; there are {known}")
        return self._notions[key]

    def loss(self, n_rows: int) -> float:
        """Rows that are left out say nothing."""
        kept = utility(self.release).loss * self.release.n_rows
        return (kept + n_rows - self.release.n_rows) / n_rows

    def next(self, key: str, suppress: int) -> tuple[_State, GeneraliseStep] | None:
        """Join the class that decides the notion with the best one for it, or leave it out."""
        release = self.release
        worst = self.notion(key).class_
        if worst is None and release.sensitive:
            worst = self.notion("l-diversity").class_  # recursive diversity begins at two values
        if worst is None or len(release.class_sizes) < 2:
            return None
        size = int(release.class_sizes[worst])
        whole = self.loss(release.n_rows)
        partner, cost = self._partner(worst)
        out = size * len(release.columns) - _class_loss(release, worst) * size
        if suppress >= size and out < cost:
            share = out / len(release.columns) / release.n_rows
            return self._without(worst), GeneraliseStep(
                rows=size, before=release.class_cells(worst), after=None, loss=share, value=None
            )
        joined, cells = self._joined(worst, partner)
        both = (worst, partner)
        changed = [one for one in both if release.class_cells(one) != cells] or list(both)
        smaller = min(changed, key=lambda one: release.class_sizes[one])
        step = GeneraliseStep(
            rows=sum(int(release.class_sizes[one]) for one in changed),
            before=release.class_cells(smaller),
            after=cells,
            loss=joined.loss(release.n_rows) - whole,
            value=None,
        )
        return joined, step

    def _partner(self, worst: int) -> tuple[int, float]:
        """The class with which joining costs the least, and what it costs in cells."""
        release = self.release
        sizes, costs = release.class_sizes, np.zeros(len(release.class_sizes))
        first = release.first_rows
        for column in release.columns:
            cells = column.cell_of[first]
            old = cell_losses(column)
            own = column.cells[cells[worst]]
            new = _losses(column, [_joined_cell(column, own, cell) for cell in column.cells])
            costs += new[cells] * (sizes + sizes[worst]) - old[cells] * sizes
            costs -= old[cells[worst]] * sizes[worst]
        costs[worst] = np.inf
        best = int(costs.argmin())
        return best, float(costs[best])

    def _joined(self, one: int, other: int) -> tuple[_State, tuple[str, ...]]:
        release = self.release
        changed = np.isin(release.class_of, (one, other))
        first = release.first_rows
        columns, cells = [], []
        for column in release.columns:
            pair = [column.cells[column.cell_of[first[each]]] for each in (one, other)]
            cell = _joined_cell(column, *pair)
            cells.append(cell)
            columns.append(_with_cell(column, cell, changed))
        return self._rebuilt(columns, self.rows), tuple(cells)

    def _without(self, class_: int) -> _State:
        kept = self.release.class_of != class_
        columns = [replace(column, cell_of=column.cell_of[kept]) for column in self.release.columns]
        return self._rebuilt(columns, self.rows[kept], kept)

    def _rebuilt(self, columns: list[ColumnCells], rows: Ints, kept: Bools | None = None) -> _State:
        release = self.release
        sensitive = {
            name: codes if kept is None else codes[kept]
            for name, codes in release.sensitive.items()
        }
        kinds, classes, indptr, indices = kinds_of_people(columns, release.n_people, len(rows))
        made = replace(
            release,
            columns=tuple(columns),
            sensitive=sensitive,
            kind_of=kinds,
            class_of=classes,
            indptr=indptr,
            indices=indices,
        )
        return _State(made, rows, self._budget)


def _class_loss(release: Release, class_: int) -> float:
    row = int(release.first_rows[class_])
    return sum(float(cell_losses(column)[column.cell_of[row]]) for column in release.columns)


def _joined_cell(column: ColumnCells, one: str, other: str) -> str:
    """A cell that holds all values that lie in either; anything where there is no simple one."""
    cell = wider(one, other)
    if not cell or cell == one == other:
        return cell or ""
    held = cells_fit(list(column.values), [cell])[:, 0]
    return cell if (held | ~_in_either(column, one, other)).all() else ""


def _in_either(column: ColumnCells, one: str, other: str) -> Bools:
    """Which values lie in one of two cells of the column."""
    if column.fits is None:
        every = not one or not other
        return np.array([every or value in (one, other) for value in column.values])
    positions = [column.cells.index(cell) for cell in (one, other)]
    return np.asarray(column.fits[:, positions].any(axis=1), dtype=np.bool_)


def _losses(column: ColumnCells, cells: list[str]) -> Floats:
    """Of cells that the column may not have yet."""
    different = list(dict.fromkeys(cells))
    made = replace(column, cells=tuple(different), fits=cells_fit(list(column.values), different))
    losses = dict(zip(different, cell_losses(made).tolist(), strict=True))
    return np.array([losses[cell] for cell in cells])


def _with_cell(column: ColumnCells, cell: str, changed: Bools) -> ColumnCells:
    """The column with this cell in the rows that changed."""
    cells = [*column.cells, *([] if cell in column.cells else [cell])]
    cell_of = np.where(changed, cells.index(cell), column.cell_of)
    used, codes = np.unique(cell_of, return_inverse=True)
    kept = tuple(cells[one] for one in used.tolist())
    values = column.values
    if column.fits is None:
        position = {value: at for at, value in enumerate(values)}
        spelled = np.array([column.cells[code] if code < len(column.cells) else None
                            for code in range(len(column.cells) + 1)], dtype=object)  # fmt: skip
        others = next((at for at, value in enumerate(values) if value not in column.cells), None)
        value_of = np.array(
            [position.get(spelled[code], others) for code in range(len(spelled))], dtype=object
        )[column.value_of].astype(np.int64)
    else:
        value_of = column.value_of
    fits = np.column_stack(
        [
            column.fits[:, column.cells.index(one)]
            if column.fits is not None and one in column.cells
            else cells_fit(list(values), [one])[:, 0]
            for one in kept
        ]
    )
    return ColumnCells(
        name=column.name,
        values=values,
        cells=kept,
        value_of=value_of,
        cell_of=codes.astype(np.int64),
        fits=fits,
    )


# ---- all ways, of small tables


def _optimum(release: Release, key: str, target: float, budget: Budget) -> float | None:
    """The least loss of all ways to join classes that reach the target."""
    if len(release.class_sizes) > _ALL:
        return None
    best = None
    deadline = time.process_time() + budget.seconds
    for groups in _partitions(len(release.class_sizes)):
        check_work()
        if time.process_time() > deadline:
            return None
        state = _State(release, np.arange(release.n_rows), budget)
        for group in groups:
            state = _merged(state, release, group)
        loss = state.loss(release.n_rows)
        if (best is None or loss < best) and _reaches(state.notion(key), target):
            best = loss
    return best


def _merged(state: _State, release: Release, group: list[int]) -> _State:
    """All classes of a group made equal."""
    rows = release.first_rows
    for other in group[1:]:
        one = int(state.release.class_of[rows[group[0]]])
        two = int(state.release.class_of[rows[other]])
        if one != two:
            state = state._joined(one, two)[0]
    return state


def _partitions(number: int) -> Iterator[list[list[int]]]:
    """All ways to put numbers into groups."""
    if not number:
        yield []
        return
    for groups in _partitions(number - 1):
        for at in range(len(groups)):
            yield [*groups[:at], [*groups[at], number - 1], *groups[at + 1 :]]
        yield [*groups, [number - 1]]


def _named(columns: Sequence[str], cells: Sequence[str]) -> str:
    return ", ".join(f"{column} {cell or '*'}" for column, cell in zip(columns, cells, strict=True))


# ---- from and to files


def parse_target(text: str) -> tuple[str, float]:
    """A notion and its value from text such as ``k-anonymity=5``.

    Examples
    --------
    >>> parse_target("k-anonymity=5"), parse_target("t-closeness=0.3")
    (('k-anonymity', 5.0), ('t-closeness', 0.3))
    """
    key, equals, value = text.rpartition("=")
    try:
        number = float(value)
    except ValueError:
        number = np.nan
    if not equals or not np.isfinite(number):
        raise InputError(f"the target {text!r} is no NOTION=N, such as k-anonymity=5")
    return {"k": "k-anonymity"}.get(key.strip(), key.strip()), number


def write_generalised(
    found: Generalised, released: str | PathLike[str], path: str | PathLike[str]
) -> None:
    """The released table with its changed cells, without the rows left out, as CSV."""
    if as_path(path).suffix.lower() != ".csv":
        raise InputError(f"{path}: a changed table is written as .csv")
    import polars as pl

    frame = read_text_table(released)
    kept = np.setdiff1d(np.arange(frame.height), np.array(found.left_out, dtype=np.int64))
    frame = frame[kept.tolist()]
    frame = frame.with_columns(
        pl.Series(name, cells, dtype=pl.String) for name, cells in found.cells().items()
    )
    with unfinished(as_path(path)) as beside:
        frame.write_csv(beside)

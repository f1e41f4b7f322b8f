"""Tables of a page: cells as text, numbers to the right, and no more rows than are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural, shown

__all__ = ["Cell", "HtmlTable", "table"]

_ROWS = 200
_SHORT = 24  # characters that stay on one line
_NUMBER = re.compile(r"-?\d+/[1-9]\d*|-?(?![01]+$)[1-9]\d{15,300}")  # but no row of bits


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as text, and whether it is a number."""

    text: str
    number: bool

    @property
    def style(self) -> str:
        """Its classes: to the right, and on one line."""
        names = ["number"] if self.number else ["short"] if len(self.text) <= _SHORT else []
        return " ".join(names)


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """Heads, rows, and a sentence if there are more rows than these."""

    heads: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    left_out: str


def table(columns: Sequence[object], rows: Iterable[Sequence[Any]]) -> HtmlTable:
    """A table of the first two hundred rows.

    Examples
    --------
    >>> numbers = table(["n", "kind"], [(4, "crown"), (5, "complete")])
    >>> [[cell.text for cell in row] for row in numbers.rows], numbers.heads[0].number
    ([['4', 'crown'], ['5', 'complete']], True)
    """
    given = [tuple(row) for row in rows]
    for number, row in enumerate(given):
        if len(row) != len(columns):
            raise InputError(
                f"row {number} of the table has {plural(len(row), 'value')}, "
                f"but there are {plural(len(columns), 'column')}"
            )
    cells = tuple(tuple(_cell(value) for value in row) for row in given[:_ROWS])
    heads = tuple(
        Cell(str(name), bool(cells) and all(row[column].number for row in cells))
        for column, name in enumerate(columns)
    )
    more = len(given) - len(cells)
    return HtmlTable(heads, cells, f"and {plural(more, 'more row')}" if more else "")


def _cell(value: object) -> Cell:
    """Fractions and large numbers come as text where data must fit JSON."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = Fraction(value)
    number = value is None or isinstance(value, int | float | Fraction)
    return Cell(shown(value), number and not isinstance(value, bool))

"""The model of every report: plain data that the terminal, pages, gates and the studio read.

A problem words its result once, as a :class:`Report`. Renderers know this module and no problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

from anonymatch.base import numbers
from anonymatch.base.interval import Interval

__all__ = [
    "AMOUNT",
    "BITS",
    "COUNT",
    "PLACES",
    "SECONDS",
    "SHARE",
    "Basis",
    "Better",
    "Candidates",
    "Cell",
    "Chart",
    "Column",
    "Figure",
    "Matrix",
    "Note",
    "Prominence",
    "Provenance",
    "Report",
    "Section",
    "Table",
    "Unit",
]

UNKNOWN = "–"
"""Printed in place of a value that is not known."""


class Better(Enum):
    """Direction in which a figure improves."""

    HIGHER = "higher"
    LOWER = "lower"
    NEITHER = ""


class Prominence(Enum):
    """Where an entry appears: pages and the terminal show main entries."""

    HEADLINE = 0  # in the headline already: cards on pages, no line on the terminal
    MAIN = 1
    DETAIL = 2  # pages only
    BRIEF = 3  # terminal only: pages show the same in other words


@dataclass(frozen=True, slots=True)
class Unit:
    """How numbers of one quantity are written; ``name`` follows the number."""

    name: str = ""
    write: Callable[[float], str] = numbers.amount

    def text(self, value: float) -> str:
        return f"{self.write(value)} {self.name}".rstrip()

    def span(self, value: Interval) -> str:
        """Return the value if its ends read the same, else both ends.

        Examples
        --------
        >>> SECONDS.span(Interval(2, 1.5, 2.5)), SHARE.span(Interval(0.5, 0.5, 0.5))
        ('1.5 to 2.5 s', '50 %')
        """
        ends = numbers.span(value.value, value.low, value.high, self.write)
        return f"{ends} {self.name}".rstrip()


AMOUNT = Unit()
COUNT = Unit(write=lambda value: numbers.shown(round(value)))
PLACES = Unit(write=lambda value: numbers.amount(float(f"{value:.3g}")))
"""Numbers in three significant digits."""
BITS = Unit("bits", PLACES.write)
SECONDS = Unit("s")
SHARE = Unit(write=numbers.percent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Basis:
    """What a figure rests on.

    ``confidence`` is 1 for exact and proven figures, ``seed`` belongs to estimates, and ``error``
    is one standard error of the sampled traffic.
    """

    confidence: float = 1.0
    seed: int | None = None
    error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of a result, with everything that a renderer or a gate needs of it.

    Attributes
    ----------
    key : str
        JSON key and name of the threshold.
    title, meaning : str
    value : Interval or None
    unit : Unit
    better : Better
    prominence : Prominence
    basis : Basis
    group : str
        Heading of its cards on a page.
    shown : str
        The value in words, in place of the number with its unit.
    sure : str
        How sure it is; empty if it is exact.
    unknown : str
        Why there is no value.
    doubt : str
        Why a threshold that is not clearly missed cannot be judged.
    short : str
        What limits a value without upper end; ``{threshold}`` is replaced in gates.
    """

    key: str
    title: str
    value: Interval | None = None
    unit: Unit = AMOUNT
    meaning: str = ""
    better: Better = Better.NEITHER
    prominence: Prominence = Prominence.MAIN
    basis: Basis = Basis()
    group: str = ""
    shown: str = ""
    sure: str = ""
    unknown: str = ""
    doubt: str = ""
    short: str = ""

    @property
    def text(self) -> str:
        """The value as people read it.

        Examples
        --------
        >>> Figure(key="entropy", title="Entropy", value=Interval(3, 3, 3), unit=BITS).text
        '3 bits'
        """
        if self.shown:
            return self.shown
        return (self.unknown or "not known") if self.value is None else self.unit.span(self.value)

    def to_dict(self) -> dict[str, float | None] | None:
        """Return the value and its ends; None for infinite ends, and if nothing is known."""
        if self.value is None:
            return None
        ends = {"value": self.value.value, "low": self.value.low, "high": self.value.high}
        return {name: end if math.isfinite(end) else None for name, end in ends.items()}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: text without a unit, numbers with one; only pages show a ``detail``."""

    title: str
    unit: Unit | None = None
    detail: bool = False

    def text(self, value: Cell, *, ends: bool = False) -> str:
        """Return a cell as text; with ``ends`` an interval shows its ends as well.

        Examples
        --------
        >>> Column("bits", PLACES).text(Interval(2, 1.5, 2.5), ends=True)
        '2 (1.5 to 2.5)'
        """
        if value is None:
            return UNKNOWN
        if self.unit is None or isinstance(value, str):
            return str(value)
        if not isinstance(value, Interval):
            return self.unit.text(value)
        middle = self.unit.text(value.value)
        span = self.unit.span(value) if ends else middle
        return middle if span == middle else f"{middle} ({span})"


Cell: TypeAlias = str | float | Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells.

    Attributes
    ----------
    key, title, section : str
    columns : sequence of Column
    rows : sequence of sequences of Cell
    noun, nouns : str
        What a row is, in the line on rows that are not shown; the plural if it is irregular.
    total : int
        Number of rows if not all are here; 0 otherwise.
    brief : sequence of int
        Rows that the terminal shows; empty if it shows the first ones.
    advice : str
        How to see all rows, after the line on rows that are not shown.
    caption : str
        What pages print above the table.
    sortable : bool
        Whether pages let readers sort and search it.
    linked : tuple of str and int, or None
        Chart whose selected range filters the rows of a sortable table, and the column.
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    section: str = ""
    noun: str = "row"
    nouns: str = ""
    total: int = 0
    brief: Sequence[int] = ()
    advice: str = ""
    caption: str = ""
    sortable: bool = False
    linked: tuple[str, int] | None = None
    prominence: Prominence = Prominence.MAIN

    def left_out(self, shown: int) -> str:
        """Return the number of rows that are not shown, in words; empty if there are none."""
        more = max(self.total, len(self.rows)) - shown
        several = f"more {self.nouns or self.noun + 's'}"
        return numbers.plural(more, f"more {self.noun}", several) if more > 0 else ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """Probabilities by row and column, for renderers that can draw."""

    title: str
    values: Any
    rows: Sequence[object]
    columns: Sequence[object]
    marked: Any = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """A graph of candidates, for renderers that can draw; ``certain`` pairs are marked."""

    title: str
    graph: Any
    certain: Sequence[tuple[object, object]] = ()
    names: tuple[str, str] = ("users", "behaviours")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A chart that is drawn on demand: Vega-Altair, a :class:`Matrix` or :class:`Candidates`.

    A chart with ``file`` is written by ``--figures`` under its key. Without a caption, pages
    print the description of the picture.
    """

    key: str
    draw: Callable[[], Any]
    caption: str = ""
    hint: str = ""
    section: str = ""
    file: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence in a section; without a section it is a remark about the input."""

    text: str
    section: str = ""
    prominence: Prominence = Prominence.MAIN
    bullets: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: its anchor and its title."""

    key: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How a result was computed: sentences for the terminal, and facts by name for pages."""

    sentences: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    caveats: Sequence[str] = ()
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a result says, in the words of its problem.

    Attributes
    ----------
    title, subject : str
        Heading of a page, and the size of the input.
    attacker : str
        What the attacker sees and assumes.
    headline : sequence of str
        At most two sentences.
    figures, tables, charts, notes, sections
        In the order in which they are shown; sections without entries are left out.
    provenance : Provenance
    """

    title: str
    subject: str = ""
    attacker: str = ""
    headline: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart] = ()
    notes: Sequence[Note] = ()
    sections: Sequence[Section] = ()
    provenance: Provenance = Provenance()

    def lines(self) -> list[tuple[str, str, str]]:
        """Return title, value and meaning of each main figure."""
        shown = (Prominence.MAIN, Prominence.BRIEF)
        main = (each for each in self.figures if each.prominence in shown)
        return [(each.title, each.text, each.meaning) for each in main]

    def figure(self, key: str) -> Figure:
        return next(each for each in self.figures if each.key == key)

    def table(self, key: str) -> Table:
        return next(each for each in self.tables if each.key == key)

    def drawings(self) -> dict[str, Callable[[], Any]]:
        """Return what draws each chart that can be a file, by key."""
        return {chart.key: chart.draw for chart in self.charts if chart.file}

    def to_dict(self) -> dict[str, Any]:
        """Return the headline, and each figure by its key."""
        return {
            "title": self.title,
            "attacker": self.attacker,
            "headline": " ".join(filter(None, self.headline)),
            "figures": {each.key: each.to_dict() for each in self.figures},
            "notes": [note.text for note in self.notes if not note.section],
        }

    def run_by(self, command: str | None) -> Report:
        """Return the same report with the command that made it."""
        return replace(self, provenance=replace(self.provenance, command=command))

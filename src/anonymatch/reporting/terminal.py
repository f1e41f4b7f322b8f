"""Any report on the terminal, and the elements of other screens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from anonymatch.base.text import Argument, Message, as_option, name
from anonymatch.reporting.gates import Judged
from anonymatch.reporting.report import Note, Prominence, Report, Table

__all__ = [
    "Line",
    "bullets",
    "columns",
    "figures",
    "heading",
    "indented",
    "paragraph",
    "report_screen",
]

Line = tuple[str, str, str]
"""A figure: its name, its value, its meaning."""


def report_screen(
    report: Report,
    *,
    title: str = "",
    gates: Sequence[Judged] = (),
    top: int = 10,
    say: Callable[[Argument], str] = as_option,
) -> list[RenderableType]:
    """Return a whole report: headline, gates, figures, tables, notes, attacker, provenance.

    Parameters
    ----------
    title : str, default the title of the report
    top : int, default 10
        Rows of each table; 0 for all.
    say : callable
        Words an argument that a note names.

    Examples
    --------
    >>> from rich.console import Console
    >>> Console().print(*report_screen(Report(title="Audit", headline=["Nobody is identified."])))
    Audit
    <BLANKLINE>
      Nobody is identified.
    """
    subject = f": {report.subject}" if report.subject else ""
    screen = [heading(name(f"{title or report.title}{subject}"))]
    if headline := " ".join(filter(None, report.headline)):
        screen.append(paragraph(headline))
    if report.attacker:
        screen.append(paragraph(report.attacker))
    if gates:
        screen.append(bullets("Thresholds:", [gate.text for gate in gates]))
    if lines := report.lines():
        screen.append(figures(lines))
    for key in (*(section.key for section in report.sections), ""):
        screen += _section(report, key, top, say)
    return screen + [paragraph(text) for text in report.provenance.sentences if text]


def _section(
    report: Report, key: str, top: int, say: Callable[[Argument], str]
) -> list[RenderableType]:
    screen: list[RenderableType] = []
    for table in report.tables:
        if table.section == key and table.prominence is not Prominence.DETAIL:
            screen += _table(table, top)
    for note in report.notes:
        if note.section == key and note.prominence is not Prominence.DETAIL:
            screen.append(_note(note, say))
    return screen


def _note(note: Note, say: Callable[[Argument], str]) -> RenderableType:
    text = Message(note.text).worded(say)
    if note.bullets:
        return bullets(text, note.bullets)
    return paragraph(text if note.section else f"Note: {text}")


def _table(table: Table, top: int) -> list[RenderableType]:
    shown = [k for k, column in enumerate(table.columns) if not column.detail]
    left = [table.columns[k].title for k in shown if table.columns[k].unit is None]
    grid = columns(*left, right=[table.columns[k].title for k in shown if table.columns[k].unit])
    order = sorted(shown, key=lambda k: table.columns[k].unit is not None)
    rows = list(table.brief) or range(len(table.rows) if top == 0 else min(top, len(table.rows)))
    for at in rows:
        grid.add_row(*(Text(table.columns[k].text(table.rows[at][k])) for k in order))
    screen = [paragraph(f"{table.title}:")] if table.title else []
    screen.append(indented(grid))
    more = "" if table.brief else table.left_out(len(rows))
    if more:
        advice = f"; {table.advice}" if table.advice else ""
        screen.append(paragraph(f"... and {more}{advice}."))
    return screen


# ---- elements


def heading(text: str) -> RenderableType:
    """The first line of a screen."""
    return Text(text, style="bold")


def figures(lines: Sequence[Line]) -> RenderableType:
    """Figures below each other: name, value, meaning."""
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", style="bold cyan", max_width=32)
    grid.add_column(overflow="fold", style="dim")
    for line in lines:
        grid.add_row(*(Text(part) for part in line))
    return Padding(grid, (1, 0, 0, 2))


def paragraph(text: str) -> RenderableType:
    """Words below the figures."""
    return Padding(Text(text), (1, 0, 0, 2))


def indented(part: RenderableType) -> RenderableType:
    """A table below a paragraph."""
    return Padding(part, (1, 0, 0, 2))


def bullets(title: str, lines: Sequence[str]) -> RenderableType:
    """A list under its title."""
    grid = Grid.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")
    for line in lines:
        grid.add_row("-", Text(line))
    return Padding(Group(Text(title), grid), (1, 0, 0, 2))


def columns(*left: str, right: Sequence[str] = ()) -> Grid:
    """A table without lines: names to the left, numbers to the right."""
    table = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in left:
        table.add_column(column, overflow="fold", min_width=min(len(column), 12))
    for column in right:
        table.add_column(column, justify="right", no_wrap=True)
    return table

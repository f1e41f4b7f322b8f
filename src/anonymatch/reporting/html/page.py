"""Any report as one page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence

from anonymatch._native import version
from anonymatch.base.numbers import plural
from anonymatch.reporting import report as model
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.drawings.matrices import profile_matrix
from anonymatch.reporting.drawings.svg import Picture
from anonymatch.reporting.gates import Gate
from anonymatch.reporting.html.document import (
    Panel,
    Section,
    document,
    panel_section,
    render,
    script,
    style,
    with_hint,
    write_html,
)
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.verdicts import verdict
from anonymatch.reporting.report import Matrix, Prominence, Report, Table

__all__ = ["drawn_matrix", "report_html", "report_section", "report_sections", "write_report_html"]

_ROWS = 200  # of a table


def report_html(report: Report, *, gates: Sequence[Gate] = ()) -> str:
    """Return a report as HTML.

    Examples
    --------
    >>> "<h1>A &amp; B</h1>" in report_html(Report(title="A & B", headline=["Fine."]))
    True
    """
    sections = report_sections(report, gates=gates)
    lead = f"{report.subject[:1].upper()}{report.subject[1:]}." if report.subject else ""
    return document(report.title, lead=lead, sections=sections, script=script())


def write_report_html(
    report: Report, path: str | os.PathLike[str], *, gates: Sequence[Gate] = ()
) -> None:
    """Write the page: all of it, or nothing and an InputError."""
    write_html(report_html(report, gates=gates), path)


def report_sections(report: Report, *, gates: Sequence[Gate] = ()) -> tuple[Section, ...]:
    """Return the sections of that page: the verdict, those of the report, and the method."""
    own = (report_section(report, section.key) for section in report.sections)
    return (_verdict(report, gates), *filter(None, own), _method(report))


def drawn_matrix(matrix: Matrix) -> Picture:
    """Return a matrix of probabilities as a picture."""
    return profile_matrix(
        matrix.values, matrix.rows, matrix.columns, title=matrix.title, truth=matrix.marked
    )


def _verdict(report: Report, gates: Sequence[Gate]) -> Section:
    cards = [each for each in report.figures if each.value is not None or each.shown]
    body = render(
        "report_verdict.html",
        headline=[*filter(None, report.headline)],
        attacker=report.attacker,
        gates=[(gate, verdict(_shade(gate))) for gate in gates],
        figures=cards,
    )
    return Section("verdict", "Verdict", body, style=style())


def _shade(gate: Gate) -> str:
    """Return the verdict with the right icon: a tick, a cross, or a half if it is open."""
    if gate.passed:
        return "holds"
    return "fails" if gate.missed else "holds under a condition"


def report_section(report: Report, key: str) -> Section | None:
    """Return one section of a report; None if it has no entries."""
    section = next(each for each in report.sections if each.key == key)
    notes = [note for note in report.notes if note.section == section.key]
    charts = [chart for chart in report.charts if chart.section == section.key]
    tables = [table for table in report.tables if table.section == section.key]
    if not (notes or charts or tables):
        return None
    before = [text for note in notes for text in (note.text, *note.bullets)]
    panels = [_panel(chart) for chart in charts]
    named = [(table.title or section.title, _table(table)) for table in tables]
    return panel_section(section.key, section.title, panels, before=before, tables=named)


def _panel(chart: model.Chart) -> Panel:
    made = chart.draw()
    picture = drawn_matrix(made) if isinstance(made, Matrix) else embedded(made, chart.key)
    caption = with_hint(chart.caption, chart.hint) if chart.hint else chart.caption
    return Panel(picture, caption)


def _table(table: Table) -> HtmlTable:
    heads = tuple(Cell(column.title, column.unit is not None) for column in table.columns)
    rows = tuple(
        tuple(
            Cell(column.text(value, ends=True), column.unit is not None)
            for column, value in zip(table.columns, row, strict=True)
        )
        for row in table.rows[:_ROWS]
    )
    more = table.left_out(len(rows))
    return HtmlTable(heads, rows, f"and {plural(more, f'more {table.noun}')}" if more else "")


def _method(report: Report) -> Section:
    made = report.provenance
    remarks = [
        note.text
        for note in report.notes
        if not note.section and note.prominence is not Prominence.HEADLINE
    ]
    body = render(
        "audit_method.html",
        caveats=made.caveats,
        notes=remarks,
        facts=[*made.facts, ("made by", f"anonymatch {version}")],
        command=made.command,
    )
    return Section("about", "Caveats and method" if made.caveats else "Method", body)

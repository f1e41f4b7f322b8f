"""Any report as one page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from anonymatch._native import version
from anonymatch.reporting import report as model
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.drawings.matrices import density, heat, matrix, profile_matrix
from anonymatch.reporting.drawings.svg import LARGEST, Picture
from anonymatch.reporting.gates import Judged
from anonymatch.reporting.html.document import (
    Panel,
    Section,
    document,
    render,
    script,
    style,
    with_hint,
    write_html,
)
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.verdicts import verdict
from anonymatch.reporting.report import Candidates, Figure, Matrix, Prominence, Report, Table

__all__ = ["drawn_matrix", "report_html", "report_section", "report_sections", "write_report_html"]

_ROWS = 200  # of a table
_DRAWN = 1000  # edges; the picture of more is one of shares


def report_html(report: Report, *, gates: Sequence[Judged] = ()) -> str:
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
    report: Report, path: str | os.PathLike[str], *, gates: Sequence[Judged] = ()
) -> None:
    """Write the page: all of it, or nothing and an InputError."""
    write_html(report_html(report, gates=gates), path)


def report_sections(report: Report, *, gates: Sequence[Judged] = ()) -> tuple[Section, ...]:
    """Return the sections of that page: the verdict, figures, those of the report, the method."""
    own = (report_section(report, section.key) for section in report.sections)
    made = (_verdict(report, gates), _figures(report), *own, _method(report))
    return tuple(section for section in made if section is not None)


def drawn_matrix(matrix: Matrix) -> Picture:
    """Return a matrix of probabilities as a picture."""
    values = np.asarray(matrix.values)
    return profile_matrix(
        values, matrix.rows, matrix.columns, title=matrix.title, truth=matrix.marked
    )


def _verdict(report: Report, gates: Sequence[Judged]) -> Section:
    body = render(
        "report_verdict.html",
        headline=[*filter(None, report.headline)],
        attacker=report.attacker,
        gates=[(gate, verdict(_shade(gate))) for gate in gates],
    )
    return Section("verdict", "Verdict", body, style=style())


def _shade(gate: Judged) -> str:
    """Return the verdict with the right icon: a tick, a cross, or a half if it is open."""
    if gate.passed:
        return "holds"
    return "fails" if gate.missed else "holds under a condition"


def _figures(report: Report) -> Section | None:
    """Return the figures as cards, by groups."""
    groups: dict[str, list[Figure]] = {}
    for figure in report.figures:
        if figure.prominence is not Prominence.BRIEF and (figure.value is not None or figure.shown):
            groups.setdefault(figure.group, []).append(figure)
    if not groups:
        return None
    before = [note.text for note in report.notes if note.section == "figures"]
    return Section(
        "figures", "Key figures", render("report_figures.html", before=before, groups=groups)
    )


def report_section(report: Report, key: str) -> Section | None:
    """Return one section of a report; None if it has no entries."""
    section = next(each for each in report.sections if each.key == key)
    notes = [
        note
        for note in report.notes
        if note.section == key and note.prominence is not Prominence.BRIEF
    ]
    charts = [chart for chart in report.charts if chart.section == key]
    tables = [
        table
        for table in report.tables
        if table.section == key and table.prominence is not Prominence.BRIEF
    ]
    if not (notes or charts or tables):
        return None
    entries = [(f"every-{table.key}", table.title) for table in tables if table.sortable]
    body = render(
        "report_section.html",
        before=[text for note in notes for text in (note.text, *note.bullets)],
        items=[_panel(chart) for chart in charts],
        tables=[(table, table.title or section.title, _table(table)) for table in tables],
    )
    return Section(key, section.title, body, tuple(entries))


def _panel(chart: model.Chart) -> Panel:
    made = chart.draw()
    if isinstance(made, Matrix | Candidates):
        picture = drawn_matrix(made) if isinstance(made, Matrix) else _drawn_graph(made)
        return Panel(picture, chart.caption or picture.words)
    caption = with_hint(chart.caption, chart.hint) if chart.hint else chart.caption
    return Panel(embedded(made, chart.key), caption)


def _drawn_graph(candidates: Candidates) -> Picture:
    """Return cells for few users, blocks for few edges, shades for any number."""
    graph, title = candidates.graph, candidates.title
    if max(graph.n_users, graph.n_behaviours) <= LARGEST:
        return matrix(graph, title=title, edges=candidates.certain)
    if graph.n_edges <= _DRAWN:
        return heat(graph, title=title)
    return density(graph, title=title, names=candidates.names)


def _table(table: Table) -> HtmlTable:
    heads = tuple(Cell(column.title, column.unit is not None) for column in table.columns)
    rows = tuple(
        tuple(
            Cell(column.text(value, ends=True), column.unit is not None)
            for column, value in zip(table.columns, row, strict=True)
        )
        for row in (table.rows if table.sortable else table.rows[:_ROWS])
    )
    more = "" if table.sortable else table.left_out(len(rows))
    return HtmlTable(heads, rows, f"and {more}" if more else "")


def _method(report: Report) -> Section:
    made = report.provenance
    body = render(
        "audit_method.html",
        caveats=made.caveats,
        notes=[note.text for note in report.notes if not note.section],
        facts=[*made.facts, ("made by", f"anonymatch {version}")],
        command=made.command,
    )
    return Section("about", "Caveats and method" if made.caveats else "Method", body)

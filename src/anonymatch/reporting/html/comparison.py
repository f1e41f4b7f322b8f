"""Several audits side by side, and which differences are real."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch._native import version
from anonymatch.audits import (
    FIGURES,
    Audit,
    ComparedFigure,
    Comparison,
    FigureText,
    comparison_charts,
    confidence_of,
    figure_text,
    sureness,
)
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import shown
from anonymatch.base.text import label
from anonymatch.reporting.charts import GROUPS, embedded
from anonymatch.reporting.html.document import (
    Panel,
    Section,
    document,
    panel_section,
    render,
    script,
    style,
)
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import number_cell

__all__ = ["comparison_html"]

_CAPTIONS = {
    "cost": "Up is more anonymous, left is cheaper; larger points send more packets a message.",
    "difference": "Bits more or less than the first: a difference is sure where its line does not "
    "touch 0.",
    "spread": "The further right a line, the better; where it begins are the worst off.",
}
_BETTER = {"higher": "more is better", "lower": "less is better"}


def comparison_html(comparison: Comparison, *, command: str | None = None) -> str:
    """Two to six audits: key figures side by side, with bars and the intervals that hold them.

    Parameters
    ----------
    comparison : Comparison
        As :func:`anonymatch.audits.comparing.compare` returns it.
    command : str, optional
        What was run, so that it can be run again.

    Returns
    -------
    str
        HTML; :func:`anonymatch.reporting.html.document.write_html` saves it.

    Examples
    --------
    >>> import anonymatch as am
    >>> from anonymatch.audits.comparing import compare
    >>> pair = compare([am.audit(am.partition([2, 2])), am.audit(am.ring(4, 2))], ["2+2", "ring"])
    >>> "2+2 has more joint bits per user: 0.5 against 0.25." in comparison_html(pair)
    True
    """
    number = len(comparison.audits)
    if number > GROUPS:
        raise InputError(f"at most {GROUPS} audits fit beside each other, not {number}; leave some")
    sections = (
        _verdict(comparison),
        _table(comparison),
        _charts(comparison),
        _audits(comparison),
        _about(comparison, command),
    )
    return document(
        f"{shown(number)} audits compared",
        lead="; ".join(
            f"{label(name, 60)}: {audit.observation.source}"
            f"{f', the attacker {audit.attacker}' if audit.attacker else ''}"
            for name, audit in zip(comparison.names, comparison.audits, strict=True)
        ),
        sections=sections,
        script=script(),
    )


def _verdict(comparison: Comparison) -> Section:
    body = render("audit_verdict.html", verdict=comparison.verdict, gates=())
    return Section("verdict", "Verdict", body, style=style())


@dataclass(frozen=True, slots=True)
class _Line:
    """A row as the table shows it."""

    title: str
    meaning: str
    better: str
    figures: list[FigureText]
    judgement: str


def _table(comparison: Comparison) -> Section:
    rows = [
        _Line(
            row.title,
            row.meaning,
            _BETTER.get(row.better, ""),
            _figures(comparison, row),
            row.judgement or "–",
        )
        for row in comparison.rows
    ]
    body = render(
        "comparison_figures.html",
        lead="A difference is called out only where the intervals do not overlap.",
        names=[label(name) for name in comparison.names],
        rows=rows,
    )
    return Section("figures", "Key figures", body)


def _charts(comparison: Comparison) -> Section:
    charts = comparison_charts(comparison)
    panels = [
        Panel(embedded(charts[name](), name), caption)
        for name, caption in _CAPTIONS.items()
        if name in charts
    ]
    meaning = "Lines across points are the intervals that hold the figures."
    return panel_section("charts", "As pictures", panels, before=[meaning])


def _figures(comparison: Comparison, row: ComparedFigure) -> list[FigureText]:
    return [
        _figure(audit, row, figure)
        for audit, figure in zip(comparison.audits, row.figures, strict=True)
    ]


def _figure(audit: Audit, row: ComparedFigure, figure: Interval | None) -> FigureText:
    if figure is None:
        return FigureText("–", "not known")
    known = FIGURES[row.name]
    # The title of a row has its unit; a time is written with the larger one too.
    unit = known.unit if known.unit in ("share", "seconds") else ""
    return figure_text(figure, unit, confidence=confidence_of(audit, known), seed=audit.seed)


def _audits(comparison: Comparison) -> Section:
    heads = ("name", "from", "messages or users", "verdict", "figures", "seconds")
    rows = tuple(
        (
            Cell(label(name, 60), False),
            Cell(audit.observation.source, False),
            number_cell(shown(audit.n_users)),
            Cell(audit.verdict, False),
            Cell(_sure(audit), False),
            number_cell(f"{audit.seconds:.3g}"),
        )
        for name, audit in zip(comparison.names, comparison.audits, strict=True)
    )
    cells = tuple(Cell(name, name in ("messages or users", "seconds")) for name in heads)
    return panel_section(
        "audits", "The audits", tables=[("One by one", HtmlTable(cells, rows, ""))]
    )


def _sure(audit: Audit) -> str:
    if audit.confidence < 1.0:
        return f"some are {sureness(audit.confidence, audit.seed)}"
    return "exact up to rounding" if audit.exact else "some are proven intervals"


def _about(comparison: Comparison, command: str | None) -> Section:
    took = sum(audit.seconds for audit in comparison.audits)
    facts = [("took", f"{took:.3g} s"), ("made by", f"anonymatch {version}")]
    body = render(
        "audit_method.html",
        caveats=comparison.caveats,
        notes=comparison.notes,
        facts=facts,
        command=command,
    )
    return Section("about", "Caveats and method", body)

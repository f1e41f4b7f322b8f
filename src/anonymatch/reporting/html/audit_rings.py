"""Rings as a section of an audit: which spends are certain and why, and what changed over time."""

from __future__ import annotations

from anonymatch.audits import Audit, RingFigures
from anonymatch.base.numbers import amount, percent, shown
from anonymatch.reporting.charts import Line, embedded, line_chart
from anonymatch.reporting.html.document import Panel, Section, panel_section
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import name_cell, number_cell
from anonymatch.rings import RingAudit

__all__ = ["rings_section"]

_ROWS = 200


def rings_section(audit: Audit) -> Section | None:
    """Certain spends, and figures over time; None of anything but rings.

    Examples
    --------
    >>> import anonymatch as am
    >>> rings_section(am.audit(am.complete(3))) is None
    True
    """
    if not isinstance(audit, RingAudit):
        return None
    rings = audit.rings
    tables = [(f"By {rings.unit}", _by_time(rings))] if rings.periods else []
    if rings.certain:
        tables.append(("Certain spends", _certain(rings)))
    return panel_section("rings", "Rings", _charts(rings), before=_words(rings), tables=tables)


def _words(rings: RingFigures) -> list[str]:
    certain = (
        f"{shown(len(rings.certain))} of {shown(rings.inputs)} spends are certain: "
        f"{shown(rings.chain_reaction)} by chain reaction, as rings with one member left rule that "
        f"member out of all others ({shown(rings.single)} had one from the start); "
        f"{shown(rings.closed_sets)} more by closed sets, rings that together have as many members "
        "as they are, so that no other ring spends one of them."
    )
    ruled_out = (
        f"{percent(rings.ruled_out)} of all members cannot be what was spent; the chain reaction "
        f"alone rules out {percent(rings.ruled_out_by_chain)}."
    )
    return [certain, ruled_out]


def _certain(rings: RingFigures) -> HtmlTable:
    more = len(rings.certain) - _ROWS
    rows = tuple(
        (
            name_cell(one.input),
            name_cell(one.output),
            Cell(one.how, False),
            number_cell(shown(one.step) if one.step else "–"),
        )
        for one in rings.certain[:_ROWS]
    )
    heads = (
        Cell("input", False),
        Cell("spends", False),
        Cell("known by", False),
        Cell("step", True),
    )
    return HtmlTable(heads, rows, f"and {shown(more)} more" if more > 0 else "")


def _by_time(rings: RingFigures) -> HtmlTable:
    titles = ("inputs", "members", "possible", "hides among", "chain reaction", "closed sets")
    heads = (Cell(rings.unit, False), *(Cell(title, True) for title in titles))
    rows = tuple(
        (
            Cell(f"{one.begin:,.10g} to {one.end:,.10g}", False),
            number_cell(shown(one.inputs)),
            number_cell(amount(one.members)),
            number_cell(amount(one.allowed)),
            number_cell("–" if one.effective is None else amount(one.effective)),
            number_cell(percent(one.chain_reaction)),
            number_cell(percent(one.closed_sets)),
        )
        for one in rings.periods
    )
    return HtmlTable(heads, rows, "")


def _charts(rings: RingFigures) -> list[Panel]:
    if len(rings.periods) < 2:
        return []
    when = [(one.begin + one.end) / 2 for one in rings.periods]
    lines = [
        Line("members", when, [one.members for one in rings.periods]),
        Line("possible", when, [one.allowed for one in rings.periods]),
    ]
    if all(one.effective is not None for one in rings.periods):
        lines.append(Line("hides among", when, [one.effective or 0.0 for one in rings.periods]))
    sizes = line_chart(
        lines,
        title="Outputs that inputs hide among",
        x_label=rings.unit,
        y_label="outputs an input",
        zero=True,
    )
    certain = line_chart(
        [
            Line("chain reaction", when, [one.chain_reaction for one in rings.periods]),
            Line(
                "and closed sets",
                when,
                [one.chain_reaction + one.closed_sets for one in rings.periods],
            ),
        ],
        title="Spends that are certain",
        x_label=rings.unit,
        y_label="share of inputs",
        zero=True,
        share=True,
    )
    return [
        Panel(
            embedded(sizes, "ring-sizes"),
            "Members of a ring on average, those of them that can be what was spent, and as many "
            "equally likely ones as an input hides among.",
        ),
        Panel(
            embedded(certain, "ring-certain"),
            "Inputs of which it is certain what they spend, by the chain reaction alone and with "
            "closed sets.",
        ),
    ]

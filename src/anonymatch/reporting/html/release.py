"""A released table as one page to file: who is at risk, why, and by which notion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymatch._native import version
from anonymatch.audits import Audit, Gate, Worst, best_grouping
from anonymatch.base.numbers import amount, percent, plural, powers, shown, span, took
from anonymatch.reporting.charts import bar_chart, embedded
from anonymatch.reporting.html.document import Panel, Section, document, panel_section, render
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import name_cell, number_cell
from anonymatch.reporting.html.verdicts import verdict
from anonymatch.running import Budget
from anonymatch.tables import NOTION_KINDS, Generalised, TableAudit, TableFindings, generalise

__all__ = ["release_html", "release_sections"]

_PEOPLE = 40  # of a table
_SIZES = 30  # bars of sizes of classes
_CHANGES = 15  # classes of rows that change
_MOST_ROWS = 20_000  # of a release for which changes are looked for
_SECONDS = 5.0  # that this may take


def release_html(
    audit: TableAudit,
    *,
    gates: Sequence[Gate] = (),
    command: str | None = None,
    script: str = "",
    style: str = "",
) -> str:
    """What an audit of a released table says, in the words of those who answer for it."""
    table = audit.findings
    rows = plural(table.release.n_rows, "row")
    return document(
        f"Release {audit.name}",
        lead=f"{plural(audit.n_users, 'person', 'people')} in the original table, {rows} released.",
        sections=release_sections(audit, gates=gates, command=command, style=style),
        script=script,
    )


def release_sections(
    audit: TableAudit, *, gates: Sequence[Gate] = (), command: str | None = None, style: str = ""
) -> tuple[Section, ...]:
    """The sections of that page, in their order."""
    table = audit.findings
    return (
        _verdict(audit, table, gates, style),
        _notions(table),
        _people(audit),
        *_sensitive(table),
        _to_change(audit, table, gates),
        _classes(table),
        _worth(table),
        _method(audit, command),
    )


def _verdict(audit: Audit, table: TableFindings, gates: Sequence[Gate], style: str) -> Section:
    states = [
        (
            gate,
            verdict(
                "holds" if gate.reached else "fails" if gate.missed else "holds under a condition"
            ),
        )
        for gate in gates
    ]
    body = render(
        "audit_verdict.html",
        verdict=table.headline(audit.identified, audit.n_counted),
        gates=states,
    )
    told = [*audit.notes, *table.sentences(), *table.about_present()]
    said = render("audit_panels.html", before=told, items=[], tables=[], after=[])
    return Section("verdict", "Who is at risk", body + said, style=style)


def _notions(table: TableFindings) -> Section:
    rows = tuple(
        (
            Cell(one.key, False),
            number_cell(one.text),
            Cell(one.kind.meaning, False),
            Cell("more" if one.kind.better == "higher" else "less", False),
            Cell(one.decided_by, False),
        )
        for one in table.notions.values()
    )
    heads = (
        Cell("notion", False),
        Cell("value", True),
        Cell("meaning", False),
        Cell("better", False),
        Cell("decided by", False),
    )
    meaning = (
        "k-anonymity, risks, l-diversity and t-closeness are about rows that are equal; (1,k), "
        "(k,1) and (k,k) about who fits what; global (1,k) about what is still possible when "
        "everybody must have a row."
    )
    named = [("By name", HtmlTable(heads, rows, ""))]
    return panel_section("notions", "Every notion by its name", before=[meaning], tables=named)


def _people(audit: Audit) -> Section:
    sampled = audit.answers.users.present is not None
    heads = (
        Cell("person", False),
        Cell("likeliest row", False),
        Cell("probability", True),
        Cell("if in the release" if sampled else "hides among", True),
        Cell("rows that fit", True),
        Cell("why", False),
    )
    rows = tuple(
        (
            name_cell(one.user),
            Cell("–" if one.guess is None else str(one.guess), False),
            number_cell(_share(one.probability)),
            number_cell(_share(one.probability_departed) if sampled else _hides_among(one)),
            number_cell(shown(one.candidates)),
            Cell(one.reason, False),
        )
        for one in audit.worst[:_PEOPLE]
    )
    last = (
        "the same probability if the attacker knows that the person is in the release."
        if sampled
        else "the number of equally likely rows among which the person hides."
    )
    meaning = (
        "The people with the highest re-identification risk. The table shows the probability that "
        f"the likeliest row belongs to the person, and {last}"
    )
    named = [("People at risk", HtmlTable(heads, rows, ""))]
    return panel_section("people", "People at risk", before=[meaning], tables=named)


def _hides_among(one: Worst) -> str:
    return amount(one.effective) + ("" if one.probability is not None else " or more")


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _sensitive(table: TableFindings) -> list[Section]:
    """What is certain of sensitive values, a table a column."""
    tables = []
    for one in table.attributes:
        known = table.certain_values(one.column)
        if not known:
            continue
        rows = tuple(
            (name_cell(each.person), Cell(each.value, False), Cell(each.how, False))
            for each in known[:_PEOPLE]
        )
        left = "" if len(known) <= _PEOPLE else f"and {len(known) - _PEOPLE:,} more"
        heads = (Cell("person", False), Cell(one.column, False), Cell("how it is known", False))
        tables.append((f"Certain {one.column}", HtmlTable(heads, rows, left)))
    if not tables:
        return []
    return [panel_section("sensitive", "Sensitive values that are certain", tables=tables)]


def _to_change(audit: Audit, table: TableFindings, gates: Sequence[Gate]) -> Section:
    """Cells to generalise so that a threshold is reached, and the grouping to aim for."""
    grouping = best_grouping(table.release, audit.count.log)
    aim = [] if grouping is None else [grouping.in_words()]
    target = _target(table, gates)
    if target is None:
        said = "Nothing: what was asked for is reached, and at least 5 rows are equal everywhere."
        return panel_section("change", "What to change", before=[said, *aim])
    key, value = target
    spelled = f"{key}={value:g}"
    do = f"anonymatch improve, with --target '{spelled}' and --out, writes the changed table."
    if table.release.n_rows > _MOST_ROWS:
        said = f"This page looks at up to {_MOST_ROWS:,} rows; {do}"
        return panel_section("change", "What to change", before=[said, *aim])
    found = generalise(table.release, {key: value}, budget=Budget(seconds=_SECONDS))
    said = f"To reach {spelled}: {found.headline()}"
    return panel_section(
        "change", "What to change", before=[said, do, *aim],
        tables=[*_changes(found), ("What that does", _before_and_after(found))],
    )  # fmt: skip


def _target(table: TableFindings, gates: Sequence[Gate]) -> tuple[str, float] | None:
    """The first threshold on a notion that is missed, or five equal rows."""
    missed = [gate for gate in gates if gate.missed and gate.name in table.notions]
    if missed:
        return missed[0].name, missed[0].threshold
    usual = NOTION_KINDS["k-anonymity"]
    held = usual.reaches(table.notions[usual.key].value, usual.usual)
    enough = table.release.n_rows >= usual.usual
    return (usual.key, usual.usual) if enough and not held else None


def _changes(found: Generalised) -> list[tuple[str, HtmlTable]]:
    if not found.changes:
        return []
    heads = (
        *(Cell(column.name, False) for column in found.release.columns),
        Cell("rows", True),
    )
    rows = tuple(
        (*(Cell(cell, False) for cell in one.cells()), number_cell(shown(len(one.rows))))
        for one in found.changes[:_CHANGES]
    )
    more = len(found.changes) - _CHANGES
    left = "" if more <= 0 else f"and {plural(more, 'class', 'classes')} of rows more"
    return [("Rows to generalise", HtmlTable(heads, rows, left))]


def _before_and_after(found: Generalised) -> HtmlTable:
    heads = (Cell("notion", False), Cell("before", True), Cell("after", True))
    rows = tuple(
        (Cell(key, False), number_cell(kind.text(before)), number_cell(kind.text(after)))
        for key, kind, before, after in found.notions()
    )
    return HtmlTable(heads, rows, "")


def _classes(table: TableFindings) -> Section:
    sizes, numbers = np.unique(table.release.class_sizes, return_counts=True)
    bars = [
        (plural(int(size), "row"), int(number) * int(size))
        for size, number in zip(sizes[:_SIZES].tolist(), numbers[:_SIZES].tolist(), strict=True)
    ]
    chart = bar_chart(bars, title="Rows by the size of their class", x_label="rows in such classes")
    caption = (
        "Rows that are equal in all identifiers are a class. The smallest classes are the risk: "
        "k-anonymity is the size of the smallest."
    )
    return panel_section(
        "classes", "Classes of equal rows", [Panel(embedded(chart, "classes"), caption)]
    )


def _worth(table: TableFindings) -> Section:
    used = table.utility
    rows = (
        ("loss", percent(used.loss), "values of a column that a cell leaves open, on average"),
        *(
            (f"loss of {name}", percent(loss), "the same of this column")
            for name, loss in used.by_column.items()
        ),
        ("discernibility", shown(used.discernibility), "sum over rows of those that equal them"),
        ("rows of a class", amount(used.mean_class), "on average"),
        ("suppressed rows", shown(used.suppressed), "that say nothing in any identifier"),
    )
    cells = tuple((Cell(a, False), number_cell(b), Cell(c, False)) for a, b, c in rows)
    heads = (Cell("measure", False), Cell("value", True), Cell("meaning", False))
    return panel_section(
        "utility",
        "What the release is still worth",
        tables=[("Utility", HtmlTable(heads, cells, ""))],
    )


def _method(audit: Audit, command: str | None) -> Section:
    sure = "exact" if audit.exact else f"intervals hold with {percent(audit.confidence)}"
    entropy = audit.entropy
    facts = [
        ("counted by", audit.count.method),
        ("figures", sure),
        ("ways to match", powers(audit.count.log, audit.count.low, audit.count.high)),
        ("entropy per person", f"{span(entropy.value, entropy.low, entropy.high)} bits"),
        ("took", took(audit.seconds)),
        ("made by", f"anonymatch {version}"),
    ]
    caveat = (
        "All ways to match people and rows are taken as equally likely: whoever knows more than "
        "the identifiers does better."
    )
    body = render("audit_method.html", caveats=(caveat,), notes=(), facts=facts, command=command)
    return Section("about", "Caveats and method", body)

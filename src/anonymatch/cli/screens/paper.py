"""Checked claims for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from anonymatch.base import numbers, text
from anonymatch.reporting import terminal
from anonymatch.theory.claims import PUBLICATION

if TYPE_CHECKING:
    from rich.console import RenderableType

    from anonymatch.theory.claims import Checks, Claim

__all__ = ["checks_screen"]

_WIDE = 7  # columns that fit on a line
_TALLY: dict[str, Callable[[int], str]] = {
    "holds": lambda number: f"{number} {'holds' if number == 1 else 'hold'}",
    "misprint": lambda number: numbers.plural(number, "misprint"),
    "holds under a condition": lambda number: (
        f"{number} {'holds' if number == 1 else 'hold'} under a condition"
    ),
    "fails": lambda number: f"{number} {'fails' if number == 1 else 'fail'}",
}


def checks_screen(checks: Checks, *, alone: bool) -> list[RenderableType]:
    """A line a claim, or all about each when they were asked for by name."""
    if alone:
        return [part for claim in checks for part in _claim_screen(claim)]
    tally = ", ".join(_TALLY[name](number) for name, number in checks.counts.items() if number)
    return [
        terminal.heading(f"{numbers.plural(len(checks), 'statement')}: {tally}"),
        terminal.paragraph(f"{PUBLICATION.title}, {PUBLICATION.author}, {PUBLICATION.version}"),
        *(part for group in checks.grouped.items() for part in _group_screen(*group)),
        terminal.paragraph(
            "'anonymatch paper --claim ID' shows the evidence, --html writes a page with the "
            "figures, --latex the errata."
        ),
    ]


def _group_screen(name: str, claims: Sequence[Claim]) -> list[RenderableType]:
    table = terminal.columns("claim", "verdict", "in the paper")
    for claim in claims:
        short = claim.brief or claim.title
        table.add_row(claim.id, str(claim.verdict), f"{claim.label}: {short}")
    return [terminal.heading(name), terminal.indented(table)]


def _table(titles: Sequence[object], rows: Sequence[Sequence[object]]) -> RenderableType:
    """A table; one that is wider than long is turned, for lines of text are short."""
    lines = [list(titles), *(list(row) for row in rows)]
    if len(titles) > max(_WIDE, len(rows)):
        lines = [list(line) for line in zip(*lines, strict=True)]
    table = terminal.columns(*(_cell(title) for title in lines[0]))
    for line in lines[1:]:
        table.add_row(*(_cell(value) for value in line))
    return table


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else text.name(value)


def _series(series: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The points of a chart: a line a place, a column a series."""
    table = terminal.columns("", right=[str(one["name"]) for one in series])
    values = [dict(zip(one["x"], one["y"], strict=True)) for one in series]
    for x in sorted({abscissa for one in values for abscissa in one}):
        table.add_row(_cell(x), *(_cell(one[x]) if x in one else "" for one in values))
    return table


def _claim_screen(claim: Claim) -> list[RenderableType]:
    lines = [("the paper", claim.section, claim.statement), ("verdict", str(claim.verdict), "")]
    if claim.corrected:
        lines.append(("corrected", "", claim.corrected))
    lines += [("found now", "", claim.finding), ("searched", "", claim.searched)]
    screen = [terminal.heading(claim.id), terminal.figures(lines)]
    for evidence in claim.evidence:
        screen.append(terminal.paragraph(evidence.text))
        if "columns" in evidence.data:
            screen.append(
                terminal.indented(_table(evidence.data["columns"], evidence.data["rows"]))
            )
        elif "series" in evidence.data:
            screen.append(terminal.indented(_series(evidence.data["series"])))
        elif "graph" in evidence.data:
            screen.append(
                terminal.bullets("a user a line:", [str(row) for row in evidence.data["graph"]])
            )
    if claim.counterexample:
        screen.append(
            terminal.bullets("Counterexample, a user a line:", list(claim.counterexample))
        )
    return screen

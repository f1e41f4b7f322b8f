"""What an audit says of rings on the terminal: certain spends, and figures over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonymatch.base import numbers, text
from anonymatch.reporting import terminal
from anonymatch.rings import RingAudit

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.audits import RingFigures

__all__ = ["ring_lines"]

_LISTED = 20


def ring_lines(audit: am.Audit) -> list[RenderableType]:
    """Lines about rings; none for other problems."""
    if not isinstance(audit, RingAudit):
        return []
    return [*_certain(audit.rings), *_periods(audit.rings)]


def _certain(rings: RingFigures) -> list[RenderableType]:
    sure = len(rings.certain)
    if not sure:
        return [
            terminal.paragraph("No spend is certain, neither by chain reaction nor by closed sets.")
        ]
    ruled_out = numbers.percent(rings.ruled_out)
    lines: list[RenderableType] = [
        terminal.paragraph(
            f"{numbers.plural(sure, 'spend')} of {rings.inputs:,} "
            f"{'is' if sure == 1 else 'are'} certain: {rings.chain_reaction:,} by chain reaction "
            f"({rings.single:,} of them in rings of one member), {rings.closed_sets:,} more by "
            f"closed sets; {ruled_out} of all members cannot be what was spent:"
        )
    ]
    table = terminal.columns("input", "spends", "how")
    for one in rings.certain[:_LISTED]:
        step = f", step {one.step}" if one.step else ""
        table.add_row(text.name(one.input), text.name(one.output), f"{one.how}{step}")
    lines.append(terminal.indented(table))
    if sure > _LISTED:
        lines.append(terminal.paragraph(f"... and {sure - _LISTED:,} more: --json has all."))
    return lines


def _periods(rings: RingFigures) -> list[RenderableType]:
    if not rings.periods:
        return []
    table = terminal.columns(
        rings.unit,
        right=("inputs", "members", "possible", "hides among", "chain reaction", "closed sets"),
    )
    for one in rings.periods:
        span = f"{one.begin:,.10g}"
        if one.end > one.begin:
            span += f" to {one.end:,.10g}"
        table.add_row(
            span,
            f"{one.inputs:,}",
            f"{one.members:.3g}",
            f"{one.allowed:.3g}",
            "–" if one.effective is None else f"{one.effective:.3g}",
            numbers.percent(one.chain_reaction),
            numbers.percent(one.closed_sets),
        )
    return [terminal.paragraph(f"By {rings.unit}:"), terminal.indented(table)]

"""Sections made of sentences, pictures and tables."""

from __future__ import annotations

from collections.abc import Sequence

from anonymatch.report.html.document import Section, render
from anonymatch.report.html.tables import Table
from anonymatch.report.panels import Panel

__all__ = ["panel_section"]


def panel_section(
    anchor: str,
    title: str,
    panels: Sequence[Panel] = (),
    *,
    before: Sequence[str] = (),
    tables: Sequence[tuple[str, Table]] = (),
    after: Sequence[str] = (),
    style: str = "",
) -> Section:
    """Sentences, then pictures with captions, then tables with names, then what it all means.

    Examples
    --------
    >>> panel_section("one", "First", before=["A & B."]).body.strip()
    Markup('<p>A &amp; B.</p>')
    """
    body = render("audit_panels.html", before=before, items=panels, tables=tables, after=after)
    return Section(anchor, title, body, style=style)

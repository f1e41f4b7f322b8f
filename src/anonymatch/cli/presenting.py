"""Any report as the answer of a command: a screen or JSON, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.cli import json_output
from anonymatch.cli.console import note, show, typed
from anonymatch.cli.words import option

if TYPE_CHECKING:
    from anonymatch.reporting import Gate
    from anonymatch.reporting.report import Report

__all__ = ["present"]


def present(
    report: Report,
    *,
    title: str = "",
    gates: Sequence[Gate] | None = None,
    top: int = 10,
    record: json_output.Record | None = None,
    html: Path | None = None,
) -> None:
    """Print a report, or its ``record`` as JSON, and write it as a page."""
    from anonymatch.reporting import report_screen, write_report_html

    if html is not None:
        write_report_html(report.run_by(typed()), html, gates=gates or ())
    if record is None:
        show(*report_screen(report, title=title, gates=gates or (), top=top, say=option))
    else:
        judged = {} if gates is None else {"gates": [gate.to_dict() for gate in gates]}
        json_output.print_json(record | judged)
    if html is not None:
        note(f"wrote {html}")

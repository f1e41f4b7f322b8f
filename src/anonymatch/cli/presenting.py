"""Any report as the answer of a command: a screen or JSON, and a page."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.cli import json_output
from anonymatch.cli.console import note, show
from anonymatch.cli.words import option

if TYPE_CHECKING:
    from anonymatch.reporting import Gate
    from anonymatch.reporting.report import Report

__all__ = ["present"]


def present(
    report: Report,
    *,
    title: str = "",
    gates: Sequence[Gate] = (),
    top: int = 10,
    record: json_output.Record | None = None,
    instead: str | None = None,
    html: Path | None = None,
) -> None:
    """Print a report, or its ``record`` as JSON, or a text ``instead``; also write it as a page."""
    if html is not None:
        from anonymatch.reporting import write_report_html

        command = shlex.join(["anonymatch", *sys.argv[1:]])
        write_report_html(report.run_by(command), html, gates=gates)
    if record is not None:
        json_output.print_json(record)
    elif instead is not None:
        sys.stdout.write(instead)
    else:
        from anonymatch.reporting import report_screen

        show(*report_screen(report, title=title, gates=gates, top=top, say=option))
    if html is not None:
        note(f"wrote {html}")

"""Any report as the answer of a command: a screen or JSON, and a page."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anonymatch.cli import json_output
from anonymatch.cli.console import MISSED, note, show, typed, watch
from anonymatch.cli.words import option

if TYPE_CHECKING:
    from anonymatch.cli.options import Options
    from anonymatch.problems import Problem
    from anonymatch.reporting import Judged
    from anonymatch.reporting.report import Report

__all__ = ["answer", "present"]


def present(
    report: Report,
    *,
    title: str = "",
    gates: Sequence[Judged] = (),
    top: int = 10,
    record: json_output.Record | None = None,
    instead: str | None = None,
    html: Path | None = None,
) -> None:
    """Print a report, or its ``record`` as JSON, or a text ``instead``; also write it as a page."""
    if html is not None:
        from anonymatch.reporting import write_report_html

        write_report_html(report.run_by(typed()), html, gates=gates)
    if record is not None:
        json_output.print_json(record)
    elif instead is not None:
        sys.stdout.write(instead)
    else:
        from anonymatch.reporting import report_screen

        show(*report_screen(report, title=title, gates=gates, top=top, say=option))
    if html is not None:
        note(f"wrote {html}")


def answer(
    problem: Problem,
    file: Path,
    options: Options,
    *,
    fail_under: Sequence[str] = (),
    fail_over: Sequence[str] = (),
    strict: bool = False,
    top: int = 10,
    html: Path | None = None,
) -> int | None:
    """Solve a registered problem and present its report; MISSED if a gate fails."""
    from anonymatch.reporting import judge, parse_thresholds

    result = watch(
        f"{problem.title}: {file.name}",
        lambda tell: problem.solve(
            file,
            seed=options.draw_seed,
            budget=options.effort(),
            executor=options.executor(),
            progress=tell,
        ),
    )
    report = problem.report(result)
    directions = {each.key: each.better for each in report.figures}
    thresholds = parse_thresholds(fail_under, directions, at_most=False)
    thresholds |= parse_thresholds(fail_over, directions, at_most=True)
    gates = judge(report, thresholds, strict=strict)
    record = {"kind": problem.kind, **report.to_dict(), "gates": [gate.to_dict() for gate in gates]}
    present(
        report,
        title=file.name,
        gates=gates,
        top=top,
        record=record if options.json else None,
        html=html,
    )
    return MISSED if any(gate.passed is False for gate in gates) else None

"""Pages of audits and comparisons, for tests."""

from __future__ import annotations

from collections.abc import Sequence

from anonymatch.audits import Audit, Comparison, audit_report, comparison_report
from anonymatch.reporting import Judged, report_html

__all__ = ["audit_html", "comparison_html"]


def audit_html(audit: Audit, *, gates: Sequence[Judged] = (), command: str | None = None) -> str:
    return report_html(audit_report(audit).run_by(command), gates=gates)


def comparison_html(comparison: Comparison, *, command: str | None = None) -> str:
    return report_html(comparison_report(comparison).run_by(command))

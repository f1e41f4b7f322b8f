"""Everything about one system in one answer: how good it is, for whom it is worst, and why."""

from anonymatch.audits.auditing import audit
from anonymatch.audits.comparing import ComparedFigure, Comparison, compare
from anonymatch.audits.figures import FIGURES, QUANTILES, AuditFigure, confidence_of
from anonymatch.audits.gates import AT_LEAST, AT_MOST, GATES, Gate, check_gates, parse_gates
from anonymatch.audits.identification import Identified, identified
from anonymatch.audits.result import Audit, Bin, CampaignStep, Score, Worst

__all__ = [
    "AT_LEAST",
    "AT_MOST",
    "FIGURES",
    "GATES",
    "QUANTILES",
    "Audit",
    "AuditFigure",
    "Bin",
    "CampaignStep",
    "ComparedFigure",
    "Comparison",
    "Gate",
    "Identified",
    "Score",
    "Worst",
    "audit",
    "check_gates",
    "compare",
    "confidence_of",
    "identified",
    "parse_gates",
]

"""Everything about one system in one answer: how good it is, for whom it is worst, and why."""

from anonymatch.audits.auditing import audit
from anonymatch.audits.campaign import campaign_on
from anonymatch.audits.charts import CHARTS, AuditChart, audit_charts
from anonymatch.audits.compared_charts import comparison_charts
from anonymatch.audits.comparing import ComparedFigure, Comparison, compare
from anonymatch.audits.figures import (
    FIGURES,
    GROUPS,
    QUANTILES,
    AuditFigure,
    Show,
    confidence_of,
    extra_figure,
    shown_figures,
)
from anonymatch.audits.gates import (
    AT_LEAST,
    AT_MOST,
    GATES,
    Gate,
    check_gates,
    gates_in_words,
    parse_gates,
)
from anonymatch.audits.grouping import Grouping, best_grouping
from anonymatch.audits.identification import Identified, identified
from anonymatch.audits.log_pairs import LogPosterior, log_posterior
from anonymatch.audits.log_totals import LogTotals, totals
from anonymatch.audits.result import Audit, Bin, Campaign, CampaignStep, Score, Worst
from anonymatch.audits.rings import CertainSpend, RingFigures, RingPeriod
from anonymatch.audits.wording import (
    FigureText,
    attacker,
    attacker_sentence,
    figure_text,
    sureness,
)

__all__ = [
    "AT_LEAST",
    "AT_MOST",
    "CHARTS",
    "FIGURES",
    "GATES",
    "GROUPS",
    "QUANTILES",
    "Audit",
    "AuditChart",
    "AuditFigure",
    "Bin",
    "Campaign",
    "CampaignStep",
    "CertainSpend",
    "ComparedFigure",
    "Comparison",
    "FigureText",
    "Gate",
    "Grouping",
    "Identified",
    "LogPosterior",
    "LogTotals",
    "RingFigures",
    "RingPeriod",
    "Score",
    "Show",
    "Worst",
    "attacker",
    "attacker_sentence",
    "audit",
    "audit_charts",
    "best_grouping",
    "campaign_on",
    "check_gates",
    "compare",
    "comparison_charts",
    "confidence_of",
    "extra_figure",
    "figure_text",
    "gates_in_words",
    "identified",
    "log_posterior",
    "parse_gates",
    "shown_figures",
    "sureness",
    "totals",
]

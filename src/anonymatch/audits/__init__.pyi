"""Everything about one system in one answer: how good it is, for whom it is worst, and why."""

from anonymatch.audits.alternatives import (
    rival_delay as rival_delay,
    same_delay as same_delay,
)
from anonymatch.audits.answers import (
    Answers as Answers,
    NetworkAnswers as NetworkAnswers,
    PassageAnswers as PassageAnswers,
    links_of as links_of,
)
from anonymatch.audits.auditing import (
    audit as audit,
)
from anonymatch.audits.campaign import (
    campaign_on as campaign_on,
)
from anonymatch.audits.reports.charts import (
    AuditChart as AuditChart,
    CHARTS as CHARTS,
    audit_charts as audit_charts,
)
from anonymatch.audits.reports.compared_charts import (
    comparison_charts as comparison_charts,
)
from anonymatch.audits.comparing import (
    ComparedFigure as ComparedFigure,
    Comparison as Comparison,
    compare as compare,
)
from anonymatch.audits.figures import (
    AuditFigure as AuditFigure,
    FIGURES as FIGURES,
    GROUPS as GROUPS,
    QUANTILES as QUANTILES,
    Show as Show,
    confidence_of as confidence_of,
    extra_figure as extra_figure,
    shown_figures as shown_figures,
)
from anonymatch.audits.gates import (
    AT_LEAST as AT_LEAST,
    AT_MOST as AT_MOST,
    GATES as GATES,
    Gate as Gate,
    check_gates as check_gates,
    gates_in_words as gates_in_words,
    parse_gates as parse_gates,
)
from anonymatch.tables.grouping import (
    Grouping as Grouping,
    best_grouping as best_grouping,
)
from anonymatch.audits.worst import (
    Identified as Identified,
    identified as identified,
)
from anonymatch.mixes.audits.log_pairs import (
    LogPosterior as LogPosterior,
    log_posterior as log_posterior,
)
from anonymatch.mixes.audits.log_totals import (
    LogTotals as LogTotals,
    totals as totals,
)
from anonymatch.audits.reports.report import (
    audit_report as audit_report,
)
from anonymatch.audits.reports.report_comparison import (
    comparison_report as comparison_report,
)
from anonymatch.tables.report import (
    first_report as first_report,
    improved_report as improved_report,
    table_report as table_report,
)
from anonymatch.audits.reports.report_users import (
    user_rows as user_rows,
)
from anonymatch.mixes.audits.passages import (
    explained as explained,
)
from anonymatch.audits.parts import (
    Bin as Bin,
    Campaign as Campaign,
    CampaignStep as CampaignStep,
    Score as Score,
    SystemCost as SystemCost,
    Worst as Worst,
)
from anonymatch.mixes.audits.rates import (
    UsedRates as UsedRates,
)
from anonymatch.audits.result import (
    Audit as Audit,
    ExposedAudit as ExposedAudit,
    GraphAudit as GraphAudit,
    ScoredAudit as ScoredAudit,
)
from anonymatch.rings.figures import (
    CertainSpend as CertainSpend,
    RingFigures as RingFigures,
    RingPeriod as RingPeriod,
)
from anonymatch.audits.wording import (
    FigureText as FigureText,
    attacker as attacker,
    attacker_sentence as attacker_sentence,
    figure_text as figure_text,
    sureness as sureness,
)
from anonymatch.audits.answers import (
    Resources as Resources,
    TableAnswers as TableAnswers,
    closes as closes,
    entropy_of as entropy_of,
)

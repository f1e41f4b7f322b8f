"""Pictures and pages that show results: plain SVG and HTML, nothing to load."""

from anonymatch.charts import DARK, LIGHT
from anonymatch.report.drawings.design_parts import parts
from anonymatch.report.drawings.graphs import bipartite, exposure
from anonymatch.report.drawings.matrices import matrix
from anonymatch.report.drawings.svg import LARGEST, STYLE, Picture
from anonymatch.report.errata import errata_latex
from anonymatch.report.html.audit import (
    AUDIT_SECTIONS,
    AuditReport,
    AuditSection,
    audit_html,
    audit_sections,
    script,
    style,
)
from anonymatch.report.html.comparison import comparison_html
from anonymatch.report.html.document import Section, panel_section, render, write_html
from anonymatch.report.html.paper import claim_card, paper_html, paper_summary
from anonymatch.report.html.plan import plan_html
from anonymatch.report.html.round_pictures import profile_picture
from anonymatch.report.html.rounds import rounds_html, write_rounds_html
from anonymatch.report.html.tables import table
from anonymatch.report.html.verdicts import verdict
from anonymatch.report.paper_figures import paper_figure
from anonymatch.report.paper_panels import Panel, named, value_of

__all__ = [
    "AUDIT_SECTIONS",
    "DARK",
    "LARGEST",
    "LIGHT",
    "STYLE",
    "AuditReport",
    "AuditSection",
    "Panel",
    "Picture",
    "Section",
    "audit_html",
    "audit_sections",
    "bipartite",
    "claim_card",
    "comparison_html",
    "errata_latex",
    "exposure",
    "matrix",
    "named",
    "panel_section",
    "paper_figure",
    "paper_html",
    "paper_summary",
    "parts",
    "plan_html",
    "profile_picture",
    "render",
    "rounds_html",
    "script",
    "style",
    "table",
    "value_of",
    "verdict",
    "write_html",
    "write_rounds_html",
]

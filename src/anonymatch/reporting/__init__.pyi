"""Pictures and pages that show results: plain SVG and HTML, nothing to load."""

from anonymatch.reporting.drawings.design_parts import (
    parts as parts,
)
from anonymatch.reporting.drawings.graphs import (
    bipartite as bipartite,
    exposure as exposure,
)
from anonymatch.reporting.drawings.matrices import (
    matrix as matrix,
)
from anonymatch.reporting.drawings.svg import (
    LARGEST as LARGEST,
    Picture as Picture,
    STYLE as STYLE,
)
from anonymatch.reporting.errata import (
    errata_latex as errata_latex,
)
from anonymatch.reporting.html.audit import (
    AUDIT_SECTIONS as AUDIT_SECTIONS,
    AuditReport as AuditReport,
    AuditSection as AuditSection,
    audit_html as audit_html,
    audit_sections as audit_sections,
    script as script,
    style as style,
)
from anonymatch.reporting.html.comparison import (
    comparison_html as comparison_html,
)
from anonymatch.reporting.html.document import (
    Section as Section,
    panel_section as panel_section,
    render as render,
    write_html as write_html,
)
from anonymatch.reporting.html.paper import (
    claim_card as claim_card,
    paper_html as paper_html,
    paper_summary as paper_summary,
)
from anonymatch.reporting.html.plan import (
    plan_html as plan_html,
)
from anonymatch.reporting.html.round_pictures import (
    profile_picture as profile_picture,
)
from anonymatch.reporting.html.rounds import (
    rounds_html as rounds_html,
    write_rounds_html as write_rounds_html,
)
from anonymatch.reporting.html.tables import (
    table as table,
)
from anonymatch.reporting.html.verdicts import (
    verdict as verdict,
)
from anonymatch.reporting.paper_figures import (
    named as named,
    paper_figure as paper_figure,
    value_of as value_of,
)
from anonymatch.reporting.paper_panels import (
    Panel as Panel,
)

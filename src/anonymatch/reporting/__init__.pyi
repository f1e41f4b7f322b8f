"""Pictures and pages that show results: plain SVG and HTML, nothing to load."""

from anonymatch.reporting.drawings.graphs import (
    bipartite as bipartite,
    exposure as exposure,
    parts as parts,
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
from anonymatch.reporting.gates import (
    Gate as Gate,
    Judged as Judged,
    judge as judge,
    parse_thresholds as parse_thresholds,
)
from anonymatch.reporting.html.document import (
    Panel as Panel,
    Section as Section,
    render as render,
    script as script,
    style as style,
    write_html as write_html,
)
from anonymatch.reporting.html.page import (
    drawn_matrix as drawn_matrix,
    report_html as report_html,
    report_section as report_section,
    report_sections as report_sections,
    write_report_html as write_report_html,
)
from anonymatch.reporting.html.paper import (
    claim_card as claim_card,
    paper_html as paper_html,
    paper_summary as paper_summary,
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
from anonymatch.reporting.terminal import (
    report_screen as report_screen,
)

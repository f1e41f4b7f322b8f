"""The claims of the paper, checked.

:func:`check` computes every statement anew, as printed and as corrected, and derives its verdict.
"""

from anonymatch.paper.checking import check, questions
from anonymatch.paper.claim import (
    GROUPS,
    PUBLICATION,
    WORDS,
    Checks,
    Claim,
    Evidence,
    Publication,
    Typeset,
    Verdict,
)
from anonymatch.paper.notation import as_html, as_latex, as_text, escape_latex
from anonymatch.paper.pictures import Ellipse, Point, inside, permutation, picture

__all__ = [
    "GROUPS",
    "PUBLICATION",
    "WORDS",
    "Checks",
    "Claim",
    "Ellipse",
    "Evidence",
    "Point",
    "Publication",
    "Typeset",
    "Verdict",
    "as_html",
    "as_latex",
    "as_text",
    "check",
    "escape_latex",
    "inside",
    "permutation",
    "picture",
    "questions",
]

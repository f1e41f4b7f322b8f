"""The claims of the paper, checked.

:func:`check` computes every statement anew, as printed and as corrected, and derives its verdict.
"""

from anonymatch.paper.checking import check, questions
from anonymatch.paper.claim import Checks, Claim, Evidence, Verdict
from anonymatch.paper.pictures import Ellipse, Point, inside, permutation, picture

__all__ = [
    "Checks",
    "Claim",
    "Ellipse",
    "Evidence",
    "Point",
    "Verdict",
    "check",
    "inside",
    "permutation",
    "picture",
    "questions",
]

"""The claims of the paper, checked.

:func:`check` computes every statement anew, as printed and as corrected, and derives its verdict.
"""

from anonymatch.paper.checking import check, questions
from anonymatch.paper.claim import Checks, Claim, Evidence, Verdict

__all__ = ["Checks", "Claim", "Evidence", "Verdict", "check", "questions"]

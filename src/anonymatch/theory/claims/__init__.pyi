"""The claims of the paper, checked.

:func:`check` computes every statement anew, as printed and as corrected, and derives its verdict.
"""

from anonymatch.theory.claims.claim import (
    Checks as Checks,
    Claim as Claim,
    Evidence as Evidence,
    GROUPS as GROUPS,
    PUBLICATION as PUBLICATION,
    Publication as Publication,
    Typeset as Typeset,
    Verdict as Verdict,
    WORDS as WORDS,
    check as check,
    questions as questions,
)
from anonymatch.theory.claims.notation import (
    as_html as as_html,
    as_latex as as_latex,
    as_text as as_text,
    escape_latex as escape_latex,
)
from anonymatch.theory.claims.pictures import (
    Ellipse as Ellipse,
    PRINTED as PRINTED,
    Point as Point,
    inside as inside,
    permutation as permutation,
    picture as picture,
)

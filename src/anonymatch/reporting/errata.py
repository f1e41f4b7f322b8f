r"""Errata of the paper for LaTeX: a list that compiles alone, and can be \input elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anonymatch._native import version
from anonymatch.base.numbers import plural
from anonymatch.base.text import plain
from anonymatch.reporting.html.verdicts import verdict
from anonymatch.theory.claims import GROUPS, PUBLICATION, Claim, as_latex, escape_latex

__all__ = ["errata_latex"]

_BEFORE = r"""% Compiles alone; inside another document that loads amssymb write \input{THIS FILE}.
\makeatletter
\ifx\@nodocument\relax\let\errataend\relax\else
\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{amssymb}
\begin{document}
\def\errataend{\end{document}}
\fi
\makeatother
"""
_AFTER = r"""\errataend
"""
_LIST = (
    r"\begin{list}{\textbf{E\arabic{erratum}}}"
    r"{\usecounter{erratum}\setlength{\leftmargin}{2.6em}\sloppy}"
)


def errata_latex(checks: Iterable[Claim]) -> str:
    r"""Every statement that is misprinted, needs a condition or fails, as a numbered list.

    Each has a label, ``erratum:`` and the claim's id, for ``\ref``.

    Examples
    --------
    >>> from anonymatch.theory.claims import check
    >>> text = errata_latex(check("bound-exponent"))
    >>> print(text[text.index(r"\item") : text.index(r"\end{list}")].strip())
    \item\label{erratum:bound-exponent}
    \textbf{Section 3.2, second paragraph: Exponents of the bound} (misprint).
    Statement: With $n = ak + b$, $(k!)^{n/k} = (k!)^{b} (k!)^{b/k}$.
    Correct is: $(k!)^{n/k} = (k!)^{a} (k!)^{b/k}$.
    """
    claims = list(checks)
    order = {name: place for place, name in enumerate(GROUPS)}
    own = [claim for claim in claims if not claim.added]
    wrong = sorted(
        (claim for claim in own if not _holds(claim)),
        key=lambda claim: order.get(claim.group, len(order)),
    )
    more = [claim for claim in claims if claim.added and _holds(claim)]
    return "\n".join(
        [
            f"% Errata computed by anonymatch {version}.",
            _BEFORE,
            _heading(own, wrong),
            *([_list(wrong)] if wrong else []),
            *map(_remark, more),
            "",
            _AFTER,
        ]
    )


def _holds(claim: Claim) -> bool:
    return verdict(claim.verdict).key == "holds"


def _heading(own: Sequence[Claim], wrong: Sequence[Claim]) -> str:
    right = len(own) - len(wrong)
    title, link = escape_latex(PUBLICATION.title), escape_latex(PUBLICATION.link)
    source = f"{PUBLICATION.author}, {PUBLICATION.version} ({PUBLICATION.date})"
    return (
        f"\\section*{{Errata to ``{title}''}}\n\n"
        f"{escape_latex(source)}, \\texttt{{{link}}}. Of {plural(len(own), 'statement')} that "
        f"{'was' if len(own) == 1 else 'were'} computed, {right} "
        f"{'is' if right == 1 else 'are'} true as printed; the others follow, numbered as in that "
        "version.\n"
    )


def _list(claims: Sequence[Claim]) -> str:
    items = "\n\n".join(map(_item, claims))
    new = r"\csname @ifundefined\endcsname{c@erratum}{\newcounter{erratum}}{}"
    return f"{new}\n{_LIST}\n{items}\n\\end{{list}}"


def _remark(claim: Claim) -> str:
    """What holds beyond the paper, and how far that was computed, as a paragraph of its own."""
    name = rf"\textbf{{{_text(claim.label)}: {_text(claim.typeset.title)}.}}"
    searched = f"Searched: {_sentence(claim.searched)}"
    return f"\n\\noindent {name}\n{_sentence(claim.typeset.statement)}\n{searched}\n"


def _item(claim: Claim) -> str:
    typeset, words = claim.typeset, str(getattr(claim.verdict, "value", claim.verdict))
    lines = [
        rf"\item\label{{erratum:{claim.id}}}",
        rf"\textbf{{{_text(claim.label)}: {_text(typeset.title)}}} ({_text(words)}).",
        f"Statement: {_sentence(typeset.statement)}",
    ]
    if typeset.corrected:
        lines.append(f"{verdict(claim.verdict).instead}: {_sentence(typeset.corrected)}")
    if typeset.brief and typeset.brief != typeset.corrected and claim.counterexample:
        lines.append(f"Shown by: {_sentence(typeset.brief)}")
    if claim.counterexample:
        rows = r"\,/\,\allowbreak ".join(claim.counterexample)
        lines.append(rf"Counterexample, a row a user: {{\ttfamily {rows}}}.")
    return "\n".join(lines)


def _text(sentence: str) -> str:
    return as_latex(plain(sentence))


def _sentence(sentence: str) -> str:
    """It, with a full stop at its end."""
    text = _text(sentence).strip()
    return text if text.endswith((".", "!", "?", r"\dots$")) else f"{text}."

"""Comparisons in words: the only place that reports several audits side by side."""

from __future__ import annotations

from anonymatch.audits.comparing import ComparedFigure, Comparison
from anonymatch.audits.figures import FIGURES, confidence_of
from anonymatch.audits.reports.compared_charts import comparison_charts
from anonymatch.audits.result import Audit
from anonymatch.audits.wording import FigureText, figure_text, sureness
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import plural
from anonymatch.base.text import label
from anonymatch.reporting.charts import GROUPS
from anonymatch.reporting.report import (
    AMOUNT,
    COUNT,
    PLACES,
    Chart,
    Column,
    Note,
    Prominence,
    Provenance,
    Report,
    Section,
    Table,
)

__all__ = ["comparison_report"]

_CAPTIONS = {
    "cost": "Up is more anonymous, left is cheaper; larger points send more packets per message.",
    "difference": "Bits more or less than the first: a difference is sure if its line does not "
    "touch 0.",
    "spread": "The further right a line, the better; it begins at the worst.",
}
_BETTER = {"higher": "more", "lower": "less"}
_BEST = (
    "An audit is named best only if intervals do not overlap and the difference exceeds two "
    "standard errors of the traffic. '=' means no difference, '?' an uncertain difference, and '–' "
    "a figure that is not known."
)
_LINES = "Lines across points are the intervals of the figures."


def comparison_report(comparison: Comparison, *, whole: bool = True) -> Report:
    """Return audits side by side, and which differences are real; a page has at most six.

    Examples
    --------
    >>> import anonymatch as am
    >>> pair = am.compare([am.audit(am.partition([2, 2])), am.audit(am.ring(4, 2))], ["2+2", "C4"])
    >>> print(comparison_report(pair).subject)
    A: 2+2: 4 users, 4 behaviours, a graph; B: C4: 4 users, 4 behaviours, a graph
    """
    number = len(comparison.audits)
    if whole and number > GROUPS:
        raise InputError(f"at most {GROUPS} audits fit beside each other, not {number}; leave some")
    letters = [chr(ord("A") + k) for k in range(number)]
    systems = list(zip(letters, comparison.names, comparison.audits, strict=True))
    named = (f"{letter}: {label(name, 60)}: {_size(audit)}" for letter, name, audit in systems)
    meanings = [f"{row.title}: {row.meaning}" for row in comparison.rows]
    drawings = comparison_charts(comparison)
    took = sum(audit.seconds for audit in comparison.audits)
    return Report(
        title=f"{plural(number, 'audit')} compared",
        subject="; ".join(named),
        headline=(comparison.verdict,),
        tables=(_figures(comparison, letters), _audits(comparison, letters)),
        charts=[
            Chart(key=key, draw=drawings[key], caption=caption, section="charts")
            for key, caption in _CAPTIONS.items()
            if whole and key in drawings
        ],
        notes=(
            Note(
                text="What they mean:",
                section="sides",
                bullets=meanings,
                prominence=Prominence.BRIEF,
            ),
            Note(text=_BEST, section="sides"),
            Note(text=_LINES, section="charts", prominence=Prominence.DETAIL),
            *(Note(text=text) for text in comparison.notes),
        ),
        sections=(
            Section("sides", "Figures side by side"),
            Section("charts", "As pictures"),
            Section("audits", "The audits"),
        ),
        provenance=Provenance(
            sentences=(" ".join(comparison.caveats),),
            facts=(("took", f"{took:.3g} s"),),
            caveats=comparison.caveats,
        ),
    )


def _size(audit: Audit) -> str:
    size = audit.observation.nouns.size(audit.n_users, audit.n_behaviours)
    attacker = f", the attacker {audit.attacker}" if audit.attacker else ""
    return f"{size}, {audit.observation.source}{attacker}"


def _figures(comparison: Comparison, letters: list[str]) -> Table:
    rows = []
    for row in comparison.rows:
        texts = _texts(comparison, row)
        rows.append(
            (
                row.title,
                row.meaning,
                *("–" if text is None else text.span for text in texts),
                _best(row, letters),
                _BETTER.get(row.better, ""),
                row.judgement or "–",
                _sure(texts, letters),
            )
        )
    return Table(
        key="figures",
        title="Key figures",
        section="sides",
        columns=(
            Column("figure"),
            Column("meaning", detail=True),
            *(Column(letter, AMOUNT) for letter in letters),
            Column("best", AMOUNT),
            Column("better", detail=True),
            Column("difference", detail=True),
            Column("how sure", detail=True),
        ),
        rows=rows,
        brief=range(len(rows)),
    )


def _best(row: ComparedFigure, letters: list[str]) -> str:
    if row.best is not None:
        return letters[row.best]
    return {"no difference": "=", "": ""}.get(row.judgement, "?")


def _texts(comparison: Comparison, row: ComparedFigure) -> list[FigureText | None]:
    known = FIGURES[row.name]
    # The title of a row has its unit; shares and times are written with theirs.
    unit = known.unit if known.unit in ("share", "seconds") else ""
    return [
        None
        if figure is None
        else figure_text(figure, unit, confidence=confidence_of(audit, known), seed=audit.seed)
        for audit, figure in zip(comparison.audits, row.figures, strict=True)
    ]


def _sure(texts: list[FigureText | None], letters: list[str]) -> str:
    """Return how sure the figures are, audits with the same words together."""
    groups: dict[str, list[str]] = {}
    for letter, text in zip(letters, texts, strict=True):
        groups.setdefault("not known" if text is None else text.sure, []).append(letter)
    return "; ".join(f"{', '.join(who)}: {sure}" for sure, who in groups.items())


def _audits(comparison: Comparison, letters: list[str]) -> Table:
    rows = []
    for letter, name, audit in zip(letters, comparison.names, comparison.audits, strict=True):
        sure = "exact up to rounding" if audit.exact else "some are proven intervals"
        if audit.confidence < 1.0:
            sure = f"some are {sureness(audit.confidence, audit.seed)}"
        source, size = audit.observation.source, audit.n_users
        named = f"{letter}: {label(name, 60)}"
        rows.append((named, source, size, audit.verdict, sure, audit.seconds))
    return Table(
        key="audits",
        title="One by one",
        section="audits",
        columns=(
            Column("name"),
            Column("from"),
            Column("messages or users", COUNT),
            Column("verdict"),
            Column("figures"),
            Column("seconds", PLACES),
        ),
        rows=rows,
        prominence=Prominence.DETAIL,
    )

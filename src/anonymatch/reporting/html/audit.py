"""An audit as one page: is this system good enough, for whom is it worst, and what would help."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from anonymatch._native import version
from anonymatch.audits import Audit, Gate, attacker_sentence, links_of
from anonymatch.base.numbers import amount, percent, plural, shown
from anonymatch.disclosure import rounds_report
from anonymatch.graph import Graph
from anonymatch.mixes import MixAudit, passage_of
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.drawings.matrices import density, heat, matrix
from anonymatch.reporting.drawings.svg import LARGEST
from anonymatch.reporting.html.audit_attack import attack_section
from anonymatch.reporting.html.audit_cost import cost_section
from anonymatch.reporting.html.audit_people import people_section
from anonymatch.reporting.html.audit_rings import rings_section
from anonymatch.reporting.html.audit_time import time_section
from anonymatch.reporting.html.audit_truth import truth_section
from anonymatch.reporting.html.document import (
    Panel,
    Section,
    document,
    panel_section,
    render,
    script,
    style,
    with_hint,
)
from anonymatch.reporting.html.key_figures import anonymity_figures, cost_figures
from anonymatch.reporting.html.page import report_section
from anonymatch.reporting.html.release import release_html, release_sections
from anonymatch.reporting.html.user_table import (
    ROWS,
    probability_head,
    unless_exact,
    user_rows,
    users_sure,
    worst_table,
)
from anonymatch.reporting.html.verdicts import verdict
from anonymatch.rings import RingAudit
from anonymatch.tables import TableAudit

__all__ = [
    "AUDIT_SECTIONS",
    "AuditReport",
    "AuditSection",
    "audit_html",
    "audit_sections",
]

_DRAWN = 1000  # edges; the picture of more is one of shares
_DIGITS = 50.0  # natural log of a count up to which its digits are written


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """An audit to report on, the thresholds it was held against, and the command that made it."""

    audit: Audit
    gates: Sequence[Gate] = ()
    command: str | None = None


AuditSection: TypeAlias = Callable[[AuditReport], Section | None]
"""What makes a section of a report; None where there is nothing to say."""


def audit_html(
    audit: Audit,
    *,
    gates: Sequence[Gate] = (),
    command: str | None = None,
    sections: Sequence[AuditSection] | None = None,
) -> str:
    """Everything that an audit says, as one page that needs nothing else.

    Parameters
    ----------
    audit : Audit
    gates : sequence of Gate
        Thresholds, as :func:`anonymatch.audits.gates.check_gates` returns them.
    command : str, optional
        What was run, so that it can be run again.
    sections : sequence of AuditSection, optional
        What makes the sections, in place of `AUDIT_SECTIONS`.

    Returns
    -------
    str
        HTML; :func:`anonymatch.reporting.html.document.write_html` saves it.

    Examples
    --------
    >>> import anonymatch as am
    >>> text = audit_html(am.audit(am.complete(4)), command="anonymatch audit seen.csv")
    >>> "<h1>Audit of graph</h1>" in text, "anonymatch audit seen.csv" in text
    (True, True)
    """
    if isinstance(audit, TableAudit) and sections is None:
        return release_html(audit, gates=gates, command=command, script=script(), style=style())
    made = audit_sections(audit, gates=gates, command=command, sections=sections)
    return document(f"Audit of {audit.name}", lead=_lead(audit), sections=made, script=script())


def audit_sections(
    audit: Audit,
    *,
    gates: Sequence[Gate] = (),
    command: str | None = None,
    sections: Sequence[AuditSection] | None = None,
) -> tuple[Section, ...]:
    """The sections of that page, in their order.

    Examples
    --------
    >>> import anonymatch as am
    >>> [section.anchor for section in audit_sections(am.audit(am.complete(4)))][:4]
    ['verdict', 'figures', 'spread', 'users']
    """
    if isinstance(audit, TableAudit) and sections is None:
        return release_sections(audit, gates=gates, command=command, style=style())
    report = AuditReport(audit=audit, gates=gates, command=command)
    made = (section(report) for section in (AUDIT_SECTIONS if sections is None else sections))
    return tuple(section for section in made if section is not None)


def _lead(audit: Audit) -> str:
    words = audit.observation.nouns
    out = f"{shown(_n_out(audit))} {words.behaviours}"
    return f"From {audit.observation.source}: {plural(audit.n_users, words.user)} and {out}."


def _n_out(audit: Audit) -> int:
    passage = passage_of(audit.observation)
    return audit.n_behaviours if passage is None else len(passage.behaviours)


def _verdict(audit: Audit, gates: Sequence[Gate]) -> Section:
    shown = [(gate, verdict(_state(gate))) for gate in gates]
    body = render(
        "audit_verdict.html",
        verdict=audit.verdict,
        gates=shown,
        attacker=attacker_sentence(audit.observation),
    )
    return Section("verdict", "Verdict", body, style=style())


def _state(gate: Gate) -> str:
    """The verdict whose icon fits: a tick, a cross, or a half where the interval leaves it open."""
    if gate.passed:
        return "holds"
    return "fails" if gate.missed else "holds under a condition"


def _key_figures(audit: Audit) -> Section:
    body = render(
        "audit_figures.html",
        exact=_exactness(audit),
        anonymity=anonymity_figures(audit),
        cost=cost_figures(audit),
    )
    return Section("figures", "Key figures", body)


def _picture(audit: Audit) -> Section | None:
    observation, words = audit.observation, audit.observation.nouns
    if observation.graph is None:
        return None  # whoever is inside fits what leaves: the load over time is the picture
    title = "Who may have done what"
    if not observation.graph.n_edges:
        return panel_section("picture", title, before=[f"There are no {words.users} to draw."])
    return panel_section("picture", title, [_graph(audit, observation.graph)])


def _graph(audit: Audit, graph: Graph) -> Panel:
    """Cells for few users, blocks for few edges, shades for any number."""
    words, title = audit.observation.nouns, "Who may have done what"
    if isinstance(audit, RingAudit):
        title = "Which input may spend which output"
    if max(graph.n_users, graph.n_behaviours) <= LARGEST:
        sure = _certain(audit)
        caption = (
            f"A row for each {words.user}, a column for each of the {words.behaviours}; a cell is "
            f"coloured where they fit each other.{' Orange ones are certain.' if sure else ''}"
        )
        return Panel(matrix(graph, title=title, edges=sure), caption)
    if "matrix" in audit.charts:
        return Panel(
            embedded(audit.chart("matrix"), "matrix"),
            with_hint(
                f"The graph along time: {words.behaviours} that fit each {words.user}, by when it "
                "came in and how long it would have been held back. The nearer a cell is to the "
                "colour of the page, the fewer fit.",
                "Drag to move, and turn the wheel with Shift held to zoom.",
            ),
        )
    names = words.users, words.behaviours
    few = graph.n_edges <= _DRAWN
    drawn = heat(graph, title=title) if few else density(graph, title=title, names=names)
    return Panel(drawn, drawn.words)


def _certain(audit: Audit) -> list[tuple[Hashable, Hashable]]:
    """Identified users with their behaviours."""
    users = audit.answers.users
    alone = np.flatnonzero((users.allowed == 1) & (users.guess >= 0)).tolist()
    return [(users.users[i], users.behaviours[int(users.guess[i])]) for i in alone]


def _spread(audit: Audit) -> Section:
    users, words = audit.answers.users, audit.observation.nouns
    title = f"Differences between {words.users}"
    if "entropy" not in audit.charts:
        return panel_section("spread", title, before=[f"There are no {words.users}."])
    given = ", given that it departed" if audit.departures_are_open else ""
    doubt = "" if users.known else " Where only ends are known, the worse one is drawn."
    some = "" if audit.n_counted == audit.n_users else " Those that count in averages are drawn."
    sure = unless_exact(users_sure(audit))
    panels = [
        Panel(
            embedded(audit.chart("entropy"), "entropy"),
            with_hint(
                f"What the attacker does not know about each {words.user}, in bits: one more is "
                f"twice as many equally likely {words.behaviours}. Further right is better.{some}"
                f"{doubt}{sure}",
                "Point at a bar to see who is in it; drag over bars, and the table below shows "
                f"those {words.users} alone.",
            ),
        ),
        Panel(
            embedded(audit.chart("probability"), "probability"),
            f"The probability that the best guess about each {words.user} is right{given}: further "
            f"left is better.{doubt}{sure}",
        ),
    ]
    beyond = (
        f"Probabilities of single {words.users} are beyond the budget: for some, only the ends "
        "between which they lie are known. A larger budget tells more."
    )
    before = [] if users.known else [beyond]
    return panel_section("spread", title, panels, before=before)


def _users(audit: Audit) -> Section:
    words = audit.observation.nouns
    rows = user_rows(audit)
    sure = unless_exact(users_sure(audit))
    if len(rows) < audit.n_users:
        held = (
            f"The {ROWS:,} worst of {audit.n_users:,} {words.users} are in this page; "
            "anonymatch audit --csv FILE writes all of them."
        )
    else:
        held = f"All {words.users}, the worst first."
    meaning = (
        f"{probability_head(audit).capitalize()}: that the best guess is right. Hides among: as "
        "many equally likely "
        f"{words.behaviours}. Bits: the same as a power of two, the entropy of the attacker's "
        f"posterior. Candidates: {words.behaviours} "
        "that fit. Possible: those of them that are left when everybody else must fit too."
    )
    title = f"All {words.users}" if len(rows) == audit.n_users else f"{len(rows):,} {words.users}"
    body = render(
        "audit_users.html",
        nouns=words,
        worst=worst_table(audit) if audit.worst else None,
        worst_text=f"Whom to look after first, and why.{sure}",
        title=title,
        text=f"{held} {meaning}{sure}",
        rows=rows,
        probability=probability_head(audit),
    )
    return Section("users", words.users.capitalize(), body, _entries(words.users, title))


def _entries(users: str, title: str) -> tuple[tuple[str, str], ...]:
    return ("worst-users", f"Worst {users}"), ("every-user", title)


def _method(audit: Audit, command: str | None) -> Section:
    facts = [
        *([("ways to match", _ways(audit))] if links_of(audit.answers) is None else []),
        ("counted by", audit.count.method),
        *([] if audit.exact else [("figures", _estimated(audit))]),
        ("source", audit.observation.source),
        ("threshold", f"{amount(audit.threshold)} (effective set size)"),
        ("seed", str(audit.seed)),
        ("took", f"{audit.seconds:.3g} s"),
        ("made by", f"anonymatch {version}"),
    ]
    body = render(
        "audit_method.html",
        caveats=audit.caveats,
        notes=audit.notes,
        facts=facts,
        command=command,
    )
    return Section("about", "Caveats and method", body)


def _ways(audit: Audit) -> str:
    count = audit.count
    if count.exact and count.log < _DIGITS:
        return shown(count.value)
    low, high = (f"2^{end / np.log(2):,.6g}" for end in (count.low, count.high))
    middle = f"2^{count.log2:,.6g}"
    if count.confidence < 1.0:
        return f"{middle}, between {low} and {high} (estimated, {percent(count.confidence)} sure)"
    return middle if low == high else f"{low} to {high} (proven)"


def _exactness(audit: Audit) -> str:
    """What is exact, said once; what is not says so itself."""
    rates = (
        "" if links_of(audit.answers) is None else " for the rates of losses and cover told below"
    )
    if audit.exact:
        return f"Every figure is exact up to rounding{rates}, unless it says otherwise."
    return (
        f"Figures are exact up to rounding{rates} unless they say otherwise: some are "
        f"{_estimated(audit).removeprefix('some ')}."
    )


def _estimated(audit: Audit) -> str:
    if audit.confidence < 1.0:
        return f"some estimated; intervals hold with a probability of {percent(audit.confidence)}"
    return "some known as proven intervals only"


def _decay(report: AuditReport) -> Section | None:
    disclosure = report.audit.disclosure if isinstance(report.audit, MixAudit) else None
    return None if disclosure is None else report_section(rounds_report(disclosure), "decay")


AUDIT_SECTIONS: tuple[AuditSection, ...] = (
    lambda report: _verdict(report.audit, report.gates),
    lambda report: _key_figures(report.audit),
    lambda report: rings_section(report.audit),
    lambda report: _spread(report.audit),
    lambda report: _users(report.audit),
    lambda report: time_section(report.audit),
    lambda report: _picture(report.audit),
    _decay,
    lambda report: attack_section(report.audit),
    lambda report: cost_section(report.audit),
    lambda report: truth_section(report.audit),
    lambda report: people_section(report.audit),
    lambda report: _method(report.audit, report.command),
)
"""The sections of a report in their order: to add a chart is to add a line."""

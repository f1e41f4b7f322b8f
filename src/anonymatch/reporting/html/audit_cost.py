"""What the same cost could buy: the audited system beside the best designs."""

from __future__ import annotations

import math

from anonymatch.audits import FIGURES, Audit, ExposedAudit, FigureText, confidence_of, figure_text
from anonymatch.base.numbers import amount, in_bits, percent
from anonymatch.mixes import MessageAudit, network_of, passage_of
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import Panel, Section, panel_section, with_hint
from anonymatch.reporting.html.tables import Cell, HtmlTable
from anonymatch.reporting.html.user_table import number_cell
from anonymatch.theory.designs import Design

__all__ = ["cost_section"]

_MEANING = (
    "A design says who shares candidates with whom: users in separate groups, each of which fits "
    "all behaviours of its group, leave the most explanations for their cost."
)
_OBJECTIVES = {
    "matchings": "most explanations",
    "after_attack": "most left after the best exposure",
}


def cost_section(audit: Audit) -> Section:
    """Partition graphs of fewer and of more candidates as a line, the system as a point.

    Examples
    --------
    >>> import anonymatch as am
    >>> section = cost_section(am.audit(am.ring(8, 2)))
    >>> "with the same 16 candidates" in section.body, "4 x complete 2" in section.body
    (True, True)
    """
    title = "Cost against anonymity"
    delays = []
    if isinstance(audit, MessageAudit) and audit.same_delay:
        delays = [(_as_long(audit), _mixes(audit))]
    latency = [_latency(audit)] if "latency" in audit.charts else []
    if "cost" not in audit.charts or not isinstance(audit, ExposedAudit):
        before = [_incomparable(audit)]
        return panel_section("cost", title, latency, before=before, tables=delays)
    designs = [("Best designs at the same cost", _designs(audit))] if audit.designs else []
    return panel_section(
        "cost",
        title,
        [_candidates(audit), *latency],
        before=[_own(audit)],
        tables=[*designs, *delays],
        after=[_MEANING],
    )


def _incomparable(audit: Audit) -> str:
    words = audit.observation.nouns
    if network_of(audit.observation) is not None:
        return (
            "Through a network of mixes whoever came before may be a candidate, however unlikely. "
            "What is paid is delay, so that no design of as many candidates is a fair comparison."
        )
    if passage_of(audit.observation) is not None:
        return (
            "Through one exponential mix everybody who came before is a candidate, however "
            "unlikely. What is paid is delay, so that no design of as many candidates is a fair "
            "comparison."
        )
    return (
        f"There is no design to compare with: designs are for as many {words.behaviours} as "
        f"{words.users}, none of them lost."
    )


def _own(audit: ExposedAudit) -> str:
    words = audit.observation.nouns
    own = _own_figure(audit, "bits")
    text = (
        f"The audited system has {amount(audit.cost.candidates)} candidates a {words.user} and "
        f"{own.value} joint{', ' + own.interval if own.interval else ''}"
        f"{'' if own.sure.startswith('exact') else f' ({own.sure})'}"
    )
    if not audit.designs:
        return f"{text}."
    best = audit.designs[0].log2 / audit.designs[0].users
    return (
        f"{text}; the best design with the same {amount(audit.cost.edges)} candidates in all has "
        f"{amount(best)}."
    )


def _candidates(audit: Audit) -> Panel:
    words = audit.observation.nouns
    return Panel(
        embedded(audit.chart("cost"), "cost"),
        "The line is what partition graphs of that cost reach; the further this system is below "
        "it, the more anonymity is to be had for nothing. The bound holds for systems whose "
        f"{words.users} have as many candidates each as here.",
    )


def _latency(audit: Audit) -> Panel:
    return Panel(
        embedded(audit.chart("latency"), "latency"),
        with_hint(
            "What other mixes without cover give for as much delay, if messages come in at random "
            "and as often as here, and the ceiling that no mix exceeds in such traffic; bursts may "
            "lift it.",
            "A click on a name shows its line alone.",
        ),
    )


def _designs(audit: ExposedAudit) -> HtmlTable:
    heads = (
        Cell("chosen for", False),
        Cell(f"joint bits per {audit.observation.nouns.user}", True),
        Cell("after the best exposure", True),
        Cell("matchings, of the edges' bound", True),
        Cell("parts", False),
    )
    return HtmlTable(heads, tuple(_row(design) for design in audit.designs), "")


def _mixes(audit: MessageAudit) -> HtmlTable:
    """Closed forms for messages that come in at random, as many a second as here."""
    own = ("this system", _own_figure(audit, "entropy").short)
    others = ((title, in_bits(amount(bits))) for title, bits in audit.same_delay)
    rows = [(Cell(title, False), number_cell(bits)) for title, bits in (own, *others)]
    return HtmlTable((Cell("mix", False), Cell("entropy per message", True)), tuple(rows), "")


def _as_long(audit: MessageAudit) -> str:
    """Both delays where they differ."""
    own, theirs = audit.cost.mean_delay, audit.same_delay_seconds
    assert own is not None
    assert theirs is not None
    if amount(own) == amount(theirs):
        return f"Mixes that hold messages back as long, {amount(own)} s on average"
    return (
        f"Mixes that hold messages back {amount(theirs)} s on average: this system does for "
        f"{amount(own)} s, but in random traffic they would have more inside"
    )


def _own_figure(audit: Audit, key: str) -> FigureText:
    figure = FIGURES[key]
    value = figure.value(audit)
    assert value is not None
    return figure_text(value, figure.unit, confidence=confidence_of(audit, figure), seed=audit.seed)


def _row(design: Design) -> tuple[Cell, ...]:
    _, _, parts = str(design).rpartition("; ")
    users = max(design.users, 1)
    at_least = "" if design.exact else "at least "
    return (
        Cell(_OBJECTIVES.get(design.objective, design.objective), False),
        number_cell(f"{at_least}{amount(design.log2 / users)}"),
        number_cell(f"{at_least}{amount(design.attack_log / math.log(2.0) / users)}"),
        number_cell(f"{at_least}{percent(design.ratio)}"),
        Cell(parts, False),
    )

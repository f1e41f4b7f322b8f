"""Audits of mixes, networks, graphs and rings in words: the only place that reports them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from anonymatch.audits.answers import links_of
from anonymatch.audits.figures import (
    FIGURES,
    GROUPS,
    QUANTILES,
    AuditFigure,
    Show,
)
from anonymatch.audits.reports.report_parts import (
    attack_part,
    cost_part,
    people_part,
    rings_part,
    truth_part,
)
from anonymatch.audits.reports.report_users import unless_exact, user_tables, users_sure
from anonymatch.audits.result import Audit, ExposedAudit
from anonymatch.audits.wording import FigureText, attacker_sentence, figure_text
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import (
    amount,
    count,
    in_bits,
    percent,
    powers,
    shown,
    took,
)
from anonymatch.mixes import (
    MessageAudit,
    MessageObservation,
    MixAudit,
    NetworkAudit,
    network_of,
    passage_of,
)
from anonymatch.reporting.report import (
    Better,
    Candidates,
    Chart,
    Figure,
    Note,
    Prominence,
    Provenance,
    Report,
    Section,
)
from anonymatch.rings import RingAudit
from anonymatch.tables import TableAudit

__all__ = ["audit_report"]

_DETAIL = Prominence.DETAIL
_SHORT = 40.0  # natural log of a count that the terminal shows in digits
_DIGITS = 50.0  # natural log of a count that pages show in digits
_LARGEST = 40  # users of a graph that is drawn cell by cell
_GROUPS = {"cost": "What that costs"}
_ZOOM = "Drag to move, and turn the wheel with Shift held to zoom; a double click takes it back."


def audit_report(
    audit: Audit, *, missed: Mapping[str, float] | None = None, whole: bool = True
) -> Report:
    """Return everything that an audit says; not ``whole``: only what the terminal shows.

    ``missed`` are thresholds that a released table does not reach, for advice on changes.

    Examples
    --------
    >>> import anonymatch as am
    >>> report = audit_report(am.audit(am.complete(4)))
    >>> report.title, report.figure("entropy").text
    ('Audit of graph', '2 bits')
    """
    if isinstance(audit, TableAudit):
        from anonymatch.tables import table_report

        return table_report(audit, missed=missed, whole=whole)
    words = audit.observation.nouns
    parts = [rings_part(audit), attack_part(audit), truth_part(audit)]
    if whole:
        parts += [cost_part(audit), people_part(audit)]
    notes = [note for part in parts for note in part.notes]
    charts = [chart for part in parts for chart in part.charts]
    tables = [table for part in parts for table in part.tables]
    if whole:
        notes += _spread_notes(audit)
        charts += _charts(audit)
        notes.append(Note(text=_exactness(audit), section="figures", prominence=_DETAIL))
    tables += user_tables(audit, whole=whole)
    decay = _decay(audit) if whole else None
    if decay is not None:
        charts += [each for each in decay.charts if each.section == "decay"]
        tables += [
            replace(each, prominence=_DETAIL) for each in decay.tables if each.section == "decay"
        ]
    return Report(
        title=f"Audit of {audit.name}",
        subject=f"{words.size(audit.n_users, audit.n_behaviours)}, {audit.observation.source}",
        attacker=attacker_sentence(audit.observation),
        headline=(audit.verdict,),
        figures=tuple(_figures(audit)),
        tables=tables,
        charts=charts,
        notes=[*notes, *(Note(text=text) for text in audit.notes)],
        sections=(
            Section("rings", "Rings"),
            Section("spread", f"Differences between {words.users}"),
            Section("users", words.users.capitalize()),
            Section("time", "Over time"),
            Section("picture", "Candidates"),
            Section("decay", "Anonymity by rounds seen"),
            Section("attack", "Under attack"),
            Section("cost", "Cost against anonymity"),
            Section("truth", "Compared with the ground truth"),
            Section("people", "People"),
        ),
        provenance=_provenance(audit),
    )


def _decay(audit: Audit) -> Report | None:
    from anonymatch.disclosure import rounds_report

    disclosure = audit.disclosure if isinstance(audit, MixAudit) else None
    return None if disclosure is None or not disclosure.curve else rounds_report(disclosure)


# ---- figures


def _figures(audit: Audit) -> Iterator[Figure]:
    """Yield the figures that are shown, group by group; some have lines of their own."""
    for group in GROUPS:
        for figure in FIGURES.values():
            shown = isinstance(audit, figure.of) and figure.show & (Show.SCREEN | Show.HTML)
            if figure.group == group and shown:
                yield from _LINES.get(figure.key, _line)(audit, figure)


def _line(audit: Audit, figure: AuditFigure, more: str = "") -> list[Figure]:
    text = figure.text(audit)
    if text is None and (figure.only_if_known or not figure.show & Show.HTML):
        return []
    both = {Show.SCREEN: Prominence.BRIEF, Show.HTML: _DETAIL}
    prominence = both.get(figure.show & (Show.SCREEN | Show.HTML), Prominence.MAIN)
    nouns, threshold = audit.observation.nouns, amount(audit.threshold)
    made = Figure(
        key=figure.key,
        title=figure.title_for(nouns, threshold),
        value=figure.value(audit),
        meaning=figure.meaning_for(nouns, threshold).removeprefix("cost: ") + more,
        better=Better(figure.better),
        prominence=_DETAIL if text is None else prominence,
        group=_GROUPS.get(figure.group, "How well they are hidden"),
        shown="–" if text is None else text.span,
        sure="not known" if text is None else _sure(text),
    )
    return [made]


def _sure(text: FigureText) -> str:
    middle = f"about {text.value}" if text.ends else ""
    return "; ".join(filter(None, (middle, "" if text.sure.startswith("exact") else text.sure)))


def _brief(title: str, shown_text: str, meaning: str) -> Figure:
    """Return a line of the terminal that pages show elsewhere."""
    key = title.replace(" ", "_")
    return Figure(
        key=key, title=title, shown=shown_text, meaning=meaning, prominence=Prominence.BRIEF
    )


def _entropy(audit: Audit, figure: AuditFigure) -> list[Figure]:
    return _line(audit, figure, f" ({_trust(audit)})")


def _trust(audit: Audit) -> str:
    network = network_of(audit.observation)
    hidden = network is not None and network.rates is not None
    rated = hidden or links_of(audit.answers) is not None
    if audit.confidence == 1.0 and rated:
        return "exact for these rates"
    if audit.confidence == 1.0:
        return "exact" if audit.count.exact else "proven"
    return f"estimated, {percent(audit.confidence)} sure"


def _tails(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """Return the quantiles as one line of the terminal, and each as a card."""
    cards = _page_only(audit, figure)
    if figure.key != "entropy_5%" or not audit.n_counted:
        return cards
    values = ", ".join(interval_text(audit.entropy_quantile(share)) for share in QUANTILES)
    shares = ", ".join(map(percent, QUANTILES))
    meaning = f"the worst share of the {audit.observation.nouns.users} have no more entropy"
    return [_brief(f"worst {shares}", f"{values} bits", meaning), *cards]


def _page_only(audit: Audit, figure: AuditFigure) -> list[Figure]:
    return [
        replace(each, prominence=_DETAIL)
        for each in _line(audit, figure)
        if figure.show & Show.HTML
    ]


def _joint(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """In a network several histories give the same answer, so that it is no log of a number."""
    lines = _line(audit, figure)
    if not isinstance(audit, NetworkAudit):
        return lines
    return [replace(each, meaning="about who sent what, all together") for each in lines]


def _degree(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """If losses, cover or an end are open, matchings are not equally likely, and not counted."""
    lines = _line(audit, figure)
    if links_of(audit.answers) is not None:
        return lines
    total = audit.count
    digits = total.exact and total.log < _SHORT
    number = count(total.value, total.log) if digits else powers(total.log, total.low, total.high)
    if isinstance(audit, NetworkAudit):
        return [_brief("histories", number, "which packet is which, in every mix"), *lines]
    nouns = audit.observation.nouns
    meaning = f"{nouns.users}{nouns.side} to {nouns.behaviours}"
    return [_brief("ways to match", number, meaning), *lines]


def _reached(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """Return the share of the bound, and what other designs and mixes reach."""
    nouns, lines = audit.observation.nouns, _page_only(audit, figure)
    if passage_of(audit.observation) is None:
        text = figure.text(audit)
        reached = "" if text is None else f"; {text.span} of it is reached"
        meaning = f"joint bits per {nouns.user}, given the number of candidates of each{reached}"
        lines.append(_brief("at most", in_bits(amount(audit.bound)), meaning))
    design = audit.best_design if isinstance(audit, ExposedAudit) else None
    if design is not None:
        joint = amount(design.log2 / max(design.users, 1))
        meaning = (
            f"joint bits per {nouns.user} with the same number of {nouns.users} and candidates"
        )
        lines.append(_brief("best design", in_bits(joint), meaning))
    if not isinstance(audit, MessageAudit):
        return lines
    for title, entropy in audit.same_delay:
        assert audit.same_delay_seconds is not None
        delay = amount(audit.same_delay_seconds)
        meaning = f"entropy per {nouns.user} at {delay} s mean delay in random traffic, no cover"
        lines.append(_brief(title, in_bits(amount(entropy)), meaning))
    return lines


def _ceiling(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """Return what no mix exceeds, and the share of it that is reached."""
    ceiling = audit.ceiling if isinstance(audit, MessageAudit) else None
    if ceiling is None or not ceiling.value:
        return _line(audit, figure)
    users = audit.answers.users
    mean, ends = audit.entropy.value, ""
    if mean > ceiling.value and users.weights is None:
        # The mean leaves out messages near the ends of the log, and the ceiling has them.
        mean = float(users.shannon.value[~users.censored].mean())
        ends = f"with the {audit.observation.nouns.users} near the ends of the log, "
    share = percent(min(1.0, mean / ceiling.value))
    return _line(audit, figure, f"; {ends}{share} of it is reached")


def _candidates(audit: Audit, figure: AuditFigure) -> list[Figure]:
    """Through a passage everybody who came before is a candidate."""
    through = passage_of(audit.observation) is not None
    return _page_only(audit, figure) if through else _line(audit, figure)


def _lost(audit: Audit, figure: AuditFigure) -> list[Figure]:
    some = isinstance(audit, MessageAudit) and audit.cost.lost
    return _line(audit, figure) if some else _page_only(audit, figure)


_LINES: Mapping[str, Callable[[Audit, AuditFigure], list[Figure]]] = {
    "entropy": _entropy,
    "entropy_5%": _tails,
    "entropy_1%": _tails,
    "bits": _joint,
    "degree": _degree,
    "reached": _reached,
    "ceiling": _ceiling,
    "candidates": _candidates,
    "lost": _lost,
}
"""Figures whose lines say more than the table does, or are left out at times."""


def interval_text(figure: Interval, unit: str = "") -> str:
    """Return one number if the ends agree, else both.

    Examples
    --------
    >>> interval_text(Interval(0.5, 0.5, 0.5)), interval_text(Interval(0.5, 0.4, 0.6))
    ('0.5', '0.4 to 0.6')
    """
    return figure_text(figure, unit, confidence=1.0, seed=0).span


# ---- charts


def _spread_notes(audit: Audit) -> list[Note]:
    words = audit.observation.nouns
    texts = []
    if "entropy" not in audit.charts:
        texts.append(f"There are no {words.users}.")
    elif not audit.answers.users.known:
        texts.append(
            f"Probabilities of single {words.users} are beyond the budget: for some, only the ends "
            "between which they lie are known. A larger budget tells more."
        )
    graph = audit.observation.graph
    notes = [Note(text=text, section="spread", prominence=_DETAIL) for text in texts]
    if graph is not None and not graph.n_edges:
        text = f"There are no {words.users} to draw."
        notes.append(Note(text=text, section="picture", prominence=_DETAIL))
    return notes


def _charts(audit: Audit) -> Iterator[Chart]:
    """Yield the charts of the sections that every audit has; other parts have their own."""
    from anonymatch.audits.reports.charts import audit_charts

    words, users = audit.observation.nouns, audit.answers.users
    drawings = audit_charts(audit)
    given = ", given that it departed" if audit.departures_are_open else ""
    doubt = "" if users.known else " Where only ends are known, the worse one is drawn."
    some = "" if audit.n_counted == audit.n_users else " Those that count in averages are drawn."
    sure = unless_exact(users_sure(audit))
    if "entropy" in drawings:
        yield Chart(
            key="entropy",
            draw=drawings["entropy"],
            section="spread",
            caption=(
                f"What the attacker does not know about each {words.user}, in bits: one more is "
                f"twice as many equally likely {words.behaviours}. Further right is better.{some}"
                f"{doubt}{sure}"
            ),
            hint=(
                "Point at a bar to see who is in it; drag over bars, and the table below shows "
                f"those {words.users} alone."
            ),
        )
        yield Chart(
            key="probability",
            draw=drawings["probability"],
            section="spread",
            caption=(
                f"The probability that the best guess about each {words.user} is right{given}: "
                f"further left is better.{doubt}{sure}"
            ),
        )
    if "time" in drawings:
        yield Chart(
            key="time",
            draw=drawings["time"],
            section="time",
            caption=_over_time(audit) + sure,
            hint=_ZOOM,
        )
    if "delay" in drawings:
        caption = (
            f"How long {words.users} were held back, by the ground truth in the log: the price of "
            "the anonymity."
        )
        yield Chart(key="delay", draw=drawings["delay"], section="time", caption=caption)
    yield from _picture(audit, drawings)


def _over_time(audit: Audit) -> str:
    words = audit.observation.nouns
    near = f" {words.users.capitalize()} near an end of the log are not in the lines."
    seen = audit.observation
    ends = near if isinstance(seen, MessageObservation) and seen.edge is not None else ""
    expected = "" if links_of(audit.answers) is None else "expected "
    no_matrix = (
        " There is no picture of who fits what: whoever is inside fits what leaves, so that this "
        "load is the picture."
    )
    passage = no_matrix if passage_of(audit.observation) is not None else ""
    return (
        f"Above, the entropy of the {words.users} that came in at that time: the mean, and what "
        f"the worst do not exceed.{ends} Below, how many {words.users} are {expected}inside: the "
        "line is the mean, the band goes from the fewest to the most. Each "
        f"{words.user} that leaves is one of those inside: where they are few, it hides among "
        f"few.{passage}"
    )


def _picture(audit: Audit, drawings: Mapping[str, Callable[[], object]]) -> Iterator[Chart]:
    """Yield the graph: whoever is inside fits what leaves a passage, which has none."""
    graph, words = audit.observation.graph, audit.observation.nouns
    if graph is None or not graph.n_edges:
        return
    title = "Who may have done what"
    if isinstance(audit, RingAudit):
        title = "Which input may spend which output"
    small = max(graph.n_users, graph.n_behaviours) <= _LARGEST
    if not small and "matrix" in drawings:
        yield Chart(
            key="matrix",
            draw=drawings["matrix"],
            section="picture",
            caption=(
                f"The graph along time: {words.behaviours} that fit each {words.user}, by when it "
                "came in and how long it would have been held back. The nearer a cell is to the "
                "colour of the page, the fewer fit."
            ),
            hint="Drag to move, and turn the wheel with Shift held to zoom.",
        )
        return
    users = audit.answers.users
    alone = np.flatnonzero((users.allowed == 1) & (users.guess >= 0)).tolist() if small else []
    sure = [(users.users[i], users.behaviours[int(users.guess[i])]) for i in alone]
    drawn = Candidates(
        title=title, graph=graph, certain=sure, names=(words.users, words.behaviours)
    )
    caption = (
        f"A row for each {words.user}, a column for each of the {words.behaviours}; a cell is "
        f"coloured where they fit each other.{' Orange ones are certain.' if sure else ''}"
    )
    yield Chart(
        key="candidates",
        draw=lambda: drawn,
        section="picture",
        caption=caption if small else "",
        file=False,
    )


# ---- method


def _provenance(audit: Audit) -> Provenance:
    seed = "" if audit.confidence == 1.0 else f", seed {audit.seed}"
    facts = [
        *([("ways to match", _ways(audit))] if links_of(audit.answers) is None else []),
        ("counted by", audit.count.method),
        *([] if audit.exact else [("figures", _estimated(audit))]),
        ("source", audit.observation.source),
        ("threshold", f"{amount(audit.threshold)} (effective set size)"),
        ("seed", str(audit.seed)),
        ("took", f"{audit.seconds:.3g} s"),
    ]
    return Provenance(
        sentences=(
            " ".join(audit.caveats),
            f"By {audit.count.method}{seed}, in {took(audit.seconds)}.",
        ),
        facts=facts,
        caveats=audit.caveats,
    )


def _ways(audit: Audit) -> str:
    total = audit.count
    if total.exact and total.log < _DIGITS:
        return shown(total.value)
    low, high = (f"2^{end / math.log(2):,.6g}" for end in (total.low, total.high))
    middle = f"2^{total.log2:,.6g}"
    if total.confidence < 1.0:
        return f"{middle}, between {low} and {high} (estimated, {percent(total.confidence)} sure)"
    return middle if low == high else f"{low} to {high} (proven)"


def _exactness(audit: Audit) -> str:
    """Return what is exact, once; other figures have their own line."""
    rated = links_of(audit.answers) is not None
    rates = " for the rates of losses and cover told below" if rated else ""
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

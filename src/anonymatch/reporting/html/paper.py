"""The claims of the paper as a page: what stands, what needs a condition, what fails, and why."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.base.numbers import percent, plural, shown
from anonymatch.base.text import plain
from anonymatch.counting import count
from anonymatch.graph import Graph, witness
from anonymatch.reporting.charts import EmbeddedChart, Line, embedded, line_chart
from anonymatch.reporting.drawings.graphs import bipartite
from anonymatch.reporting.drawings.matrices import matrix
from anonymatch.reporting.drawings.svg import Picture
from anonymatch.reporting.html.document import Panel, Section, document, render
from anonymatch.reporting.html.tables import HtmlTable, table
from anonymatch.reporting.html.verdicts import VerdictMark, verdict
from anonymatch.reporting.paper_figures import PaperFigure, attacked, graph_of, paper_figures
from anonymatch.theory.claims import GROUPS, PUBLICATION, WORDS, Claim, Evidence, as_html

__all__ = ["claim_card", "paper_html", "paper_summary"]

_FIGURE = re.compile(
    r"\bFig(?:ures?|s)?\.?[\s_-]*(\d+(?:\s*(?:,|and|&|to|–)\s*\d+)*)", re.IGNORECASE
)
_POWER = re.compile(r"\^\(((?:[^()]|\([^()]*\))*)\)|\^(\w+)")
_SECONDS = 5.0  # for the count of one counterexample
_ATTACKED = 12  # users up to which it is attacked as well
_MAIN = ("theorem", "lemma", "corollary", "conjecture", "text", "definition")  # named one by one


@dataclass(frozen=True, slots=True)
class _Evidence:
    text: Markup
    table: HtmlTable | None
    picture: Picture | EmbeddedChart | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """A claim as the page shows it; ``source`` is the claim itself."""

    name: str
    source: Claim
    title: Markup
    statement: Markup
    verdict: VerdictMark
    corrected: Markup | None
    brief: Markup | None
    finding: Markup
    evidence: tuple[_Evidence, ...]
    counterexample: tuple[Panel, ...]
    figures: tuple[PaperFigure, ...]
    searched: Markup

    @property
    def anchor(self) -> str:
        return f"claim-{self.name}"


def paper_html(checks: Iterable[Claim]) -> str:
    """A page about the paper, each claim folded up, and the nine figures where they are claimed.

    Parameters
    ----------
    checks : iterable of claims
        As ``anonymatch.theory.claims.check()`` returns them.

    Returns
    -------
    str
        HTML; :func:`anonymatch.reporting.html.document.write_html` saves it.

    Examples
    --------
    >>> from anonymatch.theory.claims import check
    >>> text = paper_html(check("figure-7"))
    >>> "1 of 1 statement of the paper is true as printed" in text, 'id="claim-figure-7"' in text
    (True, True)
    """
    claims = list(checks)
    if not claims:
        raise InputError("there are no claims to show; check some first")
    cards, rest = _cards(claims)
    grouped = _grouped(cards)
    tally = _tally(cards)
    sections = [
        Section("summary", "In short", _summary(cards), style=str(render("paper.css"))),
        *_refutations(cards),
        Section(
            "claims",
            "Statement by statement",
            render("paper_claims.html", grouped=grouped, tally=tally, total=len(cards)),
            tuple((group.anchor, group.name) for group in grouped),
            "\n".join(each.filter for each, _ in tally),
        ),
        Section("words", "Words", render("paper_words.html", words=_words())),
    ]
    if rest:
        body = render("paper_figures.html", figures=rest)
        sections.append(Section("figures", "Other figures of the paper", body))
    return document(
        PUBLICATION.title,
        lead=render("paper_head.html", paper=PUBLICATION, line=_line(_own(cards))),
        sections=tuple(sections),
    )


def paper_summary(checks: Iterable[Claim], *, target: str = "#claim-") -> Markup:
    """What stands, what needs a condition and what fails: a paragraph each.

    Links to claims are ``target`` with the claim's id behind it.

    Examples
    --------
    >>> from anonymatch.theory.claims import check
    >>> "<strong>What stands.</strong> 1 of 1 statement" in paper_summary(check("figure-7"))
    True
    """
    return _summary(_cards(list(checks))[0], target)


def claim_card(claim: Claim) -> Markup:
    """One claim, unfolded, with every figure of the paper that it is about.

    Examples
    --------
    >>> from anonymatch.theory.claims.claim import check
    >>> "Figure 7: A graph and its matrix" in claim_card(check("figure-7")["figure-7"])
    True
    """
    (figures,) = _figures_of([claim])
    return render("paper_claim.html", claim=_card(claim, figures))


@dataclass(frozen=True, slots=True)
class _Group:
    """Claims of one weight, in the order of the paper."""

    anchor: str
    name: str
    cards: tuple[_Card, ...]

    @property
    def keys(self) -> str:
        """Classes that say which verdicts are among them."""
        return " ".join(dict.fromkeys(f"has-{card.verdict.key}" for card in self.cards))


def _cards(claims: Sequence[Claim]) -> tuple[list[_Card], list[PaperFigure]]:
    """Claims by weight, and the figures that none of them is about."""
    order = {name: place for place, name in enumerate(GROUPS)}
    figures_of = _figures_of(claims)
    cards = [_card(claim, figures) for claim, figures in zip(claims, figures_of, strict=True)]
    cards.sort(key=lambda card: order.get(card.source.group, len(order)))  # and else as they came
    return _distinct(cards), _unclaimed(figures_of)


def _grouped(cards: Sequence[_Card]) -> list[_Group]:
    names = dict.fromkeys(card.source.group for card in cards)
    return [
        _Group(f"group-{place}", name, tuple(card for card in cards if card.source.group == name))
        for place, name in enumerate(names)
    ]


def _tally(cards: Sequence[_Card]) -> list[tuple[VerdictMark, int]]:
    numbers = Counter(card.verdict for card in cards)
    return sorted(numbers.items(), key=lambda pair: pair[0].rank)


def _summary(cards: Sequence[_Card], target: str = "#claim-") -> Markup:
    paper = [card for card in cards if not card.source.added]
    by_key = {
        key: [card for card in paper if card.verdict.key == key]
        for key in ("holds", "misprint", "condition", "fails")
    }
    return render(
        "paper_summary.html",
        total=len(paper),
        target=target,
        **by_key,
        added=[card for card in cards if card.source.added and card.verdict.key == "holds"],
        named=lambda some: [card for card in some if card.source.kind in _MAIN],
        others=_others,
        plural=plural,
    )


def _others(cards: Sequence[_Card]) -> str:
    """Formulas and figures, which are only counted."""
    numbers = Counter(card.source.kind for card in cards if card.source.kind not in _MAIN)
    nouns = {"appendix": ("line of the appendices", "lines of the appendices")}
    words = [plural(number, *nouns.get(kind, (kind,))) for kind, number in sorted(numbers.items())]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _refutations(cards: Sequence[_Card]) -> list[Section]:
    """The graphs that refute statements, each with what it refutes; none twice."""
    failing = [card for card in cards if card.verdict.key == "fails" and card.counterexample]
    if not failing:
        return []
    body = render("paper_refutations.html", cards=failing)
    return [Section("counterexamples", "Counterexamples", body)]


def _words() -> list[tuple[Markup, ...]]:
    return [tuple(_marked(cell) for cell in row) for row in WORDS]


def _marked(sentence: str) -> Markup:
    return Markup(as_html(plain(sentence)))


def _raised(text: str) -> Markup:
    """A plain sentence, in which powers are raised and relations are one sign.

    Examples
    --------
    >>> print(_raised("K44 has k! matchings, at most (k!)^(n/k), for n <= 10^6 & more"))
    K<sub>4,4</sub> has k! matchings, at most (k!)<sup>n/k</sup>, for n ≤ 10<sup>6</sup> &amp; more
    """
    html = str(escape(plain(text))).replace("&lt;=", "≤").replace("&gt;=", "≥")
    html = re.sub(_POWER, r"<sup>\1\2</sup>", html)
    html = re.sub(r"\b([A-Za-z])_(?:\{([^{}]*)\}|(\w+))", r"\1<sub>\2\3</sub>", html)
    return Markup(re.sub(r"\bK(\d)\1\b", r"K<sub>\1,\1</sub>", html))


def _card(claim: Claim, figures: tuple[PaperFigure, ...]) -> _Card:
    typeset = claim.typeset
    try:
        panels = _counterexample(claim)
        drawn = {tuple(claim.counterexample or ()), tuple(claim.partition or ())}
        drawn |= _rows_of(figures)
        evidence = tuple(_evidence(each, drawn) for each in claim.evidence)
        sentences = [
            None if sentence is None else _marked(sentence)
            for sentence in (typeset.corrected, typeset.brief)
        ]
        title, statement = _marked(typeset.title), _marked(typeset.statement)
    except AnonymatchError as error:
        raise InputError(f"claim {claim.id!r} cannot be shown: {error}") from None
    return _Card(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", str(claim.id)),
        source=claim,
        title=title,
        statement=statement,
        verdict=verdict(claim.verdict),
        corrected=sentences[0],
        brief=sentences[1],
        finding=_raised(claim.finding),
        evidence=evidence,
        counterexample=panels,
        figures=figures,
        searched=_raised(claim.searched),
    )


def _evidence(evidence: Evidence, drawn: set[tuple[str, ...]]) -> _Evidence:
    """A chart for series, a picture for a graph, a table for rows, and one for named values.

    A graph that is among ``drawn`` is not drawn again.
    """
    data = dict(evidence.data or {})
    picture: Picture | EmbeddedChart | None = None
    if series := data.pop("series", None):
        picture = _chart(evidence.text, series, data)
        data = {}
    graph = tuple(data.pop("graph", ()))
    if graph and graph not in drawn:
        picture = bipartite(_graph(graph), title=evidence.text, groups="blocks")
        drawn.add(graph)
    columns, rows = data.pop("columns", None), data.pop("rows", None)
    values = None
    if columns is not None and rows is not None:
        values = table(columns, rows)
    elif data:
        values = table(["", "value"], data.items())
    return _Evidence(_raised(evidence.text), values, picture)


def _chart(
    title: str, series: Sequence[Mapping[str, Any]], data: Mapping[str, Any]
) -> EmbeddedChart:
    lines = [Line(str(each["name"]), each["x"], each["y"]) for each in series]
    known = [point[0] for line in lines for point in line.points()]
    far = bool(known) and 0 < 100 * min(known) <= max(known)
    drawn = line_chart(
        lines,
        title=title,
        x_label=str(data.get("x_label", data.get("x", ""))),
        y_label=str(data.get("y_label", data.get("y", ""))),
        log_x=bool(data.get("log_x", far)),
        log_y=bool(data.get("log_y", False)),
    )
    return embedded(drawn, re.sub(r"\W+", "-", title).strip("-").lower()[:40] or "chart")


def _counterexample(claim: Claim) -> tuple[Panel, ...]:
    """The graph, and beside it the partition graph that it beats; else its matrix."""
    if not claim.counterexample:
        return ()
    graph = _graph(claim.counterexample)
    drawn = _panel(graph, "The counterexample")
    if claim.partition:
        other = _graph(claim.partition)
        unused = graph.n_edges - other.n_edges
        return (drawn, _panel(other, "The partition graph H", unused))
    return (drawn, Panel(matrix(graph, title="The counterexample as a matrix"), "Its matrix"))


def _panel(graph: Graph, name: str, unused: int = 0) -> Panel:
    left_over = f" ({shown(unused)} more unused)" if unused > 0 else ""
    return Panel(
        bipartite(graph, title=name, groups="blocks"),
        f"{name}: {_matchings(graph)} from {plural(graph.n_users, 'user')} and "
        f"{plural(graph.n_edges, 'edge')}{left_over}{_attacked(graph)}",
        graph,
    )


def _graph(rows: Sequence[str]) -> Graph:
    return graph_of(Graph.from_rows(rows).to_rows())


def _matchings(graph: Graph) -> str:
    counted = count(graph, budget=_SECONDS)
    if counted.exact:
        return plural(int(counted.value), "matching")
    sure = "" if counted.confidence == 1.0 else f" ({percent(counted.confidence)} sure)"
    ends = (f"2^{end / math.log(2):.6g}" for end in (counted.low, counted.high))
    return f"{' to '.join(ends)} matchings{sure}"


def _attacked(graph: Graph) -> str:
    if graph.n_users > _ATTACKED or witness(graph) is not None:
        return ""
    return f"; de-anonymising one user leaves {shown(attacked(graph))} on average"


def _figures_of(claims: Sequence[Claim]) -> list[tuple[PaperFigure, ...]]:
    """The figures that each claim is about, each at the first claim that names it."""
    left = {figure.number: figure for figure in paper_figures()}
    return [
        tuple(
            left.pop(number) for number in _numbers(f"{claim.section} {claim.id}") if number in left
        )
        for claim in claims
    ]


def _numbers(text: str) -> list[int]:
    """Figures that a text names.

    Examples
    --------
    >>> _numbers("Fig. 8 and Figure 9"), _numbers("Figures 1, 2 and 4"), _numbers("Lemma 3")
    ([8, 9], [1, 2, 4], [])
    """
    named = [
        int(digits) for mention in _FIGURE.findall(text) for digits in re.findall(r"\d+", mention)
    ]
    return list(dict.fromkeys(named))


def _rows_of(figures: Sequence[PaperFigure]) -> set[tuple[str, ...]]:
    """The graphs that figures draw already."""
    graphs = [panel.graph for figure in figures for panel in figure.panels]
    return {tuple(graph.to_rows()) for graph in graphs if graph is not None and not graph.weighted}


def _unclaimed(figures_of: Sequence[tuple[PaperFigure, ...]]) -> list[PaperFigure]:
    shown_already = {figure.number for figures in figures_of for figure in figures}
    return [figure for figure in paper_figures() if figure.number not in shown_already]


def _distinct(cards: list[_Card]) -> list[_Card]:
    """Refuse claims that links could not tell apart."""
    anchors = Counter(card.anchor for card in cards)
    twice = [anchor for anchor, number in anchors.items() if number > 1]
    if twice:
        raise InputError(f"two claims share the anchor {twice[0]!r}; give each an id of its own")
    return cards


def _own(cards: Sequence[_Card]) -> list[tuple[VerdictMark, int]]:
    """The tally of what the paper itself says, or of all if it says none of it."""
    return _tally([card for card in cards if not card.source.added] or cards)


def _line(tally: Sequence[tuple[VerdictMark, int]]) -> str:
    total = sum(number for _, number in tally)
    parts = ", ".join(f"{shown(number)} {each.verb(number)}" for each, number in tally)
    return f"{plural(total, 'statement')}: {parts}."

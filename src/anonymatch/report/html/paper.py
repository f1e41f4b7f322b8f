"""The claims of the paper as a page: what holds, what does not, and how that was found."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from markupsafe import Markup

from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.base.numbers import percent, plural, shown
from anonymatch.counting import count
from anonymatch.graph import Graph, witness
from anonymatch.report.charts.charts import Series, line_chart
from anonymatch.report.drawings.graphs import bipartite
from anonymatch.report.drawings.matrices import matrix
from anonymatch.report.drawings.svg import Picture
from anonymatch.report.html.document import Section, document, render
from anonymatch.report.html.tables import HtmlTable, table
from anonymatch.report.html.verdicts import VerdictMark, verdict
from anonymatch.report.paper_figures import Panel, PaperFigure, paper_figures
from anonymatch.report.paper_panels import attacked, graph_of

__all__ = ["ClaimLike", "EvidenceLike", "claim_card", "paper_html"]

_FIGURE = re.compile(
    r"\bFig(?:ures?|s)?\.?[\s_-]*(\d+(?:\s*(?:,|and|&|to|–)\s*\d+)*)", re.IGNORECASE
)
_SECONDS = 5.0  # for the count of one counterexample
_ATTACKED = 12  # users up to which it is attacked as well


class EvidenceLike(Protocol):
    """A sentence, and the numbers behind it: a table, the series of a chart, or plain values."""

    @property
    def text(self) -> str: ...
    @property
    def data(self) -> Mapping[str, Any] | None: ...


class ClaimLike(Protocol):
    """A claim with its verdict, as :mod:`anonymatch.paper` gives them."""

    @property
    def id(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def section(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def statement(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def corrected(self) -> str | None: ...
    @property
    def finding(self) -> str: ...
    @property
    def evidence(self) -> Sequence[EvidenceLike]: ...
    @property
    def counterexample(self) -> Sequence[str] | None: ...
    @property
    def searched(self) -> str: ...
    @property
    def seconds(self) -> float: ...


@dataclass(frozen=True, slots=True)
class _Evidence:
    text: str
    table: HtmlTable | None
    picture: Picture | None


@dataclass(frozen=True, slots=True)
class _Counterexample:
    panels: tuple[Panel, ...]
    meaning: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    """A claim as the page shows it."""

    anchor: str
    id: str
    number: int
    section: str
    kind: str
    statement: str
    verdict: VerdictMark
    corrected: str | None
    finding: str
    evidence: tuple[_Evidence, ...]
    counterexample: _Counterexample | None
    figures: tuple[PaperFigure, ...]
    searched: str
    seconds: str


def paper_html(checks: Iterable[ClaimLike]) -> str:
    """A page with a card for each claim, and the nine figures where they are claimed.

    Parameters
    ----------
    checks : iterable of claims
        As ``anonymatch.paper.check()`` returns them.

    Returns
    -------
    str
        HTML; :func:`anonymatch.report.html.document.write_html` saves it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> claim = SimpleNamespace(
    ...     id="figure-7", number=7, section="Figure 7", kind="figure", statement="per(A) = 9",
    ...     verdict="holds", corrected=None, finding="9", evidence=(), counterexample=None,
    ...     searched="", seconds=0.1)
    >>> text = paper_html([claim])
    >>> "1 claim of the paper: 1 holds." in text, 'id="figure-7"' in text
    (True, True)
    """
    claims = list(checks)
    if not claims:
        raise InputError("there are no claims to show; check some first")
    figures_of = _figures_of(claims)
    cards = [_card(claim, figures) for claim, figures in zip(claims, figures_of, strict=True)]
    cards = _distinct(cards)
    verdicts = {card.verdict: None for card in cards}
    numbers = Counter(card.verdict for card in cards)
    tally = sorted(((each, numbers[each]) for each in verdicts), key=lambda pair: pair[0].rank)
    shared: dict[str, object] = {"claims": cards, "tally": tally}
    sections = [
        Section("summary", "Summary", render("paper_summary.html", line=_line(tally), **shared)),
        Section(
            "claims",
            "Claims",
            render("paper_claims.html", **shared),
            tuple((card.anchor, f"{card.number} {card.id}") for card in cards),
            "\n".join(each.filter for each, _ in tally),
        ),
    ]
    if rest := _unclaimed(figures_of):
        entries = tuple((f"figure-{figure.number}", f"Figure {figure.number}") for figure in rest)
        body = render("paper_figures.html", figures=rest)
        sections.append(Section("figures", "Other figures of the paper", body, entries))
    return document(
        "k-Anonymity by partitions, checked",
        lead="Every claim of the paper, computed: what holds, what is misprinted, what needs a "
        "condition, and what fails, with the graph that shows it.",
        sections=tuple(sections),
    )


def claim_card(claim: ClaimLike) -> Markup:
    """One claim as the page has it, with every figure of the paper that it is about.

    Examples
    --------
    >>> from anonymatch.paper.checking import check
    >>> "Figure 7: A graph and its matrix" in claim_card(check("figure-7")["figure-7"])
    True
    """
    (figures,) = _figures_of([claim])
    return render("paper_claims.html", claims=[_card(claim, figures)], tally=())


def _card(claim: ClaimLike, figures: tuple[PaperFigure, ...]) -> _Card:
    try:
        counterexample = _counterexample(claim.counterexample) if claim.counterexample else None
        drawn = {tuple(claim.counterexample or ()), *_rows_of(figures)}
        evidence = tuple(_evidence(each, drawn) for each in claim.evidence)
    except AnonymatchError as error:
        raise InputError(f"claim {claim.id!r} cannot be shown: {error}") from None
    return _Card(
        anchor="claim-" + re.sub(r"[^A-Za-z0-9_-]+", "-", str(claim.id)),
        id=claim.id,
        number=claim.number,
        section=claim.section,
        kind=claim.kind,
        statement=claim.statement,
        verdict=verdict(claim.verdict),
        corrected=claim.corrected,
        finding=claim.finding,
        evidence=evidence,
        counterexample=counterexample,
        figures=figures,
        searched=claim.searched,
        seconds=f"{claim.seconds:.2g} s",
    )


def _evidence(evidence: EvidenceLike, drawn: set[tuple[str, ...]]) -> _Evidence:
    """A chart for series, a picture for a graph, a table for rows, and one for named values.

    A graph that is among ``drawn`` is not drawn again.
    """
    data = dict(evidence.data or {})
    picture = None
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
    return _Evidence(evidence.text, values, picture)


def _chart(title: str, series: Sequence[Mapping[str, Any]], data: Mapping[str, Any]) -> Picture:
    lines = [Series(str(each["name"]), each["x"], each["y"]) for each in series]
    known = [x for line in lines for x, _ in line.points()]
    far = bool(known) and 0 < 100 * min(known) <= max(known)
    return line_chart(
        lines,
        title=title,
        x_label=str(data.get("x_label", data.get("x", ""))),
        y_label=str(data.get("y_label", data.get("y", ""))),
        log_x=bool(data.get("log_x", far)),
        log_y=bool(data.get("log_y", False)),
    )


def _counterexample(rows: Sequence[str]) -> _Counterexample:
    graph = _graph(rows)
    lines = Panel(
        bipartite(graph, title="The counterexample as a graph", groups="blocks"),
        f"{_matchings(graph)} from {plural(graph.n_edges, 'edge')}, {plural(graph.n_users, 'user')}"
        f" and {plural(graph.n_behaviours, 'behaviour')}{_attacked(graph)}",
        graph,
    )
    cells = Panel(matrix(graph, title="The counterexample as a matrix"), "The same as a matrix")
    return _Counterexample(
        (lines, cells),
        "A line joins a user to a behaviour that an attacker cannot rule out; colours are blocks, "
        "whose explanations are chosen independently of each other.",
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
    return f"; {shown(attacked(graph))} expected after the best attack on one user"


def _figures_of(claims: Sequence[ClaimLike]) -> list[tuple[PaperFigure, ...]]:
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


def _line(tally: Sequence[tuple[VerdictMark, int]]) -> str:
    total = sum(number for _, number in tally)
    parts = ", ".join(f"{shown(number)} {each.verb(number)}" for each, number in tally)
    return f"{plural(total, 'claim')} of the paper: {parts}."

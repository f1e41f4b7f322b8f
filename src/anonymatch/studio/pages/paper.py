"""Paper: every claim with its verdict, figure and evidence, computed when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from threading import Lock

from nicegui import ui

from anonymatch.base.numbers import plural
from anonymatch.reporting import claim_card, errata_latex, paper_html, paper_summary, verdict
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import address, choice
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View
from anonymatch.studio.session import Studio
from anonymatch.theory.claims import PUBLICATION, Checks, as_html, check

_lock = Lock()
_known: list[Checks] = []  # of this session: the claims do not change meanwhile


def _checks(progress: Progress) -> Checks:
    with _lock:
        if not _known:
            _known.append(check(progress=progress))
        return _known[0]


async def show(_studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the verdict and the claim that are looked at are in the address."""
    with frame(
        "/paper",
        "Does the paper hold?",
        f"{PUBLICATION.title}, by {PUBLICATION.author}: every theorem, lemma, formula and figure "
        "of it, computed now.",
    ):
        w.html(
            f'<a href="{escape(PUBLICATION.link)}" rel="noreferrer">'
            f"{escape(PUBLICATION.version)}</a>, {escape(PUBLICATION.date)}",
            "p",
            classes="note",
        )
        view = View("Checking every claim")
        await view.ask(_checks, lambda checks: _Claims(checks, query).build())


class _Claims:
    """The list of claims on the left, one of them on the right."""

    def __init__(self, checks: Checks, query: Mapping[str, str]) -> None:
        self.checks = checks
        self.kinds = {verdict(each).key: verdict(each) for each in checks.counts}
        self.kind = choice(query, "verdict", ["", *self.kinds])
        self.claim = choice(query, "claim", ["", *checks.ids])

    def build(self) -> None:
        w.html(str(paper_summary(self.checks, target="/paper?claim=")), classes="paper-summary")
        self.content = ui.refreshable(self._content)
        self.content()
        with w.box("div", "row"):
            w.button("Save all as one page", self._save)
            w.button("Save the errata as LaTeX", self._save_errata)
        with w.box("details", "more"):
            w.text("All claims as a table", "summary")
            w.table(
                ["in the paper", "about", "verdict", "in short", "claim"],
                [
                    [claim.label, claim.title, str(claim.verdict), claim.brief or "", claim.id]
                    for claims in self.checks.grouped.values()
                    for claim in claims
                ],
                "claims",
            )
        w.same_result(
            "anonymatch paper" + (f" --claim {self.claim}" if self.claim else ""),
            "import anonymatch as am\nchecks = am.paper.check()\nprint(checks)",
        )

    def _content(self) -> None:
        counts = self.checks.counts
        with w.box("div", "row", role="group", aria_label="Verdicts"):
            self._filter("", f"all {len(self.checks)}")
            for key, kind in self.kinds.items():
                self._filter(key, f"{kind.words}: {counts[kind.words]}")
        if self.kind:
            w.text(self.kinds[self.kind].meaning.capitalize(), "p", "note")
        chosen = [
            claim
            for claims in self.checks.grouped.values()
            for claim in claims
            if self.kind in ("", verdict(claim.verdict).key)
        ]
        if not chosen:
            w.text("No claim has this verdict.", "p", "note")
            return
        if self.claim not in [claim.id for claim in chosen]:
            # What is drawn first says most: a statement that a graph refutes.
            self.claim = next((each for each in chosen if each.counterexample), chosen[0]).id
        with w.box("div", "claims-view"):
            with w.box("nav", aria_label=plural(len(chosen), "claim")), w.box("ul", "claimlist"):
                for claim in chosen:
                    self._entry(claim.id, claim.label, claim.typeset.title, str(claim.verdict))
            w.html(str(claim_card(self.checks[self.claim])), classes="claim")
        ui.run_javascript("studio.outfit()")

    def _filter(self, key: str, words: str) -> None:
        w.button(
            words,
            lambda: self._look(verdict=key),
            aria_pressed="true" if key == self.kind else "false",
        )

    def _entry(self, claim: str, label: str, title: str, words: str) -> None:
        with w.box("li"):
            target = address("/paper", verdict=self.kind, claim=claim)
            current = "true" if claim == self.claim else None
            with w.box("a", href=target, aria_current=current) as entry:
                w.html(str(verdict(words).icon), "span")
                w.html(f"{escape(label)} <span class='soft'>{as_html(title)}</span>", "span")
            entry.on("click.prevent", lambda _: self._look(claim=claim), js_handler="() => emit()")

    def _look(self, **what: str) -> None:
        self.kind = what.get("verdict", self.kind)
        self.claim = what.get("claim", self.claim)
        self.content.refresh()
        ui.navigate.history.replace(address("/paper", verdict=self.kind, claim=self.claim))

    def _save(self) -> None:
        w.save(paper_html(self.checks), "paper.html", "text/html")

    def _save_errata(self) -> None:
        w.save(errata_latex(self.checks), "errata.tex", "application/x-tex")

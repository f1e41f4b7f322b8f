"""Compare: two or more systems side by side, with what each pays for its bits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from shlex import quote
from typing import Any
from urllib.parse import parse_qsl

from nicegui import background_tasks, ui

from anonymatch.audits import (
    Comparison,
    compare,
    comparison_charts,
    comparison_report,
    figure_text,
)
from anonymatch.base.errors import InputError
from anonymatch.base.text import label
from anonymatch.reporting import report_html
from anonymatch.reporting.charts import GROUPS
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import address, texts
from anonymatch.studio.frame import frame
from anonymatch.studio.options import EXAMPLES, AddressOptions
from anonymatch.studio.pages.choices import LawChoice
from anonymatch.studio.pages.first_look import look_words
from anonymatch.studio.panel import FilePage, View
from anonymatch.studio.request import AuditRequest
from anonymatch.studio.session import Studio
from anonymatch.studio.uploads import Upload

_FEW = "Two systems or more can be compared: drop another log, or take one under another law."
_CAPTIONS = {
    "cost": "Higher is better, further left is cheaper. Lines through points are the intervals.",
    "difference": "Bits more or less than {}, with the intervals of the differences.",
    "spread": "The share of users with at most that number of bits; further right is better.",
}


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the systems are in the address."""
    with frame(
        "/compare",
        "Which one hides people better, and what does it pay?",
        "Drop logs of several systems, or one log under several laws. A difference is called out "
        "only where the intervals do not overlap.",
    ):
        page = _ComparePage(studio, query)
        page.build()
        await page.compare()


class _ComparePage(FilePage):
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        super().__init__(studio)
        given = [dict(parse_qsl(each)) for each in texts(query, "systems", GROUPS)]
        options = [AddressOptions.of(each, studio.store, self.id) for each in given]
        self.gone = any(each.gone for each in options)
        self.systems = [each for each in options if each.name]

    def _remember(self) -> None:
        systems = [each.system() for each in self.systems]
        ui.navigate.history.replace(address("/compare", systems=systems))

    # ---- the systems

    def build(self) -> None:
        self.missing = self.notice(self.gone)
        with w.box("div", "small"):
            self.drop("Drop logs here, or click to choose some", several=GROUPS)
        self.panes = w.box("div", "systems")
        self.adding = w.box("div", "row ends")
        self._panes()
        self.view = View("Auditing all of them")

    def _panes(self) -> None:
        self.panes.clear()
        with self.panes:
            for options in self.systems:
                self._pane(options)
        self.adding.clear()
        with self.adding:
            if len(self.systems) < GROUPS:
                named = {"": "choose one …"} | {
                    name: example.text for name, example in EXAMPLES.items()
                }
                w.select("Add an example", named, "", self._add_example)

    def _pane(self, options: AddressOptions) -> None:
        with w.box("section", "pane system", aria_label=label(options.name)):
            w.heading(label(options.name, 60), 3)
            said = w.text("", "p", "soft")
            law = LawChoice(options, self._changed, folded=True)
            with w.box("div", "row"):
                more = w.box("span")
                w.button("Leave it out", partial(self._leave, options), "quiet")
        inquiry = options.plain_inquiry()
        assert inquiry is not None
        background_tasks.create(self._look(options, inquiry, law, (said, more)), name="studio look")

    async def _look(
        self,
        options: AddressOptions,
        inquiry: AuditRequest,
        law: LawChoice,
        places: tuple[ui.html, ui.element],
    ) -> None:
        """Say what the file is, and which law it looks like."""
        before, (said, more) = self._ready(), places
        try:
            look = await asyncio.to_thread(self.studio.looks.once, inquiry, inquiry.first_look)
        except InputError as error:
            with self.client:
                said.set_content("")
                with self.missing:
                    w.alert(str(error))
            return
        if said.is_deleted:  # the panes were drawn anew meanwhile
            return
        with self.client:
            said.set_content(look_words(look))
            if look.messages is not None:
                law.look(look)
                if len(self.systems) < GROUPS:
                    with more:
                        w.button("Again under another law", partial(self._again, options), "quiet")
            if self._ready() != before:
                await self.compare()

    def _ready(self) -> list[AuditRequest]:
        """Systems that can be audited."""
        return [each for each in (one.inquiry() for one in self.systems) if each is not None]

    async def arrived(self, upload: Upload, _slot: str, _more: bool) -> None:
        if len(self.systems) >= GROUPS:
            with self.missing:
                w.alert(f"{GROUPS} systems fit beside each other; leave one out first")
            return
        self.systems.append(AddressOptions(file=upload))
        background_tasks.create(self._changed(rebuild=True), name="studio upload")

    async def _add_example(self, given: Any) -> None:
        options = AddressOptions()
        options.look_at(str(given))
        if options.example:
            self.systems.append(options)
            await self._changed(rebuild=True)

    async def _again(self, options: AddressOptions) -> None:
        index = self.systems.index(options)
        query = dict(parse_qsl(options.system()))
        query.pop("law", None)
        again = AddressOptions.of(query, self.studio.store, self.id)
        self.systems.insert(index + 1, again)
        await self._changed(rebuild=True)

    async def _leave(self, options: AddressOptions) -> None:
        self.systems = [each for each in self.systems if each is not options]
        await self._changed(rebuild=True)

    async def _changed(self, *, rebuild: bool = False) -> None:
        with self.client:
            self.missing.clear()
            if rebuild:
                self._panes()
            await self.compare()

    # ---- the comparison

    async def compare(self) -> None:
        """Audit all of them, one after another, and hold them against each other."""
        self._remember()
        inquiries = self._ready()
        if len(self.systems) < 2 or len(inquiries) < len(self.systems):
            self.view.clear()
            waiting = [each.missing for each in self.systems if each.missing]
            self.view.say(_FEW if len(self.systems) < 2 else " ".join(waiting))
            return
        await self.view.ask(
            lambda progress: self._find(inquiries, progress), partial(self._show, inquiries)
        )

    def _find(self, inquiries: Sequence[AuditRequest], progress: Progress) -> Comparison:
        audits = []
        for number, inquiry in enumerate(inquiries):
            part = _part(progress, number, len(inquiries))
            audits.append(self.studio.audits.once(inquiry, partial(inquiry.audit, part)))
        return compare(audits, _names(inquiries))

    def _show(self, inquiries: Sequence[AuditRequest], comparison: Comparison) -> None:
        w.text(comparison.verdict, "p", "big verdict-words")
        known = comparison_charts(comparison)
        for name, caption in _CAPTIONS.items():
            if name in known:
                w.chart(known[name], name, caption.format(label(comparison.names[0])))
        w.heading("Figure by figure")
        w.table(
            ["figure", *(label(name) for name in comparison.names), "compared"],
            _rows(comparison),
            "comparison",
            title="Figures side by side",
        )
        for note in comparison.notes:
            w.text(note, "p", "note")
        command = _command(inquiries)
        with w.box("div", "row"):
            w.button("Save the report", partial(_save, comparison, command), "main")
            for options, name in zip(self.systems, comparison.names, strict=True):
                w.link(f"Audit of {label(name)}", options.route("/audit"), "button")
        w.same_result(command, _python(inquiries))


def _part(progress: Progress, number: int, of: int) -> Callable[[float, float], None]:
    """The progress of one audit of several, as that of all."""

    def tell(done: float, total: float) -> None:
        share = done / total if total > 0 else 0.0
        progress(number + share, float(of))

    return tell


def _names(inquiries: Sequence[AuditRequest]) -> list[str]:
    """Files by their names, with their laws where a file is there several times."""
    files = [inquiry.name for inquiry in inquiries]
    return [
        f"{inquiry.name}, {inquiry.options.law}"
        if files.count(inquiry.name) > 1 and inquiry.options.law
        else inquiry.name
        for inquiry in inquiries
    ]


def _rows(comparison: Comparison) -> list[list[str]]:
    rows = []
    for row in comparison.rows:
        shown = [
            "–"
            if figure is None
            else figure_text(figure, "share" if row.share else "", confidence=1.0, seed=0).span
            for figure in row.figures
        ]
        rows.append([row.title, *shown, row.judgement or "–"])
    return rows


def _command(inquiries: Sequence[AuditRequest]) -> str:
    """One command where one can say it: laws are for all files, or one for each."""
    laws = [inquiry.options.law for inquiry in inquiries]
    files = list(dict.fromkeys(quote(inquiry.name) for inquiry in inquiries))
    told = [{**each.options.given(), "law": None} for each in inquiries]
    if len(set(map(str, told))) > 1 or (any(laws) and not all(laws)):
        return "\n".join(inquiry.command() for inquiry in inquiries)
    if len(files) not in (1, len(inquiries)):
        files = [quote(inquiry.name) for inquiry in inquiries]
    given = [f"--law {quote(str(law))}" for law in laws if law]
    return " ".join(["anonymatch compare", *files, *given, f"--budget {inquiries[0].budget:g}"])


def _python(inquiries: Sequence[AuditRequest]) -> str:
    calls = ",\n".join(
        "    " + inquiry.python().splitlines()[1].removeprefix("audit = ") for inquiry in inquiries
    )
    return f"import anonymatch as am\naudits = [\n{calls},\n]\nprint(am.compare(audits).verdict)"


def _save(comparison: Comparison, command: str) -> None:
    page = report_html(comparison_report(comparison).run_by(command))
    w.save(page, "comparison.html", "text/html")

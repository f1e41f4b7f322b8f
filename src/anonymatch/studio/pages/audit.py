"""Audit: drop files, see what they are, choose law or columns, and see who is badly hidden."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from anonymatch.audits import Audit, ExposedAudit, audit_report
from anonymatch.base.errors import AnonymatchError
from anonymatch.base.numbers import plural
from anonymatch.graph import FORMATS
from anonymatch.mixes import FirstLook, parse_law
from anonymatch.problems import detected
from anonymatch.reporting import Section, report_html, report_sections
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import CHOICES, address, choice, number
from anonymatch.studio.frame import frame
from anonymatch.studio.options import EXAMPLES, MEASURED, AddressOptions, form_fields
from anonymatch.studio.pages.attack import attackable
from anonymatch.studio.pages.choices import ColumnChoice, LawChoice, OptionForm
from anonymatch.studio.pages.first_look import LawTrial, look_words, show_look, show_trial, try_law
from anonymatch.studio.pages.judging import Marking, Thresholds, save_users
from anonymatch.studio.pages.one_user import ask, show_answer
from anonymatch.studio.panel import FilePage, View
from anonymatch.studio.request import LABELS, AuditRequest, as_field
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Upload, columns_of, sort_out
from anonymatch.tables import TableAudit

_PATIENCE = 2.0  # seconds that a page waits for its audit before it is sent without it


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the file, how it is understood, and what is looked at are in the address."""
    with frame(
        "/audit",
        "Is this system good enough, and for whom is it worst?",
        "Drop a log, a released table or rings and see what it is, then how well it hides whom. It "
        "stays on this machine, in a folder that is removed when the page is closed.",
    ):
        page = _AuditPage(studio, query)
        page.build()
        await page.look()


@dataclass(frozen=True, kw_only=True, eq=False)
class _Result:
    """An audit, and what is drawn of it beside its report."""

    audit: Audit
    sections: Sequence[Section]


class _AuditPage(FilePage):
    """State and places of one open page: files, the first look, law or columns, the audit."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        super().__init__(studio)
        self.options = AddressOptions.of(query, studio.store, self.id)
        self.user = query.get("user", "")
        self.first: FirstLook | None = None
        self.arriving: list[Upload] = []  # files of which others that were dropped with them follow
        self.waiting: asyncio.Task[None] | None = None
        self.going_on: asyncio.Task[None] | None = None  # what follows the first look

    def _remember(self) -> None:
        options = self.options
        ui.navigate.history.replace(options.route("/audit", **options.shown(), user=self.user))

    # ---- the file

    def build(self) -> None:
        self.gone = self.notice(self.options.gone)
        with w.box("div") as self.dropping:
            self.drop(
                "Drop files here, or click to choose some", _formats(), several=TUNING.together
            )
        self.controls = w.box("div")
        self._controls()
        self.look_step = w.Step("What it is")
        with self.look_step.content:
            self.look_view = View("Reading the file")
        self.law_step = w.Step("How messages are delayed")
        with self.law_step.content, w.box("div", "beside"):
            with w.box("div", "moving"):
                self.law = LawChoice(self.options, self._law_changed)
                self.go = w.box("div")
            with w.box("div"):
                self.trial_view = View("Trying the law")
        self.column_step = w.Step("Which column is what")
        with self.column_step.content:
            self.columns = ColumnChoice(self.options, self._told)
        self.form_step = w.Step("More options")
        with self.form_step.content:
            self.form = OptionForm(self.options, self._told)
        with w.box("div", id="audited"):
            self.view = View("Auditing")

    def _controls(self) -> None:
        options = self.options
        self.dropping.classes(remove="small", add="small" if options.name else "")
        self.controls.clear()
        with self.controls:
            with w.box("div", "row filebar"):
                if options.file is not None:
                    self._files(options.file)
                else:
                    names = {name: example.text for name, example in EXAMPLES.items()}
                    names = {"": "choose one …"} | names
                    w.select("Or look at an example", names, options.example, self._set_example)
            with w.box("details", "more", open=True if self._is_alone() else None):
                w.text("More about the file", "summary")
                self._more()

    def _files(self, file: Upload) -> None:
        """What was dropped, and what each file is taken for."""
        options, second = self.options, self.options.second
        released = second is not None and options.role == "original"
        w.text(file.name, "strong")
        if second is not None:
            role = "the release; the original is" if released else "messages in; those out are"
            w.text(role, "span", "soft")
            w.text(second.name, "strong")
            w.button("Swap them", self._swap, "quiet")
        for upload, what in self._helpers():
            w.text(f"{what} {upload.name}", "span", "soft")
        w.button("Close it" if second is None else "Close them", self._close, "quiet")

    def _is_alone(self) -> bool:
        """Whether the file is a table that may need its original."""
        inquiry = self.options.plain_inquiry()
        return inquiry is not None and inquiry.is_lone_table

    def _belong(self, uploads: Sequence[Upload]) -> bool:
        """Whether files are for the table that is there: it is alone, and they have its columns."""
        file = self.options.file
        if file is None or not self._is_alone():
            return False
        own = set(columns_of(file.path))
        return any(own & set(columns_of(each.path)) for each in uploads)

    def _helpers(self) -> list[tuple[Upload, str]]:
        options = self.options
        delays = [] if options.delays is None else [(options.delays, "delays:")]
        levels = [(one, f"hierarchy of {name}:") for name, one in options.hierarchies.items()]
        return delays + levels

    def _more(self) -> None:
        options, form = self.options, OptionForm(self.options, self._reread)
        with w.box("div", "controls"):
            for name in ("source", "unit", "columns"):
                form.field(name)
            w.number_slider(
                LABELS["budget"],
                options.budget,
                self._set_budget,
                least=1,
                most=300,
                upper=3600,
                unit="s",
                hint="Figures that would take longer are estimated.",
            )
            w.select(LABELS["departures"], CHOICES["role"], options.role, self._set_role)
        if options.file is not None:
            with w.box("div", "small"):
                self.drop(
                    "Drop more files along: the original of a released table, hierarchies named by "
                    "their column, messages out, measured delays",
                    slot="along",
                    several=TUNING.together,
                )

    async def _set_example(self, given: Any) -> None:
        self.options.look_at(str(given))
        self.options.looking = False  # an example has its law
        await self._changed()

    async def _set_role(self, given: Any) -> None:
        self.options.role = choice({"role": str(given)}, "role", list(CHOICES["role"]))
        await self._reread()

    async def _reread(self) -> None:
        await self._changed(rebuild=False)

    async def _set_budget(self, given: Any) -> None:
        usual = self.options.budget
        self.options.budget = number({"b": str(given)}, "b", usual, least=1, most=3600)
        with self.client:
            if self.first is not None and not self.options.looking:
                await self.audit()

    async def arrived(self, upload: Upload, slot: str, more: bool) -> None:
        self.arriving.append(upload)
        if self.waiting is not None:
            self.waiting.cancel()
        # The answer to the browser does not wait for the audit; what was announced may not come.
        pause = TUNING.announced if more else 0.0
        self.waiting = background_tasks.create(self._all_there(slot, pause), name="studio upload")

    async def _all_there(self, slot: str, pause: float) -> None:
        await asyncio.sleep(pause)
        self.waiting = None
        uploads, self.arriving = self.arriving, []
        file = self.options.file
        try:
            if file is not None and (slot == "along" or self._belong(uploads)):
                dropped = await asyncio.to_thread(sort_out, [file, *uploads])
                self.options.add(dropped)
            else:
                dropped = await asyncio.to_thread(sort_out, uploads)
                self.options.receive(dropped)
        except AnonymatchError as error:
            names = {str(each.path): each.name for each in uploads}
            with self.client:
                self.gone.clear()
                with self.gone:
                    w.alert(error.message.renamed(names).worded(as_field))
            return
        if dropped.delays is not None:
            self.studio.store.rename(dropped.delays, "delays")
            self.options.delay(MEASURED)
            self.options.looking = True
        await self._changed()

    async def _swap(self) -> None:
        self.options.swap()
        await self._changed()

    async def _close(self) -> None:
        self.options.close()
        self.studio.store.leave(self.id)
        await self._changed()

    async def _changed(self, *, rebuild: bool = True) -> None:
        with self.client:
            self.user = ""
            self.gone.clear()
            if rebuild:
                self._controls()
            await self.look()

    # ---- the first look and the law

    async def look(self) -> None:
        """Say what the file is; audit it if nothing is left to be chosen."""
        self._remember()
        self._forget()
        inquiry = self.options.plain_inquiry()
        if inquiry is None:
            self.look_view.clear()
            self.look_step.hide()
            return
        problem = detected(inquiry.path)
        if problem is not None:
            self.look_step.hide()
            await self.view.ask(partial(inquiry.reported, problem), _put)
            return
        self.look_step.show()
        await self.look_view.ask(
            lambda _: self.studio.looks.once(inquiry, inquiry.first_look), self._looked
        )
        if self.going_on is not None:  # a page that is fetched has the answer, if it is soon there
            await asyncio.wait({self.going_on}, timeout=_PATIENCE)

    def _forget(self) -> None:
        """Nothing of another file, or of another law, stays on the page."""
        self.first = self.going_on = None
        for step in (self.law_step, self.column_step, self.form_step):
            step.hide()
        for part in (self.law, self.columns, self.form):
            part.clear()
        self.trial_view.clear()
        self.go.clear()
        self.view.clear()

    def _looked(self, look: FirstLook) -> None:
        self.first, kind = look, look.kind
        show_look(look)
        chosen = bool(self.options.law)
        self.look_step.show(look_words(look))
        if look.messages is not None:
            self.law.look(look)
            self.law_step.show()
        else:
            self.options.delay("")  # a law is for logs
        self.options.keep_for(kind)
        if look.tables is not None:
            self.columns.look(look.tables)
            self.column_step.show()
        if self.form.look(look):
            names = itertools.chain(*form_fields(kind).values())
            changed = not self.options.read.given().keys().isdisjoint(names)
            self.form_step.show(folded=not changed and look.rings is None)
        if look.needs_law and not chosen:
            self.options.looking = True
        self.going_on = background_tasks.create(self._go_on(), name="studio law")

    async def _go_on(self) -> None:
        with self.client:
            self._remember()
            await self._try()
            if not self.options.looking and self.options.inquiry() is not None:
                await self.audit()

    async def _told(self) -> None:
        """Columns, or what is said of rings, were changed: the answer follows."""
        with self.client:
            self.options.marked = None
            await self.audit()

    async def _law_changed(self) -> None:
        """Another law is tried; it is audited when the reader says so."""
        with self.client:
            self.options.looking, self.options.marked = True, None
            self.law_step.show()
            self.view.clear()
            self._remember()
            await self._try()

    async def _try(self) -> None:
        """What the law makes of the log."""
        options, look = self.options, self.first
        self.go.clear()
        if look is None or look.messages is None:
            return
        messages, inquiry = look.messages, options.inquiry()
        if not options.law or inquiry is None:
            self.trial_view.clear()
            self.trial_view.say(options.missing)
            if not look.needs_law:
                self._offer()
            return
        law = str(inquiry.options.law)

        def tried(trial: LawTrial) -> None:
            show_trial(trial, messages)
            self._offer()

        await self.trial_view.ask(lambda _: try_law(messages, parse_law(law)), tried)

    def _offer(self) -> None:
        """The button that audits, while that has not been done with these choices."""
        self.go.clear()
        if self.options.looking:
            law = "with this law" if self.options.law else "as it is"
            with self.go, w.box("div", "row go"):
                w.button(f"Audit it {law}", self._audit_now, "main")

    async def _audit_now(self) -> None:
        self.options.looking = False
        self.go.clear()
        with self.client:
            ui.run_javascript("studio.show('#audited')")
            await self.audit()

    # ---- the audit

    async def audit(self) -> None:
        self._remember()
        inquiry = self.options.inquiry()
        if inquiry is None:
            self.view.clear()
            return
        if self.options.read.quasi_identifiers == ():
            self.view.clear()
            self.view.say("Choose at least one identifier: what an attacker knows of people.")
            return
        await self.view.ask(
            lambda progress: self._find(inquiry, progress),
            lambda result: self._show(inquiry, result),
        )

    def _find(self, inquiry: AuditRequest, progress: Progress) -> _Result:
        """The audit with its designs, which are searched for when they are first looked at."""
        audit = self.studio.audits.once(inquiry, lambda: inquiry.audit(progress))
        if isinstance(audit, ExposedAudit):
            _ = audit.designs
        return _Result(
            audit=audit, sections=report_sections(audit_report(audit).run_by(inquiry.command()))
        )

    def _marked(self, marked: tuple[float, float] | None) -> None:
        self.options.marked = marked
        self._remember()

    def _attack_marked(self) -> str:
        return self.options.route("/attack", marked=self.options.shown()["marked"])

    def _show(self, inquiry: AuditRequest, result: _Result) -> None:
        audit = result.audit
        words = audit.observation.nouns
        self.names = {str(user): user for user in audit.answers.users.users}
        self.inquiry, self.shown_audit = inquiry, audit
        self._fold(audit)
        sections = result.sections
        with w.box("div", "sections"):
            _put(sections[:1])
        self.thresholds = Thresholds(audit, self.options.thresholds, self._switched)
        self.thresholds.build()
        with w.box("div", "row"):
            w.button("Save the report", self._save_report, "main")
            w.button(
                f"Save all {words.users} as CSV",
                partial(save_users, audit, f"users-{Path(audit.name).stem}"),
            )
            of_table = isinstance(audit, TableAudit)
            if attackable(audit) and not of_table:
                w.link("Attack it step by step", self.options.route("/attack"), "button")
            if not of_table:
                w.link("Compare it with others", self._compare(), "button")
        first = _before_people(sections) if of_table else _until_spread(sections)
        with w.box("div", "sections"):
            _put(sections[1:first])
        marking = self._marking(audit)
        self._question(audit)
        with w.box("div", "sections") as rest:
            _put(sections[first:])
        rest.on("click", partial(self._row, audit), js_handler="studio.row(emit)")
        if marking is not None:
            rest.on(
                "table-range",
                lambda event: marking.ranged(event.args),
                js_handler="studio.ranged(emit)",
                throttle=0.25,
            )
        ui.run_javascript(f"studio.outfit({json.dumps(self.options.marked)})")
        self.same = w.box("div")
        self._same()
        if self.user:
            background_tasks.create(self._tell(audit), name="studio why")

    def _marking(self, audit: Audit) -> Marking | None:
        """Who is marked on the chart of entropies, where the report has one."""
        if not audit.n_counted or isinstance(audit, TableAudit):
            return None
        return Marking(audit, self.options.marked, changed=self._marked, attack=self._attack_marked)

    def _fold(self, audit: Audit) -> None:
        """Where the answer is there, the way to it is two lines."""
        if self.first is not None and self.first.tables is None:  # columns are chosen by rows
            self.look_step.show(look_words(self.first), folded=True)
            if self.first.messages is not None:
                self.law_step.show(audit.observation.source, folded=True)

    def _compare(self) -> str:
        return address("/compare", systems=[self.options.system()])

    def _switched(self) -> None:
        """A threshold was switched: the address and the command have it."""
        self._remember()
        self._same()

    def _same(self) -> None:
        self.same.clear()
        with self.same:
            w.same_result(self.inquiry.command(self.options.thresholds), self.inquiry.python())

    def _save_report(self) -> None:
        audit, command = self.shown_audit, self.inquiry.command(self.options.thresholds)
        page = report_html(audit_report(audit).run_by(command), gates=self.thresholds.gates())
        w.save(page, f"audit-{Path(audit.name).stem}.html", "text/html")

    def _question(self, audit: Audit) -> None:
        words = audit.observation.nouns
        w.heading(f"Ask about one {words.user}")
        with w.box("div", "controls"):
            w.field(
                f"Name of {w.article(words.user)} {words.user}",
                self.user,
                partial(self._ask, audit),
                hint=f"One of {plural(audit.n_users, words.user, words.users)}; or click on a row "
                "further down.",
                suggestions=list(self.names)[: TUNING.suggested],
                kind="search",
            )
        self.about = View("Looking")

    async def _row(self, audit: Audit, event: Any) -> None:
        if str(event.args) in self.names:
            await self._ask(audit, event.args)
            ui.run_javascript("studio.show('#about')")

    async def _ask(self, audit: Audit, given: Any) -> None:
        self.user = str(given).strip()
        self._remember()
        await self._tell(audit)

    async def _tell(self, audit: Audit) -> None:
        if not self.user:
            self.about.clear()
            return
        given, user = self.user, self.names.get(self.user)
        await self.about.ask(
            lambda _: ask(audit, user, given), lambda answer: show_answer(audit, answer)
        )


def _put(sections: Sequence[Section]) -> None:
    for section in sections:
        w.heading(section.title)
        w.html(str(section.body))


def _before_people(sections: Sequence[Section]) -> int:
    """Where the sections of a release name people, of whom the reader may ask."""
    return next((at for at, one in enumerate(sections) if one.anchor == "people"), len(sections))


def _until_spread(sections: Sequence[Section]) -> int:
    """Behind the chart with the brush, so that what it marks is said below it."""
    return next((at for at, one in enumerate(sections, 1) if one.anchor == "spread"), 1)


def _formats() -> str:
    return (
        f"message logs, tables and graphs ({', '.join(FORMATS)}), a simulator's folder as .zip; a "
        "released table together with the original one"
    )

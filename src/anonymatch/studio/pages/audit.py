"""Audit: drop a file, see who is badly hidden, and ask about one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import background_tasks, ui

from anonymatch.audits import Audit
from anonymatch.base.numbers import plural
from anonymatch.graph import FORMATS, plain_table
from anonymatch.report import Section, audit_html, audit_sections
from anonymatch.running import Progress
from anonymatch.sources import LAWS, SOURCES
from anonymatch.studio.address import address, number
from anonymatch.studio.address_options import (
    EXAMPLES,
    ROLES,
    UNITS,
    AddressOptions,
    law_choices,
    numbers_of,
)
from anonymatch.studio.campaigns import attackable
from anonymatch.studio.frame import frame
from anonymatch.studio.pages.one_user import ask, show_answer
from anonymatch.studio.panel import View
from anonymatch.studio.request import FIELDS, AuditRequest
from anonymatch.studio.session import Studio
from anonymatch.studio.uploads import Upload
from anonymatch.studio.widgets import (
    alert,
    box,
    button,
    drop_zone,
    field,
    heading,
    html,
    link,
    number_slider,
    same_result,
    save,
    select,
    text,
)

__all__ = ["show"]

_FIRST = 2  # sections before the question about one user: the verdict and the figures
_SUGGESTED = 1000  # users that the search field suggests
_MEASURED = "This is the mean of the log; type that of the mix if you know it."


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the file, how it is understood, and the user asked about are in the address."""
    with frame(
        "/audit",
        "Is this system good enough, and for whom is it worst?",
        "Drop a log or a table. It stays on this machine, in a folder that is removed when the "
        "page is closed.",
    ):
        page = _AuditPage(studio, query)
        page.build()
        if page.options.inquiry() is not None:
            await page.audit()


class _AuditPage:
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        self.studio = studio
        client = ui.context.client
        self.client, self.id = client, client.id
        self.options = AddressOptions.of(query, studio.store, self.id)
        self.user = query.get("user", "")
        self.measured = False  # whether the numbers of the law are the log's own
        studio.inboxes[self.id] = self._arrived
        client.on_delete(self._closed)

    def _closed(self) -> None:
        self.studio.inboxes.pop(self.id, None)
        self.studio.store.leave(self.id)

    def _remember(self) -> None:
        link = address("/audit", **self.options.values(), user=self.user)
        ui.navigate.history.replace(link)

    # ---- controls

    def build(self) -> None:
        with box("div") as self.gone:
            if self.options.gone:
                alert("the file of this address is no longer here; drop it again")
        self._drop("file", "Drop a file here, or click to choose one", _formats())
        self.controls = box("div")
        self._controls()
        self.view = View("Auditing", stoppable=True)

    def _drop(self, slot: str, words: str, hint: str) -> None:
        store = self.studio.store
        drop_zone(f"/upload/{self.id}", slot, words, hint, limit=store.limit, refusal=store.refusal)

    def _controls(self) -> None:
        options = self.options
        self.controls.clear()
        with self.controls:
            with box("div", "controls"):
                if options.file is not None:
                    with box("div", "field"):
                        text("File", "span", "name")
                        text(options.file.name, "span")
                        button("Close it", self._close, "quiet")
                else:
                    names = {name: example.story for name, example in EXAMPLES.items()}
                    names = {"": "choose one …"} | names
                    select("Or look at an example", names, options.example, self._set_example)
                hint = "Message logs need it."
                select(FIELDS["law"], law_choices(), options.law, self._set_law, hint=hint)
                if options.law:
                    hint = numbers_of(options.law)
                    field(
                        "Its numbers",
                        options.numbers,
                        self._set_numbers,
                        hint=f"{hint}. {_MEASURED}" if self.measured else hint,
                        placeholder=f"such as {LAWS[options.law].example}",
                    )
            with box("details", "more"):
                text("More about the file", "summary")
                self._more()

    def _more(self) -> None:
        options = self.options
        with box("div", "controls"):
            kinds = {"": "as it shows"} | {name: name for name in SOURCES}
            select(FIELDS["source"], kinds, options.source, partial(self._set, "source"))
            select(FIELDS["unit"], UNITS, options.unit, partial(self._set, "unit"))
            number_slider(
                FIELDS["budget"],
                options.budget,
                self._set_budget,
                least=1,
                most=300,
                upper=3600,
                unit="s",
                hint="What would take longer is estimated.",
            )
            select(FIELDS["departures"], ROLES, options.role, partial(self._set, "role"))
        if options.second is not None:
            text(f"Second file: {options.second.name}", "p")
        self._drop("second", "Drop the second file here", "if the first one needs it")

    async def _set_example(self, given: Any) -> None:
        self.measured = False
        self.options.look_at(str(given))
        await self._changed()

    async def _set_law(self, given: Any) -> None:
        self.measured = False
        self.options.delay(str(given))
        await self._changed()

    async def _set_numbers(self, given: Any) -> None:
        self.measured = False
        self.options.numbers = str(given).strip()
        await self._changed(rebuild=False)

    async def _set(self, name: str, given: Any) -> None:
        self.options.tell(name, str(given))
        self._forget_measured()
        await self._changed(rebuild=False)

    async def _set_budget(self, given: Any) -> None:
        usual = self.options.budget
        self.options.budget = number({"b": str(given)}, "b", usual, least=1, most=3600)
        await self._changed(rebuild=False)

    async def _arrived(self, upload: Upload, slot: str) -> None:
        if slot == "second":
            self.options.second = upload
        else:
            self.options.file, self.options.example = upload, ""
        self._forget_measured()
        # The answer to the browser does not wait for the audit.
        background_tasks.create(self._changed(), name="studio upload")

    def _forget_measured(self) -> None:
        """The mean delay of another log, or in another unit, is to be found anew."""
        if self.measured:
            self.options.numbers, self.measured = "", False

    async def _close(self) -> None:
        self.options.file = self.options.second = None
        self.studio.store.leave(self.id)
        await self._changed()

    async def _changed(self, *, rebuild: bool = True) -> None:
        with self.client:
            self.user = ""
            self.gone.clear()
            if rebuild:
                self._controls()
            await self.audit()

    # ---- answers

    async def audit(self) -> None:
        self._remember()
        measure = self.options.measured()
        if measure is not None:
            await self.view.ask(lambda _: measure(), self._delayed)
            return
        inquiry = self.options.inquiry()
        if inquiry is None:
            self.view.clear()
            self.view.say(self.options.missing)
            return
        await self.view.ask(
            lambda progress: self._find(inquiry, progress),
            lambda audit: self._show(inquiry, audit),
        )

    def _find(self, inquiry: AuditRequest, progress: Progress) -> Audit:
        """The audit with its designs, which are searched for when they are first looked at."""
        audit = self.studio.audits.find(inquiry, progress)
        _ = audit.designs
        return audit

    def _delayed(self, mean: float | None) -> None:
        """Go on with the mean delay of the log; without one, ask for it."""
        if mean is None:
            text(f"{self.options.missing} The log does not say it.", "p", "note")
            return
        self.options.numbers, self.measured = f"{mean:.4g}", True
        background_tasks.create(self._changed(), name="studio mean delay")

    def _show(self, inquiry: AuditRequest, audit: Audit) -> None:
        words = audit.observation.nouns
        self.names = {str(user): user for user in audit.answers.users.users}
        command = inquiry.command()
        with box("div", "row"):
            button("Save the report", partial(_save_report, audit, command), "main")
            button(f"Save all {words.users} as CSV", partial(_save_users, audit))
            if attackable(audit):
                link(
                    "Attack it step by step", address("/attack", **self.options.values()), "button"
                )
        sections = audit_sections(audit, command=command)
        with box("div", "sections"):
            _put(sections[:_FIRST])
        self._question(audit)
        with box("div", "sections") as rest:
            _put(sections[_FIRST:])
        rest.on("click", partial(self._row, audit), js_handler="studio.row(emit)")
        ui.run_javascript("studio.outfit()")
        same_result(command, inquiry.python())
        if self.user:
            background_tasks.create(self._tell(audit), name="studio why")

    def _question(self, audit: Audit) -> None:
        words = audit.observation.nouns
        heading(f"Ask about one {words.user}")
        with box("div", "controls"):
            field(
                f"Name of a {words.user}",
                self.user,
                partial(self._ask, audit),
                hint=f"One of {plural(audit.n_users, words.user)}; or click on a row further down.",
                suggestions=list(self.names)[:_SUGGESTED],
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
        heading(section.title)
        html(str(section.body))


def _formats() -> str:
    return f"tables and graphs ({', '.join(FORMATS)}) and message logs"


def _save_report(audit: Audit, command: str) -> None:
    save(audit_html(audit, command=command), f"audit-{Path(audit.name).stem}.html", "text/html")


def _save_users(audit: Audit) -> None:
    save(plain_table(audit.users).write_csv(), f"users-{Path(audit.name).stem}.csv", "text/csv")

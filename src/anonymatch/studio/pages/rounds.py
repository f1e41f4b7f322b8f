"""Rounds: a slider over those that were seen, and who writes to whom sharpens with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np
from nicegui import background_tasks, ui

from anonymatch.base.errors import AnonymatchError, InputError
from anonymatch.base.numbers import percent, plural
from anonymatch.base.options import option_texts
from anonymatch.base.text import Argument, Message, as_option
from anonymatch.disclosure import (
    Disclosure,
    RoundLog,
    RoundsOptions,
    bits_chart,
    disclosure_charts,
    guess_chart,
    profile_matrix,
    read_rounds,
    rounds,
    rounds_report,
    synthesize_rounds,
)
from anonymatch.reporting import drawn_matrix, report_html
from anonymatch.reporting.charts import AnyChart
from anonymatch.reporting.report import Report
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import (
    Query,
    address,
    control,
    controlled,
    given_options,
    option_values,
    read_controls,
    read_options,
    whole,
)
from anonymatch.studio.frame import frame
from anonymatch.studio.options import split_law
from anonymatch.studio.pages.choices import OptionForm
from anonymatch.studio.panel import FilePage, View
from anonymatch.studio.request import keywords, label_of, option_line
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Upload
from anonymatch.tabular import plain_table

_MADE = "rounds.csv"
_PREFIX = "attack."  # of options in addresses: a log that is made has numbers of the same names
_CHARTS = {
    "bits": (
        bits_chart,
        "Mean bits about the receiver of a message after that many rounds. Dashed: the half-life.",
    ),
    "guesses": (
        guess_chart,
        "Best guesses that are right, if that is known, and what the attacker believes (95 %).",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsRequest:
    """Which rounds: those of a file, or of a log that is made up from four numbers and a seed."""

    users: int = control(20, "Users", 2, 1000, slider=(2, 60))
    friends: int = control(3, "Contacts of each user", 1, 50, slider=(1, 10))
    batch: int = control(5, "Messages per round", 1, 200, slider=(1, 20))
    rounds: int = control(100, "Rounds", 1, 10_000, slider=(1, 400))
    seed: int = control(1, "Seed", 0, 10**9)
    name: str = ""
    path: Path | None = None
    token: str = ""
    read: RoundsOptions = field(default_factory=RoundsOptions)

    @classmethod
    def of(cls, query: Query) -> RoundsRequest:
        """Read an address; numbers that are missing or invalid have their usual values."""
        users = read_controls(cls, query)["users"]
        numbers = read_controls(cls, query, friends=min(users, 50), batch=min(users, 200))
        read = read_options(RoundsOptions, query, option_texts(RoundsOptions), _PREFIX)
        if read.law is not None and not any(split_law(read.law)):  # it may name a file
            read = replace(read, law=None)
        return cls(**numbers, read=read)

    def values(self) -> dict[str, object]:
        """Return the values for an address."""
        which = controlled(self) if self.path is None else {"file": self.token}
        return which | option_values(self.read, _PREFIX)

    def log(self) -> RoundLog | Path:
        """Return the rounds, or the path of a message log."""
        if self.path is None:
            return synthesize_rounds(
                self.rounds,
                friends=self.friends,
                users=self.users,
                batch=self.batch,
                seed=self.seed,
            )
        if self.read.law is not None:
            return self.path
        try:
            log = read_rounds(self.path)
        except AnonymatchError as error:
            raise self._worded(error) from None
        stored = str(self.path)
        return replace(log, notes=tuple(note.replace(stored, self.name) for note in log.notes))

    def find(self, progress: Progress | None = None) -> Disclosure:
        """What an attacker learns from them."""
        log, given = self.log(), given_options(self.read)
        if isinstance(log, RoundLog) and "target" in given:  # names may be numbers
            known = {str(user): user for user in log.users}
            given["target"] = known.get(given["target"], given["target"])
        try:
            answer = rounds(log, budget=TUNING.chain_seconds, progress=progress, **given)
        except AnonymatchError as error:
            raise self._worded(error) from None
        notes = tuple(Message(note).worded(_as_field) for note in answer.notes)
        return replace(answer, notes=notes)

    def _worded(self, error: AnonymatchError) -> InputError:
        names = {} if self.path is None else {str(self.path): self.name}
        return InputError(error.message.renamed(names).worded(_as_field))

    def command(self) -> str:
        """Return the command lines that give the same."""
        given = option_line(given_options(self.read) | {"budget": TUNING.chain_seconds})
        look = " ".join(["anonymatch rounds", quote(self.name or _MADE), *given])
        if self.path is not None:
            return look
        return f"anonymatch synthesize {_MADE} {' '.join(option_line(self._made))}\n{look}"

    @property
    def _made(self) -> dict[str, int]:
        names = ("rounds", "friends", "users", "batch", "seed")
        return {name: getattr(self, name) for name in names}

    def python(self) -> str:
        """Return the Python lines that give the same."""
        made = f"synthesize_rounds({keywords(self._made).removeprefix('rounds=')})"
        log = (
            f"am.disclosure.{made}"
            if self.path is None
            else f"am.disclosure.read_rounds({self.name!r})"
            if self.read.law is None
            else repr(self.name)
        )
        given = keywords(given_options(self.read) | {"budget": TUNING.chain_seconds})
        return (
            f"import anonymatch as am\nlog = {log}\nfound = am.rounds(log, {given})\n"
            "print(found)\nfound.report('rounds.html')"
        )


def _as_field(argument: Argument) -> str:
    """Return the field for an argument that a message names, or the option of the command line."""
    if argument.name in option_texts(RoundsOptions):
        return repr(label_of(argument.name, {}))
    return f"{as_option(argument)} on the command line"


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; the rounds, and how many of them are looked at, are in the address."""
    page = _RoundsPage(studio, query)
    with frame(
        "/rounds",
        "How long does anonymity last?",
        "One round hides who wrote to whom. Users who write to the same few again and again become "
        "known as rounds go by: drop a log of rounds or make one, then move the rounds that were "
        "seen.",
    ):
        page.build()
        # Whoever only fetches the page gets what is known at once: chains are for readers.
        ui.context.client.on_connect(page.begin)


class _RoundsPage(FilePage):
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        super().__init__(studio)
        self.request = RoundsRequest.of(query)
        token = query.get("file", "")
        upload = studio.store.adopt(token, self.id)
        self.gone = bool(token) and upload is None
        if upload is not None:
            self.request = self._of_file(upload)
        self.seen = whole(query, "seen", 0, least=0, most=10**9)  # rounds; 0 for all
        self.begun = False
        self.curves: dict[str, w.ChartPlace] = {}

    def _of_file(self, upload: Upload) -> RoundsRequest:
        return replace(self.request, name=upload.name, path=upload.path, token=upload.token)

    def _remember(self) -> None:
        here = address("/rounds", **self.request.values(), seen=self.seen or "")
        ui.navigate.history.replace(here)

    # ---- controls

    def build(self) -> None:
        self.missing = self.notice(self.gone)
        with w.box("div", "beside"):
            with w.box("div"):
                self.drop(
                    "Drop a log of rounds here, or click to choose one",
                    "round, direction, user, behaviour (.csv, .tsv, .parquet, .jsonl)",
                )
                self.controls = w.box("div")
                with w.box("details", "more"):
                    w.text("The attack", "summary")
                    self.read = self.request.read
                    form = OptionForm(self, self._told, {})
                    form.show({"": [*option_texts(RoundsOptions)]})
            with w.box("div", "moving"):
                self.view = View("Looking at the rounds")
        self.below = w.box("div")
        self._controls()
        self._same()

    def _controls(self) -> None:
        self.controls.clear()
        request = self.request
        with self.controls, w.box("div", "controls"):
            if request.path is not None:
                with w.box("div", "field"):
                    w.text("File", "span", "name")
                    w.text(request.name, "span")
                    w.button("Close it", self._close, "quiet")
                return
            w.text("Or make a log: every round, some users send one message each.", "p", "soft")
            for name in ("users", "friends", "batch", "rounds"):
                w.control_slider(request, name, partial(self._turn, name))
            w.button("Make another", self._another)

    async def _told(self) -> None:
        """An option of the attack was changed."""
        self.request = replace(self.request, read=self.read)
        await self._changed(rebuild=False)

    async def _turn(self, key: str, given: Any) -> None:
        before = self.request
        query = {name: str(value) for name, value in before.values().items()}
        request = replace(RoundsRequest.of(query | {key: str(given)}), read=self.read)
        if request == before:
            return
        self.request, self.seen = request, 0
        fewer = (request.friends, request.batch) != (before.friends, before.batch)
        # They cannot be more than there are users.
        await self._changed(rebuild=key == "users" and fewer, rest=TUNING.rest)

    async def _another(self) -> None:
        self.request = replace(self.request, seed=self.request.seed + 1)
        await self._look()

    async def arrived(self, upload: Upload, _slot: str, _more: bool) -> None:
        self.request, self.seen = self._of_file(upload), 0
        # The answer to the browser does not wait for the chains.
        background_tasks.create(self._changed(), name="studio upload")

    async def _close(self) -> None:
        self.request, self.seen = replace(self.request, name="", path=None, token=""), 0
        self.studio.store.leave(self.id)
        await self._changed()

    async def _changed(self, *, rebuild: bool = True, rest: float = 0.0) -> None:
        with self.client:  # the control that was moved may be gone
            self.missing.clear()
            if rebuild:
                self._controls()
            await self._look(rest)

    # ---- answers

    async def begin(self) -> None:
        """Look once the reader is there."""
        if not self.begun:
            self.begun = True
            await self._look()

    async def _look(self, rest: float = 0.0) -> None:
        request = self.request
        await asyncio.sleep(rest)
        if request != self.request:
            return  # the slider moved on
        self._remember()
        self._same()
        answers = self.studio.disclosures
        await self.view.ask(
            lambda tell: answers.once(request, lambda: request.find(tell)),
            partial(self._show, request),
        )

    def _same(self) -> None:
        self.below.clear()
        with self.below:
            w.same_result(self.request.command(), self.request.python())

    def _show(self, request: RoundsRequest, disclosure: Disclosure) -> None:
        """The sentence, the slider, and what moves with it."""
        report = rounds_report(disclosure)
        w.text(report.headline[0], "p", "words")
        for note in disclosure.notes:
            w.text(note, "p", "note")
        points = list(disclosure.profiles_at)
        if not points:  # methods about one user have no profiles
            for shown in report.tables:
                w.heading(shown.title, 3)
                w.report_table(shown, most=TUNING.first_users)
            return
        at = points.index(self.seen) if self.seen in points else len(points) - 1
        if len(points) > 1:
            steps = [f"{rounds:,} of {points[-1]:,}" for rounds in points]
            w.step_slider("Rounds seen", steps, at, partial(self._move, disclosure, report, points))
        self.scores = w.box("div")
        with w.box("div", "gallery wide"):
            self.sharpening = w.box("div")
            with w.box("div", "curves"):
                self.curves = {
                    name: w.chart(_curve(name, disclosure, points[at]), name, _CHARTS[name][1])
                    for name in disclosure_charts(disclosure)
                }
        self._draw(disclosure, report, points[at])
        w.heading("Who falls first")
        w.report_table(report.table("users"), most=TUNING.first_users)
        name = f"rounds-{Path(request.name).stem or 'made'}.html"

        def save_report() -> None:
            w.save(report_html(report.run_by(request.command())), name, "text/html")

        with w.box("div", "row"):
            w.button("Save the report", save_report, "main")
            w.button("Save who writes to whom as CSV", partial(_save_pairs, disclosure))

    def _move(self, disclosure: Disclosure, report: Report, points: list[int], step: int) -> None:
        self.seen = 0 if step == len(points) - 1 else points[step]
        self._remember()
        self._draw(disclosure, report, points[step])
        for name, place in self.curves.items():
            place.draw(_curve(name, disclosure, points[step]))

    def _draw(self, disclosure: Disclosure, report: Report, rounds: int) -> None:
        """Show the figures and the matrix after that number of rounds."""
        self.scores.clear()
        with self.scores:
            if disclosure.curve:
                w.tiles(_tiles(report, rounds))
        self.sharpening.clear()
        with self.sharpening:
            _matrix(disclosure, rounds)


def _curve(name: str, disclosure: Disclosure, rounds: int) -> Callable[[], AnyChart]:
    """Return what draws a curve with that number of rounds marked."""
    return partial(_CHARTS[name][0], disclosure, chosen=rounds)


def _tiles(report: Report, rounds: int) -> list[tuple[str, str, str]]:
    """Return the half-life and the figures after that number of rounds."""
    half, curve = report.figure("half_life"), report.table("curve")
    row = next((row for row in curve.rows if row[0] == rounds), ())
    cells = [
        (report.figure(column.title), column.text(cell))
        for column, cell in list(zip(curve.columns, row, strict=False))[1:]
        if cell is not None
    ]
    after = f"after {plural(rounds, 'round')}"
    return [
        (half.title, half.text, half.meaning),
        *((f"{figure.title} {after}", shown, figure.meaning) for figure, shown in cells),
    ]


def _matrix(disclosure: Disclosure, rounds: int) -> None:
    """The matrix, or the likeliest pairs where there are too many users to draw."""
    matrix = profile_matrix(disclosure, rounds=rounds)
    if matrix is not None:
        ringed = " What is true is marked in orange." if disclosure.log.truth is not None else ""
        w.figure(
            drawn_matrix(matrix),
            "profiles",
            "Who writes to whom by the first rounds alone: the fuller the colour, the likelier. A "
            f"dashed row has not sent yet.{ringed}",
        )
        return
    pairs, log = disclosure.profiles_at[rounds], disclosure.log
    order = np.argsort(-pairs.probability, kind="stable")[: TUNING.pairs].tolist()
    w.table(
        ["user", "behaviour", "probability"],
        [
            [
                str(log.users[int(pairs.user[k])]),
                str(log.behaviours[int(pairs.behaviour[k])]),
                percent(float(pairs.probability[k])),
            ]
            for k in order
        ],
        "pairs",
        title="The likeliest pairs",
    )


def _save_pairs(disclosure: Disclosure) -> None:
    w.save(plain_table(disclosure.profiles).write_csv(), "profiles.csv", "text/csv")

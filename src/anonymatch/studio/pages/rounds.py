"""Rounds: a slider over those that were seen, and who writes to whom sharpens with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from nicegui import background_tasks, ui

from anonymatch.base.numbers import percent, plural
from anonymatch.disclosure import (
    CurvePoint,
    Disclosure,
    bits_chart,
    disclosure_charts,
    guess_chart,
    half_life_ends,
    half_life_in_words,
    profile_matrix,
    rounds_report,
    rounds_text,
)
from anonymatch.graph import plain_table
from anonymatch.reporting import drawn_matrix, report_html
from anonymatch.studio.address import address, whole
from anonymatch.studio.disclosures import RoundsRequest
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View
from anonymatch.studio.session import Studio
from anonymatch.studio.uploads import Upload
from anonymatch.studio.widgets import (
    ChartPlace,
    DrawnChart,
    alert,
    box,
    button,
    chart,
    drawn_chart,
    drop_zone,
    figure,
    heading,
    number_slider,
    same_result,
    save,
    step_slider,
    table,
    text,
    tiles,
)

__all__ = ["show"]

_REST = 0.4  # seconds that sliders rest before rounds are looked at
_FALLS = 10  # users in the table of who falls first
_CHARTS = {"bits": bits_chart, "guesses": guess_chart}
_PAIRS = 20  # pairs in a table, where the matrix is too large to draw
_BITS = (
    "Bits about the receiver of a message, mean over stretches of the log of that many rounds. "
    "Dashed: the half-life."
)
_GUESSES = (
    "Best guesses that are right, where the truth is known, and what the attacker believes; the "
    "band is the interval of 95 %."
)


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


class _RoundsPage:
    """State and places of one open page."""

    def __init__(self, studio: Studio, query: Mapping[str, str]) -> None:
        self.studio = studio
        self.client = ui.context.client
        self.id = self.client.id
        self.request = RoundsRequest.of(query)
        token = query.get("file", "")
        upload = studio.store.adopt(token, self.id)
        self.gone = bool(token) and upload is None
        if upload is not None:
            self.request = self._of_file(upload)
        self.seen = whole(query, "seen", 0, least=0, most=10**9)  # rounds; 0 for all
        self.begun = False
        self.curves: dict[str, ChartPlace] = {}
        studio.inboxes[self.id] = self._arrived
        self.client.on_delete(self._closed)

    def _closed(self) -> None:
        self.studio.inboxes.pop(self.id, None)
        self.studio.store.leave(self.id)

    def _of_file(self, upload: Upload) -> RoundsRequest:
        return replace(self.request, name=upload.name, path=upload.path, token=upload.token)

    def _remember(self) -> None:
        here = address("/rounds", **self.request.values(), seen=self.seen or "")
        ui.navigate.history.replace(here)

    # ---- controls

    def build(self) -> None:
        with box("div") as self.missing:
            if self.gone:
                alert("the file of this address is no longer here; drop it again")
        with box("div", "beside"):
            with box("div"):
                store = self.studio.store
                drop_zone(
                    f"/upload/{self.id}",
                    "file",
                    "Drop a log of rounds here, or click to choose one",
                    "round, direction, user, behaviour (.csv, .tsv, .parquet, .jsonl)",
                    limit=store.limit,
                    refusal=store.refusal,
                )
                self.controls = box("div")
            with box("div", "moving"):
                self.view = View("Looking at the rounds")
        self.below = box("div")
        self._controls()
        self._same()

    def _controls(self) -> None:
        self.controls.clear()
        request = self.request
        with self.controls, box("div", "controls"):
            if request.path is not None:
                with box("div", "field"):
                    text("File", "span", "name")
                    text(request.name, "span")
                    button("Close it", self._close, "quiet")
                return
            text("Or make a log: every round, some users send one message each.", "p", "soft")
            self._slider("users", "Users", request.users, 2, 60, 1000)
            self._slider("friends", "Friends of each", request.friends, 1, 10, 50)
            self._slider("batch", "Messages a round", request.batch, 1, 20, 200)
            self._slider("rounds", "Rounds", request.rounds, 1, 400, 10_000)
            button("Make another", self._another)

    def _slider(self, key: str, name: str, value: int, least: int, most: int, upper: int) -> None:
        number_slider(name, value, partial(self._turn, key), least=least, most=most, upper=upper)

    async def _turn(self, key: str, given: Any) -> None:
        before = self.request
        query = {name: str(value) for name, value in before.values().items()}
        request = RoundsRequest.of(query | {key: str(given)})
        if request == before:
            return
        self.request, self.seen = request, 0
        fewer = (request.friends, request.batch) != (before.friends, before.batch)
        # They cannot be more than there are users.
        await self._changed(rebuild=key == "users" and fewer, rest=_REST)

    async def _another(self) -> None:
        self.request = replace(self.request, seed=self.request.seed + 1)
        await self._look()

    async def _arrived(self, upload: Upload, _slot: str, _more: bool) -> None:
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
        await self.view.ask(
            partial(self.studio.disclosures.find, request), partial(self._show, request)
        )

    def _same(self) -> None:
        self.below.clear()
        with self.below:
            same_result(self.request.command(), self.request.python())

    def _show(self, request: RoundsRequest, disclosure: Disclosure) -> None:
        """The sentence, the slider, and what moves with it."""
        text(half_life_in_words(disclosure), "p", "words")
        for note in disclosure.notes:
            text(note, "p", "note")
        points = list(disclosure.profiles_at)
        at = points.index(self.seen) if self.seen in points else len(points) - 1
        if len(points) > 1:
            steps = [f"{rounds:,} of {points[-1]:,}" for rounds in points]
            step_slider("Rounds seen", steps, at, partial(self._move, disclosure, points))
        self.scores = box("div")
        with box("div", "gallery wide"):
            self.sharpening = box("div")
            with box("div", "curves"):
                drawn = _drawn(disclosure, points[at])
                captions = {"bits": _BITS, "guesses": _GUESSES}
                self.curves = {name: chart(one, captions[name]) for name, one in drawn.items()}
        self._draw(disclosure, points[at])
        _falls(disclosure)
        with box("div", "row"):
            button("Save the report", partial(_save_report, request, disclosure), "main")
            button("Save who writes to whom as CSV", partial(_save_pairs, disclosure))

    def _move(self, disclosure: Disclosure, points: list[int], step: int) -> None:
        self.seen = 0 if step == len(points) - 1 else points[step]
        self._remember()
        self._draw(disclosure, points[step])
        background_tasks.create(self._redraw(disclosure, points[step]), name="studio curves")

    async def _redraw(self, disclosure: Disclosure, rounds: int) -> None:
        """Curves are made beside the page, which the slider would hold up else."""
        seen = self.seen
        drawn = await asyncio.to_thread(_drawn, disclosure, rounds)
        if seen == self.seen and not self.client.is_deleted:
            with self.client:
                for name, one in drawn.items():
                    self.curves[name].draw(one)

    def _draw(self, disclosure: Disclosure, rounds: int) -> None:
        """Figures and the matrix after so many rounds."""
        point = next((each for each in disclosure.curve if each.rounds == rounds), None)
        self.scores.clear()
        with self.scores:
            if point is not None:
                tiles(_tiles(disclosure, point))
        self.sharpening.clear()
        with self.sharpening:
            _matrix(disclosure, rounds)


def _drawn(disclosure: Disclosure, rounds: int) -> dict[str, DrawnChart]:
    """The curves with so many rounds marked."""
    return {
        name: drawn_chart(_CHARTS[name](disclosure, chosen=rounds), name)
        for name in disclosure_charts(disclosure)
    }


def _half_life(disclosure: Disclosure) -> str:
    if disclosure.half_life_between is None:
        return "not reached"
    half = disclosure.half_life
    return "no single number" if half is None else f"{rounds_text(half)} rounds"


def _tiles(disclosure: Disclosure, point: CurvePoint) -> list[tuple[str, str, str]]:
    half, first = disclosure.half_life_between, disclosure.curve[0]
    entries = [
        (
            "Half-life",
            _half_life(disclosure),
            f"in the {plural(disclosure.log.n_rounds, 'round')} of this log"
            if half is None
            else half_life_ends(half),
        )
    ]
    if point.bits is not None and first.bits is not None:
        entries.append(
            (
                f"Bits left after {plural(point.rounds, 'round')}",
                f"{point.bits.value:.2f}",
                f"about the receiver of a message; {first.bits.value:.2f} after one round",
            )
        )
    if point.believed is not None:
        right, believed = point.right, percent(point.believed.value)
        entries.append(
            (
                "Best guesses",
                believed if right is None else percent(right.value),
                "are right, the attacker believes"
                if right is None
                else f"are right; the attacker believes {believed}",
            )
        )
    return entries


def _matrix(disclosure: Disclosure, rounds: int) -> None:
    """The matrix, or the likeliest pairs where there are too many users to draw."""
    matrix = profile_matrix(disclosure, rounds=rounds)
    if matrix is not None:
        ringed = " What is true is marked in orange." if disclosure.log.truth is not None else ""
        figure(
            drawn_matrix(matrix),
            "profiles",
            "Who writes to whom by the first rounds alone: the fuller the colour, the likelier. A "
            f"dashed row has not sent yet.{ringed}",
        )
        return
    pairs, log = disclosure.profiles_at[rounds], disclosure.log
    order = np.argsort(-pairs.probability, kind="stable")[:_PAIRS].tolist()
    table(
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


def _falls(disclosure: Disclosure) -> None:
    heading("Who falls first")
    table(
        ["user", "half-life", "messages", "bits", "believed", "friends", "why"],
        [
            [
                str(one.user),
                "–" if one.half_life is None else rounds_text(one.half_life),
                one.messages,
                f"{one.bits:.2f}",
                percent(one.believed),
                f"{one.friends:.1f}",
                one.why or "as others do",
            ]
            for one in disclosure.users[:_FALLS]
        ],
        "falls",
        title="Who falls first",
    )


def _stem(request: RoundsRequest) -> str:
    return Path(request.name).stem or "made"


def _save_report(request: RoundsRequest, disclosure: Disclosure) -> None:
    page = report_html(rounds_report(disclosure).run_by(request.command()))
    save(page, f"rounds-{_stem(request)}.html", "text/html")


def _save_pairs(disclosure: Disclosure) -> None:
    save(plain_table(disclosure.profiles).write_csv(), "profiles.csv", "text/csv")

"""Design: the best groups for a number of users and a cost, beside what else costs as much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from anonymatch.base.numbers import percent
from anonymatch.reporting import Picture, bipartite, matrix, parts
from anonymatch.reporting.charts import Line, line_chart
from anonymatch.running import Progress
from anonymatch.studio.address import address, choice, number, whole
from anonymatch.studio.comparisons import DRAWN, Contender, contenders, edges_for
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View, bits_text
from anonymatch.studio.session import Studio
from anonymatch.studio.systems import (
    SYSTEMS,
    Knob,
    System,
    SystemFigures,
    choice_of,
    system_chart,
)
from anonymatch.studio.widgets import (
    DrawnChart,
    box,
    chart,
    drawn_chart,
    figure,
    heading,
    number_slider,
    same_result,
    select,
    table,
    text,
    tiles,
)
from anonymatch.theory.designs import max_bound

__all__ = ["show"]

_SLIDER, _MOST = 60, 1_000_000
_LINES = 12  # users up to which graphs are also drawn as dots and lines
_LN2 = math.log(2.0)


async def show(_studio: Studio, query: Mapping[str, str]) -> None:
    """The page; users, edges, system and its knobs are in the address."""
    page = _DesignPage(query)
    with frame(
        "/design",
        "Which groups hide people best?",
        "Every pair of a user and a message that may be theirs is an edge, and edges are what a "
        "system pays for: with delay, with cover traffic, with bandwidth. Here are the best ways "
        "to spend them.",
    ):
        page.controls()
        await page.compare()
        heading("Real systems and what they pay")
        text(
            "Choose a system and turn its knobs: the front shows how much doubt can be had for "
            "the cost, and the point on it is your choice.",
            "p",
            "words",
        )
        page.system_controls()
        await page.measure()


class _DesignPage:
    """State and places of one open page."""

    def __init__(self, query: Mapping[str, str]) -> None:
        self.client = ui.context.client
        self.users = whole(query, "users", 8, least=1, most=_MOST)
        usual = edges_for(self.users, 3)
        self.edges = whole(
            query, "edges", usual, least=self.users, most=self.users * min(self.users, 10**6)
        )
        self.system = choice(query, "system", list(SYSTEMS))
        self.knobs = _knobs(SYSTEMS[self.system], query)
        self.candidates = self.edges / self.users

    # ---- designs

    def controls(self) -> None:
        with box("div", "controls"):
            number_slider(
                "Users",
                self.users,
                self._set_users,
                least=2,
                most=_SLIDER,
                upper=_MOST,
                hint="Everybody who hides here.",
            )
            self.edge_control = box("div")
        self._edge_slider()
        self.results = View("Comparing designs")

    def _edge_slider(self) -> None:
        self.edge_control.clear()
        with self.edge_control:
            number_slider(
                "Edges",
                self.edges,
                self._set_edges,
                least=self.users,
                most=self.users * min(self.users, 12),
                upper=self.users * self.users,
                hint=f"The cost: {self.edges / self.users:.3g} candidates a user on average.",
            )

    async def _set_users(self, given: Any) -> None:
        users = whole({"n": str(given)}, "n", self.users, least=2, most=_MOST)
        if users != self.users:
            self.users, self.edges = users, edges_for(users, self.candidates)
            self._edge_slider()
            await self.compare()

    async def _set_edges(self, given: Any) -> None:
        most = self.users * self.users
        self.edges = whole({"m": str(given)}, "m", self.edges, least=self.users, most=most)
        self.candidates = self.edges / self.users
        await self.compare()

    async def compare(self) -> None:
        users, edges = self.users, self.edges
        self._remember()
        await self.results.ask(
            lambda _: _drawn(contenders(users, edges)),
            lambda drawn: _compared(users, edges, *drawn),
        )

    # ---- systems

    def system_controls(self) -> None:
        with box("div", "controls"):
            self.knob_controls = box("div", "controls open")
        self._sliders()
        self.outcome = View("Measuring")

    def _sliders(self) -> None:
        self.knob_controls.clear()
        with self.knob_controls:
            names = {key: system.name for key, system in SYSTEMS.items()}
            select("System", names, self.system, self._set_system)
            for knob in SYSTEMS[self.system].knobs:
                number_slider(
                    knob.name,
                    self.knobs[knob.key],
                    partial(self._turn, knob),
                    least=knob.least,
                    most=knob.most,
                    step=knob.step,
                    unit=knob.unit,
                    hint=knob.hint,
                )

    async def _set_system(self, given: Any) -> None:
        self.system = choice({"system": str(given)}, "system", list(SYSTEMS))
        self.knobs = _knobs(SYSTEMS[self.system], {})
        with self.client:  # the control that was moved is drawn anew
            self._sliders()
            await self.measure()

    async def _turn(self, knob: Knob, given: Any) -> None:
        self.knobs[knob.key] = _turned(knob, {knob.key: str(given)})
        await self.measure()

    async def measure(self) -> None:
        system, knobs = SYSTEMS[self.system], dict(self.knobs)
        self._remember()

        def work(_: Progress) -> tuple[SystemFigures, DrawnChart]:
            figures = system.outcome(knobs)
            return figures, drawn_chart(system_chart(system, figures), f"front-{system.key}")

        await self.outcome.ask(work, lambda drawn: self._measured(system, *drawn))

    async def _pick(self, key: Any) -> None:
        """A point of the front was clicked on: it is the choice."""
        system, knobs = choice_of(str(key))
        if system in SYSTEMS:
            self.system, self.knobs = system, _knobs(SYSTEMS[system], knobs)
            with self.client:
                self._sliders()
                await self.measure()

    def _measured(self, system: System, figures: SystemFigures, drawn: DrawnChart) -> None:
        text(system.story, "p", "words")
        tiles(
            [
                (
                    f"Cost: {system.cost}",
                    f"{figures.cost:.3g} {system.unit}",
                    "what users pay for it",
                ),
                (f"Anonymity: {system.measure}", f"{figures.bits:.3g}", system.meaning),
            ]
        )
        grey = "" if figures.rate is None else " Grey is what no mix can reach."
        chart(
            drawn,
            f"Higher is better, further left is cheaper.{grey} A click on a point chooses it.",
            on_pick=self._pick,
        )
        rows = [
            [line.name, x, y] for line in figures.front for x, y in zip(line.x, line.y, strict=True)
        ]
        with box("details", "more"):
            text("The front as a table", "summary")
            table(["system", f"{system.cost} ({system.unit})", system.measure], rows, system.key)
        same_result("", figures.python)

    def _remember(self) -> None:
        link = address(
            "/design", users=self.users, edges=self.edges, system=self.system, **self.knobs
        )
        ui.navigate.history.replace(link)


def _knobs(system: System, query: Mapping[str, str]) -> dict[str, float]:
    return {knob.key: _turned(knob, query) for knob in system.knobs}


def _turned(knob: Knob, query: Mapping[str, str]) -> float:
    value = number(query, knob.key, knob.usual, least=knob.least, most=knob.most)
    return round(value) if knob.step == 1 else value


def _drawn(compared: Sequence[Contender]) -> tuple[Sequence[Contender], DrawnChart | None]:
    """Designs, and the chart of what an attack leaves of them."""
    curves = [
        Line(each.name, range(len(each.curve)), each.curve)
        for each in _different(compared)
        if each.curve
    ]
    if not curves:
        return compared, None
    made = line_chart(
        curves,
        title="Bits left after each exposure",
        x_label="users exposed",
        y_label="bits left (log2 of the matchings)",
        zero=True,
    )
    return compared, drawn_chart(made, "exposure-curve")


def _compared(
    users: int, edges: int, compared: Sequence[Contender], curve: DrawnChart | None
) -> None:
    best, after = compared[0], compared[1]
    bound = max_bound(users, edges) / _LN2
    tiles(
        [
            (
                "Most matchings",
                bits_text(best.bits),
                "stories that explain what is seen, with the best design",
            ),
            (
                "No design can have more than",
                bits_text(bound),
                f"a proven bound; the best design reaches {percent(best.share)} of it",
            ),
            (
                "Left after the best attack",
                bits_text(after.bits_left),
                "stories left on average when the worst user is exposed, in the design made for it",
            ),
            (
                "Bits per user",
                f"{(best.bits or 0) / users:.3g}",
                "how often each user's doubt doubles, on average",
            ),
        ]
    )
    table(
        ["design", "what it is", "matchings", "of the edges' bound", "left after the best attack"],
        [
            [
                each.name,
                each.meaning,
                bits_text(each.bits),
                percent(each.share),
                "not computed" if each.bits_left is None else bits_text(each.bits_left),
            ]
            for each in compared
        ],
        f"designs-{users}-users-{edges}-edges",
        title="Designs of the same cost",
    )
    _drawings(users, compared)
    if curve is not None:
        heading("What an attack leaves, step by step")
        chart(
            curve,
            "Each time the attacker exposes the user who tells most, along one drawn truth. At 0 "
            f"bits everybody is identified.{_not_followed(compared)}",
        )
    same_result(*_lines(users, edges))


def _not_followed(compared: Sequence[Contender]) -> str:
    names = ", ".join(each.name for each in compared if not each.curve)
    return f" Not followed, for time or for want of a matching: {names}." if names else ""


def _different(compared: Sequence[Contender]) -> list[Contender]:
    """Without designs that are the same as one before."""
    different: list[Contender] = []
    for each in compared:
        twins = (
            one.design is not None
            and each.design is not None
            and one.design.parts == each.design.parts
            and one.design.spare == each.design.spare
            for one in different
        )
        if not any(twins):
            different.append(each)
    return different


def _drawings(users: int, compared: Sequence[Contender]) -> None:
    heading("Side by side")
    shown_ones = _different(compared)
    if len(shown_ones) < len(compared):
        text("Designs that turn out to be the same are drawn once.", "p", "soft")
    with box("div", "gallery" if users <= _LINES else "gallery large"):
        for each in shown_ones:
            with box("section", "pane"):
                heading(each.name, 3)
                drawn = " expected; one draw of many" if each.key == "random" else ""
                text(f"{bits_text(each.bits)} matchings{drawn}", "p", "soft")
                for picture, name in _pictures(users, each):
                    figure(picture, f"{each.key}-{name}")


def _pictures(users: int, each: Contender) -> list[tuple[Picture, str]]:
    if each.graph is None:
        if each.design is None:
            return []
        return [(parts(each.design.parts, spare=each.design.spare, title=each.name), "parts")]
    pictures = [(matrix(each.graph, title=f"{each.name} as a matrix"), "matrix")]
    if users <= _LINES:
        groups = "blocks" if each.design is not None else None
        pictures.append((bipartite(each.graph, title=each.name, groups=groups), "graph"))
    return pictures


def _lines(users: int, edges: int) -> tuple[str, str]:
    command = f"anonymatch design --users {users} --edges {edges}"
    python = (
        "import anonymatch as am\n"
        f"best = am.design(users={users}, edges={edges})\n"
        "print(best, best.rivals(), sep='\\n')\n"
        f"am.design(users={users}, edges={edges}, objective='after_attack').attack"
    )
    if users <= DRAWN:
        command += f"\nanonymatch design --users {users} --edges {edges} --out design.csv"
    return command, python

"""Design: the best groups for a number of users and a cost, and alternatives of the same cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from nicegui import ui

from anonymatch.base.errors import BudgetError, NoMatchingError
from anonymatch.base.numbers import percent
from anonymatch.graph import Graph, witness
from anonymatch.mixes import closed_forms as mixes
from anonymatch.reporting import Picture, bipartite, matrix, parts
from anonymatch.reporting.charts import (
    AnyChart,
    Chosen,
    FrontLine,
    Line,
    front_chart,
    line_chart,
)
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import address, choice, number, whole
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View, bits_text
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING
from anonymatch.theory.attacks import attack, exposures
from anonymatch.theory.designs import (
    Design,
    design,
    graph_of,
    layered,
    max_bound,
    random_expectation,
    rivals,
)
from anonymatch.theory.systems import SYSTEMS, System, choice_of

_LN2 = math.log(2.0)


async def show(_studio: Studio, query: Mapping[str, str]) -> None:
    """Build the page; its address has the users, the edges, the system and its knobs."""
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
        w.heading("Real systems and what they pay")
        w.text(
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
        self.users = whole(query, "users", 8, least=1, most=TUNING.design_users)
        usual = edges_for(self.users, 3)
        self.edges = whole(
            query, "edges", usual, least=self.users, most=self.users * min(self.users, 10**6)
        )
        self._choose(choice(query, "system", list(SYSTEMS)), query)
        self.candidates = self.edges / self.users

    # ---- designs

    def controls(self) -> None:
        with w.box("div", "controls"):
            w.number_slider(
                "Users",
                self.users,
                self._set_users,
                least=2,
                most=TUNING.design_slider,
                upper=TUNING.design_users,
                hint="Everybody who hides here.",
            )
            self.edge_control = w.box("div")
        self._edge_slider()
        self.results = View("Comparing designs")

    def _edge_slider(self) -> None:
        self.edge_control.clear()
        with self.edge_control:
            w.number_slider(
                "Edges",
                self.edges,
                self._set_edges,
                least=self.users,
                most=self.users * min(self.users, 12),
                upper=self.users * self.users,
                hint=f"The cost: {self.edges / self.users:.3g} candidates per user on average.",
            )

    async def _set_users(self, given: Any) -> None:
        users = whole({"n": str(given)}, "n", self.users, least=2, most=TUNING.design_users)
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
        await self.results.ask(lambda _: contenders(users, edges), partial(_compared, users, edges))

    # ---- systems

    def _choose(self, system: str, query: Mapping[str, str]) -> None:
        """Choose a system; knobs that the query does not name have their usual values."""
        self.system = system
        self.knobs: dict[str, float] = {}
        for key in SYSTEMS[system].knobs:
            self._set_knob(key, query)

    def _set_knob(self, key: str, query: Mapping[str, str]) -> None:
        knob = SYSTEMS[self.system].knobs[key]
        value = number(query, key, knob.usual, least=knob.least, most=knob.most)
        self.knobs[key] = round(value) if knob.step == 1 else value

    def system_controls(self) -> None:
        with w.box("div", "controls"):
            self.knob_controls = w.box("div", "controls open")
        self._sliders()
        self.outcome = View("Measuring")

    def _sliders(self) -> None:
        self.knob_controls.clear()
        with self.knob_controls:
            names = {key: system.name for key, system in SYSTEMS.items()}
            w.select("System", names, self.system, self._pick)
            for key, knob in SYSTEMS[self.system].knobs.items():
                w.number_slider(
                    knob.name,
                    self.knobs[key],
                    partial(self._turn, key),
                    least=knob.least,
                    most=knob.most,
                    step=knob.step,
                    unit=knob.unit,
                    hint=knob.hint,
                )

    async def _pick(self, key: Any) -> None:
        """Take a system, or a point of the front, as the choice."""
        system, knobs = choice_of(str(key))
        if system in SYSTEMS:
            self._choose(system, knobs)
            with self.client:  # the control that was moved is drawn again
                self._sliders()
                await self.measure()

    async def _turn(self, key: str, given: Any) -> None:
        self._set_knob(key, {key: str(given)})
        await self.measure()

    async def measure(self) -> None:
        key, system, knobs = self.system, SYSTEMS[self.system], dict(self.knobs)
        self._remember()

        def work(_: Progress) -> tuple[Sequence[FrontLine], tuple[float, float]]:
            return system.front(knobs), (system.price(knobs), system.bits(knobs))

        await self.outcome.ask(work, lambda found: self._measured(key, knobs, *found))

    def _measured(
        self,
        key: str,
        knobs: Mapping[str, float],
        front: Sequence[FrontLine],
        chosen: tuple[float, float],
    ) -> None:
        system, (cost, bits) = SYSTEMS[key], chosen
        w.text(system.text, "p", "words")
        w.tiles(
            [
                (f"Cost: {system.cost}", f"{cost:.3g} {system.unit}", "what users pay for it"),
                (f"Anonymity: {system.measure}", f"{bits:.3g}", system.meaning),
            ]
        )
        grey = " No mix can reach the grey area." if "rate" in knobs else ""
        w.chart(
            partial(_front, system, front, chosen, knobs.get("rate")),
            f"front-{key}",
            f"Higher is better, further left is cheaper.{grey} A click on a point chooses it.",
            on_pick=self._pick,
        )
        rows = [[line.name, x, y] for line in front for x, y in zip(line.x, line.y, strict=True)]
        with w.box("details", "more"):
            w.text("The front as a table", "summary")
            w.table(["system", f"{system.cost} ({system.unit})", system.measure], rows, key)
        w.same_result("", system.python(knobs))

    def _remember(self) -> None:
        link = address(
            "/design", users=self.users, edges=self.edges, system=self.system, **self.knobs
        )
        ui.navigate.history.replace(link)


def _front(
    system: System, front: Sequence[FrontLine], chosen: tuple[float, float], rate: float | None
) -> AnyChart:
    """Draw a front as the page Plan does: by the effective anonymity set, 2 to the bits."""
    lines = []
    for line in front:
        points = zip(line.x, line.y, line.keys, strict=True)
        known = [(x, 2.0**bits, key) for x, bits, key in points if x > 0]  # the axis has no 0
        if known:
            lines.append(FrontLine(line.name, *zip(*known, strict=True)))
    cost, height = chosen[0], 2.0 ** chosen[1]
    return front_chart(
        lines,
        ceiling=None if rate is None else lambda delay: 2.0 ** mixes.ceiling_bits(rate * delay),
        title=f"{system.name}: anonymity against cost",
        x_label=f"{system.cost} ({system.unit})",
        y_label=f"hides among (2 to the {system.measure})",
        chosen=Chosen("your choice", cost, height, height, height) if cost > 0 else None,
    )


# ---- graphs of the same cost


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """One way to spend the edges; ``graph`` is None if there are too many users to draw.

    ``share`` is the matchings as a share of the bound of the same edges. ``bits_left`` is log2 of
    the matchings that the best attack on one user leaves on average. ``curve`` is log2 of the
    matchings left after 0, 1, 2, ... exposures, for one sampled matching.
    """

    key: str
    name: str
    meaning: str
    graph: Graph | None
    bits: float | None
    share: float | None
    bits_left: float | None = None
    design: Design | None = None

    curve: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "curve", _curve(self.graph))


def edges_for(users: int, candidates: float) -> int:
    """Return the edges with which a user has that number of candidates on average.

    Examples
    --------
    >>> edges_for(10, 2.5), edges_for(4, 9.0)
    (25, 16)
    """
    return min(max(round(users * candidates), users), users * users)


@lru_cache(maxsize=64)
def contenders(users: int, edges: int) -> tuple[Contender, ...]:
    """Return the best designs, the paper's partition, a ring and a random graph.

    Examples
    --------
    >>> [(each.name, round(each.bits, 2)) for each in contenders(4, 8)[:3]]
    [('Best design', 2.0), ('Best after an attack', 2.0), ("The paper's partition", 2.0)]
    >>> contenders(4, 8)[3].name, contenders(4, 8)[3].curve
    ('Ring', (1.0, 0.0))
    """
    small, bound = users <= TUNING.drawn_users, max_bound(users, edges)
    paper = "groups as equal as can be"
    after = "the most matchings left when one user is exposed"
    robust = design(users, edges, objective="after_attack")
    designed = [
        Contender(
            key=key,
            name=name,
            meaning=meaning,
            graph=made.graph() if small else None,
            bits=made.log2,
            share=made.ratio,
            bits_left=made.attack_log / _LN2,
            design=made,
        )
        for key, name, meaning, made in (
            ("best", "Best design", "the most matchings", design(users, edges)),
            ("after", "Best after an attack", after, robust),
            ("paper", "The paper's partition", paper, design(users, edges, method="paper")),
        )
    ]
    ring = graph_of(users, layered(users, edges).cells()) if small else None
    ring_log, random_log = rivals(users, edges)[0].log, random_expectation(users, edges=edges)
    return (
        *designed,
        Contender(
            key="ring",
            name="Ring",
            meaning="everybody overlaps with neighbours in the same way",
            graph=ring,
            bits=ring_log / _LN2,
            share=math.exp(ring_log - bound),
            bits_left=_left(ring),
        ),
        Contender(  # bits left of one draw are not comparable with an expectation
            key="random",
            name="Random",
            meaning="expected matchings of random edges; the picture is one draw",
            graph=_random_graph(users, edges) if small else None,
            bits=random_log / _LN2 if math.isfinite(random_log) else None,
            share=math.exp(random_log - bound),
        ),
    )


def _random_graph(users: int, edges: int) -> Graph:
    """Return a random graph with that number of edges, the same for every call."""
    cells = np.random.default_rng([users, edges]).choice(users * users, edges, replace=False)
    there = np.zeros(users * users, dtype=bool)
    there[cells] = True
    return Graph.from_biadjacency(there.reshape(users, users))


def _curve(graph: Graph | None) -> tuple[float, ...]:
    if graph is None or graph.n_users > TUNING.attacked_users or witness(graph) is not None:
        return ()
    steps = min(TUNING.design_steps, graph.n_users)
    try:
        campaign = attack(graph, steps=steps, truth="sampled", seed=0, budget=TUNING.design_seconds)
    except BudgetError:
        return ()
    return tuple(round(log / _LN2, 9) + 0.0 for log in campaign.logs)


def _left(graph: Graph | None) -> float | None:
    if graph is None or graph.n_users > TUNING.attacked_users:
        return None
    try:
        outcomes = exposures(graph, budget=TUNING.design_seconds)
    except (BudgetError, NoMatchingError):
        return None
    return (outcomes.start.log + math.log(outcomes.best_share)) / _LN2


# ---- what is shown of them


def _curves(compared: Sequence[Contender]) -> AnyChart:
    """Draw what an attack leaves of each design."""
    return line_chart(
        [
            Line(each.name, range(len(each.curve)), each.curve)
            for each in _different(compared)
            if each.curve
        ],
        title="Bits left after each exposure",
        x_label="users exposed",
        y_label="bits left (log2 of the matchings)",
        zero=True,
    )


def _compared(users: int, edges: int, compared: Sequence[Contender]) -> None:
    best, after = compared[0], compared[1]
    bound = max_bound(users, edges) / _LN2
    w.tiles(
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
    w.table(
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
    if any(each.curve for each in compared):
        w.heading("What an attack leaves, step by step")
        w.chart(
            partial(_curves, compared),
            "exposure-curve",
            "Each time the attacker exposes the user who tells most, along one drawn truth. At 0 "
            f"bits everybody is identified.{_not_followed(compared)}",
        )
    w.same_result(*_lines(users, edges))


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
    w.heading("Side by side")
    shown_ones = _different(compared)
    if len(shown_ones) < len(compared):
        w.text("Designs that turn out to be the same are drawn once.", "p", "soft")
    with w.box("div", "gallery" if users <= TUNING.line_users else "gallery large"):
        for each in shown_ones:
            with w.box("section", "pane"):
                w.heading(each.name, 3)
                drawn = " expected; one draw of many" if each.key == "random" else ""
                w.text(f"{bits_text(each.bits)} matchings{drawn}", "p", "soft")
                for picture, name in _pictures(users, each):
                    w.figure(picture, f"{each.key}-{name}")


def _pictures(users: int, each: Contender) -> list[tuple[Picture, str]]:
    if each.graph is None:
        if each.design is None:
            return []
        return [(parts(each.design.parts, spare=each.design.spare, title=each.name), "parts")]
    pictures = [(matrix(each.graph, title=f"{each.name} as a matrix"), "matrix")]
    if users <= TUNING.line_users:
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
    if users <= TUNING.drawn_users:
        command += f"\nanonymatch design --users {users} --edges {edges} --out design.csv"
    return command, python

"""Plan: which mix, which delay, how much cover; the front moves with the sliders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from typing import Any

from nicegui import background_tasks, ui

from anonymatch.base.numbers import amount, percent, span
from anonymatch.planning import NetworkPlan, Setting, missed_in_words, strategy_named
from anonymatch.running import Progress
from anonymatch.studio.address import address
from anonymatch.studio.frame import frame
from anonymatch.studio.panel import View
from anonymatch.studio.planner import KINDS, WORST, Curve, Wish, front_of
from anonymatch.studio.session import Studio
from anonymatch.studio.widgets import (
    DrawnChart,
    box,
    button,
    chart,
    drawn_chart,
    heading,
    html,
    number_slider,
    same_result,
    save,
    select,
    table,
    text,
    tiles,
)

__all__ = ["show"]

_REST = 0.4  # seconds that sliders rest before the setting is simulated


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; everything that is chosen is in the address."""
    page = _PlanPage(studio, Wish.of(query))
    with frame(
        "/plan",
        "Which mix, which delay, how much cover?",
        "Messages hide among those that are under way with them. Turn the traffic and what users "
        "pay for, and see what the worst of all messages hide among; grey is what no mix and no "
        "network can reach.",
    ):
        page.controls()
        page.draw()
        # Whoever only fetches the page gets what is known at once: simulations are for readers.
        ui.context.client.on_connect(page.begin)


class _PlanPage:
    """State and places of one open page."""

    def __init__(self, studio: Studio, wish: Wish) -> None:
        self.plans, self.wish = studio.plans, wish
        self.client = ui.context.client
        self.curves: list[Curve] | None = self.plans.known_curves(wish)
        self.setting: Setting | None = None
        self.begun = False
        self.awaited: object = None  # the network whose curves are under way

    # ---- controls

    def controls(self) -> None:
        """Sliders, and beside them what moves with them."""
        with box("div", "beside"):
            with box("div", "controls"):
                self._sliders()
            with box("div", "moving"):
                self.scores = box("div")
                self.front = chart(
                    self._drawn(self.wish, self.curves, self.setting),
                    "Higher is better, further left is faster. Full lines are simulated, and a "
                    "click on a point of them chooses it; the dashed one is a closed form, for the "
                    "average message. The dot is the chosen setting with its interval.",
                    on_pick=self._pick_named,
                )
                self.point_list = box("div")
                self.curve_view = View("Simulating kinds of mixes")
        heading("The chosen setting")
        self.setting_view = View("Simulating the setting")
        self.same = box("div")

    def _sliders(self) -> None:
        wish = self.wish
        self._slider("users", "Users", wish.users, 10, 5000, upper=10_000_000, step=10)
        self._slider(
            "rate", "Messages a second of each", wish.rate, 0.001, 0.5, upper=100, step=0.001
        )
        self._slider("cover", "Cover packets a message", wish.cover, 0, 10, upper=100, step=0.5)
        self.choice_controls = box("div", "controls open")
        self._slider("layers", "Layers", wish.layers, 1, 6, upper=10)
        self._slider("width", "Mixes a layer", wish.width, 1, 20, upper=100)
        self.corrupt_control = box("div")
        worst = f"The worst {percent(WORST)} shall hide among"
        self._slider("among", worst, wish.among, 2, 200, upper=1e9)
        self._choice()
        self._corrupt()

    def _slider(
        self,
        key: str,
        name: str,
        value: float,
        least: float,
        most: float,
        *,
        upper: float,
        step: float = 1,
        unit: str = "",
        hint: str = "",
    ) -> None:
        number_slider(
            name,
            value,
            partial(self._turn, key),
            least=least,
            most=most,
            step=step,
            unit=unit,
            hint=hint,
            upper=upper,
        )

    def _choice(self) -> None:
        """Kind and delay: built anew when a point of the chart is picked."""
        self.choice_controls.clear()
        kind = self.wish.strategy.keyword
        with self.choice_controls:
            select("Kind of mix", KINDS, kind, partial(self._turn, "kind"))
            self._slider(
                "delay",
                "Mean delay",
                float(f"{self.wish.mean_delay:.3g}"),
                0.1,
                60,
                upper=100_000,
                step=0.1,
                unit="s",
                hint="From sender to receiver.",
            )

    def _corrupt(self) -> None:
        """As many corrupt mixes as there are mixes."""
        self.corrupt_control.clear()
        with self.corrupt_control:
            mixes = self.wish.network.mixes
            self._slider(
                "corrupt",
                "Corrupt mixes",
                self.wish.corrupt,
                0,
                min(mixes, 20),
                upper=mixes,
                hint="Anywhere in the network.",
            )

    async def _turn(self, key: str, given: Any) -> None:
        """A control was moved: what follows from it by a formula is drawn at once."""
        before = self.wish
        picked = "" if key in ("kind", "delay") else before.law
        query = {name: str(value) for name, value in before.values().items()}
        query |= {"kind": before.strategy.keyword, "law": picked, key: str(given)}
        wish = Wish.of(query)
        if wish == before:
            return
        self.wish, self.setting = wish, None
        if (wish.layers, wish.width) != (before.layers, before.width):
            self._corrupt()
        self.curves = self.plans.known_curves(wish)
        self.draw()
        await self._simulate(rest=_REST)

    async def _pick(self, law: Any) -> None:
        """A point of the chart was clicked on: it is the setting."""
        strategy = strategy_named(str(law))
        self.wish, self.setting = replace(self.wish, law=str(strategy)), None
        self.wish = replace(self.wish, kind=strategy.keyword, delay=self.wish.mean_delay)
        self._choice()
        self.draw()
        await self._simulate()

    # ---- what is shown

    def draw(self) -> None:
        """What needs no simulation, and what was simulated before."""
        wish = self.wish
        ui.navigate.history.replace(address("/plan", **wish.values()))
        self.scores.clear()
        with self.scores:
            tiles(self._tiles())
        self.point_list.clear()
        with self.point_list:
            if self.curves:
                self._points(self.curves)
        background_tasks.create(self._redraw(), name="studio front")
        self.same.clear()
        with self.same:
            same_result(wish.command(), wish.python())

    async def _redraw(self) -> None:
        """The chart is made beside the page, which sliders would hold up else."""
        now = self.wish, self.curves, self.setting
        drawn = await asyncio.to_thread(self._drawn, *now)
        if now == (self.wish, self.curves, self.setting) and not self.client.is_deleted:
            with self.client:
                self.front.draw(drawn)

    @staticmethod
    def _drawn(wish: Wish, curves: Sequence[Curve] | None, setting: Setting | None) -> DrawnChart:
        return drawn_chart(front_of(wish, curves, setting), "front")

    def _tiles(self) -> list[tuple[str, str, str]]:
        wish = self.wish
        entries = [
            (
                "Packets a second",
                amount(wish.packets),
                f"{amount(wish.packets / (1 + wish.cover))} messages and their cover",
            ),
            (
                "Inside each mix",
                amount(wish.stay),
                "packets on average, in the chosen setting",
            ),
            (
                "Nothing hides more than among",
                amount(wish.ceiling(wish.mean_delay)),
                f"on average, with a mean delay of {amount(wish.mean_delay)} s (the ceiling)",
            ),
        ]
        if wish.corrupt:
            entries.append(
                ("Pass corrupt mixes only", percent(wish.corrupt_path_share), self._mended())
            )
        return entries

    def _mended(self) -> str:
        if self.wish.corrupt_path_share <= WORST:
            return "of messages: no delay and no cover hides these"
        width = self.wish.width_needed()
        more = "" if width is None else f"; with {width} mixes a layer at most {percent(WORST)} do"
        return f"of messages: the worst {percent(WORST)} hide among nobody{more}"

    def _points(self, curves: Sequence[Curve]) -> None:
        """The same points for those who do not use a mouse."""
        named = {"": "choose one"}
        for curve in curves:
            line = curve.line(self.wish)
            for key, x, y in zip(line.keys, line.x, line.y, strict=True):
                named[key] = f"{key}: {amount(x)} s, worst hide among {amount(y)}"
        chosen = self.wish.law if self.wish.law in named else ""
        select("Points of the front", named, chosen, self._pick_named)

    async def _pick_named(self, law: Any) -> None:
        if law:
            await self._pick(law)

    # ---- simulations

    async def begin(self) -> None:
        """Simulate once the reader is there."""
        if not self.begun:
            self.begun = True
            await self._simulate()

    async def _simulate(self, rest: float = 0.0) -> None:
        """Ask for the curves, if they are not known, and for the setting."""
        wish = self.wish
        await asyncio.sleep(rest)
        if wish != self.wish:
            return  # the slider moved on
        confirmed = background_tasks.create(
            self.setting_view.ask(self.plans.confirmation(wish), partial(self._confirmed, wish)),
            name="studio setting",
        )
        if self.curves is None and self.awaited != wish.curve_key:
            self.awaited = wish.curve_key
            await self.curve_view.ask(self._curve_work(wish), partial(self._curved, wish))
        await confirmed

    def _curve_work(self, wish: Wish) -> Callable[[Progress], list[Curve]]:
        """Other traffic needs no other curves: they are asked for once, and again if stopped."""
        work = self.plans.curves(wish)

        def watched(tell: Progress) -> list[Curve]:
            try:
                return work(tell)
            finally:
                if self.awaited == wish.curve_key:
                    self.awaited = None

        return watched

    def _curved(self, wish: Wish, curves: list[Curve]) -> None:
        if wish.curve_key == self.wish.curve_key:
            self.curves = curves
            self.draw()

    def _confirmed(self, wish: Wish, plan: NetworkPlan) -> None:
        if wish != self.wish:
            return
        self.setting = plan.best or plan.nearest or plan.tried[0]
        self.draw()
        _row(self.setting)


def _row(setting: Setting) -> None:
    """Its figures, whether they are enough, and its file."""
    missed = missed_in_words(setting)
    worst = f"worst {percent(WORST)} hide among"
    text(
        f"{setting.law} meets the target."
        if not missed
        else f"{setting.law} misses the target: {'; '.join(missed)}.",
        "p",
        "words",
    )
    text(f"Figures are for an attacker who {setting.attacker}.", "p", "words")
    table(
        ["law", "cover", "mean delay, s", "99 % delay, s", "entropy, bits", worst, "at least",
         "known for certain", "n-1 attack"],
        [
            [
                setting.law,
                amount(setting.cover),
                _span(setting.mean_delay),
                _span(setting.delay_99),
                _span(setting.entropy),
                amount(setting.worst.value),
                amount(setting.worst.low),
                percent(setting.identified.value),
                setting.n1_price,
            ]
        ],
        "setting",
        title="The chosen setting",
    )  # fmt: skip
    toml = setting.to_toml()
    with box("details", "more"):
        text("The setting as a file for anonymatch plan", "summary")
        html(f"<code>{escape(toml)}</code>", "pre").props["tabindex"] = 0
    button("Save as TOML", lambda: save(toml, "plan.toml", "application/toml"))


def _span(interval: Any) -> str:
    return span(interval.value, interval.low, interval.high)

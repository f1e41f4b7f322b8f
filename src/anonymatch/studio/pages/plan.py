"""Plan: which mix, which delay, how much cover; the front moves with the sliders.

With even traffic every figure of a network depends on the number of packets inside its mixes only.
So kinds of mixes are simulated once for a network and its corrupt mixes. Users, rate, cover and
delay choose a place on these curves.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from nicegui import background_tasks, ui

from anonymatch.base.errors import AnonymatchError, BudgetError, InputError
from anonymatch.base.numbers import amount, percent, time_in_words
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning import (
    FAMILIES,
    Adversary,
    Network,
    NetworkPlan,
    PlanRequest,
    Setting,
    Strategy,
    Targets,
    Traffic,
    front_line,
    plan_request,
    strategy_named,
)
from anonymatch.reporting.charts import AnyChart, Chosen, FrontLine, front_chart
from anonymatch.running import Progress
from anonymatch.studio import widgets as w
from anonymatch.studio.address import (
    Query,
    address,
    choice,
    control,
    controlled,
    read_controls,
)
from anonymatch.studio.frame import frame
from anonymatch.studio.pages.plan_search import (
    WORST,
    PlanSearch,
    plan_command,
    plan_python,
    show_setting,
)
from anonymatch.studio.panel import View
from anonymatch.studio.session import Studio
from anonymatch.studio.tuning import TUNING

KINDS = {
    "exponential": "exponential: each packet has a delay of its own",
    "pool": "pool: one packet arrives, a random one of those inside leaves",
    "threshold": "threshold: all leave when a batch is complete",
    "timed": "timed: all leave at regular times",
    "timed-pool": "timed pool: half leave at regular times, and a minimum stays",
    "binomial": "binomial: at regular times each leaves with a probability",
}
"""Kinds of mixes that are compared."""

T = TypeVar("T")
_WORST = f"worst {percent(WORST)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """The controls of the page.

    ``law`` is a setting that was picked: a kind with its numbers. Without it they follow from
    ``kind`` and ``delay``, the mean from sender to receiver in seconds.
    """

    users: int = control(1000, "Users", 1, 10_000_000, slider=(10, 5000), step=10)
    rate: float = control(
        0.01, "Messages per user per second", 1e-6, 100.0, slider=(0.001, 0.5), step=0.001
    )
    cover: float = control(0.0, "Cover packets per message", 0, 100.0, slider=(0, 10), step=0.5)
    delay: float = control(
        2.0, "Mean delay", 0.001, 1e5, slider=(0.1, 60), step=0.1, unit="s",
        hint="From sender to receiver.",
    )  # fmt: skip
    layers: int = control(3, "Layers", 1, 10, slider=(1, 6))
    width: int = control(3, "Mixes per layer", 1, 100, slider=(1, 20))
    corrupt: int = control(0, "Corrupt mixes", 0, 1000, hint="Anywhere in the network.")
    among: float = control(20.0, f"The {_WORST} must hide among", 1.0, 1e9, slider=(2, 200))
    kind: str = "exponential"
    law: str = ""

    @classmethod
    def of(cls, query: Query) -> Wish:
        """Read an address; numbers that are missing or invalid have their usual values."""
        free = read_controls(cls, query)
        numbers = read_controls(cls, query, corrupt=free["layers"] * free["width"])
        law = _known_law(query.get("law", ""))
        return cls(**numbers, kind=choice(query, "kind", list(KINDS)), law=law)

    def values(self) -> dict[str, object]:
        """Return the values for an address."""
        return controlled(self) | ({"law": self.law} if self.law else {"kind": self.kind})

    @property
    def network(self) -> Network:
        return Network(layers=self.layers, width=self.width)

    @property
    def curve_key(self) -> tuple[str, int]:
        """The values that curves depend on."""
        return str(self.network), self.corrupt

    @property
    def packets(self) -> float:
        """Packets per second through the network."""
        return self.users * self.rate * (1 + self.cover)

    @property
    def unit(self) -> float:
        """Mean seconds between two packets that arrive at a mix."""
        return 1 / (self.packets * self.network.share)

    @property
    def strategy(self) -> Strategy:
        """The chosen setting, with its numbers in seconds."""
        if self.law:
            return strategy_named(self.law)
        family = FAMILIES[self.kind]
        stay = min(max(self.delay / self.layers / self.unit, TUNING.emptiest), TUNING.deepest)
        # Written and read again: an address, a command and a file have the same setting.
        return strategy_named(str(Strategy(self.kind, family.scaled(family.near(stay), self.unit))))

    @property
    def stay(self) -> float:
        """Mean number of packets inside a mix in the chosen setting."""
        strategy = self.strategy
        assert strategy.parameters is not None
        return strategy.family.stay(strategy.family.scaled(strategy.parameters, 1 / self.unit))

    @property
    def mean_delay(self) -> float:
        """Mean delay of the chosen setting in seconds."""
        return self.stay * self.unit * self.layers

    @property
    def request(self) -> PlanRequest:
        """A plan with the chosen setting only."""
        return PlanRequest(
            traffic=Traffic(users=self.users, rate=self.rate),
            network=self.network,
            laws=(self.strategy,),
            cover=(self.cover,),
            adversary=Adversary(corrupt_mixes=self.corrupt),
            targets=Targets(worst=WORST, among=self.among),
        )

    @property
    def corrupt_path_share(self) -> float:
        """Share of messages that pass corrupt mixes only."""
        return Adversary(corrupt_mixes=self.corrupt).path_share(self.network)

    def width_needed(self) -> int | None:
        """Return the mixes per layer with which few messages pass corrupt mixes only, if any."""
        widths = range(self.width, TUNING.widest // self.layers)
        wider = (
            width for width in widths if replace(self, width=width).corrupt_path_share <= WORST
        )
        return next(wider, None)

    def ceiling(self, delay: float) -> float:
        """Return the largest mean anonymity set that any mix can reach."""
        return math.exp2(mixes.ceiling_bits(self.packets * delay))

    def mean(self, delay: float) -> float:
        """Return an upper bound of the mean anonymity set with exponential mixes."""
        hop = delay / self.layers
        honest = 1 - self.corrupt / self.network.mixes
        # The attacker knows what a corrupt mix does: that hop hides nothing.
        thin = honest * mixes.thin_network_bits(self.packets, self.layers, hop, self.width)
        bits = min(thin, mixes.ceiling_bits(self.packets * delay))
        if self.layers > 1:
            bits = min(bits, max(0.0, mixes.network_bits(self.packets, self.layers, hop)))
        return math.exp2(bits)

    @property
    def keywords(self) -> dict[str, Any]:
        """Keywords of :func:`~anonymatch.planning.plan` for the chosen setting."""
        corrupt = {"corrupt_mixes": self.corrupt} if self.corrupt else {}
        return {
            "users": self.users,
            "rate": self.rate,
            "network": str(self.network),
            "laws": str(self.strategy),
            "cover": self.cover,
            **corrupt,
            "worst": (WORST, self.among),
        }

    def command(self) -> str:
        """Return the command line that gives the figures of the chosen setting."""
        return plan_command(self.keywords)


def _known_law(text: str) -> str:
    try:
        strategy = strategy_named(text)
    except AnonymatchError:
        return ""
    return "" if strategy.parameters is None or strategy.keyword not in KINDS else str(strategy)


def curves(network: Network, corrupt: int, progress: Progress | None = None) -> list[FrontLine]:
    """Simulate each kind of mix with one packet per second to each mix."""
    request = PlanRequest(
        traffic=Traffic(users=1, rate=1 / network.share),
        network=network,
        laws=tuple(KINDS),
        cover=(0.0,),
        adversary=Adversary(corrupt_mixes=corrupt),
        targets=Targets(worst=WORST),
    )
    words = "these curves", "choose fewer mixes, or use the command line"
    tried = _simulated(request, words, progress).tried
    return [front_line(tried, kind) for kind in KINDS if any(each.kind == kind for each in tried)]


def scaled(curve: FrontLine, wish: Wish) -> FrontLine:
    """Return a curve for the traffic of a wish: the same in another unit of time."""
    laws = [strategy_named(key) for key in curve.keys]
    return FrontLine(
        curve.name,
        [delay * wish.unit for delay in curve.x],
        [max(1.0, worst) for worst in curve.y],
        [
            str(Strategy(law.keyword, law.family.scaled(law.parameters or (), wish.unit)))
            for law in laws
        ],
    )


def confirm(wish: Wish, progress: Progress | None = None) -> NetworkPlan:
    """Simulate the chosen setting with seeds of its own."""
    words = "this setting", "choose a shorter delay, or use the command line"
    return _simulated(wish.request, words, progress)


def _simulated(
    request: PlanRequest, words: tuple[str, str], progress: Progress | None
) -> NetworkPlan:
    """Run a plan; an error about its time names a remedy on the page."""
    try:
        return plan_request(request, budget=TUNING.plan_seconds, progress=progress)
    except BudgetError as error:
        takes = time_in_words(error.cost.seconds)
        raise InputError(f"{words[0]} would take {takes}; {words[1]}") from None


def front_of(wish: Wish, known: Sequence[FrontLine] | None, setting: Setting | None) -> AnyChart:
    """Draw closed forms, the curves if they are known, and the chosen setting.

    Without a simulated setting the dot is on its curve and has no interval.
    """
    unit = wish.unit * wish.layers
    delays = np.geomspace(
        TUNING.front_begin * unit, TUNING.front_end * unit, TUNING.front_points
    ).tolist()
    name = "exponential, mean" + (" at most" if wish.corrupt else "")
    lines = [scaled(curve, wish) for curve in known or ()]
    return front_chart(
        [FrontLine(name, delays, [max(1.0, wish.mean(x)) for x in delays]), *lines],
        ceiling=wish.ceiling,
        target=wish.among,
        chosen=_dot(wish, lines, setting),
        title=f"What delay buys in {wish.network}",
        x_label="mean delay, s",
        y_label=f"hide among (the {_WORST} on full lines)",
    )


def _dot(wish: Wish, lines: Sequence[FrontLine], setting: Setting | None) -> Chosen | None:
    name = str(wish.strategy)
    if setting is not None:
        worst = setting.worst
        ends = (max(1.0, value) for value in (worst.value, worst.low, worst.high))
        return Chosen(name, setting.mean_delay.value, *ends)
    for line in lines:
        if line.name == wish.strategy.keyword:
            logs = np.interp(math.log(wish.mean_delay), np.log(line.x), np.log(line.y))
            y = float(np.exp(logs))
            return Chosen(name, wish.mean_delay, y, y, y)
    return None


async def show(studio: Studio, query: Mapping[str, str]) -> None:
    """The page; everything that is chosen is in the address."""
    page = _PlanPage(studio, query)
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

    def __init__(self, studio: Studio, query: Query) -> None:
        self.plans, self.wish = studio.plans, Wish.of(query)
        self.search = PlanSearch(query, lambda: self.wish.keywords, self._remember)
        self.client = ui.context.client
        self.curves: list[FrontLine] | None = self.plans.known(self.wish.curve_key)
        self.setting: Setting | None = None
        self.begun = False
        self.awaited: object = None  # the network whose curves are under way

    # ---- controls

    def controls(self) -> None:
        """Sliders, and beside them what moves with them."""
        with w.box("div", "beside"):
            with w.box("div", "controls"):
                self._sliders()
            with w.box("div", "moving"):
                self.scores = w.box("div")
                self.front = w.chart(
                    partial(front_of, self.wish, self.curves, self.setting),
                    "front",
                    "Higher is better, further left is faster. Full lines are simulated, and a "
                    "click on a point of them chooses it; the dashed one is a closed form, for the "
                    "average message. The dot is the chosen setting with its interval.",
                    on_pick=self._pick_named,
                )
                self.point_list = w.box("div")
                self.curve_view = View("Simulating kinds of mixes")
        w.heading("The chosen setting")
        self.setting_view = View("Simulating the setting")
        self.same = w.box("div")
        self.search.build()

    def _sliders(self) -> None:
        for name in ("users", "rate", "cover"):
            self._slider(name)
        self.choice_controls = w.box("div", "controls open")
        for name in ("layers", "width"):
            self._slider(name)
        self.corrupt_control = w.box("div")
        self._slider("among")
        self._choice()
        self._corrupt()

    def _slider(self, name: str, **changes: Any) -> None:
        w.control_slider(self.wish, name, partial(self._turn, name), **changes)

    def _choice(self) -> None:
        """Build the kind and the delay, again when a point of the chart is picked."""
        self.choice_controls.clear()
        with self.choice_controls:
            kind = self.wish.strategy.keyword
            w.select("Kind of mix", KINDS, kind, partial(self._turn, "kind"))
            shown = replace(self.wish, delay=float(f"{self.wish.mean_delay:.3g}"))
            w.control_slider(shown, "delay", partial(self._turn, "delay"))

    def _corrupt(self) -> None:
        """Allow no more corrupt mixes than there are mixes."""
        self.corrupt_control.clear()
        with self.corrupt_control:
            mixes = self.wish.network.mixes
            self._slider("corrupt", slider=(0, min(mixes, 20)), most=mixes)

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
        self.curves = self.plans.known(wish.curve_key)
        self.draw()
        await self._simulate(rest=TUNING.rest)

    async def _pick(self, law: Any) -> None:
        """A point of the chart was clicked on: it is the setting."""
        strategy = strategy_named(str(law))
        self.wish, self.setting = replace(self.wish, law=str(strategy)), None
        self.wish = replace(self.wish, kind=strategy.keyword, delay=self.wish.mean_delay)
        self._choice()
        self.draw()
        await self._simulate()

    # ---- what is shown

    def _remember(self) -> None:
        values = self.wish.values() | self.search.values()
        ui.navigate.history.replace(address("/plan", **values))

    def draw(self) -> None:
        """What needs no simulation, and what was simulated before."""
        wish = self.wish
        self._remember()
        self.scores.clear()
        with self.scores:
            w.tiles(self._tiles())
        self.point_list.clear()
        with self.point_list:
            if self.curves:
                self._points(self.curves)
        self.front.draw(partial(front_of, wish, self.curves, self.setting))
        self.same.clear()
        with self.same:
            w.same_result(wish.command(), plan_python(wish.keywords))

    def _tiles(self) -> list[tuple[str, str, str]]:
        wish = self.wish
        entries = [
            (
                "Packets per second",
                amount(wish.packets),
                f"{amount(wish.packets / (1 + wish.cover))} messages and their cover",
            ),
            (
                "Inside each mix",
                amount(wish.stay),
                "packets on average, in the chosen setting",
            ),
            (
                "Upper bound",
                amount(wish.ceiling(wish.mean_delay)),
                f"mean anonymity set of any mix with a mean delay of {amount(wish.mean_delay)} s",
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
        more = (
            "" if width is None else f"; with {width} mixes per layer at most {percent(WORST)} do"
        )
        return f"of messages: the {_WORST} hide among nobody{more}"

    def _points(self, curves: Sequence[FrontLine]) -> None:
        """The same points for those who do not use a mouse."""
        named = {"": "choose one"}
        for curve in curves:
            line = scaled(curve, self.wish)
            for key, x, y in zip(line.keys, line.x, line.y, strict=True):
                named[key] = f"{key}: {amount(x)} s, worst hide among {amount(y)}"
        chosen = self.wish.law if self.wish.law in named else ""
        w.select("Points of the front", named, chosen, self._pick_named)

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
            self.setting_view.ask(self._setting_work(wish), partial(self._confirmed, wish)),
            name="studio setting",
        )
        if self.curves is None and self.awaited != wish.curve_key:
            self.awaited = wish.curve_key
            await self.curve_view.ask(self._curve_work(wish), partial(self._curved, wish))
        await confirmed

    def _setting_work(self, wish: Wish) -> Callable[[Progress], NetworkPlan]:
        return lambda tell: self.plans.once(wish, lambda: confirm(wish, tell))

    def _curve_work(self, wish: Wish) -> Callable[[Progress], list[FrontLine]]:
        """Other traffic needs no other curves: they are asked for once, and again if stopped."""

        def watched(tell: Progress) -> list[FrontLine]:
            try:
                return self.plans.once(
                    wish.curve_key, lambda: curves(wish.network, wish.corrupt, tell)
                )
            finally:
                if self.awaited == wish.curve_key:
                    self.awaited = None

        return watched

    def _curved(self, wish: Wish, curves: list[FrontLine]) -> None:
        if wish.curve_key == self.wish.curve_key:
            self.curves = curves
            self.draw()

    def _confirmed(self, wish: Wish, plan: NetworkPlan) -> None:
        if wish != self.wish:
            return
        self.setting = plan.best or plan.nearest or plan.tried[0]
        self.draw()
        show_setting(self.setting)

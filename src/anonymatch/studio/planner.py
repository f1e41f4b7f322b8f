"""What the page of plans shows: closed forms at once, and curves that serve all traffic.

With even traffic every figure of a network depends on how many packets are inside its mixes alone.
So kinds of mixes are simulated once for a network and its corrupt mixes; users, rate, cover and
delay only say where on these curves one is.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from threading import Lock
from typing import TypeVar

import numpy as np

from anonymatch.base.errors import AnonymatchError, BudgetError, InputError
from anonymatch.base.numbers import percent, time_in_words
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
    plan_request,
    strategy_named,
)
from anonymatch.reporting.charts import AnyChart, Chosen, FrontLine, front_chart
from anonymatch.running import Progress
from anonymatch.studio.address import choice, number, whole

__all__ = ["KINDS", "WORST", "Curve", "Plans", "Wish", "confirm", "curves", "front_of"]

KINDS = {
    "exponential": "exponential: each packet waits by itself",
    "pool": "pool: one comes, one of those inside leaves",
    "threshold": "threshold: all leave when enough are there",
    "timed": "timed: all leave every so often",
    "timed-pool": "timed pool: every so often half leave, but some are kept",
    "binomial": "binomial: every so often each leaves by a coin",
}
"""Kinds of mixes that are compared, and what they do."""

T = TypeVar("T")
WORST = 0.01  # share of messages that are looked at
_MOST_USERS, _MOST_WIDTH, _MOST_LAYERS = 10_000_000, 100, 10
_KEPT = 16  # results that are remembered
_LEAST, _MOST = 0.25, 20.0  # packets inside a mix: where curves begin and end
_STEPS = 40
_BUDGET = 60.0  # predicted seconds of a simulation that a reader waits for; beyond it is coarser
_EMPTIEST, _DEEPEST = 0.01, 1e5  # packets inside a mix that a delay may mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the controls of the page say.

    ``law`` is a setting that was picked: a kind with its numbers; without it these follow from
    ``kind`` and ``delay``, the mean from sender to receiver in seconds.
    """

    users: int = 1000
    rate: float = 0.01
    layers: int = 3
    width: int = 3
    cover: float = 0.0
    corrupt: int = 0
    kind: str = "exponential"
    delay: float = 2.0
    among: float = 20.0
    law: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Wish:
        """From an address; what is not there, or no number, is as usual."""
        usual = cls()
        layers = whole(query, "layers", usual.layers, least=1, most=_MOST_LAYERS)
        width = whole(query, "width", usual.width, least=1, most=_MOST_WIDTH)
        return cls(
            users=whole(query, "users", usual.users, least=1, most=_MOST_USERS),
            rate=number(query, "rate", usual.rate, least=1e-6, most=100.0),
            layers=layers,
            width=width,
            cover=number(query, "cover", usual.cover, least=0.0, most=100.0),
            corrupt=whole(query, "corrupt", usual.corrupt, least=0, most=layers * width),
            kind=choice(query, "kind", list(KINDS)),
            delay=number(query, "delay", usual.delay, least=0.001, most=1e5),
            among=number(query, "among", usual.among, least=1.0, most=1e9),
            law=_known_law(query.get("law", "")),
        )

    def values(self) -> dict[str, object]:
        """For an address."""
        names = ("users", "rate", "layers", "width", "cover", "corrupt", "delay", "among")
        chosen = {"law": self.law} if self.law else {"kind": self.kind}
        return {name: getattr(self, name) for name in names} | chosen

    @property
    def network(self) -> Network:
        return Network(layers=self.layers, width=self.width)

    @property
    def curve_key(self) -> tuple[str, int]:
        """What curves depend on."""
        return str(self.network), self.corrupt

    @property
    def packets(self) -> float:
        """A second, through the network."""
        return self.users * self.rate * (1 + self.cover)

    @property
    def unit(self) -> float:
        """Seconds in which a packet comes to a mix, on average."""
        return 1 / (self.packets * self.network.share)

    @property
    def strategy(self) -> Strategy:
        """The chosen setting, with its numbers in seconds."""
        if self.law:
            return strategy_named(self.law)
        family = FAMILIES[self.kind]
        stay = min(max(self.delay / self.layers / self.unit, _EMPTIEST), _DEEPEST)
        # As it is written, so that an address, a command and a file have the same setting.
        return strategy_named(str(Strategy(self.kind, family.scaled(family.near(stay), self.unit))))

    @property
    def stay(self) -> float:
        """Packets inside a mix, on average, in the chosen setting."""
        strategy = self.strategy
        assert strategy.parameters is not None
        return strategy.family.stay(strategy.family.scaled(strategy.parameters, 1 / self.unit))

    @property
    def mean_delay(self) -> float:
        """Of the chosen setting, in seconds."""
        return self.stay * self.unit * self.layers

    @property
    def request(self) -> PlanRequest:
        """A plan with the chosen setting alone."""
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
        """Mixes a layer with which few enough pass corrupt mixes only; None if none is enough."""
        for width in range(self.width, 100 * _MOST_WIDTH // self.layers):
            if replace(self, width=width).corrupt_path_share <= WORST:
                return width
        return None

    # ---- closed forms

    def ceiling(self, delay: float) -> float:
        """What messages hide among at most on average, whatever the mix."""
        return math.exp2(mixes.ceiling_bits(self.packets * delay))

    def mean(self, delay: float) -> float:
        """What messages hide among on average with exponential mixes: at most, and about."""
        hop = delay / self.layers
        honest = 1 - self.corrupt / self.network.mixes
        # What a corrupt mix does is known: that hop hides nothing.
        thin = honest * mixes.thin_network_bits(self.packets, self.layers, hop, self.width)
        bits = min(thin, mixes.ceiling_bits(self.packets * delay))
        if self.layers > 1:
            bits = min(bits, max(0.0, mixes.network_bits(self.packets, self.layers, hop)))
        return math.exp2(bits)

    def command(self) -> str:
        """The command line that gives the chosen setting's figures."""
        corrupt = f" --corrupt-mixes {self.corrupt}" if self.corrupt else ""
        return (
            f"anonymatch plan --users {self.users} --rate {self.rate:g} --network {self.network} "
            f"--law {quote(str(self.strategy))} --cover {self.cover:g}{corrupt} "
            f"--worst {percent(WORST).replace(' ', '')}={self.among:g}"
        )

    def python(self) -> str:
        """The same in Python."""
        corrupt = f", corrupt_mixes={self.corrupt}" if self.corrupt else ""
        return (
            "import anonymatch as am\n"
            f"plan = am.plan(users={self.users}, rate={self.rate:g}, network='{self.network}', "
            f"laws='{self.strategy}', cover={self.cover:g}{corrupt}, "
            f"worst=({WORST:g}, {self.among:g}))\n"
            "print(plan)"
        )


def _known_law(text: str) -> str:
    """A setting that an address names, if there is such a one."""
    try:
        strategy = strategy_named(text)
    except AnonymatchError:
        return ""
    return "" if strategy.parameters is None or strategy.keyword not in KINDS else str(strategy)


@dataclass(frozen=True, slots=True)
class Curve:
    """Settings of one kind, simulated with one packet a second to each mix.

    ``laws`` has their numbers, ``delays`` mean delays and ``worst`` what the worst hide among.
    """

    kind: str
    laws: tuple[Strategy, ...]
    delays: tuple[float, ...]
    worst: tuple[float, ...]

    def line(self, wish: Wish) -> FrontLine:
        """As the traffic of a wish has it: time in other units."""
        unit = wish.unit
        keys = [
            str(Strategy(law.keyword, law.family.scaled(law.parameters or (), unit)))
            for law in self.laws
        ]
        return FrontLine(self.kind, [delay * unit for delay in self.delays], self.worst, keys)

    def height(self, delay: float) -> float:
        """What the worst hide among at a delay in these units, between settings that were tried."""
        xs, ys = np.log(self.delays), np.log(self.worst)
        return float(np.exp(np.interp(math.log(delay), xs, ys)))


def curves(network: Network, corrupt: int, progress: Progress | None = None) -> list[Curve]:
    """Each kind of mix in that network, from nearly empty mixes to full ones."""
    request = PlanRequest(
        traffic=Traffic(users=1, rate=1 / network.share),  # one packet a second to each mix
        network=network,
        laws=tuple(KINDS),
        cover=(0.0,),
        adversary=Adversary(corrupt_mixes=corrupt),
        targets=Targets(worst=WORST),
    )
    return _curves(plan_request(request, budget=_BUDGET, progress=progress).tried)


def _curves(settings: Sequence[Setting]) -> list[Curve]:
    result = []
    for kind in KINDS:
        own = sorted(
            (setting for setting in settings if setting.kind == kind),
            key=lambda setting: setting.mean_delay.value,
        )
        best: list[Setting] = []
        for setting in own:  # what a longer delay does not improve is left out
            if not best or setting.worst.value >= best[-1].worst.value:
                best.append(setting)
        if best:
            result.append(
                Curve(
                    kind,
                    tuple(strategy_named(setting.law) for setting in best),
                    tuple(setting.mean_delay.value for setting in best),
                    tuple(max(1.0, setting.worst.value) for setting in best),
                )
            )
    return result


def confirm(wish: Wish, progress: Progress | None = None) -> NetworkPlan:
    """The chosen setting, simulated with seeds of its own."""
    return plan_request(wish.request, budget=_BUDGET, progress=progress)


class Plans:
    """Curves and confirmations of this studio, the latest few of them remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[object, object] = OrderedDict()
        self._lock = Lock()

    def curves(self, wish: Wish) -> Callable[[Progress], list[Curve]]:
        """Work that gives the curves of its network."""
        network, corrupt = wish.network, wish.corrupt
        words = "these curves", "choose fewer mixes, or use the command line"
        return lambda tell: self._once(
            wish.curve_key, words, lambda: curves(network, corrupt, tell)
        )

    def known_curves(self, wish: Wish) -> list[Curve] | None:
        """Those that are there at once."""
        with self._lock:
            return self._known.get(wish.curve_key)  # type: ignore[return-value]

    def confirmation(self, wish: Wish) -> Callable[[Progress], NetworkPlan]:
        """Work that confirms its setting."""
        words = "this setting", "choose a shorter delay, or use the command line"
        return lambda tell: self._once(wish, words, lambda: confirm(wish, tell))

    def _once(self, key: object, words: tuple[str, str], work: Callable[[], T]) -> T:
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]  # type: ignore[return-value]
        try:
            result = work()
        except BudgetError as error:
            takes = time_in_words(error.cost.seconds)
            raise InputError(f"{words[0]} would take {takes}; {words[1]}") from None
        with self._lock:
            self._known[key] = result
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return result


def front_of(wish: Wish, known: Sequence[Curve] | None, setting: Setting | None) -> AnyChart:
    """The front: closed forms, curves where they are known, and the chosen setting.

    Without a confirmation the dot is where the curve is, or the closed form, with no interval.
    """
    unit = wish.unit * wish.layers
    delays = np.geomspace(_LEAST * unit, _MOST * unit, _STEPS).tolist()
    name = "exponential, mean" + (" at most" if wish.corrupt else "")
    lines = [
        FrontLine(name, delays, [max(1.0, wish.mean(x)) for x in delays]),
        *(curve.line(wish) for curve in known or ()),
    ]
    return front_chart(
        lines,
        ceiling=wish.ceiling,
        target=wish.among,
        chosen=_dot(wish, known, setting),
        title=f"What delay buys in {wish.network}",
        x_label="mean delay, s",
        y_label=f"hide among (the worst {percent(WORST)} on full lines)",
    )


def _dot(wish: Wish, known: Sequence[Curve] | None, setting: Setting | None) -> Chosen | None:
    name = str(wish.strategy)
    if setting is not None:
        worst = setting.worst
        ends = (max(1.0, value) for value in (worst.value, worst.low, worst.high))
        return Chosen(name, setting.mean_delay.value, *ends)
    for curve in known or ():
        if curve.kind == wish.strategy.keyword:
            y = curve.height(wish.mean_delay / wish.unit)
            return Chosen(name, wish.mean_delay, y, y, y)
    return None

"""What a plan answers: settings with their figures, the front, and what nothing can reach."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import Message
from anonymatch.mixes import Price
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning.emit import ClientStream, client_stream, emitted
from anonymatch.planning.request import Network, PlanRequest
from anonymatch.planning.simulation import CONFIDENCE
from anonymatch.planning.tuning import TUNING
from anonymatch.planning.wording import cover_in_words, verdict

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.reporting.charts import AnyChart

__all__ = ["NetworkPlan", "Setting"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Setting(Summarised):
    """Mixes with their parameters in seconds, a level of cover, and the resulting figures.

    Delays are those of the network, links included. ``queue_delay`` is the mean wait in the queue
    of a client that sends at a steady pace, which comes in addition. ``entropy``, ``worst``,
    ``identified`` and ``guessing`` are for an attacker who sees every link. ``worst`` is the
    effective anonymity set of the worst share of messages.
    """

    request: PlanRequest
    law: str
    parameters: dict[str, float]
    cover: float
    mean_delay: Interval
    delay_99: Interval
    entropy: Interval
    worst: Interval
    identified: Interval
    guessing: Interval | None
    price: Price
    causes: dict[str, float]
    targets: int
    effective: float
    confirmed: bool

    @property
    def key(self) -> tuple[str, str, float]:
        """Network, law and cover: what makes a setting."""
        return str(self.request.network), self.law, self.cover

    @property
    def kind(self) -> str:
        """The kind of mix, without parameters."""
        return self.law.partition(":")[0]

    @property
    def packets(self) -> float:
        """For each message, itself included."""
        return 1 + self.cover

    @property
    def bytes_per_message(self) -> float:
        return self.packets * self.request.packet_bytes

    @property
    def n1_price(self) -> str:
        """What an n-1 attack on one mix costs, in words."""
        own = f"{self.price.messages:.0f} own messages" if self.price.messages else ""
        wait = f"{amount(self.price.seconds)} s of blocking" if self.price.seconds else ""
        return " and ".join(text for text in (own, wait) if text) or "nothing"

    @property
    def attacker(self) -> str:
        """Who the figures of anonymity are about."""
        return self.request.adversary.in_words

    @property
    def network_delay(self) -> float:
        """Mean delay of the network: exact for exponential mixes, else the end of its interval."""
        if self.kind != "exponential":
            return self.mean_delay.high
        network = self.request.network
        return network.layers * self.parameters["mean"] + network.links

    def client(self, language: str = "") -> ClientStream | None:
        """Return the stream of a client that sends at a steady pace; None if traffic is uneven."""
        traffic = self.request.traffic
        if (traffic.hours, traffic.burst, traffic.arrivals) != (None, None, None):
            return None
        limit = self.request.targets.mean_delay
        packets = traffic.rate * self.packets
        chosen = language or self.request.client
        return client_stream(traffic.rate, packets, self.network_delay, limit, chosen)

    @property
    def queue_delay(self) -> float | None:
        """Mean wait in a client's queue, 1/(LambdaP - rate); None if traffic is uneven."""
        stream = self.client()
        return None if stream is None else stream.queue_delay

    @property
    def ceiling(self) -> Interval | None:
        """Bits that no mix exceeds with this traffic and mean delay; None without Poisson traffic.

        An upper bound of the mean entropy for every attacker who sees at least both ends.
        """
        request = self.request
        if not math.isfinite(request.busiest):
            return None
        honest = 1 - request.adversary.corrupt_users
        rate = honest * request.traffic.messages * self.packets * request.busiest
        ends = (self.mean_delay.value, self.mean_delay.low, self.mean_delay.high)
        links = request.network.links
        return Interval(*(mixes.ceiling_bits(rate * max(end - links, 0.0)) for end in ends))

    def missed(self, *, delays: bool | None = None) -> list[tuple[str, float, float]]:
        """Targets that it misses: which, the bound that counts, and what was asked.

        ``delays``: only those of delays, or only the others.
        """
        targets = self.request.targets
        delay = self.mean_delay.high
        if self.request.client and (stream := self.client()) is not None:
            delay = self.network_delay + stream.queue_delay
        costs = [
            ("mean_delay", delay, targets.mean_delay),
            ("delay_99", self.delay_99.high, targets.delay_99),
        ]
        others = [
            ("packets", self.packets, targets.packets),
            ("identified", self.identified.high, targets.identified),
        ]
        chosen = {None: costs + others, True: costs, False: others}[delays]
        result = [
            (name, reached, asked)
            for name, reached, asked in chosen
            if asked is not None and reached > asked * (1 + 1e-9)
        ]
        if delays is not True and targets.among is not None and self.worst.low < targets.among:
            result.append(("worst", self.worst.low, targets.among))
        return result

    def misses(self, *, delays: bool) -> bool:
        """Whether it misses targets of delays, or others."""
        return bool(self.missed(delays=delays))

    @property
    def meets(self) -> bool:
        """Whether every target is met, by the bound of its interval."""
        return not self.missed()

    @property
    def distance(self) -> tuple[int, float, float]:
        """How far it is from the targets: how many it misses, the largest factor, and less bits."""
        return len(self.missed()), self.excess, -self.entropy.value

    @property
    def excess(self) -> float:
        """By what factor it misses the target that it misses most; 0 if none."""
        factors = [
            asked / reached if name == "worst" else reached / asked
            for name, reached, asked in self.missed()
        ]
        return max(factors, default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; intervals as value, low, high."""
        stream = self.client()
        return {
            "network": str(self.request.network),
            "attacker": self.attacker,
            "law": self.law,
            "parameters": self.parameters,
            "cover": self.cover,
            "queue_delay": None if stream is None else stream.queue_delay,
            "payload_rate": None if stream is None else stream.payload,
            "loop_rate": None if stream is None else stream.loops,
            "ceiling": _interval(self.ceiling),
            "packets": self.packets,
            "bytes_per_message": self.bytes_per_message,
            **{
                name: _interval(getattr(self, name))
                for name in ("mean_delay", "delay_99", "entropy", "worst", "identified", "guessing")
            },
            "n1_price": self.n1_price,
            "n1_messages": self.price.messages,
            "n1_seconds": self.price.seconds,
            "causes": self.causes,
            "targets": self.targets,
            "independent_targets": self.effective,
            "confirmed": self.confirmed,
            "meets": self.meets,
        }

    def row(self) -> dict[str, Any]:
        """Its row of a frame."""
        return {name: value(self) for name, value in _COLUMNS.items()}

    def __str__(self) -> str:
        among = f"the worst hide among {amount(self.worst.value)}"
        cover = cover_in_words(self.cover)
        return f"{self.law}, {cover}: {amount(self.mean_delay.value)} s on average, {among}"

    def to_toml(self) -> str:
        """A plan with this setting alone."""
        return emitted("toml", self)

    def emit(self, language: str) -> str:
        """Its parameters as another system writes them: katzenpost, nym or toml."""
        return emitted(language, self)


_COLUMNS: dict[str, Callable[[Setting], Any]] = {
    "law": lambda one: one.kind,
    "parameters": lambda one: one.law.partition(":")[2],
    "cover": lambda one: one.cover,
    "mean_delay": lambda one: one.mean_delay.value,
    "delay_99": lambda one: one.delay_99.value,
    "packets": lambda one: one.packets,
    "entropy": lambda one: one.entropy.value,
    "entropy_low": lambda one: one.entropy.low,
    "entropy_high": lambda one: one.entropy.high,
    "worst": lambda one: one.worst.value,
    "worst_low": lambda one: one.worst.low,
    "identified": lambda one: one.identified.value,
    "n1_price": lambda one: one.n1_price,
    "meets": lambda one: one.meets,
    "network": lambda one: str(one.request.network),
    "queue_delay": lambda one: one.queue_delay,
    "ceiling": lambda one: None if one.ceiling is None else one.ceiling.value,
}
"""Columns of the frames of a plan."""


def _interval(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"value": interval.value, "low": interval.low, "high": interval.high}


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkPlan(Summarised):
    """The cheapest setting that meets the targets, and what was tried beside it.

    Attributes
    ----------
    best : Setting or None
        Confirmed by a simulation of its own.
    nearest : Setting or None
        If nothing meets the targets: the setting that misses the fewest, and of these by least.
    tried : tuple of Setting
    ceiling : float
        Upper bound of the mean entropy at the delay that the targets allow, with the most cover
        that was tried. ``Setting.ceiling`` is that of one setting, at its own delay and cover.
    least_delay : float
        Seconds of mean delay that what the worst shall hide among needs at least, by the ceiling.
    notes : tuple of str
        Assumptions where the request was incomplete.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.plan(users=100, rate=0.1, network="one", laws="threshold:10", mean_delay=2)
    >>> found.met, round(2**found.ceiling), found.best.n1_price
    (True, 219, '9 own messages')
    """

    request: PlanRequest
    best: Setting | None
    nearest: Setting | None
    tried: tuple[Setting, ...]
    confirmations: tuple[Setting, ...]
    ceiling: float
    messages: float
    seed: int
    confidence: float = CONFIDENCE
    least_delay: float = 0.0
    notes: tuple[Message, ...] = ()

    @cached_property
    def half_life(self) -> Interval | None:
        """Messages of a user with three friends until half the bits about their receivers are gone.

        Of the setting that is chosen, whose every message hides as the average one does. None if
        there is no setting.
        """
        from anonymatch.disclosure import target_half_life

        setting = self.best or self.nearest
        if setting is None:
            return None
        among = max(1, round(2.0**setting.entropy.value))
        users = self.request.traffic.users
        return target_half_life(among, friends=min(3, users), behaviours=users, seed=self.seed)

    @cached_property
    def settings(self) -> pl.DataFrame:
        """A row a setting: all that were tried, and those that were simulated again."""
        return _frame((*self.tried, *self.confirmations))

    @cached_property
    def front(self) -> pl.DataFrame:
        """Settings that no other beats in what the worst hide among, delay and packets."""
        return _frame(self.front_settings)

    @cached_property
    def front_settings(self) -> tuple[Setting, ...]:
        # A setting that was simulated again has those figures alone.
        again = {one.key for one in self.confirmations}
        swept = [one for one in self.tried if one.key not in again]
        everything = (*self.confirmations, *swept)
        chosen = [one for one in everything if not any(_beats(other, one) for other in everything)]
        chosen.sort(key=lambda setting: (setting.packets, setting.mean_delay.value))
        if len(chosen) <= TUNING.front:
            return tuple(chosen)
        steps = [round(k * (len(chosen) - 1) / (TUNING.front - 1)) for k in range(TUNING.front)]
        kept = [chosen[k] for k in dict.fromkeys(steps)]
        if self.best in chosen and self.best not in kept and self.best is not None:
            kept[-1] = self.best
            kept.sort(key=lambda setting: (setting.packets, setting.mean_delay.value))
        return tuple(kept)

    @property
    def met(self) -> bool:
        """Whether a setting meets every target."""
        return self.best is not None

    @property
    def network(self) -> Network:
        """Of the setting that is shown; the widest one if there is none."""
        setting = self.best or self.nearest
        return self._widest if setting is None else setting.request.network

    @property
    def _widest(self) -> Network:
        return max(self.request.networks, key=lambda network: network.width)

    @cached_property
    def by_width(self) -> tuple[Setting, ...]:
        """The best setting of each width that was swept, within the delays and packets allowed.

        Empty if the width was fixed.
        """
        if not self.request.widths:
            return ()
        rows = []
        for network in self.request.networks:
            everything = (*self.confirmations, *self.tried)
            own = [one for one in everything if one.request.network == network]
            names = ("mean_delay", "delay_99", "packets")
            allowed = [one for one in own if not {name for name, _, _ in one.missed()} & {*names}]
            rows += [max(allowed or own, key=lambda one: (one.worst.value, one.entropy.value))]
        return tuple(rows)

    @property
    def corrupt_path_share(self) -> float:
        """Share of messages that pass corrupt mixes only."""
        return self.request.adversary.path_share(self.network)

    @property
    def width_needed(self) -> int | None:
        """Mixes a layer with which few enough pass corrupt mixes only; None if they do now."""
        request, widest = self.request, self._widest
        share = request.adversary.path_share(widest)
        if share <= request.targets.worst:
            return None
        factor = math.exp(math.log(share / request.targets.worst) / widest.layers)
        return math.ceil(widest.width * factor - 1e-9)

    @property
    def verdict(self) -> str:
        """One sentence: what to do, or what cannot be done and why."""
        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain values with stable keys."""
        return {
            "met": self.met,
            "verdict": self.verdict,
            "best": None if self.best is None else self.best.to_dict(),
            "nearest": None if self.nearest is None else self.nearest.to_dict(),
            "front": self.front.to_dicts(),
            "settings": self.settings.to_dicts(),
            "ceiling": self.ceiling if math.isfinite(self.ceiling) else None,
            "least_delay": self.least_delay,
            "half_life_messages": _interval(self.half_life),
            "corrupt_path_share": self.corrupt_path_share,
            "width_needed": self.width_needed,
            "messages_per_second": self.messages,
            "network": str(self.network),
            "attacker": self.request.adversary.in_words,
            "by_width": [one.row() for one in self.by_width],
            "confidence": self.confidence,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def emit(self, language: str) -> str:
        """The best setting, or else the nearest, as another system writes it."""
        setting = self.best or self.nearest
        if setting is None:
            raise InputError("no setting was found, so there is none to write")
        return setting.emit(language)

    def chart(self, name: str = "delay") -> AnyChart:
        """A chart for notebooks and files.

        Parameters
        ----------
        name : {"delay", "delay_99", "cover"}
            What the worst hide among by the mean delay, or by the delay of the slowest percent,
            with as much cover as the chosen setting has; or delay against packets a message for
            the same anonymity.
        """
        from anonymatch.planning.report import plan_report
        from anonymatch.reporting.charts import named_chart

        return named_chart(plan_report(self, half_life=False).drawings(), name, "this plan")

    def report(self, path: str | PathLike[str]) -> None:
        """A page in HTML with its charts."""
        from anonymatch.planning.report import plan_report
        from anonymatch.reporting import write_report_html

        write_report_html(plan_report(self), path)

    def _figures(self) -> Figures:
        from anonymatch.planning.report import plan_report

        return plan_report(self, half_life=False).lines()

    def __str__(self) -> str:
        return self.verdict


def _beats(one: Setting, other: Setting) -> bool:
    """Whether one is as good in everything, and better in something."""
    first, second = ((-s.worst.value, s.mean_delay.value, s.packets) for s in (one, other))
    return first != second and all(a <= b for a, b in zip(first, second, strict=True))


def _frame(settings: Sequence[Setting]) -> pl.DataFrame:
    import polars as pl

    from anonymatch.base.frames import Frame

    texts = ("law", "parameters", "n1_price", "network")
    schema = {name: pl.String if name in texts else pl.Float64 for name in _COLUMNS}
    return Frame([setting.row() for setting in settings], schema=schema | {"meets": pl.Boolean})

"""plan(): which mix, which delay, how much cover; and what nothing can do.

Settings are screened by what nothing exceeds, tried by simulation in units that serve every level
of cover, and solved for the targets between those that were tried. The cheapest is simulated again
with seeds of its own: only that is told as reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import time_in_words
from anonymatch.base.text import Argument, Message
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning.arrivals import read_arrivals
from anonymatch.planning.emit import LANGUAGES, client_stream
from anonymatch.planning.outcome import Outcome, outcome_of
from anonymatch.planning.presets import preset_named
from anonymatch.planning.request import Burst, Network, PlanRequest, Traffic
from anonymatch.planning.result import NetworkPlan, Setting
from anonymatch.planning.simulation import Effort, Sample, Scenario, bytes_of, replicate, seconds_of
from anonymatch.planning.strategies import Strategy
from anonymatch.planning.toml_file import read_request
from anonymatch.running import Budget, Execution, Progress, StagedProgress

__all__ = ["plan", "plan_request"]


_CONFIRM = Effort(targets=300, packets=75_000, ranked=True)


class _Sweep(NamedTuple):
    """How well settings are simulated before one is chosen, and how well that one again."""

    points: int  # of a curve
    runs: int
    effort: Effort
    again: int = 24
    confirm: Effort = _CONFIRM


_FULL = _Sweep(14, 16, Effort(targets=150, packets=30_000, ranked=False))
# Enough to name the nearest setting where nothing can meet the targets.
_LIGHT = _Sweep(7, 8, Effort(targets=150, packets=15_000, ranked=False))
_UNRANKED = _CONFIRM._replace(ranked=False)
# The thorough ones first: the budget decides. To rank guesses is long where many are in flight.
_EFFORTS = (
    _FULL,
    _LIGHT,
    _LIGHT._replace(confirm=_UNRANKED),
    _LIGHT._replace(again=12, confirm=_UNRANKED),
    _Sweep(5, 4, Effort(targets=100, packets=5_000, ranked=False), 8, _UNRANKED),
)
_CONFIRMED = 2  # settings that a plan simulates again, as a rule
_TRIES = 8  # settings that are simulated again before a plan gives up
_LEAST_STAY, _MOST_STAY = 0.25, 20.0  # arrivals of a mix, unless targets ask for more
_LONGEST_STAY = 2000.0
_ROOM = 1.03  # more than just enough, so that noise seldom undoes it


def plan(
    file: str | PathLike[str] | None = None,
    *,
    preset: str | None = None,
    users: int | None = None,
    rate: float | None = None,
    hours: Sequence[float] | None = None,
    burst: tuple[float, float] | None = None,
    arrivals: str | PathLike[str] | None = None,
    network: str | None = None,
    link: float | None = None,
    laws: Iterable[str] | str | None = None,
    cover: Iterable[float] | float | None = None,
    corrupt_mixes: int | Sequence[int] | None = None,
    corrupt_users: float | None = None,
    active: str | None = None,
    worst: tuple[float, float] | None = None,
    mean_delay: float | None = None,
    delay_99: float | None = None,
    packets: float | None = None,
    identified: float | None = None,
    emit: str | None = None,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NetworkPlan:
    """The cheapest mixes, delays and cover that reach targets, confirmed by simulation.

    Parameters
    ----------
    file : path, optional
        A plan in TOML; other arguments take the place of what it says.
    preset : {"katzenpost", "nym", "loopix"}, optional
        Start from what that system ships.
    users, rate : int, float
        Users, and messages a second of each.
    hours : sequence of float, optional
        Relative rates by hour; the mean is ``rate``.
    burst : (mean, gap), optional
        Messages in bursts: so many on average, so many seconds apart.
    arrivals : path, optional
        A log with a column ``time`` instead: the messages themselves.
    network : str, default "3x3"
        ``one``, ``cascade:L``, ``LxW`` such as ``3x3``, or ``free:L,MIXES``: routes that end after
        each hop with the probability 1/L. Widths are swept if several are given: ``3x1,3,10``, the
        range ``3x1-80``, or ``3`` for three layers of any width up to 80.
    link : float
        Seconds on every link.
    laws : names
        Kinds of mixes to try, such as ``("exponential", "pool")``, or laws with their parameters,
        such as ``"pool:2,4"``. All kinds unless told.
    cover : numbers
        Cover packets for each message, from end to end.
    corrupt_mixes : int, or one number a layer
        Mixes that the attacker has: anywhere, or so many in each layer.
    corrupt_users : float
        Share of all packets that the attacker sends and knows.
    active : {"none", "n-1"}
        Whether the attacker may also send and block: what that costs is said of every setting.
    worst : (share, among), optional
        The worst share of messages hide among at least so many.
    mean_delay, delay_99 : float, optional
        Seconds at most, on average and for 99 % of messages.
    packets : float, optional
        Packets for each message at most.
    identified : float, optional
        Share of messages that are known for certain, at most.
    emit : {"katzenpost", "nym"}, optional
        Plan for clients of that system, which send at a steady pace. The mean delay then includes
        the wait in the client's queue, and the decoys of an empty queue count as cover.
    seed : int
        Of simulations; the same seed gives the same plan.
    budget : float or Budget, optional
        Seconds of one core that simulations may take, or a Budget with memory.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.

    Returns
    -------
    NetworkPlan

    Examples
    --------
    >>> found = plan(users=100, rate=0.1, network="one", laws="threshold:10", worst=(0.01, 8))
    >>> found.best.law, round(found.best.worst.value)
    ('threshold:10', 10)
    """
    request = PlanRequest() if file is None else read_request(Path(file))
    if preset is not None:
        request = preset_named(preset)
    given = _changed(
        request,
        traffic=_given(
            users=users,
            rate=rate,
            hours=None if hours is None else tuple(hours),
            burst=None if burst is None else _burst(burst),
            arrivals=None if arrivals is None else Path(arrivals),
        ),
        adversary=_given(
            corrupt_mixes=tuple(corrupt_mixes)
            if isinstance(corrupt_mixes, (list, tuple))
            else corrupt_mixes,
            corrupt_users=corrupt_users,
            active=active,
        ),
        targets=_given(
            **_worst(worst),
            mean_delay=mean_delay,
            delay_99=delay_99,
            packets=packets,
            identified=identified,
        ),
        network=network,
        link=link,
        laws=laws,
        cover=cover,
        emit=emit,
    )
    try:
        log = _arrivals(given)
    except InputError as error:
        if file is None or arrivals is not None:
            raise
        raise InputError(f"{file}: arrivals: {error}") from None
    planned = _planned(given, log, seed, budget, executor, progress)
    return replace(planned, notes=(*_notes(file, preset, users, rate, arrivals), *planned.notes))


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _worst(worst: tuple[float, float] | None) -> dict[str, float | None]:
    if worst is None:
        return {}
    try:
        share, among = worst
    except (TypeError, ValueError):
        raise InputError(
            Argument("worst"), f" must be a share and a number such as (0.01, 20), not {worst!r}"
        ) from None
    return {"worst": share, "among": among}


def _burst(burst: tuple[float, float]) -> Burst:
    try:
        mean, gap = burst
    except (TypeError, ValueError):
        raise InputError(
            Argument("burst"),
            f" must be a number and seconds, such as (5, 0.2), not {burst!r}",
        ) from None
    return Burst(mean=mean, gap=gap)


def _changed(
    request: PlanRequest,
    *,
    traffic: dict[str, Any],
    adversary: dict[str, Any],
    targets: dict[str, Any],
    network: str | None,
    link: float | None,
    laws: Iterable[str] | str | None,
    cover: Iterable[float] | float | None,
    emit: str | None,
) -> PlanRequest:
    """Return the request with the given arguments in place of its own."""
    parts: dict[str, Any] = {}
    if traffic:
        parts["traffic"] = replace(request.traffic, **traffic)
    if network is not None:
        networks = Network.several(network, request.network.link)
        parts["network"] = networks[0]
        parts["widths"] = tuple(one.width for one in networks) if len(networks) > 1 else ()
    if link is not None:
        parts["network"] = replace(parts.get("network", request.network), link=link)
    if adversary:
        parts["adversary"] = replace(request.adversary, **adversary)
    if targets:
        parts["targets"] = replace(request.targets, **targets)
    if laws is not None:
        parts["laws"] = tuple([laws] if isinstance(laws, str) else laws)
    if cover is not None:
        parts["cover"] = (cover,) if isinstance(cover, (int, float)) else tuple(cover)
    if emit is not None and emit not in LANGUAGES:
        raise InputError(Argument("emit"), f" must be {', '.join(LANGUAGES)}, not {emit!r}")
    if emit is not None and emit != "toml":
        parts["client"] = emit
    return replace(request, **parts) if parts else request


def plan_request(
    request: PlanRequest,
    *,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> NetworkPlan:
    """:func:`plan` for a request that was made before."""
    return _planned(request, _arrivals(request), seed, budget, executor, progress)


def _arrivals(request: PlanRequest) -> Floats:
    path = request.traffic.arrivals
    return np.empty(0) if path is None else read_arrivals(path)


def _planned(
    request: PlanRequest,
    log: Floats,
    seed: int,
    budget: Budget | float | None,
    executor: Executor | None,
    progress: Progress | None,
) -> NetworkPlan:
    # Confirmations that nobody foresaw make the work longer; the share done never falls.
    bar = StagedProgress(progress, 0.0)
    execution = Execution(executor=executor, progress=bar.stage())
    ledger = _Ledger(Budget.of(budget), execution)
    plan = _Planner(request, log, whole(seed, "seed"), ledger).plan()
    bar.finish()
    return plan


def _notes(
    file: object, preset: object, users: int | None, rate: float | None, arrivals: object
) -> tuple[Message, ...]:
    """What of the traffic was taken for want of better, if only a part of it was told."""
    if file is not None or preset is not None or arrivals is not None:
        return ()
    taken = Traffic()
    if users is None and rate is not None:
        words = f"{taken.users:,} users are taken; tell how many with "
        return (Message(words, Argument("users")),)
    if rate is None and users is not None:
        words = f"{taken.rate:g} messages a second of each user are taken; tell how many with "
        return (Message(words, Argument("rate")),)
    return ()


@dataclass(frozen=True, slots=True)
class _Point:
    """A setting in units of a mix's arrivals, and what it gave."""

    network: Network
    strategy: Strategy  # parameters in units
    cover: float
    outcome: Outcome
    fixed: bool = False  # whether its parameters were given in seconds


@dataclass(slots=True)
class _Ledger:
    """Predicted seconds of simulations so far, and how many settings were simulated again."""

    budget: Budget
    execution: Execution
    spent: float = 0.0
    again: int = 0
    finer: float = 0.0  # predicted seconds of the sweep that the budget did not allow

    def allows(self, seconds: float, memory: float) -> bool:
        return self.budget.allows(self.spent + seconds, memory)

    def refusal(self, seconds: float, memory: float) -> BudgetError:
        return self.budget.refusal(
            "this plan",
            self.spent + seconds,
            memory,
            "try fewer laws, widths or levels of cover, or a shorter delay",
        )


class _Planner:
    def __init__(self, request: PlanRequest, log: Floats, seed: int, ledger: _Ledger) -> None:
        self.request, self.seed, self.ledger = request, seed, ledger
        self.log = log  # of arrivals; empty if they are drawn
        self.messages = request.traffic.messages
        if len(self.log):
            self.messages = (len(self.log) - 1) / float(self.log[-1] - self.log[0])
        self.effort = _FULL

    # What a setting is in units, and back.

    def rate(self, cover: float) -> float:
        """Packets per second through the network."""
        return self.messages * (1 + cover)

    def unit(self, network: Network, cover: float) -> float:
        """Mean seconds between two packets that come to a mix."""
        return 1 / (self.rate(cover) * network.share)

    def scenario(self, network: Network, strategy: Strategy, cover: float) -> Scenario:
        """A setting in units; the same for all levels of cover where traffic is even."""
        request, family = self.request, strategy.family
        assert strategy.parameters is not None
        bad = request.adversary.corrupt_mixes
        hours = request.traffic.hours or ()
        mean = sum(hours) / len(hours) if hours else 1.0
        burst = request.traffic.burst
        even = burst is None and not len(self.log)
        unit = self.unit(network, cover)
        return Scenario(
            mix=family.mix(strategy.parameters),
            stay=family.stay(strategy.parameters),
            shape=network.shape,
            layers=network.layers,
            width=network.width,
            corrupt_mixes=bad if isinstance(bad, tuple) else (bad,),
            corrupt_users=request.adversary.corrupt_users,
            real=1.0 if even else 1 / (1 + cover),
            hours=tuple(hour / mean for hour in hours),
            burst=(1.0, 0.0) if burst is None else (burst.mean, burst.gap / unit),
            arrivals=(self.log - self.log[0]) / unit if len(self.log) else self.log,
        )

    def setting(self, point: _Point, *, confirmed: bool = False) -> Setting:
        request, outcome, network = self.request, point.outcome, point.network
        cover = self.cover(point)
        unit = self.unit(network, cover)
        family = point.strategy.family
        assert point.strategy.parameters is not None
        price = family.price(point.strategy.parameters)
        strategy = Strategy(point.strategy.keyword, family.scaled(point.strategy.parameters, unit))
        return Setting.of(
            replace(request, network=network, widths=()),
            strategy,
            cover=cover,
            outcome=outcome,
            mean_delay=_shifted(outcome.mean_delay, unit, network.links),
            delay_99=_shifted(outcome.delay_99, unit, network.links),
            price=price._replace(seconds=price.seconds * unit),
            confirmed=confirmed,
        )

    # Clients that send at a steady pace need cover: the decoys of an empty queue.

    def cover(self, point: _Point) -> float:
        """Its cover, or as much more as its clients send to keep queue and network in the limit.

        With more cover the same number inside each mix takes less time, and hides the same.
        """
        limit = self.request.targets.mean_delay
        if not self.request.client or point.fixed or limit is None:
            return point.cover
        stay = point.strategy.family.stay(point.strategy.parameters or ())
        network = point.network

        def missing(cover: float) -> float:
            delay = network.links + network.layers * stay * self.unit(network, cover)
            return math.inf if delay >= limit else self.needed(delay) - cover

        if missing(point.cover) <= 0:
            return point.cover
        low = high = point.cover + 1
        while missing(high) > 0:
            low, high = high, 2 * high
        low = min(low, point.cover + 1) - 1
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if missing(middle) > 0 else (low, middle)
        return high

    def needed(self, delay: float) -> float:
        """Cover packets per message that clients send if the network delays by ``delay`` s."""
        rate, limit = self.request.traffic.rate, self.request.targets.mean_delay
        return client_stream(rate, 0.0, delay, limit, self.request.client).packets / rate - 1

    def given_cover(self, network: Network, law: Strategy, cover: float) -> float:
        """The level of cover at which a law is tried."""
        if not self.request.client:
            return cover
        limit = self.request.targets.mean_delay
        if law.parameters is not None:
            stay = law.family.stay(law.parameters)
            return max(cover, self.needed(network.links + network.layers * stay))
        if limit is None or not self.anonymity_asked():  # half of the time is the queue's
            return max(cover, self.needed(((limit or 0.0) + network.links) / 2))
        return cover

    def anonymity_asked(self) -> bool:
        targets = self.request.targets
        return targets.among is not None or targets.identified is not None

    # The steps.

    def plan(self) -> NetworkPlan:
        best: Setting | None = None
        nearest: Setting | None = None
        tried: list[Setting] = []
        more: list[_Point] = []
        if self.impossible():  # then only the nearest is looked for
            points, more = self.glance()
        else:
            points, best, tried = self.searched()
        unique = {one.key: one for one in map(self.setting, points)}
        if best is None and self.request.targets.among is not None:
            nearest = self.nearest(points, more, tried)
        if nearest is not None and nearest.confirmed and nearest.meets:
            best, nearest = nearest, None
            tried.append(best)
        self.ledger.execution.settle()
        return NetworkPlan(
            request=self.request,
            best=best,
            nearest=nearest,
            tried=tuple(unique.values()),
            confirmations=tuple(tried),
            ceiling=self.ceiling(best),
            least_delay=self.least_delay(),
            messages=self.messages,
            seed=self.seed,
            notes=self.notes(),
        )

    def notes(self) -> tuple[Message, ...]:
        if not self.ledger.finer:
            return ()
        takes = time_in_words(self.ledger.finer)
        words = f"the budget allows a coarse sweep only, and a finer one takes {takes}; set "
        return (Message(words, Argument("budget")),)

    def searched(self) -> tuple[list[_Point], Setting | None, list[Setting]]:
        """Points of the sweep, the setting that is confirmed, and all that were simulated again."""
        hopeless = self.unreachable()
        efforts = _EFFORTS[1:] if hopeless or len(self.request.networks) > 1 else _EFFORTS
        points = self.sweep(efforts, self.stays)
        if hopeless:
            return points, None, []
        # Anonymity seldom needs all the delay that is allowed, and deep pools are long to simulate.
        # They come next if the others do not suffice and the budget allows it.
        if not self.candidates(points) and (deeper := self.deeper()):
            with suppress(BudgetError):
                points += self.sweep(efforts, deeper)
        best, tried = self.confirmed(points)
        return points, best, tried

    def ceiling(self, best: Setting | None) -> float:
        """Bits that nothing exceeds, with all the traffic and delay that the targets allow."""
        targets = self.request.targets
        delay = targets.mean_delay or targets.delay_99
        if self.request.client or delay is None:
            bound = None if best is None else best.ceiling
            return math.inf if bound is None else bound.high
        return mixes.ceiling_bits(self.honest_rate() * max(delay - self.request.network.links, 0.0))

    def least_delay(self) -> float:
        """Mean delay without which the ceiling is too low for what the worst shall hide among."""
        return self.request.network.links + self.in_flight() / self.honest_rate()

    def honest_rate(self) -> float:
        """Packets per second, of those that the attacker has not sent, when there are most."""
        honest = 1 - self.request.adversary.corrupt_users
        return honest * self.rate(max(self.levels())) * self.request.busiest

    def impossible(self) -> bool:
        """Whether the targets contradict the ceiling: then no mix has to be tried."""
        targets = self.request.targets
        if targets.among is None:
            return False
        return self.ceiling(None) < (1 - targets.worst) * math.log2(targets.among)

    def levels(self) -> list[float]:
        most = self.request.targets.packets
        return [c for c in self.request.cover if most is None or 1 + c <= most]

    def limit(self, network: Network) -> float | None:
        """The longest mean stay in a mix that the delays allow, in its arrivals."""
        targets = self.request.targets
        limit = targets.mean_delay or targets.delay_99
        if limit is None or (self.request.client and self.anonymity_asked()):
            return None
        cover = max(self.given_cover(network, Strategy("exponential"), c) for c in self.levels())
        seconds = limit - network.links
        if self.request.client:
            seconds /= 2  # the rest is the queue's
        return min(_LONGEST_STAY, seconds / network.layers / self.unit(network, cover))

    def cap(self, network: Network) -> float:
        """Mean stay with which every kind of mix should hide enough."""
        return max(_MOST_STAY, 4 * (self.request.targets.among or 0.0) / (math.e * network.mixes))

    def stays(self, network: Network, points: int) -> list[float]:
        """Mean stays in a mix that are worth a try, in its arrivals."""
        limit, cap = self.limit(network), self.cap(network)
        most = cap if limit is None else limit
        if self.request.targets.among is not None:
            most = min(most, cap)
        least = max(min(_LEAST_STAY, most / 20), self.screened(network))
        return [float(stay) for stay in np.geomspace(min(least, most), most, points)]

    def deeper(self) -> Callable[[Network, int], list[float]] | None:
        """Stays beyond those that should hide enough, up to what the delays allow; None if none."""
        if self.request.targets.among is None:
            return None
        deep = [
            network
            for network in self.request.networks
            if (self.limit(network) or 0.0) > self.cap(network)
        ]

        def stays(network: Network, points: int) -> list[float]:
            if network not in deep:
                return []
            grid = np.geomspace(self.cap(network), self.limit(network) or 0.0, points // 2 + 1)
            return [float(stay) for stay in grid[1:]]

        return stays if deep else None

    def screened(self, network: Network) -> float:
        """The least stay with which the worst share can hide among enough."""
        return self.in_flight() / network.mixes / self.request.busiest

    def in_flight(self) -> float:
        """Packets on their way, on average, for a ceiling as high as the targets ask."""
        targets = self.request.targets
        if targets.among is None or targets.among <= 1:
            return 0.0
        needed = (1 - targets.worst) * math.log2(targets.among)
        low, high = 1e-9, 1e12
        for _ in range(100):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if mixes.ceiling_bits(middle) >= needed else (middle, high)
        return high

    def sweep(
        self, efforts: Sequence[_Sweep], stays: Callable[[Network, int], list[float]]
    ) -> list[_Point]:
        """Points of all curves, with the first effort that the budget allows."""
        finer = 0.0
        for how in efforts:
            wanted = self.wanted(stays, how.points)
            seconds = self.seconds(wanted.values(), how.runs, how.effort)
            last = max((seconds_of(one, how.confirm) for one in wanted.values()), default=0.0)
            total = seconds + how.again * last
            memory = max((bytes_of(one, how.confirm) for one in wanted.values()), default=0.0)
            if self.ledger.allows(total, memory):
                break
            finer = finer or self.ledger.spent + total
        else:
            raise self.ledger.refusal(total, memory)
        self.effort = how
        self.ledger.finer = max(self.ledger.finer, finer)
        self.ledger.execution.foresee(self.ledger.spent + seconds + _CONFIRMED * how.again * last)
        outcomes = self.simulated(list(wanted.values()), how.runs, how.effort, 0)
        return [
            _Point(network, strategy, cover, outcome, fixed)
            for (network, strategy, cover, fixed), outcome in zip(wanted, outcomes, strict=True)
        ]

    def wanted(
        self, stays: Callable[[Network, int], list[float]], points: int
    ) -> dict[tuple[Network, Strategy, float, bool], Scenario]:
        """What a sweep simulates."""
        wanted: dict[tuple[Network, Strategy, float, bool], Scenario] = {}
        for network in self.request.networks:
            grid = stays(network, points)
            for law in self.request.strategies:
                for level in self.levels():
                    cover = self.given_cover(network, law, level)
                    if law.parameters is not None:
                        unit = self.unit(network, cover)
                        settings = [law.family.scaled(law.parameters, 1 / unit)]
                    else:
                        settings = law.family.sweep(grid)
                    for parameters in settings:
                        strategy = Strategy(law.keyword, parameters)
                        key = (network, strategy, cover, law.parameters is not None)
                        wanted[key] = self.scenario(network, strategy, cover)
        return wanted

    def enough(self, runs: int, effort: Effort) -> Effort:
        """More targets if so few shall be identified."""
        share = min(self.request.targets.worst, self.request.targets.identified or 1.0)
        number = min(20_000, max(effort.targets, math.ceil(1.5 * 3.0 / share / runs)))
        return effort._replace(targets=number)

    def seconds(self, scenarios: Iterable[Scenario], runs: int, least: Effort) -> float:
        """Predicted seconds of one core for :meth:`simulated`."""
        effort = self.enough(runs, least)
        different = {_key(scenario): scenario for scenario in scenarios}
        return runs * sum(seconds_of(scenario, effort) for scenario in different.values())

    def simulated(
        self, scenarios: list[Scenario], runs: int, least: Effort, stream: int
    ) -> list[Outcome]:
        """Outcomes in the order of the scenarios; equal ones are simulated once."""
        effort = self.enough(runs, least)
        keys = [_key(scenario) for scenario in scenarios]
        different = dict(zip(keys, scenarios, strict=True))
        costs = [seconds_of(scenario, effort) for scenario in different.values()]
        total = runs * sum(costs)
        memory = max((bytes_of(scenario, effort) for scenario in different.values()), default=0.0)
        if not self.ledger.allows(total, memory):
            raise self.ledger.refusal(total, memory)
        abreast = max(1, int(self.ledger.budget.memory // max(memory, 1.0)))
        self.ledger.spent += total
        execution = self.ledger.execution
        # The same seeds for all settings: their differences have less noise than they have.
        calls = [
            partial(replicate, scenario, effort, _seed(self.seed, stream, run))
            for scenario in different.values()
            for run in range(runs)
        ]
        each = [cost for cost in costs for _ in range(runs)]
        execution.expect(total)
        # What was recorded comes back as plain tuples.
        results = execution.chunks(calls, each=each, number=len(calls), abreast=abreast)
        samples = [Sample(*result) for result in results]
        share = self.request.targets.worst
        outcomes = {
            key: outcome_of(samples[at * runs : (at + 1) * runs], share, ranked=effort.ranked)
            for at, key in enumerate(different)
        }
        return [outcomes[key] for key in keys]

    def confirmed(self, points: list[_Point]) -> tuple[Setting | None, list[Setting]]:
        """The cheapest setting that also meets the targets with fresh seeds."""
        tried: list[Setting] = []
        candidates = self.candidates(points)
        while candidates and len(tried) < _TRIES:
            candidate = candidates.pop(0)
            try:
                setting = self.again(candidate)
            except BudgetError:
                if not tried:
                    raise
                break
            tried.append(setting)
            if setting.meets:
                return setting, tried
            longer = self.longer(candidate, setting)
            if longer is not None:
                candidates.append(longer)
                candidates.sort(key=self.cost)
        return None, tried

    def again(self, point: _Point) -> Setting:
        self.ledger.again += 1
        scenario = self.scenario(point.network, point.strategy, point.cover)
        how, tries = self.effort, self.ledger.again
        [outcome] = self.simulated([scenario], how.again, how.confirm, tries)
        return self.setting(replace(point, outcome=outcome), confirmed=True)

    def cost(self, point: _Point) -> tuple[float, float]:
        """Packets first, then delay."""
        if not self.anonymity_asked():
            return (-point.outcome.worst.low, -point.outcome.entropy.value)
        cover = self.cover(point)
        return (cover, point.outcome.mean_delay.value * self.unit(point.network, cover))

    def candidates(self, points: list[_Point]) -> list[_Point]:
        """Settings that should meet the targets, the cheapest first: some of each kind."""
        curves: dict[tuple[Network, str, float, bool], list[_Point]] = {}
        for point in points:
            key = (point.network, point.strategy.keyword, point.cover, point.fixed)
            curves.setdefault(key, []).append(point)
        chosen: list[_Point] = []
        for own in curves.values():
            good = [point for point in own if self.setting(point).meets]
            if not own[0].fixed and own[0].strategy.family.smooth:
                solved = self.solved(own)
                good += [] if solved is None else [solved]
            chosen += sorted(good, key=self.cost)[:3]
        return sorted(dict.fromkeys(chosen), key=self.cost)

    def solved(self, points: list[_Point]) -> _Point | None:
        """Between settings of one curve: the shortest stay that reaches what anonymity asks."""
        from scipy.interpolate import PchipInterpolator

        targets = self.request.targets
        if targets.among is None or len(points) < 4:
            return None
        order = sorted(points, key=lambda p: p.strategy.family.stay(p.strategy.parameters or ()))
        family = order[0].strategy.family
        stays = np.log([family.stay(p.strategy.parameters or ()) for p in order])
        lows = np.maximum.accumulate([p.outcome.worst.low for p in order])
        goal = math.log2(targets.among)
        if lows[-1] < goal or lows[0] >= goal:
            return None
        curve = PchipInterpolator(stays, lows)
        grid = np.linspace(stays[0], stays[-1], 2000)
        first = grid[int(np.argmax(curve(grid) >= goal))]
        parameters = family.near(math.exp(first) * _ROOM)
        nearest = order[int(np.argmin(np.abs(stays - first)))]
        # Its figures are made when it is confirmed; until then only its cost matters.
        scale = math.exp(first) * _ROOM / family.stay(nearest.strategy.parameters or ())
        outcome = replace(
            nearest.outcome,
            mean_delay=_shifted(nearest.outcome.mean_delay, scale, 0.0),
            delay_99=_shifted(nearest.outcome.delay_99, scale, 0.0),
        )
        strategy = Strategy(nearest.strategy.keyword, parameters)
        return replace(nearest, strategy=strategy, outcome=outcome)

    def longer(self, point: _Point, setting: Setting) -> _Point | None:
        """A little more delay, if that is what misses and there is room for it."""
        family, parameters = point.strategy.family, point.strategy.parameters
        if not family.smooth or parameters is None or setting.misses(delays=True):
            return None
        if any(law.parameters is not None for law in self.request.strategies):
            return None
        stay = 1.06 * family.stay(parameters)
        outcome = replace(
            point.outcome,
            mean_delay=_shifted(point.outcome.mean_delay, 1.06, 0.0),
            delay_99=_shifted(point.outcome.delay_99, 1.06, 0.0),
        )
        strategy = Strategy(point.strategy.keyword, family.near(stay))
        return replace(point, strategy=strategy, outcome=outcome)

    def glance(self) -> tuple[list[_Point], list[_Point]]:
        """A few settings without the limits of delays, and those that meet the other targets.

        None if even they are too much work.
        """
        relaxed = self.relaxed()
        try:
            points = relaxed.sweep(_EFFORTS[1:], relaxed.stays)
        except BudgetError:
            return [], []
        self.effort = relaxed.effort
        return points, relaxed.candidates(points)

    def relaxed(self) -> _Planner:
        """The same without limits of delays."""
        free = replace(self.request.targets, mean_delay=None, delay_99=None)
        request = replace(self.request, targets=free)
        return _Planner(request, self.log, self.seed, self.ledger)

    def nearest(
        self, points: list[_Point], more: list[_Point], tried: list[Setting]
    ) -> Setting | None:
        """The setting that misses the fewest targets, and of these the one that misses by least."""
        if not self.impossible() and not self.unreachable() and not self.request.client:
            relaxed = self.relaxed()
            with suppress(BudgetError):  # else the nearest of those that were tried
                more = relaxed.candidates(relaxed.sweep(_EFFORTS, relaxed.stays))
        order = sorted((*more, *points), key=lambda point: self.setting(point).distance)
        known = [*tried, *(self.setting(point) for point in points)]
        if order:
            with suppress(
                BudgetError
            ):  # a setting between two others has no figures of its own yet
                known.append(self.again(order[0]))
        return min(known, key=_distance, default=None)

    def unreachable(self) -> bool:
        """Whether so many messages pass corrupt mixes only that nothing can help."""
        targets, adversary = self.request.targets, self.request.adversary
        asked = targets.among is not None and targets.among > 1
        least = min(adversary.path_share(network) for network in self.request.networks)
        return asked and least > targets.worst


def _shifted(interval: Interval, factor: float, more: float) -> Interval:
    return Interval(*(end * factor + more for end in (interval.value, interval.low, interval.high)))


def _distance(setting: Setting) -> tuple[int, float, float]:
    return setting.distance


def _seed(seed: int, stream: int, run: int) -> int:
    return int(np.random.SeedSequence([seed, stream, run]).generate_state(1, np.uint64)[0] >> 1)


def _key(scenario: Scenario) -> tuple[object, ...]:
    return (*scenario._replace(arrivals=np.empty(0))[:-1], scenario.arrivals.tobytes())

"""plan(): which mix, which delay, how much cover; and what nothing can do.

Settings are screened by what nothing exceeds, tried by simulation in units that serve every level
of cover, and solved for the targets between those that were tried. The cheapest is simulated again
with seeds of its own: only that is told as reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import Argument, Message
from anonymatch.measures import Interval, mixes
from anonymatch.plans.arrivals import read_arrivals
from anonymatch.plans.outcome import Outcome, outcome_of
from anonymatch.plans.presets import preset_named
from anonymatch.plans.request import Burst, Network, PlanRequest, Traffic
from anonymatch.plans.result import NetworkPlan, Setting
from anonymatch.plans.simulation import Effort, Sample, Scenario, replicate, seconds_of
from anonymatch.plans.strategies import Strategy
from anonymatch.plans.toml_file import read_request
from anonymatch.running import Budget, Execution, Progress

__all__ = ["plan", "plan_request"]


class _Sweep(NamedTuple):
    """How well settings are looked at before one is chosen."""

    points: int  # of a curve
    runs: int
    effort: Effort


_FULL = _Sweep(14, 16, Effort(targets=150, packets=30_000, ranked=False))
# Enough to name the nearest setting where nothing can meet the targets.
_LIGHT = _Sweep(7, 8, Effort(targets=150, packets=15_000, ranked=False))
_CONFIRM_RUNS = 24
_CONFIRM = Effort(targets=300, packets=75_000, ranked=True)
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
    network : str
        ``one``, ``cascade:L``, ``LxW`` such as ``3x3``, or ``free:L,MIXES``: routes that end after
        each hop with the probability 1/L.
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
    )
    try:
        log = _arrivals(given)
    except InputError as error:
        if file is None or arrivals is not None:
            raise
        raise InputError(f"{file}: arrivals: {error}") from None
    planned = _planned(given, log, seed, budget, executor, progress)
    return replace(planned, notes=_notes(file, preset, users, rate, arrivals))


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
) -> PlanRequest:
    """The request with what was given beside it."""
    parts: dict[str, Any] = {}
    if traffic:
        parts["traffic"] = replace(request.traffic, **traffic)
    if network is not None:
        parts["network"] = Network.named(network, request.network.link)
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
    execution = Execution(executor=executor, progress=progress)
    return _Planner(request, log, whole(seed, "seed"), Budget.of(budget), execution).plan()


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

    strategy: Strategy  # parameters in units
    cover: float
    outcome: Outcome


class _Planner:
    def __init__(
        self, request: PlanRequest, log: Floats, seed: int, budget: Budget, execution: Execution
    ) -> None:
        self.request, self.seed, self.budget, self.execution = request, seed, budget, execution
        self.log = log  # of arrivals; empty if they are drawn
        self.messages = request.traffic.messages
        if len(self.log):
            self.messages = (len(self.log) - 1) / float(self.log[-1] - self.log[0])
        self.tries = 0

    # What a setting is in units, and back.

    def rate(self, cover: float) -> float:
        """Packets a second through the network."""
        return self.messages * (1 + cover)

    def unit(self, cover: float) -> float:
        """Seconds in which a packet comes to a mix, on average."""
        return 1 / (self.rate(cover) * self.request.network.share)

    def scenario(self, strategy: Strategy, cover: float) -> Scenario:
        """A setting in units; the same for all levels of cover where traffic is even."""
        request, network, family = self.request, self.request.network, strategy.family
        assert strategy.parameters is not None
        bad = request.adversary.corrupt_mixes
        hours = request.traffic.hours or ()
        mean = sum(hours) / len(hours) if hours else 1.0
        burst = request.traffic.burst
        even = burst is None and not len(self.log)
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
            burst=(1.0, 0.0) if burst is None else (burst.mean, burst.gap / self.unit(cover)),
            arrivals=(self.log - self.log[0]) / self.unit(cover) if len(self.log) else self.log,
        )

    def setting(self, point: _Point, *, confirmed: bool = False) -> Setting:
        request, outcome = self.request, point.outcome
        unit = self.unit(point.cover)
        links = request.network.link * (request.network.layers + 1)
        family = point.strategy.family
        assert point.strategy.parameters is not None
        price = family.price(point.strategy.parameters)
        strategy = Strategy(point.strategy.keyword, family.scaled(point.strategy.parameters, unit))
        return Setting.of(
            request,
            strategy,
            cover=point.cover,
            outcome=outcome,
            mean_delay=_shifted(outcome.mean_delay, unit, links),
            delay_99=_shifted(outcome.delay_99, unit, links),
            price=price._replace(seconds=price.seconds * unit),
            confirmed=confirmed,
        )

    # The steps.

    def plan(self) -> NetworkPlan:
        best: Setting | None = None
        nearest: Setting | None = None
        tried: list[Setting] = []
        if self.impossible():  # then only the nearest is looked for
            points = self.glance()
        elif self.unreachable():
            points = self.sweep(_LIGHT)
        else:
            points = self.sweep(_FULL)
            best, tried = self.confirmed(points)
        settings = [self.setting(point) for point in points]
        if best is None and self.request.targets.among is not None:
            nearest = self.nearest(points)
        self.execution.settle()
        return NetworkPlan(
            request=self.request,
            best=best,
            nearest=nearest,
            tried=tuple(settings),
            confirmations=tuple(tried),
            ceiling=self.ceiling(best),
            least_delay=self.least_delay(),
            messages=self.messages,
            seed=self.seed,
        )

    def ceiling(self, best: Setting | None) -> float:
        """Bits that nothing exceeds, with all the traffic and delay that the targets allow."""
        targets = self.request.targets
        delay = targets.mean_delay or targets.delay_99
        if delay is None:
            delay = best.mean_delay.value if best is not None else math.inf
        return mixes.ceiling_bits(self.honest_rate() * max(delay - self.links(), 0.0))

    def least_delay(self) -> float:
        """Mean delay without which the ceiling is too low for what the worst shall hide among."""
        return self.links() + self.in_flight() / self.honest_rate()

    def honest_rate(self) -> float:
        """Packets a second, of those that the attacker has not sent, when there are most."""
        honest = 1 - self.request.adversary.corrupt_users
        return honest * self.rate(max(self.levels())) * self.request.busiest

    def links(self) -> float:
        """Seconds on links."""
        return self.request.network.link * (self.request.network.layers + 1)

    def impossible(self) -> bool:
        """Whether the targets contradict the ceiling: then no mix has to be tried."""
        targets = self.request.targets
        if targets.among is None:
            return False
        return self.ceiling(None) < (1 - targets.worst) * math.log2(targets.among)

    def levels(self) -> list[float]:
        most = self.request.targets.packets
        return [c for c in self.request.cover if most is None or 1 + c <= most]

    def stays(self, points: int) -> Floats:
        """Mean stays in a mix that are worth a try, in its arrivals."""
        request, targets, layers = self.request, self.request.targets, self.request.network.layers
        links = request.network.link * (layers + 1)
        limit = targets.mean_delay or targets.delay_99
        most = _MOST_STAY
        if limit is not None:
            most = min(_LONGEST_STAY, (limit - links) / layers / self.unit(max(self.levels())))
        elif targets.among is not None:
            most = max(most, 4 * targets.among / (math.e * request.network.mixes))
        least = max(min(_LEAST_STAY, most / 20), self.screened())
        return np.geomspace(min(least, most), most, points)

    def screened(self) -> float:
        """The least stay with which the worst share can hide among enough."""
        return self.in_flight() / self.request.network.mixes / self.request.busiest

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

    def sweep(self, how: _Sweep) -> list[_Point]:
        stays = self.stays(how.points).tolist()
        wanted: dict[tuple[Strategy, float], Scenario] = {}
        for law in self.request.strategies:
            for cover in self.levels():
                unit = self.unit(cover)
                if law.parameters is not None:
                    settings = [law.family.scaled(law.parameters, 1 / unit)]
                else:
                    settings = law.family.sweep(stays)
                for parameters in settings:
                    strategy = Strategy(law.keyword, parameters)
                    wanted[strategy, cover] = self.scenario(strategy, cover)
        outcomes = self.simulated(list(wanted.values()), how.runs, how.effort, 0)
        return [
            _Point(strategy, cover, outcome)
            for (strategy, cover), outcome in zip(wanted, outcomes, strict=True)
        ]

    def enough(self, runs: int, effort: Effort) -> Effort:
        """More targets if so few shall be identified."""
        share = min(self.request.targets.worst, self.request.targets.identified or 1.0)
        number = min(20_000, max(effort.targets, math.ceil(1.5 * 3.0 / share / runs)))
        return effort._replace(targets=number)

    def simulated(
        self, scenarios: list[Scenario], runs: int, least: Effort, stream: int
    ) -> list[Outcome]:
        """Outcomes in the order of the scenarios; equal ones are simulated once."""
        effort = self.enough(runs, least)
        keys = [_key(scenario) for scenario in scenarios]
        different = dict(zip(keys, scenarios, strict=True))
        costs = [seconds_of(scenario, effort) for scenario in different.values()]
        total = runs * sum(costs)
        if not self.budget.allows(total, 0.0):
            raise self.budget.refusal(
                "this plan", total, 0.0, "try fewer laws or levels of cover, or a shorter delay"
            )
        # The same seeds for all settings: their differences have less noise than they have.
        calls = [
            partial(replicate, scenario, effort, _seed(self.seed, stream, run))
            for scenario in different.values()
            for run in range(runs)
        ]
        each = [cost for cost in costs for _ in range(runs)]
        self.execution.expect(total)
        # What was recorded comes back as plain tuples.
        results = self.execution.chunks(calls, each=each, number=len(calls))
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
            setting = self.again(candidate)
            tried.append(setting)
            if setting.meets:
                return setting, tried
            longer = self.longer(candidate, setting)
            if longer is not None:
                candidates.append(longer)
                candidates.sort(key=self.cost)
        return None, tried

    def again(self, point: _Point) -> Setting:
        self.tries += 1
        scenario = self.scenario(point.strategy, point.cover)
        [outcome] = self.simulated([scenario], _CONFIRM_RUNS, _CONFIRM, self.tries)
        return self.setting(replace(point, outcome=outcome), confirmed=True)

    def cost(self, point: _Point) -> tuple[float, float]:
        """Packets first, then delay."""
        if self.request.targets.among is None and self.request.targets.identified is None:
            return (-point.outcome.worst.low, -point.outcome.entropy.value)
        return (point.cover, point.outcome.mean_delay.value * self.unit(point.cover))

    def candidates(self, points: list[_Point]) -> list[_Point]:
        """Settings that should meet the targets, the cheapest first: some of each kind."""
        chosen: list[_Point] = []
        for law in self.request.strategies:
            for cover in self.levels():
                own = [p for p in points if p.cover == cover and p.strategy.keyword == law.keyword]
                good = [p for p in own if self.setting(p).meets]
                if law.parameters is None and law.family.smooth:
                    solved = self.solved(own)
                    good += [] if solved is None else [solved]
                chosen += sorted(good, key=self.cost)[:3]
        return sorted(set(chosen), key=self.cost)

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
        return _Point(Strategy(nearest.strategy.keyword, parameters), nearest.cover, outcome)

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
        return _Point(Strategy(point.strategy.keyword, family.near(stay)), point.cover, outcome)

    def glance(self) -> list[_Point]:
        """A few settings without the limits of delays; none if even they are too much work."""
        relaxed = self.relaxed()
        try:
            points = relaxed.sweep(_LIGHT)
        except BudgetError:
            return []
        return list(dict.fromkeys((*relaxed.candidates(points), *points)))

    def relaxed(self) -> _Planner:
        """The same without limits of delays."""
        free = replace(self.request.targets, mean_delay=None, delay_99=None)
        request = replace(self.request, targets=free)
        return _Planner(request, self.log, self.seed, self.budget, self.execution)

    def nearest(self, points: list[_Point]) -> Setting | None:
        """The setting that comes nearest: what else is asked is met, and the delay is least.

        If nothing that was tried meets what else is asked, the one that misses by least.
        """
        more: list[_Point] = []
        if not self.impossible() and not self.unreachable():
            relaxed = self.relaxed()
            try:
                more = relaxed.candidates(relaxed.sweep(_FULL))
            except BudgetError:  # then the nearest of those that were tried
                more = []

        def distance(point: _Point) -> tuple[bool, float, float]:
            one = self.setting(point)
            return (one.misses(delays=False), one.excess, -one.entropy.value)

        nearest = min((*more, *points), key=distance, default=None)
        if nearest is None:
            return None
        try:  # a setting between those that were tried has no figures of its own yet
            return self.again(nearest)
        except BudgetError:
            return min((self.setting(point) for point in points), key=_excess, default=None)

    def unreachable(self) -> bool:
        """Whether so many messages pass corrupt mixes only that nothing can help."""
        targets = self.request.targets
        asked = targets.among is not None and targets.among > 1
        return asked and self.request.adversary.path_share(self.request.network) > targets.worst


def _shifted(interval: Interval, factor: float, more: float) -> Interval:
    return Interval(*(end * factor + more for end in (interval.value, interval.low, interval.high)))


def _excess(setting: Setting) -> float:
    return setting.excess


def _seed(seed: int, stream: int, run: int) -> int:
    return int(np.random.SeedSequence([seed, stream, run]).generate_state(1, np.uint64)[0] >> 1)


def _key(scenario: Scenario) -> tuple[object, ...]:
    return (*scenario._replace(arrivals=np.empty(0))[:-1], scenario.arrivals.tobytes())

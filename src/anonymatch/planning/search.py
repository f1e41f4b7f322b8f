"""Planner: the search for the cheapest setting that meets the targets of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import BudgetError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import time_in_words
from anonymatch.base.text import Argument, Message
from anonymatch.mixes import closed_forms as mixes
from anonymatch.planning.emit import client_stream
from anonymatch.planning.request import Network, PlanRequest
from anonymatch.planning.result import NetworkPlan, Setting
from anonymatch.planning.simulation import (
    CAUSES,
    Outcome,
    Sample,
    Scenario,
    bytes_of,
    outcome_of,
    replicate,
    seconds_of,
)
from anonymatch.planning.strategies import Strategy
from anonymatch.planning.tuning import TUNING, Effort, Sweep
from anonymatch.running import Budget, Execution

__all__ = ["Ledger", "Planner"]


@dataclass(frozen=True, slots=True)
class _Point:
    """A setting in units of a mix's arrivals, and what it gave."""

    network: Network
    strategy: Strategy  # parameters in units
    cover: float
    outcome: Outcome
    fixed: bool = False  # whether its parameters were given in seconds

    def stretched(self, parameters: tuple[float, ...], factor: float) -> _Point:
        """Other parameters that delay longer; until they are confirmed only the cost matters."""
        outcome = replace(
            self.outcome,
            mean_delay=_shifted(self.outcome.mean_delay, factor, 0.0),
            delay_99=_shifted(self.outcome.delay_99, factor, 0.0),
        )
        strategy = Strategy(self.strategy.keyword, parameters)
        return replace(self, strategy=strategy, outcome=outcome)


@dataclass(slots=True)
class Ledger:
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


class Planner:
    """Settings that are screened by closed forms, simulated in units, and confirmed.

    Settings are simulated in units that serve every level of cover, and solved for the targets
    between those that were simulated.
    """

    def __init__(self, request: PlanRequest, log: Floats, seed: int, ledger: Ledger) -> None:
        self.request, self.seed, self.ledger = request, seed, ledger
        self.log = log  # of arrivals; empty if they are drawn
        self.messages = request.traffic.messages
        if len(self.log):
            self.messages = (len(self.log) - 1) / float(self.log[-1] - self.log[0])
        self.effort = TUNING.efforts[0]

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
        worst = outcome.worst
        causes = zip(CAUSES, outcome.causes, strict=True)
        return Setting(
            request=replace(request, network=network, widths=()),
            law=str(strategy),
            parameters=dict(zip(family.names, strategy.parameters or (), strict=True)),
            cover=cover,
            mean_delay=_shifted(outcome.mean_delay, unit, network.links),
            delay_99=_shifted(outcome.delay_99, unit, network.links),
            entropy=outcome.entropy,
            worst=Interval(*(2.0**bits for bits in (worst.value, worst.low, worst.high))),
            identified=outcome.identified,
            guessing=outcome.guessing,
            price=price._replace(seconds=price.seconds * unit),
            causes={name: share for name, share in causes if share},
            targets=outcome.targets,
            effective=outcome.effective,
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
        efforts = (
            TUNING.efforts[1:] if hopeless or len(self.request.networks) > 1 else TUNING.efforts
        )
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
        return min(TUNING.longest_stay, seconds / network.layers / self.unit(network, cover))

    def cap(self, network: Network) -> float:
        """Mean stay with which every kind of mix should hide enough."""
        return max(
            TUNING.most_stay, 4 * (self.request.targets.among or 0.0) / (math.e * network.mixes)
        )

    def stays(self, network: Network, points: int) -> list[float]:
        """Mean stays in a mix that are worth a try, in its arrivals."""
        limit, cap = self.limit(network), self.cap(network)
        most = cap if limit is None else limit
        if self.request.targets.among is not None:
            most = min(most, cap)
        least = max(min(TUNING.least_stay, most / 20), self.screened(network))
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
        self, efforts: Sequence[Sweep], stays: Callable[[Network, int], list[float]]
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
        self.ledger.execution.foresee(
            self.ledger.spent + seconds + TUNING.confirmed * how.again * last
        )
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
        while candidates and len(tried) < TUNING.tries:
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
        parameters = family.near(math.exp(first) * TUNING.room)
        nearest = order[int(np.argmin(np.abs(stays - first)))]
        scale = math.exp(first) * TUNING.room / family.stay(nearest.strategy.parameters or ())
        return nearest.stretched(parameters, scale)

    def longer(self, point: _Point, setting: Setting) -> _Point | None:
        """A little more delay, if that is what misses and there is room for it."""
        family, parameters = point.strategy.family, point.strategy.parameters
        if not family.smooth or parameters is None or setting.misses(delays=True):
            return None
        if any(law.parameters is not None for law in self.request.strategies):
            return None
        stay = TUNING.longer * family.stay(parameters)
        return point.stretched(family.near(stay), TUNING.longer)

    def glance(self) -> tuple[list[_Point], list[_Point]]:
        """A few settings without the limits of delays, and those that meet the other targets.

        None if even they are too much work.
        """
        relaxed = self.relaxed()
        try:
            points = relaxed.sweep(TUNING.efforts[1:], relaxed.stays)
        except BudgetError:
            return [], []
        self.effort = relaxed.effort
        return points, relaxed.candidates(points)

    def relaxed(self) -> Planner:
        """The same without limits of delays."""
        free = replace(self.request.targets, mean_delay=None, delay_99=None)
        request = replace(self.request, targets=free)
        return Planner(request, self.log, self.seed, self.ledger)

    def nearest(
        self, points: list[_Point], more: list[_Point], tried: list[Setting]
    ) -> Setting | None:
        """The setting that misses the fewest targets, and of these the one that misses by least."""
        if not self.impossible() and not self.unreachable() and not self.request.client:
            relaxed = self.relaxed()
            with suppress(BudgetError):  # else the nearest of those that were tried
                more = relaxed.candidates(relaxed.sweep(TUNING.efforts, relaxed.stays))
        order = sorted((*more, *points), key=lambda point: self.setting(point).distance)
        known = [*tried, *(self.setting(point) for point in points)]
        if order:
            with suppress(
                BudgetError
            ):  # a setting between two others has no figures of its own yet
                known.append(self.again(order[0]))
        return min(known, key=lambda setting: setting.distance, default=None)

    def unreachable(self) -> bool:
        """Whether so many messages pass corrupt mixes only that nothing can help."""
        targets, adversary = self.request.targets, self.request.adversary
        asked = targets.among is not None and targets.among > 1
        least = min(adversary.path_share(network) for network in self.request.networks)
        return asked and least > targets.worst


def _shifted(interval: Interval, factor: float, more: float) -> Interval:
    return Interval(*(end * factor + more for end in (interval.value, interval.low, interval.high)))


def _seed(seed: int, stream: int, run: int) -> int:
    return int(np.random.SeedSequence([seed, stream, run]).generate_state(1, np.uint64)[0] >> 1)


def _key(scenario: Scenario) -> tuple[object, ...]:
    return (*scenario._replace(arrivals=np.empty(0))[:-1], scenario.arrivals.tobytes())

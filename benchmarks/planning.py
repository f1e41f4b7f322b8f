"""Plans of networks: figures beside closed forms and published ones, intervals, and how fast."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import anonymatch as am
from anonymatch._native import (
    OUTSIDE,
    NetworkMix,
    network_draw,
    network_forward,
    network_inside,
)
from anonymatch.planning.simulation import Outcome, Scenario, outcome_of, replicate
from anonymatch.planning.strategies import FAMILIES
from anonymatch.planning.tuning import Effort
from benchmarks.report import Line, Size, plain, under

__all__ = ["lines"]

_FRESH = {"tiny": 4, "quick": 40, "full": 200}
_LOGS = {"tiny": 50, "quick": 1000, "full": 10_000}
_EFFORT = Effort(150, 30_000, False)
_RUNS = 16

# MiXiM's published means (ibenguir/mixim_pets, Figures 7): layers, width, seconds in all, bits.
_PUBLISHED = (
    (3, 10, 1.0, 13.039),
    (2, 10, 0.25, 9.957),
    (3, 10, 0.25, 8.900),
    (3, 100, 1.0, 12.730),
)


def lines(size: Size) -> Iterator[Line]:
    judged = size != "tiny"
    yield _plan(size)
    yield _meets(_FRESH[size], judged=judged)
    for law, parameters in (("exponential", (3.0,)), ("pool", (2, 2)), ("timed", (6.0,))):
        yield _covers(law, parameters, _FRESH[size], judged=judged)
    yield _ceiling(_LOGS[size], judged=judged)
    for layers, width, seconds, bits in _PUBLISHED[: 2 if size == "tiny" else None]:
        yield _published(layers, width, seconds, bits, judged=judged)


def _scenario(law: str, *parameters: float) -> Scenario:
    family = FAMILIES[law]
    return Scenario(
        family.mix(parameters), family.stay(parameters), "stratified", 3, 3,
        (0,), 0.0, 1.0, (), (1.0, 0.0), np.empty(0),
    )  # fmt: skip


def _outcome(case: Scenario, seed: int) -> Outcome:
    samples = [replicate(case, _EFFORT, _RUNS * seed + k) for k in range(_RUNS)]
    return outcome_of(samples, 0.01, ranked=False)


def _plan(size: Size) -> Line:
    """The example of the documentation: six kinds of mixes, three levels of cover."""
    laws = ("exponential", "pool") if size == "tiny" else None
    begin = time.process_time()
    plan = am.plan(users=1000, rate=0.01, network="3x3", laws=laws, worst=(0.01, 20), mean_delay=2)
    seconds = time.process_time() - begin
    assert plan.best is not None
    return under(
        "plan of 3x3, 10 messages a second",
        seconds,
        None if size == "tiny" else 20.0,
        note=f"{len(plan.tried)} settings; {plan.verdict}",
    )


def _meets(number: int, *, judged: bool) -> Line:
    """How often a planned setting meets its target in fresh simulations."""
    begin = time.process_time()
    met = total = 0
    for laws, among in (("exponential", 20), ("pool", 30), ("timed", 10)):
        plan = am.plan(laws=laws, cover=1, worst=(0.01, among), mean_delay=10, seed=among)
        assert plan.best is not None
        family = FAMILIES[laws]
        unit = 3 / 20  # seconds in which a packet comes to a mix
        parameters = family.scaled(tuple(plan.best.parameters.values()), 1 / unit)
        case = _scenario(laws, *parameters)
        for seed in range(number):
            met += 2 ** _outcome(case, 10_000 + seed).worst.value >= among
            total += 1
    return plain(
        f"{total} fresh simulations of 3 plans",
        time.process_time() - begin,
        goal="95 % meet",
        passed=met >= 0.95 * total if judged else None,
        note=f"{met} of {total} meet the target that their plan was made for",
    )


def _covers(law: str, parameters: tuple[float, ...], number: int, *, judged: bool) -> Line:
    """How often the bound of the worst 1 % is below the truth, that of many more targets."""
    begin = time.process_time()
    case = _scenario(law, *parameters)
    many = [replicate(case, Effort(300, 10**7, False), 10**6 + k) for k in range(10 * number)]
    truth = float(np.quantile(np.concatenate([sample.bits for sample in many]), 0.01))
    found = [_outcome(case, seed).worst for seed in range(number)]
    covered = sum(worst.low <= truth + 1e-9 for worst in found)
    gap = float(np.mean([truth - worst.low for worst in found]))
    return plain(
        f"bound of the worst 1 %, {law}",
        time.process_time() - begin,
        goal="95 % cover",
        passed=covered >= 0.93 * number if judged else None,  # 95 %, and its own noise
        note=f"{covered} of {number}; on average {gap:.3f} bits below {2**truth:.3g}",
    )


def _ceiling(logs: int, *, judged: bool) -> Line:
    """No log has more mean entropy than its ceiling: all kinds of mixes, everything leaves."""
    begin = time.process_time()
    draw = np.random.default_rng(1)
    least, checked = math.inf, 0
    for _ in range(logs):
        number = int(draw.integers(2, 40))
        arrivals = np.cumsum(draw.exponential(1.0, number) * draw.choice([0.1, 1.0, 5.0], number))
        family = FAMILIES[list(FAMILIES)[draw.integers(len(FAMILIES))]]
        mix: NetworkMix = family.mix(family.near(float(np.exp(draw.uniform(-2, 3)))))
        log = network_draw(
            arrivals, np.zeros((number, 1), np.int32), 1, mix, seed=int(draw.integers(2**31))
        )
        events = log.events(1)
        inside = network_inside(events)
        if (log.to == OUTSIDE).sum() < number:
            continue
        targets = np.flatnonzero(events.from_ == OUTSIDE)
        bits = network_forward(events, inside, targets, lanes=8, least=0.0).shannon.mean()
        ceiling = am.mixes.log_ceiling_bits(inside[inside > 0])
        least = min(least, ceiling - float(bits))
        checked += 1
    assert least > -1e-9, f"a log exceeds its ceiling by {-least:.3g} bits"
    return plain(
        f"{logs} logs below their ceiling",
        time.process_time() - begin,
        goal="none above",
        passed=True if judged else None,
        note=f"{checked} in which everything leaves; the nearest is {least:.2g} bits below",
    )


def _published(layers: int, width: int, seconds: float, bits: float, *, judged: bool) -> Line:
    """A published mean beside the forward pass, and the closed form of deep pools."""
    begin = time.process_time()
    hop = (seconds - 0.05 * (layers + 1)) / layers
    rate, means = 5000.0, []
    draw = np.random.default_rng(2)
    for run in range(6):
        number = round(rate * hop * (layers + 14 * math.sqrt(layers) + 16) + 20_000)
        arrivals = np.cumsum(draw.exponential(1 / rate, number))
        routes = draw.integers(0, width, (number, layers)) + width * np.arange(layers)
        log = network_draw(
            arrivals, routes.astype(np.int32), layers * width, NetworkMix("exponential", hop),
            seed=run,
        )  # fmt: skip
        events = log.events(layers * width)
        warm = hop * (layers + 8)
        targets = np.flatnonzero((events.from_ == OUTSIDE) & (log.time > warm))[:12_800:200]
        means.append(float(network_forward(events, network_inside(events), targets).shannon.mean()))
    mean, error = float(np.mean(means)), float(np.std(means, ddof=1) / math.sqrt(len(means)))
    form = am.mixes.network_bits(rate, layers, hop)
    noise = 3 * math.hypot(error, 0.02)  # theirs is the mean of some tens of targets
    return plain(
        f"MiXiM {layers}x{width}, {seconds:g} s",
        time.process_time() - begin,
        goal=f"within {noise:.2f}",
        passed=abs(mean - bits) < noise if judged else None,
        note=f"published {bits:.3f}, forward pass {mean:.3f} ± {error:.3f}, closed form {form:.3f}",
    )

"""Real systems: their closed forms, and the fronts that compare them."""

from __future__ import annotations

import math
import random

import pytest

from anonymatch.mixes import batch_bits_per_message, exponential_bits_per_message
from anonymatch.theory.systems import SYSTEMS, System, choice_of, timed_bits_per_message


def usual(system: System) -> dict[str, float]:
    return {key: knob.usual for key, knob in system.knobs.items()}


@pytest.mark.parametrize("key", SYSTEMS)
def test_the_choice_lies_on_a_line_of_the_front(key: str) -> None:
    system = SYSTEMS[key]
    knobs = usual(system)
    cost, bits = system.price(knobs), system.bits(knobs)

    near = min(
        abs(x - cost) + abs(y - bits)
        for line in system.front(knobs)
        for x, y in zip(line.x, line.y, strict=True)
    )

    assert near < 0.06


@pytest.mark.parametrize("key", SYSTEMS)
def test_more_cost_gives_more_bits(key: str) -> None:
    for line in SYSTEMS[key].front(usual(SYSTEMS[key])):
        assert all(b >= a - 1e-9 for a, b in zip(line.y, line.y[1:], strict=False))


def test_every_knob_can_be_turned_to_its_ends() -> None:
    for system in SYSTEMS.values():
        for end in ("least", "most"):
            knobs = {key: getattr(knob, end) for key, knob in system.knobs.items()}
            assert math.isfinite(system.bits(knobs))
            assert system.front(knobs)


@pytest.mark.parametrize("key", SYSTEMS)
def test_points_of_a_front_are_choices(key: str) -> None:
    for line in SYSTEMS[key].front(usual(SYSTEMS[key])):
        for point, x in zip(line.keys, line.x, strict=True):
            system, knobs = choice_of(point)
            chosen = {name: float(value) for name, value in knobs.items()}
            assert SYSTEMS[system].price(chosen) == pytest.approx(x, rel=1e-4)


def test_timed_bits_agree_with_drawn_rounds() -> None:
    draws = random.Random(1)
    bits = messages = 0.0
    for _ in range(40_000):
        inside = len(_poisson(draws, 3.0))
        if inside:
            bits += inside * batch_bits_per_message(inside)
            messages += inside

    assert timed_bits_per_message(3.0) == pytest.approx(bits / messages, abs=0.02)
    assert timed_bits_per_message(3.0) < exponential_bits_per_message(3.0)


def _poisson(draws: random.Random, mean: float) -> list[float]:
    times, now = [], draws.expovariate(1.0)
    while now < mean:
        times.append(now)
        now += draws.expovariate(1.0)
    return times

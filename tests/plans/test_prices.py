"""What an n-1 attack costs, by attacks on mixes that the kernel draws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anonymatch._native import OUTSIDE, NetworkMix, network_draw
from anonymatch.planning.strategies import FAMILIES

_MIXES = 4000
_NOISE = 4.5 / math.sqrt(_MIXES)  # standard errors of a share, for its square root


def left_inside(
    mix: NetworkMix, honest: np.ndarray, own: np.ndarray, until: float, seed: int
) -> float:
    """The share of mixes in which an honest packet is left.

    ``honest`` and ``own``: times of packets that come to each mix, a row a mix; NaN for none.
    """
    times = np.concatenate((honest, own), axis=1)
    bad = np.concatenate((np.zeros(honest.shape, bool), np.ones(own.shape, bool)), axis=1)
    there = np.isfinite(times).reshape(-1)
    at = np.repeat(np.arange(len(times)), times.shape[1])[there]
    flat, attacker = times.reshape(-1)[there], bad.reshape(-1)[there]
    order = np.argsort(flat, kind="stable")
    log = network_draw(flat[order], at[order, None].astype(np.int32), len(times), mix, seed=seed)
    out = (log.to == OUTSIDE) & (log.time <= until)
    inside = np.ones(len(flat), dtype=bool)
    inside[log.packet[out]] = False
    inside &= ~attacker[order]
    return len(np.unique(at[order][inside])) / len(times)


def traffic(length: float, seed: int) -> np.ndarray:
    """Poisson arrivals of rate 1 at each mix until time 0, when the attacker blocks them."""
    draw = np.random.default_rng(seed)
    number = draw.poisson(length, _MIXES)
    times = -length * draw.random((_MIXES, int(number.max())))
    return np.where(np.arange(times.shape[1]) < number[:, None], times, np.nan)


@pytest.mark.grid
@pytest.mark.parametrize("stay", [1.0, 5.0, 20.0])
def test_blocking_an_exponential_mix_for_its_price_leaves_nobody_in_99_percent(stay: float) -> None:
    family = FAMILIES["exponential"]
    price = family.price((stay,))
    honest, none = traffic(14 * stay, 1), np.empty((_MIXES, 0))
    left = left_inside(family.mix((stay,)), honest, none, price.seconds, 2)
    assert math.sqrt(left) == pytest.approx(0.1, abs=_NOISE)
    assert left_inside(family.mix((stay,)), honest, none, 0.8 * price.seconds, 2) > 0.02
    assert price.messages == 0


@pytest.mark.grid
@pytest.mark.parametrize(("batch", "kept"), [(10, 5), (1, 4), (4, 1), (3, 30)])
def test_flushing_a_pool_for_its_price_leaves_nobody_in_99_percent(batch: int, kept: int) -> None:
    family = FAMILIES["pool"]
    flushes = round(family.price((batch, kept)).messages / batch)
    # He begins after a flush, which he sees.
    honest = np.tile(-1 - np.arange(20 * batch + kept, dtype=float), (_MIXES, 1))

    def left(number: int) -> float:
        own = np.tile(1 + np.arange(number * batch, dtype=float), (_MIXES, 1))
        return left_inside(family.mix((batch, kept)), honest, own, math.inf, 3)

    survive = kept / (batch + kept)
    enough = left(flushes)
    assert math.sqrt(enough) < 0.1 + _NOISE
    assert math.sqrt(enough) == pytest.approx(math.sqrt(kept * survive**flushes), abs=_NOISE)
    assert left(flushes // 2) > 2 * enough
    assert kept * survive ** (flushes - 1) > 0.01
    assert family.price((batch, kept)).messages == flushes * batch


def test_a_threshold_mix_is_emptied_by_its_price() -> None:
    family = FAMILIES["threshold"]
    own = int(family.price((10,)).messages)
    honest = np.tile(-1 - np.arange(31, dtype=float), (_MIXES, 1))  # three flushes, and the target

    def left(number: int) -> float:
        times = np.tile(1 + np.arange(number, dtype=float), (_MIXES, 1))
        return left_inside(family.mix((10,)), honest, times, math.inf, 4)

    assert (left(own), left(own - 1)) == (0, 1)


def test_blocking_a_timed_mix_for_its_price_leaves_nobody() -> None:
    family = FAMILIES["timed"]
    price = family.price((6.0,))
    honest, none = traffic(60.0, 5), np.empty((_MIXES, 0))
    assert left_inside(family.mix((6.0,)), honest, none, price.seconds, 6) == 0
    assert left_inside(family.mix((6.0,)), honest, none, 0.5 * price.seconds, 6) > 0.2


@pytest.mark.grid
@pytest.mark.parametrize(
    ("law", "parameters"),
    [
        ("timed-pool", (2.0, 3, 0.5)),
        ("timed-pool", (5.0, 10, 0.6)),
        ("timed-pool", (2.0, 0, 0.5)),
        ("timed-pool", (2.0, 2, 0.3)),
        ("timed-pool", (3.0, 4, 1.0)),
        ("timed-pool", (3.0, 0, 1.0)),
        ("binomial", (2.0, 4, 2)),
        ("binomial", (5.0, 10, 5)),
    ],
)
def test_own_messages_and_blocking_for_their_price_leave_nobody_in_99_percent(
    law: str, parameters: tuple[float, ...]
) -> None:
    family = FAMILIES[law]
    price = family.price(parameters)
    honest = traffic(max(40.0, 12 * family.stay(parameters)), 7)

    def left(share: float) -> float:
        """With a share of the price: own messages evenly over the time of blocking."""
        number, until = round(share * price.messages), share * price.seconds
        steps = np.arange(number) if law == "timed-pool" else np.zeros(number)
        own = np.tile(steps * until / max(number, 1), (_MIXES, 1))
        return left_inside(family.mix(parameters), honest, own, until, 8)

    assert math.sqrt(left(1.0)) < 0.1 + _NOISE
    assert left(0.5) > 0.02  # and half of it is not enough

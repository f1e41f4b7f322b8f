"""Networks of mixes: the forward pass against all histories, and drawn logs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from anonymatch import mixes
from anonymatch._native import (
    CARRIED,
    OUTSIDE,
    NetworkEvents,
    NetworkMix,
    network_draw,
    network_forward,
    network_inside,
    network_rows,
)

# Two mixes A, B, then C, D: u1 u2 u5 enter A, u3 u4 enter B. Checked by hand in two ways.
_LINKS = [
    (0.0, -1, 0), (1.0, -1, 0), (2.0, -1, 1), (2.5, 0, 2), (3.0, -1, 1), (3.5, 1, 2),
    (4.0, -1, 0), (5.0, 0, 3), (5.5, 2, -1), (6.0, 0, 2), (7.0, 1, 3), (7.5, 3, -1),
    (8.0, 2, -1), (9.0, 2, -1), (10.0, 3, -1),
]  # fmt: skip


def events_of(links: list[tuple[float, int, int]], mixes: int = 4) -> NetworkEvents:
    from_ = np.array([link[1] for link in links], dtype=np.int32)
    to = np.array([link[2] for link in links], dtype=np.int32)
    return NetworkEvents(from_, to, np.full(len(links), -1), mixes)


def histories(links: list[tuple[float, int, int]]) -> Counter[tuple[int, ...]]:
    """How many ways each matching of entries to exits can have come about."""
    pools: dict[int, list[int]] = {}
    states: Counter[tuple[tuple[int, tuple[int, ...]], ...]] = Counter({(): 1})
    number = 0
    for at, (_, from_, to) in enumerate(links):
        following: Counter[tuple[tuple[int, tuple[int, ...]], ...]] = Counter()
        for state, ways in states.items():
            pools = {mix: list(packets) for mix, packets in state}
            choices = [number] if from_ < 0 else sorted(pools.get(from_, []))
            for packet in choices:
                after = {mix: list(packets) for mix, packets in pools.items()}
                if from_ >= 0:
                    after[from_].remove(packet)
                target = to if to >= 0 else -1000 - at
                after.setdefault(target, []).append(packet)
                key = tuple(sorted((mix, tuple(sorted(p))) for mix, p in after.items() if p))
                following[key] += ways
        number += from_ < 0
        states = following
    result: Counter[tuple[int, ...]] = Counter()
    for state, ways in states.items():
        exits = {packets[0]: mix for mix, packets in state}
        result[tuple(-1000 - exits[packet] for packet in range(number))] += ways
    return result


def test_marginals_are_those_of_all_histories() -> None:
    ways = histories(_LINKS)
    total = sum(ways.values())
    assert (total, len(ways)) == (64, 56)
    events = events_of(_LINKS)
    inside = network_inside(events)
    targets = np.flatnonzero(events.from_ == OUTSIDE)
    rows = network_rows(events, inside, targets)
    for packet in range(len(targets)):
        for at in range(len(_LINKS)):
            exact = sum(n for matching, n in ways.items() if matching[packet] == at)
            assert rows[packet, at] == pytest.approx(float(Fraction(exact, total)), abs=1e-15)
    entropy = -sum(n / total * math.log2(n / total) for n in ways.values())
    assert entropy == pytest.approx(5.75)
    figures = network_forward(events, inside, targets)
    assert figures.shannon == pytest.approx([2.25, 2.25, 2.25, 2.25, 2.0])


def test_random_networks_agree_with_all_histories() -> None:
    draw = np.random.default_rng(3)
    for _ in range(20):
        arrivals = np.sort(draw.random(4) * 3)
        routes = np.column_stack([draw.integers(0, 2, 4), 2 + draw.integers(0, 2, 4)])
        mix = NetworkMix("batch", 1.0, 1, 1) if draw.random() < 0.3 else NetworkMix("exponential")
        log = network_draw(arrivals, routes.astype(np.int32), 4, mix, seed=int(draw.integers(99)))
        events = log.events(4)
        links = list(zip(log.time, log.from_.tolist(), log.to.tolist(), strict=True))
        if (log.to == OUTSIDE).sum() < 4:  # a pool keeps the last ones
            continue
        ways = histories(links)
        targets = np.flatnonzero(events.from_ == OUTSIDE)
        rows = network_rows(events, network_inside(events), targets)
        for packet, at in itertools.product(range(4), range(len(links))):
            exact = sum(n for matching, n in ways.items() if matching[packet] == at)
            assert rows[packet, at] == pytest.approx(exact / sum(ways.values()), abs=1e-14)


def test_packets_under_way_are_carried() -> None:
    arrivals = np.arange(50.0) * 0.3
    routes = np.tile(np.arange(2, dtype=np.int32), (50, 1))
    log = network_draw(arrivals, routes, 2, NetworkMix("exponential", 1.0), link=0.2, seed=1)
    assert (log.from_ == CARRIED).sum() == 100
    events = log.events(2)
    targets = np.flatnonzero(events.from_ == OUTSIDE)
    figures = network_forward(events, network_inside(events), targets, least=0.0)
    assert figures.left == pytest.approx(np.ones(50))
    direct = network_draw(arrivals, routes, 2, NetworkMix("exponential", 1.0), seed=1)
    plain = direct.events(2)
    same = network_forward(
        plain, network_inside(plain), np.flatnonzero(plain.from_ == OUTSIDE), least=0.0
    )
    assert figures.shannon == pytest.approx(same.shannon)  # the same delays, shifted


@pytest.mark.parametrize("inside", [0.5, 3.5, 10.0])
def test_one_exponential_mix_has_its_closed_form(inside: float) -> None:
    draw = np.random.default_rng(1)
    arrivals = np.cumsum(draw.exponential(1.0, 60_000))
    routes = np.zeros((len(arrivals), 1), dtype=np.int32)
    log = network_draw(arrivals, routes, 1, NetworkMix("exponential", inside), seed=2)
    events = log.events(1)
    targets = np.flatnonzero(events.from_ == OUTSIDE)[1000:-1000]
    figures = network_forward(events, network_inside(events), targets)
    assert figures.shannon.mean() == pytest.approx(mixes.exponential_bits(inside), abs=0.03)
    if inside == 0.5:
        alone = (figures.largest > 1 - 1e-9).mean()
        assert alone == pytest.approx(mixes.alone_probability(0.5), abs=0.01)


def test_a_pool_mix_has_its_closed_form() -> None:
    arrivals = np.arange(8000.0)
    routes = np.zeros((8000, 1), dtype=np.int32)
    log = network_draw(arrivals, routes, 1, NetworkMix("batch", 1.0, 2, 4), seed=2)
    events = log.events(1)
    targets = np.flatnonzero(events.from_ == OUTSIDE)[100:-500]
    figures = network_forward(events, network_inside(events), targets)
    assert figures.shannon == pytest.approx(mixes.pool_bits(2, 4), abs=1e-9)


def test_deep_pools_have_the_entropy_of_their_delays() -> None:
    draw = np.random.default_rng(5)
    arrivals = np.cumsum(draw.exponential(1 / 5000, 60_000))
    routes = (draw.integers(0, 10, (60_000, 3)) + 10 * np.arange(3)).astype(np.int32)
    log = network_draw(arrivals, routes, 30, NetworkMix("exponential", 0.8 / 3), seed=3)
    events = log.events(30)
    targets = np.flatnonzero((events.from_ == OUTSIDE) & (log.time > 3))[:640:10]
    figures = network_forward(events, network_inside(events), targets)
    assert figures.left.min() > 1 - 1e-9
    expected = mixes.network_bits(5000, 3, 0.8 / 3)
    assert figures.shannon.mean() == pytest.approx(expected, abs=0.06)


def test_guesses_are_the_mean_rank() -> None:
    events = events_of(_LINKS)
    targets = np.flatnonzero(events.from_ == OUTSIDE)
    figures = network_forward(events, network_inside(events), targets, ranked=True, lanes=8)
    assert figures.guesses[4] == pytest.approx(2.5)
    assert figures.guesses[0] == pytest.approx((1 + 2 + 3) / 4 + (4 + 5) / 8)


def test_a_mix_that_sends_what_it_has_not_got_is_told() -> None:
    events = events_of([(0.0, -1, 0), (1.0, 1, -1)])
    assert network_inside(events).tolist() == [0, -1]


def test_clocks_that_tick_much_faster_than_packets_come_cost_nothing() -> None:
    arrivals = np.arange(1.0, 101.0) * 1e4
    routes = np.zeros((100, 3), dtype=np.int32)
    routes[:] = [0, 1, 2]

    # 10^13 ticks, of which some 300 have something to do.
    log = network_draw(arrivals, routes, 3, NetworkMix("timed", 1e-7), seed=1)

    left = log.time[log.to == OUTSIDE]
    assert len(left) == 100
    assert (left - arrivals > 0).all()
    assert (left - arrivals < 4e-7).all()

"""Closed forms of single mixes against the graphs they stand for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.mixes import closed_forms as mixes


def test_pool_mix() -> None:
    assert mixes.pool_mix_bits(100, 10) == pytest.approx(7.127, abs=5e-4)


@pytest.mark.parametrize(("batch", "pool"), [(1, 0), (8, 0), (100, 0), (10, 3), (2, 50)])
def test_pool_mix_is_the_entropy_over_the_rounds_a_message_came_in(batch: int, pool: int) -> None:
    """It stays with probability n/(N + n) a round, so its round is geometric, its sender even in
    it.
    """
    stay = pool / (batch + pool)
    bits = 0.0
    for age in range(5000):
        p = (1 - stay) * stay**age / batch
        if p == 0:
            break
        bits -= batch * p * math.log2(p)

    assert mixes.pool_mix_bits(batch, pool) == pytest.approx(bits, rel=1e-9)


def test_threshold_mix_is_what_every_user_of_its_batch_has() -> None:
    from anonymatch.counting.measures.summary import metrics

    assert metrics(am.complete(6)).users["shannon"].to_list() == pytest.approx(
        [mixes.threshold_mix_bits(6)] * 6
    )


def interval_graph(arrivals: list[int], departures: list[int]) -> am.Graph:
    return am.Graph.from_biadjacency(np.array(arrivals)[:, None] <= np.array(departures)[None, :])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 10)), min_size=1, max_size=25))
def test_exponential_mix_counts_the_matchings_of_its_graph(stays: list[tuple[int, int]]) -> None:
    arrivals = [begin for begin, _ in stays]
    departures = [begin + stay for begin, stay in stays]
    expected = am.count(interval_graph(arrivals, departures))

    assert mixes.exponential_mix_count(arrivals, departures) == expected.value
    assert mixes.exponential_mix_log(arrivals, departures) == pytest.approx(expected.log, abs=1e-12)


def test_exponential_mix_may_keep_messages() -> None:
    assert mixes.exponential_mix_count([0, 1, 2], [5, 6]) == 6
    assert mixes.exponential_mix_count([0, 1], []) == 1


def test_exponential_mix_refuses_a_message_from_nowhere() -> None:
    with pytest.raises(am.InputError, match="leaves at 3 but only 1 came in"):
        mixes.exponential_mix_count([0, 4], [2, 3])


@pytest.mark.parametrize(
    ("batch", "in_batches", "exponential"), [(8, 1.91, 2.03), (100, 5.25, 5.64)]
)
def test_at_equal_delay_an_exponential_mix_beats_large_batches(
    batch: int, in_batches: float, exponential: float
) -> None:
    assert mixes.batch_bits_per_message(batch) == pytest.approx(in_batches, abs=5e-3)
    assert mixes.exponential_bits_per_message((batch - 1) / 2) == pytest.approx(
        exponential, abs=5e-3
    )


def test_the_gap_of_batches_has_its_limit() -> None:
    size = 10**6
    gap = mixes.exponential_bits_per_message((size - 1) / 2) - mixes.batch_bits_per_message(size)

    assert gap == pytest.approx(math.log2(math.e) - 1, abs=1e-4)


def test_exponential_bits_are_what_a_simulated_mix_has() -> None:
    rng = np.random.default_rng(7)
    arrivals = np.cumsum(rng.exponential(1.0, 60_000))
    departures = arrivals + rng.exponential(3.5, len(arrivals))
    bits = mixes.exponential_mix_log(arrivals, departures) / math.log(2) / len(arrivals)

    assert bits == pytest.approx(mixes.exponential_bits_per_message(3.5), abs=0.03)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: mixes.threshold_mix_bits(0), "batch must be"),
        (lambda: mixes.pool_mix_bits(3, -1), "pool must be"),
        (lambda: mixes.exponential_bits_per_message(-1.0), "inside must be"),
        (lambda: mixes.exponential_mix_count([math.nan], [1]), "finite times"),
        (lambda: mixes.exponential_mix_count([[1]], [1]), "one a message"),
        (lambda: mixes.exponential_mix_count(["soon"], [1]), "times in numbers"),
    ],
)
def test_bad_values_are_named(call: object, says: str) -> None:
    assert callable(call)
    with pytest.raises(am.InputError, match=says):
        call()

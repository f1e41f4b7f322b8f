"""Rates of losses and cover that nobody told are those of simulated logs."""

from __future__ import annotations

import math

import pytest
from tests.measures.passages.test_hidden_chain import simulated

from anonymatch.mixes.solvers.hops.hidden_rates import fit_rates
from anonymatch.mixes.solvers.links import Channel


@pytest.mark.parametrize("loss", [0.0, 0.02])
def test_losses_are_seen_where_there_are_some(loss: float) -> None:
    number = 0
    for seed in range(6):
        arrivals, departures, _, end = simulated(1000, 5.0, loss, 0.0, seed)
        rates = fit_rates(
            arrivals,
            departures,
            mean=5.0,
            channel=Channel(begin=0.0, end=end),
            free=["loss"],
        )
        number += rates.gain > 2.0 + 0.5 * math.log(1000)

    assert number == (6 if loss else 0)


def test_the_cover_rate_is_found_if_there_are_no_losses() -> None:
    arrivals, departures, _, end = simulated(2000, 5.0, 0.0, 0.4, seed=3)
    rates = fit_rates(
        arrivals, departures, mean=5.0, channel=Channel(begin=0.0, end=end), free=["cover_rate"]
    )

    assert rates.cover_rate == pytest.approx(0.4, abs=4 * rates.errors["cover_rate"])

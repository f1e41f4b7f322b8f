"""Other mixes that hold messages back as long: none beats the ceiling."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.pages import audit_html

import anonymatch as am
from anonymatch.audits.alternatives import rival_delay, same_delay
from anonymatch.mixes import MessageObservation
from anonymatch.mixes import closed_forms as mixes


@pytest.mark.parametrize("inside", [0.2, 0.5, 1.0, 2.7, 4.94, 5.0, 17.3, 250.9])
def test_no_mix_of_the_same_delay_is_above_the_ceiling_of_that_delay(inside: float) -> None:
    rivals = dict(same_delay(MessageObservation(source="made up", rate=2.0, mean_delay=inside / 2)))

    assert max(rivals.values()) <= mixes.ceiling_bits(inside) + 1e-12
    assert rivals["one exponential mix"] == mixes.exponential_bits(inside)


def test_sizes_used_in_turn_have_the_delay_and_the_bits_between_theirs() -> None:
    rivals = dict(same_delay(MessageObservation(source="made up", rate=1.0, mean_delay=2.75)))

    # Batches of 6 wait 2.5 arrivals, of 7 wait 3; pools of 2 and 3 wait 2 and 3.
    halves = (mixes.threshold_bits(6) + mixes.threshold_bits(7)) / 2
    assert rivals["batches of 6 or 7"] == pytest.approx(halves)
    quarters = (mixes.pool_bits(1, 2) + 3 * mixes.pool_bits(1, 3)) / 4
    assert rivals["pool mix 1,2 or 1,3"] == pytest.approx(quarters)


def test_a_delay_that_whole_sizes_have_names_one_size() -> None:
    rivals = dict(same_delay(MessageObservation(source="made up", rate=2.0, mean_delay=1.5)))

    assert list(rivals) == ["one exponential mix", "batches of 7", "pool mix 1,3"]
    assert rivals["pool mix 1,3"] == mixes.pool_bits(1, 3)


@pytest.mark.parametrize("seed", range(8))
def test_the_mixes_beside_an_audit_are_not_above_its_ceiling(seed: int) -> None:
    log = am.mixes.synthesize("window:1,5", messages=60, rate=1.0, seed=seed)
    audit = am.audit(am.mixes.observe(log, "window:1,5"), steps=0)

    assert audit.ceiling is not None
    assert audit.same_delay_seconds is not None
    assert audit.cost.mean_delay is not None
    assert max(bits for _, bits in audit.same_delay) <= audit.ceiling.value + 1e-9
    assert audit.same_delay_seconds <= audit.cost.mean_delay


def test_where_fewer_are_inside_than_the_delay_says_both_delays_are_told() -> None:
    # A message a second, every second one for longer: departures find one other inside or none.
    came = np.arange(40.0)
    log = am.mixes.Messages.in_order(
        arrivals=came,
        departures=came + np.where(np.arange(40) % 2 == 1, 0.9, 1.8),
        senders=[f"a{k}" for k in range(40)],
        receivers=[f"b{k}" for k in range(40)],
        truth=list(range(40)),
    )
    audit = am.audit(am.mixes.observe(log, "window:0.5,2"), steps=0)

    assert audit.same_delay_seconds is not None
    assert audit.cost.mean_delay is not None
    assert audit.same_delay_seconds < 0.95 * audit.cost.mean_delay
    assert rival_delay(audit.observation) == audit.cost.mean_delay
    assert "in random traffic they would have more inside" in audit_html(audit)

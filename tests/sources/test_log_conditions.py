"""What is told of losses, cover and the end of a log, and what its flags add."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.sources.test_observing import graph_of, log_of

from anonymatch.base.errors import InputError
from anonymatch.mixes import synthesize
from anonymatch.mixes.logs.observing import observe


def test_flags_are_the_truth_and_not_seen() -> None:
    flags: dict[str, Any] = {"cover": [False, True, False], "lost": [False, True, False]}
    log = log_of([0, 1, 2], [2, 2.5, 3], truth=[0, -1, 2], **flags)
    by_time = observe(log, "window:1,3")
    by_rate = observe(log, "exponential:1").passage

    assert graph_of(by_time).users == ("u0", "u1", "u2")
    assert by_time.truth is not None
    assert by_time.truth.tolist() == [0, -1, 2]
    assert any("but not which messages are flagged" in note for note in by_time.notes)
    assert by_rate is not None
    assert by_rate.conditions is not None
    assert by_rate.conditions.cover_rate == pytest.approx(1 / 3)
    assert by_rate.conditions.loss == pytest.approx(1 / 3)


def test_a_dummy_that_goes_all_the_way_is_a_message_to_the_attacker() -> None:
    flags: dict[str, Any] = {"cover": [False, True, False], "lost": [False, True, False]}
    log = log_of([0, 1, 2], [2, 2.5, 3], truth=[0, 1, 2], **flags)
    passage = observe(log, "exponential:1").passage

    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.silent
    assert len(passage.users) == 3


@pytest.mark.parametrize("until", [10, "10", "1970-01-01T00:00:10", "1970-01-01T01:00:10+01:00"])
def test_the_end_of_a_log_is_told_as_its_times_are(until: float | str) -> None:
    passage = observe(log_of([0, 1], [2, 3]), "exponential:1", until=until).passage

    assert passage is not None
    assert passage.conditions is not None
    assert passage.conditions.end == 10.0


def test_rows_outside_since_and_until_are_left_out_with_a_note() -> None:
    log = log_of([0, 1, 2, 6], [1.5, 3, 4, 7], truth=[0, 1, 2, 3])
    part = observe(log, "exponential:1", since=1, until="5", inside_at_start=0.5)

    assert part.passage is not None
    assert part.passage.conditions is not None
    assert (part.passage.conditions.begin, part.passage.conditions.end) == (1.0, 5.0)
    assert part.passage.users == ("u1", "u2")
    assert part.passage.departures.tolist() == [1.5, 3.0, 4.0]
    assert part.truth is not None
    assert part.truth.tolist() == [1, 2]
    assert "1 row before 1 s and 2 rows after 5 s are left out" in part.notes


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"since": 8}, "all rows are left out: 4 rows before 8 s"),
        ({"since": 3, "until": 1}, "until is 1 s, before since, 3 s"),
        ({"since": "noon"}, "since is 'noon'; give seconds, or a date-time"),
    ],
)
def test_a_stretch_that_cannot_be_observed_is_refused(how: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=re.escape(why)):
        observe(log_of([0, 1], [2, 3]), "exponential:1", **how)


def test_since_is_refused_for_mixes_whose_batches_depend_on_earlier_messages() -> None:
    with pytest.raises(InputError, match="since is not for the pool law"):
        observe(log_of([0, 1, 2], [2.5]), "pool:2,1", since=1)


def test_an_end_that_is_no_time_is_refused() -> None:
    with pytest.raises(InputError, match="'noon'; give seconds, or a date-time"):
        observe(log_of([0, 1], [2, 3]), "exponential:1", until="noon")


def test_rounded_times_give_a_note_with_the_share_of_tied_rows() -> None:
    log = synthesize("exponential:0.5", messages=300, rate=10.0, seed=3)
    rounded = replace(log, arrivals=np.floor(log.arrivals), departures=np.floor(log.departures))
    note = next(each for each in observe(rounded, "exponential:0.5").notes if "rounded" in each)

    assert "99.5 % of the rows have the time of a row in the other direction" in note
    assert "rounded to 1 s or more" in note
    assert not any("rounded" in each for each in observe(log, "exponential:0.5").notes)


@pytest.mark.parametrize("name", ["loss", "cover_rate", "inside_at_start"])
def test_rates_by_mix_are_refused_for_one_mix(name: str) -> None:
    how: dict[str, Any] = {name: {"m9": 0.1}}
    with pytest.raises(InputError, match=f"{name} names mixes, and this is a log of one mix"):
        observe(log_of([0, 1], [2, 3]), "exponential:1", **how)


@pytest.mark.parametrize("name", ["since", "until"])
def test_a_date_time_needs_a_log_with_date_times(name: str) -> None:
    given: dict[str, Any] = {name: "2026-01-01"}
    with pytest.raises(InputError, match=f"{name} is the date-time '2026-01-01', but the times"):
        observe(log_of([0, 1], [2, 3]), "exponential:1", **given)
    dated = replace(log_of([1.8e9, 1.8e9 + 1], [1.8e9 + 2, 1.8e9 + 3]), dates="UTC")
    given = {name: 14}
    with pytest.raises(InputError, match=f"{name} is 14, but the times of the log are date-times"):
        observe(dated, "exponential:1", **given)

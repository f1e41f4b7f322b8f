"""What is told of losses, cover and the end of a log, and what its flags add."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from tests.sources.test_observing import graph_of, log_of

from anonymatch.base.errors import InputError
from anonymatch.sources.observing import observe


def test_flags_are_the_truth_and_not_seen() -> None:
    flags: dict[str, Any] = {"cover": [False, True, False], "lost": [False, True, False]}
    log = log_of([0, 1, 2], [2, 2.5, 3], truth=[0, -1, 2], **flags)
    by_time = observe(log, "window:1,3")
    by_rate = observe(log, "exponential:1").passage

    assert graph_of(by_time).users == ("u0", "u1", "u2")
    assert by_time.truth is not None
    assert by_time.truth.tolist() == [0, -1, 2]
    assert any("the attacker knows how much, not which" in note for note in by_time.notes)
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


@pytest.mark.parametrize(
    ("last", "until", "dates"),
    [
        (3.0000004, 3.0, None),
        (3.0000004, 2.5, None),
        (3.00000049, 3.00000041, None),
        (1.8e9 + 3e-7, 1.8e9, "UTC"),
        (1.8e9, 1.8e9 - 3e-7, "UTC"),
    ],
)
def test_an_end_too_early_is_told_in_words_that_differ_and_help(
    last: float, until: float, dates: str | None
) -> None:
    log = replace(log_of([last - 2, last - 1], [last - 0.5, last]), dates=dates)
    with pytest.raises(InputError) as caught:
        observe(log, "exponential:1", until=until)

    told, latest = re.findall(r"(?:is|on to) (\S+?)(?: s|,|;)", str(caught.value))
    assert told != latest
    assert observe(log, "exponential:1", until=latest).passage is not None


def test_an_end_that_is_no_time_is_refused() -> None:
    with pytest.raises(InputError, match="'noon'; give seconds, or a date-time"):
        observe(log_of([0, 1], [2, 3]), "exponential:1", until="noon")

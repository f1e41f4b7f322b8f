"""What a log of several exponential hops may be, and what is refused in one line."""

from __future__ import annotations

import math
from typing import Any

import pytest

from anonymatch.base.errors import InputError
from anonymatch.mixes.solvers.hops.phase_chain import phase_figures
from anonymatch.mixes.solvers.links import Channel
from anonymatch.running.budget import Budget

BUDGET = Budget(seconds=300.0, memory=2.0**31)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"means": [1.0] * 5}, "available for 1 to 4 hops"),
        ({"means": [0.0, 0.0]}, "mean must be above 0"),
        ({"arrivals": [1.0, 0.0]}, "arrivals must be sorted"),
        ({"departures": [1.0, 30.0]}, "do not lie within the log"),
        ({"arrivals": [0.0, math.nan]}, "arrivals must be a list of times"),
        ({"channel": Channel(loss=1.0, begin=0.0, end=9.0)}, "loss must be below 1"),
        ({"channel": Channel(lost=3, begin=0.0, end=9.0)}, "only 2 messages came in"),
        ({"channel": Channel(lost=1, begin=0.0, end=9.0)}, "1 too many"),
        (
            {"departures": [3.0], "channel": Channel(drained=True, begin=0.0, end=9.0)},
            "must still be inside at the end",
        ),
        (
            {
                "channel": Channel(drained=True, cover_rate=0.1, begin=0.0, end=9.0),
                "departures": [0.5, 0.7],
            },
            "nothing explains",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change: dict[str, Any], text: str) -> None:
    given: dict[str, Any] = {
        "arrivals": [0.0, 1.0],
        "departures": [2.0, 3.0],
        "means": [1.0, 1.0],
        "channel": Channel(begin=0.0, end=9.0),
    }
    given.update(change)

    with pytest.raises(InputError, match=text) as caught:
        phase_figures(given.pop("arrivals"), given.pop("departures"), budget=BUDGET, **given)
    assert "\n" not in str(caught.value)


def test_hops_that_differ_too_much_are_refused() -> None:
    channel = Channel(begin=0.0, end=4.0)
    with pytest.raises(InputError, match="may differ by a factor of 100"):
        phase_figures([0.0], [4.0], means=[1e-3, 1.0], channel=channel, budget=BUDGET)

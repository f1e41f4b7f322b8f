"""What a log shows before it is audited is what the log and the law say."""

from __future__ import annotations

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import Messages, parse_law, synthesize
from anonymatch.studio.pages.first_look import (
    candidates_chart,
    delays_chart,
    load,
    load_chart,
    span_words,
    try_law,
)
from anonymatch.studio.widgets import bar_chart


def blind(log: Messages) -> Messages:
    """The same without its truth."""
    return Messages(
        arrivals=log.arrivals,
        departures=log.departures,
        senders=log.senders,
        receivers=log.receivers,
    )


def test_the_load_is_who_came_in_and_has_not_left() -> None:
    log = synthesize("window:1,5", messages=300, rate=2.0, cover=0.5, loss=0.1, seed=1)
    (line,), _, name = load(log)
    assert log.truth is not None
    known = log.truth >= 0
    came, left = log.arrivals[known], log.departures[log.truth[known]]
    first = min(log.arrivals[0], log.departures[0])

    for x, inside in list(zip(line.x, line.y, strict=True))[::37]:
        assert inside == int(np.sum((came <= first + x) & (left > first + x)))
    assert name == "messages inside"


def test_without_the_truth_the_load_is_arrivals_and_departures() -> None:
    log = blind(synthesize("window:1,5", messages=300, seed=1))
    lines, _, name = load(log)
    span = max(log.departures[-1], log.arrivals[-1]) - min(log.arrivals[0], log.departures[0])

    assert [line.name for line in lines] == ["in", "out"]
    assert name == "messages a second"
    for line in lines:
        assert sum(line.y) * span / len(line.y) == pytest.approx(300)


def test_candidates_under_a_window_are_those_within_it() -> None:
    log = synthesize("window:1,5", messages=100, seed=2)
    trial = try_law(log, parse_law("window:1,5"))
    delays = log.departures[None, :] - log.arrivals[:, None]
    counts = ((delays >= 1 - 1e-9) & (delays <= 5 + 1e-9)).sum(axis=1)

    assert trial.fits
    assert sorted(trial.candidates.tolist()) == sorted(counts.tolist())


def test_candidates_of_an_exponential_law_are_weighed() -> None:
    log = synthesize("exponential:2", messages=60, seed=2)
    trial = try_law(log, parse_law("exponential:2"))
    rows = []
    for came in log.arrivals:
        later = log.departures[log.departures >= came]
        shares = np.exp(-(later - came) / 2)
        shares /= shares.sum()
        rows.append(2 ** float(-(shares * np.log2(shares)).sum()))

    assert np.allclose(np.sort(trial.candidates), np.sort(rows), rtol=1e-6)


def test_a_law_that_cannot_be_is_said_to_be_another_one() -> None:
    log = synthesize("window:1,5", messages=100, seed=2)
    trial = try_law(log, parse_law("window:0,0.5"))

    assert not trial.fits
    assert trial.nothing > 0
    assert "the law, or the unit of times, is another one" in trial.words()


@pytest.mark.parametrize("law", ["timed-pool:6,3", "binomial:6,0.5", "cottrell:6,10,0.6"])
def test_laws_without_candidates_say_so(law: str) -> None:
    trial = try_law(synthesize(law, messages=100, seed=2), parse_law(law))

    assert len(trial.candidates) == 0
    assert "the audit tells" in trial.words()


@pytest.mark.grid
@pytest.mark.parametrize("law", am.mixes.LAWS)
def test_every_law_is_drawn_over_the_delays(law: str) -> None:
    if law == "measured":
        return
    log = synthesize("exponential:2", messages=50, seed=1)
    chosen = parse_law(f"{law}:{am.mixes.LAWS[law].example}")

    for messages in (log, blind(log)):
        chart = delays_chart(messages.true_delays(), chosen)
        if chart is not None:
            assert chart.to_dict()["description"].startswith("Delays.")
    assert delays_chart(log.true_delays(), chosen) is not None


def test_charts_of_very_small_logs_are_drawn() -> None:
    one = Messages.in_order(arrivals=[5.0], departures=[5.0], senders="a", receivers="x", truth=[0])

    assert load_chart(one).to_dict()["description"].startswith("Load over time.")
    assert delays_chart(one.true_delays()) is None  # all are 0
    assert candidates_chart(np.array([1.0])) is not None
    assert candidates_chart(np.empty(0)) is None
    assert span_words(one) == ("0 s", "from 5 to 5 s")


def test_bars_of_equal_names_are_all_there() -> None:
    spec = bar_chart([("a", 1.0), ("b", 3.0)], title="T", x_label="x").to_dict()

    assert spec["description"] == "T. a: 1; b: 3."

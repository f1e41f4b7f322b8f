"""Logs with rounded times: intervals hold what exact times show, and the order of rows is moot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anonymatch as am
from anonymatch.audits import FIGURES, confidence_of
from anonymatch.mixes import Messages, observe, synthesize


def floored(log: Messages, step: float) -> Messages:
    came, left = (step * np.floor(times / step) for times in (log.arrivals, log.departures))
    return replace(log, arrivals=came, departures=left)


def shuffled(log: Messages, seed: int) -> Messages:
    """The same log with the rows of each timestamp and direction in another order."""
    random = np.random.default_rng(seed)
    ins, outs = (
        np.lexsort((random.random(len(times)), times)) for times in (log.arrivals, log.departures)
    )
    assert log.truth is not None
    return replace(
        log,
        senders=tuple(log.senders[i] for i in ins.tolist()),
        receivers=tuple(log.receivers[j] for j in outs.tolist()),
        truth=np.argsort(outs)[log.truth[ins]],
    )


def holds(interval: am.Interval, value: float) -> bool:
    return interval.low <= value <= interval.high


def share_held(rounded: am.Audit, exact: am.Audit) -> float:
    """Share of the messages whose interval holds their entropy with exact times."""
    between, value = rounded.answers.users.shannon, exact.answers.users.shannon.value
    return float(np.mean((between.low - 1e-9 <= value) & (value <= between.high + 1e-9)))


@pytest.mark.parametrize(
    ("law", "messages", "rate"),
    [
        ("exponential:0.5", 600, 10.0),
        ("exponential:0.1", 300, 20.0),
        ("exponential:2", 600, 10.0),
        ("erlang:3,0.5", 60, 10.0),
    ],
)
def test_the_intervals_of_a_floored_log_hold_the_figures_of_exact_times(
    law: str, messages: int, rate: float
) -> None:
    log = synthesize(law, messages=messages, rate=rate, seed=3)
    exact, rounded = am.audit(observe(log, law)), am.audit(observe(floored(log, 1.0), law))

    assert exact.exact
    assert not rounded.exact
    assert holds(rounded.entropy, exact.entropy.value)
    assert holds(rounded.bits, exact.bits.value)
    assert holds(rounded.min_entropy, exact.min_entropy.value)
    assert holds(rounded.below, exact.below.value)
    assert holds(rounded.entropy_quantile(0.05), exact.entropy_quantile(0.05).value)
    delay = rounded.observation.mean_delay
    assert delay is not None
    if delay > 0.4:  # within a step that is far longer than delays, hardly anything is known
        assert rounded.entropy.low > 0.6 * exact.entropy.value


@pytest.mark.slow
def test_nearly_all_intervals_of_floored_logs_hold_the_entropy_of_exact_times() -> None:
    held, shares = 0, []
    for seed in range(300):
        random = np.random.default_rng(seed)
        mean, rate = 10 ** random.uniform(-1.0, 1.0), 10 ** random.uniform(0.0, 1.5)
        law = f"exponential:{mean:.3g}"
        log = synthesize(law, messages=300, rate=rate, seed=seed)
        exact = am.audit(observe(log, law))
        rounded = am.audit(observe(floored(log, 10 ** random.uniform(-1.0, 0.5)), law))
        held += holds(rounded.entropy, exact.entropy.value)
        shares.append(share_held(rounded, exact))

    assert held >= 285
    assert np.mean(shares) >= 0.94


def test_no_figure_of_messages_is_called_exact_if_times_are_rounded() -> None:
    log = floored(synthesize("exponential:0.5", messages=300, rate=10.0, seed=3), 1.0)
    audit = am.audit(observe(log, "exponential:0.5"))

    for figure in FIGURES.values():
        if figure.group != "cost" and figure.value(audit) is not None:
            text = figure.text(audit)
            assert confidence_of(audit, figure) < 1.0
            assert text is not None
            assert text.sure.startswith("estimated")
    assert audit.to_dict()["exact"] is False
    assert "Entropy 2.78 to 4.38 bits" in audit.verdict


def test_a_law_with_a_graph_gives_an_upper_estimate_if_times_are_rounded() -> None:
    log = floored(synthesize("window:0,1", messages=60, rate=3.0, seed=3), 1.0)
    audit = am.audit(observe(log, "window:0,1"))

    assert not audit.exact
    assert audit.entropy.low == 0.0
    assert audit.entropy.high >= audit.entropy.value > 1.0
    assert any("attacker with exact times may learn everything" in note for note in audit.notes)


def test_a_log_with_few_accidental_ties_stays_exact() -> None:
    log = floored(synthesize("exponential:0.5", messages=2000, rate=10.0, seed=3), 1e-4)
    assert np.isin(log.arrivals, log.departures).any()
    audit = am.audit(observe(log, "exponential:0.5"))

    assert audit.exact
    assert audit.entropy.high - audit.entropy.low < 1e-9


def test_the_order_of_rows_with_the_same_time_changes_no_figure() -> None:
    log = floored(synthesize("exponential:0.5", messages=400, rate=10.0, seed=3), 1.0)
    first = am.audit(observe(log, "exponential:0.5"))
    assert first.score is not None
    for seed in range(3):
        other = am.audit(observe(shuffled(log, seed), "exponential:0.5"))
        assert other.score is not None
        assert other.score.right == pytest.approx(first.score.right, abs=1e-12)
        assert other.score.log_score == pytest.approx(first.score.log_score, abs=1e-9)
        for one, two in ((first.entropy, other.entropy), (first.bits, other.bits)):
            ends = (one.value, one.low, one.high)
            assert (two.value, two.low, two.high) == pytest.approx(ends, abs=1e-9)
        columns = ["user", "shannon_low", "shannon", "shannon_high"]
        rows = [audit.users.select(columns).sort("user") for audit in (first, other)]
        assert rows[0].get_column("user").equals(rows[1].get_column("user"))
        for column in columns[1:]:
            assert rows[0][column].to_list() == pytest.approx(rows[1][column].to_list(), abs=1e-9)


def test_a_guess_among_tied_departures_is_right_as_often_as_a_random_one() -> None:
    log = floored(synthesize("exponential:0.5", messages=2000, rate=10.0, seed=3), 1.0)
    score = am.audit(observe(log, "exponential:0.5")).score

    assert score is not None
    assert abs(score.right - score.promised) <= 3.0 * score.error
    assert score.calibrated

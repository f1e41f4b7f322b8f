"""Audits of logs in which a message fits many others: close, calibrated, and told in time."""

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes import Messages, observe, synthesize


@pytest.mark.grid
@pytest.mark.parametrize("law", ["window:0,8", "lognormal:4,0.5"])
def test_a_wide_log_has_close_figures_that_its_truth_bears_out(law: str) -> None:
    log = synthesize(law, messages=2000, rate=10.0, seed=4)
    audit = am.audit(observe(log, law), budget=4)
    assert audit.answers.confidence == 0.95
    assert audit.entropy is not None
    assert audit.entropy.high - audit.entropy.low < 0.01
    assert audit.bits.high - audit.bits.low < 0.02
    assert audit.score is not None
    assert audit.score.calibrated
    low, high = audit.count.proven
    assert low <= audit.count.low <= audit.count.high <= high


@pytest.mark.slow
def test_an_unlikely_truth_is_as_unlikely_as_the_entropy_says() -> None:
    """The mean of -log2 of the true matching's probability is the entropy, over many logs."""
    gaps = []
    for seed in range(6):
        log = synthesize("window:0,8", messages=1000, rate=10.0, seed=seed)
        audit = am.audit(observe(log, "window:0,8", whole_log=True), budget=1)
        # All matchings are alike: each has the probability of one over their number.
        low, high = audit.count.proven
        assert low <= audit.count.log <= high
        assert audit.score is not None
        gaps.append((audit.score.right - audit.score.promised) / audit.score.error)
    assert abs(float(np.mean(gaps))) * np.sqrt(len(gaps)) < 3.0


def test_one_message_that_cannot_be_is_told_and_costs_no_search() -> None:
    draw = np.random.default_rng(3)
    arrivals = np.cumsum(draw.exponential(0.1, 2000))
    departures = arrivals + draw.uniform(0.0, 40.0, 2000)
    departures[0] = 400.0  # long after all others
    log = Messages(
        arrivals=arrivals,
        departures=np.sort(departures),
        senders=tuple(range(2000)),
        receivers=tuple(range(2000)),
    )
    with pytest.raises(am.InputError, match="message out 1999 at 400 s: nobody can have sent it"):
        observe(log, "window:0,40")


def test_a_message_that_never_leaves_is_inside_and_the_others_are_still_estimated() -> None:
    draw = np.random.default_rng(3)
    arrivals = np.cumsum(draw.exponential(0.1, 600))
    departures = np.sort(arrivals + draw.uniform(0.0, 40.0, 600))
    log = Messages(
        arrivals=np.append(arrivals, 400.0),
        departures=departures,
        senders=tuple(range(601)),
        receivers=tuple(range(600)),
    )
    audit = am.audit(observe(log, "window:0,40", whole_log=True), budget=1)
    assert audit.answers.users.departed is not None
    assert audit.answers.users.departed[-1] == 0.0
    assert audit.bits.high - audit.bits.low < 0.05


def test_a_narrow_log_stays_exact() -> None:
    log = synthesize("window:0,2", messages=300, rate=2.0, seed=1)
    assert am.audit(observe(log, "window:0,2")).answers.confidence == 1.0

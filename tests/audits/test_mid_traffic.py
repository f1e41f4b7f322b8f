"""Logs that start in mid traffic: what was inside when they begin is nobody's, and is no cover."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import anonymatch as am
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe


def cut_out(
    seed: int, *, inside: float, hops: int = 1, loss: float = 0.0, cover: float = 0.0
) -> tuple[Messages, int]:
    """300 s of a mix that has run for long, by its definition, and how many were inside at 0.

    One message comes in a second, and is held for ``inside`` seconds on average.
    """
    draw = np.random.default_rng(seed)
    end = 300.0
    arrivals = np.sort(draw.uniform(-5 * inside, end, draw.poisson(end + 5 * inside)))
    left = arrivals + draw.gamma(hops, inside / hops, len(arrivals))
    delivered = draw.random(len(arrivals)) >= loss
    out = delivered & (left >= 0.0) & (left <= end)
    times = np.concatenate((left[out], draw.uniform(0.0, end, draw.poisson(cover * end))))
    rank = np.argsort(np.argsort(times))
    truth = np.full(len(arrivals), -1)
    truth[out] = rank[: out.sum()]
    came = arrivals >= 0.0
    log = Messages(
        arrivals=arrivals[came],
        departures=np.sort(times),
        senders=tuple(f"u{i}" for i in range(came.sum())),
        receivers=tuple(f"b{j}" for j in range(len(times))),
        truth=truth[came],
    )
    return log, int((delivered & ~came & (left >= 0.0)).sum())


@pytest.mark.grid
@pytest.mark.parametrize("law", ["exponential:5", "erlang:2,2.5"])
@pytest.mark.parametrize(
    "how", [{}, {"cover": 0.2}, {"loss": 0.05}, {"loss": 0.05, "cover": 0.2}], ids=str
)
def test_promises_are_kept_in_mid_traffic(law: str, how: dict[str, float]) -> None:
    right = promised = variance = 0.0
    loss = how.get("loss", 0.0)
    hops = 2 if law.startswith("erlang") else 1
    for seed in range(8):
        log, _ = cut_out(seed, inside=5.0, hops=hops, **how)
        audit = am.audit(
            observe(
                log,
                law,
                loss=loss,
                cover_rate=how.get("cover", 0.0),
                inside_at_start=5.0 * (1.0 - loss),
                whole_log=True,
            )
        )
        assert audit.score is not None
        right += audit.score.right * audit.score.guesses
        promised += audit.score.promised * audit.score.guesses
        variance += (audit.score.error * audit.score.guesses) ** 2

    assert abs(right - promised) < 3.0 * math.sqrt(variance)


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_what_was_inside_is_estimated_where_nobody_can_have_sent_what_leaves(loss: float) -> None:
    """All of it was called cover, which a mix without dummies does not have."""
    for seed in range(4):
        log, inside = cut_out(seed, inside=20.0, loss=loss)
        audit = am.audit(observe(log, "exponential:20"))
        rates = audit.rates

        assert rates is not None
        assert rates.inside_at_start.origin == "fitted"
        assert rates.inside_at_start.error is not None
        assert rates.inside_at_start.rate == pytest.approx(inside, abs=8)
        assert rates.cover_rate.origin == "assumed"
        assert rates.loss.rate == pytest.approx(loss, abs=0.05)
        assert audit.cost.cover == 0.0
        assert any("messages inside when the log begins (estimated)" in n for n in audit.notes)
        assert not any(note.startswith("Cover of") for note in audit.notes)


def test_what_was_inside_is_told_from_cover() -> None:
    log, inside = cut_out(3, inside=30.0, cover=0.3)
    rates = am.audit(observe(log, "exponential:30")).rates

    assert rates is not None
    assert rates.inside_at_start.rate == pytest.approx(inside, abs=12)
    assert rates.cover_rate.rate == pytest.approx(0.3, abs=0.1)
    assert rates.inside_at_start.origin == rates.cover_rate.origin == "fitted"


def test_cover_of_a_mix_that_was_empty_is_still_cover() -> None:
    for seed in range(4):
        log = am.mixes.synthesize("exponential:5", messages=400, cover=0.3, seed=seed)
        unflagged = Messages(
            arrivals=log.arrivals,
            departures=log.departures,
            senders=log.senders,
            receivers=log.receivers,
        )
        rates = am.audit(observe(unflagged, "exponential:5")).rates

        assert rates is not None
        assert rates.inside_at_start.rate == 0.0
        assert rates.inside_at_start.origin == "assumed"
        assert rates.cover_rate.origin == "fitted"


def test_the_first_part_of_a_long_log_tells_what_was_inside_if_all_else_is_told() -> None:
    """The log lasts 60 mean delays, and its fit ends before."""
    log, inside = cut_out(5, inside=5.0, cover=0.3)
    rates = am.audit(observe(log, "exponential:5", cover_rate=0.3, loss=0.0)).rates
    assert rates is not None
    assert rates.inside_at_start.rate == pytest.approx(inside, abs=4)
    assert rates.inside_at_start.origin == "fitted"


def test_a_mix_that_is_told_to_be_empty_is_taken_to_be() -> None:
    log, _ = cut_out(1, inside=20.0)
    audit = am.audit(observe(log, "exponential:20", inside_at_start=0))

    assert audit.rates is not None
    assert audit.rates.inside_at_start.rate == 0.0
    assert audit.rates.inside_at_start.origin == "given"
    assert audit.rates.cover_rate.origin == "fitted"


@pytest.mark.grid
@pytest.mark.parametrize("law", ["exponential:20", "erlang:2,10"])
def test_no_cover_beside_messages_inside_at_the_start_is_no_contradiction(law: str) -> None:
    log, inside = cut_out(1, inside=20.0, hops=2 if law.startswith("erlang") else 1)

    with pytest.raises(am.InputError, match=r"inside when the log begins \(inside_at_start=\)"):
        observe(log, law, cover_rate=0)
    for none in ({"cover_rate": 0.0}, {"cover": 0}):
        conditions: dict[str, Any] = {**none, "loss": 0.0, "inside_at_start": 20.0}
        links = am.audit(observe(log, law, **conditions)).answers.links
        assert links is not None
        assert links.early is not None
        assert links.early.sum() == pytest.approx(inside, abs=5)
        assert links.cover.sum() == pytest.approx(0.0, abs=1e-9)


def test_a_number_lost_is_counted_beside_messages_inside_at_the_start() -> None:
    log, _ = cut_out(1, inside=5.0, loss=0.05)
    links = am.audit(observe(log, "exponential:5", lost=15, inside_at_start=5.0)).answers.links

    assert links is not None
    assert links.lost.sum() == pytest.approx(15.0, abs=1e-6)
    assert links.cover.sum() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("law", "how", "why"),
    [
        ("exponential:5", {"cover": 3}, "cover is a number, which is not counted apart"),
        ("erlang:2,2", {"cover": 3}, "cover is a number, which is not counted apart"),
        ("window:0,9", {}, "inside_at_start is for exponential mixes"),
        ("pool:2,3", {}, "inside_at_start is for exponential mixes"),
        ("erlang:5,2", {}, "inside_at_start is for exponential mixes"),
        ("exponential:5", {"inside_at_start": -1}, "inside_at_start must be a number from 0"),
        ("exponential:5", {"inside_at_start": math.nan}, "inside_at_start must be a number"),
        ("exponential:5", {"inside_at_start": "2"}, "inside_at_start must be a number"),
    ],
)
def test_what_is_not_derived_is_refused_in_one_line(
    law: str, how: dict[str, Any], why: str
) -> None:
    log, _ = cut_out(1, inside=5.0)

    with pytest.raises(am.InputError, match=why) as caught:
        am.audit(observe(log, law, **({"inside_at_start": 2.0} | how)))
    assert "\n" not in str(caught.value)


def test_the_record_says_which_rates_were_used_and_where_they_are_from() -> None:
    log, _ = cut_out(1, inside=20.0)
    assert log.truth is not None
    flags = np.zeros(log.n_out, dtype=bool)
    flags[[20, 40, 60]] = True
    truth = np.where(np.isin(log.truth, [20, 40, 60]), -1, log.truth)
    flagged = Messages(
        arrivals=log.arrivals,
        departures=log.departures,
        senders=log.senders,
        receivers=log.receivers,
        truth=truth,
        cover=flags,
    )
    record = json.loads(json.dumps(am.audit(observe(flagged, "exponential:20", lost=2)).to_dict()))
    rates = record["rates"]

    lasted = float(max(log.arrivals[-1], log.departures[-1]) - log.departures[0])
    assert rates["loss"] == {"rate": None, "number": 2, "origin": "given", "error": None}
    assert rates["cover_rate"]["origin"] == "flags"
    assert rates["cover_rate"]["rate"] == pytest.approx(3 / lasted, rel=0.05)
    assert rates["inside_at_start"]["origin"] == "assumed"


def test_a_record_without_rates_says_so() -> None:
    assert "rates" not in am.audit(am.complete(3)).to_dict()

    even = Messages(
        arrivals=np.array([0.0, 1.0]),
        departures=np.array([2.0, 3.0]),
        senders=("a", "b"),
        receivers=("x", "y"),
    )
    rates = am.audit(observe(even, "exponential:2", loss=0.0)).to_dict()["rates"]
    assert rates["loss"] == {"rate": 0.0, "number": None, "origin": "given", "error": None}
    assert rates["cover_rate"]["origin"] == rates["inside_at_start"]["origin"] == "assumed"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("law", ["exponential", "erlang:2"])
def test_hostile_logs_are_answered_in_finite_numbers_or_refused(law: str) -> None:
    """Logs of no seconds, of nobody, far shorter or longer than the mean, with equal times."""
    answered = 0
    for seed in range(60):
        draw = np.random.default_rng([seed, 7])
        span = draw.choice([0.0, 1e-9, 1.0, 50.0, 1e6])
        came, left = (np.sort(draw.uniform(0, 1, draw.integers(0, 6)) * span) for _ in range(2))
        log = Messages(
            arrivals=came,
            departures=left,
            senders=tuple(f"u{i}" for i in range(len(came))),
            receivers=tuple(f"b{j}" for j in range(len(left))),
        )
        choices: dict[str, list[Any]] = {
            "inside_at_start": [None, 0.0, 1e-9, 2.0, 1e6],
            "loss": [None, 0.0, 0.3],
            "cover_rate": [None, 0.0, 0.4],
            "drained": [False, False, True],
            "until": [None, 2e6],
        }
        options = {name: some[draw.integers(len(some))] for name, some in choices.items()}
        mean = draw.choice([1e-3, 1.0, 1e5])
        separator = ":" if law == "exponential" else ","
        try:
            audit = am.audit(observe(log, f"{law}{separator}{mean}", **options), steps=1)
        except am.InputError:
            continue
        answered += 1
        json.dumps(audit.to_dict(), allow_nan=False)
        links = audit.answers.links
        if links is not None and links.early is not None:
            assert np.isfinite(links.early).all()
            assert (links.early <= 1.0 - links.real + 1e-9).all()

    assert answered > 15


def test_who_would_have_been_inside_for_hundreds_of_means_was_not() -> None:
    """Weights that doubles hardly hold made the number lost NaN, and a traceback."""
    log = Messages(
        arrivals=np.array([0.0]),
        departures=np.array([0.01, 0.71, 0.72]),
        senders=("a",),
        receivers=("x", "y", "z"),
    )

    with pytest.raises(am.InputError, match=r"departure 3 of \d+: nobody is inside"):
        am.audit(observe(log, "exponential:0.001", loss=0, cover_rate=0, inside_at_start=1e6))


def test_a_message_that_may_not_have_left_is_not_called_certain() -> None:
    log = Messages(
        arrivals=np.array([0.0, 1.0, 2.0, 9.9]),
        departures=np.array([1.5, 3.0, 10.0]),
        senders=tuple("abcd"),
        receivers=tuple("xyz"),
    )
    audit = am.audit(observe(log, "erlang:2,1", until=10.0))
    first = audit.worst[0]

    assert first.probability is not None
    assert first.probability_departed is not None
    assert first.probability < first.probability_departed - 0.001
    assert audit.verdict.endswith("if it came out.")


@pytest.mark.grid
@pytest.mark.parametrize(
    "law", ["exponential:4", "window:1,7", "lognormal:4,0.5", "0.5+erlang:2,2"]
)
def test_probabilities_are_calibrated_for_an_observation_that_starts_in_mid_traffic(
    law: str,
) -> None:
    """A long log is observed from one minute to another; the attacker knows nothing before."""
    right = promised = variance = 0.0
    for seed in range(4):
        log = am.mixes.synthesize(law, messages=400, rate=2.0, seed=seed)
        audit = am.audit(observe(log, law, since=60.0, until=140.0, whole_log=True), budget=0.3)
        probability = audit.users["probability"].to_numpy()
        assert audit.score is not None
        right += audit.score.right * len(probability)
        promised += float(probability.sum())
        variance += float((probability * (1.0 - probability)).sum())

    assert abs(right - promised) < 3.5 * math.sqrt(variance)
    assert promised > 40.0

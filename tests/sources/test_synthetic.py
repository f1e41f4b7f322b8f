"""Made-up logs: they follow their law, and their truth is one that the law allows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anonymatch.base.errors import InputError
from anonymatch.mixes.laws import FlushLaw, Free, Law, Pool, Threshold, Timed, Window, parse_law
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.solvers.flushes.flush_chain import flush_pairs
from anonymatch.mixes.solvers.links import Channel, Dummies
from anonymatch.mixes.synthetic import synthesize

LAWS = [
    *map(
        parse_law,
        ("window:1,5", "exponential:2", "erlang:3,0.5", "threshold:4", "timed:3,1", "pool:5,3"),
    ),
    Free(lambda delays: delays * (delays > 1), longest=4),
]
FLUSHES = [
    *map(parse_law, ("threshold:4", "timed:3,1", "pool:5,3", "timed-pool:3,4")),
    *map(parse_law, ("binomial:2,0.5,1", "cottrell:2,3,0.6")),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("options", [{}, {"cover": 0.3, "loss": 0.1}, {"users": 7, "receivers": 3}])
def test_the_truth_is_possible_under_the_law(law: Law, options: dict[str, float]) -> None:
    if "loss" in options and isinstance(law, Threshold | Pool):
        pytest.skip("what is lost fills no batch, so that no graph of candidates holds")
    log = synthesize(law, messages=80, rate=2.0, seed=11, **options)  # type: ignore[arg-type]
    assert log.truth is not None
    lost = int((log.truth < 0).sum())
    observation = observe(log, law, lost=lost if "loss" in options else None)

    assert not any("impossible" in note for note in observation.notes)
    assert len(np.unique(log.truth[log.truth >= 0])) == (log.truth >= 0).sum()


@pytest.mark.parametrize("law", FLUSHES, ids=str)
@pytest.mark.parametrize("dummies", ["exit", "pool"])
@pytest.mark.parametrize(("cover", "loss"), [(0.0, 0.0), (0.0, 0.2), (0.4, 0.0), (0.3, 0.1)])
def test_the_truth_is_possible_in_a_flush_mix(
    law: FlushLaw, dummies: Dummies, cover: float, loss: float
) -> None:
    log = synthesize(law, messages=80, rate=2.0, cover=cover, loss=loss, dummies=dummies, seed=12)
    assert log.truth is not None
    end = max(log.arrivals[-1], log.departures[-1])
    channel = Channel(loss=loss, cover_rate=2 * cover, begin=0.0, end=end)
    pairs = flush_pairs(law, log.arrivals, log.departures, channel=channel, dummies=dummies)
    true = np.flatnonzero(log.truth >= 0)

    assert len(true) > 40
    assert (pairs.pairs[true, log.truth[true]] > 1e-6).all()
    assert (pairs.lost[log.truth < 0] + pairs.inside[log.truth < 0] > 1e-6).all()


def test_flushes_follow_their_rule() -> None:
    pooled = synthesize("timed-pool:3,4", messages=4000, rate=2.0, seed=2)
    came = np.searchsorted(pooled.arrivals, np.unique(pooled.departures), side="right")
    np.testing.assert_array_equal(
        np.cumsum(np.unique(pooled.departures, return_counts=True)[1]), came - 4
    )
    coins = synthesize("binomial:2,0.3", messages=20_000, rate=2.0, seed=2)
    stays = np.round(coins.true_delays() / 2 + 0.5 - 1e-9)
    assert stays.mean() == pytest.approx(1 / 0.3, rel=0.02)
    many = synthesize("cottrell:2,30,0.5", messages=20_000, rate=50.0, seed=2)
    leave = 0.5 * 200  # of 200 inside half leave, and 100 come in
    assert np.unique(many.departures, return_counts=True)[1][10:].mean() == pytest.approx(
        leave, rel=0.02
    )


def test_an_unknown_place_of_dummies_is_refused() -> None:
    with pytest.raises(InputError, match="dummies must be exit or pool, not 'wire'"):
        synthesize("timed:3", messages=5, dummies="wire")


def test_too_many_flushes_are_refused() -> None:
    with pytest.raises(InputError, match="at most 10000000 are drawn; give a longer interval"):
        synthesize("binomial:1e-9,0.5", messages=5)


def test_arrivals_come_at_their_rate() -> None:
    arrivals = synthesize("window:1,5", messages=20_000, rate=4.0, seed=1).arrivals
    gaps = np.diff(arrivals)

    assert gaps.mean() == pytest.approx(1 / 4, abs=4 / 4 / math.sqrt(20_000))
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)


@pytest.mark.parametrize(
    ("law", "mean", "deviation"),
    [
        ("window:1,5", 3.0, 4 / math.sqrt(12)),
        ("exponential:2", 2.0, 2.0),
        ("erlang:4,0.5", 2.0, 1.0),
        (Free(lambda delays: delays, longest=3), 2.0, math.sqrt(0.5)),
        ("timed:10", 5.0, 10 / math.sqrt(12)),
    ],
    ids=str,
)
def test_delays_follow_the_law(law: Law | str, mean: float, deviation: float) -> None:
    delays = synthesize(law, messages=10_000, seed=3).true_delays()

    assert delays.mean() == pytest.approx(mean, abs=4 * deviation / 100)
    assert delays.std() == pytest.approx(deviation, rel=0.05)


def test_batches_leave_together_when_they_are_full() -> None:
    log = synthesize(Threshold(5), messages=23, seed=2)

    assert log.n_out == 20
    assert log.truth is not None
    assert (log.truth[20:] == -1).all()
    np.testing.assert_array_equal(log.departures, np.repeat(log.arrivals[4:20:5], 5))
    assert not np.array_equal(log.truth[:20], np.arange(20))  # in any order


def test_pools_keep_any_of_those_inside() -> None:
    log = synthesize(Pool(6, 4), messages=4000, seed=2)
    assert log.truth is not None
    flush = np.where(log.truth < 0, -1, log.truth // 6)
    came = np.maximum(0, (np.arange(4000) - 4) // 6)
    stays = (flush - came)[(flush >= 0) & (came > 0)]

    assert log.n_out == 6 * ((4000 - 4) // 6)
    assert (stays >= 0).all()
    assert np.mean(stays == 0) == pytest.approx(0.6, abs=0.04)
    assert np.mean(stays == 1) == pytest.approx(0.6 * 0.4, abs=0.04)


def test_timed_messages_leave_by_the_clock() -> None:
    log = synthesize(Timed(4, 1), messages=50, seed=2)

    assert set(np.round((log.departures - 1) % 4, 9) % 4) == {0.0}
    assert (log.true_delays() < 4).all()


def test_cover_and_losses_come_at_their_share() -> None:
    log = synthesize(Window(1, 2), messages=5000, cover=0.4, loss=0.25, seed=9)
    assert log.truth is not None
    left = int((log.truth >= 0).sum())

    assert left == pytest.approx(3750, abs=4 * math.sqrt(5000 * 0.25 * 0.75))
    assert log.n_out - left == pytest.approx(2000, abs=4 * math.sqrt(2000))


@pytest.mark.parametrize("law", ["exponential:5", "window:1,5", "pool:5,10", "timed:5"])
def test_cover_and_losses_are_flagged_as_the_truth(law: str) -> None:
    log = synthesize(law, messages=300, cover=0.4, loss=0.25, seed=9)
    assert log.truth is not None
    assert log.cover is not None
    assert log.lost is not None
    sent = np.zeros(log.n_out, dtype=bool)
    sent[log.truth[log.truth >= 0]] = True

    np.testing.assert_array_equal(log.cover, ~sent)
    assert log.lost.any()
    assert (log.truth[log.lost] == -1).all()
    if law in ("exponential:5", "window:1,5"):  # nobody waits for a flush that never comes
        np.testing.assert_array_equal(log.lost, log.truth == -1)


def test_what_was_not_asked_for_is_not_flagged() -> None:
    log = synthesize("exponential:5", messages=30)

    assert log.cover is None
    assert log.lost is None


def test_people_and_seeds() -> None:
    log = synthesize("window:1,2", messages=200, users=3, receivers=2, seed=4)
    again = synthesize("window:1,2", messages=200, users=3, receivers=2, seed=4)
    other = synthesize("window:1,2", messages=200, seed=5)

    assert set(log.senders) == {"user 1", "user 2", "user 3"}
    assert set(log.receivers) == {"receiver 1", "receiver 2"}
    assert len(set(other.senders)) == len(set(other.receivers)) == 200
    assert log.senders == again.senders
    np.testing.assert_array_equal(log.departures, again.departures)
    assert not np.array_equal(log.arrivals, other.arrivals)


@pytest.mark.parametrize(
    ("law", "options", "expected"),
    [
        ("window:1,2", {"messages": 0}, "messages must be a whole number from 1"),
        ("window:1,2", {"rate": 0}, "rate must be a number from 1e-12 to 1e+12, not 0"),
        ("window:1,2", {"rate": 1e308}, "rate must be a number from 1e-12 to 1e+12"),
        ("window:1,2", {"users": 10**20}, "users must be a whole number from 1 to 1000000000"),
        ("window:1,2", {"receivers": 10**20}, "receivers must be a whole number from 1 to"),
        ("window:1,2", {"messages": 10**20}, "messages must be a whole number from 1 to"),
        ("window:1,2", {"messages": 10**9, "cover": 1e6}, "GiB are free; ask for fewer messages"),
        ("window:1,2", {"loss": 2}, "loss must be a number from 0 to 1"),
        ("window:1,2", {"cover": -1}, "cover must be a number"),
        ("window:1,2", {"users": 0}, "users must be a whole number from 1"),
        ("window:1,2", {"seed": -1}, "seed must be a whole number"),
        (Free(np.exp), {}, "no delays can be drawn without an end"),
        (Free(np.zeros_like, longest=1), {}, "every delay has the weight 0"),
        ("nothing", {}, "no law 'nothing'"),
    ],
)
def test_bad_arguments_are_refused(law: Law | str, options: dict[str, int], expected: str) -> None:
    with pytest.raises(InputError) as caught:
        synthesize(law, **{"messages": 5, **options})  # type: ignore[arg-type]

    assert expected in str(caught.value)


# ---- the logs themselves


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"arrivals": [1, 0]}, "arrivals: times go back after 1 s; sort them"),
        ({"arrivals": [0, math.nan]}, "arrivals: time 1 is nan; give finite seconds"),
        ({"arrivals": "soon"}, "arrivals must be a list of times"),
        ({"arrivals": [[0, 1]]}, "arrivals must be a list of times in seconds, one a message"),
        ({"senders": ("ann",)}, "senders has 1 entry for 2 messages"),
        ({"receivers": 3}, "receivers must be a list of names"),
        ({"cover": [True]}, "cover has 1 entry for 2 messages"),
        ({"lost": [0, 1]}, "lost must be a list of bools"),
        ({"truth": [0]}, "truth has 1 entry for 2 messages"),
        ({"truth": [0, 2]}, "truth names departure 2, but there are 2 departures"),
        ({"truth": [1, 1]}, "truth: departure 1 belongs to two arrivals"),
        ({"truth": [0, 1.5]}, "truth must be a list of whole numbers"),
        ({"arrivals": [0, 9], "truth": [0, 1]}, "came in at 9 s left before, at 3 s"),
        ({"truth": [0, 1], "cover": [True, False]}, "departure 0 is cover traffic and somebody's"),
        ({"truth": [0, -1], "lost": [True, True]}, "arrival 0 is lost and has a departure"),
    ],
)
def test_bad_messages_are_refused(change: dict[str, object], expected: str) -> None:
    good: dict[str, object] = {
        "arrivals": [0, 1],
        "departures": [2, 3],
        "senders": ("ann", "bob"),
        "receivers": ("x", "y"),
    }
    with pytest.raises(InputError) as caught:
        Messages(**good | change)  # type: ignore[arg-type]

    assert expected in str(caught.value)


def test_messages_in_any_order_keep_what_belongs_together() -> None:
    draw = np.random.default_rng(3)
    made = synthesize("window:1,9", messages=30, loss=0.2, cover=0.2, seed=8)
    first, then = draw.permutation(made.n_in), draw.permutation(made.n_out)
    position = np.append(np.argsort(then), -1)
    assert made.truth is not None
    ordered = Messages.in_order(
        arrivals=made.arrivals[first],
        departures=made.departures[then],
        senders=[made.senders[i] for i in first],
        receivers=[made.receivers[j] for j in then],
        truth=position[made.truth[first]],
    )

    assert (ordered.senders, ordered.receivers) == (made.senders, made.receivers)
    for name in ("arrivals", "departures", "truth"):
        np.testing.assert_array_equal(getattr(ordered, name), getattr(made, name))
        assert not getattr(ordered, name).flags.writeable


def test_flags_follow_their_messages() -> None:
    ordered = Messages.in_order(
        arrivals=[2, 1],
        departures=[4, 3],
        senders="ab",
        receivers="xy",
        cover=[True, False],
        lost=[True, False],
    )

    assert ordered.cover is not None
    assert ordered.lost is not None
    assert ordered.cover.tolist() == ordered.lost.tolist() == [False, True]
    assert repr(ordered) == "Messages(2 in, 2 out, 1 to 4 s)"

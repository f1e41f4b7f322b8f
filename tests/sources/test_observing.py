"""Observations of message logs, against matchings listed by definition and against the truth."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymatch as am
from anonymatch.base.errors import InputError
from anonymatch.mixes.closed_forms import exponential_mix_count
from anonymatch.mixes.laws import Erlang, Exponential, Free, Law, Pool, Threshold, Timed, Window
from anonymatch.mixes.logs.log_graph import passage_graph
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import MessageObservation
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.synthetic import synthesize

TIMES = st.lists(st.integers(0, 12), min_size=1, max_size=6)


def log_of(
    arrivals: list[float],
    departures: list[float],
    *,
    senders: list[str] | None = None,
    receivers: list[str] | None = None,
    truth: list[int] | None = None,
    cover: list[bool] | None = None,
    lost: list[bool] | None = None,
) -> Messages:
    return Messages.in_order(
        arrivals=arrivals,
        departures=departures,
        senders=senders or [f"u{i}" for i in range(len(arrivals))],
        receivers=receivers or [f"b{j}" for j in range(len(departures))],
        truth=truth,
        cover=cover,
        lost=lost,
    )


def graph_of(observation: MessageObservation) -> am.Graph:
    if observation.passage is not None:
        return passage_graph(observation.passage)
    assert observation.graph is not None
    return observation.graph


def matchings(log: Messages, law: Law) -> int:
    """How many matchings a law leaves, places for lost messages counted as one place."""
    observation = observe(log, law)
    count = am.count(graph_of(observation), exact=True).value
    assert isinstance(count, int)
    assert count % math.factorial(observation.lost) == 0
    return count // math.factorial(observation.lost)


# ---- which edges


@given(TIMES, TIMES, st.integers(0, 3), st.integers(0, 6))
def test_window_has_an_edge_for_every_delay_within_it(
    came: list[int], left: list[int], low: int, width: int
) -> None:
    log = log_of([float(t) for t in came], [float(t) for t in left])
    law = Window(low, low + width)
    pairs = {
        (i, j)
        for i, a in enumerate(log.arrivals)
        for j, d in enumerate(log.departures)
        if law.low <= d - a <= law.high
    }
    # Nothing is refused.
    graph = graph_of(observe(log, law, cover=log.n_out, drained=True))

    edges = {(i, j) for i, j in zip(graph.rows(), graph.indices, strict=True) if j < log.n_out}
    assert edges == pairs
    assert not graph.weighted


def test_window_ends_are_within_it_though_times_are_rounded() -> None:
    observation = observe(log_of([0.1, 1700000000.1], [0.3, 1700000000.3]), "window:0.2,0.2")

    assert graph_of(observation).n_edges == 2


@given(st.data())
def test_wider_windows_keep_edges_and_force_nobody_else(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 10_000))
    log = synthesize("window:2,4", messages=data.draw(st.integers(1, 30)), rate=1.5, seed=seed)
    low, high = data.draw(st.floats(0, 2)), data.draw(st.floats(4, 8))
    narrow, wide = (graph_of(observe(log, law)) for law in (Window(2, 4), Window(low, high)))

    assert set(narrow.to_edges()) <= set(wide.to_edges())
    assert set(am.forced(wide)) <= set(am.forced(narrow))


@given(st.data())
def test_cover_traffic_forces_nobody(data: st.DataObject) -> None:
    size, seed = data.draw(st.integers(1, 25)), data.draw(st.integers(0, 10_000))
    log = synthesize("window:1,4", messages=size, seed=seed)
    more = data.draw(st.lists(st.floats(0, float(log.departures[-1])), max_size=8))
    covered = Messages.in_order(
        arrivals=log.arrivals,
        departures=[*log.departures, *more],
        senders=log.senders,
        receivers=[*log.receivers, *(f"cover {k}" for k in range(len(more)))],
    )
    plain, hidden = observe(log, "window:1,4"), observe(covered, "window:1,4")

    assert {user for user, _ in am.forced(graph_of(hidden))} <= {
        user for user, _ in am.forced(graph_of(plain))
    }
    assert hidden.cover == pytest.approx(len(more) / covered.n_out)


def test_erlang_weights_are_ratios_of_the_density() -> None:
    arrivals, departures = [0.0, 0.5, 1.0], [1.0, 1.5, 2.5]
    graph = graph_of(observe(log_of(arrivals, departures), Erlang(3, 0.5)))
    rows = graph.to_scipy().toarray()

    assert rows[2, 0] == 0  # three hops take some time
    for i, came in enumerate(arrivals):
        delays = np.array([max(t - came, 0.0) for t in departures])
        density = delays**2 * np.exp(-delays / 0.5)
        np.testing.assert_allclose(rows[i], density / density.max(), rtol=1e-12)


def test_erlang_leaves_out_what_never_happens_and_says_so() -> None:
    log = log_of([0.0, 100.0], [1.0, 101.0])
    observation = observe(log, "erlang:5,1")

    assert graph_of(observation).n_edges == 2
    assert any(
        "delays above 31.47 s, of probability 1e-09 a message" in note for note in observation.notes
    )


def test_erlang_of_many_hops_neither_overflows_nor_vanishes() -> None:
    log = synthesize("erlang:400,10", messages=50, rate=0.05, seed=3)
    weights = graph_of(observe(log, "erlang:400,10")).weights

    assert weights is not None
    assert np.isfinite(weights).all()
    assert (weights > 0).all()


def test_free_law_may_forbid_delays_in_the_middle() -> None:
    law = Free(lambda delays: np.where(np.abs(delays - 2) < 0.5, 0, 1 + delays), longest=3)
    graph = graph_of(observe(log_of([0, 1], [1, 2, 3, 4]), law))

    assert graph.to_scipy().toarray().tolist() == [[0.5, 0, 1, 0], [1 / 4, 1 / 2, 0, 1]]


def test_free_law_without_preferences_has_no_weights() -> None:
    log = log_of([0, 1, 2], [2, 3, 4])
    free = graph_of(observe(log, Free(lambda delays: delays >= 1, longest=3)))

    assert free == graph_of(observe(log, Window(1, 3)))


# ---- mixes


def in_order(batches: list[list[int]], taken: list[int]) -> int:
    """Ways to let so many leave at each flush, each any of those inside, by listing them all."""
    arrived = [i for batch in batches for i in batch]
    flush = {i: k for k, batch in enumerate(batches) for i in batch}
    outs = [k for k, number in enumerate(taken) for _ in range(number)]
    return sum(
        all(flush[i] <= k for i, k in zip(chosen, outs, strict=True))
        for chosen in permutations(arrived, len(outs))
    )


@pytest.mark.parametrize(("batch", "kept", "size"), [(2, 1, 7), (1, 2, 6), (3, 0, 6), (2, 2, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_pool_equals_the_ways_to_leave_round_by_round(
    batch: int, kept: int, size: int, seed: int
) -> None:
    log = synthesize(Pool(batch, kept), messages=size, seed=seed)
    ends = list(range(batch + kept, size + 1, batch))
    batches = [list(range(a, b)) for a, b in zip([0, *ends], [*ends, size], strict=True)]
    expected = in_order(batches, [batch] * len(ends))

    observation = observe(log, Pool(batch, kept))
    assert observation.passage is not None
    assert matchings(log, Pool(batch, kept)) == expected
    passage = observation.passage
    assert exponential_mix_count(passage.arrivals, passage.departures) == expected


def test_pool_departures_after_the_flush_belong_to_it() -> None:
    # The flush is at 2; c comes in before the messages are seen to leave, and is not among them.
    log = log_of([0, 1, 2, 2.5], [2.6, 2.7], senders=["a", "b", "c", "d"])
    graph = graph_of(observe(log, Pool(2, 1)))

    users = {user for user, behaviour in graph.to_edges() if behaviour == "b0"}
    assert users == {"a", "b", "c"}


def test_pool_with_cover_traffic_has_falling_weights() -> None:
    law = Pool(2, 1)
    log = log_of([0, 1, 2, 3, 4], [2, 2, 4, 4, 4, 4])
    observation = observe(log, law)
    weights = graph_of(observation).to_scipy().toarray()

    assert observation.passage is None
    assert weights[0, :6].tolist() == pytest.approx([1, 1, 1 / 3, 1 / 3, 1 / 3, 1 / 3])
    assert weights[3, :6].tolist() == pytest.approx([0, 0, 1, 1, 1, 1])


def test_pool_weights_cancel_without_cover_traffic() -> None:
    log = synthesize(Pool(3, 2), messages=17, seed=5)
    passage = graph_of(observe(log, Pool(3, 2)))
    fall = 2 / 5
    flushes = [int(t) for t in np.searchsorted(log.arrivals[4::3], log.departures)]
    rounds = [max(0, (i - 2) // 3) for i in range(17)]
    rows = [
        [fall ** (s - r) if s >= r else 0 for s in flushes] + [fall ** (5 - r)] * 2 for r in rounds
    ]
    weighted = am.posterior(am.Graph.from_biadjacency(rows)).matrix.toarray()

    np.testing.assert_allclose(am.posterior(passage).matrix.toarray(), weighted, atol=1e-12)


def test_threshold_makes_complete_batches() -> None:
    log = synthesize("threshold:4", messages=14, seed=2)
    observation = observe(log, "threshold:4")
    graph = graph_of(observation)

    assert observation.lost == 2  # the last two wait for a batch that never fills
    assert matchings(log, Threshold(4)) == math.factorial(4) ** 3
    assert graph.degrees.tolist() == [4] * 12 + [2] * 2


def test_dummies_that_the_attacker_can_tell_fill_batches() -> None:
    log = log_of([0, 1, 2, 3], [1, 3, 3], lost=[True, False, False, False])
    graph = graph_of(observe(log, Threshold(2), cover_visible=True))

    assert graph.to_edges() == [("u1", "b0"), *((u, b) for u in ("u2", "u3") for b in ("b1", "b2"))]


@pytest.mark.parametrize(
    ("law", "left"), [("threshold:2", [1.0, 1, 3, 3]), ("pool:2,1", [2.0, 2, 4, 4])]
)
def test_who_is_seen_to_be_lost_on_entry_fills_no_batch(law: str, left: list[float]) -> None:
    lost = [False, True, False, False, False, False]
    whole = log_of([0, 0.5, 1, 2, 3, 4], left, lost=lost, truth=[0, -1, 1, 2, 3, -1])
    stripped = log_of([0, 1, 2, 3, 4], left, truth=[0, 1, 2, 3, -1])
    visible = am.audit(observe(whole, law, cover_visible=True))

    assert visible.bits.value == pytest.approx(am.audit(observe(stripped, law)).bits.value)


def test_threshold_flushes_at_one_time_are_one() -> None:
    log = log_of([1, 1, 1, 1], [1, 1, 1, 1])

    assert matchings(log, Threshold(2)) == math.factorial(4)


def test_timed_flushes_by_the_clock_though_times_are_rounded() -> None:
    log = log_of([0.02, 0.08, 0.1, 0.25, 0.31], [0.1, 0.1, 0.1, 0.3, 0.4])
    graph = graph_of(observe(log, Timed(0.1)))

    assert graph.to_rows() == ["11100", "11100", "11100", "00010", "00001"]


@given(st.integers(1, 40), st.integers(0, 1000))
def test_timed_counts_a_factorial_an_interval(size: int, seed: int) -> None:
    log = synthesize("timed:5,1", messages=size, seed=seed)
    batches = np.unique(np.ceil((log.arrivals - 1) / 5), return_counts=True)[1]

    assert matchings(log, Timed(5, 1)) == math.prod(math.factorial(k) for k in batches.tolist())


# ---- what does not come out even


def test_surplus_of_messages_out_is_nobodys() -> None:
    log = log_of([5, 6], [1, 7, 8, 9])
    observation = observe(log, "window:1,3")

    assert graph_of(observation).to_rows() == ["0110", "0111"]
    assert observation.cover == 0.5
    assert (
        "2 messages out are cover traffic; 1 of them cannot have any sender in the log"
        in observation.notes
    )


def test_cover_says_that_messages_out_are_nobodys() -> None:
    log = log_of([5, 6, 9], [1, 7, 8])
    with pytest.raises(InputError, match=r"'b0' at 1 s: nobody can have sent it.*cover=1"):
        observe(log, "window:1,3")
    observation = observe(log, "window:1,3", cover=1)

    assert (observation.cover, observation.lost) == (1 / 3, 1)
    assert graph_of(observation).to_rows() == ["0110", "0110", "0001"]


def test_flagged_messages_that_the_attacker_can_tell_are_left_out() -> None:
    log = log_of(
        [0, 1, 2],
        [2, 2.5, 3],
        cover=[False, True, False],
        lost=[False, True, False],
        truth=[0, -1, 2],
    )
    observation = observe(log, "window:1,3", cover_visible=True)

    assert graph_of(observation).users == ("u0", "u2")
    assert graph_of(observation).behaviours == ("b0", "b2")
    assert observation.truth is not None
    assert observation.truth.tolist() == [0, 1]
    assert observation.cover == pytest.approx(1 / 3)
    assert (observation.mean_delay, observation.longest_delay) == (1.5, 2.0)
    assert len(observation.notes) == 2


@pytest.mark.parametrize(
    ("came", "left", "law", "options", "expected"),
    [
        (
            [0, 1],
            [5, 6],
            "window:1,3",
            {},
            "nobody can have sent 2 messages out, first 'b0' at 5 s",
        ),
        ([0, 1, 9], [2, 9.5], "window:1,3", {"lost": 1}, "'b1' at 9.5 s: nobody can have sent it"),
        ([0, 4, 9], [1, 4.5, 6], "window:1,3", {}, "'b1' at 4.5 s"),
        ([0, 4, 9], [1, 2, 10, 11], "window:1,2", {}, "'u1' at 4 s: no message out fits it"),
        ([0, 0, 5, 5], [1, 6, 6, 6], "window:1,2", {}, "only 3 of 4 messages out"),
        ([0, 0, 5], [1, 6, 6, 6], "window:1,2", {}, "2 messages in ('u0', 'u1') fit only 1"),
        (
            [1, 2],
            [0, 3],
            "exponential:1",
            {"cover_rate": 0},
            "'b0' at 0 s: nobody can have sent it under the exp",
        ),
        ([0, 1, 2], [0.5, 0.6], "exponential:1", {"cover": 0}, "'b1' at 0.6 s"),
        ([0, 1], [2, 3], "exponential:1", {"lost": 1, "loss": 0.1}, "loss is a probability"),
        ([0, 1], [2, 3], "exponential:1", {"cover": 1, "cover_rate": 1}, "cover_rate is a rate"),
        ([0, 1], [2, 3], "exponential:1", {"loss": 1}, "nothing comes out"),
        ([0, 1], [2, 3], "exponential:1", {"lost": 3}, "lost is 3, but 2 messages came in"),
        ([0, 1], [2, 3], "exponential:1", {"cover": 0, "lost": 1}, "at least 1 of them are cover"),
        ([0, 1], [2, 3], "window:2,2", {"loss": 0.1}, "laws that say how likely a delay is"),
        ([0, 1, 2], [0.5], "pool:2,1", {}, "'b0' at 0.5 s: nobody"),
        ([0, 1], [1], "pool:2,1", {}, "'b0' at 1 s: nobody"),
        ([0, 1], [0.5, 1], "threshold:2", {}, "'b0' at 0.5 s: nobody"),
        (
            [0, 1],
            [2],
            "window:1,2",
            {"lost": 0, "drained": True},
            "lost is 0, but 2 messages came in and 1 left",
        ),
        ([0, 1], [2], "window:1,2", {"cover": 2}, "cover is 2, but"),
        ([0], [1, 2], "window:1,2", {"cover": 0}, "give a number from 1 to 2"),
        ([0], [1, 2], "window:1,2", {"cover": 1, "lost": 3}, "0 are lost, not 3"),
        ([0, 1], [0.5, 9], "window:1,2", {"cover": 1}, "cover is 1, but"),
        ([0], [1], "window:1,2", {"cover": -1}, "cover must be a whole number"),
        ([0], [1], "window:1,2", {"lost": 0.5}, "lost must be a whole number"),
    ],
)
def test_logs_that_do_not_fit_are_refused_in_one_line(
    came: list[float], left: list[float], law: str, options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        observe(log_of(came, left), law, **options)

    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_log_is_refused() -> None:
    with pytest.raises(InputError, match="need Messages, not str; read a log"):
        observe("log.csv", "window:1,2")  # type: ignore[arg-type]


# ---- names and truth


def test_messages_of_one_person_are_numbered() -> None:
    log = log_of([0, 1, 2], [3, 4, 5], senders=["ann", "bob", "ann"], receivers=["x", "x", "y"])
    observation = observe(log, "window:1,5")
    graph = graph_of(observation)

    assert graph.users == ("ann #1", "bob", "ann #2")
    assert graph.behaviours == ("x #1", "x #2", "y")
    assert observation.senders == ("ann", "bob", "ann")
    assert observation.receivers == ("x", "x", "y")


def test_truth_outside_the_law_is_noted() -> None:
    log = log_of([0, 1], [2, 3], truth=[1, 0])

    assert any("1 true pair is impossible" in n for n in observe(log, "window:1,2").notes)
    assert observe(log, "window:1,3").notes == ()


def test_delays_are_those_of_the_law_where_the_truth_is_not_known() -> None:
    observation = observe(log_of([0, 0.5], [1]), "exponential:2")

    assert (observation.mean_delay, observation.longest_delay, observation.source) == (
        2.0,
        None,
        str(Exponential(2)),
    )


def test_the_mean_delay_is_known_if_everything_came_out() -> None:
    observation = observe(log_of([0, 1], [3, 4]), "window:1,5")

    assert (observation.mean_delay, observation.longest_delay) == (3.0, 5.0)
    early = observe(log_of([0, 1], [2, 3]), "window:1,5")
    assert early.mean_delay == 2.0


# ---- calibration: probabilities are what they say


@pytest.mark.grid
@pytest.mark.parametrize(
    ("text", "rate", "cover"),
    [
        ("window:1,4", 1.0, 0.0),
        ("window:1,4", 1.0, 0.5),
        ("exponential:2", 1.0, 0.0),
        ("exponential:2", 1.0, 0.5),
        ("erlang:3,0.6", 1.5, 0.0),
        ("erlang:3,0.6", 1.5, 0.5),
        ("pool:2,2", 1.0, 0.0),
    ],
)
def test_probabilities_of_best_guesses_are_shares_of_right_ones(
    text: str, rate: float, cover: float
) -> None:
    promised, right = [], []
    for seed in range(150):
        log = synthesize(text, messages=8, rate=rate, cover=cover, seed=seed)
        observation = observe(log, text)
        probabilities = am.posterior(graph_of(observation)).matrix.toarray()[:, : log.n_out]
        assert observation.truth is not None
        user = seed % log.n_in
        if probabilities[user].sum() > 0:
            guess = int(probabilities[user].argmax())
            promised.append(probabilities[user, guess])
            right.append(guess == observation.truth[user])
    probability = np.array(promised)
    error = math.sqrt(float((probability * (1 - probability)).sum()))

    assert abs(float(np.sum(right) - probability.sum())) < 4 * error
    assert error > 3  # there was something to guess


@pytest.mark.grid
@pytest.mark.parametrize("text", ["erlang:3,0.6", "exponential:2", "pool:2,2"])
def test_probabilities_to_be_inside_at_the_end_are_shares_of_those_who_are(text: str) -> None:
    promised, inside = [], []
    for seed in range(300):
        whole = synthesize(text, messages=9, rate=1.5, seed=seed)
        assert whole.truth is not None
        log = Messages(
            arrivals=whole.arrivals,
            departures=whole.departures[:4],
            senders=whole.senders,
            receivers=whole.receivers[:4],
            truth=np.where(whole.truth < 4, whole.truth, -1),
        )
        observation = observe(log, text)
        user = seed % 3
        assert observation.lost == 5
        assert log.truth is not None
        promised.append(am.posterior(graph_of(observation)).matrix.toarray()[user, 4:].sum())
        inside.append(log.truth[user] < 0)
    probability = np.array(promised)
    error = math.sqrt(float((probability * (1 - probability)).sum()))

    assert abs(float(np.sum(inside) - probability.sum())) < 4 * error
    assert error > 2


@pytest.mark.parametrize("law", ["lognormal:1,0.6", "window:0,20", "exponential:1", "erlang:2,0.5"])
def test_zero_losses_and_zero_cover_hold(law: str) -> None:
    fewer = log_of([0.09, 0.13, 1.47, 2.11, 2.95], [0.82, 1.75, 2.21, 2.59])
    for cover in ({"cover": 0}, {"cover_rate": 0.0}, {}):
        with pytest.raises(InputError):
            am.audit(observe(fewer, law, loss=0.0, drained=True, **cover))
    more = log_of([0.24, 0.35], [2.01, 4.51, 6.7])
    for losses in ({"lost": 0}, {"loss": 0.0}, {}):
        with pytest.raises(InputError):
            am.audit(observe(more, law, cover_rate=0.0, until=14.0, **losses))


@pytest.mark.parametrize("law", ["window:0,4", "window:2,2"])
def test_without_losses_only_messages_that_may_be_inside_do_not_come_out(law: str) -> None:
    log = log_of([0.0, 1.0, 9.0], [2.0, 3.0])
    with pytest.raises(InputError, match=r"loss is 0 and nothing was left inside.*lost=1 instead"):
        observe(log, law, loss=0.0, cover=0, drained=True)
    inside = observe(log, law, loss=0.0, cover=0, whole_log=True).graph
    assert inside is not None
    assert [edge for edge in inside.to_edges() if "lost" in str(edge[1])] == [("u2", "lost #1")]


@pytest.mark.parametrize("law", ["exponential:1", "lognormal:1,0.6", "window:0,4", "erlang:2,0.5"])
def test_who_came_too_late_for_the_links_of_a_drained_mix_is_lost(law: str) -> None:
    both, late = log_of([0, 1], [3, 4.5]), log_of([0, 1, 5], [3, 4.5])
    told: dict[str, Any] = {"drained": True, "whole_log": True, "until": 5.5}
    for cover_rate in (None, 0.1):
        rates: dict[str, Any] = {"loss": 0.2, "cover_rate": cover_rate}
        users = am.audit(observe(late, f"1+{law}", **told, **rates)).users
        alone = am.audit(observe(both, f"1+{law}", **told, **rates)).users
        assert users["user"].to_list() == ["u0", "u1", "u2"]
        assert users["lost"].to_list() == pytest.approx([*alone["lost"], 1.0], abs=1e-9)
        expected = [*alone["probability"], 0.0]
        assert users["probability"].to_list() == pytest.approx(expected, abs=1e-9)
    with pytest.raises(InputError, match=r"loss is 0 and nothing was left inside, but 1 message"):
        observe(late, f"1+{law}", **told, loss=0.0)

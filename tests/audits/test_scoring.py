"""The log score: -log2 of the true match's probability, compared with the entropy."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.measures.passages.explanations import explained

import anonymatch as am
from anonymatch.mixes import (
    Channel,
    Observation,
    flush_figures,
    hidden_figures,
    parse_law,
    phase_figures,
)
from anonymatch.mixes.laws import FlushLaw
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observing import observe
from anonymatch.mixes.solvers.exponential import passage_asked
from anonymatch.mixes.solvers.flushes.flush_chain import flush_pairs
from anonymatch.mixes.solvers.hops.phase_chain import phase_pairs
from anonymatch.mixes.synthetic import synthesize
from anonymatch.running import Budget

LAWS_WITH_LOSSES = ("exponential:5", "erlang:2,2", "timed:6", "pool:4,3", "binomial:6,0.5")


def log_of(came: list[float], left: list[float], truth: list[int]) -> Messages:
    return Messages(
        arrivals=np.array(came),
        departures=np.array(left),
        senders=tuple(f"u{i}" for i in range(len(came))),
        receivers=tuple(f"b{j}" for j in range(len(left))),
        truth=np.array(truth),
    )


def test_log_score_of_one_mix_equals_the_enumerated_posterior() -> None:
    draw = np.random.default_rng(5)
    for _ in range(20):
        came = np.sort(draw.uniform(0, 4, 4)).tolist()
        left = np.sort(draw.uniform(2, 6, 3)).tolist()
        truth = [0, 2, -1, -1]
        if left[0] < came[0] or left[2] < came[1]:
            continue
        log = log_of(came, left, truth)
        audit = am.audit(
            observe(log, "exponential:2", loss=0.2, cover_rate=0.3, until=7.0, whole_log=True)
        )
        exact = explained(
            came,
            left,
            density=lambda delay: 0.5 * math.exp(-0.5 * delay),
            survival=lambda delay: math.exp(-0.5 * delay),
            begin=came[0],
            end=7.0,
            loss=0.2,
            cover_rate=0.3,
        )
        assert exact is not None
        given = [exact.pairs[i, truth[i]] / exact.pairs[i].sum() for i in (0, 1)]
        score = audit.score
        assert score is not None
        assert score.log_score == pytest.approx(-np.log2(given).mean(), abs=1e-9)
        assert score.log_expected == pytest.approx(
            np.mean([exact.own_departed(i) for i in (0, 1)]), abs=1e-8
        )


def test_log_score_of_a_graph_equals_the_enumerated_posterior() -> None:
    rows = ["11100", "11110", "01110", "00111", "00011"]
    graph = am.Graph.from_rows(rows)
    matchings = [
        order
        for order in itertools.permutations(range(5))
        if all(rows[i][j] == "1" for i, j in enumerate(order))
    ]
    truth = matchings[len(matchings) // 2]
    shares = [np.mean([order[i] == truth[i] for order in matchings]) for i in range(5)]
    audit = am.audit(Observation(graph=graph, source="", truth=np.array(truth)))

    assert audit.score is not None
    assert audit.score.log_score == pytest.approx(-np.log2(shares).mean(), abs=1e-9)
    assert audit.score.log_expected == pytest.approx(audit.entropy.value, abs=1e-9)


def test_mean_log_score_over_all_matchings_equals_the_entropy() -> None:
    """The expected value of the log score is the entropy, whatever the graph."""
    rows = ["1100", "1110", "0111", "0011"]
    graph = am.Graph.from_rows(rows)
    scores = []
    for order in itertools.permutations(range(4)):
        if all(rows[i][j] == "1" for i, j in enumerate(order)):
            audit = am.audit(Observation(graph=graph, source="", truth=np.array(order)))
            assert audit.score is not None
            assert audit.score.log_score is not None
            scores.append(audit.score.log_score)

    assert np.mean(scores) == pytest.approx(am.audit(graph).entropy.value, abs=1e-9)


def test_probabilities_asked_for_are_those_of_the_pair_matrix() -> None:
    draw = np.random.default_rng(1)
    came, left = np.sort(draw.uniform(0, 9, 12)), np.sort(draw.uniform(3, 12, 10))
    asked = np.append(draw.permutation(10), [-1, -1])
    channel = Channel(begin=0.0, end=13.0, loss=0.1, cover_rate=0.3)

    def at(pairs: np.ndarray) -> np.ndarray:
        return np.where(asked >= 0, pairs[np.arange(12), np.maximum(asked, 0)], 0.0)

    one = hidden_figures(came, left, mean=3.0, channel=channel, pairs=True, asked=asked)
    assert one.pairs is not None
    assert one.asked is not None
    np.testing.assert_allclose(one.asked, at(one.pairs), atol=1e-14)
    hops: dict[str, Any] = {"means": [1.0, 2.0], "channel": channel, "budget": Budget()}
    two = phase_figures(came, left, asked=asked, **hops)
    dense = phase_pairs(came, left, **hops).pairs
    assert dense is not None
    assert two.asked is not None
    np.testing.assert_allclose(two.asked, at(dense), atol=1e-9)


@pytest.mark.parametrize("law", ["timed:4", "timed-pool:4,2", "binomial:4,0.5", "pool:3,2"])
@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.1, 0.3)], ids=["none", "loss and cover"])
def test_flush_probabilities_asked_for_are_those_of_the_pair_matrix(
    law: str, rates: tuple[float, float]
) -> None:
    loss, cover = rates
    log = synthesize(law, messages=25, seed=3, loss=loss, cover=cover)
    flush = parse_law(law)
    assert isinstance(flush, FlushLaw)
    end = max(log.departures.max(), log.arrivals.max())
    channel = Channel(begin=log.arrivals[0], end=end, loss=loss, cover_rate=cover)
    assert log.truth is not None
    times = log.arrivals, log.departures
    figures = flush_figures(flush, *times, asked=log.truth, channel=channel)
    pairs = flush_pairs(flush, *times, channel=channel).pairs
    assert figures.asked is not None
    rows = np.arange(25)
    expected = np.where(log.truth >= 0, pairs[rows, np.maximum(log.truth, 0)], 0.0)

    np.testing.assert_allclose(figures.asked, expected, atol=1e-12)
    assert (figures.asked[log.truth >= 0] > 0.0).all()


def test_passage_asked_equals_enumeration_for_departures_in_any_order() -> None:
    came, left = [0.0, 1.0, 2.0, 2.5], [4.0, 1.5, 3.0, 6.0]
    matchings = [
        order
        for order in itertools.permutations(range(4))
        if all(left[j] >= came[i] for i, j in enumerate(order))
    ]
    for asked in matchings:
        shares = [np.mean([order[i] == asked[i] for order in matchings]) for i in range(4)]
        np.testing.assert_allclose(passage_asked(came, left, asked), shares, atol=1e-12)


def test_impossible_truth_has_an_infinite_log_score_and_null_in_json() -> None:
    graph = am.Graph.from_rows(["110", "110", "001"])
    audit = am.audit(Observation(graph=graph, source="", truth=np.array([2, 0, 1])))

    assert audit.score is not None
    assert audit.score.log_score == math.inf
    assert audit.to_dict()["score"]["log_score"] is None
    assert not audit.score.calibrated


def test_log_score_rejects_a_law_that_best_guesses_accept() -> None:
    """Delays twice too long: the best guesses are right as often as predicted, not so the rest."""
    log = synthesize("erlang:3,1", messages=3000, seed=2, loss=0.05)
    audit = am.audit(observe(log, "erlang:3,1.15", loss=0.05, cover_rate=0.0))
    score = audit.score
    assert score is not None
    assert abs(score.right - score.promised) < 3 * score.error
    assert not score.calibrated
    assert "log score" in audit.verdict
    right = am.audit(observe(log, "erlang:3,1", loss=0.05, cover_rate=0.0)).score
    assert right is not None
    assert right.calibrated


@pytest.mark.grid
@pytest.mark.parametrize("law", LAWS_WITH_LOSSES)
def test_log_score_is_calibrated_with_losses_and_cover(law: str) -> None:
    gaps = []
    for seed in range(3):
        log = synthesize(law, messages=300, seed=seed, loss=0.1, cover=0.2)
        score = am.audit(observe(log, law, loss=0.1, cover_rate=0.2)).score
        assert score is not None
        assert score.calibrated
        assert score.log_score is not None
        assert score.log_expected is not None
        gaps.append(score.log_score - score.log_expected)
    assert any(abs(gap) > 1e-12 for gap in gaps) or law == "timed:6"


def _gap(
    law: str, seed: int, messages: int, how: dict[str, Any], **told: Any
) -> tuple[float, bool]:
    log = synthesize(law, messages=messages, seed=seed, **how)
    score = am.audit(observe(log, law, **told), budget=2).score
    assert score is not None
    assert score.log_score is not None
    assert score.log_expected is not None
    return score.log_score - score.log_expected, score.calibrated


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "how", "told"),
    [
        ("exponential:5", {"loss": 0.1, "cover": 0.2}, {"loss": 0.1, "cover_rate": 0.2}),
        ("exponential:5", {"loss": 0.1}, {}),
        ("pool:4,3", {"loss": 0.1, "cover": 0.2}, {"loss": 0.1, "cover_rate": 0.2}),
        ("binomial:6,0.5", {"loss": 0.1, "cover": 0.2}, {"loss": 0.1, "cover_rate": 0.2}),
    ],
)
def test_log_score_is_calibrated_over_75_logs(
    law: str, how: dict[str, Any], told: dict[str, Any]
) -> None:
    """Of calibrated logs hardly one is rejected, and the mean difference is none."""
    found = [_gap(law, seed, 400, how, **told) for seed in range(75)]
    gaps = np.array([gap for gap, _ in found])

    assert sum(fits for _, fits in found) >= 74
    assert abs(gaps.mean()) < 3 * gaps.std() / math.sqrt(len(gaps))

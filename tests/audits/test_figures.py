"""The figures of audits: the headline and what stands beside it, by definition, with intervals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.audits.test_auditing import passage
from tests.strategies import Matrix, graph_of, matrices

import anonymatch as am
from anonymatch.audits.figures import FIGURES, confidence_of
from anonymatch.audits.gates import parse_gates
from anonymatch.audits.verdict import left_out
from anonymatch.audits.worst import worst
from anonymatch.counting.measures import averages
from anonymatch.counting.measures.user_posteriors import user_figures
from anonymatch.counting.measures.users import LOST, Range, UserFigures
from anonymatch.mixes.logs.log_graph import passage_graph
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import MESSAGES, Observation


def posteriors(graph: am.Graph) -> list[list[float]]:
    posterior = am.posterior(graph)
    return [sorted(posterior[user].values(), reverse=True) for user in graph.users]


@given(matrices(users=(1, 7), spare=2, matched=True))
def test_the_headline_is_the_mean_entropy_of_one_users_posterior(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    audit = am.audit(graph, steps=0)
    rows = posteriors(graph)
    entropies = [sum(-p * math.log2(p) for p in row if p > 0) for row in rows]
    guesses = [sum(k * p for k, p in enumerate(row, 1)) for row in rows]

    assert audit.guessing_entropy is not None
    for figure, wanted in (
        (audit.entropy, np.mean(entropies)),
        (audit.min_entropy, np.mean([-math.log2(row[0]) for row in rows])),
        (audit.guessing_entropy, np.mean(guesses)),
        (audit.entropy_quantile(0.0), min(entropies)),
        (audit.entropy_quantile(0.5), sorted(entropies)[math.ceil(len(rows) / 2) - 1]),
        (audit.entropy_quantile(1.0), max(entropies)),
    ):
        assert figure.value == pytest.approx(wanted, abs=1e-9)
        assert figure.low - 1e-12 <= wanted <= figure.high + 1e-12
        assert figure.high - figure.low < 1e-6
    # What one user did says something about the others: doubt about all is no more than the sum.
    assert audit.bits.low <= audit.entropy.high


def test_an_exponential_mix_has_the_entropy_that_the_field_reports() -> None:
    log = am.mixes.synthesize("exponential:5", messages=20_000, rate=1.0, seed=1)
    audit = am.audit(am.mixes.observe(log, "exponential:5"), steps=0)

    assert audit.entropy.value == pytest.approx(am.mixes.exponential_bits(5), abs=0.03)
    assert audit.bits.value == pytest.approx(2.48, abs=0.03)
    assert audit.verdict.startswith(f"Entropy {audit.entropy.value:.3g} bits per message")
    assert dict(audit.same_delay)["one exponential mix"] == pytest.approx(
        audit.entropy.value, abs=0.03
    )


def test_guesses_through_a_mix_are_those_of_its_graph() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        number = int(rng.integers(2, 9))
        came = rng.uniform(0, 6, number)
        left = came + rng.exponential(2, number)
        observation = passage(came.tolist(), left.tolist())
        assert observation.passage is not None
        closed, open_ = (
            am.audit(observation, steps=0),
            am.audit(passage_graph(observation.passage), steps=0),
        )
        for mine, other in (
            (closed.entropy, open_.entropy),
            (closed.guessing_entropy, open_.guessing_entropy),
            (closed.min_entropy, open_.min_entropy),
        ):
            assert mine is not None
            assert other is not None
            assert mine.value == pytest.approx(other.value, abs=1e-9)


@given(matrices(users=(2, 7), spare=1, matched=True), st.floats(0.0, 0.2), st.integers(0, 99))
def test_intervals_of_the_figures_hold_whatever_the_probabilities_are_within_their_errors(
    matrix: Matrix, error: float, seed: int
) -> None:
    graph = graph_of(matrix)
    true = am.posterior(graph).probabilities
    moved = np.random.default_rng(seed).uniform(-error, error, len(true))
    exact = user_figures(graph, true, 0.0)
    vague = user_figures(graph, np.clip(true + moved, 0.0, 1.0), error + 1e-12)
    assert exact.guesses is not None
    assert vague.guesses is not None
    for mine, other in ((exact.shannon, vague.shannon), (exact.guesses, vague.guesses)):
        for truth, interval in (
            (averages.mean(exact, mine), averages.mean(vague, other)),
            (averages.quantile(exact, mine, 0.3), averages.quantile(vague, other, 0.3)),
        ):
            assert truth is not None
            assert interval is not None
            assert interval.low - 1e-9 <= truth.value <= interval.high + 1e-9


def test_what_is_not_known_leaves_finite_intervals() -> None:
    graph = am.random_density(40, 0.5, seed=1)
    audit = am.audit(graph, budget=0)
    record = json.loads(audit.to_json())
    for key in (
        "entropy",
        "entropy_5%",
        "entropy_1%",
        "min_entropy",
        "guessing_entropy",
        "typical",
    ):
        assert all(math.isfinite(record[key][end]) for end in ("low", "high")), key
        assert record[key]["value"] is None, key  # the middle would be no estimate
        assert record[key]["low"] < record[key]["high"], key
    assert audit.bits.low <= audit.entropy.low < audit.entropy.high <= math.log2(40)


# ---- who is counted


def three_users(**more: object) -> UserFigures:
    users = am.audit(am.partition([1, 2, 4]), steps=0).answers.users
    return replace(users, **more)  # type: ignore[arg-type]


def test_messages_near_an_end_of_the_log_are_not_counted() -> None:
    edge = np.array([True, False, False, False, False, False, True])
    users = three_users(edge=edge)
    answers = replace(am.audit(am.partition([1, 2, 4]), steps=0).answers, users=users)
    observation = Observation(graph=am.partition([1, 2, 4]), source="")

    mean = averages.mean(users, users.shannon)
    assert mean is not None
    assert mean.value == pytest.approx((2 * 1 + 3 * 2) / 5)
    assert users.below(2).value == 0.0  # who is alone is near an end
    assert [one.user for one in worst(observation, answers, 7)] == [1, 2, 3, 4, 5]
    assert left_out(users, MESSAGES) == ()  # the log's own note says so


def test_a_log_that_is_all_ends_is_counted_and_told_so() -> None:
    users = three_users(edge=np.ones(7, dtype=bool))
    assert users.counted.all()
    [note] = left_out(users, MESSAGES)
    assert note.startswith("All messages are near an end of the log")


def test_messages_count_as_much_as_they_are_likely_to_have_departed() -> None:
    users = three_users(departed=np.array([0.0, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]))
    mean, least = averages.mean(users, users.shannon), averages.smallest(users, users.shannon)

    assert mean is not None
    assert least is not None
    assert mean.value == pytest.approx((2 * 0.5 * 1 + 4 * 2) / 5)
    assert least.value == pytest.approx(1.0)  # what cannot have departed is nobody's entropy


def test_messages_still_inside_when_the_log_ends_are_censored_not_identified() -> None:
    observation = passage([0.0, 1.0, 9.0], [2.0, 3.0])
    audit = am.audit(observation, steps=0)

    assert audit.users["censored"].to_list() == [False, False, True]
    assert audit.identified == 0
    assert audit.n_counted == 2
    assert "in 2" not in [one.user for one in audit.worst]
    assert any(
        "1 message is censored (lost, or still inside at the end of the log)" in note
        for note in audit.notes
    )
    assert "identified" not in audit.verdict or "nobody is identified" in audit.verdict


def test_if_nothing_came_out_nobody_is_identified() -> None:
    audit = am.audit(passage([0.0, 1.0], []), steps=0)
    assert audit.identified == 0
    assert audit.verdict == "Nothing that came out can be any of the messages."
    [gate] = am.check_gates(audit, {"entropy": 3})
    assert "there is nobody" in gate.text


def test_a_mean_over_a_sample_says_that_it_is_one() -> None:
    users = three_users()
    assert users.guesses is not None
    some = np.array([True, False, True, False, True, False, True])
    sample = Range(*(np.where(some, part, np.nan) for part in users.guesses.parts))
    result = averages.sampled_mean(users, sample)
    assert result is not None
    figure, confidence = result
    assert confidence == averages.SAMPLED
    assert figure.value == pytest.approx(np.mean(users.guesses.value[some]))
    assert figure.low < figure.value < figure.high


# ---- a graph with places for the lost


def test_figures_of_a_graph_with_losses_are_given_that_a_message_departed() -> None:
    # One of two is lost: each is the departure or lost, with even probabilities.
    graph = am.Graph.from_biadjacency([[1, 1], [1, 1]])
    users = am.audit(Observation(graph=graph, source="", lost=1), steps=0).users

    assert users["departed"].to_list() == pytest.approx([0.5, 0.5])
    assert users["shannon"].to_list() == pytest.approx([0.0, 0.0])
    assert users["shannon_all"].to_list() == pytest.approx([1.0, 1.0])
    assert users["probability"].to_list() == pytest.approx([0.5, 0.5])  # of the guess, undivided
    assert users["guess"].to_list() == [0, 0]
    assert users["lost"].null_count() == 2  # lost and inside are not told apart


def test_who_can_only_be_lost_is_censored() -> None:
    graph = am.Graph.from_biadjacency([[1, 0], [0, 1]])
    figures = am.audit(Observation(graph=graph, source="", lost=1), steps=0).answers.users
    assert figures.guess.tolist() == [0, LOST]
    assert figures.censored.tolist() == [False, True]


# ---- thresholds


@pytest.mark.parametrize(
    ("threshold", "reached"),
    [
        ({"entropy": 1.5}, True),
        ({"entropy": 1.6}, False),
        ({"entropy_1%": 1}, True),
        ({"entropy_1%": 1.1}, False),
        ({"entropy_60%": 2}, True),
        ({"min_entropy": 1.5}, True),
        ({"guessing_entropy": 2}, True),
        ({"guessing_entropy": 2.1}, False),
        ({"global (1,k)": 2}, True),
        ({"(1,k)": 3}, False),
        ({"(k,1)": 2}, True),
        ({"(k,k)": 3}, False),
    ],
)
def test_thresholds_of_the_headline_and_of_each_notion(
    threshold: dict[str, float], reached: bool
) -> None:
    [gate] = am.check_gates(am.audit(am.partition([2, 2, 4])), threshold)
    assert gate.reached is reached


def test_k_is_another_name_of_the_global_notion_and_says_so() -> None:
    assert parse_gates(["k=5", "1k=2, (k,k)=3"]) == {"global (1,k)": 5, "(1,k)": 2, "(k,k)": 3}
    [gate] = am.check_gates(am.audit(am.complete(4)), {"k": 5})
    assert gate.text.startswith("global (1,k)=5 is missed: global (1,k)-anonymity: behaviours that")
    assert "k-anonymity of a released table is not this" in gate.text


def test_open_and_fitting_behaviours_are_different_notions() -> None:
    audit = am.audit(am.Graph.from_rows(["110", "110", "111"]))
    fits, open_ = am.check_gates(audit, {"(1,k)": 2, "global (1,k)": 2})
    assert (fits.figure.value, open_.figure.value) == (2.0, 1.0)


@pytest.mark.parametrize("text", ["entropy_x%=2", "entropy_101%=2", "entropy_%=2", "candidates=3"])
def test_thresholds_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(am.InputError, match="is not understood"):
        parse_gates([text])


# ---- the table


def test_every_figure_of_the_table_has_words_and_finite_ends() -> None:
    log = am.mixes.synthesize("exponential:3", messages=200, seed=2)
    audit = am.audit(am.mixes.observe(log, "exponential:3"), steps=0)
    for figure in FIGURES.values():
        title, meaning = (figure.title_for(MESSAGES, "5"), figure.meaning_for(MESSAGES, "5"))
        assert "{" not in title + meaning
        value = figure.value(audit)
        if value is not None:
            assert all(math.isfinite(end) for end in (value.value, value.low, value.high))
            assert value.low - 1e-9 <= value.value <= value.high + 1e-9
        assert 0.0 < confidence_of(audit, figure) <= 1.0


def test_compare_leads_with_the_headline() -> None:
    few, many = am.audit(am.partition([2, 2])), am.audit(am.complete(4))
    comparison = am.compare([few, many], ["few", "many"])
    assert [row.name for row in comparison.rows][:3] == ["entropy", "entropy_5%", "entropy_1%"]
    assert comparison.verdict == "many has more entropy per user: 2 against 1."


# ---- comparing what is no audit


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a.csv", "b.csv"], "compare takes audits, and number 1 is 'a.csv'; audit() it first"),
        ([am.complete(3)] * 2, "number 1 is Graph"),
        ("a.csv", "compare takes a list of audits, not 'a.csv'"),
        (3, "compare takes a list of audits, not 3"),
    ],
)
def test_what_is_no_audit_is_refused_by_compare_in_one_line(given: Any, message: str) -> None:
    with pytest.raises(am.InputError) as error:
        am.compare(given)

    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_single_audit_is_no_list_of_them() -> None:
    with pytest.raises(am.InputError, match="compare takes a list of audits"):
        am.compare(am.audit(am.complete(3)))  # type: ignore[arg-type]


# ---- candidates of a passage, each taken alone


@pytest.mark.parametrize("law", ["exponential:3", "erlang:2,2", "pool:3,4"])
def test_a_passage_has_the_k_notions_of_its_graph(law: str) -> None:
    at_once = Messages.in_order(  # who comes in with a departure may be it, but not after two hops
        arrivals=[0, 1, 2, 3, 4], departures=[2, 3.5, 4, 5, 6], senders="abcde", receivers="vwxyz"
    )
    logs = [am.mixes.synthesize(law, messages=25, seed=seed) for seed in range(6)]
    for log in logs if law == "pool:3,4" else [at_once, *logs]:
        observation = am.mixes.observe(log, law, whole_log=True)
        assert observation.passage is not None
        graph = passage_graph(observation.passage)
        real = graph.to_scipy()[:, : log.n_out] > 0
        audit = am.audit(observation)
        users = audit.answers.users
        by_users = users.degree[users.counted].min()
        by_behaviours = np.asarray(real.sum(axis=0)).ravel().min()
        values = {key: FIGURES[key].value(audit) for key in ("(1,k)", "(k,1)", "(k,k)")}

        assert {key: None if one is None else one.value for key, one in values.items()} == {
            "(1,k)": by_users,
            "(k,1)": by_behaviours,
            "(k,k)": min(by_users, by_behaviours),
        }


def test_k_notions_of_a_mix_that_flushes_with_losses_are_not_known() -> None:
    log = am.mixes.synthesize("timed:5", messages=40, loss=0.1)
    audit = am.audit(am.mixes.observe(log, "timed:5", loss=0.1))

    assert FIGURES["(k,1)"].value(audit) is None

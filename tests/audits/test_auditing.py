"""The audit: every figure against the library's own answers, and what it says in words."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import Matrix, graph_of, matrices, weighted_matrices

import anonymatch as am
from anonymatch.audits.gates import AT_LEAST, AT_MOST, parse_gates
from anonymatch.counting.measures.user_posteriors import user_figures
from anonymatch.mixes.logs.log_graph import passage_graph
from anonymatch.mixes.logs.messages import Messages
from anonymatch.mixes.logs.observation import MessageObservation, Observation, Passage


def passage(arrivals: list[float], departures: list[float], **more: object) -> MessageObservation:
    return MessageObservation(
        passage=Passage(
            users=tuple(f"in {k}" for k in range(len(arrivals))),
            behaviours=tuple(f"out {k}" for k in range(len(departures))),
            arrivals=np.array(arrivals, dtype=float),
            departures=np.array(departures, dtype=float),
        ),
        source="exponential law",
        mean_delay=1.0,
        **more,  # type: ignore[arg-type]
    )


@given(matrices(users=(1, 7), spare=2, matched=True))
def test_figures_are_those_of_count_and_metrics(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    audit = am.audit(graph, threshold=2, steps=0)
    measured = am.metrics(graph, threshold=2)

    assert audit.count.value == am.count(graph).value
    assert audit.bits.low <= am.count(graph).log2 / graph.n_users <= audit.bits.high
    assert audit.degree.value == pytest.approx(measured.degree, abs=1e-12)
    assert audit.below.value == measured.below
    assert audit.identified == len(am.forced(graph))
    assert audit.users.equals(measured.users)
    assert audit.exact
    assert audit.bits.high <= audit.bound + 1e-9


@given(weighted_matrices(users=(1, 5), spare=1, matched=True))
def test_bits_of_weights_are_the_entropy_of_the_matching(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    audit = am.audit(graph, steps=0)
    full = math.log(math.perm(graph.n_behaviours, graph.n_users)) or 1.0

    entropy = am.metrics(graph).matching_entropy * full / math.log(2)
    assert audit.bits.value * graph.n_users == pytest.approx(entropy, abs=1e-9)


@given(matrices(users=(2, 6), spare=0, matched=True), st.integers(1, 4))
def test_the_campaign_is_that_of_attack(matrix: Matrix, steps: int) -> None:
    graph = graph_of(matrix)
    matching = am.sample(graph, 1, seed=3)[0].astype(np.int64)
    observation = Observation(graph=graph, source="test", truth=matching)
    audit = am.audit(observation, steps=steps)
    done = am.attack(graph, steps=min(steps, graph.n_users), truth=matching, exact=False)

    assert [step.target for step in audit.campaign.steps] == done.targets
    assert [step.bits_left for step in audit.campaign.steps] == pytest.approx(
        [log / math.log(2) for log in done.logs[1:]], abs=1e-9
    )
    doubt = [step.in_doubt for step in audit.campaign.steps]
    assert doubt == [step.in_doubt for step in done.steps]


def test_the_campaign_through_a_mix_is_that_of_its_graph() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        number = int(rng.integers(2, 8))
        came = rng.uniform(0, 6, number)
        left = came + rng.exponential(2, number)
        truth = np.arange(number)
        closed = am.audit(passage(came.tolist(), left.tolist(), truth=truth), steps=5)
        graph = am.Graph.from_biadjacency(np.less_equal.outer(came, left).astype(int))
        open_ = am.audit(Observation(graph=graph, source="", truth=truth), steps=5)

        assert closed.bits.value == pytest.approx(open_.bits.value, abs=1e-12)
        assert closed.bound == pytest.approx(open_.bound, abs=1e-12)
        assert closed.degree.value == pytest.approx(open_.degree.value, abs=1e-12)
        assert closed.identified == open_.identified
        assert closed.cost.edges == open_.cost.edges
        # Ties may go to another user, so only the curve is held against the graph's.
        logs = [step.bits_left for step in closed.campaign.steps]
        first = [step.bits_left for step in open_.campaign.steps]
        assert logs[:1] == pytest.approx(first[:1], abs=1e-9) or len(logs) == len(first) == 0
        assert all(before > after for before, after in pairwise(logs))


def test_lost_messages_do_not_multiply_the_ways() -> None:
    # Three came in, one left: it is any of the two that had come by then.
    rows = [[1, 1, 1], [1, 1, 1], [0, 1, 1]]
    observation = MessageObservation(graph=am.Graph.from_biadjacency(rows), source="test", lost=2)
    audit = am.audit(observation)

    assert audit.count.log == pytest.approx(math.log(2))
    assert audit.n_behaviours == 1
    assert audit.cost.lost == 2
    assert audit.cost.edges == 2
    assert audit.designs == ()


def test_truth_is_scored_against_what_was_promised() -> None:
    graph = am.Graph.from_rows(["1100", "1100", "0010", "0001"])
    wrong = am.audit(Observation(graph=graph, source="", truth=np.array([1, 0, 2, 3])))
    assert wrong.score is not None
    # Both are guessed to have done behaviour 0, which is right for one of them.
    assert (wrong.score.right, wrong.score.promised, wrong.score.guesses) == (0.75, 0.75, 4)
    assert [one.guesses for one in wrong.score.bins] == [2, 2]

    outside = am.audit(Observation(graph=graph, source="", truth=np.array([2, 0, 1, -1])))
    assert outside.score is not None
    assert outside.score.impossible == 2
    assert outside.score.guesses == 3

    # The guesses are as right as probability allows, and yet two truths are none of the candidates.
    truth = np.array([0, 2, 1, 3])
    graph = am.Graph.from_rows(["1100", "1100", "0011", "0011"])
    odd = am.audit(Observation(graph=graph, source="", truth=truth))
    assert odd.score is not None
    assert (odd.score.right, odd.score.promised) == (0.25, 0.5)
    assert odd.score.impossible == 2
    assert not odd.score.calibrated
    assert "does not agree with the ground truth" in odd.caveats[0]
    assert not any("does not agree with the ground truth" in text for text in wrong.caveats)


def test_worst_users_come_first_with_a_reason() -> None:
    audit = am.audit(
        am.Graph.from_edges(
            [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
        )
    )
    assert audit.worst[0].user == "cem"
    assert audit.worst[0].probability == 1.0
    assert audit.worst[0].reason == "nobody else fits z"
    assert "1 of 3 (33.3 %) is identified" in audit.verdict


@pytest.mark.parametrize(
    ("graph", "budget", "reason"),
    [
        (am.complete(6), None, "6 candidates, all equally likely"),
        (am.complete(300), None, "300 candidates, all equally likely"),
        (am.ring(40, 6), None, "uneven probabilities"),
        (am.Graph.from_biadjacency(1 + np.eye(6)), None, "uneven probabilities"),
        (am.random_density(40, 0.5, seed=1), 0.0, "probabilities are not known"),
    ],
    ids=["complete", "large", "ring", "weighted", "unknown"],
)
def test_many_candidates_are_uneven_only_if_they_are(
    graph: am.Graph, budget: float | None, reason: str
) -> None:
    assert am.audit(graph, budget=budget, steps=0).worst[0].reason == reason


def test_top_0_names_everybody() -> None:
    assert len(am.audit(am.partition([2, 3]), top=0).worst) == 5
    assert len(am.audit(am.partition([2, 3]), top=2).worst) == 2


def test_senders_with_several_messages_have_figures_of_their_own() -> None:
    # Whatever message of ann's is whose, both went to xia.
    graph = am.complete(2)
    observation = MessageObservation(
        graph=graph, source="", senders=("ann", "ann"), receivers=("xia", "xia")
    )
    audit = am.audit(observation)
    assert (audit.bits.value, audit.people_bits) == (0.5, am.Interval(0.0, 0.0, 0.0))
    assert "1 sender (ann) wrote to a receiver who is certain" in audit.notes[-1]
    table = audit.people
    assert table is not None
    columns = ("sender", "messages", "probability", "receiver", "receiver_probability")
    assert table.select(*columns).rows() == [("ann", 2, 0.5, "xia", 1.0)]


def test_beyond_the_budget_only_intervals_remain() -> None:
    audit = am.audit(am.random_density(40, 0.5, seed=1), budget=0)
    assert not audit.exact
    assert audit.bits.low < audit.bits.high
    assert audit.score is None
    assert audit.campaign.steps == ()
    assert audit.campaign.reason


def test_no_matching_says_who() -> None:
    with pytest.raises(am.NoMatchingError):
        am.audit(am.Graph.from_rows(["10", "10"]))


def test_nobody_is_an_answer_too() -> None:
    audit = am.audit(am.Graph.from_edges([]))
    assert audit.verdict == "There are no users."
    assert json.loads(audit.to_json())["n_users"] == 0


def test_json_holds_every_figure(tmp_path: Path) -> None:
    audit = am.audit(am.ring(6, 3))
    text = audit.to_json(tmp_path / "audit.json")
    record = json.loads(text)

    assert record == json.loads((tmp_path / "audit.json").read_text())
    assert record["count"]["value"] == "20"
    assert record["bits"]["low"] <= math.log2(20) / 6 <= record["bits"]["high"]
    assert {design["objective"] for design in record["designs"]} == {"matchings", "after_attack"}


@pytest.mark.parametrize(
    ("threshold", "reached"),
    [
        ({"bits": 0.4}, True),
        ({"bits": 0.6}, False),
        ({"k": 2}, True),
        ({"k": 3}, False),
        ({"worst": 2}, True),
        ({"worst": 2.1}, False),
        ({"receivers": 2}, True),
        ({"receivers": 2.1}, False),
        ({"surest": 0.5}, True),
        ({"surest": 0.49}, False),
        ({"identified": 0}, True),
    ],
)
def test_gates(threshold: dict[str, float], reached: bool) -> None:
    [gate] = am.check_gates(am.audit(am.partition([2, 2])), threshold)
    assert gate.reached is reached


def test_a_gate_that_the_interval_leaves_open_is_not_reached() -> None:
    audit = am.audit(am.random_density(40, 0.5, seed=1), budget=0)
    middle = (audit.bits.low + audit.bits.high) / 2
    for gate in am.check_gates(audit, {"bits": middle, "surest": 0.9}):
        assert not gate.reached
        assert not gate.missed
        assert "is not sure to be" in gate.text


def test_the_share_of_identified_users_may_be_limited() -> None:
    audit = am.audit(am.partition([1, 2, 1]))
    within, exceeded = (am.check_gates(audit, {"identified": share})[0] for share in (0.5, 0.49))

    meaning = "users with exactly one possible match"
    assert within.text == f"identified=0.5 is kept: {meaning}: 0.5"
    assert exceeded.missed
    assert "is exceeded" in exceeded.text


@pytest.mark.parametrize("name", ["identified", "surest"])
def test_a_limit_in_percent_is_refused(name: str) -> None:
    with pytest.raises(am.InputError, match="give a number from 0 to 1"):
        am.check_gates(am.audit(am.complete(2)), {name: 5})


def test_nobody_misses_no_gate() -> None:
    audit = am.audit(am.Graph.from_edges([]))
    gates = am.check_gates(audit, {name: 1 for name in am.GATES if name != "bits"})

    assert all(gate.reached and "there is nobody" in gate.text for gate in gates)


# ---- receivers of several messages


def by_receiver(graph: am.Graph, receivers: dict[Hashable, str]) -> float:
    """Equally likely receivers of the worst user, by definition."""
    probabilities = am.posterior(graph)
    sizes = []
    for user in graph.users:
        together: defaultdict[str, float] = defaultdict(float)
        for behaviour, probability in probabilities[user].items():
            together[receivers.get(behaviour, "lost")] += probability
        bits = sum(
            -probability * math.log2(probability)
            for probability in together.values()
            if probability > 0
        )
        if any(probability > 0 for receiver, probability in together.items() if receiver != "lost"):
            sizes.append(2.0**bits)  # who cannot have come out is not counted
    return min(sizes, default=math.inf)


@given(matrices(users=(1, 6), spare=2, matched=True), st.data())
def test_receivers_of_a_graph(matrix: Matrix, data: st.DataObject) -> None:
    graph = graph_of(matrix)
    receivers = data.draw(
        st.lists(st.sampled_from("xyz"), min_size=graph.n_behaviours, max_size=graph.n_behaviours)
    )
    audit = am.audit(
        MessageObservation(graph=graph, source="", receivers=tuple(receivers)), steps=0
    )
    [gate] = am.check_gates(audit, {"receivers": 1})
    wanted = by_receiver(graph, dict(zip(graph.behaviours, receivers, strict=True)))

    assert gate.reached
    assert gate.figure.value == pytest.approx(wanted, abs=1e-9)
    assert gate.figure.low - 1e-9 <= wanted <= gate.figure.high + 1e-9
    assert gate.figure.high - gate.figure.low < 1e-6


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.lists(st.integers(1, 6)), st.data())
def test_receivers_of_a_passage(
    arrivals: list[int], delays: list[int], data: st.DataObject
) -> None:
    leaving = [at + delay + 0.5 for at, delay in zip(arrivals, delays, strict=False)]
    receivers = [data.draw(st.sampled_from("xyz")) for _ in leaving]
    observation = passage([float(at) for at in arrivals], leaving, receivers=tuple(receivers))
    [gate] = am.check_gates(am.audit(observation, steps=0), {"receivers": 1})
    assert observation.passage is not None
    names = dict(zip(observation.passage.behaviours, receivers, strict=True))
    wanted = by_receiver(passage_graph(observation.passage), names)

    assert gate.figure.value == pytest.approx(wanted, abs=1e-9)
    assert wanted == math.inf or gate.figure.high - gate.figure.low < 1e-9


def test_receivers_of_a_long_passage_keep_their_scale() -> None:
    # With 101 inside throughout, what is far ahead is less likely than the smallest double.
    number = 80_000
    arrivals = np.arange(number) * 1.0
    early = ["xy"[k % 2] for k in range(number // 2)]
    observation = passage(
        arrivals.tolist(),
        (arrivals + 100.5).tolist(),
        receivers=(*early, *range(number // 2)),
    )
    [gate] = am.check_gates(am.audit(observation, steps=0), {"receivers": 1})
    probabilities = 101 / 201, 100 / 201  # of the receiver of the next departure, and of the other

    wanted = 2.0 ** -sum(probability * math.log2(probability) for probability in probabilities)
    assert gate.figure.value == pytest.approx(wanted, rel=1e-12)


def test_receivers_are_unknown_where_probabilities_are() -> None:
    observation = MessageObservation(
        graph=am.random_density(40, 0.5, seed=1), source="", receivers=tuple(range(20)) * 2
    )
    audit = am.audit(observation, budget=0)
    reached, unsure = (am.check_gates(audit, {"receivers": number})[0] for number in (1, 2))

    assert reached.reached
    assert "is not sure to be reached" in unsure.text


@pytest.mark.parametrize("text", ["bits", "bits=", "bits=x", "mood=3", "k=-1", "k=nan", ""])
def test_bad_gates_are_refused(text: str) -> None:
    with pytest.raises(am.InputError, match="known are entropy=NUMBER"):
        parse_gates([text])


@pytest.mark.parametrize(
    ("text", "known", "option"),
    [("identified=0.1", AT_LEAST, "--fail-over"), ("bits=3", AT_MOST, "--fail-under")],
)
def test_gates_of_the_other_option_are_named(text: str, known: dict[str, str], option: str) -> None:
    with pytest.raises(am.InputError, match=f"'{text}' belongs to {option}"):
        parse_gates([text], known)


def test_compare_says_what_holds_of_one_audit_with_its_name() -> None:
    truth = np.array([1, 0, 2])
    fits = am.audit(Observation(graph=am.complete(3), source="", truth=truth))
    graph = am.Graph.from_rows(["100", "010", "001"])
    odd = am.audit(Observation(graph=graph, source="", truth=truth, notes=("odd log",)))
    comparison = am.compare([fits, odd], ["all", "odd"])

    assert comparison.caveats == (f"odd: {odd.caveats[0]}", *fits.caveats)
    assert comparison.notes == ("odd: odd log",)


def test_compare_names_the_threshold() -> None:
    def below(*sizes: float) -> tuple[str, str]:
        comparison = am.compare([am.audit(am.complete(3), threshold=size) for size in sizes])
        return next((row.title, row.meaning) for row in comparison.rows if row.name == "below")

    few = "share of users whose effective anonymity set is below"
    assert below(7, 7) == ("below 7", f"{few} 7")
    assert below(7, 2.5) == ("below the threshold", f"{few} the threshold (7, 2.5)")


def test_compare_claims_no_difference_where_intervals_overlap() -> None:
    graph = am.random_density(40, 0.5, seed=1)
    vague = am.audit(graph, budget=0)
    comparison = am.compare([vague, am.audit(am.random_density(40, 0.5, seed=2), budget=0)])
    assert comparison.verdict.startswith("Intervals overlap")
    assert comparison.rows[0].judgement.startswith("no sure difference")
    same = am.compare([am.audit(am.complete(3)), am.audit(am.complete(3))])
    assert same.rows[0].judgement == "no difference"
    assert same.names == ("graph (1)", "graph (2)")
    with pytest.raises(am.InputError, match="two audits"):
        am.compare([vague])


@given(st.data())
def test_losses_and_cover_traffic_are_counted_by_definition(data: st.DataObject) -> None:
    """Against all ways to lose so many messages in and match the others to messages out."""
    n_in, n_out = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    came = sorted(data.draw(st.lists(st.integers(0, 6), min_size=n_in, max_size=n_in)))
    left = sorted(data.draw(st.lists(st.integers(0, 9), min_size=n_out, max_size=n_out)))
    lost = data.draw(st.integers(max(0, n_in - n_out), n_in))
    log = Messages(
        arrivals=np.array(came, float),
        departures=np.array(left, float),
        senders=tuple(f"u{k}" for k in range(n_in)),
        receivers=tuple(f"b{k}" for k in range(n_out)),
    )
    stories = []
    for chosen in itertools.product(range(-1, n_out), repeat=n_in):
        real = [j for j in chosen if j >= 0]
        fits = all(0 <= left[j] - came[i] <= 4 for i, j in enumerate(chosen) if j >= 0)
        if fits and len(set(real)) == len(real) == n_in - lost:
            stories.append(chosen)
    try:
        audit = am.audit(am.mixes.observe(log, "window:0,4", lost=lost))
    except am.InputError:
        assert not stories or n_in - lost == n_out
        return

    assert audit.count.log == pytest.approx(math.log(len(stories)), abs=1e-9)
    users = audit.answers.users
    for i in range(n_in):
        observed = Counter(story[i] for story in stories if story[i] >= 0)
        if not observed:
            assert users.censored[i]
            continue
        best = max(observed.values()) / len(stories)
        departed = sum(observed.values())
        assert users.probability.value[i] == pytest.approx(best, abs=1e-9)
        assert users.allowed[i] == len(observed)
        assert observed[int(users.guess[i])] / len(stories) == pytest.approx(best, abs=1e-9)
        if users.departed is not None:
            assert users.departed[i] == pytest.approx(departed / len(stories), abs=1e-9)
        shares = [number / departed for number in observed.values()]
        bits = sum(-share * math.log2(share) for share in shares)
        assert users.shannon.value[i] == pytest.approx(bits, abs=1e-9)
        assert users.shannon.low[i] - 1e-9 <= bits <= users.shannon.high[i] + 1e-9


def test_a_score_counts_lost_messages_too() -> None:
    """Promises about survivors alone would look too small."""
    right = promised = variance = 0.0
    for seed in range(60):
        log = am.mixes.synthesize("window:1,4", messages=12, loss=0.15, seed=seed)
        lost = len(log.arrivals) - len(log.departures)
        score = am.audit(am.mixes.observe(log, "window:1,4", lost=lost), steps=0).score
        assert score is not None
        right += score.right * score.guesses
        promised += score.promised * score.guesses
        variance += (score.error * score.guesses) ** 2
    assert abs(right - promised) < 4 * math.sqrt(variance)


def test_a_campaign_through_a_mix_with_incomplete_truth_reports_a_sampled_one() -> None:
    log = am.mixes.synthesize("exponential:3", messages=30, seed=1)
    observation = am.mixes.observe(log, "exponential:3")
    assert observation.passage is not None
    assert observation.truth is not None
    partial = observation.truth.copy()
    partial[3] = -1

    whole, drawn = (
        am.audit(replace(observation, truth=truth), steps=3).campaign
        for truth in (observation.truth, partial)
    )
    assert (whole.truth, whole.seed) == ("given", None)
    assert (drawn.truth, drawn.seed) == ("sampled", 0)


def test_the_campaign_of_a_large_log_turns_to_each_block_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = am.partition([3, 4, 2, 1])
    matching = np.arange(10)
    exact = am.audit(Observation(graph=graph, source="", truth=matching), steps=3)

    def refuse(*_: object, **__: object) -> None:
        raise am.BudgetError("too long", seconds=1e9, memory=0.0)

    monkeypatch.setattr("anonymatch.theory.attacks.attack", refuse)
    audit = am.audit(Observation(graph=graph, source="", truth=matching))

    assert [step.target for step in audit.campaign.steps] == [3, 0, 7]
    assert audit.campaign.steps[-1].bits_left == pytest.approx(math.log2(6 * 24 * 2 / 3 / 4 / 2))
    assert "one user in each block" in audit.campaign.reason
    assert exact.campaign.reason == ""


# ---- what users and behaviours are called


@pytest.mark.parametrize("law", ["window:0,3", "threshold:2", "pool:2,0", "timed:2"])
def test_a_log_has_messages_though_no_delay_is_known(law: str) -> None:
    came, left = np.array([0.5, 1.0]), np.array([2.0, 2.0])
    log = Messages(arrivals=came, departures=left, senders=("a", "b"), receivers=("x", "y"))
    observation = replace(am.mixes.observe(log, law), mean_delay=None)

    assert am.audit(observation).verdict.startswith("Entropy 1 bit per message; a typical one")


def test_flow_pairs_are_flows() -> None:
    audit = am.audit(Path(__file__).parents[2] / "examples" / "flows")
    [gate] = am.check_gates(audit, {"bits": 0})

    assert audit.verdict == "Every flow is identified."
    assert gate.meaning.startswith("log2 of the number of matchings, per flow;")
    assert am.compare([audit, audit]).verdict == "All have the same entropy per flow."
    assert am.compare([audit, am.audit(am.complete(2))]).rows[0].title == "entropy per message"


# ---- large complete blocks


@pytest.mark.parametrize(("users", "behaviours"), [(1, 1), (2, 2), (6, 6), (4, 6), (1, 3)])
def test_the_campaign_through_a_complete_block_is_the_attack_s(users: int, behaviours: int) -> None:
    graph = am.Graph.from_biadjacency(np.ones((users, behaviours)))
    campaign = am.audit(graph, steps=10).campaign
    done = am.attack(graph, steps=users, truth="sampled", exact=False, seed=0)

    assert [step.target for step in campaign.steps] == [step.target for step in done.steps]
    assert [step.in_doubt for step in campaign.steps] == [step.in_doubt for step in done.steps]
    assert [step.bits_left for step in campaign.steps] == pytest.approx(
        [(step.log or 0.0) / math.log(2) for step in done.steps], abs=1e-9
    )
    assert bool(campaign.reason) == (not done.steps)


def test_a_complete_block_beside_smaller_ones_keeps_their_bits_in_a_campaign() -> None:
    graph = am.partition([7, 3, 2])
    steps = am.audit(graph, steps=1).campaign.steps

    assert len(steps) == 1
    assert steps[0].bits_left == pytest.approx(math.log2(720 * 6 * 2))
    assert steps[0].in_doubt == 6 + 3 + 2


def test_equal_users_of_a_wide_graph_have_the_figures_of_each() -> None:
    """Rows that repeat are computed once; neighbours that differ in one edge are not equal."""
    rows = np.ones((300, 300))
    rows[7, 3] = rows[200:203, 5] = 0
    graph = am.Graph.from_biadjacency(rows)
    probabilities = am.posterior(graph).probabilities
    figures = user_figures(graph, probabilities, 1e-12)
    each = [
        user_figures(graph, np.where(graph.rows() == i, probabilities, np.nan), 1e-12)
        for i in (0, 7, 8, 200, 202, 299)
    ]

    for i, one in zip((0, 7, 8, 200, 202, 299), each, strict=True):
        assert figures.shannon.value[i] == pytest.approx(one.shannon.value[i], abs=1e-12)
        assert figures.degree[i] == one.degree[i] == graph.degrees[i]
        assert figures.guess[i] == one.guess[i]
        assert figures.guesses is not None
        assert one.guesses is not None
        assert figures.guesses.value[i] == pytest.approx(one.guesses.value[i], abs=1e-9)


def test_designs_are_searched_for_when_somebody_looks() -> None:
    audit = am.audit(am.ring(8, 2))

    assert not {"best_design", "front"} & set(vars(audit))
    assert [each.objective for each in audit.designs] == ["matchings", "after_attack"]
    assert audit.designs[0] is audit.best_design
    assert len(audit.front) > 1

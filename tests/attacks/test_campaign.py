"""Campaigns: against sets of matchings followed outcome by outcome, and on large graphs."""

from __future__ import annotations

import json
import math
import pickle
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.attacks import oracle
from tests.strategies import FRACTIONS, Matrix, graph_of, matrices, weighted_matrices

import anonymatch as am
from anonymatch.theory.attacks import adaptive, attack
from anonymatch.theory.attacks.tuning import attacks_tuned

MATRICES = matrices(users=(1, 5), matched=True) | matrices(users=(1, 4), spare=2, matched=True)
HEAVY = matrices(users=(1, 4), weights=FRACTIONS, matched=True)
COUNTER = ["11011", "11011", "10111", "10111", "01111"]


def _index(name: object) -> int:
    """Users and behaviours without names are numbers."""
    assert isinstance(name, int)
    return name


def policies(graph: am.Graph) -> dict[str, oracle.Policy]:
    return {
        "optimal": oracle.optimal,
        "entropy": oracle.by_entropy,
        "random": oracle.at_random,
        "degree": oracle.by_degree(graph),
    }


@given(MATRICES | HEAVY, st.sampled_from(["optimal", "entropy", "random", "degree", "fixed"]))
def test_expectations_are_those_of_all_outcomes(matrix: Matrix, strategy: str) -> None:
    graph = graph_of(matrix)
    order = list(range(graph.n_users))[::-1]
    requested: Any = order if strategy == "fixed" else strategy
    policy = oracle.in_order(order) if strategy == "fixed" else policies(graph)[strategy]
    steps = min(3, graph.n_users)

    campaign = attack(graph, steps=steps, strategy=requested, exact=True)

    expected = oracle.expectation(graph, policy, steps)
    assert campaign.exact
    assert campaign.samples is None
    for step, truth in zip(campaign.steps, expected, strict=False):
        assert step.expected_left == truth.left
        assert step.expected_log == pytest.approx(truth.log, abs=1e-9)
        assert step.log_expected_left == pytest.approx(math.log(truth.left), abs=1e-9)
        assert step.n_forced == truth.forced
        assert step.edges_left == truth.edges
        assert step.in_doubt == truth.in_doubt
        assert step.targets == {k: v for k, v in truth.targets.items() if v}
    assert all(not truth.targets for truth in expected[len(campaign.steps) :])


@given(MATRICES, st.data())
def test_a_campaign_along_a_truth_is_the_exposed_graph(matrix: Matrix, data: st.DataObject) -> None:
    graph = graph_of(matrix)
    truth = data.draw(st.sampled_from(sorted(oracle.all_matchings(graph))))

    campaign = attack(graph, steps=graph.n_users, truth=truth)

    rest, left, known = graph, oracle.all_matchings(graph), {}
    for step in campaign.steps:
        shares = [oracle.share(left, user) for user in range(graph.n_users)]
        best = [user for user, value in enumerate(shares) if value == min(shares)]
        assert list(step.ties) == best
        assert step.target == best[0]
        assert step.behaviour == truth[best[0]]
        assert step.expected_left == oracle.total(left) * min(shares)
        entropy = oracle.entropy(left, best[0])
        assert step.expected_log == pytest.approx(math.log(len(left)) - entropy, abs=1e-9)
        before = oracle.identified(left)
        rest = rest.expose(step.target, step.behaviour)
        left = oracle.outcomes(left, best[0])[truth[best[0]]]
        known[best[0]] = truth[best[0]]
        now = oracle.identified(left)
        assert step.left == am.count(rest).value
        assert step.log == pytest.approx(am.count(rest).log, abs=1e-9)
        assert dict(step.newly_forced or {}) == {u: truth[u] for u in now - before - {best[0]}}
        assert step.edges_left == am.allowed(rest).n_edges == oracle.edges(left, known)
        assert step.in_doubt == graph.n_users - len(now)
    assert campaign.finished
    assert am.count(rest).value == 1
    assert campaign.logs[-1] == pytest.approx(0.0, abs=1e-12)


@given(weighted_matrices(users=(2, 5), matched=True), st.integers(0, 5))
def test_what_is_left_of_weights_includes_what_was_revealed(matrix: Matrix, seed: int) -> None:
    graph = graph_of(matrix)

    campaign = attack(graph, steps=2, truth="sampled", seed=seed, strategy="random")

    rest, weight = graph, Fraction(1)
    for step in campaign.steps:
        weight *= Fraction(matrix[_index(step.target)][_index(step.behaviour)])
        rest = rest.expose(step.target, step.behaviour)
        assert step.log == pytest.approx(am.count(rest).log + math.log(weight), abs=1e-8)


@given(matrices(users=(2, 5), matched=True))
def test_lookahead_is_best_play_and_optimal_is_at_least_greedy(matrix: Matrix) -> None:
    graph = graph_of(matrix)
    steps = min(3, graph.n_users - 1)
    play = adaptive(graph, steps=steps)

    ahead = attack(graph, steps=steps, strategy="lookahead")
    greedy = attack(graph, steps=steps)

    last = Fraction(am.count(graph).value) if not ahead.steps else ahead.steps[-1].expected_left
    assert last == play.optimal[steps]
    lefts = [step.expected_left for step in greedy.steps]
    assert all(left >= play.greedy[k + 1] for k, left in enumerate(lefts))


def test_lookahead_knows_more_than_the_next_step() -> None:
    graph = am.Graph.from_rows(COUNTER)

    assert attack(graph, steps=2).steps[1].expected_left == Fraction(18, 5)
    assert attack(graph, steps=2, strategy="lookahead").steps[1].expected_left == Fraction(61, 20)
    assert attack(graph, steps=1, strategy="lookahead").targets == attack(graph).targets


def test_the_degree_attacker_may_waste_an_exposure() -> None:
    graph = am.Graph.from_rows(["11111", "01000", "00111", "00111", "00111"])

    naive, best = attack(graph, strategy="degree"), attack(graph)

    assert (naive.steps[0].target, naive.steps[0].expected_left) == (0, 6)
    assert (best.steps[0].target, best.steps[0].expected_left) == (2, 2)
    assert list(best.steps[0].ties) == [2, 3, 4]


def test_the_degree_attacker_counts_the_edges_that_are_left() -> None:
    graph = am.Graph.from_rows(["1111", "1101", "1110", "1011"])

    campaign = attack(graph, steps=3, strategy="degree", truth=[3, 1, 0, 2])

    assert campaign.targets == [0, 2]
    assert [list(step.ties) for step in campaign.steps] == [[0], [2]]


def test_truths_by_name_and_by_index_are_the_same() -> None:
    pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    graph = am.Graph.from_edges(pairs)

    named = attack(graph, truth={"cem": "z", "ann": "y", "bob": "x"})
    numbered = attack(graph, truth=np.array([1, 0, 2]))

    assert named.to_dict() == numbered.to_dict()
    assert named.steps[0].newly_forced == {"bob": "x"}
    assert str(named.steps[0]) == (
        "1. expose 'ann' (did 'y'): 2^0 matchings expected, 2^0 left, 1 more identified"
    )


def test_a_user_who_was_forced_before_can_still_be_named() -> None:
    campaign = attack(am.partition([2, 3]), strategy=[0, 1, 2], truth="sampled", seed=1)

    assert [step.left for step in campaign.steps] == [6, 6, 2]
    assert list(campaign.steps[0].newly_forced or {}) == [1]
    assert (campaign.steps[1].behaviour,) == tuple((campaign.steps[0].newly_forced or {}).values())


def test_too_many_outcomes_are_sampled() -> None:
    graph = am.Graph.from_rows(COUNTER)
    exactly = attack(graph, steps=4)
    with attacks_tuned(branches=3):
        result = attack(graph, steps=4, seed=7)

    assert (result.samples, result.seed, result.exact) == (100, 7, False)
    for step, truth in zip(result.steps, exactly.steps, strict=True):
        assert step.expected_log == pytest.approx(truth.expected_log, abs=5 * step.log_error + 1e-9)
    assert "average over 100 truths" in str(result)


def test_who_is_forced_is_left_open_where_it_costs_too_much() -> None:
    with attacks_tuned(forced_cells=1):
        (step,) = attack(am.Graph.from_rows(COUNTER)).steps

    assert (step.n_forced, step.edges_left, step.in_doubt) == (None, None, None)
    assert step.expected_left == Fraction(52, 5)


def test_forgetting_changes_nothing() -> None:
    graph = am.random_density(12, 0.4, seed=5)
    remembered = attack(graph, steps=6, truth="sampled", seed=3).to_dict()

    with attacks_tuned(splits_remembered=2):
        assert attack(graph, steps=6, truth="sampled", seed=3).to_dict() == remembered


def test_a_given_order_may_name_who_is_identified() -> None:
    graph = am.Graph.from_rows(["110", "110", "111"])

    campaign = attack(graph, strategy=[2, 0], truth=[0, 1, 2])

    assert [step.left for step in campaign.steps] == [2, 1]
    assert campaign.steps[0].expected_left == 2
    assert campaign.steps[1].newly_forced == {1: 1}


def test_a_campaign_ends_when_one_matching_is_left() -> None:
    campaign = attack(am.ring(6, 2), steps=6, truth="sampled")

    assert len(campaign.steps) == 1
    assert campaign.finished
    assert len(campaign.steps[0].newly_forced or {}) == 5
    assert attack(am.Graph.from_rows(["100", "110", "111"]), steps=2).steps == ()


def test_averages_hold_the_exact_expectations() -> None:
    """Over fixed seeds, 95 % intervals miss about one time in twenty."""
    graph = am.Graph.from_rows(COUNTER)
    exactly = attack(graph, steps=3)
    misses = 0
    for seed in range(30):
        sampled = attack(graph, steps=3, samples=50, seed=seed)
        assert sampled.samples == 50
        assert not sampled.exact
        assert sampled.steps[0].log_error == 0.0
        assert sampled.steps[0].expected_left == pytest.approx(52 / 5)
        low, high = sampled.steps[2].interval
        misses += not low <= exactly.steps[2].expected_log <= high
        error = abs(sampled.steps[2].expected_left - 1.4) / 1.4
        assert error < 6 * sampled.steps[2].left_error + 1e-9
    assert misses <= 5


def test_sampled_truths_follow_the_probabilities() -> None:
    graph = am.Graph.from_rows(["111", "011", "111"])
    drawn = [attack(graph, truth="sampled", seed=s, strategy=[0]).steps[0] for s in range(400)]

    shares = np.bincount([_index(step.behaviour) for step in drawn], minlength=3) / 400

    assert shares == pytest.approx([1 / 2, 1 / 4, 1 / 4], abs=0.1)


def test_the_same_seed_gives_the_same_campaign() -> None:
    graph = am.random_density(12, 0.4, seed=5)
    settings: dict[str, Any] = {"steps": 5, "strategy": "random", "truth": "sampled"}

    one, two, three = (attack(graph, seed=seed, **settings) for seed in (1, 1, 2))

    assert one.to_dict() == two.to_dict()
    assert one.seed == 1
    assert one.to_dict() != three.to_dict()


def test_many_steps_through_many_equal_blocks() -> None:
    graph = am.partition([8] * 500)

    campaign = attack(graph, steps=600, truth="sampled", seed=2)

    assert len(campaign.steps) == 600
    assert campaign.targets[:3] == [0, 8, 16]
    assert len(campaign.steps[0].ties) == 4000
    assert len(campaign.steps[499].ties) == 8
    assert len(campaign.steps[500].ties) == 500 * 7
    assert campaign.steps[500].ties[0] == 1
    exact = math.factorial(6) ** 100 * math.factorial(7) ** 400
    assert campaign.steps[-1].log == pytest.approx(math.log(exact), rel=1e-12)
    assert campaign.steps[-1].left == exact
    assert campaign.steps[-1].expected_left == exact
    in_expectation = attack(graph, steps=600)
    assert in_expectation.exact
    assert in_expectation.steps[-1].expected_left == exact


def test_different_blocks_are_attacked_in_the_order_of_their_shares() -> None:
    graph = am.partition([2, 5, 3, 5])

    campaign = attack(graph, steps=5, truth=list(range(15)))

    assert campaign.targets == [2, 10, 3, 11, 4]
    assert [step.expected_left for step in campaign.steps] == [
        am.count(am.partition(sizes)).value
        for sizes in ([2, 4, 3, 5], [2, 4, 3, 4], [2, 3, 3, 4], [2, 3, 3, 3], [2, 2, 3, 3])
    ]


def test_records_travel_and_are_plain() -> None:
    graph = am.Graph.from_rows(COUNTER)
    campaign = attack(graph, steps=2, truth="sampled", seed=1)

    plain = json.loads(json.dumps(campaign.to_dict()))
    again = pickle.loads(pickle.dumps(campaign))

    assert plain["steps"][0]["expected_left"] == "52/5"
    assert plain["steps"][0]["n_ties"] == 1
    assert again.steps[1].expected_left == campaign.steps[1].expected_left
    assert again.steps[1].ties == campaign.steps[1].ties == list(campaign.steps[1].ties)


def test_progress_is_told() -> None:
    reports: list[tuple[float, float]] = []

    attack(am.complete(5), steps=3, truth="sampled", progress=lambda a, b: reports.append((a, b)))

    assert reports == [(1, 3), (2, 3), (3, 3)]


def test_doubles_on_request_and_where_integers_cost_too_much() -> None:
    graph = am.band(200, 3, 3)
    exactly = attack(graph, steps=3, truth="sampled", seed=4)

    doubles = attack(graph, steps=3, truth="sampled", seed=4, exact=False)
    hurried = attack(graph, steps=150, truth="sampled", seed=4, budget=0.3)

    assert exactly.exact
    assert not doubles.exact
    assert doubles.targets == exactly.targets
    assert doubles.logs == pytest.approx(exactly.logs, abs=1e-8)
    assert isinstance(doubles.steps[0].expected_left, float)
    assert not hurried.exact


def test_a_campaign_beyond_the_budget_is_refused_before_it_begins() -> None:
    graph = am.random_regular(30, 15, seed=2)

    with pytest.raises(am.BudgetError, match="would take"):
        attack(graph, budget=0.01)
    with pytest.raises(am.BudgetError, match="following 200 exposures would take"):
        attack(am.band(2000, 5, 5), steps=200, truth="sampled", budget=1)


def test_what_a_refused_campaign_advises_is_allowed() -> None:
    graph, small = am.random_density(20, 0.5, seed=1), 0.03

    with pytest.raises(am.BudgetError, match="3 steps along each of 100 sampled truths") as refused:
        attack(graph, steps=3, budget=small)
    advice = re.search(r"budget=([0-9.]+), or take .* samples=([0-9]+)$", str(refused.value))
    assert advice
    budget, fewer = float(advice[1]), int(advice[2])

    assert attack(graph, steps=3, budget=budget).samples == 100
    assert attack(graph, steps=3, budget=small, samples=fewer).samples == fewer
    with pytest.raises(am.BudgetError, match=f"each of {fewer + 1} .* samples={fewer}$"):
        attack(graph, steps=3, budget=small, samples=fewer + 1)


@pytest.mark.slow
def test_a_refused_walk_advises_a_budget_that_pays_for_the_graph_too() -> None:
    graph = am.band(2000, 5, 5)
    with pytest.raises(am.BudgetError) as refused:
        attack(graph, steps=200, truth="sampled", budget=1)

    assert len(attack(graph, steps=200, truth="sampled", budget=refused.value.seconds).steps) == 200


GRAPH = am.Graph.from_rows(["110", "110", "111"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": 4}, "4 steps, but the graph has only 3 users"),
        ({"steps": 0}, "steps must be a whole number from 1, not 0"),
        ({"steps": True}, "steps must be a whole number from 1"),
        ({"strategy": "best"}, "strategy must be one of optimal, lookahead, entropy, random, deg"),
        ({"strategy": []}, "strategy names no user"),
        ({"strategy": [0, 0]}, "user 0 is named twice"),
        ({"strategy": [9]}, "no user 9"),
        ({"strategy": 3}, "strategy must be a name or a list of users, not 3"),
        ({"strategy": [0], "steps": 2}, "2 steps, but only 1 user is named; name more"),
        ({"truth": [0, 1]}, "truth must be 3 behaviour indices"),
        ({"truth": [0, 0, 2]}, "users 0 and 1 both did 0"),
        ({"truth": [0, 2, 1]}, "user 1 cannot have done 2: no such edge"),
        ({"truth": [0, 1, 3]}, "user 2 has behaviour index 3, but there are 3"),
        ({"truth": {0: 0, 1: 1}}, "truth says nothing about user 2"),
        ({"truth": {0: 0, 1: 1, 2: 9}}, "no behaviour 9"),
        ({"truth": "known"}, "truth is 'known'"),
        ({"truth": 5}, "truth is 5"),
        ({"seed": -1}, "seed must be a whole number from 0, not -1"),
        ({"samples": 1}, "samples must be a whole number from 2, not 1"),
        ({"samples": 9, "truth": "sampled"}, "samples is for expectations"),
    ],
)
def test_bad_questions_are_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(am.InputError, match=message) as caught:
        attack(GRAPH, **settings)

    assert "\n" not in str(caught.value)


def test_no_matching_has_its_witness() -> None:
    with pytest.raises(am.NoMatchingError) as caught:
        attack(am.Graph.from_rows(["100", "100", "111"]))

    assert caught.value.users == (0, 1)
    assert caught.value.behaviours == (0,)


ANY_STRATEGY = pytest.mark.parametrize(
    "strategy", ["optimal", "lookahead", "entropy", "random", "degree", [2, 0, 1]], ids=str
)


@ANY_STRATEGY
def test_every_strategy_leaves_the_matchings_that_agree_with_the_truth(strategy: Any) -> None:
    graph = am.Graph.from_rows(COUNTER)
    left = oracle.all_matchings(graph)
    truth = sorted(left)[3]

    campaign = attack(graph, steps=3, strategy=strategy, truth=truth, seed=1)

    assert len(campaign.steps) == 3
    for step in campaign.steps:
        target = _index(step.target)
        left = oracle.outcomes(left, target)[truth[target]]
        assert step.left == oracle.total(left)


@ANY_STRATEGY
def test_every_strategy_has_drawn_expectations_near_the_exact_ones(strategy: Any) -> None:
    graph = am.Graph.from_rows(COUNTER)
    exact = attack(graph, steps=3, strategy=strategy, exact=True)
    drawn = attack(graph, steps=3, strategy=strategy, samples=300, seed=2)

    assert drawn.samples == 300
    for one, other in zip(exact.steps, drawn.steps, strict=True):
        assert abs(one.expected_log - other.expected_log) <= 4 * other.log_error + 1e-9


@given(matrices(users=(2, 5), matched=True), st.data())
def test_among_some_users_the_best_is_exposed_and_nobody_else(
    matrix: Matrix, data: st.DataObject
) -> None:
    graph = graph_of(matrix)
    truth = data.draw(st.sampled_from(sorted(oracle.all_matchings(graph))))
    among = data.draw(st.sets(st.sampled_from(range(graph.n_users)), min_size=1))

    campaign = attack(graph, steps=len(among), among=among, truth=truth)

    left, hidden = oracle.all_matchings(graph), set(among)
    for step in campaign.steps:
        shares = {user: oracle.share(left, user) for user in hidden}
        best = sorted(user for user, value in shares.items() if value == min(shares.values()))
        assert (step.target, list(step.ties)) == (best[0], best)
        left = oracle.outcomes(left, best[0])[truth[best[0]]]
        hidden -= {best[0]}
    assert all(oracle.share(left, user) == 1 for user in hidden)


@given(matrices(users=(2, 5), matched=True), st.data())
def test_by_entropy_the_least_known_of_some_users_is_exposed(
    matrix: Matrix, data: st.DataObject
) -> None:
    graph = graph_of(matrix)
    truth = data.draw(st.sampled_from(sorted(oracle.all_matchings(graph))))
    among = data.draw(st.sets(st.sampled_from(range(graph.n_users)), min_size=1))

    campaign = attack(graph, steps=len(among), among=among, truth=truth, strategy="entropy")

    left, hidden = oracle.all_matchings(graph), set(among)
    for step in campaign.steps:
        entropies = {user: oracle.entropy(left, user) for user in hidden}
        target = _index(step.target)
        assert entropies[target] == pytest.approx(max(entropies.values()), abs=1e-9)
        left = oracle.outcomes(left, target)[truth[target]]
        hidden -= {target}


def test_expectations_among_everybody_are_those_of_everybody() -> None:
    graph = am.Graph.from_rows(COUNTER)

    some = attack(graph, steps=3, among=range(graph.n_users))

    lefts = [step.expected_left for step in attack(graph, steps=3).steps]
    assert [step.expected_left for step in some.steps] == lefts
    with attacks_tuned(branches=1):
        drawn = attack(graph, steps=3, among=range(graph.n_users), samples=50, seed=3)
    assert drawn.steps[0].log_expected_left == pytest.approx(math.log(lefts[0]))


def test_expectations_end_when_those_named_are_identified() -> None:
    campaign = attack(am.partition([2, 2, 3]), steps=3, among=[0, 1, 2])

    assert [step.target for step in campaign.steps] == [0, 2]
    assert campaign.steps[-1].expected_left == 6
    assert not campaign.finished


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"among": []}, "among names no user"),
        ({"among": [0], "strategy": "degree"}, "strategies optimal and entropy"),
        ({"among": [0], "strategy": [0]}, "strategies optimal and entropy"),
        ({"among": [0], "steps": 2}, "only 1 user is named"),
        ({"among": ["eve"]}, "eve"),
    ],
)
def test_who_may_be_exposed_must_make_sense(options: dict[str, Any], message: str) -> None:
    with pytest.raises(am.InputError, match=message):
        attack(am.complete(3), **options)

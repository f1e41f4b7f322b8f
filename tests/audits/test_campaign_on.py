"""An attack on some users only: it exposes nobody else, and what is left is what is left."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import anonymatch as am
from anonymatch.audits import campaign_on
from anonymatch.counting.reference import matchings


def test_only_those_who_are_named_are_exposed_and_bits_are_of_the_graph_that_is_left() -> None:
    graph = am.ring(7, 3)
    audit = am.audit(graph)
    among = [1, 2, 4]

    campaign = campaign_on(audit, among, steps=3)

    left = graph
    truth = am.attack(graph, strategy=[step.target for step in campaign.steps], truth="sampled")
    assert {step.target for step in campaign.steps} <= set(among)
    for step, known in zip(campaign.steps, truth.steps, strict=True):
        left = left.expose(known.target, known.behaviour)
        assert step.bits_left == pytest.approx(math.log2(len(list(matchings(left)))), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_each_step_exposes_the_best_of_those_named_as_things_stand_then(seed: int) -> None:
    rows = np.random.default_rng(seed).random((8, 8)) < 0.45
    graph = am.Graph.from_biadjacency(rows | np.eye(8, dtype=bool))
    among = [0, 1, 2, 3, 5]

    campaign = campaign_on(am.audit(graph), among, steps=5)

    left, hidden = list(matchings(graph)), set(among)
    revealed = am.attack(graph, strategy=[step.target for step in campaign.steps], truth="sampled")
    for step, known in zip(campaign.steps, revealed.steps, strict=True):
        shares = {user: _share_left(left, user) for user in hidden}
        assert step.target == min(shares, key=lambda user: (shares[user], user))
        left = [story for story in left if story[step.target] == known.behaviour]
        hidden.remove(step.target)
        assert step.bits_left == pytest.approx(math.log2(len(left)), abs=1e-9)
    assert len(campaign.steps) == 5 or all(_share_left(left, user) == 1 for user in hidden)


def _share_left(left: list[tuple[int, ...]], user: int) -> Fraction:
    """What exposing a user leaves of the stories on average."""
    numbers = Counter(story[user] for story in left).values()
    return Fraction(sum(number**2 for number in numbers), len(left) ** 2)


def test_whoever_another_exposure_identified_is_not_exposed_again() -> None:
    graph = am.partition([2, 2])

    campaign = campaign_on(am.audit(graph), [0, 1, 2], steps=3)

    assert [step.target for step in campaign.steps] == [0, 2]  # and 1 is known by then


def test_an_exponential_log_is_followed_along_its_truth() -> None:
    log = am.mixes.synthesize("exponential:2", messages=60, rate=2.0, seed=1)
    audit = am.audit(am.mixes.observe(log, "exponential:2", drained=True))
    everybody = campaign_on(audit, audit.answers.users.users, steps=5)
    some = campaign_on(audit, audit.answers.users.users[20:30], steps=5)

    assert [step.target for step in everybody.steps] == [
        step.target for step in audit.campaign.steps[:5]
    ]
    assert {step.target for step in some.steps} <= set(audit.answers.users.users[20:30])
    lost = [one.steps[-1].bits_left for one in (everybody, some)]
    assert lost[0] <= lost[1]  # whoever may choose from all does not do worse


def test_other_blocks_keep_their_bits() -> None:
    audit = am.audit(am.partition([3, 4]))

    campaign = campaign_on(audit, [0], steps=4)

    assert [step.bits_left for step in campaign.steps] == [pytest.approx(math.log2(2 * 24))]


@pytest.mark.parametrize("users", [[], ["nobody"]])
def test_an_attack_on_nobody_says_why_there_is_none(users: list[str]) -> None:
    campaign = campaign_on(am.audit(am.complete(3)), users)

    assert campaign.steps == ()
    assert campaign.reason == "nobody may be exposed"


def test_those_who_are_identified_need_no_exposure() -> None:
    audit = am.audit(am.Graph.from_edges([("ann", "x"), ("bob", "x"), ("bob", "y")]))

    assert campaign_on(audit, ["ann"]).reason == "they are identified already"

"""Attacks side by side: how far their profiles are from the known links."""

from __future__ import annotations

from collections import Counter

import pytest

import anonymatch as am
from anonymatch.disclosure import RoundLog, compare_methods, half_right, synthesize_rounds
from anonymatch.disclosure.comparing import squared_distance


def by_hand(result: am.Disclosure) -> float:
    """The same pair by pair."""
    log = result.log
    truth = log.true_receivers()
    assert truth is not None
    sent = [(log.users[s], log.behaviours[r]) for s, r in zip(log.sender, truth, strict=True)
            if r >= 0]  # fmt: skip
    times, messages = Counter(sent), Counter(user for user, _ in sent)
    told = {(user, behaviour): p for user, behaviour, p, _ in result.profiles.iter_rows()}
    users = {user for user, _ in told} & set(messages)
    total: float = sum(
        (told.get((user, behaviour), 0.0) - times[user, behaviour] / messages[user]) ** 2
        for user in users
        for behaviour in log.behaviours
    )
    return total / len(users)


@pytest.mark.parametrize("method", ["gibbs", "sda", "lsda-nn", "em"])
@pytest.mark.parametrize("target", [None, "user 2"])
def test_the_distance_is_that_of_all_pairs(method: str, target: str | None) -> None:
    log = synthesize_rounds(15, friends=2, users=7, batch=3, seed=5)
    result = am.rounds(log, method=method, target=target, decay=False, budget=1.0)

    assert squared_distance(result) == pytest.approx(by_hand(result))


def test_messages_that_were_lost_or_are_unknown_tell_nothing() -> None:
    rounds = [(1, "ab", "xy"), (2, "ab", "x"), (3, "ab", "xy")]
    log = RoundLog.of(rounds, truth=[[0, 1], [0, -1], [-2, 1]])
    result = am.rounds(log, method="sda")

    assert squared_distance(result) == pytest.approx(by_hand(result))
    assert squared_distance(am.rounds(RoundLog.of(rounds), method="sda")) is None


def test_a_target_with_friends_is_compared_with_all_sets() -> None:
    log = synthesize_rounds(40, friends=2, users=8, batch=3, seed=1)
    comparison = compare_methods(log, target="user 1", friends=2, budget=1.0)
    exact = comparison.methods[-1]

    assert exact.method == "exact"
    assert exact.squared_distance is not None
    assert exact.squared_distance < 0.5


def test_rounds_until_half_of_the_guesses_are_right_lie_between_two_points() -> None:
    log = synthesize_rounds(60, friends=2, users=12, batch=5, seed=1)
    result = am.rounds(log, budget=3.0)
    half = half_right(result)
    shares = {point.rounds: point.right.value for point in result.curve if point.right}

    assert half is not None
    before = max(at for at in shares if at < half.value)
    after = min(at for at in shares if at >= half.value)
    assert shares[before] < 0.5 <= shares[after]
    assert before <= half.low <= half.value <= half.high <= after


def test_who_is_never_half_right_has_no_such_number() -> None:
    log = RoundLog.of([(k, "abcd", "wxyz") for k in range(3)], truth=[[0, 1, 2, 3]] * 3)

    assert half_right(am.rounds(RoundLog.of([(1, "ab", "xy")]), budget=1.0)) is None
    assert half_right(am.rounds(log, method="sda")) is None

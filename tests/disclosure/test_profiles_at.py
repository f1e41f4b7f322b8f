"""Who writes to whom, by how many rounds were seen."""

from __future__ import annotations

import numpy as np
import pytest

import anonymatch as am
from anonymatch.disclosure import RoundLog


@pytest.fixture(scope="module")
def found() -> am.Disclosure:
    log = am.disclosure.synthesize_rounds(60, friends=2, users=10, batch=4, seed=3)
    return am.rounds(log, budget=5)


def test_every_point_of_the_curve_has_its_profiles(found: am.Disclosure) -> None:
    assert list(found.profiles_at) == [point.rounds for point in found.curve]
    assert found.profiles_at[60] is found.pairs


def test_after_one_round_everybody_of_it_is_as_likely(found: am.Disclosure) -> None:
    log, first = found.log, found.profiles_at[1]
    sent = set(log.sender[: log.sent[1]].tolist())
    received = log.received_in(0).tolist()

    assert set(first.user.tolist()) == sent
    for user, behaviour, probability in zip(
        first.user.tolist(), first.behaviour.tolist(), first.probability.tolist(), strict=True
    ):
        assert user in sent
        assert probability == pytest.approx(received.count(behaviour) / len(received))


def test_only_users_who_have_sent_are_in_it_and_only_what_left_with_them(
    found: am.Disclosure,
) -> None:
    log = found.log
    for rounds, pairs in found.profiles_at.items():
        senders, met = set(), set()
        for t in range(rounds):
            own = set(log.sender[log.sent[t] : log.sent[t + 1]].tolist())
            senders |= own
            met |= {(user, other) for user in own for other in log.received_in(t).tolist()}

        assert set(pairs.user.tolist()) == senders
        assert set(zip(pairs.user.tolist(), pairs.behaviour.tolist(), strict=True)) <= met
        sums = np.bincount(pairs.user, pairs.probability)
        assert sums.max() <= 1 + 1e-9


def test_true_friends_become_likelier(found: am.Disclosure) -> None:
    log = found.log
    receivers = log.true_receivers()
    assert receivers is not None
    true = set(zip(log.sender.tolist(), receivers.tolist(), strict=True))
    mass = []
    for pairs in found.profiles_at.values():
        right = [
            pair in true for pair in zip(pairs.user.tolist(), pairs.behaviour.tolist(), strict=True)
        ]
        users = len(set(pairs.user.tolist()))
        mass.append(float(pairs.probability[np.array(right)].sum()) / users)

    assert mass[0] < 0.7
    assert mass[-1] > 0.9
    assert mass[-1] > mass[len(mass) // 2] > mass[0]


def test_a_target_is_alone_in_it() -> None:
    log = am.disclosure.synthesize_rounds(10, friends=2, users=6, batch=3, seed=3)
    found = am.rounds(log, target="user 2", budget=2)

    assert {user for pairs in found.profiles_at.values() for user in pairs.user.tolist()} == {
        log.users.index("user 2")
    }


def test_a_first_round_in_which_nobody_sends_says_nothing() -> None:
    found = am.rounds(RoundLog.of([(1, "", "xy"), (2, "ab", "xy"), (3, "ab", "xz")]), budget=2)

    assert len(found.profiles_at[1].user) == 0
    assert len(found.profiles_at[3].user) > 0


def test_one_round_alone_has_the_profiles_of_its_chains() -> None:
    found = am.rounds(RoundLog.of([(1, "ab", "xy")]), budget=2)

    assert list(found.profiles_at) == [1]
    assert found.profiles_at[1] is found.pairs


def test_friends_who_are_known_after_their_first_round_have_a_half_life() -> None:
    log = RoundLog.of([(1, "a", "x"), (2, "ab", "xy"), (3, "cb", "zw")])
    found = am.rounds(log, method="exact", target="a", friends=1)

    assert found.half_life == pytest.approx(0.5)  # 2 bits before, 0 after one round


@pytest.mark.parametrize("method", ["sda", "lsda", "lsda-nn", "pmda", "nsda", "em"])
def test_users_who_never_send_do_not_disturb_the_others(method: str) -> None:
    log = am.disclosure.synthesize_rounds(5, friends=1, users=30, batch=3, seed=1)
    silent = set(range(30)) - set(log.sender.tolist())
    found = am.rounds(log, method=method)

    assert silent
    assert np.isfinite(found.pairs.probability).all()
    assert set(log.sender.tolist()) <= set(found.pairs.user.tolist())

"""One user with a known number of friends, exactly: all sets of friends that explain its rounds.

With the target's message to any of its ``friends`` alike and all other messages to anybody alike,
a set of friends has the weight ``prod_t c_t``, where ``c_t`` messages out of round ``t`` went into
the set. Sets with a weight meet every round (hitting sets; Kesdogan and Pimenidis 2004). Of ``k``
messages of the target in a round, ``j`` may be among the ``l`` that were lost there: then the round
has the factor ``sum_j C(l, j) C(c, k - j) N^(k - j) m^j``, for ``m`` friends of ``N`` behaviours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.counting.measures import entropy_terms
from anonymatch.running import check_work

__all__ = ["MOST_SETS", "FriendSets", "TargetRound", "friend_sets"]

MOST_SETS = 10**7
_AT_ONCE = 10**6  # sets
_TOLD = 1000  # sets that are listed, the likeliest first


class TargetRound(NamedTuple):
    """A round in which the target sent."""

    heard: dict[int, int]  # messages of every behaviour that received some
    sent: int = 1  # messages of the target
    lost: int = 0  # messages of anybody


class FriendSets(NamedTuple):
    """What all sets of friends say together."""

    sets: list[tuple[tuple[int, ...], int]]  # the likeliest, with their weights
    number: int  # of sets with a weight
    probability: Floats  # of each behaviour to be a friend
    bits: float  # entropy of the set


def friend_sets(rounds: Sequence[TargetRound], behaviours: int, friends: int) -> FriendSets:
    """All sets of ``friends`` behaviours that have some of every round's messages out.

    Raises
    ------
    InputError
        If no set meets every round, or there are more than 10^7 sets to look at.

    Examples
    --------
    >>> heard = ((0, 2, 3), (1, 4, 2), (0, 5), (1, 0, 4))
    >>> found = friend_sets([TargetRound(dict.fromkeys(one, 1)) for one in heard], 6, 2)
    >>> found.sets, round(found.bits, 6)
    ([((0, 1), 2), ((0, 2), 2), ((0, 4), 2)], 1.584963)
    """
    number = math.comb(behaviours, friends)
    if not 1 <= friends <= behaviours:
        raise InputError(
            Argument("friends"), f" must be from 1 to {behaviours}, the behaviours, not {friends}"
        )
    if number > MOST_SETS:
        raise InputError(
            f"{number:.3g} sets of {friends} among {behaviours} behaviours; the most for an exact "
            f"answer are {MOST_SETS:.0e}: choose fewer friends, or another method"
        )
    received = np.zeros((len(rounds), behaviours), dtype=np.int64)
    for at, one in enumerate(rounds):
        received[at, list(one.heard)] = list(one.heard.values())
    factors = [
        _factors(one, int(row.sum()), behaviours, friends)
        for one, row in zip(rounds, received, strict=True)
    ]
    members, logs = _explaining(received, factors, friends, number)
    if not len(members):
        raise InputError(
            f"no set of {friends} explains all {len(rounds)} rounds of the target; give more ",
            Argument("friends"),
        )
    shares = np.exp2(logs - logs.max())
    shares /= shares.sum()
    probability = np.zeros(behaviours)
    for column in members.T:
        probability += np.bincount(column, shares, behaviours)
    order = np.lexsort((*members.T[::-1], -logs.round(9)))[:_TOLD]
    told = [
        (
            tuple(row.tolist()),
            math.prod(
                factor[inside]
                for factor, inside in zip(
                    factors, received[:, row].sum(axis=1).tolist(), strict=True
                )
            ),
        )
        for row in members[order]
    ]
    bits = float(entropy_terms(shares).sum())
    return FriendSets(told, len(members), probability.clip(0.0, 1.0), max(bits, 0.0))


def _factors(one: TargetRound, heard: int, behaviours: int, friends: int) -> list[int]:
    """The weight of a round by how many of its messages out are friends'."""
    sent, lost = one.sent, one.lost
    if not lost:
        return [math.comb(inside, sent) for inside in range(heard + 1)]
    return [
        sum(
            math.comb(lost, j) * math.comb(inside, sent - j) * behaviours ** (sent - j) * friends**j
            for j in range(sent + 1)
        )
        for inside in range(heard + 1)
    ]


def _explaining(
    received: Ints, factors: list[list[int]], friends: int, number: int
) -> tuple[Ints, Floats]:
    """Sets that explain every round, and the logs of their weights to base 2."""
    tables = [np.array([math.log2(w) if w else -np.inf for w in one]) for one in factors]
    sets = combinations(range(received.shape[1]), friends)
    kept, logs = [], []
    for begin in range(0, number, _AT_ONCE):
        check_work()
        size = min(_AT_ONCE, number - begin)
        flat = chain.from_iterable(islice(sets, size))
        members = np.fromiter(flat, np.int64, size * friends).reshape(-1, friends)
        weights = np.zeros(size)
        for counts, table in zip(received, tables, strict=True):
            more = table[counts[members].sum(axis=1)]
            hit = more > -np.inf
            members, weights = members[hit], weights[hit] + more[hit]
        kept.append(members)
        logs.append(weights)
    return np.concatenate(kept), np.concatenate(logs)

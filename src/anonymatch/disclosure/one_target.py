"""One user with a known number of friends, exactly: all sets of friends that explain its rounds.

With the target's message to any of its ``friends`` alike and all other messages to anybody alike,
a set of friends has the weight ``prod_t c_t``, where ``c_t`` messages out of round ``t`` went into
the set. Sets with a weight meet every round (hitting sets; Kesdogan and Pimenidis 2004).
"""

from __future__ import annotations

import math
from itertools import chain, combinations, islice
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.measures import entropy_terms
from anonymatch.running import check_work

__all__ = ["MOST_SETS", "FriendSets", "friend_sets"]

MOST_SETS = 10**7
_AT_ONCE = 10**6  # sets
_TOLD = 1000  # sets that are listed, the likeliest first


class FriendSets(NamedTuple):
    """What all sets of friends say together."""

    sets: list[tuple[tuple[int, ...], int]]  # the likeliest, with their weights
    number: int  # of sets with a weight
    probability: Floats  # of each behaviour to be a friend
    bits: float  # entropy of the set


def friend_sets(rounds: list[dict[int, int]], behaviours: int, friends: int) -> FriendSets:
    """All sets of ``friends`` behaviours that have some of every round's messages out.

    ``rounds``: of each round of the target, how many messages every behaviour received.

    Raises
    ------
    InputError
        If no set meets every round, or there are more than 10^7 sets to look at.

    Examples
    --------
    >>> rounds = [dict.fromkeys(one, 1) for one in ((0, 2, 3), (1, 4, 2))] + [{0: 1, 5: 2}]
    >>> found = friend_sets([*rounds, dict.fromkeys((1, 0, 4), 1)], 6, 2)
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
        received[at, list(one)] = list(one.values())
    members, logs = _explaining(received, friends, number)
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
        (tuple(row.tolist()), math.prod(received[:, row].sum(axis=1).tolist()))
        for row in members[order]
    ]
    bits = float(entropy_terms(shares).sum())
    return FriendSets(told, len(members), probability.clip(0.0, 1.0), max(bits, 0.0))


def _explaining(received: Ints, friends: int, number: int) -> tuple[Ints, Floats]:
    """Sets that meet every round, and the logs of their weights to base 2."""
    sets = combinations(range(received.shape[1]), friends)
    kept, logs = [], []
    for begin in range(0, number, _AT_ONCE):
        check_work()
        size = min(_AT_ONCE, number - begin)
        flat = chain.from_iterable(islice(sets, size))
        members = np.fromiter(flat, np.int64, size * friends).reshape(-1, friends)
        weights = np.zeros(size)
        for counts in received:
            inside = counts[members].sum(axis=1)
            hit = inside > 0
            members, weights = members[hit], weights[hit] + np.log2(inside[hit])
        kept.append(members)
        logs.append(weights)
    return np.concatenate(kept), np.concatenate(logs)

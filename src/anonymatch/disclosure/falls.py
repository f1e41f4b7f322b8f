"""Who falls first, and why."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.measures import entropy_terms
from anonymatch.disclosure.decay import rounds_until
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.methods.posterior import Believed, Profiles
from anonymatch.disclosure.result import UserFall

__all__ = ["falls_of"]

Codes = npt.NDArray[np.int32]

_MARKED = 0.8  # of the median of all, or less; or 1 / this and more


def falls_of(
    log: RoundLog, seen: Mapping[int, list[Believed]], target: int | None, *, agreed: bool
) -> tuple[UserFall, ...]:
    """Every user after all rounds; those who fall first come first.

    Nobody has a half-life where chains have not ``agreed``.
    """
    number = len(log.users)
    [last] = seen[log.n_rounds]
    messages = np.bincount(last.sender, minlength=number)
    bits, believed, company = (
        _means(last.sender, part, number)
        for part in (last.bits.all, last.judged.mean(axis=0), last.company)
    )
    right = None
    if last.hits is not None and last.known is not None:
        hits = last.hits[last.known].astype(np.float64)
        right = _means(last.sender[last.known], hits, number)
    curves = np.array(
        [
            _means(
                np.concatenate([one.sender for one in parts]),
                np.concatenate([one.bits.all for one in parts]),
                number,
            )
            for parts in seen.values()
        ]
    )
    friends = _friends(last.profiles, number)
    rounds = list(seen)
    users = []
    for user in range(number) if target is None else (target,):
        if not messages[user]:
            continue
        half = None
        own = [(at, value) for at, value in zip(rounds, curves[:, user], strict=True) if value >= 0]
        if agreed and rounds[0] == 1 and own[0][1] > 0:
            half = rounds_until([at for at, _ in own], [value for _, value in own], own[0][1] / 2)
        users.append(
            UserFall(
                user=log.users[user],
                messages=int(messages[user]),
                bits=float(bits[user]),
                believed=float(believed[user]),
                right=None if right is None or right[user] < 0 else float(right[user]),
                half_life=None if half is None else half.value,
                friends=float(friends[user]),
                why=_why(user, messages, friends, company),
            )
        )
    last_of_all = float("inf")
    return tuple(
        sorted(users, key=lambda one: (one.half_life or last_of_all, one.bits, -one.messages))
    )


def _means(groups: Codes, values: Floats, number: int) -> Floats:
    """Means by group; -1 where a group is empty."""
    sizes = np.bincount(groups, minlength=number)
    sums = np.bincount(groups, values, number)
    return np.asarray(np.divide(sums, sizes, out=np.full(number, -1.0), where=sizes > 0))


def _friends(profiles: Profiles | None, number: int) -> Floats:
    """As many equally likely behaviours as each user writes to, by its profile."""
    assert profiles is not None
    user, share = profiles.user, profiles.probability
    sums = np.bincount(user, share, number)
    shares = share / np.maximum(sums, 1e-300)[user]
    return np.exp2(np.bincount(user, entropy_terms(shares), number))


def _why(user: int, messages: npt.NDArray[np.intp], friends: Floats, company: Floats) -> str:
    """What sets a user apart from the median of all who send."""
    active = messages > 0
    reasons = []
    if messages[user] * _MARKED > np.median(messages[active]):
        reasons.append("sends often")
    if friends[user] < _MARKED * np.median(friends[active]):
        reasons.append("has few friends")
    if company[user] < _MARKED * np.median(company[active]):
        reasons.append("sends when few do")
    return ", ".join(reasons)

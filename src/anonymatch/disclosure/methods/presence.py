"""Intersection: who was there whenever a pseudonym acted.

Its owner must be online in every round in which the pseudonym acts. Other users are online by
chance, each at a rate of its own, of which nothing is known before (Beta(1, 1)). So a user who is
online in all ``k`` rounds of the pseudonym and in ``x`` of all ``t`` is its owner with odds

    B(1 + x - k, 1 + t - x) / B(1 + x, 1 + t - x):

what it did in the other rounds, over what it did in all of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import names
from anonymatch.counting.measures import entropy_terms
from anonymatch.disclosure.decay import CurvePoint, rounds_to_look_at
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.methods.incidence import incidence
from anonymatch.disclosure.methods.posterior import Profiles
from anonymatch.running import Budget, check_work

__all__ = ["owner_probabilities", "owners"]


def owner_probabilities(online: Bools, acts: Bools) -> Floats:
    """Probability of each user to own the pseudonym; all 0 if nobody was there whenever it acted.

    ``online``: a row a round, a column a user. ``acts``: whether the pseudonym acts, by round.

    Examples
    --------
    >>> online = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 0]], dtype=bool)
    >>> owner_probabilities(online, np.array([True, True, False])).round(4).tolist()
    [0.25, 0.75, 0.0]
    """
    from scipy.special import betaln

    rounds, acted = len(acts), int(acts.sum())
    there: NDArray[np.int64] = online.sum(axis=0)
    candidates = online[acts].all(axis=0)
    odds: Floats = betaln(1.0 + there - acted * candidates, 1.0 + rounds - there) - betaln(
        1.0 + there, 1.0 + rounds - there
    )
    if not candidates.any():
        return np.zeros(online.shape[1])
    odds = np.where(candidates, np.exp(odds - odds[candidates].max()), 0.0)
    return np.asarray(odds / odds.sum())


def owners(
    log: RoundLog, target: int | None, budget: Budget
) -> tuple[Profiles, tuple[CurvePoint, ...], str]:
    """Who may own each pseudonym, how that sharpens with the rounds in which it acts, and which
    pseudonyms nobody can own: there is none who was online whenever they acted.

    ``target``: only what this user may own.
    """
    rounds, users, pseudonyms = log.n_rounds, len(log.users), len(log.behaviours)
    memory = float(rounds) * (users + pseudonyms)
    if not budget.allows(0.0, memory):
        raise budget.refusal("this intersection", 0.0, memory, "look at fewer users or rounds")
    data = incidence(log)
    online, acts = (matrix.toarray() > 0 for matrix in (data.sent, data.received))
    who, what, chance, nobodys = [], [], [], []
    steps: dict[int, list[tuple[float, float]]] = {}
    for pseudonym in range(pseudonyms):
        check_work()
        own = acts[:, pseudonym]
        if not own.any():
            continue
        probability = owner_probabilities(online, own)
        if not probability.any():
            nobodys.append(log.behaviours[pseudonym])
            continue
        some = np.flatnonzero(probability) if target is None else np.array([target])
        who.append(some)
        what.append(np.full(len(some), pseudonym))
        chance.append(probability[some])
        times = np.flatnonzero(own)
        for seen in rounds_to_look_at(len(times)):
            until = times[seen - 1] + 1
            then = owner_probabilities(online[:until], own[:until])
            bits = float(entropy_terms(then).sum())
            steps.setdefault(seen, []).append((max(bits, 0.0), float(then.max())))
    if not who:
        raise InputError(
            "nobody was online in all rounds in which a pseudonym acts; give who is online as "
            "messages in, and who acts as messages out"
        )
    curve = []
    for seen, values in sorted(steps.items()):
        bits, sure = np.array(values).mean(axis=0).tolist()
        curve.append(CurvePoint(seen, Interval(bits, bits, bits), None, Interval(sure, sure, sure)))
    return (
        Profiles(
            np.concatenate(who).astype(np.int32),
            np.concatenate(what).astype(np.int32),
            np.concatenate(chance),
            np.zeros(sum(map(len, who))),
        ),
        tuple(curve),
        names(nobodys),
    )

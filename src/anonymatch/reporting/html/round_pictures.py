"""The matrix of who writes to whom, and what numbers of a method are about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.numbers import plural
from anonymatch.disclosure import Disclosure, Profiles
from anonymatch.reporting.drawings.matrices import MOST_DRAWN, profile_matrix
from anonymatch.reporting.drawings.svg import Picture

__all__ = [
    "MethodWords",
    "TrueProfiles",
    "method_words",
    "profile_picture",
    "true_profiles",
]


class MethodWords(NamedTuple):
    """What the numbers of a method are about."""

    title: str
    each: str  # what a point of the curve has seen
    pair: str  # what a probability is
    guess: str  # what it is for a best guess to be right


def method_words(disclosure: Disclosure) -> MethodWords:
    """What probabilities are about."""
    if disclosure.method == "presence":
        return MethodWords(
            "who owns which pseudonym",
            "rounds in which a pseudonym acts",
            "the probability that the user owns the pseudonym",
            "the likeliest owner is the owner",
        )
    if disclosure.method == "exact":
        return MethodWords(
            f"the friends of {disclosure.target}",
            f"rounds in which {disclosure.target} sends",
            "the probability that the behaviour is a friend",
            "one of the likeliest is a friend",
        )
    return MethodWords(
        "who writes to whom",
        "rounds",
        "the probability that a message of the user is to that behaviour",
        "the likeliest receiver of a message is the receiver",
    )


class TrueProfiles(NamedTuple):
    """Pairs that really write to each other, and the share of the user's messages."""

    user: Ints
    behaviour: Ints
    share: Floats


def true_profiles(disclosure: Disclosure) -> TrueProfiles | None:
    """What the log knows of who wrote to whom; None if it does not.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy"), (2, "ab", "xz")], truth=[[0, 1], [0, 1]])
    >>> true = true_profiles(am.rounds(log, method="sda"))
    >>> true.user.tolist(), true.behaviour.tolist(), true.share.tolist()
    ([0, 1, 1], [0, 1, 2], [1.0, 0.5, 0.5])
    """
    log = disclosure.log
    receivers = None if disclosure.method == "presence" else log.true_receivers()
    if receivers is None or not (receivers >= 0).any():
        return None
    known = receivers >= 0
    keys = log.sender[known].astype(np.int64) * len(log.behaviours) + receivers[known]
    pairs, number = np.unique(keys, return_counts=True)
    user, behaviour = np.divmod(pairs, len(log.behaviours))
    sent = np.bincount(user, number, len(log.users))
    return TrueProfiles(user, behaviour, number / sent[user])


def profile_picture(disclosure: Disclosure, *, rounds: int | None = None) -> Picture | None:
    """The matrix of who writes to whom; None for one user only, or more than can be drawn.

    ``rounds``: after so many of `profiles_at` instead of all.
    """
    log = disclosure.log
    users, behaviours = len(log.users), len(log.behaviours)
    if disclosure.target is not None or users < 2 or max(users, behaviours) > MOST_DRAWN:
        return None
    order = _order(disclosure.pairs, users, behaviours)
    pairs = disclosure.pairs if rounds is None else disclosure.profiles_at[rounds]
    seen = log.n_rounds if rounds is None else rounds
    true = true_profiles(disclosure)
    ringed: Bools | None = None
    if true is not None:
        ringed = np.zeros((users, behaviours), dtype=np.bool_)
        ringed[true.user, true.behaviour] = True
        ringed = ringed[:, order]
    return profile_matrix(
        _dense(pairs, users, behaviours)[:, order],
        log.users,
        [log.behaviours[k] for k in order.tolist()],
        title=f"{method_words(disclosure).title.capitalize()} after {plural(seen, 'round')}",
        truth=ringed,
    )


def _dense(pairs: Profiles, users: int, behaviours: int) -> Floats:
    """A row a user; NaN of users of whom nothing is known."""
    values = np.zeros((users, behaviours))
    values[np.setdiff1d(np.arange(users), pairs.user)] = np.nan
    values[pairs.user, pairs.behaviour] = pairs.probability.clip(0.0, 1.0)
    return values


def _order(pairs: Profiles, users: int, behaviours: int) -> Ints:
    """Columns so that what rows write to most lies along the diagonal, after all rounds."""
    values = np.nan_to_num(_dense(pairs, users, behaviours))
    taken: dict[int, None] = {}
    for row in values:
        free = (k for k in np.argsort(-row, kind="stable").tolist() if k not in taken)
        likeliest = next(free, None)
        if likeliest is not None and row[likeliest] > 0:
            taken[likeliest] = None
    rest = (k for k in range(behaviours) if k not in taken)
    return np.array([*taken, *rest], dtype=np.int64)

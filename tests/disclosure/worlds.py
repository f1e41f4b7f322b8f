"""Worlds of users who write to friends, with the truth: made without the package's own maker."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.disclosure import Disclosure, RoundLog

Floats = npt.NDArray[np.float64]


def profiles(kind: str, users: int, behaviours: int, draw: np.random.Generator) -> Floats:
    """Rows are users: ``prior`` is Dirichlet(0.1), ``steps`` three friends of 1, 1/2 and 1/3,
    ``zipf`` the same with few popular behaviours, ``groups`` all of a group alike.
    """
    if kind == "prior":
        return draw.dirichlet(np.full(behaviours, 0.1), size=users)
    popular = 1 / np.arange(1, behaviours + 1) if kind == "zipf" else np.ones(behaviours)
    shares = np.array([6, 3, 2]) / 11
    table = np.zeros((users, behaviours))
    for user in range(users):
        if kind == "groups" and user % 4:
            table[user] = table[user - 1]
        else:
            friends = draw.choice(behaviours, 3, replace=False, p=popular / popular.sum())
            table[user, friends] = shares
    return table


def world(table: Floats, rounds: int, batch: int, draw: np.random.Generator) -> RoundLog:
    """A log of rounds of different users."""
    seen, truth = [], []
    for number in range(rounds):
        senders = draw.choice(len(table), batch, replace=False)
        receivers = [int(draw.choice(table.shape[1], p=table[one])) for one in senders]
        order = draw.permutation(batch)
        seen.append((number, senders.tolist(), [receivers[k] for k in order]))
        truth.append(np.argsort(order).tolist())
    return RoundLog.of(seen, truth=truth, behaviours=range(table.shape[1]))


def table_of(found: Disclosure, shape: tuple[int, ...]) -> Floats:
    """Profiles of a result by the numbers that users and behaviours have as names."""
    table = np.zeros(shape)
    for user, behaviour, probability, _ in found.profiles.rows():
        table[user, behaviour] = probability
    return table

"""Whether users write to others than before: then old rounds mislead."""

from __future__ import annotations

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.disclosure.methods.posterior import Believed

__all__ = ["drift_note", "drift_of"]

_FEWEST = 4  # messages of a user in each stretch
_MARKED = 2.0  # times the difference that chance makes, from which on it is told


def drift_of(first: Believed, last: Believed, users: int, behaviours: int) -> float | None:
    """How far profiles of two stretches of rounds differ, as a multiple of what chance does.

    Chance makes the squared difference of two profiles as large as the sum over behaviours of
    p (1 - p) (1/n + 1/m), for n and m messages. None if nobody sends often enough to say.
    """
    assert first.profiles is not None
    assert last.profiles is not None
    numbers = [np.bincount(one.sender, minlength=users) for one in (first, last)]
    often = (numbers[0] >= _FEWEST) & (numbers[1] >= _FEWEST)
    if not often.any():
        return None
    keys, values = [], []
    for part in (first.profiles, last.profiles):
        mine = often[part.user]
        keys.append(part.user[mine].astype(np.int64) * behaviours + part.behaviour[mine])
        values.append(part.probability[mine])
    pairs = np.union1d(*keys)
    tables = []
    for key, value in zip(keys, values, strict=True):
        table: Floats = np.zeros(len(pairs))
        table[np.searchsorted(pairs, key)] = value
        tables.append(table)
    user = pairs // behaviours
    mean = (tables[0] + tables[1]) / 2
    chance = mean * (1 - mean) * (1 / numbers[0][user] + 1 / numbers[1][user])
    return float(((tables[0] - tables[1]) ** 2).sum() / chance.sum())


def drift_note(ratio: float | None, rounds: int) -> tuple[str, ...]:
    """What to say of it."""
    if ratio is None or ratio < _MARKED:
        return ()
    apart = f"those of the first and the last {rounds} rounds differ {ratio:.2g} times as much"
    note = f"profiles change: {apart} as by chance; figures take users to stay the same, so look "
    return (f"{note}at fewer rounds at once",)

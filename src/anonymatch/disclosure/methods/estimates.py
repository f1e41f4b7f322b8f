"""Attacks that estimate profiles and believe nothing of links: averages, regressions, matchings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, Message, several
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.methods import averages, least_squares, matchings
from anonymatch.disclosure.methods.incidence import Incidence, incidence
from anonymatch.disclosure.methods.links import LinkTable, figures_of
from anonymatch.disclosure.methods.posterior import Profiles, share_of
from anonymatch.running import Budget, Execution

__all__ = ["Estimate", "estimate"]

_DENSE = 2e7  # pairs of users and behaviours that are held at once
_SAMPLED = 200  # users of whom profiles are made where there are too many
_TOLD = 50  # behaviours of each of these
_CELL_SECONDS = 3e-8  # an entry of a row of averages
_STEP_SECONDS = 6e-9  # an entry of a matrix, in one step of LSQR
_STEPS = 40


class Estimate(NamedTuple):
    """Profiles, and how good guesses by them are."""

    profiles: Profiles
    right: Interval | None  # share of messages whose likeliest receiver is the true one
    notes: tuple[str, ...]


def estimate(
    log: RoundLog,
    method: str,
    target: int | None,
    *,
    seconds: float,
    execution: Execution,
    seed: int,
) -> Estimate:
    """Profiles of all users, of the target, or of a sample if there are too many.

    ``seconds``: what those of a sample may take.
    """
    data = incidence(log)
    if method in ("sda", "lsda"):
        return _by_user(log, data, method, target, seconds=seconds, execution=execution, seed=seed)
    table = _of_all(log, data, method, execution, seconds)
    users = np.arange(len(log.users)) if target is None else np.array([target])
    guesses = _Guesses(log, users)
    guesses.take(table[users], users)
    return Estimate(_pairs(table[users], users, None), guesses.right(), ())


def _by_user(
    log: RoundLog,
    data: Incidence,
    method: str,
    target: int | None,
    *,
    seconds: float,
    execution: Execution,
    seed: int,
) -> Estimate:
    """By averages and regressions, which take one user at a time."""
    many = len(log.users) * len(log.behaviours) > _DENSE
    dense = method == "lsda" and data.sent.shape[0] * data.sent.shape[1] <= least_squares.DENSE
    each = _CELL_SECONDS * len(log.behaviours)
    if method == "lsda" and not dense:
        each += _STEP_SECONDS * _STEPS * (data.sent.nnz + len(log.users) + log.n_rounds)
    users = np.arange(len(log.users))
    notes: tuple[str, ...] = ()
    if target is not None:
        users = np.array([target])
    elif many:
        number = int(np.clip(seconds / each, 1, min(_SAMPLED, len(users))))
        draw = np.random.default_rng(seed)
        users = np.sort(draw.choice(len(users), number, replace=False))
        few = f"profiles are those of {several(number, 'user')} drawn among {len(log.users)}, and "
        few += f"of each the {_TOLD} likeliest behaviours; name a user with "
        notes = (Message(few, Argument("target")),)
    attack = averages.averaged if method == "sda" else least_squares.fitted
    execution.expect(each * len(users))
    parts, guesses = [], _Guesses(log, users)
    for block in _blocks(users, len(log.behaviours), whole=dense):
        execution.stop.check()
        table = attack(data, block)
        parts.append(_pairs(table, block, _TOLD if many else None))
        guesses.take(table, block)
        execution.advance(each * len(block))
    pairs = Profiles(
        np.concatenate([part.user for part in parts]),
        np.concatenate([part.behaviour for part in parts]),
        np.concatenate([part.probability for part in parts]),
        None,
    )
    return Estimate(pairs, guesses.right(), notes)


def _blocks(users: Ints, width: int, *, whole: bool) -> Iterator[Ints]:
    size = len(users) if whole else max(1, int(_DENSE / 10 / width))
    for begin in range(0, len(users), size):
        yield users[begin : begin + size]


def _of_all(
    log: RoundLog, data: Incidence, method: str, execution: Execution, seconds: float
) -> Floats:
    """By what takes all users at once: a table of users and behaviours."""
    if log.timed:
        raise InputError(
            f"{method} takes rounds as matchings, and this law has none; choose gibbs, sda or lsda"
        )
    people, known = len(log.users), len(log.behaviours)
    if people * known > _DENSE:
        raise InputError(
            f"{method} needs a table of {several(people, 'user')} and "
            f"{several(known, 'behaviour')}, which is too large; choose sda, lsda or gibbs"
        )
    if method == "lsda-nn":
        return least_squares.fitted_without_negatives(data)
    first = averages.averaged(data, np.arange(people))
    if method == "em":
        return matchings.maximised(log.messages(), first, execution, Budget(seconds=seconds))
    attack = matchings.assigned if method == "pmda" else matchings.normalised
    return attack(log.messages(), first, execution)


def _pairs(table: Floats, users: Ints, most: int | None) -> Profiles:
    """What is positive of a table with a row a user; the ``most`` largest of each."""
    if most is not None and table.shape[1] > most:
        least = np.partition(table, -most, axis=1)[:, -most, None]
        table = np.where(table >= np.maximum(least, 1e-12), table, 0.0)
    row, behaviour = np.nonzero(table > 1e-12)  # rounding errors of 0 differ between machines
    values = table[row, behaviour]
    return Profiles(users[row].astype(np.int32), behaviour.astype(np.int32), values, None)


class _Guesses:
    """The likeliest receivers of messages of some users, held against the truth if it is known."""

    def __init__(self, log: RoundLog, users: Ints) -> None:
        self._truth = log.true_receivers()
        if self._truth is None:
            return
        chosen = np.zeros(len(log.users), dtype=np.bool_)
        chosen[users] = True
        messages, self._mine = log.of_users(chosen)
        self._links = LinkTable(messages)
        self._scores = np.full(len(self._links.receiver), -np.inf)

    def take(self, table: Floats, users: Ints) -> None:
        """What a table says of the links of these users, one a row."""
        if self._truth is None:
            return
        sender, receiver = self._links.sender, self._links.receiver
        row = np.searchsorted(users, sender).clip(0, len(users) - 1)
        own = np.flatnonzero((users[row] == sender) & (receiver >= 0))
        self._scores[own] = table[row[own], receiver[own]]

    def right(self) -> Interval | None:
        """The share that is right."""
        if self._truth is None:
            return None
        guess = figures_of(self._links, self._scores, entropies=False).guess
        truth = self._truth[self._mine]
        known = truth != -2
        return share_of((guess == truth)[known]) if known.any() else None

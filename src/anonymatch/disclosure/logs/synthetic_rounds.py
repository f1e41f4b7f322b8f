"""Logs of rounds made up, with their truth: users who write to the same few again and again."""

from __future__ import annotations

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Ints, offsets
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.tabular import check_memory

__all__ = ["synthesize_rounds"]

_MOST = 10**9
_BYTES_A_MESSAGE = 120


def synthesize_rounds(
    rounds: int,
    *,
    friends: int = 3,
    users: int = 100,
    receivers: int | None = None,
    batch: int = 10,
    seed: int = 0,
) -> RoundLog:
    """A log of rounds with its truth.

    Every round has ``batch`` different users, any of them alike; each sends one message to one of
    its ``friends``, the first twice as often as the second, three times as often as the third, and
    so on. Friends are drawn for every user among the ``receivers``, who are as many as users
    unless told.

    Examples
    --------
    >>> log = synthesize_rounds(50, friends=2, users=20, batch=5, seed=1)
    >>> log, bool((log.truth >= 0).all())
    (RoundLog(50 rounds, 20 users, 20 behaviours, 250 messages), True)
    """
    number = whole(rounds, "rounds", least=1, most=_MOST)
    people = whole(users, "users", least=1, most=_MOST)
    known = people if receivers is None else whole(receivers, "receivers", least=1, most=_MOST)
    size = whole(batch, "batch", least=1, most=_MOST)
    own = whole(friends, "friends", least=1, most=_MOST)
    for name, value, most, noun in (
        ("batch", size, people, "users"),
        ("friends", own, known, "receivers"),
    ):
        if value > most:
            raise InputError(Argument(name, value), f" is more than there are {noun}: {most}")
    check_memory(
        number * size * _BYTES_A_MESSAGE + people * own * 16,
        "making this log",
        "ask for fewer rounds",
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    sender = _different(draw, number, size, people)
    shares = 1.0 / np.arange(1, own + 1)
    friend = _different(draw, people, own, known)
    receiver = friend[sender, draw.choice(own, size=sender.shape, p=shares / shares.sum())].ravel()
    starts = offsets(np.full(number, size))
    return RoundLog.in_order(
        rounds=tuple(range(1, number + 1)),
        users=tuple(f"user {k}" for k in range(1, people + 1)),
        behaviours=tuple(f"receiver {k}" for k in range(1, known + 1)),
        sent=starts,
        sender=sender.ravel().astype(np.int32),
        received=starts,
        receiver=receiver.astype(np.int32),
        truth=np.arange(number * size),
    )


def _different(draw: np.random.Generator, rows: int, size: int, most: int) -> Ints:
    """In each row ``size`` different numbers below ``most``."""
    if size * 4 > most:
        return np.argsort(draw.random((rows, most)), axis=1)[:, :size]
    chosen = draw.integers(most, size=(rows, size))
    while True:
        ordered = np.sort(chosen, axis=1)
        again = np.flatnonzero((np.diff(ordered, axis=1) == 0).any(axis=1))
        if not len(again):
            return chosen
        chosen[again] = draw.integers(most, size=(len(again), size))

"""Message logs made up by a law, with their truth: for examples, tests and calibration."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.mixes.laws import Law, Traffic, check_law
from anonymatch.mixes.logs.messages import Messages
from anonymatch.tabular import check_memory

__all__ = ["synthesize"]


MOST = 10**9  # messages, and people
SLOWEST, FASTEST = 1e-12, 1e12  # messages a second
_BYTES_A_MESSAGE = 200  # seen once: times, truth and a name, at their peak


def synthesize(
    law: Law | str,
    *,
    messages: int,
    rate: float = 1.0,
    users: int | None = None,
    receivers: int | None = None,
    cover: float = 0.0,
    loss: float = 0.0,
    dummies: str = "exit",
    seed: int = 0,
) -> Messages:
    """A log of messages that come in at random and are held back by the law.

    Parameters
    ----------
    law : Law or str
        Such as ``Window(1, 5)`` or ``"window:1,5"``. Delays of a window are uniform; those of a
        free law need its ``longest``.
    messages : int
        Messages in; they are a Poisson process.
    rate : float
        Messages in a second, on average.
    users, receivers : int, optional
        So many people, each message from and to any of them; as many as messages unless told, and
        each has one.
    cover : float
        Messages out that are nobody's, for each message in, on average. They leave at any time, or
        with any flush. They are flagged, which is the truth and not what the attacker sees.
    loss : float
        Probability of a message to be lost on entry. Flagged as well.
    dummies : {"exit", "pool"}
        Of a mix that sends on by flushes: whether cover traffic joins what leaves, or comes into
        the mix and is counted, held back and sent on like mail. At the exit it is, with each flush,
        a Poisson number with the mean ``cover * rate`` times the seconds from flush to flush. Into
        the pool it comes at that rate: before each tick of a clock, or at any time.
    seed : int

    Returns
    -------
    Messages
        With the truth; -1 for messages that were lost, which `lost` flags, or wait for a flush that
        never comes. A log of a mix with flushes ends with the first one at or after the last
        message in. There are no flags of what was not asked for.

    Examples
    --------
    >>> log = synthesize("window:1,5", messages=100, cover=0.1, seed=1)
    >>> log.n_in, log.n_out, bool((log.true_delays() >= 1).all())
    (100, 110, True)
    """
    rule = check_law(law)
    number = whole(messages, "messages", least=1, most=MOST)
    speed = real(rate, "rate", low=SLOWEST, high=FASTEST)
    extra, probability = real(cover, "cover", high=1e6), real(loss, "loss", high=1.0)
    check_memory(
        int(number * (2 + extra) * _BYTES_A_MESSAGE), "making this log", "ask for fewer messages"
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    arrivals = np.cumsum(draw.exponential(1 / speed, number))
    if dummies not in ("exit", "pool"):
        raise InputError(f"dummies must be exit or pool, not {quoted(dummies)}")
    traffic = Traffic(rate=speed, cover=extra, loss=probability, cover_in_pool=dummies == "pool")
    departures, gone, hidden = rule.drawn(arrivals, traffic, draw)
    left = np.flatnonzero(~np.isnan(departures))
    # Shuffled, so that messages of one flush leave in any order.
    order = draw.permutation(len(left) + len(hidden))
    times = np.concatenate((departures[left], hidden))[order]
    order = order[np.argsort(times, kind="stable")]
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order))
    truth = np.full(number, -1, dtype=np.int64)
    truth[left] = position[: len(left)]
    return Messages(
        arrivals=arrivals,
        departures=np.sort(times, kind="stable"),
        senders=_people("user", number, users, draw),
        receivers=_people("receiver", len(order), receivers, draw),
        truth=truth,
        cover=order >= len(left) if extra else None,
        lost=gone if probability else None,
    )


def _people(
    noun: str, messages: int, people: int | None, draw: np.random.Generator
) -> tuple[Hashable, ...]:
    if people is None:
        numbers = range(1, messages + 1)
    else:
        most = whole(people, f"{noun}s", least=1, most=MOST)
        numbers = (draw.integers(most, size=messages) + 1).tolist()
    return tuple(f"{noun} {number}" for number in numbers)

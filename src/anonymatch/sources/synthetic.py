"""Message logs made up by a law, with their truth: for examples, tests and calibration."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from anonymatch.arguments import real, whole
from anonymatch.errors import InputError
from anonymatch.graph import limits
from anonymatch.sources.laws import (
    Erlang,
    Exponential,
    Free,
    Law,
    Pool,
    Threshold,
    Timed,
    Window,
    check_law,
)
from anonymatch.sources.messages import Messages

__all__ = ["synthesize"]

Floats = npt.NDArray[np.float64]

_MOST = 10**9  # messages, and people
_SLOWEST, _FASTEST = 1e-12, 1e12  # messages a second
_BYTES_A_MESSAGE = 200  # seen once: times, truth and a name, at their peak
_CELLS = 1 << 16  # of a free law, as which its delays are drawn


def synthesize(
    law: Law | str,
    *,
    messages: int,
    rate: float = 1.0,
    users: int | None = None,
    receivers: int | None = None,
    cover: float = 0.0,
    loss: float = 0.0,
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
        with any flush. They are not flagged: to be told apart is what they are there against.
    loss : float
        Chance of a message to be lost on its way. Not flagged either.
    seed : int

    Returns
    -------
    Messages
        With the truth; -1 for messages that were lost, or wait for a flush that never comes.

    Examples
    --------
    >>> log = synthesize("window:1,5", messages=100, cover=0.1, seed=1)
    >>> log.n_in, log.n_out, bool((log.true_delays() >= 1).all())
    (100, 110, True)
    """
    rule = check_law(law)
    number = whole(messages, "messages", least=1, most=_MOST)
    speed = real(rate, "rate", low=_SLOWEST, high=_FASTEST)
    extra, chance = real(cover, "cover", high=1e6), real(loss, "loss", high=1.0)
    limits.check_memory(
        int(number * (2 + extra) * _BYTES_A_MESSAGE), "making this log", "ask for fewer messages"
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    arrivals = np.cumsum(draw.exponential(1 / speed, number))
    departures = _departures(rule, arrivals, draw)
    departures[draw.random(number) < chance] = math.nan
    left = np.flatnonzero(~np.isnan(departures))
    hidden = _cover(rule, arrivals, departures, int(draw.poisson(extra * number)), draw)
    # Shuffled, so that messages of one flush leave in any order.
    order = draw.permutation(len(left) + len(hidden))
    times = np.concatenate((departures[left], hidden))[order]
    order = order[np.argsort(times, kind="stable")]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    truth = np.full(number, -1, dtype=np.int64)
    truth[left] = place[: len(left)]
    return Messages(
        arrivals=arrivals,
        departures=np.sort(times, kind="stable"),
        senders=_people("user", number, users, draw),
        receivers=_people("receiver", len(order), receivers, draw),
        truth=truth,
    )


def _departures(law: Law, arrivals: Floats, draw: np.random.Generator) -> Floats:
    """When each message leaves; NaN for those that stay."""
    size = len(arrivals)
    if isinstance(law, Window):
        return arrivals + draw.uniform(law.low, law.high, size)
    if isinstance(law, Exponential):
        return arrivals + draw.exponential(law.mean, size)
    if isinstance(law, Erlang):
        return arrivals + draw.gamma(law.hops, law.mean, size)
    if isinstance(law, Timed):
        rounds = np.ceil((arrivals - law.origin) / law.interval)
        return np.maximum(arrivals, law.origin + rounds * law.interval)
    if isinstance(law, Free):
        return arrivals + _free(law, size, draw)
    return _batches(law, arrivals, draw)


def _batches(law: Threshold | Pool, arrivals: Floats, draw: np.random.Generator) -> Floats:
    kept = law.kept if isinstance(law, Pool) else 0
    departures = np.full(len(arrivals), math.nan)
    inside = np.empty(0, dtype=np.int64)
    begin = 0
    for end in range(law.batch + kept, len(arrivals) + 1, law.batch):
        inside = np.concatenate((inside, np.arange(begin, end)))
        draw.shuffle(inside)
        departures[inside[kept:]] = arrivals[end - 1]
        inside, begin = inside[:kept], end
    return departures


def _free(law: Free, size: int, draw: np.random.Generator) -> Floats:
    if law.longest == math.inf:
        raise InputError(f"{law}: no delays can be drawn without an end; give it longest=")
    width = law.longest / _CELLS
    middles: Floats = (np.arange(_CELLS, dtype=np.float64) + 0.5) * width
    chances = law.weights(middles)
    if not chances.sum() > 0:
        raise InputError(f"{law}: every delay has the weight 0; check the function")
    cells = draw.choice(_CELLS, size, p=chances / chances.sum())
    return np.minimum((cells + draw.random(size)) * width, law.longest)


def _cover(
    law: Law, arrivals: Floats, departures: Floats, number: int, draw: np.random.Generator
) -> Floats:
    """When cover traffic leaves: with a flush, if there are flushes."""
    left = departures[~np.isnan(departures)]
    if not number:
        return np.empty(0)
    if isinstance(law, Threshold | Pool | Timed):
        flushes = np.unique(left)
        return draw.choice(flushes, number) if len(flushes) else np.empty(0)
    return draw.uniform(arrivals[0], max(arrivals[-1], left.max(initial=0.0)), number)


def _people(
    noun: str, messages: int, people: int | None, draw: np.random.Generator
) -> tuple[Hashable, ...]:
    if people is None:
        numbers = range(1, messages + 1)
    else:
        most = whole(people, f"{noun}s", least=1, most=_MOST)
        numbers = (draw.integers(most, size=messages) + 1).tolist()
    return tuple(f"{noun} {number}" for number in numbers)

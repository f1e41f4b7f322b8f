"""Message logs made up by a law, with their truth: for examples, tests and calibration."""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.graph import limits
from anonymatch.measures import FlushRule
from anonymatch.sources.laws.laws import Erlang, Exponential, FlushLaw, Free, Law, Window, check_law
from anonymatch.sources.messages import Messages

__all__ = ["synthesize"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_MOST = 10**9  # messages, and people
_SLOWEST, _FASTEST = 1e-12, 1e12  # messages a second
_BYTES_A_MESSAGE = 200  # seen once: times, truth and a name, at their peak
_CELLS = 1 << 16  # of a free law, as which its delays are drawn
_MOST_FLUSHES = 10**7


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
    number = whole(messages, "messages", least=1, most=_MOST)
    speed = real(rate, "rate", low=_SLOWEST, high=_FASTEST)
    extra, probability = real(cover, "cover", high=1e6), real(loss, "loss", high=1.0)
    limits.check_memory(
        int(number * (2 + extra) * _BYTES_A_MESSAGE), "making this log", "ask for fewer messages"
    )
    draw = np.random.default_rng(whole(seed, "seed"))
    arrivals = np.cumsum(draw.exponential(1 / speed, number))
    if dummies not in ("exit", "pool"):
        raise InputError(f"dummies must be exit or pool, not {quoted(dummies)}")
    if isinstance(rule, FlushLaw):
        gone: Bools = draw.random(number) < probability
        departures, hidden = _flushed(
            rule.flush, arrivals, gone, extra * speed, dummies == "pool", draw
        )
    else:
        departures = _departures(rule, arrivals, draw)
        gone = draw.random(number) < probability
        departures[gone] = math.nan
        hidden = _cover(arrivals, departures, int(draw.poisson(extra * number)), draw)
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


def _departures(
    law: Window | Exponential | Erlang | Free, arrivals: Floats, draw: np.random.Generator
) -> Floats:
    size = len(arrivals)
    if isinstance(law, Window):
        return arrivals + draw.uniform(law.low, law.high, size)
    if isinstance(law, Exponential):
        return arrivals + draw.exponential(law.mean, size)
    if isinstance(law, Erlang):
        return arrivals + draw.gamma(law.hops, law.mean, size)
    return arrivals + _free(law, size, draw)


def _flushed(
    rule: FlushRule,
    arrivals: Floats,
    gone: Bools,
    cover_rate: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Floats, Floats]:
    """When each message leaves, NaN for those that do not; and when cover traffic does."""
    if rule.interval is None:
        return _by_number(rule, arrivals, gone, cover_rate, pool, draw)
    rounds = np.ceil((arrivals - rule.origin) / rule.interval)
    begin = math.floor(-rule.origin / rule.interval) + 1  # the first flush after 0
    number = int(rounds[-1]) - begin + 1
    if number > _MOST_FLUSHES:
        raise InputError(
            f"this log would have {number} flushes, and at most {_MOST_FLUSHES} are drawn; give a "
            "longer interval, or fewer messages"
        )
    mean = cover_rate * rule.interval
    first = (rounds - begin).astype(np.int64)
    if rule.all_leave:
        flush = np.where(gone, number, first)
        cover = draw.poisson(mean, number)
    else:
        flush, cover = _by_clock(rule, first[~gone], number, mean, pool, draw)
        everybody = np.full(len(arrivals), number)
        everybody[~gone] = flush
        flush = everybody
    moments = rule.origin + (begin + np.arange(number)) * rule.interval
    # A flush is not before what it sends on, though both are rounded.
    times = np.maximum(arrivals, np.append(moments, math.nan)[flush])
    return times, np.repeat(moments, cover)


def _by_clock(
    rule: FlushRule,
    first: Ints,
    number: int,
    mean: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Ints, Ints]:
    """The flush of each message, ``number`` for those that stay; and how much cover leaves."""
    flush = np.full(len(first), number, dtype=np.int64)
    cover = draw.poisson(mean, number)
    borders = np.searchsorted(first, np.arange(number + 1))
    inside, dummies = np.empty(0, dtype=np.int64), 0
    for at in range(number):
        inside = np.concatenate((inside, np.arange(borders[at], borders[at + 1])))
        dummies += int(cover[at]) if pool else 0
        total = len(inside) + dummies
        if rule.share is None:
            leaves = np.zeros(total, dtype=np.bool_)
            leaves[draw.permutation(total)[rule.kept :]] = True
        else:
            leaves = draw.random(total) < rule.leave(total)
        flush[inside[leaves[: len(inside)]]] = at
        if pool:
            cover[at] = np.count_nonzero(leaves[len(inside) :])
            dummies -= int(cover[at])
        inside = inside[~leaves[: len(inside)]]
    return flush, cover


def _by_number(
    rule: FlushRule,
    arrivals: Floats,
    gone: Bools,
    cover_rate: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Floats, Floats]:
    batch = rule.batch or 1
    own = np.flatnonzero(~gone)
    extra: Floats = np.empty(0)
    if pool:
        extra = draw.uniform(0.0, arrivals[-1], draw.poisson(cover_rate * float(arrivals[-1])))
    times = np.concatenate((arrivals[own], np.sort(extra)))
    order = np.argsort(times, kind="stable")
    left = np.full(len(times), math.nan)
    inside = np.empty(0, dtype=np.int64)
    begin = 0
    for end in range(batch + rule.kept, len(times) + 1, batch):
        inside = np.concatenate((inside, order[begin:end]))
        draw.shuffle(inside)
        left[inside[rule.kept :]] = times[order[end - 1]]
        inside, begin = inside[: rule.kept], end
    departures = np.full(len(arrivals), math.nan)
    departures[own] = left[: len(own)]
    hidden = left[len(own) :]
    if not pool:
        moments = np.unique(left[~np.isnan(left)])
        spans = np.diff(moments, prepend=0.0)
        hidden = np.repeat(moments, draw.poisson(cover_rate * spans))
    return departures, hidden[~np.isnan(hidden)]


def _free(law: Free, size: int, draw: np.random.Generator) -> Floats:
    if law.longest == math.inf:
        raise InputError(f"{law}: no delays can be drawn without an end; give it longest=")
    width = law.longest / _CELLS
    middles: Floats = (np.arange(_CELLS, dtype=np.float64) + 0.5) * width
    probabilities = law.weights(middles)
    if not probabilities.sum() > 0:
        raise InputError(f"{law}: every delay has the weight 0; check the function")
    cells = draw.choice(_CELLS, size, p=probabilities / probabilities.sum())
    return np.minimum((cells + draw.random(size)) * width, law.longest)


def _cover(arrivals: Floats, departures: Floats, number: int, draw: np.random.Generator) -> Floats:
    """When cover traffic leaves."""
    left = departures[~np.isnan(departures)]
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

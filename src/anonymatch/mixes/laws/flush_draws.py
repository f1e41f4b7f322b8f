"""Logs of mixes that send several messages on together, drawn."""

from __future__ import annotations

import math

import numpy as np

from anonymatch import mixes
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError

__all__ = ["flushed"]

_MOST_FLUSHES = 10**7


def flushed(
    rule: mixes.FlushRule,
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
    rule: mixes.FlushRule,
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
            leaves[draw.permutation(total)[int(rule.stays(total)) :]] = True
        else:
            leaves = draw.random(total) < rule.leave(total)
        flush[inside[leaves[: len(inside)]]] = at
        if pool:
            cover[at] = np.count_nonzero(leaves[len(inside) :])
            dummies -= int(cover[at])
        inside = inside[~leaves[: len(inside)]]
    return flush, cover


def _by_number(
    rule: mixes.FlushRule,
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

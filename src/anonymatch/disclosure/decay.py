"""How anonymity falls with the rounds that are seen: the curve and its half-life."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from anonymatch.base.arrays import Floats
from anonymatch.measures import Interval

__all__ = ["CurvePoint", "half_life", "rounds_to_look_at", "rounds_until", "windows"]


class CurvePoint(NamedTuple):
    """What an attacker who has seen so many rounds knows; None where a method does not say."""

    rounds: int
    bits: Interval | None
    right: Interval | None
    believed: Interval | None


def rounds_to_look_at(rounds: int) -> list[int]:
    """1, 2, 5, 10, 20 and so on, and all.

    Examples
    --------
    >>> rounds_to_look_at(30), rounds_to_look_at(1)
    ([1, 2, 5, 10, 20, 30], [1])
    """
    steps = (k * 10**e for e in range(9) for k in (1, 2, 5))
    return [*(step for step in steps if step < rounds), rounds]


def windows(rounds: int, length: int, most: int) -> list[tuple[int, int]]:
    """Stretches of a log to look at, each of so many rounds, that do not overlap.

    Examples
    --------
    >>> windows(10, 3, 8), windows(10, 2, 2)
    ([(0, 3), (3, 6), (6, 9)], [(0, 2), (8, 10)])
    """
    number = max(1, min(most, rounds // length))
    gaps = max(number - 1, 1)
    begins = [
        (rounds - length) * k // gaps if number < rounds // length else k * length
        for k in range(number)
    ]
    return [(begin, begin + length) for begin in begins]


def half_life(points: Sequence[CurvePoint]) -> Interval | None:
    """Rounds until half the bits of one round are left: between which rounds it was measured.

    None if they never are, or there were none.

    Examples
    --------
    >>> def point(rounds, bits):
    ...     return CurvePoint(rounds, Interval(bits, bits, bits), None, None)
    >>> found = half_life([point(1, 2.0), point(10, 1.5), point(20, 0.5)])
    >>> round(found.value, 6), found.low, found.high
    (14.142136, 10.0, 20.0)
    """
    known = [(one.rounds, one.bits.value) for one in points if one.bits is not None]
    if not known or known[0][1] <= 0.0:
        return None
    return rounds_until([one for one, _ in known], [bits for _, bits in known], known[0][1] / 2)


def rounds_until(
    rounds: Sequence[int], bits: Sequence[float] | Floats, goal: float
) -> Interval | None:
    """When a curve first falls to a value: straight between points, over the log of rounds.

    Between no round and the first there is no log, so there it is straight over rounds.

    Examples
    --------
    >>> rounds_until([0, 1, 2], [2.0, 0.0, 0.0], 1.0).value
    0.5
    """
    for k, value in enumerate(bits):
        if value > goal:
            continue
        if k == 0:
            return Interval(float(rounds[0]), 0.0, float(rounds[0]))
        low, high = float(rounds[k - 1]), float(rounds[k])
        part = (float(bits[k - 1]) - goal) / (float(bits[k - 1]) - float(value))
        at = low * math.exp(part * math.log(high / low)) if low > 0.0 else part * high
        return Interval(at, low, high)
    return None

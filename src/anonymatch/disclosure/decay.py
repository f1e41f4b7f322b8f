"""How anonymity falls with the rounds that are seen: the curve and its half-life."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from anonymatch.base.arrays import Floats
from anonymatch.base.interval import Interval

__all__ = [
    "OPEN_GAP",
    "CurvePoint",
    "Plan",
    "gap_at",
    "half_life",
    "half_life_error",
    "points_around",
    "rounds_to_look_at",
    "rounds_until",
    "windows",
]

OPEN_GAP = 0.1
"""Bits between chains from opposite starts, from which on there is no single number."""

_STAGES = (  # stretches of each length, sweeps of a first look, and their share of the budget
    (4, 150, 0.3),
    (2, 150, 1.0),
    (1, 150, 1.0),
    (1, 100, 1.0),
    (1, 70, 1.0),
    (1, 50, 1.0),
    (1, 36, 1.0),
    (1, 24, 1.0),
)
_SURE = 3  # doublings of rounds that a budget must allow, beside all rounds
_CHEAP = 0.03  # seconds of a first look: more sweeps where they cost less
_CHEAP_SHARE = 0.02  # and no more than this share of the budget
_MOST_FIRST, _MOST_SWEEPS = 6000, 9600
_LONG = 5000  # messages of a stretch, from which on one is enough
_AGREED = 0.05  # bits between opposite starts, or to an end of the interval: a point is done
_BETWEEN = 2  # points between the two around the half-life; twice as many if it moves
_NEAR = 0.04  # of the half-life, how close the nearest point needs to be

_WIDE = 2.5  # times as many rounds, from which on nothing is known of a curve between two points
_BEND = 0.5  # how far a curve between two points may be from a straight line, at most


class CurvePoint(NamedTuple):
    """What an attacker who has seen so many rounds knows; None where a method does not say."""

    rounds: int
    bits: Interval | None
    right: Interval | None
    believed: Interval | None
    ordered: float | None = None  # bits by chains that began at likely matchings alone
    disordered: float | None = None  # bits by chains that began at random matchings alone
    spread: float | None = None  # standard error of bits by how stretches of the log differ

    @property
    def gap(self) -> float:
        """Bits by which chains from opposite starts differ; 0 if nothing was drawn."""
        if self.ordered is None or self.disordered is None:
            return 0.0
        return abs(self.disordered - self.ordered)

    @property
    def doubt(self) -> float:
        """The gap, or half of the interval of the bits if that is more."""
        return 0.0 if self.bits is None else max(self.gap, (self.bits.high - self.bits.low) / 2)


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
    """Rounds until half the bits of one round are left, and between which rounds that is.

    The ends are where the lower and the upper ends of the bits fall to one half: these hold what
    chains from opposite starts say. An end that this log is too short for is infinite. None if
    even the lower end never falls so far, or there are no bits.

    Examples
    --------
    >>> def point(rounds, bits, apart=0.0):
    ...     return CurvePoint(rounds, Interval(bits, bits - apart, bits + apart), None, None)
    >>> found = half_life([point(1, 2.0), point(10, 1.1, 0.05), point(11, 0.9, 0.05)])
    >>> [round(end, 1) for end in (found.low, found.value, found.high)]
    [10.0, 10.5, 11.0]
    >>> half_life([point(1, 2.0), point(10, 1.1, 0.15)]).high
    inf
    """
    known = [(one.rounds, one.bits) for one in points if one.bits is not None]
    if not known or known[0][1].value <= 0.0:
        return None
    goal = known[0][1].value / 2
    rounds = [at for at, _ in known]
    value, low, high = (
        rounds_until(rounds, [getattr(bits, end) for _, bits in known], goal)
        for end in ("value", "low", "high")
    )
    if low is None:
        return None
    if value is None or high is None:
        return Interval(math.inf if value is None else value.value, low.low, math.inf)
    return Interval(value.value, min(low.low, value.low), max(high.high, value.high))


def rounds_until(
    rounds: Sequence[int], bits: Sequence[float] | Floats, goal: float
) -> Interval | None:
    """When a curve first falls to a value: straight between points, over the log of rounds.

    Between no round and the first there is no log, so there it is straight over rounds. The
    interval has what the curve may bend between the two points: all that is between them if they
    follow each other or are far apart.

    Examples
    --------
    >>> rounds_until([0, 1, 2], [2.0, 0.0, 0.0], 1.0)
    Interval(value=0.5, low=0.0, high=1.0)
    """
    for k, value in enumerate(bits):
        if value > goal:
            continue
        if k == 0:
            return Interval(float(rounds[0]), 0.0, float(rounds[0]))
        low, high = float(rounds[k - 1]), float(rounds[k])
        part = (float(bits[k - 1]) - goal) / (float(bits[k - 1]) - float(value))
        if high - low <= 1.0 or low <= 0.0 or high > _WIDE * low:
            at = low * math.exp(part * math.log(high / low)) if low > 0.0 else part * high
            return Interval(at, low, high)
        at = low * math.exp(part * math.log(high / low))
        bend = math.exp(_BEND * part * (1.0 - part) * math.log(high / low))
        return Interval(at, max(low, at / bend), min(high, at * bend))
    return None


def points_around(points: Sequence[CurvePoint], half: Interval | None) -> dict[int, float]:
    """The rounds that a half-life rests on, and how much on each: the next on its left and right.

    Without a half-life it is all on the last point.
    """
    rounds = [one.rounds for one in points if one.bits is not None]
    if half is None or not rounds[0] < half.value <= rounds[-1]:
        return dict.fromkeys(rounds[-1:], 1.0)
    high = min(at for at in rounds if at >= half.value)
    low = max(at for at in rounds if at < half.value)
    part = math.log(half.value / low) / math.log(high / low) if low > 0 else half.value / high
    return {low: 1.0 - part, high: part}


def gap_at(points: Sequence[CurvePoint], half: Interval | None) -> float:
    """Bits between chains from opposite starts at a half-life; at the end if there is none."""
    around = points_around(points, half)
    return sum(around[one.rounds] * one.gap for one in points if one.rounds in around)


def half_life_error(points: Sequence[CurvePoint], half: Interval | None) -> float | None:
    """How far the half-life of another part of the log is off (one standard error).

    By how stretches of the log differ; None if there was one of each length.
    """
    if half is None or math.isinf(half.value):
        return None
    near = [
        one.spread
        for one in points
        if one.spread is not None and half.value / 2 <= one.rounds <= 2 * half.value
    ]
    known = [(one.rounds, one.bits.value) for one in points if one.bits is not None]
    if not near:
        return None
    apart = sum(near) / len(near)
    goal = known[0][1] / 2
    ends = [
        rounds_until([at for at, _ in known], [bits for _, bits in known], goal + sign * apart)
        for sign in (1, -1)
    ]
    if ends[0] is None:
        return None
    if ends[1] is None:
        return half.value - ends[0].value
    return (ends[1].value - ends[0].value) / 2


@dataclass(slots=True, kw_only=True)
class Plan:
    """How many rounds to look at next, within predicted seconds: the clock has no say.

    Rounds are doubled until half of the bits are gone (or halved until they are not). Two points
    between follow, where a straight line puts the half-life; then all rounds. What is left
    of the budget goes to points around the half-life whose chains do not agree, then to all rounds.
    """

    rounds: int
    batch: float  # messages of a round
    sweep: float  # predicted seconds of a sweep over a round, of all chains
    other: float  # and of all else that is done once for a round
    first: int
    least: int
    decay: bool
    timed: bool  # whether what one round says takes chains as well
    cheap: float = 0.0
    left: float = 0.0  # seconds
    stretches: int = 1
    sweeps: int = 0
    between: int = 0  # points so far
    refined: bool = False

    def choose(self, seconds: float) -> float:
        """Choose stretches and sweeps that these seconds allow; what first looks cost."""
        self.left, self.cheap = seconds, min(_CHEAP, _CHEAP_SHARE * seconds)
        cost = 0.0
        for self.stretches, self.sweeps, share in _STAGES:
            rungs = [self.start() << k for k in range(_SURE if self.decay else 0)]
            cost = sum(self.cost(one) for one in (*rungs, self.rounds) if one <= self.rounds)
            cost += self.cost(self.rounds) if self.timed else 0.0
            if cost <= share * seconds:
                break
        self.left -= self.cost(self.rounds) if self.timed else 0.0
        return cost

    def start(self) -> int:
        """The first number of rounds to look at, beside one."""
        return min(max(self.first, self.least), self.rounds)

    def windows(self, rounds: int) -> list[tuple[int, int]]:
        """Return the stretches of ``rounds`` rounds."""
        most = 1 if rounds * self.batch >= _LONG else self.stretches
        return windows(self.rounds, rounds, most)

    def sweeps_of(self, rounds: int) -> int:
        """Sweeps of a first look that are recorded."""
        cheap = int(self.cheap / (self.sweep * self._looked(rounds)))
        return max(self.sweeps, min(_MOST_FIRST, cheap))

    def _looked(self, rounds: int) -> int:
        return rounds * len(self.windows(rounds))

    def cost(self, rounds: int, sweeps: int | None = None) -> float:
        """Return the predicted seconds of a first look, or of ``sweeps`` further sweeps."""
        number = 1.5 * self.sweeps_of(rounds) if sweeps is None else sweeps
        return self._looked(rounds) * (number * self.sweep + self.other)

    def next(self, points: Sequence[CurvePoint], looked: Collection[int]) -> int | None:
        """The rounds to look at next; None if no more are needed or allowed."""
        at = self._wanted(points, looked) if self.decay else None
        reserve = 0.0 if self.rounds in looked else self.cost(self.rounds)
        if at is not None and at != self.rounds and self.cost(at) + reserve <= self.left:
            self.left -= self.cost(at)
            return at
        if self.rounds in looked:
            return None
        self.left -= reserve
        return self.rounds

    def _wanted(self, points: Sequence[CurvePoint], looked: Collection[int]) -> int | None:
        if not looked:
            return self.start()
        known = [(one.rounds, one.bits.value) for one in points if one.bits is not None]
        if not known or known[0][1] <= 0.0 or known[0][0] != 1:
            return None
        goal = known[0][1] / 2
        high = min((at for at, bits in known if bits <= goal), default=None)
        if high is None:
            return min(2 * max(looked), self.rounds) if max(looked) < self.rounds else None
        low = max(at for at, bits in known if at < high)
        if low == 1 and high // 2 >= self.least:
            return high // 2
        crossing = rounds_until([at for at, _ in known], [bits for _, bits in known], goal)
        assert crossing is not None
        apart = min(abs(math.log(crossing.value / at)) for at in (low, high))
        most = 2 * _BETWEEN if self.refined else _BETWEEN
        if low < self.least or high - low <= 1 or apart <= _NEAR or self.between >= most:
            return None
        self.between += 1
        return min(max(round(crossing.value), low + 1), high - 1)

    def unsure(
        self, points: Sequence[CurvePoint], sweeps: Mapping[int, int]
    ) -> tuple[int, int] | None:
        """The rounds whose chains go on, and for how many sweeps: twice as many as before if the
        budget allows it, and more than before. None if all agree or cost more.

        The half-life comes before the end of the curve.
        """
        half = half_life(points) if self.decay else None
        doubts = {one.rounds: one.doubt for one in points}
        parts = {
            at: part * doubts[at]
            for at, part in points_around(points, half).items()
            if at in sweeps
        }
        wanted = sorted(parts, key=lambda at: -parts[at])
        if sum(parts.values()) <= _AGREED:
            wanted = []
        if doubts.get(self.rounds, 0.0) > _AGREED:
            wanted.append(self.rounds)
        for at in wanted:
            more = int((self.left / self._looked(at) - self.other) / self.sweep)
            more = min(more, 2 * sweeps[at], _MOST_SWEEPS)
            if more > sweeps[at]:
                self.left -= self.cost(at, more)
                self.refined = True
                return at, more
        return None

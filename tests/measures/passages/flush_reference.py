"""Flush mixes by definition: every explanation of a small log with its probability."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np

from anonymatch.mixes.solvers.flushes.flush_rule import FlushRule
from anonymatch.mixes.solvers.links import Channel

LOST, INSIDE = "lost", "inside"
State = tuple[tuple[object, ...], int]  # what became of each message so far, and cover inside
_MOST_COVER = 12


@dataclass(frozen=True)
class Round:
    """Messages that came in, and departures with the flush after it; none after the last flush."""

    came: list[int]
    left: list[int]
    span: float
    at_once: bool = False  # whether a message came in at the moment of the flush
    ends: bool = False


def explanations(
    rule: FlushRule,
    rounds: list[Round],
    *,
    n_in: int,
    channel: Channel,
    loss: float,
    rate: float,
    pool: bool,
) -> dict[tuple[object, ...], float]:
    """The probability of each explanation with what was seen; they add up to the evidence."""
    states: dict[State, float] = {((None,) * n_in, 0): 1.0}
    for part in rounds:
        reached: dict[State, float] = defaultdict(float)
        for (fates, cover), weight in states.items():
            for state, factor in _one_round(rule, part, fates, cover, loss, rate, pool, channel):
                reached[state] += weight * factor
        states = {state: weight for state, weight in reached.items() if weight > 0}
    summed: dict[tuple[object, ...], float] = defaultdict(float)
    for (fates, _), weight in states.items():
        summed[fates] += weight
    left = sum(len(part.left) for part in rounds)
    if channel.lost is not None or channel.cover is not None:
        summed = {
            fates: weight
            for fates, weight in summed.items()
            if channel.lost in (None, fates.count(LOST))
            and channel.cover in (None, left - sum(isinstance(fate, int) for fate in fates))
        }
    return dict(summed)


def _one_round(
    rule: FlushRule,
    part: Round,
    fates: tuple[object, ...],
    cover: int,
    loss: float,
    rate: float,
    pool: bool,
    channel: Channel,
) -> Iterator[tuple[State, float]]:
    mean = rate * part.span
    counts = rule.batch is not None
    sure = part.came[-1:] if counts and not part.ends and (part.at_once or not pool) else []
    for gone in _subsets([i for i in part.came if i not in sure]):
        now = list(fates)
        for i in part.came:
            now[i] = LOST if i in gone else INSIDE
        probability = loss ** len(gone) * (1 - loss) ** (len(part.came) - len(gone))
        inside = [i for i, fate in enumerate(now) if fate == INSIDE]
        for more, likely in _cover(mean, pool):
            total = len(inside) + cover + more
            if part.ends:
                if counts and total >= (rule.batch or 0) + rule.kept:
                    continue
                if channel.drained and total > 0:
                    continue
                yield (tuple(now), cover + more), probability * likely
                continue
            more_now, likely_now = more, likely
            if counts and pool and not part.at_once:  # a cover message set it off
                more_now, likely_now = more + 1, likely * rate
            for state, factor in _flush(
                rule, part, tuple(now), inside, cover + more_now, 0.0 if pool else mean
            ):
                yield state, probability * likely_now * factor


def _flush(
    rule: FlushRule,
    part: Round,
    fates: tuple[object, ...],
    inside: list[int],
    cover: int,
    mean: float,
) -> Iterator[tuple[State, float]]:
    total, departed = len(inside) + cover, len(part.left)
    for leaving in _subsets(inside):
        for dummies in range(cover + 1):
            probability = _leave(rule, total, len(leaving) + dummies) * math.comb(cover, dummies)
            added = departed - len(leaving) - dummies
            if probability == 0 or added < 0:
                continue
            probability *= _poisson(added, mean)
            if probability == 0:
                continue
            probability /= math.perm(departed, len(leaving))
            for slots in permutations(part.left, len(leaving)):
                now = list(fates)
                for i, slot in zip(leaving, slots, strict=True):
                    now[i] = slot
                yield (tuple(now), cover - dummies), probability


def _leave(rule: FlushRule, total: int, number: int) -> float:
    """Probability that exactly these, of so many inside, leave; ``number`` of them."""
    if rule.spread is not None:
        p = 0.5 * math.erfc((rule.centre - total) / rule.spread / math.sqrt(2))
        return float(p**number * (1 - p) ** (total - number))
    if rule.share is not None:
        p = min(rule.share, max(0.0, 1 - rule.kept / total)) if total else 0.0
        return float(p**number * (1 - p) ** (total - number))
    wanted = max(0, total - rule.kept)
    if rule.portion is not None:
        wanted = min(wanted, int(Fraction(str(rule.portion)) * total))
    if rule.batch is not None and wanted != rule.batch:
        return 0.0
    return 1 / math.comb(total, number) if number == wanted else 0.0


def _subsets(of: list[int]) -> Iterator[tuple[int, ...]]:
    for size in range(len(of) + 1):
        yield from combinations(of, size)


def _cover(mean: float, pool: bool) -> Iterator[tuple[int, float]]:
    if not pool or mean == 0:
        yield 0, 1.0
        return
    for number in range(_MOST_COVER):
        yield number, _poisson(number, mean)


def _poisson(number: int, mean: float) -> float:
    if mean == 0:
        return float(number == 0)
    return math.exp(-mean) * mean**number / math.factorial(number)


@dataclass(frozen=True)
class Reference:
    log_evidence: float
    pairs: np.ndarray
    lost: np.ndarray
    inside: np.ndarray
    cover: np.ndarray
    joint_bits: float
    link_bits: float


def summary(weights: dict[tuple[object, ...], float], n_out: int) -> Reference:
    total = sum(weights.values())
    n_in = len(next(iter(weights)))
    pairs, lost, inside = np.zeros((n_in, n_out)), np.zeros(n_in), np.zeros(n_in)
    links: dict[tuple[object, ...], float] = defaultdict(float)
    for fates, weight in weights.items():
        p = weight / total
        links[tuple(f if isinstance(f, int) else None for f in fates)] += p
        for i, fate in enumerate(fates):
            if isinstance(fate, int):
                pairs[i, fate] += p
            elif fate == LOST:
                lost[i] += p
            else:
                inside[i] += p
    return Reference(
        log_evidence=math.log(total),
        pairs=pairs,
        lost=lost,
        inside=inside,
        cover=1 - pairs.sum(axis=0),
        joint_bits=bits(np.array(list(weights.values())) / total),
        link_bits=bits(np.array(list(links.values()))),
    )


def bits(probabilities: np.ndarray) -> float:
    some = probabilities[probabilities > 0]
    return float(-(some * np.log2(some)).sum())

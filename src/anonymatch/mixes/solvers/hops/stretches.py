"""One exponential mix whose log is too long for its budget: figures of messages in stretches.

A stretch begins long before its messages and ends long after them, so that what was inside at both
ends hardly matters. Messages are as far apart as messages that meet.

The number inside is followed by departures, of which it is the mean times a rate, and changes
unseen by losses and cover. By the filter of Kalman and Bucy an error in it falls by e in
``sqrt(inside mean / changes)`` seconds, where ``changes`` is their number per second. Without
losses and cover it never does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range, averages
from anonymatch.mixes.solvers.hops.tuning import HOPS
from anonymatch.mixes.solvers.links import LinkFigures, LinkProblem, ReceiverFigures
from anonymatch.running import Budget

Solve = Callable[[LinkProblem], LinkFigures]


def number_inside(problem: LinkProblem) -> float:
    """Messages inside on average, and one more; infinite if the law or the log does not show it."""
    channel, mean = problem.channel, problem.law.mean_delay
    lasted = channel.end - channel.begin
    if mean is None or not lasted > 0:
        return math.inf
    return len(problem.arrivals) / lasted * mean + 1.0


def whole_seconds(problem: LinkProblem) -> float:
    """Predicted seconds of all figures of a log of one exponential mix."""
    size, inside = len(problem.arrivals), number_inside(problem)
    return size * HOPS.figure_seconds * math.sqrt(inside if math.isfinite(inside) else size)


def needs_stretches(problem: LinkProblem, budget: Budget) -> bool:
    """Whether all figures of a log with rates of losses or cover are beyond a chosen budget."""
    channel = problem.channel
    numbers = channel.lost is not None or channel.cover is not None
    if not budget.chosen or numbers or not math.isfinite(number_inside(problem)):
        return False
    beyond = whole_seconds(problem) > max(budget.seconds, HOPS.stretch_quick)
    return beyond and _changes(problem) > 0.0


def _changes(problem: LinkProblem) -> float:
    """Losses and dummies per second."""
    channel = problem.channel
    rate = len(problem.arrivals) / (channel.end - channel.begin)
    return channel.loss * rate + channel.cover_rate


class _Part(NamedTuple):
    """A stretch that is solved."""

    links: LinkFigures
    picked: Ints  # messages that are looked at, by their numbers in the log
    at: Ints  # and in the stretch
    first_out: int  # number of its first departure
    size: int  # messages in it
    middle: Bools  # departures while its own messages came in


def stretched(problem: LinkProblem, budget: Budget, solve: Solve) -> tuple[LinkFigures, Ints]:
    """Figures of some messages, and which they are; ``solve`` is for one stretch."""
    channel, size = problem.channel, len(problem.arrivals)
    inside, mean = number_inside(problem), problem.law.mean_delay
    assert mean is not None
    each = HOPS.figure_seconds * math.sqrt(inside)
    margin = HOPS.stretch_margin * (mean + math.sqrt(inside * mean / _changes(problem)))
    around = math.ceil(size / (channel.end - channel.begin) * margin)
    core = max(around, HOPS.stretch_least_core)
    cost = each * (core + 2 * around) + HOPS.stretch_seconds
    number = int(HOPS.stretch_share * budget.seconds / cost)
    if number < HOPS.stretch_fewest:
        least = min(HOPS.stretch_fewest * cost / HOPS.stretch_share, size * each)
        what = f"figures of {HOPS.stretch_fewest} stretches of {core + 2 * around:,} messages"
        raise budget.refusal(what, least, 0.0)
    draw = np.random.default_rng(problem.seed)
    room = max(size / number - core, 0.0)
    starts = (np.arange(number) * size / number + room * draw.random(number)).astype(np.int64)
    edge = np.zeros(size, dtype=np.bool_)
    if problem.edge is not None and not problem.edge.all():
        edge = problem.edge
    apart = math.ceil(inside)
    parts: list[_Part] = []
    for first in starts.tolist():
        last = min(first + core, size)
        picked = np.arange(first + int(draw.integers(apart)), last, apart)
        picked = picked[~edge[picked]]
        if len(picked):
            parts.append(_solved(problem, solve, first, last, picked, inside, margin))
    return _joined(problem, parts, inside), np.concatenate([part.picked for part in parts])


def _solved(
    problem: LinkProblem,
    solve: Solve,
    first: int,
    last: int,
    picked: Ints,
    inside: float,
    margin: float,
) -> _Part:
    channel, came, left = problem.channel, problem.arrivals, problem.departures
    begin = max(float(came[first]) - margin, channel.begin)
    end = min(float(came[last - 1]) + margin, channel.end)
    (a, b), (c, d) = (
        (int(np.searchsorted(times, begin)), int(np.searchsorted(times, end, side="right")))
        for times in (came, left)
    )
    steady = inside * (1.0 - channel.loss)
    local = replace(
        channel,
        begin=begin,
        end=end,
        drained=channel.drained and end == channel.end,
        inside_at_start=channel.inside_at_start if begin == channel.begin else steady,
    )
    asked = None
    if problem.asked is not None:
        asked = problem.asked[a:b]
        asked = np.where((asked >= c) & (asked < d), asked - c, -1)
    piece = replace(
        problem,
        arrivals=came[a:b],
        departures=left[c:d],
        channel=local,
        receivers=None if problem.receivers is None else problem.receivers[c:d],
        edge=None,
        asked=asked,
    )
    middle = (left[c:d] >= came[first]) & (left[c:d] <= came[last - 1])
    return _Part(solve(piece), picked, picked - a, c, b - a, middle)


def _joined(problem: LinkProblem, parts: list[_Part], inside: float) -> LinkFigures:
    """Figures of the messages that were picked in all stretches."""
    size, seconds = len(problem.arrivals), whole_seconds(problem)
    number = sum(len(part.picked) for part in parts)

    def arrays(name: str) -> np.ndarray:
        return np.concatenate([np.asarray(getattr(part.links, name))[part.at] for part in parts])

    def ranges(name: str) -> Range:
        ends = [getattr(part.links, name).at(part.at).parts for part in parts]
        return Range(*(np.concatenate(end) for end in zip(*ends, strict=True)))

    def whole(name: str) -> Interval:
        """Bits of the whole log. A stretch has more or less of them near its two ends."""
        means = np.array([getattr(part.links, name).value / part.size for part in parts])
        slack = float(np.mean([2.0 * inside / part.size for part in parts])) * means.mean()
        middle = float(means.mean())
        half = averages.error_of_batches(means) + float(slack)
        return Interval(*(size * (middle + by) for by in (0.0, -half, half)))

    def mean(of: Callable[[LinkFigures], Floats]) -> Interval:
        """The mean over messages that departed. Stretches are its batches."""
        pairs = [(part.links.departed[part.at], of(part.links)[part.at]) for part in parts]
        sums = np.array([(departed @ values, departed.sum()) for departed, values in pairs])
        value = float(sums[:, 0].sum() / sums[:, 1].sum())
        off = (sums[:, 0] - value * sums[:, 1]) / sums[:, 1].mean()
        half = averages.error_of_batches(off)
        return Interval(value, value - half, value + half).clipped(0.0, math.inf)

    def smallest(links: LinkFigures) -> Floats:
        share = np.where(links.departed > 0.0, links.departed, 1.0)
        largest = np.where(links.departed > 0.0, links.probability.value / share, 1.0)
        return np.asarray(0.0 - np.log2(np.clip(largest, 1e-300, 1.0)), dtype=np.float64)

    guesses = [(part.links.guess[part.at], part.first_out) for part in parts]
    real = float(np.concatenate([part.links.real[part.middle] for part in parts]).mean())
    receivers = None
    if parts[0].links.receivers is not None:
        some = [(part.links.receivers, part.at) for part in parts]
        receivers = ReceiverFigures(
            **{
                name: np.concatenate([getattr(one, name)[at] for one, at in some])
                for name in ("shannon", "probability", "guess")
            }
        )
    note = (
        f"Figures of all {size:,} messages would take {seconds:.2g} s: they were computed for "
        f"{number:,} messages in {len(parts)} stretches of the log, drawn with seed "
        f"{problem.seed}. Means, shares and quantiles are estimated from them, with intervals of "
        f"{averages.SAMPLED:.0%}"
    )
    return LinkFigures(
        log_evidence=None,
        joint_bits=whole("joint_bits"),
        link_bits=whole("link_bits"),
        departed=arrays("departed"),
        lost=arrays("lost"),
        inside=arrays("inside"),
        shannon=ranges("shannon"),
        shannon_all=ranges("shannon_all"),
        collision=arrays("collision"),
        probability=ranges("probability"),
        allowed=arrays("allowed"),
        real=np.full(len(problem.departures), real),
        guess=np.concatenate([np.where(best >= 0, best + c, best) for best, c in guesses]),
        error=max(part.links.error for part in parts),
        confidence=averages.SAMPLED,
        method=parts[0].links.method,
        seed=problem.seed,
        receivers=receivers,
        asked=None if parts[0].links.asked is None else arrays("asked"),
        mean_shannon=mean(lambda links: links.shannon.value),
        mean_min_entropy=mean(smallest),
        notes=(note,),
    )

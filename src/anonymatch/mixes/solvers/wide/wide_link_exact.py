"""Logs with losses and cover in which few messages out are candidates at the same time: exactly.

Rows are matched in order. A state is the set of columns that earlier rows took among those that
later rows may still take. The weights of all matchings that lead to a state are added up, there and
back, so that every probability is a sum of positive terms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range, entropy_terms
from anonymatch.mixes.solvers.wide.wide_band import shares_at
from anonymatch.mixes.solvers.wide.wide_link_band import LinkBand, unexplained_links
from anonymatch.mixes.solvers.wide.wide_link_estimate import LinksEstimate
from anonymatch.running import Budget

__all__ = ["exact_fits", "exact_links", "exact_seconds"]

_LN2 = math.log(2.0)
_STEP_SECONDS = 2e-7  # per state and choice, measured
_ROW_SECONDS = 1e-4  # per row
_MOST_STEPS = 1e7  # of which each takes 8 bytes
_BITS = 62  # of a key: columns taken, and numbers of pairs and of lost rows
_SHARE = 0.5  # of the budget
_TIE = 1e-12  # probabilities closer than this, relatively, are equal: the first is the guess
_POSSIBLE = 1e-12
_ROUNDING = 2.0**-50


def exact_seconds(band: LinkBand) -> float:
    """Predict the CPU seconds of `exact_links`; infinite where its states do not fit.

    Examples
    --------
    >>> band = LinkBand(
    ...     first=np.array([0, 0]), last=np.array([2, 2]), weights=None, columns=2,
    ...     unpaired=np.array([1.0, 1.0]), cover=1.0,
    ... )
    >>> exact_seconds(band) < 0.01
    True
    """
    lengths = band.last - band.first
    if _key_bits(band) > _BITS:
        return math.inf
    open_ = np.maximum(band.last[:-1] - band.first[1:], 0).tolist()
    numbers = [1 if told is None else told + 1 for told in (band.pairs, band.lost)]
    steps = float(lengths[0]) + 2.0 if band.rows else 0.0
    for i, (width, choices) in enumerate(zip(open_, (lengths[1:] + 2).tolist(), strict=True)):
        counted = math.prod(min(i + 2, number) for number in numbers)
        taken = min(i + 1, width)
        # An upper bound: all sets of at most ``taken`` columns, a sum of binomials.
        sets = 2.0**width if taken == width else sum(math.comb(width, k) for k in range(taken + 1))
        steps += counted * sets * choices
        if steps > _MOST_STEPS:
            return math.inf
    return _STEP_SECONDS * steps + _ROW_SECONDS * band.rows


def exact_fits(band: LinkBand, budget: Budget) -> bool:
    """Whether `exact_links` is predicted to fit its share of the budget."""
    return exact_seconds(band) <= _SHARE * budget.seconds


def _key_bits(band: LinkBand) -> int:
    """Bits of the key of a state."""
    width = int((band.last - band.first).max(initial=0))
    return width + math.ceil(math.log2(_counters(band) + 1))


def _counters(band: LinkBand) -> int:
    """Combinations of the numbers that are counted."""
    return math.prod(1 if told is None else told + 1 for told in (band.pairs, band.lost))


class _Level(NamedTuple):
    """One row: states before it, and the state after it that each choice leads to.

    The first choices are columns of the row, then to be lost (or not seen at all), then to be
    inside where that is counted apart.
    """

    shifted: Ints  # the state of each earlier state when columns have left the frontier
    factors: Floats  # and the weight of columns that left it without a row
    before: Floats  # sums of weights, scaled to add up to 1
    targets: Ints  # by state and choice; -1 where it is not possible
    weights: Floats  # of choices


class _Programme:
    """Sums over all matchings of a band."""

    def __init__(self, band: LinkBand) -> None:
        self.band = band
        self.lengths = band.last - band.first
        self.starts = offsets(self.lengths)
        self.width = int(self.lengths.max(initial=0))
        self.log = 0.0
        self.masks = np.zeros(1, dtype=np.int64)
        self.numbers = np.zeros(1, dtype=np.int64)  # pairs + (most pairs + 1) * lost
        self.sums = np.ones(1)
        self.base = 0
        self.pair_step = 0 if band.pairs is None else 1
        self.lost_step = 0 if band.lost is None else (1 if band.pairs is None else band.pairs + 1)
        self.levels = [self._level(i) for i in range(band.rows)]
        self.ends = self._ends()

    def _add(self, states: Ints, weights: Floats) -> None:
        """Add up the weights that lead to each state, and scale the sums."""
        sums = np.bincount(states, weights=weights, minlength=len(self.masks))
        self.sums = sums.astype(np.float64)
        total = float(self.sums.sum())
        if not total > 0.0:
            raise unexplained_links()
        self.sums /= total
        self.log += math.log(total)

    def _merged(self, masks: Ints, numbers: Ints, possible: Bools) -> Ints:
        """Keep each state once; the index of each, -1 where it is not possible."""
        keys = (numbers << self.width) | masks
        kept, inverse = np.unique(keys[possible], return_inverse=True)
        indices = np.full(keys.shape, -1, dtype=np.int64)
        indices[possible] = inverse
        self.masks, self.numbers = kept & ((1 << self.width) - 1), kept >> self.width
        return indices

    def _left(self, number: int) -> tuple[Ints, Floats]:
        """Let columns leave the frontier; what is left of each state, and its weight."""
        low = min(number, _BITS)
        dropped = self.masks & ((1 << low) - 1)
        free = number - np.bitwise_count(dropped.astype(np.uint64)).astype(np.float64)
        return np.asarray(self.masks >> low, dtype=np.int64), self.band.cover**free

    def _level(self, i: int) -> _Level:
        band = self.band
        masks, factors = self._left(int(band.first[i]) - self.base)
        self.base = int(band.first[i])
        shifted = self._merged(masks, self.numbers, factors > 0.0)
        possible = shifted >= 0
        self._add(shifted[possible], (self.sums * factors)[possible])
        before = self.sums
        weights, bits, more, losses = self._choices(i)
        masks = self.masks[:, None] | bits
        numbers = self.numbers[:, None] + self.pair_step * more + self.lost_step * losses
        free = ((self.masks[:, None] & bits) == 0) & (weights > 0.0)
        if band.pairs is not None:
            free &= (more == 0) | (self.numbers[:, None] % (band.pairs + 1) < band.pairs)
        if band.lost is not None:
            free &= (losses == 0) | (self.numbers[:, None] // self.lost_step < band.lost)
        targets = self._merged(masks, numbers, free)
        flow = before[:, None] * weights
        self._add(targets[free], flow[free])
        return _Level(shifted, factors, before, targets, weights)

    def _choices(self, i: int) -> tuple[Floats, Ints, Ints, Ints]:
        """Weights of the choices of a row, columns that they take, pairs and losses they make."""
        band, length = self.band, int(self.lengths[i])
        own = np.ones(length)
        if band.weights is not None:
            own = band.weights[int(self.starts[i]) : int(self.starts[i + 1])]
        staying = 0.0
        if band.lost is not None and band.staying is not None:
            staying = float(band.staying[i])
        weights = np.concatenate((own, [max(band.unpaired[i] - staying, 0.0), staying]))
        ones = np.int64(1) << np.arange(length, dtype=np.int64)
        nothing = np.zeros(2, dtype=np.int64)
        return (
            weights,
            np.concatenate((ones, nothing)),
            np.concatenate((np.ones(length, dtype=np.int64), nothing)),
            np.concatenate((np.zeros(length, dtype=np.int64), [1, 0])),
        )

    def _ends(self) -> Floats:
        """Weights of the last states to come: of columns that are left, and of told numbers."""
        band = self.band
        _, ends = self._left(band.columns - self.base)
        if band.pairs is not None:
            ends = ends * (self.numbers % (band.pairs + 1) == band.pairs)
        if band.lost is not None:
            ends = ends * (self.numbers // self.lost_step == band.lost)
        total = float(self.sums @ ends)
        if not total > 0.0:
            raise unexplained_links()
        self.log += math.log(total)
        return np.asarray(ends / total, dtype=np.float64)

    def probabilities(self) -> tuple[Floats, Floats, Floats]:
        """Of all entries; of each row to be lost, or not seen at all; and to be inside."""
        pairs = np.zeros(int(self.starts[-1]))
        lost, inside = np.zeros(self.band.rows), np.zeros(self.band.rows)
        after = self.ends
        for i in range(self.band.rows - 1, -1, -1):
            level = self.levels[i]
            later = np.where(level.targets >= 0, after[level.targets], 0.0) * level.weights
            own = level.before @ later
            own /= own.sum()
            length = int(self.lengths[i])
            pairs[int(self.starts[i]) : int(self.starts[i + 1])] = own[:length]
            lost[i], inside[i] = own[length:]
            before = later.sum(axis=1)
            after = np.where(level.shifted >= 0, before[level.shifted] * level.factors, 0.0)
            after /= after.max()
        return pairs, lost, inside


def exact_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    asked: Ints | None = None,
) -> LinksEstimate | None:
    """Figures of a log by sums over all matchings; None if that does not fit the budget.

    Examples
    --------
    >>> band = LinkBand(
    ...     first=np.array([0, 0]), last=np.array([2, 2]), weights=None, columns=2,
    ...     unpaired=np.array([1.0, 1.0]), cover=1.0,
    ... )
    >>> exact = exact_links(band, budget=Budget(seconds=1))
    >>> round(float(np.exp(exact.log_weight.value)), 9), exact.alone.value.round(6).tolist()
    (7.0, [0.428571, 0.428571])
    """
    if not exact_fits(band, budget):
        return None
    programme = _Programme(band)
    pairs, lost, inside = programme.probabilities()
    starts = programme.starts
    size, columns = band.rows, np.zeros(band.columns)
    figures = {
        name: np.zeros(size)
        for name in ("shannon", "collision", "largest", "guessing", "group_shannon", "group")
    }
    guess, group_guess = (np.full(size, -1, dtype=np.int64) for _ in range(2))
    allowed = np.zeros(size, dtype=np.int64)
    departed = np.zeros(size)
    figures["collision"] += 1.0
    figures["guessing"] += 1.0
    for i in range(size):
        own = pairs[int(starts[i]) : int(starts[i + 1])]
        departed[i] = own.sum()
        columns[int(band.first[i]) : int(band.last[i])] += own
        if not departed[i] > 0.0:
            continue
        given = own / departed[i]
        best = int(np.argmax(own >= own.max() * (1.0 - _TIE)))
        guess[i] = int(band.first[i]) + best
        allowed[i] = int((given > _POSSIBLE).sum())
        figures["largest"][i] = own[best]
        figures["shannon"][i] = max(float(entropy_terms(given).sum()), 0.0)
        figures["collision"][i] = float((given**2).sum())
        ranked = np.sort(given)[::-1]
        figures["guessing"][i] = max(float(ranked @ np.arange(1.0, len(ranked) + 1)), 1.0)
        if groups is not None:
            which = groups[int(band.first[i]) : int(band.last[i])]
            together = np.bincount(which, weights=given).astype(np.float64)
            group_guess[i] = int(np.argmax(together >= together.max() * (1.0 - _TIE)))
            figures["group"][i] = float(together.max()) * departed[i]
            figures["group_shannon"][i] = max(float(entropy_terms(together).sum()), 0.0)
    counted = np.ones(size, dtype=np.bool_) if edge is None or edge.all() else ~edge
    total = float(departed[counted].sum())
    mean = float(departed[counted] @ figures["shannon"][counted]) / total if total > 0.0 else 0.0
    entropy = max(programme.log - _expected_log(band, pairs, lost, inside, columns), 0.0)
    slack = _ROUNDING * (size + band.columns + 1.0)
    off = slack * (abs(programme.log) + abs(entropy) + size + band.columns)
    alone = lost + inside
    none = np.zeros(0)

    def near(values: Floats, least: float = 0.0, most: float = 1.0) -> Range:
        return Range(*(np.clip(values + by, least, most) for by in (0.0, -slack, slack)))

    surest = np.where(departed > 0.0, figures["largest"] / np.where(departed > 0.0, departed, 1), 1)
    return LinksEstimate(
        log_weight=Interval(programme.log, programme.log - off, programme.log + off),
        entropy=Interval(entropy, entropy - off, entropy + off).clipped(0.0, math.inf),
        alone=near(alone),
        real=near(np.minimum(columns, 1.0)),
        shannon=near(figures["shannon"], most=math.inf),
        mean_shannon=Interval(mean, mean - slack, mean + slack).clipped(0.0, math.inf),
        collision=figures["collision"],
        probability=near(figures["largest"]),
        surest=near(surest),
        guess=guess,
        guessing=near(figures["guessing"], 1.0, math.inf),
        allowed=allowed,
        group_shannon=none if groups is None else figures["group_shannon"],
        group_largest=none if groups is None else figures["group"],
        group_guess=none.astype(np.int64) if groups is None else group_guess,
        variance=0.0,
        lost=None if band.lost is None or band.staying is None else near(lost),
        replicas=0,
        asked=None if asked is None else shares_at(band.first, band.last, pairs, None, asked),
    )


def _expected_log(
    band: LinkBand, pairs: Floats, lost: Floats, inside: Floats, columns: Floats
) -> float:
    """Return the mean log weight of a matching."""

    def logs(weights: Floats) -> Floats:
        return np.log(np.where(weights > 0.0, weights, 1.0))

    total = float(pairs @ logs(band.weights)) if band.weights is not None else 0.0
    staying = np.zeros(band.rows)
    if band.lost is not None and band.staying is not None:
        staying = band.staying
    total += float(lost @ logs(band.unpaired - staying)) + float(inside @ logs(staying))
    if band.cover > 0.0:
        total += math.log(band.cover) * float((1.0 - columns).sum())
    return total

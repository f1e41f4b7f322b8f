"""Wide logs with losses, cover and an end: a message fits too many others for exact counts.

An explanation says of each message in which message out it is, or that it is none of them; messages
out that are left over are nobody's. It weighs the product of the densities of its pairs, of ``u``
for each message in without a pair (lost, or still inside) and of ``c`` for each message out without
one. Three things are put together [1]_ [2]_:

- *A scaling* of all these weights in which each row and each column adds up to 1 with what is left
  over. It is the posterior of large logs.
- *A chain* in replicas that know nothing of each other: messages swap what they have, move to a
  message out that is nobody's, or make or give up a pair. It has no bias where it is asked for
  means, and corrects the scaling as in :mod:`anonymatch.mixes.solvers.wide.swap_chain`.
- *Thermodynamic integration* for the evidence: what is added to ``u`` and ``c`` falls from where
  nothing is paired, whose weight is known, to nothing.

Intervals are Student's, by replicas: 95 %.

References
----------
.. [1] Heilmann, Lieb. Theory of monomer-dimer systems. Comm. Math. Phys., 1972.
.. [2] Gelman, Meng. Simulating normalizing constants: from importance sampling to bridge sampling
   to path sampling. Statistical Science, 1998.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import Range, entropy_terms
from anonymatch.mixes.solvers.wide.bands import LinkBand, shares_at, unexplained_links
from anonymatch.mixes.solvers.wide.link_chain import LinkComputation, ToldNumber, planned_links
from anonymatch.mixes.solvers.wide.link_estimate import LinksEstimate, links_estimate
from anonymatch.mixes.solvers.wide.tuning import WIDE
from anonymatch.running import Budget, Execution

_LN2 = math.log(2.0)


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
    if _key_bits(band) > WIDE.exact_bits:
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
        if steps > WIDE.most_steps:
            return math.inf
    return WIDE.step_seconds * steps + WIDE.exact_row_seconds * band.rows


def exact_fits(band: LinkBand, budget: Budget) -> bool:
    """Whether `exact_links` is predicted to fit its share of the budget."""
    return exact_seconds(band) <= WIDE.exact_share * budget.seconds


def links_cost(band: LinkBand, budget: Budget) -> tuple[float, bool]:
    """Predicted seconds of `estimate_links`, and whether its figures are exact."""
    if exact_fits(band, budget):
        return exact_seconds(band), True
    return planned_links(band, budget).seconds(band), False


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
        low = min(number, WIDE.exact_bits)
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
        best = int(np.argmax(own >= own.max() * (1.0 - WIDE.exact_tie)))
        guess[i] = int(band.first[i]) + best
        allowed[i] = int((given > WIDE.exact_possible).sum())
        figures["largest"][i] = own[best]
        figures["shannon"][i] = max(float(entropy_terms(given).sum()), 0.0)
        figures["collision"][i] = float((given**2).sum())
        ranked = np.sort(given)[::-1]
        figures["guessing"][i] = max(float(ranked @ np.arange(1.0, len(ranked) + 1)), 1.0)
        if groups is not None:
            which = groups[int(band.first[i]) : int(band.last[i])]
            together = np.bincount(which, weights=given).astype(np.float64)
            group_guess[i] = int(np.argmax(together >= together.max() * (1.0 - WIDE.exact_tie)))
            figures["group"][i] = float(together.max()) * departed[i]
            figures["group_shannon"][i] = max(float(entropy_terms(together).sum()), 0.0)
    counted = np.ones(size, dtype=np.bool_) if edge is None or edge.all() else ~edge
    total = float(departed[counted].sum())
    mean = float(departed[counted] @ figures["shannon"][counted]) / total if total > 0.0 else 0.0
    entropy = max(programme.log - _expected_log(band, pairs, lost, inside, columns), 0.0)
    slack = WIDE.exact_rounding * (size + band.columns + 1.0)
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


def estimate_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
    asked: Ints | None = None,
) -> LinksEstimate:
    """Evidence, entropy and figures of each message of a wide log.

    They are exact if few messages out are candidates at the same time. Otherwise a chain over
    explanations estimates them with 95 % intervals.

    If the budget is small, fewer sweeps are made and intervals are wider. The mean entropy is not
    about rows of ``edge``. Columns of one of the ``groups`` are taken together, such as those of
    one receiver. ``asked`` has a column by row whose probability is wanted; -1 for none.

    Raises
    ------
    InputError
        If no explanation has a positive weight.

    Examples
    --------
    Two messages in, each lost with probability 1/2 or one of two out, which may be cover.

    >>> band = LinkBand(
    ...     first=np.array([0, 0]), last=np.array([2, 2]), weights=None, columns=2,
    ...     unpaired=np.array([1.0, 1.0]), cover=1.0,
    ... )
    >>> estimate = estimate_links(band, budget=Budget(seconds=1))
    >>> bool(estimate.log_weight.low < np.log(7) < estimate.log_weight.high)
    True
    """
    if not band.entries:
        return _nothing_paired(band, groups is not None)
    exact = exact_links(band, budget=budget, edge=edge, groups=groups, asked=asked)
    if exact is not None:
        return exact
    return chain_links(
        band, budget=budget, edge=edge, groups=groups, seed=seed, effort=effort, asked=asked
    )


def chain_links(
    band: LinkBand,
    *,
    budget: Budget,
    edge: Bools | None = None,
    groups: Ints | None = None,
    seed: int = 0,
    effort: Execution | None = None,
    asked: Ints | None = None,
) -> LinksEstimate:
    """Estimate the same figures by a chain over explanations, with 95 % intervals."""
    counted = np.ones(band.rows, dtype=np.bool_) if edge is None else ~edge
    if not counted.any():
        counted[:] = True
    job = LinkComputation(band, planned_links(band, budget), seed, effort or Execution(), counted)
    job.scale()
    job.begin()
    number = ToldNumber(0.0, 0.0, 0.0)
    if band.told:  # weights are known only when their numbers are the expected ones
        number = job.tune()
        record = job.sample()
        job.release()
        risen = job.rise()
    else:  # replicas that come from nothing paired know nothing of each other
        risen = job.rise()
        job.settle()
        record = job.sample()
    integral = job.integral(risen, job.fall(risen))
    job.steps.finish()
    found = links_estimate(job, record, integral, number, counted, job.figures(groups))
    if asked is None:
        return found
    scaling = job.chain.scaling.rows(), job.chain.scaling.columns()
    shares = shares_at(band.first, band.last, band.weights, scaling, asked)
    given = shares / np.maximum(1.0 - job.chain.scaling.alone(), 1e-300)
    departed = 1.0 - found.alone.value
    return replace(found, asked=departed * np.minimum(given * 2.0**found.divergence, 1.0))


def _nothing_paired(band: LinkBand, grouped: bool) -> LinksEstimate:
    """The one explanation of a log in which no message in can be a message out."""
    none = np.zeros(band.rows)
    if band.pairs or (band.unpaired == 0.0).any() or (band.columns and band.cover == 0.0):
        raise unexplained_links()
    log, entropy, lost = _fates(band)
    log += band.columns * math.log(band.cover) if band.columns else 0.0
    nobody = np.full(band.rows, -1, dtype=np.int64)
    sure, real = none + 1.0, np.zeros(band.columns)
    return LinksEstimate(
        log_weight=Interval(log, log, log),
        entropy=Interval(entropy, entropy, entropy),
        lost=None if lost is None else Range(lost, lost, lost),
        alone=Range(sure, sure, sure),
        real=Range(real, real, real),
        shannon=Range(none, none, none),
        mean_shannon=Interval(0.0, 0.0, 0.0),
        collision=sure,
        probability=Range(none, none, none),
        surest=Range(sure, sure, sure),
        guess=nobody,
        guessing=Range(sure, sure, sure),
        allowed=np.zeros(band.rows, dtype=np.int64),
        group_shannon=none if grouped else np.zeros(0),
        group_largest=none if grouped else np.zeros(0),
        group_guess=nobody if grouped else np.zeros(0, dtype=np.int64),
        variance=0.0,
    )


def _fates(band: LinkBand) -> tuple[float, float, Floats | None]:
    """Log weight and entropy where no row has a column, and who is lost if the number is told.

    By a programme over rows and the number that are lost so far, there and back.
    """
    if band.lost is None or band.staying is None:
        return float(np.log(band.unpaired).sum()), 0.0, None
    size, number = band.rows, band.lost
    if size * (number + 1) > WIDE.most_states:
        raise unexplained_links()
    lost = (band.unpaired - band.staying) / band.unpaired
    before = np.zeros((size + 1, number + 1))
    after = np.zeros((size + 1, number + 1))
    before[0, 0] = after[size, number] = 1.0
    for i in range(size):
        before[i + 1] = before[i] * (1.0 - lost[i])
        before[i + 1, 1:] += before[i, :-1] * lost[i]
    for i in range(size - 1, -1, -1):
        after[i] = after[i + 1] * (1.0 - lost[i])
        after[i, :-1] += after[i + 1, 1:] * lost[i]
    total = float(before[size, number])
    if not total > 0.0:
        raise unexplained_links()
    losses = lost * (before[:-1, :-1] * after[1:, 1:]).sum(axis=1) / total
    logs = losses * np.log(np.where(lost > 0.0, lost, 1.0))
    logs += (1.0 - losses) * np.log(np.where(lost < 1.0, 1.0 - lost, 1.0))
    entropy = max(math.log(total) - float(logs.sum()), 0.0)
    return float(np.log(band.unpaired).sum()) + math.log(total), entropy, losses

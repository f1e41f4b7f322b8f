"""Explanations of a log of one mix by definition: slow, obvious, trusted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

LOST, INSIDE = -1, -2
Outcome = tuple[int, ...]


@dataclass
class Truth:
    """Figures of all explanations with their weights, by definition."""

    log_evidence: float
    pairs: np.ndarray
    lost: np.ndarray
    inside: np.ndarray
    real: np.ndarray
    early: np.ndarray
    joint_bits: float
    link_bits: float
    weights: dict[Outcome, float] = field(repr=False)

    def own(self, i: int) -> float:
        """Entropy over departures, lost and inside."""
        return entropy([*self.pairs[i], self.lost[i], self.inside[i]])

    def own_departed(self, i: int) -> float:
        departed = self.pairs[i].sum()
        return entropy(self.pairs[i] / departed) if departed > 0 else 0.0


def entropy(probabilities: Sequence[float] | np.ndarray) -> float:
    return -sum(p * math.log2(p) for p in probabilities if p > 0)


def outcomes(
    arrivals: Sequence[float], departures: Sequence[float], *, strict: bool = False
) -> Iterator[Outcome]:
    """Everything that may have become of each message: a departure, `LOST` or `INSIDE`."""

    def grow(i: int, used: frozenset[int], chosen: Outcome) -> Iterator[Outcome]:
        if i == len(arrivals):
            yield chosen
            return
        for what in (LOST, INSIDE):
            yield from grow(i + 1, used, (*chosen, what))
        for j, time in enumerate(departures):
            late = time > arrivals[i] if strict else time >= arrivals[i]
            if j not in used and late:
                yield from grow(i + 1, used | {j}, (*chosen, j))

    yield from grow(0, frozenset(), ())


def explained(
    arrivals: Sequence[float],
    departures: Sequence[float],
    *,
    density: Callable[[float], float],
    survival: Callable[[float], float],
    begin: float,
    end: float,
    loss: float = 0.0,
    lost: int | None = None,
    cover_rate: float = 0.0,
    cover: int | None = None,
    drained: bool = False,
    inside_at_start: float = 0.0,
    early_density: Callable[[float], float] | None = None,
    early_survival: Callable[[float], float] | None = None,
    real: Sequence[float] | None = None,
    strict: bool = False,
) -> Truth | None:
    """All explanations of a log weighed as the model says; None if there is none.

    Numbers condition the model of rates: each lost message and each cover message weighs 1.

    Messages inside at the beginning are a Poisson number, each with its own delay from then on:
    that of a new message unless `early_density` says otherwise. Departures that no message in is
    are cover, or of those; which of the two is summed over.
    """
    from_start = early_density or density
    stays_from_start = early_survival or survival
    delivered, gone = (1.0 - loss, loss) if lost is None else (1.0, 1.0)
    nobody = cover_rate if cover is None else 1.0
    n, m = len(arrivals), len(departures)
    given = [math.nan] * m if real is None else list(real)
    weights: dict[Outcome, float] = {}
    for outcome in outcomes(arrivals, departures, strict=strict):
        taken = {what for what in outcome if what >= 0}
        free = [j for j in range(m) if j not in taken]
        if any(given[j] == 0.0 for j in taken):
            continue
        if lost is not None and outcome.count(LOST) != lost:
            continue
        if drained and INSIDE in outcome:
            continue
        weight = _nobodys(
            [departures[j] - begin for j in free],
            [given[j] for j in free],
            nobody,
            inside_at_start,
            from_start,
            cover,
        )
        for i, what in enumerate(outcome):
            if what == LOST:
                weight *= gone
            elif what == INSIDE:
                weight *= delivered * survival(end - arrivals[i])
            else:
                weight *= delivered * density(departures[what] - arrivals[i])
        if weight > 0.0:
            weights[outcome] = weight
    total = sum(weights.values())
    if total == 0.0:
        return None
    pairs, lost_of, inside_of = np.zeros((n, m)), np.zeros(n), np.zeros(n)
    links: dict[Outcome, float] = defaultdict(float)
    for outcome, weight in weights.items():
        share = weight / total
        links[tuple(max(what, -1) for what in outcome)] += share
        for i, what in enumerate(outcome):
            if what >= 0:
                pairs[i, what] += share
            else:
                (lost_of if what == LOST else inside_of)[i] += share
    log = math.log(total)
    if cover is None:
        log -= cover_rate * (end - begin)
    elif cover:
        log += math.lgamma(cover + 1) - cover * math.log(end - begin)
    if lost is not None:
        log -= math.log(math.comb(n, lost))
    # Those inside at the beginning that are not seen are inside at the end, any number of them
    # unless it is drained: e^-r sum over u of (r S)^u / u!.
    log -= inside_at_start
    if not drained:
        log += math.log(
            sum(
                (inside_at_start * stays_from_start(end - begin)) ** u / math.factorial(u)
                for u in range(60)
            )
        )
    return Truth(
        log_evidence=log,
        pairs=pairs,
        lost=lost_of,
        inside=inside_of,
        real=pairs.sum(axis=0),
        early=_early(
            weights,
            departures,
            given,
            nobody if cover != 0 else 0.0,
            inside_at_start,
            from_start,
            begin,
        ),
        joint_bits=entropy([weight / total for weight in weights.values()]),
        link_bits=entropy(list(links.values())),
        weights=weights,
    )


def _nobodys(
    since: Sequence[float],
    given: Sequence[float],
    cover: float,
    inside: float,
    density: Callable[[float], float],
    number: int | None = None,
) -> float:
    """Weight of departures that are nobody's: the sum over which are cover and which are early.

    A departure that is told to be cover weighs 1, and cannot be early; one that is told to be a
    message can only be early. All others that are cover are so many, if that is known.
    """
    total = 0.0
    for early in product((False, True), repeat=len(since)):
        covers = sum(stated != 0.0 and not was for stated, was in zip(given, early, strict=True))
        if number is not None and covers != number:
            continue
        weight = 1.0
        for after, stated, was_inside in zip(since, given, early, strict=True):
            if was_inside:
                weight *= 0.0 if stated == 0.0 else inside * density(after)
            else:
                weight *= 1.0 if stated == 0.0 else 0.0 if stated == 1.0 else cover
        total += weight
    return total


def _early(
    weights: dict[Outcome, float],
    departures: Sequence[float],
    given: Sequence[float],
    cover: float,
    inside: float,
    density: Callable[[float], float],
    begin: float,
) -> np.ndarray:
    """Probability of each departure to be of a message that was inside at the beginning."""
    total = sum(weights.values())
    early = np.zeros(len(departures))
    for outcome, weight in weights.items():
        for j in set(range(len(departures))) - set(outcome):
            since = [departures[j] - begin]
            both = _nobodys(since, [given[j]], cover, inside, density)
            alone = _nobodys(since, [given[j]], cover, 0.0, density)
            early[j] += weight / total * (both - alone) / both
    return early

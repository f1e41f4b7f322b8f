"""Explanations of a log of one mix by definition: slow, obvious, trusted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

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
    real: Sequence[float] | None = None,
    strict: bool = False,
) -> Truth | None:
    """All explanations of a log weighed as the model says; None if there is none.

    Numbers condition the model of rates: each lost message and each cover message weighs 1.
    """
    kept, gone = (1.0 - loss, loss) if lost is None else (1.0, 1.0)
    nobody = cover_rate if cover is None else 1.0
    n, m = len(arrivals), len(departures)
    told = [math.nan] * m if real is None else list(real)
    weights: dict[Outcome, float] = {}
    for outcome in outcomes(arrivals, departures, strict=strict):
        taken = {what for what in outcome if what >= 0}
        free = [j for j in range(m) if j not in taken]
        if any(told[j] == 1.0 for j in free) or any(told[j] == 0.0 for j in taken):
            continue
        hidden = [j for j in free if told[j] != 0.0]
        if lost is not None and outcome.count(LOST) != lost:
            continue
        if cover is not None and len(hidden) != cover:
            continue
        if drained and INSIDE in outcome:
            continue
        weight = nobody ** len(hidden)
        for i, what in enumerate(outcome):
            if what == LOST:
                weight *= gone
            elif what == INSIDE:
                weight *= kept * survival(end - arrivals[i])
            else:
                weight *= kept * density(departures[what] - arrivals[i])
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
    return Truth(
        log_evidence=log,
        pairs=pairs,
        lost=lost_of,
        inside=inside_of,
        real=pairs.sum(axis=0),
        joint_bits=entropy([weight / total for weight in weights.values()]),
        link_bits=entropy(list(links.values())),
        weights=weights,
    )

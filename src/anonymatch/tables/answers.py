"""Released tables: figures of people by classes, without looking at pairs of people and rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.audits import Resources, TableAnswers
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.interval import Interval
from anonymatch.counting import Count, Posterior, bregman
from anonymatch.counting.measures import LOST, Range, UserFigures, in_order, system
from anonymatch.tables import Links, TableObservation, link, may_be_absent, presence

if TYPE_CHECKING:
    from anonymatch.graph import Graph
    from anonymatch.tables import Release

__all__ = ["release_answers"]

_DIGITS = 1.5  # bits that an error of a probability is worth beside its own


def release_answers(observation: TableObservation, resources: Resources) -> TableAnswers:
    """Count, bounds and figures of everybody, by classes."""
    release = observation.release
    links = link(release, budget=resources.budget, seed=resources.seed)
    nats = Interval(links.log, links.log_low, links.log_high)
    people, rows = release.n_people, release.n_rows
    full = system.full_log(min(people, rows), max(people, rows))
    alike = math.lgamma(release.lost + 1) + math.lgamma(release.spare + 1)
    degrees = (release.rows_that_fit + release.lost)[release.kind_of]
    bound = bregman(np.concatenate((degrees, np.full(release.spare, rows)))) - alike
    return TableAnswers(
        count=_count(links),
        entropy=nats.clipped(0.0, math.inf),
        bound=max(min(bound, full), nats.value),
        full=max(full, nats.value),
        users=_figures(release, links),
        edges=release.n_edges,
        probabilities=_posterior(observation.graph, links),
        confidence=links.confidence,
        table=links,
    )


def _count(links: Links) -> Count:
    exact = links.total is not None
    low, high = (links.log, links.log) if exact else (links.log_low, links.log_high)
    return Count(
        exact=exact,
        log=links.log,
        low=low,
        high=high,
        proven=(low, high),
        method=links.method,
        confidence=1.0 if exact else links.confidence,
        seed=None if exact else links.seed,
        factors=() if links.total is None else ((links.total, 1),),
    )


def _posterior(graph: Graph | None, links: Links) -> Posterior | None:
    """Probabilities of all edges: those of a class share what their person has of it.

    Not with rows of nobody: these are no users of the graph.
    """
    release = links.release
    if graph is None or release.spare:
        return None
    kinds = release.kind_of[np.repeat(np.arange(graph.n_users), np.diff(graph.indptr))]
    nowhere = len(release.class_sizes)
    classes = np.append(release.class_of, np.full(release.lost, nowhere))[graph.indices]
    # Pairs are sorted by kind, then by class.
    keys = links.kinds * (nowhere + 1) + links.classes
    pairs = np.searchsorted(keys, kinds * (nowhere + 1) + classes)
    sizes = links.class_sizes[links.classes[pairs]]
    slack = (links.high - links.low)[pairs] / 2 / sizes
    drawn = links.confidence < 1.0
    return Posterior(
        graph=graph,
        probabilities=links.share[pairs] / sizes,
        exact=False,
        error=float(slack.max(initial=0.0)),
        errors=slack / 2 if drawn else None,
        rounding=0.0 if drawn else float(slack.max(initial=0.0)),
        confidence=links.confidence,
        method=links.method,
        seed=links.seed,
    )


def _figures(release: Release, links: Links) -> UserFigures:
    """Figures of kinds of people, given to everybody of the kind."""
    number = len(release.kind_sizes)
    inside, absent = presence(release, links), may_be_absent(release, links)
    outcomes = links.possible & (links.kinds != links.nobody)
    kinds, classes = links.kinds[outcomes], links.classes[outcomes]
    share, low, high = (part[outcomes] for part in (links.share, links.low, links.high))
    # Rows of a class are as many outcomes; to be absent is one.
    rows = classes != (-1 if links.nowhere is None else links.nowhere)
    size = np.where(rows, links.class_sizes[classes], 1).astype(np.float64)
    each = share / size
    bits = -np.log2(np.maximum(each, 1e-300))
    doubt = _sums(kinds, (high - low) / 2 * (bits + _DIGITS), number)
    shannon = _sums(kinds, share * bits, number)
    square = _sums(kinds, share * each, number)
    ends = [_largest(kinds, part / size, number) for part in (share, high, low)]
    allowed = np.bincount(kinds[rows], size[rows], number).astype(np.int64)
    shannons, renyi2, min_entropy = in_order(
        _around(shannon, doubt),
        _around(-np.log2(np.where(square > 0.0, square, 1.0)), doubt),
        Range(*(-np.log2(np.clip(part, 1e-300, 1.0)) + 0.0 for part in ends)),
        np.log2(np.maximum(allowed + absent, 1)),
    )
    best, guess = _best(kinds[rows], each[rows], number)
    least, most = (_largest(kinds[rows], part[rows] / size[rows], number) for part in (low, high))
    guesses = np.where(guess >= 0, release.first_rows[classes[rows][np.maximum(guess, 0)]], LOST)
    # Whoever cannot be in the release certainly is not.
    there = allowed > 0
    probability = Range(
        *(np.where(there, np.minimum(part, 1.0), 1.0) for part in (best, least, most))
    )
    # Of kinds that were not drawn only the ends are known.
    open_ = ~links.known[:number]
    for figure in (shannons, renyi2, min_entropy, probability):
        figure.value[open_] = np.nan
    guesses[open_ & (guesses >= 0)] = -1
    of = release.kind_of
    ranks = _ranks(kinds, each, share, size, number)
    return UserFigures(
        users=_names(release),
        behaviours=_row_names(release.n_rows),
        degree=release.rows_that_fit[of],
        allowed=np.maximum(allowed, 1)[of],
        shannon=shannons.at(of),
        renyi2=renyi2.at(of),
        min_entropy=min_entropy.at(of),
        effective=shannons.map(np.exp2).at(of),
        probability=probability.at(of),
        guess=guesses[of],
        present=inside[of] if release.lost else None,
        guesses=_around(np.maximum(ranks, 1.0), np.zeros(number)).at(of) if links.exact else None,
    )


def _around(value: Floats, doubt: Floats) -> Range:
    return Range(value, np.maximum(value - doubt, 0.0), value + doubt)


def _sums(kinds: Ints, values: Floats, number: int) -> Floats:
    return np.bincount(kinds, values, number).astype(np.float64)


def _best(kinds: Ints, each: Floats, number: int) -> tuple[Floats, Ints]:
    """The likeliest row of each kind, as its probability and the pair it is of; -1 for none."""
    order = np.lexsort((-np.arange(len(kinds)), each, kinds))
    last = np.flatnonzero(np.diff(kinds[order], append=-1))
    best, guess = np.zeros(number), np.full(number, -1, dtype=np.int64)
    best[kinds[order][last]] = each[order][last]
    guess[kinds[order][last]] = order[last]
    return best, guess


def _largest(kinds: Ints, values: Floats, number: int) -> Floats:
    largest = np.zeros(number)
    np.maximum.at(largest, kinds, values)
    return largest


def _ranks(kinds: Ints, each: Floats, chance: Floats, size: Floats, number: int) -> Floats:
    """Guesses until the right row is named, on average, the likeliest first."""
    order = np.lexsort((-each, kinds))
    before = np.cumsum(size[order]) - size[order]
    begins = np.searchsorted(kinds[order], kinds[order])
    before -= before[begins]
    mean = chance[order] * (before + (size[order] + 1.0) / 2.0)
    return _sums(kinds[order], mean, number)


def _names(release: Release) -> tuple[str, ...]:
    if release.names is not None:
        return release.names
    return tuple(f"person {number}" for number in range(1, release.n_people + 1))


def _row_names(number: int) -> tuple[str, ...]:
    return tuple(f"row {one}" for one in range(1, number + 1))

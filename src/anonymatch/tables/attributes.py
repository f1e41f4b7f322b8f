"""What an attacker learns of sensitive values, by matching everybody at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.sources import Release
from anonymatch.tables.diversity import Diversity
from anonymatch.tables.linking import Links

__all__ = ["AttributeDisclosure", "attribute_disclosure", "presence"]

_STRETCH = 4_000_000  # cells of a table of kinds by values that is made at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeDisclosure:
    """How sure the attacker is of the sensitive value of each kind of people.

    Attributes
    ----------
    column : str
    guess : array
        The likeliest value of each kind, by number; -1 of those who are not in the release.
    probability : array
        Its probability, given that the person is in the release.
    certain : array of bool
        Kinds whose value is certain.
    alone : array of bool
        Those of them who fit rows with other values, too, but have rows that nobody else fits.
    by_matching : array of bool
        Those who fit rows with other values, too, and rows that others fit: only that everybody
        else must have a row tells.
    """

    column: str
    guess: Ints = field(repr=False)
    probability: Floats = field(repr=False)
    certain: Bools = field(repr=False)
    alone: Bools = field(repr=False)
    by_matching: Bools = field(repr=False)


def attribute_disclosure(release: Release, links: Links, found: Diversity) -> AttributeDisclosure:
    """Rows of a class are alike, so a person of it has each of them with the same probability."""
    import scipy.sparse as sparse

    number, width = len(release.kind_sizes), len(release.sensitive_values[found.column])
    own = (links.kinds != links.nobody) & (links.classes != links.nowhere)
    kinds, classes, share = links.kinds[own], links.classes[own], links.share[own]
    shape = (number, len(release.class_sizes))
    values = sparse.csr_array(
        (found.numbers / release.class_sizes[found.classes], (found.classes, found.values)),
        shape=(shape[1], width),
    )
    some = values.astype(np.bool_).astype(np.float64)
    every = np.ones(len(kinds))
    by_share, by_possible, by_fit = (
        sparse.csr_array((weights, (kinds, classes)), shape=shape)
        for weights in (share, every * links.possible[own], every)
    )
    guess, probability = np.full(number, -1, dtype=np.int64), np.zeros(number)
    certain, others = (np.zeros(number, dtype=np.bool_) for _ in range(2))
    step = max(_STRETCH // width, 1)
    for begin in range(0, number, step):
        part = slice(begin, begin + step)
        chances = (by_share[part] @ values).toarray()
        inside = chances.sum(axis=1)
        there = inside > 0
        guess[part] = np.where(there, chances.argmax(axis=1), -1)
        probability[part] = chances.max(axis=1) / np.where(there, inside, 1.0)
        # Certain by what is possible at all, not by a number that is close to one.
        certain[part] = ((by_possible[part] @ some).toarray() > 0).sum(axis=1) == 1
        others[part] = ((by_fit[part] @ some).toarray() > 0).sum(axis=1) > 1
    own_rows = _have_rows_of_their_own(release)
    return AttributeDisclosure(
        column=found.column,
        guess=guess,
        probability=np.where(certain, 1.0, probability),
        certain=certain,
        alone=certain & others & own_rows,
        by_matching=certain & others & ~own_rows,
    )


def _have_rows_of_their_own(release: Release) -> Bools:
    """Kinds of people who are as many as the rows that nobody else fits."""
    kinds, classes = release.pair_kinds, release.indices
    own = release.people_that_fit[classes] == release.kind_sizes[kinds]
    rows = np.bincount(kinds[own], release.class_sizes[classes[own]], len(release.kind_sizes))
    return np.asarray(rows >= release.kind_sizes, dtype=np.bool_)


def presence(release: Release, links: Links) -> Floats:
    """The probability of each kind of people to be in the release at all."""
    if links.nowhere is None:
        return np.ones(len(release.kind_sizes))
    out = links.classes == links.nowhere
    gone = np.zeros(len(links.kind_sizes))
    gone[links.kinds[out]] = links.share[out]
    return 1.0 - gone[: len(release.kind_sizes)]

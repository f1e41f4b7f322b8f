"""What an attacker learns of sensitive values, by matching everybody at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.tables.diversity import Diversity
from anonymatch.tables.reading.release import Release
from anonymatch.tables.solving.linking import Links, PossibleLinks

__all__ = ["AttributeDisclosure", "attribute_disclosure", "may_be_absent", "presence"]

_STRETCH = 4_000_000  # cells of a table of kinds by values that is made at once


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeDisclosure:
    """How sure the attacker is of the sensitive value of each kind of people.

    Of a release with fewer rows than people, a person may be absent and then has no value in it.

    Attributes
    ----------
    column : str
    guess : array
        The likeliest value of each kind, by number; -1 of those who are not in the release.
    probability : array
        Its probability, absence included; NaN where the budget was too small to draw it.
    certain : array of bool
        Kinds of people who are certain to be in the release with one value.
    alone : array of bool
        Those of them who are also compatible with rows that have other values, while one row is
        compatible with nobody else.
    by_matching : array of bool
        The others of them who are also compatible with rows that have other values: only matching
        everybody rules these out.
    probability_if_present, certain_if_present : array
        The same given that the person is in the release.
    """

    column: str
    guess: Ints = field(repr=False)
    probability: Floats = field(repr=False)
    certain: Bools = field(repr=False)
    alone: Bools = field(repr=False)
    by_matching: Bools = field(repr=False)
    probability_if_present: Floats = field(repr=False)
    certain_if_present: Bools = field(repr=False)


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
    if_present = np.zeros(number)
    certain, others = (np.zeros(number, dtype=np.bool_) for _ in range(2))
    step = max(_STRETCH // width, 1)
    for begin in range(0, number, step):
        part = slice(begin, begin + step)
        chances = (by_share[part] @ values).toarray()
        inside = chances.sum(axis=1)
        there = inside > 0
        guess[part] = np.where(there, chances.argmax(axis=1), -1)
        probability[part] = np.where(links.known[:number][part], chances.max(axis=1), np.nan)
        if_present[part] = probability[part] / np.where(there, inside, 1.0)
        # Certain by what is possible at all, not by a number that is close to one.
        certain[part] = ((by_possible[part] @ some).toarray() > 0).sum(axis=1) == 1
        others[part] = ((by_fit[part] @ some).toarray() > 0).sum(axis=1) > 1
    surely = certain & ~may_be_absent(release, links)
    own_row = _have_a_row_of_their_own(release)
    return AttributeDisclosure(
        column=found.column,
        guess=guess,
        probability=np.where(surely, 1.0, np.minimum(probability, 1.0)),
        certain=surely,
        alone=surely & others & own_row,
        by_matching=surely & others & ~own_row,
        probability_if_present=np.where(certain, 1.0, np.minimum(if_present, 1.0)),
        certain_if_present=certain,
    )


def _have_a_row_of_their_own(release: Release) -> Bools:
    """Kinds of one person with a row that is compatible with nobody else, so that it is theirs.

    That follows only if every row belongs to somebody of the original table.
    """
    own = release.people_that_fit[release.indices] == 1
    alone = np.zeros(len(release.kind_sizes), dtype=np.bool_)
    alone[release.pair_kinds[own]] = not release.spare
    return alone


def may_be_absent(release: Release, links: PossibleLinks) -> Bools:
    """Kinds of people who are not certain to be in the release."""
    absent = np.zeros(len(links.kind_sizes), dtype=np.bool_)
    if links.nowhere is not None:
        absent[links.kinds[links.possible & (links.classes == links.nowhere)]] = True
    return absent[: len(release.kind_sizes)]


def presence(release: Release, links: Links) -> Floats:
    """The probability of each kind of people to be in the release; 1.0 only if it is certain."""
    if links.nowhere is None:
        return np.ones(len(release.kind_sizes))
    out = links.classes == links.nowhere
    gone = np.zeros(len(links.kind_sizes))
    gone[links.kinds[out]] = links.share[out]
    inside = np.clip(1.0 - gone[: len(release.kind_sizes)], 0.0, 1.0)
    # Drawn probabilities may be 1 of people who are not certain to be there.
    return np.where(may_be_absent(release, links), np.minimum(inside, np.nextafter(1.0, 0.0)), 1.0)

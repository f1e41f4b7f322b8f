"""What an attacker learns of sensitive values, by matching everybody at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.sources import Release
from anonymatch.tables.diversity import Diversity
from anonymatch.tables.linking import Links

__all__ = ["AttributeDisclosure", "attribute_disclosure", "presence"]


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
    by_matching : array of bool
        Those of them who fit rows with other values, too: only that everybody else must have a row
        rules these out.
    """

    column: str
    guess: Ints = field(repr=False)
    probability: Floats = field(repr=False)
    certain: Bools = field(repr=False)
    by_matching: Bools = field(repr=False)


def attribute_disclosure(release: Release, links: Links, found: Diversity) -> AttributeDisclosure:
    """Rows of a class are alike, so a person of it has each of them with the same probability."""
    number = len(release.kind_sizes)
    own = (links.kinds != links.nobody) & (links.classes != links.nowhere)
    kinds, classes, share = links.kinds[own], links.classes[own], links.share[own]
    values = found.table / release.class_sizes[:, None]
    chances = np.zeros((number, values.shape[1]))
    np.add.at(chances, kinds, share[:, None] * values[classes])
    inside = chances.sum(axis=1)
    there = inside > 0
    chances[there] /= inside[there, None]
    # Certain by what is possible at all, not by a number that is close to one.
    possible = np.zeros((number, values.shape[1]), dtype=np.bool_)
    fitting = np.zeros_like(possible)
    some = values > 0
    allowed = links.possible[own]
    np.logical_or.at(possible, kinds[allowed], some[classes[allowed]])
    np.logical_or.at(fitting, kinds, some[classes])
    certain = possible.sum(axis=1) == 1
    return AttributeDisclosure(
        column=found.column,
        guess=np.where(there, chances.argmax(axis=1), -1),
        probability=np.where(certain, 1.0, chances.max(axis=1, initial=0.0)),
        certain=certain,
        by_matching=certain & (fitting.sum(axis=1) > 1),
    )


def presence(release: Release, links: Links) -> Floats:
    """The probability of each kind of people to be in the release at all."""
    if links.nowhere is None:
        return np.ones(len(release.kind_sizes))
    out = links.classes == links.nowhere
    gone = np.zeros(len(links.kind_sizes))
    gone[links.kinds[out]] = links.share[out]
    return 1.0 - gone[: len(release.kind_sizes)]

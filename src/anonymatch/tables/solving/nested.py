"""Classes that lie within each other: a closed form for releases that generalise step by step.

Where of two classes of rows whose people overlap one has all the people of the other (decades
within anything, postcodes within districts), rows are given out from the innermost class outwards.
Whatever was given inside, a class of b rows finds the same number R of people of its own without a
row, so that the ways are the product of R (R - 1) ... (R - b + 1), and each of these people has a
row of it with probability b / R.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats, Ints

__all__ = ["Nested", "nested"]


class Nested(NamedTuple):
    """Probability of each pair that a person has a row of the class, and the number of ways."""

    share: Floats
    log: float
    total: Callable[[], int]


def nested(kinds: Ints, classes: Ints, people: Ints, rows: Ints) -> Nested | None:
    """Of a block in which everybody has a row; None unless classes lie within each other.

    Classes are of different kinds of people each; pairs may be in any order.

    Examples
    --------
    Two people fit the first row, and with a third the two others.

    >>> pairs = np.array([0, 0, 1]), np.array([0, 1, 1])
    >>> share, log, total = nested(*pairs, np.array([2, 1]), np.array([1, 2]))
    >>> share, total()
    (array([0.5, 0.5, 1. ]), 4)
    """
    width = np.bincount(classes, minlength=len(rows))
    order = np.lexsort((classes, width[classes], kinds))
    inner_first, owner = classes[order], kinds[order]
    same = np.append(owner[1:] == owner[:-1], False)
    after = np.where(same, np.append(inner_first[1:], -1), -1)
    outer = _agreed(inner_first, after, len(rows))
    if outer is None:
        return None
    inside = np.bincount(classes, people[kinds], len(rows)).astype(np.int64)
    without = _without_row(inside, rows, width, outer)
    chance = rows / without
    share = np.zeros(len(kinds))
    share[order] = _along(chance[inner_first], np.append(True, ~same[:-1]))
    numbers = list(zip(without.tolist(), rows.tolist(), strict=True))
    from scipy.special import gammaln

    log = float((gammaln(without + 1.0) - gammaln(without - rows + 1.0)).sum())
    return Nested(share, log, lambda: math.prod(math.perm(left, own) for left, own in numbers))


def _agreed(classes: Ints, after: Ints, number: int) -> Ints | None:
    """The class next outside of each, on which all its people agree; None if some do not."""
    outer = np.full(number, -2, dtype=np.int64)
    outer[classes] = after
    return outer if (outer[classes] == after).all() else None


def _without_row(inside: Ints, rows: Ints, width: Ints, outer: Ints) -> Ints:
    """People of each class without a row when those within it have been given out."""
    given = [0] * len(rows)
    own, beyond = rows.tolist(), outer.tolist()
    for class_ in np.argsort(width, kind="stable").tolist():
        if beyond[class_] >= 0:
            given[beyond[class_]] += given[class_] + own[class_]
    return inside - np.array(given, dtype=np.int64)


def _along(chance: Floats, first: Ints) -> Floats:
    """The chance of each class times that of none further in, from the first class of a kind on."""
    left = np.ones(len(chance))
    at = np.flatnonzero(first)
    ends = np.append(at[1:], len(chance))
    while len(at):
        more = at + 1 < ends
        at, ends = at[more], ends[more]
        left[at + 1] = left[at] * (1.0 - chance[at])
        at = at + 1
    return left * chance

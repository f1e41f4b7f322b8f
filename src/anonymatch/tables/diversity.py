"""Sensitive values within classes of equal rows: l-diversity and t-closeness."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Floats, Ints, offsets
from anonymatch.tables.reading.release import Release

__all__ = ["Diversity", "diversity"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diversity:
    """How sensitive values are spread over classes of rows that are alike; one figure a class.

    Attributes
    ----------
    column : str
    distinct : array
        Different values: l of l-diversity is the least of them.
    entropy : array
        As many equally likely values: l of entropy l-diversity is the least of them.
    recursive : array or None
        How often the commonest value is there against all but the l - 1 commonest, with the l of
        l-diversity: c of recursive (c,l)-diversity is the greatest of them. None where l is 1.
    closeness : array
        How far values are from those of the table, by the earth mover's distance: along their order
        for numbers, else all values equally far. t of t-closeness is the greatest of them.
    classes, values, numbers : array
        How many rows of a class have a value, wherever that is not 0.
    """

    column: str
    distinct: Ints
    entropy: Floats
    recursive: Floats | None
    closeness: Floats
    classes: Ints = field(repr=False)
    values: Ints = field(repr=False)
    numbers: Ints = field(repr=False)


def diversity(release: Release, column: str) -> Diversity:
    """Diversity and closeness of a sensitive column, by classes of rows with the same cells."""
    codes, spelled = release.sensitive[column], release.sensitive_values[column]
    order = _order(spelled)
    ranks = codes if order is None else np.argsort(order)[codes]
    keys, numbers = np.unique(release.class_of * len(spelled) + ranks, return_counts=True)
    classes, places = np.divmod(keys, len(spelled))
    size = len(release.class_sizes)
    shares = numbers / release.class_sizes[classes]
    whole = np.bincount(ranks, minlength=len(spelled)) / release.n_rows
    distinct = np.bincount(classes, minlength=size)
    apart = _any_far if order is None else _in_order
    return Diversity(
        column=column,
        distinct=distinct,
        entropy=np.exp(np.bincount(classes, -shares * np.log(shares), size)),
        recursive=_recursive(classes, numbers, size, int(distinct.min())),
        closeness=apart(classes, places, shares, whole, size),
        classes=classes,
        values=places if order is None else order[places],
        numbers=numbers,
    )


def _recursive(classes: Ints, numbers: Ints, size: int, least: int) -> Floats | None:
    if least < 2:
        return None
    order = np.lexsort((-numbers, classes))
    begins = offsets(np.bincount(classes, minlength=size))
    rank = np.arange(len(classes)) - begins[classes[order]]
    rare = np.where(rank >= least - 1, numbers[order], 0)
    commonest = numbers[order][begins[:-1]]
    return np.asarray(commonest / np.bincount(classes[order], rare, size), dtype=np.float64)


def _any_far(classes: Ints, values: Ints, shares: Floats, whole: Floats, size: int) -> Floats:
    """All values are equally far from each other."""
    missing = 1.0 - np.bincount(classes, whole[values], size)  # of values that the class lacks
    there = np.bincount(classes, np.abs(shares - whole[values]), size)
    return np.asarray(np.maximum(there + missing, 0.0) / 2)


def _in_order(classes: Ints, values: Ints, shares: Floats, whole: Floats, size: int) -> Floats:
    """Along the order of values, which are numbered by it: the area between two step functions."""
    number = len(whole)
    if number < 2:
        return np.zeros(size)
    steps = np.cumsum(whole)
    areas = np.append(0.0, np.cumsum(steps))  # under the table's steps up to each value
    begins = offsets(np.bincount(classes, minlength=size))
    total = np.cumsum(shares)
    height = total - np.append(0.0, total)[begins[classes]]
    end = np.append(values[1:], number)
    end[begins[1:] - 1] = number
    # The table's steps rise: below the crossing they are under the class's height, then above.
    crossing = np.clip(np.searchsorted(steps, height), values, end)
    under = height * (crossing - values) - (areas[crossing] - areas[values])
    above = (areas[end] - areas[crossing]) - height * (end - crossing)
    before = areas[values[begins[:-1]]]  # where the class has nothing yet
    moved = before + np.bincount(classes, under + above, size)
    return np.asarray(np.maximum(moved, 0.0) / (number - 1))


def _order(values: tuple[str, ...]) -> Ints | None:
    """Numbers from the least to the greatest; None if there is text among them."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return np.argsort(numbers) if np.isfinite(numbers).all() else None

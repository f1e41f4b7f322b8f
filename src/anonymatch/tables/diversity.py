"""Sensitive values within classes of equal rows: l-diversity and t-closeness."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.sources import Release

__all__ = ["Diversity", "diversity"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Diversity:
    """How sensitive values are spread over classes of rows that are alike.

    Attributes
    ----------
    column : str
    values : tuple of str
    distinct : int
        l of l-diversity: different values in the class that has the fewest.
    entropy : float
        l of entropy l-diversity: as many equally likely values as the least even class has.
    recursive : float or None
        c of recursive (c, l)-diversity with that l: the most frequent value is at most so many
        times as frequent as all but the l - 1 most frequent together; None where l is 1.
    closeness : float
        t of t-closeness: how far the values of a class are from those of the table at most, by the
        earth mover's distance: along their order for numbers, else all values equally far.
    poorest, furthest : int
        The class that decides `distinct`, and the one that decides `closeness`.
    table : array
        Rows of each class by value.
    """

    column: str
    values: tuple[str, ...] = field(repr=False)
    distinct: int
    entropy: float
    recursive: float | None
    closeness: float
    poorest: int
    furthest: int
    table: Floats = field(repr=False)


def diversity(release: Release, column: str) -> Diversity:
    """Diversity and closeness of a sensitive column, by classes of rows with the same cells."""
    codes, values = release.sensitive[column], release.sensitive_values[column]
    table = np.zeros((len(release.class_sizes), len(values)))
    np.add.at(table, (release.class_of, codes), 1.0)
    shares = table / release.class_sizes[:, None]
    number = (table > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(shares > 0, shares * np.log(shares), 0.0).sum(axis=1)
    least = int(number.min())
    distances = _distances(shares, table.sum(axis=0) / release.n_rows, values)
    return Diversity(
        column=column,
        values=values,
        distinct=least,
        entropy=float(np.exp(entropy.min())),
        recursive=_recursive(table, least),
        closeness=float(distances.max()),
        poorest=int(number.argmin()),
        furthest=int(distances.argmax()),
        table=table,
    )


def _recursive(table: Floats, least: int) -> float | None:
    if least < 2:
        return None
    falling = -np.sort(-table, axis=1)
    return float((falling[:, 0] / falling[:, least - 1 :].sum(axis=1)).max())


def _distances(shares: Floats, whole: Floats, values: tuple[str, ...]) -> Floats:
    """Of each class from the whole table."""
    if len(values) < 2:
        return np.zeros(len(shares))
    order = _order(values)
    if order is None:
        return np.asarray(np.abs(shares - whole).sum(axis=1) / 2)
    moved = np.cumsum((shares - whole)[:, order], axis=1)
    return np.asarray(np.abs(moved).sum(axis=1) / (len(values) - 1))


def _order(values: tuple[str, ...]) -> Ints | None:
    """Numbers from the least to the greatest; None if there is text among them."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return np.argsort(numbers) if np.isfinite(numbers).all() else None

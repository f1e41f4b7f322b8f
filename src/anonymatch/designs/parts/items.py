"""What parts a search may choose from: for every size, the shapes with their logs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.logarithms import log_factorial
from anonymatch.designs.partition import Layered
from anonymatch.designs.parts.kinds import Near, Searched, Shape
from anonymatch.designs.parts.linked import Linked
from anonymatch.designs.parts.small import LARGEST, Bits, tally

__all__ = ["Item", "catalogue", "items", "plain_items"]


@cache
def catalogue() -> dict[int, tuple[Searched, ...]]:
    """The parts by their number of users.

    Examples
    --------
    >>> max(part.count() for part in catalogue()[7] if part.edges == 34)
    470
    """
    by_size: dict[int, list[Searched]] = {}
    for line in files(__package__).joinpath("catalogue.txt").read_text("ascii").splitlines():
        part = Searched(tuple(int(row, 16) for row in line.split()))
        by_size.setdefault(part.size, []).append(part)
    return {size: tuple(parts) for size, parts in by_size.items()}


_SERIES = 25  # terms of F(s, j) / s!; the next is below 1e-25


class Item(NamedTuple):
    """A shape, and the natural logs of its count and of the share that the best attack leaves."""

    size: int
    edges: int
    log: float
    attack_log: float
    shape: Shape


@lru_cache(maxsize=512)
def items(size: int) -> tuple[Item, ...]:
    """Every shape of this size of which the count is quickly known and that exposes nobody.

    Examples
    --------
    >>> [(item.edges, round(math.exp(item.log))) for item in items(3)]
    [(9, 6), (8, 4), (7, 3), (6, 2), (7, 3)]
    """
    if size == 1:
        return (Item(1, 1, 0.0, 0.0, Near(1)),)
    options = list(_near(size))
    if size <= LARGEST:
        options += _small(size)
    else:
        options += _two_missing(size)
    return tuple(options)


def plain_items(size: int) -> tuple[Item, ...]:
    """The complete part and the crown only."""
    near = items(1) if size == 1 else tuple(_near(size))
    return (near[0], near[-1]) if size > 2 else near[:1]


@lru_cache(maxsize=512)
def _near(size: int) -> tuple[Item, ...]:
    """Complete parts without up to ``size`` disjoint edges; two users stay complete."""
    forbidden = np.arange(size + 1 if size > 2 else 1)
    shares = np.log(_shares(size)[forbidden])
    attacks = _attack_logs(size)[forbidden]
    factorial = log_factorial(size)
    return tuple(
        Item(size, size * size - j, factorial + share, attack, Near(size, j))
        for j, share, attack in zip(
            forbidden.tolist(), shares.tolist(), attacks.tolist(), strict=True
        )
    )


@lru_cache(maxsize=512)
def _shares(size: int) -> npt.NDArray[np.float64]:
    """F(size, j) / size! for j = 0 to size: the sum over i of (-1)^i [j]_i / ([size]_i i!)."""
    forbidden = np.arange(size + 1, dtype=np.float64)
    term = np.ones(size + 1)
    total = np.ones(size + 1)
    for i in range(min(size, _SERIES)):
        term = -term * (forbidden - i) / ((size - i) * (i + 1))
        total += np.where(forbidden > i, term, 0.0)
    return total


def _attack_logs(size: int) -> npt.NDArray[np.float64]:
    """Logs of the share that the best attack leaves, on two kinds of user, for j = 0 to size."""
    j = np.arange(size + 1)
    # less[j + 2] belongs to F(size - 1, j)
    less = np.concatenate((np.zeros(2), _shares(size - 1) ** 2, np.zeros(1)))
    full = (size - j) * less[j + 2] + j * less[j + 1]
    constrained = (size - j) * less[j + 1] + (j - 1) * less[j]
    least = np.where(j == 0, full, np.where(j == size, constrained, np.minimum(full, constrained)))
    with np.errstate(divide="ignore"):
        logs: npt.NDArray[np.float64] = np.log(least) - 2 * np.log(size * _shares(size))
    return logs


def _small(size: int) -> Iterator[Item]:
    """The paper's layers with more than one edge missing a user, linked pairs, what was found."""
    shapes: list[Shape] = [Layered(size, edges) for edges in range(2 * size, size * size - size)]
    shapes += [
        Linked(size - q, q, u, v)
        for q in range(1, size // 2 + 1)
        for u in range(1, q + 1)
        for v in range(1, q + 1)
    ]
    shapes += catalogue().get(size, ())
    for shape, result in zip(shapes, tally([_bits(shape) for shape in shapes]), strict=True):
        attack = math.log(result.attack)
        yield Item(size, shape.edges, math.log(result.count), attack, shape)


def _bits(shape: Shape) -> Bits:
    rows = [0] * shape.size
    for row, column in zip(*(ends.tolist() for ends in shape.cells()), strict=True):
        rows[row] |= 1 << column
    return tuple(rows)


def _two_missing(size: int) -> Iterator[Item]:
    """The paper's layers with one to two edges missing a user; attacks by their lower bound."""
    for edges in range(size * (size - 2), size * (size - 1)):
        shape = Layered(size, edges)
        log = log_factorial(size) + shape.share_logs[0]
        yield Item(size, edges, log, -math.log(-(-edges // size)), shape)

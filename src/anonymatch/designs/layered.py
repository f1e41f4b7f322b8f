"""The paper's filling: layer after layer of shifted diagonals, so that degrees stay equal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from anonymatch.counting.dispatch import count, posterior
from anonymatch.counting.integers import multiply
from anonymatch.designs.cells import Cells, graph_of, in_order, spans
from anonymatch.designs.kinds import Near, Shape
from anonymatch.designs.logarithms import TERMS, log_factorial, log_share, phi_difference, psi

__all__ = ["EXACT_UP_TO", "Layered", "layered"]

EXACT_UP_TO = 24  # users of a part without a closed form that are still counted, in milliseconds
_EDGE_BY_EDGE_UP_TO = 40  # users of a part with one whose edges are counted one by one


def layered(size: int, edges: int) -> Shape:
    """The part of ``edges`` in the paper's filling; a :class:`Near` where that is the same.

    Examples
    --------
    >>> layered(4, 14), layered(4, 9)
    (Near(size=4, forbidden=2), Layered(size=4, edges=9))
    """
    zeros = size * size - edges
    return Near(size, zeros) if zeros <= size else Layered(size, edges)


@dataclass(frozen=True, slots=True)
class Layered:
    """Edges (i, i + l mod size) for layers l = 1, 2, ..., the last one only up to some user.

    The count has a closed form with at most two edges a user, and with at most two missing. Other
    parts of up to 24 users are counted; of larger ones two bounds are known.

    Examples
    --------
    >>> part = Layered(5, 15)
    >>> part.count(), part.count() * part.attack()
    (13, Fraction(57, 13))
    >>> Layered(1000, 600_000).exact
    False
    """

    size: int
    edges: int

    @property
    def kind(self) -> str:
        return "cycle" if self.edges == 2 * self.size else "layered"

    @property
    def exact(self) -> bool:
        return self.closed or self.size <= EXACT_UP_TO

    @property
    def share_logs(self) -> tuple[float, float]:
        return _share_logs(self)

    def count(self) -> int:
        return _count(self)

    @property
    def attack_log(self) -> float:
        exact = self.attack()
        if exact is not None:
            return math.log(exact)
        return -math.log(-(-self.edges // self.size))  # 1 / the largest degree: Cauchy-Schwarz

    def attack(self) -> Fraction | None:
        if self.edges <= 2 * self.size:
            return Fraction(1, _count(self))
        if self.size > (_EDGE_BY_EDGE_UP_TO if self.closed else EXACT_UP_TO):
            return None
        return _attack(self)

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        layers, more = divmod(self.edges, self.size)
        users = np.arange(first, self.size if last is None else last)
        row, column = spans(users + 1, layers + (users < more), first)
        return in_order(row, column % self.size)

    @property
    def zeros(self) -> int:
        return self.size * self.size - self.edges

    @property
    def closed(self) -> bool:
        """Whether the count has a closed form."""
        return self.zeros <= 2 * self.size or self.edges <= 2 * self.size

    def rooks(self, terms: int) -> list[int]:
        """Ways to pick 0, 1, ... disjoint ones of the missing edges, as far as wanted.

        With size < zeros <= 2 size they lie on two neighbouring diagonals: a path of
        2 (zeros - size) + 1 edges and 2 size - zeros - 1 single ones, or a cycle of 2 size.
        """
        s, zeros = self.size, self.zeros
        if zeros == 2 * s:
            return [
                math.comb(2 * s - picked, picked) * 2 * s // (2 * s - picked)
                for picked in range(min(terms, s) + 1)
            ]
        ends, dots = 2 * (zeros - s) + 2, 2 * s - zeros - 1
        path = [math.comb(ends - picked, picked) for picked in range(min(terms, ends // 2) + 1)]
        single = [math.comb(dots, picked) for picked in range(min(terms, dots) + 1)]
        return multiply(path, single)[: terms + 1]


@lru_cache(maxsize=4096)
def _count(part: Layered) -> int:
    size = part.size
    if part.edges <= 2 * size:
        return 2 if part.edges == 2 * size else 1
    if not part.closed:
        return int(count(graph_of(size, part.cells()), exact=True).value)
    rooks = part.rooks(size)
    total, factorial = 0, math.factorial(size - len(rooks) + 1)
    for picked in range(len(rooks) - 1, -1, -1):
        total += (-1) ** picked * rooks[picked] * factorial
        factorial *= size - picked + 1
    return total


@lru_cache(maxsize=4096)
def _share_logs(part: Layered) -> tuple[float, float]:
    size = part.size
    if part.edges <= 2 * size or size <= EXACT_UP_TO:
        share = math.log(_count(part)) - log_factorial(size)
        return share, share
    if part.closed:
        share = log_share(size, part.rooks(min(TERMS, size)))
        return share, share
    # Every user and every behaviour has at least this degree.
    degree, above = divmod(part.edges, size)
    density = math.log(degree / size)
    waerden = size * density
    # ((d-1)^(d-1) / d^(d-2))^size over size!, with what is large taken out of both
    schrijver = size * (density + (degree - 1) * math.log1p(-1 / degree) + 1 - psi(size))
    bregman = size * phi_difference(size, degree) + above * phi_difference(degree, degree + 1)
    return max(waerden, schrijver), bregman


@lru_cache(maxsize=1024)
def _attack(part: Layered) -> Fraction:
    found = posterior(graph_of(part.size, part.cells()), exact=True)
    ends = np.searchsorted(part.cells()[0], np.arange(part.size + 1)).tolist()
    squares = [value * value for value in found.counts.by_edge.tolist()]
    least = min(sum(squares[a:b]) for a, b in pairwise(ends))
    return Fraction(least, _count(part) ** 2)

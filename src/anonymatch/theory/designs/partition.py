"""The paper's construction H(n, m): equal parts, filled layer after layer.

Where the paper defines it there are a = floor(n / k) parts (cases A to D). For all other n and m
('ext') the number of parts is the one that gives the most matchings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from anonymatch.base.logarithms import TERMS, Line, log_factorial, log_share, phi_difference, psi
from anonymatch.counting import count, multiply, posterior
from anonymatch.theory.designs.parts import (
    Cells,
    Composition,
    Near,
    Part,
    Shape,
    graph_of,
    in_order,
    spans,
)
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["Layered", "Parameters", "equal_parts", "layered", "paper", "parameters"]


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
        return self.closed or self.size <= TUNING.counted_users

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
        if self.size > (TUNING.attacked_users if self.closed else TUNING.counted_users):
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
    if part.edges <= 2 * size or size <= TUNING.counted_users:
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
    probabilities = posterior(graph_of(part.size, part.cells()), exact=True)
    ends = np.searchsorted(part.cells()[0], np.arange(part.size + 1)).tolist()
    squares = [value * value for value in probabilities.counts.by_edge.tolist()]
    least = min(sum(squares[a:b]) for a, b in pairwise(ends))
    return Fraction(least, _count(part) ** 2)


@dataclass(frozen=True, slots=True)
class Parameters:
    """m = k n + r, n = a k + b, and the paper's case: A, B, C, D or ext.

    Examples
    --------
    >>> parameters(8, 24)
    Parameters(k=3, r=0, a=2, b=2, case='B')
    """

    k: int
    r: int
    a: int
    b: int
    case: str


def parameters(n: int, m: int) -> Parameters:
    """Which of the paper's cases n users and m edges are."""
    k, r = divmod(m, n)
    a, b = divmod(n, k)
    if b == 0:
        case = "A" if r == 0 else "D" if r < k else "ext"
    elif b <= a:
        case = "B" if r == 0 else "C" if r <= (k + 1) * b else "ext"
    else:
        case = "ext"
    return Parameters(k, r, a, b, case)


def paper(n: int, m: int) -> tuple[Composition, str]:
    """H(n, m), and what is known about the choice of its number of parts."""
    given = parameters(n, m)
    if given.case != "ext":
        return equal_parts(n, m, given.a), "as the paper defines it"
    line = Line(given.k)
    best: tuple[float, int, Composition] | None = None
    everything = n <= TUNING.all_numbers_users
    for number in range(n, 0, -1) if everything else _promising(n, m):
        parts = equal_parts(n, m, number)
        loss = parts.loss(line)
        if best is None or loss + parts.doubt(line) < best[0] - TUNING.close:
            best = loss, number, parts
    assert best is not None
    chosen = best[2]
    if not all(part.exact for part in chosen.parts):
        return chosen, "beyond the paper's cases: number of parts chosen by proven lower bounds"
    if everything:
        return chosen, "beyond the paper's cases: best of all numbers of equal parts"
    return chosen, "beyond the paper's cases: best of the numbers of equal parts with closed forms"


def equal_parts(n: int, m: int, number: int) -> Composition:
    """H_c: ``number`` parts, larger ones first, filled layer by layer and part after part.

    Examples
    --------
    >>> [str(part) for part in equal_parts(8, 30, 2).parts]
    ['complete 4 (16 edges)', 'near-complete 4 (14 edges)']
    """
    size, larger = divmod(n, number)
    layers = min(m // n, size)
    left = m - layers * n
    parts: list[Part] = []
    for users, copies in ((size + 1, larger), (size, number - larger)):
        room = layers < users
        full = min(copies, left // users) if room else 0
        left -= full * users
        begun = left if room and full < copies else 0
        left -= begun
        for edges, times in (
            ((layers + 1) * users, full),
            (layers * users + begun, 1 if begun else 0),
            (layers * users, copies - full - (1 if begun else 0)),
        ):
            if times:
                parts.append(Part(layered(users, edges), times))
    return Composition(tuple(parts), left)


def _promising(n: int, m: int) -> Iterator[int]:
    """Numbers of parts, falling, among which the best one is.

    As long as floor(n / c) stays the same, the log of the count changes by steps of equal size
    with c, but for one part that is partly filled and for a bend where the last large part is
    filled. So its maximum lies close to an end of such a range or to the bend. Sizes beyond k + 2
    pay only if there is no number of parts with smaller ones.
    """
    k = m // n
    numbers = {1, max(n // k - 1, 1), n // k}
    for size in range(max(k - 1, 1), k + 3):
        least, most = n // (size + 1) + 1, n // size
        left = m - min(k, size) * n
        bend = (n - left // (size + 1)) // size
        for middle in {least, most, min(max(bend, least), most)}:
            if least <= most:
                reach = min(size + 2, TUNING.numbers_of_parts)
                numbers.update(range(max(least, middle - reach), min(most, middle + reach) + 1))
    return iter(sorted((c for c in numbers if 1 <= c <= n), reverse=True))

"""Complete groups joined by single edges: parts that are closed only as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymatch.base.logarithms import log_factorial
from anonymatch.designs.formulas import linked_pair
from anonymatch.designs.parts.kinds import FRACTIONS_UP_TO
from anonymatch.designs.parts.part_edges import Cells, with_links

__all__ = ["Linked", "Necklace"]

Number = Fraction | float

_TERMS = 40  # of sums in doubles whose terms are at most 1 / l!^2


@dataclass(frozen=True, slots=True)
class Linked:
    """Complete groups of p and q users; u edges from the first to the second, v back, all apart.

    Examples
    --------
    >>> part = Linked(3, 2, 1, 1)
    >>> part.size, part.edges, part.count(), part.count() * part.attack()
    (5, 15, 14, Fraction(26, 7))
    """

    p: int
    q: int
    u: int
    v: int

    @property
    def kind(self) -> str:
        return "linked pair"

    @property
    def size(self) -> int:
        return self.p + self.q

    @property
    def edges(self) -> int:
        return self.p * self.p + self.q * self.q + self.u + self.v

    @property
    def exact(self) -> bool:
        return True

    @property
    def share_logs(self) -> tuple[float, float]:
        alone = log_factorial(self.p) + log_factorial(self.q) - log_factorial(self.size)
        share = alone + math.log(_apart(self.p, self.q, self.u, self.v, 1.0))
        return share, share

    def count(self) -> int:
        return linked_pair(self.p, self.q, self.u, self.v)

    @property
    def attack_log(self) -> float:
        return math.log(min(self._attacks(1.0)))

    def attack(self) -> Fraction | None:
        if self.size > FRACTIONS_UP_TO:
            return None
        return Fraction(min(self._attacks(Fraction(1))))

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        out, back = np.arange(self.u), np.arange(self.v)
        links = np.concatenate((out, self.p + back)), np.concatenate((self.p + out, back))
        return with_links([self.p, self.q], links, first, last)

    def _attacks(self, one: Number) -> list[Number]:
        """Shares left by exposing each kind of user, in the arithmetic of ``one``."""
        p, q, u, v = self.p, self.q, self.u, self.v
        return [*_exposed(p, q, u, v, one), *_exposed(q, p, v, u, one)]


def _exposed(p: int, q: int, u: int, v: int, one: Number) -> list[Number]:
    """The sum of squared probabilities of a linked and of another user of the first group."""
    total = _apart(p, q, u, v, one)
    shares = []
    if u < p:
        shares.append(
            (p - v) * (_apart(p - 1, q, u, v, one) / p) ** 2
            + v * (_apart(p - 1, q, u, v - 1, one) / p) ** 2
        )
    if u:
        shares.append(
            (p - v) * (_apart(p - 1, q, u - 1, v, one) / p) ** 2
            + v * (_apart(p - 1, q, u - 1, v - 1, one) / p) ** 2
            + _across(p, q, u, v, one) ** 2
        )
    return [share / total**2 for share in shares]


def _apart(p: int, q: int, u: int, v: int, one: Number) -> Number:
    """The count of a linked pair over p! q!; 0 when there is no such pair."""
    if v < 0:
        return 0 * one
    total = term = one
    for used in range(min(u, v, p, _most(one))):
        term = term * (u - used) * (v - used) / ((used + 1) ** 2 * (p - used) * (q - used))
        total = total + term
    return total


def _most(one: Number) -> int:
    """Terms that count in this arithmetic."""
    return _TERMS if isinstance(one, float) else FRACTIONS_UP_TO


def _across(p: int, q: int, u: int, v: int, one: Number) -> Number:
    """Matchings through one given edge from the first group to the second, over p! q!."""
    total = term = one * v / (p * q)
    for used in range(1, min(u, v, _most(one))):
        term = term * (u - used) * (v - used) / (used * (used + 1) * (p - used) * (q - used))
        total = total + term
    return total


@dataclass(frozen=True, slots=True)
class Necklace:
    """Complete groups, as equal as possible, in a ring; the last user of each links to the next.

    Either no link is used or all are: the product of p! over the groups plus that of (p-1)!.

    Examples
    --------
    >>> part = Necklace(7, 3)
    >>> part.sizes, part.edges, part.count()
    ((3, 2, 2), 20, 26)
    """

    size: int
    groups: int  # at least 2

    @property
    def kind(self) -> str:
        return "necklace"

    @property
    def sizes(self) -> tuple[int, ...]:
        each, larger = divmod(self.size, self.groups)
        return (each + 1,) * larger + (each,) * (self.groups - larger)

    @property
    def edges(self) -> int:
        each, larger = divmod(self.size, self.groups)
        return larger * (each + 1) ** 2 + (self.groups - larger) * each**2 + self.groups

    @property
    def exact(self) -> bool:
        return True

    @property
    def share_logs(self) -> tuple[float, float]:
        each, larger = divmod(self.size, self.groups)
        log = larger * log_factorial(each + 1) + (self.groups - larger) * log_factorial(each)
        share = log + math.log1p(math.exp(self._linked_log)) - log_factorial(self.size)
        return share, share

    def count(self) -> int:
        sizes = self.sizes
        return math.prod(math.factorial(p) for p in sizes) + math.prod(
            math.factorial(p - 1) for p in sizes
        )

    @property
    def attack_log(self) -> float:
        return math.log(min(self._attacks(math.exp(self._linked_log))))

    def attack(self) -> Fraction | None:
        if self.size > FRACTIONS_UP_TO:
            return None
        return Fraction(min(self._attacks(Fraction(1, math.prod(self.sizes)))))

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        begin = np.concatenate(([0], np.cumsum(self.sizes)))
        return with_links(self.sizes, (begin[1:] - 1, np.roll(begin[:-1], -1)), first, last)

    @property
    def _linked_log(self) -> float:
        """Log of how many matchings use the links, over those that do not."""
        each, larger = divmod(self.size, self.groups)
        return -larger * math.log(each + 1) - (self.groups - larger) * math.log(each)

    def _attacks(self, linked: Number) -> list[Number]:
        """Sums of squared probabilities of the linking and the other users of each size of
        group.
        """
        shares: list[Number] = []
        each, larger = divmod(self.size, self.groups)
        for p in (each, each + 1) if larger else (each,):
            one = linked * 0 + 1
            shares.append(one / p + linked**2)
            if p > 1:
                shares.append((one / p) ** 2 + (p - 1) * (one / p + linked / (p - 1)) ** 2)
        return [share / (1 + linked) ** 2 for share in shares]

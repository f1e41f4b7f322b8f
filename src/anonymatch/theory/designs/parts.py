"""Parts of designs: kinds of parts, their edges and counts, and compositions of parts.

Near      complete, or complete but for a matching of j edges: F(s, j) matchings
Layered   the paper's filling, layer after layer of shifted diagonals (in partition.py)
Linked    two complete groups joined by single edges both ways
Necklace  complete groups in a ring, each joined to the next by one edge
Searched  a small graph from the catalogue of search.py

A part's count is kept as a share of size!, because shares can be compared without cancellation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch.base.logarithms import Line, log_factorial
from anonymatch.graph import Graph, Names, join
from anonymatch.theory.designs.formulas import (
    attack_component,
    avoiding_share_log,
    linked_pair,
    restricted_permutations,
)
from anonymatch.theory.designs.small import Bits, Tally, tally
from anonymatch.theory.designs.tuning import TUNING

__all__ = ["Composition", "Linked", "Near", "Necklace", "Part", "Searched", "Shape", "graph_of"]


# ---- edges as two arrays


Array = npt.NDArray[np.int64]
Cells = tuple[Array, Array]


def complete_groups(sizes: Sequence[int], first: int = 0, last: int | None = None) -> Cells:
    """All pairs within separate groups of these sizes, of the users from first to last - 1.

    Examples
    --------
    >>> [ends.tolist() for ends in complete_groups([2, 1])]
    [[0, 0, 1, 1, 2], [0, 1, 0, 1, 2]]
    """
    group = np.array(sizes, dtype=np.int64)
    begin = np.repeat(np.cumsum(group) - group, group)[first:last]
    return spans(begin, np.repeat(group, group)[first:last], first)


def spans(begins: Array, lengths: Array, first: int) -> Cells:
    """Of users from ``first`` on, so many behaviours each, from where they begin."""
    row = np.repeat(np.arange(len(lengths)), lengths)
    inside = np.arange(len(row)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return first + row, begins[row] + inside


def with_links(sizes: Sequence[int], links: Cells, first: int, last: int | None) -> Cells:
    """Complete groups and single edges between them, of the users from first to last - 1."""
    row, column = complete_groups(sizes, first, last)
    user, behaviour = links
    here = (user >= first) & (user < (sum(sizes) if last is None else last))
    return in_order(np.concatenate((row, user[here])), np.concatenate((column, behaviour[here])))


def in_order(row: Array, column: Array) -> Cells:
    """The same edges by user and then by behaviour."""
    order = np.lexsort((column, row))
    return row[order], column[order]


def graph_of(size: int, cells: Cells) -> Graph:
    """A graph of as many behaviours as users, both named by their numbers."""
    names = Names(range(size), "user"), Names(range(size), "behaviour")
    return Graph(*join(*names, *cells, None))


# ---- kinds of parts


class Shape(Protocol):
    """What every kind of part knows."""

    @property
    def kind(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def edges(self) -> int: ...

    @property
    def exact(self) -> bool:
        """Whether the count is known exactly; otherwise it lies between two proven bounds."""
        ...

    @property
    def share_logs(self) -> tuple[float, float]:
        """Log of count / size!: a lower and an upper bound, equal when it is exact."""
        ...

    def count(self) -> int:
        """The number of matchings; ask only exact ones."""
        ...

    @property
    def attack_log(self) -> float:
        """Log of the share of matchings that the best attack leaves, or a lower bound on it."""
        ...

    def attack(self) -> Fraction | None:
        """That share exactly, or None where only the log or a bound on it is known."""
        ...

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        """The edges of the users from first to last - 1, by user and behaviour."""
        ...


@dataclass(frozen=True, slots=True)
class Near:
    """Complete but for the last ``forbidden`` pairs (i, i).

    Examples
    --------
    >>> part = Near(4, 2)
    >>> part.kind, part.edges, part.count(), part.attack()
    ('near-complete', 14, 14, Fraction(25, 98))
    """

    size: int
    forbidden: int = 0
    exact: ClassVar[bool] = True

    @property
    def kind(self) -> str:
        if not self.forbidden:
            return "complete"
        return "crown" if self.forbidden == self.size else "near-complete"

    @property
    def edges(self) -> int:
        return self.size * self.size - self.forbidden

    @property
    def share_logs(self) -> tuple[float, float]:
        share = avoiding_share_log(self.size, self.forbidden) if self.forbidden else 0.0
        return share, share

    def count(self) -> int:
        return restricted_permutations(self.size, self.forbidden)

    @property
    def attack_log(self) -> float:
        s, j = self.size, self.forbidden
        if j in (0, s):
            return -math.log(s if j == 0 else s - 1)

        def share(forbidden: int) -> float:
            return math.exp(2 * avoiding_share_log(s - 1, forbidden)) if forbidden >= 0 else 0.0

        full = (s - j) * share(j) + j * share(j - 1)
        constrained = (s - j) * share(j - 1) + (j - 1) * share(j - 2)
        return math.log(min(full, constrained)) - 2 * (math.log(s) + self.share_logs[0])

    def attack(self) -> Fraction | None:
        if self.forbidden in (0, self.size):
            return Fraction(1, self.size - (self.forbidden > 0))
        if self.size > TUNING.fraction_users:
            return None
        return attack_component(self.size, self.forbidden).best / self.count()

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        row, column = complete_groups([self.size], first, last)
        there = (row != column) | (row < self.size - self.forbidden)
        return row[there], column[there]


@dataclass(frozen=True, slots=True)
class Searched:
    """A small graph that a search found; ``rows`` as integers, bit j for behaviour j.

    Examples
    --------
    >>> part = Searched((0b1111, 0b1111, 0b1110, 0b1110))
    >>> part.edges, part.count(), part.count() * part.attack()
    (14, 12, Fraction(4, 1))
    """

    rows: Bits
    kind: ClassVar[str] = "found"
    exact: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def edges(self) -> int:
        return sum(row.bit_count() for row in self.rows)

    @property
    def share_logs(self) -> tuple[float, float]:
        share = math.log(self.count()) - log_factorial(self.size)
        return share, share

    def count(self) -> int:
        return _tally(self.rows).count

    @property
    def attack_log(self) -> float:
        return math.log(_tally(self.rows).attack)

    def attack(self) -> Fraction:
        return _tally(self.rows).attack

    def cells(self, first: int = 0, last: int | None = None) -> Cells:
        words = np.array(self.rows[first:last], dtype=np.int64)
        row, column = np.nonzero(words[:, None] >> np.arange(self.size) & 1)
        return first + row.astype(np.int64), column.astype(np.int64)


@lru_cache(maxsize=4096)
def _tally(rows: Bits) -> Tally:
    return tally([rows])[0]


Number = Fraction | float


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
    kind: ClassVar[str] = "linked pair"
    exact: ClassVar[bool] = True

    @property
    def size(self) -> int:
        return self.p + self.q

    @property
    def edges(self) -> int:
        return self.p * self.p + self.q * self.q + self.u + self.v

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
        if self.size > TUNING.fraction_users:
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
    return TUNING.pair_terms if isinstance(one, float) else TUNING.fraction_users


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
    kind: ClassVar[str] = "necklace"
    exact: ClassVar[bool] = True

    @property
    def sizes(self) -> tuple[int, ...]:
        each, larger = divmod(self.size, self.groups)
        return (each + 1,) * larger + (each,) * (self.groups - larger)

    @property
    def edges(self) -> int:
        each, larger = divmod(self.size, self.groups)
        return larger * (each + 1) ** 2 + (self.groups - larger) * each**2 + self.groups

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
        if self.size > TUNING.fraction_users:
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


# ---- compositions


@dataclass(frozen=True, slots=True)
class Part:
    """``number`` equal parts.

    Attributes
    ----------
    shape : Shape
        The edges of one of them.
    number : int

    Examples
    --------
    >>> from anonymatch.theory.designs.parts import Near
    >>> part = Part(Near(4, 4), 2)
    >>> part.kind, part.size, part.edges, part.number, part.count
    ('crown', 4, 12, 2, 9)
    """

    shape: Shape
    number: int

    @property
    def kind(self) -> str:
        return self.shape.kind

    @property
    def size(self) -> int:
        """Users of one part."""
        return self.shape.size

    @property
    def edges(self) -> int:
        """Edges of one part."""
        return self.shape.edges

    @property
    def exact(self) -> bool:
        return self.shape.exact

    @property
    def count(self) -> int | None:
        """Matchings of one part; None when only bounds are known."""
        return self.shape.count() if self.shape.exact else None

    @property
    def low(self) -> float:
        """Natural log of the count of one part, or a proven lower bound on it."""
        return log_factorial(self.size) + self.shape.share_logs[0]

    @property
    def high(self) -> float:
        return log_factorial(self.size) + self.shape.share_logs[1]

    @property
    def log(self) -> float:
        return self.low

    @property
    def attack(self) -> Fraction | None:
        """The share of the matchings that the best attack on one part leaves."""
        return self.shape.attack()

    @property
    def attack_log(self) -> float:
        return self.shape.attack_log

    def __str__(self) -> str:
        times = f"{self.number} x " if self.number > 1 else ""
        return f"{times}{self.kind} {self.size} ({self.edges} edges)"


def exposes(shape: Shape) -> bool:
    """Whether some user of the part has one possible behaviour only.

    In every kind of part, two edges a user or more join all users into one closed group.
    """
    return shape.size == 1 or shape.edges < 2 * shape.size


@dataclass(frozen=True, slots=True)
class Composition:
    """Parts side by side, and edges that are in no matching."""

    parts: tuple[Part, ...]
    spare: int

    @classmethod
    def of(cls, shapes: Iterable[tuple[Shape, int]], spare: int) -> Composition:
        """Equal shapes together, large parts first, and of equal size the one with more edges."""
        numbers: dict[Shape, int] = {}
        for shape, number in shapes:
            if number:
                numbers[shape] = numbers.get(shape, 0) + number
        ordered = sorted(numbers.items(), key=lambda pair: (-pair[0].size, -pair[0].edges))
        return cls(tuple(Part(shape, number) for shape, number in ordered), spare)

    @property
    def users(self) -> int:
        return sum(part.size * part.number for part in self.parts)

    @property
    def fits(self) -> bool:
        """Whether the spare edges have room above the parts: earlier users, later behaviours."""
        inside = sum(part.size**2 * part.number for part in self.parts)
        return 0 <= 2 * self.spare <= self.users**2 - inside

    def loss(self, line: Line) -> float:
        """How far the log of the count lies below the bound; for bounded parts, at most."""
        return line.slope * self.spare + math.fsum(
            part.number * line.loss(part.size, part.edges, part.shape.share_logs[0])
            for part in self.parts
        )

    def doubt(self, line: Line) -> float:
        """The rounding error that the loss may have."""
        return sum(part.number * line.doubt(part.size) for part in self.parts)

    @property
    def attack_log(self) -> float:
        """Log of the share of matchings that the best attack leaves, or a lower bound on it."""
        return min(part.attack_log for part in self.parts)

    @property
    def smallest(self) -> int:
        """The users of the smallest closed group; 1 when somebody is exposed."""
        if any(exposes(part.shape) for part in self.parts):
            return 1
        return min(part.size for part in self.parts)

"""The kinds of parts that designs are made of: their edges, their counts, what attacks leave.

Near      complete, or complete but for a matching of j edges: F(s, j) matchings
Layered   the paper's filling, layer after layer of shifted diagonals: nearly regular
Linked    two complete groups joined by single edges both ways
Necklace  complete groups in a ring, each joined to the next by one edge
Searched  a small graph that a search found, kept as it is

A part's count is kept as a share of size!, because shares can be compared without cancellation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from anonymatch.base.logarithms import log_factorial
from anonymatch.designs.formulas import (
    attack_component,
    avoiding_share_log,
    restricted_permutations,
)
from anonymatch.designs.parts.part_edges import Cells, complete_groups
from anonymatch.designs.parts.small import Bits, Tally, tally

__all__ = ["FRACTIONS_UP_TO", "Near", "Searched", "Shape"]

FRACTIONS_UP_TO = 400  # users of a part whose attack is worked out in exact fractions


class Shape(Protocol):
    """What every kind of part can tell."""

    @property
    def kind(self) -> str:
        """Its name, for people."""
        ...

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

    @property
    def kind(self) -> str:
        if not self.forbidden:
            return "complete"
        return "crown" if self.forbidden == self.size else "near-complete"

    @property
    def edges(self) -> int:
        return self.size * self.size - self.forbidden

    @property
    def exact(self) -> bool:
        return True

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
        if self.size > FRACTIONS_UP_TO:
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

    @property
    def kind(self) -> str:
        return "found"

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def edges(self) -> int:
        return sum(row.bit_count() for row in self.rows)

    @property
    def exact(self) -> bool:
        return True

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

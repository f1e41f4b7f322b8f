"""Minors of blocks that lack few edges, from components that lost a user, a behaviour or both."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import mul

import numpy as np

from anonymatch.counting.exact.closed_form import Integers
from anonymatch.counting.exact.rook import (
    OVERHEAD,
    Pattern,
    RookSweep,
    path_polynomial,
    plan_rows,
    rook_polynomial,
    row_deletions,
    turn,
)
from anonymatch.counting.integers import divide, multiply, multiply_all, power

NOTHING = -1  # kind of the users and behaviours that lack no edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentClass:
    """Isomorphic components of missing edges."""

    pattern: Pattern
    polynomial: list[int]
    copies: int
    vertices: int  # if the components are cycles, else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentPosition:
    """Where the vertices of one side lie: kind of component, which one, label within the kind."""

    kind: Integers
    component: Integers
    label: Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The cheaper side of a pattern to sweep when vertices of both sides are to be deleted."""

    sweep: RookSweep
    turned: bool  # by columns
    others: int  # vertices on the other side

    @classmethod
    def of(cls, pattern: Pattern) -> Side:
        columns = turn(pattern)
        sides = [
            cls(sweep=sweep, turned=turned, others=others)
            for rows, turned, others in (
                (pattern, False, len(columns)),
                (columns, True, len(pattern)),
            )
            if (sweep := plan_rows(rows)) is not None
        ]
        return min(sides, key=lambda side: side.operations)

    @property
    def operations(self) -> float:
        """Of all deletions: for each vertex on the other side a sweep there, back and across.

        Across, one product of packed polynomials a state stands beside its additions.
        """
        rows = self.sweep.pattern
        degree = sum(map(len, rows)) / len(rows)
        words = len(rows) ** 2 * math.log2(degree + 1) / 32
        products: float = words**1.6 / ((OVERHEAD + words) * (degree + 1))
        return 4 * (self.others + 1) * self.sweep.operations * (1 + products)

    def deletions(self, other: int | None) -> tuple[list[int], list[list[int]]]:
        """Without a vertex of the other side: the polynomial, and those with each row deleted too.

        The order stays that of the whole pattern, so that no sweep is wider.
        """
        rest = tuple(tuple(j for j in row if j != other) for row in self.sweep.pattern)
        sweep = replace(self.sweep, pattern=rest)
        without = row_deletions(sweep)
        ranks = np.argsort(self.sweep.order).tolist()
        return rook_polynomial(sweep), [without[t] for t in ranks]


def alternating_sum(polynomial: list[int], n: int, c: int) -> int:
    """Sum of (-1)^k r_k (c-k)! / (c-n)! over k = 0..n, by Horner's rule.

    Examples
    --------
    >>> alternating_sum([1, 3, 3, 1], 3, 3)
    2
    """
    total = 0
    for k in range(n + 1):
        term = polynomial[k] if k < len(polynomial) else 0
        total = total * (c - k + 1) + (-term if k % 2 else term)
    return total


class Minors:
    """Minors from the polynomials of components that lost a user, a behaviour or both.

    All polynomials are multiples of ``common``, the product of all components but two copies of
    each kind, by a short polynomial p; and the sum of (-1)^k is linear, so a minor is the sum of
    p_s times the sum for x^s common. Those ``moments`` are computed once.
    """

    def __init__(self, kinds: list[ComponentClass], n: int, c: int) -> None:
        self.kinds = kinds
        common = multiply_all([power(k.polynomial, max(0, k.copies - 2)) for k in kinds])
        self.short = multiply_all([power(k.polynomial, min(2, k.copies)) for k in kinds])
        self.moments = _moments(common, n - 1, c - 1, len(self.short))
        self.cycles = {
            number: _positions(kind.pattern) for number, kind in enumerate(kinds) if kind.vertices
        }
        self.by_gap: dict[int, list[int]] = {}
        self.sides: dict[int, Side] = {}
        self.deletions: dict[tuple[int, int | None], tuple[list[int], list[list[int]]]] = {}
        self.without: dict[tuple[int, int], list[int]] = {}

    def classes(
        self, vertices: ComponentPosition, *, side: int
    ) -> tuple[Integers, list[tuple[int, list[int]]]]:
        """Class of every vertex, and of each class the kind and the polynomial left by deletion."""
        number_of: dict[tuple[int, tuple[int, ...]], int] = {}
        by_label: dict[tuple[int, int], int] = {}
        classes: list[tuple[int, list[int]]] = []
        chosen = np.empty(len(vertices.kind), dtype=np.int64)
        alike = np.isin(vertices.kind, list(self.cycles))  # all vertices of a cycle
        labels = np.where(alike, 0, vertices.label).tolist()
        for v, (kind, label) in enumerate(zip(vertices.kind.tolist(), labels, strict=True)):
            if (kind, label) not in by_label:
                row, column = (label, None) if side == 0 else (None, label)
                rest = [1] if kind == NOTHING else self._deleted(kind, row, column)
                number = number_of.setdefault((kind, tuple(rest)), len(classes))
                if number == len(classes):
                    classes.append((kind, rest))
                by_label[kind, label] = number
            chosen[v] = by_label[kind, label]
        return chosen, classes

    def apart(self, user: tuple[int, list[int]], behaviour: tuple[int, list[int]]) -> int:
        """Minor of a user and a behaviour in different components."""
        left = multiply(user[1], behaviour[1])
        return _dot(left, self._moments_without(user[0], behaviour[0]))

    def pairs(self, kind: Integers, row: Integers, column: Integers) -> tuple[Integers, Integers]:
        """Pairs of labels in components of these kinds, alike for minors that are known alike.

        In a cycle only the gap between user and behaviour matters: (vertices in it, 0).
        """
        row, column = row.copy(), column.copy()
        for number, (of_row, of_column) in self.cycles.items():
            chosen = kind == number
            gap = np.abs(of_row[row[chosen]] - of_column[column[chosen]])
            row[chosen] = np.minimum(gap, self.kinds[number].vertices - gap) - 1
            column[chosen] = 0
        return row, column

    def together(self, kind: int, row: int, column: int) -> int:
        """Minor of a user and a behaviour in one component, as :meth:`pairs` names them."""
        if kind in self.cycles:
            return self._of_gap(kind, row)
        return _dot(self._deleted(kind, row, column), self._moments_without(NOTHING, kind))

    def _of_gap(self, kind: int, gap: int) -> int:
        """Minor of two vertices of a cycle with ``gap`` vertices between them.

        What is left are paths of a = gap and b = v - 2 - a vertices. With P_m the polynomial of the
        path of m, P_a P_b - P_(a-1) P_(b+1) = (-x)^a P_(b-a), from P_m = P_(m-1) + x P_(m-2) by
        induction on a; so the minors for a = 0, 1, ... are running sums.
        """
        sums = self.by_gap.setdefault(kind, [])
        moments = self._moments_without(NOTHING, kind)
        while len(sums) <= gap:
            a = len(sums)
            path = path_polynomial(self.kinds[kind].vertices - 2 - 2 * a)
            step = _dot(path, moments[a:])
            sums.append((sums[-1] if sums else 0) + (-step if a % 2 else step))
        return sums[gap]

    def _moments_without(self, first: int, second: int) -> list[int]:
        """Moments of all that is left without one component of each of two kinds."""
        key = min(first, second), max(first, second)
        if key not in self.without:
            rest = self.short
            for kind in key:
                if kind != NOTHING:
                    rest = divide(rest, self.kinds[kind].polynomial)
            shifts = range(len(self.short) - len(rest) + 1)
            self.without[key] = [_dot(rest, self.moments[s:]) for s in shifts]
        return self.without[key]

    def _deleted(self, kind: int, row: int | None, column: int | None) -> list[int]:
        """The polynomial of a component without one user, one behaviour, or both."""
        if kind in self.cycles:
            assert row is None or column is None
            return path_polynomial(self.kinds[kind].vertices - 1)
        if kind not in self.sides:
            self.sides[kind] = Side.of(self.kinds[kind].pattern)
        side = self.sides[kind]
        swept, other = (column, row) if side.turned else (row, column)
        if (kind, other) not in self.deletions:
            self.deletions[kind, other] = side.deletions(other)
        alone, without_row = self.deletions[kind, other]
        return alone if swept is None else without_row[swept]


def _dot(coefficients: list[int], moments: list[int]) -> int:
    return sum(map(mul, coefficients, moments))


def _moments(common: list[int], n: int, c: int, length: int) -> list[int]:
    """The alternating sums of x^s times a polynomial, for s below ``length``."""
    if len(common) > 1:
        return [alternating_sum([0] * s + common, n, c) for s in range(length)]
    moments = [0] * max(0, length - n - 1) + [1 - n % 2 * 2]  # s = n: (-1)^n
    for s in range(n - 1, -1, -1):
        moments.append(-moments[-1] * (c - s))
    return moments[::-1][:length]


def _positions(cycle: Pattern) -> tuple[Integers, Integers]:
    """Places of rows and columns along a cycle."""
    columns = turn(cycle)
    of_row, of_column = np.zeros(len(cycle), np.int64), np.zeros(len(columns), np.int64)
    row, column = 0, cycle[0][0]
    for step in range(len(cycle)):
        of_row[row], of_column[column] = 2 * step, 2 * step + 1
        row = sum(columns[column]) - row
        column = sum(cycle[row]) - column
    return of_row, of_column

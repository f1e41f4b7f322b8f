"""Minors of blocks that lack few edges, from components that lost a user, a behaviour or both."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul
from typing import NamedTuple

import numpy as np

from anonymatch.counting.exact.closed_form import Integers
from anonymatch.counting.exact.rook import (
    OVERHEAD,
    Pattern,
    RookSweep,
    Thread,
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
    thread: Thread | None  # if the components are paths or cycles

    @property
    def classes(self) -> int:
        """Users that may have different minors, at most."""
        if self.thread is None:
            return len(self.pattern)
        return 1 if self.thread.closed else self.thread.edges // 4 + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComponentPosition:
    """Where the vertices of one side lie: kind of component, which one, label within the kind."""

    kind: Integers
    component: Integers
    label: Integers


class VertexClass(NamedTuple):
    """Vertices of one side that leave the same behind when they are deleted."""

    kind: int
    label: int
    side: int  # 0: users


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
        self.threads = {
            number: (kind.thread, *_positions(kind.pattern))
            for number, kind in enumerate(kinds)
            if kind.thread is not None
        }
        self.by_gap: dict[int, list[int]] = {}
        self.of_paths: dict[int, tuple[PathMinors, PathMinors]] = {}
        self.left: dict[tuple[int, int, int], list[int]] = {}
        self.sides: dict[int, Side] = {}
        self.deletions: dict[tuple[int, int | None], tuple[list[int], list[list[int]]]] = {}
        self.without: dict[tuple[int, int], list[int]] = {}

    def classes(
        self, vertices: ComponentPosition, *, side: int
    ) -> tuple[Integers, list[VertexClass]]:
        """Class of every vertex, and what each class is."""
        number_of: dict[tuple[int, tuple[int, ...]], int] = {}
        by_label: dict[tuple[int, int], int] = {}
        classes: list[VertexClass] = []
        chosen = np.empty(len(vertices.kind), dtype=np.int64)
        labels = self._left_of(vertices, side).tolist()
        for v, (kind, label) in enumerate(zip(vertices.kind.tolist(), labels, strict=True)):
            if (kind, label) not in by_label:
                one = VertexClass(kind, label, side)
                alike = (label,) if kind in self.threads else tuple(self._left_by(one))
                number = number_of.setdefault((kind, alike), len(classes))
                if number == len(classes):
                    classes.append(one)
                by_label[kind, label] = number
            chosen[v] = by_label[kind, label]
        return chosen, classes

    def apart(self, user: VertexClass, behaviour: VertexClass) -> int:
        """Minor of a user and a behaviour in different components."""
        for one, other in ((user, behaviour), (behaviour, user)):
            if other.kind == NOTHING and one.kind in self.threads:
                thread = self.threads[one.kind][0]
                if not thread.closed:
                    return self._of_path(one.kind, without=1).beside(one.label)
        left = multiply(self._left_by(user), self._left_by(behaviour))
        return _dot(left, self._moments_without(user.kind, behaviour.kind))

    def _left_by(self, vertex: VertexClass) -> list[int]:
        """The polynomial that the deletion of a vertex leaves of its component."""
        if vertex.kind == NOTHING:
            return [1]
        key = vertex.kind, vertex.label, vertex.side
        if key not in self.left:
            row, column = (vertex.label, None) if vertex.side == 0 else (None, vertex.label)
            self.left[key] = self._deleted(vertex.kind, row, column)
        return self.left[key]

    def pairs(self, kind: Integers, row: Integers, column: Integers) -> tuple[Integers, Integers]:
        """Pairs of labels in components of these kinds, alike for minors that are known alike.

        In a cycle only the gap between user and behaviour matters: (vertices in it, 0). A path
        falls into three, whose lengths matter and not their order: (the shortest, the next).
        """
        row, column = row.copy(), column.copy()
        for number, (thread, of_row, of_column) in self.threads.items():
            chosen = kind == number
            first, second = of_row[row[chosen]], of_column[column[chosen]]
            gap = np.abs(first - second)
            if thread.closed:
                row[chosen] = np.minimum(gap, thread.edges - gap) - 1
                column[chosen] = 0
            else:
                before = np.minimum(first, second)
                lengths = np.stack((before, gap - 1, thread.edges - gap - before))
                row[chosen], column[chosen], _ = np.sort(lengths, axis=0)
        return row, column

    def together(self, kind: int, row: int, column: int) -> int:
        """Minor of a user and a behaviour in one component, as :meth:`pairs` names them."""
        if kind in self.threads:
            if self.threads[kind][0].closed:
                return self._of_gap(kind, row)
            return self._of_path(kind, without=2).between(row, column)
        return _dot(self._deleted(kind, row, column), self._moments_without(NOTHING, kind))

    def _left_of(self, vertices: ComponentPosition, side: int) -> Integers:
        """Labels; in paths the vertices of the shorter part beside them, in cycles all the same."""
        labels = vertices.label.copy()
        for number, (thread, *positions) in self.threads.items():
            chosen = vertices.kind == number
            at = positions[side][labels[chosen]]
            labels[chosen] = 0 if thread.closed else np.minimum(at, thread.edges - at)
        return labels

    def _of_path(self, kind: int, *, without: int) -> PathMinors:
        """Of a path that loses one or two vertices."""
        if kind not in self.of_paths:
            one = PathMinors.of(self.threads[kind][0].edges, self._moments_without(NOTHING, kind))
            self.of_paths[kind] = one, one.shorter()
        return self.of_paths[kind][without - 1]

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
            path = path_polynomial(self.threads[kind][0].edges - 2 - 2 * a)
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
        """The polynomial of a component without one user, one behaviour, or both.

        In a thread a label is the number of vertices to the left, where there are fewer.
        """
        if kind in self.threads:
            thread = self.threads[kind][0]
            left = row if column is None else column
            assert left is not None
            assert row is None or column is None
            if thread.closed:
                return path_polynomial(thread.edges - 1)
            return multiply(path_polynomial(left), path_polynomial(thread.edges - left))
        if kind not in self.sides:
            self.sides[kind] = Side.of(self.kinds[kind].pattern)
        side = self.sides[kind]
        swept, other = (column, row) if side.turned else (row, column)
        if (kind, other) not in self.deletions:
            self.deletions[kind, other] = side.deletions(other)
        alone, without_row = self.deletions[kind, other]
        return alone if swept is None else without_row[swept]


class PathMinors:
    """Minors of vertices of one path, each a few additions once running sums are made.

    What is left are paths of a <= b <= c vertices, r in all, and with L the alternating sum (of
    moments) a minor is L(P_a P_b P_c). From P_b P_c - P_(b-1) P_(c+1) = (-x)^b P_(c-b) for b <= c
    it is the sum over k = 0..b of (-1)^k L(x^k P_a P_d) with d = r - a - 2k; and from the same
    identity L(x^k P_a P_d) is the sum over m = 0..min(a, d) of (-1)^m E_(k+m), where E_e is
    L(x^e P_(r-2e)). So running sums A of (-1)^e E_e give L(x^k P_a P_d), and running sums S of A
    the minor: the sum over k of A_(min(a, d) + k) - A_(k-1).
    """

    def __init__(self, rest: int, terms: list[int]) -> None:
        self._rest = rest
        self._terms = terms  # E_0, E_1, ...
        signed = (-term if e % 2 else term for e, term in enumerate(terms))
        self._firsts = list(accumulate(signed))  # A_0, A_1, ...
        self._sums = list(accumulate(self._firsts, initial=0))  # S_(-1), S_0, ...

    @classmethod
    def of(cls, rest: int, moments: list[int]) -> PathMinors:
        """So many vertices are left."""
        paths = (path_polynomial(rest - 2 * e) for e in range(rest // 2 + 1))
        return cls(rest, [_dot(path, moments[e:]) for e, path in enumerate(paths)])

    def shorter(self) -> PathMinors:
        """One vertex less is left: P_(m-1) = P_m - x P_(m-2), so its terms are differences."""
        pairs = zip(self._terms, [*self._terms[1:], 0], strict=True)
        terms = [term - following for term, following in pairs]
        return PathMinors(self._rest - 1, terms[: (self._rest - 1) // 2 + 1])

    def beside(self, a: int) -> int:
        """One vertex is gone: the length of the shorter path that is left."""
        return self._firsts[a]

    def between(self, a: int, b: int) -> int:
        """Two are gone: the two shorter lengths, in rising order."""
        sums, rest = self._sums, self._rest
        turn_ = min(b, rest // 2 - a)  # up to this k, a <= d
        value = sums[a + turn_ + 1] - sums[a] - sums[b]
        if b > turn_:
            value += sums[rest - a - turn_] - sums[rest - a - b]
        return value


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


def _positions(thread: Pattern) -> tuple[Integers, Integers]:
    """Positions of rows and columns along a path, from one of its ends, or a cycle."""
    sides = thread, turn(thread)
    places = [np.zeros(len(side), np.int64) for side in sides]
    ends = [(s, k) for s, side in enumerate(sides) for k, near in enumerate(side) if len(near) == 1]
    side, vertex = ends[0] if ends else (0, 0)
    before = -1
    for position in range(len(sides[0]) + len(sides[1])):
        places[side][vertex] = position
        near = [k for k in sides[side][vertex] if k != before]
        before, vertex, side = vertex, near[0] if near else -1, 1 - side
    return places[0], places[1]

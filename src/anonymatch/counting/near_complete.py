"""Blocks that lack few edges: inclusion and exclusion over the rook polynomial of what is missing.

With r_k the number of ways to pick k disjoint missing edges, n users and c behaviours,

    count = sum over k of (-1)^k r_k (c-k)! / (c-n)!.

The missing edges fall into components; r is the product of their polynomials, and isomorphic
components are solved once. The sum alternates, so everything stays in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.counting.integers import divide, multiply, multiply_all, power
from anonymatch.counting.rook import (
    OVERHEAD,
    WIDEST,
    Pattern,
    Sweep,
    canonical,
    plan_rows,
    plan_sweep,
    rook_polynomial,
    row_deletions,
    turn,
)

if TYPE_CHECKING:
    from anonymatch.counting.block import Block
    from anonymatch.counting.closed_forms import Exact, Floats, Integers

LIMIT = 4e9  # predicted operations on words, some seconds
COMPARED = 64  # edges; larger components are compared only label by label

NOTHING = -1  # kind of the users and behaviours that lack no edge


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """Isomorphic components of missing edges."""

    pattern: Pattern
    polynomial: list[int]
    operations: float
    copies: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Place:
    """Where the vertices of one side lie: kind of component, which one, label within the kind."""

    kind: Integers
    component: Integers
    label: Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearComplete:
    """The count of a block with few missing edges; minors on demand."""

    block: Block
    total: int
    kinds: list[Kind]
    users: Place
    behaviours: Place

    @property
    def log(self) -> float:
        return math.log(self.total)

    @property
    def minor_operations(self) -> float:
        """Predicted cost of :meth:`minors` and :meth:`posteriors`, in the unit of ``limit``."""
        n, words = self.block.n_users, 1 + self.log / math.log(2) / 32
        degrees = [len(kind.polynomial) - 1 for kind in self.kinds]
        moments = 1 + sum(
            min(2, kind.copies) * d for kind, d in zip(self.kinds, degrees, strict=True)
        )
        classes = 1 + sum(len(kind.pattern) for kind in self.kinds)
        longest = 1 + 2 * max(degrees, default=0)
        pairs = min(classes, n) ** 2 + len(self.kinds) ** 2 * moments
        deletions = sum(Side.of(kind.pattern).operations for kind in self.kinds)
        return deletions + (moments * n + longest * pairs) * words

    def minors(self) -> Exact:
        """Exact integers; equal ones share one object."""
        codes, values = self._distinct_minors()
        return np.array([*values, None], dtype=object)[codes]

    def posteriors(self) -> Floats:
        """Correctly rounded quotients of integers."""
        codes, values = self._distinct_minors()
        return np.array([value / self.total for value in values])[codes]

    def _distinct_minors(self) -> tuple[Integers, list[int]]:
        """For every edge the index of its minor among the distinct ones, and those."""
        block = self.block
        rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
        solver = _Minors(self.kinds, block.n_users, block.n_behaviours)
        row_class, row_classes = solver.classes(self.users, side=0)
        column_class, column_classes = solver.classes(self.behaviours, side=1)
        codes = row_class[rows] * len(column_classes) + column_class[block.indices]
        present = np.zeros(len(row_classes) * len(column_classes), dtype=bool)
        present[codes] = True

        inside = np.flatnonzero(
            (self.users.component[rows] == self.behaviours.component[block.indices])
            & (self.users.kind[rows] != NOTHING)
        )
        outside = np.ones(len(rows), dtype=bool)
        outside[inside] = False
        present[:] = False
        present[codes[outside]] = True
        index = np.cumsum(present) - 1
        values = [
            solver.apart(
                row_classes[code // len(column_classes)], column_classes[code % len(column_classes)]
            )
            for code in np.flatnonzero(present).tolist()
        ]
        chosen: Integers = index[codes]
        found: dict[tuple[int, int, int], int] = {}
        for edge in inside.tolist():
            i, j = rows[edge], block.indices[edge]
            key = int(self.users.kind[i]), int(self.users.label[i]), int(self.behaviours.label[j])
            if key not in found:
                found[key] = len(values)
                values.append(solver.together(*key))
            chosen[edge] = found[key]
        return chosen, values


def near_complete(block: Block, *, limit: float = LIMIT) -> NearComplete | None:
    """Count a block without weights of which fewer edges are missing than present.

    Parameters
    ----------
    limit : float
        Operations on words that may be spent on the rook polynomials; None is returned, with
        nothing spent but the search for an order, when they are predicted to need more.

    Examples
    --------
    >>> from anonymatch.counting.reference import block_of
    >>> solved = near_complete(block_of(1 - np.eye(5, dtype=int)))
    >>> solved.total, set(solved.minors().tolist())
    (44, {11})
    """
    n, c = block.n_users, block.n_behaviours
    if block.weights is not None or n > c or 2 * block.n_edges < n * c:
        return None
    if n * c - block.n_edges > WIDEST * c:  # some user and some behaviour lack more than WIDEST
        return None
    absent = np.ones((n, c), dtype=bool)
    absent[np.repeat(np.arange(n), np.diff(block.indptr)), block.indices] = False
    rows, columns = np.nonzero(absent)
    component = _joined(rows.tolist(), (n + columns).tolist(), n + c)
    users = Place(kind=np.full(n, NOTHING), component=component[:n], label=np.zeros(n, np.int64))
    behaviours = Place(
        kind=np.full(c, NOTHING), component=component[n:], label=np.zeros(c, np.int64)
    )

    kind_of: dict[Pattern, int] = {}
    copies: list[int] = []
    for pattern, row_names, column_names in _components(rows, columns, component[rows]):
        kind = kind_of.setdefault(pattern, len(kind_of))
        if kind == len(copies):
            copies.append(0)
        copies[kind] += 1
        for place, names in ((users, row_names), (behaviours, column_names)):
            place.kind[names] = kind
            place.label[names] = np.arange(len(names))

    sweeps: list[Sweep] = []
    for pattern in kind_of:
        sweep = plan_sweep(pattern)
        if sweep is None:
            return None
        sweeps.append(sweep)
    if sum(sweep.operations for sweep in sweeps) > limit:
        return None
    kinds = [
        Kind(pattern=p, polynomial=rook_polynomial(s), operations=s.operations, copies=k)
        for p, s, k in zip(kind_of, sweeps, copies, strict=True)
    ]
    whole = multiply_all([power(kind.polynomial, kind.copies) for kind in kinds])
    total = alternating_sum(whole, n, c)
    return NearComplete(block=block, total=total, kinds=kinds, users=users, behaviours=behaviours)


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


class _Minors:
    """Minors from the polynomials of components that lost a user, a behaviour or both.

    All polynomials are multiples of ``common``, the product of all components but two copies of
    each kind, by a short polynomial p; and the sum of (-1)^k is linear, so a minor is the sum of
    p_s times the sum for x^s common. Those ``moments`` are computed once.
    """

    def __init__(self, kinds: list[Kind], n: int, c: int) -> None:
        self.kinds = kinds
        common = multiply_all([power(k.polynomial, max(0, k.copies - 2)) for k in kinds])
        self.short = multiply_all([power(k.polynomial, min(2, k.copies)) for k in kinds])
        self.moments = [
            alternating_sum([0] * s + common, n - 1, c - 1) for s in range(len(self.short))
        ]
        self.sides: dict[int, Side] = {}
        self.deletions: dict[tuple[int, int | None], tuple[list[int], list[list[int]]]] = {}
        self.without: dict[tuple[int, int], list[int]] = {}

    def classes(self, place: Place, *, side: int) -> tuple[Integers, list[tuple[int, list[int]]]]:
        """Class of every vertex, and of each class the kind and the polynomial left by deletion."""
        found: dict[tuple[int, tuple[int, ...]], int] = {}
        by_label: dict[tuple[int, int], int] = {}
        classes: list[tuple[int, list[int]]] = []
        chosen = np.empty(len(place.kind), dtype=np.int64)
        for v, (kind, label) in enumerate(
            zip(place.kind.tolist(), place.label.tolist(), strict=True)
        ):
            if (kind, label) not in by_label:
                row, column = (label, None) if side == 0 else (None, label)
                rest = [1] if kind == NOTHING else self._deleted(kind, row, column)
                number = found.setdefault((kind, tuple(rest)), len(classes))
                if number == len(classes):
                    classes.append((kind, rest))
                by_label[kind, label] = number
            chosen[v] = by_label[kind, label]
        return chosen, classes

    def apart(self, user: tuple[int, list[int]], behaviour: tuple[int, list[int]]) -> int:
        """Minor of a user and a behaviour in different components."""
        left = multiply(user[1], behaviour[1])
        return _dot(left, self._moments_without(user[0], behaviour[0]))

    def together(self, kind: int, row: int, column: int) -> int:
        """Minor of a user and a behaviour in one component."""
        return _dot(self._deleted(kind, row, column), self._moments_without(NOTHING, kind))

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
        if kind not in self.sides:
            self.sides[kind] = Side.of(self.kinds[kind].pattern)
        side = self.sides[kind]
        swept, other = (column, row) if side.turned else (row, column)
        if (kind, other) not in self.deletions:
            self.deletions[kind, other] = side.deletions(other)
        alone, without_row = self.deletions[kind, other]
        return alone if swept is None else without_row[swept]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """The cheaper side of a pattern to sweep when vertices of both sides are to be deleted."""

    sweep: Sweep
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
        places = np.argsort(self.sweep.order).tolist()
        return rook_polynomial(sweep), [without[t] for t in places]


def _dot(coefficients: list[int], moments: list[int]) -> int:
    return sum(map(mul, coefficients, moments))


def _joined(left: list[int], right: list[int], n: int) -> Integers:
    """A representative of the component of each of n vertices."""
    parent = list(range(n))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = v = parent[parent[v]]
        return v

    for u, v in zip(left, right, strict=True):
        parent[root(u)] = root(v)
    return np.array([root(v) for v in range(n)], dtype=np.int64)


def _components(
    rows: Integers, columns: Integers, component: Integers
) -> list[tuple[Pattern, list[int], list[int]]]:
    """Each component as a pattern, with the users and behaviours in the order of its labels."""
    order = np.argsort(component, kind="stable")
    cuts = np.flatnonzero(np.diff(component[order], prepend=-1, append=-1)).tolist()
    row_list, column_list = rows[order].tolist(), columns[order].tolist()
    found: list[tuple[Pattern, list[int], list[int]]] = []
    for start, end in pairwise(cuts):
        if end - start == 1:
            found.append((((0,),), [row_list[start]], [column_list[start]]))
            continue
        lists: dict[int, list[int]] = {}
        for i, j in zip(row_list[start:end], column_list[start:end], strict=True):
            lists.setdefault(i, []).append(j)
        names = list(lists)
        if end - start <= COMPARED:
            pattern, row_label, column_label = canonical(list(lists.values()))
        else:
            column_label = {j: k for k, j in enumerate(sorted(set(column_list[start:end])))}
            pattern = tuple(tuple(column_label[j] for j in row) for row in lists.values())
            row_label = list(range(len(names)))
        row_names = [names[i] for i in np.argsort(row_label).tolist()]
        found.append((pattern, row_names, sorted(column_label, key=column_label.__getitem__)))
    return found

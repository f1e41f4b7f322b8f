"""Blocks that lack few edges: inclusion and exclusion over the rook polynomial of what is missing.

With r_k the number of ways to pick k disjoint missing edges, n users and c behaviours,

    count = sum over k of (-1)^k r_k (c-k)! / (c-n)!.

The missing edges fall into components; r is the product of their polynomials, and isomorphic
components are solved once. The sum alternates, so everything stays in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.exact.closed_form import Integers, option_by
from anonymatch.counting.exact.rook import (
    Pattern,
    RookSweep,
    Thread,
    canonical,
    path_polynomial,
    plan_rows,
    plan_sweep,
    rook_polynomial,
    row_deletions,
    turn,
)
from anonymatch.counting.integers import divide, multiply, multiply_all, power

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Exact, Integers


def offer(block: Block, context: Context, best: float) -> Option | None:
    """A closed form over the few edges that are missing."""
    missing = block.n_users * block.n_behaviours - block.n_edges
    if block.weights is not None or missing > tuning().rook_missing * block.n_behaviours:
        return None
    affordable = min(best, context.budget.seconds)
    if missing * tuning().rook_planning > max(affordable, tuning().rook_planning_short):
        return None
    formula = near_complete(block, limit=affordable * tuning().rook_rate)
    if formula is None:
        return None
    seconds = formula.minor_operations / tuning().rook_rate if context.edges else 0.0
    lacks = f"only {several(missing, 'edge')} {'is' if missing == 1 else 'are'} missing"
    memory = 64.0 * block.n_edges
    return option_by(formula, block, f"{lacks}: rook polynomial", memory=memory, seconds=seconds)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NearComplete:
    """The count of a block with few missing edges; minors on demand."""

    block: Block
    total: int
    kinds: list[ComponentClass]
    users: ComponentPosition
    behaviours: ComponentPosition

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
        classes = [min(kind.classes, n) for kind in self.kinds]
        lonely = zip(self.kinds, classes, strict=True)
        apart = min(1 + sum(classes), n) ** 2 - sum(c * c for k, c in lonely if k.copies == 1)
        longest = 1 + 2 * max(degrees, default=0)
        pairs: int = max(apart, 1) + len(self.kinds) ** 2 * moments
        deletions: float = 0.0
        for kind in self.kinds:
            if kind.thread is not None:
                deletions += (kind.thread.edges + 1) ** 2 / 8 * (LIMITS.rook_overhead + words)
            else:
                deletions += Side.of(kind.pattern).operations
        return deletions + (moments * n + longest * pairs) * words

    def minors(self) -> Exact:
        """Exact integers; equal ones share one object."""
        codes, values = self._distinct_minors()
        return np.array([*values, None], dtype=object)[codes]

    def posteriors(self) -> Floats:
        """Quotients of integers, of which 200 bits are looked at."""
        codes, values = self._distinct_minors()
        cut = max(0, self.total.bit_length() - 200)
        total = self.total >> cut
        return np.array([(value >> cut) / total for value in values])[codes]

    def _distinct_minors(self) -> tuple[Integers, list[int]]:
        """For every edge the index of its minor among the distinct ones, and those."""
        block = self.block
        rows = np.repeat(np.arange(block.n_users), np.diff(block.indptr))
        solver = Minors(self.kinds, block.n_users, block.n_behaviours)
        row_class, row_classes = solver.classes(self.users, side=0)
        column_class, column_classes = solver.classes(self.behaviours, side=1)
        codes = row_class[rows] * len(column_classes) + column_class[block.indices]
        same = self.users.component[rows] == self.behaviours.component[block.indices]
        inside = np.flatnonzero(same & (self.users.kind[rows] != NOTHING))
        outside = np.ones(len(rows), dtype=bool)
        outside[inside] = False
        shape = len(row_classes), len(column_classes)
        present = np.zeros(math.prod(shape), dtype=bool)
        present[codes[outside]] = True
        values = [
            solver.apart(row_classes[first], column_classes[second])
            for first, second in np.argwhere(present.reshape(shape)).tolist()
        ]
        chosen: Integers = (np.cumsum(present) - 1)[codes]

        i, j = rows[inside], block.indices[inside]
        kind = self.users.kind[i]
        row, column = solver.pairs(kind, self.users.label[i], self.behaviours.label[j])
        base = max(block.n_users, block.n_behaviours)
        pairs, inverse = np.unique((kind * base + row) * base + column, return_inverse=True)
        chosen[inside] = len(values) + inverse
        for pair in pairs.tolist():
            first, second = divmod(pair, base)
            number, label = divmod(first, base)
            values.append(solver.together(number, label, second))
        return chosen, values


def near_complete(block: Block, *, limit: float = LIMITS.rook_operations) -> NearComplete | None:
    """Count a block without weights of which fewer edges are missing than present.

    None if the rook polynomials are predicted to need more than ``limit`` operations on words.
    """
    n, c = block.n_users, block.n_behaviours
    if block.weights is not None or n > c or 2 * block.n_edges < n * c:
        return None
    if (
        n * c - block.n_edges > LIMITS.rook_widest * c
    ):  # some user and some behaviour lack more than LIMITS.rook_widest
        return None
    absent = np.ones((n, c), dtype=bool)
    absent[np.repeat(np.arange(n), np.diff(block.indptr)), block.indices] = False
    rows, columns = np.nonzero(absent)
    component = _joined(rows.tolist(), (n + columns).tolist(), n + c)
    users = ComponentPosition(
        kind=np.full(n, NOTHING), component=component[:n], label=np.zeros(n, np.int64)
    )
    behaviours = ComponentPosition(
        kind=np.full(c, NOTHING), component=component[n:], label=np.zeros(c, np.int64)
    )

    kind_of: dict[Pattern, int] = {}
    copies: list[int] = []
    for pattern, row_names, column_names in _components(rows, columns, component[rows]):
        kind = kind_of.setdefault(pattern, len(kind_of))
        if kind == len(copies):
            copies.append(0)
        copies[kind] += 1
        for side, names in ((users, row_names), (behaviours, column_names)):
            side.kind[names] = kind
            side.label[names] = np.arange(len(names))

    sweeps: list[RookSweep] = []
    for pattern in kind_of:
        sweep = plan_sweep(pattern)
        if sweep is None:
            return None
        sweeps.append(sweep)
    if sum(sweep.operations for sweep in sweeps) > limit:
        return None
    kinds = [
        ComponentClass(
            pattern=p,
            polynomial=rook_polynomial(s),
            copies=k,
            thread=s.threads[0] if s.threads else None,
        )
        for p, s, k in zip(kind_of, sweeps, copies, strict=True)
    ]
    whole = multiply_all([power(kind.polynomial, kind.copies) for kind in kinds])
    total = alternating_sum(whole, n, c)
    return NearComplete(block=block, total=total, kinds=kinds, users=users, behaviours=behaviours)


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
    components: list[tuple[Pattern, list[int], list[int]]] = []
    for start, end in pairwise(cuts):
        if end - start == 1:
            components.append((((0,),), [row_list[start]], [column_list[start]]))
            continue
        lists: dict[int, list[int]] = {}
        for i, j in zip(row_list[start:end], column_list[start:end], strict=True):
            lists.setdefault(i, []).append(j)
        names = list(lists)
        if end - start <= LIMITS.rook_compared:
            pattern, row_label, column_label = canonical(list(lists.values()))
        else:
            column_label = {j: k for k, j in enumerate(sorted(set(column_list[start:end])))}
            pattern = tuple(tuple(column_label[j] for j in row) for row in lists.values())
            row_label = list(range(len(names)))
        row_names = [names[i] for i in np.argsort(row_label).tolist()]
        components.append((pattern, row_names, sorted(column_label, key=column_label.__getitem__)))
    return components


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
        products: float = words**1.6 / ((LIMITS.rook_overhead + words) * (degree + 1))
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

"""Blocks that lack few edges: inclusion and exclusion over the rook polynomial of what is missing.

With r_k the number of ways to pick k disjoint missing edges, n users and c behaviours,

    count = sum over k of (-1)^k r_k (c-k)! / (c-n)!.

The missing edges fall into components; r is the product of their polynomials, and isomorphic
components are solved once. The sum alternates, so everything stays in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.base.text import several
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact.closed_form import option_by
from anonymatch.counting.exact.rook import (
    OVERHEAD,
    WIDEST,
    Pattern,
    RookSweep,
    canonical,
    plan_sweep,
    rook_polynomial,
)
from anonymatch.counting.exact.rook_minors import (
    NOTHING,
    ComponentClass,
    ComponentPosition,
    Minors,
    Side,
    alternating_sum,
)
from anonymatch.counting.integers import multiply_all, power

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Exact, Floats, Integers

LIMIT = 4e9  # predicted operations on words, some seconds
COMPARED = 64  # edges; larger components are compared only label by label


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
                deletions += (kind.thread.edges + 1) ** 2 / 8 * (OVERHEAD + words)
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
        if end - start <= COMPARED:
            pattern, row_label, column_label = canonical(list(lists.values()))
        else:
            column_label = {j: k for k, j in enumerate(sorted(set(column_list[start:end])))}
            pattern = tuple(tuple(column_label[j] for j in row) for row in lists.values())
            row_label = list(range(len(names)))
        row_names = [names[i] for i in np.argsort(row_label).tolist()]
        components.append((pattern, row_names, sorted(column_label, key=column_label.__getitem__)))
    return components

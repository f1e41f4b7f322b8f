"""Twins: users with the same row, behaviours with the same column, counted by class.

Users choose one after another; all that matters of what was taken is how many of each class of
behaviours, and of a class of m with t taken the next user has m - t to choose from. A class is
forgotten after its last user. Inclusion and exclusion over classes has as many terms as this has
states in all its layers together, but alternates; here every term is positive, so floats keep
their accuracy, and behaviours may stay unused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.offer import Context, Option
from anonymatch.counting.blocks.solution import Solution
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact.class_layers import MOST_CLASSES, ClassSweep, SpreadError, Swept, run

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Floats, Integers

Values = npt.NDArray[Any]

LIMIT = 2e7  # operations, some seconds
_ORDERS = 8  # that are searched, from as many classes


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Counting twins together, where there are any."""
    most = tuning().planning_share * min(best, context.budget.seconds)
    if planning_seconds(block) > max(most, tuning().planning_short):
        return None
    plan = plan_classes(block)
    if plan is None or plan.operations / tuning().classes_rate > best:
        return None
    return Option(
        method="classes",
        why="users or behaviours that are alike are counted together",
        seconds=plan.operations / tuning().classes_rate * (2.0 if context.edges else 1.0),
        memory=plan.memory,
        solve=lambda: plan.solve().solution(),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassPlan:
    """The classes of a block and the cheaper way to go through them; nothing is counted yet."""

    block: Block
    user_class: Integers
    behaviour_class: Integers
    sweep: ClassSweep
    turned: bool  # behaviours choose users; unused ones are taken by added users
    divisor: int  # the orders of the added users

    @property
    def operations(self) -> float:
        """Multiplications of a count by a small number."""
        return self.sweep.operations

    @property
    def memory(self) -> float:
        """Bytes at most: every state of every layer is kept for the minors."""
        if not self.sweep.exact:
            return 24 * self.operations
        rows = np.add.reduceat(
            np.ones(self.block.n_edges) if self.block.weights is None else self.block.weights,
            self.block.indptr[:-1],
        )
        bits = sum(math.log2(row) for row in rows) + math.log2(self.divisor)
        return (56 + bits / 7.5) * self.operations  # Python integers hold 30 bits in 4 bytes

    def solve(self) -> TwinCounts:
        """Count, and keep what the minors need; floats that spread too far as whole numbers."""
        try:
            return TwinCounts(plan=self, result=run(self.sweep))
        except SpreadError:
            return self.in_whole_numbers()

    def in_whole_numbers(self) -> TwinCounts:
        """The count of a block of floats, all of which are whole multiples of a power of two."""
        fractions, exponents = np.frexp(self.sweep.weights)
        unit = int(exponents[fractions > 0].min()) - 53
        whole = np.array([int(f * 2.0**53) for f in fractions.flat], dtype=object)
        shifts = np.maximum(exponents.ravel() - 53 - unit, 0).tolist()
        weights = np.array([w << by for w, by in zip(whole, shifts, strict=True)], dtype=object)
        sweep = replace(self.sweep, weights=weights.reshape(fractions.shape))
        result = replace(run(sweep), exponent=unit * sweep.layers)
        return TwinCounts(plan=replace(self, sweep=sweep), result=result)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwinCounts:
    """The count of a block by classes of twins; all edges between two classes share a minor."""

    plan: ClassPlan
    result: Swept

    @property
    def roundings(self) -> int:
        """Float counts and minors are off by a factor of at most (1 + 2^-53)^roundings."""
        sweep = self.plan.sweep
        return 0 if sweep.exact else 2 * (sweep.layers * (2 + sweep.weights.shape[1]) + 2)

    def solution(self) -> Solution:
        """With proven errors, in the form that all methods give."""
        block, rounding = self.plan.block, 1.01 * self.roundings * 2.0**-53
        if block.exact:
            return Solution(
                block,
                total=lambda: self.total,
                minors=self.minors,
                posteriors=lambda: (self.posteriors(), 2.0**-50),
            )
        return Solution(
            block,
            real=lambda: (self.log, rounding + 2.0**-50 * abs(self.log)),
            posteriors=lambda: (self.posteriors(), 2 * rounding + 2.0**-50),
        )

    @property
    def log(self) -> float:
        scale = self.result.exponent * math.log(2) - math.log(self.plan.divisor)
        return math.log(self.result.total) + scale

    @property
    def total(self) -> Any:
        """The count: an integer of a block of integers, else a float."""
        total, divisor = self.result.total, self.plan.divisor
        if self.plan.block.exact:
            return total // divisor
        return _real(total, divisor, self.result.exponent)

    def minors(self) -> Values:
        """For every edge, the count without its user and behaviour."""
        sweep, divisor = self.plan.sweep, self.plan.divisor
        table, exponents = self.result.minors()
        if self.plan.block.exact:
            return self._of_edges(table // divisor)
        if sweep.exact:  # one chooser less than in the count
            exponents += self.result.exponent - self.result.exponent // sweep.layers
        reals = [_real(v, divisor, int(e)) for v, e in zip(table.flat, exponents.flat, strict=True)]
        return self._of_edges(np.array(reals).reshape(table.shape))

    def posteriors(self) -> Floats:
        """The probability of every edge."""
        try:
            table, exponent = self.result.minors()
        except SpreadError:
            return self.plan.in_whole_numbers().posteriors()
        weights = self.plan.sweep.weights
        total = self.result.total
        if self.plan.sweep.exact:
            probabilities = np.zeros(table.shape)
            for pair in zip(*np.nonzero(table), strict=True):
                probabilities[pair] = weights[pair] * table[pair] / total
        else:
            probabilities = np.ldexp(weights * (table / total), exponent - self.result.exponent)
        return self._of_edges(probabilities)

    def _of_edges(self, table: Values) -> Values:
        plan = self.plan
        rows = np.repeat(plan.user_class, np.diff(plan.block.indptr))
        columns = plan.behaviour_class[plan.block.indices]
        chosen: Values = table[columns, rows] if plan.turned else table[rows, columns]
        return chosen


def _real(value: Any, divisor: int, exponent: int) -> float:
    """The float value / divisor * 2^exponent; the value may be an integer of any size."""
    if isinstance(value, int):
        return float(Fraction(value, divisor) * Fraction(2) ** exponent)
    return math.ldexp(value / divisor, exponent)


def by_classes(block: Block, *, limit: float = LIMIT) -> TwinCounts | None:
    """Count by classes of twins, if there are any and it is predicted to stay within ``limit``.

    Examples
    --------
    Two kinds of three users each, who share three behaviours out of five.

    >>> from anonymatch.counting.reference import block_of
    >>> rows = [[1, 1, 1, 1, 0, 0]] * 3 + [[0, 1, 1, 1, 1, 1]] * 3
    >>> solved = by_classes(block_of(rows))
    >>> solved.total, solved.minors()[:4].tolist()
    (108, [36, 24, 24, 24])
    """
    plan = plan_classes(block)
    return None if plan is None or plan.operations > limit else plan.solve()


def plan_classes(block: Block) -> ClassPlan | None:
    """The classes of twins and the predicted cost of counting by them; None without twins.

    Examples
    --------
    >>> from anonymatch.counting.reference import block_of
    >>> plan_classes(block_of(np.ones((30, 30), dtype=int))).operations
    30.0
    """
    n, c = block.n_users, block.n_behaviours
    reached = np.bincount(block.indices, minlength=c)
    if not np.diff(block.indptr).all() or not reached.all():
        return None
    if n > c or min(_at_least(block)) > MOST_CLASSES:
        return None
    user_class, user_sizes = _alike(block)
    behaviour_class, behaviour_sizes = _alike(block.transposed())
    if len(user_sizes) == n and len(behaviour_sizes) == c:
        return None
    dtype = object if block.exact else np.float64
    weights = np.zeros((len(user_sizes), len(behaviour_sizes)), dtype=dtype)
    rows = np.repeat(user_class, np.diff(block.indptr))
    weights[rows, behaviour_class[block.indices]] = 1 if block.weights is None else block.weights

    choosers = weights.T
    sizes = user_sizes
    if c > n:
        added = np.ones((len(behaviour_sizes), 1), dtype=dtype)
        choosers, sizes = np.hstack((choosers, added)), [*user_sizes, c - n]
    straight = ClassSweep.plan(weights, user_sizes, behaviour_sizes)
    turned = ClassSweep.plan(choosers, behaviour_sizes, sizes)
    sweeps = [sweep for sweep in (straight, turned) if sweep is not None]
    if not sweeps:
        return None
    best = min(sweeps, key=lambda sweep: sweep.operations)
    return ClassPlan(
        block=block,
        user_class=user_class,
        behaviour_class=behaviour_class,
        sweep=best,
        turned=best is turned,
        divisor=math.factorial(c - n) if best is turned else 1,
    )


def planning_seconds(block: Block) -> float:
    """Predicted seconds of the search for an order of classes; infinite if there are too many."""
    if min(_at_least(block)) > MOST_CLASSES:
        return math.inf
    sides = [len(_alike(side)[1]) for side in (block, block.transposed())]
    if sides == [block.n_users, block.n_behaviours]:
        return 0.0  # no twins: there is nothing to search
    edges = block.n_edges / max(block.n_users, 1)
    pairs = sum(min(k, MOST_CLASSES) ** 2 for k in sides)
    return tuning().classes_planning * _ORDERS * pairs * min(edges, *sides)


def _at_least(block: Block) -> tuple[int, int]:
    """Fewest classes that users and behaviours can fall into: sums that differ prove a difference.

    The sums are of integers below 2^30, so that floats hold them exactly up to 2^23 edges a line.
    """
    numbers = np.random.default_rng(0)
    of_behaviour = numbers.integers(0, 1 << 30, block.n_behaviours).astype(np.float64)
    of_user = numbers.integers(0, 1 << 30, block.n_users).astype(np.float64)
    degrees = np.diff(block.indptr)
    by_user = np.add.reduceat(of_behaviour[block.indices], block.indptr[:-1])
    by_behaviour = np.bincount(block.indices, weights=np.repeat(of_user, degrees))
    return len(np.unique(by_user)), len(np.unique(by_behaviour))


def _alike(block: Block) -> tuple[Integers, list[int]]:
    """Class of each user, users with the same row being one class, and the sizes of the classes."""
    number_of: dict[object, int] = {}
    sizes: list[int] = []
    classes = np.empty(block.n_users, dtype=np.int64)
    ends = block.indptr.tolist()
    for i in range(block.n_users):
        part = slice(ends[i], ends[i + 1])
        weights = None if block.weights is None else tuple(block.weights[part].tolist())
        row = block.indices[part].tobytes(), weights
        number = number_of.setdefault(row, len(sizes))
        if number == len(sizes):
            sizes.append(0)
        sizes[number] += 1
        classes[i] = number
    return classes, sizes

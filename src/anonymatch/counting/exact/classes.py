"""Twins: users with the same row, behaviours with the same column, counted by class.

Users choose one after another; all that matters of what was taken is how many of each class of
behaviours, and of a class of m with t taken the next user has m - t to choose from. A class is
forgotten after its last user. Inclusion and exclusion over classes has as many terms as this has
states in all its layers together, but alternates; here every term is positive, so floats keep
their accuracy, and behaviours may stay unused. Where it is cheaper, sums over roots of unity are
taken (``class_sums``), which keep no states at all.
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
from anonymatch.counting.exact import class_sums
from anonymatch.counting.exact.class_layers import ClassSweep, SpreadError, Swept, run
from anonymatch.counting.exact.twins import MOST_CLASSES, Twins, find_twins, whole_multiples

if TYPE_CHECKING:
    from anonymatch.counting.exact.closed_form import Floats

Values = npt.NDArray[Any]

LIMIT = 2e7  # operations, some seconds
_ORDERS = 8  # that are searched, from as many classes


def offer(block: Block, context: Context, best: float) -> Option | None:
    """Counting twins together, where there are any: state by state, or by sums that need none."""
    twins = find_twins(block)
    if twins is None:
        return None
    options = [
        option
        for option in (_by_layers(twins, context, best), class_sums.option(twins, context, best))
        if option is not None and option.seconds <= best
    ]
    memory = context.budget.memory
    return min(options, key=lambda option: (option.memory > memory, option.seconds), default=None)


def _by_layers(twins: Twins, context: Context, best: float) -> Option | None:
    most = tuning().planning_share * min(best, context.budget.seconds)
    if _search_seconds(twins) > max(most, tuning().planning_short):
        return None
    plan = _plan(twins)
    if plan is None:
        return None
    return Option(
        method="classes",
        why="users or behaviours that are alike are counted together",
        seconds=plan.operations / tuning().classes_rate * (2.0 if context.edges else 1.0),
        memory=plan.memory(edges=context.edges),
        solve=lambda: plan.solve(edges=context.edges).solution(),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassPlan:
    """The classes of a block and the cheaper way to go through them; nothing is counted yet."""

    twins: Twins
    sweep: ClassSweep
    turned: bool  # behaviours choose users; unused ones are taken by added users
    divisor: int  # the orders of the added users

    @property
    def operations(self) -> float:
        """Multiplications of a count by a small number."""
        return self.sweep.operations

    def memory(self, *, edges: bool) -> float:
        """Bytes at most: for the minors every state of every layer is kept, else two layers."""
        sweep, block = self.sweep, self.twins.block
        value = 8.0
        if sweep.exact:
            rows = np.add.reduceat(
                np.ones(block.n_edges) if block.weights is None else block.weights,
                block.indptr[:-1],
            )
            bits = sum(math.log2(row) for row in rows) + math.log2(self.divisor)
            value = 40 + bits / 7.5  # Python integers hold 30 bits in 4 bytes
        if edges:
            return (16 + value) * self.operations
        return (2 * (8 + value) + 32 * sweep.widest) * sweep.peak  # and the search for successors

    def solve(self, *, edges: bool = True) -> TwinCounts:
        """Count, and with ``edges`` keep what the minors need.

        Floats that spread too far are counted as whole numbers.
        """
        try:
            return TwinCounts(plan=self, result=run(self.sweep, keep=edges))
        except SpreadError:
            return self.in_whole_numbers(edges=edges)

    def in_whole_numbers(self, *, edges: bool = True) -> TwinCounts:
        """The count of a block of floats, all of which are whole multiples of a power of two."""
        weights, unit = whole_multiples(self.sweep.weights)
        sweep = replace(self.sweep, weights=weights)
        result = replace(run(sweep, keep=edges), exponent=unit * sweep.layers)
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
        block, rounding = self.plan.twins.block, 1.01 * self.roundings * 2.0**-53
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
        if self.plan.twins.block.exact:
            return total // divisor
        return _real(total, divisor, self.result.exponent)

    def minors(self) -> Values:
        """For every edge, the count without its user and behaviour."""
        sweep, divisor = self.plan.sweep, self.plan.divisor
        table, exponents = self._kept().minors()
        if self.plan.twins.block.exact:
            return self._of_edges(table // divisor)
        if sweep.exact:  # one chooser less than in the count
            exponents += self.result.exponent - self.result.exponent // sweep.layers
        reals = [_real(v, divisor, int(e)) for v, e in zip(table.flat, exponents.flat, strict=True)]
        return self._of_edges(np.array(reals).reshape(table.shape))

    def posteriors(self) -> Floats:
        """The probability of every edge."""
        try:
            table, exponent = self._kept().minors()
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

    def _kept(self) -> Swept:
        """With all layers: if only the count was wanted at first, they are gone through again."""
        kept = self.result.layers is not None
        return self.result if kept else run(self.plan.sweep, keep=True)

    def _of_edges(self, table: Values) -> Values:
        return self.plan.twins.of_edges(table.T if self.plan.turned else table)


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
    twins = find_twins(block)
    return None if twins is None else _plan(twins)


def _plan(twins: Twins) -> ClassPlan | None:
    padded, sizes = twins.padded()
    straight = ClassSweep.plan(twins.weights, twins.user_sizes, twins.behaviour_sizes)
    turned = ClassSweep.plan(padded.T, twins.behaviour_sizes, sizes)
    sweeps = [sweep for sweep in (straight, turned) if sweep is not None]
    if not sweeps:
        return None
    best = min(sweeps, key=lambda sweep: sweep.operations)
    return ClassPlan(
        twins=twins,
        sweep=best,
        turned=best is turned,
        divisor=math.factorial(twins.spare) if best is turned else 1,
    )


def planning_seconds(block: Block) -> float:
    """Predicted seconds of the search for an order of classes, beside finding them."""
    twins = find_twins(block)
    return 0.0 if twins is None else _search_seconds(twins)


def _search_seconds(twins: Twins) -> float:
    sides = len(twins.user_sizes), len(twins.behaviour_sizes)
    edges = twins.block.n_edges / max(twins.block.n_users, 1)
    pairs = sum(min(k, MOST_CLASSES) ** 2 for k in sides)
    return tuning().classes_planning * _ORDERS * pairs * min(edges, *sides)

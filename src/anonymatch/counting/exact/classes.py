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
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.blocks.tuning import LIMITS, tuning
from anonymatch.counting.exact import class_sums
from anonymatch.counting.exact.class_sums import Twins, find_twins, whole_multiples
from anonymatch.running import check_work

Values = npt.NDArray[Any]


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


def plan_classes(block: Block) -> ClassPlan | None:
    """The classes of twins and the predicted cost of counting by them; None without twins."""
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
    pairs = sum(min(k, LIMITS.most_classes) ** 2 for k in sides)
    return tuning().classes_planning * LIMITS.class_orders * pairs * min(edges, *sides)


Keys = npt.NDArray[np.int64]


class Phase(NamedTuple):
    """All choosers of one class."""

    chooser: int
    size: int
    live: tuple[int, ...]  # item classes that the state holds
    reach: tuple[int, ...]  # of those, the ones the chooser may take
    leaving: tuple[int, ...]  # of those, the ones no later chooser may take


class SpreadError(ArithmeticError):
    """Floats of one layer lie too far apart for one scale."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClassSweep:
    """Classes of choosers in an order, with the cost of going through it."""

    weights: Values  # chooser class x item class; 0: not allowed
    sizes: list[int]  # of the item classes
    room: list[int]  # how many items of each class can be taken
    phases: list[Phase]
    exhaustive: bool  # every item must be taken
    operations: float
    peak: float  # states of a layer, at most

    @property
    def widest(self) -> int:
        """Classes that a chooser may take from, at most."""
        return max(len(phase.reach) for phase in self.phases)

    @property
    def exact(self) -> bool:
        return self.weights.dtype == object

    @property
    def layers(self) -> int:
        return sum(phase.size for phase in self.phases)

    @classmethod
    def plan(cls, weights: Values, choosers: list[int], items: list[int]) -> ClassSweep | None:
        """The cheapest of some orders; None if a state does not fit into 62 bits."""
        if len(items) > LIMITS.most_classes:
            return None
        exhaustive = sum(choosers) == sum(items)
        reach = [tuple(np.flatnonzero(row).tolist()) for row in weights]
        takers = (weights != 0).T @ np.array(choosers)
        room = [min(size, int(most)) for size, most in zip(items, takers, strict=True)]
        if any(math.prod(room[j] + 1 for j in row) >= LIMITS.class_states for row in reach):
            return None  # in every order, and none has to be looked for
        starts = sorted(range(len(reach)), key=lambda k: math.prod(room[j] + 1 for j in reach[k]))
        best: tuple[float, float, list[Phase]] | None = None
        orders = [sorted(range(len(reach)), key=reach.__getitem__)]
        if len(reach) <= LIMITS.most_classes:
            orders += [_greedy(reach, room, start) for start in starts[:8]]
        for order in orders:
            phases = _phases(reach, choosers, order)
            cost = _predicted(phases, room, exhaustive)
            if cost is not None and (best is None or cost < best[:2]):
                best = *cost, phases
        if best is None:
            return None
        return cls(
            weights=weights,
            sizes=items,
            room=room,
            phases=best[2],
            exhaustive=exhaustive,
            operations=best[0],
            peak=best[1],
        )


class Layer(NamedTuple):
    """The states before one chooser, sorted."""

    phase: int
    keys: Keys
    values: Values
    exponent: int


class Turn(NamedTuple):
    """Where the states after a phase went, once the classes that left were forgotten."""

    staying: Keys  # states that went on
    target: Keys  # and what they became


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Swept:
    """The count (times 2^exponent) and all layers, if they were kept."""

    sweep: ClassSweep
    total: Any
    exponent: int
    layers: list[Layer] | None
    ends: list[Keys]  # the states after the last chooser of each phase
    turns: list[Turn]

    def minors(self) -> tuple[Values, Any]:
        """Minors by chooser class and item class, and the exponents to scale them by.

        The choosers of a class are alike, so the last one's choices tell: the ways in which it
        takes some item of a class of m are m minors.
        """
        sweep, layers = self.sweep, self.layers
        assert layers is not None
        table = np.zeros_like(sweep.weights)
        exponents = np.zeros(sweep.weights.shape, dtype=np.int64)
        after = np.ones(1, dtype=sweep.weights.dtype)
        exponent = 0
        index = len(layers)
        for number in reversed(range(len(sweep.phases))):
            phase, turn = sweep.phases[number], self.turns[number]
            unfolded = np.zeros(len(self.ends[number]), dtype=after.dtype)
            unfolded[turn.staying] = after[turn.target]
            after, keys = unfolded, self.ends[number]
            for back in range(phase.size):
                index -= 1
                check_work()
                layer = layers[index]
                before = np.zeros(len(layer.keys), dtype=after.dtype)
                for item, source, target, left in _moves(sweep, phase, layer.keys, keys):
                    onward = left * after[target]
                    if back == 0:
                        sum_ = (layer.values[source] * onward).sum()
                        size = sweep.sizes[item]
                        table[phase.chooser, item] = sum_ // size if sweep.exact else sum_ / size
                        exponents[phase.chooser, item] = layer.exponent + exponent
                    before[source] += sweep.weights[phase.chooser, item] * onward
                after, shift = _scaled(before)
                exponent += shift
                keys = layer.keys
        return table, exponents


def run(sweep: ClassSweep, *, keep: bool) -> Swept:
    """Go through all layers, from nothing taken; without ``keep`` only two are there at a time.

    Raises SpreadError if floats spread so far that small ones would be lost.
    """
    if not sweep.exact:
        exponents = np.frexp(sweep.weights[sweep.weights > 0])[1]
        if np.abs(exponents).max() > LIMITS.class_farthest:
            raise SpreadError
    layers: list[Layer] = []
    ends: list[Keys] = []
    turns: list[Turn] = []
    keys = np.zeros(1, dtype=np.int64)
    values = np.ones(1, dtype=sweep.weights.dtype)
    exponent = 0
    for number, phase in enumerate(sweep.phases):
        for _ in range(phase.size):
            check_work()
            if keep:
                layers.append(Layer(number, keys, values, exponent))
            following = _successors(sweep, phase, keys)
            grown = np.zeros(len(following), dtype=values.dtype)
            for item, source, target, left in _moves(sweep, phase, keys, following):
                # Within one class targets differ, so that no addition is lost.
                grown[target] += values[source] * (left * sweep.weights[phase.chooser, item])
            values, shift = _scaled(grown)
            keys = following
            exponent += shift
        if keep:
            ends.append(keys)
        live = sweep.phases[number + 1].live if number + 1 < len(sweep.phases) else ()
        keys, turn = _turned(sweep, phase, keys, live)
        if keep:
            turns.append(turn)
        forgotten = np.zeros(len(keys), dtype=values.dtype)
        np.add.at(forgotten, turn.target, values[turn.staying])
        values = forgotten
    total = values[0] if len(values) else 0
    return Swept(
        sweep=sweep,
        total=total,
        exponent=exponent,
        layers=layers if keep else None,
        ends=ends,
        turns=turns,
    )


def _strides(sweep: ClassSweep, live: tuple[int, ...]) -> dict[int, int]:
    strides, stride = {}, 1
    for item in live:
        strides[item] = stride
        stride *= sweep.room[item] + 1
    return strides


def _taken(keys: Keys, stride: int, room: int) -> Keys:
    return keys // stride % (room + 1)


def _successors(sweep: ClassSweep, phase: Phase, keys: Keys) -> Keys:
    strides = _strides(sweep, phase.live)
    moved = [
        keys[_taken(keys, strides[item], sweep.room[item]) < sweep.room[item]] + strides[item]
        for item in phase.reach
    ]
    return np.unique(np.concatenate(moved))


def _moves(
    sweep: ClassSweep, phase: Phase, keys: Keys, following: Keys
) -> Iterator[tuple[int, Keys, Keys, Values]]:
    """For each class of items: source states, their successors, and how many items are left."""
    strides = _strides(sweep, phase.live)
    for item in phase.reach:
        stride, room = strides[item], sweep.room[item]
        taken = _taken(keys, stride, room)
        source = np.flatnonzero(taken < room)
        left = sweep.sizes[item] - taken
        target = np.searchsorted(following, keys[source] + stride)
        yield item, source, target, left[source].astype(sweep.weights.dtype)


def _turned(
    sweep: ClassSweep, phase: Phase, keys: Keys, live: tuple[int, ...]
) -> tuple[Keys, Turn]:
    """Forget the classes that leave (all taken, if every item must be) and admit new ones."""
    old, new = _strides(sweep, phase.live), _strides(sweep, live)
    staying = np.arange(len(keys))
    if sweep.exhaustive:
        for item in phase.leaving:
            size = sweep.sizes[item]  # and their room
            staying = staying[_taken(keys[staying], old[item], size) == size]
    renamed = np.zeros(len(staying), dtype=np.int64)
    for item in phase.live:
        if item not in phase.leaving:
            renamed += _taken(keys[staying], old[item], sweep.room[item]) * new[item]
    following, target = np.unique(renamed, return_inverse=True)
    return following, Turn(staying, target)


def _scaled(values: Values) -> tuple[Values, int]:
    """Values near 1 and the exponent taken out; refuses those that would be lost on the way.

    With weights within 2^+-400, a value of 2^-500 or more does not underflow in the next step.
    """
    if values.dtype == object or not len(values):
        return values, 0
    shift = int(np.frexp(values.max())[1])
    scaled = np.ldexp(values, -shift)
    if ((scaled < LIMITS.class_least) & (values > 0)).any():
        raise SpreadError
    return scaled, shift


def _greedy(reach: list[tuple[int, ...]], room: list[int], start: int) -> list[int]:
    """Next the chooser class that leaves the smallest product of live class sizes."""
    waiting = set(range(len(reach)))
    later = Counter(j for row in reach for j in row)
    sizes = [math.log(most + 1) for most in room]
    live: set[int] = set()
    order: list[int] = []
    k = start
    while True:
        order.append(k)
        waiting.remove(k)
        live.update(reach[k])
        later.subtract(reach[k])
        live.difference_update([j for j in reach[k] if not later[j]])
        if not waiting:
            return order
        k = min(waiting, key=lambda k: (_growth(reach[k], live, later, sizes), k))


def _phases(reach: list[tuple[int, ...]], choosers: list[int], order: list[int]) -> list[Phase]:
    later = Counter(j for row in reach for j in row)
    live: set[int] = set()
    phases: list[Phase] = []
    for k in order:
        live.update(reach[k])
        later.subtract(reach[k])
        leaving = tuple(j for j in reach[k] if not later[j])
        phases.append(Phase(k, choosers[k], tuple(sorted(live)), reach[k], leaving))
        live.difference_update(leaving)
    return phases


def _growth(
    reach: tuple[int, ...], live: set[int], later: Counter[int], sizes: list[float]
) -> float:
    opened = sum(sizes[j] for j in reach if j not in live)
    return opened - sum(sizes[j] for j in reach if later[j] == 1)


def _predicted(
    phases: list[Phase], room: list[int], exhaustive: bool
) -> tuple[float, float] | None:
    """States times choices over all layers, and the states of the largest one.

    None if a state needs more than 62 bits. The states of a layer have one number of taken items in
    all, or, when items of forgotten classes may be left over, at most so many.
    """
    operations, peak, done, forgotten = 0.0, 0.0, 0, 0
    for phase in phases:
        if math.prod(room[j] + 1 for j in phase.live) >= LIMITS.class_states:
            return None
        tally = np.ones(1)
        for j in phase.live:
            tally = np.convolve(tally, np.ones(room[j] + 1))
        upto = np.concatenate(([0.0], np.cumsum(tally)))
        for taken in range(done, done + phase.size + 1):
            most = min(taken, len(tally) - 1)
            least = max(taken - forgotten, 0)
            states = 0.0
            if exhaustive:
                states = float(tally[least]) if least < len(tally) else 0.0
            elif least <= most:
                states = float(upto[most + 1] - upto[least])
            peak = max(peak, states)
            if taken < done + phase.size:
                operations += states * len(phase.reach)
        done += phase.size
        forgotten += sum(room[j] for j in phase.leaving)
    return operations, peak

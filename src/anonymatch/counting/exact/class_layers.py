"""The layers of counting by classes: planned, swept forwards, and backwards for the minors.

A chooser takes one item of some class at a time; a state says how many items of each live class are
taken, as one integer in mixed radix. Exact counts are Python integers in object arrays, others
floats that are scaled by powers of two after each layer, which is exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.counting.exact.twins import MOST_CLASSES
from anonymatch.running import check_work

Values = npt.NDArray[Any]
Keys = npt.NDArray[np.int64]

_STATES = 1 << 62
_LEAST, _FARTHEST = 2.0**-500, 400  # of values beside the largest; exponents of weights


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
        if len(items) > MOST_CLASSES:
            return None
        exhaustive = sum(choosers) == sum(items)
        reach = [tuple(np.flatnonzero(row).tolist()) for row in weights]
        takers = (weights != 0).T @ np.array(choosers)
        room = [min(size, int(most)) for size, most in zip(items, takers, strict=True)]
        if any(math.prod(room[j] + 1 for j in row) >= _STATES for row in reach):
            return None  # in every order, and none has to be looked for
        starts = sorted(range(len(reach)), key=lambda k: math.prod(room[j] + 1 for j in reach[k]))
        best: tuple[float, float, list[Phase]] | None = None
        orders = [sorted(range(len(reach)), key=reach.__getitem__)]
        if len(reach) <= MOST_CLASSES:
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

    Raises
    ------
    SpreadError
        If floats spread so far that small ones would be lost.
    """
    if not sweep.exact:
        exponents = np.frexp(sweep.weights[sweep.weights > 0])[1]
        if np.abs(exponents).max() > _FARTHEST:
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
    if ((scaled < _LEAST) & (values > 0)).any():
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
        if math.prod(room[j] + 1 for j in phase.live) >= _STATES:
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

"""A dynamic programme over who wrote to whom: how much weight each class of matchings has.

Messages in that are alike (same sender, same edges) are spread at once over the kinds of messages
out (same receiver, same edges). A state tells how much of each kind is taken, and how many messages
each sender has sent to each receiver so far. Numbers are exact.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Ints
from anonymatch.graph import BlockTable, Graph
from anonymatch.running import Execution

__all__ = ["Classes", "ReceiverBlock", "ReceiverGroup"]

Classes = dict[int, int]
"""The weight of each class, by a number that tells how often each pair occurs."""

_STEP_SECONDS = 1.5e-6  # one way to spread alike messages in one state
_JOIN_SECONDS = 2e-7  # one class of a block with one of the blocks before
_STATE_BYTES = 220.0  # a state with its weight in a dictionary
_LARGEST = 690.0  # log of a number of states: far beyond any budget, and a double
_POLYNOMIAL = 1e6  # work to count ways to spread; beyond, a bound without it


class SenderRow(NamedTuple):
    """Messages in that are alike."""

    sender: int
    number: int
    edges: list[tuple[int, int]]  # kind and weight


@dataclass(frozen=True, slots=True)
class ReceiverBlock:
    """One block: alike messages in, and kinds of messages out."""

    rows: list[SenderRow]
    receivers: list[int]  # of each kind
    sizes: list[int]  # of each kind
    full: list[bool]  # whether all of each kind are taken, in every matching
    spare: bool  # more messages out than in

    @classmethod
    def of(
        cls,
        graph: Graph,
        table: BlockTable,
        k: int,
        sender_of: Ints,
        receiver_of: Ints,
        lost_slots: int = 0,
    ) -> ReceiverBlock:
        """Block k of the graph; senders and receivers are numbers.

        The last ``lost_slots`` behaviours are taken even where others are spare.
        """
        begin, end = table.user_offsets[k : k + 2].tolist()
        senders = sender_of[table.users[begin:end]].tolist()
        outs = table.behaviours[table.behaviour_offsets[k] : table.behaviour_offsets[k + 1]]
        rows: list[list[tuple[int, int]]] = []
        spare = len(outs) > len(senders)
        full = (outs >= graph.n_behaviours - lost_slots) | (not spare)
        columns: list[list[Any]] = [
            [*kind] for kind in zip(receiver_of[outs].tolist(), full.tolist(), strict=True)
        ]
        for i, (first, last) in enumerate(pairwise(table.row_offsets[begin : end + 1].tolist())):
            weights = _whole(graph, table.edges[first:last])
            rows.append(list(zip(table.local_indices[first:last].tolist(), weights, strict=True)))
            for j, weight in rows[-1]:
                columns[j].append((i, weight))
        kinds: dict[tuple[Any, ...], int] = {}
        kind = [kinds.setdefault(tuple(column), len(kinds)) for column in columns]
        # Those with the earliest kinds first: kinds fill up early.
        alike = Counter(
            (tuple(sorted({kind[j]: weight for j, weight in row}.items())), sender)
            for row, sender in zip(rows, senders, strict=True)
        )
        return cls(
            [
                SenderRow(sender, number, list(row))
                for (row, sender), number in sorted(alike.items())
            ],
            [column[0] for column in kinds],
            np.bincount(kind, minlength=len(kinds)).tolist(),
            [column[1] for column in kinds],
            spare,
        )

    def steps(self) -> list[float]:
        """For each row, a bound on the ways to spread it, in all states before it."""
        filled = self._filled()
        spread = Spread()
        opened: set[int] = set()
        states = used = 0.0  # logs
        steps = []
        for row, full in zip(self.rows, filled, strict=True):
            kinds = [kind for kind, _ in row.edges]
            free = [self.sizes[kind] for kind in kinds if kind not in full]
            before = min(states, used + spread.log)
            states = before + _log_choices(row.number, free, known=not full)
            steps.append(math.exp(min(states, _LARGEST)))
            spread.add(row.sender, row.number, [self.receivers[kind] for kind in kinds])
            used += sum(math.log(self.sizes[kind] + 1) for kind in kinds if kind not in opened)
            used -= sum(math.log(self.sizes[kind] + 1) for kind in full)
            opened.update(kinds)
        return steps

    def run(self, unit: Mapping[tuple[int, int], int], advance: Callable[[int], None]) -> Classes:
        """The weight of each class: a class is the sum of the units of its pairs."""
        shifts, at = [], 0
        for size in self.sizes:
            shifts.append(at)
            at += size.bit_length()
        states: Classes = {0: 1}
        for i, (row, full) in enumerate(zip(self.rows, self._filled(), strict=True)):
            # What must be filled comes first: it leaves no choice.
            edges = sorted(row.edges, key=lambda edge: edge[0] not in full)
            steps = [
                (1 << shifts[kind]) + (unit[row.sender, self.receivers[kind]] << at)
                for kind, _ in edges
            ]
            following: Classes = {}
            for state, count in states.items():
                free = [
                    self.sizes[kind]
                    - (state >> shifts[kind] & (1 << self.sizes[kind].bit_length()) - 1)
                    for kind, _ in edges
                ]
                for taken in _vectors(row.number, free, len(full)):
                    now, weight, left = state, count, row.number
                    for t, step, f, (_, w) in zip(taken, steps, free, edges, strict=True):
                        if t:
                            now += t * step
                            weight *= math.comb(left, t) * math.perm(f, t) * w**t
                            left -= t
                    following[now] = following.get(now, 0) + weight
            states = following
            advance(i)
        classes: Classes = {}
        for state, count in states.items():
            classes[state >> at] = classes.get(state >> at, 0) + count
        return classes

    def _filled(self) -> list[set[int]]:
        """For each row, the kinds that nobody after it can take, so that it has to fill them."""
        last = {kind: i for i, row in enumerate(self.rows) for kind, _ in row.edges}
        filled: list[set[int]] = [set() for _ in self.rows]
        for kind, i in last.items():
            if self.full[kind]:
                filled[i].add(kind)
        return filled


class ReceiverGroup:
    """Blocks that share a pair of sender and receiver; prices are known before anything runs."""

    def __init__(self, blocks: list[ReceiverBlock]) -> None:
        self.blocks = blocks
        self._steps = [block.steps() for block in blocks]
        self._joins = []
        together = Spread()
        square = True
        classes = most = 0.0  # logs of bounds
        for block in blocks:
            alone = Spread()
            for row in block.rows:
                receivers = [block.receivers[kind] for kind, _ in row.edges]
                alone.add(row.sender, row.number, receivers)
                together.add(row.sender, row.number, receivers)
            square &= not block.spare
            pairs = classes + alone.bound(square=not block.spare)
            self._joins.append(math.exp(min(pairs, _LARGEST)))
            classes = min(pairs, together.bound(square=square))
            most = max(most, classes)
        self.seconds = _STEP_SECONDS * sum(map(sum, self._steps)) + _JOIN_SECONDS * sum(self._joins)
        widest = max(max(steps) for steps in self._steps)
        self.memory = _STATE_BYTES * max(widest, math.exp(min(most, _LARGEST)))

    def run(self, effort: Execution) -> Classes:
        """The weight of each class of the whole group."""
        cells = sorted(
            {
                (row.sender, block.receivers[kind])
                for block in self.blocks
                for row in block.rows
                for kind, _ in row.edges
            }
        )
        messages = sum(row.number for block in self.blocks for row in block.rows)
        unit = {cell: 1 << messages.bit_length() * position for position, cell in enumerate(cells)}
        total: Classes = {0: 1}
        for block, steps, join in zip(self.blocks, self._steps, self._joins, strict=True):

            def advance(row: int, steps: list[float] = steps) -> None:
                effort.advance(_STEP_SECONDS * steps[row])

            counts = block.run(unit, advance)
            joined: Classes = {}
            for left, count in total.items():
                for right, others in counts.items():
                    joined[left + right] = joined.get(left + right, 0) + count * others
            total = joined
            effort.advance(_JOIN_SECONDS * join)
        return total


class Spread:
    """In how many ways senders can have spread what they sent over receivers: a bound, as a log.

    Examples
    --------
    >>> spread = Spread()
    >>> spread.add(0, 2, [5, 6])  # both to one, both to the other, or one each
    >>> round(math.exp(spread.log), 6)
    3.0
    """

    def __init__(self) -> None:
        self.log = 0.0
        self._sent: dict[int, int] = {}
        self._reach: dict[int, set[int]] = {}
        self._logs: dict[int, float] = {}

    def add(self, sender: int, number: int, receivers: list[int]) -> None:
        """The sender sent so many more, each to one of these."""
        self._sent[sender] = self._sent.get(sender, 0) + number
        reach = self._reach.setdefault(sender, set())
        reach.update(receivers)
        log = _log_multisets(self._sent[sender], len(reach))
        self.log += log - self._logs.get(sender, 0.0)
        self._logs[sender] = log

    def bound(self, *, square: bool) -> float:
        """If everything that came out was sent, one sender's part follows from the others'."""
        return max(self.log - max(self._logs.values(), default=0.0), 0.0) if square else self.log


def _vectors(number: int, free: list[int], full: int) -> Iterator[list[int]]:
    """All ways to take ``number`` from kinds with so much free; the first ``full`` are emptied."""
    forced = free[:full]
    left = number - sum(forced)
    room = [0]
    for size in reversed(free[full:]):
        room.append(room[-1] + size)
    room.reverse()  # room[k]: free in kind k and later ones
    if not 0 <= left <= room[0]:
        return

    def take(k: int, left: int, taken: list[int]) -> Iterator[list[int]]:
        if k == len(free) - full:
            yield taken
            return
        for t in range(max(0, left - room[k + 1]), min(left, free[full + k]) + 1):
            yield from take(k + 1, left - t, [*taken, t])

    yield from take(0, left, forced)


def _whole(graph: Graph, edges: npt.NDArray[Any]) -> list[int]:
    """Weights of one message's edges as whole numbers; a common factor of a row says nothing."""
    if graph.exact_weights is None:
        return [1] * len(edges)
    weights = graph.exact_weights[edges].tolist()
    common = math.lcm(*(weight.denominator for weight in weights))
    whole = [int(weight * common) for weight in weights]
    divisor = math.gcd(*whole)
    return [weight // divisor for weight in whole]


def _log_choices(number: int, sizes: list[int], *, known: bool) -> float:
    """Log of the ways to take ``number`` things of kinds with these sizes.

    If it is not known how many of them remain for these kinds: the most, over all numbers up to it.
    """
    if not sizes:
        return 0.0
    if number * len(sizes) * min(number, max(sizes)) > _POLYNOMIAL:
        return _log_multisets(number, len(sizes))
    coefficients, log = np.ones(1), 0.0  # coefficients of the product of 1 + x + ... + x^size
    for size in sizes:
        coefficients = np.convolve(coefficients, np.ones(min(size, number) + 1))[: number + 1]
        log += math.log(coefficients.max())
        coefficients /= coefficients.max()
    if not known:
        return log
    return (
        log + math.log(coefficients[number])
        if len(coefficients) > number and coefficients[number] > 0
        else 0.0
    )


def _log_multisets(number: int, kinds: int) -> float:
    """Log of the number of ways to choose ``number`` things of some kinds, with repetition."""
    return math.lgamma(number + kinds) - math.lgamma(kinds) - math.lgamma(number + 1)

"""Several messages a user: how unsure an attacker is about who wrote to whom, and how often.

The graph's users and behaviours are then messages that went in and came out. Matchings that agree
on how many messages each sender sent to each receiver form a class; what protects people is the
entropy over classes, not over matchings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import ROUNDING, Interval
from anonymatch.counting.measures.tuning import MEASURES
from anonymatch.graph import BlockTable, Graph, block_table
from anonymatch.running import Budget, Execution

Parties = Mapping[Any, Hashable] | Sequence[Hashable]
"""Who sent (or received) each message: by the message's name, or in the order of the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageClasses:
    """Entropy over who wrote to whom, in nats, and the classes it is of.

    ``groups`` has the weights of the classes (without weights: their numbers of matchings), one
    tuple per group of blocks; groups are independent of each other. Blocks in which nobody sends
    or receives twice are left out: there, classes are matchings.
    """

    entropy: Interval
    groups: tuple[tuple[int, ...], ...]


def message_classes(
    graph: Graph,
    senders: Parties,
    receivers: Parties,
    *,
    entropy_of: Callable[[Graph], Interval],
    budget: Budget,
    effort: Execution,
    lost_slots: int = 0,
) -> MessageClasses:
    """The entropy over classes, exactly, block by block (Gierlichs and others, WPES 2008).

    Users of the graph are messages in, its behaviours messages out. ``entropy_of`` gives the
    entropy of the matchings of a graph, for parts in which classes are matchings. The last
    ``lost_slots`` behaviours are places for lost messages: all of them are taken, even where some
    messages out are dummies. Raises BudgetError if the predicted cost exceeds the budget.
    """
    sender_of = _codes(senders, graph.users, "senders", "messages in")
    receiver_of = _codes(receivers, graph.behaviours, "receivers", "messages out")
    table = block_table(graph)
    plain, groups = _groups(table, sender_of, receiver_of, graph.n_behaviours - lost_slots)
    programmes = [
        ReceiverGroup(
            [ReceiverBlock.of(graph, table, k, sender_of, receiver_of, lost_slots) for k in group]
        )
        for group in groups
    ]
    seconds = sum(programme.seconds for programme in programmes)
    memory = max((programme.memory for programme in programmes), default=0.0)
    if not budget.allows(seconds, memory):
        raise budget.refusal("the classes of several messages a user", seconds, memory)
    effort.expect(seconds)
    entropy = Interval(0.0, 0.0, 0.0)
    if len(plain):
        entropy = entropy.plus(entropy_of(_part(graph, table, plain)))
    answers = []
    for programme in programmes:
        classes = programme.run(effort)
        answers.append(tuple(weight for _, weight in sorted(classes.items())))
        entropy = entropy.plus(_entropy(answers[-1]))
    return MessageClasses(entropy=entropy, groups=tuple(answers))


def _codes(parties: Parties, names: Sequence[Hashable], what: str, messages: str) -> Ints:
    """A number for each message: the same for the same party."""
    if isinstance(parties, str) or not isinstance(parties, Mapping | Sequence | np.ndarray):
        raise InputError(f"{what} must be a mapping or a list, one for each of the {messages}")
    if isinstance(parties, Mapping):
        missing = [name for name in names if name not in parties]
        if missing:
            raise InputError(f"{what} lack {missing[0]!r}; give one for each of the {messages}")
        given = [parties[name] for name in names]
    else:
        given = list(parties)
        if len(given) != len(names):
            raise InputError(
                f"{len(given)} {what} are given for {len(names)} {messages}; give one for each"
            )
    numbers: dict[Hashable, int] = {}
    try:
        return np.array([numbers.setdefault(party, len(numbers)) for party in given], np.int64)
    except TypeError:
        raise InputError(f"{what} must be names that can be compared, such as text") from None


def _groups(
    table: BlockTable, sender_of: Ints, receiver_of: Ints, n_out: int
) -> tuple[Ints, list[list[int]]]:
    """Blocks in which classes are matchings, and groups of other blocks that share a pair.

    Blocks that are one edge are in neither: they add the same pair to every class. From ``n_out``
    on behaviours are places: where others are spare, not every matching takes them all.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    users = np.repeat(table.users, np.diff(table.row_offsets))
    sizes = np.diff(table.edge_offsets)
    blocks = np.repeat(np.arange(table.n_blocks), sizes)
    offsets = table.behaviour_offsets[blocks] + table.local_indices
    receivers = receiver_of[table.behaviours[offsets]]
    cells = sender_of[users] * (int(receiver_of.max(initial=0)) + 1) + receivers
    open_edges = sizes[blocks] > 1
    _, cell = np.unique(cells[open_edges], return_inverse=True)
    block = blocks[open_edges]
    n = table.n_blocks
    size = n + int(cell.max(initial=-1)) + 1
    links = coo_array((np.ones(len(cell), np.int8), (block, n + cell)), shape=(size, size))
    label = connected_components(links, directed=False)[1][:n]
    repeats = _repeats(sender_of[table.users], table.user_offsets)
    repeats |= _repeats(receiver_of[table.behaviours], table.behaviour_offsets)
    spare = np.diff(table.behaviour_offsets) > np.diff(table.user_offsets)
    repeats |= spare & _any(table.behaviours >= n_out, table.behaviour_offsets)
    alone = np.bincount(label, minlength=n)[label] == 1
    plain = np.flatnonzero((sizes > 1) & alone & ~repeats)
    rest = np.flatnonzero((sizes > 1) & ~(alone & ~repeats))
    groups: dict[int, list[int]] = {}
    for k in rest.tolist():
        groups.setdefault(int(label[k]), []).append(k)
    return plain, list(groups.values())


def _repeats(parties: Ints, offsets: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether some party comes twice in a block."""
    blocks = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((parties, blocks))
    same = (np.diff(parties[order]) == 0) & (np.diff(blocks[order]) == 0)
    repeats = np.zeros(len(offsets) - 1, dtype=bool)
    repeats[blocks[order][1:][same]] = True
    return repeats


def _any(which: npt.NDArray[np.bool_], offsets: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether it is so of something in a block."""
    before: Ints = np.concatenate(([0], np.cumsum(which)))[offsets]
    return before[1:] > before[:-1]


def _part(graph: Graph, table: BlockTable, blocks: Ints) -> Graph:
    """The graph of some blocks."""
    chosen = np.zeros(table.n_blocks, dtype=bool)
    chosen[blocks] = True
    users = table.users[np.repeat(chosen, np.diff(table.user_offsets))]
    behaviours = table.behaviours[np.repeat(chosen, np.diff(table.behaviour_offsets))]
    return graph.take(np.sort(users), np.sort(behaviours))


def _entropy(weights: Sequence[int]) -> Interval:
    total = sum(weights)
    probabilities = (weight / total for weight in weights if weight < total)
    value = math.fsum(-p * math.log(p) for p in probabilities if p > 0)
    return Interval(value, value * (1 - ROUNDING), value * (1 + ROUNDING))


Classes = dict[int, int]
"""The weight of each class, by a number that tells how often each pair occurs."""


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
            steps.append(math.exp(min(states, MEASURES.largest)))
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
            self._joins.append(math.exp(min(pairs, MEASURES.largest)))
            classes = min(pairs, together.bound(square=square))
            most = max(most, classes)
        self.seconds = MEASURES.step_seconds * sum(
            map(sum, self._steps)
        ) + MEASURES.join_seconds * sum(self._joins)
        widest = max(max(steps) for steps in self._steps)
        self.memory = MEASURES.state_bytes * max(widest, math.exp(min(most, MEASURES.largest)))

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
                effort.advance(MEASURES.step_seconds * steps[row])

            counts = block.run(unit, advance)
            joined: Classes = {}
            for left, count in total.items():
                for right, others in counts.items():
                    joined[left + right] = joined.get(left + right, 0) + count * others
            total = joined
            effort.advance(MEASURES.join_seconds * join)
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
    if number * len(sizes) * min(number, max(sizes)) > MEASURES.polynomial:
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

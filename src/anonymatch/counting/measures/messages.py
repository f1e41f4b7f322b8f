"""Several messages a user: how unsure an attacker is about who wrote to whom, and how often.

The graph's users and behaviours are then messages that went in and came out. Matchings that agree
on how many messages each sender sent to each receiver form a class; what protects people is the
entropy over classes, not over matchings.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import ROUNDING, Interval
from anonymatch.counting.measures.class_programme import ReceiverBlock, ReceiverGroup
from anonymatch.graph import BlockTable, Graph, block_table
from anonymatch.running import Budget, Execution

__all__ = ["MessageClasses", "Parties", "message_classes"]

Parties = Mapping[Any, Hashable] | Sequence[Hashable]
"""Who sent (or received) each message: by the message's name, or in the order of the graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageClasses:
    """Entropy over who wrote to whom, in nats, and the classes it is of.

    Attributes
    ----------
    entropy : Figure
    groups : tuple
        The weights of the classes (without weights: their numbers of matchings), a tuple a group
        of blocks; groups are independent of each other. Blocks in which nobody sends or receives
        twice are left out: there, classes are matchings.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.metrics(am.complete(4), messages=(list("AABB"), list("XXYY"))).messages.groups
    ((4, 16, 4),)
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
    """The entropy over classes, exactly, block by block.

    Parameters
    ----------
    graph : Graph
        Its users are messages in, its behaviours messages out; with a perfect matching.
    senders, receivers
        Who sent each message in, and who received each message out.
    entropy_of
        The entropy of the matchings of a graph, for parts in which classes are matchings.
    budget, effort
        Refused with BudgetError if the programme's predicted cost exceeds the budget.
    lost_slots
        So many of the last behaviours are places for lost messages: all of them are taken, even
        where some messages out are nobody's.

    References
    ----------
    .. [1] Gierlichs, Troncoso, Diaz, Preneel, Verbauwhede. Revisiting a combinatorial approach
       toward measuring anonymity. Workshop on Privacy in the Electronic Society, 2008.
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

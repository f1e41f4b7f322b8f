"""Tree: all that exposures can lead to, with equal blocks as one node, for exact best play.

Values are kept in whole numbers. With M the matchings of a position and V the expected number left
after t more exposures by the best attacker, W = M V obeys

    W(position, t) = min over users x of the sum over behaviours y of W(position without x, y, t-1)

and W(position, 0) = M^2; weights enter as the square of what was revealed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from anonymatch.attacks.shapes import Ints, Shape, Shapes, Whole
from anonymatch.counting.rook import canonical
from anonymatch.effort import Budget
from anonymatch.errors import BudgetError
from anonymatch.graph.bipartite import Graph

__all__ = ["Move", "Node", "Tree"]

Nodes = tuple[int, ...]
"""The blocks of a position: numbers of nodes, increasing."""

# Measured on one core.
_NODE_SECONDS = 1.5e-3  # to expand a node
_NODE_BYTES = 4000.0
_POSITION_SECONDS = 2e-5  # to value a position of several blocks
_TOGETHER = 200  # edges of a block up to which all that it can become is found at once
_PROBE = 2000  # nodes that are tried before a tree that could be too large is refused


@dataclass(frozen=True, slots=True)
class Branch:
    """One outcome of an exposure, up to equal ones."""

    copies: int
    scale: int | Fraction  # weights of the pairs that are revealed or forced
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Move:
    """Exposing one of some users who are alike."""

    users: tuple[int, ...]
    branches: tuple[Branch, ...]
    share: Fraction  # of the matchings, left on average


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A block, relabelled so that isomorphic blocks are mostly one node."""

    total: int | Fraction
    moves: tuple[Move, ...]


class Tree:
    """Nodes for all blocks that exposures leave, made as they are met."""

    def __init__(self, shapes: Shapes, budget: Budget) -> None:
        self._shapes, self._budget = shapes, budget
        self._number: dict[Shape, int] = {}
        self._nodes: list[Node] = []
        self._found: dict[Shape, tuple[int, list[int]]] = {}
        self._best: dict[tuple[Nodes, int], int | Fraction] = {}
        self._greedy: dict[tuple[Nodes, int], int | Fraction] = {}
        self._reveals: dict[int, Fraction] = {}
        self._most_nodes = self._most_positions = 0.0
        self._predicted = 0.0

    def allow(self, blocks: Iterable[tuple[Shape, int]], *, together: bool = True) -> None:
        """Predict the size of the tree for these shapes and how often each comes.

        ``together``: positions of several blocks are valued, not only each block for itself.

        Where the most that it could be is beyond the budget, a beginning is tried: symmetric
        graphs have far fewer positions than the bound says.
        """
        bounds = [(_most_nodes(shape), copies) for shape, copies in blocks]
        nodes = sum(bound for bound, _ in bounds)
        logs = sum(_log_multisets(bound, copies) for bound, copies in bounds)
        positions = math.exp(min(logs, 600.0)) if together else 0.0
        self._predicted = nodes * _NODE_SECONDS + positions * _POSITION_SECONDS
        fits = self._budget.allows(self._predicted, (nodes + positions) * _NODE_BYTES)
        seconds = self._budget.seconds
        self._most_nodes = math.inf if fits else min(_PROBE, seconds / _NODE_SECONDS)
        self._most_positions = math.inf if fits else min(_PROBE * 25, seconds / _POSITION_SECONDS)

    def node(self, shape: Shape) -> tuple[int, list[int]]:
        """The node of a shape, and the node's user for each user of the shape."""
        known = self._found.get(shape)
        if known is None:
            form, users = self._canonical(shape)
            number = self._number.get(form)
            if number is None:
                if len(self._nodes) >= self._most_nodes:
                    raise self._refusal()
                made = self._expand(form)
                number = self._number[form] = len(self._nodes)
                self._nodes.append(made)
            known = self._found[shape] = number, users
        return known

    def __getitem__(self, number: int) -> Node:
        return self._nodes[number]

    def position(self, shapes: Iterable[Shape]) -> Nodes:
        """The position of these blocks."""
        return tuple(sorted(self.node(shape)[0] for shape in shapes))

    def total(self, nodes: Nodes) -> int | Fraction:
        """Matchings of a position."""
        return math.prod(self[number].total for number in nodes)

    # ---- values

    def best(self, nodes: Nodes, steps: int) -> int | Fraction:
        """M times the expected matchings left after best play."""
        return self._value(nodes, steps, self._best, self.best, self.moves)

    def greedy(self, nodes: Nodes, steps: int) -> int | Fraction:
        """The same for the greedy attacker, ties broken in the attacker's favour."""
        return self._value(nodes, steps, self._greedy, self.greedy, self.greedy_moves)

    def reveals(self, number: int) -> Fraction:
        """Least expected number of exposures until one matching of a node is left."""
        known = self._reveals.get(number)
        if known is None:
            node = self[number]
            known = 1 + min(self._reveals_after(move) for move in node.moves) / node.total
            self._reveals[number] = known
        return known

    def _reveals_after(self, move: Move) -> Fraction:
        """Expected number of further exposures after a move, times the matchings before it."""
        found = Fraction(0)
        for branch in move.branches:
            ways = branch.copies * branch.scale * self.total(branch.nodes)
            found += ways * sum(self.reveals(part) for part in branch.nodes)
        return found

    def moves(self, nodes: Nodes) -> Iterator[tuple[int, Move]]:
        """Every move, with the node that it is in."""
        for number in dict.fromkeys(nodes):
            for move in self[number].moves:
                yield number, move

    def greedy_moves(self, nodes: Nodes) -> Iterator[tuple[int, Move]]:
        """The moves that leave the fewest matchings on average."""
        least = min(move.share for _, move in self.moves(nodes))
        return ((number, move) for number, move in self.moves(nodes) if move.share == least)

    def after(
        self,
        nodes: Nodes,
        number: int,
        move: Move,
        value: Callable[[Nodes], int | Fraction],
    ) -> int | Fraction:
        """The sum over outcomes of a move of the value of what is left."""
        rest = list(nodes)
        rest.remove(number)
        return sum(
            branch.copies * branch.scale**2 * value(tuple(sorted((*rest, *branch.nodes))))
            for branch in move.branches
        )

    def _value(
        self,
        nodes: Nodes,
        steps: int,
        known: dict[tuple[Nodes, int], int | Fraction],
        value: Callable[[Nodes, int], int | Fraction],
        moves: Callable[[Nodes], Iterator[tuple[int, Move]]],
    ) -> int | Fraction:
        if steps == 0 or not nodes:
            return self.total(nodes) ** 2
        if (nodes, steps) not in known:
            if len(known) >= self._most_positions:
                raise self._refusal()
            known[nodes, steps] = min(
                self.after(nodes, number, move, lambda left: value(left, steps - 1))
                for number, move in moves(nodes)
            )
        return known[nodes, steps]

    # ---- nodes

    def _canonical(self, shape: Shape) -> tuple[Shape, list[int]]:
        graph = shape.graph
        if graph.weighted:  # relabelling knows no weights
            return shape, list(range(graph.n_users))
        ends = graph.indptr.tolist()
        columns = graph.indices.tolist()
        rows, users, _ = canonical([columns[a:b] for a, b in pairwise(ends)])
        return self._shapes.shape(Graph.from_rows(rows)), users

    def _expand(self, shape: Shape) -> Node:
        moves = []
        total: int | Fraction = 0
        choices = [(alike, shape.groups(alike[0])) for alike in _groups(shape.twins[0])]
        if shape.graph.n_edges <= _TOGETHER:
            firsts = [group[0] for _, groups in choices for group in groups]
            self._shapes.splits(shape, firsts)
        for alike, groups in choices:
            splits = self._shapes.splits(shape, [group[0] for group in groups])
            branches = tuple(
                Branch(
                    copies=len(group),
                    scale=self._scale(shape, group[0], split.forced),
                    nodes=self.position(part.shape for part in split.parts),
                )
                for group, split in zip(groups, splits, strict=True)
            )
            parts = [branch.scale * self.total(branch.nodes) for branch in branches]
            copies = [branch.copies for branch in branches]
            total = sum(c * part for c, part in zip(copies, parts, strict=True))
            squares = sum(c * part * part for c, part in zip(copies, parts, strict=True))
            moves.append(Move(tuple(alike), branches, Fraction(squares) / (total * total)))
        return Node(total, tuple(moves))

    def _scale(self, shape: Shape, edge: int, forced: Sequence[tuple[int, int]]) -> int | Fraction:
        weights = shape.graph.exact_weights
        if weights is None:
            return 1
        edges = [edge, *(shape.edge(user, behaviour) for user, behaviour in forced)]
        scale: int | Fraction = math.prod(weights[k] for k in edges if k is not None)
        return scale

    def _refusal(self) -> BudgetError:
        memory = self._predicted / _NODE_SECONDS * _NODE_BYTES
        return self._budget.refusal("best play over all outcomes", self._predicted, memory)


def _groups(labels: Ints) -> list[list[int]]:
    """Places of equal labels, in the order of their first."""
    groups: dict[int, list[int]] = {}
    for place, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(place)
    return list(groups.values())


def _most_nodes(shape: Shape) -> float:
    """Blocks that exposures could leave: as many users as behaviours are gone, up to twins."""
    users, behaviours = (_choices(labels) for labels in shape.twins)
    return float(sum(a * b for a, b in zip(users, behaviours, strict=False)))


def _choices(labels: Ints) -> list[float]:
    """Ways to take k of some things of which equal labels are alike, for k = 0, 1, ..."""
    ways = np.ones(1)
    for size in np.bincount(labels).tolist():
        ways = np.convolve(ways, np.ones(size + 1))
    return [float(value) for value in ways]


def _log_multisets(kinds: float, copies: int) -> float:
    """Natural log of the ways to choose one of ``kinds`` for each of ``copies`` that are alike."""
    return math.lgamma(kinds + copies) - math.lgamma(kinds) - math.lgamma(copies + 1)


def whole_shapes(whole: Whole) -> list[tuple[Shape, int]]:
    """Shapes of the blocks that are in doubt, and how often each comes."""
    copies = np.bincount(whole.table.class_of_block, minlength=len(whole.shapes)).tolist()
    pairs = zip(whole.shapes, copies, strict=True)
    return [(shape, number) for shape, number in pairs if not shape.settled]

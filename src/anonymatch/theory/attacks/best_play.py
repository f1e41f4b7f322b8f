"""adaptive() and reveals_needed(): the best attackers, exactly, over all that can be revealed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import several
from anonymatch.counting import canonical
from anonymatch.graph import Graph
from anonymatch.running import Budget
from anonymatch.theory.attacks.residual import Ints, Residual, Residuals
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = ["Adaptive", "Move", "Node", "Tree", "adaptive", "reveals_needed"]

Nodes = tuple[int, ...]
"""The blocks of a position: numbers of nodes, increasing."""


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

    def __init__(self, shapes: Residuals, budget: Budget) -> None:
        self._shapes, self._budget = shapes, budget
        self._number: dict[Residual, int] = {}
        self._nodes: list[Node] = []
        self._known: dict[Residual, tuple[int, list[int]]] = {}
        self._best: dict[tuple[Nodes, int], int | Fraction] = {}
        self._greedy: dict[tuple[Nodes, int], int | Fraction] = {}
        self._reveals: dict[int, Fraction] = {}
        self._most_nodes = self._most_positions = 0.0
        self._predicted = 0.0

    def allow(self, blocks: Iterable[tuple[Residual, int]], *, together: bool = True) -> None:
        """Predict the size of the tree for these shapes and how often each comes.

        ``together``: positions of several blocks are valued, not only each block for itself.

        Where the most that it could be is beyond the budget, a beginning is tried: symmetric
        graphs have far fewer positions than the bound says.
        """
        tuning = attack_tuning()
        bounds = [(_most_nodes(shape), copies) for shape, copies in blocks]
        nodes = sum(bound for bound, _ in bounds)
        logs = sum(_log_multisets(bound, copies) for bound, copies in bounds)
        positions = math.exp(min(logs, 600.0)) if together else 0.0
        self._predicted = nodes * tuning.node + positions * tuning.position
        seconds, memory = self._budget.seconds, (nodes + positions) * tuning.node_bytes
        self._most_nodes = self._most_positions = math.inf
        if not self._budget.allows(self._predicted, memory):
            self._most_nodes = min(tuning.probe, seconds / tuning.node)
            self._most_positions = min(tuning.probe * 25, seconds / tuning.position)

    def node(self, shape: Residual) -> tuple[int, list[int]]:
        """The node of a shape, and the node's user for each user of the shape."""
        known = self._known.get(shape)
        if known is None:
            form, users = self._canonical(shape)
            number = self._number.get(form)
            if number is None:
                if len(self._nodes) >= self._most_nodes:
                    raise self._refusal()
                made = self._expand(form)
                number = self._number[form] = len(self._nodes)
                self._nodes.append(made)
            known = self._known[shape] = number, users
        return known

    def __getitem__(self, number: int) -> Node:
        return self._nodes[number]

    def position(self, shapes: Iterable[Residual]) -> Nodes:
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
        revealed = Fraction(0)
        for branch in move.branches:
            matchings = branch.copies * branch.scale * self.total(branch.nodes)
            revealed += matchings * sum(self.reveals(part) for part in branch.nodes)
        return revealed

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

    def _canonical(self, shape: Residual) -> tuple[Residual, list[int]]:
        graph = shape.graph
        if graph.weighted:  # relabelling knows no weights
            return shape, list(range(graph.n_users))
        ends = graph.indptr.tolist()
        columns = graph.indices.tolist()
        rows, users, _ = canonical([columns[a:b] for a, b in pairwise(ends)])
        return self._shapes.shape(Graph.from_rows(rows)), users

    def _expand(self, shape: Residual) -> Node:
        moves = []
        total: int | Fraction = 0
        choices = [(alike, shape.groups(alike[0])) for alike in _groups(shape.twins[0])]
        if shape.graph.n_edges <= attack_tuning().together:
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

    def _scale(
        self, shape: Residual, edge: int, forced: Sequence[tuple[int, int]]
    ) -> int | Fraction:
        weights = shape.graph.exact_weights
        if weights is None:
            return 1
        edges = [edge, *(shape.edge(user, behaviour) for user, behaviour in forced)]
        scale: int | Fraction = math.prod(weights[k] for k in edges if k is not None)
        return scale

    def _refusal(self) -> BudgetError:
        memory = self._predicted / attack_tuning().node * attack_tuning().node_bytes
        return self._budget.refusal("best play over all outcomes", self._predicted, memory)


def _groups(labels: Ints) -> list[list[int]]:
    """Places of equal labels, in the order of their first."""
    groups: dict[int, list[int]] = {}
    for position, label in enumerate(labels.tolist()):
        groups.setdefault(label, []).append(position)
    return list(groups.values())


def _most_nodes(shape: Residual) -> float:
    """Blocks that exposures could leave: as many users as behaviours are gone, up to twins."""
    users, behaviours = (_choices(labels) for labels in shape.twins)
    return float(sum(a * b for a, b in zip(users, behaviours, strict=False)))


def _choices(labels: Ints) -> list[float]:
    """Ways to take k of some things of which equal labels are alike, for k = 0, 1, ..."""
    choices = np.ones(1)
    for size in np.bincount(labels).tolist():
        choices = np.convolve(choices, np.ones(size + 1))
    return [float(value) for value in choices]


def _log_multisets(kinds: float, copies: int) -> float:
    """Natural log of the ways to choose one of ``kinds`` for each of ``copies`` that are alike."""
    return math.lgamma(kinds + copies) - math.lgamma(kinds) - math.lgamma(copies + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptive:
    """Expected matchings left after 0, 1, 2, ... exposures, exactly.

    Attributes
    ----------
    optimal : tuple of Fraction
        The least that any attacker can reach who thinks again after every exposure; each number
        of exposures for itself, so that no one way of play need reach all of them.
    greedy : tuple of Fraction
        The attacker who takes the best next step. Where several are best, the one that serves the
        attacker best later on.

    Examples
    --------
    >>> import anonymatch as am
    >>> both = am.adaptive(am.Graph.from_rows(["11011", "11011", "10111", "10111", "01111"]))
    >>> str(both.optimal[2]), str(both.greedy[2])
    ('61/20', '18/5')
    """

    optimal: tuple[Fraction, ...]
    greedy: tuple[Fraction, ...]


def adaptive(
    graph: Graph, *, steps: int | None = None, budget: Budget | float | None = None
) -> Adaptive:
    """Expected matchings left for the best attacker and for the greedy one, exactly.

    All outcomes of all exposures are looked at, with equal blocks as one: for small graphs, or
    symmetric ones.

    Parameters
    ----------
    graph : Graph
        Weights are taken as the exact rationals that they are.
    steps : int, optional
        Exposures to go to. Default: as many as could matter, so the number of users less one
        (all users if there are more behaviours than users).
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching.
    BudgetError
        If there could be too many positions, and there are more than a beginning reaches.

    Examples
    --------
    >>> import anonymatch as am
    >>> [str(left) for left in am.adaptive(am.crown(4)).optimal]
    ['9', '3', '1', '1']
    """
    if steps is not None and whole(steps, "steps") > graph.n_users:
        users = several(graph.n_users, "user")
        raise InputError(f"{several(steps, 'step')}, but the graph has only {users}")
    tree, nodes = _tree(graph, budget)
    square = graph.n_users == graph.n_behaviours
    most = graph.n_users - int(square and graph.n_users > 0) if steps is None else steps
    total = tree.total(nodes)
    scale = _settled(graph) if graph.weighted else 1
    values = (
        tuple(Fraction(value(nodes, t)) / total * scale for t in range(most + 1))
        for value in (tree.best, tree.greedy)
    )
    return Adaptive(optimal=next(values), greedy=next(values))


def reveals_needed(graph: Graph, *, budget: Budget | float | None = None) -> Fraction:
    """Least expected number of exposures until one matching is left: everybody is identified.

    Blocks add up, because each has to be finished on its own.

    Parameters
    ----------
    graph : Graph
    budget : float or Budget, optional
        As for :func:`adaptive`.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching.
    BudgetError
        If there could be too many positions, and there are more than a beginning reaches.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.reveals_needed(am.complete(5)), am.reveals_needed(am.crown(5))
    (Fraction(4, 1), Fraction(3, 1))
    >>> am.reveals_needed(am.Graph.from_rows(["0111", "1111", "1111", "1111"]))
    Fraction(8, 3)
    """
    tree, nodes = _tree(graph, budget, together=False)
    return sum((tree.reveals(number) for number in nodes), Fraction(0))


def _tree(
    graph: Graph, budget: Budget | float | None, *, together: bool = True
) -> tuple[Tree, Nodes]:
    """The tree of a graph, and its position; ``together``: blocks are played at the same time."""
    shapes = Residuals(budget=budget)
    present = shapes.whole(graph).open_shapes()
    tree = Tree(shapes, Budget.of(budget))
    tree.allow(present, together=together)
    blocks = [shape for shape, copies in present for _ in range(copies)]
    return tree, tree.position(blocks)


def _settled(graph: Graph) -> int | Fraction:
    """Product of the weights of the pairs that are forced from the start."""
    from anonymatch.graph import forced

    weights = graph.exact_weights
    assert weights is not None
    product: int | Fraction = 1
    for user, behaviour in forced(graph):
        row = graph.user_index(user)
        begin, end = graph.indptr[row : row + 2].tolist()
        columns = graph.indices[begin:end].tolist()
        product *= weights[begin + columns.index(graph.behaviour_index(behaviour))]
    return product

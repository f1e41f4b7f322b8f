"""Residuals: blocks without names. Equal blocks have one, which is solved once and split once.

Everything an exposure does happens inside one block: the others keep their matchings, and the count
of the whole graph is multiplied by a ratio that the block alone decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import BudgetError
from anonymatch.counting import (
    ClassSolution,
    SolutionCost,
    log_of,
    members_of_classes,
    solve_classes,
)
from anonymatch.graph import BlockTable, Edges, Graph, Names, block_table, pointers, settle
from anonymatch.running import Budget
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = ["Block", "Residual", "Residuals", "Split", "Spot", "Whole", "log_of_share", "rounded"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def rounded(value: float) -> float:
    """Round to the digits that make numbers in doubles equal or different."""
    return float(f"{value:.{attack_tuning().equal_digits - 1}e}")


def log_of_share(share: Fraction | float) -> float:
    """Natural log of a positive share of any size."""
    return log_of(share) if isinstance(share, Fraction) else float(np.log(share))


class Residual:
    """A block in indices of its own, and what exposing each of its users would leave."""

    def __init__(self, graph: Graph, owner: Residuals) -> None:
        self.graph = graph
        self._owner = owner
        self._answer: ClassSolution | None = None

    @property
    def n_users(self) -> int:
        return self.graph.n_users

    @property
    def settled(self) -> bool:
        """Whether it is one user with one behaviour."""
        return self.graph.n_users == self.graph.n_behaviours == 1

    @property
    def answer(self) -> ClassSolution:
        """Its count and the probabilities of its edges."""
        if self._answer is None:
            solutions, table = self._owner.solve(self.graph)
            self._answer = solutions[0].reordered(table.edges)
        return self._answer

    @answer.setter
    def answer(self, known: ClassSolution) -> None:
        self._answer = known

    @property
    def exact(self) -> bool:
        return self.answer.total is not None

    @cached_property
    def rows(self) -> Ints:
        """The user of each edge."""
        return self.graph.rows().astype(np.int64)

    def edges_of(self, user: int) -> range:
        begin, end = self.graph.indptr[user : user + 2].tolist()
        return range(begin, end)

    def edge(self, user: int, behaviour: int) -> int | None:
        """Place of an edge, or None if the two share none."""
        edges = self.edges_of(user)
        offset = np.searchsorted(self.graph.indices[edges.start : edges.stop], behaviour)
        edge = edges.start + int(offset)
        return edge if edge in edges and self.graph.indices[edge] == behaviour else None

    def probability(self, edge: int) -> Fraction | float:
        """Probability of an edge: also the share of the matchings that its exposure leaves."""
        if self.settled:
            return Fraction(1)
        answer = self.answer
        if answer.through is None or answer.total is None:
            return float(answer.probabilities[edge])
        return Fraction(int(answer.through[edge]), answer.total)

    @cached_property
    def float_shares(self) -> Floats:
        """For each user, the share of the matchings that the user's exposure leaves on average."""
        return np.add.reduceat(self.answer.probabilities**2, self.graph.indptr[:-1])

    @cached_property
    def _squares(self) -> list[int]:
        """The same in integers, over the square of the count."""
        return self.answer.sums_of_squares(self.rows, self.n_users)

    def share(self, user: int) -> Fraction | float:
        if self.settled:
            return Fraction(1)
        total = self.answer.total
        if total is None:
            return float(self.float_shares[user])
        return Fraction(self._squares[user], total * total)

    @cached_property
    def entropies(self) -> Floats:
        """Shannon entropy of each user's probabilities, in nats."""
        probabilities = self.answer.probabilities
        logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
        entropies: Floats = np.maximum(
            -np.add.reduceat(probabilities * logs, self.graph.indptr[:-1]), 0
        )
        return entropies

    @cached_property
    def best_guesses(self) -> Floats:
        """The largest probability of each user."""
        guesses: Floats = np.maximum.reduceat(self.answer.probabilities, self.graph.indptr[:-1])
        return guesses

    @cached_property
    def least_share(self) -> tuple[Fraction | float, Ints]:
        """The smallest share, and the users who have it."""
        if self.exact:
            least = min(self._squares)
            users = np.array([x for x, value in enumerate(self._squares) if value == least])
            return self.share(int(users[0])), users
        shares = np.array([rounded(value) for value in self.float_shares.tolist()])
        return float(shares.min()), np.flatnonzero(shares == shares.min())

    @cached_property
    def most_entropy(self) -> tuple[float, Ints]:
        """Minus the largest entropy of a user, and the users who have it."""
        entropies = np.array([rounded(value) for value in self.entropies.tolist()])
        return -float(entropies.max()), np.flatnonzero(entropies == entropies.max())

    @cached_property
    def twins(self) -> tuple[Ints, Ints]:
        """A number for each user and each behaviour, the same for those that are alike.

        Exposing a user as one behaviour or as its twin leaves equal graphs.
        """
        graph = self.graph
        weights = graph.weights if graph.exact_weights is None else graph.exact_weights
        order = np.argsort(graph.indices, kind="stable")
        borders = pointers(graph.indices[order], graph.n_behaviours)
        users = _alike(graph.indices, weights, graph.indptr)
        behaviours = _alike(
            graph.rows()[order], None if weights is None else weights[order], borders
        )
        return users, behaviours

    @cached_property
    def outcomes(self) -> Ints:
        """A number for each edge, the same for edges of a user to behaviours that are alike."""
        _, twins = self.twins
        codes: Ints = self.rows * (int(twins.max()) + 1) + twins[self.graph.indices]
        return codes

    def groups(self, user: int) -> list[list[int]]:
        """The user's edges, those together whose behaviours are alike."""
        groups: dict[int, list[int]] = {}
        for edge in self.edges_of(user):
            groups.setdefault(int(self.outcomes[edge]), []).append(edge)
        return list(groups.values())

    @property
    def most_outcomes(self) -> int:
        """Most behaviours of one user of which no two are alike."""
        _, first = np.unique(self.outcomes, return_index=True)
        return int(np.bincount(self.rows[first]).max())


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A block inside a larger graph: its shape, and which users and behaviours it has there."""

    users: Ints
    behaviours: Ints
    shape: Residual

    def inside(self, outer: Block) -> Block:
        """The same block in the graph of the block that it is a part of."""
        return Block(outer.users[self.users], outer.behaviours[self.behaviours], self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Where a user is: in which block, and as which of its users."""

    user: int
    number: int
    block: Block

    @classmethod
    def of(cls, user: int, number: int, block: Block) -> Spot:
        """Find a user of the graph in a block."""
        return cls(int(np.flatnonzero(block.users == user)[0]), number, block)

    @property
    def shape(self) -> Residual:
        return self.block.shape

    @property
    def share(self) -> Fraction | float:
        """Share of the matchings that exposing the user leaves on average."""
        return self.shape.share(self.user)

    @property
    def entropy(self) -> float:
        """Shannon entropy of the user's probabilities, in nats."""
        return float(self.shape.entropies[self.user])

    def edge(self, behaviour: int) -> int | None:
        """The block's edge between the user and a behaviour of the graph, if there is one."""
        matches = np.flatnonzero(self.block.behaviours == behaviour)
        return self.shape.edge(self.user, int(matches[0])) if len(matches) else None

    def groups(self) -> list[list[int]]:
        """The user's edges, those together whose behaviours are alike."""
        return self.shape.groups(self.user)

    def behaviour(self, edge: int) -> int:
        """The behaviour, in the graph, of an edge of the block."""
        return int(self.block.behaviours[self.shape.graph.indices[edge]])


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """What is left of a block after an exposure, in its indices: blocks, and forced pairs."""

    parts: tuple[Block, ...]
    forced: tuple[tuple[int, int], ...]

    @property
    def n_edges(self) -> int:
        """Edges that are still in some matching."""
        return len(self.forced) + sum(part.shape.graph.n_edges for part in self.parts)


@dataclass(frozen=True, eq=False)
class Whole:
    """The blocks of a graph, and the shape of each class of equal ones."""

    graph: Graph
    table: BlockTable
    shapes: list[Residual]
    owner: Residuals

    def shape(self, number: int) -> Residual:
        return self.shapes[int(self.table.class_of_block[number])]

    def block(self, number: int) -> Block:
        table = self.table
        users = table.users[slice(*table.user_offsets[number : number + 2])]
        behaviours = table.behaviours[slice(*table.behaviour_offsets[number : number + 2])]
        return Block(users.astype(np.int64), behaviours.astype(np.int64), self.shape(number))

    def spot(self, user: int) -> Spot:
        """Where a user is before any exposure."""
        number = int(self.block_of_user[user])
        return Spot.of(user, number, self.block(number))

    def members(self) -> Iterable[tuple[Residual, Ints, Ints]]:
        """Each shape with its blocks, and their users: one row per block."""
        table = self.table
        for shape, blocks in zip(self.shapes, members_of_classes(table), strict=True):
            cells = table.user_offsets[blocks][:, None] + np.arange(shape.n_users)
            yield shape, blocks, table.users[cells].astype(np.int64)

    def open_shapes(self) -> list[tuple[Residual, int]]:
        """Shapes of the blocks that are in doubt, and how often each occurs."""
        copies = np.bincount(self.table.class_of_block, minlength=len(self.shapes)).tolist()
        pairs = zip(self.shapes, copies, strict=True)
        return [(shape, number) for shape, number in pairs if not shape.settled]

    @cached_property
    def block_of_user(self) -> Ints:
        table = self.table
        blocks = np.empty(self.graph.n_users, dtype=np.int64)
        blocks[table.users] = np.repeat(np.arange(table.n_blocks), np.diff(table.user_offsets))
        return blocks

    @cached_property
    def columns(self) -> tuple[Ints, Ints]:
        """Users of each behaviour: where each behaviour begins, and the users."""
        order = np.argsort(self.graph.indices, kind="stable")
        borders = pointers(self.graph.indices[order], self.graph.n_behaviours)
        return borders.astype(np.int64), self.graph.rows()[order].astype(np.int64)


class Residuals:
    """All shapes met so far, and how they are solved."""

    def __init__(
        self,
        *,
        exact: bool | None = None,
        budget: Budget | float | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._runs = 1
        self._exact, self._budget, self._executor = bool(exact), Budget.of(budget), executor
        self._left = self._budget.seconds
        self.price: SolutionCost | None = None  # of what was solved first
        # Whether integers are wanted; undecided until it is known whether they are affordable.
        self.exactly: bool | None = False if exact is False else None
        self._known: dict[Graph, Residual] = {}
        self._splits: dict[tuple[Residual, int], Split] = {}

    @property
    def budget(self) -> Budget:
        """What is left of the budget."""
        return Budget(seconds=max(self._left, 0.0), memory=self._budget.memory)

    def whole(self, graph: Graph) -> Whole:
        """The blocks of a graph.

        Raises
        ------
        NoMatchingError
            If the graph has no perfect matching.
        """
        table = block_table(graph)
        return Whole(graph, table, self._shapes_of(graph, table), self)

    def solve_whole(self, whole: Whole, *, runs: int = 1) -> None:
        """Solve all blocks together, which is quicker than one after another.

        ``runs``: how many blocks may have to be solved later on, one after another, so that
        integers are taken only where they are affordable then too.

        Raises
        ------
        BudgetError
            If that would cost more than is left of the budget.
        """
        self._runs = runs
        solutions, _ = self.solve(whole.graph)
        for shape, answer in zip(whole.shapes, solutions, strict=True):
            shape.answer = answer

    def solve(self, graph: Graph) -> tuple[list[ClassSolution], BlockTable]:
        """Answers for every class of equal blocks, and the table that says which they are."""
        solutions, price = solve_classes(
            graph,
            exact=self._exact,
            budget=self.budget,
            executor=self._executor,
            runs=self._runs,
            exactly=self.exactly,
        )
        self._left -= price.seconds
        if self.price is None:
            self.price = price
            if self.exactly is None:
                self.exactly = all(answer.total is not None for answer in solutions)
        return solutions, block_table(graph)

    def cost(self, exposures: int, n_blocks: int) -> float:
        """Predicted seconds to solve what so many exposures in so many blocks leave.

        Where a block's cost halves with each user, all exposures in it cost as much as it did.
        """
        if self.price is None:
            return 0.0
        number = min(exposures, n_blocks) if self.price.halves else exposures
        return number * self.price.dearest

    def refusal(self, what: str, seconds: float, instead: str = "") -> BudgetError:
        """The error that names the cost of everything: of the graph, and so many seconds more."""
        first = 0.0 if self.price is None else self.price.seconds
        return self._budget.refusal(what, first + seconds, 0.0, instead)

    def shape(self, graph: Graph) -> Residual:
        """The shape of a block that was made into a graph of its own."""
        known = self._known.get(graph)
        if known is None:
            known = self._known[graph] = Residual(graph, self)
        return known

    def _shapes_of(self, graph: Graph, table: BlockTable) -> list[Residual]:
        return [self.shape(_local(graph, table, block)) for block in table.class_first.tolist()]

    def splits(self, shape: Residual, edges: Sequence[int]) -> list[Split]:
        """What is left of a block for each of these edges; equal results are equal shapes."""
        missing = [edge for edge in edges if (shape, edge) not in self._splits]
        known = {e: self._splits[shape, e] for e in edges if (shape, e) in self._splits}
        if len(self._splits) + len(missing) > attack_tuning().splits_remembered:
            self._splits.clear()
            self._known.clear()
        at_once = max(1, attack_tuning().split_cells // shape.graph.n_edges)
        for first in range(0, len(missing), at_once):
            chosen = missing[first : first + at_once]
            for edge, split in zip(chosen, self._divide(shape, np.array(chosen)), strict=True):
                known[edge] = self._splits[shape, edge] = split
        return [known[edge] for edge in edges]

    def _divide(self, shape: Residual, edges: Ints) -> list[Split]:
        """The blocks of all residual graphs at once: of their union, one beside the other."""
        graph = shape.graph
        users, behaviours = shape.rows[edges], graph.indices[edges].astype(np.int64)
        parts: list[list[Block]] = [[] for _ in edges]
        forced: list[list[tuple[int, int]]] = [[] for _ in edges]
        if graph.n_users > 1:
            union = _residuals(shape, users, behaviours)
            table = block_table(union)
            shapes = self._shapes_of(union, table)
            which, old_users = _back(table.users, users, graph.n_users)
            _, old_behaviours = _back(table.behaviours, behaviours, graph.n_behaviours)
            of_block = which[table.user_offsets[:-1]].tolist()
            user_borders = table.user_offsets.tolist()
            behaviour_borders = table.behaviour_offsets.tolist()
            for block, number in enumerate(table.class_of_block.tolist()):
                side = old_users[user_borders[block] : user_borders[block + 1]]
                other = old_behaviours[behaviour_borders[block] : behaviour_borders[block + 1]]
                if len(side) == len(other) == 1:
                    forced[of_block[block]].append((int(side[0]), int(other[0])))
                else:
                    parts[of_block[block]].append(Block(side, other, shapes[number]))
        return [Split(tuple(p), tuple(f)) for p, f in zip(parts, forced, strict=True)]


def _residuals(shape: Residual, users: Ints, behaviours: Ints) -> Graph:
    """The block without each of these pairs, as one graph."""
    graph, rows = shape.graph, shape.rows
    columns = graph.indices.astype(np.int64)
    left = (rows != users[:, None]) & (columns != behaviours[:, None])
    which, edges = np.nonzero(left)
    n_users, n_behaviours = graph.n_users - 1, graph.n_behaviours - 1
    new_rows = which * n_users + rows[edges] - (rows[edges] > users[which])
    new_columns = which * n_behaviours + columns[edges] - (columns[edges] > behaviours[which])
    return _graph(
        len(users) * n_users,
        len(users) * n_behaviours,
        pointers(new_rows, len(users) * n_users),
        new_columns,
        graph,
        edges,
    )


def _back(new: npt.NDArray[Any], removed: Ints, size: int) -> tuple[Ints, Ints]:
    """Which residual graph each index of the union is in, and its index in the block before."""
    which, local = np.divmod(new.astype(np.int64), max(size - 1, 1))
    return which, local + (local >= removed[which])


def _local(graph: Graph, table: BlockTable, block: int) -> Graph:
    """A block of a graph in local numbers."""
    begin, end = table.user_offsets[block : block + 2].tolist()
    edges = slice(*table.edge_offsets[block : block + 2].tolist())
    width = int(table.behaviour_offsets[block + 1] - table.behaviour_offsets[block])
    indptr = table.row_offsets[begin : end + 1] - table.row_offsets[begin]
    return _graph(end - begin, width, indptr, table.local_indices[edges], graph, table.edges[edges])


def _graph(
    n_users: int,
    n_behaviours: int,
    indptr: npt.NDArray[Any],
    indices: npt.NDArray[Any],
    source: Graph,
    edges: npt.NDArray[Any],
) -> Graph:
    """A graph from canonical rows whose weights are those of some edges of another graph."""
    weights, exact = source._edges.weights, source._edges.exact
    weights, exact = settle(
        None if weights is None else weights[edges], None if exact is None else exact[edges]
    )
    rows = Edges(
        indptr=indptr.astype(np.int32),
        indices=indices.astype(np.int32),
        weights=weights,
        exact=exact,
        duplicates=0,
    )
    return Graph(Names(range(n_users), "user"), Names(range(n_behaviours), "behaviour"), rows)


def _alike(
    indices: npt.NDArray[Any], weights: npt.NDArray[Any] | None, borders: npt.NDArray[Any]
) -> Ints:
    """Numbers of rows, equal for equal rows."""
    numbers: dict[Any, int] = {}
    groups = np.empty(len(borders) - 1, dtype=np.int64)
    for row, (begin, end) in enumerate(pairwise(borders.tolist())):
        key: Any = indices[begin:end].tobytes()
        if weights is not None:
            key = (key, tuple(weights[begin:end].tolist()))
        groups[row] = numbers.setdefault(key, len(numbers))
    return groups

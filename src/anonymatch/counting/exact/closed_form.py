"""Blocks whose count is a product: complete, and with nested neighbourhoods (Ferrers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch.base.arrays import Floats
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Context, Option, Solution
from anonymatch.counting.blocks.tuning import LIMITS
from anonymatch.counting.integers import product

Integers = npt.NDArray[np.int64]
Exact = npt.NDArray[np.object_]


def offer(block: Block, context: Context | None = None, best: float = 0.0) -> Option | None:
    """For blocks that are recognised: they cost nothing."""
    formula: Formula | None = complete(block)
    if formula is not None:
        return option_by(formula, block, "everybody may have done everything", memory=0.0)
    formula = nested(block)
    if formula is not None:
        memory = 8.0 * block.n_edges  # of the probabilities themselves
        return option_by(formula, block, "neighbourhoods contain each other", memory=memory)
    return None


def option_by(
    formula: Formula, block: Block, why: str, *, memory: float, seconds: float = 0.0
) -> Option:
    """The option to solve a block by a formula."""
    solution = Solution(
        block,
        total=lambda: formula.total,
        log=lambda: formula.log,
        minors=formula.minors,
        posteriors=lambda: (formula.posteriors(), 1e-12),
    )
    return Option(
        method="closed_form", why=why, seconds=seconds, memory=memory, solve=lambda: solution
    )


class Formula(Protocol):
    """The count of a block, its natural log, and the minor and probability of every edge.

    Edges come in the order of the block. Nothing is cached: each call computes again.
    """

    @property
    def log(self) -> float: ...
    @property
    def total(self) -> Any: ...
    def minors(self) -> npt.NDArray[Any]: ...
    def posteriors(self) -> Floats: ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Complete:
    """Every user may have done everything: c!/(c-s)! matchings, every edge equally likely."""

    block: Block

    @property
    def log(self) -> float:
        block = self.block
        first = block.n_behaviours - block.n_users + 1
        return float(np.log(np.arange(first, block.n_behaviours + 1, dtype=np.float64)).sum())

    @property
    def total(self) -> int:
        block = self.block
        return product(range(block.n_behaviours - block.n_users + 1, block.n_behaviours + 1))

    def minors(self) -> Exact:
        return np.full(self.block.n_edges, self.total // self.block.n_behaviours, dtype=object)

    def posteriors(self) -> Floats:
        # One number for all edges: a block of a hundred million takes no memory for it.
        return np.broadcast_to(np.float64(1 / self.block.n_behaviours), self.block.n_edges)


def complete(block: Block) -> Complete | None:
    """Recognise a complete block without weights.

    Examples
    --------
    >>> from anonymatch.counting.reference import block_of
    >>> solved = complete(block_of([[1, 1, 1], [1, 1, 1]]))
    >>> solved.total, solved.posteriors().round(3).tolist()
    (6, [0.333, 0.333, 0.333, 0.333, 0.333, 0.333])
    """
    if block.weights is not None or block.n_edges != block.n_users * block.n_behaviours:
        return None
    return Complete(block=block) if block.n_users <= block.n_behaviours else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nested:
    """Neighbourhoods that contain each other, described by degrees alone.

    Let users in order of degree choose in turn. The behaviours that earlier users took all lie in
    the neighbourhood of user i, whatever they chose, so ``choices[i]`` = d_i - i are left: the
    count is their product. A matching drawn that way is uniform, so user i takes behaviour j, which
    users from ``first[j]`` on may take, with probability

        prod over first[j] <= k < i of (1 - 1/choices[k])  /  choices[i].

    The edges need not be listed: :meth:`probabilities` serves mixes of 10^5 users and 10^9 edges.
    """

    choices: Integers  # of the users in order of degree; all at least 1
    rank: Integers  # of user i in that order
    first: Integers  # the smallest rank that behaviour j is open to
    block: Block | None = None  # for minors and posteriors edge by edge

    @property
    def log(self) -> float:
        return float(np.log(self.choices).sum())

    @property
    def total(self) -> int:
        return product(self.choices.tolist())

    def posteriors(self) -> Floats:
        block = self._block()
        probabilities = np.empty(block.n_edges)
        runs, degrees = _Runs(self.choices), np.diff(block.indptr)
        each = max(1, LIMITS.edge_slice // int(degrees.max(initial=1)))
        for user in range(0, len(degrees), each):
            part = slice(int(block.indptr[user]), int(block.indptr[min(user + each, len(degrees))]))
            ranks = np.repeat(self.rank[user : user + each], degrees[user : user + each])
            probabilities[part] = runs.ratio(self.first[block.indices[part]], ranks)
        return probabilities

    def probabilities(self, users: npt.NDArray[Any], behaviours: npt.NDArray[Any]) -> Floats:
        """Probabilities of edges given by two arrays of indices; relative error below 1e-12.

        Values below 1e-300 may be rounded to 0.
        """
        probabilities = np.empty(len(users))
        runs, first, rank = _Runs(self.choices), self.first, self.rank
        for begin in range(0, len(users), LIMITS.edge_slice):
            part = slice(begin, begin + LIMITS.edge_slice)
            probabilities[part] = runs.ratio(first[behaviours[part]], rank[users[part]])
        return probabilities

    def minors(self) -> Exact:
        """Exact integers; equal ones (same degrees at both ends) are one object."""
        users, behaviours = self._edges()
        table, user_group, behaviour_group = self._minor_table()
        minors: Exact = table[user_group[self.rank[users]], behaviour_group[behaviours]]
        return minors

    def _block(self) -> Block:
        if self.block is None:
            raise ValueError(
                "described by degrees alone: ask probabilities() for the edges you want"
            )
        return self.block

    def _edges(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        block = self._block()
        degrees = np.diff(block.indptr)
        return np.repeat(np.arange(len(degrees), dtype=np.int32), degrees), block.indices

    def _minor_table(self) -> tuple[Exact, Integers, Integers]:
        """Minors by group of equal degree: table[user group, behaviour group], and the groups.

        Going up one column of the table, from user i to user i + 1, the probability is multiplied
        by (choices[i] - 1) / choices[i + 1]; that is 1 between users of the same degree, and the
        minors are integers throughout, so the divisions below leave no remainder.
        """
        degrees = self.choices + np.arange(len(self.choices))
        starts = np.flatnonzero(np.diff(degrees, prepend=-1))
        user_group = np.searchsorted(starts, np.arange(len(degrees)), side="right") - 1
        firsts, behaviour_group = np.unique(self.first, return_inverse=True)
        table = np.zeros((len(starts), len(firsts)), dtype=object)
        total, choices = self.total, self.choices.tolist()
        for column, begin in enumerate(firsts.tolist()):
            value = total // choices[begin]
            table[user_group[begin], column] = value
            for group in range(int(user_group[begin]) + 1, len(starts)):
                start = int(starts[group])
                value = value * (choices[start - 1] - 1) // choices[start]
                table[group, column] = value
        return table, user_group, behaviour_group


class _Runs:
    """Products of 1 - 1/choices[k] over any run of k, from three factors each.

    Runs are cut into pieces; every factor is at least 1/2 (those with choices = 1 are counted
    apart), so that no product within a piece underflows, and a ratio of products within one piece
    is safe.
    """

    def __init__(self, choices: Integers) -> None:
        n = len(choices)
        pieces = n // LIMITS.product_length + 1
        wide = np.ones(pieces * LIMITS.product_length, dtype=np.longdouble)
        wide[:n] = np.where(choices > 1, (choices - 1) / choices.astype(np.longdouble), 1)
        factors = wide.reshape(pieces, LIMITS.product_length)
        ahead = np.cumprod(factors, axis=1)
        behind = np.cumprod(factors[:, ::-1], axis=1)[:, ::-1]
        before = np.ones_like(ahead)
        before[:, 1:] = ahead[:, :-1]
        self.before = before.ravel().astype(np.float64)  # product from the piece's start up to k
        self.after = behind.ravel().astype(np.float64)  # product from k to the piece's end
        self.across = np.ones((pieces + 1, pieces + 1))  # product of the pieces [row, column)
        for piece in range(pieces):
            self.across[piece, piece + 1 :] = np.cumprod(ahead[piece:, -1])
        self.choices = choices.astype(np.float64)
        self.dead_ends = np.concatenate(([0], np.cumsum(choices[:-1] == 1)))

    def ratio(self, begin: Integers, end: Integers) -> Floats:
        """Product over begin <= k < end, divided by choices[end]."""
        left, right = begin // LIMITS.product_length, end // LIMITS.product_length
        inside = self.before[end] / self.before[begin]
        if len(self.across) > 2:
            between = self.across[np.minimum(left + 1, right), right]
            outside = self.after[begin] * between * self.before[end]
            inside = np.where(left == right, inside, outside)
        inside /= self.choices[end]
        if self.dead_ends[-1]:
            inside[self.dead_ends[end] > self.dead_ends[begin]] = 0
        return inside


def nested(block: Block) -> Nested | None:
    """Recognise neighbourhoods that contain each other, in any order of users and behaviours.

    The degrees tell: a 0/1 matrix is nested if and only if its column sums are conjugate to its row
    sums, because the matrix with those sums is then unique [1]_. So this costs one count of the
    edges of each behaviour.

    References
    ----------
    .. [1] Ryser. Combinatorial properties of matrices of zeros and ones. Canad. J. Math. 9, 1957.
    """
    if block.weights is not None:
        return None
    degrees = np.diff(block.indptr).astype(np.int64)
    open_to = np.bincount(block.indices, minlength=block.n_behaviours)
    solved = nested_by_degrees(degrees, open_to)
    if solved is None:
        return None
    return Nested(choices=solved.choices, rank=solved.rank, first=solved.first, block=block)


def nested_by_degrees(users: npt.NDArray[Any], behaviours: npt.NDArray[Any]) -> Nested | None:
    """The nested block with these degrees of users and behaviours, if there is one.

    None too when it has no matching that covers all users.
    """
    n = len(users)
    order = np.argsort(users, kind="stable")
    ascending = np.asarray(users, dtype=np.int64)[order]
    choices = ascending - np.arange(n)
    if n == 0 or choices.min() < 1 or ascending[-1] > len(behaviours):
        return None
    descending = np.sort(behaviours)[::-1]
    conjugate = n - np.searchsorted(ascending, np.arange(len(behaviours)), side="right")
    if not np.array_equal(descending, conjugate):
        return None
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)
    return Nested(choices=choices, rank=rank, first=n - np.asarray(behaviours, dtype=np.int64))

"""sample(): perfect matchings drawn uniformly or by weight, block by block; exactly if possible."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError
from anonymatch.base.text import several
from anonymatch.counting.approximate.estimate import DrawTask, Sampling
from anonymatch.counting.approximate.importance import TooSlowError, WormChain
from anonymatch.counting.approximate.nested_bound import exact_matchings
from anonymatch.counting.approximate.records import EstimateBudget
from anonymatch.counting.approximate.spare_chain import SpareChains
from anonymatch.counting.approximate.tuning import GUIDE, SPARE
from anonymatch.counting.blocks.block import Block, squared
from anonymatch.counting.blocks.block_classes import members_of_classes, reduce
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact import frontier
from anonymatch.counting.exact.closed_form import complete, nested
from anonymatch.counting.exact.near_complete import near_complete
from anonymatch.counting.results import ApproximateNote
from anonymatch.graph import Graph, check_graph, require_matching
from anonymatch.running import Budget, Execution, Progress, tells_misfits
from anonymatch.tabular import check_memory

Matchings = npt.NDArray[np.int32]


@tells_misfits
def sample(
    graph: Graph,
    size: int = 1,
    *,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Matchings:
    """Perfect matchings drawn independently, uniformly or in proportion to their weight.

    Blocks of middling size are drawn by rejection, exactly, where that is predicted to take no
    more than 30 seconds (or the budget). All others are drawn along worm chains that begin at
    guided draws: close to that law, and nearly independent. An :class:`ApproximateNote` says so.

    Parameters
    ----------
    graph : Graph
    size : int
        How many.
    seed, budget, executor, progress : optional
        As in every call: see :mod:`anonymatch.counting`.

    Returns
    -------
    array of int32, shape (size, n_users)
        The index of the behaviour of each user.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching.
    BudgetError
        If a block is too hard to draw from exactly, and the budget too small for chains.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.sample(am.Graph.from_rows(["110", "011", "101"]), 3, seed=1).shape
    (3, 3)
    """
    check_graph(graph)
    size, seed = whole(size, "size"), whole(seed, "seed")
    allowance = Budget.of(budget)
    effort = Execution(executor=executor, progress=progress)
    check_memory(4 * size * graph.n_users, several(size, "matching"), "draw fewer at a time")
    require_matching(graph)
    reduced = reduce(graph, exact=False)
    table = reduced.table
    matchings = np.empty((size, graph.n_users), dtype=np.int32)
    inexact = 0
    for number, blocks in enumerate(members_of_classes(table)):
        block = reduced.block(number)
        # Copies of one block are drawn together: they are independent and equally distributed.
        local, exact = _draw(block, size * len(blocks), (seed, number), allowance, effort)
        inexact += 0 if exact else block.n_users * len(blocks)
        users = table.user_offsets[blocks][:, None] + np.arange(block.n_users)
        names = table.behaviours[
            table.behaviour_offsets[blocks][:, None, None]
            + local.reshape(len(blocks), size, block.n_users)
        ]
        matchings[:, table.users[users]] = names.transpose(1, 0, 2)
    if inexact:
        warnings.warn(
            f"matchings of {several(inexact, 'user')} come from a Markov chain: "
            "close to the right probabilities, not exactly of them",
            ApproximateNote,
            stacklevel=2,
        )
    return matchings


def _draw(
    block: Block, size: int, seed: tuple[int, int], budget: Budget, effort: Execution
) -> tuple[Matchings, bool]:
    """Matchings of one block, and whether they are exactly of the right law."""
    if block.n_users == block.n_behaviours == 1:
        return np.zeros((size, 1), dtype=np.int32), True
    request = _Request(block, size, seed, budget, effort)
    for name in tuning().draws:
        drawn = _DRAWS[name](request)
        if drawn is not None:
            return drawn, name != "chain"
    ordering = request.ordering
    cost = ordering.seconds(1, edges=True), ordering.memory(1, edges=True)
    raise budget.refusal("drawing matchings exactly", *cost)


@dataclass(eq=False)
class _Request:
    """Matchings of one block that are wanted."""

    block: Block
    size: int
    seed: tuple[int, int]
    budget: Budget
    effort: Execution

    @cached_property
    def draws(self) -> np.random.Generator:
        return np.random.default_rng(list(self.seed))

    @cached_property
    def ordering(self) -> frontier.FrontierOrdering:
        return frontier.find_ordering(self.block)


# Each gives the matchings, or None where it does not apply or would cost too much.


def _of_complete(request: _Request) -> Matchings | None:
    block = request.block
    if complete(block) is None:
        return None
    keys = request.draws.random((request.size, block.n_behaviours))
    return np.argsort(keys, axis=1)[:, : block.n_users].astype(np.int32)


def _of_nested(request: _Request) -> Matchings | None:
    """Nested neighbourhoods: in order of degree each user picks evenly among what is left."""
    block, draws = request.block, request.draws
    if nested(block) is None:
        return None
    degrees = np.diff(block.indptr)
    order = np.argsort(degrees, kind="stable")
    matchings = np.empty((request.size, block.n_users), dtype=np.int32)
    widest = np.argsort(-np.bincount(block.indices, minlength=block.n_behaviours), kind="stable")
    for row in matchings:
        left: list[int] = []
        opened = 0
        for i, pick in zip(order.tolist(), draws.random(block.n_users), strict=True):
            degree = int(degrees[i])
            left.extend(widest[opened:degree].tolist())
            opened = max(opened, degree)
            k = int(pick * len(left))
            left[k], left[-1] = left[-1], left[k]
            row[i] = left.pop()
    return matchings


def _along_frontier(request: _Request) -> Matchings | None:
    ordering, budget = request.ordering, request.budget
    seconds, memory = ordering.seconds(1, edges=True), ordering.memory(1, edges=True)
    if not ordering.feasible or not budget.allows(seconds, memory):
        return None
    request.effort.expect(seconds)
    return frontier.sample(
        ordering,
        request.block,
        size=request.size,
        seed=int(request.draws.integers(2**63)),
        memory=budget.memory,
        effort=request.effort,
    )


def _by_rejection(request: _Request) -> Matchings | None:
    """Blocks that lack few edges: draw permutations until one avoids the missing edges."""
    block = request.block
    solved = near_complete(block)
    if solved is None:
        return None
    free = np.log(np.arange(block.n_behaviours, block.n_behaviours - block.n_users, -1)).sum()
    if free - solved.log > np.log(tuning().rejection_tries):
        return None
    present = block.dense().astype(bool)
    rows = np.arange(block.n_users)
    matchings = np.empty((request.size, block.n_users), dtype=np.int32)
    for row in matchings:
        while True:
            drawn = request.draws.permutation(block.n_behaviours)[: block.n_users]
            if present[rows, drawn].all():
                row[:] = drawn
                break
    return matchings


def _by_nested_bound(request: _Request) -> Matchings | None:
    budget = request.budget
    soon = budget if budget.chosen else replace(budget, seconds=tuning().exact_draws_seconds)
    number = int(request.draws.integers(2**63))
    try:
        return exact_matchings(
            request.block, request.size, seed=number, budget=soon, effort=request.effort
        )
    except BudgetError:
        return None


def _by_chain(request: _Request) -> Matchings | None:
    """Chains of moves and swaps where behaviours are left over, else worm chains.

    Worm chains begin at independent guided draws, go 100 steps a user unseen (50 in giant blocks),
    and then 10 steps a user from one sample to the next.
    """
    block, effort, seconds = request.block, request.effort, request.budget.seconds
    try:
        if block.optional:
            each = math.ceil(request.size / SPARE.chains)
            moves = SpareChains(block, request.seed, effort).matchings(each, GUIDE.apart, seconds)
            if moves is not None:
                return _shuffled(moves, request)
    except TooSlowError:
        pass
    square = squared(block)
    if square is None:
        return None
    allowed = EstimateBudget(seconds=seconds, half_width=1.0)
    sampling = Sampling(DrawTask(square[0], request.seed, allowed, effort))
    each = math.ceil(request.size / WormChain.number_of(square[0]))
    price = sampling.chains_price(each)
    if price > seconds:
        return None
    effort.expect(price)
    try:
        return _shuffled(sampling.chains.matchings(each, effort), request)[:, : block.n_users]
    except TooSlowError:
        return None


def _shuffled(drawn: Matchings, request: _Request) -> Matchings:
    """The chains' samples in a random order: neighbours are of one chain."""
    matchings = drawn.reshape(drawn.shape[0] * drawn.shape[1], -1)
    order = np.random.default_rng([*request.seed, 7]).permutation(len(matchings))
    chosen: Matchings = matchings[order]
    return chosen[: request.size]


_DRAWS: dict[str, Callable[[_Request], Matchings | None]] = {
    "complete": _of_complete,
    "nested": _of_nested,
    "frontier": _along_frontier,
    "rejection": _by_rejection,
    "nested_bound": _by_nested_bound,
    "chain": _by_chain,
}

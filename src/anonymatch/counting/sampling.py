"""sample(): perfect matchings drawn uniformly or by weight, block by block; exactly if possible."""

from __future__ import annotations

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
from anonymatch.counting.approximate.chain_sample import chain_sample
from anonymatch.counting.approximate.estimate import EstimateBudget
from anonymatch.counting.approximate.nested_bound import exact_matchings
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import members_of_classes, reduce
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.exact import frontier
from anonymatch.counting.exact.closed_form import complete, nested
from anonymatch.counting.exact.near_complete import near_complete
from anonymatch.counting.planning.choose import choose_draws
from anonymatch.counting.results import ApproximateNote
from anonymatch.graph import Graph, check_graph, check_memory, require_matching
from anonymatch.running import Budget, Execution, Progress, tells_misfits

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
    seed : int
        The same seed gives the same matchings on every machine.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.

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
    for name in choose_draws():
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
    if complete(request.block) is None:
        return None
    return _permutations(request.block, request.size, request.draws)


def _of_nested(request: _Request) -> Matchings | None:
    if nested(request.block) is None:
        return None
    return _in_turn(request.block, request.size, request.draws)


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


def _rejected(request: _Request) -> Matchings | None:
    return _by_rejection(request.block, request.size, request.draws)


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
    allowed = EstimateBudget(seconds=request.budget.seconds, half_width=1.0)
    return chain_sample(
        request.block, request.size, seed=request.seed, allowed=allowed, effort=request.effort
    )


_DRAWS: dict[str, Callable[[_Request], Matchings | None]] = {
    "complete": _of_complete,
    "nested": _of_nested,
    "frontier": _along_frontier,
    "rejection": _rejected,
    "nested_bound": _by_nested_bound,
    "chain": _by_chain,
}


def _permutations(block: Block, size: int, draws: np.random.Generator) -> Matchings:
    keys = draws.random((size, block.n_behaviours))
    return np.argsort(keys, axis=1)[:, : block.n_users].astype(np.int32)


def _in_turn(block: Block, size: int, draws: np.random.Generator) -> Matchings:
    """Nested neighbourhoods: in order of degree each user picks evenly among what is left."""
    degrees = np.diff(block.indptr)
    order = np.argsort(degrees, kind="stable")
    matchings = np.empty((size, block.n_users), dtype=np.int32)
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


def _by_rejection(block: Block, size: int, draws: np.random.Generator) -> Matchings | None:
    """Blocks that lack few edges: draw permutations until one avoids the missing edges."""
    solved = near_complete(block)
    if solved is None:
        return None
    free = np.log(np.arange(block.n_behaviours, block.n_behaviours - block.n_users, -1)).sum()
    if free - solved.log > np.log(tuning().rejection_tries):
        return None
    present = block.dense().astype(bool)
    rows = np.arange(block.n_users)
    matchings = np.empty((size, block.n_users), dtype=np.int32)
    for row in matchings:
        while True:
            drawn = draws.permutation(block.n_behaviours)[: block.n_users]
            if present[rows, drawn].all():
                row[:] = drawn
                break
    return matchings

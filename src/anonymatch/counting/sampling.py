"""sample(): perfect matchings drawn uniformly or by weight, block by block; exactly if possible."""

from __future__ import annotations

import warnings
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import whole
from anonymatch.base.errors import BudgetError
from anonymatch.base.text import several
from anonymatch.counting.approximate.chain_sample import ApproximateNote, chain_sample
from anonymatch.counting.approximate.estimate import EstimateBudget
from anonymatch.counting.approximate.nested_bound import exact_matchings
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.block_classes import reduce
from anonymatch.counting.exact import frontier
from anonymatch.counting.exact.closed_form import complete, nested
from anonymatch.counting.exact.near_complete import near_complete
from anonymatch.graph import Graph, check_graph, check_memory, require_matching
from anonymatch.running import Budget, Execution, Progress, tells_misfits

__all__ = ["sample"]

Matchings = npt.NDArray[np.int32]

_SOON = 30.0  # predicted seconds for exact draws by a nested bound, if nobody set a budget
_TRIES = 1000.0  # permutations a matching that rejection may cost on average


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
    budget, executor, progress
        As for :func:`anonymatch.count`.

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
    members = np.argsort(table.class_of_block, kind="stable")
    borders = np.searchsorted(table.class_of_block[members], np.arange(reduced.n_kinds + 1))
    for number in range(reduced.n_kinds):
        blocks = members[borders[number] : borders[number + 1]]
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
            f"matchings of {several(inexact, 'user')} come from a Markov chain (worm): "
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
    draws = np.random.default_rng(list(seed))
    if complete(block) is not None:
        return _permutations(block, size, draws), True
    if nested(block) is not None:
        return _in_turn(block, size, draws), True
    way = frontier.find_way(block)
    seconds, memory = way.seconds(1, edges=True), way.memory(1, edges=True)
    if way.feasible and budget.allows(seconds, memory):
        effort.expect(seconds)
        drawn = frontier.sample(
            way,
            block,
            size=size,
            seed=int(draws.integers(2**63)),
            memory=budget.memory,
            effort=effort,
        )
        return drawn, True
    rejected = _by_rejection(block, size, draws)
    if rejected is not None:
        return rejected, True
    try:
        soon = budget if budget.chosen else replace(budget, seconds=_SOON)
        number = int(draws.integers(2**63))
        return exact_matchings(block, size, seed=number, budget=soon, effort=effort), True
    except BudgetError:
        pass
    allowed = EstimateBudget(seconds=budget.seconds, half_width=1.0)
    chained = chain_sample(block, size, seed=seed, allowed=allowed, effort=effort)
    if chained is None:
        raise budget.refusal("drawing matchings exactly", seconds, memory)
    return chained, False


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
    if free - solved.log > np.log(_TRIES):
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

"""minors() and gains(): the count without a user and a behaviour, for every pair, edge or not.

Adding an edge between a user and a behaviour adds the minor of the pair to the count.
"""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.base.text import Call
from anonymatch.counting.api import count, posterior
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.solution import Objects
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.counting.bounding.degrees import bregman
from anonymatch.counting.exact import glynn
from anonymatch.counting.planning.choose import minors_at_once
from anonymatch.graph import Graph, check_graph
from anonymatch.running import Budget, Execution, Progress, check_executor, tells_misfits

_MOST_PAIRS = 4_000_000  # Python integers that a matrix may hold


@tells_misfits
def minors(
    graph: Graph,
    *,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Objects:
    """For every user and behaviour, the count of the graph without both, exactly.

    Parameters
    ----------
    graph : Graph
        With or without a perfect matching.
    budget, executor, progress : optional
        As in every call (see :mod:`anonymatch.counting`); the budget is for each of the counts that
        this takes.

    Returns
    -------
    object array, shape (n_users, n_behaviours)
        Python ints; Fractions for weighted graphs.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.minors(am.Graph.from_rows(["11", "10"])).tolist()
    [[0, 1], [1, 1]]
    """
    check_graph(graph)
    check_executor(executor, progress)
    if graph.n_users * graph.n_behaviours > _MOST_PAIRS:
        raise InputError(
            f"minors of all {graph.n_users} x {graph.n_behaviours} pairs would fill the memory; "
            "take ",
            Call("one block: blocks(graph)[0].graph()", "a part of the users"),
        )
    settings = {"budget": Budget.of(budget), "executor": executor, "progress": progress}
    parts = [_Part.of(graph, *sides, settings) for sides in _components(graph)]
    result = np.zeros((graph.n_users, graph.n_behaviours), dtype=object)
    for k, left in enumerate(parts):
        others = math.prod(part.total for j, part in enumerate(parts) if j != k)
        if others:
            result[np.ix_(left.users, left.behaviours)] = left.minors * others
        for j, right in enumerate(parts):
            rest = math.prod(part.total for i, part in enumerate(parts) if i not in (j, k))
            if j != k and rest and right.unused.any():
                apart = np.multiply.outer(left.without_user, right.unused) * rest
                result[np.ix_(left.users, right.behaviours)] = apart
    return result


@tells_misfits
def gains(
    graph: Graph,
    *,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Objects:
    """What adding each missing edge (of weight 1) would add to the count; 0 where there is one.

    Parameters
    ----------
    graph : Graph
    budget, executor, progress : optional
        Those of :func:`minors`, and so is the result.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.gains(am.Graph.from_rows(["1100", "0110", "0011", "1001"])).tolist()
    [[0, 0, 1, 1], [1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]]
    """
    result = minors(graph, budget=budget, executor=executor, progress=progress)
    result[graph.rows(), graph.indices] = 0
    return result


def minors_at_once_seconds(graph: Graph) -> float | None:
    """Predicted seconds of the minors of all pairs, if one sum gives them; else None."""
    if not minors_at_once(graph.n_users, graph.n_behaviours, weighted=graph.weighted):
        return None
    block = Block(graph.n_users, graph.n_behaviours, graph.indptr, graph.indices)
    return tuning().all_minors * glynn.doubles_seconds(block)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A connected part of the graph, with what it contributes to pairs inside and across."""

    users: npt.NDArray[Any]
    behaviours: npt.NDArray[Any]
    total: Any
    minors: Objects  # of the part's own pairs
    without_user: Objects  # its count without each user
    unused: Objects  # its count without each behaviour

    @classmethod
    def of(
        cls,
        graph: Graph,
        users: npt.NDArray[Any],
        behaviours: npt.NDArray[Any],
        settings: dict[str, Any],
    ) -> _Part:
        part = graph.take(users, behaviours)
        shape = (len(users), len(behaviours))
        whole, unused = _total_and_unused(part, settings)
        if minors_at_once(*shape, weighted=part.weighted):
            inside = _by_signs(part, settings)
            without = inside.sum(axis=1)  # the user's absence leaves exactly one behaviour unused
        else:
            inside = np.zeros(shape, dtype=object)
            without = np.zeros(shape[0], dtype=object)
            for i in range(shape[0]):
                rest = part.take(np.delete(np.arange(shape[0]), i), np.arange(shape[1]))
                without[i], inside[i] = _total_and_unused(rest, settings)
        return cls(users, behaviours, whole, inside, without, unused)


def _total_and_unused(graph: Graph, settings: dict[str, Any]) -> tuple[Any, Objects]:
    """The count, and for each behaviour the number of matchings that leave it unused."""
    total: Any = count(graph, exact=True, **settings).value
    unused = np.zeros(graph.n_behaviours, dtype=object)
    if graph.n_users < graph.n_behaviours and total:
        unused[:] = total
        counts = posterior(graph, exact=True, **settings).counts
        np.subtract.at(unused, graph.indices, counts.by_edge)
    return total, unused


def _by_signs(graph: Graph, settings: dict[str, Any]) -> Objects:
    """All minors of a small square graph at once; it need not have a perfect matching."""
    block = Block(graph.n_users, graph.n_behaviours, graph.indptr, graph.indices)
    # A minor is at most the product of (d!)^(1/d) over the other users; no factor is below 1.
    bits = bregman(np.maximum(graph.degrees, 1)) / math.log(2.0) + 1e-6
    effort = Execution(executor=settings["executor"], progress=settings["progress"])
    return glynn.all_minors(block, bits=bits, effort=effort)


def _components(graph: Graph) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """Users and behaviours of each connected part."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, size = graph.n_users, graph.n_users + graph.n_behaviours
    links = coo_array(
        (np.ones(graph.n_edges, dtype=bool), (graph.rows(), n + graph.indices)), shape=(size, size)
    )
    number, labels = connected_components(links, directed=False)
    order = np.argsort(labels, kind="stable")
    borders = np.searchsorted(labels[order], np.arange(number + 1))
    members = [order[borders[k] : borders[k + 1]] for k in range(number)]
    return [(m[m < n], m[m >= n] - n) for m in members]

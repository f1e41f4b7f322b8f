"""Edges that give a graph without a perfect matching one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.counting.job import Job, Settings
from anonymatch.counting.minors import minors
from anonymatch.effort import Budget
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import structure

__all__ = ["missing_pairs", "next_pair"]

Ints = npt.NDArray[np.int64]

_EXACT = 3.0  # exact counts, against chances in doubles
_PAIRS = 1_000_000  # users times behaviours up to which all pairs are compared


def missing_pairs(graph: Graph) -> int:
    """How many edges it takes at least: users that a largest matching leaves out."""
    return graph.n_users - structure(graph).n_matched


def next_pair(graph: Graph, budget: Budget) -> tuple[int, int]:
    """A user and a behaviour whose edge lets one more user be matched.

    Where one edge is enough and all pairs can be compared within the budget, it is the one that
    gives most matchings; else the first.
    """
    users, behaviours = _loose(graph)
    if missing_pairs(graph) == 1 and _price(graph, budget) <= budget.seconds:
        found = minors(graph, budget=budget)[np.ix_(users, behaviours)]
        best = found.max()
        row, column = next(zip(*np.nonzero(found == best), strict=True))
        return int(users[row]), int(behaviours[column])
    return int(users[0]), int(behaviours[0])


def _loose(graph: Graph) -> tuple[Ints, Ints]:
    """Users and behaviours that some largest matching leaves out."""
    found = structure(graph)
    free_users = np.flatnonzero(found.behaviour_of_user < 0).tolist()
    free_behaviours = np.flatnonzero(found.user_of_behaviour < 0).tolist()
    rows = graph.to_scipy()
    columns = rows.tocsc()
    users = _reached(free_users, rows.indptr, rows.indices, found.user_of_behaviour)
    behaviours = _reached(free_behaviours, columns.indptr, columns.indices, found.behaviour_of_user)
    return users, behaviours


def _reached(
    start: list[int],
    indptr: npt.NDArray[np.integer],
    indices: npt.NDArray[np.integer],
    partner: npt.NDArray[np.integer],
) -> Ints:
    """Who could be left out instead of one of ``start``: along an edge and back by the matching."""
    seen = set(start)
    waiting = list(start)
    while waiting:
        here = waiting.pop()
        for there in indices[indptr[here] : indptr[here + 1]].tolist():
            other = int(partner[there])
            if other >= 0 and other not in seen:
                seen.add(other)
                waiting.append(other)
    return np.array(sorted(seen), dtype=np.int64)


def _price(graph: Graph, budget: Budget) -> float:
    """Predicted seconds for the minors of all pairs, judged by a part that can be matched."""
    if graph.n_users * graph.n_behaviours > _PAIRS:
        return np.inf
    matched = np.flatnonzero(structure(graph).behaviour_of_user >= 0)
    rest = graph.take(matched, np.arange(graph.n_behaviours))
    settings = Settings(method="auto", exact=True, budget=budget, executor=None, progress=None)
    return graph.n_users * _EXACT * Job(rest, settings, edges=True).plan.seconds

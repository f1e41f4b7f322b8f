"""Who is identified, and why: pairs that are in every perfect matching, each with its reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anonymatch.base.text import name, names
from anonymatch.graph import Graph, forced, structure

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Identified", "identified"]

_NAMED = 4  # of a reason

_MOST_WORK = 100_000_000  # users and edges that searches for rivals may touch: a second or two


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """A user who is in the same pair in every perfect matching."""

    user: Hashable
    behaviour: Hashable
    reason: str


def identified(graph: Graph, most: int | None = None) -> list[Identified]:
    """The pairs that are in every perfect matching, up to ``most``, each with its reason.

    Examples
    --------
    >>> [pair.reason for pair in identified(Graph.from_rows(["110", "110", "111"]))]
    ['nobody else fits 2']
    >>> [pair.reason for pair in identified(Graph.from_rows(["1100", "1100", "0110"]))]
    ['what else fits is needed by 0, 1, who fit nothing else']
    """
    degrees, suitors = graph.degrees.tolist(), graph.behaviour_degrees.tolist()
    square = graph.n_users == graph.n_behaviours
    search: _Rivals | None = None
    pairs = []
    for user, behaviour in forced(graph)[:most]:
        row = graph.user_index(user)
        if degrees[row] == 1:
            reason = f"nothing but {name(behaviour)} fits"
        elif square and suitors[graph.behaviour_index(behaviour)] == 1:
            reason = f"nobody else fits {name(behaviour)}"
        else:
            search = search or _Rivals(graph)
            reason = search.reason(row, graph.behaviour_index(behaviour))
        pairs.append(Identified(user=user, behaviour=behaviour, reason=reason))
    return pairs


class _Rivals:
    """Who needs what else fits an identified user: Hall's witness once their pair is taken out.

    From the user, every step goes to a behaviour that fits and on to the user whom some matching
    gives it to. Those who are reached fit only what they have themselves, in any matching. If there
    are as many users as behaviours, the same holds the other way round: who else fits the behaviour
    is needed for others, which nobody else fits. That is told where the users are too many to name.
    """

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array

        matched = structure(graph)
        owners = matched.user_of_behaviour[graph.indices]
        owned = owners >= 0  # spare behaviours are beyond the reach of identified users
        starts = np.concatenate(([0], np.cumsum(owned)))[graph.indptr]
        owners = owners[owned]
        shape = (graph.n_users, graph.n_users)
        self._steps = csr_array((np.ones(len(owners)), owners, starts), shape=shape)
        self._graph, self._work = graph, 0
        self._back: csr_array | None = None
        if graph.n_users == graph.n_behaviours:
            users = np.repeat(np.arange(graph.n_users), graph.degrees)
            ends = graph.indices, matched.behaviour_of_user[users]
            self._back = csr_array((np.ones(len(users)), ends), shape=shape)

    def reason(self, user: int, behaviour: int) -> str:
        """Why a user has a behaviour, by the side that has the fewer to name."""
        graph = self._graph
        others = self._reached(self._steps, user)
        if len(others) > _NAMED and self._back is not None:
            needs = self._reached(self._back, behaviour)
            if 0 < len(needs) < len(others):
                what = _some(graph.behaviours, needs)
                fitted = name(graph.behaviours[behaviour])
                return f"who else fits {fitted} is needed for {what}, which nobody else fits"
        who = _some(graph.users, others) if len(others) else "others"
        fit = "fits" if len(others) == 1 else "fit"
        return f"what else fits is needed by {who}, who {fit} nothing else"

    def _reached(self, steps: csr_array, start: int) -> npt.NDArray[np.int32]:
        """Indices in order; none when the work that all searches may take is used up."""
        if self._work > _MOST_WORK:
            return np.zeros(0, np.int32)
        from scipy.sparse.csgraph import breadth_first_order

        reached = breadth_first_order(steps, start, return_predecessors=False)
        self._work += steps.shape[0] + int(np.diff(steps.indptr)[reached].sum())
        return np.sort(reached[1:])


def _some(labels: Sequence[Hashable], which: npt.NDArray[np.int32]) -> str:
    """Some of them by name."""
    return names([labels[i] for i in which[:_NAMED].tolist()], total=len(which))

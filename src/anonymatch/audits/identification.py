"""Who is identified, and why: pairs that are in every perfect matching, each with its reason."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.base.text import name, names
from anonymatch.graph import Graph, forced, structure

__all__ = ["Identified", "identified"]

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
    users = graph.users
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
            others = search.of(row)
            some = [users[i] for i in others[:4].tolist()]
            who = names(some, total=len(others)) if some else "others"
            fit = "fits" if len(others) == 1 else "fit"
            reason = f"what else fits is needed by {who}, who {fit} nothing else"
        pairs.append(Identified(user=user, behaviour=behaviour, reason=reason))
    return pairs


class _Rivals:
    """Who needs what else fits an identified user: Hall's witness once their pair is taken out.

    From the user, every step goes to a behaviour that fits and on to the user whom some matching
    gives it to. Those who are reached fit only what they have themselves, in any matching.
    """

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array

        owners = structure(graph).user_of_behaviour[graph.indices]
        owned = owners >= 0  # spare behaviours are beyond the reach of identified users
        starts = np.concatenate(([0], np.cumsum(owned)))[graph.indptr]
        owners = owners[owned]
        shape = (graph.n_users, graph.n_users)
        self._steps = csr_array((np.ones(len(owners)), owners, starts), shape=shape)
        self._degrees = graph.degrees
        self._work = 0

    def of(self, user: int) -> npt.NDArray[np.int32]:
        """Their indices in order; none when the work that all searches may take is used up."""
        if self._work > _MOST_WORK:
            return np.zeros(0, np.int32)
        from scipy.sparse.csgraph import breadth_first_order

        reached = breadth_first_order(self._steps, user, return_predecessors=False)
        self._work += len(self._degrees) + int(self._degrees[reached].sum())
        return np.sort(reached[1:])

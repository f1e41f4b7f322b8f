"""Who is exposed: pairs that are certain and why, and how sure an attacker is of each user."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.cli.words import name, names
from anonymatch.counting.posterior import Posterior
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import forced, structure

__all__ = ["Certainty", "Exposed", "certainty", "exposed", "order"]

Floats = npt.NDArray[np.float64]

_MOST_WORK = 100_000_000  # users and edges that searches for rivals may touch: a second or two


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposed:
    """A user who is in the same pair in every perfect matching."""

    user: Hashable
    behaviour: Hashable
    reason: str


def exposed(graph: Graph, most: int | None = None) -> list[Exposed]:
    """The pairs that are in every perfect matching, up to ``most``, each with its reason.

    Examples
    --------
    >>> [pair.reason for pair in exposed(Graph.from_rows(["110", "110", "111"]))]
    ['nobody else fits 2']
    >>> [pair.reason for pair in exposed(Graph.from_rows(["1100", "1100", "0110"]))]
    ['what else fits is needed by 0, 1, who fit nothing else']
    """
    users = graph.users
    degrees, suitors = graph.degrees.tolist(), graph.behaviour_degrees.tolist()
    square = graph.n_users == graph.n_behaviours
    search: _Rivals | None = None
    found = []
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
        found.append(Exposed(user=user, behaviour=behaviour, reason=reason))
    return found


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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certainty:
    """How sure an attacker is of every user; arrays in the order of the users.

    ``behaviour`` is the index of the best guess, ``chance`` its chance, and ``candidates`` how many
    equally likely behaviours the chances are worth: 2 to the power of their entropy in bits.
    """

    behaviour: npt.NDArray[np.int64]
    chance: Floats
    candidates: Floats


def certainty(posterior: Posterior) -> Certainty:
    """Best guess, its chance, and the worth of the candidates, of every user.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = certainty(am.posterior(am.Graph.from_rows(["110", "110", "111"])))
    >>> found.behaviour.tolist(), found.chance.tolist(), found.candidates.tolist()
    ([0, 0, 2], [0.5, 0.5, 1.0], [2.0, 2.0, 1.0])
    """
    graph, chances = posterior.graph, posterior.chances
    starts = graph.indptr[:-1]
    if not len(starts):
        return Certainty(
            behaviour=np.zeros(0, np.int64), chance=np.zeros(0), candidates=np.zeros(0)
        )
    best = np.maximum.reduceat(chances, starts)  # every user has an edge: there is a matching
    places = np.flatnonzero(chances == best[graph.rows()])
    first = places[np.searchsorted(places, starts)]
    surprise = np.zeros(len(chances))
    some = chances > 0
    surprise[some] = -chances[some] * np.log2(chances[some])
    return Certainty(
        behaviour=graph.indices[first].astype(np.int64),
        chance=best,
        candidates=np.exp2(np.maximum(np.add.reduceat(surprise, starts), 0.0)),
    )


def order(found: Certainty) -> npt.NDArray[np.int64]:
    """Users by falling certainty; ties by the worth of their candidates, then as they come."""
    return np.lexsort((found.candidates.round(9), -found.chance.round(12)))

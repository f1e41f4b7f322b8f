"""Who is exposed: pairs that are certain and why, and how sure an attacker is of each user."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.cli.words import name, names
from anonymatch.counting.posterior import Posterior
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.structure import Witness, forced, witness

__all__ = ["Certainty", "Exposed", "certainty", "exposed", "order"]

Floats = npt.NDArray[np.float64]

_MOST_SEARCHES = 100  # for the others who need what a user fits; each is linear in the edges


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
    searches = 0
    degrees, suitors = graph.degrees, graph.behaviour_degrees
    square = graph.n_users == graph.n_behaviours
    found = []
    for user, behaviour in forced(graph)[:most]:
        if degrees[graph.user_index(user)] == 1:
            reason = f"nothing but {name(behaviour)} fits"
        elif square and suitors[graph.behaviour_index(behaviour)] == 1:
            reason = f"nobody else fits {name(behaviour)}"
        elif searches == _MOST_SEARCHES:
            reason = "what else fits is needed by others, who fit nothing else"
        else:
            searches += 1
            others = [other for other in _rivals(graph, user, behaviour).users if other != user]
            fit = "fits" if len(others) == 1 else "fit"
            reason = f"what else fits is needed by {names(others)}, who {fit} nothing else"
        found.append(Exposed(user=user, behaviour=behaviour, reason=reason))
    return found


def _rivals(graph: Graph, user: Hashable, behaviour: Hashable) -> Witness:
    """Users who together fit too little once this pair is taken out: Hall's witness."""
    row, column = graph.user_index(user), graph.behaviour_index(behaviour)
    begin, end = graph.indptr[row : row + 2].tolist()
    mask = np.ones(graph.n_edges, dtype=np.bool_)
    mask[begin + int(np.searchsorted(graph.indices[begin:end], column))] = False
    found = witness(graph.keep_edges(mask))
    assert found is not None  # the pair is in every matching
    return found


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

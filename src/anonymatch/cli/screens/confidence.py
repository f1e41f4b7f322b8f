"""How sure an attacker is of each user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.counting import Posterior

__all__ = ["Certainty", "certainty", "order"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Certainty:
    """How sure an attacker is of every user; arrays in the order of the users.

    ``behaviour`` is the index of the best guess, ``probability`` its probability, and
    ``candidates`` how many equally likely behaviours the probabilities are worth: 2 to the power of
    their entropy in bits.
    """

    behaviour: npt.NDArray[np.int64]
    probability: Floats
    candidates: Floats


def certainty(posterior: Posterior) -> Certainty:
    """Best guess, its probability, and the worth of the candidates, of every user.

    Examples
    --------
    >>> import anonymatch as am
    >>> sureness = certainty(am.posterior(am.Graph.from_rows(["110", "110", "111"])))
    >>> sureness.behaviour.tolist(), sureness.probability.tolist(), sureness.candidates.tolist()
    ([0, 0, 2], [0.5, 0.5, 1.0], [2.0, 2.0, 1.0])
    """
    graph, probabilities = posterior.graph, posterior.probabilities
    starts = graph.indptr[:-1]
    if not len(starts):
        return Certainty(
            behaviour=np.zeros(0, np.int64), probability=np.zeros(0), candidates=np.zeros(0)
        )
    best = np.maximum.reduceat(probabilities, starts)  # every user has an edge: there is a matching
    best_edges = np.flatnonzero(probabilities == best[graph.rows()])
    first = best_edges[np.searchsorted(best_edges, starts)]
    surprise = np.zeros(len(probabilities))
    some = probabilities > 0
    surprise[some] = -probabilities[some] * np.log2(probabilities[some])
    return Certainty(
        behaviour=graph.indices[first].astype(np.int64),
        probability=best,
        candidates=np.exp2(np.maximum(np.add.reduceat(surprise, starts), 0.0)),
    )


def order(sureness: Certainty) -> npt.NDArray[np.int64]:
    """Users by falling certainty; ties by the worth of their candidates, then as they come."""
    return np.lexsort((sureness.candidates.round(9), -sureness.probability.round(12)))

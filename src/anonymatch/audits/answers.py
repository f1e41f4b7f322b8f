"""What counting says of an observation: matchings, bits, and figures of each user."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from anonymatch.counting.bounds import bregman
from anonymatch.counting.dispatch import count, known_posterior
from anonymatch.counting.posterior import Posterior
from anonymatch.counting.result import Count
from anonymatch.effort import Budget, Progress
from anonymatch.errors import BudgetError, NoMatchingError
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.limits import check_memory
from anonymatch.graph.structure import witness
from anonymatch.measures import system
from anonymatch.measures.figure import Figure
from anonymatch.measures.passages import passage_count, passage_figures
from anonymatch.measures.users import UserFigures, user_figures
from anonymatch.sources.observation import Observation, Passage
from anonymatch.wording import several

__all__ = ["Answers", "Work", "answers", "entropy_of"]

_LARGE = 3_000_000  # edges of a graph that fills memory itself
_TIGHT = 0.4 * 2**30  # bytes that one of its blocks may then need beside it
_QUICK = 10.0  # predicted seconds of an exact integer
_SMALL_ENOUGH = 300_000  # edges of a graph for which it is worth a plan of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How the work of an audit shall run."""

    budget: Budget
    seed: int
    executor: Executor | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """What everything else in an audit is made of.

    Attributes
    ----------
    count : Count
        Ways to match users and behaviours, without weights; places for lost users are not told
        apart.
    entropy : Figure
        Of the matching that happened, in nats; the log of the count unless there are weights.
    bound : float
        Natural log of the most ways that the users' numbers of candidates allow.
    full : float
        Natural log of the ways if nothing were known.
    users : UserFigures
    edges : int
        Pairs of a user and a candidate.
    chances : Posterior or None
        None for a passage, and unless all are known.
    confidence : float
        Chance that the intervals hold; 1.0 means proven.
    """

    count: Count
    entropy: Figure
    bound: float
    full: float
    users: UserFigures
    edges: int
    chances: Posterior | None
    confidence: float


def answers(seen: Observation, work: Work) -> Answers:
    """Count, chances and figures, exact where the budget allows."""
    if seen.passage is not None:
        return _of_passage(seen.passage)
    assert seen.graph is not None
    if seen.graph.n_edges > _LARGE:
        tight = replace(work.budget, memory=min(work.budget.memory, _TIGHT))
        work = replace(work, budget=tight)
    return _of_graph(seen.graph, seen.lost, work)


def _of_passage(passage: Passage) -> Answers:
    found = passage_count(passage.arrivals, passage.departures)
    users = passage_figures(
        passage.arrivals,
        passage.departures,
        users=passage.users,
        behaviours=passage.behaviours,
    )
    n_users, n_behaviours = len(passage.users), len(passage.behaviours)
    lost = n_users - n_behaviours
    full = system.full_log(n_behaviours, n_users)
    # Seen from the departures: each is one of the messages that had come in by then.
    before = np.searchsorted(np.sort(passage.arrivals), passage.departures, side="right")
    bound = float(np.log(before).sum())
    if lost == 0:
        bound = min(bregman(before), bregman(users.degree))
    return Answers(
        count=found,
        entropy=Figure.rounded(found.log, found.log, found.log),
        bound=min(bound, full),
        full=full,
        users=users,
        edges=int(users.degree.sum()) - (n_users if lost else 0),
        chances=None,
        confidence=1.0,
    )


def _of_graph(graph: Graph, lost: int, work: Work) -> Answers:
    why = witness(graph)
    if why is not None:
        raise NoMatchingError(why.users, why.behaviours)
    n_users, n_real = graph.n_users, graph.n_behaviours - lost
    strangers = graph.n_behaviours - n_users if lost else 0
    seen = _with_strangers(graph, lost, strangers) if strangers else graph
    support = system.reweighted(seen, None) if seen.weighted else seen
    found = _count(support, work)
    weight = _count(seen, work) if seen.weighted else found
    chances = _chances(seen, work)
    complete = not np.isnan(chances.chances).any()
    alike = math.lgamma(lost + 1) + math.lgamma(strangers + 1)
    entropy = system.matching_entropy(weight, chances if complete else None, seen, found)
    edges = graph.n_edges
    if lost:
        edges -= int(graph.behaviour_degrees[n_real:].sum())
    confidence = min(found.confidence, weight.confidence)
    return Answers(
        count=_without_places(found, alike),
        entropy=Figure.rounded(
            *(end - alike for end in (entropy.value, entropy.low, entropy.high)), size=alike
        ),
        bound=max(_bound(seen) - alike, 0.0),
        full=_full(n_users, n_real, n_users - lost),
        users=user_figures(seen, chances.chances, chances.margins, alike=lost).first(n_users),
        edges=edges,
        chances=chances if complete and not strangers else None,
        confidence=min(confidence, chances.confidence),
    )


def _with_strangers(graph: Graph, lost: int, number: int) -> Graph:
    """The graph with users, last and all alike, who sent the messages out that are nobody's.

    With losses and cover traffic at once, only so all places for lost messages are taken.
    """
    from scipy.sparse import csr_array

    check_memory(
        16 * number * (graph.n_behaviours - lost),
        f"{several(number, 'message')} out that are nobody's, with losses at the same time,",
        "mark cover traffic in the log, or look at a shorter one",
    )
    real = np.arange(graph.n_behaviours - lost, dtype=graph.indices.dtype)
    indices = np.concatenate((graph.indices, np.tile(real, number)))
    ends = graph.indptr[-1] + len(real) * np.arange(1, number + 1)
    weights = None
    if graph.weights is not None:
        weights = np.concatenate((graph.weights, np.ones(number * len(real))))
    matrix = csr_array(
        (
            np.ones(len(indices)) if weights is None else weights,
            indices,
            np.concatenate((graph.indptr, ends)),
        ),
        shape=(graph.n_users + number, graph.n_behaviours),
    )
    padded = Graph.from_biadjacency(
        matrix,
        users=[*graph.users, *(_Stranger(k) for k in range(number))],
        behaviours=graph.behaviours,
    )
    return padded if graph.weighted else system.reweighted(padded, None)


class _Stranger(NamedTuple):
    """The name of a user who is nobody."""

    number: int


def _full(n_users: int, n_behaviours: int, matched: int) -> float:
    """Natural log of the ways to match so many of the users, if nothing were known."""
    chosen = math.lgamma(n_users + 1) - math.lgamma(n_users - matched + 1)
    ways = math.lgamma(n_behaviours + 1) - math.lgamma(n_behaviours - matched + 1)
    return max(chosen + ways - math.lgamma(matched + 1), 0.0)


def entropy_of(graph: Graph, work: Work) -> Figure:
    """Entropy, in nats, of the matching that happened in a graph."""
    support = system.reweighted(graph, None) if graph.weighted else graph
    found = _count(support, work)
    if not graph.weighted:
        return Figure(found.log, found.low, found.high)
    chances = _chances(graph, work)
    complete = not np.isnan(chances.chances).any()
    weight = _count(graph, work)
    return system.matching_entropy(weight, chances if complete else None, graph, found)


def _count(graph: Graph, work: Work) -> Count:
    """Exactly where that is quick; digits beyond the tenth are not worth waiting for."""
    places: dict[str, Any] = {"executor": work.executor, "progress": work.progress}
    if not graph.weighted and graph.n_edges <= _SMALL_ENOUGH:
        quick = min(_QUICK, work.budget.seconds / 3)
        try:
            return count(graph, exact=True, budget=replace(work.budget, seconds=quick), **places)
        except BudgetError:
            pass
    share = replace(work.budget, seconds=work.budget.seconds / 3)
    return count(graph, exact=False, budget=share, seed=work.seed, **places)


def _chances(graph: Graph, work: Work) -> Posterior:
    """Chances of all edges; NaN in blocks that the budget does not reach."""
    return known_posterior(
        graph,
        budget=replace(work.budget, seconds=work.budget.seconds / 2),
        seed=work.seed,
        executor=work.executor,
        progress=work.progress,
    )


def _bound(graph: Graph) -> float:
    """Brègman's bound by users and by behaviours, the better of the two, as a natural log.

    Spare behaviours are taken by as many more users who fit everything and are not told apart.
    """
    spare = graph.n_behaviours - graph.n_users
    more = np.full(spare, graph.n_behaviours)
    by_users = bregman(np.concatenate((graph.degrees, more)))
    by_behaviours = bregman(graph.behaviour_degrees + spare)
    return min(by_users, by_behaviours) - math.lgamma(spare + 1)


def _without_places(found: Count, alike: float) -> Count:
    """Ways that differ only in which of the equal places somebody lost has are one way."""
    if alike == 0.0:
        return found
    low, high = found.proven
    return replace(
        found,
        exact=False,
        log=found.log - alike,
        low=found.low - alike,
        high=found.high - alike,
        proven=(low - alike, high - alike),
        factors=(),
    )

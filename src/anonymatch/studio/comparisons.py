"""Graphs of the same cost side by side: the best design, the paper's, a ring, and a random one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from anonymatch.base.errors import BudgetError, NoMatchingError
from anonymatch.graph import Graph, witness
from anonymatch.theory.attacks import attack, exposures
from anonymatch.theory.designs import (
    Design,
    design,
    graph_of,
    layered,
    max_bound,
    random_expectation,
    rivals,
)

__all__ = ["DRAWN", "Contender", "contenders", "edges_for"]

DRAWN = 400  # users up to which graphs are made and drawn
_ATTACKED = 60  # users up to which a campaign is followed
_STEPS = 12
_SECONDS = 1.0  # for each figure of a graph that is not in closed form
_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Contender:
    """One way to spend the edges.

    Attributes
    ----------
    key, name, meaning : str
        What it is called in addresses and on pages, and what it is.
    design : Design or None
    graph : Graph or None
        None where there are too many users to draw.
    bits : float or None
        log2 of the matchings; None if not known.
    share : float or None
        Matchings as a share of the bound of as many edges.
    bits_left : float or None
        log2 of the matchings that the best attack on one user leaves on average.
    curve : tuple of float
        log2 of the matchings left after 0, 1, 2, ... exposures along one drawn truth.
    """

    key: str
    name: str
    meaning: str
    design: Design | None
    graph: Graph | None
    bits: float | None
    share: float | None
    bits_left: float | None
    curve: tuple[float, ...]


def edges_for(users: int, candidates: float) -> int:
    """Edges that give so many candidates a user on average.

    Examples
    --------
    >>> edges_for(10, 2.5), edges_for(4, 9.0)
    (25, 16)
    """
    return min(max(round(users * candidates), users), users * users)


@lru_cache(maxsize=64)
def contenders(users: int, edges: int) -> tuple[Contender, ...]:
    """All of them, the best first.

    Examples
    --------
    >>> [(each.name, round(each.bits, 2)) for each in contenders(4, 8)[:3]]
    [('Best design', 2.0), ('Best after an attack', 2.0), ("The paper's partition", 2.0)]
    >>> contenders(4, 8)[3].name, contenders(4, 8)[3].curve
    ('Ring', (1.0, 0.0))
    """
    chosen = [
        ("best", "Best design", "the most matchings", design(users, edges)),
        (
            "after",
            "Best after an attack",
            "the most matchings left when one user is exposed",
            design(users, edges, objective="after_attack"),
        ),
        (
            "paper",
            "The paper's partition",
            "groups as equal as can be",
            design(users, edges, method="paper"),
        ),
    ]
    designed = [_designed(*each) for each in chosen]
    return (*designed, _ring(users, edges), _random(users, edges))


def _designed(key: str, name: str, meaning: str, made: Design) -> Contender:
    graph = made.graph() if made.users <= DRAWN else None
    return Contender(
        key=key,
        name=name,
        meaning=meaning,
        design=made,
        graph=graph,
        bits=made.log2,
        share=made.ratio,
        bits_left=made.attack_log / _LN2,
        curve=_curve(graph),
    )


def _ring(users: int, edges: int) -> Contender:
    graph = graph_of(users, layered(users, edges).cells()) if users <= DRAWN else None
    rival = rivals(users, edges)[0]
    bound = max_bound(users, edges)
    return Contender(
        key="ring",
        name="Ring",
        meaning="everybody overlaps with neighbours, all alike",
        design=None,
        graph=graph,
        bits=rival.log / _LN2,
        share=math.exp(rival.log - bound),
        bits_left=_left(graph),
        curve=_curve(graph),
    )


def _random(users: int, edges: int) -> Contender:
    expected = random_expectation(users, edges=edges)
    bound = max_bound(users, edges)
    graph = _drawn(users, edges) if users <= DRAWN else None
    return Contender(
        key="random",
        name="Random",
        meaning="edges by chance; matchings are those expected, the picture is one draw",
        design=None,
        graph=graph,
        bits=expected / _LN2 if math.isfinite(expected) else None,
        share=math.exp(expected - bound),
        bits_left=None,  # of one draw it would not compare with an expectation
        curve=_curve(graph),
    )


def _drawn(users: int, edges: int) -> Graph:
    """One random graph with as many edges, the same every time."""
    cells = np.random.default_rng([users, edges]).choice(users * users, edges, replace=False)
    there = np.zeros(users * users, dtype=bool)
    there[cells] = True
    return Graph.from_biadjacency(there.reshape(users, users))


def _left(graph: Graph | None) -> float | None:
    if graph is None or graph.n_users > _ATTACKED:
        return None
    try:
        outcomes = exposures(graph, budget=_SECONDS)
    except (BudgetError, NoMatchingError):
        return None
    return (outcomes.start.log + math.log(outcomes.best_share)) / _LN2


def _curve(graph: Graph | None) -> tuple[float, ...]:
    if graph is None or graph.n_users > _ATTACKED or witness(graph) is not None:
        return ()
    try:
        campaign = attack(
            graph,
            steps=min(_STEPS, graph.n_users),
            truth="sampled",
            seed=0,
            budget=_SECONDS,
        )
    except BudgetError:
        return ()
    return tuple(round(log / _LN2, 9) + 0.0 for log in campaign.logs)

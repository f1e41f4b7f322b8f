"""walk(): exposures one after another along one truth, in indices."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from anonymatch.attacks.best_play import Tree
from anonymatch.attacks.position import Position
from anonymatch.attacks.strategies import Choice, Choose
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.counting import log_of
from anonymatch.graph import Graph

__all__ = ["Drawn", "Given", "Stride", "Truth", "log_of_share", "outlook", "walk"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stride:
    """One exposure of a walk: what was expected before it, and what it left."""

    choice: Choice
    target: int
    behaviour: int
    share: Fraction | float  # of the matchings, expected to be left
    entropy: float  # by which the expected log falls
    probability: Fraction | float  # share of the matchings that was left
    log_before: float  # natural logs of the share of all matchings, before and after
    log_after: float
    forced: tuple[tuple[int, int], ...]
    n_edges: int
    in_doubt: int


def log_of_share(share: Fraction | float) -> float:
    """Natural log of a positive share of any size."""
    return log_of(share) if isinstance(share, Fraction) else float(np.log(share))


def outlook(position: Position, target: int) -> tuple[Fraction | float, float]:
    """Share of the matchings that exposing a user leaves on average, and the fall of their log."""
    spot = position.spot(target)
    return (Fraction(1), 0.0) if spot is None else (spot.share, spot.entropy)


def walk(
    position: Position,
    choose: Choose,
    steps: int,
    tree: Tree,
    truth: Truth,
    draws: np.random.Generator,
) -> Iterator[Stride]:
    """Up to ``steps`` exposures while somebody can be; ``position`` is changed."""
    for left in range(steps, 0, -1):
        if not position.in_doubt:
            return
        choice = choose(position, left, tree)
        if not choice.targets:
            return
        which = int(draws.integers(len(choice.targets))) if len(choice.targets) > 1 else 0
        target = choice.targets[which]
        share, entropy = outlook(position, target)
        before = position.log
        behaviour = truth.behaviour(position, target)
        change = position.expose(target, behaviour)
        yield Stride(
            choice=choice,
            target=target,
            behaviour=behaviour,
            share=share,
            entropy=entropy,
            probability=change.probability,
            log_before=before,
            log_after=position.log,
            forced=change.forced,
            n_edges=position.n_edges,
            in_doubt=position.in_doubt,
        )


class Truth(Protocol):
    """Who did what, told one user at a time."""

    def behaviour(self, position: Position, user: int) -> int:
        """What a user did, given what was revealed before."""
        ...


class Drawn:
    """Every behaviour is drawn from its probabilities when it is revealed, which draws a
    matching.
    """

    def __init__(self, draws: np.random.Generator) -> None:
        self._draws = draws

    def behaviour(self, position: Position, user: int) -> int:
        spot = position.spot(user)
        if spot is None:
            return position.forced_behaviour(user)
        edges = spot.shape.edges_of(spot.user)
        probabilities = np.cumsum(spot.shape.answer.probabilities[edges.start : edges.stop])
        index = int(
            np.searchsorted(probabilities, self._draws.random() * probabilities[-1], side="right")
        )
        return spot.behaviour(edges[min(index, len(edges) - 1)])


class Given:
    """A perfect matching of the graph, checked."""

    def __init__(self, graph: Graph, truth: object) -> None:
        self._behaviours = _checked(graph, _indices(graph, truth))

    def behaviour(self, position: Position, user: int) -> int:
        return self._behaviours[user]


def _indices(graph: Graph, truth: object) -> list[int]:
    """The index of each user's behaviour."""
    if isinstance(truth, Mapping):
        return _from_names(graph, truth)
    if isinstance(truth, str) or not isinstance(truth, Sequence | np.ndarray):
        raise InputError(
            f"truth is {truth!r}; give a dict from user to behaviour, a behaviour index for each "
            "user as sample() returns them, 'sampled', or None for expectations"
        )
    values = np.asarray(truth)
    if values.shape != (graph.n_users,) or not np.issubdtype(values.dtype, np.integer):
        raise InputError(
            f"truth must be {graph.n_users} behaviour indices, one a user in their order; "
            "use a dict from user to behaviour for names"
        )
    outside = np.flatnonzero((values < 0) | (values >= graph.n_behaviours))
    if len(outside):
        user = int(outside[0])
        raise InputError(
            f"truth: user {graph.users[user]!r} has behaviour index {int(values[user])}, but "
            f"there are {graph.n_behaviours} behaviours"
        )
    return [int(value) for value in values]


def _from_names(graph: Graph, truth: Mapping[Any, Any]) -> list[int]:
    behaviour_of: dict[int, int] = {}
    for user, behaviour in truth.items():
        behaviour_of[graph.user_index(user)] = graph.behaviour_index(behaviour)
    if len(behaviour_of) < graph.n_users:
        missing = next(graph.users[i] for i in range(graph.n_users) if i not in behaviour_of)
        raise InputError(
            Argument("truth"),
            f" says nothing about user {missing!r}; it must be a whole matching",
        )
    return [behaviour_of[i] for i in range(graph.n_users)]


def _checked(graph: Graph, behaviours: list[int]) -> list[int]:
    """The truth, once it is known to be a perfect matching of the graph."""
    owner: dict[int, Hashable] = {}
    for i, j in enumerate(behaviours):
        user, behaviour = graph.users[i], graph.behaviours[j]
        row = graph.indices[graph.indptr[i] : graph.indptr[i + 1]]
        index = int(np.searchsorted(row, j))
        if index == len(row) or row[index] != j:
            raise InputError(
                Argument("truth"), f": user {user!r} cannot have done {behaviour!r}: no such edge"
            )
        if j in owner:
            raise InputError(
                Argument("truth"),
                f" is not a matching: users {owner[j]!r} and {user!r} both did {behaviour!r}",
            )
        owner[j] = user
    return behaviours

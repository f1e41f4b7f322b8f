"""Exposure: what falls when one user is exposed, on average and for each behaviour."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from anonymatch.attacks.position import Field, Position, Spot
from anonymatch.attacks.result import Left
from anonymatch.attacks.tuning import attack_tuning
from anonymatch.attacks.walk import log_of_share
from anonymatch.base.errors import InputError
from anonymatch.counting import Count
from anonymatch.graph import Graph

__all__ = ["Exposure", "Outcome", "allow_splits", "expose_one"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """One of the behaviours that a user may have done, and what is left if it is revealed.

    Attributes
    ----------
    behaviour
    probability : Fraction or float
        That the user did it.
    newly_forced : dict
        Other users who would be identified, with what they did.
    edges_left : int
        Edges of the other users that would still be in some matching.
    log : float
        Natural log of the matchings left.

    Examples
    --------
    >>> import anonymatch as am
    >>> one = am.exposure(am.Graph.from_rows(["110", "111", "011"]), 0).outcomes[1]
    >>> one.behaviour, one.probability, one.left, one.newly_forced
    (1, Fraction(1, 3), 1, {1: 0, 2: 2})
    """

    behaviour: Hashable
    probability: Fraction | float
    newly_forced: Mapping[Hashable, Hashable]
    edges_left: int
    log: float
    matchings: Left = field(repr=False)

    @property
    def left(self) -> int | Fraction | float:
        """Matchings left: an int when exact (a Fraction for weighted graphs)."""
        value = self.matchings.value
        whole = isinstance(value, Fraction) and not self.matchings.start.weighted
        return int(value) if whole else value


@dataclass(frozen=True, kw_only=True, eq=False)
class Exposure:
    """What falls when one user is exposed, on average and for each behaviour.

    Attributes
    ----------
    user
    share : Fraction or float
        Share of the matchings that is left on average: exp of minus the Rényi-2 entropy. 1 for a
        user who is identified already.
    log_expected_left : float
        Natural log of the expected number of matchings left.
    expected_log : float
        Expected natural log of the matchings left.
    best_guess : float
        Probability of the most likely behaviour.
    edges_removed : float
        Expected number of edges of the graph that leave it with the user and the behaviour.
    expected_forced : Fraction or float
        How many other users are identified by it, on average.
    outcomes : tuple of Outcome
        One for each behaviour of the user that is in some matching.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.exposure(am.Graph.from_rows(["110", "111", "011"]), 1)
    >>> found.expected_left, found.expected_forced, found.edges_removed
    (Fraction(1, 1), Fraction(2, 1), 4.333)
    """

    user: Hashable
    share: Fraction | float
    log_expected_left: float
    expected_log: float
    best_guess: float
    edges_removed: float
    expected_forced: Fraction | float
    outcomes: tuple[Outcome, ...] = field(repr=False)
    expectation: Left = field(repr=False)

    @property
    def expected_left(self) -> Fraction | float:
        """Expected number of matchings left: a Fraction when exact."""
        return self.expectation.value

    def __getitem__(self, behaviour: Hashable) -> Outcome:
        for outcome in self.outcomes:
            if outcome.behaviour == behaviour:
                return outcome
        raise InputError(
            f"user {self.user!r} cannot have done {behaviour!r}: that pair is in no matching"
        )


def expose_one(graph: Graph, start: Count, position: Position, user: int) -> Exposure:
    """What falls when a user, by index, is exposed in a position that nothing has touched."""
    spot = position.spot(user)
    if spot is None:
        return _identified(graph, start, position, user)
    edges = spot.shape.edges_of(spot.user)
    outcomes = tuple(_outcomes(graph, start, position, spot))
    probabilities = [spot.shape.probability(edge) for edge in edges]
    log = start.log + log_of_share(spot.share)
    degrees = graph.behaviour_degrees[[spot.behaviour(edge) for edge in edges]]
    removed = float(np.dot([float(probability) for probability in probabilities], degrees))
    pairs = zip(probabilities, outcomes, strict=True)
    forced = [probability * len(outcome.newly_forced) for probability, outcome in pairs]
    return Exposure(
        user=graph.users[user],
        share=spot.share,
        log_expected_left=log,
        expected_log=start.log - spot.entropy,
        best_guess=float(max(probabilities)),
        edges_removed=removed + int(graph.degrees[user]) - 1,
        expected_forced=sum(forced, Fraction(0)),
        outcomes=outcomes,
        expectation=Left(start, (), 0, spot.share, log),
    )


def _outcomes(graph: Graph, start: Count, position: Position, spot: Spot) -> Iterator[Outcome]:
    names, shape = graph.behaviours, spot.shape
    groups = spot.groups()
    allow_splits(position.field, len(groups) * shape.graph.n_edges)
    splits = position.field.shapes.splits(shape, [edges[0] for edges in groups])
    known = {
        edge: (edges[0], split)
        for edges, split in zip(groups, splits, strict=True)
        for edge in edges
    }
    for edge, (other, split) in sorted(known.items()):
        probability = shape.probability(edge)
        log = start.log + log_of_share(probability)
        mine, its = spot.behaviour(edge), spot.behaviour(other)
        # Behaviours that are alike change places: who gets this one there gets the other here.
        pairs = sorted(
            (int(spot.users[u]), its if (name := int(spot.behaviours[b])) == mine else name)
            for u, b in split.forced
        )
        yield Outcome(
            behaviour=names[mine],
            probability=probability,
            newly_forced={graph.users[u]: names[b] for u, b in pairs},
            edges_left=position.n_edges + split.n_edges - spot.shape.graph.n_edges,
            log=log,
            matchings=Left(start, (), 0, probability, log),
        )


def _identified(graph: Graph, start: Count, position: Position, user: int) -> Exposure:
    """A user who is forced: nothing is learnt."""
    behaviour = position.forced_behaviour(user)
    left = Left(start, (), 0, Fraction(1), start.log)
    outcome = Outcome(
        behaviour=graph.behaviours[behaviour],
        probability=Fraction(1),
        newly_forced={},
        edges_left=position.n_edges - 1,
        log=start.log,
        matchings=left,
    )
    removed = int(graph.degrees[user] + graph.behaviour_degrees[behaviour]) - 1
    return Exposure(
        user=graph.users[user],
        share=Fraction(1),
        log_expected_left=start.log,
        expected_log=start.log,
        best_guess=1.0,
        edges_removed=float(removed),
        expected_forced=Fraction(0),
        outcomes=(outcome,),
        expectation=left,
    )


def allow_splits(field: Field, cells: float) -> None:
    """Refuse to look at so many edges of residual graphs if the budget does not allow it."""
    seconds, budget = attack_tuning().cell * cells, field.shapes.budget
    if not budget.allows(seconds, 0.0):
        raise budget.refusal("saying who would be identified", seconds, 0.0)

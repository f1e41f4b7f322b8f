"""exposures() and exposure(): what falls when one user is exposed, for everybody or for one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import label
from anonymatch.counting import Count, count
from anonymatch.graph import Graph, require_matching
from anonymatch.running import Budget, tells_misfits
from anonymatch.theory.attacks.position import Position
from anonymatch.theory.attacks.residual import Residuals, Spot, Whole, log_of_share
from anonymatch.theory.attacks.result import Left
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = ["Exposure", "Exposures", "Outcome", "exposure", "exposures"]

Floats = npt.NDArray[np.float64]


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
        return self.matchings.number


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


def _expose_one(whole: Whole, start: Count, user: int) -> Exposure:
    """What falls when a user, by index, is exposed before everybody else."""
    graph, spot = whole.graph, whole.spot(user)
    edges = spot.shape.edges_of(spot.user)
    outcomes = tuple(_outcomes(whole, start, spot))
    probabilities = [outcome.probability for outcome in outcomes]
    log = start.log + log_of_share(spot.share)
    degrees = graph.behaviour_degrees[[spot.behaviour(edge) for edge in edges]]
    removed = float(np.dot([float(probability) for probability in probabilities], degrees))
    forced = (outcome.probability * len(outcome.newly_forced) for outcome in outcomes)
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


def _outcomes(whole: Whole, start: Count, spot: Spot) -> Iterator[Outcome]:
    graph, names, shape = whole.graph, whole.graph.behaviours, spot.shape
    users, behaviours = spot.block.users, spot.block.behaviours
    groups = spot.groups()
    _allow_splits(whole, len(groups) * shape.graph.n_edges)
    splits = whole.owner.splits(shape, [edges[0] for edges in groups])
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
            (int(users[u]), its if (name := int(behaviours[b])) == mine else name)
            for u, b in split.forced
        )
        yield Outcome(
            behaviour=names[mine],
            probability=probability,
            newly_forced={graph.users[u]: names[b] for u, b in pairs},
            edges_left=len(whole.table.edges) + split.n_edges - shape.graph.n_edges,
            log=log,
            matchings=Left(start, (), 0, probability, log),
        )


def _allow_splits(whole: Whole, cells: float) -> None:
    """Refuse to look at so many edges of residual graphs if the budget does not allow it."""
    seconds, budget = attack_tuning().cell * cells, whole.owner.budget
    if not budget.allows(seconds, 0.0):
        raise budget.refusal("saying who would be identified", seconds, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Exposures(Summarised):
    """What falls when each user is exposed, for all users in their order.

    Attributes
    ----------
    graph : Graph
    start : Count
        Matchings before.
    exact : bool
        Whether expected numbers of matchings are exact Fractions.
    shares : array
        Share of the matchings left on average, in doubles.
    expected_logs : array
        Expected natural log of the matchings left.
    best_guesses : array
        Probability of each user's most likely behaviour.
    edges_removed : array
        Expected number of edges of the graph that leave it.
    best : tuple
        The users whose exposure leaves the fewest matchings on average: an attacker's targets.
        Without exact numbers, those that agree to ten digits.
    best_share : Fraction or float

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.exposures(am.Graph.from_rows(["111", "011", "111"]))
    >>> [str(left) for left in found.expected_left], found.best
    (['3/2', '2', '3/2'], (0, 2))
    >>> found[1].share, found.expected_forced.tolist()
    (Fraction(1, 2), [1.0, 0.0, 1.0])
    """

    graph: Graph = field(repr=False)
    start: Count
    exact: bool
    shares: Floats = field(repr=False)
    expected_logs: Floats = field(repr=False)
    best_guesses: Floats = field(repr=False)
    edges_removed: Floats = field(repr=False)
    best: tuple[Hashable, ...]
    best_share: Fraction | float
    whole: Whole = field(repr=False)

    @cached_property
    def log_expected_left(self) -> Floats:
        """Natural log of the expected number of matchings left."""
        logs: Floats = self.start.log + np.log(self.shares)
        return logs

    @cached_property
    def expected_left(self) -> list[Fraction | float]:
        """Expected matchings left: Fractions when exact. Long to write down for a large graph."""
        start = self.start
        return [
            Left(start, (), 0, self.whole.spot(user).share, log).value
            for user, log in enumerate(self.log_expected_left.tolist())
        ]

    @cached_property
    def expected_forced(self) -> Floats:
        """How many other users each exposure identifies, on average (computed when asked for).

        Raises
        ------
        BudgetError
            If that is predicted to cost more than is left of the budget.
        """
        return _expected_forced(self.whole)

    def __getitem__(self, user: Hashable) -> Exposure:
        return _expose_one(self.whole, self.start, self.graph.user_index(user))

    def __len__(self) -> int:
        return self.graph.n_users

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.graph.users)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, a list a figure; ready for JSON if the names of users are."""
        return {
            "users": list(self.graph.users),
            "log_start": self.start.log,
            "exact": self.exact,
            "shares": self.shares.tolist(),
            "log_expected_left": self.log_expected_left.tolist(),
            "expected_log": self.expected_logs.tolist(),
            "best_guess": self.best_guesses.tolist(),
            "edges_removed": self.edges_removed.tolist(),
            "best": list(self.best),
            "best_share": float(self.best_share),
        }

    def _figures(self) -> Figures:
        yield ("before", f"{self.start.log2:.4g} bits", "log2 of the matchings")
        left = f"{float(self.best_share):.4g}"
        yield ("left", left, "of the matchings on average, once the best target is exposed")
        names = ", ".join(label(user) for user in self.best[:4])
        yield ("targets", names + (", ..." if len(self.best) > 4 else ""), "who leave the fewest")

    def __str__(self) -> str:
        names = ", ".join(repr(user) for user in self.best[:4])
        more = ", ..." if len(self.best) > 4 else ""
        noun = "user" if len(self.best) == 1 else "users"
        return (
            f"exposing {noun} {names}{more} leaves {float(self.best_share):.4g} of "
            f"2^{self.start.log2:.4g} matchings on average"
        )


@tells_misfits
def exposures(
    graph: Graph,
    *,
    exact: bool | None = None,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
) -> Exposures:
    """What falls when each user is exposed, and who is an attacker's best target.

    Parameters
    ----------
    graph : Graph
        Of a weighted graph "matchings left" is the weight of all matchings that agree with what
        was revealed, the weight of the revealed pair included; all shares are of that.
    exact : bool, optional
        True: exact numbers or a refusal, rational ones for weighted graphs. Default: exact for
        graphs without weights where the budget allows, else doubles. False: doubles, which are
        quicker for large blocks.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.

    Raises
    ------
    NoMatchingError
        If the graph has no perfect matching; carries Hall's witness.
    BudgetError
        If the predicted cost exceeds the budget.

    Notes
    -----
    A user with probabilities p who is exposed leaves the share sum of p^2 of the matchings on
    average, and at least one over the number of the user's behaviours. The whole graph keeps the
    smallest of these, so blocks can be looked at one by one.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.exposures(am.partition([4, 1, 1, 1]))
    >>> [str(left) for left in found.expected_left]
    ['6', '6', '6', '6', '24', '24', '24']
    >>> print(found)
    exposing users 0, 1, 2, 3 leaves 0.25 of 2^4.585 matchings on average
    """
    require_matching(graph)
    shapes = Residuals(exact=exact, budget=budget, executor=executor)
    whole = shapes.whole(graph)
    shapes.solve_whole(whole)
    position = Position(whole, lambda shape: shape.least_share)
    start = count(graph, exact=exact, budget=budget, executor=executor)
    shares, guesses = np.ones(graph.n_users), np.ones(graph.n_users)
    entropies, probabilities = np.zeros(graph.n_users), np.zeros(graph.n_edges)
    for shape, blocks, users in whole.members():
        shares[users] = shape.float_shares
        entropies[users] = shape.entropies
        guesses[users] = shape.best_guesses
        cells = whole.table.edge_offsets[blocks][:, None] + np.arange(shape.graph.n_edges)
        probabilities[whole.table.edges[cells]] = shape.answer.probabilities
    best_share: Fraction | float = Fraction(1)
    best = list(range(graph.n_users))
    if position.in_doubt:
        best_share, _ = position.best()
        best = position.tied_users(best_share, 1)
    return Exposures(
        graph=graph,
        start=start,
        exact=start.exact and all(shape.exact for shape in whole.shapes),
        shares=_frozen(shares),
        expected_logs=_frozen(start.log - entropies),
        best_guesses=_frozen(guesses),
        edges_removed=_frozen(_edges_removed(graph, probabilities)),
        best=tuple(graph.users[user] for user in best),
        best_share=best_share,
        whole=whole,
    )


@tells_misfits
def exposure(
    graph: Graph,
    user: Hashable,
    *,
    exact: bool | None = None,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
) -> Exposure:
    """What falls when one user is exposed: on average, and for each behaviour.

    Only the user's block is looked at closely.

    Parameters
    ----------
    graph : Graph
        Of a weighted graph "matchings left" is the weight of all matchings that agree with what
        was revealed, the weight of the revealed pair included; all shares are of that.
    user : name
        Who is exposed.
    exact : bool, optional
        True: exact numbers or a refusal, rational ones for weighted graphs. Default: exact for
        graphs without weights where the budget allows, else doubles. False: doubles, which are
        quicker for large blocks.
    budget : float or Budget, optional
        Predicted seconds of one core that may be spent (default 300), or a Budget with memory.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.

    Raises
    ------
    InputError
        If there is no such user.
    NoMatchingError
        If the graph has no perfect matching; carries Hall's witness.

    Examples
    --------
    >>> import anonymatch as am
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    >>> found = am.exposure(am.Graph.from_edges(pairs), "bob")
    >>> found["x"].newly_forced, found["x"].left
    ({'ann': 'y'}, 1)
    """
    number = graph.user_index(user)
    require_matching(graph)
    whole = Residuals(exact=exact, budget=budget, executor=executor).whole(graph)
    start = count(graph, exact=exact, budget=budget, executor=executor)
    return _expose_one(whole, start, number)


def _frozen(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


def _edges_removed(graph: Graph, probabilities: Floats) -> Floats:
    """Edges of the user, and on average those of the behaviour, the one they share once."""
    of_behaviour = np.bincount(
        graph.rows(),
        probabilities * graph.behaviour_degrees[graph.indices],
        minlength=graph.n_users,
    )
    return of_behaviour.astype(np.float64) + (graph.degrees - 1)


def _expected_forced(whole: Whole) -> Floats:
    """For every user; edges to behaviours that are alike are looked at once."""
    expected = np.zeros(whole.graph.n_users)
    shapes = [shape for shape in whole.shapes if not shape.settled]
    cells = (shape.graph.n_edges * len(np.unique(shape.outcomes)) for shape in shapes)
    _allow_splits(whole, math.fsum(cells))
    for shape, _, users in whole.members():
        if shape.settled:
            continue
        _, first, inverse = np.unique(shape.outcomes, return_index=True, return_inverse=True)
        splits = whole.owner.splits(shape, first.tolist())
        forced = np.array([len(split.forced) for split in splits], dtype=np.float64)[inverse]
        expected[users] = np.add.reduceat(
            shape.answer.probabilities * forced, shape.graph.indptr[:-1]
        )
    return _frozen(expected)

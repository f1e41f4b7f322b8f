"""exposures() and exposure(): what falls when one user is exposed, for everybody or for one."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.attacks.one_exposure import Exposure, allow_splits, expose_one
from anonymatch.attacks.position import Field, Position
from anonymatch.attacks.residual import Residuals, Whole
from anonymatch.attacks.result import Left
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import label
from anonymatch.counting import Count, count
from anonymatch.graph import Graph, require_matching
from anonymatch.running import Budget, tells_misfits

__all__ = ["Exposures", "exposure", "exposures"]

Floats = npt.NDArray[np.float64]


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
    position: Position = field(repr=False)

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
            Left(start, (), 0, _share(self.position, user), log).value
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
        return _expected_forced(self.position.field)

    def __getitem__(self, user: Hashable) -> Exposure:
        return expose_one(self.graph, self.start, self.position, self.graph.user_index(user))

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
    shapes = Residuals(exact=exact, budget=budget, executor=executor)
    whole = _whole(graph, shapes)
    field = Field(shapes, whole, lambda shape: shape.least_share)
    position = Position(field)
    start = count(graph, exact=exact, budget=budget, executor=executor)
    shares, entropies, guesses = (
        np.ones(graph.n_users),
        np.zeros(graph.n_users),
        np.ones(graph.n_users),
    )
    probabilities = np.zeros(graph.n_edges)
    for shape, _, users in whole.members():
        shares[users] = shape.float_shares
        entropies[users] = shape.entropies
        guesses[users] = shape.best_guesses
    _put_probabilities(whole, probabilities)
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
        position=position,
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
    shapes = Residuals(exact=exact, budget=budget, executor=executor)
    number = graph.user_index(user)
    position = Position(Field(shapes, _whole(graph, shapes, solved=False), None))
    start = count(graph, exact=exact, budget=budget, executor=executor)
    return expose_one(graph, start, position, number)


def _whole(graph: Graph, shapes: Residuals, *, solved: bool = True) -> Whole:
    require_matching(graph)
    whole = shapes.whole(graph)
    if solved:
        shapes.solve_whole(whole)
    return whole


def _frozen(values: Floats) -> Floats:
    values.setflags(write=False)
    return values


def _share(position: Position, user: int) -> Fraction | float:
    spot = position.spot(user)
    return Fraction(1) if spot is None else spot.share


def _put_probabilities(whole: Whole, probabilities: Floats) -> None:
    """The probability of every edge of the graph."""
    table = whole.table
    for shape, blocks, _ in whole.members():
        cells = table.edge_offsets[blocks][:, None] + np.arange(shape.graph.n_edges)
        probabilities[table.edges[cells]] = shape.answer.probabilities


def _edges_removed(graph: Graph, probabilities: Floats) -> Floats:
    """Edges of the user, and on average those of the behaviour, the one they share once."""
    of_behaviour = np.bincount(
        graph.rows(),
        probabilities * graph.behaviour_degrees[graph.indices],
        minlength=graph.n_users,
    )
    return of_behaviour.astype(np.float64) + (graph.degrees - 1)


def _expected_forced(field: Field) -> Floats:
    """For every user; edges to behaviours that are alike are looked at once."""
    expected = np.zeros(field.whole.graph.n_users)
    shapes = [shape for shape in field.whole.shapes if not shape.settled]
    cells = (shape.graph.n_edges * len(np.unique(shape.outcomes)) for shape in shapes)
    allow_splits(field, math.fsum(cells))
    for shape, _, users in field.whole.members():
        if shape.settled:
            continue
        _, first, inverse = np.unique(shape.outcomes, return_index=True, return_inverse=True)
        splits = field.shapes.splits(shape, first.tolist())
        forced = np.array([len(split.forced) for split in splits], dtype=np.float64)[inverse]
        expected[users] = np.add.reduceat(
            shape.answer.probabilities * forced, shape.graph.indptr[:-1]
        )
    return _frozen(expected)

"""How targets are chosen, exposures along one truth, and expectations over all truths."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.graph import Graph
from anonymatch.running import standard_error
from anonymatch.theory.attacks.best_play import Tree
from anonymatch.theory.attacks.position import Position, Rank
from anonymatch.theory.attacks.residual import Residual, Spot, log_of_share, rounded
from anonymatch.theory.attacks.tuning import attack_tuning

__all__ = [
    "STRATEGIES",
    "best_among",
    "drawn",
    "fixed",
    "given",
    "over_all",
    "over_samples",
    "walk",
]


# ---- whom to expose next


@dataclass(frozen=True, slots=True)
class Choice:
    """Targets that are equally likely to be taken, and whom the strategy holds equally good.

    No targets: the strategy has nobody left to expose.
    """

    targets: tuple[int, ...]
    n_ties: int
    ties: Callable[[], Sequence[int]]

    @classmethod
    def of(cls, targets: Sequence[int]) -> Choice:
        """The first of several that are equally good."""
        return cls(tuple(targets[:1]), len(targets), lambda: targets)


Choose = Callable[[Position, int, Tree], Choice]
"""From a position, the steps that are left, and the tree of what they can lead to."""


def _ranked(position: Position, left: int, tree: Tree) -> Choice:
    key, user = position.best()
    step = len(position.exposed) + 1
    return Choice((user,), position.n_tied(key), partial(position.tied_users, key, step))


def _random(position: Position, left: int, tree: Tree) -> Choice:
    users = np.flatnonzero(position.doubt).tolist()
    return Choice(tuple(users), len(users), lambda: users)


def _degree(position: Position, left: int, tree: Tree) -> Choice:
    step = len(position.exposed) + 1
    degrees = position.degrees()
    most = degrees.max()
    number = int(np.count_nonzero(degrees == most))

    def ties() -> list[int]:
        before = position.degrees(step)
        return np.flatnonzero(before == before.max()).tolist()

    return Choice((int(degrees.argmax()),), number, ties)


def _lookahead(position: Position, left: int, tree: Tree) -> Choice:
    """Best play over all the steps that are left."""
    blocks = position.blocks()
    nodes = tree.position(block.shape for block in blocks)
    values = {
        (number, move.users): tree.after(nodes, number, move, lambda n: tree.best(n, left - 1))
        for number, move in tree.moves(nodes)
    }
    best = min(values.values())
    good: set[tuple[int, int]] = set()  # node and user
    for (number, alike), value in values.items():
        good.update((number, user) for user in alike if value == best)
    chosen: list[int] = []
    for block in blocks:
        number, new = tree.node(block.shape)
        pairs = zip(block.users.tolist(), new, strict=True)
        chosen += [user for user, k in pairs if (number, k) in good]
    return Choice.of(sorted(chosen))


def fixed(order: Sequence[int]) -> Choose:
    """Users in a given order."""

    def choose(position: Position, left: int, tree: Tree) -> Choice:
        return Choice.of([order[len(position.exposed)]])

    return choose


def best_among(users: npt.NDArray[np.bool_], strategy: str) -> Choose:
    """The best of some users at each step, as "optimal" or "entropy" rank them."""

    def choose(position: Position, left: int, tree: Tree) -> Choice:
        ranked: dict[float | Fraction, list[int]] = {}
        for block in position.blocks():
            for k in np.flatnonzero(users[block.users]).tolist():
                rank = _rank(block.shape, k, strategy)
                ranked.setdefault(rank, []).append(int(block.users[k]))
        return Choice.of(sorted(ranked[min(ranked)]) if ranked else [])

    return choose


def _rank(shape: Residual, user: int, strategy: str) -> float | Fraction:
    """How good a target is: less is better, and equal for those that are equally good."""
    if strategy == "entropy":
        return -rounded(float(shape.entropies[user]))
    share = shape.share(user)
    return rounded(share) if isinstance(share, float) else share


STRATEGIES: dict[str, Choose] = {
    "optimal": _ranked,
    "lookahead": _lookahead,
    "entropy": _ranked,
    "random": _random,
    "degree": _degree,
}


def rank_of(strategy: str) -> Rank | None:
    """How a strategy ranks blocks, if it does."""
    if strategy == "optimal":
        return lambda shape: shape.least_share
    if strategy == "entropy":
        return lambda shape: shape.most_entropy
    return None


# ---- along one truth


Truth = Callable[[Position, int], int]
"""What a user did, given what was revealed before."""


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
        spot, before = position.spot(target), position.log
        behaviour = truth(position, target)
        probability, forced = position.expose(target, behaviour)
        yield Stride(
            choice=choice,
            target=target,
            behaviour=behaviour,
            share=Fraction(1) if spot is None else spot.share,
            entropy=0.0 if spot is None else spot.entropy,
            probability=probability,
            log_before=before,
            log_after=position.log,
            forced=forced,
            n_edges=position.n_edges,
            in_doubt=position.in_doubt,
        )


def drawn(draws: np.random.Generator) -> Truth:
    """Draw every behaviour from its probabilities when it is revealed, which draws a matching."""

    def behaviour(position: Position, user: int) -> int:
        spot = position.spot(user)
        if spot is None:
            return position.forced_behaviour(user)
        edges = spot.shape.edges_of(spot.user)
        probabilities = np.cumsum(spot.shape.answer.probabilities[edges.start : edges.stop])
        index = int(
            np.searchsorted(probabilities, draws.random() * probabilities[-1], side="right")
        )
        return spot.behaviour(edges[min(index, len(edges) - 1)])

    return behaviour


def given(graph: Graph, truth: object) -> Truth:
    """Check that a truth is a perfect matching of the graph."""
    behaviours = _checked(graph, _indices(graph, truth))
    return lambda position, user: behaviours[user]


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


# ---- in expectation over all truths


Number = Fraction | float
Floats = npt.NDArray[np.float64]


@dataclass(kw_only=True)
class Expected:
    """One step in expectation; shares are of all matchings at the start."""

    targets: dict[int, Number] = field(default_factory=dict)
    choice: Choice | None = None  # where all truths lead to the same
    share: Fraction | None = Fraction(0)  # expected to be left; None: only its log is known
    log_share: float = 0.0
    log: float = 0.0  # expected log of the share that is left
    forced: Number | None = Fraction(0)
    n_edges: Number | None = Fraction(0)
    in_doubt: Number | None = Fraction(0)
    left_error: float = 0.0
    log_error: float = 0.0


@dataclass(slots=True)
class _State:
    """A position with the truths that lead to it, summed up."""

    position: Position
    probability: Fraction  # that it is reached
    mass: Fraction  # probability times the share of matchings that is left
    log: float  # probability times the log of that share

    def add(self, other: _State) -> None:
        self.probability += other.probability
        self.mass += other.mass
        self.log += other.log


def over_all(
    start: Position, choose: Choose, steps: int, tree: Tree, *, by_behaviour: bool, most: int
) -> list[Expected] | None:
    """Every step exactly (up to the probabilities), or None if there are more than ``most``
    outcomes.

    ``by_behaviour``: the strategy looks at behaviours too, so that positions that differ only in
    which behaviours are gone are not the same.
    """
    expected: list[Expected] = []
    level = [_State(start, Fraction(1), Fraction(1), 0.0)]
    followed = 0
    for left in range(steps, 0, -1):
        if not any(state.position.in_doubt for state in level):
            break
        step = Expected()
        following: dict[Hashable, _State] = {}
        for state in level:
            for new in _follow(state, choose, left, tree, step, len(level) == 1):
                followed += 1
                if followed > most and left > 1:
                    return None
                key = _key(new.position, by_behaviour)
                if key in following:
                    following[key].add(new)
                else:
                    following[key] = new
        if not step.targets:
            break
        step.log_share = log_of_share(step.share) if step.share else -math.inf
        expected.append(step)
        level = list(following.values())
    return expected


def _key(position: Position, by_behaviour: bool) -> Hashable:
    exposed = frozenset(position.exposed.items() if by_behaviour else position.exposed)
    return position.key(), exposed


def _follow(
    state: _State, choose: Choose, left: int, tree: Tree, step: Expected, alone: bool
) -> Iterator[_State]:
    """Add what a state contributes to a step, and go on to all that it can lead to."""
    position = state.position
    choice = choose(position, left, tree) if position.in_doubt else None
    if choice is None or not choice.targets:
        _add(step, state.mass, state.log)
        _tally(step, state.probability, 0, position.n_edges, position.in_doubt)
        yield state
        return
    if alone:
        step.choice = choice
    part = Fraction(1, len(choice.targets))
    for target in choice.targets:
        probability = part * state.probability
        step.targets[target] = step.targets.get(target, Fraction(0)) + probability
        spot = position.spot(target)
        if spot is None:
            _add(step, part * state.mass, float(part) * state.log)
            _tally(step, probability, 0, position.n_edges - 1, position.in_doubt)
            new = position.copy()
            new.expose(target, position.forced_behaviour(target))
            yield _State(new, probability, part * state.mass, float(part) * state.log)
            continue
        _add(
            step,
            part * state.mass * Fraction(spot.share),
            float(part) * (state.log - float(state.probability) * spot.entropy),
        )
        groups = spot.groups()
        if left == 1:
            _last(position, spot, groups, probability, step)
            continue
        for edges in groups:
            each = Fraction(spot.shape.probability(edges[0]))
            new = position.copy()
            _, forced = new.expose(target, spot.behaviour(edges[0]))
            reached = part * len(edges) * each
            _tally(step, reached * state.probability, len(forced), new.n_edges, new.in_doubt)
            yield _State(
                new,
                reached * state.probability,
                reached * each * state.mass,
                float(reached) * (state.log + float(state.probability) * log_of_share(each)),
            )


def _last(
    position: Position, spot: Spot, groups: list[list[int]], probability: Fraction, step: Expected
) -> None:
    """Who is forced by the last step, if that is cheap to say."""
    shape = spot.shape
    if len(groups) * shape.graph.n_edges > attack_tuning().forced_cells:
        step.forced = step.n_edges = step.in_doubt = None
        return
    splits = position.whole.owner.splits(shape, [edges[0] for edges in groups])
    for edges, split in zip(groups, splits, strict=True):
        reached = probability * len(edges) * Fraction(shape.probability(edges[0]))
        n_edges = position.n_edges + split.n_edges - shape.graph.n_edges
        number = len(split.forced)
        _tally(step, reached, number, n_edges, position.in_doubt - 1 - number)


def _add(step: Expected, mass: Fraction, log: float) -> None:
    assert step.share is not None
    step.share += mass
    step.log += log


def _tally(step: Expected, probability: Fraction, forced: int, n_edges: int, in_doubt: int) -> None:
    if step.forced is not None and step.n_edges is not None and step.in_doubt is not None:
        step.forced += probability * forced
        step.n_edges += probability * n_edges
        step.in_doubt += probability * in_doubt


def over_samples(
    start: Position,
    choose: Choose,
    steps: int,
    tree: Tree,
    *,
    samples: int,
    seed: int,
    progress: Callable[[int], None],
) -> list[Expected]:
    """Averages over truths that are drawn, with standard errors.

    What a step leaves is averaged before the target's behaviour is drawn: its expectation given
    the past is known, so that the first step has no error at all.
    """
    paths: list[list[Stride]] = []
    for sample in range(samples):
        draws = np.random.default_rng([seed, sample])
        paths.append(list(walk(start.copy(), choose, steps, tree, drawn(draws), draws)))
        progress(sample + 1)
    return [_average(paths, k) for k in range(max(len(path) for path in paths))]


def _average(paths: list[list[Stride]], k: int) -> Expected:
    """Step ``k`` over all paths; one that has ended stays as it is."""
    step = Expected(share=None)
    now = [(path[min(k, len(path) - 1)], k < len(path)) for path in paths]
    logs = [s.log_before + log_of_share(s.share) if goes_on else s.log_after for s, goes_on in now]
    falls = [s.log_before - s.entropy if goes_on else s.log_after for s, goes_on in now]
    times = Counter(s.target for s, goes_on in now if goes_on)
    step.targets = {user: number / len(paths) for user, number in times.items()}
    top = max(logs)
    scaled = np.exp(np.array(logs) - top)
    step.log_share = top + math.log(scaled.mean())
    step.left_error = _standard_error(scaled) / float(scaled.mean())
    step.log = float(np.mean(falls))
    step.log_error = _standard_error(np.array(falls))
    step.forced = float(np.mean([len(s.forced) if goes_on else 0 for s, goes_on in now]))
    step.n_edges = float(np.mean([s.n_edges for s, _ in now]))
    step.in_doubt = float(np.mean([s.in_doubt for s, _ in now]))
    if k == 0:
        step.choice = paths[0][0].choice if len(paths[0][0].choice.targets) == 1 else None
    return step


def _standard_error(values: Floats) -> float:
    if (values == values[0]).all():  # no rounding in the mean of equal numbers
        return 0.0
    return float(standard_error(values))

"""How an attacker chooses whom to expose next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from anonymatch.attacks.best_play import Tree
from anonymatch.attacks.position import Position, Rank
from anonymatch.attacks.residual import Residual, rounded

__all__ = ["STRATEGIES", "Choice", "Choose", "best_among", "fixed", "rank_of"]


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
    nodes = tree.position(shape for shape, _ in blocks)
    values = {
        (number, move.users): tree.after(nodes, number, move, lambda n: tree.best(n, left - 1))
        for number, move in tree.moves(nodes)
    }
    best = min(values.values())
    good: set[tuple[int, int]] = set()  # node and user
    for (number, alike), value in values.items():
        good.update((number, user) for user in alike if value == best)
    chosen: list[int] = []
    for shape, users in blocks:
        number, new = tree.node(shape)
        chosen += [user for user, k in zip(users.tolist(), new, strict=True) if (number, k) in good]
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
        for shape, members in position.blocks():
            for k in np.flatnonzero(users[members]).tolist():
                ranked.setdefault(_rank(shape, k, strategy), []).append(int(members[k]))
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

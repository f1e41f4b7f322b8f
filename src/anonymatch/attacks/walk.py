"""walk(): exposures one after another along one truth, in indices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonymatch.attacks.position import Position
from anonymatch.attacks.strategies import Choice, Choose
from anonymatch.attacks.tree import Tree
from anonymatch.attacks.truth import Truth
from anonymatch.counting.result import log_of

__all__ = ["Stride", "log_of_share", "outlook", "walk"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stride:
    """One exposure of a walk: what was expected before it, and what it left."""

    choice: Choice
    target: int
    behaviour: int
    share: Fraction | float  # of the matchings, expected to be left
    entropy: float  # by which the expected log falls
    chance: Fraction | float  # share of the matchings that was left
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
    """Up to ``steps`` exposures, until one matching is left; ``position`` is changed."""
    for left in range(steps, 0, -1):
        if not position.in_doubt:
            return
        choice = choose(position, left, tree)
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
            chance=change.chance,
            log_before=before,
            log_after=position.log,
            forced=change.forced,
            n_edges=position.n_edges,
            in_doubt=position.in_doubt,
        )

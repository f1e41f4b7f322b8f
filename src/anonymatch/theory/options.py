"""Options of attacks, designs and random graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymatch.base.options import from_zero, option, whole

__all__ = ["RANDOM_SAMPLES", "SMALL_RANDOM", "AttackOptions", "DesignOptions", "RandomOptions"]

SMALL_RANDOM = 12
"""Largest number of users for which random graphs are sampled by default."""

RANDOM_SAMPLES = 1000


def _strategies() -> str:
    from anonymatch.theory.attacks import STRATEGIES

    return f"Strategy of the attacker: {', '.join(STRATEGIES)}."


def _degree(text: str) -> float:
    value = from_zero("a degree")(text)
    return int(value) if value == int(value) else value


@dataclass(frozen=True, kw_only=True)
class AttackOptions:
    """Which users an attacker exposes; keywords of :func:`~anonymatch.attack`."""

    steps: int | None = option(
        None,
        "Number of users that are exposed one after another.",
        metavar="T",
        shown="1",
        read=whole(1),
    )
    strategy: str = option(
        "optimal",
        _strategies,
        metavar="NAME",
    )
    target: Sequence[str] | None = option(
        None, "Expose this user; may be repeated, in this order.", metavar="USER", many=True
    )
    among: Sequence[str] | None = option(
        None,
        "Expose only this user; if repeated, each step exposes the best of these users.",
        metavar="USER",
        many=True,
    )
    truth: str | None = option(
        None,
        "True matching that is revealed: a FILE with user,behaviour, or 'sampled'.",
        metavar="FILE",
        shown="expectations",
    )
    samples: int | None = option(
        None, "Number of sampled matchings to average over.", metavar="N", read=whole(1)
    )


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """Keywords of :func:`~anonymatch.design`."""

    users: int = option(..., "Number of users.", metavar="N", read=whole(1))
    edges: int = option(
        ..., "Cost: number of possible pairs of a user and a behaviour.", metavar="M", read=whole(1)
    )
    method: str = option(
        "best", "best: search many kinds of groups; paper: the paper's partition.", metavar="NAME"
    )
    objective: str = option(
        "matchings",
        "matchings, or after_attack: maximise matchings after the best target is exposed.",
        metavar="NAME",
    )
    min_part: int = option(2, "Number of users in the smallest group.", metavar="N", read=whole(1))


@dataclass(frozen=True, kw_only=True)
class RandomOptions:
    """Keywords of :func:`~anonymatch.random_expectation`."""

    users: int = option(..., "Number of users.", metavar="N", read=whole(1))
    degree: float | None = option(
        None,
        "Mean number of edges per user; each pair is an edge at random.",
        metavar="K",
        read=_degree,
    )
    edges: int | None = option(
        None, "Exact number of edges (instead of --degree).", metavar="M", read=whole(0)
    )
    samples: int | None = option(
        None,
        "Number of graphs to sample and count.",
        metavar="N",
        shown=f"{RANDOM_SAMPLES} up to {SMALL_RANDOM} users, else 0",
        read=whole(0),
    )

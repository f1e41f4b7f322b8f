"""Attacks by definition: positions are plain sets of matchings, so nothing is shared with src."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import anonymatch as am
from anonymatch.counting.reference import matchings

Matching = tuple[int, ...]
Weighted = dict[Matching, Fraction]
"""Matchings that agree with what was revealed, and their weights."""

Policy = Callable[[Weighted, dict[int, int]], list[int]]
"""From what is left and what was revealed, the targets that are equally likely."""


def all_matchings(graph: am.Graph) -> Weighted:
    weights = graph.exact_weights
    value = {
        (int(row), int(column)): Fraction(1 if weights is None else weights[k])
        for k, (row, column) in enumerate(zip(graph.rows(), graph.indices, strict=True))
    }
    return {
        m: math.prod((value[pair] for pair in enumerate(m)), start=Fraction(1))
        for m in matchings(graph)
    }


def total(left: Weighted) -> Fraction:
    return sum(left.values(), Fraction(0))


def outcomes(left: Weighted, user: int) -> dict[int, Weighted]:
    """What is left for each behaviour of a user."""
    parts: dict[int, Weighted] = {}
    for matching, weight in left.items():
        parts.setdefault(matching[user], {})[matching] = weight
    return parts


def share(left: Weighted, user: int) -> Fraction:
    """Expected share of the weight that exposing a user leaves."""
    return (
        sum((total(p) ** 2 for p in outcomes(left, user).values()), Fraction(0)) / total(left) ** 2
    )


def entropy(left: Weighted, user: int) -> float:
    probabilities = [total(part) / total(left) for part in outcomes(left, user).values()]
    return -sum(float(probability) * math.log(probability) for probability in probabilities)


def users_of(left: Weighted) -> range:
    return range(len(next(iter(left))))


def identified(left: Weighted) -> set[int]:
    return {user for user in users_of(left) if len(outcomes(left, user)) == 1}


def edges(left: Weighted, known: dict[int, int]) -> int:
    """Edges of users not exposed that are in some matching."""
    return len({(u, b) for m in left for u, b in enumerate(m) if u not in known})


def optimal(left: Weighted, known: dict[int, int]) -> list[int]:
    shares = [share(left, user) for user in users_of(left)]
    return [shares.index(min(shares))]


def by_entropy(left: Weighted, known: dict[int, int]) -> list[int]:
    values = [round(entropy(left, user), 9) for user in users_of(left)]
    return [values.index(max(values))]


def at_random(left: Weighted, known: dict[int, int]) -> list[int]:
    return sorted(set(users_of(left)) - identified(left))


def by_degree(graph: am.Graph) -> Policy:
    def policy(left: Weighted, known: dict[int, int]) -> list[int]:
        gone = set(known.values())
        rows = zip(graph.indptr, graph.indptr[1:], strict=False)
        degrees = [
            -1 if user in known else len(set(graph.indices[a:b].tolist()) - gone)
            for user, (a, b) in enumerate(rows)
        ]
        return [degrees.index(max(degrees))]

    return policy


def in_order(order: Sequence[int]) -> Policy:
    return lambda left, known: [order[len(known)]]


@dataclass
class Average:
    """A step in expectation."""

    left: Fraction = Fraction(0)
    log: float = 0.0
    forced: Fraction = Fraction(0)
    edges: Fraction = Fraction(0)
    in_doubt: Fraction = Fraction(0)
    targets: dict[int, Fraction] = field(default_factory=dict)


def expectation(graph: am.Graph, policy: Policy, steps: int) -> list[Average]:
    """Every step, by following every outcome."""
    start = all_matchings(graph)
    averages = [Average() for _ in range(steps)]

    def follow(left: Weighted, known: dict[int, int], probability: Fraction, k: int) -> None:
        if k == steps:
            return
        here = averages[k]
        if len(left) == 1:
            here.left += probability * total(left)
            here.log += float(probability) * math.log(total(left))
            here.edges += probability * edges(left, known)
            follow(left, known, probability, k + 1)
            return
        targets = policy(left, known)
        for target in targets:
            part = probability / len(targets)
            here.targets[target] = here.targets.get(target, Fraction(0)) + part
            before = identified(left)
            for behaviour, rest in outcomes(left, target).items():
                reached = part * total(rest) / total(left)
                after = identified(rest)
                now = {**known, target: behaviour}
                here.left += reached * total(rest)
                here.log += float(reached) * math.log(total(rest))
                here.forced += reached * len(after - before - {target})
                here.edges += reached * edges(rest, now)
                here.in_doubt += reached * (graph.n_users - len(after))
                follow(rest, now, reached, k + 1)

    follow(start, {}, Fraction(1), 0)
    return averages


def best_play(left: Weighted, steps: int) -> Fraction:
    """Expected weight left after the best adaptive play."""
    if steps == 0 or len(left) == 1:
        return total(left)
    return min(
        sum(
            (total(p) / total(left) * best_play(p, steps - 1) for p in outcomes(left, x).values()),
            Fraction(0),
        )
        for x in set(users_of(left)) - identified(left)
    )


def greedy_play(left: Weighted, steps: int) -> Fraction:
    """The same for the greedy attacker, who is lucky with ties."""
    if steps == 0 or len(left) == 1:
        return total(left)
    least = min(share(left, user) for user in users_of(left))
    return min(
        sum(
            (
                total(p) / total(left) * greedy_play(p, steps - 1)
                for p in outcomes(left, x).values()
            ),
            Fraction(0),
        )
        for x in users_of(left)
        if share(left, x) == least
    )


def reveals(left: Weighted) -> Fraction:
    """Least expected number of exposures until one matching is left."""
    if len(left) == 1:
        return Fraction(0)
    return 1 + min(
        sum((total(p) / total(left) * reveals(p) for p in outcomes(left, x).values()), Fraction(0))
        for x in set(users_of(left)) - identified(left)
    )

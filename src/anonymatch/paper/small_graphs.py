"""Every graph with up to six users and as many behaviours, one of each class, with its figures."""

from __future__ import annotations

import math
import os
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.paper.enumeration import (
    Keys,
    classes,
    number_of_classes,
    popcounts,
    predicted_seconds,
    unpack,
)
from anonymatch.running import Execution, Progress, tells_misfits

__all__ = ["LARGEST", "Best", "Survey", "survey", "survey_seconds"]

Ints = npt.NDArray[np.int64]

LARGEST = 6  # users: 7 have 33 million classes

_CHUNK = 1 << 14  # graphs whose matchings are counted together
_FIGURE_SECONDS = 4e-6  # to count through all edges of one graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best graphs with n users, n behaviours and m edges.

    Attributes
    ----------
    n, m, classes : int
        Users, edges, and the number of classes of such graphs.
    matchings, ways : int
        The largest number of perfect matchings, and how many classes have it.
    witness : tuple of str
        One of them, a string of bits a user.
    attack : Fraction
        The largest expected number of matchings that is left after an attacker has exposed the
        user whose exposure leaves fewest.
    attack_ways, attack_witness
        How many classes have it, and one of them.
    attack_of_witness : Fraction
        The same figure for `witness`: the largest among those with most matchings.
    """

    n: int
    m: int
    classes: int
    matchings: int
    number: int
    witness: tuple[str, ...]
    attack: Fraction
    attack_ways: int
    attack_witness: tuple[str, ...]
    attack_of_witness: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """All classes with n users and n behaviours; arrays have one entry a class.

    Attributes
    ----------
    n : int
    keys : array
        The rows of each graph as bits, the first user in the highest.
    edges, matchings : array
    through : array, shape (classes, n, n)
        Matchings through each edge; 0 where there is none.
    attack_numerator, attack_denominator : array
        The attack value, in lowest terms: the least, over users, of the sum of squares of matchings
        through the user's edges, divided by all matchings. Denominator 0: there is no matching.

    Examples
    --------
    >>> finding = survey(3)
    >>> len(finding.keys), finding.best[8].matchings, finding.best[8].attack
    (36, 4, Fraction(3, 2))
    """

    n: int
    keys: Keys
    edges: Ints
    matchings: Ints
    through: npt.NDArray[np.int32]
    attack_numerator: Ints
    attack_denominator: Ints

    def rows(self, index: int) -> tuple[str, ...]:
        """One graph, a string of bits a user."""
        n, key = self.n, int(self.keys[index])
        bits = format(key, f"0{n * n}b")
        return tuple(bits[i : i + n] for i in range(0, n * n, n))

    def graph(self, index: int) -> Graph:
        return Graph.from_rows(self.rows(index))

    def attack(self, index: int) -> Fraction:
        """The attack value of one graph with a matching."""
        return Fraction(int(self.attack_numerator[index]), int(self.attack_denominator[index]))

    @cached_property
    def best(self) -> dict[int, Best]:
        """The best graphs by number of edges, from n to n^2."""
        return {m: self._best(m) for m in range(self.n, self.n**2 + 1)}

    def over_bregman(self) -> Ints:
        """Indices of graphs with more matchings than Brègman's bound allows, decided exactly.

        Examples
        --------
        >>> survey(3).over_bregman().tolist()
        []
        """
        degrees = popcounts(self.n)[unpack(self.keys, self.n, self.n)].astype(np.int64)
        some = np.flatnonzero((self.matchings > 0) & (degrees > 0).all(axis=0))
        logs = np.array([math.lgamma(d + 1) / max(d, 1) for d in range(self.n + 1)])
        bound = logs[degrees[:, some]].sum(axis=0)
        close = some[np.log(self.matchings[some]) > bound - 1e-9]
        over = [i for i in close.tolist() if _beyond(int(self.matchings[i]), degrees[:, i])]
        return np.array(over, dtype=np.int64)

    def _best(self, m: int) -> Best:
        members = np.flatnonzero(self.edges == m)
        most = int(self.matchings[members].max())
        winners = members[self.matchings[members] == most]
        winner = max(winners.tolist(), key=self.attack)
        attackable = members[self.matchings[members] > 0]
        # Fractions with denominators up to 720: those that differ do so in doubles too.
        values = self.attack_numerator[attackable] / self.attack_denominator[attackable]
        leaders = attackable[values == values.max()]
        return Best(
            n=self.n,
            m=m,
            classes=len(members),
            matchings=most,
            number=len(winners),
            witness=self.rows(winner),
            attack=self.attack(int(leaders[0])),
            attack_ways=len(leaders),
            attack_witness=self.rows(int(leaders[0])),
            attack_of_witness=self.attack(winner),
        )


@tells_misfits
def survey(
    n: int,
    *,
    folder: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    effort: Execution | None = None,
) -> Survey:
    """Every class of graphs with n users and n behaviours, with matchings and attack value.

    Parameters
    ----------
    n : int
        From 1 to 6. Six users have 251 610 classes.
    folder : path, optional
        Where finished stages are kept, and found again by a later call.
    executor, progress
        As for :func:`anonymatch.count`.
    effort : Effort, optional
        Work under way that this is a part of and that expects :func:`survey_seconds`; instead of
        an executor and progress of its own.

    Examples
    --------
    >>> [len(survey(n).keys) for n in (1, 2, 3, 4)]
    [2, 7, 36, 317]
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= LARGEST:
        raise InputError(f"n must be a whole number from 1 to {LARGEST}, not {n!r}")
    directory = None if folder is None else Path(folder)
    if directory is not None and not directory.is_dir():
        raise InputError(f"{directory}: no such folder; make it first")
    if effort is None:
        effort = Execution(executor=executor, progress=progress)
        effort.expect(survey_seconds(n))
    return _figures(classes(n, directory, effort), n, effort)


def survey_seconds(n: int) -> float:
    """What :func:`survey` takes, predicted."""
    return predicted_seconds(n) + _FIGURE_SECONDS * number_of_classes(n, n)


def _figures(keys: Keys, n: int, effort: Execution) -> Survey:
    number = -(-len(keys) // _CHUNK)
    calls = (partial(_through, keys[k * _CHUNK : (k + 1) * _CHUNK], n) for k in range(number))
    each = _FIGURE_SECONDS * len(keys) / number
    through = np.concatenate(list(effort.chunks(calls, each=each, number=number)))
    matchings = through[:, 0, :].sum(axis=1, dtype=np.int64)
    squares = (through.astype(np.int64) ** 2).sum(axis=2).min(axis=1)
    divisor = np.maximum(np.gcd(squares, matchings), 1)
    return Survey(
        n=n,
        keys=keys,
        edges=np.bitwise_count(keys).astype(np.int64),
        matchings=matchings,
        through=through,
        attack_numerator=squares // divisor,
        attack_denominator=matchings // divisor,
    )


def _through(keys: Keys, n: int) -> npt.NDArray[np.int32]:
    """Matchings through every edge, by ways to fill sets of behaviours from both ends.

    ``before[s]``: ways in which the first users, as many as s has, take exactly the behaviours s;
    ``after[s]``: ways in which the others take the rest. Counts are at most 6!.
    """
    lines = unpack(keys, n, n)
    has = [[(line >> (n - 1 - j) & 1).astype(np.int32) for j in range(n)] for line in lines]
    before = np.zeros((1 << n, len(keys)), dtype=np.int32)
    after = np.zeros_like(before)
    before[0] = after[-1] = 1
    steps = [(s, j) for s in range(1 << n) for j in range(n) if not s >> j & 1]
    for s, j in steps:
        before[s | 1 << j] += before[s] * has[s.bit_count()][j]
    for s, j in reversed(steps):
        after[s] += after[s | 1 << j] * has[s.bit_count()][j]
    through = np.zeros((n, n, len(keys)), dtype=np.int32)
    for s, j in steps:
        user = s.bit_count()
        through[user, j] += before[s] * after[s | 1 << j] * has[user][j]
    return np.ascontiguousarray(through.transpose(2, 0, 1))


def _beyond(matchings: int, degrees: npt.NDArray[np.int64]) -> bool:
    """Whether a count exceeds the product of (d!)^(1/d), both to the power of all d's multiple."""
    sizes: list[int] = degrees.tolist()
    power = math.lcm(*sizes)
    bound = math.prod(math.factorial(size) ** (power // size) for size in sizes)
    return bool(matchings**power > bound)

"""Every graph with up to six users and as many behaviours, one of each class, with its figures.

Graphs that differ only in the order of users or behaviours are one class. Users and behaviours
keep their sides: a graph and its mirror image are two classes unless orders alone make them equal.
The classes with r users are found from those with r - 1, a stage each, by adding a user; stages
that are finished can be kept in a folder.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anonymatch.base.atomic_files import unfinished
from anonymatch.base.errors import InputError
from anonymatch.graph import Graph
from anonymatch.running import Execution, Progress, tells_misfits

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.int64]
"""Graphs as numbers: rows of bits one after another, the first user's in the highest."""

Rows = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Search:
    """How far claims are tried, and measured costs of the search over small graphs."""

    quick: int = 5
    largest: int = 6  # if asked for; 7 users have 33 million classes
    chunk: int = 1 << 14  # graphs that are put in order, or counted, together, in the cache
    order_seconds: float = 3e-8  # to put one graph's rows in order for one order of behaviours
    figure_seconds: float = 4e-6  # to count through all edges of one graph
    play_chunk: int = 1 << 11
    play_seconds: tuple[float, ...] = (2e-4, 4e-4, 1e-3, 3e-3, 0.05, 6.0)  # of 1 to 6 users
    memory: tuple[float, float] = (1.3e8, 6e8)  # bytes, quick and thorough: measured 80 and 470 MB
    listed_users: int = 7  # for whom all lists of degrees are tried
    increments: int = 5000  # degree up to which the sign of the increment is computed
    digits: int = 50  # of decimal numbers
    close: float = 1e-3  # to a limit in the end
    growing: tuple[int, ...] = (10, 30, 100, 300, *(10**k for k in (3, 4, 5, 6, 8, 10, 12)))


SEARCH = Search()


@dataclass(frozen=True, slots=True, kw_only=True)
class Best:
    """The best graphs with n users, n behaviours and m edges; graphs as strings of bits a user."""

    n: int
    m: int
    classes: int  # of such graphs
    matchings: int  # the most
    number: int  # of classes that have as many
    witness: tuple[str, ...]  # one of them: of which an attack leaves most
    attack: Fraction  # the largest expected number that the best attack on one user leaves
    attack_ways: int  # classes that have it
    attack_witness: tuple[str, ...]
    attack_of_witness: Fraction


@dataclass(frozen=True, kw_only=True, eq=False)
class Survey:
    """All classes with n users and n behaviours; arrays have one entry a class.

    The attack value is the least, over users, of the sum of squares of matchings through the
    user's edges, divided by all matchings.

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
    through: npt.NDArray[np.int32]  # (classes, n, n): matchings through each edge
    attack_numerator: Ints  # in lowest terms
    attack_denominator: Ints  # 0: there is no matching

    @property
    def degrees(self) -> Ints:
        """Of all users of all graphs, a line a user."""
        return popcounts(self.n)[unpack(self.keys, self.n, self.n)].astype(np.int64)

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
    """Every class of graphs with n users and n behaviours, n from 1 to 6.

    Finished stages are kept in ``folder``, and found there by a later call. ``effort`` is work
    under way that this is a part of and that expects :func:`survey_seconds`, instead of an executor
    and progress of its own.

    Examples
    --------
    >>> [len(survey(n).keys) for n in (1, 2, 3, 4)]
    [2, 7, 36, 317]
    """
    if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= SEARCH.largest:
        raise InputError(f"n must be a whole number from 1 to {SEARCH.largest}, not {n!r}")
    directory = None if folder is None else Path(folder)
    if directory is not None and not directory.is_dir():
        raise InputError(f"{directory}: no such folder; make it first")
    if effort is None:
        effort = Execution(executor=executor, progress=progress)
        effort.expect(survey_seconds(n))
    return _figures(classes(n, directory, effort), n, effort)


def survey_seconds(n: int) -> float:
    """What :func:`survey` takes, predicted."""
    return predicted_seconds(n) + SEARCH.figure_seconds * number_of_classes(n, n)


def _figures(keys: Keys, n: int, effort: Execution) -> Survey:
    number = -(-len(keys) // SEARCH.chunk)
    calls = (
        partial(_through, keys[k * SEARCH.chunk : (k + 1) * SEARCH.chunk], n) for k in range(number)
    )
    each = SEARCH.figure_seconds * len(keys) / number
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


# ---- one graph of each class

_COMPARISONS = {  # the shortest networks that sort so many rows
    1: "",
    2: "01",
    3: "02 01 12",
    4: "02 13 01 23 12",
    5: "03 14 02 13 01 24 12 34 23",
    6: "05 13 24 12 34 03 25 01 23 45 12 34",
}


def classes(n: int, folder: Path | None, effort: Execution) -> Keys:
    """The classes with n users and n behaviours, in increasing order of their keys.

    Examples
    --------
    >>> [format(key, "04b") for key in classes(2, None, Execution())]
    ['0000', '1000', '1001', '1010', '1100', '1110', '1111']
    """
    keys: Keys = np.array([_start(n, ones) for ones in range(n + 1)], dtype=np.int64)
    for r in range(2, n + 1):
        keys = _stage(keys, r, n, folder, effort)
    return keys


def predicted_seconds(n: int) -> float:
    """What all stages take together."""
    return sum(_stage_seconds(r, n) for r in range(2, n + 1))


def number_of_classes(users: int, behaviours: int) -> int:
    """How many graphs there are up to the orders of users and of behaviours, by Burnside's lemma.

    Examples
    --------
    >>> [number_of_classes(n, n) for n in range(1, 8)]
    [2, 7, 36, 317, 5624, 251610, 33642660]
    """
    total = Fraction(0)
    for left, left_weight in _cycle_types(users):
        for right, right_weight in _cycle_types(behaviours):
            cycles = sum(math.gcd(a, b) for a in left for b in right)
            total += left_weight * right_weight * 2**cycles
    return int(total)


def _cycle_types(n: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Cycle lengths of permutations of n things, and the share of permutations that have them."""
    for lengths in _partitions(n, n):
        repeats = Counter(lengths)
        orders = math.prod(c**k * math.factorial(k) for c, k in repeats.items())
        yield lengths, Fraction(1, orders)


def _partitions(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    if n == 0:
        yield ()
    for first in range(min(n, largest), 0, -1):
        for rest in _partitions(n - first, first):
            yield first, *rest


def _start(n: int, ones: int) -> int:
    """The only class of one user with so many edges."""
    return ((1 << ones) - 1) << (n - ones)


def _stage_seconds(r: int, n: int) -> float:
    """Predicted: half of all rows are tried with every class that has a user less."""
    tried = number_of_classes(r - 1, n) << (n - 1)
    return SEARCH.order_seconds * math.factorial(n) * tried


def _stage(keys: Keys, r: int, n: int, folder: Path | None, effort: Execution) -> Keys:
    """The classes with r users, from those with r - 1."""
    seconds = _stage_seconds(r, n)
    path = None if folder is None else folder / f"classes-{r}-users-{n}-behaviours.npz"
    known = None if path is None else _load(path, r, n)
    if known is not None:
        effort.advance(seconds)
        return known
    number = -(-len(keys) // _per_chunk(n))
    calls: Iterator[Callable[[], Keys]] = (
        partial(_extended, keys[k * _per_chunk(n) : (k + 1) * _per_chunk(n)], r, n)
        for k in range(number)
    )
    unique_keys: Keys = np.empty(0, dtype=np.int64)
    for part in effort.chunks(calls, each=seconds / number, number=number):
        unique_keys = np.union1d(unique_keys, part)
    expected = number_of_classes(r, n)
    if len(unique_keys) != expected:
        raise AssertionError(
            f"{len(unique_keys)} classes of {r} users and {n} behaviours, not {expected}"
        )
    if path is not None:
        _save(path, unique_keys)
    return unique_keys


def _per_chunk(n: int) -> int:
    return max(1, SEARCH.chunk >> (n - 1))


def _extended(keys: Keys, r: int, n: int) -> Keys:
    """Classes that one more user makes of these; r counts the new one.

    Every class is found even if the new user has at least as many edges as any other.
    """
    ones = popcounts(n)
    rows = unpack(keys, r - 1, n)
    graph, new = np.nonzero(ones[rows].max(axis=0)[:, None] <= ones[None, :])
    return np.unique(_canonical(np.vstack([rows[:, graph], new.astype(np.uint8)]), n))


def _canonical(rows: Rows, n: int) -> Keys:
    """The largest key over all orders of users and behaviours; rows[i] has user i of each graph."""
    positions = rows.astype(np.intp)
    best = np.zeros(rows.shape[1], dtype=np.int64)
    for table in _reordered(n):
        np.maximum(best, _pack(_sorted(table[positions]), n), out=best)
    return best


def _sorted(rows: Rows) -> list[Rows]:
    """Each graph's rows, the largest first."""
    lines = list(rows)
    for i, j in (map(int, pair) for pair in _COMPARISONS[len(lines)].split()):
        lines[i], lines[j] = np.maximum(lines[i], lines[j]), np.minimum(lines[i], lines[j])
    return lines


def _pack(lines: list[Rows], n: int) -> Keys:
    key = lines[0].astype(np.int64)
    for line in lines[1:]:
        key <<= n
        key |= line
    return key


def unpack(keys: Keys, r: int, n: int) -> Rows:
    """Rows of every graph, a line a user.

    Examples
    --------
    >>> unpack(np.array([0b1101]), 2, 2).tolist()
    [[3], [1]]
    """
    shifts = n * np.arange(r - 1, -1, -1, dtype=np.int64)[:, None]
    return (keys[None, :] >> shifts & (1 << n) - 1).astype(np.uint8)


def _reordered(n: int) -> list[Rows]:
    """For every order of behaviours: what it makes of each row."""
    bits = np.arange(1 << n)[None, :] >> np.arange(n)[:, None] & 1
    return [
        (bits << np.array(order)[:, None]).sum(axis=0).astype(np.uint8)
        for order in permutations(range(n))
    ]


def popcounts(n: int) -> Rows:
    """How many edges each row of n bits has.

    Examples
    --------
    >>> popcounts(2).tolist()
    [0, 1, 1, 2]
    """
    return np.bitwise_count(np.arange(1 << n)).astype(np.uint8)


def _load(path: Path, r: int, n: int) -> Keys | None:
    """A stage kept earlier; None if there is none, or not a whole one."""
    try:
        # Opened here: numpy leaves a file open that is no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            keys: Keys = stored["keys"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
    whole = keys.dtype == np.int64 and keys.shape == (number_of_classes(r, n),)
    return keys if whole and (np.diff(keys) > 0).all() else None


def _save(path: Path, keys: Keys) -> None:
    with unfinished(path) as beside:
        np.savez_compressed(beside, keys=keys)

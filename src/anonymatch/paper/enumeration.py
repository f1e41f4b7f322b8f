"""One graph of each class: graphs that differ only in the order of users or behaviours are one.

Users and behaviours keep their sides: a graph and its mirror image are two classes unless orders
alone make them equal. The classes with r users are found from those with r - 1, a stage each, by
adding a user; stages that are finished can be kept in a folder.
"""

from __future__ import annotations

import math
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from anonymatch.base.atomic_files import unfinished
from anonymatch.running import Execution

__all__ = ["Keys", "classes", "number_of_classes", "popcounts", "predicted_seconds", "unpack"]

Keys = npt.NDArray[np.int64]
"""Graphs as numbers: rows of bits one after another, the first user's in the highest."""

Rows = npt.NDArray[np.uint8]

_CHUNK = 1 << 14  # graphs that are put in order together: their rows stay in the cache
_ORDER_SECONDS = 3e-8  # to put one graph's rows in order for one order of behaviours
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
    return _ORDER_SECONDS * math.factorial(n) * tried


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
    return max(1, _CHUNK >> (n - 1))


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

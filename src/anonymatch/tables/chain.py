"""A chain over tables with given margins: probabilities of large blocks of a release.

A step takes a closed way through pairs of classes and draws, from its exact distribution, how many
people go around it. Closed ways are chosen by the graph alone, every one with some probability, so
every table can be reached and the chain goes to prod 1/n!.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

from anonymatch.base.arrays import Floats, Ints, offsets
from anonymatch.running import check_work

__all__ = ["chain_shares"]

_BATCHES = 20
_LONGEST = 12  # pairs of people's and rows' classes on a closed way
_CHECKED = 2000  # steps between looks at the clock


def chain_shares(
    kinds: Ints,
    classes: Ints,
    people: Ints,
    rows: Ints,
    flow: Ints,
    *,
    seconds: float,
    seed: int,
) -> tuple[Floats, Floats]:
    """Probability of each pair that a person of the kind has a row of the class, and its error.

    Examples
    --------
    >>> pairs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> sizes = np.array([30, 10]), np.array([20, 20])
    >>> share, error = chain_shares(*pairs, *sizes, np.array([20, 10, 0, 10]), seconds=0.5, seed=1)
    >>> bool((abs(share - 0.5) < 6 * error + 0.01).all())
    True
    """
    walk = _Walk(kinds, classes, len(people), len(rows), seed)
    numbers = flow.astype(np.int64).tolist()
    steps = 20 * len(kinds)
    deadline = time.process_time() + seconds
    _run(walk, numbers, steps)  # from the flow to what is usual
    batches: list[Floats] = []
    while len(batches) < _BATCHES:
        batches.append(_run(walk, numbers, steps))
        if len(batches) == _BATCHES and time.process_time() < deadline - _spent(batches, seconds):
            # There is time: batches grow together, two by two.
            batches = [(a + b) / 2 for a, b in zip(batches[::2], batches[1::2], strict=True)]
            steps *= 2
    means = np.array(batches) / people[kinds]
    return means.mean(axis=0), means.std(axis=0, ddof=1) / math.sqrt(_BATCHES)


def _spent(batches: list[Floats], seconds: float) -> float:
    """What half of the batches, each as long again, would take at most: half of what there is."""
    return seconds / 2 if batches else 0.0


def _run(walk: _Walk, numbers: list[int], steps: int) -> Floats:
    """Mean numbers over so many steps."""
    total = np.zeros(len(numbers))
    seen = 0
    every = max(len(numbers) // 4, 1)
    for step in range(steps):
        walk.step(numbers)
        if step % every == 0:
            total += numbers
            seen += 1
        if step % _CHECKED == 0:
            check_work()
    return total / max(seen, 1)


class _Walk:
    """Closed ways and draws along them."""

    def __init__(self, kinds: Ints, classes: Ints, left: int, right: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        order = np.argsort(kinds, kind="stable")
        by_kind = np.split(order, offsets(np.bincount(kinds, minlength=left))[1:-1])
        order = np.argsort(classes, kind="stable")
        by_class = np.split(order, offsets(np.bincount(classes, minlength=right))[1:-1])
        self._of_kind: list[list[int]] = [pairs.tolist() for pairs in by_kind]
        self._of_class: list[list[int]] = [pairs.tolist() for pairs in by_class]
        self._kinds, self._classes = kinds.tolist(), classes.tolist()
        self._pair = {
            (kind, class_): at
            for at, (kind, class_) in enumerate(zip(self._kinds, self._classes, strict=True))
        }
        self._random: Iterator[float] = iter(())
        self._logs = np.zeros(1)

    def _uniform(self) -> float:
        value = next(self._random, None)
        if value is None:
            self._random = iter(self._rng.random(65536).tolist())
            value = next(self._random)
        return value

    def _any(self, items: list[int]) -> int:
        return items[int(self._uniform() * len(items))]

    def _way(self) -> tuple[list[int], list[int]] | None:
        """Pairs that gain and pairs that lose, in turns, on a closed way; None if none closed."""
        first = int(self._uniform() * len(self._of_kind))
        pair = self._any(self._of_kind[first])
        gains, losses = [pair], []
        used_kinds, used_classes = {first}, {self._classes[pair]}
        for _ in range(_LONGEST):
            pair = self._any(self._of_class[self._classes[gains[-1]]])
            kind = self._kinds[pair]
            if kind in used_kinds:
                return None
            losses.append(pair)
            used_kinds.add(kind)
            pair = self._any(self._of_kind[kind])
            class_ = self._classes[pair]
            if class_ in used_classes:
                return None
            gains.append(pair)
            used_classes.add(class_)
            closing = self._pair.get((first, class_))
            if closing is not None and self._uniform() < 0.7:
                losses.append(closing)
                return gains, losses
        return None

    def step(self, numbers: list[int]) -> None:
        way = self._way()
        if way is None:
            return
        gains, losses = way
        if len(gains) == 2:
            self._exchange(numbers, gains, losses)
        else:
            self._around(numbers, gains, losses)

    def _exchange(self, numbers: list[int], gains: list[int], losses: list[int]) -> None:
        """Two kinds and two classes: hypergeometric."""
        (a, d), (b, c) = gains, losses
        # a and b are of one class or kind, whatever way round: a + b and a + c stay.
        row, column = numbers[a] + numbers[b], numbers[a] + numbers[c]
        total = row + numbers[c] + numbers[d]
        if not total:
            return
        drawn = int(self._rng.hypergeometric(row, total - row, column))
        change = drawn - numbers[a]
        numbers[a] += change
        numbers[d] += change
        numbers[b] -= change
        numbers[c] -= change

    def _around(self, numbers: list[int], gains: list[int], losses: list[int]) -> None:
        least = -min(numbers[pair] for pair in gains)
        most = min(numbers[pair] for pair in losses)
        if least == most:
            return
        change = np.arange(least, most + 1)
        largest = max(max(numbers[pair] for pair in gains) + most,
                      max(numbers[pair] for pair in losses) - least)  # fmt: skip
        logs = self._log_factorials(largest)
        weight = np.zeros(len(change))
        for pair in gains:
            weight -= logs[numbers[pair] + change]
        for pair in losses:
            weight -= logs[numbers[pair] - change]
        shares = np.cumsum(np.exp(weight - weight.max()))
        drawn = int(np.searchsorted(shares, self._uniform() * shares[-1]))
        moved = least + min(drawn, len(change) - 1)
        for pair in gains:
            numbers[pair] += moved
        for pair in losses:
            numbers[pair] -= moved

    def _log_factorials(self, largest: int) -> Floats:
        if len(self._logs) <= largest:
            from scipy.special import gammaln

            self._logs = np.asarray(gammaln(np.arange(2 * largest + 2) + 1.0), dtype=np.float64)
        return self._logs

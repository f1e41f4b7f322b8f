"""Probabilities of large blocks of a release, by chains over tables with given margins."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats, Ints
from anonymatch.running import RHAT_LIMIT, byte_of_work, check_work, variance_ratio

__all__ = ["chain_shares", "least_seconds"]

_BATCHES = 10  # of each chain
_NEAR = 4e-3  # standard error of a probability that is small enough
_ROUGH = 0.02  # and one above which chains that disagree have not converged
_STEP = 2.5e-8, 1.2e-12, 5e-7  # seconds of a step: at least, more for each pair, in memory
_PAIR = 1.2e-7  # seconds of a pair in each stretch of a chain
_MADE = 4e-7  # seconds of a pair when chains are made
_SAFE = 0.9  # of the seconds is spent on stretches, whose length is not known before


def chain_shares(
    kinds: Ints,
    classes: Ints,
    people: Ints,
    starts: tuple[Ints, Ints],
    *,
    seconds: float,
    seed: int,
) -> tuple[Floats, Floats] | None:
    """Probability of each pair that a person of the kind has a row of the class, and its error.

    Two chains begin at different tables, and go on twice as long again and again; what came before
    only warmed them up. Batches, and how far the chains are apart, tell how sure they are. None if
    the chains hardly ever come back to tables in which everybody has a row, if they still disagree
    at the end, and if the predicted ``seconds`` of one core are too few. Steps are counted, and
    never timed, so that one seed has one answer.

    Examples
    --------
    >>> pairs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> starts = np.array([20, 10, 0, 10]), np.array([10, 20, 10, 0])
    >>> share, error = chain_shares(*pairs, np.array([30, 10]), starts, seconds=0.5, seed=1)
    >>> bool((abs(share - 0.5) < 6 * error + 0.01).all())
    True
    """
    left = _SAFE * (seconds - _MADE * len(kinds))
    if left < least_seconds(len(kinds)):
        return None
    order = np.lexsort((classes, kinds))
    chains = _Chains(
        _native.TableChain(kinds[order], classes[order], people),
        [start[order] for start in starts],
        seed,
    )
    worms, summary = 1, None
    while True:
        batches, spent = chains.batches(worms, left)
        left -= spent
        if batches is None:
            break
        summary = _summary(batches / people[kinds[order]])
        if summary[1].max() <= _NEAR or 2 * spent > left:
            break
        worms *= 2
    if summary is None or (summary[2] > RHAT_LIMIT and summary[1].max() > _ROUGH):
        return None
    back = np.argsort(order)
    return summary[0][back], summary[1][back]


def least_seconds(pairs: int) -> float:
    """Predicted seconds of the shortest stretches that tell anything."""
    return 2 * _BATCHES * _PAIR * pairs


def _step_seconds(pairs: int) -> float:
    """Predicted seconds of a step: tables beyond the caches of a processor are slower.

    Examples
    --------
    >>> [f"{_step_seconds(pairs):.1e}" for pairs in (100, 100_000, 4_000_000)]
    ['2.5e-08', '1.5e-07', '1.1e-06']
    """
    least, more, most = _STEP
    near = least + more * pairs
    return near if near <= most else most * (1.0 + 0.5 * math.log(near / most))


class _Chains:
    """Chains that go on side by side."""

    def __init__(
        self, chain: _native.TableChain, numbers: list[npt.NDArray[Any]], seed: int
    ) -> None:
        self._chain, self._numbers, self._seed = chain, numbers, seed
        self._index = 0

    def batches(self, worms: int, seconds: float) -> tuple[Floats | None, float]:
        """Means of each chain, batch and pair, and what they took in predicted seconds.

        None if that is beyond ``seconds``.
        """
        made: list[list[Floats]] = []
        number, pairs = len(self._numbers), len(self._numbers[0])
        step, spent = _step_seconds(pairs), 0.0
        with ThreadPoolExecutor(number) as threads:
            for _ in range(_BATCHES):
                check_work()
                steps = int((seconds - spent) / (number * step))
                if steps <= 0:
                    return None, spent
                run = partial(self._stretch, worms, steps, byte_of_work())
                runs = list(threads.map(run, range(number)))
                spent += number * _PAIR * pairs + step * sum(one.steps for one in runs)
                if any(one.worms < worms for one in runs):
                    check_work()
                    return None, spent
                self._numbers = [one.numbers for one in runs]
                self._index += 1
                made.append([one.means for one in runs])
        return np.array(made).swapaxes(0, 1), spent

    def _stretch(
        self, worms: int, most_steps: int, cancel: bytearray | None, number: int
    ) -> _native.TableStretch:
        index = self._index * len(self._numbers) + number
        return self._chain.run(
            self._numbers[number],
            self._seed,
            index,
            worms=worms,
            most_steps=most_steps,
            cancel=cancel,
        )


def _summary(batches: Floats) -> tuple[Floats, Floats, float]:
    """Means, their errors, and R-hat."""
    own, ratio = variance_ratio(batches)
    return batches.mean(axis=(0, 1)), np.sqrt(own * max(ratio, 1.0)), math.sqrt(ratio)

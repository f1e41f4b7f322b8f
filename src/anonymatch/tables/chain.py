"""Probabilities of large blocks of a release, by chains over tables with given margins."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.base.arrays import Floats, Ints
from anonymatch.running import byte_of_work, check_work

__all__ = ["chain_shares"]

_BATCHES = 10  # of each chain
_NEAR = 4e-3  # standard error of a probability that is small enough
_STEP = 5e-8  # seconds of a step, about


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
    the chains hardly ever come back to tables in which everybody has a row.

    Examples
    --------
    >>> pairs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> starts = np.array([20, 10, 0, 10]), np.array([10, 20, 10, 0])
    >>> share, error = chain_shares(*pairs, np.array([30, 10]), starts, seconds=0.5, seed=1)
    >>> bool((abs(share - 0.5) < 6 * error + 0.01).all())
    True
    """
    order = np.lexsort((classes, kinds))
    chains = _Chains(
        _native.TableChain(kinds[order], classes[order], people),
        [start[order] for start in starts],
        seed,
    )
    deadline = time.monotonic() + seconds
    worms, summary = 1, None
    while True:
        began = time.monotonic()
        batches = chains.batches(worms, deadline)
        if batches is None:
            break
        summary = _summary(batches / people[kinds[order]])
        now = time.monotonic()
        if summary[1].max() <= _NEAR or now + 2 * (now - began) > deadline:
            break
        worms *= 2
    if summary is None:
        return None
    back = np.argsort(order)
    return summary[0][back], summary[1][back]


class _Chains:
    """Chains that go on side by side."""

    def __init__(
        self, chain: _native.TableChain, numbers: list[npt.NDArray[Any]], seed: int
    ) -> None:
        self._chain, self._numbers, self._seed = chain, numbers, seed
        self._index = 0

    def batches(self, worms: int, deadline: float) -> Floats | None:
        """Means of each chain, batch and pair; None if the time is over before."""
        made: list[list[Floats]] = []
        with ThreadPoolExecutor(len(self._numbers)) as threads:
            for _ in range(_BATCHES):
                check_work()
                steps = int(max(deadline - time.monotonic(), 0.1) / _STEP)
                run = partial(self._stretch, worms, steps, byte_of_work())
                runs = list(threads.map(run, range(len(self._numbers))))
                if any(one.worms < worms for one in runs):
                    check_work()
                    return None
                self._numbers = [one.numbers for one in runs]
                self._index += 1
                made.append([one.means for one in runs])
        return np.array(made).swapaxes(0, 1)

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


def _summary(batches: Floats) -> tuple[Floats, Floats]:
    """Means over chains and batches, and the larger of the errors that either tells."""
    chains, number = batches.shape[:2]
    own = batches.var(axis=1, ddof=1).mean(axis=0) / (chains * number)
    between = batches.mean(axis=1).var(axis=0, ddof=1) / chains
    # Two chains tell little of one pair, but over all pairs whether batches are too short.
    whole = float(own.sum())
    ratio = float(between.sum()) / whole if whole > 0.0 else 1.0
    return batches.mean(axis=(0, 1)), np.sqrt(own * max(ratio, 1.0))

"""Markov chains over matchings, for blocks and for tables with given margins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import (
    Floats,
    Ints,
    Rows,
    cancel_byte,
    floats,
    ints,
    sorted_rows,
    square,
)
from anonymatch._native.extension import kernels


class WormSamples(NamedTuple):
    """A stretch of the chain."""

    matchings: Ints  # samples by users (empty unless asked for)
    counts: npt.NDArray[np.uint32]  # one an edge: samples that use it
    last: Ints  # the last sample, to go on from
    steps: int


class Worm:
    """A chain over matchings of an irreducible square block, in proportion to their weights."""

    def __init__(self, block: Rows) -> None:
        self._users = block.n_users
        self._job = kernels.Worm(*square(block))

    def run(
        self,
        matching: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        samples: int,
        worms: int,
        matchings: bool = False,
        cancel: bytearray | None = None,
        most_steps: int = 2**64 - 1,
    ) -> WormSamples:
        """Samples ``worms`` apart from a perfect matching; the first of them if cancelled.

        It gives up after about ``most_steps``: worms of some blocks hardly ever close.
        """
        arguments = seed, index, samples, worms, matchings, cancel_byte(cancel), most_steps
        return self._samples(self._job.run(ints(matching), *arguments))

    def run_together(
        self,
        starts: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        samples: int,
        worms: int,
        matchings: bool = False,
        cancel: bytearray | None = None,
        most_steps: int = 2**64 - 1,
    ) -> list[WormSamples]:
        """What :meth:`run` gives from each start, with the indices from ``index`` on.

        Chains take turns at their steps: in large blocks their waits for memory overlap. They give
        up when one has made about ``most_steps``.
        """
        arguments = seed, index, samples, worms, matchings, cancel_byte(cancel), most_steps
        lanes = self._job.run_together(ints(starts).reshape(-1), *arguments)
        return [self._samples(lane) for lane in lanes]

    def _samples(self, parts: tuple[Any, ...]) -> WormSamples:
        samples = WormSamples(*parts)
        return samples._replace(matchings=samples.matchings.reshape(-1, self._users))


class SpareSamples(NamedTuple):
    """A stretch of the chain; what was not asked for is empty."""

    sums: Floats  # one an edge: its probability given all others, over all samples
    resting: Floats  # one a sample: over users, the sum of 1 / (rest + free weight)
    matchings: Ints  # samples by users
    last: Ints  # the last sample, to go on from; -1: a user who rests
    samples: int
    picks: int


class SpareChain:
    """A chain over the matchings of all users; see ``cpp/kernels/spare_chain/spare_chain.hpp``.

    Factors of users change no probability of a matching: weights are scaled to a largest of 1.
    """

    def __init__(self, block: Rows) -> None:
        self._users = block.n_users
        self._job = kernels.SpareChain(*sorted_rows(block), _scaled(block))

    def run(
        self,
        start: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        samples: int,
        moves: int,
        rest: float = 0.0,
        edges: bool = False,
        resting: bool = False,
        matchings: bool = False,
        cancel: bytearray | None = None,
        most_picks: int = 2**64 - 1,
    ) -> SpareSamples:
        """Samples ``moves`` apart; the first of them if cancelled, or beyond ``most_picks``."""
        drawn = SpareSamples(
            *self._job.run(
                ints(start),
                seed,
                index,
                samples,
                moves,
                rest,
                edges,
                resting,
                matchings,
                cancel_byte(cancel),
                most_picks,
            )
        )
        return drawn._replace(matchings=drawn.matchings.reshape(-1, self._users))


def _scaled(block: Rows) -> Floats:
    if block.weights is None:
        return np.empty(0)
    starts = np.asarray(block.indptr[:-1])
    largest = np.maximum.reduceat(block.weights, starts)
    return floats(block.weights / np.repeat(largest, np.diff(block.indptr)))


class TableStretch(NamedTuple):
    """A stretch of the chain."""

    means: Floats  # one a pair: its number, over all worms
    numbers: Ints  # at the end, to go on from; of no use when stopped
    worms: int
    steps: int


class TableChain:
    """A chain over ways to match, as tables; see ``cpp/kernels/table_chain/table_chain.hpp``.

    Pairs are sorted by kind, then by class.
    """

    def __init__(
        self, kinds: npt.NDArray[Any], classes: npt.NDArray[Any], people: npt.NDArray[Any]
    ) -> None:
        self._chain = kernels.TableChain(ints(kinds), ints(classes), ints(people))

    def run(
        self,
        start: npt.NDArray[Any],
        seed: int,
        index: int,
        *,
        worms: int,
        most_steps: int,
        cancel: bytearray | None = None,
    ) -> TableStretch:
        """So many worms; fewer if cancelled, or beyond ``most_steps``."""
        return TableStretch(
            *self._chain.run(ints(start), seed, index, worms, most_steps, cancel_byte(cancel))
        )

"""The chain over matchings of a block with spare behaviours."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, Rows, cancel_byte, floats, ints
from anonymatch._native.extension import kernels


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
        self._job = kernels.SpareChain(
            block.n_behaviours, ints(block.indptr), ints(block.indices), _scaled(block)
        )

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

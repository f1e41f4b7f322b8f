"""The worm chain over matchings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Ints, Rows, cancel_byte, ints, square
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

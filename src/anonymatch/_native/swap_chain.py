"""Wide bands by swaps: a Markov chain in replicas, and the scaling that it corrects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels

SWAP_CHAIN_LANES: int = kernels.swap_chain_lanes
SWAP_CHAIN_SAMPLES = 8000  # counts of entries have 16 bits
_FAR = 2**31 - 1


class SwapRows(NamedTuple):
    """Figures of rows by their shares, given that they are not gone."""

    gone: Floats
    shannon: Floats
    collision: Floats
    largest: Floats
    guess: Ints
    guessing: Floats
    distance: Floats  # unbiased sum of (p - share)^2 / share
    upper: Floats  # log of Soules' factor
    lower: float  # log of the lower bound on the permanent, summed over rows
    size: float
    positive: bool


class SwapChain:
    """A band, its scaling and its chain; see ``cpp/kernels/swap_chain/swap_chain.hpp``.

    Row ``i`` is positive in columns ``first[i]`` to ``last[i] - 1``, which never fall from row to
    row and have ``i`` between them.
    """

    def __init__(self, first: Ints, last: Ints, weights: Floats | None, seed: int) -> None:
        first, last = ints(first), ints(last)
        rows = np.arange(len(first))
        fits = (first >= 0).all() and (first <= rows).all() and (rows < last).all()
        rising = (np.diff(first) >= 0).all() and (np.diff(last) >= 0).all()
        if not (len(rows) and fits and rising and last[-1] == len(rows)):
            raise ValueError("the rows are no band around the diagonal")
        if weights is not None and len(weights) != int((last - first).sum()):
            raise ValueError(f"{len(weights)} weights")
        self._size = len(rows)
        band = kernels.SwapBand(first, last, floats_or_empty(weights))
        self.scaling = kernels.BandScaling(band)
        self._chain = kernels.SwapChain(band, ints(np.zeros(self._size)), seed)

    def scale(self, steps: int, relaxation: float, cancel: bytearray | None = None) -> float:
        """Steps of Sinkhorn's scaling; the largest deviation of a row before the last."""
        return self.scaling.steps(steps, relaxation, cancel_byte(cancel))

    def reach(self, reach: Ints) -> None:
        """With how many of the next rows each is paired."""
        if len(reach) != self._size or (reach < 0).any():
            raise ValueError("one reach for each row")
        self._chain.set_reach(ints(reach))

    def sweep(
        self, tilt: float, most: float, sweeps: int, cancel: bytearray | None = None
    ) -> Floats:
        """Sums over sweeps of how far each replica is from the diagonal."""
        far = int(min(max(most, 1), _FAR))
        return self._chain.sweep(tilt, far, sweeps, cancel_byte(cancel))

    def record(
        self,
        samples: int,
        thin: int,
        row_logs: Floats,
        column_logs: Floats,
        cancel: bytearray | None = None,
    ) -> tuple[Floats, Floats]:
        """Sums over samples of log weights, and of the logs of shares, for each replica."""
        if self._chain.samples + samples > SWAP_CHAIN_SAMPLES:
            raise ValueError(f"{samples} samples more")
        if len(row_logs) != self._size or len(column_logs) != self._size:
            raise ValueError("one log for each row and column")
        return self._chain.record(
            samples, thin, floats(row_logs), floats(column_logs), cancel_byte(cancel)
        )

    def likeliest(self, real: int) -> Ints:
        """The column of each row with the largest share, among those before ``real``."""
        return self._chain.likeliest(self.scaling, real)

    def set_guesses(self, guesses: Ints) -> None:
        """Columns whose samples are counted by replica."""
        if len(guesses) != self._size:
            raise ValueError("one guess for each row")
        self._chain.set_guesses(ints(guesses))

    def guessed(self) -> npt.NDArray[np.uint16]:
        """Samples in which each row had its guess, by row and replica."""
        return np.asarray(self._chain.guessed()).reshape(-1, SWAP_CHAIN_LANES)

    def matching(self, lane: int) -> Ints:
        if not 0 <= lane < SWAP_CHAIN_LANES:
            raise ValueError(f"no replica {lane}")
        return self._chain.matching(lane)

    def state(self) -> npt.NDArray[np.uint8]:
        """What sweeps and samples have changed, as bytes for :meth:`restore`."""
        return np.asarray(self._chain.state())

    def restore(self, state: npt.NDArray[np.uint8]) -> bool:
        """Go on from the state of a chain that was made and set the same way; False if it is not.

        Nothing has changed then.
        """
        return self._chain.restore(np.ascontiguousarray(state, dtype=np.uint8))

    def rows(self, begin: int, end: int, real: int) -> SwapRows:
        """Figures of some rows, after ``scaling.finish()``; columns from ``real`` on are alike."""
        if not 0 <= begin <= end <= self._size:
            raise ValueError(f"rows {begin} to {end}")
        return SwapRows(*self._chain.rows(self.scaling, begin, end, real))

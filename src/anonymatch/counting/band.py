"""Bands: users by time whose behaviours are intervals with rising ends, as in the log of a mix.

All sets of used behaviours of a window and of one size lie in one array, so a step adds whole
stretches; the general programme for narrow blocks (frontier.py) has to look for what joins what.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.block import Block
from anonymatch.counting.solution import Chances, Floats, Solution
from anonymatch.effort import CHUNK_SECONDS

__all__ = ["BandWay", "Found", "Stop", "banded", "find_band"]

Ints = npt.NDArray[np.int32]
Stop = bytearray
"""One byte that tells running work to give up."""

# Measured on one core: seconds a unit of work, of a digit of the exact count, of all chances.
_REAL, _DIGIT, _CHANCES = 0.4e-9, 0.45e-9, 1.5e-9
_LAYERS = 384.0 * 2**20  # bytes of kept layers beyond which making them again costs no more
_LN2 = math.log(2.0)


class Found(NamedTuple):
    """What a run found: the count (whole, or a log), and chances by row of the band."""

    total: int | None
    log: float
    chances: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class BandWay:
    """A block as a band, and its price; plain values, so that it can run in another process."""

    starts: Ints
    stops: Ints
    order: npt.NDArray[np.int64] | None  # the edges of the block by row of the band; None: as is
    weights: Floats | None
    width: int
    seconds: float  # of the count over doubles
    words_seconds: float  # of the exact count; infinite if digits have no room
    edges_seconds: float  # of all chances
    memory: float
    words_memory: float
    edges_memory: float
    roundings: float

    @property
    def log_error(self) -> float:
        """Proven error of the log of a count over doubles (cpp/include/anonymatch/band.hpp)."""
        return 1.02 * self.roundings * 2.0**-53

    @property
    def chance_error(self) -> float:
        return 2.1 * (self.roundings + 5200) * 2.0**-53

    def count(self, stop: Stop) -> Found | None:
        """The exact count; None if told to stop."""
        job = self._run(_native.BandTask.count_words, None, _DIGIT, 0.0, stop)
        if job is None:
            return None
        words = job.count_words().astype("<u8")
        return Found(int.from_bytes(words.tobytes(), "little"), math.nan, None)

    def real(self, stop: Stop) -> Found | None:
        """The log of the count over doubles; also None where weights spread too far."""
        job = self._run(_native.BandTask.count_real, self.weights, _REAL, 0.0, stop)
        return None if job is None else Found(None, _log(job), None)

    def chances(self, memory: float, stop: Stop) -> Found | None:
        """All chances, in the order of the block's edges, and the log of the count."""
        kept = min(memory, _LAYERS) if memory else _LAYERS
        job = self._run(_native.BandTask.edges, self.weights, _CHANCES, kept, stop)
        if job is None:
            return None
        chances = job.posteriors()
        if self.order is not None:
            by_row, chances = chances, np.empty_like(chances)
            chances[self.order] = by_row
        return Found(None, _log(job), chances)

    def _run(
        self,
        task: _native.BandTask,
        weights: Floats | None,
        each: float,
        memory: float,
        stop: Stop,
    ) -> _native.Band | None:
        job = _native.band(self.starts, self.stops, weights, task, memory=memory)
        while not job.run(CHUNK_SECONDS / each):
            if stop[0]:
                return None
        return None if job.failed else job


def find_band(block: Block) -> BandWay | None:
    """The block as a band, if users can be put in order so that it is one; linear in edges."""
    starts, stops = block.indices[block.indptr[:-1]], block.indices[block.indptr[1:] - 1] + 1
    if (stops - starts != np.diff(block.indptr)).any() or (
        block.exact and block.weights is not None
    ):
        return None
    order = None
    weights = block.weights
    if (np.diff(starts) < 0).any() or (np.diff(stops) < 0).any():
        rows = np.lexsort((stops, starts))
        order = _edges_of(block, rows)
        starts, stops = starts[rows], stops[rows]
        weights = None if weights is None else weights[order]
        if (np.diff(stops) < 0).any():
            return None
    if (starts[1:] > stops[:-1]).any():
        return None
    plan = _native.plan_band(starts, stops)
    if not plan.feasible:
        return None
    return BandWay(
        starts=starts,
        stops=stops,
        order=order,
        weights=weights,
        width=plan.width,
        seconds=_REAL * plan.work,
        words_seconds=_DIGIT * plan.words_work if plan.words else math.inf,
        edges_seconds=_CHANCES * plan.work,
        memory=plan.real_bytes,
        words_memory=plan.words_bytes,
        edges_memory=plan.least_edge_bytes,
        roundings=plan.roundings,
    )


def banded(
    way: BandWay,
    block: Block,
    found: Found | None,
    *,
    memory: float,
    otherwise: Callable[[], Solution],
    rounded: bool = False,
) -> Solution:
    """The solution along ``way``, with what was ``found`` already; the rest when asked for.

    ``otherwise`` serves minors, sums too large for digits, and weights that spread too far for one
    scale a layer; with ``rounded`` also a count without weights is a double.
    """
    go_on = bytearray(1)
    otherwise = cache(otherwise)

    def total() -> int:
        if math.isinf(way.words_seconds):
            return otherwise().total
        counted = found if found is not None and found.total is not None else way.count(go_on)
        assert counted is not None
        assert counted.total is not None
        return counted.total

    def real() -> tuple[float, float]:
        known = found if found is not None and found.total is None else way.real(go_on)
        if known is None:
            return otherwise().log_and_error
        return known.log, way.log_error + 2.0**-51 * abs(known.log)

    def posteriors() -> Chances:
        known = found
        if known is None or known.chances is None:
            known = way.chances(memory, go_on)
        if known is None or known.chances is None:
            return otherwise().posteriors
        return known.chances, way.chance_error

    if block.exact and not rounded:
        return Solution(
            block, total=total, minors=lambda: otherwise().minors, posteriors=posteriors
        )
    return Solution(block, real=real, posteriors=posteriors)


def _edges_of(block: Block, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Places of the edges of the rows, one row after the other."""
    lengths = np.diff(block.indptr)[rows].astype(np.int64)
    ends = np.cumsum(lengths)
    shifts = np.repeat(block.indptr[:-1][rows] - (ends - lengths), lengths)
    places: npt.NDArray[np.int64] = shifts + np.arange(block.n_edges)
    return places


def _log(job: _native.Band) -> float:
    mantissa, exponent = job.count_real()
    return math.log(mantissa) + exponent * _LN2 if mantissa else -math.inf

"""A block as a band: its users by time, and what running along them costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from anonymatch import _native
from anonymatch.counting.blocks.block import Block
from anonymatch.counting.blocks.first_look import first_look, look_pays
from anonymatch.counting.blocks.solution import Floats
from anonymatch.counting.blocks.tuning import tuning
from anonymatch.running import CHUNK_SECONDS, check_work

__all__ = [
    "BandOrdering",
    "BandResult",
    "Runs",
    "find_band",
    "layers_limit",
    "run_to_the_end",
]

Ints = npt.NDArray[np.int32]
Ints64 = npt.NDArray[np.int64]

_ROUNDS = 8
_LN2 = math.log(2.0)


class BandResult(NamedTuple):
    """What a run found: the count (whole, or a log), and probabilities by row of the band."""

    total: int | None
    log: float
    probabilities: Floats | None


@dataclass(frozen=True, slots=True, eq=False)
class BandOrdering:
    """A block as a band, and its price; plain values, so that it can run in another process."""

    starts: Ints
    stops: Ints
    order: Ints64 | None  # the edges of the block by row of the band; None: as is
    weights: Floats | None
    width: int
    seconds: float  # of the count over doubles
    words_seconds: float  # of the exact count
    edges_seconds: float  # of all probabilities
    memory: float
    words_memory: float
    edges_memory: float  # with as many layers kept as the memory allows
    retained: float  # bytes of layers that all probabilities keep at least
    roundings: float

    @property
    def log_error(self) -> float:
        """Proven error of the log of a count over doubles (cpp/kernels/band/band.hpp).

        With the roundings of a sum over a layer, where two passes meet.
        """
        return 1.02 * (self.roundings + 5200) * 2.0**-53

    @property
    def probability_error(self) -> float:
        return 2.1 * (self.roundings + 5200) * 2.0**-53

    def count(self) -> BandResult:
        """The exact count."""
        job = self._run(_native.BandTask.count_words, None, tuning().band_digit, 0.0)
        words = job.count_words().astype("<u8")
        return BandResult(int.from_bytes(words.tobytes(), "little"), math.nan, None)

    def real(self) -> BandResult | None:
        """The log of the count over doubles; None where weights spread too far."""
        job = self._run(_native.BandTask.count_real, self.weights, tuning().band_real, 0.0)
        return None if job.failed else BandResult(None, _log(job), None)

    def probabilities(self, memory: float) -> BandResult | None:
        """All probabilities, in the order of the block's edges, and the log of the count."""
        retained = layers_limit(self.retained, memory)
        job = self._run(_native.BandTask.edges, self.weights, tuning().band_probabilities, retained)
        return None if job.failed else BandResult(None, _log(job), self.by_edge(job.posteriors()))

    def by_edge(self, by_row: Floats) -> Floats:
        """Values of the edges by row of the band, in the order of the block's edges."""
        if self.order is None:
            return by_row
        values = np.empty_like(by_row)
        values[self.order] = by_row
        return values

    def _run(
        self, task: _native.BandTask, weights: Floats | None, each: float, memory: float
    ) -> _native.Band:
        job = _native.band_job(self.starts, self.stops, weights, task, memory=memory)
        run_to_the_end(job, each)
        return job


class Runs(Protocol):
    """How a band is run: in one, or in stretches."""

    def count(self) -> BandResult: ...
    def real(self) -> BandResult | None: ...
    def probabilities(self, memory: float) -> BandResult | None: ...


def run_to_the_end(job: _native.Band, each: float) -> None:
    """Run a job whose unit of work takes so many seconds, unless the work shall end."""
    while not job.run(CHUNK_SECONDS / each):
        check_work()


def layers_limit(least: float, memory: float) -> float:
    """The limit of kept layers for all probabilities, in so much memory."""
    return max(least, min(memory / 2, tuning().band_layers))


def find_band(
    block: Block, memory: float = math.inf, seconds: float = math.inf
) -> BandOrdering | None:
    """The block as a band, if users and behaviours can be put in order so that it is one.

    Linear in edges when behaviours are in order already; else a search finds a first order.
    ``memory``: bytes that may be used; all probabilities keep more layers where there are more.
    ``seconds``: of the whole work; no order is searched where that alone would take much of it.
    """
    if block.exact and block.weights is not None:
        return None
    users, behaviours = np.repeat(np.arange(block.n_users), np.diff(block.indptr)), block.indices
    ends = _ends(users, behaviours, block.n_users)
    position: Ints64 = behaviours.astype(np.int64)
    if (ends[1] - ends[0] != np.diff(block.indptr)).any():
        ordered = _positions_by_time(block, users) if look_pays(block, seconds) else None
        if ordered is None:
            return None
        position = ordered
        ends = _ends(users, position, block.n_users)
    rows = np.lexsort(ends[::-1])
    starts, stops = ends[0][rows].astype(np.int32), ends[1][rows].astype(np.int32)
    if (np.diff(stops) < 0).any() or (starts[1:] > stops[:-1]).any():
        return None
    plan = _native.plan_band(starts, stops)
    if not plan.feasible:
        return None
    rank = np.empty(block.n_users, np.int64)
    rank[rows] = np.arange(block.n_users)
    order = np.lexsort((position, rank[users]))
    straight = bool((np.diff(order) == 1).all())
    return BandOrdering(
        starts=starts,
        stops=stops,
        order=None if straight else order,
        weights=block.weights if straight or block.weights is None else block.weights[order],
        width=plan.width,
        seconds=tuning().band_real * plan.work,
        words_seconds=tuning().band_digit * plan.words_work,
        edges_seconds=tuning().band_probabilities * plan.work,
        memory=plan.real_bytes,
        words_memory=plan.words_bytes,
        edges_memory=plan.edge_bytes(byte_limit=layers_limit(plan.kept_bytes(), memory)),
        retained=plan.kept_bytes(),
        roundings=plan.roundings,
    )


def _positions_by_time(block: Block, users: Ints64) -> Ints64 | None:
    """For every edge the place of its behaviour in an order that makes the block a band, or None.

    From a first order of the users, either side is sorted by the ends of its neighbours in turn;
    in a band, right neighbours are soon right everywhere.
    """
    plan = first_look(block)
    if plan.width > tuning().band_reordered:
        return None
    at = np.empty(block.n_users, np.int64)
    at[plan.order] = np.arange(block.n_users)
    degrees = np.diff(block.indptr)
    for _ in range(_ROUNDS):
        spans = _ends(block.indices, at[users], block.n_behaviours)
        behaviours = np.empty(block.n_behaviours, np.int64)
        behaviours[np.lexsort((spans[0], spans[0] + spans[1]))] = np.arange(block.n_behaviours)
        ends = _ends(users, behaviours[block.indices], block.n_users)
        if (ends[1] - ends[0] == degrees).all():
            return behaviours[block.indices]
        at[np.lexsort((ends[0], ends[0] + ends[1]))] = np.arange(block.n_users)
    return None


def _ends(labels: npt.NDArray[Any], values: npt.NDArray[Any], n: int) -> tuple[Ints64, Ints64]:
    """The least value of every label, and one beyond its largest."""
    first = np.full(n, np.iinfo(np.int64).max)
    last = np.full(n, -1)
    np.minimum.at(first, labels, values)
    np.maximum.at(last, labels, values)
    return first, last + 1


def _log(job: _native.Band) -> float:
    mantissa, exponent = job.count_real()
    return math.log(mantissa) + exponent * _LN2 if mantissa else -math.inf

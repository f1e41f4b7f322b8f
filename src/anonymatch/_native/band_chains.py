"""Wide bands: Markov chains in replicas over matchings, and the scalings that they correct."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels

Hits = npt.NDArray[np.uint16]

SWAP_CHAIN_LANES: int = kernels.swap_chain_lanes
SWAP_CHAIN_SAMPLES = 8000  # counts of entries have 16 bits


class _Replicas:
    """What both chains share; ``_kernel`` is the chain, which may begin later."""

    _rows: int
    scaling: kernels.BandScaling | kernels.LinkScaling

    @property
    def _kernel(self) -> Any:
        raise NotImplementedError

    def scale(self, steps: int, relaxation: float, cancel: bytearray | None = None) -> float:
        """Steps of Sinkhorn's scaling; the largest deviation of a row before the last."""
        return self.scaling.steps(steps, relaxation, cancel_byte(cancel))

    def set_guesses(self, guesses: Ints) -> None:
        """Columns whose samples are counted by replica."""
        if len(guesses) != self._rows:
            raise ValueError("one guess for each row")
        self._kernel.set_guesses(ints(guesses))

    def guessed(self) -> Hits:
        """Samples in which each row had its guess, by row and replica."""
        return _by_replica(self._kernel.guessed())

    def state(self) -> npt.NDArray[np.uint8]:
        """What sweeps and samples have changed, as bytes for :meth:`restore`."""
        return np.asarray(self._kernel.state())

    def restore(self, state: npt.NDArray[np.uint8]) -> bool:
        """Go on from the state of a chain that was made and set the same way; False if it is not.

        Nothing has changed then.
        """
        return bool(self._kernel.restore(np.ascontiguousarray(state, dtype=np.uint8)))

    def _check_rows(self, begin: int, end: int) -> None:
        if not 0 <= begin <= end <= self._rows:
            raise ValueError(f"rows {begin} to {end}")


def _by_replica(counts: npt.NDArray[np.uint16]) -> Hits:
    return np.asarray(counts).reshape(-1, LINK_CHAIN_LANES)


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


class SwapChain(_Replicas):
    """A band, its scaling and its chain; see ``cpp/kernels/swap_chain/swap_chain.hpp``.

    Row ``i`` is positive in columns ``first[i]`` to ``last[i] - 1``, which never fall from row to
    row and have ``i`` between them.
    """

    scaling: kernels.BandScaling

    def __init__(self, first: Ints, last: Ints, weights: Floats | None, seed: int) -> None:
        first, last = ints(first), ints(last)
        rows = np.arange(len(first))
        fits = (first >= 0).all() and (first <= rows).all() and (rows < last).all()
        rising = (np.diff(first) >= 0).all() and (np.diff(last) >= 0).all()
        if not (len(rows) and fits and rising and last[-1] == len(rows)):
            raise ValueError("the rows are no band around the diagonal")
        if weights is not None and len(weights) != int((last - first).sum()):
            raise ValueError(f"{len(weights)} weights")
        self._rows = len(rows)
        band = kernels.SwapBand(first, last, floats_or_empty(weights))
        self.scaling = kernels.BandScaling(band)
        self._chain = kernels.SwapChain(band, ints(np.zeros(self._rows)), seed)

    @property
    def _kernel(self) -> kernels.SwapChain:
        return self._chain

    def reach(self, reach: Ints) -> None:
        """With how many of the next rows each is paired."""
        if len(reach) != self._rows or (reach < 0).any():
            raise ValueError("one reach for each row")
        self._chain.set_reach(ints(reach))

    def sweep(
        self, tilt: float, most: float, sweeps: int, cancel: bytearray | None = None
    ) -> Floats:
        """Sums over sweeps of how far each replica is from the diagonal."""
        far = int(min(max(most, 1), _MOST))
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
        if len(row_logs) != self._rows or len(column_logs) != self._rows:
            raise ValueError("one log for each row and column")
        return self._chain.record(
            samples, thin, floats(row_logs), floats(column_logs), cancel_byte(cancel)
        )

    def likeliest(self, real: int) -> Ints:
        """The column of each row with the largest share, among those before ``real``."""
        return self._chain.likeliest(self.scaling, real)

    def matching(self, lane: int) -> Ints:
        if not 0 <= lane < SWAP_CHAIN_LANES:
            raise ValueError(f"no replica {lane}")
        return self._chain.matching(lane)

    def rows(self, begin: int, end: int, real: int) -> SwapRows:
        """Figures of some rows, after ``scaling.finish()``; columns from ``real`` on are alike."""
        self._check_rows(begin, end)
        return SwapRows(*self._chain.rows(self.scaling, begin, end, real))


LINK_CHAIN_LANES: int = kernels.link_chain_lanes
LINK_CHAIN_SAMPLES = 8000  # counts of entries have 16 bits
_MOST = 2**31 - 1  # of a whole number that kernels take
_NONE = np.zeros(0, dtype=np.int32)


class LinkRows(NamedTuple):
    """Figures of rows by their shares, given that they have a column."""

    shannon: Floats
    collision: Floats
    largest: Floats
    guess: Ints
    guessing: Floats
    allowed: Ints
    distance: Floats  # unbiased sum of (p - share)^2 / share
    group_shannon: Floats
    group_largest: Floats
    group_guess: Ints


class LinkTop(NamedTuple):
    """The likeliest column of rows, given that they have one, by shares and counts together."""

    guess: Ints
    largest: Floats
    high: Floats


class LinkSums(NamedTuple):
    """Sums over sweeps, for each replica."""

    shares: Floats
    pairs: Floats
    squares: Floats
    hits: Floats
    lost: Floats
    lost_squares: Floats
    products: Floats


class LinkRecord(NamedTuple):
    """Sums over samples, for each replica."""

    samples: Floats
    weights: Floats
    shares: Floats
    paired: Floats


class LinkChain(_Replicas):
    """A band, its scaling and its chain; see ``cpp/kernels/link_chain/link_chain.hpp``.

    Row ``i`` has columns ``first[i]`` to ``last[i] - 1``, or none, with weights ``unpaired[i]``,
    and ``cover`` for a column that is left.
    """

    scaling: kernels.LinkScaling

    def __init__(
        self,
        first: Ints,
        last: Ints,
        weights: Floats | None,
        columns: int,
        unpaired: Floats,
        cover: float,
    ) -> None:
        first, last = ints(first), ints(last)
        rising = (np.diff(first) >= 0).all() and (np.diff(last) >= 0).all()
        within = (first >= 0).all() and (first <= last).all() and (last <= columns).all()
        if not (len(first) == len(last) == len(unpaired) and rising and within):
            raise ValueError("the rows are no band")
        if weights is not None and len(weights) != int((last - first).sum()):
            raise ValueError(f"{len(weights)} weights")
        self._rows, self._columns = len(first), columns
        self._band = kernels.LinkBand(first, last, floats_or_empty(weights), columns)
        self.scaling = kernels.LinkScaling(self._band, floats(unpaired), cover)
        self._chain: kernels.LinkChain | None = None

    def first_in_first_out(self) -> Ints:
        """A column for as many rows as can have one; -1 for the others."""
        return kernels.first_in_first_out(self._band)

    def set_scaling(self, unpaired: Floats, cover: float) -> None:
        """Other weights of rows and columns that are left."""
        self.scaling.set_weights(floats(unpaired), cover)

    def begin(self, reach: Ints, start: Ints, seed: int) -> None:
        """Let all replicas begin with columns ``start``; rows swap with the next ``reach``."""
        if len(reach) != self._rows or (reach < 0).any():
            raise ValueError("one reach for each row")
        used = start[start >= 0]
        if len(start) != self._rows or len(np.unique(used)) != len(used):
            raise ValueError("one column for each row, each once")
        self._chain = kernels.LinkChain(self._band, ints(reach), ints(start), seed)

    @property
    def chain(self) -> kernels.LinkChain:
        if self._chain is None:
            raise ValueError("the chain has not begun")
        return self._chain

    _kernel = chain

    def set_weights(self, unpaired: Floats, cover: float) -> None:
        """Natural logs of weights of rows and columns that are left, for the chain."""
        if len(unpaired) != self._rows:
            raise ValueError("one weight for each row")
        self.chain.set_weights(floats(unpaired), cover)

    def set_limits(self, least: int = 0, most: int = _MOST) -> None:
        """Numbers of pairs that replicas may have."""
        self.chain.set_limits(least, most)

    def set_losses(self, losses: Floats) -> None:
        """Probabilities to be lost where rows have no column; none if that is not told apart."""
        if len(losses) not in (0, self._rows):
            raise ValueError("one probability for each row")
        self.chain.set_losses(floats(losses))

    def sweep(
        self,
        sweeps: int,
        shares: Floats,
        cover_share: float,
        *,
        pairs: int = -1,
        lost: int = -1,
        cancel: bytearray | None = None,
    ) -> LinkSums:
        if len(shares) not in (0, self._rows):
            raise ValueError("one share for each row")
        return LinkSums(
            *self.chain.sweep(sweeps, floats(shares), cover_share, pairs, lost, cancel_byte(cancel))
        )

    def record(
        self,
        samples: int,
        thin: int,
        row_logs: Floats,
        column_logs: Floats,
        *,
        pairs: int = -1,
        lost: int = -1,
        cancel: bytearray | None = None,
    ) -> LinkRecord:
        if self.chain.samples + samples > LINK_CHAIN_SAMPLES:
            raise ValueError(f"{samples} samples more")
        if len(row_logs) != self._rows or len(column_logs) != self._columns:
            raise ValueError("one log for each row and column")
        return LinkRecord(
            *self.chain.record(
                samples,
                thin,
                pairs,
                lost,
                floats(row_logs),
                floats(column_logs),
                cancel_byte(cancel),
            )
        )

    def explanation(self, lane: int) -> Ints:
        if not 0 <= lane < LINK_CHAIN_LANES:
            raise ValueError(f"no replica {lane}")
        return self.chain.explanation(lane)

    def top(self, begin: int, end: int, spread: float, noise: float, errors: float) -> LinkTop:
        """The likeliest columns of some rows; see ``LinkBlend`` and ``LinkTop``."""
        self._check_rows(begin, end)
        return LinkTop(*self.chain.top(self.scaling, begin, end, spread, noise, errors))

    def alone(self) -> Hits:
        """Samples in which each row had no column, by row and replica."""
        return _by_replica(self.chain.alone())

    def lost(self) -> Hits:
        """Samples in which each row was lost, by row and replica."""
        return _by_replica(self.chain.lost())

    def real(self) -> Hits:
        """Samples in which each column was somebody's, by column and replica."""
        return _by_replica(self.chain.real())

    def rows(self, begin: int, end: int, groups: Ints | None = None) -> LinkRows:
        """Figures of some rows."""
        self._check_rows(begin, end)
        if groups is not None and len(groups) != self._columns:
            raise ValueError("one group for each column")
        numbers = _NONE if groups is None else ints(groups)
        return LinkRows(*self.chain.rows(self.scaling, begin, end, numbers))

"""Explanations of wide logs: a Markov chain in replicas, and the scaling that it corrects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import Floats, Ints, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels

LINK_CHAIN_LANES: int = kernels.link_chain_lanes
LINK_CHAIN_SAMPLES = 8000  # counts of entries have 16 bits
_MOST = 2**31 - 1
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


class LinkChain:
    """A band, its scaling and its chain; see ``cpp/kernels/link_chain/link_chain.hpp``.

    Row ``i`` has columns ``first[i]`` to ``last[i] - 1``, or none, with weights ``unpaired[i]``,
    and ``cover`` for a column that is left.
    """

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

    def scale(self, steps: int, relaxation: float, cancel: bytearray | None = None) -> float:
        """Steps of the scaling; the largest deviation of a row before the last."""
        return self.scaling.steps(steps, relaxation, cancel_byte(cancel))

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
        if not 0 <= begin <= end <= self._rows:
            raise ValueError(f"rows {begin} to {end}")
        return LinkTop(*self.chain.top(self.scaling, begin, end, spread, noise, errors))

    def set_guesses(self, guesses: Ints) -> None:
        """Columns whose samples are counted by replica."""
        if len(guesses) != self._rows:
            raise ValueError("one guess for each row")
        self.chain.set_guesses(ints(guesses))

    def guessed(self) -> npt.NDArray[np.uint16]:
        """Samples in which each row had its guess, by row and replica."""
        return np.asarray(self.chain.guessed()).reshape(-1, LINK_CHAIN_LANES)

    def alone(self) -> npt.NDArray[np.uint16]:
        """Samples in which each row had no column, by row and replica."""
        return np.asarray(self.chain.alone()).reshape(-1, LINK_CHAIN_LANES)

    def lost(self) -> npt.NDArray[np.uint16]:
        """Samples in which each row was lost, by row and replica."""
        return np.asarray(self.chain.lost()).reshape(-1, LINK_CHAIN_LANES)

    def real(self) -> npt.NDArray[np.uint16]:
        """Samples in which each column was somebody's, by column and replica."""
        return np.asarray(self.chain.real()).reshape(-1, LINK_CHAIN_LANES)

    def state(self) -> npt.NDArray[np.uint8]:
        """What sweeps and samples have changed, as bytes for :meth:`restore`."""
        return np.asarray(self.chain.state())

    def restore(self, state: npt.NDArray[np.uint8]) -> bool:
        """Go on from the state of a chain that was made and set the same way; False if it is not.

        Nothing has changed then.
        """
        return self.chain.restore(np.ascontiguousarray(state, dtype=np.uint8))

    def rows(self, begin: int, end: int, groups: Ints | None = None) -> LinkRows:
        """Figures of some rows."""
        if not 0 <= begin <= end <= self._rows:
            raise ValueError(f"rows {begin} to {end}")
        if groups is not None and len(groups) != self._columns:
            raise ValueError("one group for each column")
        numbers = _NONE if groups is None else ints(groups)
        return LinkRows(*self.chain.rows(self.scaling, begin, end, numbers))

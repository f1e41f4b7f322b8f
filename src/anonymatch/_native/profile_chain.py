"""Who writes to whom over rounds: a Markov chain on all matchings, and rounds by themselves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, Ints, cancel_byte, floats, ints
from anonymatch._native.extension import kernels

ROUND_MARGINALS_LIMIT: int = kernels.round_marginals_limit

Singles = npt.NDArray[np.float32]


class RoundMessages(NamedTuple):
    """Messages of rounds, as many in as out; see ``cpp/kernels/profile_chain/profile_chain.hpp``.

    Message ``i`` fits messages out ``first[i]`` to ``last[i] - 1``, with ``weights``, or all of its
    round if these are not given.
    """

    senders: int
    receivers: int
    starts: Ints
    sender: Ints
    receiver: Ints
    first: Ints | None = None
    last: Ints | None = None
    weights: Singles | None = None

    def entries(self) -> npt.NDArray[np.int64]:
        """Where the entries of each message begin, and where they end."""
        if self.first is not None and self.last is not None:
            sizes = (self.last - self.first).astype(np.int64)
        else:
            size = np.diff(self.starts).astype(np.int64)
            sizes = np.repeat(size, size)
        return np.concatenate(([0], np.cumsum(sizes)))


class ProfileChain:
    """The chain over a log; ``start`` is a matching of it."""

    def __init__(
        self,
        log: RoundMessages,
        *,
        base: Floats,
        strength: float,
        evenness: float,
        start: Ints,
        reach: int,
        seed: int,
    ) -> None:
        kernel_log = _checked(log)
        if len(base) != log.receivers or not (np.asarray(base) > 0).all():
            raise ValueError("one share for each receiver")
        if not (strength > 0 and evenness > 0 and reach >= 1):
            raise ValueError("a prior that is none")
        _check_start(log, ints(start))
        self._chain = kernels.ProfileChain(
            kernel_log, floats(base), strength, evenness, ints(start), reach, seed
        )

    def order(self, passes: int, *, cancel: bytearray | None = None) -> bool:
        """Begin at a likely matching of whole rounds, by a mean field; False if cancelled."""
        return self._chain.order(passes, cancel_byte(cancel))

    def sweep(
        self,
        sweeps: int,
        *,
        learn: bool,
        record: bool,
        power: float = 1.0,
        cancel: bytearray | None = None,
    ) -> bool:
        """Go on; False if it was cancelled. A ``power`` below 1 makes matchings less ordered."""
        return self._chain.sweep(sweeps, power, learn, record, cancel_byte(cancel))

    def matching(self) -> Ints:
        return self._chain.matching()

    def sums(self) -> Singles:
        """Return the probability of each entry, times the recorded sweeps."""
        return self._chain.sums()

    @property
    def evenness(self) -> float:
        return self._chain.evenness

    def base(self) -> Floats:
        """How popular each receiver is thought to be now."""
        return self._chain.base()

    def base_sums(self) -> Floats:
        """The same, summed over recorded sweeps."""
        return self._chain.base_sums()

    def trace(self) -> Floats:
        """Log of the law of the matching after each sweep, but for a constant."""
        return self._chain.trace()

    def strengths(self) -> Floats:
        return self._chain.strengths()


def round_marginals(
    log: RoundMessages, weights: Floats, cancel: bytearray | None = None
) -> tuple[Floats, bool]:
    """Probability of each entry, every round a matching by itself; False if cancelled."""
    if log.first is not None:
        raise ValueError("whole rounds are needed")
    if np.diff(log.starts).max(initial=0) > ROUND_MARGINALS_LIMIT:
        raise ValueError("a round is too large")
    if len(weights) != log.entries()[-1] or not (np.asarray(weights) >= 0).all():
        raise ValueError(f"{len(weights)} weights")
    return kernels.round_marginals(_checked(log), floats(weights), cancel_byte(cancel))


def _checked(log: RoundMessages) -> kernels.RoundLog:
    starts, sender, receiver = ints(log.starts), ints(log.sender), ints(log.receiver)
    messages = len(sender)
    if not len(starts) or starts[0] != 0 or starts[-1] != messages or (np.diff(starts) < 0).any():
        raise ValueError("rounds that do not follow each other")
    if len(receiver) != messages:
        raise ValueError(f"{messages} messages in, {len(receiver)} out")
    for codes, number in ((sender, log.senders), (receiver, log.receivers)):
        if not 1 <= number <= LARGEST or (codes < -1).any() or (codes >= number).any():
            raise ValueError("a code of nobody")
    empty = np.empty(0, dtype=np.int32)
    first, last, weights = empty, empty, np.empty(0, dtype=np.float32)
    if log.first is not None and log.last is not None:
        first, last = ints(log.first), ints(log.last)
        begin, end = (np.repeat(ends, np.diff(starts)) for ends in (starts[:-1], starts[1:]))
        if len(first) != messages or len(last) != messages:
            raise ValueError("one run for each message")
        if (first < begin).any() or (last > end).any() or (first >= last).any():
            raise ValueError("a run outside of its round")
        if log.weights is not None:
            weights = np.ascontiguousarray(log.weights, dtype=np.float32)
            if len(weights) != int((last.astype(np.int64) - first).sum()):
                raise ValueError(f"{len(weights)} weights")
    return kernels.RoundLog(
        log.senders, log.receivers, starts, sender, receiver, first, last, weights
    )


def _check_start(log: RoundMessages, start: Ints) -> None:
    messages = len(log.sender)
    if len(start) != messages or (np.sort(start) != np.arange(messages)).any():
        raise ValueError("a start that is no matching")
    begin, end = (
        np.repeat(ends, np.diff(log.starts)) for ends in (log.starts[:-1], log.starts[1:])
    )
    if log.first is not None and log.last is not None:
        begin, end = log.first, log.last
        if log.weights is not None:
            at = log.entries()[:-1] + (start - log.first)
            if ((start >= begin) & (start < end)).all() and not (log.weights[at] > 0).all():
                raise ValueError("a start that the law forbids")
    if (start < begin).any() or (start >= end).any():
        raise ValueError("a start that leaves its round")

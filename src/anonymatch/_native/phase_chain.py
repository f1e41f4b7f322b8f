"""Mixes of several stages, of which only the ends are seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels

PHASE_CHAIN_LARGEST: int = kernels.phase_chain_largest
PhaseSampler = kernels.PhaseSampler


class PhaseRows(NamedTuple):
    """Figures of messages, with standard errors where paths were drawn."""

    departed: Floats
    inside: Floats
    collision: Floats
    shannon: Floats
    shannon_error: Floats
    shannon_all: Floats
    shannon_all_error: Floats
    largest: Floats
    largest_error: Floats
    guess: npt.NDArray[np.int64]
    allowed: npt.NDArray[np.int64]
    guessing: Floats
    guessing_apart: Floats  # put in order by one half of the paths; empty if none were drawn
    shannon_batches: npt.NDArray[np.float32]  # by message and batch, as the next two
    largest_batches: npt.NDArray[np.float32]
    guessing_batches: npt.NDArray[np.float32]
    group_shannon: Floats  # empty without groups, as the next two
    group_largest: Floats
    group_guess: npt.NDArray[np.int64]
    pair_logs: Floats  # by batch, sums over messages: P(i = j) times the log density of the delay
    inside_logs: Floats
    unseen_logs: Floats
    asked: Floats  # probability of the departure that was asked for; empty if none was
    error: float


class PhaseChain:
    """The filter over counts by stage, before its first step.

    Times are in means of the slowest stage, and ``rates`` of stages in that of it; it is the last.

    ``counted``: 0 for nothing, 1 for cover, 2 for losses, which must be ``count_end`` in the end.
    ``total_end``: messages inside in the end; -1 for any number. ``early``: weight of each
    departure to be of a message that was inside before, if some were.
    """

    def __init__(
        self,
        arrivals: Floats,
        departures: Floats,
        end: float,
        *,
        rates: Floats,
        loss: float,
        cover: float,
        counted: int = 0,
        count_end: int = 0,
        total_end: int = -1,
        epsilon: float = 1e-16,
        early: Floats | None = None,
        groups: npt.NDArray[Any] | None = None,
        asked: npt.NDArray[Any] | None = None,
    ) -> None:
        if max(len(arrivals), len(departures)) > LARGEST // 4 or counted not in (0, 1, 2):
            raise ValueError(f"{len(arrivals)} arrivals, {len(departures)} departures, {counted}")
        self._size = len(departures)
        self.kernel = kernels.PhaseChain(
            floats(arrivals),
            floats(departures),
            end,
            floats(rates),
            loss,
            cover,
            counted,
            count_end,
            total_end,
            epsilon,
            floats_or_empty(early),
        )
        if groups is not None:
            self.kernel.group(ints(groups))
        if asked is not None:
            self.kernel.ask(ints(asked))

    def rows(
        self,
        first: int,
        last: int,
        *,
        tolerance: float,
        inside_logs: Floats,
        unseen_logs: Floats,
        pairs: bool = False,
        cancel: bytearray | None = None,
    ) -> tuple[PhaseRows, Floats]:
        """Exact figures of some messages, and on request their rows of probabilities."""
        size = (last - first) * self._size if pairs else 0
        rows, dense = self.kernel.rows(
            first, last, tolerance, inside_logs, unseen_logs, size, cancel_byte(cancel)
        )
        return PhaseRows(*rows), dense.reshape(last - first, -1) if pairs else dense

    def sampler(
        self, batches: int, each: int, seed: int, *, inside_logs: Floats, unseen_logs: Floats
    ) -> PhaseSampler:
        """Paths to be drawn, in batches of equal size."""
        return PhaseSampler(self.kernel, batches, each, seed, inside_logs, unseen_logs)


def stage_survival(rates: Floats, times: Floats) -> Floats:
    """Natural log of the probability that stages of these rates take longer, all together."""
    result: Floats = kernels.stage_survival(floats(rates), floats(times))
    return result


def stage_log_density(rates: Floats, times: Floats) -> Floats:
    """Natural log of the density of the time that stages of these rates take, all together."""
    result: Floats = kernels.stage_log_density(floats(rates), floats(times))
    return result

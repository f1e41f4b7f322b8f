"""One mix of which only the ends are observed: memoryless mixes, flushes and several stages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native.arrays import LARGEST, Floats, cancel_byte, floats, floats_or_empty, ints
from anonymatch._native.extension import kernels


class PassageStay(NamedTuple):
    """What is open for a message inside just before each departure; see ``Stay`` of passages."""

    allowed: npt.NDArray[np.int64]
    shannon: Floats
    collision: Floats
    largest: Floats
    guess: npt.NDArray[np.int64]
    guesses: Floats


def passage_stay(inside: npt.NDArray[Any]) -> PassageStay:
    """From the messages inside just before each departure, in order of time."""
    if len(inside) > LARGEST // 2:
        raise ValueError(f"{len(inside)} departures")
    return PassageStay(*kernels.passage_stay(ints(inside)))


class FlushStay(NamedTuple):
    """What is open for a message inside just before each flush; a last entry for later ones."""

    departs: Floats
    stays: Floats
    shannon: Floats
    collision: Floats
    largest: Floats
    ranks: Floats
    guess: npt.NDArray[np.int64]


def flush_stay(inside: npt.NDArray[Any], leaving: npt.NDArray[Any]) -> FlushStay:
    """From the messages inside just before each flush, and how many of them leave."""
    if len(inside) > LARGEST // 2:
        raise ValueError(f"{len(inside)} flushes")
    return FlushStay(*kernels.flush_stay(ints(inside), ints(leaving)))


Counted = kernels.Counted
HiddenFigures = kernels.HiddenFigures
ClassFigures = kernels.ClassFigures


def hidden_chain_job(
    arrival: npt.NDArray[np.bool_],
    move: Floats,
    stay: Floats,
    gap: Floats,
    *,
    end_inside: int = -1,
    counted: Counted = Counted.nothing,
    number: int = 0,
    cut: float = 1e-30,
    together: int = 32,
    tolerance: float = 1e-12,
    guessing_every: int = 0,
    rows: bool = True,
    pairs: bool = False,
    sparse: bool = False,
    groups: npt.NDArray[Any] | None = None,
    asked: npt.NDArray[Any] | None = None,
) -> kernels.HiddenChain:
    """The chain over how many messages are inside, before its first step."""
    if max(len(arrival), number) > LARGEST:
        raise ValueError(f"{len(arrival)} events; at most {LARGEST} are taken")
    if not number >= 0 or together < 1:
        raise ValueError(f"a number of {number}, {together} departures together")
    if groups is not None and len(groups) and int(groups.min()) < 0:
        raise ValueError("a group below 0")
    return kernels.HiddenChain(
        np.ascontiguousarray(arrival, dtype=np.uint8),
        np.ascontiguousarray(move, dtype=np.float64),
        np.ascontiguousarray(stay, dtype=np.float64),
        np.ascontiguousarray(gap, dtype=np.float64),
        end_inside=end_inside,
        counted=counted,
        number=number,
        cut=cut,
        together=together,
        tolerance=tolerance,
        guessing_every=guessing_every,
        rows=rows,
        pairs=pairs,
        sparse=sparse,
        groups=ints(np.empty(0) if groups is None else groups),
        asked=ints(np.empty(0) if asked is None else asked),
    )


def class_chain(
    arrival: npt.NDArray[np.bool_],
    users: Floats,
    loops: Floats,
    stay: Floats,
    keep: Floats,
    gap: Floats,
    *,
    drained: bool = False,
    rows: bool = False,
    cut: float = 1e-16,
    tolerance: float = 1e-12,
    cancel: bytearray | None = None,
) -> kernels.ClassFigures:
    """Return the sums and rows of one mix with users' packets and loops."""
    if len(arrival) > LARGEST:
        raise ValueError(f"{len(arrival)} events; at most {LARGEST} are taken")
    return kernels.class_chain(
        np.ascontiguousarray(arrival, dtype=np.uint8),
        floats(users),
        floats(loops),
        floats(stay),
        floats(keep),
        floats(gap),
        drained,
        rows,
        cut,
        tolerance,
        cancel_byte(cancel),
    )


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

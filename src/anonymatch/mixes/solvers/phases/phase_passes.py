"""Passes of the chain over counts by hop: its filter, the way back, rows of messages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from anonymatch._native import PhaseChain, PhaseRows
from anonymatch.base.arrays import Floats
from anonymatch.mixes.solvers.phases.phase_cost import (
    BACKWARD,
    DRAWING,
    WORK_SECONDS,
    PhaseWork,
    departures_to_come,
    fewest_paths_cost,
    pass_memory,
    path_cost,
)
from anonymatch.mixes.solvers.phases.phase_log import PhaseLog
from anonymatch.running import CHUNK_SECONDS, Execution, byte_of_work

__all__ = [
    "BATCHES",
    "CONFIDENCE",
    "QUANTILE",
    "TOLERANCE",
    "backward_pass",
    "drawn_rows",
    "followed_rows",
    "forward_pass",
]

TOLERANCE = 1e-12  # of a message, that is not followed any more
_STRETCH = CHUNK_SECONDS / WORK_SECONDS / 2  # work of a call of the kernel
# Student's t with 9 degrees of freedom: 99 % of means, and 97 % of what the jackknife gives.
BATCHES, QUANTILE, CONFIDENCE = 10, 3.25, 0.95


def forward_pass(
    chain: PhaseChain,
    log: PhaseLog,
    work: PhaseWork,
    *,
    alone: bool = False,
    besides: float = 0.0,
) -> bool:
    """The filter to its end; whether something is possible.

    ``alone``: with nothing to follow but what takes so many seconds ``besides``. Else paths are
    drawn, few of them at least.
    """
    kernel = chain.kernel
    if not alone and log.clean and work.strict:
        besides = fewest_paths_cost(log)
    before = share = 0.0
    going = True
    while going:
        going = kernel.forward(_STRETCH)
        seconds = (kernel.work - before) * WORK_SECONDS
        # A mix fills up, so that events to come cost as much as the last ones, not as the first.
        gained = max(kernel.share_done - share, 1e-9)
        ahead = max(seconds / gained, kernel.work * WORK_SECONDS / kernel.share_done)
        ahead *= 1.0 - kernel.share_done
        rest = 0.0 if alone else (kernel.work * WORK_SECONDS + ahead) * DRAWING
        before, share = kernel.work, kernel.share_done
        work.effort.expect(seconds)
        if kernel.share_done >= 0.02 or kernel.work * WORK_SECONDS > 0.1 * work.left:
            work.check(ahead + rest + besides, pass_memory(chain, log))
        work.done(seconds)
        whole = work.spent + ahead + rest + besides
        work.effort.foresee(min(whole, work.budget.seconds))  # what is more is refused
    return bool(kernel.possible)


def backward_pass(chain: PhaseChain, work: PhaseWork, *, store: bool) -> None:
    """The way back after the filter; ``store`` what exact figures of messages need."""
    kernel = chain.kernel
    each = BACKWARD * kernel.work * WORK_SECONDS / max(kernel.stretches, 1)
    work.effort.expect(each * kernel.stretches)
    going = kernel.stretches > 0
    while going:
        going = kernel.backward(store)
        work.done(each)


def _weights(log: PhaseLog) -> tuple[Floats, Floats]:
    """Natural log of the weights of a message still inside, and of one that was not seen."""
    stays = log.stays()
    inside = np.log1p(-log.loss) + stays
    if log.channel.drained:
        return np.zeros_like(stays), np.full_like(stays, math.log(log.loss) if log.loss else 0.0)
    unseen = np.logaddexp(inside, math.log(log.loss)) if log.loss else inside
    return inside, unseen


def followed_rows(
    chain: PhaseChain, log: PhaseLog, work: PhaseWork, *, pairs: bool
) -> tuple[PhaseRows, Floats | None]:
    """Exact figures of all messages, some in each call."""
    inside, unseen = _weights(log)
    seconds = chain.kernel.row_work() * WORK_SECONDS
    size = len(seconds)
    steps = np.floor(np.cumsum(seconds) / CHUNK_SECONDS)
    cuts = [0, *(np.flatnonzero(np.diff(steps) > 0) + 1).tolist(), size] if size else [0]
    costs = [float(seconds[first:last].sum()) for first, last in pairwise(cuts)]
    tolerance = max(TOLERANCE, 4.0 * chain.kernel.cut_off)
    calls: Iterator[Callable[[], tuple[PhaseRows, Floats]]] = (
        partial(_rows, chain, first, last, tolerance, inside, unseen, pairs)
        for first, last in pairwise(cuts)
    )
    work.effort.expect(sum(costs))
    threads = Execution()  # the chain is in this process, wherever other work may go
    threads.stop = work.effort.stop
    parts: list[tuple[PhaseRows, Floats]] = []
    for part in threads.chunks(calls, each=costs, number=len(costs)):
        work.done(costs[len(parts)])
        parts.append(part)
    rows = _joined([rows for rows, _ in parts])
    if not pairs:
        return rows, None
    shape = (size, len(log.departures))
    return rows, np.concatenate([dense for _, dense in parts]) if parts else np.zeros(shape)


def _rows(
    chain: PhaseChain,
    first: int,
    last: int,
    tolerance: float,
    inside: Floats,
    unseen: Floats,
    pairs: bool,
) -> tuple[PhaseRows, Floats]:
    return chain.rows(
        first,
        last,
        tolerance=tolerance,
        inside_logs=inside,
        unseen_logs=unseen,
        pairs=pairs,
        cancel=byte_of_work(),
    )


def _joined(parts: list[PhaseRows]) -> PhaseRows:
    """Messages one after another; sums over them added up."""
    sums = {"pair_logs", "inside_logs", "unseen_logs"}
    joined = {
        name: (
            np.sum([getattr(part, name) for part in parts], axis=0, initial=0.0).reshape(-1)
            if name in sums
            else np.concatenate([getattr(part, name) for part in parts] or [np.zeros(0)])
        )
        for name in PhaseRows._fields
        if name != "error"
    }
    for name in sums:
        joined[name] = joined[name] if len(joined[name]) else np.zeros(1)
    return PhaseRows(**joined, error=max((part.error for part in parts), default=0.0))


def drawn_rows(
    chain: PhaseChain, log: PhaseLog, work: PhaseWork, samples: int, seed: int
) -> PhaseRows:
    """Figures from so many paths."""
    inside, unseen = _weights(log)
    sampler = chain.sampler(
        BATCHES, samples // BATCHES, seed, inside_logs=inside, unseen_logs=unseen
    )
    cost = path_cost(log, samples, departures_to_come(log))
    cost += DRAWING * chain.kernel.work * WORK_SECONDS
    each = cost / max(chain.kernel.stretches, 1)
    work.effort.expect(each * chain.kernel.stretches)
    going = chain.kernel.stretches > 0
    while going:
        going = sampler.back()
        work.done(each)
    rows = PhaseRows(*sampler.rows())
    shape = (-1, BATCHES)
    return rows._replace(
        shannon_batches=rows.shannon_batches.reshape(shape),
        largest_batches=rows.largest_batches.reshape(shape),
        guessing_batches=rows.guessing_batches.reshape(shape),
    )

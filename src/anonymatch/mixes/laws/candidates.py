"""Candidates: which messages out each message in may be, under a law.

Messages are in order of time on both sides, so that the candidates of one message are a run of
consecutive departures, and both ends of the run only move forward from message to message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anonymatch import mixes
from anonymatch._native import LARGEST
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.base.errors import InputError
from anonymatch.graph import Edges, settle
from anonymatch.mixes.laws.tuning import DELAYS
from anonymatch.running import Budget

CUT = 1e-9
"""The probability, a message, of all the delays that are left out because they are too long."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Departures ``first[i]`` to ``end[i] - 1`` are those that message ``i`` may be."""

    first: Ints
    end: Ints
    late: Bools  # which messages may leave after the last departure of the log
    # From users and departures, edge by edge, to natural logs of weights; None if all weigh 1.
    weigh: Callable[[npt.NDArray[Any], npt.NDArray[Any]], Floats] | None = None
    # Natural log of the weight of not leaving before the log ends, comparable with the weights.
    staying: Floats | None = None
    note: str = ""  # what was left out, a sentence; empty if nothing

    def orphans(self, n_out: int) -> Ints:
        """Departures that nobody can have sent."""
        some = self.end > self.first
        begins, ends = (
            np.bincount(at[some], minlength=n_out + 1)[:n_out] for at in (self.first, self.end)
        )
        return np.flatnonzero(np.cumsum(begins - ends) == 0)


def between(came: Floats, left: Floats, low: float, high: float, last: float) -> Candidates:
    """Candidates by delays from ``low`` to ``high`` seconds, of a log that ends at ``last``."""
    ends = [abs(float(times[at])) for times in (came, left) if len(times) for at in (0, -1)]
    slack = mixes.rounding(max(ends, default=0.0))
    return Candidates(
        first=np.searchsorted(left, came + (low - slack), side="left"),
        end=np.searchsorted(left, came + (high + slack), side="right"),
        late=came + (high - slack) > last,
    )


def same(came: Floats, left: Floats, last: float) -> Candidates:
    """Candidates of the same flush, by its number; ``last`` is the last flush that was seen."""
    return Candidates(
        first=np.searchsorted(left, came, side="left"),
        end=np.searchsorted(left, came, side="right"),
        late=came > last,
    )


def edges_of(
    runs: Candidates,
    n_out: int,
    *,
    budget: Budget,
    lost_slots: int = 0,
    linked: Bools | None = None,
) -> Edges:
    """Rows of edges, each with its run; then ``lost_slots`` more columns for the ``linked`` users.

    Each row is divided by its largest weight, which changes no probability.
    """
    lengths = np.maximum(runs.end - runs.first, 0)
    added = np.zeros(len(lengths), dtype=np.int64)
    if linked is not None:
        added[linked] = lost_slots
    total = int(lengths.sum()) + int(added.sum())
    _check_size(total, runs.weigh is not None, budget)
    indptr = offsets(lengths + added).astype(np.int32)
    starts = indptr[:-1]
    indices = np.arange(total, dtype=np.int32)
    indices += np.repeat((runs.first - starts).astype(np.int32), lengths + added)
    beyond: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)
    if lost_slots and added.any():
        ends = runs.first + lengths
        over = indices - np.repeat(ends.astype(np.int32), lengths + added)
        beyond = np.flatnonzero(over >= 0)
        indices[beyond] = n_out + over[beyond]
    if runs.weigh is None and (not len(beyond) or runs.staying is None):
        return Edges(indptr=indptr, indices=indices, weights=None, exact=None)
    rows = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths + added)
    if runs.weigh is not None and not len(beyond):
        return _weighted(indptr, indices, rows, runs.weigh(rows, indices))
    logs = np.zeros(total)
    if runs.weigh is not None:
        among = indices < n_out
        logs[among] = runs.weigh(rows[among], indices[among])
    if runs.staying is not None:
        logs[beyond] = runs.staying[rows[beyond]]
    return _weighted(indptr, indices, rows, logs)


def _weighted(
    indptr: npt.NDArray[np.int32],
    indices: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int32],
    logs: Floats,
) -> Edges:
    size = len(indptr) - 1
    some = np.flatnonzero(np.diff(indptr))
    largest = np.zeros(size)
    if len(some):
        largest[some] = np.maximum.reduceat(logs, indptr[some])
    largest[np.isneginf(largest)] = 0.0
    logs -= largest[rows]
    retained = logs > DELAYS.edge_negligible
    if not retained.all():
        indices, logs = indices[retained], logs[retained]
        counts = np.bincount(rows[retained], minlength=size)
        indptr = offsets(counts).astype(np.int32)
    weights, _ = settle(np.exp(logs, out=logs), None)
    return Edges(indptr=indptr, indices=indices, weights=weights, exact=None)


def _check_size(total: int, weighted: bool, budget: Budget) -> None:
    if total > LARGEST:
        raise InputError(
            f"the law leaves {total} candidates in all, and a graph holds at most {LARGEST} edges; "
            "cut the log into shorter ones, or take a narrower law"
        )
    seconds, memory = (
        total * each for each in (DELAYS.edge_weighted if weighted else DELAYS.edge_plain)
    )
    if not budget.allows(seconds, memory):
        raise budget.refusal(f"building a graph of {total} edges", seconds, memory)

"""What counts by hop cost: seconds and bytes of passes over a log, of paths, of exact figures."""

from __future__ import annotations

import numpy as np

from anonymatch._native import PhaseChain
from anonymatch.base.arrays import Floats
from anonymatch.mixes.solvers.phases.phase_log import PhaseLog
from anonymatch.running import Budget, Execution

__all__ = [
    "BACKWARD",
    "DRAWING",
    "FEWEST_PATHS",
    "FINER",
    "WORK_SECONDS",
    "PhaseWork",
    "departures_to_come",
    "exact_fits",
    "exact_predicted",
    "fewest_paths_cost",
    "fits_again",
    "number_of_paths",
    "pass_memory",
    "path_cost",
    "refuse_pairs",
]

WORK_SECONDS = 0.27e-9  # a pass over a cell, measured
BACKWARD = 2.5  # passes over the log backwards, in forward ones
DRAWING = 3.0  # the same of drawing, beside the paths themselves
FINER = 1.5  # work where nothing to speak of is cut off, in that of drawn figures
_PATH_SECONDS = 0.7e-9  # an event, a path and a departure to come
_ROW_SECONDS = 9e-8  # a message and a departure to come, for all batches
_FAR = 36.0  # means of the slowest hop after which a message has left
_SAMPLES = (400, 200, 100, 40, 20)
FEWEST_PATHS = _SAMPLES[-1]
_ENOUGH_SAMPLES = 200
_MORE_SAMPLES = 10.0  # seconds that may go into more samples than that


class PhaseWork:
    """What is spent and what is left of a budget."""

    def __init__(self, budget: Budget, effort: Execution, *, strict: bool = False) -> None:
        self.budget, self.effort, self.spent, self.strict = budget, effort, 0.0, strict

    @property
    def left(self) -> float:
        return max(self.budget.seconds - self.spent, 0.0)

    def done(self, seconds: float) -> None:
        self.spent += seconds
        self.effort.stop.check()
        self.effort.advance(seconds)

    def check(self, seconds: float, memory: float) -> None:
        """Refuse what is predicted to need more than is left."""
        if seconds > self.left or memory > self.budget.memory:
            raise self.budget.refusal(
                "counts by hop", self.spent + seconds, memory, "take a shorter part of the log"
            )


def fits_again(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> bool:
    """Whether all can be done once more, with less cut off."""
    again = (1.0 + DRAWING) * FINER * chain.kernel.work * WORK_SECONDS
    return again + fewest_paths_cost(log) <= work.left


def pass_memory(chain: PhaseChain, log: PhaseLog) -> float:
    """Bytes that a pass takes: tables of a stretch, and one for every stretch."""
    kernel = chain.kernel
    share = max(kernel.share_done, 1e-9)
    a_stretch = 16.0 * kernel.cells / max(kernel.stretches, 1)
    events = (len(log.arrivals) + len(log.departures)) * share
    return a_stretch + 16.0 * kernel.stretches / share * kernel.cells / max(events, 1.0)


def departures_to_come(log: PhaseLog) -> Floats:
    """Departures that a message may be, more or less."""
    first, last = (np.searchsorted(log.departures, log.arrivals + after) for after in (0.0, _FAR))
    return (last - first).astype(np.float64)


def exact_predicted(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> bool:
    """Whether all messages can be followed one by one, by what the filter took."""
    seconds, memory = _exact_cost(chain, log)
    return seconds <= work.left and memory <= work.budget.memory


def _exact_cost(chain: PhaseChain, log: PhaseLog) -> tuple[float, float]:
    kernel = chain.kernel
    events = len(log.arrivals) + len(log.departures)
    each = kernel.work / max(events, 1)
    # Less is cut off than here; many messages are not followed to their last departure.
    seconds = FINER * (
        1.5 / 4.0 * each * float(departures_to_come(log).sum()) + BACKWARD * kernel.work
    )
    return seconds * WORK_SECONDS, 8.0 * kernel.cells + pass_memory(chain, log)


def refuse_pairs(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> None:
    """Refuse exact figures with what they cost."""
    work.check(*_exact_cost(chain, log))


def path_cost(log: PhaseLog, samples: int, width: Floats) -> float:
    """Seconds of so many paths, beside the way back itself."""
    events = len(log.arrivals) + len(log.departures)
    mean = float(width.mean()) if len(width) else 0.0
    cost = events * samples * _PATH_SECONDS + len(log.arrivals) * _ROW_SECONDS
    return cost * (mean + 4.0)


def fewest_paths_cost(log: PhaseLog) -> float:
    """Seconds of the fewest paths that are ever drawn."""
    return path_cost(log, FEWEST_PATHS, departures_to_come(log))


def number_of_paths(chain: PhaseChain, log: PhaseLog, work: PhaseWork) -> int:
    """As many drawn paths as the budget pays for, but some at least."""
    width = departures_to_come(log)
    left = work.left - DRAWING * chain.kernel.work * WORK_SECONDS
    for samples in _SAMPLES:
        room = 32.0 * samples * log.hops * (float(width.max(initial=0.0)) + 64.0)
        most = left if samples <= _ENOUGH_SAMPLES else min(left, _MORE_SAMPLES)
        fits = room + pass_memory(chain, log) <= work.budget.memory
        if fits and path_cost(log, samples, width) <= most:
            break
    return samples


def exact_fits(chain: PhaseChain, work: PhaseWork) -> bool:
    """Whether all messages can be followed, one by one, with what is left."""
    return float(chain.kernel.row_work().sum()) * WORK_SECONDS <= work.left

"""Messages of a log that are not seen again: how many may be inside at the end, or must be lost."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes.laws import DensityLaw, GraphFlushLaw
from anonymatch.mixes.laws.candidates import Candidates
from anonymatch.mixes.logs.log_problem import LogProblem
from anonymatch.mixes.logs.observation import Conditions

__all__ = [
    "check_inside",
    "is_silent_beside_cover",
    "leaves_some_inside",
    "loss_of_flushes",
    "needed_loss",
    "too_many_missing",
]

_FAR = 3.0  # standard deviations beyond which numbers are not by chance


def _still_inside(problem: LogProblem, conditions: Conditions) -> int:
    """Messages that are not seen again, nor lost by what is told."""
    left = problem.n_out - (conditions.cover or 0)
    return problem.n_in - (conditions.lost or 0) - left


def leaves_some_inside(problem: LogProblem, conditions: Conditions) -> bool:
    """Whether losses are told as a number, and more than those are missing."""
    told = conditions.lost is not None and not conditions.drained
    return told and _still_inside(problem, conditions) > 0


def check_inside(problem: LogProblem, conditions: Conditions) -> None:
    """Refuse losses beside which more would have to be inside at the end than can be."""
    inside = _still_inside(problem, conditions)
    late = int(np.count_nonzero(problem.candidates(conditions.end).late))
    if conditions.lost is None or inside <= late:
        return
    raise InputError(
        Argument("lost"),
        f" is {conditions.lost}, but {several(problem.n_in, 'message')} came in and "
        f"{problem.n_out} left: {inside} would still be inside at the end, and under the "
        f"{problem.law} at most {late} can be; give {conditions.lost + inside - late} or more",
    )


def is_silent_beside_cover(conditions: Conditions) -> bool:
    """Whether cover is told as a number, and nothing of losses."""
    silent = conditions.loss is None and conditions.lost is None and not conditions.drained
    return silent and conditions.cover is not None


def too_many_missing(problem: LogProblem, conditions: Conditions, runs: Candidates) -> bool:
    """Whether more are missing than would be inside at the end."""
    mean, variance = _expected_inside(problem, conditions.end)
    most = min(mean + _FAR * math.sqrt(variance) + 1.0, int(np.count_nonzero(runs.late)))
    return _still_inside(problem, conditions) > most


def needed_loss(problem: LogProblem, conditions: Conditions) -> float:
    """The probability of a loss under which as many messages are missing as are expected to be.

    Messages inside at the end are missing whether or not they will be lost: losses show only in
    the others. At least one message is taken as lost, and never all of them.
    """
    mean, _ = _expected_inside(problem, conditions.end)
    lost = max(_still_inside(problem, conditions) - mean, 1.0)
    most = problem.n_in / (problem.n_in + 1.0)
    return min(lost / max(problem.n_in - mean, 1.0), most)


def _expected_inside(problem: LogProblem, end: float) -> tuple[float, float]:
    """Mean and variance of the number inside at the end, by the law alone."""
    law = problem.law
    assert isinstance(law, DensityLaw)
    staying = np.exp(law.log_survival(end - problem.log.arrivals[problem.ins]))
    return float(staying.sum()), float((staying * (1.0 - staying)).sum())


def loss_of_flushes(problem: LogProblem, end: float) -> float:
    """The probability of a loss in a flush mix, if the missing messages cannot all be inside."""
    missing = problem.n_in - problem.n_out
    assert isinstance(problem.law, GraphFlushLaw)
    inside, most = problem.law.inside_at_end(problem.log.arrivals[problem.ins], end)
    if missing <= most:
        return 0.0
    return min((missing - inside) / (problem.n_in - inside), problem.n_in / (problem.n_in + 1.0))

"""What is told of losses, cover, beginning and end of a log, completed by the log's flags."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.sources.laws import MOST_HOPS, Law
from anonymatch.sources.log_problem import LogProblem
from anonymatch.sources.messages import LATEST, Messages
from anonymatch.sources.observation import Conditions

__all__ = ["conditions_of", "moment_of", "with_start"]


def with_start(conditions: Conditions, law: Law, inside: float) -> Conditions:
    """The conditions with a mean number of messages inside at the beginning."""
    mean = real(inside, "inside_at_start", high=1e15)
    if not mean and not law.may_start_full:
        return conditions  # empty, as other mixes are taken to be
    if not law.may_start_full:
        raise InputError(
            Argument("inside_at_start"),
            f" is for exponential mixes and for Erlang laws of up to {MOST_HOPS} hops, and this is "
            f"the {law}; leave it out",
        )
    return replace(conditions, inside_at_start=mean)


def conditions_of(
    problem: LogProblem,
    loss: float | None,
    lost: int | None,
    cover_rate: float | None,
    cover: int | None,
    until: float | str | None,
    *,
    drained: bool,
    visible: bool,
) -> tuple[Conditions, list[str]]:
    """What is told of losses, cover and ends, completed by the log's flags; and notes on that."""
    if loss is not None and lost is not None:
        raise _either("loss", "a probability", "lost")
    if cover_rate is not None and cover is not None:
        raise _either("cover_rate", "a rate", "cover")
    log = problem.log
    ends = [
        float(times[at]) for times in (log.arrivals, log.departures) if len(times) for at in (0, -1)
    ]
    begin, last = (min(ends), max(ends)) if ends else (0.0, 0.0)
    end = last if until is None else moment_of(until)
    if end < last:
        told, latest = log.moments_apart(end, last)
        raise InputError(
            Argument("until"), f" is {told}, but the log goes on to {latest}; give that or more"
        )
    given = Conditions(
        loss=None if loss is None else _loss(loss),
        lost=None if lost is None else whole(lost, "lost"),
        cover_rate=None if cover_rate is None else real(cover_rate, "cover_rate", high=1e30),
        cover=None if cover is None else whole(cover, "cover"),
        begin=begin,
        end=end,
        drained=bool(drained),
    )
    return (given, []) if visible else _flagged(problem, given)


def _either(rate: str, what: str, number: str) -> InputError:
    return InputError(
        Argument(rate), f" is {what} and ", Argument(number), " a number; give one of them"
    )


def moment_of(until: float | str) -> float:
    """Seconds; a date-time as those since 1970, as dates in logs are."""
    if not isinstance(until, str):
        return real(until, "until", low=-LATEST, high=LATEST)
    try:
        return real(float(until), "until", low=-LATEST, high=LATEST)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(until.strip())
    except ValueError:
        raise InputError(
            Argument("until"), f" is {quoted(until)}; give seconds, or a date-time as the log's"
        ) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _loss(loss: float) -> float:
    share = real(loss, "loss", high=1.0)
    if share == 1.0:
        raise InputError(
            Argument("loss"), " is 1: then nothing comes out; give a probability below 1"
        )
    return share


def _flagged(problem: LogProblem, conditions: Conditions) -> tuple[Conditions, list[str]]:
    """Rates, or under other laws numbers, that the log's flags say and nobody told.

    A dummy that goes all the way is to the attacker a message like all others.
    """
    rates = problem.law.flags_as_rates
    cover, lost = _alone(problem.log, problem.law, conditions.end)
    lasted = conditions.end - conditions.begin
    before, much = conditions, []
    if cover and conditions.cover is None and conditions.cover_rate is None:
        if rates and lasted > 0:
            conditions = replace(conditions, cover_rate=cover / lasted)
            much.append(f"cover of {cover / lasted:.3g} a second")
        elif conditions.lost is None:
            conditions = replace(conditions, cover=cover)
            much.append(several(cover, "cover message"))
    if lost and conditions.loss is None and conditions.lost is None:
        if rates and lost < problem.n_in:
            conditions = replace(conditions, loss=lost / problem.n_in)
            much.append(f"a loss of {lost / problem.n_in:.3g}")
        elif conditions.cover is None:
            conditions = replace(conditions, lost=max(lost, problem.n_in - problem.n_out))
            much.append(several(lost, "lost message"))
    if not much:
        return conditions, []
    note = f"{' and '.join(much)} by the log's flags: the attacker knows how much, not which"
    names = ("loss", "lost", "cover_rate", "cover")
    flagged = frozenset(
        name for name in names if getattr(conditions, name) != getattr(before, name)
    )
    return replace(conditions, flagged=flagged), [note[0].upper() + note[1:]]


def _alone(log: Messages, law: Law, end: float) -> tuple[int, int]:
    """Departures and arrivals that are flagged, and are not the two ends of one dummy.

    Where dummies go all the way, one that may be on its way when the log ends is inside, not lost.
    """
    cover = np.zeros(log.n_out, dtype=np.bool_) if log.cover is None else log.cover.copy()
    lost = np.zeros(log.n_in, dtype=np.bool_) if log.lost is None else log.lost.copy()
    if log.truth is not None:
        paired = np.flatnonzero(log.truth >= 0)
        cover[log.truth[paired]] = False
        if lost[paired].any():
            lost &= ~_late(log, law, end)
        lost[paired] = False
    return int(np.count_nonzero(cover)), int(np.count_nonzero(lost))


def _late(log: Messages, law: Law, end: float) -> Bools:
    """Arrivals that may still be inside at the end: by the law's 99.9 % delay, or nothing left."""
    came = log.arrivals
    lasted = float(came[-1] - came[0])
    reach = law.end_delay((len(came) - 1) / lasted if lasted > 0 else None) or 0.0
    last = float(log.departures[-1]) if log.n_out else -math.inf
    late: Bools = came > min(end - reach, last)
    return late

"""What is told of losses, cover, beginning and end of a log, completed by the log's flags."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, quoted, several
from anonymatch.mixes.laws import MOST_HOPS, FlushLaw, HopLaw, Law, Timed, by_density
from anonymatch.mixes.logs.log_problem import LogProblem
from anonymatch.mixes.logs.messages import LATEST, Messages
from anonymatch.mixes.logs.observation import Conditions

__all__ = ["conditions_of", "in_mid_traffic", "moment_of", "observed_part", "with_start"]

_RECENT = 631152000.0  # 1990, in seconds since 1970
_FRACTION = re.compile(r"(.*:\d\d)(\.\d+)(|[zZ]|[+-]\d\d:?\d\d)", re.ASCII)  # of a date-time


def with_start(conditions: Conditions, law: Law, inside: float) -> Conditions:
    """The conditions with a mean number of messages inside at the beginning."""
    mean = _rate(inside, "inside_at_start", 1e15)
    if isinstance(law, HopLaw) and law.few_hops:
        return replace(conditions, inside_at_start=mean)
    if not mean:
        return conditions  # empty, as other mixes are taken to be
    raise InputError(
        Argument("inside_at_start"),
        f" is for exponential mixes and for Erlang laws of up to {MOST_HOPS} hops, and this is "
        f"the {law}; leave it out",
    )


def in_mid_traffic(problem: LogProblem, conditions: Conditions) -> tuple[Conditions, list[str]]:
    """The conditions of an observation that starts in mid traffic, and a note.

    Messages inside at the start are estimated where the chain of the law can do that. Under other
    laws with a density their mean is that of steady traffic.
    """
    law = problem.law
    if isinstance(law, FlushLaw) and not isinstance(law, Timed):
        raise InputError(
            Argument("since"),
            f" is not for the {law}: its batches depend on messages before that time; leave it out",
        )
    if isinstance(law, HopLaw) and law.few_hops:
        return replace(conditions, mid_traffic=True), []
    numbers = conditions.lost is not None or conditions.cover is not None
    lasted = conditions.end - conditions.begin
    if not by_density(law) or law.mean_delay is None or numbers or not lasted > 0:
        return conditions, []
    mean = problem.n_in / lasted * law.mean_delay * (1.0 - (conditions.loss or 0.0))
    note = f"{mean:.3g} messages are assumed inside at the start on average, as in steady traffic"
    steady = replace(
        conditions,
        inside_at_start=mean,
        cover_rate=conditions.cover_rate or 0.0,
        estimated=conditions.estimated | {"inside_at_start"},
    )
    return steady, [note]


def conditions_of(
    problem: LogProblem,
    loss: float | None,
    lost: int | None,
    cover_rate: float | None,
    cover: int | None,
    since: float | None,
    until: float | None,
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
    first, last = (min(ends), max(ends)) if ends else (0.0, 0.0)
    begin = first if since is None else since
    end = last if until is None else until
    given = Conditions(
        loss=None if loss is None else _loss(loss),
        lost=None if lost is None else whole(lost, "lost"),
        cover_rate=None if cover_rate is None else _rate(cover_rate, "cover_rate", 1e30),
        cover=None if cover is None else whole(cover, "cover"),
        begin=begin,
        end=end,
        drained=bool(drained),
    )
    return (given, []) if visible else _flagged(problem, given)


def _rate(value: object, name: str, high: float) -> float:
    """The rate of one mix."""
    if isinstance(value, Mapping):
        raise InputError(
            Argument(name), " names mixes, and this is a log of one mix; give one number"
        )
    return real(value, name, high=high)


def _either(rate: str, what: str, number: str) -> InputError:
    return InputError(
        Argument(rate), f" is {what} and ", Argument(number), " a number; give one of them"
    )


def observed_part(
    messages: Messages, since: float | str | None, until: float | str | None
) -> tuple[Messages, float | None, float | None]:
    """The log from ``since`` to ``until``, and both in its own seconds; None where not given."""
    for given, name in ((since, "since"), (until, "until")):
        if given is not None:
            _check_kind(given, name, messages)
    begin = None if since is None else moment_of(since, "since", messages.origin)
    end = None if until is None else moment_of(until, "until", messages.origin)
    if begin is not None and end is not None and end < begin:
        raise InputError(
            Argument("until"),
            f" is {messages.moment(end)}, before ",
            Argument("since"),
            f", {messages.moment(begin)}; give a later end",
        )
    return messages.between(begin, end), begin, end


def _check_kind(given: float | str, name: str, messages: Messages) -> None:
    """Refuse a date-time for a log in plain seconds, and plain seconds for one with date-times.

    Either is fine if both are seconds since 1970 of our days, or neither is.
    """
    times = np.concatenate((messages.arrivals, messages.departures)) + messages.origin
    recent = bool(len(times)) and float(np.abs(times).max()) >= _RECENT
    if (abs(moment_of(given, name)) >= _RECENT) == recent or not len(times):
        return
    try:
        float(given)
    except ValueError:
        if messages.dates is None:
            raise InputError(
                Argument(name),
                f" is the date-time {quoted(given)}, but the times of the log are plain numbers; "
                "give seconds as in the log",
            ) from None
        return
    if messages.dates is not None:
        raise InputError(
            Argument(name), f" is {given}, but the times of the log are date-times; give one"
        )


def moment_of(given: float | str, name: str, origin: float = 0.0) -> float:
    """Seconds after ``origin``; a date-time as those since 1970, as dates in logs are.

    Examples
    --------
    >>> moment_of("1800000000.000000002", "until", 1.8e9), moment_of("1970-01-01T00:00:02", "until")
    (2e-09, 2.0)
    """
    if not isinstance(given, str):
        return real(given, name, low=-LATEST, high=LATEST) - origin
    try:
        real(float(given), name, low=-LATEST, high=LATEST)
        return float(Decimal(given.strip()) - Decimal(origin))
    except ValueError:
        pass
    date = _FRACTION.fullmatch(given.strip())
    try:
        moment = datetime.fromisoformat(given.strip() if date is None else date[1] + date[3])
    except ValueError:
        raise InputError(
            Argument(name), f" is {quoted(given)}; give seconds, or a date-time as the log's"
        ) from None
    whole = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return whole - origin + (0.0 if date is None else float(date[2]))


def _loss(loss: float) -> float:
    share = _rate(loss, "loss", 1.0)
    if share == 1.0:
        raise InputError(
            Argument("loss"), " is 1: then nothing comes out; give a probability below 1"
        )
    return share


def _flagged(problem: LogProblem, conditions: Conditions) -> tuple[Conditions, list[str]]:
    """Rates, or under other laws numbers, that the log's flags say and nobody told.

    A dummy that goes all the way is to the attacker a message like all others.
    """
    rates = isinstance(problem.law, HopLaw | FlushLaw)
    cover, lost = _alone(problem.log, problem.law, conditions.end)
    lasted = conditions.end - conditions.begin
    before, much = conditions, []
    if cover and conditions.cover is None and conditions.cover_rate is None:
        if rates and lasted > 0:
            conditions = replace(conditions, cover_rate=cover / lasted)
            much.append(f"cover of {cover / lasted:.3g} per second")
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
    note = (
        f"{' and '.join(much)}, from the flags of the log: the attacker knows the rates, but not "
        "which messages are flagged"
    )
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

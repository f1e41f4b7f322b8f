"""Message logs under a delay law: who may have received whose message.

:func:`observe` turns a log into what an attacker knows from times alone. Messages in are users,
messages out are behaviours, and an edge says that the law allows the delay between the two. Edges
weigh what the law says; under a window, and within a batch, all weigh the same.

One exponential mix and Erlang laws of few hops are followed by what is inside (a `Passage`), with
rates of losses and cover traffic, or their numbers. So are others that say how likely a delay is,
where rates are told. Else:

- More messages out than in: the surplus is nobody's (cover traffic, or messages that came in before
  the log began). Which they are is not known; every user is matched, and so many behaviours stay
  unmatched. ``cover=C`` says that C are nobody's where the numbers alone do not.
- More messages in than fit the messages out: places for lost messages follow the behaviours. They
  are open to those messages that may still be inside when the log ends, as likely as the law says
  that they are; if these are not enough
  because more came in than left, or with ``lost=L``, they are open to all.

Flags of a log, which departures are cover and which arrivals are lost, are the truth as pairs are:
the attacker does not see them. They say how much of both there is, and score guesses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import numpy as np

from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message, quoted, several
from anonymatch.graph import Edges, Graph, Names, structure
from anonymatch.measures import mixes, rounding
from anonymatch.running import Budget
from anonymatch.sources.candidates import Candidates, edges_of
from anonymatch.sources.ends import with_ends
from anonymatch.sources.labels import lost_slot_names
from anonymatch.sources.laws import MOST_HOPS, DelayLaw, Exponential, Law, Linked, check_law
from anonymatch.sources.log_problem import LogProblem
from anonymatch.sources.messages import LATEST, Messages, check_messages
from anonymatch.sources.observation import MESSAGES, Conditions, Observation, Passage

_FAR = 3.0  # standard deviations beyond which numbers are not by chance

__all__ = ["exponential_graph", "observe", "passage_graph"]


def observe(
    messages: Messages,
    law: Law | str,
    *,
    loss: float | None = None,
    lost: int | None = None,
    cover_rate: float | None = None,
    cover: int | None = None,
    until: float | str | None = None,
    drained: bool = False,
    inside_at_start: float | None = None,
    cover_in_pool: bool = False,
    cover_visible: bool = False,
    whole_log: bool = False,
    budget: Budget | float | None = None,
) -> Observation:
    """What the times of a log tell about who received whose message.

    Parameters
    ----------
    messages : Messages
    law : Law or str
        How long messages are held back, such as ``Window(1, 5)`` or ``"window:1,5"``.
    loss : float, optional
        Probability of a message to be lost on its way.
    lost : int, optional
        Instead: so many messages in never came out, beyond those still inside at the end.
    cover_rate : float, optional
        Messages out a second, on average, that are nobody's.
    cover : int, optional
        Instead: so many messages out are nobody's.
    until : float or str, optional
        When the log ends, in seconds or as a date-time; with its last event unless told.
    drained : bool
        Whether nothing was left inside when the log ended.
    inside_at_start : float, optional
        Messages inside when the log begins, on average: of a log that starts in mid traffic. The
        mix was empty unless told, or unless the log shows otherwise. Of mixes with exponential
        delays only, one (``exponential``) or a few in a row (``erlang``).
    cover_in_pool : bool
        Whether the cover of a flush mix (threshold, timed, pool, ...) comes into the mix, and is
        held back and sent on like messages; else it joins what leaves.
    cover_visible : bool
        Whether the attacker can tell what the log flags as cover or lost; it is then left out.
    whole_log : bool
        Whether messages near the ends of the log count as all others.
    budget : float or Budget, optional
        A graph that needs more than this is refused.

    Returns
    -------
    Observation
        A Passage for laws that are followed by what is inside; it needs no graph. Else a graph,
        weighted where the law prefers some delays.

    Notes
    -----
    Messages of people who have several are named by person and number: ``ann #2`` is the second
    message of ann. Times are compared to within the rounding of float64.

    In a batch mix a message out belongs to the last flush before it. In one exponential mix, and in
    a pool mix, whoever is inside may leave, all equally likely [1]_.

    What is told of neither losses nor cover is taken from the log's flags, and else fitted. What
    was inside at the beginning is fitted where messages leave that nobody can have sent.

    References
    ----------
    .. [1] Danezis. The traffic analysis of continuous-time mixes. PET 2004.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = Messages(
    ...     arrivals=[0, 1, 4], departures=[2, 3, 6], senders=("ann", "bob", "cem"),
    ...     receivers=("x", "y", "z"),
    ... )
    >>> observation = observe(log, "window:1,3")
    >>> observation.graph.to_edges()
    [('ann', 'x'), ('ann', 'y'), ('bob', 'x'), ('bob', 'y'), ('cem', 'z')]
    >>> observe(log, "exponential:2").passage.behaviours
    ('x', 'y', 'z')
    """
    check_messages(messages)
    rule = check_law(law)
    if isinstance(rule, Linked):
        return _off_links(
            messages,
            rule,
            until,
            partial(
                observe,
                law=rule.law,
                loss=loss,
                lost=lost,
                cover_rate=cover_rate,
                cover=cover,
                drained=drained,
                inside_at_start=inside_at_start,
                cover_in_pool=cover_in_pool,
                cover_visible=cover_visible,
                whole_log=whole_log,
                budget=budget,
            ),
            drained=drained,
        )
    problem = LogProblem.of(messages, rule, visible=cover_visible)
    conditions, notes = _conditions(
        problem, loss, lost, cover_rate, cover, until, drained=drained, visible=cover_visible
    )
    if cover_in_pool:
        if rule.flush is None:
            raise InputError(
                Argument("cover_in_pool"), f" is for mixes that flush, and this is the {rule}"
            )
        conditions = replace(conditions, cover_in_pool=True)
    if inside_at_start is not None:
        conditions = _with_start(conditions, rule, inside_at_start)
    phase = _phase(rule, messages.departures)
    try:
        observation = _observed(problem, conditions, Budget.of(budget))
    except InputError as error:
        if phase is None:
            raise
        raise error.more(f". {phase}") from None
    if phase is not None:
        observation = replace(observation, notes=(*observation.notes, phase))
    observation = replace(observation, notes=(*observation.notes, *notes))
    return observation if whole_log else _with_ends(observation, problem, conditions)


def _off_links(
    messages: Messages,
    linked: Linked,
    until: float | str | None,
    observed: Callable[..., Observation],
    *,
    drained: bool,
) -> Observation:
    """The log as the mix sees it: messages out by the time at which they left it for the links.

    Messages in that came so late that none of them can have come out came in just after the end.
    They are inside, or lost; if nothing was left inside they are left out, as nobody saw them.
    """
    seconds = linked.seconds
    departures = messages.departures - seconds
    last = max(times[-1] for times in (messages.arrivals, messages.departures) if len(times))
    end = (float(last) if until is None else _moment(until)) - seconds
    late = messages.n_in - int(np.searchsorted(messages.arrivals, end, side="right"))
    number = messages.n_in - late if drained else messages.n_in
    just_after = end + 4.0 * rounding(max(abs(end), seconds))
    arrivals = np.minimum(messages.arrivals[:number], just_after)
    truth = None if messages.truth is None else messages.truth[:number].copy()
    if truth is not None:  # who was faster than links are is no message of this law
        known = np.flatnonzero(truth >= 0)
        truth[known[departures[truth[known]] < arrivals[known]]] = -1
    shifted = replace(
        messages,
        arrivals=arrivals,
        senders=messages.senders[:number],
        lost=None if messages.lost is None else messages.lost[:number],
        departures=departures,
        truth=truth,
    )
    observation = observed(shifted, until=just_after if late and not drained else end)
    then = "left out" if drained else "still inside at the end, or lost"
    are = "is" if late == 1 else "are"
    notes = [f"{several(late, 'message')} in came too late to come out, and {are} {then}"]
    return replace(
        observation,
        source=str(linked),
        mean_delay=_after(observation.mean_delay, seconds),
        longest_delay=_after(observation.longest_delay, seconds),
        rate=_rate(messages.arrivals[:number]),
        departures=None if observation.departures is None else observation.departures + seconds,
        notes=(*observation.notes, *(notes if late else ())),
    )


def _after(delay: float | None, seconds: float) -> float | None:
    return None if delay is None else delay + seconds


def _with_start(conditions: Conditions, law: Law, inside: float) -> Conditions:
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


def _phase(law: Law, departures: Floats) -> str | None:
    """What to say if messages leave at another moment of the interval than the law's clock."""
    rule = law.flush
    if rule is None or rule.interval is None or not len(departures):
        return None
    interval = rule.interval
    after = np.mod(departures - rule.origin, interval)
    middle = float(np.median(after))
    apart = np.abs(np.mod(after - middle + interval / 2, interval) - interval / 2)
    alike = float(np.mean(apart < 1e-3 * interval)) > 0.9
    off = min(middle, interval - middle) > 0.01 * interval
    if not alike or not off:
        return None
    origin = math.fmod(rule.origin + middle, interval)
    return (
        f"Messages leave {middle:.6g} s after the flushes of the {law}: if its clock is shifted, "
        f"add where it begins as the law's last number, {origin:.6g}"
    )


def _observed(problem: LogProblem, conditions: Conditions, budget: Budget) -> Observation:
    law = problem.law
    if law.followed and not (law.alike and conditions.silent):
        return _through(problem, _inside(problem, conditions))
    if law.alike and conditions.silent:
        loss = _loss_of_flushes(problem, conditions.end)
        if loss > 0.0:
            return _with_loss(problem, conditions, loss)
    if law.by_moments:
        passage = problem.passage(conditions.lost)
        if passage is not None:
            return _through(problem, passage)
    if law.has_density and (conditions.loss or conditions.cover_rate):
        return _through(problem, _inside(problem, conditions))
    if law.has_density and _leaves_some_inside(problem, conditions):
        _check_inside(problem, conditions)
        return _through(problem, _inside(problem, conditions))
    for name in ("loss", "cover_rate"):
        if getattr(conditions, name):
            number = {"loss": "lost", "cover_rate": "cover"}[name]
            raise InputError(
                Argument(name),
                f" is for laws that say how likely a delay is, and this is the {law}; "
                f"give a number instead: ",
                Argument(number),
            )
    return _matched(problem, conditions, budget)


def _with_loss(problem: LogProblem, conditions: Conditions, loss: float) -> Observation:
    """The passage with losses that the numbers ask for."""
    lossy = replace(conditions, loss=loss, estimated=frozenset({"loss"}))
    observation = _through(problem, _inside(problem, lossy))
    note = Message(
        f"A loss of {loss:.3g} a message is estimated: more are missing than can be inside "
        "at the end (",
        Argument("loss", ...),
        ")",
    )
    return replace(observation, notes=(*observation.notes, note))


def _still_inside(problem: LogProblem, conditions: Conditions) -> int:
    """Messages that are not seen again, nor lost by what is told."""
    left = problem.n_out - (conditions.cover or 0)
    return problem.n_in - (conditions.lost or 0) - left


def _leaves_some_inside(problem: LogProblem, conditions: Conditions) -> bool:
    """Whether losses are told as a number, and more than those are missing."""
    told = conditions.lost is not None and not conditions.drained
    return told and _still_inside(problem, conditions) > 0


def _check_inside(problem: LogProblem, conditions: Conditions) -> None:
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


def _is_silent_beside_cover(conditions: Conditions) -> bool:
    """Whether cover is told as a number, and nothing of losses."""
    silent = conditions.loss is None and conditions.lost is None and not conditions.drained
    return silent and conditions.cover is not None


def _too_many_missing(problem: LogProblem, conditions: Conditions, runs: Candidates) -> bool:
    """Whether more are missing than would be inside at the end."""
    mean, variance = _expected_inside(problem, conditions.end)
    most = min(mean + _FAR * math.sqrt(variance) + 1.0, int(np.count_nonzero(runs.late)))
    return _still_inside(problem, conditions) > most


def _needed_loss(problem: LogProblem, conditions: Conditions) -> float:
    """The share of messages that are missing beside those expected inside: of one at least."""
    mean, _ = _expected_inside(problem, conditions.end)
    return max(_still_inside(problem, conditions) - mean, 1.0) / (problem.n_in + 1.0)


def _expected_inside(problem: LogProblem, end: float) -> tuple[float, float]:
    """Mean and variance of the number inside at the end, by the law alone."""
    law = problem.law
    assert isinstance(law, DelayLaw)
    staying = np.exp(law.log_survival(end - problem.log.arrivals[problem.ins]))
    return float(staying.sum()), float((staying * (1.0 - staying)).sum())


def _loss_of_flushes(problem: LogProblem, end: float) -> float:
    """The share of messages that a flush mix must have lost: they cannot all be inside."""
    missing = problem.n_in - problem.n_out
    inside, most = problem.law.inside_at_end(problem.log.arrivals[problem.ins], end)
    return (missing - inside) / problem.n_in if missing > most else 0.0


def _conditions(
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
    end = last if until is None else _moment(until)
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


def _moment(until: float | str) -> float:
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


def _with_ends(
    observation: Observation, problem: LogProblem, conditions: Conditions
) -> Observation:
    """The observation with messages near an end of the log marked."""
    reach = problem.law.end_delay(observation.rate)
    arrivals = problem.log.arrivals[problem.ins]
    return with_ends(observation, arrivals, conditions.begin, conditions.end, reach)


def exponential_graph(messages: Messages, *, budget: Budget | float | None = None) -> Graph:
    """The graph of messages through one exponential mix: each may have left at any later time.

    It has about half as many edges as there are pairs; beyond the budget it is refused.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = Messages(
    ...     arrivals=[0, 1, 2], departures=[1.5, 3, 4], senders="abc", receivers="xyz"
    ... )
    >>> am.count(exponential_graph(log)).value
    4
    """
    check_messages(messages)
    passage = LogProblem.of(messages, Exponential(1.0), visible=True).passage(None)
    if passage is None:
        raise InputError(
            "more messages leave than come in; whose they are depends on the delays: use observe"
        )
    return passage_graph(passage, budget=budget)


def passage_graph(passage: Passage, *, budget: Budget | float | None = None) -> Graph:
    """The graph that a passage stands for, with behaviours in order of time.

    If fewer left than came in, places for the others are the last behaviours, open to all: a count
    is too large by the factorial of their number.

    Examples
    --------
    >>> passage = Passage(users="ab", behaviours="x", arrivals=np.r_[0, 1], departures=np.r_[2.0])
    >>> passage_graph(passage).to_edges()
    [('a', 'x'), ('a', 'lost #1'), ('b', 'x'), ('b', 'lost #1')]
    """
    order = np.argsort(passage.departures, kind="stable")
    size, left = len(passage.users), len(order)
    conditions = passage.conditions
    if conditions is not None and passage.law is not None:
        even = passage.law.closed_form and conditions.clean
        if not even or left > size:
            return _weighted_graph(passage, passage.law, conditions, Budget.of(budget))
    everybody = np.ones(size, dtype=np.bool_)
    runs = Candidates(
        first=np.searchsorted(passage.departures[order], passage.arrivals, side="left"),
        end=np.full(size, left),
        late=everybody,
    )
    names = [passage.behaviours[at] for at in order.tolist()]
    edges = edges_of(runs, left, budget=Budget.of(budget), lost_slots=size - left, linked=everybody)
    return _graph(tuple(passage.users), names, size - left, edges)


def _weighted_graph(passage: Passage, law: Law, conditions: Conditions, budget: Budget) -> Graph:
    """The graph of a passage whose delays matter, with places for lost messages."""
    log = Messages(
        arrivals=passage.arrivals,
        departures=passage.departures,
        senders=tuple(passage.users),
        receivers=tuple(passage.behaviours),
    )
    graph = _matched(LogProblem.of(log, law), conditions, budget).graph
    assert graph is not None
    return graph


def _through(problem: LogProblem, passage: Passage) -> Observation:
    inside = max(problem.n_in - problem.n_out, 0)
    conditioned = passage.conditions is not None  # then its answers tell what became of the others
    notes = [_lost_note(inside, problem.n_in, late=False)] if inside and not conditioned else []
    notes += _truth_notes(problem, lambda i, j: passage.arrivals[i] <= passage.departures[j])
    return _observation(problem, passage=passage, lost=inside, notes=notes)


def _inside(problem: LogProblem, conditions: Conditions) -> Passage:
    """The passage through a mix that is followed by what is inside."""
    log = problem.log
    if problem.law.flush is None:
        _check_numbers(problem, conditions)
    return Passage(
        users=problem.users,
        behaviours=problem.behaviours,
        arrivals=log.arrivals[problem.ins],
        departures=log.departures[problem.outs],
        law=problem.law,
        conditions=conditions,
    )


def _check_numbers(problem: LogProblem, conditions: Conditions) -> None:
    """Refuse numbers that cannot be, and departures that nobody can be if there is no cover."""
    lost, cover = conditions.lost, conditions.cover
    if lost is not None and lost > problem.n_in:
        raise InputError(
            Argument("lost"), f" is {lost}, but {several(problem.n_in, 'message')} came in"
        )
    if cover is not None and cover > problem.n_out:
        raise InputError(
            Argument("cover"), f" is {cover}, but {several(problem.n_out, 'message')} left"
        )
    if conditions.inside_at_start:
        return  # any departure may be of a message that came in before
    none = cover == 0 or (cover is None and conditions.cover_rate == 0.0)
    unsent = problem.unsent(problem.log.arrivals[problem.ins], problem.log.departures[problem.outs])
    if none and len(unsent):
        raise problem.no_sender(unsent, cover=len(unsent), start=True)
    known = cover if cover is not None else (0 if none else None)
    delivered = problem.n_in - (lost or 0)
    if known is not None and problem.n_out - known > delivered:
        raise InputError(
            f"{several(problem.n_in, 'message')} came in and {problem.n_out} left: with "
            f"{lost or 0} lost at least {problem.n_out - delivered} of them are cover, not "
            f"{known}; give ",
            Argument("cover"),
            ", ",
            Argument("cover_rate"),
            " or ",
            Argument("lost"),
            " accordingly",
        )


def _matched(problem: LogProblem, conditions: Conditions, budget: Budget) -> Observation:
    """The observation with a graph in which every user is matched, to a place if need be."""
    cover, lost = conditions.cover, conditions.lost
    stated = problem.numbers(cover, lost)
    runs = problem.candidates(conditions.end)
    alone = runs.orphans(problem.n_out)
    surplus = problem.n_out - (problem.n_in - (stated or 0))
    edges = edges_of(runs, problem.n_out, budget=budget)
    graph = _graph(problem.users, problem.behaviours, 0, edges)
    missing = problem.n_in - structure(graph).n_matched
    if len(alone) and surplus <= 0:
        raise problem.no_sender(alone, cover=problem.n_out - problem.n_in + missing)
    lost_slots = missing if stated is None else stated
    if lost_slots < missing and cover is not None:
        raise InputError(
            Argument("cover"),
            f" is {cover}, but under the {problem.law} only {problem.n_in - missing} of "
            f"{several(problem.n_out, 'message')} out can be somebody's at once; give "
            f"{problem.n_out - problem.n_in + missing} or more",
        )
    if lost_slots < missing:
        raise _too_few(problem, runs, graph, missing)
    if problem.n_out - (problem.n_in - lost_slots) > 0 >= surplus:
        raise InputError(
            f"only {problem.n_in - missing} of {several(problem.n_out, 'message')} out can be "
            "somebody's "
            f"at once under the {problem.law}; check times and law, or allow for cover traffic (",
            Argument("cover", problem.n_out - problem.n_in + missing),
            ")",
        )
    spare = problem.n_out - (problem.n_in - lost_slots)
    notes = [runs.note] if runs.note else []
    if lost_slots:
        late = _all_inside(problem, conditions)
        open_ = late and problem.law.has_density and _is_silent_beside_cover(conditions)
        if open_ and _too_many_missing(problem, conditions, runs):
            return _with_loss(problem, conditions, _needed_loss(problem, conditions))
        graph, linked = _with_lost_slots(problem, runs, lost_slots, budget, late=late)
        if not structure(graph).matched:
            if open_:
                return _with_loss(problem, conditions, _needed_loss(problem, conditions))
            raise _too_few(
                problem, runs, _graph(problem.users, problem.behaviours, 0, edges), missing
            )
        notes.append(_lost_note(lost_slots, linked, late=late))
    notes += _cover_notes(spare, len(alone))
    notes += _truth_notes(problem, lambda i, j: (runs.first[i] <= j) & (j < runs.end[i]))
    return _observation(problem, graph=graph, lost=lost_slots, spare=spare, notes=notes)


def _all_inside(problem: LogProblem, conditions: Conditions) -> bool:
    """Whether messages that are not seen again are inside at the end, and none of them is lost.

    Who knows how many are lost on the way says so. Who knows only how much is cover leaves that
    open; laws that say how likely a delay is have then ruled out that losses are needed.
    """
    if conditions.lost is not None or conditions.drained:
        return False
    return conditions.cover is None or problem.law.has_density


def _with_lost_slots(
    problem: LogProblem, runs: Candidates, lost_slots: int, budget: Budget, *, late: bool
) -> tuple[Graph, int]:
    """The graph with places for lost messages, and how many messages they are open to.

    ``late``: to those only that may be inside when the log ends. A loss on the way may happen at
    any time, so it weighs the same for all.
    """
    to = runs.late if late else np.ones(problem.n_in, dtype=np.bool_)
    which = runs if late else replace(runs, staying=None)
    edges = edges_of(which, problem.n_out, budget=budget, lost_slots=lost_slots, linked=to)
    return _graph(problem.users, problem.behaviours, lost_slots, edges), int(np.count_nonzero(to))


def _graph(
    users: tuple[Hashable, ...], behaviours: Sequence[Hashable], lost_slots: int, edges: Edges
) -> Graph:
    names = (*behaviours, *lost_slot_names(lost_slots, behaviours))
    return Graph(Names(users, "user"), Names(names, "behaviour"), edges)


def _too_few(problem: LogProblem, runs: Candidates, graph: Graph, missing: int) -> InputError:
    """Why no matching covers all users: by one message if it is about one."""
    alone = np.flatnonzero(np.diff(graph.indptr) == 0)
    if len(alone):
        early = alone[~runs.late[alone]]
        return problem.no_receiver(early if len(early) else alone, lost=missing)
    witness = structure(graph).witness_users.tolist()
    some = ", ".join(repr(problem.users[user]) for user in witness[:3]) + ", ..." * (
        len(witness) > 3
    )
    return InputError(
        f"{several(len(witness), 'message')} in ({some}) fit only "
        f"{several(len(witness) - 1, 'message')} out under the {problem.law}; check times and "
        "law, or allow for losses (",
        Argument("lost", missing),
        ")",
    )


def _observation(
    problem: LogProblem,
    *,
    graph: Graph | None = None,
    passage: Passage | None = None,
    lost: int,
    spare: int = 0,
    notes: Sequence[str] = (),
) -> Observation:
    nowhere = () if graph is None else (None,) * lost
    mean, longest = problem.delays()
    return Observation(
        graph=graph,
        passage=passage,
        source=str(problem.law),
        nouns=MESSAGES,
        senders=problem.senders if problem.repeated else None,
        receivers=(*problem.receivers, *nowhere) if problem.repeated else None,
        truth=problem.truth(),
        mean_delay=mean,
        longest_delay=longest,
        rate=_rate(problem.log.arrivals),
        cover=_cover_share(problem, spare, followed=passage is not None),
        lost=lost,
        notes=(*problem.log.notes, *_flag_notes(problem), *notes),
        gone=_gone(problem),
        ceiling=None if lost or spare else _ceiling(problem),
        timed=graph is not None,
        arrivals=problem.log.arrivals[problem.ins],
        departures=problem.log.departures[problem.outs],
    )


def _rate(arrivals: Floats) -> float | None:
    """Messages in a second; None if that cannot be told."""
    lasted = float(arrivals[-1] - arrivals[0]) if len(arrivals) > 1 else 0.0
    return (len(arrivals) - 1) / lasted if lasted > 0 else None


def _ceiling(problem: LogProblem) -> float | None:
    """Of a log in which everything leaves; None of others."""
    if problem.n_in != problem.n_out:
        return None
    came, left = problem.log.arrivals[problem.ins], problem.log.departures[problem.outs]
    inside = np.searchsorted(came, left, side="right") - np.arange(len(left))
    return mixes.log_ceiling_bits(inside) if (inside > 0).all() else None


def _cover_share(problem: LogProblem, spare: int, *, followed: bool) -> float | None:
    """Share of the messages out that are nobody's: by the flags, if there are some.

    Of a log that is ``followed`` by what is inside the answers tell it.
    """
    log = problem.log
    if not log.n_out:
        return None
    if log.cover is not None:
        return float(log.cover.mean())
    return None if followed else spare / log.n_out


def _gone(problem: LogProblem) -> Bools | None:
    """Who is flagged and has no departure."""
    log = problem.log
    if log.lost is None:
        return None
    gone = log.lost if log.truth is None else log.lost & (log.truth < 0)
    return gone[problem.ins]


def _flag_notes(problem: LogProblem) -> list[str]:
    notes = []
    cover, dummies = problem.log.n_out - problem.n_out, problem.log.n_in - problem.n_in
    if cover:
        are = "is" if cover == 1 else "are"
        notes.append(f"{several(cover, 'message')} out {are} cover traffic by the log; left out")
    if dummies:
        are = "is a dummy" if dummies == 1 else "are dummies"
        notes.append(f"{several(dummies, 'message')} in {are} or lost by the log; left out")
    return notes


def _lost_note(lost_slots: int, linked: int, *, late: bool) -> str:
    are = "is" if lost_slots == 1 else "are"
    if not late:
        they = "it" if lost_slots == 1 else "they"
        return f"{several(lost_slots, 'message')} in never came out; {they} may be any of {linked}"
    return Message(
        f"{several(lost_slots, 'message')} in {are} taken to be still inside when the log ends, "
        f"which may be any of {linked}; if messages get lost on the way, say so (",
        Argument("lost", lost_slots),
        ")",
    )


def _cover_notes(spare: int, alone: int) -> list[str]:
    if not spare:
        return []
    are = "is" if spare == 1 else "are"
    known = f"; for {alone} of them there is no possible sender" if alone else ""
    return [f"{several(spare, 'message')} out {are} nobody's{known}"]


def _truth_notes(problem: LogProblem, possible: Callable[[Ints, Ints], Bools]) -> list[str]:
    """A note on true pairs of users and behaviours that the law does not allow."""
    truth = problem.truth()
    if truth is None:
        return []
    known = np.flatnonzero(truth >= 0)
    wrong = known[~possible(known, truth[known])]
    if not len(wrong):
        return []
    pairs = f"{several(len(wrong), 'true pair')} {'is' if len(wrong) == 1 else 'are'}"
    first = problem.users[int(wrong[0])]
    return [f"{pairs} impossible under the {problem.law}, first that of {first!r}: it does not fit"]

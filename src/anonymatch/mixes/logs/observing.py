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
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from anonymatch.base.arguments import whole
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes.laws import (
    FlushLaw,
    GraphFlushLaw,
    HopLaw,
    Law,
    Linked,
    Pool,
    by_density,
    check_law,
)
from anonymatch.mixes.logs.ends import with_ends
from anonymatch.mixes.logs.log_conditions import (
    conditions_of,
    in_mid_traffic,
    observed_part,
    with_start,
)
from anonymatch.mixes.logs.log_graph import observed_graph
from anonymatch.mixes.logs.log_observation import arrival_rate
from anonymatch.mixes.logs.log_passage import observed_passage, passage_of, with_loss
from anonymatch.mixes.logs.log_problem import LogProblem, on_clock_of
from anonymatch.mixes.logs.messages import Messages, check_messages
from anonymatch.mixes.logs.missing_messages import check_inside, leaves_some_inside, loss_of_flushes
from anonymatch.mixes.logs.observation import Conditions, MessageObservation
from anonymatch.mixes.solvers.flushes.flush_rule import rounding
from anonymatch.running import Budget

__all__ = ["observe"]


def observe(
    messages: Messages,
    law: Law | str,
    *,
    loss: float | None = None,
    lost: int | None = None,
    cover_rate: float | None = None,
    cover: int | None = None,
    since: float | str | None = None,
    until: float | str | None = None,
    drained: bool = False,
    inside_at_start: float | None = None,
    cover_in_pool: bool = False,
    cover_visible: bool = False,
    whole_log: bool = False,
    budget: Budget | float | None = None,
) -> MessageObservation:
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
    since, until : float or str, optional
        Start and end of the observation, in seconds or as date-times; default: the first and the
        last event. Earlier and later events are left out. Messages that were inside at the start
        have a departure and no arrival.
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
    MessageObservation
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
    messages = on_clock_of(rule, messages)
    messages, begin, end = observed_part(messages, since, until)
    observed = partial(
        _observed_log,
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
    )
    if not isinstance(rule, Linked):
        return observed(messages, rule, begin, end, recorded=messages)
    number = None if lost is None else whole(lost, "lost")
    return _off_links(messages, rule, begin, end, observed, drained=drained, loss=loss, lost=number)


def _observed_log(
    messages: Messages,
    rule: Law,
    begin: float | None,
    end: float | None,
    *,
    recorded: Messages,
    loss: float | None,
    lost: int | None,
    cover_rate: float | None,
    cover: int | None,
    drained: bool,
    inside_at_start: float | None,
    cover_in_pool: bool,
    cover_visible: bool,
    whole_log: bool,
    budget: Budget | float | None,
) -> MessageObservation:
    """Observe a log of one mix; errors show the times of the log as it was ``recorded``."""
    problem = LogProblem.of(messages, rule, visible=cover_visible, recorded=recorded)
    conditions, notes = conditions_of(
        problem, loss, lost, cover_rate, cover, begin, end, drained=drained, visible=cover_visible
    )
    if cover_in_pool:
        if not isinstance(rule, FlushLaw):
            raise InputError(
                Argument("cover_in_pool"), f" is for mixes that flush, and this is the {rule}"
            )
        conditions = replace(conditions, cover_in_pool=True)
    if inside_at_start is not None:
        conditions = with_start(conditions, rule, inside_at_start)
    elif begin is not None:
        conditions, remarks = in_mid_traffic(problem, conditions)
        notes += remarks
    phase = _phase(rule, messages.departures)
    try:
        observation = _observed(problem, conditions, Budget.of(budget))
        _check_zeros(observation, problem, conditions, empty=begin is None)
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
    since: float | None,
    until: float | None,
    observed: Callable[..., MessageObservation],
    *,
    drained: bool,
    loss: float | None,
    lost: int | None,
) -> MessageObservation:
    """Observe the log as the mix sees it: messages out by the time at which they left the mix.

    A message in that came too late to come out gets the moment just after the end as its arrival.
    Such a message is still inside, or lost. If nothing was left inside, it is lost. It is left out
    if nothing is said of losses.

    Messages out that left the mix before the observation began can only be of earlier messages in.
    """
    seconds = linked.seconds
    if since is not None:
        early = int(np.searchsorted(messages.departures, since + seconds, side="left"))
        messages = _without_departures(messages, early)
    departures = messages.departures - seconds
    last = max(times[-1] for times in (messages.arrivals, messages.departures) if len(times))
    end = (float(last) if until is None else until) - seconds
    late = messages.n_in - int(np.searchsorted(messages.arrivals, end, side="right"))
    if drained and lost is not None and lost < late:
        came = f"{several(late, 'message')} in came too late to come out"
        raise InputError(
            Argument("lost"),
            f" is {lost}, but {came}; give {late} or more, or leave out ",
            Argument("drained"),
        )
    if drained and loss == 0.0 and late:
        came = f"{several(late, 'message')} in came too late to come out"
        raise InputError(
            Argument("loss"),
            f" is 0 and nothing was left inside, but {came}; give ",
            Argument("lost", late),
            " instead, or leave out ",
            Argument("drained"),
        )
    left_out = drained and not lost and not loss
    number = messages.n_in - late if left_out else messages.n_in
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
    until = just_after if late and not left_out else end
    observation = observed(shifted, linked.law, since, until, recorded=messages)
    then = "still inside at the end, or lost"
    if drained:
        then = "left out" if left_out else "lost"
    are = "is" if late == 1 else "are"
    notes = [f"{several(late, 'message')} in came too late to come out, and {are} {then}"]
    return replace(
        observation,
        source=str(linked),
        mean_delay=_after(observation.mean_delay, seconds),
        longest_delay=_after(observation.longest_delay, seconds),
        rate=arrival_rate(messages.arrivals[:number]),
        departures=None if observation.departures is None else observation.departures + seconds,
        notes=(*observation.notes, *(notes if late else ())),
    )


def _without_departures(messages: Messages, number: int) -> Messages:
    """The log without its first messages out."""
    truth = None if messages.truth is None else np.maximum(messages.truth - number, -1)
    return replace(
        messages,
        departures=messages.departures[number:],
        receivers=messages.receivers[number:],
        cover=None if messages.cover is None else messages.cover[number:],
        truth=truth,
    )


def _after(delay: float | None, seconds: float) -> float | None:
    return None if delay is None else delay + seconds


def _phase(law: Law, departures: Floats) -> str | None:
    """What to say if messages leave at another moment of the interval than the law's clock."""
    if not isinstance(law, FlushLaw):
        return None
    rule = law.flush
    if rule.interval is None or not len(departures):
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


def _observed(problem: LogProblem, conditions: Conditions, budget: Budget) -> MessageObservation:
    law = problem.law
    flushes = isinstance(law, FlushLaw) and not (
        isinstance(law, GraphFlushLaw) and conditions.silent
    )
    if flushes or (isinstance(law, HopLaw) and law.few_hops):
        return observed_passage(problem, passage_of(problem, conditions))
    if isinstance(law, GraphFlushLaw) and conditions.silent:
        loss = loss_of_flushes(problem, conditions.end)
        if loss > 0.0:
            return with_loss(problem, conditions, loss)
    if isinstance(law, Pool):
        passage = problem.passage(conditions.lost)
        if passage is not None:
            return observed_passage(problem, passage)
    if by_density(law) and any(
        (conditions.loss, conditions.cover_rate, conditions.inside_at_start)
    ):
        return observed_passage(problem, passage_of(problem, conditions))
    if by_density(law) and leaves_some_inside(problem, conditions):
        check_inside(problem, conditions)
        return observed_passage(problem, passage_of(problem, conditions))
    for name in ("loss", "cover_rate"):
        if getattr(conditions, name):
            number = {"loss": "lost", "cover_rate": "cover"}[name]
            raise InputError(
                Argument(name),
                f" is for laws that say how likely a delay is, and this is the {law}; "
                f"give a number instead: ",
                Argument(number),
            )
    return observed_graph(problem, conditions, budget)


def _check_zeros(
    observation: MessageObservation, problem: LogProblem, conditions: Conditions, *, empty: bool
) -> None:
    """Refuse a graph with lost messages or cover if the caller says that there are none.

    ``empty``: whether no message was inside at the start. Passages are checked where they are
    followed.
    """
    if observation.graph is None:
        return
    lost = observation.lost
    if lost and conditions.loss == 0.0 and conditions.drained:
        raise InputError(
            Argument("loss"),
            f" is 0 and nothing was left inside, but {several(problem.n_in, 'message')} came in "
            f"and only {problem.n_in - lost} of them can have left; give ",
            Argument("lost", lost),
            " instead, or leave out ",
            Argument("drained"),
        )
    spare = problem.n_out - (problem.n_in - lost)
    if spare and conditions.cover_rate == 0.0 and empty:
        raise InputError(
            Argument("cover_rate"),
            f" is 0, but {several(problem.n_out, 'message')} left and only {problem.n_out - spare} "
            "of them can be of messages that came in; give ",
            Argument("cover", spare),
            " instead",
        )


def _with_ends(
    observation: MessageObservation, problem: LogProblem, conditions: Conditions
) -> MessageObservation:
    """The observation with messages near an end of the log marked."""
    reach = problem.law.end_delay(observation.rate)
    arrivals = problem.log.arrivals[problem.ins]
    return with_ends(observation, arrivals, conditions.begin, conditions.end, reach)

"""The graph of a log: messages in as users, messages out and places for lost ones as behaviours."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.graph import Edges, Graph, Names, structure
from anonymatch.mixes.laws import Exponential, Law, by_density
from anonymatch.mixes.laws.candidates import Candidates, edges_of
from anonymatch.mixes.logs.labels import lost_slot_names
from anonymatch.mixes.logs.log_observation import (
    cover_notes,
    lost_note,
    observation_of,
    truth_notes,
)
from anonymatch.mixes.logs.log_passage import with_loss
from anonymatch.mixes.logs.log_problem import LogProblem
from anonymatch.mixes.logs.messages import Messages, check_messages
from anonymatch.mixes.logs.missing_messages import (
    is_silent_beside_cover,
    needed_loss,
    too_many_missing,
)
from anonymatch.mixes.logs.observation import Conditions, MessageObservation, Passage
from anonymatch.running import Budget

__all__ = ["exponential_graph", "observed_graph", "passage_graph"]


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
        even = isinstance(passage.law, Exponential) and conditions.clean
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
    graph = observed_graph(LogProblem.of(log, law), conditions, budget).graph
    assert graph is not None
    return graph


def observed_graph(
    problem: LogProblem, conditions: Conditions, budget: Budget
) -> MessageObservation:
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
        open_ = late and by_density(problem.law) and is_silent_beside_cover(conditions)
        if open_ and too_many_missing(problem, conditions, runs):
            return with_loss(problem, conditions, needed_loss(problem, conditions))
        graph, linked = _with_lost_slots(problem, runs, lost_slots, budget, late=late)
        if not structure(graph).matched:
            if open_:
                return with_loss(problem, conditions, needed_loss(problem, conditions))
            raise _too_few(
                problem, runs, _graph(problem.users, problem.behaviours, 0, edges), missing
            )
        notes.append(lost_note(lost_slots, linked, late=late))
    notes += cover_notes(spare, len(alone))
    notes += truth_notes(problem, lambda i, j: (runs.first[i] <= j) & (j < runs.end[i]))
    return observation_of(problem, graph=graph, lost=lost_slots, spare=spare, notes=notes)


def _all_inside(problem: LogProblem, conditions: Conditions) -> bool:
    """Whether messages that are not seen again are inside at the end, and none of them is lost.

    Who knows how many are lost on the way says so. Who knows only how much is cover leaves that
    open; laws that say how likely a delay is have then ruled out that losses are needed.
    """
    if conditions.lost is not None or conditions.drained:
        return False
    if conditions.loss == 0.0:
        return True
    return conditions.cover is None or by_density(problem.law)


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

"""Message logs under a delay law: who may have received whose message.

:func:`observe` turns a log into what an attacker knows from times alone. Messages in are users,
messages out are behaviours, and an edge says that the law allows the delay between the two. Edges
weigh what the law says; under a window, and within a batch, all weigh the same.

What does not come out even is settled as follows.

- Departures that the log flags as cover, and arrivals that it flags as dummies or lost, are left
  out (they still fill batches).
- More messages out than in: the surplus is nobody's (cover traffic, or messages that came in before
  the log began). Which they are is not known; every user is matched, and so many behaviours stay
  unmatched. ``cover=C`` says that C are nobody's where the numbers alone do not.
- More messages in than fit the messages out: places for lost messages follow the behaviours. They
  are open to those messages that may still be inside when the log ends; if these are not enough
  because more came in than left, or with ``lost=L``, they are open to all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anonymatch.arguments import whole
from anonymatch.effort import Budget
from anonymatch.errors import InputError
from anonymatch.graph.bipartite import Graph
from anonymatch.graph.edges import Edges
from anonymatch.graph.names import Names
from anonymatch.graph.structure import structure
from anonymatch.sources.candidates import Candidates, edges_of
from anonymatch.sources.labels import place_names
from anonymatch.sources.laws import Exponential, Law, Pool, check_law
from anonymatch.sources.messages import Messages, check_messages
from anonymatch.sources.observation import MESSAGES, Observation, Passage
from anonymatch.sources.seen import Seen
from anonymatch.wording import several

__all__ = ["exponential_graph", "observe", "passage_graph"]

Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


def observe(
    messages: Messages,
    law: Law | str,
    *,
    cover: int | None = None,
    lost: int | None = None,
    budget: Budget | float | None = None,
) -> Observation:
    """What the times of a log tell about who received whose message.

    Parameters
    ----------
    messages : Messages
    law : Law or str
        How long messages are held back, such as ``Window(1, 5)`` or ``"window:1,5"``.
    cover : int, optional
        So many messages out are nobody's, beyond those that the log flags. Without it: those that
        are more than came in.
    lost : int, optional
        So many messages in never came out; up to so many where there is cover traffic too, as
        places may then stay empty. Without it: as few as the law needs.
    budget : float or Budget, optional
        A graph that needs more than this is refused.

    Returns
    -------
    Observation
        A Passage for one exponential mix and for a pool mix if every message out is somebody's; it
        needs no graph. Else a graph, weighted where the law prefers some delays.

    Notes
    -----
    Messages of people who have several are named by person and number: ``ann #2`` is the second
    message of ann. Times are compared to within the rounding of float64.

    In a batch mix a message out belongs to the last flush before it. In one exponential mix, and in
    a pool mix, whoever is inside may leave, all equally likely [1]_: the weight of a stay is a
    factor of the user times a factor of the behaviour, and they cancel. With cover traffic they do
    not, so that these laws then give a weighted graph. Messages that left such a mix by no
    departure are taken to be inside for good.

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
    >>> seen = observe(log, "window:1,3")
    >>> seen.graph.to_edges()
    [('ann', 'x'), ('ann', 'y'), ('bob', 'x'), ('bob', 'y'), ('cem', 'z')]
    >>> observe(log, "exponential:2").passage.behaviours
    ('x', 'y', 'z')
    """
    check_messages(messages)
    rule = check_law(law)
    hidden = None if cover is None else whole(cover, "cover")
    gone = None if lost is None else whole(lost, "lost")
    seen = Seen.of(messages, rule)
    if isinstance(rule, Exponential | Pool) and not hidden:
        passage = seen.passage(gone)
        if passage is not None:
            return _through(seen, passage)
    return _matched(seen, hidden, gone, Budget.of(budget))


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
    passage = Seen.of(messages, Exponential(1.0)).passage(None)
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
    everybody = np.ones(size, dtype=np.bool_)
    runs = Candidates(
        first=np.searchsorted(passage.departures[order], passage.arrivals, side="left"),
        end=np.full(size, left),
        late=everybody,
    )
    names = [passage.behaviours[at] for at in order.tolist()]
    edges = edges_of(runs, left, budget=Budget.of(budget), places=size - left, linked=everybody)
    return _graph(tuple(passage.users), names, size - left, edges)


def _through(seen: Seen, passage: Passage) -> Observation:
    inside = seen.n_in - seen.n_out
    notes = [_lost_note(inside, seen.n_in, late=False)] if inside else []
    notes += _truth_notes(seen, lambda i, j: passage.arrivals[i] <= passage.departures[j])
    return _observation(seen, passage=passage, lost=inside, notes=notes)


def _matched(seen: Seen, cover: int | None, lost: int | None, budget: Budget) -> Observation:
    """The observation with a graph in which every user is matched, to a place if need be."""
    said = seen.numbers(cover, lost)
    runs = seen.candidates()
    alone = runs.orphans(seen.n_out)
    surplus = seen.n_out - (seen.n_in - (said or 0))
    if len(alone) and surplus <= 0:
        raise seen.no_sender(int(alone[0]))
    edges = edges_of(runs, seen.n_out, budget=budget)
    graph = _graph(seen.users, seen.behaviours, 0, edges)
    missing = seen.n_in - structure(graph).n_matched
    places = missing if said is None else said
    if places < missing and cover is not None:
        raise InputError(
            f"cover is {cover}, but under the {seen.law} only {seen.n_in - missing} of "
            f"{several(seen.n_out, 'message')} out can be somebody's at once; give "
            f"{seen.n_out - seen.n_in + missing} or more"
        )
    if places < missing:
        raise _too_few(seen, runs, graph, missing)
    if seen.n_out - (seen.n_in - places) > 0 >= surplus:
        raise InputError(
            f"only {seen.n_in - missing} of {several(seen.n_out, 'message')} out can be somebody's "
            f"at once under the {seen.law}; check times and law, or allow for cover traffic "
            f"(cover: {seen.n_out - seen.n_in + missing})"
        )
    spare = seen.n_out - (seen.n_in - places)
    notes = [runs.note] if runs.note else []
    if places:
        late = lost is None and cover is None  # who knows numbers knows of losses on the way
        graph, linked = _with_places(seen, runs, places, budget, late=late)
        if not structure(graph).matched:
            raise _too_few(seen, runs, _graph(seen.users, seen.behaviours, 0, edges), missing)
        notes.append(_lost_note(places, linked, late=late))
    notes += _cover_notes(spare, len(alone))
    notes += _truth_notes(seen, lambda i, j: (runs.first[i] <= j) & (j < runs.end[i]))
    return _observation(seen, graph=graph, lost=places, spare=spare, notes=notes)


def _with_places(
    seen: Seen, runs: Candidates, places: int, budget: Budget, *, late: bool
) -> tuple[Graph, int]:
    """The graph with places for lost messages, and how many messages they are open to.

    ``late``: to those only that may be inside when the log ends. A loss on the way may happen at
    any time, so it weighs the same for all.
    """
    to = runs.late if late else np.ones(seen.n_in, dtype=np.bool_)
    which = runs if late else replace(runs, staying=None)
    edges = edges_of(which, seen.n_out, budget=budget, places=places, linked=to)
    return _graph(seen.users, seen.behaviours, places, edges), int(np.count_nonzero(to))


def _graph(
    users: tuple[Hashable, ...], behaviours: Sequence[Hashable], places: int, edges: Edges
) -> Graph:
    names = (*behaviours, *place_names(places, behaviours))
    return Graph(Names(users, "user"), Names(names, "behaviour"), edges)


def _too_few(seen: Seen, runs: Candidates, graph: Graph, missing: int) -> InputError:
    """Why no matching covers all users: by one message if it is about one."""
    alone = np.flatnonzero(np.diff(graph.indptr) == 0)
    if len(alone):
        early = alone[~runs.late[alone]]
        return seen.no_receiver(int(early[0] if len(early) else alone[0]))
    found = structure(graph).witness_users.tolist()
    some = ", ".join(repr(seen.users[user]) for user in found[:3]) + ", ..." * (len(found) > 3)
    return InputError(
        f"{several(len(found), 'message')} in ({some}) fit only "
        f"{several(len(found) - 1, 'message')} out under the {seen.law}; check times and law, or "
        f"allow for losses (lost: {missing})"
    )


def _observation(
    seen: Seen,
    *,
    graph: Graph | None = None,
    passage: Passage | None = None,
    lost: int,
    spare: int = 0,
    notes: Sequence[str] = (),
) -> Observation:
    nobodys = seen.log.n_out - seen.n_out + spare
    nowhere = () if graph is None else (None,) * lost
    mean, longest = seen.delays()
    arrivals = seen.log.arrivals
    lasted = float(arrivals[-1] - arrivals[0]) if len(arrivals) > 1 else 0.0
    return Observation(
        graph=graph,
        passage=passage,
        source=str(seen.law),
        nouns=MESSAGES,
        senders=seen.senders if seen.repeated else None,
        receivers=(*seen.receivers, *nowhere) if seen.repeated else None,
        truth=seen.truth(),
        mean_delay=mean,
        longest_delay=longest,
        rate=(len(arrivals) - 1) / lasted if lasted > 0 else None,
        cover=nobodys / seen.log.n_out if seen.log.n_out else None,
        lost=lost,
        notes=(*seen.log.notes, *_flag_notes(seen), *notes),
    )


def _flag_notes(seen: Seen) -> list[str]:
    notes = []
    cover, dummies = seen.log.n_out - seen.n_out, seen.log.n_in - seen.n_in
    if cover:
        are = "is" if cover == 1 else "are"
        notes.append(f"{several(cover, 'message')} out {are} cover traffic by the log; left out")
    if dummies:
        come = "comes" if dummies == 1 else "come"
        notes.append(f"{several(dummies, 'message')} in never {come} out by the log; left out")
    return notes


def _lost_note(places: int, linked: int, *, late: bool) -> str:
    are = "is" if places == 1 else "are"
    if not late:
        return f"{several(places, 'message')} in never came out; it may be any of {linked}"
    return (
        f"{several(places, 'message')} in {are} taken to be still inside when the log ends, which "
        f"may be any of {linked}; if messages get lost on the way, say so (lost: {places})"
    )


def _cover_notes(spare: int, alone: int) -> list[str]:
    if not spare:
        return []
    are = "is" if spare == 1 else "are"
    known = f"; for {alone} of them there is no possible sender" if alone else ""
    return [f"{several(spare, 'message')} out {are} nobody's{known}"]


def _truth_notes(seen: Seen, possible: Callable[[Integers, Integers], Bools]) -> list[str]:
    """A note on true pairs of users and behaviours that the law does not allow."""
    truth = seen.truth()
    if truth is None:
        return []
    known = np.flatnonzero(truth >= 0)
    wrong = known[~possible(known, truth[known])]
    if not len(wrong):
        return []
    pairs = f"{several(len(wrong), 'true pair')} {'is' if len(wrong) == 1 else 'are'}"
    first = seen.users[int(wrong[0])]
    return [f"{pairs} impossible under the {seen.law}, first that of {first!r}: it does not fit"]

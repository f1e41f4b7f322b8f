"""What an observation of a log says beside its graph or passage: rates, shares and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.text import Argument, Message, several
from anonymatch.graph import Graph
from anonymatch.measures import mixes
from anonymatch.sources.log_problem import LogProblem
from anonymatch.sources.observation import MESSAGES, Observation, Passage

__all__ = ["arrival_rate", "cover_notes", "lost_note", "observation_of", "truth_notes"]


def observation_of(
    problem: LogProblem,
    *,
    graph: Graph | None = None,
    passage: Passage | None = None,
    lost: int,
    spare: int = 0,
    notes: Sequence[str] = (),
) -> Observation:
    """The observation of a log with a graph or a passage, and notes on both."""
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
        rate=arrival_rate(problem.log.arrivals),
        cover=_cover_share(problem, spare, followed=passage is not None),
        lost=lost,
        notes=(*problem.log.notes, *_flag_notes(problem), *notes),
        gone=_gone(problem),
        ceiling=None if lost or spare else _ceiling(problem),
        timed=graph is not None,
        arrivals=problem.log.arrivals[problem.ins],
        departures=problem.log.departures[problem.outs],
    )


def arrival_rate(arrivals: Floats) -> float | None:
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


def lost_note(lost_slots: int, linked: int, *, late: bool) -> str:
    """A note on messages in that never came out."""
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


def cover_notes(spare: int, alone: int) -> list[str]:
    """A note on messages out that are nobody's, if there are some."""
    if not spare:
        return []
    are = "is" if spare == 1 else "are"
    known = f"; for {alone} of them there is no possible sender" if alone else ""
    return [f"{several(spare, 'message')} out {are} nobody's{known}"]


def truth_notes(problem: LogProblem, possible: Callable[[Ints, Ints], Bools]) -> list[str]:
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

"""What an observation of a log says beside its graph or passage: rates, shares and notes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.numbers import percent
from anonymatch.base.text import Argument, Message, several
from anonymatch.graph import Graph
from anonymatch.mixes import closed_forms as mixes
from anonymatch.mixes.laws import Erlang, FlushLaw, Hops, Law, Linked, by_density
from anonymatch.mixes.logs.log_problem import LogProblem
from anonymatch.mixes.logs.observation import MessageObservation, Passage

__all__ = ["arrival_rate", "cover_notes", "lost_note", "observation_of", "truth_notes"]


_FEW_ROWS = 20  # of which many may have the same time by chance
_TIED = 0.01  # of the rows that may share a time with one of the other direction


def observation_of(
    problem: LogProblem,
    *,
    graph: Graph | None = None,
    passage: Passage | None = None,
    lost: int,
    spare: int = 0,
    notes: Sequence[str] = (),
) -> MessageObservation:
    """The observation of a log with a graph or a passage, and notes on both."""
    nowhere = () if graph is None else (None,) * lost
    mean, longest = problem.delays()
    ties = _ties(problem)
    tied = _tie_notes(ties, passage)
    return MessageObservation(
        graph=graph,
        passage=passage,
        source=str(problem.law),
        senders=problem.senders if problem.repeated else None,
        receivers=(*problem.receivers, *nowhere) if problem.repeated else None,
        truth=problem.truth(),
        mean_delay=mean,
        longest_delay=longest,
        rate=arrival_rate(problem.log.arrivals),
        cover=_cover_share(problem, spare, followed=passage is not None),
        lost=lost,
        notes=(*problem.log.notes, *_flag_notes(problem), *tied, *notes),
        gone=_gone(problem),
        hops=_hops(problem.law),
        ceiling=None if lost or spare else _ceiling(problem),
        timed=graph is not None,
        arrivals=problem.log.arrivals[problem.ins],
        departures=problem.log.departures[problem.outs],
        rounding=None if ties is None else ties[1],
    )


def _hops(law: Law) -> int:
    """Mixes that a message passes under a law."""
    if isinstance(law, Linked):
        return _hops(law.law)
    if isinstance(law, Erlang):
        return law.hops
    return len(law.means) if isinstance(law, Hops) else 1


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


def _ties(problem: LogProblem) -> tuple[float, float] | None:
    """Share of the rows that tie with one of the other direction, and the step of the times.

    None if there are few such rows. Messages that a mix flushes together leave at one time by its
    law. The step is a low quantile of the gaps, so that a few rows with finer times do not count.
    """
    came, left = problem.log.arrivals[problem.ins], problem.log.departures[problem.outs]
    rows = len(came) + len(left)
    if isinstance(problem.law, FlushLaw) or rows < _FEW_ROWS:
        return None
    share = float(np.isin(came, left).sum() + np.isin(left, came).sum()) / rows
    if share <= _TIED:
        return None
    gaps = np.diff(np.unique(np.concatenate((came, left))))
    step = float(np.quantile(gaps, 0.01, method="lower")) if len(gaps) else math.inf
    return None if _holds_longer(problem.law, step) else (share, step)


def _holds_longer(law: Law, step: float) -> bool:
    """Whether the law delays every message by at least the step, so that its order is known."""
    if not by_density(law) or not math.isfinite(step):
        return False
    return float(law.log_survival(np.array([step]))[0]) >= 0.0


def _tie_notes(ties: tuple[float, float] | None, passage: Passage | None) -> list[str]:
    """A note on times that are rounded, so that the order of many rows is unknown."""
    if ties is None:
        return []
    share, gap = ties
    step = f"{gap:.3g} s or more" if math.isfinite(gap) else "the length of the log"
    tied = f"{percent(share)} of the rows have the time of a row in the other direction"
    unknown = f"times are rounded to {step}, and the order of these rows is unknown"
    first = "Values of figures assume that messages in come before messages out of the same time"
    off = "can be far too high"
    if passage is not None and not passage.at_once:
        first = "Values of figures assume that no message leaves at the time at which it came in"
        off = "can be wrong"
    ends = "An attacker with exact times may learn everything"
    if passage is not None and math.isfinite(gap):
        ends = (
            "Intervals include what an attacker with exact times learns, estimated from times "
            "drawn within this step"
        )
    return [f"{tied}: {unknown}. {first}, and {off}. {ends}. Record times with more digits"]


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
    """Return a note on cover traffic among the messages out, if there is some."""
    if not spare:
        return []
    are = "is" if spare == 1 else "are"
    known = f"; {alone} of them cannot have any sender in the log" if alone else ""
    return [f"{several(spare, 'message')} out {are} cover traffic{known}"]


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

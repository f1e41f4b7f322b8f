"""Logs that are followed by what is inside: a passage through a mix, and numbers it cannot have."""

from __future__ import annotations

from dataclasses import replace

from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message, several
from anonymatch.mixes.laws import FlushLaw
from anonymatch.mixes.logs.log_observation import lost_note, observation_of, truth_notes
from anonymatch.mixes.logs.log_problem import LogProblem
from anonymatch.mixes.logs.observation import Conditions, MessageObservation, Passage

__all__ = ["observed_passage", "passage_of", "with_loss"]


def with_loss(problem: LogProblem, conditions: Conditions, loss: float) -> MessageObservation:
    """The passage with losses that the numbers ask for."""
    lossy = replace(conditions, loss=loss, estimated=frozenset({"loss"}))
    observation = observed_passage(problem, passage_of(problem, lossy))
    note = Message(
        f"Estimated probability that a message is lost: {loss:.3g}. More messages are missing "
        "than can be inside at the end (",
        Argument("loss", ...),
        ")",
    )
    return replace(observation, notes=(*observation.notes, note))


def observed_passage(problem: LogProblem, passage: Passage) -> MessageObservation:
    """The observation of a log that is followed by what is inside."""
    inside = max(problem.n_in - problem.n_out, 0)
    conditioned = passage.conditions is not None  # then its answers tell what became of the others
    notes = [lost_note(inside, problem.n_in, late=True)] if inside and not conditioned else []
    notes += truth_notes(problem, lambda i, j: passage.arrivals[i] <= passage.departures[j])
    return observation_of(problem, passage=passage, lost=inside, notes=notes)


def passage_of(problem: LogProblem, conditions: Conditions) -> Passage:
    """The passage through a mix that is followed by what is inside."""
    log = problem.log
    if not isinstance(problem.law, FlushLaw):
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

"""A passage solved: losses, cover and ends that nobody told are fitted, and all that is noted."""

from __future__ import annotations

import math
from concurrent.futures import Executor
from dataclasses import dataclass

from anonymatch.base.arrays import Bools, Ints
from anonymatch.mixes import (
    Channel,
    LinkFigures,
    LinkProblem,
    LogOffer,
    MessageObservation,
    NetworkObservation,
    Observation,
    Passage,
    SolverOffer,
    explain_graph,
    explain_solvers,
    solve,
)
from anonymatch.mixes.audits.rates import (
    UsedRates,
    bare_channel,
    chosen_channel,
    chosen_rates,
    used_rates,
)
from anonymatch.running import Budget, Execution, Progress

__all__ = ["Passed", "bare_channel", "chosen_channel", "explained", "passed"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Passed:
    """The figures of a passage, for which losses and cover, and what to know about them."""

    links: LinkFigures
    channel: Channel
    notes: tuple[str, ...]
    rates: UsedRates
    chosen: Ints | None = None  # messages that figures are about, if not all were looked at


def passed(
    passage: Passage,
    *,
    receivers: Ints | None,
    edge: Bools | None = None,
    budget: Budget,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
    asked: Ints | None = None,
) -> Passed:
    """What a log says under the law and the conditions of its passage."""
    conditions = passage.conditions
    assert conditions is not None
    effort = Execution(executor=executor, progress=progress)
    choice = chosen_rates(passage, effort, budget)
    problem = _problem(passage, choice.channel, receivers, edge, asked, seed)
    links, chosen = solve(problem, budget, effort)
    fates = _fate_notes(links, choice.channel) if chosen is None else []
    return Passed(
        links=links,
        channel=choice.channel,
        notes=(*choice.notes, *fates, *links.notes),
        rates=used_rates(choice.channel, conditions, choice.fitted),
        chosen=chosen,
    )


def explained(observation: Observation, budget: Budget) -> tuple[SolverOffer, ...]:
    """What every solver offers for a log, before rates that are not given are fitted.

    Empty if the observation is not a log of one mix.
    """
    if not isinstance(observation, MessageObservation):
        return ()
    passage, graph = observation.passage, observation.graph
    if graph is not None and observation.timed:
        return explain_graph(graph, observation.lost, budget)
    if passage is None or isinstance(observation, NetworkObservation):
        return ()
    if passage.conditions is None:
        why = "all that came in left, and the number inside is known"
        return (SolverOffer("closed form", LogOffer(0.0, True, why), True),)
    problem = _problem(passage, bare_channel(passage.conditions), None, None, None, 0)
    return explain_solvers(problem, budget)


def _problem(
    passage: Passage,
    channel: Channel,
    receivers: Ints | None,
    edge: Bools | None,
    asked: Ints | None,
    seed: int,
) -> LinkProblem:
    law, conditions = passage.law, passage.conditions
    assert law is not None
    assert conditions is not None
    return LinkProblem(
        arrivals=passage.arrivals,
        departures=passage.departures,
        law=law,
        channel=channel,
        dummies="pool" if conditions.cover_in_pool else "exit",
        silent=conditions.silent,
        clean=conditions.clean,
        receivers=receivers,
        edge=edge,
        asked=asked,
        seed=seed,
    )


def _fate_notes(links: LinkFigures, channel: Channel) -> list[str]:
    """What became of the messages that are missing, and how much of what left is cover."""
    lost, inside = float(links.lost.sum()), float(links.inside.sum())
    notes = []
    if lost + inside > 0.05:
        how = f"loss {channel.loss:.3g}" if channel.lost is None else f"{channel.lost} given"
        gone = f"{lost:.3g} lost ({how}), " if lost > 0 else ""
        notes.append(f"Expected messages without a departure: {gone}{inside:.3g} still inside")
        notes += _misfit(channel, lost, len(links.lost))
    early = 0.0 if links.early is None else float(links.early.sum())
    if early > 0.05:
        mean = f"{channel.inside_at_start:.3g} inside on average"
        notes.append(f"Expected messages out that came in before the log: {early:.3g} ({mean})")
    cover = float(links.cover.sum())
    if cover > 0.05:
        rate = f"{channel.cover_rate:.3g} per second" if channel.cover is None else "given"
        notes.append(f"Expected dummy messages among the messages out: {cover:.4g} ({rate})")
    return notes


def _misfit(channel: Channel, lost: float, number: int) -> list[str]:
    """A note if by the log far more or fewer messages are lost than the rate of losses means."""
    mean = channel.loss * number
    if channel.lost is not None or not mean > 0.0:
        return []
    if abs(lost - mean) <= 0.5 + 3.0 * math.sqrt(mean * (1.0 - channel.loss)):
        return []
    means = f"A loss of {channel.loss:.3g} a message means {mean:.3g} of {number} on average"
    return [f"{means}, but the log leaves {lost:.3g}: this rate is not that of the log"]

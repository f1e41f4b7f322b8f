"""A passage solved: losses, cover and ends that nobody told are fitted, and all that is noted."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import Argument, several
from anonymatch.measures import (
    Channel,
    Dummies,
    LinkFigures,
    Rates,
    fit_rates,
    flush_figures,
    hidden_figures,
    phase_figures,
)
from anonymatch.running import Budget, Effort, Progress
from anonymatch.sources import Conditions, Erlang, Exponential, FlushLaw, Passage

__all__ = ["Passed", "passed"]

_FEW = 200  # messages whose guessing entropies are all computed
_UNASKED = 20.0  # seconds of an Erlang law if nobody told a budget and estimates fit them
_AT_LEAST = 1.0  # that any budget allows, as for making a graph
_FEWEST_FITTED, _MOST_FITTED = 20, 20_000  # messages of a flush mix whose losses are fitted
_ROUNDS = 8  # in which they are
_SHARE = 0.5  # of the budget, that counting numbers along the log may take


@dataclass(frozen=True, kw_only=True, eq=False)
class Passed:
    """The figures of a passage, for which losses and cover, and what to know about them.

    Attributes
    ----------
    links : LinkFigures
    channel : Channel
    notes : tuple of str
    """

    links: LinkFigures
    channel: Channel
    notes: tuple[str, ...]


def passed(
    passage: Passage,
    *,
    receivers: np.ndarray | None,
    budget: Budget,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
) -> Passed:
    """What a log says under the law and the conditions of its passage."""
    conditions, law = passage.conditions, passage.law
    assert conditions is not None
    assert isinstance(law, Exponential | Erlang | FlushLaw)
    effort = Effort(executor=executor, progress=progress)
    channel, notes = _channel(passage, law, conditions, effort)
    times = passage.arrivals, passage.departures
    size = len(passage.users)
    if isinstance(law, FlushLaw):
        dummies: Dummies = "pool" if conditions.cover_in_pool else "exit"
        links = flush_figures(law, *times, channel=channel, dummies=dummies, budget=budget)
    elif isinstance(law, Erlang) and law.hops > 1:
        links = _of_hops(passage, law, channel, receivers, budget, seed, effort)
    else:
        links = hidden_figures(
            *times,
            mean=law.mean,
            channel=channel,
            receivers=receivers,
            guessing_every=1 if size <= _FEW else size // _FEW,
            effort=effort,
            seconds=_SHARE * budget.seconds,
        )
    return Passed(
        links=links, channel=channel, notes=(*notes, *_fate_notes(links, channel), *links.notes)
    )


def _of_hops(
    passage: Passage,
    law: Erlang,
    channel: Channel,
    receivers: np.ndarray | None,
    budget: Budget,
    seed: int,
    effort: Effort,
) -> LinkFigures:
    """Figures of an Erlang law: soon, unless a budget is told or that is too little."""

    def within(allowed: Budget) -> LinkFigures:
        return phase_figures(
            passage.arrivals,
            passage.departures,
            hops=law.hops,
            mean=law.mean,
            channel=channel,
            receivers=receivers,
            budget=allowed,
            seed=seed,
            effort=effort,
        )

    if not budget.chosen:
        try:
            return within(replace(budget, seconds=_UNASKED))
        except BudgetError:
            pass
    return within(replace(budget, seconds=max(budget.seconds, _AT_LEAST)))


def _channel(
    passage: Passage, law: Exponential | Erlang | FlushLaw, told: Conditions, effort: Effort
) -> tuple[Channel, list[str]]:
    """Losses and cover as they are told; what is not follows from the others, or is fitted."""
    came, left = len(passage.arrivals), len(passage.departures)
    needed = _needed_cover(passage)
    bare = Channel(
        begin=told.begin,
        end=told.end,
        drained=told.drained,
        loss=told.loss or 0.0,
        lost=told.lost,
        cover_rate=told.cover_rate or 0.0,
        cover=told.cover,
    )
    if isinstance(law, FlushLaw):
        if told.cover is not None or told.lost is not None:
            return _by_numbers(bare, told, came, left, needed)
        return _of_flushes(passage, law, bare, told, needed)

    def fitted(channel: Channel, *, cover: bool) -> Rates:
        return fit_rates(
            passage.arrivals,
            passage.departures,
            mean=law.mean_delay,
            channel=channel,
            cover=cover,
            effort=effort,
        )

    if told.cover is not None or told.lost is not None:
        guessed = _beside_a_number(bare, told, came, fitted)
        return guessed or _by_numbers(bare, told, came, left, needed)
    if told.cover_rate is None and needed > 0:
        if not told.end > told.begin:
            raise InputError(
                f"the log lasts 0 seconds, and {several(needed, 'message')} out can be nobody's: "
                "no rate of cover explains that; check times, or tell when the log ended (",
                Argument("until"),
                ")",
            )
        rates = fitted(bare, cover=True)
        loss = "" if told.loss is not None else ", and no losses: the two cannot be told apart"
        note = f"Cover of {rates.cover_rate:.3g} +- {rates.error:.2g} a second is estimated{loss}"
        return replace(bare, cover_rate=rates.cover_rate), [note]
    if told.loss is not None or not came:
        return bare, []
    rates = fitted(bare, cover=False)
    if rates.gain <= _by_chance(came):
        return bare, []
    known = "" if told.cover_rate is not None else "; with cover it could not be told apart"
    return replace(bare, loss=rates.loss), [_loss_note(rates.loss, rates.error) + known]


def _by_chance(messages: int) -> float:
    """Nats by which a rate may make a log likelier without being there."""
    return 2.0 + 0.5 * math.log(messages)


def _loss_note(loss: float, error: float) -> str:
    return f"A loss of {loss:.3g} +- {error:.2g} a message is estimated"


def _beside_a_number(
    channel: Channel, told: Conditions, came: int, fitted: Callable[..., Rates]
) -> tuple[Channel, list[str]] | None:
    """Losses fitted where the number of cover messages is told; None if there seem to be none."""
    lasted = told.end - told.begin
    if told.cover is None or told.loss is not None or told.lost is not None:
        return None
    if told.drained or not came or not lasted > 0:
        return None
    rates = fitted(replace(channel, cover=None, cover_rate=told.cover / lasted), cover=False)
    if rates.gain <= _by_chance(came):
        return None
    return replace(channel, loss=rates.loss), [_loss_note(rates.loss, rates.error)]


def _of_flushes(
    passage: Passage, law: FlushLaw, channel: Channel, told: Conditions, needed: int
) -> tuple[Channel, list[str]]:
    """Of a flush mix cover is taken from the numbers, and losses are fitted by the evidence."""
    lasted = told.end - told.begin
    if told.cover_rate is None and needed and lasted > 0:
        rate = needed / lasted
        note = f"Cover of {rate:.3g} a second is estimated: so many more left than can have come in"
        return replace(channel, cover_rate=rate), [note]
    came = len(passage.arrivals)
    missing = came - len(passage.departures)
    silent = told.loss is None and told.cover_rate is None and not told.drained
    if not silent or missing <= 0 or not _FEWEST_FITTED <= came <= _MOST_FITTED:
        return channel, []
    times = passage.arrivals, passage.departures
    loss, evidence = missing / (2.0 * came), -math.inf
    for _ in range(_ROUNDS):
        links = flush_figures(law, *times, channel=replace(channel, loss=loss))
        evidence = links.log_evidence if links.log_evidence is not None else -math.inf
        before, loss = loss, min(float(links.lost.mean()), 0.99)
        if abs(loss - before) <= 0.01 * before or loss <= 0.0:
            break
    try:
        without = flush_figures(law, *times, channel=channel).log_evidence
    except InputError:
        without = None  # nothing explains the log without losses
    if without is not None and evidence - without <= _by_chance(came):
        return channel, []
    error = math.sqrt(loss * (1.0 - loss) / came)
    return replace(channel, loss=loss), [_loss_note(loss, error)]


def _needed_cover(passage: Passage) -> int:
    """Departures that surely are nobody's: more had left than had come in.

    Several hops take time: who comes in with a departure is not it.
    """
    at_once = not (isinstance(passage.law, Erlang) and passage.law.hops > 1)
    side: Literal["left", "right"] = "right" if at_once else "left"
    inside = np.searchsorted(passage.arrivals, passage.departures, side=side)
    short = np.arange(1, len(inside) + 1) - inside
    return max(int(short.max(initial=0)), 0)


def _by_numbers(
    channel: Channel, told: Conditions, came: int, left: int, needed: int
) -> tuple[Channel, list[str]]:
    """One number known: the other is as small as can be, and the rest is inside at the end."""
    if told.cover is None and told.cover_rate is None:
        cover = max(needed, left - came + (told.lost or 0), 0)
        note = f"{several(cover, 'message')} out must then be cover, which is taken as known"
        return replace(channel, cover=cover), [note] if cover else []
    if told.lost is None and told.loss is None:
        lost = came - left + (told.cover or 0) if told.drained else 0
        return replace(channel, lost=max(lost, 0)), []
    return channel, []


def _fate_notes(links: LinkFigures, channel: Channel) -> list[str]:
    """What became of the messages that are missing, and how much of what left is cover."""
    lost, inside = float(links.lost.sum()), float(links.inside.sum())
    notes = []
    if lost + inside > 0.05:
        how = f"loss {channel.loss:.3g}" if channel.lost is None else f"{channel.lost} told"
        gone = f"{lost:.3g} lost ({how}), " if lost > 0 else ""
        notes.append(f"Messages in that are not seen again: {gone}{inside:.3g} still inside")
        notes += _misfit(channel, lost, len(links.lost))
    cover = float(len(links.real) - links.real.sum())
    if cover > 0.05:
        rate = f"{channel.cover_rate:.3g} a second" if channel.cover is None else "told"
        notes.append(f"Messages out that are nobody's: {cover:.4g} expected ({rate})")
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

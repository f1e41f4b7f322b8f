"""A passage solved: losses, cover and ends that nobody told are fitted, and all that is noted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonymatch import measures
from anonymatch.audits.rates import UsedRates, used_rates
from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.text import Argument, several
from anonymatch.measures import Channel, LinkFigures
from anonymatch.running import Budget, Execution, Progress
from anonymatch.sources import (
    Conditions,
    DelayLaw,
    Law,
    Passage,
    PassageWork,
    wide_links,
)

if TYPE_CHECKING:
    from anonymatch.measures import FlushRule, FreeRate, Rates

__all__ = ["Passed", "bare_channel", "passed"]

_FEWEST_FITTED, _MOST_FITTED = 20, 20_000  # messages of a flush mix whose losses are fitted
_ROUNDS = 8  # in which they are
_LEFT = 0.8  # of a budget that a chain over what is inside did not fit
_START = 40.0  # mean delays after which hardly anything is inside that was at the start


@dataclass(frozen=True, kw_only=True, eq=False)
class Passed:
    """The figures of a passage, for which losses and cover, and what to know about them.

    Attributes
    ----------
    links : LinkFigures
    channel : Channel
    notes : tuple of str
    rates : UsedRates
    """

    links: LinkFigures
    channel: Channel
    notes: tuple[str, ...]
    rates: UsedRates


def passed(
    passage: Passage,
    *,
    receivers: np.ndarray | None,
    edge: Bools | None = None,
    budget: Budget,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
) -> Passed:
    """What a log says under the law and the conditions of its passage."""
    conditions, law = passage.conditions, passage.law
    assert conditions is not None
    assert law is not None
    effort = Execution(executor=executor, progress=progress)
    choice = _chosen(passage, law, conditions, effort)
    channel = choice.channel
    work = PassageWork(
        channel=channel,
        dummies="pool" if conditions.cover_in_pool else "exit",
        receivers=receivers,
        budget=budget,
        seed=seed,
        effort=effort,
        edge=edge,
    )
    links = _solved(passage, law, conditions, work)
    return Passed(
        links=links,
        channel=channel,
        notes=(*choice.notes, *_fate_notes(links, channel), *links.notes),
        rates=used_rates(channel, conditions, choice.fitted),
    )


def _solved(passage: Passage, law: Law, conditions: Conditions, work: PassageWork) -> LinkFigures:
    """By what is inside, where that fits the budget; else by a chain over explanations.

    A log of which nothing is told is refused instead if it has a graph: then that is solved.
    """
    times = passage.arrivals, passage.departures
    if not isinstance(law, DelayLaw) or not law.has_density:
        return law.links(*times, work)
    if not law.followed:
        return wide_links(law, *times, work)
    try:
        return law.links(*times, work)
    except BudgetError:
        if conditions.silent and law.has_graph:
            raise
    # What was tried took its part.
    left = replace(work.budget, seconds=_LEFT * work.budget.seconds)
    return wide_links(law, *times, replace(work, budget=left))


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """Losses, cover and a beginning that are taken, why, and errors of those that were fitted."""

    channel: Channel
    notes: list[str] = field(default_factory=list)
    fitted: Mapping[str, float | None] = field(default_factory=dict)


def _chosen(passage: Passage, law: Law, conditions: Conditions, effort: Execution) -> _Choice:
    """Losses and cover as they are told; what is not follows from the others, or is fitted."""
    came, left = len(passage.arrivals), len(passage.departures)
    needed = _needed_cover(passage)
    if conditions.inside_at_start and conditions.cover == 0:
        # the same, without a number to count
        conditions = replace(conditions, cover=None, cover_rate=0.0)
    bare = bare_channel(conditions)
    if law.flush is not None:
        if conditions.cover is not None or conditions.lost is not None:
            return _by_numbers(bare, conditions, came, left, needed)
        return _of_flushes(passage, law.flush, bare, conditions, needed)

    if not law.followed:
        return _of_any_delay(bare, conditions, came, left, needed)
    mean = law.mean_delay
    assert mean is not None

    # What was inside at the start is told by the first part of a log, if all else is told.
    start_only = None not in (conditions.loss, conditions.cover_rate)

    def fitted(channel: Channel, *free: FreeRate) -> Rates:
        cut = channel.begin + _START * mean if start_only else math.inf
        arrivals, departures = (
            _until(times, cut) for times in (passage.arrivals, passage.departures)
        )
        return measures.fit_rates(
            arrivals,
            departures,
            mean=mean,
            channel=replace(channel, end=cut, drained=False) if cut < channel.end else channel,
            free=free,
            effort=effort,
        )

    if conditions.cover is not None or conditions.lost is not None:
        if conditions.inside_at_start:
            return _Choice(bare)  # which explains what is left over: nothing has to be cover
        guessed = _beside_a_number(bare, conditions, came, fitted)
        return guessed or _by_numbers(bare, conditions, came, left, needed)
    lasts = conditions.end > conditions.begin
    if not lasts and needed and conditions.cover_rate is None and not conditions.inside_at_start:
        raise InputError(
            f"the log lasts 0 seconds, and {several(needed, 'message')} out can be nobody's: "
            "no rate of cover explains that; check times, or tell when the log ended (",
            Argument("until"),
            ")",
        )
    models = _models(conditions, came, lasts and needed > 0)
    return _best(bare, conditions, came, models, fitted)


def _until(times: Floats, end: float) -> Floats:
    """Those of sorted times that are not later."""
    return times[: int(np.searchsorted(times, end, side="right"))]


def bare_channel(conditions: Conditions) -> Channel:
    """What is told, and nothing of what is not."""
    return Channel(
        begin=conditions.begin,
        end=conditions.end,
        drained=conditions.drained,
        loss=conditions.loss or 0.0,
        lost=conditions.lost,
        cover_rate=conditions.cover_rate or 0.0,
        cover=conditions.cover,
        inside_at_start=conditions.inside_at_start or 0.0,
    )


_Model = tuple["FreeRate", ...]


def _models(conditions: Conditions, came: int, unexplained: bool) -> list[_Model]:
    """Rates that may be fitted together, the first ones if no others are clearly better.

    Losses and cover cannot be told apart, so that never both are. Cover and what was inside at the
    beginning are looked for only where something is ``unexplained``: messages leave that nobody
    can have sent. Else nothing asks for them.
    """
    losses: list[_Model] = [("loss",)] if conditions.loss is None and came else []
    cover_free = conditions.cover_rate is None and unexplained
    start_free = conditions.inside_at_start is None and unexplained
    begun: list[_Model] = [("inside_at_start",)] if start_free else []
    with_losses: list[_Model] = [("inside_at_start", "loss")] if start_free and losses else []
    if cover_free and not conditions.inside_at_start:
        both: list[_Model] = [("inside_at_start", "cover_rate")] if start_free else []
        return [("cover_rate",), *begun, *both, *with_losses]
    cover: list[_Model] = [("cover_rate",)] if cover_free else []
    return [(), *cover, *losses, *begun, *with_losses]


def _best(
    bare: Channel,
    conditions: Conditions,
    came: int,
    models: list[_Model],
    fitted: Callable[..., Rates],
) -> _Choice:
    """The rates under which a log is likeliest, each more of them by more than chance would do."""
    first, probability = models[0], _by_probability(max(came, 1))
    if len(models) == 1 and not first:
        return _Choice(bare)
    fits: dict[_Model, Rates] = {}
    refusals = []
    for model in models[0 if first else 1 :]:
        try:
            fits[model] = fitted(bare, *model)
        except InputError as error:  # nothing explains the log with these rates alone
            refusals.append(error)
    if first and not fits:
        raise refusals[0]

    def likelier(model: _Model) -> float:
        """Than under the first model, in nats; gains are over none of the rates."""
        if not first:
            return fits[model].gain
        return fits[model].log_evidence - fits[first].log_evidence if first in fits else math.inf

    others = [model for model in fits if model != first]
    best = max(others, key=lambda model: likelier(model) - probability * len(model), default=first)
    if best != first and not likelier(best) > probability * max(len(best) - len(first), 1):
        best = first
    if not best:
        return _Choice(bare)
    rates = fits[best]
    channel = replace(bare, **{name: getattr(rates, name) for name in best})
    return _Choice(channel, _rate_notes(rates, conditions, best), {**rates.errors})


def _rate_notes(rates: Rates, conditions: Conditions, model: _Model) -> list[str]:
    notes = []
    if "inside_at_start" in model:
        notes.append(
            f"{rates.inside_at_start:.3g} +- {rates.errors['inside_at_start']:.2g} messages inside "
            "when the log begins are estimated: some leave that nobody in it can have sent"
        )
    if "cover_rate" in model:
        loss = (
            "" if conditions.loss is not None else ", and no losses: the two cannot be told apart"
        )
        much = f"{rates.cover_rate:.3g} +- {rates.errors['cover_rate']:.2g}"
        notes.append(f"Cover of {much} a second is estimated{loss}")
    if "loss" in model:
        known = (
            "" if conditions.cover_rate is not None else "; with cover it could not be told apart"
        )
        notes.append(_loss_note(rates.loss, rates.errors["loss"]) + known)
    return notes


def _by_probability(messages: int) -> float:
    """Nats by which a rate may make a log likelier without being there."""
    return 2.0 + 0.5 * math.log(messages)


def _loss_note(loss: float, error: float) -> str:
    return f"A loss of {loss:.3g} +- {error:.2g} a message is estimated"


def _beside_a_number(
    channel: Channel, conditions: Conditions, came: int, fitted: Callable[..., Rates]
) -> _Choice | None:
    """Losses fitted where the number of cover messages is told; None if there seem to be none."""
    lasted = conditions.end - conditions.begin
    if conditions.cover is None or conditions.loss is not None or conditions.lost is not None:
        return None
    if conditions.drained or not came or not lasted > 0:
        return None
    rates = fitted(replace(channel, cover=None, cover_rate=conditions.cover / lasted), "loss")
    if rates.gain <= _by_probability(came):
        return None
    note = _loss_note(rates.loss, rates.errors["loss"])
    return _Choice(replace(channel, loss=rates.loss), [note], {**rates.errors})


def _of_flushes(
    passage: Passage, rule: FlushRule, channel: Channel, conditions: Conditions, needed: int
) -> _Choice:
    """Of a flush mix cover is taken from the numbers, and losses are fitted by the evidence."""
    lasted = conditions.end - conditions.begin
    if conditions.cover_rate is None and needed and lasted > 0:
        rate = needed / lasted
        note = f"Cover of {rate:.3g} a second is estimated: so many more left than can have come in"
        return _Choice(replace(channel, cover_rate=rate), [note], {"cover_rate": None})
    came = len(passage.arrivals)
    missing = came - len(passage.departures)
    silent = conditions.loss is None and conditions.cover_rate is None and not conditions.drained
    if not silent or missing <= 0 or not _FEWEST_FITTED <= came <= _MOST_FITTED:
        return _Choice(channel)
    times = passage.arrivals, passage.departures
    loss, evidence = missing / (2.0 * came), -math.inf
    for _ in range(_ROUNDS):
        links = measures.flush_figures(rule, *times, channel=replace(channel, loss=loss))
        evidence = links.log_evidence if links.log_evidence is not None else -math.inf
        before, loss = loss, min(float(links.lost.mean()), 0.99)
        if abs(loss - before) <= 0.01 * before or loss <= 0.0:
            break
    try:
        without = measures.flush_figures(rule, *times, channel=channel).log_evidence
    except InputError:
        without = None  # nothing explains the log without losses
    if without is not None and evidence - without <= _by_probability(came):
        return _Choice(channel)
    error = math.sqrt(loss * (1.0 - loss) / came)
    return _Choice(replace(channel, loss=loss), [_loss_note(loss, error)], {"loss": error})


def _of_any_delay(
    channel: Channel, conditions: Conditions, came: int, left: int, needed: int
) -> _Choice:
    """Rates as they are told; cover that nobody told is as much as the numbers need."""
    if conditions.cover is not None or conditions.cover_rate is not None:
        return _Choice(channel)
    delivered = (1.0 - channel.loss) * came if conditions.lost is None else came - conditions.lost
    surplus = max(float(needed), left - delivered)
    lasted = conditions.end - conditions.begin
    # Losses vary: so many more than expected may have come out.
    if (surplus <= 3.0 * math.sqrt(channel.loss * came) and not needed) or not lasted > 0:
        return _Choice(channel)
    rate = max(surplus, 0.5) / lasted
    note = f"Cover of {rate:.3g} a second is estimated: so many more left than can have come in"
    return _Choice(replace(channel, cover_rate=rate), [note], {"cover_rate": None})


def _needed_cover(passage: Passage) -> int:
    """Departures that surely are nobody's: more had left than had come in.

    Several hops take time: who comes in with a departure is not it.
    """
    side: Literal["left", "right"] = "right" if passage.at_once else "left"
    inside = np.searchsorted(passage.arrivals, passage.departures, side=side)
    short = np.arange(1, len(inside) + 1) - inside
    return max(int(short.max(initial=0)), 0)


def _by_numbers(
    channel: Channel, conditions: Conditions, came: int, left: int, needed: int
) -> _Choice:
    """One number known: the other is as small as can be, and the rest is inside at the end."""
    if conditions.cover is None and conditions.cover_rate is None:
        cover = max(needed, left - came + (conditions.lost or 0), 0)
        note = f"{several(cover, 'message')} out must then be cover, which is taken as known"
        channel = replace(channel, cover=cover)
        return _Choice(channel, [note], {"cover": None}) if cover else _Choice(channel)
    if conditions.lost is None and conditions.loss is None:
        lost = came - left + (conditions.cover or 0) if conditions.drained else 0
        return _Choice(replace(channel, lost=max(lost, 0)), [], {"lost": None} if lost > 0 else {})
    return _Choice(channel)


def _fate_notes(links: LinkFigures, channel: Channel) -> list[str]:
    """What became of the messages that are missing, and how much of what left is cover."""
    lost, inside = float(links.lost.sum()), float(links.inside.sum())
    notes = []
    if lost + inside > 0.05:
        how = f"loss {channel.loss:.3g}" if channel.lost is None else f"{channel.lost} told"
        gone = f"{lost:.3g} lost ({how}), " if lost > 0 else ""
        notes.append(f"Messages in that are not seen again: {gone}{inside:.3g} still inside")
        notes += _misfit(channel, lost, len(links.lost))
    early = 0.0 if links.early is None else float(links.early.sum())
    if early > 0.05:
        mean = f"{channel.inside_at_start:.3g} inside on average"
        notes.append(f"Messages out that came in before the log: {early:.3g} expected ({mean})")
    cover = float(links.cover.sum())
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

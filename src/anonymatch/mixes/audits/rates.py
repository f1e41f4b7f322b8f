"""Losses, cover and messages inside at the start: given, or fitted to a log; and their origin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonymatch import mixes
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, several
from anonymatch.mixes import Channel, Conditions, FlushLaw, FlushRule, HopLaw, Law, Passage
from anonymatch.running import Budget, Execution

if TYPE_CHECKING:
    from anonymatch.mixes import FreeRate, Rates

__all__ = ["UsedRate", "UsedRates", "bare_channel", "chosen_channel", "chosen_rates", "used_rates"]

Origin = Literal["given", "flags", "fitted", "assumed"]

_FEWEST_FITTED, _MOST_FITTED = 20, 20_000  # messages of a flush mix whose losses are fitted
_ROUNDS = 8  # in which they are
_PASS_SECONDS = 0.8e-6  # of a pass over a log, per message and root of the number inside
_PASSES = 40  # of a fit of rates
_FIT_SHARE = 0.25  # of the budget
_LEAST_FITTED = 2_000  # messages
_START = 40.0  # mean delays after which hardly anything is inside that was at the start


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRate:
    """One of them."""

    rate: float | None  # None where a number is used instead
    number: int | None = None
    # "given" by the caller, by the log's "flags", "fitted" to the log, or "assumed": 0, as nothing
    # speaks for more.
    origin: Origin
    error: float | None = None  # standard error of one that was fitted by the evidence of the log


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRates:
    """What the figures of a log are exact for."""

    loss: UsedRate  # probability that a message is lost
    cover_rate: UsedRate  # dummy messages out per second
    inside_at_start: UsedRate  # messages inside when the log begins, on average


def used_rates(
    channel: Channel, conditions: Conditions, fitted: Mapping[str, float | None]
) -> UsedRates:
    """The rates of a channel; ``fitted`` has the standard errors of those that were.

    Examples
    --------
    >>> conditions = Conditions(begin=0.0, end=9.0, lost=2)
    >>> rates = used_rates(Channel(begin=0.0, end=9.0, lost=2), conditions, {})
    >>> rates.loss
    UsedRate(rate=None, number=2, origin='given', error=None)
    >>> rates.cover_rate.origin
    'assumed'
    """

    def used(rate: str, number: str | None = None) -> UsedRate:
        exactly = None if number is None else getattr(channel, number)
        names = {rate, number} - {None}
        return UsedRate(
            rate=getattr(channel, rate) if exactly is None else None,
            number=exactly,
            origin=_origin({str(name) for name in names}, conditions, set(fitted)),
            error=fitted.get(rate),
        )

    return UsedRates(
        loss=used("loss", "lost"),
        cover_rate=used("cover_rate", "cover"),
        inside_at_start=used("inside_at_start"),
    )


def _origin(names: set[str], conditions: Conditions, fitted: set[str]) -> Origin:
    if names & conditions.flagged:
        return "flags"
    if names & (fitted | conditions.estimated):
        return "fitted"
    return "given" if any(getattr(conditions, name) is not None for name in names) else "assumed"


@dataclass(frozen=True, slots=True, eq=False)
class RateChoice:
    """Losses, cover and a beginning that are taken, why, and errors of those that were fitted."""

    channel: Channel
    notes: list[str] = field(default_factory=list)
    fitted: Mapping[str, float | None] = field(default_factory=dict)


def chosen_channel(passage: Passage, effort: Execution) -> tuple[Channel, list[str]]:
    """Losses, cover and ends that are given or fitted for a log, and notes on them."""
    choice = chosen_rates(passage, effort, Budget.of(None))
    return choice.channel, choice.notes


def _inside(passage: Passage, law: Law, channel: Channel) -> float:
    """Messages inside on average, and one more; infinite if the law or the log does not show it."""
    lasted = channel.end - channel.begin
    if law.mean_delay is None or not lasted > 0:
        return math.inf
    return len(passage.arrivals) / lasted * law.mean_delay + 1.0


def chosen_rates(passage: Passage, effort: Execution, budget: Budget) -> RateChoice:
    """Losses and cover as given; rates that are not given follow from the others or are fitted."""
    law, conditions = passage.law, passage.conditions
    assert law is not None
    assert conditions is not None
    came, left = len(passage.arrivals), len(passage.departures)
    needed = _needed_cover(passage)
    if conditions.inside_at_start and conditions.cover == 0:
        # the same, without a number to count
        conditions = replace(conditions, cover=None, cover_rate=0.0)
    bare = bare_channel(conditions)
    if isinstance(law, FlushLaw):
        if conditions.cover is not None or conditions.lost is not None:
            return _by_numbers(bare, conditions, came, left, needed)
        return _of_flushes(passage, law.flush, bare, conditions, needed)

    if not (isinstance(law, HopLaw) and law.few_hops):
        return _of_any_delay(bare, conditions, came, left, needed)
    mean = law.mean_delay
    assert mean is not None

    # If all other rates are given, the first part of a log determines the messages inside at first.
    start_only = None not in (conditions.loss, conditions.cover_rate)
    fits = math.inf
    if budget.chosen:  # the first part of a long log is enough for its rates
        each = _PASSES * _PASS_SECONDS * math.sqrt(_inside(passage, law, bare))
        fits = max(_FIT_SHARE * budget.seconds / each, _LEAST_FITTED)

    def fitted(channel: Channel, *free: FreeRate) -> Rates:
        cut = channel.begin + _START * mean if start_only else math.inf
        if fits < came:
            cut = min(cut, float(passage.arrivals[int(fits)]))
        arrivals, departures = (
            _until(times, cut) for times in (passage.arrivals, passage.departures)
        )
        return mixes.fit_rates(
            arrivals,
            departures,
            mean=mean,
            channel=replace(channel, end=cut, drained=False) if cut < channel.end else channel,
            free=free,
            effort=effort,
        )

    if conditions.cover is not None or conditions.lost is not None:
        if conditions.mid_traffic:
            raise InputError(
                "numbers of lost and cover messages do not show how many messages were inside at "
                "the start; with ",
                Argument("since"),
                " give ",
                Argument("inside_at_start"),
                ", or rates instead of numbers",
            )
        if conditions.inside_at_start:
            return RateChoice(bare)  # which explains what is left over: nothing has to be cover
        guessed = _beside_a_number(bare, conditions, came, fitted)
        return guessed or _by_numbers(bare, conditions, came, left, needed)
    lasts = conditions.end > conditions.begin
    if not lasts and needed and conditions.cover_rate is None and not conditions.inside_at_start:
        raise InputError(
            f"the log lasts 0 seconds, and {several(needed, 'message')} out must be cover traffic: "
            "no rate explains that; check the times, or give the end of the log (",
            Argument("until"),
            ")",
        )
    models = _models(conditions, came, lasts and needed > 0)
    choice = _best(bare, conditions, came, models, fitted)
    least = needed / (conditions.end - conditions.begin) if lasts and fits < came else 0.0
    if "cover_rate" in choice.fitted and choice.channel.cover_rate < least:
        # The first part of the log shows less cover than all of it must have.
        choice = replace(choice, channel=replace(choice.channel, cover_rate=least))
    return choice


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
    if conditions.mid_traffic:
        return [("inside_at_start",), *([("inside_at_start", "loss")] if losses else ())]
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
) -> RateChoice:
    """The rates under which a log is likeliest, each more of them by more than chance would do."""
    first, probability = models[0], _by_probability(max(came, 1))
    if len(models) == 1 and not first:
        return RateChoice(bare)
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
        return RateChoice(bare)
    rates = fits[best]
    channel = replace(bare, **{name: getattr(rates, name) for name in best})
    return RateChoice(channel, _rate_notes(rates, conditions, best), {**rates.errors})


def _rate_notes(rates: Rates, conditions: Conditions, model: _Model) -> list[str]:
    notes = []
    if "inside_at_start" in model:
        notes.append(
            f"{rates.inside_at_start:.3g} +- {rates.errors['inside_at_start']:.2g} messages inside "
            "when the log begins (estimated)"
            + ("" if conditions.mid_traffic else ": some departures have no possible sender")
        )
    if "cover_rate" in model:
        loss = (
            ""
            if conditions.loss is not None
            else ". No losses are assumed, because a log does not show the two separately"
        )
        much = f"{rates.cover_rate:.3g} +- {rates.errors['cover_rate']:.2g}"
        notes.append(f"Estimated cover traffic: {much} dummy messages per second{loss}")
    if "loss" in model:
        known = (
            ""
            if conditions.cover_rate is not None
            else ". No cover traffic is assumed, because a log does not show the two separately"
        )
        notes.append(_loss_note(rates.loss, rates.errors["loss"]) + known)
    return notes


def _by_probability(messages: int) -> float:
    """Nats by which a rate may make a log likelier without being there."""
    return 2.0 + 0.5 * math.log(messages)


def _cover_note(rate: float) -> str:
    return (
        f"Estimated cover traffic: {rate:.3g} dummy messages per second, because more messages "
        "left than can have come in"
    )


def _loss_note(loss: float, error: float) -> str:
    return f"Estimated probability that a message is lost: {loss:.3g} +- {error:.2g}"


def _beside_a_number(
    channel: Channel, conditions: Conditions, came: int, fitted: Callable[..., Rates]
) -> RateChoice | None:
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
    return RateChoice(replace(channel, loss=rates.loss), [note], {**rates.errors})


def _of_flushes(
    passage: Passage, rule: FlushRule, channel: Channel, conditions: Conditions, needed: int
) -> RateChoice:
    """Of a flush mix cover is taken from the numbers, and losses are fitted by the evidence."""
    lasted = conditions.end - conditions.begin
    if conditions.cover_rate is None and needed and lasted > 0:
        rate = needed / lasted
        note = _cover_note(rate)
        return RateChoice(replace(channel, cover_rate=rate), [note], {"cover_rate": None})
    came = len(passage.arrivals)
    missing = came - len(passage.departures)
    silent = conditions.loss is None and conditions.cover_rate is None and not conditions.drained
    if not silent or missing <= 0 or not _FEWEST_FITTED <= came <= _MOST_FITTED:
        return RateChoice(channel)
    times = passage.arrivals, passage.departures
    loss, evidence = missing / (2.0 * came), -math.inf
    for _ in range(_ROUNDS):
        links = mixes.flush_figures(rule, *times, channel=replace(channel, loss=loss))
        evidence = links.log_evidence if links.log_evidence is not None else -math.inf
        before, loss = loss, min(float(links.lost.mean()), 0.99)
        if abs(loss - before) <= 0.01 * before or loss <= 0.0:
            break
    try:
        without = mixes.flush_figures(rule, *times, channel=channel).log_evidence
    except InputError:
        without = None  # nothing explains the log without losses
    if without is not None and evidence - without <= _by_probability(came):
        return RateChoice(channel)
    error = math.sqrt(loss * (1.0 - loss) / came)
    return RateChoice(replace(channel, loss=loss), [_loss_note(loss, error)], {"loss": error})


def _of_any_delay(
    channel: Channel, conditions: Conditions, came: int, left: int, needed: int
) -> RateChoice:
    """Rates as they are told; cover that nobody told is as much as the numbers need."""
    if conditions.cover is not None or conditions.cover_rate is not None:
        return RateChoice(channel)
    delivered = (1.0 - channel.loss) * came if conditions.lost is None else came - conditions.lost
    surplus = max(float(needed), left - delivered)
    lasted = conditions.end - conditions.begin
    # Losses vary: so many more than expected may have come out.
    if (surplus <= 3.0 * math.sqrt(channel.loss * came) and not needed) or not lasted > 0:
        return RateChoice(channel)
    rate = max(surplus, 0.5) / lasted
    note = _cover_note(rate)
    return RateChoice(replace(channel, cover_rate=rate), [note], {"cover_rate": None})


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
) -> RateChoice:
    """One number known: the other is as small as can be, and the rest is inside at the end."""
    if conditions.cover is None and conditions.cover_rate is None:
        cover = max(needed, left - came + (conditions.lost or 0), 0)
        note = f"{several(cover, 'message')} out must then be cover, a number that is assumed known"
        channel = replace(channel, cover=cover)
        return RateChoice(channel, [note], {"cover": None}) if cover else RateChoice(channel)
    if conditions.lost is None and conditions.loss is None:
        lost = came - left + (conditions.cover or 0) if conditions.drained else 0
        return RateChoice(
            replace(channel, lost=max(lost, 0)), [], {"lost": None} if lost > 0 else {}
        )
    return RateChoice(channel)

"""A passage solved: losses, cover and ends that nobody told are fitted, and all that is noted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from anonymatch import mixes
from anonymatch.audits.rates import UsedRates, used_rates
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, several
from anonymatch.counting.measures import Range, averages
from anonymatch.mixes import (
    Channel,
    Conditions,
    DelayLaw,
    Law,
    LinkFigures,
    Passage,
    PassageWork,
    wide_links,
)
from anonymatch.running import Budget, Execution, Progress

if TYPE_CHECKING:
    from anonymatch.mixes import FlushRule, FreeRate, Rates

__all__ = ["Passed", "bare_channel", "chosen_channel", "passed"]

_FEWEST_FITTED, _MOST_FITTED = 20, 20_000  # messages of a flush mix whose losses are fitted
_ROUNDS = 8  # in which they are
_LEFT = 0.8  # of a budget that a chain over what is inside did not fit
# Seconds per message and root of the number inside: of a pass over a log, and of all figures.
_PASS_SECONDS, _FIGURE_SECONDS = 0.8e-6, 2.8e-6
_PASSES = 40  # of a fit of rates
_FIT_SHARE, _STRETCH_SHARE = 0.25, 0.6  # of the budget
_LEAST_FITTED = 2_000  # messages
_MARGIN = 20.0  # times that the number inside at a moment matters: until e^-20 of that is left
_QUICK = 0.3  # seconds that any budget allows
_LEAST_CORE, _STRETCH_SECONDS = 1_000, 8e-3  # messages of a stretch, and seconds beside them
_FEWEST_STRETCHES = 10
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
    chosen : array of int or None
        The messages that figures are about, if not all were looked at.
    """

    links: LinkFigures
    channel: Channel
    notes: tuple[str, ...]
    rates: UsedRates
    chosen: Ints | None = None


def passed(
    passage: Passage,
    *,
    receivers: np.ndarray | None,
    edge: Bools | None = None,
    budget: Budget,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
    asked: Ints | None = None,
) -> Passed:
    """What a log says under the law and the conditions of its passage."""
    conditions, law = passage.conditions, passage.law
    assert conditions is not None
    assert law is not None
    effort = Execution(executor=executor, progress=progress)
    choice = _chosen(passage, law, conditions, effort, budget)
    channel = choice.channel
    work = PassageWork(
        channel=channel,
        dummies="pool" if conditions.cover_in_pool else "exit",
        receivers=receivers,
        budget=budget,
        seed=seed,
        effort=effort,
        edge=edge,
        asked=asked,
    )
    rates = used_rates(channel, conditions, choice.fitted)
    drawn = _stretched(passage, law, work)
    if drawn is not None:
        links, chosen = drawn
        notes = (*choice.notes, *links.notes)
        return Passed(links=links, channel=channel, notes=notes, rates=rates, chosen=chosen)
    links = _solved(passage, law, conditions, work)
    return Passed(
        links=links,
        channel=channel,
        notes=(*choice.notes, *_fate_notes(links, channel), *links.notes),
        rates=rates,
    )


def chosen_channel(passage: Passage, effort: Execution) -> tuple[Channel, list[str]]:
    """Losses, cover and ends that are given or fitted for a log, and notes on them."""
    assert passage.law is not None
    assert passage.conditions is not None
    choice = _chosen(passage, passage.law, passage.conditions, effort, Budget.of(None))
    return choice.channel, choice.notes


def _inside(passage: Passage, law: Law, channel: Channel) -> float:
    """Messages inside on average, and one more; infinite if the law or the log does not show it."""
    lasted = channel.end - channel.begin
    if law.mean_delay is None or not lasted > 0:
        return math.inf
    return len(passage.arrivals) / lasted * law.mean_delay + 1.0


def _stretched(passage: Passage, law: Law, work: PassageWork) -> tuple[LinkFigures, Ints] | None:
    """Figures of messages in stretches of a long log, if all of them are beyond the budget.

    For one exponential mix with rates. A stretch begins long before its messages and ends long
    after them, so that what was inside at both ends hardly matters. Messages are as far apart as
    messages that meet.

    The number inside is followed by departures, of which it is the mean times a rate, and changes
    unseen by losses and cover. By the filter of Kalman and Bucy an error in it falls by e in
    ``sqrt(inside mean / changes)`` seconds, where ``changes`` is their number per second. Without
    losses and cover it never does.
    """
    channel, budget, size = work.channel, work.budget, len(passage.arrivals)
    inside = _inside(passage, law, channel)
    each = _FIGURE_SECONDS * math.sqrt(inside)
    numbers = channel.lost is not None or channel.cover is not None
    if not law.closed_form or not budget.chosen or numbers or not math.isfinite(inside):
        return None
    mean = law.mean_delay
    assert mean is not None
    rate = size / (channel.end - channel.begin)
    changes = channel.loss * rate + channel.cover_rate
    if size * each <= max(budget.seconds, _QUICK) or not changes > 0.0:
        return None
    margin = _MARGIN * (mean + math.sqrt(inside * mean / changes))
    around = math.ceil(rate * margin)
    core = max(around, _LEAST_CORE)
    cost = each * (core + 2 * around) + _STRETCH_SECONDS
    number = int(_STRETCH_SHARE * budget.seconds / cost)
    if number < _FEWEST_STRETCHES:
        least = min(_FEWEST_STRETCHES * cost / _STRETCH_SHARE, size * each)
        what = f"figures of {_FEWEST_STRETCHES} stretches of {core + 2 * around:,} messages"
        raise budget.refusal(what, least, 0.0)
    draw = np.random.default_rng(work.seed)
    room = max(size / number - core, 0.0)
    starts = (np.arange(number) * size / number + room * draw.random(number)).astype(np.int64)
    edge = np.zeros(size, dtype=np.bool_) if work.edge is None or work.edge.all() else work.edge
    apart = math.ceil(inside)
    parts: list[tuple[LinkFigures, Ints, Ints, int, int, Bools]] = []
    for first in starts.tolist():
        last = min(first + core, size)
        picked = np.arange(first + int(draw.integers(apart)), last, apart)
        picked = picked[~edge[picked]]
        if not len(picked):
            continue
        part = _stretch(passage, law, work, first, last, inside, margin)
        parts.append((part[0], picked, picked - part[1], part[2], part[3], part[4]))
    return _joined(passage, work, parts, inside, size * each)


def _stretch(
    passage: Passage,
    law: Law,
    work: PassageWork,
    first: int,
    last: int,
    inside: float,
    margin: float,
) -> tuple[LinkFigures, int, int, int, Bools]:
    """Solve one stretch; its first message in and out, its size, and departures of its middle."""
    channel = work.channel
    came, left = passage.arrivals, passage.departures
    begin = max(float(came[first]) - margin, channel.begin)
    end = min(float(came[last - 1]) + margin, channel.end)
    (a, b), (c, d) = (
        (int(np.searchsorted(times, begin)), int(np.searchsorted(times, end, side="right")))
        for times in (came, left)
    )
    steady = inside * (1.0 - channel.loss)
    local = replace(
        channel,
        begin=begin,
        end=end,
        drained=channel.drained and end == channel.end,
        inside_at_start=channel.inside_at_start if begin == channel.begin else steady,
    )
    asked = None
    if work.asked is not None:
        asked = work.asked[a:b]
        asked = np.where((asked >= c) & (asked < d), asked - c, -1)
    receivers = None if work.receivers is None else work.receivers[c:d]
    piece = replace(work, channel=local, receivers=receivers, edge=None, asked=asked)
    middle = (left[c:d] >= came[first]) & (left[c:d] <= came[last - 1])
    return law.links(came[a:b], left[c:d], piece), a, c, b - a, middle


def _joined(
    passage: Passage,
    work: PassageWork,
    parts: list[tuple[LinkFigures, Ints, Ints, int, int, Bools]],
    inside: float,
    seconds: float,
) -> tuple[LinkFigures, Ints]:
    """Figures of the messages that were picked in all stretches."""
    size = len(passage.arrivals)
    chosen = np.concatenate([picked for _, picked, *_ in parts])

    def arrays(of: Callable[[LinkFigures], np.ndarray]) -> np.ndarray:
        return np.concatenate([of(links)[at] for links, _, at, *_ in parts])

    def ranges(of: Callable[[LinkFigures], Range]) -> Range:
        ends = [of(links).at(at).parts for links, _, at, *_ in parts]
        return Range(*(np.concatenate(end) for end in zip(*ends, strict=True)))

    guess = np.concatenate(
        [
            np.where(links.guess[at] >= 0, links.guess[at] + c, links.guess[at])
            for links, _, at, c, *_ in parts
        ]
    )
    real = float(np.concatenate([links.real[middle] for links, *_, middle in parts]).mean())
    first = parts[0][0]

    def whole(of: Callable[[LinkFigures], Interval]) -> Interval:
        """Bits of the whole log. A stretch has more or less of them near its two ends."""
        means = np.array([of(links).value / number for links, _, _, _, number, _ in parts])
        slack = float(np.mean([2.0 * inside / number for *_, number, _ in parts])) * means.mean()
        middle = float(means.mean())
        half = averages.error_of_batches(means) + float(slack)
        return Interval(*(size * (middle + by) for by in (0.0, -half, half)))

    def mean(of: Callable[[LinkFigures], Floats]) -> Interval:
        """The mean over messages that departed. Stretches are its batches."""
        sums = np.array(
            [
                (links.departed[at] @ of(links)[at], links.departed[at].sum())
                for links, _, at, *_ in parts
            ]
        )
        value = float(sums[:, 0].sum() / sums[:, 1].sum())
        off = (sums[:, 0] - value * sums[:, 1]) / sums[:, 1].mean()
        half = averages.error_of_batches(off)
        return Interval(value, value - half, value + half).clipped(0.0, math.inf)

    def smallest(links: LinkFigures) -> Floats:
        share = np.where(links.departed > 0.0, links.departed, 1.0)
        largest = np.where(links.departed > 0.0, links.probability.value / share, 1.0)
        return np.asarray(0.0 - np.log2(np.clip(largest, 1e-300, 1.0)), dtype=np.float64)

    receivers = None
    if first.receivers is not None:
        receivers = mixes.ReceiverFigures(
            **{
                name: np.concatenate(
                    [getattr(links.receivers, name)[at] for links, _, at, *_ in parts]
                )
                for name in ("shannon", "probability", "guess")
            }
        )
    note = (
        f"Figures of all {size:,} messages would take {seconds:.2g} s: they were computed for "
        f"{len(chosen):,} messages in {len(parts)} stretches of the log, drawn with seed "
        f"{work.seed}. Means, shares and quantiles are estimated from them, with intervals of "
        f"{averages.SAMPLED:.0%}"
    )
    links = LinkFigures(
        log_evidence=None,
        joint_bits=whole(lambda links: links.joint_bits),
        link_bits=whole(lambda links: links.link_bits),
        departed=arrays(lambda links: links.departed),
        lost=arrays(lambda links: links.lost),
        inside=arrays(lambda links: links.inside),
        real=np.full(len(passage.departures), real),
        shannon=ranges(lambda links: links.shannon),
        shannon_all=ranges(lambda links: links.shannon_all),
        collision=arrays(lambda links: links.collision),
        probability=ranges(lambda links: links.probability),
        guess=guess,
        allowed=arrays(lambda links: links.allowed),
        error=max(links.error for links, *_ in parts),
        confidence=averages.SAMPLED,
        method=first.method,
        seed=work.seed,
        receivers=receivers,
        asked=None
        if first.asked is None
        else np.concatenate([np.asarray(links.asked)[at] for links, _, at, *_ in parts]),
        mean_shannon=mean(lambda links: links.shannon.value),
        mean_min_entropy=mean(smallest),
        notes=(note,),
    )
    return links, chosen


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


def _chosen(
    passage: Passage, law: Law, conditions: Conditions, effort: Execution, budget: Budget
) -> _Choice:
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
            return _Choice(bare)  # which explains what is left over: nothing has to be cover
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
        note = _cover_note(rate)
        return _Choice(replace(channel, cover_rate=rate), [note], {"cover_rate": None})
    came = len(passage.arrivals)
    missing = came - len(passage.departures)
    silent = conditions.loss is None and conditions.cover_rate is None and not conditions.drained
    if not silent or missing <= 0 or not _FEWEST_FITTED <= came <= _MOST_FITTED:
        return _Choice(channel)
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
    note = _cover_note(rate)
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
        note = f"{several(cover, 'message')} out must then be cover, a number that is assumed known"
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

"""Rounds for people: the half-life, the curve, who falls first, and who writes to whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from anonymatch.base import numbers, text
from anonymatch.base.text import Message
from anonymatch.cli.screens import elements
from anonymatch.cli.words import option
from anonymatch.disclosure import METHODS, calibration_in_words, verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

    import anonymatch as am
    from anonymatch.disclosure import CurvePoint, MethodComparison, RoundGate, RoundLog

__all__ = ["methods_screen", "rounds_screen"]

UNKNOWN = "–"
"""In place of what is not known."""

_POINTS = 12  # of a curve that are all shown
_BELIEVE = ("gibbs", "exact", "presence")  # methods that tell probabilities


def rounds_screen(
    title: str,
    disclosure: am.Disclosure,
    gates: Sequence[RoundGate] = (),
    *,
    top: int,
    learnt: bool,
) -> list[RenderableType]:
    """The half-life, thresholds, the curve, who falls first, who writes to whom, and how.

    ``learnt``: whether the prior was learnt from the log.
    """
    screen: list[RenderableType] = [
        elements.heading(text.name(f"{title}: {_size(disclosure.log)}")),
        elements.paragraph(verdict(disclosure)),
    ]
    if gates:
        screen.append(elements.bullets("Thresholds:", [gate.text for gate in gates]))
    if len(disclosure.curve) > 1:
        screen.append(elements.indented(_curve(disclosure)))
    screen += _falls(disclosure, top)
    screen += _pairs(disclosure, top)
    screen += _sets(disclosure, top)
    if scored := calibration_in_words(disclosure):
        screen.append(elements.paragraph(scored))
    screen += _notes(disclosure.notes)
    screen.append(elements.paragraph(_ONLINE if disclosure.method == "presence" else _SENDING))
    screen.append(elements.paragraph(_method(disclosure, learnt)))
    return screen


def methods_screen(title: str, comparison: MethodComparison) -> list[RenderableType]:
    """A line a method: what it reaches."""
    truth = comparison.log.truth is not None
    table = elements.columns(
        "method", "what it does", right=("right", "squared distance", "believed")
    )
    for one in comparison.methods:
        if one.reason:
            continue
        table.add_row(
            Text(one.method),
            Text(METHODS[one.method]),
            _share(one.right),
            UNKNOWN if one.squared_distance is None else f"{one.squared_distance:.3g}",
            _share(one.believed),
        )
    whom = "" if comparison.target is None else f", {text.name(comparison.target)} alone"
    screen: list[RenderableType] = [
        elements.heading(text.name(f"{title}: {_size(comparison.log)}{whom}")),
        elements.indented(table),
    ]
    missing = [one for one in comparison.methods if one.reason]
    if missing:
        lines = [f"{one.method}: {one.reason.worded(option)}" for one in missing]
        screen.append(elements.bullets("Out of reach:", lines))
    screen.append(elements.paragraph(_COMPARED if truth else _UNKNOWN_TRUTH))
    screen += _notes(comparison.notes)
    screen.append(elements.paragraph(f"Seed {comparison.seed}."))
    return screen


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    return [elements.paragraph(f"Note: {Message(note).worded(option)}") for note in notes]


_COMPARED = (
    "right: share of messages whose best guess is the true receiver. squared distance: of profiles "
    "from those of the known links, summed over behaviours, mean over users; less is better. "
    "believed: what the attacker believes that share to be, only where a method can know it."
)
_UNKNOWN_TRUTH = (
    "The log does not tell which message is which (column message), so that nothing can be scored. "
    "believed: the share of best guesses that the attacker believes to be right, only where a "
    "method can know it."
)
_SENDING = (
    "The attacker sees who sends and who receives in every round. Users are taken to write to the "
    "same behaviours all the time, as often as before, whatever others do."
)
_ONLINE = (
    "The attacker sees who is online in every round, and which pseudonym acts. Its owner is taken "
    "to be online whenever it acts, and others to come and go each at a rate of its own."
)


def _size(log: RoundLog) -> str:
    sizes = (
        (log.n_rounds, "round"),
        (len(log.users), "user"),
        (len(log.behaviours), "behaviour"),
        (log.n_messages, "message"),
    )
    return ", ".join(numbers.plural(number, noun) for number, noun in sizes)


def _share(interval: am.Interval | None) -> str:
    return UNKNOWN if interval is None else numbers.percent(interval.value)


def _short(value: float) -> str:
    return numbers.amount(float(f"{value:.3g}"))


def _curve(disclosure: am.Disclosure) -> RenderableType:
    table = elements.columns(right=("rounds seen", "bits", "right", "believed"))
    for one in _points(disclosure):
        bits = UNKNOWN if one.bits is None else _short(one.bits.value)
        table.add_row(f"{one.rounds:,}", bits, _share(one.right), _share(one.believed))
    return table


def _points(disclosure: am.Disclosure) -> list[CurvePoint]:
    """All points of a short curve; of a long one round numbers, the half-life and both ends."""
    curve = disclosure.curve
    if len(curve) <= _POINTS:
        return list(curve)
    chosen = {k * 10**e for e in range(10) for k in (1, 2, 5)}
    chosen |= {curve[0].rounds, curve[-1].rounds}
    half = disclosure.half_life_between
    if half is not None:
        chosen |= {int(half.low), int(half.high)}
    return [one for one in curve if one.rounds in chosen]


def _falls(disclosure: am.Disclosure, top: int) -> list[RenderableType]:
    users = disclosure.users
    if not users or disclosure.log.n_rounds < 2:
        return []
    shown = users if top == 0 else users[:top]
    table = elements.columns("user", "why", right=("messages", "half-life", "bits left", "right"))
    for one in shown:
        table.add_row(
            Text(text.name(one.user)),
            Text(one.why or "like others"),
            f"{one.messages:,}",
            UNKNOWN if one.half_life is None else _short(one.half_life),
            _short(one.bits),
            UNKNOWN if one.right is None else numbers.percent(one.right),
        )
    title = "Who falls first:" if disclosure.target is None else "The target:"
    screen = [elements.paragraph(title), elements.indented(table)]
    return screen + _more(len(users) - len(shown), "user")


def _pairs(disclosure: am.Disclosure, top: int) -> list[RenderableType]:
    pairs, log = disclosure.pairs, disclosure.log
    if not len(pairs.user):
        return []
    order = np.lexsort((pairs.behaviour, pairs.user, -pairs.probability.round(12)))
    shown = order if top == 0 else order[:top]
    column = "probability" if disclosure.method in _BELIEVE else "share"
    table = elements.columns("user", "behaviour", right=(column, "error"))
    for k in shown.tolist():
        table.add_row(
            Text(text.name(log.users[pairs.user[k]])),
            Text(text.name(log.behaviours[pairs.behaviour[k]])),
            numbers.percent(float(pairs.probability[k])),
            UNKNOWN if pairs.error is None else numbers.percent(float(pairs.error[k])),
        )
    screen = [elements.paragraph(_title(disclosure)), elements.indented(table)]
    return screen + _more(len(order) - len(shown), "pair", "; --csv FILE saves all")


def _title(disclosure: am.Disclosure) -> str:
    if disclosure.method == "presence":
        return "Who owns which pseudonym:"
    if disclosure.method == "exact":
        return "Who is a friend:"
    if disclosure.method == "gibbs":
        return "Who writes to whom, with the probability that a message of the user goes there:"
    return "Who writes to whom, as estimated shares of the user's messages:"


def _sets(disclosure: am.Disclosure, top: int) -> list[RenderableType]:
    """Sets of friends that explain all rounds, of the exact method."""
    sets = disclosure.friend_sets
    if sets is None or disclosure.sets is None:
        return []
    shown = sets if top == 0 else sets[:top]
    lines = [
        f"{text.names(friends, len(friends))} (weight {numbers.shown(weight)})"
        for friends, weight in shown
    ]
    explain = "explains" if disclosure.sets == 1 else "explain"
    title = f"{numbers.plural(disclosure.sets, 'set')} of friends {explain} all rounds:"
    return [elements.bullets(title, lines), *_more(disclosure.sets - len(shown), "set")]


def _more(number: int, noun: str, how: str = "") -> list[RenderableType]:
    if number <= 0:
        return []
    text = f"... and {numbers.plural(number, noun)} more; --top 0 shows all{how}."
    return [elements.paragraph(text)]


def _method(disclosure: am.Disclosure, learnt: bool) -> str:
    line = f"By {disclosure.method}: {METHODS[disclosure.method]}."
    if disclosure.sweeps is not None and disclosure.rhat is not None:
        line += f" {disclosure.sweeps:,} sweeps of all chains count, R-hat {disclosure.rhat:.3f}."
    if disclosure.strength is not None:
        alpha = disclosure.strength / max(len(disclosure.log.behaviours), 1)
        how = "learnt from the log" if learnt else "as told by --alpha"
        line += f" Prior of profiles: Dirichlet, alpha {alpha:.3g} a behaviour, {how}."
    seeded = disclosure.sweeps is not None
    return f"{line} Seed {disclosure.seed}." if seeded else line

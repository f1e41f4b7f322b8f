"""The figures that a designer looks at first, each with one line of meaning."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.audits import FIGURES, Audit, AuditFigure, confidence_of
from anonymatch.measures import Interval
from anonymatch.report.html.certainty import FigureText, amount, figure_text
from anonymatch.report.html.nouns import nouns
from anonymatch.report.text import shown

__all__ = ["KeyFigure", "anonymity_figures", "cost_figures"]

_UNKNOWN = FigureText("–", "not known: the source does not say")


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A card: what, how much, how sure, and what it means."""

    title: str
    text: FigureText
    meaning: str


_ANONYMITY = (
    "entropy",
    "entropy_5%",
    "entropy_1%",
    "min_entropy",
    "guessing_entropy",
    "identified",
    "below",
    "surest",
    "bits",
    "degree",
    "reached",
)
_BETTER = {"higher": "More is better.", "lower": "Less is better.", "": ""}


def anonymity_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """How well users are hidden.

    Examples
    --------
    >>> import anonymatch as am
    >>> for card in anonymity_figures(am.audit(am.complete(4)))[:1]:
    ...     print(card.title, card.text.line)
    Entropy per user 2 bits (exact up to rounding)
    """
    return tuple(_card(audit, FIGURES[key]) for key in _ANONYMITY)


def cost_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """What it is paid with.

    Examples
    --------
    >>> import anonymatch as am
    >>> [card.text.value for card in cost_figures(am.audit(am.complete(4)))]
    ['4', '–', '–', '–', '0']
    """
    words, cost = nouns(audit), audit.cost
    known = "as the truth in the log shows it, or else as its law says"
    return (
        _cost(
            audit,
            f"Candidates a {words.user}",
            cost.candidates,
            "",
            f"{words.behaviours.capitalize()} that fit, on average: more cover costs more.",
        ),
        _cost(
            audit,
            "Mean delay",
            cost.mean_delay,
            "seconds",
            f"Latency: how long what is sent is held back on average, {known}.",
        ),
        _cost(
            audit,
            "Longest delay",
            cost.longest_delay,
            "seconds",
            f"How long what is sent is held back at most, {known}.",
        ),
        _cost(
            audit,
            "Cover traffic",
            cost.cover,
            "share",
            "Dummy traffic: share of the messages out that are nobody's and only hide others.",
        ),
        _lost(audit),
    )


def _lost(audit: Audit) -> KeyFigure:
    users, number = nouns(audit).users.capitalize(), shown(audit.cost.lost)
    if audit.lost_is_expected:
        meaning = f"{users} that were lost on their way, by the probabilities of each."
        return KeyFigure("Lost", FigureText(f"about {number}", "expected number, rounded"), meaning)
    return KeyFigure("Lost", FigureText(number, "exact"), f"{users} that never came out.")


def _card(audit: Audit, figure: AuditFigure) -> KeyFigure:
    words, least = nouns(audit), amount(audit.threshold)
    meaning = f"{figure.meaning_for(words, least)}. {_BETTER[figure.better]}"
    title = figure.title_for(words, least)
    return KeyFigure(
        title[0].upper() + title[1:], _said(audit, figure), meaning[0].upper() + meaning[1:]
    )


def _said(audit: Audit, figure: AuditFigure) -> FigureText:
    if figure.key == "identified":
        return FigureText(f"{shown(audit.identified)} of {shown(audit.n_counted)}", "exact")
    value = figure.value(audit)
    if value is None:
        return FigureText("–", "not known")
    return figure_text(value, figure.unit, confidence=confidence_of(audit, figure), seed=audit.seed)


def _cost(audit: Audit, title: str, value: float | None, unit: str, meaning: str) -> KeyFigure:
    if value is None:
        return KeyFigure(title, _UNKNOWN, meaning)
    figure = Interval(value, value, value)
    return KeyFigure(title, figure_text(figure, unit, confidence=1.0, seed=audit.seed), meaning)

"""The figures that a designer looks at first, each with one line of meaning."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.audits import GROUPS, Audit, AuditFigure, FigureText, Show, shown_figures
from anonymatch.base.numbers import amount

__all__ = ["KeyFigure", "anonymity_figures", "cost_figures"]

_UNKNOWN = FigureText("–", "not known")
_BETTER = {"higher": " More is better.", "lower": " Less is better.", "": ""}


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A card: what, how much, how sure, and what it means."""

    title: str
    text: FigureText
    meaning: str

    @property
    def sure(self) -> str:
        """Its interval and how sure that is; nothing where it is exact, which the page says."""
        exact = self.text.sure.startswith("exact")
        return "; ".join(filter(None, (self.text.interval, "" if exact else self.text.sure)))


def anonymity_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """How well users are hidden.

    Examples
    --------
    >>> import anonymatch as am
    >>> for card in anonymity_figures(am.audit(am.complete(4)))[:1]:
    ...     print(card.title, card.text.line)
    Entropy per user 2 bits (exact up to rounding)
    """
    groups = (group for group in GROUPS if group != "cost")
    return tuple(
        _card(audit, each)
        for each in shown_figures(Show.HTML, *groups)
        if isinstance(audit, each.of) and (not each.only_if_known or each.value(audit) is not None)
    )


def cost_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """What it is paid with.

    Examples
    --------
    >>> import anonymatch as am
    >>> [card.text.value for card in cost_figures(am.audit(am.complete(4)))]
    ['4']
    """
    figures = shown_figures(Show.HTML, "cost")
    return tuple(_card(audit, each) for each in figures if isinstance(audit, each.of))


def _card(audit: Audit, figure: AuditFigure) -> KeyFigure:
    words, least = audit.observation.nouns, amount(audit.threshold)
    meaning = figure.meaning_for(words, least).removeprefix("cost: ")
    return KeyFigure(
        _capital(figure.title_for(words, least)),
        figure.text(audit) or _UNKNOWN,
        f"{_capital(meaning)}.{_BETTER[figure.better]}",
    )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]

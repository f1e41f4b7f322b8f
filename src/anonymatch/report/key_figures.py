"""The figures that a designer looks at first, each with one line of meaning."""

from __future__ import annotations

from dataclasses import dataclass

from anonymatch.audits.result import Audit
from anonymatch.measures.figure import Figure
from anonymatch.report.certainty import Said, amount, confidence_of, said
from anonymatch.report.nouns import nouns
from anonymatch.report.text import shown

__all__ = ["KeyFigure", "anonymity_figures", "cost_figures"]

_UNKNOWN = Said("–", "not known: the source does not say")


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A card: what, how much, how sure, and what it means."""

    title: str
    said: Said
    meaning: str


def anonymity_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """How well users are hidden.

    Examples
    --------
    >>> import anonymatch as am
    >>> for card in anonymity_figures(am.audit(am.complete(4)))[:2]:
    ...     print(card.title, card.said.line)
    Bits per user 1.146 (exact up to rounding)
    Identified users 0 of 4 (exact)
    """
    words = nouns(audit)
    least = amount(audit.threshold)
    return (
        _card(
            audit,
            "bits",
            f"Bits per {words.user}",
            audit.bits,
            "",
            f"How much doubt there is about who did what, shared out over all {words.users}: each "
            "bit doubles the explanations. More is better.",
        ),
        KeyFigure(
            f"Identified {words.users}",
            Said(f"{shown(audit.identified)} of {shown(audit.n_users)}", "exact"),
            "Only one explanation is left for them, so the attacker is certain. Should be none.",
        ),
        _card(
            audit,
            "below",
            f"Below {least}",
            audit.below,
            "share",
            f"Share of {words.users} that hide among fewer than {least} equally likely "
            f"{words.behaviours}. Less is better.",
        ),
        _card(
            audit,
            "surest",
            f"Worst {words.user}'s chance",
            audit.surest,
            "share",
            f"How often the attacker's best guess about the {words.user} that is worst off is "
            "right. Less is better.",
        ),
        _card(
            audit,
            "degree",
            "Degree of anonymity",
            audit.degree,
            "share",
            "The bits as a share of those if the attacker knew nothing: 0 % everybody is known, "
            "100 % nothing is.",
        ),
        _card(
            audit,
            "reached",
            "Share of the bound",
            audit.reached,
            "share",
            "The bits as a share of the most that these numbers of candidates allow: how well the "
            "cost is spent.",
        ),
    )


def cost_figures(audit: Audit) -> tuple[KeyFigure, ...]:
    """What it is paid with.

    Examples
    --------
    >>> import anonymatch as am
    >>> [card.said.value for card in cost_figures(am.audit(am.complete(4)))]
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
            f"How long what is sent is held back on average, {known}.",
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
            "Share of the messages out that are nobody's and only hide others.",
        ),
        KeyFigure(
            "Lost",
            Said(shown(cost.lost), "exact"),
            f"{words.users.capitalize()} that never came out.",
        ),
    )


def _card(
    audit: Audit, name: str, title: str, figure: Figure, unit: str, meaning: str
) -> KeyFigure:
    sure = said(figure, unit, confidence=confidence_of(audit, name), seed=audit.seed)
    return KeyFigure(title, sure, meaning)


def _cost(audit: Audit, title: str, value: float | None, unit: str, meaning: str) -> KeyFigure:
    if value is None:
        return KeyFigure(title, _UNKNOWN, meaning)
    figure = Figure(value, value, value)
    return KeyFigure(title, said(figure, unit, confidence=1.0, seed=audit.seed), meaning)

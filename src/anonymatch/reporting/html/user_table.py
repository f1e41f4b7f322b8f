"""The users of an audit as rows of a page, the worst first."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
import numpy.typing as npt

from anonymatch.audits import FIGURES, Audit, Worst, confidence_of, figure_text, sureness
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, shown
from anonymatch.base.text import label
from anonymatch.counting.measures import Range, UserFigures
from anonymatch.reporting.html.tables import Cell, HtmlTable

__all__ = [
    "ROWS",
    "name_cell",
    "number_cell",
    "probability_head",
    "unless_exact",
    "user_rows",
    "users_sure",
    "worst_table",
]

ROWS = 2000  # rows in a page; a table of more is a file of its own
_NAME = 60
_SIZES = ("hides among", "candidates", "possible")


def users_sure(audit: Audit) -> str:
    """How sure the figures of single users are.

    Examples
    --------
    >>> import anonymatch as am
    >>> users_sure(am.audit(am.complete(3)))
    'exact up to rounding'
    """
    known = audit.answers.users.known
    return sureness(confidence_of(audit, FIGURES["entropy"]), audit.seed, known=known)


def unless_exact(sure: str) -> str:
    """A sentence on how sure figures are, with a space before it; none if they are exact.

    That figures are exact is said once, above all of them.

    Examples
    --------
    >>> unless_exact("exact up to rounding"), unless_exact("estimated, 95 % sure, seed 3")
    ('', ' Estimated, 95 % sure, seed 3.')
    """
    return "" if sure.startswith("exact") else f" {sure[:1].upper()}{sure[1:]}."


def name_cell(name: Hashable | None, unknown: str = "–") -> Cell:
    """A name as it is, whatever it looks like.

    Examples
    --------
    >>> name_cell("12345678901234567").text, name_cell(None).text
    ('12345678901234567', '–')
    """
    return Cell(unknown if name is None else label(name, _NAME), False)


def number_cell(text: str) -> Cell:
    """A number that is written already."""
    return Cell(text, True)


def worst_table(audit: Audit) -> HtmlTable:
    """The worst users, each with its reason.

    Examples
    --------
    >>> import anonymatch as am
    >>> table = worst_table(am.audit(am.Graph.from_rows(["10", "11"])))
    >>> [cell.text for cell in table.rows[0]]
    ['0', '0', '100 %', '1', '1', '1', 'nothing but 0 fits']
    """
    heads = (
        Cell(audit.observation.nouns.user, False),
        Cell("best guess", False),
        *(Cell(name, True) for name in (probability_head(audit), *_SIZES)),
        Cell("why", False),
    )
    rows = tuple(
        (
            name_cell(one.user),
            name_cell(one.guess, "–" if one.probability is None else "lost"),
            number_cell(_probability(one)),
            number_cell(f"{'at least ' if one.probability is None else ''}{amount(one.effective)}"),
            number_cell(shown(one.candidates)),
            number_cell(shown(one.allowed)),
            Cell(one.reason, False),
        )
        for one in audit.worst
    )
    return HtmlTable(heads, rows, "")


def probability_head(audit: Audit) -> str:
    """What the column of guesses' probabilities is called: they may be given something."""
    return "probability if departed" if audit.departures_are_open else "probability"


def _probability(one: Worst) -> str:
    share = one.probability_departed
    return "–" if share is None else percent(share)


def user_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Name, guess, probability, set size, bits, candidates, possible ones of the worst 2,000.

    Those who are not counted come after all others.

    Examples
    --------
    >>> import anonymatch as am
    >>> user_rows(am.audit(am.complete(2)))[0]
    ('0', '0', '50 %', '2', '1', '2', '2')
    """
    users = audit.answers.users
    names, behaviours = users.users, users.behaviours
    order = _worst_first(users)[:ROWS]
    probabilities = _column(audit, users.surest, order, "share")
    sizes = _column(audit, users.effective, order, "")
    bits = _column(audit, users.shannon, order, "")
    lost = _first_place(audit)
    rows: list[tuple[str, ...]] = []
    for k, i in enumerate(order.tolist()):
        guess = int(users.guess[i])
        if np.isnan(users.probability.value[i]):
            guessed = "–"
        else:
            guessed = label(behaviours[guess], _NAME) if 0 <= guess < lost else "lost"
        rows.append(
            (
                label(names[i], _NAME),
                guessed,
                probabilities[k],
                sizes[k],
                bits[k],
                shown(int(users.degree[i])),
                shown(int(users.allowed[i])),
            )
        )
    return rows


def _worst_first(users: UserFigures) -> npt.NDArray[np.intp]:
    """The surest guess first, then the smallest set, as the audit ranks them."""
    surest = users.surest
    guessed = np.where(np.isnan(surest.value), surest.high, surest.value)
    return np.lexsort((users.effective.low.round(9), -guessed.round(12), ~users.counted))


def _first_place(audit: Audit) -> int:
    """Behaviours before it are real; the others are places for those that were lost."""
    behaviours = len(audit.answers.users.behaviours)
    return (
        behaviours - audit.observation.lost if audit.observation.graph is not None else behaviours
    )


def _column(audit: Audit, figures: Range, rows: npt.NDArray[np.intp], unit: str) -> list[str]:
    confidence = confidence_of(audit, FIGURES["entropy"])
    ends = zip(
        *(part[rows].tolist() for part in (figures.value, figures.low, figures.high)),
        strict=True,
    )
    return [
        figure_text(Interval(*three), unit, confidence=confidence, seed=audit.seed).short
        for three in ends
    ]

"""The users of an audit as tables of a report, the least anonymous first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch.audits.figures import FIGURES, confidence_of
from anonymatch.audits.result import Audit
from anonymatch.audits.wording import figure_text, sureness
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import shown
from anonymatch.base.text import label, name
from anonymatch.counting.measures import Range, UserFigures
from anonymatch.reporting.report import AMOUNT, COUNT, PLACES, SHARE, Column, Prominence, Table

__all__ = ["unless_exact", "user_rows", "user_tables", "users_sure"]

_ROWS = 2000  # rows in a page; a table of more is a separate file
_NAME = 60


def users_sure(audit: Audit) -> str:
    """Return how sure the figures of single users are.

    Examples
    --------
    >>> import anonymatch as am
    >>> users_sure(am.audit(am.complete(3)))
    'exact up to rounding'
    """
    known = audit.answers.users.known
    return sureness(confidence_of(audit, FIGURES["entropy"]), audit.seed, known=known)


def unless_exact(sure: str) -> str:
    """Return a sentence on how sure figures are, after a space; empty if they are exact.

    Examples
    --------
    >>> unless_exact("exact up to rounding"), unless_exact("estimated, 95 % sure, seed 3")
    ('', ' Estimated, 95 % sure, seed 3.')
    """
    return "" if sure.startswith("exact") else f" {sure[:1].upper()}{sure[1:]}."


def user_tables(audit: Audit, *, whole: bool) -> list[Table]:
    """Return the worst users with reasons, and if ``whole`` the first 2,000 of all users."""
    words, sure = audit.observation.nouns, unless_exact(users_sure(audit))
    head = "probability if departed" if audit.departures_are_open else "probability"
    made = []
    if audit.worst:
        made.append(_worst(audit, "if departed" if audit.departures_are_open else head))
    if not whole or not audit.n_users:
        return made
    rows = user_rows(audit)
    all_users = len(rows) == audit.n_users
    held = f"All {words.users}, the worst first."
    if not all_users:
        held = (
            f"The {_ROWS:,} worst of {audit.n_users:,} {words.users} are in this page; "
            "anonymatch audit --csv FILE writes all of them."
        )
    meaning = (
        f"{head.capitalize()}: that the best guess is right. Hides among: the number of equally "
        f"likely {words.behaviours}. Bits: the same as a power of two, the entropy of the "
        f"attacker's posterior. Candidates: {words.behaviours} that fit. Possible: the candidates "
        "that remain when everybody else must fit too."
    )
    titles = (head, "hides among", "bits", "candidates", "possible")
    made.append(
        Table(
            key="user",
            title=f"All {words.users}" if all_users else f"{len(rows):,} {words.users}",
            section="users",
            columns=(
                Column(words.user),
                Column("best guess"),
                *(Column(title, AMOUNT) for title in titles),
            ),
            rows=rows,
            caption=f"{held} {meaning}{sure}",
            sortable=True,
            linked=("entropy", 4),
            prominence=Prominence.DETAIL,
        )
    )
    return made


def _worst(audit: Audit, head: str) -> Table:
    title = "Worst off"
    if audit.departures_are_open:
        title += ", with the probability of the guess if the message departed"
    rows = []
    for one in audit.worst:
        known = one.probability is not None
        guess = ("(lost)" if known else "–") if one.guess is None else name(one.guess)
        size = one.effective if known else f"at least {PLACES.text(one.effective)}"
        chance = one.probability_departed
        numbers = (chance, size, one.candidates, one.allowed)
        rows.append((label(one.user, _NAME), label(guess, _NAME), *numbers, one.reason))
    return Table(
        key="worst",
        title=title,
        section="users",
        columns=(
            Column(audit.observation.nouns.user),
            Column("best guess"),
            Column(head, SHARE),
            Column("set size", PLACES),
            Column("candidates", COUNT, detail=True),
            Column("possible", COUNT, detail=True),
            Column("why"),
        ),
        rows=rows,
        brief=range(len(rows)),
        caption=f"The least anonymous, and why.{unless_exact(users_sure(audit))}",
    )


def user_rows(audit: Audit) -> list[tuple[str, ...]]:
    """Return name, guess, probability, set size, bits, candidates, possible of the worst 2,000.

    Those who are not counted come after all others.

    Examples
    --------
    >>> import anonymatch as am
    >>> user_rows(am.audit(am.complete(2)))[0]
    ('0', '0', '50 %', '2', '1', '2', '2')
    """
    users = audit.answers.users
    names, behaviours = users.users, users.behaviours
    order = _worst_first(users)[:_ROWS]
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

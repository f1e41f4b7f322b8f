"""One user of an audit: what fits, how likely, why, and what exposing this user would do."""

from __future__ import annotations

import math
from collections.abc import Hashable

from anonymatch.audits import Audit
from anonymatch.base.errors import InputError
from anonymatch.base.numbers import percent, shown
from anonymatch.base.text import label
from anonymatch.reporting import bipartite
from anonymatch.rings import RingAudit
from anonymatch.studio.charts import bar_chart
from anonymatch.studio.panel import bits_text
from anonymatch.studio.request import Why, why
from anonymatch.studio.widgets import box, chart, drawn_chart, figure, heading, table, text, tiles
from anonymatch.tables import TableAudit

__all__ = ["ask", "show_answer"]

_LN2 = math.log(2.0)
_BARS = 40  # candidates that are drawn


def ask(audit: Audit, user: Hashable | None, given: str) -> Why:
    """What is known about a user; InputError if there is none called so."""
    if user is None:
        raise InputError(
            f"there is no {audit.observation.nouns.user} {label(given)!r} in this file"
        )
    return why(audit, user)


def show_answer(audit: Audit, answer: Why) -> None:
    """Put it on the page."""
    words = audit.observation.nouns
    with box("section", "pane", id="about"):
        heading(label(answer.user), 3)
        tiles(_scores(audit, answer))
        text(_because(audit, answer), "p", "words")
        with box("div", "gallery free"):
            if answer.candidates and answer.candidates[0][1] is not None:
                made = bar_chart(
                    [(name, probability or 0.0) for name, probability in answer.candidates[:_BARS]],
                    title=_asked(audit, answer),
                    x_label="probability",
                    share=True,
                )
                caption = f"Probabilities of the {words.behaviours} that fit."
                if len(answer.candidates) > _BARS:
                    caption += f" The {_BARS} likeliest of {len(answer.candidates):,}."
                chart(drawn_chart(made, "candidates"), caption)
            if answer.around is not None:
                drawn = bipartite(
                    answer.around,
                    title=f"Who else fits what fits {label(answer.user)}",
                    users=[answer.user],
                    edges=[edge[:2] for edge in answer.around.to_edges() if edge[0] == answer.user],
                    headings=(words.users, words.behaviours),
                )
                figure(drawn, "around", f"Who else fits the same {words.behaviours}.")
        if answer.exposure is not None:
            heading("If the attacker learnt it", 4)
            table(
                ["it was", "probability", "ways left", "then identified too"],
                [
                    [
                        one.behaviour,
                        percent(float(one.probability)),
                        bits_text(one.log / _LN2),
                        ", ".join(label(user) for user in list(one.newly_forced)[:6])
                        + (" …" if len(one.newly_forced) > 6 else "")
                        or "nobody",
                    ]
                    for one in answer.exposure.outcomes
                ],
                "exposure",
                title=f"What exposing {label(answer.user)} would do",
            )


def _scores(audit: Audit, answer: Why) -> list[tuple[str, str, str]]:
    words = audit.observation.nouns
    rows = [
        (
            "Fit",
            shown(answer.degree),
            f"{words.behaviours} that fit this {words.user}, seen alone",
        ),
        (
            "Possible",
            shown(answer.allowed),
            f"of them, when every other {words.user} must fit too",
        ),
        (
            "Best guess is right",
            percent(answer.probability),
            "the attacker's probability to name the right one",
        ),
        (
            "Hides among",
            "not known" if answer.effective is None else f"{answer.effective:.3g}",
            f"as many equally likely {words.behaviours} would leave the same doubt",
        ),
    ]
    if answer.exposure is not None:
        others = float(answer.exposure.expected_forced)
        rows.append(
            (
                "If exposed",
                f"{percent(float(answer.exposure.share))} left",
                f"of all ways to match, on average; {others:.3g} others would be identified",
            )
        )
    return rows


def _asked(audit: Audit, answer: Why) -> str:
    """What probabilities of one user are about."""
    who = label(answer.user)
    if isinstance(audit, TableAudit):
        return f"Which row is that of {who}"
    if isinstance(audit, RingAudit):
        return f"Which output {who} spends"
    return f"What {who} may have done"


def _because(audit: Audit, answer: Why) -> str:
    words = audit.observation.nouns
    who = label(answer.user)
    if answer.allowed == 1:
        return f"{who} is identified, because {answer.reason or 'nothing else is left'}."
    if answer.allowed < answer.degree:
        lost = answer.degree - answer.allowed
        return (
            f"{lost} of {answer.degree} {words.behaviours} that fit {who} can only be somebody "
            f"else's: without them others would be left with nothing. {answer.allowed} remain."
        )
    return f"All {answer.degree} {words.behaviours} that fit {who} remain possible."

"""One user of an audit: what fits, how likely, why, and what exposing this user would do."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

from anonymatch.audits import Audit, identified
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.numbers import percent, shown
from anonymatch.base.text import label
from anonymatch.graph import Graph
from anonymatch.reporting import LARGEST, bipartite
from anonymatch.rings import RingAudit
from anonymatch.studio import widgets as w
from anonymatch.studio.panel import bits_text
from anonymatch.studio.tuning import TUNING
from anonymatch.tables import TableAudit
from anonymatch.theory.attacks import Exposure, exposure

_LN2 = math.log(2.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Why:
    """What an attacker knows about one user, and why.

    ``candidates`` are compatible behaviours with their probabilities, the likeliest first. There
    are ``degree`` of them, and ``allowed`` remain if all users must be matched. ``effective`` is
    the effective anonymity set, ``probability`` that of the best guess, and ``reason`` why the user
    is identified. ``around`` has all users who share a candidate, if they can be drawn.
    """

    user: Hashable
    candidates: tuple[tuple[Hashable, float | None], ...]
    degree: int
    allowed: int
    effective: float | None
    probability: float | None
    reason: str
    exposure: Exposure | None
    around: Graph | None


def why(audit: Audit, user: Hashable) -> Why:
    """What an attacker knows about a user of an audit, and what follows.

    Examples
    --------
    >>> import anonymatch as am
    >>> audit = am.audit(am.Graph.from_edges([("ann", "x"), ("bob", "x"), ("bob", "y")]))
    >>> bob = why(audit, "bob")
    >>> bob.candidates, bob.reason
    ((('y', 1.0), ('x', 0.0)), 'nobody else fits y')
    """
    users = audit.answers.users
    row = list(users.users).index(user)
    graph = audit.observation.graph
    probability, effective = float(users.probability.value[row]), float(users.effective.value[row])
    return Why(
        user=user,
        candidates=_candidates(audit, row),
        degree=int(users.degree[row]),
        allowed=int(users.allowed[row]),
        effective=None if effective != effective else effective,
        probability=None if probability != probability else probability,
        reason=_reason(audit, row),
        exposure=_exposure(audit, user),
        around=None if graph is None else _around(graph, user),
    )


def _candidates(audit: Audit, row: int) -> tuple[tuple[Hashable, float | None], ...]:
    graph, probabilities = audit.observation.graph, audit.answers.probabilities
    if graph is None:
        return ()
    begin, end = graph.indptr[row : row + 2].tolist()
    names = [graph.behaviours[j] for j in graph.indices[begin:end].tolist()]
    if probabilities is None:
        return tuple((name, None) for name in names)
    values = probabilities.probabilities[begin:end].tolist()
    return tuple(sorted(zip(names, values, strict=True), key=lambda pair: -pair[1]))


def _reason(audit: Audit, row: int) -> str:
    users = audit.answers.users
    user = users.users[row]
    if users.allowed[row] != 1:
        return ""
    for one in audit.worst:
        if one.user == user:
            return one.reason
    graph = audit.observation.graph
    if graph is None:
        fits_more = int(audit.answers.users.degree[row]) > 1
        if isinstance(audit, TableAudit):
            return "other rows are needed by others" if fits_more else "no other row fits"
        return "nobody else was inside"
    return next((one.reason for one in identified(graph) if one.user == user), "")


def _exposure(audit: Audit, user: Hashable) -> Exposure | None:
    graph = audit.observation.graph
    if graph is None or audit.observation.lost:
        return None
    try:
        return exposure(graph, user, budget=TUNING.exposure_seconds)
    except BudgetError:
        return None


def _around(graph: Graph, user: Hashable) -> Graph | None:
    """Everybody who fits one of the user's behaviours, with these edges only."""
    if graph.n_edges > TUNING.searched_edges:
        return None
    row = graph.user_index(user)
    mine = set(graph.indices[graph.indptr[row] : graph.indptr[row + 1]].tolist())
    pairs = [
        (i, j)
        for i, j in zip(graph.rows().tolist(), graph.indices.tolist(), strict=True)
        if j in mine
    ]
    others = {i for i, _ in pairs}
    if max(len(others), len(mine)) > LARGEST or len(pairs) > 400:
        return None
    return Graph.from_edges([(graph.users[i], graph.behaviours[j]) for i, j in pairs])


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
    with w.box("section", "pane", id="about"):
        w.heading(label(answer.user), 3)
        w.tiles(_scores(audit, answer))
        w.text(_because(audit, answer), "p", "words")
        with w.box("div", "gallery free"):
            if answer.candidates and answer.candidates[0][1] is not None:
                rows = [(name, share or 0.0) for name, share in answer.candidates[: TUNING.bars]]
                title = _asked(audit, answer)
                caption = f"Probabilities of the {words.behaviours} that fit."
                if len(answer.candidates) > TUNING.bars:
                    caption += f" The {TUNING.bars} likeliest of {len(answer.candidates):,}."
                w.chart(
                    partial(w.bar_chart, rows, title=title, x_label="probability", share=True),
                    "candidates",
                    caption,
                )
            if answer.around is not None:
                drawn = bipartite(
                    answer.around,
                    title=f"Who else fits what fits {label(answer.user)}",
                    users=[answer.user],
                    edges=[edge[:2] for edge in answer.around.to_edges() if edge[0] == answer.user],
                    headings=(words.users, words.behaviours),
                )
                w.figure(drawn, "around", f"Who else fits the same {words.behaviours}.")
        if answer.exposure is not None:
            w.heading("If the attacker learnt it", 4)
            w.table(
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

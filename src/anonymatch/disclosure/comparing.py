"""All attacks on one log, side by side."""

from __future__ import annotations

import os
from collections.abc import Hashable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument, Message, name
from anonymatch.disclosure.disclosing import METHODS, rounds
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.result import Disclosure
from anonymatch.disclosure.wording import log_size
from anonymatch.reporting.report import (
    PLACES,
    SHARE,
    Column,
    Note,
    Provenance,
    Report,
    Section,
    Table,
)
from anonymatch.running import Budget, Progress, StagedProgress

__all__ = [
    "ComparedMethod",
    "MethodComparison",
    "compare_methods",
    "methods_report",
    "squared_distance",
]

_NONE = Message()


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedMethod:
    """What one attack reaches.

    Attributes
    ----------
    method : str
    right : Interval or None
        Share of best guesses that are right, if the truth is known.
    squared_distance : float or None
        Of its profiles from those of the known links, summed over behaviours, mean over users.
    believed : Interval or None
        What it believes that share to be; only of methods whose probabilities can be trusted.
    reason : Message
        Why there is no answer; empty if there is one.
    """

    method: str
    right: Interval | None = None
    squared_distance: float | None = None
    believed: Interval | None = None
    reason: Message = _NONE


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodComparison:
    """What attacks reach on one log: all of them, in the order of :data:`METHODS`."""

    log: RoundLog
    methods: tuple[ComparedMethod, ...]
    target: Hashable | None
    seed: int
    notes: tuple[str, ...]


_COMPARED = (
    "right: share of messages whose best guess is the true receiver. squared distance: of profiles "
    "from those of the known links, summed over behaviours, mean over users; less is better. "
    "believed: the attacker's own estimate of that share, if the method gives one."
)
_NO_TRUTH = (
    "The log does not record which message is which (column message), so that nothing can be "
    "scored. believed: the share of best guesses that the attacker believes to be right, if the "
    "method gives one."
)


def methods_report(comparison: MethodComparison) -> Report:
    """Return what every method reaches on one log, one row per method."""
    missing = [one for one in comparison.methods if one.reason]
    rows = [
        (one.method, METHODS[one.method], one.right, one.squared_distance, one.believed)
        for one in comparison.methods
        if not one.reason
    ]
    table = Table(
        key="methods",
        title="",
        section="methods",
        columns=(
            Column("method"),
            Column("attack"),
            Column("right", SHARE),
            Column("squared distance", PLACES),
            Column("believed", SHARE),
        ),
        rows=rows,
        brief=range(len(rows)),
    )
    notes = [Note(text=text) for text in comparison.notes]
    notes.append(
        Note(text=_NO_TRUTH if comparison.log.truth is None else _COMPARED, section="methods")
    )
    for one in missing:
        text = f"Out of reach: {one.method}: "
        notes.append(Note(text=Message(text, one.reason), section="methods"))
    whom = "" if comparison.target is None else f", only {name(comparison.target)}"
    return Report(
        title="Methods compared",
        subject=f"{log_size(comparison.log)}{whom}",
        tables=(table,),
        notes=notes,
        sections=(Section("methods", "Methods"),),
        provenance=Provenance(sentences=(f"Seed {comparison.seed}.",)),
    )


def compare_methods(
    log: RoundLog | str | os.PathLike[str],
    *,
    target: Hashable | None = None,
    friends: int | None = None,
    alpha: float | None = None,
    seed: int = 0,
    budget: Budget | float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **more: Any,
) -> MethodComparison:
    """Every attack that reaches on one log; arguments are those of :func:`rounds`.

    ``exact`` takes part if there are ``friends``; ``presence`` answers another question, and never
    does.

    Examples
    --------
    >>> from anonymatch.disclosure import synthesize_rounds
    >>> log = synthesize_rounds(20, friends=1, users=8, batch=3, seed=1)
    >>> gibbs = compare_methods(log, budget=2.0).methods[0]
    >>> gibbs.method, gibbs.right.value > 0.9, gibbs.squared_distance < 0.2
    ('gibbs', True, True)
    """
    if friends is not None and target is None:
        raise InputError("exact needs a target; name a user with ", Argument("target"))
    bar = StagedProgress(progress, 0.0)
    rows, result = [], None
    for method in METHODS:
        if method == "presence" or (method == "exact" and friends is None):
            continue
        own: dict[str, Any] = {"alpha": alpha} if method == "gibbs" else {}
        if method == "exact":
            own["friends"] = friends
        try:
            result = rounds(
                log,
                method=method,
                target=target,
                decay=False,
                seed=seed,
                budget=budget,
                executor=executor,
                progress=bar.stage(),
                **own,
                **more,
            )
        except (BudgetError, InputError) as error:
            if isinstance(error, InputError) and method == "gibbs":
                raise  # it takes every log, so that something else is wrong
            rows.append(ComparedMethod(method=method, reason=error.message))
            continue
        rows.append(
            ComparedMethod(
                method=method,
                right=result.curve[-1].right if result.curve else None,
                squared_distance=squared_distance(result),
                believed=result.curve[-1].believed if result.curve else None,
            )
        )
    bar.finish()
    if result is None:
        raise InputError("no method reaches: ", rows[0].reason)
    return MethodComparison(
        log=result.log, methods=tuple(rows), target=target, seed=seed, notes=result.notes
    )


def squared_distance(disclosure: Disclosure) -> float | None:
    """Of profiles from those of the known links: summed over behaviours, mean over users.

    None if nothing is known of the users whose profiles there are.
    """
    log, pairs = disclosure.log, disclosure.pairs
    truth = log.true_receivers()
    if truth is None:
        return None
    known = truth >= 0
    sender, receiver = log.sender[known].astype(np.int64), truth[known]
    sent = np.bincount(sender, minlength=len(log.users))
    told = np.zeros(len(log.users), dtype=np.bool_)
    told[pairs.user] = True
    users = told & (sent > 0)
    if not users.any():
        return None
    links, times = np.unique(sender * len(log.behaviours) + receiver, return_counts=True)
    owner = links // len(log.behaviours)
    share = times / sent[owner]
    keys = pairs.user.astype(np.int64) * len(log.behaviours) + pairs.behaviour
    values = pairs.probability
    if disclosure.method == "exact":  # probabilities of friends, each of whom gets as much
        values = values / values.sum()
    at = np.searchsorted(links, keys).clip(max=len(links) - 1)
    there = np.where(links[at] == keys, share[at], 0.0)
    mine, his = users[pairs.user], users[owner]
    # (p - q)^2 over pairs that have a p, and q^2 over those that have none.
    apart = ((values - there)[mine] ** 2).sum() + (share[his] ** 2).sum() - (there[mine] ** 2).sum()
    return float(max(apart, 0.0) / users.sum())

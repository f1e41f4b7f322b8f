"""The users who are worst off, and the reason for each."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.audits.answers import Answers, TableAnswers, chosen_of
from anonymatch.audits.identification import identified
from anonymatch.audits.parts import Worst
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.text import name, several
from anonymatch.counting.measures import LOST, Range, UserFigures
from anonymatch.mixes import Network, Observation, network_of
from anonymatch.tables import Links

__all__ = ["worst"]

_GONE = "nothing that came out can be this message"
_MOST_WORK = 100_000_000  # pairs that searches for who needs a row may touch: a second or two
_FEW = 5  # candidates that are worth saying
_EVEN = 1e-9  # bits by which equal probabilities may differ in doubles


def worst(observation: Observation, answers: Answers, most: int) -> tuple[Worst, ...]:
    """Up to ``most`` counted users: the surest guess first, then the smallest set."""
    users = answers.users
    counted = np.flatnonzero(users.counted)
    surest, sizes = users.surest.at(counted), users.effective.at(counted)
    # Of whom little is known comes after those of whom something bad is.
    probability = np.where(np.isnan(surest.value), surest.low, surest.value)
    size = np.where(np.isnan(sizes.value), sizes.high, sizes.value)
    order = counted[_first(most, -probability.round(12), size.round(9))]
    # Whoever is not counted may be forced too, and comes first in the order of the graph.
    forced = int(np.count_nonzero(~users.counted & (users.allowed <= 1)))
    network = network_of(observation)
    if network is not None:
        reasons = _network_reasons(network, answers, order)
    elif isinstance(answers, TableAnswers):
        reasons = _release_reasons(answers.table, answers.users, order)
    else:
        reasons = _reasons(observation, len(order) + forced)
    return tuple(_one(int(i), answers, reasons) for i in order.tolist())


def _first(most: int, keys: Floats, then: Floats) -> Ints:
    """Positions of the smallest keys, in order; of equal ones those that are smaller then."""
    near = np.arange(len(keys))
    if most < len(keys):
        near = np.flatnonzero(~(keys > np.partition(keys, most)[most]))
    return near[np.lexsort((then[near], keys[near]))[:most]]


def _one(i: int, answers: Answers, reasons: dict[object, str]) -> Worst:
    users = answers.users
    known = not np.isnan(users.probability.value[i])
    guess = int(users.guess[i])
    user = users.users[i]
    guessed = users.behaviours[guess] if known and guess >= 0 else None
    candidates, allowed = int(users.degree[i]), int(users.allowed[i])
    return Worst(
        user=user,
        guess=guessed,
        probability=float(users.probability.value[i]) if known else None,
        probability_departed=_if_departed(users, i) if known else None,
        effective=float(users.effective.value[i] if known else users.effective.low[i]),
        candidates=candidates,
        allowed=allowed,
        reason=_GONE
        if guess == LOST and allowed == 1
        else reasons.get(user)
        or _open(candidates, allowed, guessed)
        or _spread(users.min_entropy, i, allowed, known),
    )


def _if_departed(users: UserFigures, i: int) -> float:
    figures = users.surest if users.present is None else users.probability_if_present
    return float(figures.value[i])


def _network_reasons(network: Network, answers: Answers, order: Ints) -> dict[object, str]:
    """Why messages of a network stand out: whom they met first, if no packet is lost or made."""
    if network.rates is not None:
        return {}
    mixes, sizes = network.links.first_met()
    every = chosen_of(answers)
    chosen = order if every is None else every[order]
    users = answers.users
    reasons: dict[object, str] = {}
    for i, mix, size in zip(
        order.tolist(), mixes[chosen].tolist(), sizes[chosen].tolist(), strict=True
    ):
        mixed = name(network.mixes[mix]) if mix >= 0 else ""
        if mix < 0:
            why = "met no mix that is not corrupt"
        elif users.allowed[i] == 1:
            why = "alone in every mix"
        elif size == 1:
            why = f"came into {mixed} when it was empty"
        else:
            why = f"met {several(size - 1, 'other')} in {mixed}"
        reasons[users.users[i]] = why
    return reasons


def _release_reasons(links: Links, users: UserFigures, order: Ints) -> dict[object, str]:
    """Why people have one row alone, by who needs the others that fit."""
    release = links.release
    by_kind: dict[int, str] = {}
    reasons: dict[object, str] = {}
    for i in order[users.allowed[order] == 1].tolist():
        kind, row, person = int(release.kind_of[i]), int(users.guess[i]), users.users[i]
        if row == LOST:
            continue
        if kind not in by_kind and len(by_kind) * len(links.kinds) <= _MOST_WORK:
            by_kind[kind] = _why_one_row(links, kind, row)
        reasons[person] = by_kind.get(kind, "the other rows that fit are needed by others")
    return reasons


def _why_one_row(links: Links, kind: int, row: int) -> str:
    release = links.release
    # A row that only one person fits is theirs if every row is somebody's.
    if (
        not release.spare
        and release.rows_that_fit[kind] + release.lost > 1
        and release.people_that_fit[release.class_of[row]] == 1
    ):
        return f"nobody else fits row {row + 1}"
    others = links.needed_by_others(kind)
    if not len(others.people):
        return f"nothing but row {row + 1} fits"
    return f"the other rows that fit can only belong to {others.who}"


def _reasons(observation: Observation, most: int) -> dict[object, str]:
    """Why users are identified, by user."""
    if observation.graph is None:
        return {}
    # Identified users come first in the order of the graph; those beyond ``most`` are not shown.
    return {one.user: one.reason for one in identified(observation.graph, most)}


def _open(candidates: int, allowed: int, guess: object) -> str:
    """Why somebody who is not forced in a graph stands out; "" if numbers do not say it."""
    if allowed == 1 and candidates > 1:
        return "nobody else was inside" if guess is not None else "the others are needed elsewhere"
    if allowed < candidates:
        rest = several(candidates - allowed, "candidate")
        return f"{rest} of {candidates} can only be somebody else's; {allowed} are left"
    if allowed == 1:
        return "nothing else fits" if guess is None else f"nothing but {name(guess)} fits"
    if allowed <= _FEW:
        return f"only {several(allowed, 'candidate')}"
    return ""


def _spread(min_entropy: Range, i: int, allowed: int, known: bool) -> str:
    """How likely many candidates are: even if the likeliest is no more likely than all would be."""
    even = math.log2(allowed)
    if min_entropy.low[i] >= even - _EVEN:
        return f"{several(allowed, 'candidate')}, all equally likely"
    if min_entropy.high[i] < even - _EVEN:
        return "uneven probabilities"
    return "probabilities are known only roughly" if known else "probabilities are not known"

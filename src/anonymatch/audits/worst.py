"""The users who are worst off, and the reason for each."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import Answers, TableAnswers, chosen_of
from anonymatch.audits.parts import Worst
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.text import name, names, several
from anonymatch.counting.measures import LOST, Range, UserFigures
from anonymatch.graph import Graph, forced, structure
from anonymatch.mixes import Network, Observation, network_of
from anonymatch.tables import Links

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Identified", "identified", "worst"]

_GONE = "nothing that came out can be this message"
_MOST_WORK = 100_000_000  # pairs that searches for who needs a row may touch: a second or two
_NAMED = 4  # of a reason
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


# ---- users who are identified, and why


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """A user who is in the same pair in every perfect matching."""

    user: Hashable
    behaviour: Hashable
    reason: str


def identified(graph: Graph, most: int | None = None) -> list[Identified]:
    """The pairs that are in every perfect matching, up to ``most``, each with its reason.

    Examples
    --------
    >>> [pair.reason for pair in identified(Graph.from_rows(["110", "110", "111"]))]
    ['nobody else fits 2']
    >>> [pair.reason for pair in identified(Graph.from_rows(["1100", "1100", "0110"]))]
    ['what else fits is needed by 0, 1, who fit nothing else']
    """
    degrees, suitors = graph.degrees.tolist(), graph.behaviour_degrees.tolist()
    square = graph.n_users == graph.n_behaviours
    search: _Rivals | None = None
    pairs = []
    for user, behaviour in forced(graph)[:most]:
        row = graph.user_index(user)
        if degrees[row] == 1:
            reason = f"nothing but {name(behaviour)} fits"
        elif square and suitors[graph.behaviour_index(behaviour)] == 1:
            reason = f"nobody else fits {name(behaviour)}"
        else:
            search = search or _Rivals(graph)
            reason = search.reason(row, graph.behaviour_index(behaviour))
        pairs.append(Identified(user=user, behaviour=behaviour, reason=reason))
    return pairs


class _Rivals:
    """Who needs what else fits an identified user: Hall's witness once their pair is taken out.

    From the user, every step goes to a behaviour that fits and on to the user whom some matching
    gives it to. Those who are reached fit only what they have themselves, in any matching. If there
    are as many users as behaviours, the same holds the other way round: who else fits the behaviour
    is needed for others, which nobody else fits. The reason
    names this case only if the users are too many to list.
    """

    def __init__(self, graph: Graph) -> None:
        from scipy.sparse import csr_array

        matched = structure(graph)
        owners = matched.user_of_behaviour[graph.indices]
        owned = owners >= 0  # spare behaviours are beyond the reach of identified users
        starts = np.concatenate(([0], np.cumsum(owned)))[graph.indptr]
        owners = owners[owned]
        shape = (graph.n_users, graph.n_users)
        self._steps = csr_array((np.ones(len(owners)), owners, starts), shape=shape)
        self._graph, self._work = graph, 0
        self._back: csr_array | None = None
        if graph.n_users == graph.n_behaviours:
            users = np.repeat(np.arange(graph.n_users), graph.degrees)
            ends = graph.indices, matched.behaviour_of_user[users]
            self._back = csr_array((np.ones(len(users)), ends), shape=shape)

    def reason(self, user: int, behaviour: int) -> str:
        """Why a user has a behaviour, by the side that has the fewer to name."""
        graph = self._graph
        others = self._reached(self._steps, user)
        if len(others) > _NAMED and self._back is not None:
            needs = self._reached(self._back, behaviour)
            if 0 < len(needs) < len(others):
                what = _some(graph.behaviours, needs)
                fitted = name(graph.behaviours[behaviour])
                return f"who else fits {fitted} is needed for {what}, which nobody else fits"
        who = _some(graph.users, others) if len(others) else "others"
        fit = "fits" if len(others) == 1 else "fit"
        return f"what else fits is needed by {who}, who {fit} nothing else"

    def _reached(self, steps: csr_array, start: int) -> npt.NDArray[np.int32]:
        """Indices in order; none when the work that all searches may take is used up."""
        if self._work > _MOST_WORK:
            return np.zeros(0, np.int32)
        from scipy.sparse.csgraph import breadth_first_order

        reached = breadth_first_order(steps, start, return_predecessors=False)
        self._work += steps.shape[0] + int(np.diff(steps.indptr)[reached].sum())
        return np.sort(reached[1:])


def _some(labels: Sequence[Hashable], which: npt.NDArray[np.int32]) -> str:
    """Some of them by name."""
    return names([labels[i] for i in which[:_NAMED].tolist()], total=len(which))

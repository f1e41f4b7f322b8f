"""Exposures one after another: what is left of the whole system at each step."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import Answers, NetworkAnswers, Resources, links_of
from anonymatch.audits.parts import Campaign, CampaignStep
from anonymatch.audits.result import Audit
from anonymatch.base.errors import BudgetError
from anonymatch.counting.measures import system
from anonymatch.graph import Graph, structure
from anonymatch.mixes import Observation, Passage, exponential_mix_inside, passage_of, stay_of
from anonymatch.running import Budget
from anonymatch.theory import attacks

__all__ = ["campaign", "campaign_on"]

_LN2 = math.log(2.0)
_SHARE = 0.02  # of the budget
_SECONDS = 5.0  # for an attack on some users

_ONE_A_BLOCK = (
    "one user in each block, the best target there: to follow an attacker who returns to a block "
    "would take too long"
)

Ints = npt.NDArray[np.int64]


def campaign(
    observation: Observation, answers: Answers, steps: int, resources: Resources
) -> Campaign:
    """Up to ``steps`` exposures along the log's truth, or along one drawn from the
    probabilities.
    """
    if steps == 0:
        return Campaign(reason="no steps were asked for")
    reason = _not_followed(observation, answers)
    if reason:
        return Campaign(reason=reason)
    passage = passage_of(observation)
    if passage is not None:
        return _through_passage(passage, observation.truth, steps, resources.seed)
    assert observation.graph is not None
    return _through_graph(observation.graph, observation.truth, answers, steps, resources)


def campaign_on(
    audit: Audit, users: Iterable[Hashable], *, steps: int = 10, seconds: float = _SECONDS
) -> Campaign:
    """The same for an attacker who exposes some users only: the best of them at each step, as
    things stand then. Where that would take too long there are no steps, and ``reason`` says so.

    Parameters
    ----------
    audit : Audit
    users : iterable of names
        Who may be exposed.
    steps : int
    seconds : float
        That it may take.

    Examples
    --------
    >>> import anonymatch as am
    >>> exposed = campaign_on(am.audit(am.ring(4, 2)), [2, 3])
    >>> [(step.target, step.bits_left) for step in exposed.steps]
    [(2, 0.0)]
    """
    observation, answers = audit.observation, audit.answers
    wanted = set(users)
    among = np.array([user in wanted for user in answers.users.users], dtype=np.bool_)
    reason = _not_followed(observation, answers)
    if reason or not among.any():
        return Campaign(reason=reason or "nobody may be exposed")
    passage = passage_of(observation)
    if passage is not None:
        return _through_passage(passage, observation.truth, steps, audit.seed, among=among)
    assert observation.graph is not None
    unknown = np.flatnonzero(among & (answers.users.renyi2.value > 0))
    targets = [answers.users.users[i] for i in unknown.tolist()]
    if not targets:
        return Campaign(reason="they are identified already")
    resources = Resources(budget=Budget(seconds=seconds / _SHARE), seed=audit.seed)
    number = min(steps, len(targets))
    return _through_graph(
        observation.graph, observation.truth, answers, number, resources, targets=targets
    )


def _not_followed(observation: Observation, answers: Answers) -> str:
    """Why exposures cannot be followed; "" if they can."""
    if not len(answers.users.users):
        return "there are no users"
    if isinstance(answers, NetworkAnswers):
        return "exposures in a network of mixes are not followed"
    if links_of(answers) is not None:
        return "losses, cover or an end of the log leave open who is inside"
    graph = observation.graph
    if graph is None:
        return ""
    if not answers.users.known or answers.confidence < 1.0:
        return "probabilities are not known exactly"
    if graph.weighted:
        return "with weights, see 'anonymatch attack'"
    if observation.lost > 1 or (observation.lost and graph.n_behaviours > graph.n_users):
        return "messages were lost, whose places are not told apart"
    return ""


# ---- a graph


def _through_graph(
    graph: Graph,
    truth: Ints | None,
    answers: Answers,
    steps: int,
    resources: Resources,
    *,
    targets: list[Hashable] | None = None,
) -> Campaign:
    """Only blocks that the attacker may turn to are looked at: those with the best targets."""
    part, users, behaviours = _best_blocks(graph, answers, steps, targets)
    given = None if truth is None else _local_truth(truth[users], behaviours, part)
    outside = int((answers.users.allowed > 1).sum()) - int((answers.users.allowed[users] > 1).sum())
    if _complete(part) and targets is None:
        rest = 0.0  # unless there are other blocks
        if part is not graph:
            rest = answers.entropy.value - system.full_log(part.n_users, part.n_behaviours)
        done = _through_complete(part, steps, rest, outside)
        return _followed(done, resources.seed, given=given is not None)
    try:
        attack = attacks.attack(
            part,
            steps=min(steps, part.n_users),
            among=targets,
            truth="sampled" if given is None else given,
            exact=False,
            seed=resources.seed,
            budget=replace(resources.budget, seconds=_SHARE * resources.budget.seconds),
            executor=resources.executor,
        )
    except BudgetError:
        if targets is not None:
            return Campaign(reason="to follow the attacker would take too long")
        return _one_a_block(graph, truth, answers, steps, resources)
    rest = answers.entropy.value - attack.start.log
    done = [
        CampaignStep(
            number=step.number,
            target=step.target,
            bits_left=max(rest + (step.log or 0.0), 0.0) / _LN2,
            in_doubt=None if step.in_doubt is None else outside + int(step.in_doubt),
        )
        for step in attack.steps
    ]
    return _followed(done, resources.seed, given=given is not None)


def _followed(steps: list[CampaignStep], seed: int, *, given: bool, reason: str = "") -> Campaign:
    """A campaign along the log's ground truth (``given``), or along one drawn with the seed."""
    return Campaign(
        steps=tuple(steps),
        truth="given" if given else "sampled",
        seed=None if given else seed,
        reason=reason if steps else "everybody is identified already",
    )


def _complete(graph: Graph) -> bool:
    return graph.n_edges == graph.n_users * graph.n_behaviours


def _through_complete(part: Graph, steps: int, rest: float, outside: int) -> list[CampaignStep]:
    """Closed form of the attack on a complete block: every exposure leaves a complete block.

    attack() follows 1000 users in a second and 2500 in ten.
    """
    done = []
    for number in range(1, min(steps, part.n_users) + 1):
        users, behaviours = part.n_users - number, part.n_behaviours - number
        if behaviours < 1:  # it was known before
            break
        done.append(
            CampaignStep(
                number=number,
                target=part.users[number - 1],
                bits_left=max(rest + system.full_log(users, behaviours), 0.0) / _LN2,
                in_doubt=outside + (users if behaviours > 1 else 0),
            )
        )
    return done


def _one_a_block(
    graph: Graph, truth: Ints | None, answers: Answers, steps: int, resources: Resources
) -> Campaign:
    """The best target of each block, the best block first: blocks do not touch each other.

    So the probabilities that are known say what is left, and nothing is counted again.
    """
    assert answers.probabilities is not None
    block = structure(graph).block_of_user
    doubt = answers.users.renyi2.value
    best_first = np.argsort(-doubt, kind="stable")
    _, firsts = np.unique(block[best_first], return_index=True)
    targets = best_first[np.sort(firsts)[:steps]]
    draws = np.random.default_rng([resources.seed, 78])
    left = answers.entropy.value / _LN2
    given = truth is not None and bool((truth[targets] >= 0).all())
    done = []
    for number, user in enumerate(targets[doubt[targets] > 0].tolist(), start=1):
        edges = slice(graph.indptr[user], graph.indptr[user + 1])
        probabilities = answers.probabilities.probabilities[edges]
        if given and truth is not None:
            probability = float(probabilities[graph.indices[edges] == truth[user]].sum())
        else:
            probability = float(draws.choice(probabilities, p=probabilities / probabilities.sum()))
        if probability <= 0.0:
            return Campaign(reason="the truth in the log does not fit the law")
        left += math.log2(probability)
        target = graph.users[user]
        done.append(
            CampaignStep(number=number, target=target, bits_left=max(left, 0.0), in_doubt=None)
        )
    return _followed(done, resources.seed, given=given, reason=_ONE_A_BLOCK)


def _best_blocks(
    graph: Graph, answers: Answers, steps: int, targets: list[Hashable] | None
) -> tuple[Graph, Ints, Ints]:
    """The blocks of the ``steps`` best first targets in different blocks, or of given ones.

    An exposure changes its own block only. So whom a greedy attacker turns to next is in a block
    already touched, or is the best of another one, of which no more than ``steps`` are needed.
    """
    shape = structure(graph)
    chosen = np.zeros(shape.n_blocks, dtype=bool)
    if targets is None:
        best = np.zeros(shape.n_blocks)
        np.maximum.at(best, shape.block_of_user, answers.users.renyi2.value)
        chosen[np.argsort(-best, kind="stable")[:steps]] = True
    else:
        chosen[shape.block_of_user[[graph.user_index(user) for user in targets]]] = True
    users = np.flatnonzero(chosen[shape.block_of_user]).astype(np.int64)
    inside = shape.block_of_behaviour >= 0
    inside[inside] = chosen[shape.block_of_behaviour[inside]]
    behaviours = np.flatnonzero(inside).astype(np.int64)
    if len(users) == graph.n_users and len(behaviours) == graph.n_behaviours:
        return graph, users, behaviours
    return graph.take(users, behaviours), users, behaviours


def _local_truth(truth: Ints, behaviours: Ints, part: Graph) -> Ints | None:
    """The truth in numbers of the part; None if it is not a perfect matching of it."""
    if (truth < 0).any() or len(np.unique(truth)) < len(truth):
        return None
    positions = np.searchsorted(behaviours, truth)
    positions = np.minimum(positions, max(len(behaviours) - 1, 0))
    if (behaviours[positions] != truth).any():
        return None
    if _complete(part):
        return positions
    edges = part.rows() * np.int64(part.n_behaviours) + part.indices
    wanted = np.arange(part.n_users, dtype=np.int64) * part.n_behaviours + positions
    return positions if np.isin(wanted, edges).all() else None


# ---- a passage


def _through_passage(
    passage: Passage,
    truth: Ints | None,
    steps: int,
    seed: int,
    *,
    among: npt.NDArray[np.bool_] | None = None,
) -> Campaign:
    order = np.argsort(passage.departures, kind="stable")
    left = passage.departures[order]
    inside = exponential_mix_inside(passage.arrivals, left)
    first = np.searchsorted(left, passage.arrivals, side="left")
    known = None if truth is None else _given(truth, order, first)
    draws = np.random.default_rng([seed, 77])
    where = _drawn(first, len(left), draws) if known is None else known
    hidden = np.ones(len(first), dtype=bool)
    open_departures = np.ones(len(left), dtype=bool)
    done: list[CampaignStep] = []
    for number in range(1, steps + 1):
        stay = stay_of(inside[open_departures])
        # Places among the departures that are still open.
        position = np.concatenate(([0], np.cumsum(open_departures)))[first]
        exposable = hidden if among is None else hidden & among
        doubt = np.where(exposable, 1.0 - stay.collision[position], -1.0)
        doubt[stay.allowed[position] == 1] = -1.0
        target = int(np.argmax(doubt))
        if doubt[target] <= 0.0:
            break
        hidden[target] = False
        out = int(where[target])
        inside[first[target] : out] -= 1  # for later departures it was gone already
        if out < len(left):
            open_departures[out] = False
        bits = float(np.log2(inside[open_departures]).sum())
        done.append(
            CampaignStep(
                number=number,
                target=passage.users[target],
                bits_left=bits,
                in_doubt=_in_doubt(inside, open_departures, first, hidden),
            )
        )
    return _followed(done, seed, given=known is not None)


def _in_doubt(
    inside: Ints, open_departures: npt.NDArray[np.bool_], first: Ints, hidden: npt.NDArray[np.bool_]
) -> int:
    """Messages that may still be several departures: all but those that find nobody inside."""
    position = np.concatenate(([0], np.cumsum(open_departures)))[first]
    alone = np.concatenate((inside[open_departures] == 1, [True]))  # at the end: all are lost
    return int((hidden & ~alone[position]).sum())


def _given(truth: Ints, order: Ints, first: Ints) -> Ints | None:
    """Departure of each message in order of time; None where the truth does not say it all."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    where = np.where(truth >= 0, rank[np.maximum(truth, 0)] if len(rank) else 0, len(rank))
    departed = np.bincount(where, minlength=len(rank) + 1)[: len(rank)]
    complete = (departed == 1).all()
    return where if complete and (where >= first).all() else None


def _drawn(first: Ints, number: int, draws: np.random.Generator) -> Ints:
    """One truth: each departure is any of those inside."""
    where = np.full(len(first), number, dtype=np.int64)
    coming = np.argsort(first, kind="stable").tolist()
    firsts, picks = first[coming].tolist(), draws.random(number).tolist()
    waiting: list[int] = []
    arrived = 0
    for k, pick in enumerate(picks):
        while arrived < len(coming) and firsts[arrived] <= k:
            waiting.append(coming[arrived])
            arrived += 1
        i = int(pick * len(waiting))
        waiting[i], waiting[-1] = waiting[-1], waiting[i]
        where[waiting.pop()] = k
    return where

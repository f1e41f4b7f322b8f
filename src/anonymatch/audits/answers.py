"""What counting says of an observation: matchings, bits, and figures of each user."""

from __future__ import annotations

import math
from collections.abc import Hashable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch import counting, mixes
from anonymatch.base.errors import BudgetError, InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import several
from anonymatch.counting import Count, Posterior, log_of
from anonymatch.counting.measures import (
    LOST,
    Range,
    UserFigures,
    averages,
    in_order,
    system,
    user_figures,
)
from anonymatch.graph import Graph, require_matching
from anonymatch.mixes import (
    Exponential,
    HopLaw,
    LinkFigures,
    MessageObservation,
    NetworkJoint,
    NetworkObservation,
    Observation,
    Passage,
    UsedRates,
    bare_channel,
    passage_asked,
    passage_count,
    passage_figures,
    passage_graph,
    passed,
    used_rates,
)
from anonymatch.running import Budget, Execution, Progress, StagedProgress
from anonymatch.tables import TableObservation
from anonymatch.tabular import check_memory

if TYPE_CHECKING:
    from anonymatch.tables import Links

__all__ = [
    "Answers",
    "MessageAnswers",
    "NetworkAnswers",
    "PassageAnswers",
    "Resources",
    "TableAnswers",
    "answer",
    "chosen_of",
    "closes",
    "entropy_of",
    "links_of",
]

_LN2 = math.log(2.0)
_DIGITS = 2000.0  # natural log of a count up to which its digits are made
_LARGE = 3_000_000  # edges of a graph that fills memory itself
_TIGHT = 0.4 * 2**30  # bytes that one of its blocks may then need beside it
_QUICK = 10.0  # predicted seconds of an exact integer
_DRAWS = 5  # of times within the step to which those of a log are rounded
_ROUNDED = 0.95  # confidence of figures of such a log
_SMALL_ENOUGH = 300_000  # edges of a graph for which it is worth a plan of its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """How the work of an audit shall run."""

    budget: Budget
    seed: int
    executor: Executor | None = None
    progress: Progress | StagedProgress | None = None

    def stage(self) -> Progress | None:
        """What the next part of the work is to tell how far it is."""
        progress = self.progress
        return progress.stage() if isinstance(progress, StagedProgress) else progress

    def finish(self) -> None:
        """Show that all work is done."""
        if isinstance(self.progress, StagedProgress):
            self.progress.finish()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Answers:
    """What everything else in an audit is made of.

    Attributes
    ----------
    count : Count
        Ways to match users and behaviours, without weights; places for lost users are not told
        apart.
    entropy : Figure
        Of the matching that happened, in nats; the log of the count unless there are weights.
    bound : float
        Natural log of the most ways that the users' numbers of candidates allow.
    full : float
        Natural log of the ways if nothing were known.
    users : UserFigures
    edges : int
        Pairs of a user and a candidate.
    probabilities : Posterior or None
        None for a passage, and unless all are known.
    confidence : float
        Probability that the intervals hold; 1.0 means proven.
    notes : tuple of str
        What a reader must know about how this was answered; each a sentence.
    true_exit : array or None
        Probability of the true departure (behaviour) of each user, not divided by that of having
        departed. 0 where the log does not know it, NaN where the probability is not computed.
    """

    count: Count
    entropy: Interval
    bound: float
    full: float
    users: UserFigures
    edges: int
    probabilities: Posterior | None
    confidence: float
    notes: tuple[str, ...] = ()
    true_exit: npt.NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"Answers({self.size} users, {self.count})"

    @property
    def size(self) -> int:
        """All messages, or other users."""
        return len(self.users.users)

    @property
    def joint_size(self) -> int:
        """What joint figures are about: messages, or other users, and in a network cover too."""
        return self.size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MessageAnswers(Answers):
    """Answers about messages, of which not all may have been looked at.

    Attributes
    ----------
    n_messages : int
        All messages, of which `users` may be some only.
    chosen : array of int or None
        Which messages `users` are, if not all were looked at.
    """

    n_messages: int
    chosen: npt.NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        return self.n_messages


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PassageAnswers(MessageAnswers):
    """Answers about messages through one mix that is followed by what is inside.

    Attributes
    ----------
    links : LinkFigures or None
        With losses, cover or an end of the log; None in closed form.
    rates : UsedRates or None
        Losses, cover and a beginning that this is for.
    """

    links: LinkFigures | None = None
    rates: UsedRates | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NetworkAnswers(MessageAnswers):
    """Answers about messages through a network of which every link is seen.

    Attributes
    ----------
    network : NetworkJoint
        Joint figures.
    n_packets : int
        What joint figures are about: messages and cover.
    """

    network: NetworkJoint
    n_packets: int

    @property
    def joint_size(self) -> int:
        return self.n_packets


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TableAnswers(Answers):
    """Answers about a released table.

    Attributes
    ----------
    table : Links
        Who may have which rows, by classes.
    """

    table: Links


def links_of(answers: Answers) -> LinkFigures | None:
    """Figures with losses, cover or an end of the log; None where there are none of these."""
    return answers.links if isinstance(answers, PassageAnswers) else None


def chosen_of(answers: Answers) -> npt.NDArray[np.int64] | None:
    """Which messages were looked at; None if all users were."""
    return answers.chosen if isinstance(answers, MessageAnswers) else None


def answer(observation: Observation, resources: Resources) -> Answers:
    """Count, probabilities and figures, exact where the budget and the times of a log allow."""
    if not isinstance(observation, MessageObservation) or not observation.rounded:
        return _answer(observation, resources)
    shared = replace(resources, budget=_share_of(resources.budget, _DRAWS + 1))
    answers = _answer(observation, shared)
    return _widened(answers, observation, _with_drawn_times(observation, shared))


def _with_drawn_times(observation: MessageObservation, resources: Resources) -> list[Answers]:
    """The same log with times drawn at random within the step to which they are rounded.

    A departure does not come before the arrival of the same rank, if that holds for rounded times:
    then every message out is of a message in. Empty if the law or the budget does not allow it.
    """
    passage, step = observation.passage, observation.rounding
    if passage is None or step is None or not math.isfinite(step):
        return []
    random = np.random.default_rng(resources.seed)
    size = min(len(passage.arrivals), len(passage.departures))
    sent = len(passage.departures) == size and bool(
        (passage.departures >= passage.arrivals[:size]).all()
    )
    drawn = []
    for _ in range(_DRAWS):
        came, left = (
            np.sort(times + step * random.random(len(times)))
            for times in (passage.arrivals, passage.departures)
        )
        if sent:
            left = np.maximum(left, came[:size] + 1e-9 * step)
        conditions = passage.conditions
        if conditions is not None:
            last = max(float(times[-1]) for times in (came, left) if len(times))
            conditions = replace(conditions, end=max(conditions.end, last))
        moved = replace(passage, arrivals=came, departures=left, conditions=conditions)
        exactly = replace(observation, passage=moved, truth=None, rounding=None)
        try:
            drawn.append(_of_passage(exactly, moved, resources))
        except (BudgetError, InputError):
            return []
    return drawn


def _widened(answers: Answers, observation: MessageObservation, drawn: list[Answers]) -> Answers:
    """Intervals that hold the figures with drawn times too.

    Without these, an attacker with exact times may know everything. Figures of messages in that
    have the same time get the same ends.
    """
    users, size = answers.users, answers.joint_size * _LN2
    alike = all(len(each.users.degree) == len(users.degree) for each in drawn)
    each_drawn = drawn if alike and chosen_of(answers) is None else []
    tie = np.arange(len(users.degree))
    if each_drawn and observation.arrivals is not None:
        tie = np.unique(observation.arrivals, return_inverse=True)[1]

    def each(name: str, least: float, most: float) -> Range | None:
        own: Range | None = getattr(users, name)
        if own is None:
            return None
        others = [getattr(one.users, name) for one in each_drawn]
        others = [one for one in others if one is not None]
        low, high = own.low, own.high
        if not others:
            return Range(own.value, np.fmin(low, least), np.fmax(high, most))
        for other in others:
            low, high = np.fmin(low, other.low), np.fmax(high, other.high)
        lowest, highest = (np.full(int(tie.max()) + 1, end) for end in (np.inf, -np.inf))
        np.fmin.at(lowest, tie, low)
        np.fmax.at(highest, tie, high)
        known = ~np.isnan(own.low)  # others were not computed
        return Range(
            own.value, np.where(known, lowest[tie], np.nan), np.where(known, highest[tie], np.nan)
        )

    entropy = _hull(answers.entropy, [one.entropy for one in drawn])
    bits = [one.entropy.divided(max(size, _LN2)) for one in (answers, *drawn)]
    means = [
        averages.mean_entropy(one.users, joint)
        for one, joint in zip((answers, *drawn), bits, strict=True)
    ]
    smallest = [
        one.users.mean_min_entropy or averages.mean(one.users, one.users.min_entropy)
        for one in (answers, *drawn)
    ]
    ranges: dict[str, Any] = {
        name: each(name, *ends)
        for name, ends in (
            *((name, (0.0, -math.inf)) for name in ("shannon", "renyi2", "min_entropy")),
            ("shannon_all", (0.0, -math.inf)),
            *((name, (1.0, -math.inf)) for name in ("effective", "guesses")),
            *((name, (math.inf, 1.0)) for name in ("probability", "given_departed")),
        )
    }
    confidence = min(answers.confidence, _ROUNDED)
    count = _hull(
        Interval(answers.count.log, answers.count.low, answers.count.high),
        [Interval(one.count.log, one.count.low, one.count.high) for one in drawn],
    )
    return replace(
        answers,
        count=replace(
            answers.count,
            exact=False,
            low=count.low,
            high=count.high,
            proven=(0.0, max(answers.full, count.high)),
            confidence=min(answers.count.confidence, _ROUNDED),
            factors=(),
        ),
        entropy=entropy,
        full=max(answers.full, entropy.high),
        users=replace(
            users,
            **{name: part for name, part in ranges.items() if part is not None},
            mean_shannon=_hull_of(means),
            mean_min_entropy=_hull_of(smallest),
        ),
        confidence=confidence,
    )


def _hull_of(means: list[Interval | None]) -> Interval | None:
    """That of the first and of the others with drawn times; None if nobody is counted."""
    own, *others = means
    return None if own is None else _hull(own, [one for one in others if one is not None])


def _hull(own: Interval, drawn: list[Interval]) -> Interval:
    """An interval that holds its own and those of draws, and as much more as draws differ."""
    if not drawn:
        return Interval(own.value, 0.0, own.high)
    values = [one.value for one in drawn]
    apart = max(values) - min(values)
    low, high = (min(one.low for one in drawn) - apart, max(one.high for one in drawn) + apart)
    return Interval(own.value, max(min(own.low, low), 0.0), max(own.high, high))


def _answer(observation: Observation, resources: Resources) -> Answers:
    """The same for the order of messages in and out as it is."""
    if isinstance(observation, NetworkObservation):
        from anonymatch.mixes import network_answers

        return network_answers(observation, resources)
    if isinstance(observation, MessageObservation) and observation.passage is not None:
        return _of_passage(observation, observation.passage, resources)
    if isinstance(observation, TableObservation):
        from anonymatch.tables import release_answers

        return release_answers(observation, resources)
    assert observation.graph is not None
    if observation.graph.n_edges > _LARGE:
        tight = replace(resources.budget, memory=min(resources.budget.memory, _TIGHT))
        resources = replace(resources, budget=tight)
    timed = isinstance(observation, MessageObservation) and observation.timed
    return _of_graph(observation.graph, observation, resources, timed=timed)


def _of_passage(observation: MessageObservation, passage: Passage, resources: Resources) -> Answers:
    if passage.conditions is not None and not closes(passage):
        try:
            return _by_links(observation, passage, resources)
        except BudgetError:
            law = passage.law
            if not isinstance(law, HopLaw) or not passage.conditions.silent:
                raise
            if isinstance(law, Exponential):  # a graph would take far longer
                raise
        # Beyond the budget even as an estimate: as any other law, by the weights of its graph.
        graph = passage_graph(passage, budget=resources.budget)
        return _of_graph(graph, observation, resources, timed=True)
    count = passage_count(passage.arrivals, passage.departures)
    users = passage_figures(
        passage.arrivals,
        passage.departures,
        users=passage.users,
        behaviours=passage.behaviours,
    )
    n_users, n_behaviours = len(passage.users), len(passage.behaviours)
    lost = n_users - n_behaviours
    full = system.full_log(n_behaviours, n_users)
    # Seen from the departures: each is one of the messages that had come in by then.
    before = np.searchsorted(
        np.sort(passage.arrivals, kind="stable"), passage.departures, side="right"
    )
    bound = float(np.log(before).sum())
    if lost == 0:
        bound = min(counting.bregman(before), counting.bregman(users.degree))
    return PassageAnswers(
        count=count,
        entropy=Interval.rounded(count.log, count.log, count.log),
        bound=min(bound, full),
        full=full,
        users=replace(users, edge=observation.edge),
        edges=int(users.degree.sum()) - (n_users if lost else 0),
        probabilities=None,
        confidence=1.0,
        n_messages=n_users,
        rates=_no_rates(passage),
        true_exit=None
        if observation.truth is None
        else passage_asked(passage.arrivals, passage.departures, observation.truth),
    )


def _no_rates(passage: Passage) -> UsedRates | None:
    """Those of a closed form: everything that came in left, and nothing else did."""
    conditions = passage.conditions
    return None if conditions is None else used_rates(bare_channel(conditions), conditions, {})


def closes(passage: Passage) -> bool:
    """Whether all that came in left one exponential mix, and nothing else did: in closed form."""
    conditions = passage.conditions
    assert conditions is not None
    if not isinstance(passage.law, Exponential) or not conditions.clean:
        return False
    if len(passage.users) != len(passage.behaviours):
        return False
    inside = np.searchsorted(passage.arrivals, passage.departures, side="right")
    return bool((inside > np.arange(len(inside))).all())


def _by_links(observation: MessageObservation, passage: Passage, resources: Resources) -> Answers:
    """A passage by the chain over what is inside. No matchings are counted: they are not alike."""
    solved = passed(
        passage,
        receivers=_numbered(observation.receivers),
        edge=observation.edge,
        budget=resources.budget,
        seed=resources.seed,
        executor=resources.executor,
        progress=resources.stage(),
        asked=observation.truth,
    )
    links = solved.links
    nats = Interval(
        *(_LN2 * end for end in (links.link_bits.value, links.link_bits.low, links.link_bits.high))
    )
    effective = Count(
        exact=False,
        log=nats.value,
        low=nats.low,
        high=nats.high,
        method=links.method,
        confidence=links.confidence,
        seed=links.seed,
    )
    n_users, n_behaviours = len(passage.users), len(passage.behaviours)
    later = _later(passage)
    departed = float(links.departed.mean()) * n_users if n_users else 0.0
    matched = min(round(departed), n_users, n_behaviours)
    full = max(_full(n_users, n_behaviours, matched), nats.high)
    bound = float(np.log(np.maximum(later + 1, 1)).sum())
    return PassageAnswers(
        count=effective,
        entropy=nats,
        bound=max(min(bound, full), nats.value),
        full=full,
        users=_link_users(passage, links, observation.edge, solved.chosen),
        edges=int(links.allowed.sum()),
        probabilities=None,
        confidence=links.confidence,
        links=links,
        n_messages=n_users,
        chosen=solved.chosen,
        rates=solved.rates,
        notes=solved.notes,
        true_exit=links.asked,
    )


def _later(passage: Passage) -> npt.NDArray[np.int64]:
    """Messages out that left when each message had come in, or later."""
    before = np.searchsorted(passage.departures, passage.arrivals, side="left")
    return np.asarray(len(passage.behaviours) - before, dtype=np.int64)


def _numbered(receivers: tuple[Hashable | None, ...] | None) -> npt.NDArray[np.int64] | None:
    """Receivers as numbers, in the order in which they appear."""
    if receivers is None:
        return None
    numbers: dict[Hashable | None, int] = {}
    return np.array([numbers.setdefault(one, len(numbers)) for one in receivers], dtype=np.int64)


def _link_users(
    passage: Passage,
    links: LinkFigures,
    edge: npt.NDArray[np.bool_] | None,
    chosen: npt.NDArray[np.int64] | None,
) -> UserFigures:
    """Given that a message departed, but for the best guess: that may be wrong as it was lost."""
    users, later, weights = passage.users, _later(passage), None
    if chosen is not None:
        users, later = tuple(passage.users[one] for one in chosen.tolist()), later[chosen]
        edge = None if edge is None else edge[chosen]
        weights = np.full(len(chosen), len(passage.users) / len(chosen))
    some = links.departed > 0.0
    renyi2 = 0.0 - np.log2(np.where(some, links.collision, 1.0))
    best = links.surest
    if best is None:
        share = np.where(some, links.departed, 1.0)
        # The likeliest of so many is no less likely than if all were alike, however rarely it
        # departs.
        least = 1.0 / np.maximum(later, 1)
        drawn = links.probability.batches
        best = Range(
            *(
                np.where(some, np.clip(part / share, least, 1.0), 1.0)
                for part in links.probability.parts
            ),
            batches=None if drawn is None else np.asarray(drawn / share[:, None], dtype=np.float32),
        )
    slack = links.shannon.high - links.shannon.low
    shannon, renyi2_range, min_entropy = in_order(
        links.shannon,
        Range(renyi2, np.maximum(renyi2 - slack, 0.0), renyi2 + slack),
        best.minus_log2(),
        np.log2(np.maximum(links.allowed, 1)),
    )
    return UserFigures(
        users=users,
        behaviours=passage.behaviours,
        degree=links.allowed,
        allowed=links.allowed,
        shannon=shannon,
        renyi2=renyi2_range,
        min_entropy=min_entropy,
        effective=shannon.map(np.exp2),
        probability=links.probability,
        guess=np.where(links.guess >= 0, links.guess, LOST),
        departed=links.departed,
        lost=links.lost,
        inside=links.inside,
        shannon_all=links.shannon_all,
        edge=edge,
        guesses=links.guessing,
        mean_shannon=links.mean_shannon,
        mean_min_entropy=links.mean_min_entropy,
        given_departed=links.surest,
        weights=weights,
    )


def _of_graph(
    graph: Graph, observation: Observation, resources: Resources, *, timed: bool
) -> Answers:
    """``timed``: users and behaviours are in order of time, so that swaps mix well."""
    require_matching(graph)
    lost, edge, truth = observation.lost, _edge(observation), observation.truth
    band = mixes.WideBand.of(graph, lost) if timed else None
    if band is not None and band.hopeless(resources.budget.seconds):
        return _of_wide_band(band, graph, observation, resources)
    n_users, n_real = graph.n_users, graph.n_behaviours - lost
    strangers = graph.n_behaviours - n_users if lost else 0
    links = None
    if timed and band is None and (lost or n_real > n_users):
        links = mixes.LinkBand.of(graph, lost)
        if links is not None and links.hopeless(resources.budget.seconds):
            return _of_wide_links(links, graph, observation, resources)
    observed = _with_strangers(graph, lost, strangers) if strangers else graph
    if (band is not None or links is not None) and not _planned_exactly(observed, resources):
        return _of_wide(band, links, graph, observation, resources)
    support = system.reweighted(observed, None) if observed.weighted else observed
    matchings = _count(support, resources)
    weight = _count(observed, resources) if observed.weighted else matchings
    probabilities = _probabilities(observed, resources)
    complete = not np.isnan(probabilities.probabilities).any()
    exact = complete and min(weight.confidence, probabilities.confidence) == 1.0
    if (band is not None or links is not None) and not exact:
        return _of_wide(band, links, graph, observation, resources)
    alike = math.lgamma(lost + 1) + math.lgamma(strangers + 1)
    entropy = system.matching_entropy(
        weight, probabilities if complete else None, observed, matchings
    )
    edges = graph.n_edges
    if lost:
        edges -= int(graph.behaviour_degrees[n_real:].sum())
    confidence = min(matchings.confidence, weight.confidence)
    return Answers(
        count=_without_places(matchings, lost, strangers),
        entropy=Interval.rounded(
            *(end - alike for end in (entropy.value, entropy.low, entropy.high)), size=alike
        ),
        bound=max(_bound(observed) - alike, 0.0),
        full=_full(n_users, n_real, n_users - lost),
        users=replace(
            user_figures(
                observed,
                probabilities.probabilities,
                probabilities.margins,
                alike=lost,
                entropy_errors=probabilities.entropy_errors,
            ).first(n_users),
            edge=edge,
            mean_shannon=_mean_shannon(observed, probabilities) if not lost else None,
        ),
        edges=edges,
        probabilities=probabilities if complete and not strangers else None,
        confidence=min(confidence, probabilities.confidence),
        true_exit=None if truth is None else _edges_at(observed, probabilities, truth),
    )


def _edge(observation: Observation) -> npt.NDArray[np.bool_] | None:
    """Messages near an end of the log; None of other problems."""
    return observation.edge if isinstance(observation, MessageObservation) else None


def _edges_at(
    graph: Graph, probabilities: Posterior, truth: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Probability of one edge of each of the first users; 0 where there is no such edge."""
    edges = graph.rows().astype(np.int64) * graph.n_behaviours + graph.indices
    wanted = np.arange(len(truth)) * graph.n_behaviours + truth
    at = np.minimum(np.searchsorted(edges, wanted), len(edges) - 1)
    there = (truth >= 0) & (edges[at] == wanted)
    return np.where(there, probabilities.probabilities[at], 0.0)


def _mean_shannon(graph: Graph, probabilities: Posterior) -> Interval | None:
    """Closer than what is known of each user, where chains of moves tell errors of all of them."""
    errors = probabilities.errors
    if errors is None or not probabilities.by_moves:
        return None
    if np.isnan(probabilities.probabilities).any():
        return None
    return averages.mean_of_sampled(graph.indptr, probabilities.probabilities, errors)


def _of_wide(
    band: mixes.WideBand | None,
    links: mixes.LinkBand | None,
    graph: Graph,
    observation: Observation,
    resources: Resources,
) -> Answers:
    """A log that is too wide, whichever of the two it is."""
    if band is not None:
        return _of_wide_band(band, graph, observation, resources)
    assert links is not None
    return _of_wide_links(links, graph, observation, resources)


def _of_wide_links(
    band: mixes.LinkBand, graph: Graph, observation: Observation, resources: Resources
) -> Answers:
    """The same with losses or cover on the way, by a chain over explanations."""
    lost, edge = observation.lost, _edge(observation)
    estimate = mixes.estimate_links(
        band,
        budget=resources.budget,
        edge=edge,
        seed=resources.seed,
        effort=Execution(executor=resources.executor, progress=resources.stage()),
        asked=observation.truth,
    )
    n_users, n_real = graph.n_users, graph.n_behaviours - lost
    # With weights no matchings are counted: they are not alike. Then it is as many as would be.
    matchings = estimate.log_weight if graph.weights is None else estimate.entropy
    entropy = matchings.clipped(0.0, math.inf)
    full = max(_full(n_users, n_real, n_users - lost), entropy.high)
    exact = not estimate.replicas
    confidence = 1.0 if exact else mixes.LINKS_CONFIDENCE
    return Answers(
        count=Count(
            exact=False,
            log=matchings.value,
            low=matchings.low,
            high=matchings.high,
            proven=(0.0, full),
            method="subset" if exact else "swaps",
            confidence=confidence,
            seed=None if exact else resources.seed,
        ),
        entropy=entropy,
        bound=full,
        full=full,
        users=_estimated_users(band, graph, lost, estimate, edge),
        edges=band.entries,
        probabilities=None,
        confidence=confidence,
        notes=() if exact else (_links_note(estimate),),
        true_exit=estimate.asked,
    )


def _links_note(estimate: mixes.LinksEstimate) -> str:
    sure = f"{mixes.LINKS_CONFIDENCE:.0%}"
    return (
        "Messages fit too many others for exact counts: figures are estimated from a chain over "
        f"explanations in {estimate.replicas} replicas, with intervals of {sure}"
    )


def _estimated_users(
    band: mixes.LinkBand,
    graph: Graph,
    lost: int,
    estimate: mixes.LinksEstimate,
    edge: npt.NDArray[np.bool_] | None,
) -> UserFigures:
    departed = 1.0 - estimate.alone.value
    renyi2 = 0.0 - np.log2(np.clip(estimate.collision, 1e-300, 1.0))
    slack = estimate.shannon.high - estimate.shannon.value
    degrees = np.asarray(band.last - band.first, dtype=np.int64)
    shannon, renyi2_range, min_entropy = in_order(
        estimate.shannon,
        Range(renyi2, np.maximum(renyi2 - slack, 0.0), renyi2 + slack),
        estimate.surest.minus_log2(),
        np.log2(np.maximum(degrees, 1)),
    )
    return UserFigures(
        users=graph.users,
        behaviours=graph.behaviours,
        degree=graph.degrees.astype(np.int64),
        allowed=degrees + (band.unpaired > 0.0) * 1,
        shannon=shannon,
        renyi2=renyi2_range,
        min_entropy=min_entropy,
        effective=shannon.map(np.exp2),
        probability=estimate.probability,
        guess=np.where(estimate.guess >= 0, estimate.guess, LOST),
        departed=departed if lost else None,
        edge=edge,
        guesses=estimate.guessing,
        mean_shannon=estimate.mean_shannon,
        mean_min_entropy=estimate.mean_min_entropy,
        given_departed=estimate.surest if lost else None,
    )


def _of_wide_band(
    band: mixes.WideBand, graph: Graph, observation: Observation, resources: Resources
) -> Answers:
    """A log in which messages fit too many others for exact counts, by a chain of swaps."""
    lost, edge = observation.lost, _edge(observation)
    estimate = mixes.estimate_band(
        band,
        graph,
        budget=resources.budget,
        edge=edge,
        seed=resources.seed,
        effort=Execution(executor=resources.executor, progress=resources.stage()),
        asked=observation.truth,
    )
    alike = math.lgamma(lost + 1)
    entropy = Interval(
        *(end - alike for end in (estimate.entropy.value, *_ends(estimate.entropy)))
    ).clipped(0.0, math.inf)
    n_users, n_real = graph.n_users, graph.n_behaviours - lost
    edges = graph.n_edges - (int(graph.behaviour_degrees[n_real:].sum()) if lost else 0)
    # With weights no matchings are counted: they are not alike. Then it is as many as would be.
    matchings = estimate.log_weight if band.weights is None else estimate.entropy
    most = max(_bound(graph), matchings.high)
    least, most = estimate.proven if band.weights is None else (0.0, most)
    return Answers(
        count=Count(
            exact=False,
            log=matchings.value - alike,
            low=matchings.low - alike,
            high=matchings.high - alike,
            proven=(max(least - alike, 0.0), most - alike),
            method="swaps",
            confidence=estimate.confidence,
            seed=resources.seed,
        ),
        entropy=entropy,
        bound=max(_bound(graph) - alike, entropy.value),
        full=_full(n_users, n_real, n_users - lost),
        users=estimate.users,
        edges=edges,
        probabilities=None,
        confidence=estimate.confidence,
        notes=_wide_notes(estimate, alike, n_users),
        true_exit=estimate.asked,
    )


def _ends(interval: Interval) -> tuple[float, float]:
    return interval.low, interval.high


def _wide_notes(estimate: mixes.BandEstimate, alike: float, n_users: int) -> tuple[str, ...]:
    low, high = ((end - alike) / n_users / _LN2 for end in estimate.proven)
    note = (
        "Messages fit too many others for exact counts: figures are estimated from a chain of "
        f"swaps in {estimate.replicas} replicas, with intervals of {estimate.confidence:.0%}"
    )
    if estimate.log_weight is not estimate.entropy or not math.isfinite(low):
        return (note,)
    return (note, f"Joint bits per message are proven to be from {low:.4g} to {high:.4g}")


def _with_strangers(graph: Graph, lost: int, number: int) -> Graph:
    """The graph with users, last and all alike, who sent the messages out that are nobody's.

    With losses and cover traffic at once, only so all places for lost messages are taken.
    """
    from scipy.sparse import csr_array

    check_memory(
        16 * number * (graph.n_behaviours - lost),
        f"{several(number, 'message')} out that are nobody's, with losses at the same time,",
        "mark cover traffic in the log, or look at a shorter one",
    )
    real = np.arange(graph.n_behaviours - lost, dtype=graph.indices.dtype)
    indices = np.concatenate((graph.indices, np.tile(real, number)))
    ends = graph.indptr[-1] + len(real) * np.arange(1, number + 1)
    weights = None
    if graph.weights is not None:
        weights = np.concatenate((graph.weights, np.ones(number * len(real))))
    matrix = csr_array(
        (
            np.ones(len(indices)) if weights is None else weights,
            indices,
            np.concatenate((graph.indptr, ends)),
        ),
        shape=(graph.n_users + number, graph.n_behaviours),
    )
    padded = Graph.from_biadjacency(
        matrix,
        users=[*graph.users, *(_Stranger(k) for k in range(number))],
        behaviours=graph.behaviours,
    )
    return padded if graph.weighted else system.reweighted(padded, None)


class _Stranger(NamedTuple):
    """The name of a user who is nobody."""

    number: int


def _full(n_users: int, n_behaviours: int, matched: int) -> float:
    """Natural log of the ways to match so many of the users, if nothing were known."""
    chosen = math.lgamma(n_users + 1) - math.lgamma(n_users - matched + 1)
    matchings = math.lgamma(n_behaviours + 1) - math.lgamma(n_behaviours - matched + 1)
    return max(chosen + matchings - math.lgamma(matched + 1), 0.0)


def entropy_of(graph: Graph, resources: Resources) -> Interval:
    """Entropy, in nats, of the matching that happened in a graph."""
    support = system.reweighted(graph, None) if graph.weighted else graph
    count = _count(support, resources)
    if not graph.weighted:
        return Interval(count.log, count.low, count.high)
    probabilities = _probabilities(graph, resources)
    complete = not np.isnan(probabilities.probabilities).any()
    weight = _count(graph, resources)
    return system.matching_entropy(weight, probabilities if complete else None, graph, count)


def _count(graph: Graph, resources: Resources) -> Count:
    """Exactly where that is quick; digits beyond the tenth are not worth waiting for."""
    execution: dict[str, Any] = {"executor": resources.executor}
    if not graph.weighted and graph.n_edges <= _SMALL_ENOUGH:
        quick = min(_QUICK, resources.budget.seconds / 3)
        try:
            return counting.count(
                graph,
                exact=True,
                budget=replace(resources.budget, seconds=quick),
                progress=resources.stage(),
                **execution,
            )
        except BudgetError:
            pass
    return counting.count(
        graph,
        exact=False,
        budget=_share_of(resources.budget, 3),
        seed=resources.seed,
        progress=resources.stage(),
        **execution,
    )


def _share_of(budget: Budget, parts: int) -> Budget:
    """Of the seconds that were asked for; if none were, a good answer soon is wanted."""
    return replace(budget, seconds=budget.seconds / parts) if budget.chosen else budget


def _planned_exactly(graph: Graph, resources: Resources) -> bool:
    """Whether all probabilities are predicted to fit: estimates of other kinds are not worth it."""
    share = _share_of(resources.budget, 2)
    plan = counting.plan_posterior(graph, budget=share)
    return plan.seconds <= share.seconds and plan.memory <= share.memory


def _probabilities(graph: Graph, resources: Resources) -> Posterior:
    """Probabilities of all edges; NaN in blocks that the budget does not reach."""
    return counting.known_posterior(
        graph,
        budget=_share_of(resources.budget, 2),
        seed=resources.seed,
        executor=resources.executor,
        progress=resources.stage(),
    )


def _bound(graph: Graph) -> float:
    """Brègman's bound by users and by behaviours, the better of the two, as a natural log.

    Spare behaviours are taken by as many more users who fit everything and are not told apart.
    """
    spare = graph.n_behaviours - graph.n_users
    more = np.full(spare, graph.n_behaviours)
    by_users = counting.bregman(np.concatenate((graph.degrees, more)))
    by_behaviours = counting.bregman(graph.behaviour_degrees + spare)
    return min(by_users, by_behaviours) - math.lgamma(spare + 1)


def _without_places(count: Count, lost: int, strangers: int) -> Count:
    """Ways that differ only in which of the equal places somebody has are one way."""
    alike = math.lgamma(lost + 1) + math.lgamma(strangers + 1)
    if alike == 0.0:
        return count
    if count.exact and count.log < _DIGITS:
        value = int(count.value) // (math.factorial(lost) * math.factorial(strangers))
        log = log_of(value)
        return replace(
            count, log=log, low=log, high=log, proven=(log, log), factors=((lambda: value, 1),)
        )
    low, high = count.proven
    return replace(
        count,
        exact=False,
        log=count.log - alike,
        low=count.low - alike,
        high=count.high - alike,
        proven=(low - alike, high - alike),
        factors=(),
    )

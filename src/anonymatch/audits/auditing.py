"""audit(): the whole road from a log to an answer, in one readable function."""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.audits.alternatives import rival_delay, same_delay
from anonymatch.audits.answers import Answers, Resources, answer
from anonymatch.audits.campaign import campaign, one_step
from anonymatch.audits.people import people, people_bits, people_notes
from anonymatch.audits.result import Audit, SystemCost
from anonymatch.audits.rings import ring_figures, ring_notes
from anonymatch.audits.scoring import score
from anonymatch.audits.verdict import caveats, left_out, verdict, warned
from anonymatch.audits.worst import worst
from anonymatch.base.arguments import real, whole
from anonymatch.base.atomic_files import as_path
from anonymatch.base.interval import Interval
from anonymatch.graph import Graph
from anonymatch.mixes import LinkFigures, Observation
from anonymatch.mixes import closed_forms as mixes
from anonymatch.running import (
    Budget,
    Progress,
    StagedProgress,
    check_executor,
    tells_misfits,
)

if TYPE_CHECKING:
    from anonymatch.disclosure import Disclosure
    from anonymatch.tables import TableFindings

__all__ = ["audit"]

_LN2 = math.log(2.0)
_THRESHOLD = 5.0  # effective set size, unless told
_ROUNDS_SECONDS = 20.0  # for what rounds tell


@tells_misfits
def audit(
    source: str | os.PathLike[str] | Graph | Observation,
    /,
    *,
    name: str | None = None,
    threshold: float | None = None,
    top: int = 20,
    steps: int = 10,
    budget: Budget | float | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **how: Any,
) -> Audit:
    """Is this system good enough, and for whom is it worst?

    Parameters
    ----------
    source : path, Graph or Observation
        A message log, a simulator's log, a table of edges, rings, relays: what
        :func:`anonymatch.mixes.open_observation` reads.
    name : str, optional
        What the system is called in reports; the name of the file unless told. With ``original``,
        the column of the original table that has people's names.
    threshold : float, optional
        An effective set size; the audit says which share of users is below it. Default: 5, which
        charts do not mark.
    top : int
        Worst users that are named with a reason; 0 for all.
    steps : int
        Exposures of the campaign.
    budget : float or Budget, optional
        Predicted seconds of one core for everything. What is beyond it is estimated.
    seed : int
        Of everything that is drawn; the same seed gives the same answer.
    executor : concurrent.futures.Executor, optional
        Where chunks of work run. Default: threads on all usable cores.
    progress : callable, optional
        Called with the work done and the work in all, in predicted seconds.
    **how
        How a file is to be understood; the fields of :class:`anonymatch.mixes.ReadOptions`, each
        of them optional. Any file:
        ``source``: what it is, if it does not show, one of ``anonymatch.mixes.SOURCES``.

        Message logs: ``law``: how messages are delayed, such as ``"window:1,5"``, which they need;
        ``departures``: the file of the messages out, if this one has only those in; ``unit``: of
        times, s (default), ms, us or ns; ``columns``: names of columns by what they mean, such as
        ``{"time": "timestamp_ms", "user": "src"}``; ``loss``: probability that a message is
        lost, or ``lost``: number of lost messages; ``cover_rate``: dummy messages that leave per
        second, or ``cover``: number of dummy messages; ``since``, ``until``: start and end of the
        observation, other rows are left out; ``drained``: the mix is empty at the end;
        ``inside_at_start``: messages inside when it begins; ``cover_in_pool``: cover of a flush mix
        is held back like messages; ``cover_visible``: the attacker sees what is flagged as cover or
        lost; ``whole_log``: messages near the ends count as all others.

        Networks: ``loss``, ``cover_rate``, ``inside_at_start``, ``since``, ``until`` and
        ``drained`` as above, ``loop_rate``: loops per second of a mix, ``law`` and rates for all
        mixes or as a mapping by mix;
        ``corrupt``: mixes that tell which packet is which, ``"m3,m7"``; ``view``: of a simulator's
        log with every hop, whether the attacker sees ``"links"`` or ``"ends"``.

        Released tables: ``original``: the table before release; ``quasi_identifiers``: columns that
        an attacker knows; ``sensitive``: columns that an attacker wants to know; ``hierarchies``:
        by column, a file with what each value may have become; ``tolerance``: by column, how far a
        released number may be off; ``missing``: texts that mean an unknown value.

        Rings: ``decoys``, ``spends``: laws of ages; ``merging``: outputs of one transaction are
        spent together.

        Flow pairs: ``longest_delay``: seconds that no packet takes longer;
        ``strays``: packets that a pair may receive though neither sent them; ``align``: ``"start"``
        lets all recordings begin together.

    Returns
    -------
    Audit

    Raises
    ------
    NoMatchingError
        If no matching explains what was seen; carries Hall's witness.

    Examples
    --------
    >>> import anonymatch as am
    >>> result = am.audit(am.Graph.from_rows(["110", "110", "111"]))
    >>> result.count.value, result.identified, result.worst[0].user, result.worst[0].reason
    (2, 1, 2, 'nobody else fits 2')
    >>> result.verdict.partition("; ")[0]
    'Entropy 0.667 bits per user'
    """
    began = time.perf_counter()
    given = threshold is not None
    threshold = real(threshold if threshold is not None else _THRESHOLD, "threshold")
    top, steps, seed = whole(top, "top"), whole(steps, "steps"), whole(seed, "seed")
    if "original" in how and name is not None:  # of a released table: the column of names
        how, name = {**how, "name": name}, None
    allowed = Budget.of(budget)
    observation, called = _observation(source, how, allowed)
    check_executor(executor, progress)
    bar = StagedProgress(progress, allowed.seconds if allowed.chosen else 0.0)
    resources = Resources(budget=allowed, seed=seed, executor=executor, progress=bar)
    answers = answer(observation, resources)
    observation = _looked_at(observation, answers)
    users = answers.users
    n_joint = max(answers.joint_size, 1)
    bits = answers.entropy.divided(n_joint * _LN2).clipped(0.0, math.inf)
    below = users.below(threshold)
    identified = int(users.alone[users.counted].sum())
    named = worst(observation, answers, top or len(users.users))
    senders = people(observation, answers)
    scored = score(observation, answers)
    of_rings = ring_figures(observation, answers)
    ceiling = _ceiling(observation, answers)
    plain = ceiling.value if ceiling is not None and answers.links is None else None
    attacked = campaign(observation, answers, steps, resources)
    of_people = people_bits(observation, resources)
    bar.finish()
    return Audit(
        name=called if name is None else str(name),
        observation=observation,
        answers=answers,
        cost=_cost(observation, answers),
        bits=bits,
        degree=_share(answers.entropy, answers.full),
        bound=answers.bound / n_joint / _LN2,
        ceiling=ceiling,
        reached=_share(answers.entropy, answers.bound),
        same_delay=same_delay(observation, plain),
        same_delay_seconds=rival_delay(observation, plain),
        identified=identified,
        threshold=threshold,
        threshold_given=given,
        below=below,
        worst=named,
        one_step=one_step(answers),
        campaign=attacked,
        score=scored,
        people=senders,
        people_bits=of_people,
        rings=of_rings,
        disclosure=_disclosure(source, seed, allowed, executor),
        table=_table(answers),
        verdict=warned(verdict(users, bits, named, observation.nouns), scored, observation),
        caveats=caveats(observation, answers, scored),
        notes=(
            *observation.notes,
            *answers.notes,
            *left_out(users, observation.nouns),
            *people_notes(senders),
            *ring_notes(observation, of_rings),
        ),
        seed=seed,
        seconds=time.perf_counter() - began,
    )


def _observation(
    source: str | os.PathLike[str] | Graph | Observation, how: dict[str, Any], budget: Budget
) -> tuple[Observation, str]:
    if isinstance(source, Observation | Graph) and how:
        raise TypeError(f"audit() takes {next(iter(how))!r} for files only")
    if isinstance(source, Observation):
        return source, source.source
    if isinstance(source, Graph):
        return Observation(graph=source, source="a graph"), "graph"
    from anonymatch.mixes import open_observation

    path = as_path(source)
    # Comparing the people and rows of a release is the longest part of reading.
    limit = budget if "original" in how else None
    return open_observation(path, budget=limit, **how), path.name


def _table(answers: Answers) -> TableFindings | None:
    """What a released table gives away."""
    if answers.table is None:
        return None
    from anonymatch.tables import findings

    return findings(answers.table)


def _disclosure(
    source: object, seed: int, budget: Budget, executor: Executor | None
) -> Disclosure | None:
    """What rounds tell, of a log that has them."""
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source):
        return None
    from anonymatch.mixes import has_rounds

    path = as_path(source)
    if not has_rounds(path):
        return None
    from anonymatch.disclosure import rounds

    share = replace(budget, seconds=min(_ROUNDS_SECONDS, budget.seconds / 4))
    return rounds(path, seed=seed, budget=share, executor=executor)


def _looked_at(observation: Observation, answers: Answers) -> Observation:
    """The observation with what it knows of those users only that were looked at."""
    chosen = answers.chosen
    if chosen is None:
        return observation
    senders = observation.senders
    truth, edge, gone = observation.truth, observation.edge, observation.gone
    arrivals = observation.arrivals
    return replace(
        observation,
        senders=None if senders is None else tuple(senders[one] for one in chosen.tolist()),
        truth=None if truth is None else truth[chosen],
        edge=None if edge is None else edge[chosen],
        gone=None if gone is None else gone[chosen],
        arrivals=None if arrivals is None else arrivals[chosen],
    )


def _ceiling(observation: Observation, answers: Answers) -> Interval | None:
    """Upper bound of the mean entropy over all messages; None if it is not known.

    It is g(M), where M is the mean number of departures that the attacker sees while a message is
    inside, the message's own apart. Summed over messages that is how many of them are inside just
    before each departure, which follows from who is lost and which departures are real.
    """
    if answers.network is not None:
        value = answers.network.ceiling
    elif answers.links is None:
        value = observation.ceiling
    else:
        value = _links_ceiling(observation, answers.links)
    return None if value is None else Interval.rounded(value, value, value)


def _links_ceiling(observation: Observation, links: LinkFigures) -> float | None:
    """The ceiling with losses and cover; None if their probabilities are estimates."""
    arrivals, departures = observation.arrivals, observation.departures
    real = float(links.real.sum())
    if links.confidence < 1.0 or arrivals is None or departures is None or not real > 0.0:
        return None
    came, left = np.argsort(arrivals, kind="stable"), np.argsort(departures, kind="stable")
    entered = np.concatenate(([0.0], np.cumsum(links.departed[came])))
    before = entered[np.searchsorted(arrivals[came], departures[left], side="right")]
    gone = np.concatenate(([0.0], np.cumsum(links.real[left])[:-1]))
    seen = float(np.maximum(before - gone, 0.0).sum()) / real
    return mixes.ceiling_bits(max(seen - 1.0, 0.0))


def _cost(observation: Observation, answers: Answers) -> SystemCost:
    return SystemCost(
        edges=answers.edges,
        candidates=answers.edges / max(len(answers.users.users), 1),
        mean_delay=observation.mean_delay,
        longest_delay=observation.longest_delay,
        cover=_cover(observation, answers),
        lost=observation.lost
        if answers.links is None
        else round(float(answers.links.lost.mean() * answers.size) if answers.size else 0.0),
    )


def _cover(observation: Observation, answers: Answers) -> float | None:
    """Share of the messages out that are nobody's: as the log flags them, else as expected."""
    if observation.cover is not None or observation.passage is None:
        return observation.cover
    if answers.links is None or not len(answers.links.real):
        return 0.0
    return round(float(answers.links.cover.mean()), 12)


def _share(log: Interval, most: float) -> Interval:
    if most <= 0.0:
        return Interval(0.0, 0.0, 0.0)
    return log.divided(most).clipped(0.0, 1.0)

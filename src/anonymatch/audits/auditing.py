"""audit(): the whole road from a log to an answer, in one readable function."""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import Executor
from typing import Any

from anonymatch.audits.answers import Answers, Work, answers
from anonymatch.audits.campaign import campaign, one_step
from anonymatch.audits.people import people, people_bits, people_notes
from anonymatch.audits.result import Audit, Cost
from anonymatch.audits.scoring import score
from anonymatch.audits.verdict import caveats, left_out, verdict
from anonymatch.audits.worst import worst
from anonymatch.base.arguments import real, whole
from anonymatch.base.atomic_files import as_path
from anonymatch.designs import Design, design
from anonymatch.graph import Graph
from anonymatch.measures import Interval, exponential_bits, pool_bits, threshold_bits
from anonymatch.running import Budget, Progress, tells_misfits
from anonymatch.sources import Observation

__all__ = ["audit"]

_LN2 = math.log(2.0)
_MOST_INSIDE = 1e6  # messages on average, for which closed forms are worth their time
_FRONT = (1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)


@tells_misfits
def audit(
    source: str | os.PathLike[str] | Graph | Observation,
    /,
    *,
    name: str | None = None,
    threshold: float = 5.0,
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
        :func:`anonymatch.sources.open_observation` reads.
    name : str, optional
        What the system is called in reports; the name of the file unless told.
    threshold : float
        An effective set size; the audit says which share of users is below it.
    top : int
        Worst users that are named with a reason; 0 for all.
    steps : int
        Exposures of the campaign.
    budget : float or Budget, optional
        Predicted seconds of one core for everything. What is beyond it is estimated.
    seed, executor, progress
        As for :func:`anonymatch.count`.
    **how
        Of a file: ``law="window:1,5"``, ``source=``, ``unit=``, ``cover=``, ...: the fields of
        :class:`anonymatch.sources.ReadOptions`.

    Raises
    ------
    NoMatchingError
        If no matching explains what was seen; carries Hall's witness.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.audit(am.Graph.from_rows(["110", "110", "111"]))
    >>> found.count.value, found.identified, found.worst[0].user, found.worst[0].reason
    (2, 1, 2, 'nobody else fits 2')
    >>> found.verdict.partition("; ")[0]
    'Entropy 0.667 bits per user'
    """
    began = time.perf_counter()
    threshold = real(threshold, "threshold")
    top, steps, seed = whole(top, "top"), whole(steps, "steps"), whole(seed, "seed")
    seen, called = _observation(source, how)
    work = Work(budget=Budget.of(budget), seed=seed, executor=executor, progress=progress)
    found = answers(seen, work)
    users = found.users
    n_users = max(len(users.users), 1)
    bits = found.entropy.divided(n_users * _LN2)
    below = users.below(threshold)
    identified = int((users.allowed[users.counted] == 1).sum())
    named = worst(seen, found, top or len(users.users))
    senders = people(seen, found)
    scored = score(seen, found)
    return Audit(
        name=called if name is None else str(name),
        observation=seen,
        answers=found,
        cost=_cost(seen, found),
        bits=bits,
        degree=_share(found.entropy, found.full),
        bound=found.bound / n_users / _LN2,
        reached=_share(found.entropy, found.bound),
        designs=_designs(seen, found),
        same_delay=_same_delay(seen),
        front=_front(seen, found),
        identified=identified,
        threshold=threshold,
        below=below,
        worst=named,
        one_step=one_step(found),
        campaign=campaign(seen, found, steps, work),
        score=scored,
        people=senders,
        people_bits=people_bits(seen, work),
        verdict=verdict(users, bits, named, seen.nouns),
        caveats=caveats(seen, found, scored),
        notes=(
            *seen.notes,
            *found.notes,
            *left_out(users, seen.nouns),
            *people_notes(senders),
        ),
        seed=seed,
        seconds=time.perf_counter() - began,
    )


def _observation(
    source: str | os.PathLike[str] | Graph | Observation, how: dict[str, Any]
) -> tuple[Observation, str]:
    if isinstance(source, Observation | Graph) and how:
        raise TypeError(f"audit() takes {next(iter(how))!r} for files only")
    if isinstance(source, Observation):
        return source, source.source
    if isinstance(source, Graph):
        return Observation(graph=source, source="a graph"), "graph"
    from anonymatch.sources import open_observation

    path = as_path(source)
    return open_observation(path, **how), path.name


def _cost(seen: Observation, found: Answers) -> Cost:
    return Cost(
        edges=found.edges,
        candidates=found.edges / max(len(found.users.users), 1),
        mean_delay=seen.mean_delay,
        longest_delay=seen.longest_delay,
        cover=_cover(seen, found),
        lost=seen.lost if found.links is None else round(float(found.links.lost.sum())),
    )


def _cover(seen: Observation, found: Answers) -> float | None:
    """Share of the messages out that are nobody's: as the log flags them, else as expected."""
    if seen.cover is not None or seen.passage is None:
        return seen.cover
    if found.links is None or not len(found.links.real):
        return 0.0
    return round(float(found.links.cover.mean()), 12)


def _share(log: Interval, most: float) -> Interval:
    if most <= 0.0:
        return Interval(0.0, 0.0, 0.0)
    return log.divided(most).clipped(0.0, 1.0)


def _designed(seen: Observation, found: Answers) -> bool:
    """Whether designs of as many edges are a fair comparison.

    They are for as many users as behaviours. Through one exponential mix everybody who came before
    is a candidate, however unlikely: there, not edges but delay is what is paid.
    """
    n_users = len(found.users.users)
    square = seen.lost == 0 and n_users == len(found.users.behaviours) and n_users > 0
    return square and seen.passage is None


def _designs(seen: Observation, found: Answers) -> tuple[Design, ...]:
    """The best for the same users and edges, by both objectives."""
    if not _designed(seen, found):
        return ()
    users = len(found.users.users)
    return tuple(
        design(users=users, edges=found.edges, objective=objective)
        for objective in ("matchings", "after_attack")
    )


def _same_delay(seen: Observation) -> tuple[tuple[str, float], ...]:
    """What other mixes give that cost as much delay, for messages that come in at random.

    With so many messages inside on average, an exponential mix holds each as long; batches of k
    hold them (k - 1)/2 arrivals, and a pool of k that swaps one message at a time k arrivals. All
    are the entropy of one message, as the headline is.
    """
    if seen.mean_delay is None or seen.rate is None or seen.mean_delay <= 0:
        return ()
    inside = seen.rate * seen.mean_delay
    if not inside < _MOST_INSIDE:
        return ()
    batch, pool = max(round(2 * inside + 1), 1), round(inside)
    found = [
        ("one exponential mix", exponential_bits(inside)),
        (f"batches of {batch:,}", threshold_bits(batch)),
    ]
    if pool >= 1:
        found.append((f"pool mix 1,{pool}", pool_bits(1, pool)))
    return tuple(found)


def _front(seen: Observation, found: Answers) -> tuple[tuple[float, float], ...]:
    """What partition graphs give for fewer and for more candidates a user.

    They are made in closed form and nearly reach the bound, so that a curve of them costs nothing.
    """
    if not _designed(seen, found):
        return ()
    users = len(found.users.users)
    own = found.edges / users
    sizes = sorted({size for size in (*_FRONT, own) if size <= min(users, 4 * own)})
    return tuple(
        (edges / users, design(users=users, edges=edges, method="paper").log2 / users)
        for edges in (round(size * users) for size in sizes)
    )

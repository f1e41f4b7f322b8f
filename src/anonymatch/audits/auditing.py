"""audit(): the whole road from a log to an answer, in one readable function."""

from __future__ import annotations

import os
import time
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, overload

from anonymatch.audits.answers import (
    Answers,
    NetworkAnswers,
    Resources,
    TableAnswers,
    answer,
    chosen_of,
)
from anonymatch.audits.campaign import campaign
from anonymatch.audits.parts import Score, Worst
from anonymatch.audits.result import Audit, GraphAudit, joint_bits
from anonymatch.audits.scoring import score
from anonymatch.audits.verdict import caveats, left_out, verdict, warned
from anonymatch.audits.worst import worst
from anonymatch.base.arguments import real, whole
from anonymatch.base.atomic_files import as_path
from anonymatch.graph import Graph
from anonymatch.mixes import (
    MessageObservation,
    MixAudit,
    NetworkAudit,
    NetworkObservation,
    Observation,
    people,
    people_bits,
    people_notes,
)
from anonymatch.rings import RingObservation, ring_figures, ring_notes
from anonymatch.running import (
    Budget,
    Progress,
    StagedProgress,
    check_executor,
    tells_misfits,
)
from anonymatch.tables import TableObservation

if TYPE_CHECKING:
    from anonymatch.disclosure import Disclosure

__all__ = ["audit"]

_THRESHOLD = 5.0  # effective set size, unless told
_ROUNDS_SECONDS = 20.0  # for what rounds tell


@overload
def audit(source: Graph, /, **terms: Any) -> GraphAudit: ...


@overload
def audit(source: str | os.PathLike[str] | Observation, /, **terms: Any) -> Any:
    # The class depends on what the file is: checkers take the result for any of them.
    ...


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

        Released tables (or :func:`anonymatch.audit_table`): ``original``: the table before release;
        ``quasi_identifiers`` (``identifiers`` until 0.3.0): columns that an attacker knows;
        ``sensitive``: columns that an attacker wants to know; ``hierarchies``: by column, a file
        with what each value may have become; ``tolerance``: by column, how far a released number
        may be off; ``missing``: texts that mean an unknown value.

        Rings (or :func:`anonymatch.audit_rings`): ``decoys``, ``spends``: laws of ages;
        ``merging``: outputs of one transaction are spent together.

        Flow pairs: ``longest_delay``: seconds that no packet takes longer;
        ``strays``: packets that a pair may receive though neither sent them; ``align``: ``"start"``
        lets all recordings begin together.

    Returns
    -------
    MixAudit, NetworkAudit, TableAudit, RingAudit or GraphAudit
        By the problem that the file is about.

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
    if "quasi_identifiers" in how:
        how["identifiers"] = how.pop("quasi_identifiers")
    if "original" in how and name is not None:  # of a released table: the column of names
        how, name = {**how, "name": name}, None
    allowed = Budget.of(budget)
    terms = AuditTerms(
        threshold=real(threshold if threshold is not None else _THRESHOLD, "threshold"),
        threshold_given=threshold is not None,
        top=whole(top, "top"),
        steps=whole(steps, "steps"),
        seed=whole(seed, "seed"),
        began=began,
    )
    observation, called = _observation(source, how, allowed)
    check_executor(executor, progress)
    bar = StagedProgress(progress, allowed.seconds if allowed.chosen else 0.0)
    resources = Resources(budget=allowed, seed=terms.seed, executor=executor, progress=bar)
    result = _audited(observation, called if name is None else str(name), terms, resources)
    if isinstance(result, MixAudit):
        found = _disclosure(source, terms.seed, allowed, executor)
        result = result if found is None else replace(result, disclosure=found)
    return replace(result, seconds=time.perf_counter() - began)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditTerms:
    """What is asked of an audit."""

    threshold: float
    threshold_given: bool
    top: int
    steps: int
    seed: int
    began: float


class _Common(TypedDict):
    """Fields that audits of all problems have."""

    name: str
    threshold: float
    threshold_given: bool
    worst: tuple[Worst, ...]
    verdict: str
    caveats: tuple[str, ...]
    notes: tuple[str, ...]
    seed: int
    seconds: float


def _audited(observation: Observation, name: str, terms: AuditTerms, resources: Resources) -> Audit:
    """The audit of the problem that was observed. Only the code of that problem runs."""
    answers = answer(observation, resources)
    observation = _looked_at(observation, answers)
    named = worst(observation, answers, terms.top or len(answers.users.users))

    def common(scored: Score | None = None, *notes: str) -> _Common:
        resources.finish()
        nouns = observation.nouns
        said = verdict(answers.users, joint_bits(answers), named, nouns)
        return {
            "name": name,
            "threshold": terms.threshold,
            "threshold_given": terms.threshold_given,
            "worst": named,
            "verdict": warned(said, scored, observation),
            "caveats": caveats(observation, answers, scored),
            "notes": (
                *observation.notes,
                *answers.notes,
                *left_out(answers.users, nouns),
                *notes,
            ),
            "seed": terms.seed,
            "seconds": time.perf_counter() - terms.began,
        }

    if isinstance(observation, TableObservation):
        from anonymatch.tables import TableAudit, findings

        assert isinstance(answers, TableAnswers)
        return TableAudit(
            observation=observation, answers=answers, findings=findings(answers.table), **common()
        )
    scored = score(observation, answers)
    if isinstance(observation, NetworkObservation):
        assert isinstance(answers, NetworkAnswers)
        senders = people(observation, answers)
        return NetworkAudit(
            observation=observation,
            answers=answers,
            people=senders,
            score=scored,
            **common(scored, *people_notes(senders)),
        )
    exposed = campaign(observation, answers, terms.steps, resources)
    if isinstance(observation, RingObservation):
        from anonymatch.rings import RingAudit

        figures = ring_figures(observation, answers)
        notes = ring_notes(observation, figures)
        return RingAudit(
            observation=observation,
            answers=answers,
            rings=figures,
            score=scored,
            campaign=exposed,
            **common(scored, *notes),
        )
    if not isinstance(observation, MessageObservation):
        return GraphAudit(
            observation=observation,
            answers=answers,
            score=scored,
            campaign=exposed,
            **common(scored),
        )
    senders = people(observation, answers)
    of_people = people_bits(observation, resources)
    return MixAudit(
        observation=observation,
        answers=answers,
        people=senders,
        people_bits=of_people,
        score=scored,
        campaign=exposed,
        **common(scored, *people_notes(senders)),
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
    chosen = chosen_of(answers)
    if chosen is None or not isinstance(observation, MessageObservation):
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

"""Audit: the base class of the results that audits return, one class per problem."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonymatch.audits.answers import Answers
from anonymatch.audits.parts import Campaign, OneStep, Score, SystemCost, Worst
from anonymatch.audits.wording import attacker
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.interval import Interval
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.counting import Count
from anonymatch.counting.measures import averages, drawn_mean
from anonymatch.mixes import Observation

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.reporting.charts import AnyChart
    from anonymatch.theory.designs import Design

__all__ = ["Audit", "ExposedAudit", "GraphAudit", "ScoredAudit"]

_LN2 = math.log(2.0)
_WHOLE = 1e-6  # a probability this near to 1 is certain
_NOBODY = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Audit(Summarised):
    """How well a system or a release hides its users, and who is worst off.

    :func:`anonymatch.audit` returns one of the classes ``MixAudit``, ``NetworkAudit``,
    ``TableAudit``, ``RingAudit`` and ``GraphAudit``. Each adds the fields of its problem. The
    attributes below are those of all of them. A user is a message of a mix, a person of a table or
    an input of a ring; a behaviour is a departure, a row or an output.

    Attributes
    ----------
    name : str
        Name of the file, or "graph".
    attacker : str
        What the attacker observes: "sees both ends", "sees every link", or "sees every link and
        controls m3". Empty for problems without mixes.
    figures : dict of str to Interval
        The known figures by key, as in JSON and thresholds.
    observation : Observation
    n_users, n_behaviours : int
    n_counted : int
        Users that averages, quantiles, shares and the list of the worst include.
    cost : SystemCost
    count : Count
        Ways to match users to behaviours.
    entropy : Interval
        The headline: mean Shannon entropy, in bits, of the attacker's posterior about one user.
        `entropy_quantile` is the entropy that the worst share of the users do not exceed.
    min_entropy, guessing_entropy : Interval, Interval or None
        Mean of -log2 of the best guess's probability, and mean number of guesses.
    bits : Interval
        Joint bits per user: entropy of the matching divided by the number of users. Less than
        `entropy`, because knowing one match rules out others.
    degree : Interval
        Joint bits as a share of those if nothing were known.
    bound, reached : float, Interval
        Joint bits per user that the numbers of candidates allow, and the share that is reached.
    identified : int
        Counted users with one behaviour in all matchings.
    threshold, below : float, Interval
        An effective anonymity set size, and the share of counted users below it.
    threshold_given : bool
        Whether the threshold was set; charts mark it then.
    surest : Interval
        The largest probability that a best guess is right; 0 if there is nobody.
    worst : tuple of Worst
    one_step : OneStep or None
        The attacker's best single exposure.
    verdict : str
        Result in one line.
    caveats, notes : tuple of str
        Conditions under which the figures hold, and facts about the input.
    exact : bool
        Whether every figure is exact (or in doubles with a proven error).
    confidence : float
        Probability that the intervals hold; 1.0 means proven.
    seed : int
    seconds : float
        Wall time of the audit.

    Examples
    --------
    >>> import anonymatch as am
    >>> audit = am.audit(am.complete(4))
    >>> isinstance(audit, am.Audit), type(audit).__name__, audit.figures["entropy"].value
    (True, 'GraphAudit', 2.0)
    """

    name: str
    observation: Observation
    answers: Answers = field(repr=False)
    threshold: float
    threshold_given: bool = False
    worst: tuple[Worst, ...] = field(repr=False)
    verdict: str
    caveats: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...]
    seed: int
    seconds: float

    columns: ClassVar[Mapping[str, str]] = {}
    """Names of keys and columns in this problem, by those of a graph."""
    absent: ClassVar[tuple[str, ...]] = ()
    """Keys and columns that say nothing in this problem, without `_low` and `_high`."""

    @property
    def n_users(self) -> int:
        return self.answers.size

    @property
    def n_behaviours(self) -> int:
        slots = self.observation.lost if self.observation.graph is not None else 0
        return len(self.answers.users.behaviours) - slots

    @property
    def count(self) -> Count:
        return self.answers.count

    @property
    def confidence(self) -> float:
        return self.answers.confidence

    @property
    def exact(self) -> bool:
        return self.confidence == 1.0 and self.answers.users.known

    @property
    def n_counted(self) -> int:
        return int(self.answers.users.counted.sum())

    @property
    def attacker(self) -> str:
        return attacker(self.observation)

    @property
    def figures(self) -> dict[str, Interval]:
        from anonymatch.audits.figures import known_figures  # which is made from audits

        return known_figures(self)

    @property
    def cost(self) -> SystemCost:
        edges = self.answers.edges
        return SystemCost(edges=edges, candidates=edges / max(len(self.answers.users.users), 1))

    @property
    def bits(self) -> Interval:
        return joint_bits(self.answers)

    @property
    def degree(self) -> Interval:
        return _share(self.answers.entropy, self.answers.full)

    @property
    def bound(self) -> float:
        return self.answers.bound / max(self.answers.joint_size, 1) / _LN2

    @property
    def reached(self) -> Interval:
        return _share(self.answers.entropy, self.answers.bound)

    @property
    def identified(self) -> int:
        users = self.answers.users
        return int(users.alone[users.counted].sum())

    @property
    def below(self) -> Interval:
        return self.answers.users.below(self.threshold)

    @property
    def one_step(self) -> OneStep | None:
        """The user with the largest Rényi-2 entropy; None for nobody.

        If x is exposed, exp(-H2) of the matchings are left on average.
        """
        figures = self.answers.users.renyi2
        if not len(figures.high):
            return None
        known = figures.value if self.answers.users.known else figures.high
        i = int(np.argmax(known))
        value, low, high = (float(part[i]) for part in (known, figures.low, figures.high))
        return OneStep(target=self.answers.users.users[i], lost_bits=Interval(value, low, high))

    @property
    def identified_share(self) -> Interval:
        """Identified users as a share of the counted ones; estimated if not all were looked at."""
        users = self.answers.users
        if users.weights is None:
            share = self.identified / max(self.n_counted, 1)
            if not self.observation.rounded:
                return Interval(share, share, share)
            sure = users.surest.high[users.counted] >= 1.0 - _WHOLE  # for some order of the rows
            return Interval(share, share, max(share, float(sure.sum()) / max(self.n_counted, 1)))
        return drawn_mean(
            np.where(users.alone[users.counted], 1.0, 0.0),
            users.weights[users.counted],
            shares=True,
        ).clipped(0.0, 1.0)

    @cached_property
    def entropy(self) -> Interval:
        return averages.mean_entropy(self.answers.users, self.bits) or _NOBODY

    def entropy_quantile(self, share: float) -> Interval:
        """Entropy that the worst share of the users do not exceed, in bits; 0.01 for the worst 1 %.

        Examples
        --------
        >>> import anonymatch as am
        >>> round(am.audit(am.partition([2, 8])).entropy_quantile(0.01).value, 6)
        1.0
        """
        users = self.answers.users
        return averages.quantile(users, users.shannon, share) or _NOBODY

    @cached_property
    def min_entropy(self) -> Interval:
        users = self.answers.users
        if users.mean_min_entropy is not None:
            return users.mean_min_entropy
        return averages.mean(users, users.min_entropy) or _NOBODY

    @property
    def guessing_entropy(self) -> Interval | None:
        return None if self._guessing is None else self._guessing[0]

    @cached_property
    def _guessing(self) -> tuple[Interval, float] | None:
        users = self.answers.users
        return None if users.guesses is None else averages.sampled_mean(users, users.guesses)

    @property
    def guessing_confidence(self) -> float:
        """That of `guessing_entropy`, which is taken from a sample where the log is long."""
        return 1.0 if self._guessing is None else self._guessing[1]

    @property
    def departures_are_open(self) -> bool:
        """Whether messages may have been lost or be inside: figures are then if they departed."""
        return self.answers.users.departed is not None

    @property
    def surest(self) -> Interval:
        users = self.answers.users
        return averages.largest(users, users.surest) or _NOBODY

    @property
    def users(self) -> pl.DataFrame:
        """One row per user: best guess, its probability, entropies, effective set, candidates.

        `probability_departed` is that of the guess given that the message departed, and
        `probability` is not divided so: the guess is wrong if the message was lost.
        """
        return self.answers.users.frame()

    @property
    def frame(self) -> pl.DataFrame:
        """The same table with the names of the columns in this problem, as `--csv` saves it."""
        users = self.users.rename(dict(self.columns), strict=False)
        return users.drop(name for name in users.columns if name.startswith(self.absent))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the table of users (`frame`)."""
        from anonymatch.audits.record import record

        return record(self)

    def _entries(self) -> dict[str, Any]:
        """Entries of `to_dict` that only this problem has."""
        return {}

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The same as text; also written to ``path`` if given."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)
        if path is not None:
            with unfinished(as_path(path)) as beside:
                beside.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
        return text

    @property
    def charts(self) -> tuple[str, ...]:
        """The names of the charts that this audit has.

        Examples
        --------
        >>> import anonymatch as am
        >>> am.audit(am.complete(4)).charts
        ('entropy', 'set_size', 'probability', 'exposures', 'cost')
        """
        from anonymatch.audits.reports.charts import audit_charts

        return tuple(audit_charts(self))

    def chart(self, name: str = "entropy") -> AnyChart:
        """A chart, for notebooks and files; ``chart.save("entropy.svg")`` writes it.

        Parameters
        ----------
        name : str
            ``entropy``, ``set_size`` and ``probability``: how these are spread over users.
            ``time``: entropy over time, and the load of the mix. ``matrix``: candidates by the
            time of arrival and the delay. ``delay``: how long messages were delayed.
            ``exposures``: what exposures leave. ``cost`` and ``latency``: what candidates and
            delay buy, here and elsewhere. ``calibration``: predicted probabilities compared with
            the ground truth. `charts` has those that this audit has.

        Returns
        -------
        altair.Chart, or one of several parts

        Examples
        --------
        >>> import anonymatch as am
        >>> chart = am.audit(am.partition([2, 8])).chart("entropy")
        >>> chart.to_dict()["description"].partition(";")[0]
        'Entropy of users. 10 users from 1 to 3'
        """
        from anonymatch.audits.reports.charts import chart_of

        return chart_of(self, name)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write it as one HTML page that needs nothing else."""
        # The only step up in the layers: a reader looks for the report on the audit.
        from anonymatch.audits.reports.report import audit_report
        from anonymatch.reporting import write_report_html

        write_report_html(audit_report(self), path)

    def _figures(self) -> Figures:
        from anonymatch.audits.figures import summary_figures  # which is made from audits

        return summary_figures(self)

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScoredAudit(Audit):
    """An audit of a problem whose ground truth may be known.

    Attributes
    ----------
    score : Score or None
        The attacker's guesses compared with the ground truth; None if that is not known.
    """

    score: Score | None = None

    def _entries(self) -> dict[str, Any]:
        return super()._entries() | {"score": self.score}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExposedAudit(ScoredAudit):
    """An audit of one graph, in which users can be exposed one after another.

    Attributes
    ----------
    campaign : Campaign
    designs : tuple of Design
        The best designs for the same numbers of users and edges: most matchings, and most left
        after an exposure. Empty if users and behaviours differ in number, and without a graph.
        They are searched for at first use, as is `front`.
    front : tuple of (float, float)
        Candidates per user, and joint bits per user of the paper's partition graph of them.
    """

    campaign: Campaign = field(repr=False)

    @property
    def designs(self) -> tuple[Design, ...]:
        by_objective = (self.best_design, self._best_after_attack)
        return tuple(design for design in by_objective if design is not None)

    # The search takes longer than the rest of the audit: it is for those who look.
    @cached_property
    def best_design(self) -> Design | None:
        """The first of `designs`, that of most matchings."""
        from anonymatch.audits.alternatives import best_design

        return best_design(self.observation, self.answers, "matchings")

    @cached_property
    def _best_after_attack(self) -> Design | None:
        from anonymatch.audits.alternatives import best_design

        return best_design(self.observation, self.answers, "after_attack")

    @cached_property
    def front(self) -> tuple[tuple[float, float], ...]:
        from anonymatch.audits.alternatives import front

        return front(self.observation, self.answers)

    def _entries(self) -> dict[str, Any]:
        designs = [
            {
                "objective": design.objective,
                "bits": design.log2 / design.users,
                "bits_after_attack": design.attack_log / _LN2 / design.users,
                "parts": str(design),
            }
            for design in self.designs
        ]
        own = {"campaign": self.campaign, "designs": designs, "front": self.front}
        return super()._entries() | own


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GraphAudit(ExposedAudit):
    """Audit of a bipartite graph of users and behaviours.

    Examples
    --------
    >>> import anonymatch as am
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    >>> audit = am.audit(am.Graph.from_edges(pairs))
    >>> type(audit).__name__, audit.count.value, audit.identified, audit.worst[0].reason
    ('GraphAudit', 2, 1, 'nobody else fits z')
    >>> audit.one_step.target, round(audit.one_step.lost_bits.value, 6)
    ('ann', 1.0)
    """


def joint_bits(answers: Answers) -> Interval:
    """Joint bits per user, or in a network per packet."""
    per_user = answers.entropy.divided(max(answers.joint_size, 1) * _LN2)
    return per_user.clipped(0.0, math.inf)


def _share(log: Interval, most: float) -> Interval:
    return _NOBODY if most <= 0.0 else log.divided(most).clipped(0.0, 1.0)

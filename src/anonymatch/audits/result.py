"""Audit: everything about one system in one frozen answer."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import Answers
from anonymatch.audits.rings import RingFigures
from anonymatch.audits.wording import attacker
from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.interval import Interval
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.counting import Count
from anonymatch.counting.measures import averages, drawn_mean
from anonymatch.mixes import PEOPLE, Observation

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.disclosure import Disclosure
    from anonymatch.reporting.charts import AnyChart
    from anonymatch.tables import TableFindings
    from anonymatch.theory.designs import Design

__all__ = [
    "Audit",
    "Bin",
    "Campaign",
    "CampaignStep",
    "OneStep",
    "Score",
    "SystemCost",
    "Worst",
]


_WHOLE = 1e-6  # a sum of probabilities this near to a whole number is that number
_NOBODY = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemCost:
    """What the anonymity is paid with; None where the log does not say.

    Attributes
    ----------
    edges : int
        Pairs of a user and a behaviour that fit each other.
    candidates : float
        Behaviours that fit a user, on average.
    mean_delay, longest_delay : float or None
        Seconds.
    cover : float or None
        Share of the messages out that are nobody's.
    lost : int
        Messages that never came out; where a log leaves it open which those are, the expected
        number that were lost, rounded.
    """

    edges: int
    candidates: float
    mean_delay: float | None
    longest_delay: float | None
    cover: float | None
    lost: int

    @property
    def packets(self) -> float | None:
        """Sent for each message, itself included: the price in bandwidth."""
        return None if self.cover is None or self.cover >= 1.0 else 1.0 / (1.0 - self.cover)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """A user who is badly off, and why.

    Attributes
    ----------
    user, guess : name
        Who, and the attacker's best guess. None if that is not known, as `probability` then is, or
        if it is that the message was lost.
    probability, probability_departed : float or None
        That the guess is right, as in the table of users; and the same given that the message
        departed, by which the worst come first. They differ only where messages may be lost.
    effective : float
        As many equally likely behaviours as the user hides among; the low end if not known.
    candidates, allowed : int
        Behaviours that fit, and those of them that fit together with everybody else's.
    reason : str
    """

    user: Hashable
    guess: Hashable | None
    probability: float | None
    probability_departed: float | None
    effective: float
    candidates: int
    allowed: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OneStep:
    """The attacker's best single exposure.

    Attributes
    ----------
    target : name
        Whose exposure leaves the fewest matchings on average.
    lost_bits : Interval
        Bits that the system loses by it: log2 of the matchings before over the expected ones left,
        a mean over all truths. The first step of a campaign is along one truth, so it may cost more
        or less.
    """

    target: Hashable
    lost_bits: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStep:
    """One exposure of several: who, and what is left of the whole system.

    ``in_doubt`` are users of the whole system who are not identified.
    """

    number: int
    target: Hashable
    bits_left: float
    in_doubt: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Exposures one after another along one truth, each the attacker's best at that moment.

    Attributes
    ----------
    steps : tuple of CampaignStep
    truth : {"given", "sampled"}
        The log's own, or one drawn from the probabilities.
    seed : int or None
    reason : str
        Why there are no steps, if there are none, or in what they fall short of that.
    """

    steps: tuple[CampaignStep, ...] = ()
    truth: str = "sampled"
    seed: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Guesses that were promised about the same probability: how many, the mean promise, and how
    it was.

    ``right`` is the share that was right.
    """

    low: float
    high: float
    guesses: int
    promised: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The attacker's best guesses against the truth in the log.

    Attributes
    ----------
    guesses : int
        Users whose truth is known.
    right : float
        Share of them whose best guess is right; among messages that left at the same time the
        guess is drawn at random.
    promised : float
        Share that the posteriors promise.
    error : float
        Standard error of the difference, if promises are kept.
    log_score : float or None
        Mean of -log2 of the probability of the true match, in bits, over the counted users whose
        true match departed; given that it departed. Infinite if a true match is impossible. None
        if probabilities are known as intervals only.
    log_expected : float or None
        Mean entropy of the same users: the value of `log_score` to expect if probabilities are
        calibrated. Compare it with ``Audit.entropy``.
    log_score_error : float or None
        One standard error of `log_score`, if probabilities are calibrated.
    calibrated : bool
        Whether both differences are within three standard errors, and no truth is impossible. The
        log score notices probabilities that are spread too wide, which best guesses do not.
    impossible : int
        Users whose true behaviour does not fit the law: the law is wrong for them.
    bins : tuple of Bin
        By the promised probability.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("window:1,5", messages=100, seed=1)
    >>> score = am.audit(am.mixes.observe(log, "window:1,5")).score
    >>> score.guesses, score.impossible, abs(score.right - score.promised) < 3 * score.error
    (100, 0, True)
    >>> abs(score.log_score - score.log_expected) < 3 * score.log_score_error
    True
    """

    guesses: int
    right: float
    promised: float
    error: float
    log_score: float | None
    log_expected: float | None
    log_score_error: float | None
    calibrated: bool
    impossible: int
    bins: tuple[Bin, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Audit(Summarised):
    """Is this system good enough, and for whom is it worst?

    Attributes
    ----------
    name : str
        Of the file, or "graph".
    observation : Observation
    n_users, n_behaviours : int
        Messages in and out, unless the source knows no messages.
    cost : Cost
    count : Count
        Ways to match users to behaviours.
    attacker : str
        Who the figures are about: "sees both ends", "sees every link", or "sees every link and
        controls m3". Empty for sources that know no mixes.
    entropy_error : float or None
        One standard error of `entropy` from the traffic: how much it varies over logs of the same
        system. By batch means over time; None for sources without times.
        `entropy_quantile_error` has those of the worst shares.
    entropy : Interval
        The headline: mean Shannon entropy, in bits, of the attacker's posterior about one message
        (user, flow), given that it departed; messages count as much as they are likely to have.
        `entropy_quantile` has what the worst share of them do not exceed.
    min_entropy, guessing_entropy : Interval, Interval or None
        The mean of -log2 of the best guess's probability, and of how many guesses it takes.
    n_counted : int
        Users that means, quantiles, shares and the list of the worst are about: not those near an
        end of the log, and none of which nothing that came out can be the message.
    unreleased : int or None
        People who are not in a released table: no row can be theirs. None for other sources.
    bits : Interval
        Joint bits per message (user, flow): entropy of the matching, through the users; without
        weights log2 of the count through the users. Less than `entropy`, because what one message
        is says much about the others.
    degree : Interval
        The same as a share of what it is if nothing is known.
    bound, reached : float, Interval
        Joint bits per message that the numbers of candidates allow, and the share of it reached.
    ceiling : Interval or None
        Upper bound of the mean entropy over all messages, whatever the mixes do: g(M) with M the
        mean number of departures that the attacker sees while a message is inside. Cover that is
        created inside counts, if the attacker cannot tell it from messages. Known of networks
        without losses and cover, and of a mix that is followed by what is inside.
    designs : tuple of Design
        The best ones for as many users and edges: most matchings, most left after an attack. Empty
        if users and behaviours differ in number, and for a passage. They are searched for when they
        are first looked at, as is `front`.
    same_delay : tuple of (str, float)
        Mixes that hold messages back as long on average, for messages that come in at random, and
        their entropy per message.
    same_delay_seconds : float or None
        How long these hold them back: the mean delay, or less where more messages would be inside
        than in this log.
    front : tuple of (float, float)
        Candidates a user, and joint bits per message of the paper's partition graph of them.
    identified : int
        Counted users with one behaviour in all matchings.
    threshold, below : float, Interval
        An effective set size, and the share of counted users below it.
    threshold_given : bool
        Whether it was asked for; charts mark it then.
    surest : Interval
        The largest probability that a best guess is right, given that the message departed; 0 if
        there is nobody.
    worst : tuple of Worst
    one_step : OneStep or None
    campaign : Campaign
    score : Score or None
    people : polars.DataFrame or None
        A row a sender, if somebody sent or received several messages.
    people_bits : Interval or None
        Joint bits per message about who wrote to whom: `bits` is about messages. None if nobody has
        several messages, and where it would cost too much.
    verdict : str
        One line in words.
    caveats, notes : tuple of str
        What the figures do not say; what there is to know about the log.
    exact : bool
        Whether every figure is exact (or in doubles with a proven error).
    confidence : float
        Probability that the intervals hold; 1.0 means proven.
    rings : RingFigures or None
        Of ring signatures: which spends are certain and how that is known, figures over time, and
        merged outputs.
    disclosure : Disclosure or None
        What rounds tell, if the log says in which round each message was seen.
    table : TableFindings or None
        Of a released table: what it gives away by every notion that has a name.
    notions : dict
        Their values by name: "k-anonymity", "(1,k)", "(k,1)", "(k,k)", "global (1,k)",
        "l-diversity", "t-closeness" ...; empty for other sources.
    seed : int
    seconds : float
        Wall time that it took.

    Examples
    --------
    >>> import anonymatch as am
    >>> pairs = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "y"), ("cem", "y"), ("cem", "z")]
    >>> audit = am.audit(am.Graph.from_edges(pairs))
    >>> audit.count.value, audit.identified, audit.worst[0].reason
    (2, 1, 'nobody else fits z')
    >>> audit.one_step.target, round(audit.one_step.lost_bits.value, 6)
    ('ann', 1.0)
    """

    name: str
    observation: Observation
    answers: Answers = field(repr=False)
    cost: SystemCost
    bits: Interval
    degree: Interval
    bound: float
    reached: Interval
    ceiling: Interval | None = None
    disclosure: Disclosure | None = field(default=None, repr=False)
    rings: RingFigures | None = field(default=None, repr=False)
    table: TableFindings | None = field(default=None, repr=False)
    same_delay: tuple[tuple[str, float], ...] = field(repr=False)
    same_delay_seconds: float | None = field(default=None, repr=False)
    identified: int
    threshold: float
    threshold_given: bool = False
    below: Interval
    worst: tuple[Worst, ...] = field(repr=False)
    one_step: OneStep | None
    campaign: Campaign = field(repr=False)
    score: Score | None
    people: pl.DataFrame | None = field(repr=False)
    people_bits: Interval | None
    verdict: str
    caveats: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...]
    seed: int
    seconds: float

    @property
    def n_users(self) -> int:
        return self.answers.size

    @property
    def n_behaviours(self) -> int:
        """Messages out, rows and the like; places for those who are lost are none of them."""
        observation = self.observation
        places = observation.graph is not None and observation.release is None
        return len(self.answers.users.behaviours) - (observation.lost if places else 0)

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
    def identified_share(self) -> Interval:
        """Identified users as a share of the counted ones; estimated if not all were looked at."""
        users = self.answers.users
        if users.weights is None:
            share = self.identified / max(self.n_counted, 1)
            if self.observation.rounding is None:
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
        """What the worst share of the messages do not exceed, in bits; 0.01 for the worst 1 %.

        Examples
        --------
        >>> import anonymatch as am
        >>> round(am.audit(am.partition([2, 8])).entropy_quantile(0.01).value, 6)
        1.0
        """
        users = self.answers.users
        return averages.quantile(users, users.shannon, share) or _NOBODY

    @property
    def attacker(self) -> str:
        return attacker(self.observation)

    @cached_property
    def time_order(self) -> npt.NDArray[np.int64] | None:
        """Indices that sort users by their arrival; None for sources without times."""
        arrivals = self.observation.arrivals
        if arrivals is None or len(arrivals) != len(self.answers.users.degree):
            return None
        return np.argsort(arrivals, kind="stable")

    @cached_property
    def entropy_error(self) -> float | None:
        users, order = self.answers.users, self.time_order
        return None if order is None else averages.mean_error(users, users.shannon.value, order)

    def entropy_quantile_error(self, share: float) -> float | None:
        """One standard error of `entropy_quantile` from the traffic; None without times.

        Examples
        --------
        >>> import anonymatch as am
        >>> log = am.mixes.synthesize("exponential:5", messages=500, seed=1)
        >>> audit = am.audit(am.mixes.observe(log, "exponential:5"))
        >>> 0.05 < audit.entropy_error < audit.entropy_quantile_error(0.01) < 1
        True
        """
        users, order = self.answers.users, self.time_order
        if order is None:
            return None
        return averages.quantile_error(users, users.shannon.value, share, order)

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

    @property
    def unreleased(self) -> int | None:
        if self.observation.nouns != PEOPLE:
            return None
        return int(self.answers.users.censored.sum())

    @property
    def notions(self) -> dict[str, float | None]:
        return {} if self.table is None else {k: n.value for k, n in self.table.notions.items()}

    @property
    def departures_are_open(self) -> bool:
        """Whether messages may have been lost or be inside: figures are then if they departed."""
        return self.answers.users.departed is not None

    @property
    def lost_is_expected(self) -> bool:
        """Whether `cost.lost` is an expected number, rounded, and not what was counted or told."""
        links = self.answers.links
        return links is not None and abs(float(links.lost.sum()) - self.cost.lost) > _WHOLE

    @property
    def surest(self) -> Interval:
        users = self.answers.users
        return averages.largest(users, users.surest) or _NOBODY

    @property
    def users(self) -> pl.DataFrame:
        """A row a user: best guess, its probability, entropies, effective set, candidates.

        `probability_departed` is that of the guess given that the message departed, and
        `probability` is not divided so: the guess is wrong if the message was lost.
        Of a released table, `released` is True for people who are in it, False for those who are
        not, and null where that is open. Its figures include that a person may be absent, with the
        probability `lost`; `probability_departed` and `shannon_departed` are given that the person
        is in the release, which has the probability `departed`.
        """
        frame = self.answers.users.frame()
        if self.unreleased is None:
            return frame
        import polars as pl

        from anonymatch.base.frames import Frame

        present = pl.col("departed")
        known = pl.when((present >= 1.0) | pl.col("censored")).then(~pl.col("censored"))
        return Frame(frame.with_columns(known.alias("released")))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the table of users apart (`users`)."""
        from anonymatch.audits.record import record

        return record(self)

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
        from anonymatch.audits.charts import audit_charts

        return tuple(audit_charts(self))

    def chart(self, name: str = "entropy") -> AnyChart:
        """A chart, for notebooks and files; ``chart.save("entropy.svg")`` writes it.

        Parameters
        ----------
        name : str
            ``entropy``, ``set_size`` and ``probability``: how these are spread over users.
            ``time``: entropy over time, and the load of the mix. ``matrix``: who fits what, by the
            time of arrival and the delay. ``delay``: how long messages were held back.
            ``exposures``: what exposures leave. ``cost`` and ``latency``: what candidates and what
            delay buy, here and elsewhere. ``calibration``: promises against the truth. `charts` has
            those that this audit has.

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
        from anonymatch.audits.charts import chart_of

        return chart_of(self, name)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write it as one HTML page that needs nothing else."""
        # The only step up in the layers: a reader looks for the report on the audit.
        from anonymatch.audits.report import audit_report
        from anonymatch.reporting import write_report_html

        write_report_html(audit_report(self), path)

    def _figures(self) -> Figures:
        from anonymatch.audits.figures import summary_figures  # which is made from audits

        return summary_figures(self)

    def __str__(self) -> str:
        return f"{self.name}: {self.verdict}"

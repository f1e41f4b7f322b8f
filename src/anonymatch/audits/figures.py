"""The figures of an audit, in one table: what each is called, means, is worth, and how sure it is.

Thresholds, JSON, the terminal, pages and comparisons all read this table. To add a figure is to add
an entry to it, and its key to what shall show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from anonymatch.audits.receivers import fewest_receivers
from anonymatch.audits.result import Audit
from anonymatch.measures import Interval, averages
from anonymatch.sources import Nouns, Observation

__all__ = ["FIGURES", "QUANTILES", "AuditFigure", "confidence_of", "figure_of"]

QUANTILES = (0.05, 0.01)
"""Shares of the worst users whose entropy is shown beside the mean."""

Ints = npt.NDArray[np.int64]

_Value = Callable[[Audit], Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFigure:
    """One figure: all that is said about it wherever it is shown.

    Attributes
    ----------
    key : str
        Its name in JSON, and in thresholds.
    title, meaning : str
        In words, with ``{user}``, ``{users}``, ``{behaviours}`` and ``{threshold}`` to fill in.
    unit : {"bits", "share", "size", "guesses", "seconds", "number"}
    better : {"higher", "lower", ""}
    value : function
        From an audit; None where it is not known.
    rests_on : {"posterior", "count", "log"}
        What makes it as sure as it is.
    gate : bool
        Whether it may be a threshold.
    """

    key: str
    title: str
    meaning: str
    unit: str
    better: str
    value: _Value
    rests_on: str
    gate: bool = False

    def title_for(self, nouns: Nouns, threshold: str = "") -> str:
        """The title in the words of a source."""
        return _filled(self.title, nouns, threshold)

    def meaning_for(self, nouns: Nouns, threshold: str = "") -> str:
        """The meaning in the words of a source."""
        return _filled(self.meaning, nouns, threshold)


def _filled(text: str, nouns: Nouns, threshold: str) -> str:
    return text.format(
        user=nouns.user, users=nouns.users, behaviours=nouns.behaviours, threshold=threshold
    )


def _exactly(value: float | None) -> Interval | None:
    return None if value is None else Interval(value, value, value)


def _quantile(share: float) -> AuditFigure:
    """Entropy that the worst share of the users do not exceed."""
    percent = f"{100 * share:.4g} %"
    return AuditFigure(
        key=f"entropy_{100 * share:.4g}%",
        title=f"entropy, worst {percent}",
        meaning=f"the worst {percent} of the {{users}} have no more entropy than this",
        unit="bits",
        better="higher",
        value=lambda audit: audit.entropy_quantile(share),
        rests_on="posterior",
        gate=True,
    )


def _fewest(side: str) -> _Value:
    """The fewest candidates of a user, of a behaviour, or of both."""

    def value(audit: Audit) -> Interval | None:
        users = audit.answers.users
        found = []
        if "users" in side:
            found.append(users.degree[users.counted].min())
        if "behaviours" in side:
            fitting = _fitting(audit.observation)
            if fitting is None:
                return None
            found.append(fitting.min())
        return _exactly(float(min(found)))

    return value


def _fitting(seen: Observation) -> Ints | None:
    """Users that fit each behaviour alone; None where that is not known, and if nothing left.

    Through a mix in which messages wait for any time all that came earlier fit. Of a mix that
    flushes, losses hide for which flush a message was there.
    """
    graph, passage = seen.graph, seen.passage
    if graph is not None:
        return None if seen.lost else graph.behaviour_degrees
    assert passage is not None
    flushes = passage.law is not None and passage.law.flush is not None
    if flushes or not len(passage.departures):
        return None
    # Several hops take time: nobody leaves at the moment of coming in.
    came = np.sort(passage.arrivals)
    return np.searchsorted(came, passage.departures, side="right" if passage.at_once else "left")


def _typical(audit: Audit) -> Interval | None:
    users = audit.answers.users
    sizes = users.effective.at(users.counted)
    if not len(sizes.low):
        return None
    low, high = (float(np.median(end)) for end in (sizes.low, sizes.high))
    return (
        Interval(float(np.median(sizes.value)), low, high)
        if users.known
        else Interval.between(low, high)
    )


_TABLE = (
    AuditFigure(
        key="entropy",
        title="entropy per {user}",
        meaning="mean Shannon entropy of the attacker's posterior about one {user}",
        unit="bits",
        better="higher",
        value=lambda audit: audit.entropy,
        rests_on="posterior",
        gate=True,
    ),
    *(_quantile(share) for share in QUANTILES),
    AuditFigure(
        key="min_entropy",
        title="min-entropy per {user}",
        meaning="the mean of -log2 of the best guess's probability: against a single guess",
        unit="bits",
        better="higher",
        value=lambda audit: audit.min_entropy,
        rests_on="posterior",
        gate=True,
    ),
    AuditFigure(
        key="guessing_entropy",
        title="guessing entropy",
        meaning="guesses about one {user} on average, the likeliest first, until one is right",
        unit="guesses",
        better="higher",
        value=lambda audit: audit.guessing_entropy,
        rests_on="posterior",
        gate=True,
    ),
    AuditFigure(
        key="typical",
        title="typical set size",
        meaning="half of the {users} hide among as many equally likely {behaviours}, or fewer",
        unit="size",
        better="higher",
        value=_typical,
        rests_on="posterior",
    ),
    AuditFigure(
        key="identified",
        title="identified {users}",
        meaning="share of {users} for whom only one of the {behaviours} is left",
        unit="share",
        better="lower",
        value=lambda audit: _exactly(audit.identified / max(audit.n_counted, 1)),
        rests_on="log",
        gate=True,
    ),
    AuditFigure(
        key="unreleased",
        title="not in the release",
        meaning="{users} that no row can be of: they are not counted",
        unit="number",
        better="",
        value=lambda audit: _exactly(audit.unreleased),
        rests_on="log",
    ),
    AuditFigure(
        key="below",
        title="below {threshold}",
        meaning=(
            "share of {users} that hide among fewer than {threshold} equally likely {behaviours}"
        ),
        unit="share",
        better="lower",
        value=lambda audit: audit.below,
        rests_on="posterior",
    ),
    AuditFigure(
        key="surest",
        title="surest guess",
        meaning="probability that the attacker's guess about the worst {user} is right",
        unit="share",
        better="lower",
        value=lambda audit: audit.surest if audit.n_counted else None,
        rests_on="posterior",
        gate=True,
    ),
    AuditFigure(
        key="worst",
        title="smallest set size",
        meaning="equally likely {behaviours} that the worst {user} hides among",
        unit="size",
        better="higher",
        value=lambda audit: averages.smallest(audit.answers.users, audit.answers.users.effective),
        rests_on="posterior",
        gate=True,
    ),
    AuditFigure(
        key="receivers",
        title="fewest receivers",
        meaning="equally likely receivers that the worst {user} hides among",
        unit="size",
        better="higher",
        value=lambda audit: fewest_receivers(audit.observation, audit.answers),
        rests_on="posterior",
        gate=True,
    ),
    AuditFigure(
        key="bits",
        title="joint bits per {user}",
        meaning=(
            "log2 of the matchings, per {user}; less than the entropy, because what one {user} is "
            "says much about the others"
        ),
        unit="bits",
        better="higher",
        value=lambda audit: audit.bits,
        rests_on="count",
        gate=True,
    ),
    AuditFigure(
        key="people_bits",
        title="joint bits about people",
        meaning="per message: who wrote to whom; several messages of one pair hide less",
        unit="bits",
        better="higher",
        value=lambda audit: audit.people_bits,
        rests_on="count",
    ),
    AuditFigure(
        key="degree",
        title="degree of anonymity",
        meaning="joint bits as a share of those if nothing were known (Edman et al.)",
        unit="share",
        better="higher",
        value=lambda audit: audit.degree,
        rests_on="count",
    ),
    AuditFigure(
        key="reached",
        title="share of the bound",
        meaning="joint bits as a share of the most that so many candidates allow",
        unit="share",
        better="higher",
        value=lambda audit: audit.reached,
        rests_on="count",
    ),
    AuditFigure(
        key="attack",
        title="bits lost to one exposure",
        meaning="what the attacker's best single exposure takes from the whole system",
        unit="bits",
        better="",
        value=lambda audit: None if audit.one_step is None else audit.one_step.lost_bits,
        rests_on="posterior",
    ),
    AuditFigure(
        key="global (1,k)",
        title="global (1,k)-anonymity",
        meaning=(
            "global (1,k)-anonymity: {behaviours} that each {user} is matched with in some "
            "matching, at the fewest"
        ),
        unit="number",
        better="higher",
        value=lambda audit: _exactly(
            float(audit.answers.users.allowed[audit.answers.users.counted].min())
        ),
        rests_on="log",
        gate=True,
    ),
    AuditFigure(
        key="(1,k)",
        title="(1,k)-anonymity",
        meaning="(1,k)-anonymity: {behaviours} that fit each {user} alone, at the fewest",
        unit="number",
        better="higher",
        value=_fewest("users"),
        rests_on="log",
        gate=True,
    ),
    AuditFigure(
        key="(k,1)",
        title="(k,1)-anonymity",
        meaning="(k,1)-anonymity: {users} that fit each of the {behaviours} alone, at the fewest",
        unit="number",
        better="higher",
        value=_fewest("behaviours"),
        rests_on="log",
        gate=True,
    ),
    AuditFigure(
        key="(k,k)",
        title="(k,k)-anonymity",
        meaning="(k,k)-anonymity: the smaller of (1,k) and (k,1)",
        unit="number",
        better="higher",
        value=_fewest("users and behaviours"),
        rests_on="log",
        gate=True,
    ),
    AuditFigure(
        key="candidates",
        title="candidates a {user}",
        meaning="cost: {behaviours} that fit a {user}, on average",
        unit="number",
        better="",
        value=lambda audit: _exactly(audit.cost.candidates),
        rests_on="log",
    ),
    AuditFigure(
        key="mean_delay",
        title="mean delay (latency), seconds",
        meaning="cost: how long a message is held back",
        unit="seconds",
        better="lower",
        value=lambda audit: _exactly(audit.cost.mean_delay),
        rests_on="log",
    ),
    AuditFigure(
        key="cover",
        title="cover (dummy) traffic",
        meaning="cost: share of the messages out that are nobody's",
        unit="share",
        better="lower",
        value=lambda audit: _exactly(audit.cost.cover),
        rests_on="log",
    ),
)

FIGURES: Mapping[str, AuditFigure] = MappingProxyType({each.key: each for each in _TABLE})
"""All of them by key, the headline first."""

_ALIASES = {
    "k": "global (1,k)",
    "global1k": "global (1,k)",
    "1k": "(1,k)",
    "k1": "(k,1)",
    "kk": "(k,k)",
}
_ANY_QUANTILE = re.compile(r"entropy_([0-9.]{1,8})%")


def figure_of(name: str) -> AuditFigure | None:
    """The figure of that key, or another name of it; None if there is none.

    ``entropy_N%`` is what the worst N % do not exceed, for any N up to 100.

    Examples
    --------
    >>> figure_of("k").key, figure_of("global-1k").key, figure_of("entropy_2.5%").title
    ('global (1,k)', 'global (1,k)', 'entropy, worst 2.5 %')
    >>> figure_of("mood") is None
    True
    """
    if name in FIGURES:
        return FIGURES[name]
    quantile = _ANY_QUANTILE.fullmatch(name)
    if quantile is not None:
        try:
            share = float(quantile[1]) / 100
        except ValueError:
            return None
        return replace(_quantile(share), key=name) if 0.0 <= share <= 1.0 else None
    return FIGURES.get(_ALIASES.get(re.sub(r"[-_ (),]", "", name), ""))


def confidence_of(audit: Audit, figure: AuditFigure) -> float:
    """The probability that the interval of a figure holds; 1.0 means proven.

    Examples
    --------
    >>> import anonymatch as am
    >>> confidence_of(am.audit(am.complete(4)), FIGURES["entropy"])
    1.0
    """
    graph, posterior = audit.observation.graph, audit.answers.probabilities
    if figure.rests_on == "count":
        weighted = graph is not None and graph.weighted
        return audit.confidence if weighted else audit.count.confidence
    if figure.rests_on == "posterior":
        sure = audit.confidence if posterior is None else posterior.confidence
        return min(sure, audit.guessing_confidence) if figure.key == "guessing_entropy" else sure
    return 1.0

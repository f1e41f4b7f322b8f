"""The figures of an audit, in one table: what each is called, means, is worth, and how sure it is.

Thresholds, JSON, the terminal, reports, comparisons and help texts read this table, and nothing
else lists figures. To add a figure is to add an entry to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Flag, auto
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import chosen_of
from anonymatch.audits.result import Audit, ScoredAudit
from anonymatch.audits.wording import FigureText, figure_text
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import shown
from anonymatch.counting.measures import averages
from anonymatch.mixes import (
    FlushLaw,
    MessageAudit,
    MixAudit,
    Nouns,
    Observation,
    fewest_receivers,
    network_of,
    passage_of,
)
from anonymatch.rings import RingAudit, RingFigures
from anonymatch.tables import NOTION_KINDS, NotionKind, TableAudit, TableObservation

__all__ = [
    "FIGURES",
    "GROUPS",
    "QUANTILES",
    "AuditFigure",
    "Show",
    "confidence_of",
    "extra_figure",
    "figure_of",
    "known_figures",
    "shown_figures",
    "summary_figures",
]

QUANTILES = (0.05, 0.01)
"""Shares of the worst users whose entropy is shown beside the mean."""

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_Value = Callable[[Audit], Interval | None]
_Error = Callable[[Audit], float | None]

GROUPS = ("guesses", "system", "exposed", "candidates", "table", "attack", "cost")
"""What figures are about, in the order of the terminal."""


class Show(Flag):
    """What shows a figure."""

    SCREEN = auto()
    HTML = auto()
    COMPARISON = auto()
    JSON = auto()
    EVERYWHERE = SCREEN | HTML | COMPARISON | JSON
    NOWHERE = 0


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
    group : str
        One of `GROUPS`.
    of : type
        Class of the audits that have this figure.
    value : function
        From an audit; None where it is not known.
    rests_on : {"posterior", "guesses", "count", "log"}
        What makes it as sure as it is.
    show : Show
    gate : float or None
        A threshold as an example, if it may be one.
    note : str
        What to add where it is one.
    names : tuple of str
        Other names of it in thresholds, the usual one first, without signs between letters.
    wording : function or None
        What is shown in place of the number, where that would say less.
    only_if_known : bool
        Whether it is not mentioned where it is not known, as it is for some sources only.
    error : function or None
        One standard error from the traffic, of an audit; None where there is no traffic, or where
        the figure does not vary with it.
    """

    key: str
    title: str
    meaning: str
    unit: str
    better: str
    group: str
    of: type[Audit] = Audit
    value: _Value
    rests_on: str
    show: Show = Show.EVERYWHERE
    gate: float | None = None
    note: str = ""
    names: tuple[str, ...] = ()
    wording: Callable[[Audit], FigureText | None] | None = None
    only_if_known: bool = False
    error: Callable[[Audit], float | None] | None = None

    def text(self, audit: Audit) -> FigureText | None:
        """The figure of an audit in words, and how sure it is; None where it is not known."""
        if self.wording is not None:
            return self.wording(audit)
        value = self.value(audit)
        if value is None:
            return None
        sure = confidence_of(audit, self)
        return figure_text(value, self.unit, confidence=sure, seed=audit.seed)

    def title_for(self, nouns: Nouns, threshold: str = "") -> str:
        """The title in the words of a source."""
        return _filled(self.title, nouns, threshold)

    def meaning_for(self, nouns: Nouns, threshold: str = "") -> str:
        """The meaning in the words of a source."""
        return _filled(self.meaning, nouns, threshold)


def _filled(text: str, nouns: Nouns, threshold: str) -> str:
    if nouns.user[0] in "aeio":  # a user
        text = text.replace(" a {user}", " an {user}")
    return text.format(
        user=nouns.user, users=nouns.users, behaviours=nouns.behaviours, threshold=threshold
    )


_A = TypeVar("_A", bound=Audit)
_R = TypeVar("_R")


def _if(kind: type[_A], value: Callable[[_A], _R | None]) -> Callable[[Audit], _R | None]:
    """A value of the audits of one problem; None for those of others."""
    return lambda audit: value(audit) if isinstance(audit, kind) else None


def _mean_error(values: Callable[[MessageAudit], Floats | None]) -> _Error:
    """The error of a mean over users, from the traffic."""

    def error(audit: MessageAudit) -> float | None:
        order, own = audit.time_order, values(audit)
        if order is None or own is None:
            return None
        return averages.mean_error(audit.answers.users, own, order)

    return _if(MessageAudit, error)


def _extreme_error(values: Callable[[MessageAudit], Floats]) -> _Error:
    """The error of the largest or smallest figure of a user, from the traffic."""

    def error(audit: MessageAudit) -> float | None:
        order = audit.time_order
        if order is None:
            return None
        return averages.extreme_error(audit.answers.users, values(audit), order)

    return _if(MessageAudit, error)


def _typical_error(audit: MessageAudit) -> float | None:
    users, order = audit.answers.users, audit.time_order
    if order is None:
        return None
    return averages.quantile_error(users, users.effective.value, 0.5, order)


def _share_of_bits_error(share: Callable[[Audit], Interval]) -> _Error:
    """The error of joint bits as a share: that of the entropy, which varies with the same load."""

    def error(audit: MessageAudit) -> float | None:
        own, bits = audit.entropy_error, audit.bits.value
        return None if own is None or not bits > 0.0 else own * share(audit).value / bits

    return _if(MessageAudit, error)


def _delay_error(audit: MessageAudit) -> float | None:
    """The error of the mean delay, where the ground truth shows delays."""
    delays = audit.observation.true_delays
    if delays is None or len(delays) < 2:
        return None
    return float(delays.std(ddof=1)) / math.sqrt(len(delays))


def _cover_error(audit: MessageAudit) -> float | None:
    share, number = audit.cost.cover, audit.n_behaviours
    if share is None or audit.time_order is None or not number:
        return None
    return math.sqrt(share * (1.0 - share) / number)


def _guess_counts(audit: Audit) -> Floats | None:
    guesses = audit.answers.users.guesses
    return None if guesses is None else guesses.value


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
        group="guesses",
        value=lambda audit: audit.entropy_quantile(share),
        rests_on="posterior",
        gate=2,
        error=_if(MessageAudit, lambda audit: audit.entropy_quantile_error(share)),
    )


def _fewest(side: str) -> _Value:
    """The fewest candidates of a user, of a behaviour, or of both."""

    def value(audit: Audit) -> Interval | None:
        users = audit.answers.users
        if not audit.n_counted:
            return None
        fewest = []
        if "users" in side:
            fewest.append(users.degree[users.counted].min())
        if "behaviours" in side:
            fitting = _fitting(audit.observation)
            if fitting is None:
                return None
            fewest.append(fitting.min())
        return _candidates(audit, float(min(fewest)))

    return value


def _fitting(observation: Observation) -> Ints | None:
    """Users that fit each behaviour alone; None where that is not known, and if nothing left.

    Through a mix in which messages wait for any time all that came earlier fit. Of a mix that
    flushes, losses hide for which flush a message was there.
    """
    graph, passage = observation.graph, passage_of(observation)
    if graph is not None:
        return None if observation.lost else graph.behaviour_degrees
    if isinstance(observation, TableObservation):
        return None if observation.lost else observation.release.people_that_fit
    assert passage is not None
    if network_of(observation) is not None:
        return None
    flushes = isinstance(passage.law, FlushLaw)
    if flushes or not len(passage.departures):
        return None
    # Several hops take time: nobody leaves at the moment of coming in.
    came = np.sort(passage.arrivals)
    return np.searchsorted(came, passage.departures, side="right" if passage.at_once else "left")


def _notion(key: str, otherwise: _Value | None = None) -> _Value:
    """A notion of a released table; of other sources something else, or nothing."""

    def value(audit: Audit) -> Interval | None:
        if not isinstance(audit, TableAudit):
            return None if otherwise is None else otherwise(audit)
        return _exactly(audit.findings.notions[key].value)

    return value


def _table_figure(kind: NotionKind) -> AuditFigure:
    return AuditFigure(
        key=kind.key,
        title=kind.key,
        meaning=kind.meaning,
        unit=kind.unit,
        better=kind.better,
        group="table",
        of=TableAudit,
        value=_notion(kind.key),
        rests_on="log",
        show=Show.SCREEN | Show.HTML | Show.COMPARISON,
        gate=kind.usual,
        names=kind.names,
        only_if_known=True,
    )


def _half_life(audit: MixAudit) -> Interval | None:
    between = None if audit.disclosure is None else audit.disclosure.half_life_between
    return None if between is None or math.isinf(between.high) else between


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


def _fewest_allowed(audit: Audit) -> Interval | None:
    users = audit.answers.users
    return (
        _candidates(audit, float(users.allowed[users.counted].min())) if audit.n_counted else None
    )


def _fewest_receivers(audit: Audit) -> Interval | None:
    users = audit.answers.users
    if not audit.n_counted:
        return None
    if not isinstance(audit, MessageAudit):  # each behaviour has a receiver of its own
        return averages.smallest(users, users.effective)
    fewest = fewest_receivers(audit.observation, audit.answers)
    if not audit.observation.rounded:
        return fewest
    return Interval(fewest.value, min(fewest.low, 1.0), fewest.high)


def _candidates(audit: Audit, fewest: float) -> Interval:
    """The fewest candidates; with finer times than those of a log that are rounded, maybe one."""
    least = fewest if not audit.observation.rounded else min(fewest, 1.0)
    return Interval(fewest, least, fewest)


def _identified(audit: Audit) -> FigureText:
    number = f"{shown(audit.identified)} of {shown(audit.n_counted)}"
    if chosen_of(audit.answers) is not None:
        number += " looked at"
    if audit.observation.rounded:
        return FigureText(number, "estimated; exact times may identify more", span=number)
    return FigureText(number, "exact", span=number)


def _certain_share(rings: RingFigures, how: str) -> Interval | None:
    """The share of the inputs of rings that is certain in one of the ways."""
    return _exactly(getattr(rings, how) / max(rings.inputs, 1))


def _lost(audit: MessageAudit) -> FigureText:
    """Losses that are only expected are no count."""
    number, sure = shown(audit.cost.lost), "exact"
    if audit.lost_is_expected:
        number, sure = f"about {number}", "expected number, rounded"
    return FigureText(number, sure, span=number)


_KNOWN_BY = "from the ground truth if the log has it, else from the law"

_TABLE = (
    AuditFigure(
        key="entropy",
        title="entropy per {user}",
        meaning="mean Shannon entropy of the attacker's posterior about one {user}",
        unit="bits",
        better="higher",
        group="guesses",
        value=lambda audit: audit.entropy,
        rests_on="posterior",
        gate=3,
        error=_if(MessageAudit, lambda audit: audit.entropy_error),
    ),
    AuditFigure(
        key="entropy_error",
        title="sampling error",
        meaning="one standard error of the mean entropy: how much it varies with the traffic",
        unit="bits",
        better="",
        group="guesses",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: _exactly(audit.entropy_error)),
        rests_on="log",
        show=Show.SCREEN | Show.HTML,
        only_if_known=True,
    ),
    *(_quantile(share) for share in QUANTILES),
    AuditFigure(
        key="min_entropy",
        title="min-entropy per {user}",
        meaning="the mean of -log2 of the best guess's probability: against a single guess",
        unit="bits",
        better="higher",
        group="guesses",
        value=lambda audit: audit.min_entropy,
        rests_on="posterior",
        gate=1,
        error=_mean_error(lambda audit: audit.answers.users.min_entropy.value),
    ),
    AuditFigure(
        key="guessing_entropy",
        title="guessing entropy",
        meaning="guesses about one {user} on average, the likeliest first, until one is right",
        unit="guesses",
        better="higher",
        group="guesses",
        value=lambda audit: audit.guessing_entropy,
        rests_on="guesses",
        gate=4,
        error=_mean_error(_guess_counts),
    ),
    AuditFigure(
        key="typical",
        title="typical set size",
        meaning="median effective anonymity set: half of the {users} have at most this size",
        unit="size",
        better="higher",
        group="guesses",
        value=_typical,
        error=_if(MessageAudit, _typical_error),
        rests_on="posterior",
        show=Show.COMPARISON | Show.JSON,
    ),
    AuditFigure(
        key="identified",
        title="identified {users}",
        meaning="{users} with exactly one possible match",
        unit="share",
        better="lower",
        group="exposed",
        value=lambda audit: audit.identified_share,
        rests_on="log",
        show=Show.EVERYWHERE ^ Show.JSON,
        gate=0.01,
        wording=_identified,
        error=_mean_error(lambda audit: audit.answers.users.alone.astype(np.float64)),
    ),
    AuditFigure(
        key="chain_reaction",
        title="by chain reaction",
        meaning=(
            "share of {users} whose spend is certain since all other members of the ring are spent "
            "by others that are certain"
        ),
        unit="share",
        better="lower",
        group="exposed",
        of=RingAudit,
        value=_if(RingAudit, lambda audit: _certain_share(audit.rings, "chain_reaction")),
        rests_on="log",
        gate=0.01,
        only_if_known=True,
    ),
    AuditFigure(
        key="closed_sets",
        title="by closed sets",
        meaning=(
            "share of {users} more whose spend is certain since sets of rings spend all that they "
            "have, which the chain reaction misses"
        ),
        unit="share",
        better="lower",
        group="exposed",
        of=RingAudit,
        value=_if(RingAudit, lambda audit: _certain_share(audit.rings, "closed_sets")),
        rests_on="log",
        gate=0.01,
        only_if_known=True,
    ),
    AuditFigure(
        key="unreleased",
        title="not in the release",
        meaning="{users} without any possible row, which no average includes",
        unit="number",
        better="",
        group="exposed",
        of=TableAudit,
        value=_if(TableAudit, lambda audit: _exactly(audit.unreleased)),
        rests_on="log",
        show=Show.SCREEN,
    ),
    AuditFigure(
        key="below",
        title="below {threshold}",
        meaning="share of {users} whose effective anonymity set is below {threshold}",
        unit="share",
        better="lower",
        group="exposed",
        value=lambda audit: audit.below,
        error=_mean_error(
            lambda audit: (audit.answers.users.effective.value < audit.threshold).astype(np.float64)
        ),
        rests_on="posterior",
    ),
    AuditFigure(
        key="surest",
        title="surest guess",
        meaning="probability that the attacker's guess about the worst {user} is right",
        unit="share",
        better="lower",
        group="exposed",
        value=lambda audit: audit.surest if audit.n_counted else None,
        error=_extreme_error(lambda audit: audit.answers.users.surest.value),
        rests_on="posterior",
        show=Show.EVERYWHERE ^ Show.SCREEN,
        gate=0.5,
    ),
    AuditFigure(
        key="smallest_set",
        names=("smallest_set", "worst"),  # the latter until 0.3.0
        title="smallest set size",
        meaning="effective anonymity set of the least anonymous {user}",
        unit="size",
        better="higher",
        group="exposed",
        value=lambda audit: averages.smallest(audit.answers.users, audit.answers.users.effective),
        error=_extreme_error(lambda audit: -audit.answers.users.effective.value),
        rests_on="posterior",
        show=Show.NOWHERE,
        gate=2,
    ),
    AuditFigure(
        key="receivers",
        title="fewest receivers",
        meaning="effective number of receivers of the least anonymous {user}",
        unit="size",
        better="higher",
        group="exposed",
        of=ScoredAudit,
        value=_if(ScoredAudit, _fewest_receivers),
        rests_on="posterior",
        show=Show.NOWHERE,
        gate=2,
    ),
    AuditFigure(
        key="bits",
        title="joint bits per {user}",
        meaning=(
            "log2 of the number of matchings, per {user}; lower than the entropy because knowing "
            "one match rules out others"
        ),
        unit="bits",
        better="higher",
        group="system",
        value=lambda audit: audit.bits,
        error=_if(MessageAudit, lambda audit: audit.entropy_error),
        rests_on="count",
        gate=3,
    ),
    AuditFigure(
        key="people_bits",
        title="joint bits about people",
        meaning="per message: who wrote to whom; several messages of one pair hide less",
        unit="bits",
        better="higher",
        group="system",
        of=MixAudit,
        value=_if(MixAudit, lambda audit: audit.people_bits),
        rests_on="count",
        show=Show.SCREEN | Show.JSON,
    ),
    AuditFigure(
        key="degree",
        title="degree of anonymity",
        meaning="joint bits as a share of those if nothing were known (Edman et al.)",
        unit="share",
        better="higher",
        group="system",
        value=lambda audit: audit.degree,
        error=_share_of_bits_error(lambda audit: audit.degree),
        rests_on="count",
    ),
    AuditFigure(
        key="reached",
        title="share of the candidates' bound",
        meaning=(
            "joint bits as a share of their upper bound, given the number of candidates of each "
            "{user}"
        ),
        unit="share",
        better="higher",
        group="system",
        value=lambda audit: audit.reached,
        error=_share_of_bits_error(lambda audit: audit.reached),
        rests_on="count",
    ),
    AuditFigure(
        key="half_life",
        names=("half_life", "halflife"),
        title="half-life",
        meaning="rounds after which half of the bits about the receiver of a message are gone",
        unit="number",
        better="higher",
        group="system",
        of=MixAudit,
        value=_if(MixAudit, _half_life),
        rests_on="posterior",
        show=Show.SCREEN | Show.JSON,
        gate=20,
    ),
    AuditFigure(
        key="ceiling",
        title="ceiling of the entropy",
        meaning=(
            "upper bound of the mean entropy over all {users}, also those near the ends of the "
            "log, for any mix with the same number of departures while a {user} is inside"
        ),
        unit="bits",
        better="",
        group="system",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: audit.ceiling),
        rests_on="log",
        only_if_known=True,
    ),
    AuditFigure(
        key="attack",
        title="bits lost to one exposure",
        meaning=(
            "joint bits that the attacker's best single exposure removes, on average over all "
            "matchings"
        ),
        unit="bits",
        better="",
        group="attack",
        value=lambda audit: None if audit.one_step is None else audit.one_step.lost_bits,
        rests_on="posterior",
        show=Show.COMPARISON,
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
        group="candidates",
        value=_notion("global (1,k)", _fewest_allowed),
        rests_on="log",
        show=Show.NOWHERE,
        gate=5,
        note="k is another name of it; k-anonymity of a released table is not this",
        names=("k", "global1k"),
    ),
    AuditFigure(
        key="(1,k)",
        title="(1,k)-anonymity",
        meaning="(1,k)-anonymity: {behaviours} that fit each {user} alone, at the fewest",
        unit="number",
        better="higher",
        group="candidates",
        value=_notion("(1,k)", _fewest("users")),
        rests_on="log",
        show=Show.NOWHERE,
        gate=5,
        names=("1k",),
    ),
    AuditFigure(
        key="(k,1)",
        title="(k,1)-anonymity",
        meaning="(k,1)-anonymity: {users} that fit each of the {behaviours} alone, at the fewest",
        unit="number",
        better="higher",
        group="candidates",
        value=_notion("(k,1)", _fewest("behaviours")),
        rests_on="log",
        show=Show.NOWHERE,
        gate=5,
        names=("k1",),
    ),
    AuditFigure(
        key="(k,k)",
        title="(k,k)-anonymity",
        meaning="(k,k)-anonymity: the smaller of (1,k) and (k,1)",
        unit="number",
        better="higher",
        group="candidates",
        value=_notion("(k,k)", _fewest("users and behaviours")),
        rests_on="log",
        show=Show.NOWHERE,
        gate=5,
        names=("kk",),
    ),
    # Those that other sources have, too, stand above.
    *(_table_figure(kind) for kind in NOTION_KINDS.values() if "(" not in kind.key),
    AuditFigure(
        key="candidates",
        title="candidates per {user}",
        meaning="cost: mean number of {behaviours} that are compatible with a {user}",
        unit="number",
        better="",
        group="cost",
        value=lambda audit: _exactly(audit.cost.candidates),
        rests_on="log",
        show=Show.EVERYWHERE ^ Show.JSON,
    ),
    AuditFigure(
        key="mean_delay",
        title="mean delay",
        meaning=f"cost: mean latency, {_KNOWN_BY}",
        unit="seconds",
        better="lower",
        group="cost",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: _exactly(audit.cost.mean_delay)),
        error=_if(MessageAudit, _delay_error),
        rests_on="log",
        show=Show.EVERYWHERE ^ Show.JSON,
    ),
    AuditFigure(
        key="longest_delay",
        title="longest delay",
        meaning=f"cost: longest latency, {_KNOWN_BY}",
        unit="seconds",
        better="lower",
        group="cost",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: _exactly(audit.cost.longest_delay)),
        rests_on="log",
        show=Show.SCREEN | Show.HTML,
    ),
    AuditFigure(
        key="cover",
        title="cover traffic",
        meaning="cost: share of dummy messages among the messages out",
        unit="share",
        better="lower",
        group="cost",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: _exactly(audit.cost.cover)),
        error=_if(MessageAudit, _cover_error),
        rests_on="log",
        show=Show.EVERYWHERE ^ Show.JSON,
    ),
    AuditFigure(
        key="lost",
        title="lost",
        meaning="{users} that never came out",
        unit="number",
        better="",
        group="cost",
        of=MessageAudit,
        value=_if(MessageAudit, lambda audit: _exactly(audit.cost.lost)),
        rests_on="log",
        show=Show.SCREEN | Show.HTML,
        wording=_if(MessageAudit, _lost),
    ),
)

_figures = {each.key: each for each in _TABLE}

FIGURES: Mapping[str, AuditFigure] = MappingProxyType(_figures)
"""All of them by key, the headline first."""

_ANY_QUANTILE = re.compile(r"entropy_([0-9.]{1,8})%")


@contextmanager
def extra_figure(figure: AuditFigure) -> Iterator[None]:
    """While it lasts, audits have one figure more, wherever figures are shown or are thresholds.

    Examples
    --------
    >>> import anonymatch as am
    >>> twice = replace(FIGURES["bits"], key="twice", value=lambda audit: audit.bits.divided(0.5))
    >>> with extra_figure(twice):
    ...     am.audit(am.complete(2)).to_dict()["twice"]["value"]
    1.0
    """
    if figure.key in _figures:
        raise InputError(f"there is a figure {figure.key!r} already; choose another key")
    if figure.group not in GROUPS:
        raise InputError(f"there is no group {figure.group!r}; known are {', '.join(GROUPS)}")
    _figures[figure.key] = figure
    try:
        yield
    finally:
        del _figures[figure.key]


def shown_figures(where: Show, *groups: str) -> tuple[AuditFigure, ...]:
    """The figures that are shown there, in the order of the table; of some groups if given.

    Examples
    --------
    >>> [each.key for each in shown_figures(Show.HTML, "exposed")]
    ['identified', 'chain_reaction', 'closed_sets', 'below', 'surest']
    """
    wanted = groups or GROUPS
    return tuple(each for each in _figures.values() if where in each.show and each.group in wanted)


def summary_figures(audit: Audit) -> Iterator[tuple[str, str, str]]:
    """Title, value and meaning of what the terminal shows, where it is known.

    Examples
    --------
    >>> import anonymatch as am
    >>> next(summary_figures(am.audit(am.ring(4, 2))))[:2]
    ('entropy per user', '1 bit')
    """
    nouns, threshold = audit.observation.nouns, shown(audit.threshold)
    for figure in shown_figures(Show.SCREEN):
        text = figure.text(audit) if isinstance(audit, figure.of) else None
        if text is not None:
            title = figure.title_for(nouns, threshold)
            yield title, text.value, figure.meaning_for(nouns, threshold)


def known_figures(audit: Audit) -> dict[str, Interval]:
    """The figures that this audit has and that are known, by key.

    Examples
    --------
    >>> import anonymatch as am
    >>> known_figures(am.audit(am.ring(4, 2)))["entropy"].value
    1.0
    """
    values = {
        each.key: each.value(audit) for each in _figures.values() if isinstance(audit, each.of)
    }
    return {key: value for key, value in values.items() if value is not None}


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
    key = name.replace("-", "_")
    if name in FIGURES or key in FIGURES:
        return FIGURES.get(name) or FIGURES[key]
    quantile = _ANY_QUANTILE.fullmatch(name)
    if quantile is not None:
        try:
            share = float(quantile[1]) / 100
        except ValueError:
            return None
        return replace(_quantile(share), key=name) if 0.0 <= share <= 1.0 else None
    letters = re.sub(r"[-_ (),]", "", name)
    return next((each for each in FIGURES.values() if letters in each.names), None)


def confidence_of(audit: Audit, figure: AuditFigure) -> float:
    """The probability that the interval of a figure holds; 1.0 means proven.

    Examples
    --------
    >>> import anonymatch as am
    >>> confidence_of(am.audit(am.complete(4)), FIGURES["entropy"])
    1.0
    """
    if audit.observation.rounded and figure.group != "cost":
        return audit.confidence  # all of them depend on an order that is unknown
    graph, posterior = audit.observation.graph, audit.answers.probabilities
    if figure.rests_on == "count":
        weighted = graph is not None and graph.weighted
        return audit.confidence if weighted else audit.count.confidence
    if figure.rests_on == "log":
        return 1.0
    sure = audit.confidence if posterior is None else posterior.confidence
    return min(sure, audit.guessing_confidence) if figure.rests_on == "guesses" else sure

"""Audits of mixes: MixAudit of a message log, NetworkAudit of the links of a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from anonymatch.audits import ExposedAudit, ScoredAudit, SystemCost
from anonymatch.base.arrays import Ints
from anonymatch.base.interval import Interval
from anonymatch.counting.measures import averages
from anonymatch.mixes.closed_forms import ceiling_bits

if TYPE_CHECKING:
    import polars as pl

    from anonymatch.audits import NetworkAnswers, UsedRates
    from anonymatch.disclosure import Disclosure
    from anonymatch.mixes.logs.observation import MessageObservation, NetworkObservation
    from anonymatch.mixes.solvers.links import LinkFigures

__all__ = ["MessageAudit", "MixAudit", "MixCost", "NetworkAudit"]

_WHOLE = 1e-6  # a sum of probabilities this near to a whole number is that number


@dataclass(frozen=True, slots=True, kw_only=True)
class MixCost(SystemCost):
    """What the anonymity of messages costs; None where the log does not show it.

    Attributes
    ----------
    edges : int
        Pairs of a message and a departure that are compatible.
    candidates : float
        Mean number of departures that are compatible with a message.
    mean_delay, longest_delay : float or None
        Seconds.
    cover : float or None
        Share of dummy messages among the departures.
    lost : int
        Messages that never departed. If the log does not show which those are, the expected number
        of lost messages, rounded.
    """

    mean_delay: float | None
    longest_delay: float | None
    cover: float | None
    lost: int

    @property
    def packets(self) -> float | None:
        """Packets sent per message, itself included: the price in bandwidth."""
        return None if self.cover is None or self.cover >= 1.0 else 1.0 / (1.0 - self.cover)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MessageAudit(ScoredAudit):
    """An audit of messages: the common part of mixes and networks.

    Attributes
    ----------
    messages : polars.DataFrame
        One row per message: `sender` (its name), `departure` (the best guess), `probability` (of
        the guess), `shannon` (entropy given that the message departed), `departed`, `lost` and
        `inside` (probabilities), `effective`, `edge` (near an end of the log) and more.
    cost : MixCost
    ceiling : Interval or None
        Upper bound of the mean entropy over all messages, for any mixes: g(M) with M the mean
        number of departures that the attacker sees while a message is inside. None if it is not
        known.
    same_delay : tuple of (str, float)
        Mixes with the same mean delay, for messages that arrive at random, and their entropy per
        message.
    same_delay_seconds : float or None
        Their mean delay: that of this log, or less where more messages would be inside than here.
    entropy_error : float or None
        One standard error of `entropy` from the traffic, by batch means over time. None for logs
        without times. `entropy_quantile_error` has those of the worst shares.
    people : polars.DataFrame or None
        One row per sender, if somebody sent or received several messages.
    """

    observation: MessageObservation
    people: pl.DataFrame | None = field(default=None, repr=False)

    columns: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "user": "sender",
            "guess": "departure",
            "n_users": "n_messages",
            "n_behaviours": "n_departures",
        }
    )

    @property
    def messages(self) -> pl.DataFrame:
        return self.frame

    @property
    def n_messages(self) -> int:
        return self.n_users

    @property
    def n_departures(self) -> int:
        return self.n_behaviours

    @property
    def _links(self) -> LinkFigures | None:
        from anonymatch.audits import links_of

        return links_of(self.answers)

    @cached_property
    def cost(self) -> MixCost:
        observation, answers, links = self.observation, self.answers, self._links
        lost = observation.lost
        if links is not None:
            lost = round(float(links.lost.mean() * answers.size) if answers.size else 0.0)
        return MixCost(
            edges=answers.edges,
            candidates=answers.edges / max(len(answers.users.users), 1),
            mean_delay=observation.mean_delay,
            longest_delay=observation.longest_delay,
            cover=_cover(observation, links),
            lost=lost,
        )

    @property
    def lost_is_expected(self) -> bool:
        """Whether `cost.lost` is an expected number, rounded, and was neither counted nor given."""
        links = self._links
        return links is not None and abs(float(links.lost.sum()) - self.cost.lost) > _WHOLE

    @cached_property
    def ceiling(self) -> Interval | None:
        value = self._ceiling
        return None if value is None else Interval.rounded(value, value, value)

    @property
    def _ceiling(self) -> float | None:
        """Upper bound of the mean entropy over all messages; None if it is not known."""
        raise NotImplementedError

    @property
    def same_delay(self) -> tuple[tuple[str, float], ...]:
        from anonymatch.audits import same_delay

        return same_delay(self.observation, self._most)

    @property
    def same_delay_seconds(self) -> float | None:
        from anonymatch.audits import rival_delay

        return rival_delay(self.observation, self._most)

    @property
    def _most(self) -> float | None:
        """The ceiling that other mixes do not exceed either; None with losses or cover."""
        if self.ceiling is None or self._links is not None:
            return None
        return self.ceiling.value

    @cached_property
    def time_order(self) -> Ints | None:
        """Indices that sort messages by their arrival; None for sources without times."""
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

    def _entries(self) -> dict[str, Any]:
        from anonymatch.audits import QUANTILES

        return super()._entries() | {
            "entropy_error": self.entropy_error,
            **{
                f"entropy_{100 * share:g}%_error": self.entropy_quantile_error(share)
                for share in QUANTILES
            },
            "same_delay": self.same_delay,
            "same_delay_seconds": self.same_delay_seconds,
            "people": None if self.people is None else self.people.to_dicts(),
        }


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MixAudit(MessageAudit, ExposedAudit):
    """Audit of the messages through one mix, or through mixes of which the ends are observed.

    Attributes
    ----------
    rates : UsedRates or None
        Losses, cover traffic and messages inside at the start that the figures use; None if the
        law does not need them.
    people_bits : Interval or None
        Joint bits per message about who wrote to whom. `bits` is about messages. None if nobody
        has several messages, and beyond the budget.
    disclosure : Disclosure or None
        What many rounds disclose, if the log has rounds.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("exponential:5", messages=50, seed=1)
    >>> audit = am.audit(am.mixes.observe(log, "exponential:5"))
    >>> type(audit).__name__, audit.attacker, audit.messages.columns[:2]
    ('MixAudit', 'sees both ends', ['sender', 'departure'])
    """

    people_bits: Interval | None = None
    disclosure: Disclosure | None = field(default=None, repr=False)

    @property
    def rates(self) -> UsedRates | None:
        from anonymatch.audits import PassageAnswers

        return self.answers.rates if isinstance(self.answers, PassageAnswers) else None

    @property
    def _ceiling(self) -> float | None:
        links = self._links
        return (
            self.observation.ceiling if links is None else _links_ceiling(self.observation, links)
        )

    def _entries(self) -> dict[str, Any]:
        from anonymatch.audits import FIGURES

        entries = super()._entries() | {"rates": self.rates}
        half_life = FIGURES["half_life"].value(self)
        if half_life is not None and self.disclosure is not None:
            ends = {"low": half_life.low, "high": half_life.high}
            # The value is None if chains from opposite starts differ.
            entries["half_life"] = {"value": self.disclosure.half_life, **ends}
        return entries


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkAudit(MessageAudit):
    """Audit of the messages through a network of mixes of which every link is observed.

    Attributes
    ----------
    mixes, corrupt : tuple of str
        Names of all mixes, and of those that the attacker controls.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import anonymatch as am
    >>> links = am.mixes.synthesize_network("2x2", messages=20, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "links.csv")
    ...     am.mixes.write_network(links, file)
    ...     audit = am.audit(file, source="network", law="exponential")
    >>> audit.attacker, len(audit.mixes), audit.messages.columns[:2]
    ('sees every link', 4, ['sender', 'departure'])
    """

    observation: NetworkObservation
    answers: NetworkAnswers = field(repr=False)

    @property
    def mixes(self) -> tuple[str, ...]:
        return self.observation.network.mixes

    @property
    def corrupt(self) -> tuple[str, ...]:
        return self.observation.network.corrupt

    @property
    def _ceiling(self) -> float | None:
        return self.answers.network.ceiling


def _cover(observation: MessageObservation, links: LinkFigures | None) -> float | None:
    """Share of dummies among the departures: as the log flags them, else as expected."""
    if observation.cover is not None or observation.passage is None:
        return observation.cover
    if links is None or not len(links.real):
        return 0.0
    return round(float(links.cover.mean()), 12)


def _links_ceiling(observation: MessageObservation, links: LinkFigures) -> float | None:
    """The ceiling with losses and cover; None if their probabilities are estimates.

    It is g(M), where M is the mean number of departures that the attacker sees while a message is
    inside, the message's own apart. Summed over messages that is how many of them are inside just
    before each departure, which follows from who is lost and which departures are real.
    """
    arrivals, departures = observation.arrivals, observation.departures
    real = float(links.real.sum())
    if links.confidence < 1.0 or arrivals is None or departures is None or not real > 0.0:
        return None
    came, left = np.argsort(arrivals, kind="stable"), np.argsort(departures, kind="stable")
    entered = np.concatenate(([0.0], np.cumsum(links.departed[came])))
    before = entered[np.searchsorted(arrivals[came], departures[left], side="right")]
    gone = np.concatenate(([0.0], np.cumsum(links.real[left])[:-1]))
    seen = float(np.maximum(before - gone, 0.0).sum()) / real
    return ceiling_bits(max(seen - 1.0, 0.0))

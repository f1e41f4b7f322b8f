"""Observation: what an attacker saw of one system, and what is known beside it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anonymatch._native import OUTSIDE
from anonymatch.base.arrays import Floats
from anonymatch.base.numbers import amount, percent
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.graph import Graph, thumbnail
from anonymatch.mixes.laws import HopLaw, Law
from anonymatch.mixes.solvers.networks.forwarding import LinkedNetwork
from anonymatch.mixes.solvers.networks.network_chains import MixRates

__all__ = [
    "FLOWS",
    "MESSAGES",
    "PEOPLE",
    "RINGS",
    "USERS",
    "Conditions",
    "MessageObservation",
    "Network",
    "NetworkObservation",
    "Nouns",
    "Observation",
    "Passage",
    "network_of",
    "passage_of",
]


@dataclass(frozen=True, slots=True)
class Nouns:
    """What users and behaviours are called: messages where the log has messages.

    Attributes
    ----------
    user, users : str
        One of them, and several.
    side : str
        What tells users from behaviours, if the same noun is for both.
    behaviours : str

    Examples
    --------
    >>> MESSAGES.size(1, 2), FLOWS.size(2, 2), USERS.size(2, 1)
    ('1 message in, 2 out', '2 flows of initiators, 2 of responders', '2 users, 1 behaviour')
    """

    user: str
    users: str
    side: str
    behaviours: str

    def size(self, users: int, behaviours: int) -> str:
        """How many there are of both."""
        those = self.behaviours.removeprefix(f"{self.users} ")
        if behaviours == 1 and not self.side:
            those = those.removesuffix("s")
        who = self.user if users == 1 else self.users
        return f"{users:,} {who}{self.side}, {behaviours:,} {those}"


USERS = Nouns("user", "users", "", "behaviours")
MESSAGES = Nouns("message", "messages", " in", "messages out")
FLOWS = Nouns("flow", "flows", " of initiators", "flows of responders")
PEOPLE = Nouns("person", "people", "", "rows")
"""Of a released table: whoever no row can be of is not in the release."""
RINGS = Nouns("input", "inputs", "", "outputs")
"""Of ring signatures: every input spends one output of its ring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What is known of losses, cover and the ends of a log; None where it is not.

    Attributes
    ----------
    loss, lost : float, int or None
        Probability of a message to be lost, or how many were.
    cover_rate, cover : float, int or None
        Departures a second that are nobody's, or how many were.
    begin, end : float
        Seconds from which and until which was watched.
    drained : bool
        Whether nothing was inside at the end.
    cover_in_pool : bool
        Whether the cover of a flush mix is held back and sent on like messages.
    inside_at_start : float or None
        Messages inside at the beginning, on average.
    mid_traffic : bool
        Whether the observation starts in mid traffic, so that `inside_at_start` is to be estimated.
    flagged, estimated : frozenset of str
        Those of these attributes that the flags of the log say, and that were estimated from it;
        all others are given.
    """

    loss: float | None = None
    lost: int | None = None
    cover_rate: float | None = None
    cover: int | None = None
    begin: float
    end: float
    drained: bool = False
    cover_in_pool: bool = False
    inside_at_start: float | None = None
    mid_traffic: bool = False
    flagged: frozenset[str] = frozenset()
    estimated: frozenset[str] = frozenset()

    @property
    def silent(self) -> bool:
        """Whether nothing is said of losses, cover and what was inside at the beginning."""
        given = (self.loss, self.lost, self.cover_rate, self.cover, self.inside_at_start)
        return all(one is None for one in given) and not (self.drained or self.mid_traffic)

    @property
    def clean(self) -> bool:
        """Whether there are no losses, no cover and nothing inside before, by what is known."""
        given = (self.loss, self.lost, self.cover_rate, self.cover, self.inside_at_start)
        return not any((*given, self.mid_traffic))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Passage:
    """Messages through one mix that is followed by what is inside: its graph is never made.

    In an exponential mix everybody who is inside when a message leaves may have sent it, all
    equally likely. The graph of 10^5 messages would have 5 * 10^9 edges, but its figures have
    closed forms, or follow from how many are inside.

    Attributes
    ----------
    users, behaviours : tuple
        Names of the messages in and out, each once.
    arrivals, departures : array of float
        Their times, in the order of the names. There may be fewer departures: the others are lost
        or still inside.
    law : Law or None
        How messages are held back; None for one exponential mix whose mean does not matter.
    conditions : Conditions or None
        Losses, cover and ends; None if everything that left came in, and nothing got lost.
    """

    users: tuple[Hashable, ...] = field(repr=False)
    behaviours: tuple[Hashable, ...] = field(repr=False)
    arrivals: Floats
    departures: Floats
    law: Law | None = None
    conditions: Conditions | None = None

    def __repr__(self) -> str:
        law = "" if self.law is None else f", {self.law}"
        return f"Passage({len(self.users):,} in, {len(self.behaviours):,} out{law})"

    @property
    def at_once(self) -> bool:
        """Whether a message may leave at the moment at which it came in."""
        return not isinstance(self.law, HopLaw) or len(self.law.means) == 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """Messages through a network of mixes of which every link is seen.

    Attributes
    ----------
    links : LinkedNetwork
        Link events; those at which messages are sent and come out are in the order of the users
        and behaviours of the passage from end to end.
    times : array of float
        Of each event, in seconds.
    mixes, corrupt : tuple of str
        Names of all mixes, and of those that tell who is who.
    law : Law or None
        Of all mixes; None if they choose uniformly among those inside.
    n_sent : int
        Packets that came in, with those that are cover.
    rates : MixRates or None
        Delays, losses, cover traffic and packets inside at the start, by mix; None if no packet is
        lost, made or inside before the log, so that delays do not matter.
    lost_at : array of float or None
        By event, the probability that a packet is lost that a corrupt mix never sends on.
    """

    links: LinkedNetwork = field(repr=False)
    times: Floats = field(repr=False)
    mixes: tuple[str, ...]
    corrupt: tuple[str, ...] = ()
    law: Law | None = None
    n_sent: int
    rates: MixRates | None = field(default=None, repr=False)
    lost_at: Floats | None = field(default=None, repr=False)

    @property
    def came(self) -> Floats:
        """When packets came in, with those that are cover."""
        times: Floats = self.times[self.links.events.from_ == OUTSIDE]
        return times

    @property
    def has_loops(self) -> bool:
        """Whether mixes send loops, so that figures are approximate."""
        rates = self.rates
        return rates is not None and (rates.loops is not None or rates.absorbed is not None)

    @property
    def n_layers(self) -> int:
        return int(self.links.layer.max()) + 1


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Observation(Summarised):
    """What every source returns, and an audit takes: a graph and its origin.

    Logs of mixes, networks, released tables and rings have a class of their own.

    Attributes
    ----------
    graph : Graph or None
        Who may have done what. The last `lost` behaviours are places for users that never came
        out; they are alike, so that a count of the graph is ``lost!`` times too large. None where
        the problem has another form that is not a graph.
    source : str
        Where it comes from, for people: "window law, 1 to 5 s".
    nouns : Nouns, optional
        What its users and behaviours are.
    truth : array of int, optional
        The behaviour of each user as it really was, by index; -1 where it is not known.
    lost : int
        Users that never came out.
    notes : tuple of str
        What a reader of the audit must know about the log; each a sentence.
    """

    graph: Graph | None = None
    source: str
    nouns: Nouns = USERS
    truth: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    lost: int = 0
    notes: tuple[str, ...] = ()

    @property
    def rounded(self) -> bool:
        """Whether times are rounded so that an unknown order changes the figures."""
        return False

    def __str__(self) -> str:
        return f"{self.source}: {self.graph!r}"

    def _figures(self) -> Figures:
        yield ("source", self.source, "")
        if self.lost:
            yield ("lost", str(self.lost), f"{self.nouns.users} that never came out")
        yield ("truth", "known" if self.truth is not None else "not known", "who did what")
        for note in self.notes:
            yield ("note", "", note)

    def _picture(self) -> str:
        return "" if self.graph is None else thumbnail(self.graph)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MessageObservation(Observation):
    """Messages that went through mixes: as a graph, or as a passage.

    Attributes
    ----------
    passage : Passage or None
        Instead of a graph.
    senders, receivers : tuple, optional
        Who sent each message in, who received each message out, if people have several messages.
        Places for lost messages have the receiver None.
    mean_delay, longest_delay : float, optional
        Seconds that messages are held back: as the truth shows it, else as the law says.
    rate : float, optional
        Messages in a second.
    cover : float, optional
        Share of dummy messages among the messages out.
    edge : array of bool, optional
        Messages near an end of the log, whose figures say little about the system.
    gone : array of bool, optional
        Messages known never to come out, where the truth is known.
    hops : int
        Mixes that a message passes, by its law; several of which only the ends are seen hide more
        than from an attacker on the links.
    ceiling : float, optional
        Most entropy of a message on average, whatever the mix, with as many inside.
    timed : bool
        Whether users and behaviours of the graph are in order of time, and its weights of delays.
    arrivals, departures : array of float, optional
        When messages came in and went out, in seconds and in their order, without places for lost
        messages. None of flows, which have no such times.
    rounding : float, optional
        Seconds to which the times of a log are rounded, if messages in and out share times often
        enough for their unknown order to change the figures. Infinite if the log has one time.
    """

    passage: Passage | None = None
    nouns: Nouns = MESSAGES
    senders: tuple[Hashable, ...] | None = field(default=None, repr=False)
    receivers: tuple[Hashable | None, ...] | None = field(default=None, repr=False)
    mean_delay: float | None = None
    longest_delay: float | None = None
    rate: float | None = None
    cover: float | None = None
    edge: npt.NDArray[np.bool_] | None = field(default=None, repr=False)
    gone: npt.NDArray[np.bool_] | None = field(default=None, repr=False)
    hops: int = 1
    ceiling: float | None = None
    timed: bool = False
    arrivals: Floats | None = field(default=None, repr=False)
    departures: Floats | None = field(default=None, repr=False)
    rounding: float | None = None

    @property
    def rounded(self) -> bool:
        return self.rounding is not None

    @property
    def true_delays(self) -> Floats | None:
        """Seconds from arrival to departure, of messages whose truth is known; None without times.

        Examples
        --------
        >>> import anonymatch as am
        >>> log = am.mixes.synthesize("window:1,5", messages=20, seed=1)
        >>> delays = am.mixes.observe(log, "window:1,5").true_delays
        >>> len(delays), bool((delays >= 1).all() and (delays <= 5).all())
        (20, True)
        """
        if self.truth is None or self.arrivals is None or self.departures is None:
            return None
        known = np.flatnonzero(self.truth >= 0)
        return self.departures[self.truth[known]] - self.arrivals[known]

    def __str__(self) -> str:
        what = self.passage if self.graph is None else self.graph
        return f"{self.source}: {what!r}"

    def _figures(self) -> Figures:
        first, *others = super()._figures()
        yield first
        if self.mean_delay is not None:
            yield ("mean delay", f"{amount(self.mean_delay)} s", "that messages are held back")
        if self.rate is not None:
            yield ("rate", amount(self.rate), "messages in a second")
        if self.cover is not None:
            yield ("cover", percent(self.cover), "of the messages out are dummies")
        yield from others

    def __post_init__(self) -> None:
        if self.passage is not None and self.arrivals is None:
            object.__setattr__(self, "arrivals", self.passage.arrivals)
            object.__setattr__(self, "departures", self.passage.departures)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NetworkObservation(MessageObservation):
    """Messages through a network of mixes of which every link is seen.

    Attributes
    ----------
    passage : Passage
        From end to end.
    network : Network
        What was seen between the ends.
    """

    passage: Passage
    network: Network


def passage_of(observation: Observation) -> Passage | None:
    """Messages that have no graph; None of other problems."""
    return observation.passage if isinstance(observation, MessageObservation) else None


def network_of(observation: Observation) -> Network | None:
    """The links of a network; None of other problems."""
    return observation.network if isinstance(observation, NetworkObservation) else None

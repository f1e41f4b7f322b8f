"""Observation: what an attacker saw of one system, and what is known beside it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anonymatch.graph.bipartite import Graph

__all__ = ["FLOWS", "MESSAGES", "USERS", "Nouns", "Observation", "Passage"]

Floats = npt.NDArray[np.float64]


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


@dataclass(frozen=True, kw_only=True, eq=False)
class Passage:
    """Messages through one exponential mix: their order says all, and its graph is never made.

    Everybody who is inside when a message leaves may have sent it, all equally likely. The graph
    of 10^5 messages would have 5 * 10^9 edges, but its figures have closed forms.

    Attributes
    ----------
    users, behaviours : tuple
        Names of the messages in and out, each once.
    arrivals, departures : array of float
        Their times, in the order of the names. There may be fewer departures: the others are lost
        or still inside.
    """

    users: tuple[Hashable, ...] = field(repr=False)
    behaviours: tuple[Hashable, ...] = field(repr=False)
    arrivals: Floats
    departures: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Observation:
    """What every source returns, and an audit takes: a graph, or a passage, and its origin.

    Attributes
    ----------
    graph : Graph or None
        Who may have done what. The last `lost` behaviours are places for users that never came
        out; they are alike, so that a count of the graph is ``lost!`` times too large.
    passage : Passage or None
        Instead of a graph.
    source : str
        Where it comes from, for people: "window law, 1 to 5 s".
    nouns : Nouns, optional
        What its users and behaviours are; messages in and out in a passage unless told.
    senders, receivers : tuple, optional
        Who sent each message in, who received each message out, if people have several messages.
        Places for lost messages have the receiver None.
    truth : array of int, optional
        The behaviour of each user as it really was, by index; -1 where it is not known.
    mean_delay, longest_delay : float, optional
        Seconds that messages are held back: as the truth shows it, else as the law says.
    rate : float, optional
        Messages in a second.
    cover : float, optional
        Share of the messages out that are nobody's.
    lost : int
        Users that never came out.
    notes : tuple of str
        What a reader of the audit must know about the log; each a sentence.
    """

    graph: Graph | None = None
    passage: Passage | None = None
    source: str
    nouns: Nouns = USERS
    senders: tuple[Hashable, ...] | None = field(default=None, repr=False)
    receivers: tuple[Hashable | None, ...] | None = field(default=None, repr=False)
    truth: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    mean_delay: float | None = None
    longest_delay: float | None = None
    rate: float | None = None
    cover: float | None = None
    lost: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.passage is not None and self.nouns is USERS:
            object.__setattr__(self, "nouns", MESSAGES)

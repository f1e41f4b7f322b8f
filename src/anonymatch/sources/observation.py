"""Observation: what an attacker saw of one system, and what is known beside it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anonymatch.graph.bipartite import Graph

__all__ = ["Observation", "Passage"]

Floats = npt.NDArray[np.float64]


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

    Users are messages in and behaviours are messages out, unless the source knows no messages.

    Attributes
    ----------
    graph : Graph or None
        Who may have done what. The last `lost` behaviours are places for users that never came
        out; they are alike, so that a count of the graph is ``lost!`` times too large.
    passage : Passage or None
        Instead of a graph.
    source : str
        Where it comes from, for people: "window law, 1 to 5 s".
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
    senders: tuple[Hashable, ...] | None = field(default=None, repr=False)
    receivers: tuple[Hashable | None, ...] | None = field(default=None, repr=False)
    truth: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    mean_delay: float | None = None
    longest_delay: float | None = None
    rate: float | None = None
    cover: float | None = None
    lost: int = 0
    notes: tuple[str, ...] = ()

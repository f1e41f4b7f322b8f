"""What a file is before it is audited: its kind, its messages, and the law that it looks like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymatch.base.arrays import Bools
from anonymatch.graph import Graph
from anonymatch.mixes.laws import LawGuess, guess_flushes, guess_law
from anonymatch.mixes.logs.messages import Messages
from anonymatch.rings import RingSet
from anonymatch.tables import TablesLook

__all__ = ["FirstLook", "guess_log_law", "log_mean_delay"]


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstLook:
    """What there is to see of a file before anything is computed.

    Attributes
    ----------
    kind, text : str
        One of :data:`~anonymatch.mixes.SOURCES`, and what that is in a line.
    messages : Messages or None
        Of a log.
    graph : Graph or None
        Of edges and of rings.
    tables : TablesLook or None
        Of a released table: its columns and those of the original.
    rings : RingSet or None
        What a file of rings says beside their members.
    needs_law : bool
        Whether it cannot be audited before a law is told.
    guess : LawGuess or None
        The law that the log looks like, if it shows.
    """

    kind: str
    text: str
    messages: Messages | None = None
    graph: Graph | None = None
    tables: TablesLook | None = None
    rings: RingSet | None = None
    needs_law: bool = False
    guess: LawGuess | None = None


def guess_log_law(messages: Messages) -> LawGuess | None:
    """The law that a log looks like: by moments at which many leave, else by delays that it tells.

    None where neither shows: times alone do not tell delays of single messages apart.

    Examples
    --------
    >>> from anonymatch.sources import synthesize
    >>> guess_log_law(synthesize("window:1,5", messages=500, seed=1)).text
    'window:1,5.01'
    >>> guess_log_law(synthesize("timed:10", messages=500, seed=1)).text
    'timed:10'
    """
    came, left = _real(messages.lost, messages.n_in), _real(messages.cover, messages.n_out)
    # A clock is recognised by absolute times, which may be coarser than single delays.
    arrivals = messages.arrivals + messages.origin
    departures = messages.departures + messages.origin
    guess = guess_flushes(arrivals[came], departures[left])
    if guess is None and not (came.all() and left.all()):  # cover that is held back like messages
        guess = guess_flushes(arrivals, departures)
    if guess is not None or messages.truth is None:
        return guess
    return guess_law(messages.true_delays())


def _real(flags: Bools | None, size: int) -> Bools:
    return np.ones(size, dtype=np.bool_) if flags is None else ~flags


def log_mean_delay(messages: Messages) -> float | None:
    """Seconds that messages were held on average, if as many come out as go in; else None.

    Examples
    --------
    >>> log_mean_delay(Messages(arrivals=[0, 1], departures=[2, 4], senders="ab", receivers="xy"))
    2.5
    """
    came, left = messages.arrivals, messages.departures
    if len(came) != len(left) or not len(came):
        return None
    mean = float((left - came).mean())  # sorted, so that differences stay small
    return mean if mean > 0 else None

"""Who received each message, by probability: entries of rounds put together by receiver."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import RoundMessages
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.measures import entropy_terms

__all__ = ["LinkFigures", "LinkTable", "figures_of"]

Codes = npt.NDArray[np.int32]


class LinkFigures(NamedTuple):
    """Of each message of a user, over the receivers that it may have had."""

    bits: Floats
    believed: Floats  # the largest probability
    guess: Codes  # and whose it is; -1: lost


class LinkTable:
    """The receivers that each message may have had: where their entries are, and whose they are.

    Messages of nobody (cover traffic) have none. To be lost is one more receiver, -1.
    """

    def __init__(self, messages: RoundMessages) -> None:
        starts = messages.entries()
        sizes = np.diff(starts)
        self.n_entries = int(starts[-1])
        if messages.first is None:
            begins = np.repeat(messages.starts[:-1], np.diff(messages.starts))
        else:
            begins = messages.first
        out = np.arange(self.n_entries) - np.repeat(starts[:-1] - begins, sizes)
        receiver = messages.receiver[out]
        message = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._order: npt.NDArray[np.intp] | None = None
        if messages.first is not None:  # not in order of receivers
            self._order = np.lexsort((receiver, message))
            receiver = receiver[self._order]
        new = np.ones(self.n_entries, dtype=np.bool_)
        np.not_equal(receiver[1:], receiver[:-1], out=new[1:])
        new[starts[:-1]] = True
        self._cuts = np.flatnonzero(new)
        real = messages.sender[message[self._cuts]] >= 0
        self._real: Bools | None = None if real.all() else real
        self.receiver = _only(receiver[self._cuts], self._real)
        """The receiver of each link."""
        sender = _only(messages.sender[message[self._cuts]], self._real)
        self.sender: Codes = sender
        """And its sender."""
        owner = _only(message[self._cuts], self._real)
        self.message = np.flatnonzero(messages.sender >= 0)
        """Which messages these are."""
        self.starts: Ints = offsets(np.bincount(owner, minlength=len(sizes))[self.message])
        """Where the links of each message begin, and where the last ends."""

    def merged(self, entries: npt.NDArray[Any]) -> Floats:
        """Probabilities of entries as those of links."""
        values = entries if self._order is None else entries[self._order]
        return _only(np.add.reduceat(values, self._cuts, dtype=np.float64), self._real)

    def pairs(self, receivers: int) -> tuple[Ints, npt.NDArray[np.intp]]:
        """Sender and receiver of links as one number each, and the pair of each link; -1: lost."""
        keys = np.where(
            self.receiver >= 0, self.sender.astype(np.int64) * receivers + self.receiver, -1
        )
        pairs, pair = np.unique(keys, return_inverse=True)
        return pairs, pair


def figures_of(table: LinkTable, links: Floats, *, entropies: bool = True) -> LinkFigures:
    """Bits, the largest probability and whose it is, of each message.

    Without ``entropies``, links need be no probabilities.
    """
    begins = table.starts[:-1]
    top = np.maximum.reduceat(links, begins)
    at = np.flatnonzero(links == np.repeat(top, np.diff(table.starts)))
    first = at[np.searchsorted(at, begins)]
    bits = np.add.reduceat(entropy_terms(links), begins) if entropies else np.empty(0)
    return LinkFigures(bits.clip(0.0), top, table.receiver[first])


def _only(values: npt.NDArray[Any], where: Bools | None) -> npt.NDArray[Any]:
    return values if where is None else values[where]

"""Who received each message, by probability: entries of rounds put together by receiver."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import RoundMessages
from anonymatch.base.arrays import Bools, Floats, Ints, offsets
from anonymatch.counting.measures import entropy_terms

__all__ = ["LinkFigures", "LinkTable", "Links", "bits_of", "figures_of", "likeliest", "spreads_of"]

_LEAST = 1e-12  # of a probability that has a logarithm
_SLOTS = 4  # times as many possible pairs as links, up to which a table of all of them is faster
_AT_ONCE = 2**15  # messages whose links are looked at together

Codes = npt.NDArray[np.int32]
Links = npt.NDArray[np.float32] | Floats


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
        receiver = messages.receiver[_runs(starts, begins, sizes)]
        message = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        self._order: npt.NDArray[np.intp] | None = None
        if messages.first is not None:  # not in order of receivers
            self._order = np.lexsort((receiver, message))
            receiver = receiver[self._order]
        new = np.ones(self.n_entries, dtype=np.bool_)
        np.not_equal(receiver[1:], receiver[:-1], out=new[1:])
        new[starts[:-1]] = True
        self._cuts: npt.NDArray[np.intp] | None = None if new.all() else np.flatnonzero(new)
        owner = _only(message, self._cuts)
        real = messages.sender[owner] >= 0
        self._real: Bools | None = None if real.all() else real
        owner = _only(owner, self._real)
        self.receiver: Codes = _only(_only(receiver, self._cuts), self._real)
        """The receiver of each link."""
        self.sender: Codes = messages.sender[owner]
        """And its sender."""
        self.message = np.flatnonzero(messages.sender >= 0)
        """Which messages these are."""
        self.starts: Ints = offsets(np.bincount(owner, minlength=len(sizes))[self.message])
        """Where the links of each message begin, and where the last ends."""

    def merged(self, entries: Links) -> Links:
        """Probabilities of entries as those of links."""
        values = _only(entries, self._order)
        if self._cuts is not None:
            values = np.add.reduceat(values, self._cuts)
        return _only(values, self._real)

    def pairs(self, receivers: int) -> tuple[Ints, npt.NDArray[np.intp]]:
        """Sender and receiver of links as one number each, and the pair of each link; -1: lost."""
        keys = np.where(
            self.receiver >= 0, self.sender.astype(np.int64) * receivers + self.receiver, -1
        )
        largest = int(keys.max(initial=-1)) + 2
        if largest > _SLOTS * len(keys):
            pairs = np.unique(keys)
            return pairs, np.searchsorted(pairs, keys)
        keys += 1
        there = np.zeros(largest, dtype=np.bool_)
        there[keys] = True
        return np.flatnonzero(there) - 1, (np.cumsum(there) - 1)[keys]


def figures_of(table: LinkTable, links: Links, *, entropies: bool = True) -> LinkFigures:
    """Bits, the largest probability and whose it is, of each message.

    Without ``entropies``, links need be no probabilities.
    """
    parts = []
    for begin in range(0, len(table.message), _AT_ONCE):
        starts = table.starts[begin : begin + _AT_ONCE + 1]
        some = links[starts[0] : starts[-1]].astype(np.float64)
        best = likeliest(some, starts)
        parts.append((some[best], table.receiver[starts[0] + best]))
    believed, guess = (np.concatenate(column) for column in zip(*parts, strict=True))
    bits = bits_of(table, links) if entropies else np.zeros(len(guess))
    return LinkFigures(bits, believed, guess)


def bits_of(table: LinkTable, links: Links) -> Floats:
    """Entropy of the receiver of each message."""
    parts = []
    for begin in range(0, len(table.message), _AT_ONCE):
        starts = table.starts[begin : begin + _AT_ONCE + 1]
        terms = entropy_terms(links[starts[0] : starts[-1]].astype(np.float64))
        parts.append(np.add.reduceat(terms, starts[:-1] - starts[0]))
    return np.concatenate(parts).clip(0.0)


def spreads_of(table: LinkTable, links: Links) -> Floats:
    """Variance of -log2 of the probability of the receiver of each message, if links are right."""
    parts = []
    for begin in range(0, len(table.message), _AT_ONCE):
        starts = table.starts[begin : begin + _AT_ONCE + 1]
        some = links[starts[0] : starts[-1]].astype(np.float64)
        squares = some * np.log2(np.maximum(some, _LEAST)) ** 2
        parts.append(np.add.reduceat(squares, starts[:-1] - starts[0]))
    return (np.concatenate(parts) - bits_of(table, links) ** 2).clip(0.0)


def likeliest(links: Links, starts: Ints) -> Ints:
    """The largest link of each message, the first of equals, counted from the first link."""
    begins = starts[:-1] - starts[0]
    top = np.maximum.reduceat(links, begins)
    at = np.flatnonzero(links == np.repeat(top, np.diff(starts)))
    return np.asarray(at[np.searchsorted(at, begins)])


def _runs(starts: Ints, begins: npt.NDArray[Any], sizes: Ints) -> npt.NDArray[np.int32]:
    """The message out of every entry."""
    out = np.arange(int(starts[-1]), dtype=np.int64)
    out -= np.repeat(starts[:-1] - begins, sizes)
    return out.astype(np.int32)


def _only(values: npt.NDArray[Any], where: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    return values if where is None else values[where]

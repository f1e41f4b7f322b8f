"""Figures of the messages of each round of a flush mix."""

from __future__ import annotations

import math

import numpy as np

from anonymatch.base.arrays import Floats, Ints
from anonymatch.mixes.solvers.exponential import leaving_probability
from anonymatch.mixes.solvers.flushes.flush_rule import (
    BY_MESSAGE,
    FlushRounds,
)
from anonymatch.mixes.solvers.flushes.known_numbers import KnownNumbers
from anonymatch.mixes.solvers.flushes.tuning import FLUSHES

_LN2 = math.log(2.0)


class AskedFlushes:
    """The flush of one departure for each message, and the probability of that departure."""

    def __init__(self, number: Ints, kind: Ints, flush: Ints) -> None:
        self.number, self.kind, self.flush = number, kind, flush
        self.probability = np.zeros(len(number))
        code = 2 * number + kind
        self._order = np.argsort(code, kind="stable")
        self._codes = code[self._order]

    @classmethod
    def of(
        cls, number: Ints, kind: Ints, rounds: FlushRounds, orders: tuple[Ints, Ints], asked: Ints
    ) -> AskedFlushes:
        """``asked``: a departure for each message, in the order given; -1 for none.

        ``orders`` are those in which times are sorted, of messages in and out.
        """
        in_order, out_order = orders
        rank = np.empty(len(out_order), dtype=np.int64)
        rank[out_order] = np.arange(len(rank))
        wanted = asked[in_order]
        flush = np.full(len(wanted), -1, dtype=np.int64)
        some = wanted >= 0
        flush[some] = rounds.departures[rank[wanted[some]]]
        return cls(number, kind, flush)

    def take(self, at: int, kind: int, each: Floats) -> None:
        """Probabilities of single departures of the flushes from ``at`` on, for one class."""
        first, last = np.searchsorted(self._codes, [2 * at + kind, 2 * at + kind + 1])
        members = self._order[first:last]
        later = self.flush[members] - at
        some = (self.flush[members] >= at) & (later < len(each))
        self.probability[members[some]] = each[later[some]]


class FlushTable:
    """Figures of the messages of each round: of most of them, and of the one that set it off."""

    def __init__(self, rounds: FlushRounds, asked: AskedFlushes | None = None) -> None:
        self.asked = asked
        shape = (2, rounds.number + 1)
        self._rounds = rounds
        with np.errstate(divide="ignore"):
            self._log_left = np.where(rounds.left > 0, np.log2(np.maximum(rounds.left, 1)), 0.0)
        self.departed, self.inside, self.lost = (np.zeros(shape) for _ in range(3))
        self.shannon, self.shannon_all, self.collision = (np.zeros(shape) for _ in range(3))
        self.largest = np.zeros(shape)
        self.guessing = np.ones(shape)
        self.later = np.zeros(shape, dtype=np.int64)  # of the likeliest flush, from the first on
        self.allowed = np.zeros(shape, dtype=np.int64)
        self.real = np.zeros(rounds.number)  # expected messages that leave with each flush
        self.longest = 0

    def take(self, at: int, kind: int, leaves: Floats, inside: float, lost: float) -> None:
        """Take what is known of the messages of one round and kind."""
        rounds = self._rounds
        end = at + len(leaves)
        left = rounds.left[at:end]
        each = leaves / np.maximum(left, 1)
        if self.asked is not None:
            self.asked.take(at, kind, each)
        departed = float(leaves.sum())
        some = leaves > 0
        bits = float((leaves * self._log_left[at:end])[some].sum())
        bits -= float((leaves[some] * np.log2(leaves[some])).sum())
        here = kind, at
        self.departed[here], self.inside[here], self.lost[here] = departed, inside, lost
        self.shannon_all[here] = max(0.0, bits - _xlog2(lost) - _xlog2(inside))
        if departed > 0:
            self.shannon[here] = max(0.0, bits / departed + math.log2(departed))
            self.collision[here] = min(1.0, float((leaves * each).sum()) / departed**2)
            self.largest[here] = largest = min(1.0, float(each.max()))
            self.later[here] = int(np.argmax(each >= largest * (1 - FLUSHES.table_tie)))
            self.guessing[here] = max(1.0, _mean_rank(leaves, each, left) / departed)
        self.allowed[here] = int(left[each > FLUSHES.table_possible].sum())
        set_off = at < rounds.number and rounds.trigger[at] == BY_MESSAGE
        number = 1 if kind else int(rounds.entered[at]) - int(set_off)
        self.real[at:end] += number * leaves
        self.longest = max(self.longest, len(leaves))

    def fill(self, plain: KnownNumbers) -> None:
        """Figures of all rounds at once, where nothing is hidden."""
        stay = plain.stay
        some = stay.departs > 0
        departs = np.where(some, stay.departs, 1.0)
        bits = stay.shannon - entropy_of(stay.stays)
        self.departed[:], self.inside[:] = stay.departs, stay.stays
        self.shannon_all[:] = stay.shannon
        self.shannon[:] = np.where(some, np.maximum(0.0, bits / departs + np.log2(departs)), 0.0)
        self.collision[:] = np.minimum(1.0, stay.collision / departs**2)
        self.largest[:] = stay.largest
        self.guessing[:] = np.where(some, np.maximum(1.0, stay.ranks / departs), 1.0)
        self.later[:] = np.where(some, stay.guess - np.arange(len(stay.guess)), 0)
        self.allowed[:] = plain.allowed(FLUSHES.table_possible)
        self.real[:] = self._rounds.left
        self.longest = plain.longest
        if self.asked is not None:
            self.asked.probability[:] = leaving_probability(
                plain.inside, plain.left, self.asked.number, self.asked.flush
            )

    def repeat(self, small: FlushTable, which: Ints) -> None:
        """Figures of equal rounds from those of one, where nobody stays for another flush."""
        for name in (
            *("departed", "inside", "lost", "shannon", "shannon_all", "collision", "largest"),
            *("guessing", "later", "allowed"),
        ):
            setattr(self, name, getattr(small, name)[:, which])
        self.real = small.real[which[:-1]]
        self.longest = 1
        asked = self.asked
        if asked is not None:
            some = asked.flush == asked.number
            departed = self.departed[asked.kind[some], asked.number[some]]
            asked.probability[some] = departed / self._rounds.left[asked.flush[some]]


def _mean_rank(leaves: Floats, each: Floats, left: Ints) -> float:
    """Sum of rank times probability, the likeliest departures first; those of a flush are alike."""
    order = np.argsort(-each, kind="stable")
    before = np.cumsum(left[order]) - left[order]
    return float((leaves[order] * (before + (left[order] + 1.0) / 2.0)).sum())


def _xlog2(value: float) -> float:
    return value * math.log2(value) if value > 0 else 0.0


def entropy_of(parts: Floats) -> Floats:
    """-p log2 p of each."""
    from scipy.special import xlogy

    return np.asarray(-xlogy(parts, parts) / _LN2)

"""What chains over the first rounds say: of messages, of users and of their profiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anonymatch._native import RoundMessages
from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.interval import Interval
from anonymatch.disclosure.logs.round_log import RoundLog
from anonymatch.disclosure.methods.gibbs import CHAINS, ChainJob, ChainRun, Chains, Prior
from anonymatch.disclosure.methods.links import (
    Links,
    LinkTable,
    bits_of,
    figures_of,
    likeliest,
    spreads_of,
)
from anonymatch.running import Execution

__all__ = ["Believed", "Look", "Profiles", "alone", "first_round", "share_of"]

Codes = npt.NDArray[np.int32]

_NOTHING = 1e-9  # messages, of a user all of whose were lost
_LEAST_CHANCE = 1e-6  # of a true receiver that chains never met


class Profiles(NamedTuple):
    """Who writes to whom: pairs that can be, with the probability of a message of theirs."""

    user: Codes
    behaviour: Codes
    probability: Floats
    error: Floats | None  # standard error; None where a method has none

    def __repr__(self) -> str:
        return f"Profiles({len(self.user)} pairs)"


class BitsByChains(NamedTuple):
    """Bits about the receiver of each message, without the bias of few draws (jackknifed)."""

    all: Floats  # by the mean of all chains
    ordered: Floats  # by those that began ordered alone
    disordered: Floats
    without: Floats  # by all but one chain, a row for each


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Believed:
    """What an attacker who has seen some rounds believes, of each message of a user."""

    sender: Codes
    company: Floats  # messages out of its round
    bits: BitsByChains
    judged: Floats  # probability of the best guess of half of the chains by the others: two rows
    hits: Bools | None  # whether the likeliest receiver is the true one
    known: Bools | None  # whether that can be told
    log_scores: Floats | None  # -log2 of the probability of the true receiver
    spreads: Floats | None  # the variance that each would have if all probabilities were right
    settled: Bools  # whether it left, whichever message out it is
    profiles: Profiles | None = None
    strength: float = 0.0  # of the prior that was learnt, mean
    rhat: float = 1.0
    drawn: Bools | None = None  # rows of draws: whether the likeliest receiver is the one drawn

    @classmethod
    def of(
        cls,
        messages: RoundMessages,
        table: LinkTable,
        links: Links,
        guess: Codes,
        log: RoundLog,
        **more: Any,
    ) -> Believed:
        """What the probabilities of the links of a log say."""
        truth = log.true_receivers()
        real = messages.sender >= 0
        return cls(
            sender=messages.sender[real],
            company=np.diff(messages.entries())[real].astype(np.float64),
            hits=None if truth is None else guess == truth,
            known=None if truth is None else truth != -2,
            log_scores=None if truth is None else -np.log2(_of_truth(table, links, truth)),
            spreads=None if truth is None else spreads_of(table, links),
            settled=log.settled(),
            **more,
        )


def alone(log: RoundLog) -> Believed:
    """What each round says by itself, exactly: a message is any of those that leave, alike."""
    messages = log.messages()
    table = LinkTable(messages)
    sizes = np.diff(messages.entries())
    links = table.merged(np.repeat(1.0 / sizes, sizes))
    figures = figures_of(table, links)
    own = figures.bits
    bits = BitsByChains(own, own, own, np.broadcast_to(own, (CHAINS, len(own))))
    judged = np.broadcast_to(figures.believed, (2, len(own)))
    return Believed.of(messages, table, links, figures.guess, log, bits=bits, judged=judged)


class Look:
    """Chains over stretches of a log, all of the same number of rounds, and what they say."""

    def __init__(
        self, logs: Sequence[RoundLog], prior: Prior, *, execution: Execution, seed: Sequence[int]
    ) -> None:
        self._logs = logs
        self._messages = [log.messages() for log in logs]
        self._tables = [LinkTable(messages) for messages in self._messages]
        jobs = [
            ChainJob(messages, prior, log.reach, log.start())
            for log, messages in zip(logs, self._messages, strict=True)
        ]
        self._chains = Chains(jobs, execution=execution, seed=seed)
        self.sweeps = 0
        self.found: list[Believed] = []

    def go_on(self, sweeps: int) -> None:
        """Record ``sweeps`` sweeps; only these count from now on."""
        runs = self._chains.stage(sweeps, draws=self._logs[0].truth is not None)
        self.found = [
            _believed(*parts)
            for parts in zip(self._logs, self._messages, self._tables, runs, strict=True)
        ]
        self.sweeps = sweeps


def _believed(log: RoundLog, messages: RoundMessages, table: LinkTable, run: ChainRun) -> Believed:
    chains = [table.merged(entries) for entries in run.entries]
    number = len(chains)
    total = sum(chains[1:], chains[0])
    whole = figures_of(table, total / number)
    single = np.array([bits_of(table, chain) for chain in chains])
    without = np.array([bits_of(table, (total - chain) / (number - 1)) for chain in chains])
    ordered, disordered = (
        2 * bits_of(table, (chains[k] + chains[k + 2]) / 2) - (single[k] + single[k + 2]) / 2
        for k in (0, 1)
    )
    # The entropy of a mean of K chains is too small by about 1/K of what that of one chain is.
    bits = BitsByChains(
        (number * whole.bits - single.mean(axis=0)) / (number - 1),
        ordered,
        disordered,
        ((number - 1) * without - (single.sum(axis=0) - single) / (number - 1)) / (number - 2),
    )
    # The best of noisy probabilities is too large: half of the chains guess, the others judge.
    halves = [(chains[k] + chains[k + 1]) / 2 for k in (0, 2)]
    return Believed.of(
        messages,
        table,
        total / number,
        whole.guess,
        log,
        bits=bits,
        judged=np.array([_judged(table, a, b) for a, b in (halves, halves[::-1])]),
        profiles=_profiles(table, messages, chains, run),
        strength=math.exp(float(np.log(run.strengths).mean())),
        rhat=run.rhat,
        drawn=_drawn(messages, run, whole.guess),
    )


def _of_truth(table: LinkTable, links: Links, truth: Codes) -> Floats:
    """The probability of the true receiver of each message; 1 where nobody knows it."""
    own = np.repeat(truth, np.diff(table.starts))
    values = np.where(table.receiver == own, links, 0.0)
    found = np.add.reduceat(values, table.starts[:-1])
    return np.where(truth == -2, 1.0, np.clip(found, _LEAST_CHANCE, 1.0))


def _drawn(messages: RoundMessages, run: ChainRun, guess: Codes) -> Bools | None:
    """In which draws the likeliest receiver is the one drawn, if draws were kept."""
    real = messages.sender >= 0
    rows = [messages.receiver[draw[real]] == guess for draw in run.draws]
    return np.array(rows) if rows else None


def first_round(messages: RoundMessages) -> Profiles:
    """What one round says of profiles: a message is any of those that leave, alike."""
    table = LinkTable(messages)
    sizes = np.diff(messages.entries())
    pairs, pair = table.pairs(messages.receivers)
    mass = np.bincount(pair, table.merged(np.repeat(1.0 / sizes, sizes)), len(pairs))
    known = pairs >= 0
    user, behaviour = np.divmod(pairs[known], messages.receivers)
    number = np.bincount(user, mass[known], messages.senders)
    probability = mass[known] / number[user]
    return Profiles(
        user.astype(np.int32), behaviour.astype(np.int32), probability, np.zeros(len(user))
    )


def _profiles(
    table: LinkTable,
    messages: RoundMessages,
    chains: list[Links],
    run: ChainRun,
) -> Profiles:
    """Mean of (a g + C) / (a + n) over chains, and its error by how they differ."""
    pairs, pair = table.pairs(messages.receivers)
    number, lost = len(chains), int(pairs[0] < 0)
    user, behaviour = np.divmod(pairs[lost:], messages.receivers)
    sizes, size_of = np.unique(
        np.bincount(messages.sender[messages.sender >= 0], minlength=messages.senders),
        return_inverse=True,
    )
    total, squares = np.zeros(len(user)), np.zeros(len(user))
    for chain, base, strengths in zip(
        chains, run.bases, np.split(run.strengths, number), strict=True
    ):
        counts = np.bincount(pair, chain, len(pairs))[lost:]
        sent = np.maximum(np.bincount(user, counts, messages.senders), _NOTHING)  # that left
        # The part of a profile that the prior keeps, by how many messages a user has.
        kept = np.array([(strengths / (strengths + size)).mean() for size in sizes])[size_of]
        values = kept[user] * base[behaviour] + (1 - kept[user]) * counts / sent[user]
        total += values
        squares += values**2
    probability = np.clip(total / number, 0.0, 1.0)
    # Few chains say little of one probability and much of all: their differences are pooled.
    each = np.maximum(squares - total**2 / number, 0.0) / (number - 1)
    about = probability * (1 - probability) + 1e-12
    pooled = float(each.sum() / about.sum()) * about
    error = np.sqrt(np.maximum(each, pooled) / number)
    return Profiles(user.astype(np.int32), behaviour.astype(np.int32), probability, error)


def _judged(table: LinkTable, guessing: Links, judging: Links) -> Floats:
    """Of each message, the probability by one half of the best guess by the other."""
    return judging[likeliest(guessing, table.starts)].astype(np.float64)


def share_of(hits: Bools) -> Interval:
    """A share of messages, with Wilson's interval."""
    size, share, z = len(hits), float(hits.mean()), 1.96
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    width = (
        z * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    )
    return Interval(share, max(middle - width, 0.0), min(middle + width, 1.0))

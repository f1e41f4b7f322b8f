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
from anonymatch.disclosure.gibbs import ChainJob, ChainRun, Prior, run_chains
from anonymatch.disclosure.links import LinkFigures, Links, LinkTable, figures_of, likeliest
from anonymatch.measures import Interval
from anonymatch.running import Execution
from anonymatch.sources import RoundLog

__all__ = ["Believed", "Profiles", "believe", "exactly", "first_round", "share_of"]

Codes = npt.NDArray[np.int32]

_NOTHING = 1e-9  # messages, of a user all of whose were lost


class Profiles(NamedTuple):
    """Who writes to whom: pairs that can be, with the probability of a message of theirs."""

    user: Codes
    behaviour: Codes
    probability: Floats
    error: Floats | None  # standard error; None where a method has none

    def __repr__(self) -> str:
        return f"Profiles({len(self.user)} pairs)"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Believed:
    """What an attacker who has seen some rounds believes, of each message of a user."""

    sender: Codes
    company: Floats  # messages out of its round
    bits: Interval  # about the receiver of a message, mean over messages
    believed: Interval  # probability of the best guess, mean over messages
    own_bits: Floats
    own_believed: Floats
    hits: Bools | None  # whether the likeliest receiver is the true one
    known: Bools | None  # whether that can be told
    settled: Bools  # whether it left, whichever message out it is
    profiles: Profiles | None = None
    strength: float = 0.0  # of the prior that was learnt, mean
    rhat: float = 1.0
    sweeps: int = 0
    seconds: float = 0.0  # that chains took, predicted
    drawn: Bools | None = None  # rows of draws: whether the likeliest receiver is the one drawn

    @classmethod
    def of(
        cls,
        messages: RoundMessages,
        figures: LinkFigures,
        bits: Interval,
        believed: Interval,
        log: RoundLog,
        **more: Any,
    ) -> Believed:
        """What figures of the links of a log say."""
        truth = log.true_receivers()
        real = messages.sender >= 0
        return cls(
            sender=messages.sender[real],
            company=np.diff(messages.entries())[real].astype(np.float64),
            bits=bits,
            believed=believed,
            own_bits=figures.bits,
            own_believed=figures.believed,
            hits=None if truth is None else figures.guess == truth,
            known=None if truth is None else truth != -2,
            settled=log.settled(),
            **more,
        )


def believe(
    log: RoundLog, prior: Prior, *, seconds: float, execution: Execution, seed: Sequence[int]
) -> Believed:
    """Posterior of all messages of a log."""
    messages = log.messages()
    job = ChainJob(messages, prior, log.reach, log.start())
    run = run_chains(job, seconds=seconds, execution=execution, seed=seed)
    table = LinkTable(messages)
    chains = [table.merged(entries) for entries in run.entries]
    mean = sum(chains[1:], chains[0]) / len(chains)
    whole = figures_of(table, mean)
    # The entropy of a mean of draws is too small; the means without one chain say by how much.
    without = [figures_of(table, (len(chains) * mean - c) / (len(chains) - 1)) for c in chains]
    # The best of noisy probabilities is too large: half of the chains guess, the others judge.
    halves = [(a + b) / 2 for a, b in (chains[::2], chains[1::2])]
    judged = np.mean([_judged(table, a, b) for a, b in (halves, halves[::-1])], axis=0)
    believed = _jackknife(judged.mean(), [one.believed.mean() for one in without], shift=False)
    return Believed.of(
        messages,
        whole._replace(believed=judged),
        _jackknife(whole.bits.mean(), [one.bits.mean() for one in without]).clipped(0.0, math.inf),
        believed.clipped(0.0, 1.0),
        log,
        profiles=_profiles(table, messages, chains, run),
        strength=math.exp(float(np.log(run.strengths).mean())),
        rhat=run.rhat,
        sweeps=run.sweeps,
        seconds=run.seconds,
        drawn=_drawn(messages, run, whole.guess),
    )


def _drawn(messages: RoundMessages, run: ChainRun, guess: Codes) -> Bools | None:
    """In which draws the likeliest receiver is the one drawn, if draws were kept."""
    real = messages.sender >= 0
    rows = [messages.receiver[draw[real]] == guess for draw in run.draws]
    return np.array(rows) if rows else None


def exactly(values: Floats) -> Interval:
    """The mean of values that are no estimates."""
    mean = float(values.mean())
    return Interval(mean, mean, mean)


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


def _jackknife(value: float, without: Sequence[float], *, shift: bool = True) -> Interval:
    """A figure without the bias of few chains, and two standard errors around."""
    number, parts = len(without), np.array(without)
    best = number * value - (number - 1) * float(parts.mean()) if shift else float(value)
    error = math.sqrt((number - 1) * float(((parts - parts.mean()) ** 2).mean()))
    return Interval(best, best - 3.182 * error, best + 3.182 * error)


def share_of(hits: Bools) -> Interval:
    """A share of messages, with Wilson's interval."""
    size, share, z = len(hits), float(hits.mean()), 1.96
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    width = (
        z * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size)) / (1 + z * z / size)
    )
    return Interval(share, max(middle - width, 0.0), min(middle + width, 1.0))

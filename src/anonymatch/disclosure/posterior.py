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
from anonymatch.disclosure.links import LinkFigures, LinkTable, figures_of
from anonymatch.measures import Interval
from anonymatch.running import Execution

__all__ = ["Believed", "Profiles", "believe", "exactly", "first_round", "share_of"]

Codes = npt.NDArray[np.int32]


class Profiles(NamedTuple):
    """Who writes to whom: pairs that can be, with the probability of a message of theirs."""

    user: Codes
    behaviour: Codes
    probability: Floats
    error: Floats | None  # standard error; None where a method has none


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
    profiles: Profiles | None = None
    strength: float = 0.0  # of the prior that was learnt, mean
    rhat: float = 1.0
    sweeps: int = 0

    @classmethod
    def of(
        cls,
        messages: RoundMessages,
        figures: LinkFigures,
        bits: Interval,
        believed: Interval,
        truth: Codes | None,
        **more: Any,
    ) -> Believed:
        """``truth``: the true receivers, -1 if lost, -2 where nobody knows."""
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
            **more,
        )


def believe(
    messages: RoundMessages,
    truth: Codes | None,
    prior: Prior,
    *,
    reach: int = 1,
    start: Codes | None = None,
    seconds: float,
    execution: Execution,
    seed: Sequence[int],
) -> Believed:
    """Posterior of all messages of a log; ``truth``: their true receivers."""
    job = ChainJob(messages, prior, reach, start)
    run = run_chains(job, seconds=seconds, execution=execution, seed=seed)
    table = LinkTable(messages)
    chains = [table.merged(entries) for entries in run.entries]
    mean = np.mean(chains, axis=0)
    whole = figures_of(table, mean)
    # The entropy of a mean of draws is too small; the means without one chain say by how much.
    without = [figures_of(table, (len(chains) * mean - c) / (len(chains) - 1)) for c in chains]
    # The best of noisy probabilities is too large: half of the chains guess, the others judge.
    halves = [np.mean(part, axis=0) for part in (chains[::2], chains[1::2])]
    judged = np.mean([_judged(table, a, b) for a, b in (halves, halves[::-1])], axis=0)
    believed = _jackknife(judged.mean(), [one.believed.mean() for one in without], shift=False)
    return Believed.of(
        messages,
        whole._replace(believed=judged),
        _jackknife(whole.bits.mean(), [one.bits.mean() for one in without]).clipped(0.0, math.inf),
        believed.clipped(0.0, 1.0),
        truth,
        profiles=_profiles(table, messages, chains, run),
        strength=math.exp(float(np.log(run.strengths).mean())),
        rhat=run.rhat,
        sweeps=run.sweeps,
    )


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
    chains: list[Floats],
    run: ChainRun,
) -> Profiles:
    """Mean of (a g + C) / (a + n) over chains, and its error by how they differ."""
    pairs, pair = table.pairs(messages.receivers)
    counts = np.array([np.bincount(pair, chain, len(pairs)) for chain in chains])
    seen = pairs >= 0
    pairs, counts = pairs[seen], counts[:, seen]
    user, behaviour = np.divmod(pairs, messages.receivers)
    number = np.bincount(messages.sender[messages.sender >= 0], minlength=messages.senders)
    # The part of a profile that the prior keeps, by how many messages a user has.
    sizes, size_of = np.unique(number, return_inverse=True)
    strengths = run.strengths
    kept = np.array([(strengths / (strengths + size)).mean() for size in sizes])[size_of]
    sent = np.bincount(user, counts.mean(axis=0), messages.senders)  # without what was lost
    values = counts / np.maximum(sent, 1e-300)[user]
    probability = kept[user] * run.base[behaviour] + (1 - kept[user]) * values.mean(axis=0)
    # Few chains say little of one probability and much of all: their differences are pooled.
    each = values.var(axis=0, ddof=1)
    about = probability * (1 - probability) + 1e-12
    scale = float(each.sum() / about.sum())
    error = np.sqrt((each + 4 * scale * about) / 5 / len(chains)) * (1 - kept[user])
    return Profiles(user.astype(np.int32), behaviour.astype(np.int32), probability, error)


def _judged(table: LinkTable, guessing: Floats, judging: Floats) -> Floats:
    """Of each message, the probability by one half of the best guess by the other."""
    begins = table.starts[:-1]
    top = np.maximum.reduceat(guessing, begins)
    at = np.flatnonzero(guessing == np.repeat(top, np.diff(table.starts)))
    return judging[at[np.searchsorted(at, begins)]]


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

"""Attacks that take whole rounds as matchings: PMDA, NSDA, and EM on exact posteriors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anonymatch._native import ROUND_MARGINALS_LIMIT, RoundMessages, round_marginals
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.running import Budget, Cancelled, Execution

__all__ = ["assigned", "maximised", "normalised"]

Codes = npt.NDArray[np.int32]

_LEAST = 1e-6  # of a profile that an average puts at 0 or below
_BALANCED = 30  # steps of Sinkhorn's scaling
_ITERATIONS, _LEAST_STEPS = 300, 30
_SET_SECONDS = 5e-9  # one column of one set, there and back
_STEADY = 1e-5  # the largest change of a profile that ends EM


def assigned(messages: RoundMessages, profiles: Floats, execution: Execution) -> Floats:
    """Profiles by the likeliest matching of every round (PMDA; Troncoso and others 2008)."""
    from scipy.optimize import linear_sum_assignment

    logs = np.log(_positive(profiles))
    counts = np.zeros_like(profiles)
    for begin, end in zip(messages.starts[:-1], messages.starts[1:], strict=True):
        execution.stop.check()
        senders, receivers = messages.sender[begin:end], messages.receiver[begin:end]
        costs = np.where(
            (senders[:, None] >= 0) & (receivers >= 0), -_taken(logs, senders, receivers), 0.0
        )
        rows, columns = linear_sum_assignment(costs)
        both = (senders[rows] >= 0) & (receivers[columns] >= 0)
        np.add.at(counts, (senders[rows][both], receivers[columns][both]), 1.0)
    return _shares(counts)


def normalised(messages: RoundMessages, profiles: Floats, execution: Execution) -> Floats:
    """Profiles by rounds whose rows and columns sum to 1 (NSDA; Danezis and Troncoso 2009)."""
    weights = _positive(profiles)
    counts = np.zeros_like(profiles)
    for begin, end in zip(messages.starts[:-1], messages.starts[1:], strict=True):
        execution.stop.check()
        senders, receivers = messages.sender[begin:end], messages.receiver[begin:end]
        both = (senders[:, None] >= 0) & (receivers >= 0)
        shares = np.where(both, _taken(weights, senders, receivers), 1.0 / profiles.shape[1])
        for _ in range(_BALANCED):
            shares /= shares.sum(axis=0)
            shares /= shares.sum(axis=1, keepdims=True)
        rows, columns = np.nonzero(both)
        np.add.at(counts, (senders[rows], receivers[columns]), shares[both])
    return _shares(counts)


def maximised(
    messages: RoundMessages, profiles: Floats, execution: Execution, budget: Budget
) -> Floats:
    """The likeliest profiles (EM): posteriors of every round by permanents, and shares of them.

    Its probabilities say nothing of how sure it is: it takes its own guesses for facts.
    """
    if int(np.diff(messages.starts).max()) > ROUND_MARGINALS_LIMIT:
        raise InputError(
            f"a round has more than {ROUND_MARGINALS_LIMIT} messages, too many for em; choose gibbs"
        )
    size = np.diff(messages.starts).astype(np.float64)
    each = float((size * 2.0**size).sum()) * _SET_SECONDS
    if each * _LEAST_STEPS > budget.seconds:
        raise budget.refusal("em", each * _LEAST_STEPS, 0.0, "choose gibbs")
    steps = int(min(_ITERATIONS, budget.seconds / each))
    execution.expect(each * steps)
    sizes = np.diff(messages.entries())
    message = np.repeat(np.arange(len(sizes)), sizes)
    begins = np.repeat(messages.starts[:-1], np.diff(messages.starts))
    out = np.arange(len(message)) - (messages.entries()[:-1] - begins)[message]
    sender, receiver = messages.sender[message], messages.receiver[out]
    both = (sender >= 0) & (receiver >= 0)
    pair = sender[both].astype(np.int64) * profiles.shape[1] + receiver[both]
    blank = np.where(receiver < 0, np.where(sender < 0, 0.0, 1.0), 1.0)
    now = np.full_like(profiles, 1.0 / profiles.shape[1])
    for _ in range(steps):
        weights = blank.copy()
        weights[both] = now.ravel()[pair]
        shares, finished = round_marginals(messages, weights, execution.stop.byte)
        if not finished:
            raise Cancelled
        counts = np.bincount(pair, shares[both], minlength=now.size).astype(np.float64)
        then = _shares(counts.reshape(now.shape))
        change = float(np.abs(then - now).max())
        now = then
        execution.advance(each)
        if change < _STEADY:
            break
    return now


def _positive(profiles: Floats) -> Floats:
    return np.maximum(profiles, _LEAST)


def _taken(values: Floats, senders: Codes, receivers: Codes) -> Floats:
    return np.asarray(values[np.ix_(senders.clip(0), receivers.clip(0))])


def _shares(counts: Floats) -> Floats:
    sums = counts.sum(axis=1, keepdims=True)
    even = np.full_like(counts, 1.0 / counts.shape[1])
    return np.asarray(np.divide(counts, sums, out=even, where=sums > 0))

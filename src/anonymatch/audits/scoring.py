"""The attacker's guesses against the truth: are the promised probabilities kept?"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import Answers
from anonymatch.audits.result import Bin, Score
from anonymatch.measures import LOST
from anonymatch.sources import Observation

__all__ = ["score"]

_BINS = 10


def score(observation: Observation, answers: Answers) -> Score | None:
    """How often best guesses are right, and how often they should be; None without a truth."""
    if observation.truth is None:
        return None
    users = answers.users
    truth = _completed(observation, answers)
    # Of a message that can be no departure nothing is guessed.
    judged = (truth != -1) & ~np.isnan(users.probability.value) & (users.guess != LOST)
    if not judged.any():
        return None
    promised = users.probability.value[judged]
    right = truth[judged] == users.guess[judged]
    # Guesses of one system hang together, mostly against each other: the error is a safe one.
    error = math.sqrt(float((promised * (1.0 - promised)).sum())) / len(promised)
    difference = float(right.mean() - promised.mean())
    impossible = _impossible(observation, answers)
    return Score(
        guesses=int(judged.sum()),
        right=float(right.mean()),
        promised=float(promised.mean()),
        error=error,
        calibrated=not impossible and abs(difference) <= 3.0 * error + 1e-9,
        impossible=impossible,
        bins=_bins(promised, right),
    )


def _completed(observation: Observation, answers: Answers) -> npt.NDArray[np.int64]:
    """The truth, with `LOST` for who is known never to have come out.

    That is who is flagged; and who has no departure, if those that are nobody's may be cover.
    """
    truth = observation.truth
    assert truth is not None
    if observation.gone is not None:
        truth = np.where(observation.gone, LOST, truth)
    if answers.network is not None:
        complete = False  # who has no exit is inside, and its guess is judged by nothing
    elif answers.links is None:
        # All whose truth is not known are the lost ones.
        complete = np.count_nonzero(truth < 0) == observation.lost
    else:
        nobodys = np.ones(len(answers.links.real), dtype=np.bool_)
        nobodys[truth[truth >= 0]] = False
        complete = bool((truth >= 0).any() and (answers.links.real[nobodys] < 1.0 - 1e-9).all())
    return np.where(truth < 0, LOST, truth) if complete else truth


def _bins(promised: np.ndarray, right: np.ndarray) -> tuple[Bin, ...]:
    bin_of = np.minimum((promised * _BINS).astype(int), _BINS - 1)
    return tuple(
        Bin(
            low=k / _BINS,
            high=(k + 1) / _BINS,
            guesses=int(inside.sum()),
            promised=float(promised[inside].mean()),
            right=float(right[inside].mean()),
        )
        for k in range(_BINS)
        if (inside := bin_of == k).any()
    )


def _impossible(observation: Observation, answers: Answers) -> int:
    """Users whose true behaviour is none of their candidates."""
    truth = observation.truth
    assert truth is not None
    known = np.flatnonzero(truth >= 0)
    if answers.true_exit is not None:
        return int((answers.true_exit[known] <= 0.0).sum())
    if observation.passage is not None:
        came, left = (
            observation.passage.arrivals[known],
            observation.passage.departures[truth[known]],
        )
        return int((left < came).sum())
    graph = observation.graph
    assert graph is not None
    edges = graph.rows().astype(np.int64) * graph.n_behaviours + graph.indices
    pairs = known * graph.n_behaviours + truth[known]
    positions = np.minimum(np.searchsorted(edges, pairs), len(edges) - 1)
    return int((edges[positions] != pairs).sum())

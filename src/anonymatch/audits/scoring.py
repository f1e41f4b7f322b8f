"""The attacker's probabilities compared with the ground truth in the log: are they calibrated?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch.audits.answers import Answers, NetworkAnswers, links_of
from anonymatch.audits.parts import Bin, Score
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.counting.measures import LOST, UserFigures, averages
from anonymatch.mixes import MessageObservation, Observation, passage_of, two_outcomes

__all__ = ["score"]

_BINS = 10
_ERRORS = 3.0  # standard errors that calibrated probabilities hardly exceed
_LEAST = 1e-15  # probability of a true departure that is possible and was cut off
_BATCHES, _BATCHED = 30, 240  # stretches of time, and messages from which on they are looked at
_QUARTERS = 4  # of a log, each of which must fit
_DRIFT = 5.0  # standard errors for one of them: messages that are near hang together


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
    right = _right(observation, answers, truth)[judged]
    # Guesses of one system hang together, mostly against each other: the error is a safe one.
    error = math.sqrt(float((promised * (1.0 - promised)).sum())) / len(promised)
    difference = float(right.mean() - promised.mean())
    impossible = _impossible(observation, answers)
    guesses_fit = abs(difference) <= _ERRORS * error + 1e-9
    logs = _log_score(answers, truth, impossible)
    return Score(
        guesses=int(judged.sum()),
        right=float(right.mean()),
        promised=float(promised.mean()),
        error=error,
        log_score=None if logs is None else logs.mean,
        log_expected=None if logs is None else logs.expected,
        log_score_error=None if logs is None else logs.error,
        calibrated=not impossible.any() and guesses_fit and (logs is None or logs.fits),
        impossible=int(impossible.sum()),
        bins=_bins(promised, right),
    )


def _right(observation: Observation, answers: Answers, truth: Ints) -> Floats:
    """Probability that each best guess is right, if ties are broken at random.

    Messages that leave a mix at the same time are equally likely by every law. A guess is one of
    them, and which one must not depend on the order of rows in the file.
    """
    guess = answers.users.guess
    departures = observation.departures if isinstance(observation, MessageObservation) else None
    right = np.where(truth == guess, 1.0, 0.0)
    if departures is None or isinstance(answers, NetworkAnswers):
        return right
    _, tie, sizes = np.unique(departures, return_inverse=True, return_counts=True)
    pairs = np.flatnonzero((truth >= 0) & (truth < len(tie)) & (guess >= 0) & (guess < len(tie)))
    same = tie[truth[pairs]] == tie[guess[pairs]]
    right[pairs] = np.where(same, 1.0 / sizes[tie[guess[pairs]]], 0.0)
    return right


@dataclass(frozen=True, slots=True)
class _LogScore:
    """Mean -log2 of the true departure's probability, its expected value, and a standard error."""

    mean: float
    expected: float
    error: float
    slack: float  # of the expected value, where figures are estimated
    drifts: bool = False  # whether a quarter of the log does not fit by itself

    @property
    def fits(self) -> bool:
        """Whether the difference is within three standard errors and what is left open."""
        near = abs(self.mean - self.expected) <= _ERRORS * self.error + self.slack + 1e-9
        return near and not self.drifts


def _log_score(answers: Answers, truth: Ints, impossible: Bools) -> _LogScore | None:
    """The log score of counted messages that departed, each given that it departed.

    If a message departed, -log2 of its true departure's probability has the entropy of its
    posterior over departures as its expected value. So the mean is compared with the mean entropy
    of the same messages, which is the headline but for its weights. None if no message can be
    scored.
    """
    users, true = answers.users, answers.true_exit
    if true is None:
        return None
    entropy = users.shannon.value
    scored = users.counted & (truth >= 0) & ~np.isnan(true) & ~np.isnan(entropy)
    if users.departed is not None:
        scored &= users.departed > 0.0
        true = true / np.where(users.departed > 0.0, users.departed, 1.0)
    if not scored.any():
        return None
    weights = np.ones(len(scored)) if users.weights is None else users.weights
    weights = weights[scored] / float(weights[scored].sum())
    expected = float(weights @ entropy[scored])
    if impossible[scored].any():
        return _LogScore(math.inf, expected, math.inf, 0.0)
    apart = 0.0 - np.log2(np.clip(true[scored], _LEAST, 1.0)) - entropy[scored]
    error = _log_error(users, scored, apart, weights)
    interval = averages.mean_entropy(users, answers.entropy)
    slack = 0.0
    if interval is not None and answers.confidence < 1.0:
        slack = interval.high - interval.low
    drifts = _drifts(users, scored, apart, slack)
    return _LogScore(expected + float(weights @ apart), expected, error, slack, drifts)


def _drifts(users: UserFigures, scored: Bools, apart: Floats, slack: float) -> bool:
    """Whether the scores of a quarter of the log are far from their expected values.

    Lost messages that are taken to be inside pile up: scores are too low at first and too high in
    the end, which the mean over the log does not show.
    """
    if len(apart) < _BATCHED:
        return False
    for rows in np.array_split(np.flatnonzero(scored), _QUARTERS):
        quarter = np.zeros(len(scored), dtype=np.bool_)
        quarter[rows] = True
        some = apart[quarter[scored]]
        even = np.full(len(some), 1.0 / len(some))
        error = _log_error(users, quarter, some - some.mean(), even)
        if abs(float(some.mean())) > _DRIFT * error + slack + 1e-9:
            return True
    return False


def _log_error(users: UserFigures, scored: Bools, apart: Floats, weights: Floats) -> float:
    """One standard error of the mean log score if probabilities are calibrated: the largest of 3.

    - The spread of the scores around their expected values.
    - The least spread that a posterior with this entropy and this best guess has. It counts where
      the scores hardly vary, as a rare outcome did not happen.
    - The spread of means over stretches of the log, where messages that are near hang together.
    """
    entropy = users.shannon.value[scored]
    best = np.clip(users.surest.value[scored], 1e-300, 1.0)
    rest = 1.0 - best
    some = rest > 1e-12
    others = np.where(some, rest, 1.0)
    within = np.where(some, np.maximum(entropy - two_outcomes(best), 0.0) / others, 0.0)
    within = np.minimum(within, np.log2(np.maximum(users.allowed[scored], 1)))
    least = best * rest * (np.log2(best / others) + within) ** 2
    alone = float(np.maximum(weights**2 @ least, weights**2 @ apart**2))
    if len(apart) < _BATCHED:
        return math.sqrt(alone)
    parts = np.array([part.sum() for part in np.array_split(weights * apart, _BATCHES)])
    parts -= parts.mean()
    # Messages of one stretch hang together, and with those of the next.
    together = float(parts @ parts + 2.0 * max(parts[1:] @ parts[:-1], 0.0))
    return math.sqrt(max(alone, together * _BATCHES / (_BATCHES - 1)))


def _completed(observation: Observation, answers: Answers) -> npt.NDArray[np.int64]:
    """The truth, with `LOST` for who is known never to have come out.

    That is who is flagged; and who has no departure, if those that are nobody's may be cover.
    """
    truth = observation.truth
    assert truth is not None
    gone = observation.gone if isinstance(observation, MessageObservation) else None
    if gone is not None:
        truth = np.where(gone, LOST, truth)
    links = links_of(answers)
    if isinstance(answers, NetworkAnswers):
        complete = False  # who has no exit is inside, and its guess is judged by nothing
    elif links is None:
        # All whose truth is not known are the lost ones.
        complete = np.count_nonzero(truth < 0) == observation.lost
    else:
        nobodys = np.ones(len(links.real), dtype=np.bool_)
        nobodys[truth[truth >= 0]] = False
        complete = bool((truth >= 0).any() and (links.real[nobodys] < 1.0 - 1e-9).all())
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


def _impossible(observation: Observation, answers: Answers) -> Bools:
    """Which users have a true behaviour that is none of their candidates."""
    truth = observation.truth
    assert truth is not None
    known = np.flatnonzero(truth >= 0)
    impossible = np.zeros(len(truth), dtype=np.bool_)
    if isinstance(answers, NetworkAnswers):
        assert answers.true_exit is not None
        impossible[known] = answers.true_exit[known] <= 0.0
    elif (passage := passage_of(observation)) is not None:
        impossible[known] = passage.departures[truth[known]] < passage.arrivals[known]
    else:
        graph = observation.graph
        assert graph is not None
        edges = graph.rows().astype(np.int64) * graph.n_behaviours + graph.indices
        pairs = known * graph.n_behaviours + truth[known]
        positions = np.minimum(np.searchsorted(edges, pairs), len(edges) - 1)
        impossible[known] = edges[positions] != pairs
    return impossible

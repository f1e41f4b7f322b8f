"""Among how many receivers the worst user hides: several messages out may be of one receiver."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from anonymatch.audits import Answers, NetworkAnswers, links_of
from anonymatch.base.interval import Interval
from anonymatch.counting import Posterior
from anonymatch.counting.measures import Range, averages, entropy_terms
from anonymatch.mixes import LinkFigures, MessageObservation, Passage, exponential_mix_inside

__all__ = ["fewest_receivers"]

Floats = npt.NDArray[np.float64]
Receivers = Sequence[Hashable | None]

_PEAK = 1 / math.e  # where -p log2 p is largest
_TINY = 1e-200  # a scale that is not let further down


def fewest_receivers(observation: MessageObservation, answers: Answers) -> Interval:
    """As many equally likely receivers as the user hides among who hides among the fewest.

    Probabilities of messages out are added up over their receiver; to be lost is one more of them.
    These are behaviours where each has a receiver of its own. There must be a counted user.

    Examples
    --------
    >>> import anonymatch as am
    >>> to = ("x", "x", "y", "y")
    >>> observation = MessageObservation(graph=am.complete(4), source="", receivers=to)
    >>> round(fewest_receivers(observation, am.audit(observation).answers).value, 9)
    2.0
    """
    users = answers.users
    messages = averages.smallest(users, users.effective)
    assert messages is not None
    if observation.receivers is None:
        return messages
    if isinstance(answers, NetworkAnswers):  # to merge messages never hides anybody better
        return Interval.between(1.0, messages.high)
    links = links_of(answers)
    if links is not None:
        return _by_links(links, messages, users.counted)
    if observation.passage is not None:
        return _through_passage(observation.passage, observation.receivers, users.counted)
    if answers.probabilities is None:  # to merge messages never hides anybody better
        return Interval.between(1.0, messages.high)
    receivers = averages.smallest(
        users, _through_graph(answers.probabilities, observation.receivers)
    )
    assert receivers is not None
    return receivers


def _by_links(links: LinkFigures, messages: Interval, counted: npt.NDArray[np.bool_]) -> Interval:
    """Receivers of a message that departed; to merge messages never hides anybody better."""
    if links.receivers is None:
        return Interval.between(1.0, messages.high)
    bits = float(links.receivers.shannon[counted].min())
    slack = links.error * 64.0
    return Interval(2.0**bits, 2.0 ** max(bits - slack, 0.0), 2.0 ** (bits + slack))


# ---- a graph


def _through_graph(posterior: Posterior, receivers: Receivers) -> Range:
    """Of each user, as many equally likely receivers as it hides among."""
    graph = posterior.graph
    numbers: dict[Hashable | None, int] = {}
    receiver_of = np.array(
        [numbers.setdefault(one, len(numbers)) for one in receivers], dtype=np.int64
    )
    keys = graph.rows() * np.int64(len(numbers)) + receiver_of[graph.indices]
    pairs, pair = np.unique(keys, return_inverse=True)
    probabilities, margins = (
        _sums(pair, part, len(pairs)) for part in (posterior.probabilities, posterior.margins)
    )
    low, high = (np.clip(probabilities + sign * margins, 0.0, 1.0) for sign in (-1.0, 1.0))
    ends = entropy_terms(low), entropy_terms(high)
    over = (low < _PEAK) & (high > _PEAK)
    top = np.where(over, _PEAK * math.log2(math.e), np.maximum(*ends))
    bits = (
        _sums(pairs // len(numbers), part, graph.n_users).clip(0.0)
        for part in (entropy_terms(probabilities), np.minimum(*ends), top)
    )
    return Range(*bits).map(np.exp2)


def _sums(groups: npt.NDArray[np.int64], values: Floats, number: int) -> Floats:
    return np.bincount(groups, values, number).astype(np.float64)


# ---- a passage


def _through_passage(
    passage: Passage, receivers: Receivers, counted: npt.NDArray[np.bool_]
) -> Interval:
    order = np.argsort(passage.departures, kind="stable")
    left = passage.departures[order]
    inside = exponential_mix_inside(passage.arrivals, left).tolist()
    bits = _bits_inside(inside, [receivers[j] for j in order.tolist()])
    fewest = float(bits[np.searchsorted(left, passage.arrivals[counted], side="left")].min())
    slack = 16.0 * (len(left) + 1) * 2.0**-53 * (1.0 + fewest)
    return Interval(2.0**fewest, 2.0 ** max(fewest - slack, 0.0), 2.0 ** (fewest + slack))


def _bits_inside(inside: Sequence[int], receivers: Receivers) -> Floats:
    """Entropy of who receives a message that is inside just before each departure, in bits.

    The last entry is for messages that are still inside after all departures. With N inside, one
    leaves now with probability 1/N, and else is as those before the next departure: the
    probabilities of all receivers shrink by the same factor, kept apart as a scale, and one of them
    grows.
    """
    shares: dict[Hashable | None, float] = {None: 1.0}  # None: it stays inside
    scale, bits = 1.0, 0.0
    entropies = [0.0]
    for size, receiver in zip(reversed(inside), reversed(receivers), strict=True):
        if size == 1:  # nobody else: it is this one
            shares, scale, bits = {receiver: 1.0}, 1.0, 0.0
        else:
            if scale < _TINY:
                shares, scale = {each: scale * share for each, share in shares.items()}, 1.0
            later = (size - 1) / size
            scale *= later
            before = scale * shares.get(receiver, 0.0)
            after = before + 1.0 / size
            shares[receiver] = after / scale
            bits = later * (bits - math.log2(later)) + _one(after) - _one(before)
        entropies.append(max(bits, 0.0))
    return np.array(entropies[::-1])


def _one(probability: float) -> float:
    return -probability * math.log2(probability) if probability > 0.0 else 0.0

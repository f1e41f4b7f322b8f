"""Figures of messages through a mix of which only the ends are seen, with cover, losses and an end.

An explanation of a log says of each message which departure it is, or that it was lost, or that it
is still inside when the log ends; departures that are left over are nobody's in the log: cover
traffic, or messages that were inside when it began. What follows from the explanations'
probabilities is kept here, whatever kind of mix they are of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument
from anonymatch.counting.measures import Range, entropy_terms

# What a number that is taken as a mean changes at most: in any probability, in the entropy of a
# message and in joint bits, as measured on logs of 60 to 400 messages where both could be had.
_PROBABILITY_OFF, _ENTROPY_OFF, _JOINT_OFF = 0.01, 0.02, 0.75
_LEAST_WEIGHT = 1e-250  # times other weights, still within doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """What may happen to messages beside the mix's law, and from when to when the log was kept.

    Attributes
    ----------
    loss : float
        Probability that a message is lost on entry, below 1.
    lost : int or None
        Instead: exactly so many were lost, beyond those still inside.
    cover_rate : float
        Departures a second, on average, that are nobody's.
    cover : int or None
        Instead: exactly so many departures are nobody's.
    begin, end : float
        Seconds from which and until which was watched.
    drained : bool
        Whether nothing was inside at the end.
    inside_at_start : float
        Mean of the number of messages inside at the beginning, which has a Poisson law.
    """

    loss: float = 0.0
    lost: int | None = None
    cover_rate: float = 0.0
    cover: int | None = None
    begin: float
    end: float
    drained: bool = False
    inside_at_start: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReceiverFigures:
    """Who received each message, departures of one receiver taken together.

    Attributes
    ----------
    shannon : array
        Entropy in bits, given that the message departed.
    probability : array
        Of the likeliest receiver, not divided by that of having departed.
    guess : array
        Its number; -1 where no departure is possible.
    """

    shannon: Floats
    probability: Floats
    guess: Ints


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkFigures:
    """What the explanations of a log say, message by message.

    Attributes
    ----------
    log_evidence : float or None
        Natural log of the density of the log, given when messages came in; None if not known.
    joint_bits : Figure
        Entropy of the explanation, in bits.
    link_bits : Figure
        The same where lost and still inside are one outcome, "not seen".
    departed, lost, inside : array
        Probabilities of what became of each message; they add up to 1.
    real : array
        Probability of each departure to be a message that came in during the log.
    early : array or None
        Probability of each departure to have been inside when the log began; None if none was.
        What is left to 1 is cover.
    shannon : Range
        Entropy in bits of which departure a message is, given that it departed.
    shannon_all : Range
        The same over departures, lost and inside.
    collision : array
        Sum of squared probabilities of its departures, given that it departed.
    probability : Range
        Of the likeliest departure, not divided by that of having departed.
    surest : Range or None
        The same given that it departed, where it is not just divided by that.
    guess : array
        That departure, the first of equals; -1 where no departure is possible.
    allowed : array
        Departures whose probability is above 1e-12.
    error : float
        Bound on the error of each probability: of rounding and of what was cut off, or estimated.
    confidence : float
        Probability that the intervals hold; 1.0 where nothing was drawn.
    method : str
    guessing : Range or None
        Guesses that an attacker needs on average to name the departure, given that it departed;
        NaN for messages that were left out.
    receivers : ReceiverFigures or None
        The same message's receivers, where groups of departures were given.
    pairs : array or None
        Probability of each message (row) to be each departure (column), where asked for.
    asked : array or None
        Probability of each message to be the one departure that was asked for, such as the true
        one; not divided by that of having departed. None if nothing was asked.
    mean_min_entropy : Interval or None
        Mean over the counted messages of -log2 of the best guess's probability, where it is known
        more closely than each.
    mean_shannon : Interval or None
        Mean of `shannon` over the messages asked for, where it is known better than each.
    notes : tuple of str
        What a reader must know about how this was computed; each a sentence.
    """

    log_evidence: float | None
    joint_bits: Interval
    link_bits: Interval
    departed: Floats
    lost: Floats
    inside: Floats
    real: Floats
    shannon: Range
    shannon_all: Range
    collision: Floats
    probability: Range
    guess: Ints
    allowed: Ints
    error: float
    confidence: float = 1.0
    method: str
    seed: int | None = None
    guessing: Range | None = None
    receivers: ReceiverFigures | None = None
    pairs: Floats | None = field(default=None, repr=False)
    asked: Floats | None = field(default=None, repr=False)
    early: Floats | None = field(default=None, repr=False)
    mean_shannon: Interval | None = None
    mean_min_entropy: Interval | None = None
    surest: Range | None = None
    notes: tuple[str, ...] = ()

    @property
    def cover(self) -> Floats:
        """Probability of each departure to be cover."""
        nobodys: Floats = 1.0 - self.real
        return nobodys if self.early is None else np.maximum(nobodys - self.early, 0.0)


def around(
    values: Floats,
    slack: Floats,
    most: float | Floats,
    batches: npt.NDArray[np.float32] | None = None,
) -> Range:
    """Values from 0 to ``most`` with the slack on both sides of them."""
    inner = np.minimum(values, most)
    low, high = np.maximum(inner - slack, 0.0), np.minimum(inner + slack, most)
    return Range(inner, low, high, batches=batches)


def guesses_within(guessing: Floats, error: float, allowed: npt.NDArray[np.integer]) -> Range:
    """Guesses if each probability is off by at most ``error``, and so moves half the ranks."""
    reach = error * allowed.astype(np.float64) ** 2 / 2
    guesses = np.maximum(guessing, 1.0)
    return Range(guesses, np.maximum(guesses - reach, 1.0), guesses + reach)


def entropy_slack(error: float, share: Floats, sizes: npt.NDArray[np.integer]) -> Floats:
    """How far the entropy of so many outcomes may be off (Fannes), if they are off by ``error``."""
    moved = np.minimum(error / np.maximum(share, 1e-300), 0.5)
    slack: Floats = moved * np.log2(np.maximum(sizes, 2)) + two_outcomes(moved)
    return slack


def two_outcomes(share: Floats) -> Floats:
    """Entropy in bits of two outcomes, the first with this probability."""
    sure = (share <= 0.0) | (share >= 1.0)
    inner = np.where(sure, 0.5, share)
    return np.where(sure, 0.0, entropy_terms(inner) + entropy_terms(1 - inner))


def check_start(channel: Channel) -> Channel:
    """The channel without a number of cover messages, if some are inside at the beginning.

    A number of cover messages would have to be counted apart from those departures, which are
    neither cover nor anybody's in the log: no chain here counts two things at once.
    """
    mean = real(channel.inside_at_start, "inside_at_start", high=1e300)
    if not mean or channel.cover is None:
        return channel
    if channel.cover:
        raise InputError(
            Argument("cover"),
            " is a number, which is not counted apart from messages inside when the log begins (",
            Argument("inside_at_start", ...),
            "); give ",
            Argument("cover_rate"),
            " instead",
        )
    return replace(channel, cover=None, cover_rate=0.0)


def early_weights(inside: float, densities: Floats) -> Floats:
    """Weights of departures to be one of so many inside at the beginning.

    One so long after it that doubles hardly hold its weight cannot be.
    """
    weights: Floats = inside * densities
    return np.where(weights < _LEAST_WEIGHT, 0.0, weights)


def early_shares(nobodys: Floats, early: Floats, all_nobodys: Floats) -> Floats:
    """Of the probability to be nobody's, the part of those inside at the beginning, by weights."""
    some = all_nobodys > 0.0
    shares: Floats = nobodys * np.where(some, early / np.where(some, all_nobodys, 1.0), 0.0)
    return shares


def with_tilt(loss: float, cover: float, tilt: float, *, losses: bool) -> tuple[float, float]:
    """Rates with the odds of a loss, or else the rate of cover, times the exponential of ``tilt``.

    Examples
    --------
    >>> with_tilt(0.5, 2.0, math.log(3), losses=True)
    (0.75, 2.0)
    """
    if not losses:
        return loss, cover * math.exp(tilt)
    odds = math.exp(tilt) * loss / (1.0 - loss)
    return odds / (1.0 + odds), cover


def taken_as_mean(
    links: LinkFigures, channel: Channel, number: int, variance: float
) -> LinkFigures:
    """Figures for rates at which a number that is told is the expected one, as an estimate of it.

    To know the number is worth what its law has of entropy, with this variance.
    """
    known = 0.5 * math.log2(max(2.0 * math.pi * variance, 1.0))
    joint = links.joint_bits
    joint = Interval(
        joint.value - known, joint.low - known - _JOINT_OFF, joint.high - known + _JOINT_OFF
    ).clipped(0.0, math.inf)
    error = max(links.error, _PROBABILITY_OFF)
    guessing = links.guessing
    if guessing is not None:
        guessing = guesses_within(guessing.value, error, links.allowed)
    noun = "cover" if channel.lost is None else "lost"
    note = (
        f"The number {noun}, {number}, is taken as a mean: to count it along this log would take "
        f"too long. Probabilities are within about {_PROBABILITY_OFF:g}."
    )
    return replace(
        links,
        log_evidence=None,
        joint_bits=joint,
        link_bits=Interval.between(min(links.link_bits.low, joint.high), joint.high),
        shannon=_wider(links.shannon, _ENTROPY_OFF, math.inf),
        shannon_all=_wider(links.shannon_all, _ENTROPY_OFF, math.inf),
        probability=_wider(links.probability, _PROBABILITY_OFF, 1.0),
        surest=None if links.surest is None else _wider(links.surest, _PROBABILITY_OFF, 1.0),
        error=error,
        guessing=guessing,
        confidence=min(links.confidence, 0.95),
        method=f"{links.method}, tilted",
        notes=(note, *links.notes),
    )


def _wider(figures: Range, slack: float, most: float) -> Range:
    return Range(
        figures.value, np.maximum(figures.low - slack, 0.0), np.minimum(figures.high + slack, most)
    )

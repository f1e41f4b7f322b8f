"""Figures of messages through a mix of which only the ends are seen, with cover, losses and an end.

An explanation of a log says of each message which departure it is, or that it was lost, or that it
is still inside when the log ends; departures that are left over are cover traffic. What follows
from the explanations' probabilities is kept here, whatever kind of mix they are of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from anonymatch.measures.interval import Figure
from anonymatch.measures.users import Range

__all__ = [
    "Channel",
    "LinkFigures",
    "ReceiverFigures",
    "around",
    "entropy_slack",
    "taken_as_mean",
    "two_outcomes",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# What a number that is taken as a mean changes at most: in any probability, in the entropy of a
# message and in joint bits, as measured on logs of 60 to 400 messages where both could be had.
_PROBABILITY_OFF, _ENTROPY_OFF, _JOINT_OFF = 0.01, 0.02, 0.75


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
    """

    loss: float = 0.0
    lost: int | None = None
    cover_rate: float = 0.0
    cover: int | None = None
    begin: float
    end: float
    drained: bool = False


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
        Probability of each departure to be a message and not cover.
    shannon : Range
        Entropy in bits of which departure a message is, given that it departed.
    shannon_all : Range
        The same over departures, lost and inside.
    collision : array
        Sum of squared probabilities of its departures, given that it departed.
    probability : Range
        Of the likeliest departure, not divided by that of having departed.
    guess : array
        That departure, the first of equals; -1 where no departure is possible.
    allowed : array
        Departures whose probability is above 1e-12.
    error : float
        Bound on the error of each probability: of rounding and of what was cut off, or estimated.
    confidence : float
        Chance that the intervals hold; 1.0 where nothing was drawn.
    method : str
    guessing : array or None
        Guesses that an attacker needs on average to name the departure, given that it departed;
        NaN for messages that were left out.
    receivers : ReceiverFigures or None
        The same message's receivers, where groups of departures were given.
    pairs : array or None
        Probability of each message (row) to be each departure (column), where asked for.
    notes : tuple of str
        What a reader must know about how this was computed; each a sentence.
    """

    log_evidence: float | None
    joint_bits: Figure
    link_bits: Figure
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
    guessing: Floats | None = None
    receivers: ReceiverFigures | None = None
    pairs: Floats | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def around(values: Floats, slack: Floats, most: float | Floats) -> Range:
    """Values from 0 to ``most`` with the slack on both sides of them."""
    inner = np.minimum(values, most)
    return Range(inner, np.maximum(inner - slack, 0.0), np.minimum(inner + slack, most))


def entropy_slack(error: float, share: Floats, sizes: npt.NDArray[np.integer]) -> Floats:
    """How far the entropy of so many outcomes may be off (Fannes), if they are off by ``error``."""
    moved = np.minimum(error / np.maximum(share, 1e-300), 0.5)
    slack: Floats = moved * np.log2(np.maximum(sizes, 2)) + two_outcomes(moved)
    return slack


def two_outcomes(share: Floats) -> Floats:
    """Entropy in bits of two outcomes, the first with this probability."""
    sure = (share <= 0.0) | (share >= 1.0)
    inner = np.where(sure, 0.5, share)
    bits: Floats = -inner * np.log2(inner) - (1 - inner) * np.log2(1 - inner)
    return np.where(sure, 0.0, bits)


def taken_as_mean(
    links: LinkFigures, channel: Channel, number: int, variance: float
) -> LinkFigures:
    """Figures for rates at which a number that is told is the expected one, as an estimate of it.

    To know the number is worth what its law has of entropy, with this variance.
    """
    known = 0.5 * math.log2(max(2.0 * math.pi * variance, 1.0))
    joint = links.joint_bits
    joint = Figure(
        joint.value - known, joint.low - known - _JOINT_OFF, joint.high - known + _JOINT_OFF
    ).clipped(0.0, math.inf)
    noun = "cover" if channel.lost is None else "lost"
    note = (
        f"The number {noun}, {number}, is taken as a mean: to count it along this log would take "
        f"too long. Probabilities are within about {_PROBABILITY_OFF:g}."
    )
    return replace(
        links,
        log_evidence=None,
        joint_bits=joint,
        link_bits=Figure.between(min(links.link_bits.low, joint.high), joint.high),
        shannon=_wider(links.shannon, _ENTROPY_OFF, math.inf),
        shannon_all=_wider(links.shannon_all, _ENTROPY_OFF, math.inf),
        probability=_wider(links.probability, _PROBABILITY_OFF, 1.0),
        error=max(links.error, _PROBABILITY_OFF),
        confidence=min(links.confidence, 0.95),
        method=f"{links.method}, tilted",
        notes=(note, *links.notes),
    )


def _wider(figures: Range, slack: float, most: float) -> Range:
    return Range(
        figures.value, np.maximum(figures.low - slack, 0.0), np.minimum(figures.high + slack, most)
    )

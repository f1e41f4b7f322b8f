"""Figures of messages through a mix of which only the ends are seen, with cover, losses and an end.

An explanation of a log says of each message which departure it is, or that it was lost, or that it
is still inside when the log ends; departures that are left over are nobody's in the log: cover
traffic, or messages that were inside when it began. What follows from the explanations'
probabilities is kept here, whatever kind of mix they are of.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import Argument
from anonymatch.counting.measures import Range, entropy_terms
from anonymatch.mixes.solvers.tuning import SOLVING

if TYPE_CHECKING:
    from anonymatch.mixes.laws import Law

Dummies = Literal["exit", "pool"]
"""Where cover traffic of a mix that flushes comes in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """What may happen to messages beside the mix's law, and from when to when the log was kept."""

    loss: float = 0.0  # probability that a message is lost on entry, below 1
    lost: int | None = None  # instead: the number lost, beyond those still inside
    cover_rate: float = 0.0  # dummy departures per second, on average
    cover: int | None = None  # instead: the number of dummy departures
    begin: float  # seconds from which the log was kept
    end: float
    drained: bool = False  # whether nothing was inside at the end
    inside_at_start: float = 0.0  # mean number inside at the beginning, which has a Poisson law


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkProblem:
    """A log of which only the ends are seen, as solvers take it."""

    arrivals: Floats  # sorted
    departures: Floats
    law: Law
    channel: Channel
    dummies: Dummies = "exit"  # where cover of a mix that flushes joins
    silent: bool = False  # whether nothing is given of losses and cover
    clean: bool = False  # whether it is given that all that came in left, and nothing else did
    receivers: Ints | None = None  # who received each message out, if people have several
    edge: Bools | None = None  # messages near an end of the log, that means are not about
    asked: Ints | None = None  # by message, a departure whose probability is wanted; -1 for none
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReceiverFigures:
    """Who received each message, departures of one receiver taken together."""

    shannon: Floats  # entropy in bits, given that the message departed
    probability: Floats  # of the likeliest receiver, not divided by that of having departed
    guess: Ints  # its number; -1 where no departure is possible


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkFigures:
    """What the explanations of a log say, message by message."""

    log_evidence: float | None  # natural log of the log's density, given the arrivals
    joint_bits: Interval  # entropy of the explanation
    link_bits: Interval  # the same where lost and still inside are one outcome, "not seen"
    # Probabilities of what became of each message; they add up to 1.
    departed: Floats
    lost: Floats
    inside: Floats
    real: Floats  # probability of each departure to be a message that came in during the log
    shannon: Range  # entropy in bits of which departure a message is, given that it departed
    shannon_all: Range  # the same over departures, lost and inside
    collision: Floats  # sum of squared probabilities of its departures, given that it departed
    probability: Range  # of the likeliest departure, not divided by that of having departed
    guess: Ints  # that departure, the first of equals; -1 where no departure is possible
    allowed: Ints  # departures whose probability is above 1e-12
    # Bound on the error of each probability: of rounding and of what was cut off, or estimated.
    error: float
    confidence: float = 1.0  # probability that the intervals hold; 1.0 where nothing was drawn
    method: str
    seed: int | None = None
    # Guesses that an attacker needs on average to name the departure, given that it departed; NaN
    # for messages that were left out.
    guessing: Range | None = None
    receivers: ReceiverFigures | None = None  # where groups of departures were given
    pairs: Floats | None = field(default=None, repr=False)  # message x departure, if asked for
    # Probability of the one departure asked for, not divided by that of having departed.
    asked: Floats | None = field(default=None, repr=False)
    # Probability of each departure to have been inside when the log began. The rest is cover.
    early: Floats | None = field(default=None, repr=False)
    mean_shannon: Interval | None = None  # of counted messages, where known better than each
    mean_min_entropy: Interval | None = None  # the same of -log2 of the best guess's probability
    surest: Range | None = None  # `probability` given that it departed, if known apart
    notes: tuple[str, ...] = ()  # what a reader must know of the computation; each a sentence

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


def unseen_bits(part: Floats, unseen: Floats) -> float:
    """Bits of which messages that were not seen again are of one kind: lost, or still inside."""
    return float((unseen * two_outcomes(part / np.maximum(unseen, 1e-300))).sum())


def log_binomial(n: int, k: int) -> float:
    """Natural log of in how many ways k of n are chosen."""
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def nobody_inside(at: int, departures: int) -> InputError:
    """That no message inside can be departure ``at``, counted from 0."""
    return InputError(
        f"departure {at + 1} of {departures}: nobody is inside who can have sent it; "
        "allow for cover traffic: give ",
        Argument("cover_rate"),
        " or ",
        Argument("cover"),
        ", or for messages inside when the log begins: ",
        Argument("inside_at_start"),
    )


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
    return np.where(weights < SOLVING.least_weight, 0.0, weights)


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
        joint.value - known,
        joint.low - known - SOLVING.joint_off,
        joint.high - known + SOLVING.joint_off,
    ).clipped(0.0, math.inf)
    error = max(links.error, SOLVING.probability_off)
    guessing = links.guessing
    if guessing is not None:
        guessing = guesses_within(guessing.value, error, links.allowed)
    noun = "cover" if channel.lost is None else "lost"
    note = (
        f"The number {noun}, {number}, is taken as a mean: to count it along this log would take "
        f"too long. Probabilities are within about {SOLVING.probability_off:g}."
    )
    return replace(
        links,
        log_evidence=None,
        joint_bits=joint,
        link_bits=Interval.between(min(links.link_bits.low, joint.high), joint.high),
        shannon=_wider(links.shannon, SOLVING.entropy_off, math.inf),
        shannon_all=_wider(links.shannon_all, SOLVING.entropy_off, math.inf),
        probability=_wider(links.probability, SOLVING.probability_off, 1.0),
        surest=None if links.surest is None else _wider(links.surest, SOLVING.probability_off, 1.0),
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

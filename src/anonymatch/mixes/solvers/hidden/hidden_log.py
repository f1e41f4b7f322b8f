"""A log of one exponential mix, as the chain over how many are inside takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anonymatch._native import Counted
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument
from anonymatch.mixes.solvers.links import Channel, check_start, early_weights

__all__ = ["NOTHING_COUNTED", "EventWeights", "HiddenLog", "check_numbers", "unexplained"]


@dataclass(frozen=True, slots=True, eq=False)
class _Events:
    """Both sides of a log in one order of time; arrivals come first at equal times."""

    arrival: npt.NDArray[np.bool_]
    gap: Floats  # in mean delays: before each event, and until the end

    @classmethod
    def of(cls, arrivals: Floats, departures: Floats, mean: float, channel: Channel) -> _Events:
        times = np.concatenate((arrivals, departures))
        order = np.argsort(times, kind="stable")
        ends = np.concatenate(([channel.begin], times[order], [channel.end]))
        gap = np.maximum(np.diff(ends), 0.0) / mean
        return cls(order < len(arrivals), np.minimum(gap, 1e300))

    def spread(self, of_arrivals: Floats, of_departures: Floats) -> Floats:
        """One number an event."""
        both = np.empty(len(self.arrival))
        both[self.arrival], both[~self.arrival] = of_arrivals, of_departures
        return both


NOTHING_COUNTED = (Counted.nothing, 0)


@dataclass(frozen=True, slots=True, eq=False)
class EventWeights:
    """Weights of the two things that an event may be, by arrival and by departure."""

    delivered: float
    lost: float
    real: Floats
    cover: Floats  # of being nobody's in the log: cover, or inside at its beginning
    early: Floats  # the second part of it


@dataclass(frozen=True, slots=True, eq=False)
class HiddenLog:
    """A log with what is told of losses, cover and ends, and what the chain is told of it."""

    arrivals: Floats
    departures: Floats
    mean: float
    channel: Channel
    events: _Events
    known: Floats | None  # by departure: 1 a message, 0 cover, NaN unknown

    @classmethod
    def of(
        cls,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        mean: float,
        channel: Channel,
        real: npt.ArrayLike | None,
    ) -> HiddenLog:
        channel = check_start(channel)
        came, left = (np.asarray(times, dtype=np.float64) for times in (arrivals, departures))
        known = None if real is None else np.asarray(real, dtype=np.float64)
        return cls(came, left, mean, channel, _Events.of(came, left, mean, channel), known)

    @property
    def end_inside(self) -> int:
        """How many are inside at the end, if that is known; else -1."""
        channel = self.channel
        if channel.lost is not None and channel.cover is not None:
            left = len(self.departures) - self._given_cover()
            return len(self.arrivals) - channel.lost - left + channel.cover
        return 0 if channel.drained else -1

    @property
    def loss(self) -> float:
        """The probability told, or where a number is, one under which it is likely: it cancels.

        What is then likely along the log is what the number asks for, and is not cut off.
        """
        channel = self.channel
        if channel.lost is None:
            return channel.loss
        return (channel.lost / (len(self.arrivals) + 1.0)) if channel.lost else 0.0

    @property
    def cover_rate(self) -> float:
        """The same of cover."""
        channel = self.channel
        if channel.cover is None:
            return channel.cover_rate
        return channel.cover / (channel.end - channel.begin) if channel.cover else 0.0

    def _given_cover(self) -> int:
        return 0 if self.known is None else int(np.count_nonzero(self.known == 0.0))

    def weights(self) -> EventWeights:
        """In mean delays, so that a message inside leaves at the rate 1."""
        delivered, lost = (1.0 - self.loss, self.loss)
        size = len(self.departures)
        real, cover = np.ones(size), np.full(size, self.cover_rate * self.mean)
        early = np.zeros(size)
        if self.channel.inside_at_start:
            since = (self.departures - self.channel.begin) / self.mean
            early = early_weights(self.channel.inside_at_start, np.exp(-since))
        if self.known is not None:
            real[self.known == 0.0] = early[self.known == 0.0] = 0.0
            cover[self.known == 1.0] = 0.0
            cover[self.known == 0.0] = self.mean  # told, and so of weight 1
        return EventWeights(delivered, lost, real, cover + early, early)

    def counted(self) -> tuple[Counted, int]:
        """What has to be counted along the log, and up to which number."""
        lost, cover = self.channel.lost, self.channel.cover
        if lost is not None and cover is not None:
            # What is inside at the end is known, so that either of them tells the other.
            if not lost or not cover:
                return Counted.nothing, 0
            cover = 0 if lost < cover else cover
        if cover:  # those that are told count along the way too
            return Counted.cover, cover + self._given_cover()
        return (Counted.losses, lost) if lost else (Counted.nothing, 0)

    def constant(self) -> float:
        """Natural log of what all explanations have in common beside the chain's weights."""
        channel = self.channel
        lasted = channel.end - channel.begin
        log = -len(self.departures) * math.log(self.mean)
        if channel.cover is None:
            log -= channel.cover_rate * lasted
        elif channel.cover:  # the rate that stands for it divided out, and its places
            log += math.lgamma(channel.cover + 1) - channel.cover * math.log(channel.cover)
        if channel.lost:
            size = len(self.arrivals)
            log -= _log_binomial(size, channel.lost)
            log -= channel.lost * math.log(self.loss) + (size - channel.lost) * math.log1p(
                -self.loss
            )
        return log - channel.inside_at_start * self.early_out

    @property
    def early_out(self) -> float:
        """Share of those inside at the beginning that has left by the end, as far as it counts.

        Where nothing is inside at the end all of them have.
        """
        channel = self.channel
        lasted = (channel.end - channel.begin) / self.mean
        return 1.0 if channel.drained else -math.expm1(-lasted)


def check_numbers(log: HiddenLog) -> None:
    """Both numbers told say what is inside at the end; cover takes time to come."""
    channel = log.channel
    if channel.cover and not channel.end > channel.begin:
        raise InputError(Argument("cover"), " needs a log that lasts longer than 0 seconds")
    both = channel.lost is not None and channel.cover is not None
    if both and (log.end_inside < 0 or (channel.drained and log.end_inside != 0)):
        raise unexplained(log, log.weights())


def unexplained(log: HiddenLog, weights: EventWeights) -> InputError:
    """Why nothing explains a log: the first departure that can be nobody's, if there is one."""
    inside = np.searchsorted(log.arrivals, log.departures, side="right")
    spare = weights.cover > 0.0
    inside -= np.cumsum(~spare) - 1
    wrong = np.flatnonzero((inside < 1) & ~spare)
    if len(wrong):
        at = int(wrong[0])
        return InputError(
            f"departure {at + 1} of {len(log.departures)}: nobody is inside who can have sent it; "
            "allow for cover traffic: give ",
            Argument("cover_rate"),
            " or ",
            Argument("cover"),
            ", or for messages inside when the log begins: ",
            Argument("inside_at_start"),
        )
    return InputError(
        f"nothing explains {len(log.arrivals)} arrivals and {len(log.departures)} departures with "
        "these numbers of losses and cover; give rates (",
        Argument("loss"),
        ", ",
        Argument("cover_rate"),
        ") or other numbers",
    )


def _log_binomial(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

"""Mixes that send several messages on together: by number, by the clock, or by coins."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymatch import mixes
from anonymatch.base.arguments import real, whole
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.mixes.laws.candidates import CUT, Candidates, same
from anonymatch.mixes.laws.law import (
    LATE,
    LONGEST,
    Law,
    Parameter,
    Traffic,
    positive,
    set_values,
)
from anonymatch.mixes.laws.tuning import DELAYS


class FlushLaw(Law):
    """A mix that sends several messages on together.

    How long one waits may depend on the others: then the law knows no delay.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def flush(self) -> mixes.FlushRule:
        """When it sends on, and how many of those inside."""

    @property
    def mean_delay(self) -> float | None:
        return None

    @property
    def longest_delay(self) -> float | None:
        return None

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        raise InputError(
            f"{self}: whose a message out is depends on how many are inside, which no graph of "
            "candidates says; take its figures from the log"
        )

    def drawn(
        self, arrivals: Floats, traffic: Traffic, draw: np.random.Generator
    ) -> tuple[Floats, Bools, Floats]:
        lost: Bools = draw.random(len(arrivals)) < traffic.loss
        cover_rate = traffic.cover * traffic.rate
        departures, cover = flushed(
            self.flush, arrivals, lost, cover_rate, traffic.cover_in_pool, draw
        )
        return departures, lost, cover


class GraphFlushLaw(FlushLaw):
    """A flush mix whose candidates a graph holds: all messages of a flush are equally likely."""

    __slots__ = ()

    @abstractmethod
    def inside_at_end(self, arrivals: Floats, end: float) -> tuple[float, float]:
        """Messages inside when a log ends: their mean, and the most."""

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        del end
        rounds = mixes.flush_numbers(self.flush, arrivals, departures)
        last = float(rounds.departures[-1]) if len(departures) else -math.inf
        return self._runs(rounds.arrivals[users], rounds.departures[behaviours], last)

    def _runs(self, came: Floats, left: Floats, last: float) -> Candidates:
        """Candidates by numbers of flushes, in order."""
        return same(came, left, last)


@dataclass(frozen=True, slots=True)
class Threshold(GraphFlushLaw):
    """A mix that waits for ``batch`` messages and sends them on together.

    The law alone knows no delay.

    References
    ----------
    .. [1] Chaum. Untraceable electronic mail, return addresses, and digital pseudonyms. Comm. ACM
       24(2), 1981.

    Examples
    --------
    >>> print(Threshold(10))
    threshold law, batches of 10
    """

    keyword: ClassVar[str] = "threshold"
    aliases: ClassVar[tuple[str, ...]] = ("batch",)
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("batch", "N", "messages in a batch", whole=True),
    )
    example: ClassVar[str] = "10"

    batch: int

    def __post_init__(self) -> None:
        set_values(
            self, batch=whole(self.batch, "threshold: batch", least=1, most=DELAYS.flush_most)
        )

    @property
    def flush(self) -> mixes.FlushRule:
        return mixes.FlushRule(batch=self.batch)

    def inside_at_end(self, arrivals: Floats, end: float) -> tuple[float, float]:
        return (self.batch - 1) / 2, self.batch - 1

    def __str__(self) -> str:
        return f"threshold law, batches of {self.batch}"


@dataclass(frozen=True, slots=True)
class Timed(GraphFlushLaw):
    """A mix that sends on all it has every ``interval`` seconds: at ``origin``, and so on.

    Examples
    --------
    >>> print(Timed(60, 5))
    timed law, every 60 s from 5 s on
    """

    keyword: ClassVar[str] = "timed"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("interval", "SECONDS", "s between sendings"),
        Parameter("origin", "ORIGIN", "when one of them is", optional=True),
    )
    example: ClassVar[str] = "60"

    interval: float
    origin: float = 0.0

    def __post_init__(self) -> None:
        origin = real(self.origin, "timed: origin", low=-LONGEST, high=LONGEST)
        set_values(self, interval=positive(self.interval, "timed: interval"), origin=origin)

    @property
    def mean_delay(self) -> float:
        """Seconds on average, if messages come in at any time alike."""
        return self.interval / 2

    @property
    def longest_delay(self) -> float:
        return self.interval

    @property
    def flush(self) -> mixes.FlushRule:
        return mixes.FlushRule(interval=self.interval, origin=self.origin)

    def inside_at_end(self, arrivals: Floats, end: float) -> tuple[float, float]:
        last = self.origin + math.floor((end - self.origin) / self.interval) * self.interval
        inside = float(np.count_nonzero(arrivals > last))
        return inside, inside

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return f"timed law, every {self.interval:g} s{start}"


@dataclass(frozen=True, slots=True)
class Pool(GraphFlushLaw):
    """A mix that waits for ``batch + kept`` messages, sends on ``batch`` and keeps the others.

    Those that are kept are drawn from all inside. So whoever is inside at a flush may be among
    those that leave, all equally likely, as in an exponential mix.

    References
    ----------
    .. [1] Serjantov, Dingledine, Syverson. From a trickle to a flood: active attacks on several mix
       types. Information Hiding 2002.

    Examples
    --------
    >>> print(Pool(100, 10))
    pool law, batches of 100 and 10 kept
    """

    keyword: ClassVar[str] = "pool"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("batch", "N", "messages in a round", whole=True),
        Parameter("kept", "KEPT", "kept back", whole=True),
    )
    example: ClassVar[str] = "100,10"

    batch: int
    kept: int

    def __post_init__(self) -> None:
        batch = whole(self.batch, "pool: batch", least=1, most=DELAYS.flush_most)
        set_values(self, batch=batch, kept=whole(self.kept, "pool: kept", most=DELAYS.flush_most))

    @property
    def flush(self) -> mixes.FlushRule:
        return mixes.FlushRule(batch=self.batch, kept=self.kept)

    def end_delay(self, rate: float | None) -> float | None:
        if not self.kept or not rate:
            return None
        return _flushes(self.kept / (self.batch + self.kept)) * self.batch / rate

    def inside_at_end(self, arrivals: Floats, end: float) -> tuple[float, float]:
        return self.kept + (self.batch - 1) / 2, self.kept + self.batch - 1

    def moments(
        self, came: Floats, left: Floats, *, filling: Floats, users: Ints
    ) -> tuple[Floats, Floats]:
        """When each message in may leave first, and when each message out was let go.

        ``filling`` are the arrivals that fill batches, and ``users`` says which of them came.
        """
        flushes = filling[self.batch + self.kept - 1 :: self.batch]
        if not len(flushes):
            return came, np.full(len(left), -math.inf)
        rounds = mixes.flush_numbers(self.flush, filling, left)
        first, last = rounds.arrivals[users].astype(np.int64), rounds.departures.astype(np.int64)
        # Who waits for a flush that is still to come was in no flush before, even at its moment.
        waiting = np.maximum(came, np.nextafter(flushes[-1], math.inf))
        within = first < len(flushes)
        return (
            np.where(within, flushes[np.where(within, first, 0)], waiting),
            np.where(last >= 0, flushes[np.maximum(last, 0)], -math.inf),
        )

    def _runs(self, came: Floats, left: Floats, last: float) -> Candidates:
        """A message stays with the same probability at each flush: weights fall every time."""
        if not self.kept:
            return same(came, left, last)
        fall = math.log(self.kept / (self.batch + self.kept))
        longest = math.ceil(math.log(CUT) / fall)
        flushes = np.maximum(0.0, last - came + 1)
        return Candidates(
            first=np.searchsorted(left, came, side="left"),
            end=np.searchsorted(left, came + longest, side="right"),
            late=came + longest > last,
            weigh=lambda users, behaviours: (left[behaviours] - came[users]) * fall,
            staying=flushes * fall - math.log(-math.expm1(fall)),
            note=f"stays of more than {longest} flushes, of probability {CUT:g} a message, are "
            "left out",
        )

    def __str__(self) -> str:
        return f"pool law, batches of {self.batch} and {self.kept} kept"


@dataclass(frozen=True, slots=True)
class TimedPool(FlushLaw):
    """A mix that sends on all but ``kept`` every ``interval`` seconds: at ``origin``, and so on.

    With a ``share`` below 1 it sends on that share of those inside, rounded down, but never so many
    that fewer than ``kept`` stay: Mixmaster's rule. Those that leave are drawn from all inside;
    while no more than ``kept`` are inside, nobody leaves. How long one waits depends on the others.

    References
    ----------
    .. [1] Serjantov, Dingledine, Syverson. From a trickle to a flood: active attacks on several mix
       types. Information Hiding 2002.

    Examples
    --------
    >>> print(TimedPool(60, 10))
    timed pool law, every 60 s all but 10
    >>> print(TimedPool(2, 3, 0.5))
    timed pool law, every 2 s a share of 0.5, all but 3 at most
    """

    keyword: ClassVar[str] = "timed-pool"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("interval", "SECONDS", "s between sendings"),
        Parameter("kept", "KEPT", "kept back", whole=True),
        Parameter("share", "SHARE", "of those inside, at most", optional=True),
        Parameter("origin", "ORIGIN", "when one of them is", optional=True),
    )
    example: ClassVar[str] = "60,10"

    interval: float
    kept: int
    share: float = 1.0
    origin: float = 0.0

    def __post_init__(self) -> None:
        set_values(
            self,
            kept=whole(self.kept, "timed-pool: kept", most=DELAYS.flush_most),
            share=_share(self.share, "timed-pool: share"),
        )
        _set_clock(self)

    @property
    def flush(self) -> mixes.FlushRule:
        portion = None if self.share == 1.0 else self.share
        return mixes.FlushRule(
            interval=self.interval, origin=self.origin, kept=self.kept, portion=portion
        )

    def end_delay(self, rate: float | None) -> float | None:
        if not rate:
            return None
        stay = max(1.0 - self.share, self.kept / (self.kept + rate * self.interval))
        return _flushes(stay) * self.interval

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        clock = f"timed pool law, every {self.interval:g} s{start}"
        if self.share == 1.0:
            return f"{clock} all but {self.kept}"
        return f"{clock} a share of {self.share:g}, all but {self.kept} at most"


@dataclass(frozen=True, slots=True)
class Binomial(FlushLaw):
    """A mix that every ``interval`` seconds, as at ``origin``, flips a coin for each message.

    Each leaves with the probability ``leave``, whatever the others do. With a ``spread`` the coins
    know how many are inside: each leaves with the probability of a normal law around ``leave``
    messages, of standard deviation ``spread``, to be below that number.

    References
    ----------
    .. [1] Díaz, Serjantov. Generalising mixes. PET 2003.

    Examples
    --------
    >>> print(Binomial(60, 0.5))
    binomial law, every 60 s each with probability 0.5
    >>> print(Binomial(60, 20, 5))
    binomial law, every 60 s each with probability 1/2 where 20 are inside (standard deviation 5)
    """

    keyword: ClassVar[str] = "binomial"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("interval", "SECONDS", "s between sendings"),
        Parameter("leave", "P", "probability to leave; with SD the number inside where it is 1/2"),
        Parameter("spread", "SD", "messages, if coins know how many are inside", optional=True),
        Parameter("origin", "ORIGIN", "when one of them is", optional=True),
    )
    example: ClassVar[str] = "60,0.5"
    remark: ClassVar[str] = "with SD, P is the number inside where it is 1/2"

    interval: float
    leave: float
    spread: float | None = None
    origin: float = 0.0

    def __post_init__(self) -> None:
        if self.spread is None:
            set_values(self, leave=_share(self.leave, "binomial: leave"))
        else:
            centre = real(self.leave, "binomial: leave", high=DELAYS.flush_most)
            set_values(self, leave=centre, spread=positive(self.spread, "binomial: spread"))
        _set_clock(self)

    @property
    def mean_delay(self) -> float | None:
        """Seconds on average, if messages come in at any time alike; None if coins know more."""
        return None if self.spread is not None else self.interval * (1 / self.leave - 0.5)

    @property
    def longest_delay(self) -> float | None:
        if self.spread is not None:
            return None
        return self.interval if self.leave == 1.0 else math.inf

    @property
    def flush(self) -> mixes.FlushRule:
        if self.spread is None:
            return mixes.FlushRule(interval=self.interval, origin=self.origin, share=self.leave)
        return mixes.FlushRule(
            interval=self.interval,
            origin=self.origin,
            share=1.0,
            centre=self.leave,
            spread=self.spread,
        )

    def end_delay(self, rate: float | None) -> float | None:
        if self.spread is None:
            return _flushes(1.0 - self.leave) * self.interval
        return None

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        clock = f"binomial law, every {self.interval:g} s{start} each with probability"
        if self.spread is None:
            return f"{clock} {self.leave:g}"
        return f"{clock} 1/2 where {self.leave:g} are inside (standard deviation {self.spread:g})"


@dataclass(frozen=True, slots=True)
class Cottrell(FlushLaw):
    """A binomial mix whose coins depend on how many are inside: a dynamic pool, as in Mixmaster.

    Every ``interval`` seconds, with k inside, each leaves with the probability
    ``min(fraction, 1 - least / k)``: on average ``least`` stay, and more of many.

    References
    ----------
    .. [1] Díaz, Serjantov. Generalising mixes. PET 2003.

    Examples
    --------
    >>> print(Cottrell(60, 10, 0.6))
    Cottrell law, every 60 s each with probability up to 0.6 so that 10 stay on average
    """

    keyword: ClassVar[str] = "cottrell"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("interval", "SECONDS", "s between sendings"),
        Parameter("least", "LEAST", "kept on average", whole=True),
        Parameter("fraction", "P", "largest probability to leave"),
        Parameter("origin", "ORIGIN", "when one of them is", optional=True),
    )
    example: ClassVar[str] = "60,10,0.6"

    interval: float
    least: int
    fraction: float
    origin: float = 0.0

    def __post_init__(self) -> None:
        least = whole(self.least, "cottrell: least", most=DELAYS.flush_most)
        set_values(self, least=least, fraction=_share(self.fraction, "cottrell: fraction"))
        _set_clock(self)

    @property
    def flush(self) -> mixes.FlushRule:
        return mixes.FlushRule(
            interval=self.interval, origin=self.origin, kept=self.least, share=self.fraction
        )

    def end_delay(self, rate: float | None) -> float | None:
        most = self.least / (self.least + rate * self.interval) if rate else 0.0
        return _flushes(max(1.0 - self.fraction, most)) * self.interval

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return (
            f"Cottrell law, every {self.interval:g} s{start} each with probability up to "
            f"{self.fraction:g} so that {self.least} stay on average"
        )


def _flushes(stay: float) -> int:
    """Flushes after which hardly anybody is left, if each lets so large a share stay."""
    return 1 if stay <= 0.0 else math.ceil(math.log(LATE) / math.log(min(stay, 0.999)))


def _share(value: object, what: str) -> float:
    number = real(value, what, high=1.0)
    if number == 0:
        raise InputError(f"{what} must be above 0: nothing would ever leave")
    return number


def _set_clock(law: TimedPool | Binomial | Cottrell) -> None:
    origin = real(law.origin, f"{law.keyword}: origin", low=-LONGEST, high=LONGEST)
    interval = positive(law.interval, f"{law.keyword}: interval")
    set_values(law, interval=interval, origin=origin)


# ---- logs of mixes that send several messages on together, drawn


def flushed(
    rule: mixes.FlushRule,
    arrivals: Floats,
    gone: Bools,
    cover_rate: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Floats, Floats]:
    """When each message leaves, NaN for those that do not; and when cover traffic does."""
    if rule.interval is None:
        return _by_number(rule, arrivals, gone, cover_rate, pool, draw)
    rounds = np.ceil((arrivals - rule.origin) / rule.interval)
    begin = math.floor(-rule.origin / rule.interval) + 1  # the first flush after 0
    number = int(rounds[-1]) - begin + 1
    if number > DELAYS.flush_most_flushes:
        raise InputError(
            f"this log would have {number} flushes, and at most {DELAYS.flush_most_flushes} are "
            "drawn; give a longer interval, or fewer messages"
        )
    mean = cover_rate * rule.interval
    first = (rounds - begin).astype(np.int64)
    if rule.all_leave:
        flush = np.where(gone, number, first)
        cover = draw.poisson(mean, number)
    else:
        flush, cover = _by_clock(rule, first[~gone], number, mean, pool, draw)
        everybody = np.full(len(arrivals), number)
        everybody[~gone] = flush
        flush = everybody
    moments = rule.origin + (begin + np.arange(number)) * rule.interval
    # A flush is not before what it sends on, though both are rounded.
    times = np.maximum(arrivals, np.append(moments, math.nan)[flush])
    return times, np.repeat(moments, cover)


def _by_clock(
    rule: mixes.FlushRule,
    first: Ints,
    number: int,
    mean: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Ints, Ints]:
    """The flush of each message, ``number`` for those that stay; and how much cover leaves."""
    flush = np.full(len(first), number, dtype=np.int64)
    cover = draw.poisson(mean, number)
    borders = np.searchsorted(first, np.arange(number + 1))
    inside, dummies = np.empty(0, dtype=np.int64), 0
    for at in range(number):
        inside = np.concatenate((inside, np.arange(borders[at], borders[at + 1])))
        dummies += int(cover[at]) if pool else 0
        total = len(inside) + dummies
        if rule.share is None:
            leaves = np.zeros(total, dtype=np.bool_)
            leaves[draw.permutation(total)[int(rule.stays(total)) :]] = True
        else:
            leaves = draw.random(total) < rule.leave(total)
        flush[inside[leaves[: len(inside)]]] = at
        if pool:
            cover[at] = np.count_nonzero(leaves[len(inside) :])
            dummies -= int(cover[at])
        inside = inside[~leaves[: len(inside)]]
    return flush, cover


def _by_number(
    rule: mixes.FlushRule,
    arrivals: Floats,
    gone: Bools,
    cover_rate: float,
    pool: bool,
    draw: np.random.Generator,
) -> tuple[Floats, Floats]:
    batch = rule.batch or 1
    own = np.flatnonzero(~gone)
    extra: Floats = np.empty(0)
    if pool:
        extra = draw.uniform(0.0, arrivals[-1], draw.poisson(cover_rate * float(arrivals[-1])))
    times = np.concatenate((arrivals[own], np.sort(extra)))
    order = np.argsort(times, kind="stable")
    left = np.full(len(times), math.nan)
    inside = np.empty(0, dtype=np.int64)
    begin = 0
    for end in range(batch + rule.kept, len(times) + 1, batch):
        inside = np.concatenate((inside, order[begin:end]))
        draw.shuffle(inside)
        left[inside[rule.kept :]] = times[order[end - 1]]
        inside, begin = inside[: rule.kept], end
    departures = np.full(len(arrivals), math.nan)
    departures[own] = left[: len(own)]
    hidden = left[len(own) :]
    if not pool:
        moments = np.unique(left[~np.isnan(left)])
        spans = np.diff(moments, prepend=0.0)
        hidden = np.repeat(moments, draw.poisson(cover_rate * spans))
    return departures, hidden[~np.isnan(hidden)]

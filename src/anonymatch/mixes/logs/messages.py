"""Messages: what was seen to enter and to leave, and when."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import wholes
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several

__all__ = [
    "LATEST",
    "Messages",
    "check_messages",
    "decimal_text",
    "in_words",
    "nanoseconds_of",
]


LATEST = 1e30
"""Seconds from 0 beyond which no time is taken: differences and squares stay finite."""

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


@dataclass(frozen=True, kw_only=True, eq=False)
class Messages:
    """A message log: times in seconds and who was seen, on both sides, each in order of time.

    :meth:`in_order` makes one from times in any order. Arrays are checked, and become read-only.

    Attributes
    ----------
    arrivals, departures : array of float
        Seconds, each sorted.
    senders, receivers : tuple
        Who was seen to send each message in, and to receive each message out. A name may come
        several times.
    truth : array of int, optional
        The departure of each arrival by index; -1 for one that never came out, or is not known.
    cover : array of bool, optional
        Which departures are known to be nobody's: cover traffic.
    lost : array of bool, optional
        Which arrivals are known to be no message that comes out: dummies, and those that were
        lost. A dummy that goes all the way is flagged at both ends, which `truth` joins.
    dates : {"UTC", "local"}, optional
        Times are seconds since 1970, in UTC or in a zone that is not told, and are shown and
        written as date-times.
    origin : float
        Seconds that were subtracted from all times, so that nanoseconds of our days stay apart:
        float64 holds a time since 1970 to a quarter of a microsecond only.
    notes : tuple of str
        What a reader must know about the log; each a sentence.

    Examples
    --------
    >>> Messages(arrivals=[0, 1], departures=[2, 3], senders=("ann", "bob"), receivers=("x", "y"))
    Messages(2 in, 2 out, 0 to 3 s)
    """

    arrivals: Floats
    departures: Floats
    senders: tuple[Hashable, ...] = field(repr=False)
    receivers: tuple[Hashable, ...] = field(repr=False)
    truth: Ints | None = field(default=None, repr=False)
    cover: Bools | None = field(default=None, repr=False)
    lost: Bools | None = field(default=None, repr=False)
    dates: str | None = field(default=None, repr=False)
    origin: float = field(default=0.0, repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for times, names in (("arrivals", "senders"), ("departures", "receivers")):
            checked = _times(getattr(self, times), times)
            object.__setattr__(self, times, checked)
            object.__setattr__(self, names, _names(getattr(self, names), names, len(checked)))
        object.__setattr__(self, "cover", _flags(self.cover, "cover", len(self.departures)))
        object.__setattr__(self, "lost", _flags(self.lost, "lost", len(self.arrivals)))
        object.__setattr__(self, "notes", tuple(self.notes))
        if self.dates not in (None, "UTC", "local"):
            raise InputError(f"dates must be 'UTC', 'local' or None, not {quoted(self.dates)}")
        if self.truth is not None:
            object.__setattr__(self, "truth", self._truth(self.truth))

    @classmethod
    def in_order(
        cls,
        *,
        arrivals: npt.ArrayLike,
        departures: npt.ArrayLike,
        senders: Sequence[Hashable],
        receivers: Sequence[Hashable],
        truth: npt.ArrayLike | None = None,
        cover: npt.ArrayLike | None = None,
        lost: npt.ArrayLike | None = None,
        dates: str | None = None,
        origin: float = 0.0,
        notes: tuple[str, ...] = (),
    ) -> Messages:
        """Messages from both sides in any order; ``truth`` counts departures as they are given.

        Messages of the same time stay in the order given.

        Examples
        --------
        >>> log = Messages.in_order(
        ...     arrivals=[1, 0], departures=[3, 2], senders="ab", receivers="xy", truth=[0, 1]
        ... )
        >>> log.senders, log.receivers, log.truth.tolist()
        (('b', 'a'), ('y', 'x'), [0, 1])
        """
        came, left = _numbers(arrivals, "arrivals"), _numbers(departures, "departures")
        senders = _names(senders, "senders", len(came))
        receivers = _names(receivers, "receivers", len(left))
        first, then = (np.argsort(times, kind="stable") for times in (came, left))
        if truth is not None:
            given = wholes(truth, "truth", least=-1)
            _check_length(given, "truth", len(came))
            _check_indices(given, len(left))
            rank = np.empty(len(left) + 1, dtype=np.int64)
            rank[then], rank[-1] = np.arange(len(left)), -1
            truth = rank[given[first]]
        hidden, gone = _flags(cover, "cover", len(left)), _flags(lost, "lost", len(came))
        return cls(
            arrivals=came[first],
            departures=left[then],
            senders=_reordered(senders, first),
            receivers=_reordered(receivers, then),
            truth=truth,
            cover=None if hidden is None else hidden[then],
            lost=None if gone is None else gone[first],
            dates=dates,
            origin=origin,
            notes=notes,
        )

    @property
    def n_in(self) -> int:
        """Messages that came in."""
        return len(self.arrivals)

    @property
    def n_out(self) -> int:
        """Messages that left."""
        return len(self.departures)

    def true_delays(self) -> Floats:
        """Seconds between arrival and departure of each message whose departure is known."""
        if self.truth is None:
            return np.empty(0)
        known = self.truth >= 0
        delays: Floats = self.departures[self.truth[known]] - self.arrivals[known]
        return delays

    def __repr__(self) -> str:
        ends = [
            times[at] for times in (self.arrivals, self.departures) if len(times) for at in (0, -1)
        ]
        if not ends:
            return f"Messages({self.n_in} in, {self.n_out} out)"
        first = self.moment(min(ends)).removesuffix(" s")
        return f"Messages({self.n_in} in, {self.n_out} out, {first} to {self.moment(max(ends))})"

    def moment(self, time: float) -> str:
        """A time of this log as its reader writes it."""
        return in_words(time, self.dates, self.origin)

    def on_clock(self, interval: float) -> Messages:
        """The log with times counted from a multiple of ``interval`` seconds."""
        later = math.fmod(self.origin, interval)
        if later == 0.0:
            return self
        return replace(
            self,
            arrivals=self.arrivals + later,
            departures=self.departures + later,
            origin=self.origin - later,
        )

    def between(self, begin: float | None, end: float | None) -> Messages:
        """Return the messages seen from ``begin`` to ``end``; a note tells what is left out.

        Examples
        --------
        >>> log = Messages(arrivals=[0, 1, 2], departures=[2, 4], senders="abc", receivers="xy")
        >>> part = log.between(1, 3)
        >>> part, part.notes
        (Messages(2 in, 1 out, 1 to 2 s), ('1 row before 1 s and 1 row after 3 s are left out',))
        """
        sides = (self.arrivals, self.departures)
        before = [0 if begin is None else int(np.searchsorted(one, begin)) for one in sides]
        ends = [
            len(one) if end is None else int(np.searchsorted(one, end, side="right"))
            for one in sides
        ]
        counts = sum(before), sum(len(one) - stop for one, stop in zip(sides, ends, strict=True))
        if not any(counts):
            return self
        left_out = [
            f"{several(number, 'row')} {word} {self.moment(time)}"
            for number, word, time in zip(counts, ("before", "after"), (begin, end), strict=True)
            if number and time is not None
        ]
        if sum(counts) == self.n_in + self.n_out:
            raise InputError(f"all rows are left out: {' and '.join(left_out)}; check the times")
        came, left = (slice(first, last) for first, last in zip(before, ends, strict=True))
        truth = None
        if self.truth is not None:
            inside = (self.truth >= left.start) & (self.truth < left.stop)
            truth = np.where(inside, self.truth - left.start, -1)[came]
        are = "is" if sum(counts) == 1 else "are"
        return replace(
            self,
            arrivals=self.arrivals[came],
            departures=self.departures[left],
            senders=self.senders[came],
            receivers=self.receivers[left],
            truth=truth,
            cover=None if self.cover is None else self.cover[left],
            lost=None if self.lost is None else self.lost[came],
            notes=(*self.notes, f"{' and '.join(left_out)} {are} left out"),
        )

    def _truth(self, given: object) -> Ints:
        truth = wholes(given, "truth", least=-1)
        _check_length(truth, "truth", self.n_in)
        _check_indices(truth, self.n_out)
        known = np.flatnonzero(truth >= 0)
        ends = truth[known]
        several_ends = np.flatnonzero(np.bincount(ends) > 1)
        if len(several_ends):
            twice = int(several_ends[0])
            raise InputError(f"truth: departure {twice} belongs to two arrivals; give each to one")
        early = known[self.departures[ends] < self.arrivals[known]]
        if len(early):
            at = int(early[0])
            raise InputError(
                f"truth: the message of {quoted(self.senders[at])} that came in at "
                f"{self.moment(self.arrivals[at])} left before, at "
                f"{self.moment(self.departures[truth[at]])}; check the clocks"
            )
        none = np.zeros(max(self.n_in, self.n_out), dtype=np.bool_)
        hidden = (none if self.cover is None else self.cover)[ends]
        gone = (none if self.lost is None else self.lost)[known]
        if (hidden & ~gone).any():
            at = int(ends[hidden & ~gone][0])
            raise InputError(f"truth: departure {at} is cover traffic and somebody's; choose one")
        if (gone & ~hidden).any():
            at = int(known[gone & ~hidden][0])
            raise InputError(f"truth: arrival {at} is lost and has a departure; choose one")
        return _fixed(truth)


def in_words(time: float, dates: str | None, origin: float = 0.0) -> str:
    """Seconds, or the date-time that they are since 1970, to the microsecond.

    Times after an ``origin`` are written to the nanosecond.

    Examples
    --------
    >>> in_words(12.5, None), in_words(1.8e9, "UTC"), in_words(0.25, "local")
    ('12.5 s', '2027-01-15T08:00:00Z', '1970-01-01T00:00:00.250000')
    >>> in_words(2e-9, None, 1.8e9), in_words(2e-9, "UTC", 1.8e9)
    ('1800000000.000000002 s', '2027-01-15T08:00:00.000000002Z')
    """
    if origin:
        nanoseconds = nanoseconds_of(time, origin)
        if dates is None:
            return f"{decimal_text(nanoseconds)} s"
        moment = str(np.datetime64(nanoseconds, "ns")).rstrip("0").removesuffix(".")
    elif dates is None:
        return f"{round(float(time), 6):.15g} s"
    else:
        moment = str(np.datetime64(round(float(time) * 1e6), "us")).removesuffix(".000000")
    return f"{moment}Z" if dates == "UTC" else moment


def nanoseconds_of(time: float, origin: float) -> int:
    """Nanoseconds from 0 to a time that is counted from ``origin``."""
    whole = math.floor(origin)
    return whole * 10**9 + round((float(time) + (origin - whole)) * 1e9)


def decimal_text(nanoseconds: int) -> str:
    """Seconds with all digits.

    Examples
    --------
    >>> decimal_text(1_500_000_000), decimal_text(-2), decimal_text(3 * 10**9)
    ('1.5', '-0.000000002', '3')
    """
    whole, part = divmod(abs(nanoseconds), 10**9)
    digits = f"{whole}.{part:09d}".rstrip("0").removesuffix(".")
    return f"-{digits}" if nanoseconds < 0 else digits


def check_messages(messages: object) -> None:
    """Refuse what is no Messages where they are wanted."""
    if not isinstance(messages, Messages):
        kind = type(messages).__name__
        raise InputError(f"need Messages, not {kind}; read a log with read_messages")


def _times(given: object, what: str) -> Floats:
    times = _numbers(given, what)
    back = np.flatnonzero(np.diff(times) < 0)
    if len(back):
        raise InputError(
            f"{what}: times go back after {times[back[0]]:g} s; sort them, or use Messages.in_order"
        )
    return _fixed(times)


def _numbers(given: Any, what: str) -> Floats:
    try:
        times = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be a list of times in seconds") from None
    if times.ndim != 1:
        raise InputError(f"{what} must be a list of times in seconds, one a message")
    wrong = np.flatnonzero(~np.isfinite(times))
    if len(wrong):
        raise InputError(f"{what}: time {int(wrong[0])} is {times[wrong[0]]}; give finite seconds")
    wrong = np.flatnonzero(np.abs(times) > LATEST)
    if len(wrong):
        raise InputError(
            f"{what}: time {int(wrong[0])} is {times[wrong[0]]:g} s; give times up to {LATEST:g} s"
        )
    return times


def _names(given: Any, what: str, size: int) -> tuple[Hashable, ...]:
    try:
        names = tuple(given)
    except TypeError:
        raise InputError(f"{what} must be a list of names, one a message") from None
    _check_length(names, what, size)
    return names


def _flags(given: object, what: str, size: int) -> Bools | None:
    if given is None:
        return None
    flags = np.array(given)
    if flags.ndim != 1 or (flags.dtype != np.bool_ and len(flags)):
        raise InputError(f"{what} must be a list of bools, one a message")
    _check_length(flags, what, size)
    return _fixed(flags.astype(np.bool_))


def _check_indices(truth: Ints, size: int) -> None:
    if len(truth) and int(truth.max()) >= size:
        raise InputError(
            f"truth names departure {int(truth.max())}, but there "
            f"{'is' if size == 1 else 'are'} {several(size, 'departure')}, counted from 0"
        )


def _check_length(values: Any, what: str, size: int) -> None:
    if len(values) != size:
        raise InputError(
            f"{what} has {several(len(values), 'entry', 'entries')} for "
            f"{several(size, 'message')}; give one a message"
        )


def _reordered(names: tuple[Hashable, ...], order: npt.NDArray[np.intp]) -> tuple[Hashable, ...]:
    return tuple(map(names.__getitem__, order.tolist()))


def _fixed(array: _Array) -> _Array:
    array.setflags(write=False)
    return array

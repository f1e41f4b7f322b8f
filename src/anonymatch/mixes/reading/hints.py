"""What may be meant where a log and a law do not go together: another unit, in most cases.

Times in milliseconds that are taken as seconds, or a law in milliseconds beside them, are off by a
thousand. Neither is refused, as both may be true; but whoever sees the figures, or the refusal of
what cannot be matched, is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, Message
from anonymatch.mixes.laws import DelayLaw, Law, LawGuess, Window, guess_flushes, guess_law
from anonymatch.mixes.logs.messages import Messages

_OUR_DAYS = 631152000.0, 4102444800.0  # 1990 to 2100, in seconds since 1970
_UNITS = (("ms", 1e3, "milliseconds"), ("us", 1e6, "microseconds"), ("ns", 1e9, "nanoseconds"))
# Times in milliseconds among times in seconds: a gap of about 1000 between neighbours in size, with
# at least this share of the rows on either side.
_GAP, _SHARE = 500.0, 0.01
_FAR = 1000**0.5  # half the way from one unit to the next, in factors
# Off by less is not told. A window is often told as a bound, inside of which delays are not even.
_OFF, _WINDOW_OFF = 1.1, 2.0
_DRAWN = 1_000_000  # delays in all
_LEAST_MEANS, _MOST_MEANS = 1000, 5000  # the mean is beyond 1000 by chance once in 500 logs
_MOST_DRAWN, _AT_ONCE = 10_000, 20  # delays of each mean, and means in one draw
_FEW = 5  # messages; the mean delay of fewer may well be far from that of the law


def unit_hint(times: Floats) -> Message | None:
    """What to say of numbers that would be times of our days in a unit smaller than seconds.

    Examples
    --------
    >>> print(unit_hint(np.array([1.8e12, 1.8e12 + 40])))
    its times, near 1.8e+12, look like milliseconds since 1970; if they are, give unit='ms'
    >>> unit_hint(np.array([1.8e9]))
    """
    near = float(np.median(np.abs(times))) if len(times) else 0.0
    for unit, many, name in _UNITS:
        if _OUR_DAYS[0] <= near / many < _OUR_DAYS[1]:
            look = f"its times, near {near:.3g}, look like {name} since 1970; if they are, give "
            return Message(look, Argument("unit", unit))
    return None


def unit_gap(times: Floats) -> tuple[float, float, bool] | None:
    """Between which sizes no time is, if some look like milliseconds and others like seconds.

    The third is whether those above the gap are not more than those below.

    Examples
    --------
    >>> unit_gap(np.array([1.0, 2.0, 3.0, 2500.0, 3500.0]))
    (3.0, 2500.0, True)
    >>> unit_gap(np.array([1.0, 2.0, 3.0, 4.0]))
    """
    sizes = np.sort(np.abs(times[times != 0]), kind="stable")  # in one pass if they are in order
    if len(sizes) < 4:
        return None
    with np.errstate(over="ignore"):  # beside a time of almost 0
        jumps = sizes[1:] / sizes[:-1]
    at = int(np.argmax(jumps))
    below, above = at + 1, len(sizes) - at - 1
    if jumps[at] < _GAP or min(below, above) < max(2, _SHARE * len(sizes)):
        return None
    return float(sizes[at]), float(sizes[at + 1]), above <= below


def law_notes(messages: Messages, law: Law, *, complete: bool = True) -> tuple[str, ...]:
    """A note if delays of the law are not those of the log: far from them, or not their mean.

    ``complete``: whether as many messages in as out are the same messages, as nothing was said of
    losses, cover traffic, or of what was inside at the start.

    Examples
    --------
    >>> from anonymatch.mixes import synthesize
    >>> from anonymatch.mixes.laws import Exponential
    >>> log = synthesize("exponential:4", messages=200, seed=1)
    >>> law_notes(log, Exponential(4)), law_notes(log, Exponential(40))
    ((), ('delays in this log average 3.61 s; the law says 40 s',))
    """
    notes = scale_notes(messages, law)
    mean = None if notes else _known_mean(messages, complete=complete)
    if mean is None or law.mean_delay is None or not _misfit(law, mean, messages.n_in):
        return notes
    told, says = _shown(mean), _shown(law.mean_delay)
    return (f"delays in this log average {told} s; the law says {says} s",)


def _known_mean(messages: Messages, *, complete: bool) -> float | None:
    """The mean delay of all messages, if the log tells it without a law.

    The truth tells it. Without one it is told by sums, if all that came in are all that left: as
    many, and at no moment more out than in, which a piece of running traffic hardly ever is.
    """
    if messages.n_in < _FEW:
        return None
    delays = messages.true_delays()
    if len(delays) == messages.n_in:
        return float(delays.mean())
    if not _all_left(messages) or not complete or messages.truth is not None:
        return None
    return float(messages.departures.mean() - messages.arrivals.mean())


def _all_left(messages: Messages) -> bool:
    """Whether all that came in may be all that left: the k-th out is never before the k-th in."""
    even = messages.n_in == messages.n_out and messages.cover is messages.lost is None
    return even and bool((messages.departures >= messages.arrivals).all())


def _misfit(law: Law, mean: float, number: int) -> bool:
    """Whether the mean of so many delays is off, and by more than chance ever made it in draws.

    Means of delays with a long tail are far from normal, so they are drawn; of fewer delays they
    vary more, so that a part of many is enough.
    """
    if not isinstance(law, DelayLaw) or law.mean_delay is None:
        return False  # mixes that flush are refused where their moments do not fit
    factor = _WINDOW_OFF if isinstance(law, Window) else _OFF
    if law.mean_delay / factor <= mean <= law.mean_delay * factor:
        return False
    draw = np.random.default_rng(0)
    size = min(number, _MOST_DRAWN)
    below = above = False
    for _ in range(min(max(_DRAWN // size, _LEAST_MEANS), _MOST_MEANS) // _AT_ONCE):
        means = law.delays(size * _AT_ONCE, draw).reshape(size, _AT_ONCE).mean(axis=0)
        below, above = below or bool((means <= mean).any()), above or bool((means >= mean).any())
        if below and above:
            return False
    return True


def scale_notes(messages: Messages, law: Law) -> tuple[str, ...]:
    """A note if delays of the law are far from those that the log can have.

    Examples
    --------
    >>> from anonymatch.mixes.laws import Exponential
    >>> log = Messages(
    ...     arrivals=range(9), departures=range(1, 10), senders="abcdefghi", receivers="abcdefghi"
    ... )
    >>> scale_notes(log, Exponential(2))
    ()
    >>> for note in scale_notes(log, Exponential(2000)):
    ...     print(note)
    the exponential law, 2000 s on average, is far from this log, where messages stay 1 s on \
average; the numbers of a law are seconds, so check them, or the unit of the times
    """
    mean = law.mean_delay
    if mean is None or min(messages.n_in, messages.n_out) < _FEW:
        return ()
    low, high = _mean_delays(messages)
    if high == 0 or (low <= mean * _FAR and mean <= high * _FAR):
        return ()
    stay = _shown(low) if low == high else f"{_shown(low)} to {_shown(high)}"
    far = f"the {law}, is far from this log, where messages stay {stay} s on average"
    return (f"{far}; the numbers of a law are seconds, so check them, or the unit of the times",)


@contextmanager
def hinting(messages: Messages, law: Law, *, unit: str | None) -> Iterator[None]:
    """An error about messages that fit nothing also says what may be meant."""
    try:
        yield
    except InputError as error:
        times = messages.arrivals + messages.origin
        hint = unit_hint(times) if unit is None and messages.dates is None else None
        hints = [hint] if hint is not None else list(scale_notes(messages, law))
        if not hints:
            raise
        raise error.more("; ", hints[0]) from None


def _shown(seconds: float) -> str:
    return f"{seconds:.3g}" if seconds < 1000 else f"{seconds:,.0f}"


def _mean_delays(messages: Messages) -> tuple[float, float]:
    """Between which seconds the mean delay must lie.

    By the truth, if the log has it. If as many left as came in, sums alone tell the mean. Else
    most messages stayed as long as nobody had come in before they left, and none longer than the
    whole log.
    """
    known = messages.true_delays()
    if len(known) >= _FEW:
        return float(known.mean()), float(known.mean())
    arrivals, departures = messages.arrivals, messages.departures
    mean = float(departures.mean() - arrivals.mean())
    if _all_left(messages) and mean > 0:
        return mean, mean
    latest = np.searchsorted(arrivals, departures, side="right") - 1
    waited = np.where(latest >= 0, departures - arrivals[np.maximum(latest, 0)], 0.0)
    span = float(max(departures[-1], arrivals[-1]) - arrivals[0])
    return float(np.median(waited)), max(span, 0.0)


# ---- the law that a log looks like


def guess_log_law(messages: Messages) -> LawGuess | None:
    """The law that a log looks like: by moments at which many leave, else by delays that it tells.

    None where neither shows: times alone do not tell delays of single messages apart.

    Examples
    --------
    >>> from anonymatch.mixes import synthesize
    >>> guess_log_law(synthesize("window:1,5", messages=500, seed=1)).text
    'window:1,5.01'
    >>> guess_log_law(synthesize("timed:10", messages=500, seed=1)).text
    'timed:10'
    """
    came, left = _real(messages.lost, messages.n_in), _real(messages.cover, messages.n_out)
    # A clock is recognised by absolute times, which may be coarser than single delays.
    arrivals = messages.arrivals + messages.origin
    departures = messages.departures + messages.origin
    guess = guess_flushes(arrivals[came], departures[left])
    if guess is None and not (came.all() and left.all()):  # cover that is held back like messages
        guess = guess_flushes(arrivals, departures)
    if guess is not None or messages.truth is None:
        return guess
    return guess_law(messages.true_delays())


def _real(flags: Bools | None, size: int) -> Bools:
    return np.ones(size, dtype=np.bool_) if flags is None else ~flags


def log_mean_delay(messages: Messages) -> float | None:
    """Seconds that messages were held on average, if as many come out as go in; else None.

    Examples
    --------
    >>> log_mean_delay(Messages(arrivals=[0, 1], departures=[2, 4], senders="ab", receivers="xy"))
    2.5
    """
    came, left = messages.arrivals, messages.departures
    if len(came) != len(left) or not len(came):
        return None
    mean = float((left - came).mean())  # sorted, so that differences stay small
    return mean if mean > 0 else None

"""Laws: how long a mix holds messages back.

=====================  ===========================================================================
``window:1,5``         a delay from 1 to 5 seconds (also ``uniform:1,5``)
``exponential:2``      one mix with delays without memory, 2 seconds on average: a Poisson or
                       stop-and-go mix (also ``exp:2``, ``poisson:2``, ``sg:2``)
``erlang:3,0.5``       3 such mixes in a row, half a second on average in each: a path through
                       Loopix or Nym (also ``loopix:3,0.5``, ``gamma:3,0.5``)
``threshold:10``       a mix that waits for 10 messages and sends them on together (also
                       ``batch:10``)
``timed:60``           a mix that sends on every 60 seconds what it has (``timed:60,5``: from 5 on)
``pool:100,10``        a mix that waits for 110 messages, sends on 100 of them, and keeps 10
``timed-pool:60,10``   a mix that sends on every 60 seconds all but 10
``binomial:60,0.5``    a mix that every 60 seconds flips a coin for each message: it leaves or stays
``cottrell:60,10,0.6`` the same, so that 10 stay on average, and at least 40 in 100
=====================  ===========================================================================

Numbers are seconds a message is held on average, never rates a second. Any other law is a function
of the delay, in Python: :class:`Free`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from anonymatch.base.arguments import real, whole
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean, quoted
from anonymatch.measures import FlushRule

__all__ = [
    "Binomial",
    "Cottrell",
    "Erlang",
    "Exponential",
    "FlushLaw",
    "Free",
    "Law",
    "Pool",
    "Threshold",
    "Timed",
    "TimedPool",
    "Window",
    "check_law",
    "law_name",
    "parse_law",
]

Floats = npt.NDArray[np.float64]

_MOST = 10**9  # messages of a batch
_SHORTEST, _LONGEST = 1e-30, 1e30  # seconds; far beyond any mix, and far from the ends of float64


@dataclass(frozen=True, slots=True)
class Window:
    """Every message leaves between ``low`` and ``high`` seconds after it came in.

    If delays are uniform between the two and messages come in at random, all matchings within the
    window are equally likely.

    Examples
    --------
    >>> print(Window(1, 5))
    window law, 1 to 5 s
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        _set(self, low=_finite(self.low, "window: low"), high=_finite(self.high, "window: high"))
        if self.low > self.high:
            raise InputError(f"window: low is {self.low:g}, above high, {self.high:g}; swap them")

    @property
    def mean_delay(self) -> float:
        """Seconds on average, if all delays of the window are equally likely."""
        return (self.low + self.high) / 2

    @property
    def longest_delay(self) -> float:
        return self.high

    def __str__(self) -> str:
        return f"window law, {self.low:g} to {self.high:g} s"


@dataclass(frozen=True, slots=True)
class Exponential:
    """One mix that holds every message for an exponential time, ``mean`` seconds on average.

    Such delays have no memory: whoever is inside may be the one that leaves, all equally likely.

    References
    ----------
    .. [1] Kesdogan, Egner, Büschkes. Stop-and-go-mixes providing probabilistic anonymity in an
       open system. Information Hiding 1998.

    Examples
    --------
    >>> print(Exponential(2))
    exponential law, 2 s on average
    """

    mean: float

    def __post_init__(self) -> None:
        _set(self, mean=_positive(self.mean, "exponential: mean"))

    @property
    def mean_delay(self) -> float:
        return self.mean

    @property
    def longest_delay(self) -> float:
        return math.inf

    def __str__(self) -> str:
        return f"exponential law, {self.mean:g} s on average"


@dataclass(frozen=True, slots=True)
class Erlang:
    """So many exponential mixes in a row, ``mean`` seconds on average in each.

    References
    ----------
    .. [1] Piotrowska, Hayes, Elahi, Meiser, Danezis. The Loopix anonymity system. USENIX Security
       2017.

    Examples
    --------
    >>> print(Erlang(3, 0.5))
    Erlang law, 3 hops of 0.5 s on average
    """

    hops: int
    mean: float

    def __post_init__(self) -> None:
        hops = whole(self.hops, "erlang: hops", least=1, most=10_000)
        _set(self, hops=hops, mean=_positive(self.mean, "erlang: mean"))

    @property
    def mean_delay(self) -> float:
        return self.hops * self.mean

    @property
    def longest_delay(self) -> float:
        return math.inf

    def __str__(self) -> str:
        hops = "1 hop" if self.hops == 1 else f"{self.hops} hops"
        return f"Erlang law, {hops} of {self.mean:g} s on average"


class _ByNumber:
    """A mix in which how long a message waits depends on the others: the law knows no delay."""

    __slots__ = ()

    @property
    def mean_delay(self) -> None:
        return None

    @property
    def longest_delay(self) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Threshold(_ByNumber):
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

    batch: int

    def __post_init__(self) -> None:
        _set(self, batch=whole(self.batch, "threshold: batch", least=1, most=_MOST))

    @property
    def flush(self) -> FlushRule:
        return FlushRule(batch=self.batch)

    def __str__(self) -> str:
        return f"threshold law, batches of {self.batch}"


@dataclass(frozen=True, slots=True)
class Timed:
    """A mix that sends on all it has every ``interval`` seconds: at ``origin``, and so on.

    Examples
    --------
    >>> print(Timed(60, 5))
    timed law, every 60 s from 5 s on
    """

    interval: float
    origin: float = 0.0

    def __post_init__(self) -> None:
        origin = real(self.origin, "timed: origin", low=-_LONGEST, high=_LONGEST)
        _set(self, interval=_positive(self.interval, "timed: interval"), origin=origin)

    @property
    def mean_delay(self) -> float:
        """Seconds on average, if messages come in at any time alike."""
        return self.interval / 2

    @property
    def longest_delay(self) -> float:
        return self.interval

    @property
    def flush(self) -> FlushRule:
        return FlushRule(interval=self.interval, origin=self.origin)

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return f"timed law, every {self.interval:g} s{start}"


@dataclass(frozen=True, slots=True)
class Pool(_ByNumber):
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

    batch: int
    kept: int

    def __post_init__(self) -> None:
        batch = whole(self.batch, "pool: batch", least=1, most=_MOST)
        _set(self, batch=batch, kept=whole(self.kept, "pool: kept", most=_MOST))

    @property
    def flush(self) -> FlushRule:
        return FlushRule(batch=self.batch, kept=self.kept)

    def __str__(self) -> str:
        return f"pool law, batches of {self.batch} and {self.kept} kept"


@dataclass(frozen=True, slots=True)
class TimedPool(_ByNumber):
    """A mix that sends on all but ``kept`` every ``interval`` seconds: at ``origin``, and so on.

    Those that are kept are drawn from all inside; while no more are inside, nobody leaves. How long
    one waits depends on the others.

    References
    ----------
    .. [1] Serjantov, Dingledine, Syverson. From a trickle to a flood: active attacks on several mix
       types. Information Hiding 2002.

    Examples
    --------
    >>> print(TimedPool(60, 10))
    timed pool law, every 60 s all but 10
    """

    interval: float
    kept: int
    origin: float = 0.0

    def __post_init__(self) -> None:
        _set(self, kept=whole(self.kept, "timed-pool: kept", most=_MOST))
        _set_clock(self, "timed-pool")

    @property
    def flush(self) -> FlushRule:
        return FlushRule(interval=self.interval, origin=self.origin, kept=self.kept)

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return f"timed pool law, every {self.interval:g} s{start} all but {self.kept}"


@dataclass(frozen=True, slots=True)
class Binomial:
    """A mix that every ``interval`` seconds, as at ``origin``, flips a coin for each message.

    Each leaves with the probability ``leave``, whatever the others do.

    References
    ----------
    .. [1] Díaz, Serjantov. Generalising mixes. PET 2003.

    Examples
    --------
    >>> print(Binomial(60, 0.5))
    binomial law, every 60 s each with probability 0.5
    """

    interval: float
    leave: float
    origin: float = 0.0

    def __post_init__(self) -> None:
        _set(self, leave=_share(self.leave, "binomial: leave"))
        _set_clock(self, "binomial")

    @property
    def mean_delay(self) -> float:
        """Seconds on average, if messages come in at any time alike."""
        return self.interval * (1 / self.leave - 0.5)

    @property
    def longest_delay(self) -> float:
        return self.interval if self.leave == 1.0 else math.inf

    @property
    def flush(self) -> FlushRule:
        return FlushRule(interval=self.interval, origin=self.origin, share=self.leave)

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return (
            f"binomial law, every {self.interval:g} s{start} each with probability {self.leave:g}"
        )


@dataclass(frozen=True, slots=True)
class Cottrell(_ByNumber):
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

    interval: float
    least: int
    fraction: float
    origin: float = 0.0

    def __post_init__(self) -> None:
        least = whole(self.least, "cottrell: least", most=_MOST)
        _set(self, least=least, fraction=_share(self.fraction, "cottrell: fraction"))
        _set_clock(self, "cottrell")

    @property
    def flush(self) -> FlushRule:
        return FlushRule(
            interval=self.interval, origin=self.origin, kept=self.least, share=self.fraction
        )

    def __str__(self) -> str:
        start = f" from {self.origin:g} s on" if self.origin else ""
        return (
            f"Cottrell law, every {self.interval:g} s{start} each with probability up to "
            f"{self.fraction:g} so that {self.least} stay on average"
        )


@dataclass(frozen=True, slots=True)
class Free:
    """Any law: a function from delays to weights, 0 where a delay is impossible.

    Parameters
    ----------
    function : callable
        From an array of delays in seconds, none negative, to an array of weights of the same
        length. Only their ratios matter.
    longest : float
        No delay is longer. Without it every later departure must be looked at.
    mean : float, optional
        Seconds on average, if known.
    name : str
        For people.

    Examples
    --------
    >>> print(Free(lambda delays: 1 / (1 + delays), longest=60, name="heavy tail"))
    heavy tail, up to 60 s
    """

    function: Callable[[Floats], npt.ArrayLike]
    longest: float = math.inf
    mean: float | None = None
    name: str = field(default="free law", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(
                f"free law: function must take an array of delays, not {quoted(self.function)}"
            )
        _set(self, longest=real(self.longest, "free law: longest"))
        if self.mean is not None:
            _set(self, mean=_finite(self.mean, "free law: mean"))

    @property
    def mean_delay(self) -> float | None:
        return self.mean

    @property
    def longest_delay(self) -> float:
        return self.longest

    def weights(self, delays: Floats) -> Floats:
        """The function's weights of these delays, checked."""
        try:
            weights = np.asarray(self.function(delays), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{self.name}: the function fails on an array of delays ({error})"
            ) from None
        if weights.shape != delays.shape:
            raise InputError(
                f"{self.name}: the function must give one weight a delay, {len(delays)} of them; "
                f"it gives the shape {weights.shape}"
            )
        wrong = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
        if len(wrong):
            at = int(wrong[0])
            raise InputError(
                f"{self.name}: the weight of a delay of {delays[at]:g} s is {weights[at]:g}; "
                "weights must be finite and not negative"
            )
        return weights

    def __str__(self) -> str:
        end = "" if self.longest == math.inf else f", up to {self.longest:g} s"
        return f"{self.name}{end}"


FlushLaw: TypeAlias = Threshold | Timed | Pool | TimedPool | Binomial | Cottrell
Law: TypeAlias = Window | Exponential | Erlang | FlushLaw | Free

_FORMS: dict[str, tuple[type[Any], tuple[str, ...], int]] = {
    "window": (Window, ("low", "high"), 2),
    "exponential": (Exponential, ("mean",), 1),
    "erlang": (Erlang, ("hops", "mean"), 2),
    "threshold": (Threshold, ("batch",), 1),
    "timed": (Timed, ("interval", "origin"), 1),
    "pool": (Pool, ("batch", "kept"), 2),
    "timed-pool": (TimedPool, ("interval", "kept", "origin"), 2),
    "binomial": (Binomial, ("interval", "leave", "origin"), 2),
    "cottrell": (Cottrell, ("interval", "least", "fraction", "origin"), 3),
}
_ALIASES = {
    "exp": "exponential",
    "poisson": "exponential",
    "sg": "exponential",
    "stop-and-go": "exponential",
    "loopix": "erlang",
    "gamma": "erlang",
    "uniform": "window",
    "batch": "threshold",
}
"""Other words of the field for a law; the mean of any is a delay in seconds, never a rate."""
_WHOLE = {"hops", "batch", "kept", "least"}
EXAMPLES = (
    "window:1,5 exponential:2 erlang:3,0.5 threshold:10 timed:60 pool:100,10 "
    "timed-pool:60,10 binomial:60,0.5 cottrell:60,10,0.6"
)


def parse_law(text: str) -> Law:
    """The law that a text such as ``window:1,5`` names; times are in seconds.

    Examples
    --------
    >>> parse_law("erlang:3,0.5"), parse_law("poisson:2")
    (Erlang(hops=3, mean=0.5), Exponential(mean=2.0))
    >>> parse_law("window:5")
    Traceback (most recent call last):
    anonymatch.InputError: law 'window:5': window needs 2 numbers, low,high
    """
    if not isinstance(text, str):
        raise InputError(f"a law must be text such as window:1,5, not {quoted(text)}")
    word, _, rest = text.partition(":")
    name = law_name(word)
    if name not in _FORMS:
        near = did_you_mean(name, (*_FORMS, *_ALIASES))
        raise InputError(f"no law {quoted(text)}; known are {EXAMPLES}{near}")
    make, wanted, least = _FORMS[name]
    given = [part.strip() for part in rest.split(",")] if rest.strip() else []
    if not least <= len(given) <= len(wanted):
        number = f"{least} number{'s' if least > 1 else ''}"
        more = f" or {len(wanted)}" if least < len(wanted) else ""
        raise InputError(f"law {quoted(text)}: {name} needs {number}{more}, {','.join(wanted)}")
    values = [_number(part, what, text) for part, what in zip(given, wanted, strict=False)]
    try:
        law: Law = make(*values)
    except InputError as error:
        raise InputError(f"law {quoted(text)}: {str(error).removeprefix(f'{name}: ')}") from None
    return law


def law_name(word: str) -> str:
    """The name of a law by any word for it; the word itself if there is no such law.

    Examples
    --------
    >>> law_name("Poisson"), law_name("window"), law_name("other")
    ('exponential', 'window', 'other')
    """
    name = word.strip().lower()
    return _ALIASES.get(name, name)


def check_law(law: object) -> Law:
    """The argument, if it is a law, or text that names one."""
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(law, Law):
        raise InputError(f"law must be a law such as Window(1, 5) or window:1,5, not {quoted(law)}")
    return law


def _number(part: str, what: str, text: str) -> int | float:
    try:
        return int(part) if what in _WHOLE else float(part)
    except ValueError:
        kind = "whole number" if what in _WHOLE else "number"
        raise InputError(f"law {quoted(text)}: {what} is {quoted(part)}; give a {kind}") from None


def _finite(value: object, what: str) -> float:
    number = real(value, what)
    if number == math.inf:
        raise InputError(f"{what} must be finite")
    if number > _LONGEST:
        raise InputError(f"{what} must be at most {_LONGEST:g} s, not {number:g}")
    return number


def _positive(value: object, what: str) -> float:
    number = _finite(value, what)
    if number == 0:
        raise InputError(f"{what} must be above 0")
    if number < _SHORTEST:
        raise InputError(f"{what} must be at least {_SHORTEST:g} s, not {number:g}")
    return number


def _share(value: object, what: str) -> float:
    number = real(value, what, high=1.0)
    if number == 0:
        raise InputError(f"{what} must be above 0: nothing would ever leave")
    return number


def _set_clock(law: TimedPool | Binomial | Cottrell, name: str) -> None:
    origin = real(law.origin, f"{name}: origin", low=-_LONGEST, high=_LONGEST)
    _set(law, interval=_positive(law.interval, f"{name}: interval"), origin=origin)


def _set(law: object, **values: object) -> None:
    for name, value in values.items():
        object.__setattr__(law, name, value)

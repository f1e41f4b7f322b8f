"""What every law knows, the table of those that have a name, and how text names one.

A law is a value. It says how long messages are held back, which messages out each may be, and how
logs are drawn. What solves a log is decided in ``mixes/solvers/offers.py`` by the class of its law.
To add one, write a subclass of :class:`DensityLaw` (delays with a density that do not depend on
other messages), of :class:`DelayLaw` (without a density), of ``FlushLaw`` (a mix that sends several
on together) or of :class:`Law`, and :func:`register` it: text, examples, ``--help``, the studio and
what is suggested for a misspelt name follow from it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Bools, Floats, Ints
from anonymatch.base.errors import InputError
from anonymatch.base.text import did_you_mean, quoted
from anonymatch.mixes.laws.candidates import Candidates

LATE = 1e-3
"""A delay so long that only this share of messages has a longer one reaches from an end."""
RARE = 1e-9
"""Of packets, that take longer than what hardly one exceeds."""
SHORTEST, LONGEST = 1e-30, 1e30  # seconds; far beyond any mix, and far from the ends of float64


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a law."""

    name: str  # as an attribute of the law
    symbol: str  # in help texts: MEAN
    text: str  # what it is, for people
    whole: bool = False
    optional: bool = False
    path: bool = False  # no number but a file, and all that follows the law's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """What a log that is drawn shall have beside its messages."""

    rate: float  # messages in per second
    cover: float  # dummy messages out per message in, on average
    loss: float  # probability of a message to be lost on entry
    cover_in_pool: bool  # whether cover of a mix that flushes is held back like messages


class Law(ABC):
    """How a mix holds messages back.

    Attributes
    ----------
    keyword : str
        Its name in text; empty for laws that no text names.
    aliases : tuple of str
        Other words of the field for it.
    parameters : tuple of Parameter
        Its numbers, in the order of its arguments.
    example : str
        Numbers for an example.
    remark : str
        What help texts add in brackets.
    """

    __slots__ = ()

    keyword: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    example: ClassVar[str] = ""
    remark: ClassVar[str] = ""

    @property
    @abstractmethod
    def mean_delay(self) -> float | None:
        """Seconds on average; None if the law alone does not say."""

    @property
    @abstractmethod
    def longest_delay(self) -> float | None:
        """Seconds; None if the law alone does not say."""

    def end_delay(self, rate: float | None) -> float | None:
        """Seconds that an end of a log reaches into it: the 99.9 % delay; None if not known.

        ``rate``: messages in a second, if known.
        """
        del rate
        longest = self.longest_delay
        return longest if longest is not None and longest < math.inf else None

    def packet_delay(self) -> float | None:
        """Seconds that hardly a packet of a flow takes longer; None if the law says other things.

        Flows know one longest delay, and nothing of the shortest.
        """
        longest = self.longest_delay
        return longest if longest is not None and longest < math.inf else None

    @abstractmethod
    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        """Candidates of the chosen messages, given all that came and left, in order of time.

        ``users`` and ``behaviours`` are the indices of those that are to be matched; the others
        fill batches. ``end``: when the log ends; batches end with the last flush that was seen.
        """

    @abstractmethod
    def drawn(
        self, arrivals: Floats, traffic: Traffic, draw: np.random.Generator
    ) -> tuple[Floats, Bools, Floats]:
        """When each message leaves, NaN if not; which are lost; and when cover traffic leaves."""


class DelayLaw(Law):
    """A law whose delays do not depend on other messages."""

    __slots__ = ()

    @abstractmethod
    def delays(self, size: int, draw: np.random.Generator) -> Floats:
        """So many delays in seconds, drawn."""

    def runs(self, came: Floats, left: Floats, end: float) -> Candidates:
        """Candidates of messages that came at these times, of a log that ends at ``end``."""
        raise NotImplementedError

    def candidates(
        self,
        arrivals: Floats,
        departures: Floats,
        *,
        users: Ints,
        behaviours: Ints,
        end: float,
    ) -> Candidates:
        return self.runs(arrivals[users], departures[behaviours], end)

    def drawn(
        self, arrivals: Floats, traffic: Traffic, draw: np.random.Generator
    ) -> tuple[Floats, Bools, Floats]:
        size = len(arrivals)
        departures = arrivals + self.delays(size, draw)
        lost: Bools = draw.random(size) < traffic.loss
        departures[lost] = math.nan
        number = int(draw.poisson(traffic.cover * size))
        left = departures[~lost]
        latest = max(arrivals[-1], left.max(initial=0.0))
        return departures, lost, draw.uniform(arrivals[0], latest, number)


class DensityLaw(DelayLaw):
    """A law whose delays have a density, so that rates of losses and cover may be given."""

    __slots__ = ()

    @property
    def spread_out(self) -> bool:
        """Whether the numbers of the law leave a density, and not one delay alone."""
        return True

    @abstractmethod
    def log_density(self, delays: Floats) -> Floats:
        """Natural log of the density of each delay, per second."""

    @abstractmethod
    def log_survival(self, delays: Floats) -> Floats:
        """Natural log of the probability to exceed each delay."""


LAWS: dict[str, type[Law]] = {}
"""Laws that text names, by their keywords, in the order in which people see them."""


def register(law: type[Law]) -> None:
    """Put a class of laws into :data:`LAWS`.

    Its keyword and aliases must be new, and its parameters the first arguments of its class.
    """
    words = (law.keyword, *law.aliases)
    taken = [word for word in words if not word or law_name(word) in LAWS]
    if taken:
        raise InputError(f"a law needs a name of its own, not {quoted(taken[0])}")
    LAWS[law.keyword] = law


def law_examples() -> str:
    """Every law with numbers, as text names it.

    Examples
    --------
    >>> law_examples()
    'window:1,5 exponential:2 erlang:3,0.5 hops:0.5,1,2 lognormal:5,0.5 measured:delays.csv \
threshold:10 timed:60 pool:100,10 timed-pool:60,10 binomial:60,0.5 cottrell:60,10,0.6'
    """
    return " ".join(f"{word}:{law.example}" for word, law in LAWS.items())


def law_usage() -> str:
    """Every law with what its numbers are, for help texts."""
    return " ".join(map(_usage, LAWS.values()))


def _usage(law: type[Law]) -> str:
    symbols = ",".join(one.symbol for one in law.parameters if not one.optional)
    more = [one.symbol for one in law.parameters if one.optional]
    symbols += "".join(f"[,{symbol}" for symbol in more) + "]" * len(more)
    return f"{law.keyword}:{symbols}" + (f" ({law.remark})" if law.remark else "")


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
    seconds, plus, mix = text.partition("+")
    if plus and ":" not in seconds:
        return _with_links(seconds.strip(), mix, text)
    word, _, rest = text.partition(":")
    name = law_name(word)
    if name not in LAWS:
        near = did_you_mean(name, (*LAWS, *_aliases()))
        raise InputError(f"no law {quoted(text)}; known are {law_examples()}{near}")
    make, wanted = LAWS[name], LAWS[name].parameters
    if wanted and wanted[0].path:
        return _of_file(make, name, rest.strip(), text)
    least = sum(not one.optional for one in wanted)
    given = [part.strip() for part in rest.split(",")] if rest.strip() else []
    if not least <= len(given) <= len(wanted):
        number = f"{least} number{'s' if least > 1 else ''}"
        more = f" or {len(wanted)}" if least < len(wanted) else ""
        if least + 1 < len(wanted):
            number, more = f"{least} to {len(wanted)} numbers", ""
        names = ",".join(one.name for one in wanted)
        raise InputError(f"law {quoted(text)}: {name} needs {number}{more}, {names}")
    values = [_number(part, what, text) for part, what in zip(given, wanted, strict=False)]
    try:
        return make(*values)
    except InputError as error:
        raise InputError(f"law {quoted(text)}: {str(error).removeprefix(f'{name}: ')}") from None


def _with_links(seconds: str, mix: str, text: str) -> Law:
    from anonymatch.mixes.laws.delays import Linked

    try:
        number = float(seconds)
    except ValueError:
        raise InputError(
            f"law {quoted(text)}: the time on links is {quoted(seconds)}; give seconds, as in "
            "0.1+erlang:3,0.5"
        ) from None
    return Linked(parse_law(mix), number)


def _of_file(make: Callable[[str], Law], name: str, path: str, text: str) -> Law:
    if not path:
        raise InputError(f"law {quoted(text)}: {name} needs a file, such as {LAWS[name].example}")
    return make(path)


def law_name(word: str) -> str:
    """The name of a law by any word for it; the word itself if there is no such law.

    Examples
    --------
    >>> law_name("Poisson"), law_name("window"), law_name("other")
    ('exponential', 'window', 'other')
    """
    name = word.strip().lower()
    return _aliases().get(name, name)


def check_law(law: object) -> Law:
    """The argument, if it is a law, or text that names one."""
    if isinstance(law, str):
        return parse_law(law)
    if not isinstance(law, Law):
        raise InputError(f"law must be a law such as Window(1, 5) or window:1,5, not {quoted(law)}")
    return law


def _aliases() -> dict[str, str]:
    return {alias: word for word, law in LAWS.items() for alias in law.aliases}


def _number(part: str, what: Parameter, text: str) -> int | float:
    try:
        return int(part) if what.whole else float(part)
    except ValueError:
        kind = "whole number" if what.whole else "number"
        raise InputError(
            f"law {quoted(text)}: {what.name} is {quoted(part)}; give a {kind}"
        ) from None


# ---- numbers of laws, checked


def finite(value: object, what: str) -> float:
    """Seconds from 0."""
    number = real(value, what)
    if number == math.inf:
        raise InputError(f"{what} must be finite")
    if number > LONGEST:
        raise InputError(f"{what} must be at most {LONGEST:g} s, not {number:g}")
    return number


def positive(value: object, what: str) -> float:
    """Seconds above 0."""
    number = finite(value, what)
    if number == 0:
        raise InputError(f"{what} must be above 0")
    if number < SHORTEST:
        raise InputError(f"{what} must be at least {SHORTEST:g} s, not {number:g}")
    return number


def set_values(law: Law, **values: object) -> None:
    """Set attributes of a frozen law while it is made."""
    for name, value in values.items():
        object.__setattr__(law, name, value)

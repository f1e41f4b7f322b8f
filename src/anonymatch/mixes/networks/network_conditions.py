"""The law of the mixes of a network, and losses, cover and ends that are given with it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anonymatch.base.arguments import real
from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.base.text import Argument, did_you_mean, listed, quoted
from anonymatch.mixes.laws import (
    Exponential,
    FlushLaw,
    Law,
    check_law,
    law_name,
)
from anonymatch.mixes.laws.law import LAWS, law_examples
from anonymatch.mixes.logs.log_conditions import moment_of

PerMix = float | Mapping[str, float]
"""One value for every mix, or a mapping by mix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LinkConditions:
    """The given conditions of a link log; None if a condition is not given."""

    # Mean delay per hop in seconds, NaN if the law has no number; None for mixes that are not
    # exponential.
    mean: PerMix | None = None
    # Probability of a packet to be lost in a mix; dummy packets per second that a mix makes; loops
    # per second that a mix sends to itself; mean number of packets inside a mix at the start.
    loss: PerMix | None = None
    cover_rate: PerMix | None = None
    loop_rate: PerMix | None = None
    inside_at_start: PerMix | None = None
    # Start and end of the observation [default: first and last row].
    since: float | str | None = None
    until: float | str | None = None
    drained: bool = False  # whether all mixes are empty at the end
    running: bool = False  # whether rows before the start show that the network was running then
    most: int | None = None  # packets that a mix can hold under its law, if the law has batches
    # The law of mixes that send several packets on together; the type if it has no numbers.
    flushes: FlushLaw | type[FlushLaw] | None = None

    @property
    def names(self) -> set[str]:
        """Names that a mapping says are mixes."""
        given = (self.mean, self.loss, self.cover_rate, self.loop_rate, self.inside_at_start)
        return {str(name) for one in given if isinstance(one, Mapping) for name in one}

    @property
    def some(self) -> bool:
        """Whether losses, cover traffic, loops or packets inside at the start are given."""
        given = (self.loss, self.cover_rate, self.loop_rate, self.inside_at_start)
        return any(
            any(one.values()) if isinstance(one, Mapping) else bool(one)
            for one in given
            if one is not None
        )

    def check(self, mixes: Sequence[str]) -> None:
        """Refuse values out of range, and mappings that do not fit the mixes of the log."""
        if self.mean is not None:
            means_by_mix(self.mean, mixes, None)
        loss = by_mix(self.loss, "loss", mixes, 1.0)
        if loss is not None and (loss >= 1.0).any():
            raise InputError(
                Argument("loss"), " is 1: then nothing comes out; give a probability below 1"
            )
        by_mix(self.cover_rate, "cover_rate", mixes, 1e30)
        by_mix(self.loop_rate, "loop_rate", mixes, 1e30)
        by_mix(self.inside_at_start, "inside_at_start", mixes, 1e15)

    def ends(self, first: float, last: float) -> tuple[float, float]:
        """Return the start and the end of an observation with these first and last rows."""
        begin = first if self.since is None else moment_of(self.since, "since")
        end = last if self.until is None else moment_of(self.until, "until")
        if end < begin:
            raise InputError(
                Argument("until"), f" is {end:.10g}, before the start of the log at {begin:.10g}"
            )
        return begin, end


class NetworkLaw(NamedTuple):
    """The law of the mixes of a network, as solvers take it."""

    law: Law | None = None  # None if mixes choose uniformly among those inside
    mean: PerMix | None = None  # of exponential mixes, per hop; NaN if the law has no number
    most: int | None = None  # packets that a mix with batches can hold
    # The law of mixes that send several packets on together; the type if it has no numbers.
    flushes: FlushLaw | type[FlushLaw] | None = None


def network_law(law: Law | str | Mapping[str, Law | str] | None) -> NetworkLaw:
    """Read the law of the mixes of a network.

    All mixes that flush choose uniformly, and so do exponential ones: their numbers do not matter
    if nothing is lost, and may be left out.

    Examples
    --------
    >>> network_law("exponential:0.5").mean, network_law("pool:5,2").most
    (0.5, 7)
    >>> network_law("timed").flushes, network_law("window:1,5").law
    (<class 'anonymatch.mixes.laws.flushes.Timed'>, Window(low=1.0, high=5.0))
    >>> network_law({"A": "exponential:2", "B": "exponential:1"}).mean
    {'A': 2.0, 'B': 1.0}
    """
    if law is None:
        raise InputError(
            "a log of a network needs a law that says how its mixes delay messages; give ",
            Argument("law"),
            f", such as exponential, or one of {law_examples()}",
        )
    law = laws_by_mix(law)
    if isinstance(law, Mapping):
        return NetworkLaw(mean={str(name): _mean_of(name, one) for name, one in law.items()})
    if isinstance(law, str) and ":" not in law:
        named = LAWS.get(law_name(law))
        if named is Exponential:
            return NetworkLaw(mean=math.nan)
        if named is not None and issubclass(named, FlushLaw):
            return NetworkLaw(flushes=named)
    mix = check_law(law)
    if isinstance(mix, Exponential):
        return NetworkLaw(mean=mix.mean)
    if isinstance(mix, FlushLaw):
        rule = mix.flush
        return NetworkLaw(flushes=mix, most=None if rule.batch is None else rule.batch + rule.kept)
    return NetworkLaw(law=mix)


def _mean_of(name: str, law: Law | str) -> float:
    mean = network_law(law).mean
    if not isinstance(mean, float):
        raise InputError(
            f"law of mix {quoted(name)} is {quoted(str(law))}; laws by mix must be exponential, "
            "such as exponential:0.5"
        )
    return mean


def laws_by_mix(law: Law | str | Mapping[str, Law | str]) -> Law | str | Mapping[str, Law | str]:
    """Return a mapping for text that has a law per mix; every other law unchanged.

    Examples
    --------
    >>> laws_by_mix("A=exponential:2,B=exponential:1")
    {'A': 'exponential:2', 'B': 'exponential:1'}
    """
    if not isinstance(law, str) or "=" not in law:
        return law
    laws: dict[str, Law | str] = {}
    for part in law.split(","):
        mix, _, one = (piece.strip() for piece in part.partition("="))
        if not mix or not one:
            raise InputError(
                f"law {quoted(law)}: {quoted(part)} is not MIX=LAW, such as m1=exponential:0.5"
            )
        laws[mix] = one
    return laws


def by_mix(given: PerMix | None, name: str, mixes: Sequence[str], high: float) -> Floats | None:
    """Return one value per mix; mixes that a mapping does not name have 0."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return np.full(len(mixes), real(given, name, high=high))
    values = {str(mix): real(value, name, high=high) for mix, value in given.items()}
    unknown = [mix for mix in values if mix not in mixes]
    if unknown and any(mix not in values for mix in mixes):
        raise InputError(
            Argument(name),
            f" names {quoted(unknown[0])}, and no packet passes such a mix; mixes are "
            f"{listed(sorted(mixes))}{did_you_mean(unknown[0], mixes)}",
        )
    return np.array([values.get(mix, 0.0) for mix in mixes])


def means_by_mix(given: PerMix, mixes: Sequence[str], seen: float | None) -> Floats:
    """Return mean delays, NaN where neither the law nor the message column shows one."""
    other = math.nan if seen is None else seen
    if isinstance(given, Mapping):
        missing = [mix for mix in mixes if mix not in given]
        if missing:
            raise InputError(
                Argument("law"), f" has no law for mix {quoted(missing[0])}; name every mix"
            )
        means = np.array([float(given[mix]) for mix in mixes])
    else:
        means = np.full(len(mixes), float(given))
    return np.where(np.isnan(means), other, means)

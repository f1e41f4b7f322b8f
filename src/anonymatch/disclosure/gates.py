"""Thresholds that rounds must keep to: how long anonymity lasts as a test that can fail."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, in_bits, percent, span
from anonymatch.base.text import did_you_mean, several
from anonymatch.disclosure.decay import OPEN_GAP
from anonymatch.disclosure.wording import half_life_ends, rounds_seen

if TYPE_CHECKING:
    from anonymatch.disclosure.result import Disclosure

__all__ = [
    "ROUND_GATES",
    "RoundGate",
    "check_round_gates",
    "half_life_figure",
    "parse_round_gates",
]

ROUND_GATES: Mapping[str, str] = {
    "half_life": "rounds until half of the bits are gone",
    "bits": "bits that are left after all rounds",
    "right": "share of best guesses that are right after all rounds",
    "believed": "what the attacker believes that share to be",
}
"""Figures that may be thresholds, and what they are about."""

_AT_MOST = ("right", "believed")
_ROUNDING = 1e-9  # what rounding takes away from a figure that is met exactly is no miss


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundGate:
    """One threshold and whether it is kept to.

    Attributes
    ----------
    name : str
    threshold : float
    reached : bool or None
        None if chains from opposite starts differ too much to say: such a threshold is not failed.
    state, reason : str
        What came of it, and why.
    """

    name: str
    threshold: float
    reached: bool | None
    state: str
    reason: str

    @property
    def text(self) -> str:
        """One line for people."""
        return f"{self.name}={self.threshold:g} {self.state}: {self.reason}"


def parse_round_gates(texts: Sequence[str], *, at_most: bool) -> dict[str, float]:
    """Thresholds from ``name=number``, several in one text parted by commas.

    Examples
    --------
    >>> parse_round_gates(["half_life=50,bits=1"], at_most=False)
    {'half_life': 50.0, 'bits': 1.0}
    """
    thresholds: dict[str, float] = {}
    known = [name for name in ROUND_GATES if (name in _AT_MOST) == at_most]
    for text in (part.strip() for given in texts for part in given.split(",")):
        given, equals, number = (part.strip() for part in text.rpartition("="))
        name = given.replace("-", "_").lower()
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if name not in ROUND_GATES or not equals or not 0 <= value < math.inf:
            several_ = ", ".join(f"{each}=NUMBER" for each in known)
            near = "" if name in ROUND_GATES else did_you_mean(name, ROUND_GATES)
            raise InputError(f"threshold {text!r} is not understood; known are {several_}{near}")
        if name not in known:
            option, limit = ("--fail-under", "at least") if at_most else ("--fail-over", "at most")
            raise InputError(
                f"threshold {text!r} belongs to {option}: {name} is to be {limit} that number"
            )
        if at_most and value > 1.0:
            raise InputError(f"threshold {text!r} is a share; give a number from 0 to 1")
        thresholds[name] = value
    return thresholds


def check_round_gates(
    disclosure: Disclosure, thresholds: Mapping[str, float]
) -> tuple[RoundGate, ...]:
    """Each threshold held against the worse end of its figure.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.disclosure.RoundLog.of([(1, "ab", "xy"), (2, "ab", "xy")])
    >>> for gate in check_round_gates(am.rounds(log), {"half_life": 2, "bits": 1.5}):
    ...     print(gate.text)
    half_life=2 is reached: more than 2 rounds, all that the log has
    bits=1.5 is missed: 1 bit
    """
    return tuple(_checked(disclosure, name, value) for name, value in thresholds.items())


def _checked(disclosure: Disclosure, name: str, threshold: float) -> RoundGate:
    figure, reason = (
        half_life_figure(disclosure) if name == "half_life" else _last(disclosure, name)
    )
    reached: bool | None
    if figure is None:
        reached, state = False, "cannot be judged"
    elif name in _AT_MOST:
        reached = figure.high <= threshold + _ROUNDING
        state = _state(reached, figure.low > threshold + _ROUNDING, "kept", "exceeded")
    else:
        reached = figure.low >= threshold * (1 - _ROUNDING)
        state = _state(reached, figure.high < threshold * (1 - _ROUNDING), "reached", "missed")
    gap = (disclosure.gap if name == "half_life" else disclosure.end_gap) or 0.0
    if gap > OPEN_GAP and state not in ("is missed", "is exceeded"):
        # Guesses of chains that disagree are right less often than they could be.
        if name in _AT_MOST or not reached:
            reached, state = None, "cannot be judged"
            reason += (
                f"; chains from opposite starts differ by {gap:.2g} bits, allow more with --budget"
            )
    elif name == "half_life" and figure is not None and math.isinf(figure.high) and not reached:
        state = "cannot be judged"
        reason = (
            f"the log has only {several(rounds_seen(disclosure), 'round')}, after which more than "
            f"half of the bits is left; record at least {math.ceil(threshold)}"
        )
    return RoundGate(name=name, threshold=threshold, reached=reached, state=state, reason=reason)


def _state(reached: bool, missed: bool, done: str, not_done: str) -> str:
    if reached:
        return f"is {done}"
    return f"is {not_done}" if missed else f"is not sure to be {done}"


def half_life_figure(disclosure: Disclosure) -> tuple[Interval | None, str]:
    """Between which rounds it is, open above where the log is too short; and in words."""
    first = disclosure.curve[0].bits if disclosure.curve else None
    if first is None:
        return None, f"{disclosure.method} tells no bits; choose gibbs"
    if first.value <= 0.0:
        return Interval(0.0, 0.0, 0.0), "nobody hides even in one round"
    between, seen = disclosure.half_life_between, rounds_seen(disclosure)
    if between is None or between.low >= seen:
        text = f"more than {several(seen, 'round')}, all that the log has"
        return Interval(math.inf, float(seen), math.inf), text
    if disclosure.half_life is None:
        return between, half_life_ends(between)
    return between, f"about {_short(between.value)} rounds, {half_life_ends(between)}"


def _last(disclosure: Disclosure, name: str) -> tuple[Interval | None, str]:
    """A figure after all rounds, and in words."""
    figure: Interval | None = getattr(disclosure.curve[-1], name) if disclosure.curve else None
    if figure is None:
        if name == "right" and disclosure.log.truth is None:
            return None, "the log does not tell which message is which"
        return None, f"{disclosure.method} does not tell it; choose gibbs"
    if name == "bits":
        return figure, in_bits(span(figure.value, figure.low, figure.high, _short))
    return figure, span(figure.value, figure.low, figure.high, percent)


def _short(value: float) -> str:
    return amount(float(f"{value:.3g}"))

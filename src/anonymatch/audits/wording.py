"""Figures in words: the number, the interval that holds it, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, in_bits, percent, seconds, span
from anonymatch.mixes import (
    FLOWS,
    MessageObservation,
    NetworkObservation,
    Observation,
    network_of,
)

__all__ = ["FigureText", "attacker", "attacker_sentence", "figure_text", "sureness"]

_NARROW = 1e-6  # relative; closer ends are one number to a reader
_WIDE = 0.2  # relative; the middle of ends further apart says little


@dataclass(frozen=True, slots=True)
class FigureText:
    """A figure as it is shown: the number, its interval if it has one, and how sure it is.

    ``span`` is the number, or both ends where they read differently.
    """

    value: str
    sure: str
    ends: tuple[str, str] | None = None
    span: str = ""

    @property
    def interval(self) -> str:
        return f"between {self.ends[0]} and {self.ends[1]}" if self.ends else ""

    @property
    def short(self) -> str:
        """The number and its ends, for a table."""
        return f"{self.value} ({self.ends[0]} to {self.ends[1]})" if self.ends else self.value

    @property
    def line(self) -> str:
        """All of it in one line."""
        between = f", {self.interval}" if self.interval else ""
        return f"{self.value}{between} ({self.sure})"


def attacker(observation: Observation) -> str:
    """Return who the figures are about; empty for sources that know no mixes.

    Examples
    --------
    >>> import anonymatch as am
    >>> log = am.mixes.synthesize("exponential:5", messages=9, seed=1)
    >>> attacker(am.mixes.observe(log, "exponential:5"))
    'sees both ends'
    """
    if not isinstance(observation, MessageObservation):
        return ""
    network = network_of(observation)
    if network is None:
        return "sees both ends"
    corrupt = network.corrupt
    named = ", ".join(corrupt[:5]) + (", ..." if len(corrupt) > 5 else "")
    return f"sees every link and controls {named}" if corrupt else "sees every link"


def attacker_sentence(observation: Observation) -> str:
    """Return the same as a sentence, with what such an attacker sees."""
    who = attacker(observation)
    if not isinstance(observation, MessageObservation):
        return ""
    if isinstance(observation, NetworkObservation):
        return f"The attacker {who}: a global passive adversary."
    what = "flows" if observation.nouns == FLOWS else "messages"
    sentence = f"The attacker sees both ends: {what} that enter and leave, nothing in between."
    if observation.hops == 1:
        return sentence
    return f"{sentence} An attacker on the links between the mixes learns more."


def figure_text(
    figure: Interval, unit: str, *, confidence: float, seed: int, whole: bool = False
) -> FigureText:
    """How a figure is shown; one whose interval is wide is shown as that interval.

    Parameters
    ----------
    figure : Figure
    unit : {"", "bits", "share", "seconds", ...}
        Of the table of figures; others than these are written as numbers.
    confidence : float
        Probability that the interval holds; 1.0 means proven.
    seed : int
        Of the estimate, if it is one.
    whole : bool
        Whether it is a count, which no rounding has touched.

    Examples
    --------
    >>> figure_text(Interval(0.25, 0.25, 0.25), "share", confidence=1.0, seed=0).line
    '25 % (exact up to rounding)'
    >>> figure_text(Interval(2.0, 1.9, 2.1), "", confidence=0.95, seed=7).line
    '2, between 1.9 and 2.1 (estimated, 95 % sure, seed 7)'
    >>> figure_text(Interval(2.0, 1.0, 3.0), "", confidence=1.0, seed=0).line
    '1 to 3 (proven interval)'
    """
    write = {"share": percent, "seconds": seconds}.get(unit, amount)
    after = in_bits if unit == "bits" else str
    size = max(abs(figure.low), abs(figure.high), 1e-9)
    width = figure.high - figure.low
    narrow = width <= _NARROW * size
    sure = "exact" if whole else sureness(confidence, seed, known=narrow)
    low, high = write(figure.low), write(figure.high)
    both = after(span(figure.value, figure.low, figure.high, write))
    if narrow or low == high:
        return FigureText(both, sure, span=both)
    if width > _WIDE * size or math.isnan(figure.value):
        return FigureText(both, sure, span=both)
    return FigureText(after(write(figure.value)), sure, (low, high), both)


def sureness(confidence: float, seed: int, *, known: bool = True) -> str:
    """How sure a figure is; ``known`` says whether it is more than an interval.

    Examples
    --------
    >>> sureness(1.0, 0), sureness(1.0, 0, known=False), sureness(0.95, 3)
    ('exact up to rounding', 'proven interval', 'estimated, 95 % sure, seed 3')
    """
    if confidence < 1.0:
        return f"estimated, {percent(confidence)} sure, seed {seed}"
    return "exact up to rounding" if known else "proven interval"

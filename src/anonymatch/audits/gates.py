"""Thresholds that a system must reach: an audit as a test that can fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from anonymatch.audits.result import Audit
from anonymatch.errors import InputError
from anonymatch.measures.figure import Figure

__all__ = ["GATES", "Gate", "check_gates", "parse_gates"]

GATES: Mapping[str, str] = {
    "bits": "bits per message",
    "k": "behaviours that are open to every user (k-anonymity)",
    "worst": "equally likely behaviours that the worst user hides among",
}
"""Names of thresholds, and what they are about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One threshold and whether it is reached; if the interval leaves that open, it is not.

    Examples
    --------
    >>> import anonymatch as am
    >>> [gate] = check_gates(am.audit(am.complete(4)), {"k": 5})
    >>> gate.reached, gate.text
    (False, 'k=5 is missed: behaviours that are open to every user (k-anonymity): 4')
    """

    name: str
    threshold: float
    figure: Figure
    reached: bool

    @property
    def text(self) -> str:
        """One line for people."""
        figure = self.figure
        open_still = not self.reached and figure.high >= self.threshold
        state = "is reached" if self.reached else "is missed"
        if open_still:
            state = "is not sure to be reached"
        if math.isinf(figure.low):
            return f"{self.name}={self.threshold:g} {state}: there is nobody"
        between = (
            f"{figure.value:.4g}"
            if figure.high - figure.low <= 1e-6 * max(1.0, abs(figure.value))
            else f"{figure.low:.4g} to {figure.high:.4g}"
        )
        return f"{self.name}={self.threshold:g} {state}: {GATES[self.name]}: {between}"


def parse_gates(texts: list[str]) -> dict[str, float]:
    """Thresholds from ``name=number``, several in one text parted by commas.

    Examples
    --------
    >>> parse_gates(["bits=3", "k=5,worst=2"])
    {'bits': 3.0, 'k': 5.0, 'worst': 2.0}
    """
    found: dict[str, float] = {}
    for text in (part.strip() for given in texts for part in given.split(",")):
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if name not in GATES or not equals or not 0 <= value < math.inf:
            known = ", ".join(f"{each}=NUMBER" for each in GATES)
            raise InputError(f"threshold {text!r} is not understood; known are {known}")
        found[name] = value
    return found


def check_gates(audit: Audit, thresholds: Mapping[str, float]) -> tuple[Gate, ...]:
    """Each threshold held against the low end of its figure.

    Examples
    --------
    >>> import anonymatch as am
    >>> [gate.reached for gate in check_gates(am.audit(am.complete(4)), {"k": 4, "bits": 2})]
    [True, False]
    """
    unknown = [name for name in thresholds if name not in GATES]
    if unknown:
        raise InputError(f"there is no threshold {unknown[0]!r}; known are {', '.join(GATES)}")
    figures = {name: _figure(audit, name) for name in thresholds}
    return tuple(
        Gate(
            name=name,
            threshold=float(threshold),
            figure=figures[name],
            # What rounding takes away from a figure that is met exactly is no miss.
            reached=bool(figures[name].low >= threshold * (1 - 1e-9)),
        )
        for name, threshold in thresholds.items()
    )


def _figure(audit: Audit, name: str) -> Figure:
    users = audit.answers.users
    if name == "bits":
        return audit.bits
    if not len(users.allowed):
        return Figure(math.inf, math.inf, math.inf)
    if name == "k":
        smallest = float(users.allowed.min())
        return Figure(smallest, smallest, smallest)
    low, high = float(users.effective.low.min()), float(users.effective.high.min())
    value = float(users.effective.value.min()) if users.known else (low + high) / 2
    return Figure(value, low, high)

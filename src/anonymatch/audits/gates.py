"""Thresholds that a system must reach: an audit as a test that can fail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from anonymatch.audits.receivers import fewest_receivers, smallest
from anonymatch.audits.result import Audit
from anonymatch.errors import InputError
from anonymatch.measures.figure import Figure
from anonymatch.wording import did_you_mean

__all__ = ["AT_LEAST", "AT_MOST", "GATES", "Gate", "check_gates", "parse_gates"]

AT_LEAST: Mapping[str, str] = {
    "bits": "bits per message",
    "k": "behaviours that are open to every user (k-anonymity)",
    "worst": "equally likely behaviours that the worst user hides among",
    "receivers": "equally likely receivers that the worst user hides among",
}
"""Figures that must reach a threshold, and what they are about."""

AT_MOST: Mapping[str, str] = {
    "identified": "share of users for whom one behaviour is left",
    "surest": "chance that the attacker's guess about the worst user is right",
}
"""Figures that must not exceed one: shares and chances, from 0 to 1."""

GATES: Mapping[str, str] = {**AT_LEAST, **AT_MOST}
"""Names of thresholds, and what they are about."""

_ROUNDING = 1e-9  # what rounding takes away from a figure that is met exactly is no miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One threshold and whether it is reached; if the interval leaves that open, it is not.

    Attributes
    ----------
    name, meaning : str
    threshold : float
    figure : Figure
    reached : bool
        Whether it is kept to, of those that a figure must not exceed.
    missed : bool
        Whether it is surely not.
    limit, found, state, text : str
        What is asked of the figure, the figure, what came of it, and all of that in one line.

    Examples
    --------
    >>> import anonymatch as am
    >>> for gate in check_gates(am.audit(am.complete(4)), {"k": 5, "surest": 0.3}):
    ...     print(gate.text)
    k=5 is missed: behaviours that are open to every user (k-anonymity): 4
    surest=0.3 is kept: chance that the attacker's guess about the worst user is right: 0.25
    """

    name: str
    meaning: str
    threshold: float
    figure: Figure

    @property
    def reached(self) -> bool:
        if self.name in AT_MOST:
            return self.figure.high <= self.threshold + _ROUNDING
        return self.figure.low >= self.threshold * (1 - _ROUNDING)

    @property
    def missed(self) -> bool:
        if self.name in AT_MOST:
            return self.figure.low > self.threshold + _ROUNDING
        return self.figure.high < self.threshold * (1 - _ROUNDING)

    @property
    def limit(self) -> str:
        """What is asked of the figure: 'at least 3' or 'at most 0.5'."""
        return f"{'at most' if self.name in AT_MOST else 'at least'} {self.threshold:g}"

    @property
    def found(self) -> str:
        """The figure, or the ends between which it lies."""
        figure = self.figure
        if math.isinf(figure.low):
            return "there is nobody"
        if figure.high - figure.low <= 1e-6 * max(1.0, abs(figure.value)):
            return f"{figure.value:.4g}"
        return f"{figure.low:.4g} to {figure.high:.4g}"

    @property
    def state(self) -> str:
        """The threshold by its name, and whether it is reached."""
        done, not_done = ("kept", "exceeded") if self.name in AT_MOST else ("reached", "missed")
        state = f"is not sure to be {done}"
        if self.reached or self.missed:
            state = f"is {done if self.reached else not_done}"
        return f"{self.name}={self.threshold:g} {state}"

    @property
    def text(self) -> str:
        """One line for people."""
        meaning = "" if math.isinf(self.figure.low) else f"{self.meaning}: "
        return f"{self.state}: {meaning}{self.found}"


def parse_gates(texts: list[str], known: Mapping[str, str] = GATES) -> dict[str, float]:
    """Thresholds from ``name=number``, several in one text parted by commas.

    Examples
    --------
    >>> parse_gates(["bits=3", "k=5,worst=2"])
    {'bits': 3.0, 'k': 5.0, 'worst': 2.0}
    """
    found: dict[str, float] = {}
    for text in (part.strip() for given in texts for part in given.split(",")):
        name, equals, number = (part.strip() for part in text.partition("="))
        if name in GATES and name not in known:
            option = "--fail-over" if name in AT_MOST else "--fail-under"
            limit = "at most" if name in AT_MOST else "at least"
            raise InputError(
                f"threshold {text!r} belongs to {option}: {name} is to be {limit} that number"
            )
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if name not in known or not equals or not 0 <= value < math.inf:
            several = ", ".join(f"{each}=NUMBER" for each in known)
            near = did_you_mean(name, known) if name not in known else ""
            raise InputError(f"threshold {text!r} is not understood; known are {several}{near}")
        found[name] = _checked(name, value)
    return found


def check_gates(audit: Audit, thresholds: Mapping[str, float]) -> tuple[Gate, ...]:
    """Each threshold held against the worse end of its figure.

    Examples
    --------
    >>> import anonymatch as am
    >>> [gate.reached for gate in check_gates(am.audit(am.complete(4)), {"k": 4, "bits": 2})]
    [True, False]
    """
    unknown = [name for name in thresholds if name not in GATES]
    if unknown:
        near = did_you_mean(unknown[0], GATES)
        raise InputError(
            f"there is no threshold {unknown[0]!r}; known are {', '.join(GATES)}{near}"
        )
    one = audit.observation.nouns.user
    return tuple(
        Gate(
            name=name,
            meaning=f"bits per {one}" if name == "bits" else GATES[name],
            threshold=_checked(name, float(threshold)),
            figure=_figure(audit, name),
        )
        for name, threshold in thresholds.items()
    )


def _checked(name: str, threshold: float) -> float:
    if name in AT_MOST and not threshold <= 1.0:
        raise InputError(f"threshold {name}={threshold:g} is a share; give a number from 0 to 1")
    return threshold


def _figure(audit: Audit, name: str) -> Figure:
    users = audit.answers.users
    if name == "bits":
        return audit.bits
    if not len(users.allowed):
        nobody = -math.inf if name in AT_MOST else math.inf
        return Figure(nobody, nobody, nobody)
    if name == "k":
        return _sure(float(users.allowed.min()))
    if name == "identified":
        return _sure(audit.identified / audit.n_users)
    if name == "surest":
        return audit.surest
    if name == "receivers":
        return fewest_receivers(audit.observation, audit.answers)
    return smallest(users.effective)


def _sure(value: float) -> Figure:
    return Figure(value, value, value)

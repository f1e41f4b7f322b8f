"""Thresholds that a system must reach: an audit as a test that can fail."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymatch.audits.figures import FIGURES, AuditFigure, figure_of
from anonymatch.audits.result import Audit
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.text import did_you_mean
from anonymatch.mixes import USERS, MixAudit

if TYPE_CHECKING:
    from anonymatch.disclosure import Disclosure

__all__ = ["AT_LEAST", "AT_MOST", "GATES", "Gate", "check_gates", "gates_in_words", "parse_gates"]


class _Gates(Mapping[str, str]):
    """Figures that may be thresholds, with what they are about: as the table of figures is now."""

    def __init__(self, *better: str) -> None:
        self._better = better

    def _figures(self) -> Iterator[AuditFigure]:
        for each in FIGURES.values():
            if each.gate is not None and each.better in self._better:
                yield each

    def __getitem__(self, key: str) -> str:
        return {each.key: each.meaning_for(USERS) for each in self._figures()}[key]

    def __iter__(self) -> Iterator[str]:
        return (each.key for each in self._figures())

    def __len__(self) -> int:
        return sum(1 for _ in self._figures())

    def __repr__(self) -> str:
        return repr(dict(self))


AT_LEAST: Mapping[str, str] = _Gates("higher")
"""Figures that must reach a threshold, and what they are about; ``entropy_N%`` for any N too."""

AT_MOST: Mapping[str, str] = _Gates("lower")
"""Figures that must not exceed one; shares and probabilities are from 0 to 1."""

GATES: Mapping[str, str] = _Gates("higher", "lower")
"""Names of thresholds, and what they are about."""

# What is not known may be anything: the threshold is not sure to be reached.
_UNKNOWN = Interval(0.0, 0.0, math.inf)
_ROUNDING = 1e-9  # what rounding takes away from a figure that is met exactly is no miss


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One threshold and whether it is reached; if the interval leaves that open, it is not.

    Attributes
    ----------
    name, meaning : str
    threshold : float
    figure : Interval
    reached : bool or None
        Whether it is kept to, of those that a figure must not exceed. None if it cannot be judged.
    missed : bool
        Whether it is surely not.
    error : float or None
        One standard error of the figure from the traffic; None if it is not known.
    within_error : bool
        Whether the threshold is within two standard errors of the figure, so that another log of
        the same system may decide otherwise.
    strict : bool
        Whether such a threshold fails.
    gap : float or None
        Bits by which chains from opposite starts differ at a half-life, if above 0.1: then a
        threshold inside the interval cannot be judged. None for other figures.
    passed : bool or None
        Whether it is reached, and if strict, not within sampling error. None if it cannot be
        judged: such a threshold does not fail.
    limit, shown, state, text : str
        What is asked of the figure, the figure, what came of it, and all of that in one line.

    Examples
    --------
    >>> import anonymatch as am
    >>> for gate in check_gates(am.audit(am.complete(4)), {"entropy": 3, "surest": 0.3}):
    ...     print(gate.text)
    entropy=3 is missed: mean Shannon entropy of the attacker's posterior about one user: 2
    surest=0.3 is kept: probability that the attacker's guess about the worst user is right: 0.25
    """

    name: str
    meaning: str
    threshold: float
    figure: Interval
    error: float | None = None
    strict: bool = False
    gap: float | None = None

    @property
    def within_error(self) -> bool:
        if self.error is None or math.isinf(self.figure.value):
            return False
        return abs(self.figure.value - self.threshold) <= 2.0 * self.error

    @property
    def passed(self) -> bool | None:
        return self.reached and not (self.strict and self.within_error)

    @property
    def _at_most(self) -> bool:
        return self.name in AT_MOST

    @property
    def reached(self) -> bool | None:
        if self._at_most:
            reached = self.figure.high <= self.threshold + _ROUNDING
        else:
            reached = self.figure.low >= self.threshold * (1 - _ROUNDING)
        return None if self.gap is not None and not reached and not self.missed else reached

    @property
    def missed(self) -> bool:
        if self._at_most:
            return self.figure.low > self.threshold + _ROUNDING
        return self.figure.high < self.threshold * (1 - _ROUNDING)

    @property
    def title(self) -> str:
        return self.meaning

    @property
    def reason(self) -> str:
        return self.shown

    @property
    def limit(self) -> str:
        """What is asked of the figure: 'at least 3' or 'at most 0.5'."""
        return f"{'at most' if self._at_most else 'at least'} {self.threshold:g}"

    @property
    def shown(self) -> str:
        """The figure, or the ends between which it lies."""
        figure = self.figure
        if math.isinf(figure.low):
            return "there is nobody"
        if math.isinf(figure.high):
            return f"at least {figure.low:.4g}" if figure.low > 0.0 else "not known"
        if figure.high - figure.low <= 1e-6 * max(1.0, abs(figure.value)):
            return f"{figure.value:.4g}"
        return f"{figure.low:.4g} to {figure.high:.4g}"

    @property
    def state(self) -> str:
        """The threshold by its name, and whether it is reached."""
        done, not_done = ("kept", "exceeded") if self._at_most else ("reached", "missed")
        state = f"is not sure to be {done}" if self.reached is False else "cannot be judged"
        if self.reached or self.missed:
            state = f"is {done if self.reached else not_done}"
        if self.within_error:
            state += ", within sampling error"
            if self.strict and self.reached:
                state += " (fails with --strict)"
        return f"{self.name}={self.threshold:g} {state}"

    @property
    def text(self) -> str:
        """One line for people."""
        meaning = "" if math.isinf(self.figure.low) else f"{self.meaning}: "
        more = ""
        if self.reached is None:
            gap = f"chains from opposite starts differ by {self.gap:.2g} bits"
            more = f"; {gap}, allow more with --budget"
        return f"{self.state}: {meaning}{self.shown}{more}"


def parse_gates(texts: list[str], known: Mapping[str, str] = GATES) -> dict[str, float]:
    """Thresholds from ``name=number``, several in one text parted by commas.

    Examples
    --------
    >>> parse_gates(["entropy=3", "k=5,entropy_1%=2"])
    {'entropy': 3.0, 'global (1,k)': 5.0, 'entropy_1%': 2.0}
    """
    thresholds: dict[str, float] = {}
    for text in (part.strip() for given in texts for part in _PARTED.split(given)):
        name, equals, number = (part.strip() for part in text.rpartition("="))
        figure = figure_of(name)
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if figure is None or figure.gate is None or not equals or not 0 <= value < math.inf:
            several = ", ".join(f"{each}=NUMBER" for each in known)
            near = "" if figure is not None else did_you_mean(name, known)
            raise InputError(f"threshold {text!r} is not understood; known are {several}{near}")
        at_most = figure.better == "lower"
        if at_most != (known is AT_MOST) and known is not GATES:
            option, limit = ("--fail-over", "at most") if at_most else ("--fail-under", "at least")
            raise InputError(
                f"threshold {text!r} belongs to {option}: {name} is to be {limit} that number"
            )
        thresholds[figure.key] = _checked(figure, value)
    return thresholds


_PARTED = re.compile(r",(?![^(]*\))")  # a comma between brackets is part of a name


def gates_in_words(known: Mapping[str, str]) -> str:
    """Each threshold with an example and its title, for a help text.

    Examples
    --------
    >>> gates_in_words(AT_MOST).partition(", ")[0]
    'identified=0.01 (identified users)'
    """
    figures = (FIGURES[key] for key in known)
    return ", ".join(
        f"{(*each.names, each.key)[0]}={each.gate:g} ({each.title_for(USERS)})" for each in figures
    )


def check_gates(
    audit: Audit, thresholds: Mapping[str, float], *, strict: bool = False
) -> tuple[Gate, ...]:
    """Each threshold compared with the worse end of its figure.

    Parameters
    ----------
    audit : Audit
    thresholds : mapping of str to float
        What a figure must reach, by its key or another name of it, such as ``{"entropy": 3}``;
        ``anonymatch.GATES`` lists them.
    strict : bool, default False
        Let a threshold fail that is within two standard errors of the traffic.

    Returns
    -------
    tuple of Gate
        In the order of the thresholds.

    Examples
    --------
    >>> import anonymatch as am
    >>> gates = check_gates(am.audit(am.complete(4)), {"entropy": 2, "bits": 2})
    >>> [gate.reached for gate in gates]
    [True, False]
    """
    checked = []
    for name, threshold in thresholds.items():
        figure = figure_of(name)
        if figure is None or figure.gate is None:
            raise InputError(
                f"there is no threshold {name!r}; known are {', '.join(GATES)}"
                f"{did_you_mean(name, GATES)}"
            )
        meaning = figure.meaning_for(audit.observation.nouns)
        value, gap = _value(audit, figure), None
        disclosure = audit.disclosure if isinstance(audit, MixAudit) else None
        if figure.key == "half_life" and disclosure is not None:
            value, gap = _half_life(disclosure)
        checked.append(
            Gate(
                name=figure.key,
                meaning=f"{meaning} ({figure.note})" if figure.note else meaning,
                threshold=_checked(figure, float(threshold)),
                figure=value,
                error=None if figure.error is None else figure.error(audit),
                strict=strict,
                gap=gap,
            )
        )
    return tuple(checked)


def _checked(figure: AuditFigure, threshold: float) -> float:
    if figure.better == "lower" and figure.unit == "share" and not threshold <= 1.0:
        raise InputError(
            f"threshold {figure.key}={threshold:g} is a share; give a number from 0 to 1"
        )
    return threshold


def _value(audit: Audit, figure: AuditFigure) -> Interval:
    if not audit.n_counted and figure.rests_on != "count":
        nobody = -math.inf if figure.better == "lower" else math.inf
        return Interval(nobody, nobody, nobody)
    value = figure.value(audit)
    return _UNKNOWN if value is None else value


def _half_life(disclosure: Disclosure) -> tuple[Interval, float | None]:
    """At least the rounds of a log that is too short; and the gap, if too wide to judge."""
    from anonymatch.disclosure import OPEN_GAP, half_life_figure

    figure = half_life_figure(disclosure).value
    gap = disclosure.gap or 0.0
    return figure or _UNKNOWN, gap if gap > OPEN_GAP else None

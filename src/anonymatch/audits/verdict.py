"""The audit in one line of words, and what its figures do not say."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anonymatch.audits.answers import Answers
from anonymatch.audits.result import Score, Worst
from anonymatch.measures.figure import Figure
from anonymatch.measures.users import UserFigures
from anonymatch.sources.observation import Nouns, Observation
from anonymatch.wording import name

__all__ = ["caveats", "verdict"]


_EVEN = (
    "All matchings are taken as equally likely: an attacker who knows more, from habits or other "
    "logs, does better."
)
_MISFIT = "The law does not fit the truth in the log, so the figures do not describe this system."
_WEIGHTED = (
    "Matchings are taken to be as likely as their weights say: an attacker who knows more does "
    "better."
)


def verdict(bits: Figure, figures: UserFigures, worst: Iterable[Worst], nouns: Nouns) -> str:
    """One sentence: how much doubt there is, how a typical user hides, and who does not.

    Examples
    --------
    >>> import anonymatch as am
    >>> am.audit(am.complete(4)).verdict
    '1.15 bits of doubt per user; a typical one hides among 4 behaviours; nobody is identified, \
the surest guess is 0 with 25 %.'
    """
    noun = nouns.user
    others = nouns.users if nouns.side else nouns.behaviours
    users, identified = len(figures.users), int((figures.allowed == 1).sum())
    if not users:
        return f"There are no {noun}s."
    if identified == users:
        return f"Every {noun} is identified."
    said = [f"{_between(bits.low, bits.high, 0.02)} bits of doubt per {noun}"]
    low, high = (float(np.median(end)) for end in (figures.effective.low, figures.effective.high))
    if high < 2.0 * low:
        said.append(f"a typical one hides among {_between(low, high, 0.01 * high)} {others}")
    if identified:
        share = 100 * identified / users
        shown = f"{share:.2g} %" if share >= 0.1 else "under 0.1 %"
        verb = "is" if identified == 1 else "are"
        said.append(f"{identified:,} of {users:,} ({shown}) {verb} identified.")
        return "; ".join(said)
    said.append("nobody is identified")
    first = next(iter(worst), None)
    if first is not None and first.chance is not None:
        guess = f"the surest guess is {name(first.user)} with {100 * first.chance:.3g} %"
        return "; ".join(said) + f", {guess}."
    return "; ".join(said) + "."


def _between(low: float, high: float, close: float) -> str:
    return f"{(low + high) / 2:.3g}" if high - low < close else f"{low:.3g} to {high:.3g}"


def caveats(seen: Observation, found: Answers, scored: Score | None) -> tuple[str, ...]:
    """What every reader must know about such figures."""
    weighted = seen.graph is not None and seen.graph.weighted
    said = [
        _WEIGHTED if weighted else _EVEN,
        (
            "Count and bits are figures of the whole system: a good average can hide a user who is "
            "badly off, so look at the worst users too."
        ),
        "Nothing is said about intersections over several rounds, or of several logs.",
    ]
    if found.confidence < 1.0:
        sure = f"{100 * found.confidence:.3g} %"
        said.append(f"Some figures are estimated; their intervals hold with a chance of {sure}.")
    if scored is not None and not scored.calibrated:
        said.insert(0, _MISFIT)
    return tuple(said)

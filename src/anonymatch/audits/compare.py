"""compare(): several audits side by side, and which differences are real."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anonymatch.audits.record import json_value
from anonymatch.audits.result import Audit
from anonymatch.errors import InputError
from anonymatch.measures.figure import Figure
from anonymatch.sources.observation import MESSAGES, Nouns

__all__ = ["Comparison", "Row", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of all audits.

    Attributes
    ----------
    name, title, meaning : str
    better : {"higher", "lower", ""}
    figures : tuple of Figure or None
        One an audit; None where it is not known.
    best : int or None
        The best of them by number, if that is sure.
    said : str
        The same in words.
    share : bool
        Whether figures are shares, which people read in percent.
    """

    name: str
    title: str
    meaning: str
    better: str
    figures: tuple[Figure | None, ...]
    best: int | None
    said: str
    share: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """Several systems side by side.

    Attributes
    ----------
    names : tuple of str
        What each audit is called here, all different.
    audits : tuple of Audit
    rows : tuple of Row
    verdict : str
    caveats, notes : tuple of str
        Those of the audits; what is not said of all of them begins with a name.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.compare([am.audit(am.complete(3)), am.audit(am.ring(3, 2))], ["all", "ring"])
    >>> [row.title for row in found.rows if row.best == 0][:3]
    ['bits per user', 'typical set size', 'surest guess']
    """

    names: tuple[str, ...]
    audits: tuple[Audit, ...]
    rows: tuple[Row, ...]
    verdict: str

    @property
    def caveats(self) -> tuple[str, ...]:
        return self._gathered([audit.caveats for audit in self.audits])

    @property
    def notes(self) -> tuple[str, ...]:
        return self._gathered([audit.notes for audit in self.audits])

    def _gathered(self, texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """What is said of one audit, with its name, then what is said of all."""
        everywhere = [text for text in texts[0] if all(text in said for said in texts)]
        alone = [
            f"{name}: {text}"
            for name, said in zip(self.names, texts, strict=True)
            for text in said
            if text not in everywhere
        ]
        return (*alone, *everywhere)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "names": list(self.names),
            "verdict": self.verdict,
            "rows": json_value(self.rows),
            "audits": [audit.to_dict() for audit in self.audits],
        }


_SHARES = frozenset({"identified", "below", "surest", "degree", "reached", "cover"})
"""Rows that people read in percent."""

_Figure = Callable[[Audit], Figure | None]


def _sure(value: float | None) -> Figure | None:
    return None if value is None else Figure(value, value, value)


def _median(audit: Audit) -> Figure | None:
    users = audit.answers.users
    if not len(users.allowed):
        return None
    low, high = (float(np.median(end)) for end in (users.effective.low, users.effective.high))
    middle = float(np.median(users.effective.value)) if users.known else (low + high) / 2
    return Figure(middle, low, high)


_ROWS: tuple[tuple[str, str, str, str, _Figure], ...] = (
    (
        "bits",
        "bits per {user}",
        "doubt about the whole matching, shared out over the {users}",
        "higher",
        lambda audit: audit.bits,
    ),
    (
        "typical",
        "typical set size",
        "as many equally likely behaviours as half of the users hide among, or fewer",
        "higher",
        _median,
    ),
    (
        "identified",
        "identified users",
        "share of users for whom one behaviour is left",
        "lower",
        lambda audit: _sure(audit.identified / max(audit.n_users, 1)),
    ),
    (
        "below",
        "below {threshold}",
        "share of users who hide among fewer than {sizes} equally likely behaviours",
        "lower",
        lambda audit: audit.below,
    ),
    (
        "surest",
        "surest guess",
        "chance that the attacker's guess about the worst user is right",
        "lower",
        lambda audit: audit.surest if audit.n_users else None,
    ),
    (
        "degree",
        "degree of anonymity",
        "bits as a share of those if nothing were known",
        "higher",
        lambda audit: audit.degree,
    ),
    (
        "reached",
        "share of the bound",
        "bits as a share of the most that so many candidates allow",
        "higher",
        lambda audit: audit.reached,
    ),
    (
        "attack",
        "bits lost to one exposure",
        "what the attacker's best single exposure takes from the whole system",
        "",
        lambda audit: None if audit.one_step is None else audit.one_step.lost_bits,
    ),
    (
        "candidates",
        "candidates a user",
        "cost: behaviours that fit a user, on average",
        "",
        lambda audit: _sure(audit.cost.candidates),
    ),
    (
        "mean_delay",
        "mean delay, seconds",
        "cost: how long a message is held back",
        "lower",
        lambda audit: _sure(audit.cost.mean_delay),
    ),
    (
        "cover",
        "cover traffic",
        "cost: share of the messages out that are nobody's",
        "lower",
        lambda audit: _sure(audit.cost.cover),
    ),
)


def compare(audits: Sequence[Audit], names: Sequence[str] | None = None) -> Comparison:
    """Figures of several audits side by side; no difference is claimed where intervals overlap.

    Parameters
    ----------
    audits : sequence of Audit
        Two or more.
    names : sequence of str, optional
        What to call them; the names of the audits unless told.

    Examples
    --------
    >>> import anonymatch as am
    >>> pair = am.audit(am.partition([2, 2])), am.audit(am.ring(4, 2))
    >>> found = am.compare(pair, ["2+2", "ring"])
    >>> found.rows[0].said
    '2+2 is best: 0.5 against 0.25'
    >>> print(found.verdict)
    2+2 has more bits per user: 0.5 against 0.25.
    """
    given = tuple(audits)
    if len(given) < 2:
        raise InputError("to compare takes two audits or more")
    called = _distinct([audit.name for audit in given] if names is None else list(names))
    if len(called) != len(given):
        raise InputError(f"there are {len(given)} audits, but {len(called)} names")
    words = _nouns(given)
    told = {"user": words.user, "users": words.users, **_thresholds(given)}
    rows = tuple(
        _row(
            name,
            title.format(**told),
            meaning.format(**told),
            better,
            [figure(audit) for audit in given],
            called,
        )
        for name, title, meaning, better, figure in _ROWS
    )
    return Comparison(
        names=called,
        audits=given,
        rows=tuple(row for row in rows if any(row.figures)),
        verdict=_verdict(rows[0], called),
    )


def _nouns(audits: Sequence[Audit]) -> Nouns:
    """The words of all of them; messages where they differ."""
    first = audits[0].observation.nouns
    return first if all(each.observation.nouns == first for each in audits) else MESSAGES


def _thresholds(audits: Sequence[Audit]) -> dict[str, str]:
    """The threshold of all of them, or each one's where they differ."""
    sizes = [f"{audit.threshold:g}" for audit in audits]
    if len(set(sizes)) == 1:
        return {"threshold": sizes[0], "sizes": sizes[0]}
    return {"threshold": "the threshold", "sizes": f"the threshold ({', '.join(sizes)})"}


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Equal names get numbers."""
    several = {name for name in names if names.count(name) > 1}
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(f"{name} ({seen[name]})" if name in several else name)
    return tuple(result)


def _row(
    name: str,
    title: str,
    meaning: str,
    better: str,
    figures: list[Figure | None],
    called: tuple[str, ...],
) -> Row:
    best, said = _judged(name, better, figures, called) if better else (None, "")
    return Row(
        name=name,
        title=title,
        meaning=meaning,
        better=better,
        figures=tuple(figures),
        best=best,
        said=said,
        share=name in _SHARES,
    )


def _judged(
    name: str, better: str, figures: list[Figure | None], called: tuple[str, ...]
) -> tuple[int | None, str]:
    """The best one if it is sure, and that in words."""
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures):
        return None, "not known for all"
    if _same(known):
        return None, "no difference"
    first = _best(better, known)
    others = [k for k in range(len(known)) if k != first]
    close = [called[k] for k in others if not _beats(better, known[first], known[k])]
    if close:
        return None, f"no sure difference between {called[first]} and {', '.join(close)}"
    shown = [_shown(figure, share=name in _SHARES) for figure in known]
    against = ", ".join(shown[k] for k in others)
    return first, f"{called[first]} is best: {shown[first]} against {against}"


def _best(better: str, figures: list[Figure]) -> int:
    values = [figure.value if better == "higher" else -figure.value for figure in figures]
    return values.index(max(values))


def _beats(better: str, one: Figure, other: Figure) -> bool:
    return one.low > other.high if better == "higher" else one.high < other.low


def _same(figures: list[Figure]) -> bool:
    """Whether all are known exactly and agree, but for rounding."""
    first = figures[0].value
    close = 1e-9 * max(abs(first), 1e-9)
    return all(abs(end - first) <= close for one in figures for end in (one.low, one.high))


def _shown(figure: Figure, *, share: bool) -> str:
    times, unit = (100.0, " %") if share else (1.0, "")
    if figure.high - figure.low <= 1e-3 * max(abs(figure.value), 1e-9):
        return f"{times * figure.value:.4g}{unit}"
    return f"{times * figure.low:.4g} to {times * figure.high:.4g}{unit}"


def _verdict(bits: Row, called: tuple[str, ...]) -> str:
    if bits.best is not None:
        more = "more" if len(called) == 2 else "the most"
        said = bits.said.replace("is best", f"has {more} {bits.title}", 1)
        return f"{said}."
    if bits.said == "no difference":
        return f"All have the same {bits.title}."
    return f"Intervals overlap: no difference in {bits.title} can be claimed."

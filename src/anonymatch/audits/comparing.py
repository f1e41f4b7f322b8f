"""compare(): several audits side by side, and which differences are real."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from anonymatch.audits.figures import AuditFigure, Show, shown_figures
from anonymatch.audits.record import json_value
from anonymatch.audits.result import Audit, ScoredAudit
from anonymatch.audits.wording import figure_text
from anonymatch.base.errors import InputError
from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, span
from anonymatch.base.summaries import Figures, Summarised
from anonymatch.base.text import quoted
from anonymatch.mixes import MESSAGES, MessageAudit, MixCost, Nouns

if TYPE_CHECKING:
    from anonymatch.reporting.charts import AnyChart

_SAME_PRICE = 0.05  # of a price, below which a difference is not worth a word
_ERRORS = 2.0  # standard errors of a difference: about 5 % of the pairs of one system exceed them

_BY_CHANCE = "within sampling error"

__all__ = ["ComparedFigure", "Comparison", "compare"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedFigure:
    """One figure of all audits.

    Attributes
    ----------
    name, title, meaning : str
    better : {"higher", "lower", ""}
    figures : tuple of Interval or None
        One an audit; None where it is not known.
    best : int or None
        The best of them by number, if that is sure.
    judgement : str
        The same in words.
    share : bool
        Whether figures are shares, which people read in percent.
    errors : tuple of float
        One standard error of each figure from the traffic; 0 where there is none, and where all
        audits are of the same traffic.
    """

    name: str
    title: str
    meaning: str
    better: str
    figures: tuple[Interval | None, ...]
    best: int | None
    judgement: str
    share: bool
    errors: tuple[float, ...]

    @property
    def differences(self) -> tuple[Interval | None, ...]:
        """Of all but the first from the first, with what intervals and the traffic leave open."""
        first, *others = self.figures
        return tuple(
            None
            if first is None or other is None
            else _difference(other, first, _ERRORS * math.hypot(error, self.errors[0]))
            for other, error in zip(others, self.errors[1:], strict=True)
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Comparison(Summarised):
    """Several systems side by side.

    Attributes
    ----------
    names : tuple of str
        What each audit is called here, all different.
    audits : tuple of Audit
    rows : tuple of ComparedFigure
    verdict : str
    caveats, notes : tuple of str
        Those of the audits; what is not said of all of them begins with a name.

    Examples
    --------
    >>> import anonymatch as am
    >>> pair = [am.audit(am.complete(3)), am.audit(am.ring(3, 2))]
    >>> comparison = am.compare(pair, ["all", "ring"])
    >>> [row.title for row in comparison.rows if row.best == 0][:3]
    ['entropy per user', 'entropy, worst 5 %', 'entropy, worst 1 %']
    """

    names: tuple[str, ...]
    audits: tuple[Audit, ...]
    rows: tuple[ComparedFigure, ...]
    verdict: str

    @property
    def caveats(self) -> tuple[str, ...]:
        return self._gathered([audit.caveats for audit in self.audits])

    @property
    def notes(self) -> tuple[str, ...]:
        return self._gathered([audit.notes for audit in self.audits])

    def _gathered(self, texts: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """What is said of one audit, with its name, then what is said of all."""
        everywhere = [text for text in texts[0] if all(text in own for own in texts)]
        alone = [
            f"{name}: {text}"
            for name, own in zip(self.names, texts, strict=True)
            for text in own
            if text not in everywhere
        ]
        return (*alone, *everywhere)

    def chart(self, name: str = "cost") -> AnyChart:
        """A chart for notebooks and files.

        Parameters
        ----------
        name : str
            "cost" (entropy against delay and packets, or against candidates), "difference" (bits
            more or less than the first), "spread" (of entropy over users), or the key of a figure.
        """
        from anonymatch.audits.reports.compared_charts import comparison_charts
        from anonymatch.reporting.charts import named_chart

        return named_chart(comparison_charts(self), name, "this comparison")

    def __str__(self) -> str:
        return f"{', '.join(self.names)}: {self.verdict}"

    def _heads(self) -> Sequence[str]:
        return ("", *self.names, "")

    def _figures(self) -> Figures:
        for row in self.rows:
            if any(figure is not None for figure in row.figures):
                yield (row.title, *(_short(row, figure) for figure in row.figures), row.judgement)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "names": list(self.names),
            "verdict": self.verdict,
            "rows": [_record(row) for row in self.rows],
            "audits": [audit.to_dict() for audit in self.audits],
        }


def _short(row: ComparedFigure, figure: Interval | None) -> str:
    if figure is None:
        return "–"
    return span(figure.value, figure.low, figure.high, percent if row.share else amount)


def _record(row: ComparedFigure) -> dict[str, Any]:
    values: dict[str, Any] = json_value(row)
    values["said"] = values.pop("judgement")
    values["differences"] = [json_value(each) for each in row.differences]
    return values


def compare(audits: Sequence[Audit], names: Sequence[str] | None = None) -> Comparison:
    """Figures of several audits side by side, and which differences are more than chance.

    A difference is claimed if intervals do not overlap and the values differ by more than two
    standard errors of the traffic. Audits of the same log have the same traffic, so that their
    differences have no such error.

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
    >>> comparison = am.compare(pair, ["2+2", "ring"])
    >>> {row.name: row.judgement for row in comparison.rows}["bits"]
    '2+2 is best: 0.5 against 0.25'
    >>> print(comparison.verdict)
    All have the same entropy per user; 2+2 has more joint bits per user: 0.5 against 0.25.
    """
    given = _checked(audits)
    if len(given) < 2:
        raise InputError("to compare takes two audits or more")
    called = _distinct([audit.name for audit in given] if names is None else list(names))
    if len(called) != len(given):
        raise InputError(f"there are {len(given)} audits, but {len(called)} names")
    words, threshold = _nouns(given), _threshold(given)
    shown = shown_figures(Show.COMPARISON)
    rows = tuple(_row(figure, given, called, words, threshold) for figure in shown)
    return Comparison(
        names=called,
        audits=given,
        rows=tuple(row for row in rows if any(row.figures)),
        verdict=_verdict(rows, given, called),
    )


def _checked(audits: object) -> tuple[Audit, ...]:
    """Refuse what is no list of audits: a file takes a law and more, which is audit()'s to ask."""
    if isinstance(audits, Audit | str | PathLike) or not isinstance(audits, Iterable):
        raise InputError(
            f"compare takes a list of audits, not {quoted(audits)}; give two audits or more"
        )
    given = tuple(audits)
    for number, one in enumerate(given, start=1):
        if not isinstance(one, Audit):
            raise InputError(
                f"compare takes audits, and number {number} is {quoted(one)}; audit() it first"
            )
    return given


def _nouns(audits: Sequence[Audit]) -> Nouns:
    """The words of all of them; messages where they differ."""
    first = audits[0].observation.nouns
    return first if all(each.observation.nouns == first for each in audits) else MESSAGES


def _threshold(audits: Sequence[Audit]) -> str:
    """The threshold of all of them, or each one's where they differ."""
    sizes = [f"{audit.threshold:g}" for audit in audits]
    return sizes[0] if len(set(sizes)) == 1 else f"the threshold ({', '.join(sizes)})"


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Equal names get numbers."""
    several = {name for name in names if names.count(name) > 1}
    used: dict[str, int] = {}
    result = []
    for name in names:
        used[name] = used.get(name, 0) + 1
        result.append(f"{name} ({used[name]})" if name in several else name)
    return tuple(result)


def _row(
    figure: AuditFigure,
    audits: Sequence[Audit],
    called: tuple[str, ...],
    words: Nouns,
    threshold: str,
) -> ComparedFigure:
    figures = [figure.value(audit) for audit in audits]
    errors = _errors(figure, audits)
    share = figure.unit == "share"
    best, judgement = _judged(figure, figures, errors, called) if figure.better else (None, "")
    return ComparedFigure(
        name=figure.key,
        title=figure.title_for(words, threshold.partition(" (")[0]),
        meaning=figure.meaning_for(words, threshold),
        better=figure.better,
        figures=tuple(figures),
        best=best,
        judgement=judgement,
        share=share,
        errors=errors,
    )


def _errors(figure: AuditFigure, audits: Sequence[Audit]) -> tuple[float, ...]:
    """Standard errors from the traffic; 0 if all audits are of the same traffic."""
    arrivals = [
        audit.observation.arrivals if isinstance(audit, MessageAudit) else None for audit in audits
    ]
    first = arrivals[0]
    same = first is not None and all(
        other is not None and np.array_equal(first, other) for other in arrivals[1:]
    )
    if same or figure.error is None:
        return (0.0,) * len(audits)
    return tuple(figure.error(audit) or 0.0 for audit in audits)


def _judged(
    figure: AuditFigure,
    figures: list[Interval | None],
    errors: tuple[float, ...],
    called: tuple[str, ...],
) -> tuple[int | None, str]:
    """The best one if it is sure, and that in words."""
    known = [each for each in figures if each is not None]
    if len(known) < len(figures):
        return None, "not known for all"
    if _same(known):
        return None, "no difference"
    better = figure.better
    first = _best(better, known)
    others = [k for k in range(len(known)) if k != first]
    close = [called[k] for k in others if not _beats(better, known[first], known[k])]
    if close:
        return None, f"no sure difference between {called[first]} and {', '.join(close)}"
    by_chance = [
        called[k]
        for k in others
        if not _beats(
            better, known[first], known[k], _ERRORS * math.hypot(errors[first], errors[k])
        )
    ]
    if by_chance:
        return None, f"{_BY_CHANCE}: {called[first]} and {', '.join(by_chance)}"
    # A title has its unit, but for the sign of shares and seconds.
    unit = figure.unit if figure.unit in ("share", "seconds") else ""
    shown = [figure_text(each, unit, confidence=1.0, seed=0).span for each in known]
    against = ", ".join(shown[k] for k in others)
    return first, f"{called[first]} is best: {shown[first]} against {against}"


def _best(better: str, figures: list[Interval]) -> int:
    values = [figure.value if better == "higher" else -figure.value for figure in figures]
    return values.index(max(values))


def _beats(better: str, one: Interval, other: Interval, slack: float = 0.0) -> bool:
    if better == "higher":
        return one.low > other.high + slack
    return one.high < other.low - slack


def _same(figures: list[Interval]) -> bool:
    """Whether all are known exactly and agree, but for rounding."""
    first = figures[0].value
    close = 1e-9 * max(abs(first), 1e-9)
    return all(abs(end - first) <= close for one in figures for end in (one.low, one.high))


def _difference(one: Interval, other: Interval, slack: float) -> Interval:
    low, high = one.low - other.high - slack, one.high - other.low + slack
    return Interval(one.value - other.value, low, high)


def _verdict(
    rows: Sequence[ComparedFigure], audits: Sequence[Audit], called: tuple[str, ...]
) -> str:
    """The headline and its price; joint bits too where it tells nothing apart."""
    headline = _warning(audits, called) + _sentence(rows[0], called)
    joint = next(row for row in rows if row.name == "bits")
    if rows[0].best is None and joint.best is not None:
        return f"{headline}; {_sentence(joint, called)}{_price(joint, audits, called)}."
    return f"{headline}{_price(rows[0], audits, called)}."


def _warning(audits: Sequence[Audit], called: tuple[str, ...]) -> str:
    """Which of them are not about their logs, as the truth there says; nothing if all are."""
    wrong = [
        name
        for name, audit in zip(called, audits, strict=True)
        if isinstance(audit, ScoredAudit) and audit.score is not None and not audit.score.calibrated
    ]
    if not wrong:
        return ""
    law = "The law of" if len(wrong) == 1 else "The laws of"
    verb, whose = ("does", "its") if len(wrong) == 1 else ("do", "their")
    return (
        f"{law} {' and '.join(wrong)} {verb} not agree with the ground truth in {whose} log, so "
        "the figures do not describe these systems. "
    )


def _price(row: ComparedFigure, audits: Sequence[Audit], called: tuple[str, ...]) -> str:
    """What the best one pays for being so, beside the next best: in delay and in packets."""
    if row.best is None:
        return ""
    others = [k for k in range(len(called)) if k != row.best]
    known = [each.value if each is not None else 0.0 for each in row.figures]
    second = max(others, key=lambda k: known[k] if row.better == "higher" else -known[k])
    paid, saved = audits[row.best].cost, audits[second].cost
    if not isinstance(paid, MixCost) or not isinstance(saved, MixCost):
        return ""
    prices = [
        _times(paid.mean_delay, saved.mean_delay, "the mean delay"),
        _times(paid.packets, saved.packets, "the packets"),
    ]
    told = " and ".join(filter(None, prices))
    beside = f" of {called[second]}" if len(called) > 2 else ""
    return f", for {told}{beside}" if told else ""


def _times(one: float | None, other: float | None, what: str) -> str:
    """A price as a multiple of another; nothing if one of them is not known."""
    if not one or not other:
        return ""
    ratio = one / other
    if abs(ratio - 1.0) < _SAME_PRICE:
        return "the same" + what.removeprefix("the")
    if abs(ratio - 2.0) < _SAME_PRICE:
        return f"twice {what}"
    return f"{amount(ratio)} times {what}" if ratio > 1.0 else f"{percent(ratio)} of {what}"


def _sentence(row: ComparedFigure, called: tuple[str, ...]) -> str:
    if row.best is not None:
        more = "more" if len(called) == 2 else "the most"
        return row.judgement.replace("is best", f"has {more} {row.title}", 1)
    if row.judgement == "no difference":
        return f"All have the same {row.title}"
    if row.judgement.startswith(_BY_CHANCE):
        return f"The difference in {row.title} is within the sampling error of the traffic"
    return f"Intervals overlap: no difference in {row.title} can be claimed"

"""Charts of rounds: how anonymity falls, and how often guesses are right."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from anonymatch.disclosure.result import Disclosure
from anonymatch.disclosure.wording import bits_about, rounds_text
from anonymatch.reporting.charts import AnyChart, Line, Rule, line_chart

__all__ = ["bits_chart", "disclosure_charts", "guess_chart"]


def disclosure_charts(disclosure: Disclosure) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this disclosure has, by name.

    Examples
    --------
    >>> import anonymatch as am
    >>> found = am.rounds(am.disclosure.synthesize_rounds(40, users=12, friends=2, batch=4, seed=1))
    >>> list(disclosure_charts(found))
    ['bits', 'guesses']
    """
    charts: dict[str, Callable[[], AnyChart]] = {}
    if any(point.bits is not None for point in disclosure.curve):
        charts["bits"] = partial(bits_chart, disclosure)
    if any(point.right or point.believed for point in disclosure.curve):
        charts["guesses"] = partial(guess_chart, disclosure)
    return charts


def bits_chart(disclosure: Disclosure, *, chosen: int | None = None) -> AnyChart:
    """Bits by rounds seen with their interval; the half-life is marked, and ``chosen`` rounds."""
    return _decay(
        disclosure,
        [_line(disclosure, "bits")],
        title="Bits by rounds seen",
        y_label=f"bits about {bits_about(disclosure)}",
        chosen=chosen,
    )


def guess_chart(disclosure: Disclosure, *, chosen: int | None = None) -> AnyChart:
    """Share of best guesses that are right, and what the attacker believes it to be."""
    lines = [_line(disclosure, name) for name in ("right", "believed")]
    return _decay(
        disclosure,
        [line for line in lines if line.x],
        title="Guesses by rounds seen",
        y_label="best guesses",
        chosen=chosen,
        share=True,
    )


def _line(disclosure: Disclosure, figure: str) -> Line:
    known = [
        (point.rounds, value)
        for point in disclosure.curve
        if (value := getattr(point, figure)) is not None
    ]
    ends = ([getattr(value, end) for _, value in known] for end in ("value", "low", "high"))
    return Line(figure, [rounds for rounds, _ in known], *ends)


def _decay(
    disclosure: Disclosure,
    lines: list[Line],
    *,
    title: str,
    y_label: str,
    chosen: int | None,
    share: bool = False,
) -> AnyChart:
    rounds = [x for line in lines for x in line.x]
    rules = []
    half = disclosure.half_life
    if half is not None and min(rounds) <= half <= max(rounds):
        rules.append(Rule(f"half-life {rounds_text(half)}", x=half))
    if chosen is not None:
        rules.append(Rule(f"after {chosen}", x=chosen, plain=True))
    return line_chart(
        lines,
        title=title,
        x_label="rounds seen",
        y_label=y_label,
        log_x=min(rounds) > 0,
        zero=True,
        share=share,
        rules=rules,
    )

"""How anonymity falls with the rounds that are seen, as a section of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anonymatch.base.interval import Interval
from anonymatch.base.numbers import amount, percent, shown, span
from anonymatch.disclosure import Disclosure, bits_about, disclosure_charts
from anonymatch.reporting.charts import embedded
from anonymatch.reporting.html.document import Section, panel_section
from anonymatch.reporting.html.round_pictures import method_words
from anonymatch.reporting.html.tables import HtmlTable
from anonymatch.reporting.html.user_table import number_cell
from anonymatch.reporting.paper_panels import Panel

__all__ = ["decay_section", "numbers_table"]


def decay_section(disclosure: Disclosure | None) -> Section | None:
    """The curve, as a picture and in numbers; None where there is none."""
    if disclosure is None or not disclosure.curve:
        return None
    several = len(disclosure.curve) > 1
    charts = disclosure_charts(disclosure) if several else {}
    panels = []
    words = method_words(disclosure)
    if "bits" in charts:
        marked = "" if disclosure.half_life is None else " Half of the first is left at the mark."
        panels.append(
            Panel(
                embedded(charts["bits"](), "bits"),
                f"What is unknown of {bits_about(disclosure)}, by {words.each} that were seen: "
                f"lower is worse.{marked} The band is what draws leave open (95 %); other logs of "
                "such users differ by more.",
            )
        )
    if "guesses" in charts:
        panels.append(
            Panel(
                embedded(charts["guesses"](), "guesses"),
                f"How often {words.guess}: what the attacker believes and, where the truth is "
                "known, what is right. Higher is worse; where both are known they should meet.",
            )
        )
    heads = ("rounds", "bits", "right", "believed")
    rows = [
        (
            shown(point.rounds),
            _span(point.bits, amount),
            _span(point.right, percent),
            _span(point.believed, percent),
        )
        for point in disclosure.curve
    ]
    return panel_section(
        "decay",
        "How it falls with the rounds",
        panels,
        tables=[("By rounds seen", numbers_table(heads, rows))],
    )


def _span(interval: Interval | None, write: Callable[[float], str]) -> str:
    if interval is None:
        return "–"
    ends = span(interval.value, interval.low, interval.high, write)
    middle = write(interval.value)
    return middle if ends == middle else f"{middle} ({ends})"


def numbers_table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> HtmlTable:
    """A table whose cells are numbers that are written already."""
    cells = tuple(tuple(number_cell(text) for text in row) for row in rows)
    return HtmlTable(tuple(number_cell(name) for name in heads), cells, "")

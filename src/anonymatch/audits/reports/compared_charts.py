"""Charts of a comparison: price against bits, differences, and every figure as bars."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from anonymatch.audits.figures import FIGURES
from anonymatch.audits.wording import figure_text
from anonymatch.mixes import MessageAudit
from anonymatch.reporting.charts import (
    AnyChart,
    Difference,
    Line,
    SystemPoint,
    difference_chart,
    interval_bars,
    line_chart,
    point_chart,
)

if TYPE_CHECKING:
    from anonymatch.audits.comparing import ComparedFigure, Comparison

__all__ = ["comparison_charts"]

_SHARES = (0.0, 0.005, 0.01, *(k / 40 for k in range(1, 41)))  # from the worst of all


def comparison_charts(comparison: Comparison) -> dict[str, Callable[[], AnyChart]]:
    """What makes each chart that this comparison has, by name; figures are there by their keys.

    Examples
    --------
    >>> import anonymatch as am
    >>> pair = am.compare([am.audit(am.complete(3)), am.audit(am.ring(3, 2))], ["all", "ring"])
    >>> list(comparison_charts(pair))[:3]
    ['cost', 'difference', 'spread']
    """
    charts: dict[str, Callable[[], AnyChart]] = {}
    if _price(comparison) is not None:
        charts["cost"] = partial(_cost, comparison)
    if _differences(comparison):
        charts["difference"] = partial(_difference, comparison)
    charts["spread"] = partial(_spread, comparison)
    charts |= {row.name: partial(_bars, comparison, row) for row in comparison.rows}
    return charts


def _price(comparison: Comparison) -> ComparedFigure | None:
    """What all pay: delay if it is known of all, else candidates."""
    rows = {row.name: row for row in comparison.rows}
    for name in ("mean_delay", "candidates"):
        row = rows.get(name)
        if row is not None and all(each is not None for each in row.figures):
            return row
    return None


def _cost(comparison: Comparison) -> AnyChart:
    price, worth = _price(comparison), comparison.rows[0]
    assert price is not None
    points = []
    for name, audit, paid, bits in zip(
        comparison.names, comparison.audits, price.figures, worth.figures, strict=True
    ):
        if bits is not None and paid is not None:
            packets = audit.cost.packets if isinstance(audit, MessageAudit) else None
            points.append(SystemPoint(name, paid.value, bits.value, bits.low, bits.high, packets))
    unit = ", s" if price.name == "mean_delay" else ""
    return point_chart(
        points,
        title="Price against anonymity",
        x_label=f"{price.title}{unit}",
        y_label=f"{worth.title}, bits",
        size_label="packets a message" if price.name == "mean_delay" else "",
    )


def _spread(comparison: Comparison) -> AnyChart:
    """What share of the users has no more entropy than this: a line a system."""
    words = comparison.audits[0].observation.nouns
    lines = []
    for name, audit in zip(comparison.names, comparison.audits, strict=True):
        known = [(share, audit.entropy_quantile(share)) for share in _SHARES]
        drawn = [(share, each.value) for share, each in known if each is not None]
        lines.append(Line(name, [bits for _, bits in drawn], [share for share, _ in drawn]))
    return line_chart(
        lines,
        title=f"How entropy is spread over {words.users}",
        x_label="entropy, bits",
        y_label=f"{words.users} with no more",
        share=True,
        zero=True,
    )


def _differences(comparison: Comparison) -> list[Difference]:
    return [
        Difference(row.title, name, difference.value, difference.low, difference.high)
        for row in comparison.rows
        if FIGURES[row.name].unit == "bits" and row.better == "higher"
        for name, difference in zip(comparison.names[1:], row.differences, strict=True)
        if difference is not None
    ]


def _difference(comparison: Comparison) -> AnyChart:
    first = comparison.names[0]
    return difference_chart(
        _differences(comparison),
        title=f"More or less than {first}",
        x_label=f"bits more than {first}",
    )


def _bars(comparison: Comparison, row: ComparedFigure) -> AnyChart:
    known = FIGURES[row.name]
    unit = known.unit if known.unit in ("share", "seconds") else ""
    texts = [
        "not known" if each is None else figure_text(each, unit, confidence=1.0, seed=0).value
        for each in row.figures
    ]
    values = [None if each is None else (each.value, each.low, each.high) for each in row.figures]
    return interval_bars(comparison.names, values, texts, title=row.title)

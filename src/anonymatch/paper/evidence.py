"""Making evidence: tables, curves and values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from anonymatch.graph import Graph
from anonymatch.paper.claim import Evidence

__all__ = ["curves", "drawn", "plain", "table", "values"]

_LARGEST = 2**53  # whole numbers beyond it are not safe in JSON


def plain(value: Any) -> Any:
    """The value as JSON holds it: fractions and huge integers as texts, infinity as nothing.

    Examples
    --------
    >>> plain(Fraction(25, 7)), plain(2**64), plain(math.inf), plain((1, True))
    ('25/7', '18446744073709551616', None, [1, True])
    """
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, Integral):
        return int(value) if abs(int(value)) <= _LARGEST else str(int(value))
    if isinstance(value, Fraction):
        return plain(value.numerator) if value.denominator == 1 else str(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, Iterable):
        return [plain(entry) for entry in value]
    return str(value)


def table(text: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Evidence:
    """Rows of numbers under names."""
    return Evidence(text, {"columns": list(columns), "rows": plain(rows)})


def curves(
    text: str, x: str, y: str, series: Mapping[str, tuple[Sequence[Any], Sequence[Any]]]
) -> Evidence:
    """Curves for a figure, with what the axes mean."""
    lines = [{"name": name, "x": plain(xs), "y": plain(ys)} for name, (xs, ys) in series.items()]
    return Evidence(text, {"x": x, "y": y, "series": lines})


def values(text: str, **named: Any) -> Evidence:
    """Single values by name."""
    return Evidence(text, plain(named))


def drawn(text: str, graph: Graph, **named: Any) -> Evidence:
    """A graph, and values that belong to it."""
    return Evidence(text, {"graph": graph.to_rows(), **plain(named)})

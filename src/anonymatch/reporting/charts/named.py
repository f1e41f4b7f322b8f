"""Charts by their names: what ``result.chart(name)`` looks up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anonymatch.base.errors import InputError
from anonymatch.reporting.charts.theme import AnyChart

__all__ = ["named_chart"]


def named_chart(makers: Mapping[str, Callable[[], AnyChart]], name: str, noun: str) -> AnyChart:
    """The chart of that name; ``makers`` holds those that the result has.

    Examples
    --------
    >>> named_chart({"bits": lambda: None}, "bit", "an attack")
    Traceback (most recent call last):
        ...
    anonymatch.InputError: an attack has no chart 'bit'; it has 'bits'
    """
    if not isinstance(name, str) or name not in makers:
        known = ", ".join(map(repr, makers)) or "none"
        raise InputError(f"{noun} has no chart {name!r}; it has {known}")
    return makers[name]()

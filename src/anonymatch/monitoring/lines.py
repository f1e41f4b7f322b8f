"""Gauges as lines of JSON: {"time": 30, "mix": "m1", "inside": 4}, and "rate" if it is known."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO

from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted
from anonymatch.monitoring.figures import Window
from anonymatch.monitoring.windows import Gauge, Windows

__all__ = ["reports_of_lines"]

_LONGEST_LINE = 10_000  # bytes
_LONGEST_NAME = 200
_NEEDED = ("time", "mix", "inside")
_KEYS = (*_NEEDED, "rate")


def reports_of_lines(stream: BinaryIO, windows: Windows) -> Iterator[Window]:
    """A report at the end of each window; time is what the lines say.

    Raises
    ------
    InputError
        If a line cannot be read, or all of them are too few for one window.
    """
    begin = end = math.nan
    told = 0
    for number, gauge in _gauges(stream):
        if math.isnan(begin):
            begin = gauge.time
        if gauge.time >= begin + windows.every:
            told += 1
            # The window ends with the line that is beyond it: none is cut short.
            yield windows.close(gauge.time)
            begin = gauge.time
        if gauge.time < begin:
            raise InputError(
                f"line {number}: time {gauge.time:.15g} is of a window that ended at "
                f"{begin:.15g}; sort the lines by time"
            )
        try:
            windows.add(gauge, begin)
        except InputError as error:
            raise InputError(f"line {number}: ", error.message) from None
        end = gauge.time if math.isnan(end) else max(end, gauge.time)
    if math.isnan(begin):
        raise InputError(
            'standard input has no lines; give {"time": 30, "mix": "m1", "inside": 4} and so on'
        )
    if not told:
        raise InputError(
            f"the lines are of {end - begin:g} s, and figures are told from {windows.every:g} s on"
        )


def _gauges(stream: BinaryIO) -> Iterator[tuple[int, Gauge]]:
    number = 0
    while line := stream.readline(_LONGEST_LINE + 1):
        number += 1
        if len(line) > _LONGEST_LINE:
            raise InputError(f"line {number}: more than {_LONGEST_LINE:,} bytes; a gauge is short")
        if line.strip():
            yield number, _gauge(line, number)


def _gauge(line: bytes, number: int) -> Gauge:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        text = quoted(line.decode("utf-8", "replace").strip())
        raise InputError(
            f'line {number}: {text} is no JSON; give {{"time": 30, "mix": "m1", "inside": 4}}'
        ) from None
    if not isinstance(given, dict):
        raise InputError(f"line {number}: give an object with {', '.join(_NEEDED)}")
    for key in _NEEDED:
        if key not in given:
            raise InputError(f"line {number}: there is no {key!r}; give {', '.join(_NEEDED)}")
    for key in given:
        if key not in _KEYS:
            raise InputError(
                f"line {number}: {quoted(key)} is not read; give {', '.join(_NEEDED)}, and rate "
                "if it is known: nothing about single packets or users"
            )
    mix = given["mix"]
    if not isinstance(mix, str) or not 0 < len(mix) <= _LONGEST_NAME:
        raise InputError(
            f"line {number}: mix must be a name of 1 to {_LONGEST_NAME} letters, not {quoted(mix)}"
        )
    rate = None if given.get("rate") is None else _number(given, "rate", number)
    inside = _number(given, "inside", number)
    return Gauge(_number(given, "time", number, least=-math.inf), mix, inside, rate)


def _number(given: dict[str, Any], key: str, line: int, least: float = 0.0) -> float:
    value = given[key]
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not least <= value <= 1e15 or value < -1e15:
        span = "" if math.isinf(least) else " from 0"
        raise InputError(f"line {line}: {key} must be a number{span}, not {quoted(value)}")
    return float(value)

"""Cells of a released table, and which values lie in them.

=====================  =======================================================================
``*`` or empty         any value
``20-29``              numbers from 20 to 29, both included
``[20,30)``            numbers from 20 to below 30; ``(`` and ``)`` leave their end out
``<30 <=30 >30 >=30``  numbers below or above
``{a,b}``              one of these, each compared as it stands
``123**``              text that begins with 123, however long
anything else          itself; 20 and 20.0 are the same number, 007 is text
=====================  =======================================================================

Text that equals the cell as it stands lies in it always, so that ``555-1234`` may be a name of its
own. Spaces at both ends do not count. An empty value is one that the attacker does not know: it
lies in every cell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from anonymatch.base.arrays import Bools

__all__ = ["fits", "is_plain", "spelling"]

_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)
_BETWEEN = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})", re.ASCII)
_INTERVAL = re.compile(rf"([\[(])\s*({_NUMBER})\s*[,;]\s*({_NUMBER})\s*([\])])", re.ASCII)
_SIDED = re.compile(rf"(<=|>=|<|>)\s*({_NUMBER})", re.ASCII)


def spelling(text: str | None) -> str:
    """A value or a cell in one spelling: 20, 20.0 and " 20" become 20; nothing becomes empty.

    Examples
    --------
    >>> spelling(" 20.50"), spelling("007"), spelling(None)
    ('20.5', '007', '')
    """
    if text is None:
        return ""
    bare = text.strip()
    if not _PLAIN_NUMBER.fullmatch(bare):
        return bare
    whole, _, decimals = bare.partition(".")
    decimals = decimals.rstrip("0")
    if whole == "-0" and not decimals:
        whole = "0"
    return f"{whole}.{decimals}" if decimals else whole


def is_plain(cell: str) -> bool:
    """Whether only values that equal the cell lie in it; it is spelled by :func:`spelling`."""
    return bool(cell) and not (
        cell.endswith("*") or (cell[0] == "{" and cell[-1] == "}") or _bounds(cell) is not None
    )


def fits(values: Sequence[str], cells: Sequence[str]) -> Bools:
    """Value by cell, whether the value lies in the cell; both spelled by :func:`spelling`.

    Examples
    --------
    >>> fits(["23", "30", ""], ["20-29", "[20,30)", "*", "{30,40}", "2*", "30"]).astype(int)
    array([[1, 1, 1, 0, 1, 0],
           [0, 0, 1, 1, 0, 1],
           [1, 1, 1, 1, 1, 1]])
    """
    position = {value: at for at, value in enumerate(values)}
    numbers = np.array([_number(value) for value in values])
    texts = np.array(values, dtype=np.dtypes.StringDType())
    table = np.zeros((len(values), len(cells)), dtype=np.bool_)
    for column, cell in enumerate(cells):
        within = table[:, column]
        if is_plain(cell):
            pass
        elif not cell.rstrip("*"):
            within[:] = True
        elif (bounds := _bounds(cell)) is not None:
            low, high, with_low, with_high = bounds
            within |= (numbers >= low) if with_low else (numbers > low)
            within &= (numbers <= high) if with_high else (numbers < high)
        elif cell.endswith("*"):
            within |= np.strings.startswith(texts, cell.rstrip("*"))
        else:
            for member in cell[1:-1].split(","):
                within[position.get(spelling(member), [])] = True
        within[position.get(cell, [])] = True
    if "" in position:
        table[position[""]] = True
    return table


def _number(text: str) -> float:
    """A number, or NaN, which lies in no range."""
    return float(text) if re.fullmatch(_NUMBER, text, re.ASCII) else math.nan


def _bounds(cell: str) -> tuple[float, float, bool, bool] | None:
    """Low, high, and whether each belongs to it, if the cell is a range that is not empty."""
    if match := _BETWEEN.fullmatch(cell):
        low, high = float(match[1]), float(match[2])
        return (low, high, True, True) if low <= high else None
    if match := _INTERVAL.fullmatch(cell):
        low, high = float(match[2]), float(match[3])
        return (low, high, match[1] == "[", match[4] == "]") if low <= high else None
    if match := _SIDED.fullmatch(cell):
        edge, closed = float(match[2]), match[1].endswith("=")
        if cell[0] == "<":
            return -math.inf, edge, True, closed
        return edge, math.inf, closed, True
    return None

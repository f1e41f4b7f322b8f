"""Cells of a released table, and which values lie in them.

==============================  ==============================================================
``*``  ``NA``  ``?``  ``Any``   any value; so is an empty cell, and one of stars only; ``NA``, ``?``
                                and the like are values if the original table has them
``20-29``  ``20 to 29``         numbers from 20 to 29, both included; any dash will do
``[20,30)``  ``]20,30]``        numbers from 20 to below 30, from above 20 to 30
``20+``  ``<30``  ``>=30``      numbers above or below; ``20 and over``, ``under 30`` likewise
``20±2``                        numbers from 18 to 22
``{a,b}``  ``a|b``              one of these
``123**``  ``1**45``            as many characters as the cell has, each ``*`` for one of them
``Sm…``  ``Sm...``              text that begins so, however long
``1995``  ``1995-03``           dates of that year, of that month
``1995-1999``  ``1990s``        dates of those years
``2020-01-05 to 2020-01-31``    dates from one to the other, both included
anything else                   itself; 20 and 20.0 are the same number, 007 is text
==============================  ==============================================================

Text that equals the cell as it stands lies in it always, so that ``555-1234`` may be a name of its
own. Spaces at both ends do not count. A value that is empty is one that the attacker does not know:
it lies in every cell.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anonymatch.base.arrays import Bools, Floats
from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.tabular import Source, reading

ANY = frozenset({"", "*", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "NULL", "null", "Any",
                 "any", "ANY"})  # fmt: skip
"""Cells that say nothing, and values that nobody knows."""

_MOST_BYTES = 200_000_000  # of a hierarchy
_SEPARATORS = ";\t,"
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?"
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)
_DASH = "[-‐‑‒–—−]"
_TO = rf"\s*(?:{_DASH}|\bto\b|\.\.\.?)\s*"
_END = rf"(?:{_NUMBER}|[-+]?(?:∞|inf(?:inity)?)|)"
_BETWEEN = re.compile(rf"({_NUMBER}){_TO}({_NUMBER})", re.IGNORECASE)
_INTERVAL = re.compile(
    rf"([\[(\]])\s*({_END})\s*[,;]\s*({_END})\s*([\])\[])", re.ASCII | re.IGNORECASE
)
_BELOW = re.compile(
    rf"(<=|≤|<|under|below|up\s+to)\s*({_NUMBER})|({_NUMBER})\s+(?:or|and)\s+(?:less|under|below|fewer)",
    re.IGNORECASE,
)
_ABOVE = re.compile(
    rf"(>=|≥|>|over|above|from)\s*({_NUMBER})"
    rf"|({_NUMBER})\s*(?:\+|\s(?:or|and)\s+(?:more|over|above|older|up))",
    re.IGNORECASE,
)
_NEAR = re.compile(rf"({_NUMBER})\s*(?:±|\+/-|\+-)\s*({_NUMBER})", re.ASCII)
_CLOSED = {"<=", "≤", ">=", "≥", "from", "up to"}
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?", re.ASCII)
_MOMENT = r"\d{4}(?:-\d{2}(?:-\d{2})?)?"
_PERIOD = re.compile(rf"({_MOMENT})(?:\s*(?:{_DASH}|\bto\b|\.\.|/)\s*({_MOMENT}))?", re.IGNORECASE)
_DECADE = re.compile(r"(\d{3}0)'?s", re.ASCII)


def spelling(text: str | None, unknown: frozenset[str] = ANY) -> str:
    """A value or a cell in one spelling: 20, 20.0 and " 20" become 20; nothing becomes empty.

    ``unknown``: texts that mean nothing, beside those of stars only.

    Examples
    --------
    >>> spelling(" 20.50"), spelling("007"), spelling(None), spelling("NA")
    ('20.5', '007', '', '')
    """
    bare = "" if text is None else text.strip()
    if bare in unknown or not bare.strip("*"):
        return ""
    if not _PLAIN_NUMBER.fullmatch(bare):
        return bare
    whole, _, decimals = bare.partition(".")
    decimals = decimals.rstrip("0")
    if whole == "-0" and not decimals:
        whole = "0"
    return f"{whole}.{decimals}" if decimals else whole


def is_plain(cell: str, *, dates: bool = True) -> bool:
    """Whether only values that equal the cell lie in it; it is spelled by :func:`spelling`.

    ``dates``: whether values may be dates, of which a year is a part.

    Examples
    --------
    >>> is_plain("flu"), is_plain("20-29"), is_plain("1995"), is_plain("1995", dates=False)
    (True, False, False, True)
    """
    return (
        bool(cell)
        and not any(
            rule is not None
            for rule in (_members(cell), _pattern(cell), _bounds(cell), _beginning(cell))
        )
        and not (dates and _days(cell) is not None)
    )


@dataclass(frozen=True, eq=False)
class CellValues:
    """Values in every form that cells are compared with, each made when first needed."""

    texts: Sequence[str]

    def within(self, cell: str) -> Bools:
        """Which of them lie in a cell."""
        if not cell:
            return np.ones(len(self.texts), dtype=np.bool_)
        held = np.zeros(len(self.texts), dtype=np.bool_)
        for rule in _RULES:
            rule(cell, self, held)
        held[self.position.get(cell, [])] = True
        held[self.position.get("", [])] = True
        return held

    @cached_property
    def position(self) -> dict[str, int]:
        return {value: at for at, value in enumerate(self.texts)}

    @cached_property
    def strings(self) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return np.array(self.texts, dtype=np.str_)

    @cached_property
    def numbers(self) -> Floats:
        return np.array([_number(value) for value in self.texts])

    @cached_property
    def days(self) -> Floats:
        """Days since some beginning, NaN of what is no date."""
        return np.array([_day(value) for value in self.texts])


def fits(values: Sequence[str], cells: Sequence[str]) -> Bools:
    """Value by cell, whether the value lies in the cell; both spelled by :func:`spelling`.

    Values are different from each other.

    Examples
    --------
    >>> fits(["23", "30", ""], ["20-29", "[20,30)", "", "{30,40}", "2*", "30"]).astype(int)
    array([[1, 1, 1, 0, 1, 0],
           [0, 0, 1, 1, 0, 1],
           [1, 1, 1, 1, 1, 1]])
    """
    given = CellValues(values)
    table = np.zeros((len(values), len(cells)), dtype=np.bool_)
    for column, cell in enumerate(cells):
        table[:, column] = given.within(cell)
    return table


def wider(one: str, other: str) -> str | None:
    """A cell that holds both: a range of numbers, a pattern, or a set; None if none is simple.

    Examples
    --------
    >>> wider("20-29", "[25,40)"), wider("102*", "1015"), wider("flu", "{cold,hiv}"), wider("a", "")
    ('[20,40)', '10**', '{cold,flu,hiv}', '')
    """
    if one == other or not one or not other:
        return one if one == other else ""
    ranges = [_bounds(cell) or _point(cell) for cell in (one, other)]
    if ranges[0] is not None and ranges[1] is not None:
        return _range(ranges[0], ranges[1])
    if len(one) == len(other) and not any(character in one + other for character in "{}|"):
        pattern = _shared(one, other)
        if "*" in one + other or pattern[0] != "*":
            return pattern if pattern.strip("*") else ""
    members = {text.strip() for cell in (one, other) for text in _members(cell) or [cell]}
    simple = not any(character in text for text in members for character in ",;|{}*")
    return "{" + ",".join(sorted(members)) + "}" if simple else None


def _shared(one: str, other: str) -> str:
    """Stars where two cells of one length differ, and from there on if both have stars last alone:
    what follows in a code means something only after what comes before.

    Examples
    --------
    >>> _shared("10200", "11210"), _shared("102**", "112**"), _shared("1**45", "1*345")
    ('1****', '1****', '1**45')
    """
    pattern = "".join(a if a == b else "*" for a, b in zip(one, other, strict=True))
    if "*" in one.rstrip("*") or "*" in other.rstrip("*"):
        return pattern
    return pattern.partition("*")[0].ljust(len(one), "*")


def _point(cell: str) -> tuple[float, float, bool, bool] | None:
    """A number as a range; 007 is text."""
    number = _number(cell) if _PLAIN_NUMBER.fullmatch(cell) else math.nan
    return None if math.isnan(number) else (number, number, True, True)


def _range(one: tuple[float, float, bool, bool], other: tuple[float, float, bool, bool]) -> str:
    """From the lower beginning to the higher end, as cells write it."""
    low, with_low = min((one[0], not one[2]), (other[0], not other[2]))
    high, with_high = max((one[1], one[3]), (other[1], other[3]))
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(low):
        return f"{'<=' if with_high else '<'}{_digits(high)}"
    if math.isinf(high):
        return f"{'>' if with_low else '>='}{_digits(low)}"
    if not with_low and with_high:
        return f"{_digits(low)}-{_digits(high)}"
    return f"{'(' if with_low else '['}{_digits(low)},{_digits(high)}{']' if with_high else ')'}"


def _digits(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


# ---- rules: each adds the values that lie in a cell, if the cell is one of its kind


def _in_members(cell: str, values: CellValues, within: Bools) -> None:
    for member in _members(cell) or ():
        for spelled in (member.strip(), spelling(member)):  # ? may be a value
            within[values.position.get(spelled, [])] = True


def _in_pattern(cell: str, values: CellValues, within: Bools) -> None:
    pattern = _pattern(cell)
    if pattern is None:
        return
    strings = values.strings
    characters = strings.view("U1").reshape(len(strings), -1) if strings.itemsize else None
    if characters is None or characters.shape[1] < len(pattern):
        return
    fit = np.strings.str_len(strings) == len(pattern)
    for at, character in enumerate(pattern):
        if character != "*":
            fit &= characters[:, at] == character
    within |= fit


def _in_beginning(cell: str, values: CellValues, within: Bools) -> None:
    beginning = _beginning(cell)
    if beginning is not None:
        within |= np.strings.startswith(values.strings, beginning)


def _in_range(cell: str, values: CellValues, within: Bools) -> None:
    bounds = _bounds(cell)
    if bounds is None:
        return
    low, high, with_low, with_high = bounds
    numbers = values.numbers
    fit = (numbers >= low) if with_low else (numbers > low)
    fit &= (numbers <= high) if with_high else (numbers < high)
    within |= fit


def _in_period(cell: str, values: CellValues, within: Bools) -> None:
    days = _days(cell)
    if days is not None:
        within |= (values.days >= days[0]) & (values.days <= days[1])


_RULES: tuple[Callable[[str, CellValues, Bools], None], ...] = (
    _in_members,
    _in_pattern,
    _in_beginning,
    _in_range,
    _in_period,
)


# ---- what a cell says


def _members(cell: str) -> list[str] | None:
    """Of a set."""
    if cell[0] == "{" and cell[-1] == "}":
        return re.split(r"[,;|]", cell[1:-1])
    return cell.split("|") if "|" in cell else None


def _pattern(cell: str) -> str | None:
    """Text in which stars stand for one character each."""
    return cell if "*" in cell and cell.strip("*") and _members(cell) is None else None


def _beginning(cell: str) -> str | None:
    """Of text of any length."""
    for end in ("…", "..."):
        if cell.endswith(end) and len(cell) > len(end):
            return cell.removesuffix(end)
    return None


def _bounds(cell: str) -> tuple[float, float, bool, bool] | None:
    """Low, high, and whether each belongs to it, if the cell is a range that is not empty."""
    if match := _BETWEEN.fullmatch(cell):
        return _ordered(float(match[1]), float(match[2]))
    if match := _INTERVAL.fullmatch(cell):
        low, high = _end(match[2], -math.inf), _end(match[3], math.inf)
        # A bracket that looks away leaves its end out: ]20,30] is (20,30].
        return _ordered(low, high, match[1] == "[", match[4] == "]")
    if match := _NEAR.fullmatch(cell):
        middle, width = float(match[1]), abs(float(match[2]))
        return _ordered(middle - width, middle + width)
    if match := _BELOW.fullmatch(cell):
        closed = match[1] is None or " ".join(match[1].lower().split()) in _CLOSED
        return -math.inf, float(match[2] or match[3]), True, closed
    if match := _ABOVE.fullmatch(cell):
        closed = match[1] is None or match[1].lower() in _CLOSED
        return float(match[2] or match[3]), math.inf, closed, True
    return None


def _ordered(
    low: float, high: float, with_low: bool = True, with_high: bool = True
) -> tuple[float, float, bool, bool] | None:
    return (low, high, with_low, with_high) if low <= high else None


def _end(text: str, missing: float) -> float:
    if not text:
        return missing
    return float(text.replace("∞", "inf"))


def _number(text: str) -> float:
    """A number, or NaN, which lies in no range."""
    return float(text) if re.fullmatch(_NUMBER, text, re.ASCII) else math.nan


# ---- dates: as numbers that are in the order of days, since no calendar is needed


def _day(text: str) -> float:
    match = _DAY.fullmatch(text)
    return _ordinal(*map(int, match.groups())) if match else math.nan


def _days(cell: str) -> tuple[float, float] | None:
    """The first and the last day of a year, a month, a day, or from one such to another."""
    if match := _DECADE.fullmatch(cell):
        year = int(match[1])
        return _ordinal(year, 0, 0), _ordinal(year + 9, 99, 99)
    match = _PERIOD.fullmatch(cell)
    if match is None:
        return None
    begin, end = match[1], match[2] or match[1]
    first, last = _ordinal(*_filled(begin, 0)), _ordinal(*_filled(end, 99))
    return (first, last) if first <= last else None


def _filled(moment: str, missing: int) -> tuple[int, int, int]:
    year, month, day = [*map(int, moment.split("-")), missing, missing][:3]
    return year, month, day


def _ordinal(year: int, month: int, day: int) -> float:
    return float(10_000 * year + 100 * month + day)


# ---- hierarchies of generalisation


def read_hierarchy(
    path: str | os.PathLike[str], unknown: frozenset[str] = ANY
) -> Mapping[str, frozenset[str]]:
    r"""What each value may have become, as ARX writes it; ``unknown`` are texts that mean no value.

    A row a value and what it becomes level by level, fields between semicolons (or commas, or
    tabs), no line of names: ``10115;1011*;101**;10***;*``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder, "city.csv")
    ...     _ = place.write_text("Graz;Austria;Europe\nLima;Peru;*\n")
    ...     sorted(read_hierarchy(place)["Graz"])
    ['Austria', 'Europe', 'Graz']
    """
    file = as_path(path)
    with reading(file):
        if file.stat().st_size > _MOST_BYTES:
            raise InputError("a hierarchy of over 200 MB is too large; give values that occur")
        text = Source(file, packed=False).text()
        separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
        if '"' in text:
            from anonymatch.tabular import check_quotes  # imports polars

            check_quotes(text.encode(), separator)
        levels: dict[str, frozenset[str]] = {}
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        number, width = 1, 0
        for row in reader:
            number, begin = reader.line_num + 1, number
            if not row:
                continue
            width = width or len(row)
            if len(row) != width:
                raise InputError(
                    f"{several(len(row), 'level')}, but the first line has {width}; write one of "
                    "them twice, or * for the last"
                ).at(begin)
            value, *above = (spelling(cell, unknown) for cell in row)
            if value in levels and levels[value] != frozenset((value, *above)):
                raise InputError(f"{quoted(row[0])} is there twice; keep one").at(begin)
            levels[value] = frozenset((value, *above))
    if not levels:
        raise InputError("it has no values").about(file)
    return levels

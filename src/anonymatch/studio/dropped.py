"""Files that are dropped together: which is to be audited, and what the others are to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anonymatch.base.errors import InputError
from anonymatch.base.text import listed, quoted
from anonymatch.studio.uploads import Upload
from anonymatch.tables import released_first
from anonymatch.tabular import TIMES, header, split_suffix

__all__ = ["Dropped", "columns_of", "sort_out"]

_OUT = re.compile(r"(^|[^a-z])(out|departures?|received|receivers?|left|exits?)([^a-z]|$)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Dropped:
    """One file to audit, and those that say more about it.

    Attributes
    ----------
    file : Upload
    second : Upload or None
        Its messages out, or the table before release.
    role : {"departures", "original"}
        Which of them.
    delays : Upload or None
        Delays that were measured, for a law.
    hierarchies : dict of str to Upload
        By column: what each value may have become.
    """

    file: Upload
    second: Upload | None = None
    role: str = "departures"
    delays: Upload | None = None
    hierarchies: dict[str, Upload] = field(default_factory=dict)


def sort_out(uploads: Sequence[Upload]) -> Dropped:
    """What each of some files is; InputError where that is not clear."""
    if len(uploads) == 1:
        return Dropped(file=uploads[0])
    columns = {each.token: columns_of(each.path) for each in uploads}
    logs = [each for each in uploads if _is_log(columns[each.token])]
    rest = [each for each in uploads if each not in logs]
    delays = [each for each in rest if _is_delays(columns[each.token])] if logs else []
    rest = [each for each in rest if each not in delays]
    hierarchies = _hierarchies(rest, columns)
    tables = [each for each in rest if each not in hierarchies.values()]
    if logs and not tables and len(logs) <= 2 and len(delays) <= 1:
        ordered = sorted(logs, key=lambda each: bool(_OUT.search(each.name.lower())))
        return Dropped(
            file=ordered[0],
            second=ordered[1] if len(ordered) == 2 else None,
            delays=delays[0] if delays else None,
        )
    if not logs and len(tables) == 2:
        released, original = tables
        if not released_first(released.path, original.path):
            released, original = original, released
        return Dropped(file=released, second=original, role="original", hierarchies=hierarchies)
    if not logs and len(tables) == 1:
        return Dropped(file=tables[0], hierarchies=hierarchies)
    raise InputError(
        f"it is not clear what {listed([each.name for each in uploads])} are to each other; drop a "
        "released table with the original one and hierarchies named by their column, or a log with "
        "its messages out or measured delays"
    )


def columns_of(path: Path) -> list[str]:
    """The fields of the first line of a table; none of other files."""
    known = split_suffix(path)[0] in (".csv", ".tsv", ".txt", ".parquet")
    return (header(path) or []) if known and not path.is_dir() else []


def _is_log(columns: Sequence[str]) -> bool:
    return not {each.lower() for each in columns}.isdisjoint(TIMES)


def _is_delays(columns: Sequence[str]) -> bool:
    """Whether a file is numbers, one a line, or has a column of delays."""
    if any(each.lower() == "delay" for each in columns):
        return True
    try:
        return len(columns) == 1 and float(columns[0]) >= 0.0
    except ValueError:
        return False


def _hierarchies(uploads: Sequence[Upload], columns: dict[str, list[str]]) -> dict[str, Upload]:
    """Files without a line of names that are called as a column of another one."""
    named: dict[str, Upload] = {}
    for each in uploads:
        others = {
            column
            for other in uploads
            if other is not each
            for column in columns[other.token]
            if len(columns[other.token]) > 1
        }
        column = _called(each.name, others)
        if column is not None and column not in columns[each.token]:  # else it is a table itself
            if column in named:
                raise InputError(f"there are two hierarchies of {quoted(column)}; drop one")
            named[column] = each
    return named


def _called(name: str, columns: set[str]) -> str | None:
    """The longest column that the name of a file has as a word, such as adult_hierarchy_age.csv."""
    stem = re.sub(r"(\.[a-z0-9]{1,10}){1,2}$", "", name.lower())
    for column in sorted(columns, key=lambda each: (-len(each), each)):
        word = re.escape(column.lower())
        if column and re.search(rf"(^|[^a-z0-9]){word}([^a-z0-9]|$)", stem):
            return column
    return None

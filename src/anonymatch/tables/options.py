"""TableOptions and ImproveOptions: how a released table is understood, and what it must reach."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonymatch.base.options import from_zero, option, pairs, whole

__all__ = ["ImproveOptions", "TableOptions"]

_TABLE: dict[str, Any] = {"group": "Released table", "sources": frozenset({"released"})}


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """How a released table is to be understood.

    Attributes
    ----------
    original : path, optional
        The table before release.
    quasi_identifiers, sensitive, name, hierarchies, tolerance, missing
        As for :func:`~anonymatch.tables.reading.released.read_released`.
    """

    original: str | os.PathLike[str] | None = option(
        None,
        "Table of the people before release, one row per person.",
        metavar="PEOPLE",
        read=Path,
        **_TABLE,
    )
    quasi_identifiers: Sequence[str] | str | None = option(
        None,
        "Columns that the attacker knows, such as age,zip; may be repeated.",
        metavar="COLUMNS",
        shown="guessed",
        many=True,
        names=("quasi-identifiers", "identifiers"),
        **_TABLE,
    )
    sensitive: Sequence[str] | str | None = option(
        None,
        "Sensitive columns; may be repeated.",
        metavar="COLUMNS",
        shown="guessed",
        many=True,
        **_TABLE,
    )
    name: str | None = option(None, "Column with the names of people.", metavar="COLUMN", **_TABLE)
    hierarchies: Mapping[str, str | os.PathLike[str]] | None = option(
        None,
        "Generalisation hierarchy of a column, as an ARX CSV file; may be repeated.",
        metavar="COLUMN=FILE",
        many=True,
        join=pairs(Path),
        **_TABLE,
    )
    tolerance: Mapping[str, float] | None = option(
        None,
        "Largest difference between a released and a true number; may be repeated.",
        metavar="COLUMN=NUMBER",
        many=True,
        join=pairs(from_zero("a number")),
        **_TABLE,
    )
    missing: Sequence[str] | str | None = option(
        None,
        "Texts that mean an unknown value in both tables, such as ?,NA; may be repeated.",
        metavar="TEXTS",
        shown="?, NA, NULL and similar texts, unless the original has them as values",
        many=True,
        **_TABLE,
    )


@dataclass(frozen=True, kw_only=True)
class ImproveOptions:
    """What an improved table must reach."""

    target: Sequence[str] | None = option(
        None,
        "Value to reach, such as l-diversity=2; may be repeated.",
        metavar="MODEL=N",
        shown="k-anonymity=5",
        many=True,
        group="Targets",
    )
    suppress: int = option(
        0, "Number of rows that may be suppressed.", metavar="N", read=whole(0), group="Targets"
    )

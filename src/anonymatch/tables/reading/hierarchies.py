"""Hierarchies of generalisation, as ARX writes them: a value, and what it becomes level by level.

A row a value, fields between semicolons (or commas, or tabs), no line of names::

    10115;1011*;101**;10***;*
    10117;1011*;101**;10***;*
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping

from anonymatch.base.atomic_files import as_path
from anonymatch.base.errors import InputError
from anonymatch.base.text import quoted, several
from anonymatch.tables.reading.released_cells import ANY, spelling
from anonymatch.tabular import reading

__all__ = ["read_hierarchy"]

_MOST_BYTES = 200_000_000
_SEPARATORS = ";\t,"


def read_hierarchy(
    path: str | os.PathLike[str], unknown: frozenset[str] = ANY
) -> Mapping[str, frozenset[str]]:
    r"""What each value may have become; ``unknown`` are texts that mean no value.

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
        try:
            text = file.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            byte = f"byte {error.object[error.start]:#04x}"
            raise InputError(f"{byte} is not UTF-8; save the file as UTF-8").at(line) from None
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

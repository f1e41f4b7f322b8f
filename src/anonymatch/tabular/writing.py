"""Tables that are written, and those for people: no spreadsheet runs what is in them.

Spreadsheets run a field that begins with ``=``, ``+``, ``-`` or ``@`` (or their wide forms, or a
tab or a line end), and names in a log may come from strangers. Such a field gets an apostrophe in
front, and so does one that begins with apostrophes and then one of these: taking one apostrophe off
gives the name back. Numbers stay as they are.

Graphs and logs that are written to be read again hold every name as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from anonymatch.base.atomic_files import as_path, unfinished_stream
from anonymatch.tabular.files import SEPARATORS, suffix_of

if TYPE_CHECKING:
    import polars as pl

_FORMULA = "^'*[=+\\-@\\t\\r\\n\uff1d\uff0b\uff0d\uff20]"
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"


def plain_cell(text: str) -> str:
    """The text of one field that no spreadsheet runs.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("'=x"), plain_cell("ann"), plain_cell("-0.5")
    ("'=1+1", "''=x", 'ann', '-0.5')
    """
    runs = re.match(_FORMULA, text) and not re.fullmatch(_NUMBER[1:-1], text)
    return f"'{text}" if runs else text


def plain_table(frame: pl.DataFrame) -> pl.DataFrame:
    """The table whose columns of text no spreadsheet runs."""
    import polars as pl

    text = pl.col(pl.String)
    runs = text.str.contains(_FORMULA) & ~text.str.contains(_NUMBER)
    return frame.with_columns(pl.when(runs).then(pl.lit("'") + text).otherwise(text).name.keep())


def write_table(
    path: str | os.PathLike[str], frame: pl.DataFrame | Callable[[str], pl.DataFrame]
) -> None:
    """Write a table to a file, which appears when it is complete; its suffix tells the format.

    ``frame`` may depend on the suffix: some formats hold more than text.
    """
    target = as_path(path)
    suffix, packed = suffix_of(target)
    with unfinished_stream(target, packed=packed) as stream:
        made = frame(suffix) if callable(frame) else frame
        if suffix == ".parquet":
            made.write_parquet(stream)
        elif suffix == ".jsonl":
            made.write_ndjson(stream)
        else:
            made.write_csv(stream, separator=SEPARATORS[suffix])

"""Tables of results: polars frames that become pandas ones whether or not pyarrow is there."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

__all__ = ["Frame"]


class Frame(pl.DataFrame):
    """A polars frame; polars itself needs pyarrow to make a pandas one of it.

    Examples
    --------
    >>> Frame({"user": ["ann", "bob"], "bits": [1.0, None]}).to_pandas()["bits"].isna().tolist()
    [False, True]
    """

    def to_pandas(self, **options: Any) -> Any:
        """The same as a pandas frame: by pyarrow if that is installed, else column by column.

        Options are those of polars, which need pyarrow.

        Raises
        ------
        ModuleNotFoundError
            If pandas is not installed, or pyarrow is not and there are options; one line says what
            to install.
        """
        try:
            pandas: Any = import_module("pandas")
        except ModuleNotFoundError:
            raise _needs("pandas") from None
        if find_spec("pyarrow") is not None:
            return super().to_pandas(**options)
        if options:
            raise _needs("pyarrow")
        return pandas.DataFrame({name: _values(self[name]) for name in self.columns})


def _needs(package: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"to_pandas needs {package}: pip install {package}", name=package)


def _values(column: pl.Series) -> Any:
    """Numbers as an array; all else, and what has gaps, as a list."""
    plain = column.dtype.is_numeric() or column.dtype == pl.Boolean
    return column.to_numpy() if plain and not column.null_count() else column.to_list()

"""Logs of arrivals: the messages that a plan shall serve."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from anonymatch.base.arrays import Floats
from anonymatch.base.errors import InputError
from anonymatch.tabular import separator_in

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_arrivals"]

_LEAST = 30  # messages from which on a plan says something


def read_arrivals(path: Path) -> Floats:
    """Times of a table with a column ``time``, in order."""
    import polars as pl

    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    try:
        frame = pl.read_parquet(path) if path.suffix == ".parquet" else _text(path)
    except (pl.exceptions.PolarsError, OSError) as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{path}: cannot be read as a table: {first}") from None
    if "time" not in frame.columns:
        columns = ", ".join(frame.columns[:10])
        raise InputError(f"{path}: arrivals need a column time; there are {columns}")
    if "direction" in frame.columns:
        frame = frame.filter(pl.col("direction") == "in")
    try:
        times = np.sort(frame["time"].cast(pl.Float64).to_numpy())
    except pl.exceptions.PolarsError:
        raise InputError(f"{path}: column time must be numbers, in seconds") from None
    if len(times) < _LEAST or not np.isfinite(times).all() or times[-1] <= times[0]:
        raise InputError(
            f"{path}: a plan needs at least {_LEAST} arrivals at different times, all of them "
            "numbers"
        )
    return np.ascontiguousarray(times)


def _text(path: Path) -> pl.DataFrame:
    import polars as pl

    with path.open(encoding="utf-8", errors="replace") as file:
        header = file.readline()
    return pl.read_csv(path, separator=separator_in(header, ","))

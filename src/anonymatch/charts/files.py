"""Charts as pictures: SVG, PNG and PDF, without a browser."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from anonymatch.base.atomic_files import as_path, unfinished
from anonymatch.base.errors import InputError
from anonymatch.charts.theme import AnyChart

__all__ = ["SUFFIXES", "chart_svg", "save_chart", "static_svg"]

_SCALE = 2.0  # pixels of a PNG a unit, for print


def _svg(spec: dict[str, Any]) -> bytes:
    return static_svg(spec).encode()


def _png(spec: dict[str, Any]) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_png(spec, scale=_SCALE)


def _pdf(spec: dict[str, Any]) -> bytes:
    import vl_convert

    return vl_convert.vegalite_to_pdf(spec)


_WRITERS: dict[str, Callable[[dict[str, Any]], bytes]] = {".svg": _svg, ".png": _png, ".pdf": _pdf}

SUFFIXES = tuple(_WRITERS)
"""What a chart can be written as."""


def save_chart(chart: AnyChart, path: str | os.PathLike[str]) -> None:
    """Write a chart under ``path``, as its suffix says: all of it, or nothing and an InputError.

    Examples
    --------
    >>> import altair as alt, pathlib, tempfile
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_chart(chart, f"{folder}/one.svg")
    ...     pathlib.Path(folder, "one.svg").read_text()[:4]
    '<svg'
    """
    target = as_path(path)
    writer = _WRITERS.get(target.suffix.lower())
    if writer is None:
        known = ", ".join(SUFFIXES)
        raise InputError(f"{target}: charts are written as {known}, not {target.suffix!r}")
    written = writer(chart.to_dict())
    with unfinished(target) as beside:
        beside.write_bytes(written)


def chart_svg(chart: AnyChart) -> str:
    """A chart as SVG.

    Examples
    --------
    >>> import altair as alt
    >>> chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    >>> chart_svg(chart).startswith("<svg")
    True
    """
    return static_svg(chart.to_dict())


def static_svg(spec: dict[str, Any], *, prefix: str = "v") -> str:
    """A specification as SVG; names inside of it begin with ``prefix``, as a page may hold many."""
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(spec)
    names = {
        name: f"{prefix}{number}" for number, name in enumerate(re.findall(r'id="(\w+)"', drawn))
    }
    return re.sub(r'(id="|url\(#)(\w+)', lambda found: found[1] + names[found[2]], drawn)
